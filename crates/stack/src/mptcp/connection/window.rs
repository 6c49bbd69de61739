//! The receive window on each subflow, and when a window update is sent. How large it is,
//! [`RecvStream`] says.
//!
//! What Linux does for [`Config::acknowledge_on_read`](crate::Config::acknowledge_on_read): once
//! the application has read, each subflow decides whether that is worth an acknowledgement
//! (`mptcp_cleanup_rbuf`, `tcp_cleanup_rbuf`).
//!
//! [`RecvStream`]: crate::mptcp::recv_stream::RecvStream

use super::{Connection, MAX_WINDOW, Mode, SubflowId};
use crate::config::DSS_ROOM;
use crate::tcp::subflow::Subflow;
use crate::time::Instant;

impl Connection {
    /// Reads up to `max` octets of the peer's stream and returns how many.
    #[inline(always)]
    pub fn read(&mut self, max: u64) -> u64 {
        let octets = self.recv.read(max);
        if self.recv.follows_reader() {
            if octets > 0 {
                self.follow_reader(octets);
            }
        } else if let Some(buffer) = self.recv.buffer(u64::MAX) {
            self.open_in_steps(octets, buffer);
        }
        octets
    }

    /// RFC 9293 3.8.6.2.2: sends a window update if the window opens by a step worth a segment.
    #[inline(always)]
    fn open_in_steps(&mut self, octets: u64, buffer: u64) {
        if self.recv.opens_by_step(octets, buffer) {
            self.tell_window();
        }
    }

    /// The application has read. A subflow acknowledges if it owes an acknowledgement that this completes, or if its window has at least
    /// doubled; with Multipath TCP the latter only if the window that was advertised last, on any subflow, has.
    #[cold]
    fn acknowledge_reading(&mut self, buffer: u64) {
        let multipath = self.negotiation.is_multipath();
        let most = self.paths.active.iter().map(|&id| self.possible_window(id)).max().unwrap_or(0);
        let doubled = !multipath || most >= 2 * self.recv.told().unwrap_or(0);
        let empty = self.readable() == 0 && self.held().1 == 0;
        let (recv, held) = (&self.recv, self.charged());
        let window = |s: &Subflow| recv.window_field(s.acks.offered, s.own_shift, || held) << s.own_shift;
        self.paths.acknowledge_reading(empty, |s| doubled.then(|| (window(s), buffer)), &mut self.fast);
    }

    /// Sends a window update on every subflow, if it says anything new: a subflow may offer less than there is room for (a buffer
    /// that tunes itself, a peer that does not scale windows), and an acknowledgement that repeats the last one has no end where
    /// both ends read.
    fn tell_window(&mut self) {
        let told = |c: &Self, id: SubflowId| c.paths.subflows[id].is_open() && c.paths.members[id].ready;
        let news = |&id: &SubflowId| told(self, id) && self.recv.opens_with(self.possible_window(id));
        if !self.paths.active.iter().any(news) {
            return;
        }
        self.paths.acknowledge_on_all(&mut self.fast);
    }

    /// Octets held for holes that narrow the window. With Multipath TCP that is what the data
    /// stream holds; what a subflow holds is charged to the subflow.
    #[cold]
    fn charged(&self) -> u64 {
        match *self.negotiation.mode() {
            Mode::Tcp => self.held().1,
            _ => self.recv.held().1,
        }
    }

    /// A payload has arrived on `id`: a buffer that tunes itself follows the reader, and the window opens.
    #[inline]
    pub(super) fn tune(&mut self, now: Instant, id: SubflowId, len: u32) {
        if let Some(size) = self.recv.tune(now, len) {
            let options = if self.negotiation.is_plain() { 0 } else { DSS_ROOM };
            self.paths.subflows[id].acks.open_window(size, u64::from(len) + options);
        }
    }

    /// A full segment, as large as without a DSS: in such segments Linux counts its windows.
    pub(super) fn full_segment(&self) -> u64 {
        u64::from(self.config.mss) + if self.negotiation.is_plain() { 0 } else { DSS_ROOM }
    }

    /// The application has read `octets`: a buffer that tunes itself follows, and acknowledgements that wait for the reader.
    #[cold]
    fn follow_reader(&mut self, octets: u64) {
        // The longest round-trip time of all subflows, as the window is theirs.
        let by_data = self.config.deviations.tunes_by_arriving_data;
        let of = |s: &Subflow| s.acks.rtt.or_else(|| s.sender.rtt.srtt().filter(|_| !by_data));
        let longest = self.paths.subflows.iter().filter_map(of).max();
        if longest.is_some() || !by_data {
            self.recv.tune_to_reader(longest.unwrap_or_default());
        }
        let offered = self.paths.active().map(|(s, _)| s.acks.offered).max();
        let buffer = self.recv.buffer(offered.unwrap_or(u64::MAX));
        if self.config.acknowledge_on_read {
            self.acknowledge_reading(buffer.unwrap_or(MAX_WINDOW));
        } else if let Some(buffer) = buffer {
            self.open_in_steps(octets, buffer);
        }
    }

    /// The window field of a segment on `id`, shifted (RFC 7323 2.3). Records the right edge that it advertises.
    #[inline(always)]
    pub(super) fn window(&mut self, id: SubflowId) -> u16 {
        let field = self.window_field(id);
        let s = &mut self.paths.subflows[id];
        let window = field << s.own_shift;
        self.recv.advertise(window);
        if self.recv.told().is_some() {
            s.acks.told = window;
        }
        field as u16
    }

    #[inline(always)]
    fn window_field(&self, id: SubflowId) -> u64 {
        let s = &self.paths.subflows[id];
        self.recv.window_field(s.acks.offered, s.own_shift, || self.charged())
    }

    /// The window that a segment on `id` would advertise, in octets.
    fn possible_window(&self, id: SubflowId) -> u64 {
        self.window_field(id) << self.paths.subflows[id].own_shift
    }
}

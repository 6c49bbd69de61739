//! The receive window on each subflow, and when a window update is sent. How large the window is,
//! [`RecvStream`] says.

use super::Paths;
use crate::event::SubflowId;
use crate::mptcp::fast_path::FastPath;
use crate::mptcp::recv_stream::RecvStream;
use crate::tcp::subflow::Subflow;

impl Paths {
    /// Segments and octets that the subflows hold because of holes.
    pub fn held(&self) -> (u64, u64) {
        self.active().map(|(s, _)| s.held()).fold((0, 0), |sum, held| (sum.0 + held.0, sum.1 + held.1))
    }

    /// Octets held for holes that narrow the window. With Multipath TCP that is what the data
    /// stream holds; what a subflow holds is charged to the subflow.
    #[cold]
    fn charged(&self, recv: &RecvStream, plain: bool) -> u64 {
        recv.held().1 + if plain { self.held().1 } else { 0 }
    }

    /// The window field of a segment on `id`, shifted (RFC 7323 2.3). Records the right edge that
    /// it advertises. `plain`: the connection is plain TCP.
    #[inline(always)]
    pub fn advertise(&mut self, id: SubflowId, recv: &mut RecvStream, plain: bool) -> u16 {
        let field = self.window_field(id, recv, plain);
        let s = &mut self.subflows[id];
        let window = field << s.own_shift;
        recv.advertise(window);
        if recv.told().is_some() {
            s.acks.told = window;
        }
        field as u16
    }

    #[inline(always)]
    fn window_field(&self, id: SubflowId, recv: &RecvStream, plain: bool) -> u64 {
        let s = &self.subflows[id];
        recv.window_field(s.acks.offered, s.own_shift, || self.charged(recv, plain))
    }

    /// The window that a segment on `id` would advertise, in octets.
    fn possible_window(&self, id: SubflowId, recv: &RecvStream, plain: bool) -> u64 {
        self.window_field(id, recv, plain) << self.subflows[id].own_shift
    }

    /// Sends a window update on every subflow, if it says anything new: a subflow may offer less
    /// than there is room for (a buffer that tunes itself, a peer that does not scale windows), and
    /// an acknowledgement that repeats the last one has no end where both ends read.
    pub fn tell_window(&mut self, recv: &RecvStream, plain: bool, fast: &mut FastPath) {
        let told = |id: SubflowId| self.subflows[id].is_open() && self.members[id].ready;
        let news = |&id: &SubflowId| told(id) && recv.opens_with(self.possible_window(id, recv, plain));
        if self.active.iter().any(news) {
            self.acknowledge_on_all(fast);
        }
    }

    /// The application has read from a buffer of `buffer` octets. A subflow acknowledges if it owes
    /// an acknowledgement that this completes, or if its window has at least doubled; with
    /// Multipath TCP the latter only if the window that was advertised last, on any subflow, has.
    #[cold]
    pub fn acknowledge_reading(&mut self, buffer: u64, recv: &RecvStream, plain: bool, fast: &mut FastPath) {
        fast.invalidate();
        let most = self.active.iter().map(|&id| self.possible_window(id, recv, plain)).max().unwrap_or(0);
        let doubled = plain || most >= 2 * recv.told().unwrap_or(0);
        let empty = recv.readable() == 0 && recv.held().1 + self.held().1 == 0;
        let held = self.charged(recv, plain);
        let window = |s: &Subflow| recv.window_field(s.acks.offered, s.own_shift, || held) << s.own_shift;
        for &id in &self.active {
            let s = &mut self.subflows[id];
            if s.is_open() && self.members[id].ready {
                let offer = doubled.then(|| (window(s), buffer));
                s.acks.on_read(empty, offer);
            }
        }
    }
}

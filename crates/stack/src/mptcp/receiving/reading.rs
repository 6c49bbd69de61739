//! What follows when the application reads, and when the receive buffer tunes itself.
//!
//! What Linux does for [`Config::acknowledge_on_read`](crate::Config::acknowledge_on_read): once
//! the application has read, each subflow decides whether that is worth an acknowledgement
//! (`mptcp_cleanup_rbuf`, `tcp_cleanup_rbuf`).

use super::Receiving;
use crate::config::DSS_ROOM;
use crate::event::SubflowId;
use crate::mptcp::recv_stream::MAX_WINDOW;
use crate::tcp::subflow::Subflow;
use crate::time::Instant;

impl Receiving<'_> {
    /// RFC 9293 3.8.6.2.2: sends a window update if the window opens by a step worth a segment.
    #[inline(always)]
    pub fn open_in_steps(&mut self, octets: u64, buffer: u64) {
        if self.recv.opens_by_step(octets, buffer) {
            self.paths.tell_window(self.recv, self.negotiation.is_plain(), self.fast);
        }
    }

    /// A payload has arrived on `id`: a buffer that tunes itself follows the reader, and the window
    /// opens.
    #[inline]
    pub(super) fn tune(&mut self, now: Instant, id: SubflowId, len: u32) {
        if let Some(size) = self.recv.tune(now, len) {
            let options = if self.negotiation.is_plain() { 0 } else { DSS_ROOM };
            self.paths.subflows[id].acks.open_window(size, u64::from(len) + options);
        }
    }

    /// The application has read `octets`: a buffer that tunes itself follows, and acknowledgements
    /// that wait for the reader.
    #[cold]
    pub fn follow_reader(&mut self, octets: u64) {
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
            let buffer = buffer.unwrap_or(MAX_WINDOW);
            self.paths.acknowledge_reading(buffer, self.recv, self.negotiation.is_plain(), self.fast);
        } else if let Some(buffer) = buffer {
            self.open_in_steps(octets, buffer);
        }
    }
}

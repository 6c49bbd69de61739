//! Messages from routers (RFC 1191, RFC 8201) for one subflow.

use super::*;

impl Connection {
    /// A segment of ours on `subflow`, with the sequence number `seq`, was too large for a link: of TCP options and payload together, `room`
    /// octets fit. Without effect unless that segment is in flight and larger ones are being sent.
    pub fn handle_too_big(&mut self, now: Instant, subflow: SubflowId, seq: u32, room: u32) {
        let Some(s) = self.paths.subflows.get_mut(subflow) else { return };
        s.on_too_big(now, seq, room);
        self.disturb();
    }
}

//! Messages from routers and hosts for one subflow: ICMP.

use super::Connection;
use crate::event::{EndReason, Event, SubflowId};
use crate::tcp::subflow::State;
use crate::time::Instant;

impl Connection {
    /// A segment of ours on `subflow`, with the sequence number `seq`, was too large for a link: of TCP options and payload together, `room`
    /// octets fit. Without effect unless that segment is in flight and larger ones are being sent.
    pub fn handle_too_big(&mut self, now: Instant, subflow: SubflowId, seq: u32, room: u32) {
        self.paths.on_too_big(now, subflow, seq, room, &mut self.fast);
    }

    /// A segment of ours on `subflow`, with the sequence number `seq`, found no protocol or port, or nobody may pass: a hard error. RFC 9293
    /// 3.9.2.2, SHLD-26: it ends the subflow whose SYN it quotes, as a RST does. Once the states are synchronised it is taken for a soft error,
    /// which ends nothing (RFC 5461 4.1): anyone who guesses the four-tuple can send one.
    pub fn handle_unreachable(&mut self, now: Instant, subflow: SubflowId, seq: u32) {
        let Some(s) = self.paths.subflows.get_mut(subflow) else { return };
        if s.state != State::SynSent || seq != s.iss.wire() {
            return;
        }
        // RFC 7413 4.1.3.1: ICMP errors are refusals, too.
        s.note_silence(&mut self.events);
        let reason = s.end(EndReason::Reset);
        self.on_subflow_end(subflow, reason);
        self.progress(now);
        let (distribution, mut w) = self.sending();
        distribution.refresh(&mut w, subflow);
    }

    /// A segment of ours on `subflow`, with the sequence number `seq`, was not forwarded, for a reason that may pass (a soft error). Without effect
    /// unless that segment is in flight.
    pub fn handle_soft_error(&mut self, subflow: SubflowId, seq: u32) {
        let Some(s) = self.paths.subflows.get(subflow).filter(|s| s.is_in_flight(seq)) else { return };
        // RFC 7413 4.1.3.1: "Negative responses include [...] ICMP error messages".
        s.note_silence(&mut self.events);
        // RFC 9293 3.9.2.2: "MUST NOT abort the connection (MUST-56), and it SHOULD make the information available to the application (SHLD-25)".
        self.events.push_back(Event::SoftError { subflow });
    }
}

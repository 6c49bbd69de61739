//! How subflows end: after the data stream, or reset.

use super::Paths;
use crate::event::{EndReason, Event, Events, SubflowId};
use crate::mptcp::handshake::Member;
use crate::mptcp::recv_stream::RecvStream;
use crate::mptcp::send_stream::{Fin, SendStream};
use crate::segment::{Flags, Options, Segment, Signal, TcpRst};
use crate::tcp::subflow::{State, Subflow};

impl Paths {
    /// An ICMP message says that the segment `seq` on `id` reaches nobody. Returns why the subflow
    /// ends, if it does: the message quotes its SYN.
    pub fn on_unreachable(&mut self, id: SubflowId, seq: u32, events: &mut Events) -> Option<EndReason> {
        let s = self.subflows.get_mut(id).filter(|s| s.state == State::SynSent && seq == s.iss.wire())?;
        // RFC 7413 4.1.3.1: ICMP errors are refusals, too.
        s.note_silence(events);
        Some(s.end(EndReason::Reset))
    }

    /// An ICMP message says that the segment `seq` on `id` was not forwarded.
    pub fn on_soft_error(&self, id: SubflowId, seq: u32, events: &mut Events) {
        let Some(s) = self.subflows.get(id).filter(|s| s.is_in_flight(seq)) else { return };
        // RFC 7413 4.1.3.1: "Negative responses include [...] ICMP error messages".
        s.note_silence(events);
        // RFC 9293 3.9.2.2: "MUST NOT abort the connection (MUST-56), and it SHOULD make the
        // information available to the application (SHLD-25)".
        events.push_back(Event::SoftError { subflow: id });
    }

    /// RFC 8684 3.3.3: subflows are closed after both directions of the data stream.
    pub fn close_after_data(&mut self, send: &SendStream, recv: &RecvStream, events: &mut Events) {
        let all_done = send.fin() == Fin::Acked && recv.has_ended();
        let mut half_closed = false;
        for &id in &self.active {
            let s = &mut self.subflows[id];
            if all_done {
                s.close |= self.members[id].ready;
                if s.state == State::SynSent {
                    // RFC 9293 3.10.4: a join whose SYN is unanswered is dropped.
                    events.push_back(Event::SubflowEnded(s.id, s.end(EndReason::Finished)));
                    self.removal_due = true;
                }
            }
            half_closed |= s.state == State::CloseWait && !s.close;
        }
        if half_closed {
            self.follow_fins(send);
        }
    }

    /// RFC 8684 3.3.3: a FIN closes the peer's direction of its subflow only. We close a subflow
    /// that the peer has closed too, unless it is the last one that works and our data may still
    /// need it.
    fn follow_fins(&mut self, send: &SendStream) {
        for &id in &self.active {
            let (s, m) = (&self.subflows[id], &self.members[id]);
            if m.ready && s.state == State::CloseWait && s.sender.board.is_empty() {
                let works = |(s, m): (&Subflow, &Member)| m.ready && s.may_send() && !s.is_stale();
                let needed = send.fin() != Fin::Acked && !self.active().any(|(s, m)| s.id != id && works((s, m)));
                self.subflows[id].close |= !needed;
            }
        }
    }

    /// Sends a RST on `id`, unless the peer has never heard of the subflow or expects its end
    /// anyway (RFC 9293 3.10.5).
    pub fn send_reset(&mut self, id: SubflowId, signal: Signal, tcp_rst: Option<TcpRst>) {
        let s = &mut self.subflows[id];
        if matches!(s.state, State::Closed | State::SynSent | State::Closing | State::LastAck | State::TimeWait) {
            return;
        }
        let flags = Flags::RST.with(Flags::ACK);
        let (seq, ack) = (s.sender.nxt.wire(), s.receiver.rcv_nxt.wire());
        let options = Options { signal, tcp_rst, ..Options::default() };
        s.set_reset(Segment { seq, ack, flags, options, ..Segment::default() });
    }
}

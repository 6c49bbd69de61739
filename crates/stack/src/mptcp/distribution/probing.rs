//! Data that leaves although no window has room: tail loss probes and window probes.

use super::Distribution;
use super::sending::{Choice, Sending};
use crate::event::{SendKind, SubflowId};
use crate::mptcp::timers::Timer;
use crate::scheduler::Assignment;
use crate::time::Instant;

impl Distribution {
    /// New data for a tail loss probe on `id` (RFC 8985 7.3), if there is some and the peer's
    /// window takes it, whatever the congestion window and the scheduler say.
    pub fn choose_tail_probe(&mut self, w: &mut Sending, id: SubflowId) -> Option<Choice> {
        let (usable, assigns) = (w.send.usable(), self.assigns(w));
        let s = &w.paths.subflows[id];
        if !s.may_send() {
            return None;
        }
        if let Some((data, len)) = w.paths.members[id].ahead.front(s.sender.mss) {
            w.paths.members[id].ahead.advance(len);
            return Some(Choice { id, data, len, kind: SendKind::TailProbe, choices: 0 });
        }
        if usable == 0 || !w.paths.members[id].ready || assigns {
            return None;
        }
        let len = usable.min(u64::from(s.sender.mss)) as u32;
        let data = w.send.advance(u64::from(len));
        // Who keeps a place in the stream for each subflow has to know, or it would have the same
        // octets sent again there.
        self.scheduler.on_sent(&Assignment::new(id, data, len));
        Some(Choice { id, data, len, kind: SendKind::TailProbe, choices: 0 })
    }

    /// [`Timer::Persist`] has expired: as much as a small window takes, or one octet beyond a
    /// closed window.
    pub fn choose_window_probe(&mut self, w: &mut Sending, now: Instant) -> Option<Choice> {
        w.timers.stop(Timer::Persist);
        if w.send.nxt() == w.send.written() {
            return None;
        }
        if w.send.nxt() > w.send.edge() {
            // RFC 9293 3.8.6.1: new data or a retransmission asks for the window. One octet beyond
            // it is enough for all subflows.
            let (id, data) = (w.repeater()?, w.send.edge());
            return Some(Choice { id, data, len: 1, kind: SendKind::Reinjection, choices: 0 });
        }
        let id = w.paths.prober(None)?;
        let (data, mss) = (w.send.nxt(), u64::from(w.paths.subflows[id].sender.mss));
        let usable = w.send.usable().min(mss);
        let (len, kind) = if usable == 0 { (1, SendKind::Probe) } else { (usable as u32, SendKind::New) };
        if kind == SendKind::New && !w.paths.subflows[id].sender.has_room(len) {
            // The congestion window is full. Once the data in flight is acknowledged or lost, the
            // probe is tried again.
            w.timers.set(Timer::Persist, now + w.paths.subflows[id].rto());
            return None;
        }
        w.send.advance(u64::from(len));
        self.scheduler.on_sent(&Assignment::new(id, data, len));
        Some(Choice { id, data, len, kind, choices: 0 })
    }
}

//! What each subflow of the sender waits for at every instant: the truth that a diagnosis from a capture is compared with.
//!
//! The engine says what holds a subflow back; two distinctions need more. Whether a closed window is the receiver's reordering is
//! seen at the receiver, and whether a congestion window is full of copies follows from what was sent as such.

use std::collections::VecDeque;

use anabranch_measures::account::SubflowAccount;
use anabranch_measures::causes::{Cause, Times, Waiting};
use anabranch_stack::Outgoing;
use anabranch_stack::event::{SendBlock, SendKind};
use anabranch_stack::segment::Segment;
use anabranch_stack::time::Instant;

use super::Stream;
use crate::sim::network::Network;

/// A link counts as busy in a second of which it sent for this share.
const BUSY: f64 = 0.98;
const SECOND: u64 = 1_000_000_000;

/// One 4-tuple.
#[derive(Debug)]
struct Tuple {
    waiting: Waiting,
    /// Time by cause until the connection moved last.
    settled: Times,
    /// Copies in flight: the sequence number after each, and its octets; then their sum.
    copies: VecDeque<(u32, u32)>,
    copied: u64,
    /// When the present second began, what the link had carried then, and what it could have; then how many were busy.
    second: (u64, u64, f64),
    busy: u64,
}

/// The 4-tuples of a connection.
#[derive(Debug, Default)]
pub(super) struct Causes {
    tuples: Vec<Tuple>,
    /// Data were sent since the last note; octets acknowledged then.
    sent: bool,
    acknowledged: u64,
}

impl Causes {
    fn tuple(&mut self, tuple: usize, began: u64) -> &mut Tuple {
        while self.tuples.len() <= tuple {
            let second = (began, 0, 0.0);
            let (copies, settled) = (VecDeque::new(), Times::default());
            let mut waiting = Waiting::default();
            waiting.set(began, Cause::NotUp, false);
            self.tuples.push(Tuple { waiting, settled, copies, copied: 0, second, busy: 0 });
        }
        &mut self.tuples[tuple]
    }

    /// A segment with data is sent.
    pub fn on_sent(&mut self, tuple: usize, o: &Outgoing, segment: &Segment) {
        self.sent = true;
        if let (SendKind::Reinjection, Some(t)) = (o.kind, self.tuples.get_mut(tuple)) {
            let len = segment.payload.len;
            t.copies.push_back((segment.seq.wrapping_add(len), len));
            t.copied += u64::from(len);
        }
    }

    /// The sender hears an acknowledgement.
    pub fn on_ack(&mut self, tuple: usize, ack: u32) {
        let Some(t) = self.tuples.get_mut(tuple) else { return };
        while let Some((_, len)) = t.copies.front().filter(|(end, _)| (ack.wrapping_sub(*end) as i32) >= 0) {
            t.copied -= u64::from(*len);
            t.copies.pop_front();
        }
    }
}

impl Stream {
    /// What each subflow waits for is recorded from now on.
    pub fn ask_causes(&mut self) {
        self.causes = Some(Box::default());
        self.lean = false;
    }

    /// What each subflow of the sender waits for now.
    pub(super) fn note_causes(&mut self, net: &Network) {
        let (Some(host), Some(causes)) = (&self.hosts[self.sender], &mut self.causes) else { return };
        let (now, began) = (net.now, self.account.began.unwrap_or_default());
        let acknowledged = host.connection.outbound().acknowledged();
        let moves = std::mem::take(&mut causes.sent) || acknowledged > causes.acknowledged;
        causes.acknowledged = acknowledged;
        let holds = self.hosts[1 - self.sender].as_ref().is_some_and(|h| h.connection.inbound().held().0 > 0);
        for (id, end) in host.ends.as_slice().iter().enumerate() {
            let (sub, number) = (&host.connection.subflows()[id], end.tuple as usize);
            let t = causes.tuple(number, began);
            let copies = t.copied > 0 && 2 * t.copied >= sub.octets_in_flight();
            let cause = match host.connection.outbound().send_block(id, Instant(now)) {
                SendBlock::Cwnd if copies => Cause::Reinjection,
                block => Cause::of(block, || holds),
            };
            t.waiting.set(now, cause, false);
            let (since, wire, capacity) = t.second;
            if now >= since + SECOND {
                let path = net.flows[self.index].tuples[number].path;
                let next = (net.wire(self.index, number), net.capacity_since_start(self.index, path));
                let carried = next.0.saturating_sub(wire) as f64 * 8.0;
                t.busy += u64::from(since > began && carried >= BUSY * (next.1 - capacity));
                t.second = (now, next.0, next.1);
            }
        }
        if moves {
            causes.tuples.iter_mut().for_each(|t| t.settled = t.waiting.times(now));
        }
    }

    /// Puts what was recorded into the accounts.
    pub(super) fn tell_causes(&mut self, subflows: &mut [SubflowAccount]) {
        if let Some(causes) = &self.causes {
            for (account, t) in subflows.iter_mut().zip(&causes.tuples) {
                account.causes = Some((t.settled, t.busy));
            }
        }
    }
}

//! Packets in the order in which the sender sent and heard them, where the capture was taken elsewhere.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use anabranch_stack::segment::SackBlocks;
use anabranch_stack::seq::Seq;

/// How long a packet may wait for one that belongs before it, nanoseconds.
const LONGEST: u64 = 3_000_000_000;
/// Packets that wait at most.
const MOST: usize = 1 << 16;

/// What a packet means to the sender.
#[derive(Clone, Copy, Debug)]
pub enum What {
    /// A SYN: there is a subflow.
    Opening,
    /// The subflow is established, after this round trip. `answered`: its first SYN was captured where it arrived.
    Up { rtt: Option<u64>, answered: bool },
    /// It has ended.
    Down,
    /// A segment with data is sent; `overhead`: octets of its headers; `mss`: its payload, as one packet on the wire.
    Sent { seq: Seq, len: u32, data: u64, overhead: u32, mss: u32 },
    /// An acknowledgement arrives.
    Ack { ack: Seq, sack: SackBlocks, echo: Option<u32>, pure: bool, data_ack: u64, edge: u64 },
}

/// A packet.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    /// When the sender sent or heard it.
    pub at: u64,
    /// When it was captured.
    pub seen: u64,
    /// These are not the same.
    pub displaced: bool,
    pub flow: usize,
    pub what: What,
}

/// Packets that wait, the earliest first; of equal times what the sender heard before what it sent, since that may be the answer
/// on another interface; then the one captured first.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    order: BinaryHeap<Reverse<(u64, bool, u64, usize)>>,
    events: Vec<Option<Event>>,
    free: Vec<usize>,
    number: u64,
    /// Some packets do not come in order.
    displaced: bool,
}

impl Timeline {
    pub fn push(&mut self, event: Event) {
        let place = self.free.pop().unwrap_or_else(|| {
            self.events.push(None);
            self.events.len() - 1
        });
        self.events[place] = Some(event);
        self.displaced |= event.displaced;
        let sent = matches!(event.what, What::Sent { .. } | What::Down);
        self.order.push(Reverse((event.at, sent, self.number, place)));
        self.number += 1;
    }

    /// The earliest packet, if none can come before it when the capture is at `now`.
    pub fn pop(&mut self, now: u64) -> Option<Event> {
        let Reverse((at, _, _, place)) = *self.order.peek()?;
        let wait = if self.displaced { LONGEST } else { 1 };
        if at.saturating_add(wait) > now && self.order.len() < MOST {
            return None;
        }
        self.order.pop();
        self.free.push(place);
        self.events[place].take()
    }
}

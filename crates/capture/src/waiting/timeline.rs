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
    /// A segment with data is sent.
    Sent(Segment),
    /// An acknowledgement arrives; `congestion`: it has ECE (RFC 3168 6.1.3).
    Ack { ack: Seq, sack: SackBlocks, echo: Option<u32>, pure: bool, congestion: bool, data_ack: u64, edge: u64 },
}

/// A segment with data.
#[derive(Clone, Copy, Debug)]
pub struct Segment {
    /// First sequence number, octets of payload, and the place of the first one in the data stream.
    pub seq: Seq,
    pub len: u32,
    pub data: u64,
    /// Octets of its headers, and the largest payload that one such packet on the wire has: `len` is more if an offload merged some.
    pub overhead: u32,
    pub mss: u32,
    /// The receiver's window is closed.
    pub probe: bool,
    /// It has PSH.
    pub push: bool,
    /// TSval, where the capture shows when its sender sent it.
    pub stamp: Option<u32>,
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
        let sent = matches!(event.what, What::Sent(_) | What::Down);
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

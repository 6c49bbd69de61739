//! Fetching ahead what coming events will touch.
//!
//! With thousands of subflows nothing that an event touches is in the processor's caches: its link, its packet, the next link, the
//! connection at the end. One leads to the next, so the processor waits for each in turn, some hundred nanoseconds, much longer
//! than the event's own work. But a discrete-event simulator knows what comes: the tournament of slots tells which are likely to
//! be due soon ([`Slots::leader`](super::slots::Slots::leader)). Each of these goes through a few steps, some events apart: a step
//! fetches what the next one reads to find out what it is to fetch. Nothing is decided here and nothing changes but time; a slot
//! that is due before its last step, or whose event turns out to be another, is only slower.

use super::packet::{NOBODY, PacketId};

/// Steps.
const STEPS: usize = 8;
/// Leaders between two steps of one.
const APART: usize = 4;

const RING: usize = STEPS * APART;

/// Where the packet of a coming event goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Goes {
    /// Not known yet, or no further.
    #[default]
    Unknown,
    /// To the next link.
    On(u32),
    /// To its host.
    Home,
    /// It leaves the link whose octets its account counts.
    Counted,
}

/// A coming event.
#[derive(Clone, Copy, Debug)]
pub struct Ahead {
    /// Its slot.
    pub slot: u32,
    /// Its packet.
    pub id: PacketId,
    /// Where that goes.
    pub goes: Goes,
}

const NONE: Ahead = Ahead { slot: u32::MAX, id: NOBODY, goes: Goes::Unknown };

/// The leaders of late.
#[derive(Debug)]
pub struct Lookahead {
    ring: [Ahead; RING],
    last: usize,
}

impl Default for Lookahead {
    fn default() -> Self {
        Self { ring: [NONE; RING], last: 0 }
    }
}

impl Lookahead {
    /// `slot` has come to lead: `step` is called for it and for earlier ones, with the number of the step.
    #[inline]
    pub fn advance(&mut self, slot: usize, mut step: impl FnMut(usize, &mut Ahead)) {
        self.last = (self.last + 1) % RING;
        self.ring[self.last] = Ahead { slot: slot as u32, ..NONE };
        for n in 0..STEPS {
            step(n, &mut self.ring[(self.last + RING - n * APART) % RING]);
        }
    }
}

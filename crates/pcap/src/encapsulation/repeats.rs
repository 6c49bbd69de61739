//! One packet that is recorded twice, in two encapsulations: plain on the tunnel's device and wrapped on the device below it, or
//! with two VLAN tags before and after a router.
//!
//! A capture on all interfaces of a host has such copies, and where the link layer does not name the interface (Linux cooked v1)
//! both seem to come from one place. A copy is no retransmission, so only the first one counts. Copies in the *same*
//! encapsulation are not touched: those can be retransmissions.

use std::collections::{HashMap, VecDeque};

use super::super::packet::{Identity, MixBuilder, Packet};

/// Nanoseconds within which both copies are recorded: a queue between the two devices may be long.
const WITHIN: u64 = 1_000_000_000;
/// Packets remembered while all come by the same route, a power of two; and once they do not.
const FEW: usize = 64;
const MANY: usize = 8192;

/// A packet, the number of its route, and when it was recorded.
type Seen = (Identity, u32, u64);

/// The latest packets.
#[derive(Clone, Debug, Default)]
pub struct Repeats {
    /// While there is one route: the latest packets, the next of which takes the place `next` modulo [`FEW`].
    few: Vec<Seen>,
    next: usize,
    route: u32,
    /// Once there are several.
    many: Option<Box<Many>>,
}

#[derive(Clone, Debug, Default)]
struct Many {
    known: HashMap<Identity, (u32, u64), MixBuilder>,
    /// The packets in `known`, in the order of their records.
    latest: VecDeque<(Identity, u64)>,
}

impl Repeats {
    /// Notes the packet `p`, which came by `route` (zero: no encapsulation); returns whether it is a copy of one that came by another.
    #[inline]
    pub fn is_repeat(&mut self, p: &Packet<'_>, route: u32) -> bool {
        if route != self.route || self.many.is_some() {
            return self.look_up((p.identity(), route, p.time));
        }
        let seen = (p.identity(), route, p.time);
        match self.few.get_mut(self.next % FEW) {
            Some(place) => *place = seen,
            None => self.few.push(seen),
        }
        self.next += 1;
        false
    }

    #[cold]
    fn look_up(&mut self, seen: Seen) -> bool {
        if self.few.is_empty() {
            // The first packet of all.
            (self.route, self.next) = (seen.1, 1);
            self.few.push(seen);
            return false;
        }
        let many = self.many.get_or_insert_with(|| {
            let mut many = Box::<Many>::default();
            let oldest = self.next % self.few.len();
            let (newer, older) = self.few.split_at(oldest);
            for seen in older.iter().chain(newer) {
                many.is_repeat(*seen);
            }
            many
        });
        many.is_repeat(seen)
    }
}

impl Many {
    fn is_repeat(&mut self, (identity, route, now): Seen) -> bool {
        if self.known.get(&identity).is_some_and(|(other, at)| *other != route && now.saturating_sub(*at) < WITHIN) {
            return true;
        }
        while self.latest.len() >= MANY || self.latest.front().is_some_and(|(_, at)| *at + WITHIN <= now) {
            let Some((old, at)) = self.latest.pop_front() else { break };
            if self.known.get(&old).is_some_and(|(_, latest)| *latest == at) {
                self.known.remove(&old);
            }
        }
        self.latest.push_back((identity, now));
        self.known.insert(identity, (route, now));
        false
    }
}

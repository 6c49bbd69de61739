//! FlowQueue-CoDel (RFC 8290): a queue for each flow, each with a CoDel of its own, served by deficit round robin.
//!
//! Packets are sorted into a fixed number of queues by a hash of their flow, so that two flows may share one (RFC 8290 4.1.1).
//! Queues that have just become active are served before the others (RFC 8290 4.2), so that sparse flows hardly wait. When the
//! whole is full, half of the longest queue's packets, at most 64, go from its head (RFC 8290 4.1.3).

use std::collections::VecDeque;

use super::codel::Codel;
use super::{Waiting, take};
use crate::sim::packet::PacketId;
use crate::sim::rng::Rng;
use anabranch_scenario::{CodelParameters, FqCodelParameters};

/// RFC 8290 4.1.3: at most so many packets are dropped at once.
const BATCH: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum List {
    None,
    New,
    Old,
}

#[derive(Debug)]
struct Flow {
    packets: VecDeque<Waiting>,
    octets: u64,
    deficit: i64,
    list: List,
    codel: Codel,
}

/// All queues of a link direction.
#[derive(Debug)]
pub struct FqCodel {
    parameters: CodelParameters,
    quantum: i64,
    /// Changes with the seed which flows collide.
    salt: u64,
    /// One per hash value in use; made at the first packet.
    flows: Vec<Option<Box<Flow>>>,
    new: VecDeque<usize>,
    old: VecDeque<usize>,
    count: usize,
}

impl FqCodel {
    /// With these parameters; `rng` draws which flows collide.
    pub fn new(p: FqCodelParameters, mut rng: Rng) -> Self {
        Self {
            parameters: p.codel,
            quantum: i64::from(p.quantum),
            salt: (rng.uniform() * 9_007_199_254_740_992.0) as u64,
            flows: (0..p.flows).map(|_| None).collect(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            count: 0,
        }
    }

    /// Packets waiting.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Nothing waits.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Which queue a flow goes to: the finaliser of splitmix64 over number and salt.
    fn queue_of(&self, flow: u32) -> usize {
        let mut z = self.salt.wrapping_add(u64::from(flow).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % self.flows.len() as u64) as usize
    }

    /// A packet waits in its flow's queue.
    pub fn push(&mut self, w: Waiting) {
        let i = self.queue_of(w.flow);
        let codel = self.parameters;
        let flow = self.flows[i].get_or_insert_with(|| {
            let codel = Codel::new(codel);
            Box::new(Flow { packets: VecDeque::new(), octets: 0, deficit: 0, list: List::None, codel })
        });
        flow.packets.push_back(w);
        flow.octets += u64::from(w.octets);
        self.count += 1;
        if flow.list == List::None {
            flow.list = List::New;
            flow.deficit = self.quantum;
            self.new.push_back(i);
        }
    }

    /// Makes room: drops from the head of the queue with the most octets; returns the octets gone.
    pub fn shed(&mut self, dropped: &mut Vec<PacketId>) -> u64 {
        let fattest = self.flows.iter_mut().flatten().max_by_key(|f| f.octets).expect("something waits");
        let mut gone = 0;
        for _ in 0..fattest.packets.len().div_ceil(2).min(BATCH) {
            let w = fattest.packets.pop_front().expect("half of what waits is there");
            fattest.octets -= u64::from(w.octets);
            gone += u64::from(w.octets);
            self.count -= 1;
            dropped.push(w.packet.id);
        }
        gone
    }

    /// The next packet, whether to mark it, and the octets that left the queue with it or by being dropped.
    pub fn pop(&mut self, now: u64, dropped: &mut Vec<PacketId>) -> (Option<(Waiting, bool)>, u64) {
        let mut gone = 0;
        loop {
            let list = if self.new.is_empty() { List::Old } else { List::New };
            let active = if list == List::New { &mut self.new } else { &mut self.old };
            let Some(&i) = active.front() else { return (None, gone) };
            let flow = self.flows[i].as_mut().expect("active queues exist");
            if flow.deficit <= 0 {
                flow.deficit += self.quantum;
                flow.list = List::Old;
                active.pop_front();
                self.old.push_back(i);
                continue;
            }
            let before = (flow.packets.len(), flow.octets);
            let (packets, octets) = (&mut flow.packets, &mut flow.octets);
            let next = flow.codel.pop(now, || take(packets, octets), dropped);
            self.count -= before.0 - flow.packets.len();
            gone += before.1 - flow.octets;
            match next {
                Some((w, mark)) => {
                    flow.deficit -= i64::from(w.octets);
                    return (Some((w, mark)), gone);
                }
                None => {
                    active.pop_front();
                    // RFC 8290 4.2: an empty new queue goes through the old ones, lest a flow that sends a packet at a time
                    // be new for ever.
                    if list == List::New && !self.old.is_empty() {
                        flow.list = List::Old;
                        self.old.push_back(i);
                    } else {
                        flow.list = List::None;
                    }
                }
            }
        }
    }

    /// Everything that waits.
    pub fn drain(&mut self) -> Vec<PacketId> {
        self.count = 0;
        self.new.clear();
        self.old.clear();
        let mut all = Vec::new();
        for flow in self.flows.iter_mut().flatten() {
            all.extend(flow.packets.drain(..).map(|w| w.packet.id));
            flow.octets = 0;
            flow.list = List::None;
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use anabranch_stack::time::Duration;

    use super::*;
    use crate::sim::packet::Transit;

    fn queue(flows: u32) -> FqCodel {
        let codel = CodelParameters { target: Duration::from_millis(5), interval: Duration::from_millis(100) };
        FqCodel::new(FqCodelParameters { codel, quantum: 1514, flows }, Rng::new(1, "test"))
    }

    fn packet(id: PacketId, flow: u32, octets: u32) -> Waiting {
        Waiting { packet: Transit { id, ..Transit::default() }, octets, since: 0, flow }
    }

    fn order(q: &mut FqCodel, n: usize) -> Vec<PacketId> {
        (0..n).map(|_| q.pop(0, &mut Vec::new()).0.unwrap().0.packet.id).collect()
    }

    /// ```text
    /// flow 1: 1 2 3 4 (1500 octets)    flow 2: 11 12 (1500 octets)    then flow 3: 21
    /// ```
    #[test]
    fn flows_take_turns_and_a_new_one_goes_first() {
        let mut q = queue(1024);
        (1..=4).for_each(|id| q.push(packet(id, 1, 1500)));
        (11..=12).for_each(|id| q.push(packet(id, 2, 1500)));
        // A quantum is a little more than a packet: each new queue sends two, the second into debt.
        assert_eq!(order(&mut q, 4), [1, 2, 11, 12]);
        q.push(packet(21, 3, 100));
        assert_eq!(order(&mut q, 3), [21, 3, 4]);
        assert!(q.is_empty() && q.pop(0, &mut Vec::new()).0.is_none());
    }

    /// Over many rounds two flows of unlike packet sizes get the same octets (deficit round robin).
    #[test]
    fn octets_are_shared_not_packets() {
        let mut q = queue(1024);
        for id in 0..3000 {
            q.push(packet(id, 1, 1500));
            (0..5).for_each(|_| q.push(packet(id, 2, 300)));
        }
        let mut octets = [0_u64; 3];
        for _ in 0..6000 {
            let w = q.pop(0, &mut Vec::new()).0.unwrap().0;
            octets[w.flow as usize] += u64::from(w.octets);
        }
        let apart = octets[1].abs_diff(octets[2]);
        assert!(apart <= 2 * 1514, "octets {octets:?}");
    }

    #[test]
    fn when_full_the_longest_queue_loses_half_from_its_head() {
        let mut q = queue(1024);
        (0..20).for_each(|id| q.push(packet(id, 1, 1000)));
        (100..104).for_each(|id| q.push(packet(id, 2, 1500)));
        let mut dropped = Vec::new();
        assert_eq!(q.shed(&mut dropped), 10_000);
        assert_eq!(dropped, (0..10).collect::<Vec<_>>());
        assert_eq!(q.len(), 14);
        (200..600).for_each(|id| q.push(packet(id, 3, 1000)));
        dropped.clear();
        q.shed(&mut dropped);
        assert_eq!(dropped.len(), BATCH);
    }

    /// With one queue it is CoDel over first in, first out.
    #[test]
    fn one_queue_keeps_the_order() {
        let mut q = queue(1);
        (0..10).for_each(|id| q.push(packet(id, id, 200)));
        assert_eq!(order(&mut q, 10), (0..10).collect::<Vec<_>>());
    }
}

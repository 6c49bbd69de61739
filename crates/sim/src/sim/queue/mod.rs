//! What waits before a transmitter, and the disciplines that decide what waits, what goes and what is dropped or marked.
//!
//! - drop-tail: a packet that finds the queue full is dropped; so simple that the link does it itself
//! - `red`: Random Early Detection (Floyd and Jacobson 1993, with "gentle", Floyd 2000)
//! - `codel`: Controlled Delay (RFC 8289)
//! - `fq_codel`: FlowQueue-CoDel (RFC 8290)
//!
//! A discipline marks instead of dropping where the packet is ECN-capable (RFC 3168 5), as its source says. The queue holds
//! packet numbers; whoever holds the packets carries out what it decides: [`Queue::push`] and [`Queue::pop`] say whether to
//! mark, and put packets to drop on a list.

pub mod codel;
pub mod fq_codel;
pub mod red;

use std::collections::VecDeque;

use super::packet::{PacketId, Transit};
use super::rng::Rng;
use anabranch_scenario::{Direction, Discipline, Queue as Limit};

/// A packet that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// The packet.
    pub packet: Transit,
    /// Octets on this link.
    pub octets: u32,
    /// When it came, in nanoseconds.
    pub since: u64,
    /// Packets of one subflow and direction have the same number.
    pub flow: u32,
}

/// What became of a packet that came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Push {
    /// It waits.
    Waits {
        /// It is to be marked "congestion experienced".
        mark: bool,
    },
    /// It is to be dropped.
    Drop,
}

/// A queue with its discipline.
#[derive(Debug)]
pub struct Queue {
    limit: Limit,
    octets: u64,
    discipline: Kind,
}

#[derive(Debug)]
enum Kind {
    Red(VecDeque<Waiting>, Box<red::Red>),
    Codel(VecDeque<Waiting>, Box<codel::Codel>),
    FqCodel(Box<fq_codel::FqCodel>),
}

impl Queue {
    /// The queue of a link direction called `name`, unless it is drop-tail.
    pub fn new(config: &Direction, seed: u64, name: &str) -> Option<Self> {
        let discipline = match config.discipline {
            Discipline::DropTail => return None,
            Discipline::Red(p) => {
                let rng = Rng::new(seed, &format!("link {name} red"));
                Kind::Red(VecDeque::new(), Box::new(red::Red::new(p, config.rate, rng)))
            }
            Discipline::Codel(p) => Kind::Codel(VecDeque::new(), Box::new(codel::Codel::new(p))),
            Discipline::FqCodel(p) => {
                Kind::FqCodel(Box::new(fq_codel::FqCodel::new(p, Rng::new(seed, &format!("link {name} flows")))))
            }
        };
        Some(Self { limit: config.queue, octets: 0, discipline })
    }

    /// Packets waiting.
    #[inline]
    pub fn len(&self) -> usize {
        match &self.discipline {
            Kind::Red(q, _) | Kind::Codel(q, _) => q.len(),
            Kind::FqCodel(q) => q.len(),
        }
    }

    /// Nothing waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A packet comes while another is being transmitted. Others that must go for it are put on `dropped`.
    #[inline]
    pub fn push(&mut self, w: Waiting, dropped: &mut Vec<PacketId>) -> Push {
        let mut mark = false;
        if let Kind::Red(q, red) = &mut self.discipline {
            match red.on_arrival(q.len(), w.packet.ect) {
                red::Verdict::Pass => {}
                red::Verdict::Mark => mark = true,
                red::Verdict::Drop => return Push::Drop,
            }
        }
        let full = match self.limit {
            Limit::Packets(n) => self.len() as u64 >= n,
            Limit::Bytes(n) => self.octets + u64::from(w.octets) > n,
        };
        match &mut self.discipline {
            Kind::FqCodel(q) => {
                q.push(w);
                self.octets += u64::from(w.octets);
                if full {
                    self.octets -= q.shed(dropped);
                }
                return Push::Waits { mark };
            }
            _ if full => return Push::Drop,
            Kind::Red(q, _) | Kind::Codel(q, _) => q.push_back(w),
        }
        self.octets += u64::from(w.octets);
        Push::Waits { mark }
    }

    /// A packet came to an idle transmitter and passes without waiting. True if it is to be marked, `None`: dropped.
    #[inline]
    pub fn pass(&mut self, now: u64, ect: bool) -> Option<bool> {
        match &mut self.discipline {
            Kind::Red(_, red) => match red.on_arrival_idle(now, ect) {
                red::Verdict::Pass => Some(false),
                red::Verdict::Mark => Some(true),
                red::Verdict::Drop => None,
            },
            _ => Some(false),
        }
    }

    /// The next packet to transmit and whether to mark it. What the discipline drops on the way is put on `dropped`.
    #[inline]
    pub fn pop(&mut self, now: u64, dropped: &mut Vec<PacketId>) -> Option<(Waiting, bool)> {
        let before = dropped.len();
        let next = match &mut self.discipline {
            Kind::Red(q, red) => {
                let next = q.pop_front().map(|w| (w, false));
                if next.is_none() {
                    red.on_idle(now);
                }
                next
            }
            Kind::Codel(q, codel) => {
                let octets = &mut self.octets;
                return codel.pop(now, || take(q, octets), dropped);
            }
            Kind::FqCodel(q) => {
                let (next, octets) = q.pop(now, dropped);
                self.octets -= octets;
                return next;
            }
        };
        debug_assert_eq!(before, dropped.len());
        if let Some((w, _)) = next {
            self.octets -= u64::from(w.octets);
        }
        next
    }

    /// Everything that waits, in no particular order of flows; the queue is empty afterwards.
    pub fn drain(&mut self) -> Vec<PacketId> {
        self.octets = 0;
        match &mut self.discipline {
            Kind::Red(q, _) | Kind::Codel(q, _) => q.drain(..).map(|w| w.packet.id).collect(),
            Kind::FqCodel(q) => q.drain(),
        }
    }
}

/// The first packet, and the octets that wait after it is gone.
fn take(q: &mut VecDeque<Waiting>, octets: &mut u64) -> Option<(Waiting, u64)> {
    let w = q.pop_front()?;
    *octets -= u64::from(w.octets);
    Some((w, *octets))
}

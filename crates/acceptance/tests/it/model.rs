//! A reference model of a link direction without chance, written from the definition: first in, first out, length /
//! rate to transmit (rounded up), then the delay; a packet that finds the queue full is dropped.

use std::collections::VecDeque;

use anabranch_sim::scenario::{Direction, Queue};

use crate::support::serialisation;

/// The link.
#[derive(Debug)]
pub struct Fifo {
    direction: Direction,
    /// Start of transmission and octets of the packets that wait.
    waiting: VecDeque<(u64, u64)>,
    /// When the transmitter is free again.
    free: u64,
}

/// When a packet's last bit leaves, and when it arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passage {
    pub sent: u64,
    pub arrives: u64,
}

impl Fifo {
    pub fn new(direction: &Direction) -> Self {
        Self { direction: direction.clone(), waiting: VecDeque::new(), free: 0 }
    }

    /// A packet of `octets` (IPv4) is offered at `now`; `None`: it is dropped.
    pub fn offer(&mut self, now: u64, octets: u64) -> Option<Passage> {
        let octets = octets + u64::from(self.direction.overhead);
        while self.waiting.front().is_some_and(|w| w.0 <= now) {
            self.waiting.pop_front();
        }
        let room = match self.direction.queue {
            Queue::Packets(n) => (self.waiting.len() as u64) < n,
            Queue::Bytes(n) => self.waiting.iter().map(|w| w.1).sum::<u64>() + octets <= n,
        };
        if self.free > now && !room {
            return None;
        }
        let start = self.free.max(now);
        if start > now {
            self.waiting.push_back((start, octets));
        }
        self.free = start + serialisation(octets, self.direction.rate);
        Some(Passage { sent: self.free, arrives: self.free + self.direction.delay.0 })
    }
}

//! One direction of a link: a queue, a transmitter, propagation, and what may go wrong on the way.
//!
//! A packet waits in the queue (the one in transmission is not counted), takes length / rate to transmit or leaves when a trace lets
//! it, is then lost, duplicated or damaged with the link's probabilities, and arrives after the propagation delay. Each kind
//! of chance has a random stream of its own.

use std::collections::VecDeque;

use super::opportunities::{OPPORTUNITY, Opportunities};
use super::packet::PacketId;
use super::queue::{Push, Queue, Waiting, rewind};
use super::rng::Rng;
use super::slots::Key;
use crate::scenario::{Direction, Loss, Redraw};

/// Why a packet did not get through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drop {
    /// The queue was full, or its discipline dropped it.
    Queue,
    /// Random loss on the wire.
    Loss,
    /// The link was down.
    Down,
    /// Damaged: the receiver's checksum failed.
    Checksum,
    /// A middlebox let it go no further.
    Middlebox,
    /// A Wi-Fi station got no acknowledgement for it, as often as it may try.
    Retries,
    /// It had waited too long at a Wi-Fi station.
    Age,
}

/// A packet was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Enqueued {
    /// The transmitter was idle: its transmission ends then.
    pub end: Option<u64>,
    /// It is to be marked.
    pub mark: bool,
}

/// A transmission that began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Next {
    /// Of this packet.
    pub id: PacketId,
    /// Until then.
    pub end: u64,
    /// The packet is to be marked.
    pub mark: bool,
}

/// What the wire did to a packet whose transmission ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Lost.
    Lost,
    /// On its way.
    Sent {
        /// It will be found damaged.
        corrupted: bool,
        /// It arrives twice.
        duplicated: bool,
    },
}

/// One direction of a link, running.
///
/// What every packet touches is here, in three cache lines; what only some links need is behind `rare`. Large networks have
/// links by the ten thousand, and each event is at another one.
#[derive(Debug)]
pub struct LinkDirection {
    rate: u64,
    /// Nanoseconds.
    base_delay: u64,
    queue: Queue,
    /// Packets under way in order of arrival.
    flying: VecDeque<(Key, PacketId)>,
    transmitting: Option<(PacketId, u32)>,
    overhead: u32,
    down: bool,
    /// A trace says when packets may leave.
    paced: bool,
    /// Nothing is lost, damaged or duplicated.
    clean: bool,
    /// The delay does not vary.
    steady: bool,
    /// Marks at a threshold.
    marking: bool,
    rare: Box<Rare>,
}

/// What chance, traces and disciplines that drop need.
#[derive(Debug)]
struct Rare {
    config: Direction,
    /// The delay in force for [`Redraw::Write`] and [`Redraw::Every`].
    current_delay: u64,
    redraw_at: u64,
    loss: Loss,
    bad: bool,
    /// What the queue's discipline dropped, to be carried out by the network.
    dropped: Vec<PacketId>,
    trace: Option<Opportunities>,
    rng_loss: Rng,
    rng_delay: Rng,
    rng_duplication: Rng,
    rng_corruption: Rng,
    /// Octets that could have been transmitted until `capacity_at`, times 8e9 (bit x ns / s).
    capacity: u128,
    capacity_at: u64,
}

impl LinkDirection {
    /// The direction called `name` (unique in the scenario).
    pub fn new(config: &Direction, seed: u64, name: &str) -> Self {
        let rng = |what: &str| Rng::new(seed, &format!("link {name} {what}"));
        let rare = Rare {
            current_delay: config.delay.0,
            redraw_at: 0,
            loss: config.loss,
            bad: false,
            dropped: Vec::new(),
            trace: config.trace.as_ref().map(|t| Opportunities::new(t.stamps.clone())),
            rng_loss: rng("loss"),
            rng_delay: rng("delay"),
            rng_duplication: rng("duplication"),
            rng_corruption: rng("corruption"),
            capacity: 0,
            capacity_at: 0,
            config: config.clone(),
        };
        let mut link = Self {
            rate: config.rate,
            base_delay: config.delay.0,
            queue: Queue::new(config, seed, name),
            flying: VecDeque::new(),
            transmitting: None,
            overhead: config.overhead,
            down: false,
            paced: config.trace.is_some(),
            clean: false,
            steady: config.delay_variation == 0.0,
            marking: config.ecn_threshold.is_some(),
            rare: Box::new(rare),
        };
        link.set_loss(config.loss);
        if config.delay_redraw == Redraw::Write {
            link.rare.current_delay = link.draw_delay();
        }
        link
    }

    /// Bits that could have been transmitted until `now`.
    pub fn capacity_bits(&self, now: u64) -> f64 {
        if let Some(trace) = &self.rare.trace {
            return (trace.until(now) * OPPORTUNITY * 8) as f64;
        }
        let open = u128::from(self.rate) * u128::from(now - self.rare.capacity_at);
        (self.rare.capacity + open) as f64 / 1e9
    }

    /// The rate now, in bit/s.
    pub fn rate(&self) -> u64 {
        self.rate
    }

    /// Octets a packet of `wire_len` takes on this link.
    #[inline]
    pub fn octets(&self, wire_len: u32) -> u32 {
        wire_len + self.overhead
    }

    /// Packets waiting.
    pub fn waiting(&self) -> usize {
        self.queue.len()
    }

    /// The mark of [`Direction::ecn_threshold`] is due for a packet that arrives now.
    #[inline]
    pub fn marks(&self) -> bool {
        self.marking && self.rare.config.ecn_threshold.is_some_and(|n| self.queue.len() as u64 >= n)
    }

    /// A packet arrives at the sending end; `ect`: it may be marked, `flow`: whose it is. Others that are dropped for it are told
    /// by [`LinkDirection::shed`].
    #[inline]
    pub fn enqueue(&mut self, now: u64, id: PacketId, wire_len: u32, ect: bool, flow: u32) -> Result<Enqueued, Drop> {
        if self.down {
            return Err(Drop::Down);
        }
        let octets = self.octets(wire_len);
        if self.transmitting.is_none() {
            let mark = self.queue.pass(now, ect).ok_or(Drop::Queue)?;
            return Ok(Enqueued { end: Some(self.transmit(now, id, octets, true)), mark });
        }
        match self.queue.push(Waiting { id, octets, since: now, ect, flow }, &mut self.rare.dropped) {
            Push::Waits { mark } => Ok(Enqueued { end: None, mark }),
            Push::Drop => Err(Drop::Queue),
        }
    }

    #[inline]
    fn transmit(&mut self, now: u64, id: PacketId, octets: u32, idle: bool) -> u64 {
        self.transmitting = Some((id, octets));
        if self.paced {
            let trace = self.rare.trace.as_mut().expect("a paced link has a trace");
            return trace.transmit(now, octets, idle);
        }
        let bits = u64::from(octets) * 8;
        // Up to 64 kB the product fits; rounded up so that no link is faster than its rate.
        now + (bits * 1_000_000_000).div_ceil(self.rate)
    }

    /// A transmission ended: the packet, its octets, and the next transmission if one began. What the queue's discipline
    /// dropped meanwhile is told by [`LinkDirection::shed`].
    #[inline]
    pub fn transmitted(&mut self, now: u64) -> (PacketId, u32, Option<Next>) {
        let (id, octets) = self.transmitting.take().expect("a transmission was going on");
        let next = self.queue.pop(now, &mut self.rare.dropped).map(|(w, mark)| {
            let end = self.transmit(now, w.id, w.octets, false);
            Next { id: w.id, end, mark }
        });
        (id, octets, next)
    }

    /// A packet that the queue's discipline has dropped; each is told once.
    #[inline]
    pub fn shed(&mut self) -> Option<PacketId> {
        if self.queue.sheds() { self.rare.dropped.pop() } else { None }
    }

    /// What happens on the wire.
    #[inline]
    pub fn fate(&mut self) -> Fate {
        if self.clean {
            return Fate::Sent { corrupted: false, duplicated: false };
        }
        self.rare.fate()
    }

    fn vary(&self, u: f64) -> u64 {
        let factor = 1.0 + self.rare.config.delay_variation * (2.0 * u - 1.0);
        (self.base_delay as f64 * factor) as u64
    }

    fn draw_delay(&mut self) -> u64 {
        let u = self.rare.rng_delay.uniform();
        self.vary(u)
    }

    fn delay(&mut self, now: u64) -> u64 {
        if self.steady {
            return self.base_delay;
        }
        match self.rare.config.delay_redraw {
            Redraw::Packet => self.draw_delay(),
            Redraw::Write => self.rare.current_delay,
            Redraw::Every(interval) => {
                if now >= self.rare.redraw_at {
                    self.rare.current_delay = self.draw_delay();
                    self.rare.redraw_at = now - now % interval.0.max(1) + interval.0;
                }
                self.rare.current_delay
            }
        }
    }

    /// An application wrote: with [`Redraw::Write`] both directions take a delay from one draw `u`.
    pub fn on_write(&mut self, u: f64) {
        if self.rare.config.delay_redraw == Redraw::Write {
            self.rare.current_delay = self.vary(u);
        }
    }

    /// This direction redraws its delay at writes.
    pub fn redraws_on_write(&self) -> bool {
        !self.steady && self.rare.config.delay_redraw == Redraw::Write
    }

    /// The packet begins to fly; returns true if it is the first to arrive now.
    #[inline]
    pub fn fly(&mut self, now: u64, id: PacketId, stamp: u64) -> bool {
        let mut at = now + self.delay(now);
        let last = self.flying.back().map_or(0, |(key, _)| key.at());
        if at >= last {
            self.flying.push_back((Key::new(at, stamp), id));
            return self.flying.len() == 1;
        }
        if !self.rare.config.overtaking {
            at = last;
            self.flying.push_back((Key::new(at, stamp), id));
            return false;
        }
        let key = Key::new(at, stamp);
        let i = self.flying.partition_point(|(k, _)| *k <= key);
        self.flying.insert(i, (key, id));
        i == 0
    }

    /// When the next packet arrives.
    #[inline]
    pub fn next_arrival(&self) -> Option<Key> {
        self.flying.front().map(|(key, _)| *key)
    }

    /// The packet that arrives now.
    #[inline]
    pub fn arrive(&mut self) -> PacketId {
        let (_, id) = self.flying.pop_front().expect("a packet was due");
        rewind(&mut self.flying);
        id
    }

    /// The link fails: hands out everything that was in it.
    pub fn go_down(&mut self) -> Vec<PacketId> {
        self.down = true;
        let queued = self.queue.drain();
        let flying = self.flying.drain(..).map(|(_, id)| id);
        self.transmitting.take().map(|(id, _)| id).into_iter().chain(queued).chain(flying).collect()
    }

    /// The link works again.
    pub fn go_up(&mut self) {
        self.down = false;
    }

    /// A new rate, from the next transmission on.
    pub fn set_rate(&mut self, now: u64, rate: u64) {
        self.rare.capacity += u128::from(self.rate) * u128::from(now - self.rare.capacity_at);
        self.rare.capacity_at = now;
        self.rate = rate;
    }

    /// A new delay, from the next packet on.
    pub fn set_delay(&mut self, delay: u64) {
        self.base_delay = delay;
        self.rare.current_delay = delay;
        self.rare.redraw_at = 0;
    }

    /// New random loss.
    pub fn set_loss(&mut self, loss: Loss) {
        let Rare { config, .. } = &*self.rare;
        self.clean = loss == Loss::Bernoulli(0.0) && config.corruption == 0.0 && config.duplication == 0.0;
        self.rare.loss = loss;
        self.rare.bad = false;
    }
}

impl Rare {
    fn fate(&mut self) -> Fate {
        let lost = match self.loss {
            Loss::Bernoulli(p) => self.rng_loss.chance(p),
            Loss::GilbertElliott { good_to_bad, bad_to_good, loss_good, loss_bad } => {
                let turn = if self.bad { bad_to_good } else { good_to_bad };
                self.bad ^= self.rng_loss.chance(turn);
                self.rng_loss.chance(if self.bad { loss_bad } else { loss_good })
            }
        };
        if lost {
            return Fate::Lost;
        }
        Fate::Sent {
            corrupted: self.rng_corruption.chance(self.config.corruption),
            duplicated: self.rng_duplication.chance(self.config.duplication),
        }
    }
}

//! One direction of a link: a queue, a transmitter, propagation, and what may go wrong on the way.
//!
//! A packet waits in the queue (the one in transmission is not counted), takes length / rate to transmit or leaves when a trace lets
//! it, is then lost, duplicated or damaged with the link's probabilities, and arrives after the propagation delay. Each kind
//! of chance has a random stream of its own.
//!
//! Large networks have links by the ten thousand, and each event is at another one, so what counts is how many cache lines an
//! event touches. Packets form one chain through [`Transit::behind`]: those that fly, the one in transmission, and, where the
//! queue is a plain one, those that wait. The link knows where the parts of the chain begin and end, and its next two events.

use super::opportunities::{OPPORTUNITY, Opportunities};
use super::packet::{NOBODY, PacketId, Transit};
use super::queue::{Push, Queue, Waiting};
use super::rng::Rng;
use super::slots::{Key, NEVER};
use crate::scenario::{Direction, Loss, Queue as Limit, Redraw};

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
    /// The transmitter was idle: its transmission ends then. To be confirmed by [`LinkDirection::ends`].
    pub end: Option<u64>,
    /// It is to be marked.
    pub mark: bool,
}

/// A transmission that began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Next {
    /// Of this packet.
    pub id: PacketId,
    /// Until then. To be confirmed by [`LinkDirection::ends`].
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
/// What changes with every packet is in the first cache line, what is read with every packet in the second; what only some
/// links need is behind `rare`.
#[derive(Debug)]
#[repr(C, align(128))]
pub struct LinkDirection {
    /// When the transmission ends, or [`NEVER`].
    end: Key,
    /// When the first packet that flies arrives, or [`NEVER`].
    arrival: Key,
    /// The first packet of the chain, the last that flies, the one in transmission, and the last of all; or [`NOBODY`].
    head: PacketId,
    flown: PacketId,
    transmitting: PacketId,
    tail: PacketId,
    /// When the last packet that flies arrives, if one does.
    latest: u64,
    /// Of a plain queue: packets and octets that wait.
    packets: u32,
    octets: u32,
    rate: u64,
    /// Nanoseconds.
    base_delay: u64,
    limit: Limit,
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
    /// Its queue has a discipline.
    disciplined: bool,
    rare: Box<Rare>,
}

/// What chance, traces and disciplines that drop need.
#[derive(Debug)]
struct Rare {
    config: Direction,
    /// Not there if drop-tail is enough.
    queue: Option<Queue>,
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
            queue: Queue::new(config, seed, name),
            rng_loss: rng("loss"),
            rng_delay: rng("delay"),
            rng_duplication: rng("duplication"),
            rng_corruption: rng("corruption"),
            capacity: 0,
            capacity_at: 0,
            config: config.clone(),
        };
        let mut link = Self {
            end: NEVER,
            arrival: NEVER,
            head: NOBODY,
            flown: NOBODY,
            transmitting: NOBODY,
            tail: NOBODY,
            latest: 0,
            packets: 0,
            octets: 0,
            rate: config.rate,
            base_delay: config.delay.0,
            limit: config.queue,
            overhead: config.overhead,
            down: false,
            paced: config.trace.is_some(),
            clean: false,
            steady: config.delay_variation == 0.0,
            marking: config.ecn_threshold.is_some(),
            disciplined: rare.queue.is_some(),
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

    /// Packets waiting.
    #[inline]
    pub fn waiting(&self) -> usize {
        self.rare_queue().map_or(self.packets as usize, Queue::len)
    }

    #[inline]
    fn rare_queue(&self) -> Option<&Queue> {
        if self.disciplined { self.rare.queue.as_ref() } else { None }
    }

    /// The mark of [`Direction::ecn_threshold`] is due for a packet that arrives now.
    #[inline]
    pub fn marks(&self) -> bool {
        self.marking && self.rare.config.ecn_threshold.is_some_and(|n| self.waiting() as u64 >= n)
    }

    /// When the next thing happens here: a transmission ends, or a packet arrives.
    #[inline]
    pub fn next(&self) -> Key {
        self.end.min(self.arrival)
    }

    /// It is an arrival.
    #[inline]
    pub fn arrives(&self) -> bool {
        self.arrival < self.end
    }

    /// The packet that its next event is about, or [`NOBODY`].
    #[inline]
    pub fn due(&self) -> PacketId {
        if self.arrives() { self.head } else { self.transmitting }
    }

    /// The last packet in it.
    #[inline]
    pub fn tail(&self) -> Option<PacketId> {
        (self.tail != NOBODY).then_some(self.tail)
    }

    /// The transmission that began ends at `key`.
    #[inline]
    pub fn ends(&mut self, key: Key) {
        self.end = key;
    }

    /// A packet arrives at the sending end; `flow` tells whose it is. Others that are dropped for it are told by
    /// [`LinkDirection::shed`].
    #[inline]
    pub fn enqueue(
        &mut self,
        now: u64,
        id: PacketId,
        transits: &mut [Transit],
        flow: impl FnOnce() -> u32,
    ) -> Result<Enqueued, Drop> {
        if self.down {
            return Err(Drop::Down);
        }
        let Transit { wire_len, ect, .. } = transits[id as usize];
        let octets = wire_len + self.overhead;
        let mut mark = false;
        if self.transmitting == NOBODY {
            if self.disciplined {
                let queue = self.rare.queue.as_mut().expect("a discipline has a queue");
                mark = queue.pass(now, ect).ok_or(Drop::Queue)?;
            }
            self.append(id, transits);
            return Ok(Enqueued { end: Some(self.transmit(now, id, octets, true)), mark });
        }
        if self.disciplined {
            let Rare { queue, dropped, .. } = &mut *self.rare;
            let queue = queue.as_mut().expect("a discipline has a queue");
            return match queue.push(Waiting { id, octets, since: now, ect, flow: flow() }, dropped) {
                Push::Waits { mark } => Ok(Enqueued { end: None, mark }),
                Push::Drop => Err(Drop::Queue),
            };
        }
        let full = match self.limit {
            Limit::Packets(n) => u64::from(self.packets) >= n,
            Limit::Bytes(n) => u64::from(self.octets) + u64::from(octets) > n,
        };
        if full {
            return Err(Drop::Queue);
        }
        self.append(id, transits);
        self.packets += 1;
        self.octets += octets;
        Ok(Enqueued { end: None, mark })
    }

    /// A packet joins the end of the chain.
    #[inline]
    fn append(&mut self, id: PacketId, transits: &mut [Transit]) {
        transits[id as usize].behind = NOBODY;
        match self.tail {
            NOBODY => self.head = id,
            tail => transits[tail as usize].behind = id,
        }
        self.tail = id;
    }

    #[inline]
    fn transmit(&mut self, now: u64, id: PacketId, octets: u32, idle: bool) -> u64 {
        self.transmitting = id;
        if self.paced {
            let trace = self.rare.trace.as_mut().expect("a paced link has a trace");
            return trace.transmit(now, octets, idle);
        }
        let bits = u64::from(octets) * 8;
        // Up to 64 kB the product fits; rounded up so that no link is faster than its rate.
        now + (bits * 1_000_000_000).div_ceil(self.rate)
    }

    /// A transmission ended: the packet, its octets, and the next transmission if one began. What the queue's discipline
    /// dropped meanwhile is told by [`LinkDirection::shed`]. The packet must [`fly`](LinkDirection::fly) or be
    /// [lost](LinkDirection::lose).
    #[inline]
    pub fn transmitted(&mut self, now: u64, transits: &mut [Transit]) -> (PacketId, u32, Option<Next>) {
        let id = std::mem::replace(&mut self.transmitting, NOBODY);
        self.end = NEVER;
        debug_assert_ne!(id, NOBODY, "a transmission was going on");
        let Transit { wire_len, behind, .. } = transits[id as usize];
        let next = if self.disciplined {
            let Rare { queue, dropped, .. } = &mut *self.rare;
            let next = queue.as_mut().expect("a discipline has a queue").pop(now, dropped);
            next.map(|(w, mark)| {
                self.append(w.id, transits);
                Next { id: w.id, end: self.transmit(now, w.id, w.octets, false), mark }
            })
        } else if behind != NOBODY {
            let octets = transits[behind as usize].wire_len + self.overhead;
            self.packets -= 1;
            self.octets -= octets;
            Some(Next { id: behind, end: self.transmit(now, behind, octets, false), mark: false })
        } else {
            None
        };
        (id, wire_len + self.overhead, next)
    }

    /// A packet that the queue's discipline has dropped; each is told once.
    #[inline]
    pub fn shed(&mut self) -> Option<PacketId> {
        if self.disciplined { self.rare.dropped.pop() } else { None }
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

    /// The packet whose transmission has ended begins to fly.
    #[inline]
    pub fn fly(&mut self, now: u64, id: PacketId, stamp: u64, transits: &mut [Transit]) {
        let mut at = now + self.delay(now);
        if self.flown != NOBODY && at < self.latest {
            if self.rare.config.overtaking {
                return self.overtake(id, Key::new(at, stamp), transits);
            }
            at = self.latest;
        }
        self.latest = at;
        transits[id as usize].arrives = Key::new(at, stamp);
        if self.flown == NOBODY {
            self.arrival = Key::new(at, stamp);
        }
        self.flown = id;
    }

    /// The link has made two of the packet that has just begun to fly; the other one is `copy`.
    pub fn fly_copy(&mut self, now: u64, copy: PacketId, stamp: u64, transits: &mut [Transit]) {
        let last = self.flown as usize;
        transits[copy as usize].behind = std::mem::replace(&mut transits[last].behind, copy);
        if self.tail == self.flown {
            self.tail = copy;
        }
        self.fly(now, copy, stamp, transits);
    }

    /// The packet whose transmission has ended goes no further.
    pub fn lose(&mut self, id: PacketId, transits: &mut [Transit]) {
        let behind = transits[id as usize].behind;
        match self.flown {
            NOBODY => self.head = behind,
            last => transits[last as usize].behind = behind,
        }
        if self.tail == id {
            self.tail = self.flown;
        }
    }

    /// A packet arrives before others that left before it.
    fn overtake(&mut self, id: PacketId, key: Key, transits: &mut [Transit]) {
        self.lose(id, transits);
        transits[id as usize].arrives = key;
        let mut before = NOBODY;
        let mut after = self.head;
        while transits[after as usize].arrives <= key {
            (before, after) = (after, transits[after as usize].behind);
        }
        transits[id as usize].behind = after;
        match before {
            NOBODY => (self.head, self.arrival) = (id, key),
            before => transits[before as usize].behind = id,
        }
    }

    /// When the next packet arrives.
    #[inline]
    pub fn next_arrival(&self) -> Option<Key> {
        (self.arrival != NEVER).then_some(self.arrival)
    }

    /// The packet that arrives now.
    #[inline]
    pub fn arrive(&mut self, transits: &[Transit]) -> PacketId {
        let id = self.head;
        debug_assert_ne!(self.flown, NOBODY, "a packet was due");
        self.head = transits[id as usize].behind;
        if self.flown == id {
            (self.flown, self.arrival) = (NOBODY, NEVER);
            if self.head == NOBODY {
                self.tail = NOBODY;
            }
        } else {
            self.arrival = transits[self.head as usize].arrives;
        }
        id
    }

    /// The link fails: hands out everything that was in it.
    pub fn go_down(&mut self, transits: &[Transit]) -> Vec<PacketId> {
        self.down = true;
        let mut chain = Vec::new();
        let mut id = self.head;
        while id != NOBODY {
            chain.push(id);
            id = transits[id as usize].behind;
        }
        // In the order: in transmission, waiting, flying.
        let fly = if self.flown == NOBODY { 0 } else { 1 + chain.iter().position(|id| *id == self.flown).unwrap_or(0) };
        chain.rotate_left(fly);
        if let Some(queue) = &mut self.rare.queue {
            let at = chain.len() - fly;
            chain.splice(at..at, queue.drain());
        }
        (self.end, self.arrival, self.latest) = (NEVER, NEVER, 0);
        (self.head, self.flown, self.transmitting, self.tail) = (NOBODY, NOBODY, NOBODY, NOBODY);
        (self.packets, self.octets) = (0, 0);
        chain
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

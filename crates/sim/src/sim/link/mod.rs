//! One direction of a link: a queue, a transmitter, propagation, and what may go wrong on the way.
//!
//! A packet waits in the queue (the one in transmission is not counted), takes length / rate to transmit or leaves when a trace
//! lets it, is then lost, duplicated or damaged with the link's probabilities, and arrives after the propagation delay. Each
//! kind of chance has a random stream of its own.
//!
//! Large networks have links by the ten thousand, and each event is at another one, so what counts is how many cache lines an
//! event touches. What a link needs to know of its packets ([`Transit`]) is in one ring: those that fly, the one in transmission,
//! and, where the queue is a plain one, those that wait. Neighbours in it are neighbours in memory.

mod ahead;
mod chance;
mod changes;
pub mod offer;
mod policer;
pub mod weather;

use std::collections::VecDeque;

use super::capacity::Capacity;
use super::opportunities::{OPPORTUNITY, Opportunities};
use super::packet::{PacketId, Transit};
use super::queue::{Push, Queue, Waiting};
use super::rng::Rng;
use super::slots::{Key, NEVER};
use policer::Policer;
use weather::Weather;

use anabranch_scenario::{Direction, Loss, Queue as Limit, Redraw};

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
    /// Longer than the link's far end passes on.
    Mtu,
}

/// A packet was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Enqueued {
    /// The next event of the link has changed.
    pub next: bool,
    /// On a link that looks ahead, the octets that will be transmitted; else zero, and [`LinkDirection::transmitted`] tells
    /// when they have been.
    pub octets: u32,
    /// It is to be marked.
    pub mark: bool,
}

/// A transmission that began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Next {
    /// The packet.
    pub id: PacketId,
    /// When the transmission ends.
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

/// One direction of a link, running, in two cache lines: an arrival at a link that looks ahead asks for the first alone. What only some
/// links need is behind `rare`.
#[derive(Debug)]
#[repr(C, align(128))]
pub struct LinkDirection {
    /// When the first packet that flies arrives, or [`NEVER`].
    arrival: Key,
    /// Packets that fly in order of arrival, the one in transmission, and those that wait in a plain queue.
    packets: VecDeque<Transit>,
    /// Octets that wait in a plain queue; with [`ahead`](LinkDirection::ahead), of all packets but the first `flying`.
    octets: u64,
    /// How many fly; with [`ahead`](LinkDirection::ahead), at least so many do.
    flying: u32,
    overhead: u16,
    /// The link looks ahead: a packet's arrival is computed when it is taken (see the module `ahead`).
    ahead: bool,
    /// Marks at a threshold.
    marking: bool,
    /// When the transmission ends, or [`NEVER`]; with [`ahead`](LinkDirection::ahead), when that of the last packet does.
    end: Key,
    rate: u64,
    /// Nanoseconds.
    base_delay: u64,
    /// How many packets, or octets, may wait.
    limit: u64,
    limit_in_octets: bool,
    /// A packet is in transmission.
    busy: bool,
    down: bool,
    /// A trace or the weather says when packets may leave.
    paced: bool,
    /// Nothing is lost, damaged or duplicated.
    clean: bool,
    /// The delay does not vary.
    steady: bool,
    /// Nor has it ever been changed: packets arrive in the order in which they leave.
    constant: bool,
    /// Its queue has a discipline.
    disciplined: bool,
    /// A token bucket stands before its queue.
    policed: bool,
    rare: Box<Rare>,
}

/// The state of chance, traces and disciplines that drop.
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
    /// Packets given up by the queue's discipline; the network drops them.
    dropped: Vec<PacketId>,
    trace: Option<Opportunities>,
    weather: Option<Box<Weather>>,
    policer: Option<Policer>,
    rng_loss: Rng,
    rng_delay: Rng,
    rng_duplication: Rng,
    rng_corruption: Rng,
    capacity: Capacity,
}

impl LinkDirection {
    /// The direction `way` ("up" or "down") of the link called `link` (unique in the scenario).
    pub fn new(config: &Direction, seed: u64, link: &str, way: &str) -> Self {
        let rng = |what: &str| Rng::new(seed, &format!("link {link} {way} {what}"));
        let rare = Rare {
            current_delay: config.delay.0,
            redraw_at: 0,
            loss: config.loss,
            bad: false,
            dropped: Vec::new(),
            trace: config.trace.as_ref().map(|t| Opportunities::new(t.stamps.clone())),
            weather: config.weather.as_ref().map(|w| Box::new(Weather::new(w, seed, link, way))),
            policer: Policer::new(config),
            queue: Queue::new(config, seed, &format!("{link} {way}")),
            rng_loss: rng("loss"),
            rng_delay: rng("delay"),
            rng_duplication: rng("duplication"),
            rng_corruption: rng("corruption"),
            capacity: Capacity::new(config.rate),
            config: config.clone(),
        };
        let mut link = Self {
            end: NEVER,
            arrival: NEVER,
            packets: VecDeque::new(),
            flying: 0,
            octets: 0,
            busy: false,
            rate: config.rate,
            base_delay: config.delay.0,
            limit: match config.queue {
                Limit::Packets(n) | Limit::Bytes(n) => n,
            },
            limit_in_octets: matches!(config.queue, Limit::Bytes(_)),
            ahead: false,
            overhead: u16::try_from(config.overhead).expect("scenarios have at most 65,535 octets"),
            down: false,
            paced: config.trace.is_some() || config.weather.is_some(),
            clean: false,
            steady: !config.varies() && config.weather.is_none(),
            constant: !config.varies() && config.weather.is_none(),
            marking: config.ecn_threshold.is_some(),
            disciplined: rare.queue.is_some(),
            policed: rare.policer.is_some(),
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
        if let Some(weather) = &self.rare.weather {
            return weather.bits(now);
        }
        self.rare.capacity.bits(now)
    }

    /// As [`LinkDirection::capacity_bits`], without what can still be used at `now`: opportunities at this very time.
    pub fn capacity_bits_before(&self, now: u64) -> f64 {
        match &self.rare.trace {
            Some(_) if now == 0 => 0.0,
            Some(trace) => (trace.until(now - 1) * OPPORTUNITY * 8) as f64,
            None => self.capacity_bits(now),
        }
    }

    /// The propagation delay now in nanoseconds; `None` while the link is down.
    pub fn passes(&self) -> Option<u64> {
        (!self.down).then_some(self.base_delay)
    }

    /// Octets of a packet on the link.
    #[inline]
    fn length(&self, wire_len: u32) -> u32 {
        wire_len + u32::from(self.overhead)
    }

    /// How long a full packet is on its way over the link if it need not wait; nanoseconds.
    pub fn reach(&self) -> u64 {
        self.base_delay.saturating_add(self.serialisation(1500))
    }

    /// The rate now, in bit/s.
    pub fn rate(&self) -> u64 {
        self.rate
    }

    /// Packets waiting in event `now`.
    #[inline]
    pub fn waiting(&self, now: Key) -> usize {
        match &self.rare.queue {
            _ if self.ahead => self.waiting_ahead(now),
            Some(queue) if self.disciplined => queue.len(),
            _ => self.behind(),
        }
    }

    /// Packets in the ring behind the one in transmission.
    #[inline]
    fn behind(&self) -> usize {
        self.packets.len() - self.flying as usize - usize::from(self.busy)
    }

    /// The mark of [`Direction::ecn_threshold`] is due for a packet that arrives in event `now`.
    #[inline]
    pub fn marks(&self, now: Key) -> bool {
        self.marking && self.rare.config.ecn_threshold.is_some_and(|n| self.waiting(now) as u64 >= n)
    }

    /// When the next thing happens here: a transmission ends, or a packet arrives.
    #[inline]
    pub fn next(&self) -> Key {
        if self.ahead { self.arrival } else { self.end.min(self.arrival) }
    }

    /// It is an arrival.
    #[inline]
    pub fn arrives(&self) -> bool {
        self.ahead || self.arrival < self.end
    }

    /// It makes one event of a packet ([`ahead`]).
    #[inline]
    pub fn looks_ahead(&self) -> bool {
        self.ahead
    }

    /// A packet arrives at the sending end of a link that does not look ahead; its [`Transit::arrives`] says its place in the order of
    /// causation. `flow` tells whose it is. Others that are dropped for it are told by [`LinkDirection::shed`].
    pub fn enqueue_now(&mut self, now: u64, packet: Transit, flow: impl FnOnce() -> u32) -> Result<Enqueued, Drop> {
        let octets = self.length(packet.wire_len);
        if self.down {
            return Err(Drop::Down);
        }
        if self.policed && self.rare.policer.as_mut().is_some_and(|policer| !policer.passes(now, octets)) {
            return Err(Drop::Queue);
        }
        let mut mark = false;
        if self.disciplined {
            let Rare { queue, dropped, .. } = &mut *self.rare;
            let queue = queue.as_mut().expect("a discipline has a queue");
            if self.busy {
                return match queue.push(Waiting { packet, octets, since: now, flow: flow() }, dropped) {
                    Push::Waits { mark } => Ok(Enqueued { next: false, octets: 0, mark }),
                    Push::Drop => Err(Drop::Queue),
                };
            }
            mark = queue.pass(now, packet.ect).ok_or(Drop::Queue)?;
        }
        if !self.busy {
            self.packets.push_back(packet);
            self.transmit(now, packet, true);
            return Ok(Enqueued { next: self.end < self.arrival, octets: 0, mark });
        }
        let full = if self.limit_in_octets {
            self.octets + u64::from(octets) > self.limit
        } else {
            self.behind() as u64 >= self.limit
        };
        if full {
            return Err(Drop::Queue);
        }
        self.packets.push_back(packet);
        self.octets += u64::from(octets);
        Ok(Enqueued { next: false, octets: 0, mark })
    }

    /// The transmission of `packet` begins; returns when it ends.
    #[inline]
    fn transmit(&mut self, now: u64, packet: Transit, idle: bool) -> u64 {
        self.busy = true;
        let octets = self.length(packet.wire_len);
        let end = if self.paced { self.rare.pace(now, octets, idle) } else { now + self.serialisation(octets) };
        self.end = packet.arrives.moved(end);
        end
    }

    /// What `octets` take to be transmitted, rounded up so that no link is faster than its rate.
    #[inline]
    fn serialisation(&self, octets: u32) -> u64 {
        // Up to 64 kB the product fits.
        (u64::from(octets) * 8_000_000_000).div_ceil(self.rate)
    }

    /// A transmission ended: the packet, its octets, and the next transmission if one began. What the queue's discipline
    /// dropped meanwhile is told by [`LinkDirection::shed`]. The packet must [`fly`](LinkDirection::fly) or be
    /// [lost](LinkDirection::lose).
    #[inline]
    pub fn transmitted(&mut self, now: u64) -> (Transit, u32, Option<Next>) {
        debug_assert!(self.busy, "a transmission was going on");
        (self.busy, self.end) = (false, NEVER);
        if let Some(weather) = self.rare.weather.as_mut().filter(|_| self.paced) {
            weather.transmitted();
        }
        let sent = self.packets[self.flying as usize];
        let next = if self.disciplined {
            let Rare { queue, dropped, .. } = &mut *self.rare;
            let next = queue.as_mut().expect("a discipline has a queue").pop(now, dropped);
            next.map(|(w, mark)| {
                self.packets.push_back(w.packet);
                Next { id: w.packet.id, end: self.transmit(now, w.packet, false), mark }
            })
        } else {
            self.packets.get(self.flying as usize + 1).copied().map(|next| {
                self.octets -= u64::from(self.length(next.wire_len));
                Next { id: next.id, end: self.transmit(now, next, false), mark: false }
            })
        };
        (sent, self.length(sent.wire_len), next)
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

    /// The packet whose transmission has ended begins to fly.
    #[inline]
    pub fn fly(&mut self, now: u64) {
        let i = self.flying as usize;
        let mut at = now + self.delay(now);
        let key = self.packets[i].arrives;
        if let (false, Some(last)) = (self.constant, i.checked_sub(1)) {
            let last = self.packets[last].arrives.at();
            if at < last {
                if self.rare.config.overtaking {
                    return self.overtake(key.moved(at));
                }
                at = last;
            }
        }
        let key = key.moved(at);
        self.packets[i].arrives = key;
        if i == 0 {
            self.arrival = key;
        }
        self.flying += 1;
    }

    /// The packet arrives before others that left before it.
    fn overtake(&mut self, key: Key) {
        let i = self.flying as usize;
        let mut packet = self.packets.remove(i).expect("a transmission has ended");
        packet.arrives = key;
        let before = self.packets.iter().take(i).take_while(|p| p.arrives <= key).count();
        self.packets.insert(before, packet);
        if before == 0 {
            self.arrival = key;
        }
        self.flying += 1;
    }

    /// The link has made two of the packet that has just begun to fly: another one begins to.
    pub fn fly_copy(&mut self, now: u64, copy: Transit) {
        self.packets.insert(self.flying as usize, copy);
        self.fly(now);
    }

    /// The packet whose transmission has ended goes no further.
    pub fn lose(&mut self) {
        self.packets.remove(self.flying as usize);
    }

    /// The packet that arrives now.
    #[inline]
    pub fn arrive(&mut self) -> Transit {
        if self.ahead {
            return self.arrive_ahead();
        }
        let packet = self.packets.pop_front().expect("a packet was due");
        self.flying -= 1;
        let known = self.flying > 0;
        self.arrival = self.packets.front().filter(|_| known).map_or(NEVER, |first| first.arrives);
        if self.packets.is_empty() {
            // An empty ring begins anew at its first place, so that a short queue stays in a cache line or two.
            self.packets.clear();
        }
        packet
    }
}

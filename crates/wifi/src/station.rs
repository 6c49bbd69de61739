//! One station's part in the distributed coordination function (802.11-2016 10.3).
//!
//! A station with something to send waits until the medium has been idle for a DIFS (an EIFS after a frame received with errors),
//! then counts its back-off down, slot by idle slot. The count stops while the medium is busy and continues where it stopped. At
//! zero the station sends. After every exchange, successful or not, a new back-off is drawn from 0 to CW; CW doubles with each
//! failure. A frame that is queued while the medium is idle and the last back-off has run out is sent after a DIFS, without a
//! new back-off. A station that has to answer with an ACK or CTS sends it a SIFS after the frame, whether the medium is idle or
//! not.
//!
//! EDCA (10.22.2.4, from 802.11n on) does all of this at slot boundaries: the first is the end of the AIFS, the others follow
//! slot by slot. At each a station sends, or takes one off its back-off. So where another station begins to send at the third
//! boundary, three slots are off, though only two have passed, and DCF would take off two. And on an idle medium a frame waits
//! for the next boundary only.
//!
//! No event counts slots: `backoff` is how many were left at `count_from`, the time at which the count started or will start
//! again.

use anabranch_measures::rng::Rng;

use super::high::High;
use super::mobility::Movement;
use super::phy::Phy;
use super::queue::Queue;
use super::rate::Control;

/// No event.
pub const NEVER: u64 = u64::MAX;

/// A kind of frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A packet.
    Data,
    /// Acknowledgement.
    Ack,
    /// Request to send.
    Rts,
    /// Clear to send.
    Cts,
    /// From an access point to all.
    Beacon,
    /// Acknowledgement of several frames.
    BlockAck,
    /// Request for it.
    BlockAckReq,
    /// Request for an agreement on block acknowledgement, or its answer.
    Action,
    /// The rest of a TXOP is not used (CF-End).
    End,
}

/// What a station does next. The time that belongs to it is [`Station::at`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Sends when its back-off is over; [`NEVER`] while the medium is busy or nothing waits.
    Contend,
    /// Is sending a frame, which ends at that time.
    Send,
    /// Sends a frame of this kind to this station, at this rate (index), at that time.
    Respond(Kind, usize, usize),
    /// Waits for an ACK or CTS until that time; [`NEVER`] while it receives a frame that may be it.
    Wait(Kind),
}

/// A frame being received.
#[derive(Clone, Copy, Debug)]
pub struct Reception {
    /// Its sender.
    pub from: usize,
    /// Its start.
    pub since: u64,
    /// Received power in mW.
    pub power: f64,
    /// Until when `ln_success` accounts for the frame.
    pub until: u64,
    /// Natural logarithm of the probability that the frame has no error so far.
    pub ln_success: f64,
}

/// A station.
#[derive(Debug)]
pub struct Station {
    /// Where it is.
    pub movement: Movement,
    /// dBm.
    pub tx_power_dbm: f64,
    /// Packets that wait, the one being sent included.
    pub queue: Queue,
    /// Rate control towards each other station; `None` where no link leads.
    pub controls: Vec<Option<Control>>,
    /// What it does next.
    pub action: Action,
    /// When it does that, in ns.
    pub at: u64,
    /// The frame it is receiving.
    pub rx: Option<Reception>,
    /// It senses the medium busy, or sends itself.
    pub busy: bool,
    /// The first frame of the queue is on the air, or its answer is awaited.
    pub serving: bool,
    /// Rate (index) of the present exchange.
    pub rate: usize,
    /// Data frames without an ACK since the last success or drop.
    pub attempts: u32,
    /// RTS frames without a CTS since the last success or drop.
    pub requests: u32,
    /// Transmissions after which a frame is dropped.
    pub retry_limit: u32,
    /// Longer frames need RTS.
    pub rts_threshold: u32,
    /// When the next beacon of an access point is due; [`NEVER`] at other stations.
    pub beacon_at: u64,
    /// Another exchange has reserved the medium until then (10.3.2.4).
    pub nav: u64,
    /// End of the exchange that it has allowed another station by a CTS.
    pub granted: u64,
    /// After a frame with errors: the end of the EIFS.
    pub eifs: u64,
    /// What it has from 802.11n on; its `queue` then is not used.
    pub high: Option<Box<High>>,
    /// DIFS, or AIFS of its category, in ns.
    pub ifs: u64,
    /// CWmin and CWmax.
    window: [u32; 2],
    cw: u32,
    backoff: u32,
    count_from: u64,
    idle_since: u64,
    backoffs: Rng,
    /// Random stream that decides whether a frame is received without errors.
    pub errors: Rng,
}

/// What a station is made of.
#[derive(Debug)]
pub struct Parts {
    /// Where it is.
    pub movement: Movement,
    /// dBm.
    pub tx_power_dbm: f64,
    /// Its queue.
    pub queue: Queue,
    /// As in [`super::Wifi`].
    pub retry_limit: u32,
    /// As in [`super::Wifi`].
    pub rts_threshold: u32,
    /// From 802.11n on.
    pub high: Option<Box<High>>,
    /// DIFS, or AIFS of its category, in ns.
    pub ifs: u64,
    /// CWmin and CWmax.
    pub window: [u32; 2],
    /// Name of its random streams.
    pub name: String,
}

impl Station {
    /// An idle station, whose back-off has run out.
    pub fn new(parts: Parts, seed: u64) -> Self {
        Self {
            movement: parts.movement,
            tx_power_dbm: parts.tx_power_dbm,
            queue: parts.queue,
            controls: Vec::new(),
            action: Action::Contend,
            at: NEVER,
            rx: None,
            busy: false,
            serving: false,
            rate: 0,
            attempts: 0,
            requests: 0,
            retry_limit: parts.retry_limit,
            rts_threshold: parts.rts_threshold,
            beacon_at: NEVER,
            nav: 0,
            granted: 0,
            eifs: 0,
            high: parts.high,
            ifs: parts.ifs,
            window: parts.window,
            cw: parts.window[0],
            backoff: 0,
            count_from: parts.ifs,
            idle_since: 0,
            backoffs: Rng::new(seed, &format!("{} back-off", parts.name)),
            errors: Rng::new(seed, &format!("{} errors", parts.name)),
        }
    }

    /// A new back-off from 0 to CW (10.3.3).
    fn draw(&mut self) {
        self.backoff = (self.backoffs.uniform() * f64::from(self.cw + 1)) as u32;
    }

    /// Takes the slots that were idle until `now` off the back-off, with EDCA the boundaries.
    fn count(&mut self, phy: &Phy, now: u64) {
        if now >= self.count_from {
            let slots = (now - self.count_from) / phy.slot + u64::from(self.high.is_some());
            self.backoff = u64::from(self.backoff).saturating_sub(slots) as u32;
        }
    }

    /// The medium is busy from `now` on.
    #[inline]
    pub fn freeze(&mut self, phy: &Phy, now: u64) {
        if !self.busy {
            self.busy = true;
            self.count(phy, now);
            if self.action == Action::Contend {
                self.at = NEVER;
            }
        }
    }

    /// The medium is idle from `now` on.
    #[inline]
    pub fn thaw(&mut self, now: u64) {
        self.busy = false;
        self.idle_since = now;
        self.count_from = (now.max(self.nav) + self.ifs).max(self.eifs);
    }

    /// Nothing is to be sent but beacons.
    #[inline]
    pub fn is_idle(&self) -> bool {
        match &self.high {
            None => self.queue.is_empty(),
            Some(high) => high.is_idle(),
        }
    }

    /// When the first packet of the queue is due.
    #[inline]
    pub fn data_due(&self, phy: &Phy) -> u64 {
        if self.is_idle() { NEVER } else { self.count_from + u64::from(self.backoff) * phy.slot }
    }

    /// When the next beacon can be sent: a SIFS and one slot after the medium became idle, ahead of data frames, and without
    /// back-off (as 10.1.3.2 requires).
    #[inline]
    pub fn beacon_due(&self, phy: &Phy) -> u64 {
        if self.beacon_at == NEVER {
            return NEVER;
        }
        self.beacon_at.max(self.idle_since).max(self.nav) + phy.sifs + phy.slot
    }

    /// Sets when it sends next, if it contends.
    #[inline]
    pub fn contend(&mut self, phy: &Phy) {
        if self.action == Action::Contend {
            self.at = if self.busy { NEVER } else { self.data_due(phy).min(self.beacon_due(phy)) };
        }
    }

    /// A packet came into the empty queue.
    pub fn arrive(&mut self, phy: &Phy, now: u64) {
        // The frames of an aggregate are passed on while it is received; here that happens at its end.
        if self.busy || matches!(self.action, Action::Respond(Kind::BlockAck, ..)) {
            // 10.3.4.2: if the medium is busy, a back-off is drawn.
            if self.backoff == 0 {
                self.draw();
            }
            return;
        }
        self.count_if_over(phy, now);
        self.contend(phy);
    }

    fn count_if_over(&mut self, phy: &Phy, now: u64) {
        let elapsed = now.saturating_sub(self.count_from) / phy.slot;
        if elapsed >= u64::from(self.backoff) {
            self.backoff = 0;
            let next = match self.high {
                // 10.3.4.2: the medium has to stay idle for a DIFS.
                None => now + self.ifs,
                // 10.22.2.4: the next boundary.
                Some(_) => self.count_from + now.saturating_sub(self.count_from).next_multiple_of(phy.slot),
            };
            self.count_from = self.count_from.max(next);
        }
    }

    /// The frame was acknowledged or discarded: CW is CWmin again.
    pub fn done(&mut self) {
        self.attempts = 0;
        self.requests = 0;
        self.serving = false;
        self.cw = self.window[0];
        self.action = Action::Contend;
        self.at = NEVER;
        self.draw();
    }

    /// No answer came until `now`: CW doubles. True if the retry limit is reached.
    pub fn failed(&mut self, now: u64, awaited: Kind) -> bool {
        self.serving = false;
        self.action = Action::Contend;
        self.at = NEVER;
        // 10.3.3: 2 (CW + 1) - 1, up to CWmax.
        self.cw = (2 * self.cw + 1).min(self.window[1]);
        self.count_from = self.count_from.max(now + self.ifs);
        let (count, limit) = match awaited {
            Kind::Cts => (&mut self.requests, self.retry_limit),
            _ => (&mut self.attempts, self.retry_limit),
        };
        *count += 1;
        let over = *count >= limit;
        if !over {
            self.draw();
        }
        over
    }

    /// No answer came until `now`, and there is no limit on how often that may be: CW doubles.
    pub fn again(&mut self, now: u64) {
        self.attempts += 1;
        self.serving = false;
        self.action = Action::Contend;
        self.at = NEVER;
        self.cw = (2 * self.cw + 1).min(self.window[1]);
        self.count_from = self.count_from.max(now + self.ifs);
        self.draw();
    }

    /// No answer came until `now`, and the frame is discarded: the next one waits from now on, as after any attempt.
    pub fn gave_up(&mut self, now: u64) {
        self.count_from = self.count_from.max(now + self.ifs);
        self.done();
    }

    /// A beacon is sent first: a packet that is due at the same time backs off again.
    pub fn yield_to_beacon(&mut self, phy: &Phy, now: u64) {
        if self.data_due(phy) <= now {
            self.draw();
            self.count_from = now;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::Format;
    use crate::high;
    use crate::phy::{Band, Like, Standard, US};

    /// A station whose medium is idle from 0 on: DIFS 28 us in 802.11g, AIFS 43 us with EDCA; slots of 9 us.
    fn station(edca: bool) -> (Phy, Station) {
        let phy = match edca {
            false => Phy::new(Standard::G, 20, false),
            true => Phy::high(Standard::Ax, Format::He, 80, Band::Five, Like::Standard),
        };
        let high = edca.then(|| {
            let mut high = High::new(high::Parts {
                limit: 1,
                max_age: 1,
                retry_limit: 7,
                like_ns3: false,
                always_agrees: false,
                txop: 0,
            });
            // Something waits.
            high.packets = 1;
            Box::new(high)
        });
        let ifs = if edca { 43 * US } else { 28 * US };
        let parts = Parts {
            movement: Movement::at_rest([0.0, 0.0]),
            tx_power_dbm: 16.0,
            queue: Queue::new(1, 1),
            retry_limit: 7,
            rts_threshold: u32::MAX,
            high,
            ifs,
            window: [15, 1023],
            name: "it".into(),
        };
        let mut station = Station::new(parts, 1);
        station.thaw(0);
        (phy, station)
    }

    // 0 --- AIFS --- 43 -1- 52 -2- 61 us, where another one sends: boundaries at 43, 52 and 61, slots passed: two
    #[test]
    fn edca_takes_one_off_at_each_boundary_and_dcf_after_each_slot() {
        for (edca, ifs, left) in [(true, 43, [5, 4, 4, 3, 2]), (false, 28, [5, 5, 5, 4, 3])] {
            let times = [ifs - 1, ifs, ifs + 8, ifs + 9, ifs + 18];
            let counted = times.map(|us| {
                let (phy, mut station) = station(edca);
                station.backoff = 5;
                station.freeze(&phy, us * US);
                station.backoff
            });
            assert_eq!(counted, left, "EDCA: {edca}");
        }
    }

    /// Undisturbed both send when so many slots have passed.
    #[test]
    fn a_back_off_of_five_is_five_slots_long() {
        for (edca, ifs) in [(true, 43), (false, 28)] {
            let (phy, mut station) = station(edca);
            station.backoff = 5;
            station.queue.push(crate::queue::Entry {
                id: 0,
                to: 0,
                link: 0,
                octets: 0,
                since: 0,
                delivered: false,
                void: false,
            });
            assert_eq!(station.data_due(&phy), (ifs + 45) * US);
        }
    }

    // A back-off that ran out long ago: the boundaries of EDCA are at 43 + 9 n us.
    #[test]
    fn on_an_idle_medium_edca_sends_at_the_next_boundary_and_dcf_after_a_difs() {
        for (edca, at, due) in [
            (true, 20, 43),
            (true, 43, 43),
            (true, 44, 52),
            (true, 100, 106),
            (true, 106, 106),
            (false, 0, 28),
            (false, 100, 128),
        ] {
            let (phy, mut station) = station(edca);
            station.arrive(&phy, at * US);
            assert_eq!(station.count_from, due * US, "EDCA: {edca}, at {at} us");
        }
    }
}

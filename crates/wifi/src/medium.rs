//! The medium of one channel: frames on the air, which stations receive them, and what each does then.
//!
//! Each station has one next action and its time; the medium's next event is the earliest of these. An exchange of data and
//! ACK takes four events: channel access, end of the data frame, start of the ACK, end of the ACK. There are no events for
//! slots or inter-frame spaces. What a frame means at the stations that receive it is worked out at its start and at its end.
//!
//! A station detects a frame 4 us after its start, if it is strong enough. Until then it may begin a frame of its own, which is a
//! collision. It receives one frame at a time: the first it detected, or the strongest of those that began within 4 us. All
//! other power on the air is interference, accounted for whenever it changes. A frame that a station cannot receive, because it
//! was sending or receiving another one when it began, still keeps the medium busy while its power is above -82 dBm. 17.3.10.6
//! requires that from -62 dBm on and leaves it open below. ns-3.37 does it, and so do receivers that can detect a frame after
//! its start. It matters after a collision of a short frame with a long one: otherwise the sender of the short one would retry
//! in vain until the long one ends.

use anabranch_measures::rng::Rng;

use super::aggregate::LLC;
use super::channel::from_db;
use super::high::Counts;
use super::mobility::distance;
use super::phy::Phy;
use super::queue::Entry;
use super::station::{Action, Kind, NEVER, Station};
use super::{Air, FRAME_OVERHEAD, PacketId};

mod build;
mod exchange;
mod hearing;

/// Octets of an ACK or CTS frame (9.3.1).
const ACK_OCTETS: u32 = 14;
/// Octets of an RTS frame (9.3.1).
const RTS_OCTETS: u32 = 20;
/// 100 time units of 1024 us, in ns.
const BEACON_INTERVAL: u64 = 102_400_000;

/// Why a packet was not queued, or was discarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discard {
    /// Its link is down.
    Down,
    /// The station's queue is full.
    Queue,
    /// It has waited longer than `max_age`.
    Age,
    /// Its retry limit is reached, and no attempt was acknowledged.
    Retries,
}

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It has reached the station at the other end.
    Arrived {
        /// The packet.
        id: PacketId,
        /// Number of its link.
        link: usize,
        /// The station that sent it.
        from: usize,
    },
    /// Its station has discarded it.
    Lost {
        /// The packet.
        id: PacketId,
        /// Why.
        why: Discard,
    },
}

/// A frame on the air.
#[derive(Clone, Copy, Debug)]
struct Frame {
    kind: Kind,
    to: usize,
    rate: usize,
    payload_from: u64,
    /// Its duration field: how long after its end the medium is reserved, in ns.
    reserves: u64,
}

/// A channel.
#[derive(Debug)]
pub struct Medium {
    phy: Phy,
    air: Air,
    /// mW in a channel of 20 MHz (or as wide as the frames before 802.11n are), and in the whole channel.
    noise: f64,
    wide_noise: f64,
    least_power: f64,
    least_snr: f64,
    /// In mW: power above which the medium is busy at once (energy detection); then power of frames above which it is busy
    /// after the detection time (carrier sense).
    energy_power: f64,
    carrier_power: f64,
    stations: Vec<Station>,
    frames: Vec<Option<Frame>>,
    /// For each pair of sender and receiver: mean received power in mW at their present places; distance in m; received power
    /// of the frame on the air.
    mean: Vec<f64>,
    distances: Vec<f64>,
    power: Vec<f64>,
    fades: Vec<Rng>,
    moves: bool,
    /// Links that are down, each with the sending station of the direction concerned.
    down: Vec<(usize, usize)>,
    /// The last four results of `ln_of_bits` by rate, signal-to-noise ratio and bits.
    memory: [(usize, u64, u64, f64); 4],
    remembered: usize,
    /// Packets that a reorder buffer has just passed on, each with the number of its link.
    released: Vec<(PacketId, usize)>,
}

/// The two stations of a link.
#[derive(Clone, Copy, Debug)]
pub struct Ends {
    /// The station at the link's first node, and that at its second.
    pub stations: [usize; 2],
}

impl Medium {
    /// How many ordinary events one event of the medium takes as long as, roughly: a frame is worked out for every pair of
    /// stations.
    #[inline]
    pub fn steps(&self) -> u64 {
        (self.stations.len() as u64).pow(2) / 8
    }

    /// Distances and mean powers at `now`.
    fn place(&mut self, now: u64) {
        let n = self.stations.len();
        for s in 0..n {
            for j in 0..n {
                let d = distance(self.stations[s].movement.at(now), self.stations[j].movement.at(now));
                let db = self.stations[s].tx_power_dbm - self.air.path_loss.db(d);
                (self.distances[s * n + j], self.mean[s * n + j]) = (d, from_db(db));
            }
        }
    }

    /// When [`Self::run`] is to be called next.
    #[inline]
    pub fn next(&self) -> u64 {
        self.stations.iter().map(|s| s.at).min().unwrap_or(NEVER)
    }

    /// At station `s` a packet waits behind the first one of the queue.
    pub fn is_waiting(&self, s: usize) -> bool {
        let station = &self.stations[s];
        station.high.as_ref().map_or_else(|| station.queue.is_waiting(), |h| h.packets > h.psdu.len().max(1))
    }

    /// A packet of `wire_len` octets for `to` comes to station `from` on link number `link` of the channel.
    pub fn enqueue(
        &mut self,
        now: u64,
        [from, to]: [usize; 2],
        link: usize,
        id: PacketId,
        wire_len: u32,
    ) -> Result<(), Discard> {
        if !self.down.is_empty() && self.down.contains(&(link, from)) {
            return Err(Discard::Down);
        }
        let station = &mut self.stations[from];
        let was_empty = station.is_idle();
        let mut entry = Entry { id, to, link, octets: wire_len, since: now, delivered: false, void: false };
        let room = if let Some(high) = &mut station.high {
            entry.octets += LLC;
            high.push(entry)
        } else {
            entry.octets += FRAME_OVERHEAD;
            station.queue.push(entry)
        };
        if !room {
            return Err(Discard::Queue);
        }
        if was_empty {
            station.arrive(&self.phy, now);
        }
        Ok(())
    }

    /// What station `from` has sent to `to`, from 802.11n on.
    pub fn counts(&self, [from, to]: [usize; 2]) -> Option<Counts> {
        Some(self.stations[from].high.as_ref()?.peers[to].as_ref()?.counts)
    }

    /// Link number `link` goes down in the direction from station `from`; `gone` is called with each packet that waited for it.
    pub fn go_down(&mut self, link: usize, from: usize, mut gone: impl FnMut(PacketId)) {
        self.down.push((link, from));
        let station = &mut self.stations[from];
        if let Some(high) = &mut station.high {
            high.clear_link(link, |e| gone(e.id));
            station.contend(&self.phy);
            return;
        }
        let serving = station.serving;
        station.queue.clear(link, serving, |e| {
            if !e.delivered {
                gone(e.id);
            }
        });
        station.contend(&self.phy);
    }

    /// Link number `link` works again in the direction from station `from`.
    pub fn go_up(&mut self, link: usize, from: usize) {
        self.down.retain(|d| *d != (link, from));
    }

    /// Runs the event that is due at `now`; what became of packets is appended to `out`.
    pub fn run(&mut self, now: u64, out: &mut Vec<Outcome>) {
        let Some(s) = self.stations.iter().position(|s| s.at <= now) else { return };
        match self.stations[s].action {
            Action::Contend => self.access(s, now, out),
            Action::Send => self.finish(s, now, out),
            Action::Respond(kind, to, rate) if self.stations[s].high.is_some() && kind != Kind::Cts => {
                self.respond_high(s, now, kind, to, rate, out);
            }
            Action::Respond(kind, to, rate) => self.respond(s, now, kind, to, rate),
            Action::Wait(awaited) => {
                self.fail(s, now, awaited, out);
                self.stations[s].contend(&self.phy);
            }
        }
    }

    /// The back-off of `s` is over.
    fn access(&mut self, s: usize, now: u64, out: &mut Vec<Outcome>) {
        let station = &mut self.stations[s];
        if station.beacon_due(&self.phy) <= now {
            station.yield_to_beacon(&self.phy, now);
            station.beacon_at += BEACON_INTERVAL;
            self.start(s, now, Kind::Beacon, s, 0, self.phy.beacon_octets, 0);
            return;
        }
        if station.high.is_some() {
            self.transmit(s, now, false, out);
            return;
        }
        // 10.3.3: the retry count, on which CW depends, is the station's. It is not reset when a packet is discarded for its age.
        while let Some(old) = station.queue.expired(now) {
            if !old.delivered && !old.void {
                out.push(Outcome::Lost { id: old.id, why: Discard::Age });
            }
        }
        while station.queue.front().is_some_and(|e| e.void) {
            station.queue.pop();
        }
        let Some(&Entry { to, octets, .. }) = station.queue.front() else {
            station.contend(&self.phy);
            return;
        };
        station.serving = true;
        let control = station.controls[to].as_mut().expect("a link joins them");
        station.rate = control.rate(now, station.attempts);
        let rate = station.rate;
        if octets > station.rts_threshold {
            let answer = self.phy.control(rate);
            let after = 3 * self.phy.sifs
                + 2 * self.phy.airtime(&self.phy.modes[answer], ACK_OCTETS)
                + self.phy.airtime(&self.phy.modes[rate], octets);
            self.start(s, now, Kind::Rts, to, answer, RTS_OCTETS, after);
        } else {
            self.start_data(s, now, to, rate, octets);
        }
    }

    fn start_data(&mut self, s: usize, now: u64, to: usize, rate: usize, octets: u32) {
        let answer = self.phy.control(rate);
        let reserves = self.phy.sifs + self.phy.airtime(&self.phy.modes[answer], ACK_OCTETS);
        self.start(s, now, Kind::Data, to, rate, octets, reserves);
    }

    fn respond(&mut self, s: usize, now: u64, kind: Kind, to: usize, rate: usize) {
        match (kind, self.stations[s].queue.front()) {
            (Kind::Data, Some(&Entry { octets, .. })) => self.start_data(s, now, to, rate, octets),
            (Kind::Cts, _) => {
                // 9.3.1.3: what the RTS reserved, less what has passed by the end of the CTS.
                let end = now + self.phy.airtime(&self.phy.modes[rate], ACK_OCTETS);
                let reserves = self.stations[s].granted.saturating_sub(end);
                self.start(s, now, kind, to, rate, ACK_OCTETS, reserves);
            }
            _ => self.start(s, now, kind, to, rate, ACK_OCTETS, 0),
        }
    }

    /// A frame of `s` goes on the air.
    #[expect(clippy::too_many_arguments, reason = "the fields of a frame")]
    fn start(&mut self, s: usize, now: u64, kind: Kind, to: usize, rate: usize, octets: u32, reserves: u64) {
        let mode = &self.phy.modes[rate];
        let end = now + self.phy.airtime(mode, octets);
        let payload_from = now + self.phy.preamble(mode);
        let sender = &mut self.stations[s];
        sender.freeze(&self.phy, now);
        (sender.action, sender.at) = (Action::Send, end);
        // A station that sends cannot receive: the frame it was receiving is lost to it.
        sender.rx = None;
        if self.moves {
            self.place(now);
        }
        let n = self.stations.len();
        for j in (0..n).filter(|j| *j != s) {
            self.settle(j, now);
            let i = s * n + j;
            self.power[i] = self.mean[i] * self.air.fading.draw(self.distances[i], &mut self.fades[i]);
            self.notice(s, j, now, payload_from);
        }
        self.frames[s] = Some(Frame { kind, to, rate, payload_from, reserves });
    }

    /// The frame of `s` ends.
    fn finish(&mut self, s: usize, now: u64, out: &mut Vec<Outcome>) {
        let frame = self.frames[s].expect("it was on the air");
        let n = self.stations.len();
        for j in (0..n).filter(|j| *j != s) {
            self.settle(j, now);
        }
        self.frames[s] = None;
        let awaited = self.awaited(s, frame.kind);
        let station = &mut self.stations[s];
        (station.action, station.at) = match awaited {
            Some(awaited) => {
                let answer = &self.phy.modes[self.phy.control(frame.rate)];
                // 10.3.2.9: SIFS, a slot, and the preamble and header of the answer.
                let timeout = self.phy.sifs + self.phy.slot + self.phy.preamble(answer);
                (Action::Wait(awaited), now + timeout)
            }
            None => (Action::Contend, NEVER),
        };
        for j in (0..n).filter(|j| *j != s) {
            if let Some(r) = self.stations[j].rx.filter(|r| r.from == s) {
                let station = &mut self.stations[j];
                station.rx = None;
                let right = r.ln_success >= 0.0 || station.errors.uniform() < libm::exp(r.ln_success);
                self.heard(s, j, &frame, right, now, out);
            }
        }
        for j in 0..n {
            self.sense(j, now);
        }
    }

    /// No ACK or CTS came to `s` in time: retry, or discard the packet.
    fn fail(&mut self, s: usize, now: u64, awaited: Kind, out: &mut Vec<Outcome>) {
        if self.stations[s].high.is_some() {
            self.unanswered(s, now, awaited, out);
            return;
        }
        let station = &mut self.stations[s];
        let (rate, attempts) = (station.rate, station.attempts);
        let Some(&entry) = station.queue.front() else { return };
        if let (Kind::Ack, Some(control)) = (awaited, &mut station.controls[entry.to]) {
            control.on_attempt(rate, attempts, false);
        }
        if station.failed(now, awaited) || entry.void {
            station.queue.pop();
            station.done();
            if !entry.delivered && !entry.void {
                out.push(Outcome::Lost { id: entry.id, why: Discard::Retries });
            }
        }
    }
}

#[cfg(test)]
mod tests;

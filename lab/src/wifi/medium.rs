//! The medium of one channel: frames on the air, who hears them, and what follows.
//!
//! Each station has one next action with its time; the medium's next event is the earliest of them. An exchange of data and
//! ACK takes four events: access, end of the data, start of the ACK, its end. There are none for slots, for inter-frame spaces, or
//! for what a frame does at a station that hears it, which is worked out when the frame begins and ends.
//!
//! A station notices a frame 4 us after its start, if it is strong enough; until then it may begin a frame of its own, and that is
//! a collision. It follows one frame at a time, the first it noticed (of those within 4 us the strongest); all other power on the
//! air is interference, piece by piece. Frames that it cannot read, because it was sending or following another when they began,
//! keep it from sending as long as their power is above -82 dBm. 17.3.10.6 asks for that from -62 dBm on and leaves it open below;
//! ns-3.37 does it, and so do receivers that find frames in the middle. It matters after a collision of a short frame with a
//! long one: the sender of the short one would else try again, in vain, until the long one is over.

use super::channel::{from_db, noise};
use super::mobility::{Movement, distance};
use super::phy::{Mode, Phy};
use super::queue::{Entry, Queue};
use super::rate::Control;
use super::station::{Action, Kind, NEVER, Parts, Reception, Station};
use super::{Air, FRAME_OVERHEAD, Wifi};
use crate::scenario::Ask;
use crate::sim::link::Drop;
use crate::sim::packet::PacketId;
use crate::sim::rng::Rng;

/// ACK and CTS, RTS (9.3.1).
const ACK_OCTETS: u32 = 14;
const RTS_OCTETS: u32 = 20;
/// 100 time units of 1024 us.
const BEACON_INTERVAL: u64 = 102_400_000;

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is at the other end.
    Arrived {
        /// The packet.
        id: PacketId,
        /// Number of its link.
        link: usize,
        /// The station that sent it.
        from: usize,
    },
    /// It was given up.
    Lost {
        /// The packet.
        id: PacketId,
        /// Too many attempts, or too old.
        why: Drop,
    },
}

/// A frame on the air.
#[derive(Clone, Copy, Debug)]
struct Frame {
    kind: Kind,
    to: usize,
    rate: usize,
    payload_from: u64,
    /// How long after its end the medium is reserved.
    reserves: u64,
}

/// A channel.
#[derive(Debug)]
pub struct Medium {
    phy: Phy,
    air: Air,
    noise: f64,
    least_power: f64,
    least_snr: f64,
    /// Power that is sensed at once, and that of frames after the time of detection.
    energy_power: f64,
    carrier_power: f64,
    stations: Vec<Station>,
    frames: Vec<Option<Frame>>,
    /// By sender and receiver: mean received power in mW at their places, their distance in m, received power of the frame on the air.
    mean: Vec<f64>,
    distances: Vec<f64>,
    power: Vec<f64>,
    fades: Vec<Rng>,
    moves: bool,
    /// Links that do not take packets from a station.
    down: Vec<(usize, usize)>,
    /// The last success probabilities: rate, ratio, time on the air.
    memory: [(usize, u64, u64, f64); 4],
    remembered: usize,
}

/// The two stations of a link.
#[derive(Clone, Copy, Debug)]
pub struct Ends {
    /// At the link's first and second node.
    pub stations: [usize; 2],
}

impl Medium {
    /// The medium of `links` (name, whether the access point is a router's and which, properties), all of one channel. Links to
    /// the same router share its access point. Also says which stations are each link's. `None` if `ask` does not want
    /// to go on: there is a random stream for each pair of stations.
    pub fn new(links: &[(&str, Option<usize>, &Wifi)], seed: u64, ask: Ask<'_>) -> Option<(Self, Vec<Ends>)> {
        let first = links[0].2;
        let (phy, air) = (first.phy(), first.air.clone());
        let mut stations: Vec<Station> = Vec::new();
        let mut shared: Vec<(usize, usize)> = Vec::new();
        let mut ends = Vec::new();
        for (name, router, wifi) in links {
            let mut add = |what: &str, movement: Movement| {
                let name = format!("wifi {} {name} {what}", wifi.channel);
                let queue = Queue::new(wifi.queue, wifi.max_age);
                let rts_threshold = wifi.rts_threshold.unwrap_or(u32::MAX);
                let (tx_power_dbm, retry_limit) = (wifi.tx_power_dbm, wifi.retry_limit);
                let parts = Parts { movement, tx_power_dbm, queue, retry_limit, rts_threshold, name: name.clone() };
                let mut station = Station::new(parts, &phy, seed);
                if what == "access point" && !air.ad_hoc {
                    // The first beacon comes at any time of an interval.
                    let part = Rng::new(seed, &format!("{name} beacon")).uniform();
                    station.beacon_at = (part * BEACON_INTERVAL as f64) as u64;
                }
                stations.push(station);
                stations.len() - 1
            };
            let station = add("station", wifi.station.clone());
            let known = router.and_then(|r| shared.iter().find(|(node, _)| *node == r)).map(|(_, s)| *s);
            let point = known.unwrap_or_else(|| add("access point", Movement::at_rest(wifi.access_point)));
            if let (Some(node), None) = (router, known) {
                shared.push((*node, point));
            }
            ends.push(Ends { stations: [station, point] });
        }
        let n = stations.len();
        for s in &mut stations {
            if ask().is_break() {
                return None;
            }
            s.controls.resize_with(n, || None);
        }
        for ((name, _, wifi), Ends { stations: [a, b] }) in links.iter().zip(&ends) {
            for (from, to) in [(*a, *b), (*b, *a)] {
                let name = format!("wifi {} {name} {from} rate", wifi.channel);
                stations[from].controls[to] = Some(Control::new(wifi.rate, &phy, seed, &name));
            }
        }
        let mut fades = Vec::new();
        for from in 0..n {
            if ask().is_break() {
                return None;
            }
            fades.extend((0..n).map(|to| Rng::new(seed, &format!("wifi {} fading {from} {to}", first.channel))));
        }
        let least_power = first.least_dbm();
        let least_snr = if air.preamble_detection { 4.0 } else { f64::NEG_INFINITY };
        let mut medium = Self {
            noise: noise(phy.bandwidth, air.noise_figure_db),
            least_power: from_db(least_power),
            least_snr: from_db(least_snr),
            energy_power: from_db(-62.0),
            carrier_power: from_db(-82.0),
            frames: vec![None; n],
            mean: vec![0.0; n * n],
            distances: vec![0.0; n * n],
            power: vec![0.0; n * n],
            fades,
            moves: stations.iter().any(|s| !s.movement.rests()),
            down: Vec::new(),
            memory: [(usize::MAX, 0, 0, 0.0); 4],
            remembered: 0,
            phy,
            air,
            stations,
        };
        medium.place(0);
        for s in &mut medium.stations {
            s.contend(&medium.phy);
        }
        Some((medium, ends))
    }

    /// About how many ordinary events one of its own may take as long as: a frame is worked out for every pair of stations.
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

    /// At station `s` a packet waits behind the one whose turn it is.
    pub fn is_waiting(&self, s: usize) -> bool {
        self.stations[s].queue.is_waiting()
    }

    /// A packet of `wire_len` octets for `to` comes to station `from` on link number `link` of the channel.
    pub fn enqueue(
        &mut self,
        now: u64,
        [from, to]: [usize; 2],
        link: usize,
        id: PacketId,
        wire_len: u32,
    ) -> Result<(), Drop> {
        if !self.down.is_empty() && self.down.contains(&(link, from)) {
            return Err(Drop::Down);
        }
        let station = &mut self.stations[from];
        let was_empty = station.queue.is_empty();
        let octets = wire_len + FRAME_OVERHEAD;
        let entry = Entry { id, to, link, octets, since: now, delivered: false, void: false };
        if !station.queue.push(entry) {
            return Err(Drop::Queue);
        }
        if was_empty {
            station.arrive(&self.phy, now);
        }
        Ok(())
    }

    /// Link number `link` takes nothing more from station `from`: hands out the packets it had.
    pub fn go_down(&mut self, link: usize, from: usize, mut gone: impl FnMut(PacketId)) {
        self.down.push((link, from));
        let station = &mut self.stations[from];
        let serving = station.serving;
        station.queue.clear(link, serving, |e| {
            if !e.delivered {
                gone(e.id);
            }
        });
        station.contend(&self.phy);
    }

    /// It works again.
    pub fn go_up(&mut self, link: usize, from: usize) {
        self.down.retain(|d| *d != (link, from));
    }

    /// The next event, due at `now`; what became of packets is added to `out`.
    pub fn run(&mut self, now: u64, out: &mut Vec<Outcome>) {
        let Some(s) = self.stations.iter().position(|s| s.at <= now) else { return };
        match self.stations[s].action {
            Action::Contend => self.access(s, now, out),
            Action::Send => self.finish(s, now, out),
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
        // 10.3.3: the retry count, which rules CW, is the station's; it outlives a packet that has become too old.
        while let Some(old) = station.queue.expired(now) {
            if !old.delivered && !old.void {
                out.push(Outcome::Lost { id: old.id, why: Drop::Age });
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
        let mode = self.phy.modes[rate];
        let end = now + self.phy.airtime(&mode, octets);
        let payload_from = now + self.phy.preamble(&mode);
        let sender = &mut self.stations[s];
        sender.freeze(&self.phy, now);
        (sender.action, sender.at) = (Action::Send, end);
        // What it was hearing is lost to it.
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

    /// Power at `j` of all frames on the air.
    #[inline]
    fn energy(&self, j: usize) -> f64 {
        let n = self.stations.len();
        let frames = self.frames.iter().enumerate().filter(|(s, f)| f.is_some() && *s != j);
        frames.map(|(s, _)| self.power[s * n + j]).sum()
    }

    /// Whether `j` notices the frame that `s` begins at `now` (it is not in `frames` yet).
    fn notice(&mut self, s: usize, j: usize, now: u64, payload_from: u64) {
        let n = self.stations.len();
        let (power, others) = (self.power[s * n + j], self.energy(j));
        let detection = self.phy.detection();
        let phy = &self.phy;
        let station = &mut self.stations[j];
        if station.action == Action::Send {
            return;
        }
        let strong =
            |power: f64, against: f64| power >= self.least_power && power >= self.least_snr * (self.noise + against);
        let fresh = Reception { from: s, since: now, power, until: now, ln_success: 0.0 };
        let was = station.rx;
        station.rx = match was {
            None => strong(power, others).then_some(fresh),
            // It follows another frame already.
            Some(r) if now >= r.since + detection => Some(r),
            Some(r) if power > r.power => strong(power, others).then_some(fresh),
            Some(r) => strong(r.power, others - r.power + power).then_some(r),
        };
        let contends = station.action == Action::Contend;
        let carrier = station.rx.is_some() || others + power > self.carrier_power;
        if others + power > self.energy_power && !(contends && station.at <= now) {
            station.freeze(phy, now);
        } else if carrier && !(contends && station.at < now + detection) {
            station.freeze(phy, now + detection);
        }
        // A frame that another one spoils within those 4 us still is power above the threshold: the medium stays busy.
        debug_assert!(carrier || was.is_none());
        // 10.3.2.9: an answer that begins in time is heard to its end.
        let heard = station.rx.is_some_and(|r| r.from == s);
        if heard && matches!(station.action, Action::Wait(_)) && payload_from <= station.at {
            station.at = NEVER;
        }
    }

    /// The interference at `j` is about to change, or its frame ends: accounts for what it has heard until `now`.
    fn settle(&mut self, j: usize, now: u64) {
        let Some(r) = self.stations[j].rx else { return };
        let Some(frame) = self.frames[r.from] else { return };
        let others = self.energy(j) - r.power;
        // Rounding must not leave a trace of power that is gone.
        let others = if others > self.noise * 1e-9 { others } else { 0.0 };
        let snr = r.power / (self.noise + others);
        let mode = self.phy.modes[frame.rate];
        let mut ln = 0.0;
        if r.until == r.since && snr < 10.0 {
            let (header, bits) = self.phy.header(&mode);
            ln += self.air.error_model.ln_success(&header, snr, bits);
        }
        let from = r.until.max(frame.payload_from);
        if now > from {
            ln += self.ln_success(frame.rate, &mode, snr, now - from);
        }
        let r = self.stations[j].rx.as_mut().expect("it was there");
        r.ln_success += ln;
        r.until = now;
    }

    #[inline]
    fn ln_success(&mut self, rate: usize, mode: &Mode, snr: f64, time: u64) -> f64 {
        let key = (rate, snr.to_bits(), time);
        if let Some(m) = self.memory.iter().find(|m| (m.0, m.1, m.2) == key) {
            return m.3;
        }
        let ln = self.air.error_model.ln_success(mode, snr, mode.bits(time));
        self.memory[self.remembered % self.memory.len()] = (key.0, key.1, key.2, ln);
        self.remembered += 1;
        ln
    }

    /// The frame of `s` ends.
    fn finish(&mut self, s: usize, now: u64, out: &mut Vec<Outcome>) {
        let frame = self.frames[s].expect("it was on the air");
        let n = self.stations.len();
        for j in (0..n).filter(|j| *j != s) {
            self.settle(j, now);
        }
        self.frames[s] = None;
        let station = &mut self.stations[s];
        (station.action, station.at) = match frame.kind {
            Kind::Data | Kind::Rts => {
                let awaited = if frame.kind == Kind::Data { Kind::Ack } else { Kind::Cts };
                let answer = self.phy.modes[self.phy.control(frame.rate)];
                // 10.3.2.9: SIFS, a slot, and the preamble and header of the answer.
                let timeout = self.phy.sifs + self.phy.slot + self.phy.preamble(&answer);
                (Action::Wait(awaited), now + timeout)
            }
            _ => (Action::Contend, NEVER),
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

    /// `j` has heard the frame of `s` to its end.
    fn heard(&mut self, s: usize, j: usize, frame: &Frame, right: bool, now: u64, out: &mut Vec<Outcome>) {
        let phy = &self.phy;
        let station = &mut self.stations[j];
        if !right {
            // 10.3.2.3.7.
            station.eifs = now + phy.difs() + phy.eifs_extra();
            self.disappoint(j, now, out);
            return;
        }
        station.eifs = 0;
        let mine = frame.to == j && frame.kind != Kind::Beacon;
        let answers = mine && station.action == Action::Wait(frame.kind) && station.serving;
        let from_peer = answers && station.queue.front().is_some_and(|e| e.to == s);
        match frame.kind {
            Kind::Ack if from_peer => {
                let (rate, attempts) = (station.rate, station.attempts);
                if let Some(control) = &mut station.controls[s] {
                    control.on_attempt(rate, attempts, true);
                }
                station.queue.pop();
                station.done(phy);
                return;
            }
            Kind::Cts if from_peer => {
                (station.action, station.at) = (Action::Respond(Kind::Data, s, station.rate), now + phy.sifs);
                return;
            }
            _ => self.disappoint(j, now, out),
        }
        let phy = &self.phy;
        let station = &mut self.stations[j];
        let sifs = now + phy.sifs;
        match frame.kind {
            Kind::Data if mine => {
                (station.action, station.at) = (Action::Respond(Kind::Ack, s, phy.control(frame.rate)), sifs);
                let entry = self.stations[s].queue.front_mut().expect("it was sent from there");
                if !entry.delivered && !entry.void {
                    entry.delivered = true;
                    out.push(Outcome::Arrived { id: entry.id, link: entry.link, from: s });
                }
            }
            // 10.3.2.7: only if the medium is not reserved.
            Kind::Rts if mine && station.nav <= now => {
                station.granted = now + frame.reserves;
                (station.action, station.at) = (Action::Respond(Kind::Cts, s, phy.control(frame.rate)), sifs);
            }
            _ if !mine => station.nav = station.nav.max(now + frame.reserves),
            _ => {}
        }
    }

    /// `j` waited for an answer and what it heard was none.
    fn disappoint(&mut self, j: usize, now: u64, out: &mut Vec<Outcome>) {
        match self.stations[j].action {
            Action::Wait(awaited) if self.stations[j].at == NEVER => self.fail(j, now, awaited, out),
            _ => {}
        }
    }

    /// `s` waited for an answer in vain.
    fn fail(&mut self, s: usize, now: u64, awaited: Kind, out: &mut Vec<Outcome>) {
        let station = &mut self.stations[s];
        let (rate, attempts) = (station.rate, station.attempts);
        let Some(&entry) = station.queue.front() else { return };
        if let (Kind::Ack, Some(control)) = (awaited, &mut station.controls[entry.to]) {
            control.on_attempt(rate, attempts, false);
        }
        if station.failed(&self.phy, now, awaited) || entry.void {
            station.queue.pop();
            station.done(&self.phy);
            if !entry.delivered && !entry.void {
                out.push(Outcome::Lost { id: entry.id, why: Drop::Retries });
            }
        }
    }

    /// Whether `j` finds the medium idle now.
    #[inline]
    fn sense(&mut self, j: usize, now: u64) {
        let station = &self.stations[j];
        if station.action == Action::Send || station.rx.is_some() || self.energy(j) > self.carrier_power {
            return;
        }
        let station = &mut self.stations[j];
        if station.busy {
            station.thaw(&self.phy, now);
        }
        station.contend(&self.phy);
    }
}

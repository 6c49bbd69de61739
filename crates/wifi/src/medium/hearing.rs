//! Reception: which frame each station receives, against how much interference, and what it does when the frame ends.

use super::{Frame, Medium, Outcome};
use crate::station::{Action, Kind, NEVER, Reception};

impl Medium {
    /// Power at `j` of all frames on the air.
    #[inline]
    pub(super) fn energy(&self, j: usize) -> f64 {
        let n = self.stations.len();
        let frames = self.frames.iter().enumerate().filter(|(s, f)| f.is_some() && *s != j);
        frames.map(|(s, _)| self.power[s * n + j]).sum()
    }

    /// `s` begins a frame at `now` (not yet in `frames`): whether `j` receives it, and whether `j` senses the medium busy.
    pub(super) fn notice(&mut self, s: usize, j: usize, now: u64, payload_from: u64) {
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
            // It has detected another frame already.
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
        // A frame that another one drowns within the 4 us of detection still is power above the threshold: the medium stays busy.
        debug_assert!(carrier || was.is_none());
        // 10.3.2.9: an ACK or CTS that begins before the timeout is received to its end.
        let heard = station.rx.is_some_and(|r| r.from == s);
        if heard && matches!(station.action, Action::Wait(_)) && payload_from <= station.at {
            station.at = NEVER;
        }
    }

    /// The interference at `j` is about to change, or the frame it receives ends: accounts for the part received until `now`.
    pub(super) fn settle(&mut self, j: usize, now: u64) {
        let Some(r) = self.stations[j].rx else { return };
        let Some(frame) = self.frames[r.from] else { return };
        let others = self.energy(j) - r.power;
        // The power of frames that have ended must not leave a rounding error.
        let others = if others > self.noise * 1e-9 { others } else { 0.0 };
        let mode = &self.phy.modes[frame.rate];
        let noise = if mode.ppdu.is_some() { self.wide_noise } else { self.noise };
        let snr = r.power / (noise + others);
        let mut ln = 0.0;
        if r.until == r.since && snr < 10.0 {
            let (header, bits) = self.phy.header(mode);
            ln += self.air.error_model.ln_success(&header, snr, bits);
        }
        let from = r.until.max(frame.payload_from);
        if mode.ppdu.is_some() {
            if let Some(high) = &mut self.stations[j].high {
                high.hear(r.until == r.since, now.saturating_sub(frame.payload_from), snr);
            }
        } else if now > from {
            ln += self.ln_of_bits(frame.rate, snr, mode.bits(now - from));
        }
        let r = self.stations[j].rx.as_mut().expect("it was there");
        r.ln_success += ln;
        r.until = now;
    }

    /// Natural logarithm of the probability that `bits` at a mode arrive without an error.
    #[inline]
    pub(super) fn ln_of_bits(&mut self, rate: usize, snr: f64, bits: f64) -> f64 {
        let key = (rate, snr.to_bits(), bits.to_bits());
        if let Some(m) = self.memory.iter().find(|m| (m.0, m.1, m.2) == key) {
            return m.3;
        }
        let ln = self.air.error_model.ln_success(&self.phy.modes[rate], snr, bits);
        self.memory[self.remembered % self.memory.len()] = (key.0, key.1, key.2, ln);
        self.remembered += 1;
        ln
    }

    /// `j` has received the frame of `s` to its end: `right` if without an error.
    pub(super) fn heard(&mut self, s: usize, j: usize, frame: &Frame, right: bool, now: u64, out: &mut Vec<Outcome>) {
        let phy = &self.phy;
        let station = &mut self.stations[j];
        if !right {
            // 10.3.2.3.7: an EIFS follows a frame with errors.
            station.eifs = now + station.ifs + phy.eifs_extra();
            self.disappoint(j, now, out);
            return;
        }
        if frame.kind == Kind::Data && station.high.is_some() {
            return self.heard_aggregate(s, j, frame, now, out);
        }
        station.eifs = 0;
        let mine = frame.to == j && frame.kind != Kind::Beacon;
        let answers = mine && station.action == Action::Wait(frame.kind) && station.serving;
        let partner = station.high.as_ref().map_or_else(|| station.queue.front().map(|e| e.to), |h| Some(h.to));
        let from_peer = answers && partner == Some(s);
        match frame.kind {
            Kind::Ack | Kind::BlockAck if from_peer && station.high.is_some() => {
                return self.answered(j, s, frame.kind, now, out);
            }
            Kind::Ack if from_peer => {
                let (rate, attempts) = (station.rate, station.attempts);
                if let Some(control) = &mut station.controls[s] {
                    control.on_attempt(rate, attempts, true);
                }
                station.queue.pop();
                station.done();
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
        match frame.kind {
            Kind::Data if mine => {
                station.action = Action::Respond(Kind::Ack, s, phy.control(frame.rate));
                station.at = now + phy.sifs;
                let entry = self.stations[s].queue.front_mut().expect("it was sent from there");
                if !entry.delivered && !entry.void {
                    entry.delivered = true;
                    out.push(Outcome::Arrived { id: entry.id, link: entry.link, from: s });
                }
            }
            Kind::BlockAckReq | Kind::Action if mine => self.heard_control(s, j, frame, now, out),
            // 10.3.2.7: an RTS is answered only if the NAV says that the medium is not reserved.
            Kind::Rts if mine && station.nav <= now => {
                (station.granted, station.at) = (now + frame.reserves, now + phy.sifs);
                station.action = Action::Respond(Kind::Cts, s, phy.control(frame.rate));
            }
            Kind::End => station.nav = now, // 10.22.2.9
            _ if !mine => station.nav = station.nav.max(now + frame.reserves),
            _ => {}
        }
    }

    /// `j` has received the header of the data that `s` sent in a format of 802.11n or later.
    fn heard_aggregate(&mut self, s: usize, j: usize, frame: &Frame, now: u64, out: &mut Vec<Outcome>) {
        self.disappoint(j, now, out);
        let any = self.heard_data(s, j, frame, now, out);
        let station = &mut self.stations[j];
        station.eifs = if any { 0 } else { now + station.ifs + self.phy.eifs_extra() };
        if any && frame.to != j {
            station.nav = station.nav.max(now + frame.reserves);
        }
    }

    /// `j` waited for an ACK or CTS, and the frame it received was something else: the attempt has failed.
    fn disappoint(&mut self, j: usize, now: u64, out: &mut Vec<Outcome>) {
        match self.stations[j].action {
            Action::Wait(awaited) if self.stations[j].at == NEVER => self.fail(j, now, awaited, out),
            _ => {}
        }
    }

    /// Whether `j` finds the medium idle now.
    #[inline]
    pub(super) fn sense(&mut self, j: usize, now: u64) {
        let station = &self.stations[j];
        if station.action == Action::Send || station.rx.is_some() || self.energy(j) > self.carrier_power {
            return;
        }
        let station = &mut self.stations[j];
        if station.busy {
            station.thaw(now);
        }
        station.contend(&self.phy);
    }
}

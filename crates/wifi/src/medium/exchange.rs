//! Exchanges from 802.11n on: a PPDU of one frame or many and its answer, requests, and agreements.
//!
//! A station that has won the medium sends, in this order: the grant of an agreement that was asked of it; a
//! block-acknowledgement request that is due; a request for an agreement, if it needs one; or data. An aggregate is answered
//! by a block acknowledgement, and that is a success even if frames are missing. Where no answer comes, a request asks for it
//! before anything else is sent, so that what did arrive is not sent twice.

use super::{ACK_OCTETS, Frame, Medium, Outcome, RTS_OCTETS};
use crate::aggregate::Room;
use crate::formats::LONGEST;
use crate::high::{Bar, Sending};
use crate::medium::Discard;
use crate::phy::{Band, Like};
use crate::queue::Entry;
use crate::station::{Action, Kind};

/// Octets of a block-acknowledgement request (9.3.1.7).
const REQUEST_OCTETS: u32 = 24;
/// Octets of a CF-End (9.3.1.6).
const END_OCTETS: u32 = 20;
/// Octets of an ADDBA request or response (9.6.4).
const ACTION_OCTETS: u32 = 37;

fn lost(out: &mut Vec<Outcome>, why: Discard) -> impl FnMut(&Entry) {
    move |e| out.push(Outcome::Lost { id: e.id, why })
}

impl Medium {
    /// A compressed block acknowledgement (9.3.1.8): a bitmap of 64 bits, or of 256.
    fn block_ack_octets(&self, s: usize, to: usize) -> u32 {
        let high = self.stations[s].high.as_ref().expect("from 802.11n on");
        if high.peers[to].as_ref().is_some_and(|p| p.limits.window > 64) { 56 } else { 32 }
    }

    fn time(&self, rate: usize, octets: u32) -> u64 {
        self.phy.airtime(&self.phy.modes[rate], octets)
    }

    /// The lowest rate of OFDM, an index.
    fn lowest(&self) -> usize {
        self.phy.control(self.phy.old)
    }

    /// The back-off of `s` is over, or its TXOP goes on: it sends what is next, within the time the TXOP leaves.
    pub(super) fn transmit(&mut self, s: usize, now: u64, goes_on: bool, out: &mut Vec<Outcome>) {
        let sifs = self.phy.sifs;
        let station = &mut self.stations[s];
        let high = station.high.as_mut().expect("from 802.11n on");
        high.expire(now, lost(out, Discard::Age));
        let Some((to, sending)) = high.next(now) else {
            self.no_more(s, now, goes_on);
            return;
        };
        if !goes_on {
            high.txop_end = now + high.txop;
        }
        high.to = to;
        let control = station.controls[to].as_mut().expect("a link joins them");
        let (rate, sampling) = control.ppdu_rate(now, station.attempts);
        (station.rate, station.serving) = (rate, true);
        station.high.as_mut().expect("from 802.11n on").sampling = sampling;
        match sending {
            Sending::Data { .. } => {
                let Some(octets) = self.fill(s, now, to, goes_on) else {
                    self.no_more(s, now, true);
                    return;
                };
                self.stations[s].high.as_mut().expect("from 802.11n on").sending = Sending::Data { octets };
                self.announce(s, now, to, octets);
            }
            Sending::Request => self.request(s, now, to),
            Sending::Ask | Sending::Grant | Sending::Nothing => {
                self.stations[s].high.as_mut().expect("from 802.11n on").sending = sending;
                let rate = self.lowest();
                let reserves = sifs + self.time(rate, ACK_OCTETS);
                self.start(s, now, Kind::Action, to, rate, ACTION_OCTETS, reserves);
            }
        }
    }

    /// Puts together what `s` sends to `to`, as long as the TXOP allows: octets.
    fn fill(&mut self, s: usize, now: u64, to: usize, goes_on: bool) -> Option<u32> {
        let rate = self.stations[s].rate;
        let after = self.phy.sifs + self.time(self.phy.control(rate), self.block_ack_octets(s, to));
        let before = self.reserving_time(rate);
        let ppdu = self.phy.modes[rate].ppdu.expect("data have a format");
        let station = &mut self.stations[s];
        let high = station.high.as_mut().expect("from 802.11n on");
        let limits = high.peer(to).limits;
        let time = match high.txop {
            0 => LONGEST,
            _ => {
                let answered = high.txop_end.saturating_sub(now + after);
                answered.saturating_sub(if station.rts_threshold < limits.ampdu { before } else { 0 })
            }
        };
        let mut filled = high.fill(to, Room::new(&ppdu, limits, time));
        if filled.is_none() && !goes_on {
            // Nothing is cut into fragments: a frame longer than the TXOP limit exceeds it.
            let room = Room::new(&ppdu, limits, LONGEST);
            filled = high.fill(to, room);
            if filled.is_none() {
                // So does one that is longer than any PPDU, of a packet longer than Wi-Fi's 2304 octets (9.2.4.7.1).
                filled = high.fill(to, Room { longest: u32::MAX, ..room });
            }
        }
        filled
    }

    /// Nothing is to be sent, or nothing that fits in what is left of the TXOP.
    fn no_more(&mut self, s: usize, now: u64, goes_on: bool) {
        let end = now + self.time(self.lowest(), END_OCTETS);
        let station = &mut self.stations[s];
        if goes_on {
            station.done();
        }
        // 10.22.2.9 leaves it to the station whether it says so. ns-3's does, if there is time; at 2.4 GHz at 1 Mbit/s of DSSS,
        // for which there hardly ever is.
        let left = station.high.as_ref().map_or(0, |h| h.txop_end);
        if goes_on && self.air.like == Like::Ns3 && self.air.band == Band::Five && left > end {
            self.start(s, now, Kind::End, s, self.lowest(), END_OCTETS, 0);
        } else {
            station.contend(&self.phy);
        }
    }

    /// Data, or RTS before them.
    fn announce(&mut self, s: usize, now: u64, to: usize, octets: u32) {
        let rate = self.stations[s].rate;
        if octets <= self.stations[s].rts_threshold {
            self.start_psdu(s, now);
            return;
        }
        let request = self.rts_rate(rate);
        let answer = self.time(self.phy.control(request), ACK_OCTETS);
        let after = 2 * self.phy.sifs + answer + self.time(rate, octets) + self.answer_time(s);
        let reserves = self.reserves(s, now + self.time(request, RTS_OCTETS), after);
        self.start(s, now, Kind::Rts, to, request, RTS_OCTETS, reserves);
    }

    /// Of RTS before data at `rate`.
    fn rts_rate(&self, rate: usize) -> usize {
        if self.air.like == Like::Ns3 { self.lowest() } else { self.phy.control(rate) }
    }

    /// RTS, CTS and a SIFS after each.
    fn reserving_time(&self, rate: usize) -> u64 {
        let request = self.rts_rate(rate);
        self.time(request, RTS_OCTETS) + self.time(self.phy.control(request), ACK_OCTETS) + 2 * self.phy.sifs
    }

    /// SIFS and the answer to the PSDU of `s`.
    fn answer_time(&self, s: usize) -> u64 {
        let station = &self.stations[s];
        let high = station.high.as_ref().expect("from 802.11n on");
        let octets = if high.psdu.len() > 1 { self.block_ack_octets(s, high.to) } else { ACK_OCTETS };
        self.phy.sifs + self.time(self.phy.control(station.rate), octets)
    }

    /// The duration field of a frame of `s` that ends at `end` (9.2.5.2): `after` for the rest of its exchange, as single
    /// protection has it; in ns-3 the rest of the TXOP.
    fn reserves(&self, s: usize, end: u64, after: u64) -> u64 {
        let txop_end = self.stations[s].high.as_ref().map_or(0, |h| h.txop_end);
        if self.air.like == Like::Ns3 { after.max(txop_end.saturating_sub(end)) } else { after }
    }

    fn start_psdu(&mut self, s: usize, now: u64) {
        let answer = self.answer_time(s);
        let station = &mut self.stations[s];
        let high = station.high.as_mut().expect("from 802.11n on");
        let (to, rate) = (high.to, station.rate);
        let [mpdus, again] = [high.psdu.len() as u64, high.again as u64];
        if let Sending::Data { octets } = high.sending {
            let counts = &mut high.peer(to).counts;
            counts.ppdus += 1;
            counts.mpdus += mpdus;
            counts.again += again;
            let airtime = self.phy.airtime(&self.phy.modes[rate], octets);
            counts.airtime += airtime;
            let reserves = self.reserves(s, now + airtime, answer);
            self.start(s, now, Kind::Data, to, rate, octets, reserves);
        }
    }

    fn request(&mut self, s: usize, now: u64, to: usize) {
        let rate = self.phy.control(self.stations[s].rate);
        let airtime = self.time(rate, REQUEST_OCTETS);
        let high = self.stations[s].high.as_mut().expect("from 802.11n on");
        high.sending = Sending::Request;
        high.peer(to).counts.requests += 1;
        high.peer(to).counts.airtime += airtime;
        self.stations[s].serving = true;
        let answer = self.phy.sifs + self.time(self.phy.control(rate), self.block_ack_octets(s, to));
        let reserves = self.reserves(s, now + airtime, answer);
        self.start(s, now, Kind::BlockAckReq, to, rate, REQUEST_OCTETS, reserves);
    }

    /// A SIFS has passed: data after CTS, a further frame of a TXOP, a request, or an answer.
    pub(super) fn respond_high(
        &mut self,
        s: usize,
        now: u64,
        kind: Kind,
        to: usize,
        rate: usize,
        out: &mut Vec<Outcome>,
    ) {
        let sending = self.stations[s].high.as_ref().map(|h| h.sending);
        match kind {
            Kind::Data if sending == Some(Sending::Nothing) => self.transmit(s, now, true, out),
            Kind::Data => {
                // The RTS was answered.
                self.stations[s].high.as_mut().expect("from 802.11n on").missed = 0;
                self.start_psdu(s, now);
            }
            Kind::BlockAckReq => self.request(s, now, to),
            Kind::BlockAck => {
                let octets = self.block_ack_octets(s, to);
                self.start(s, now, kind, to, rate, octets, 0);
            }
            _ => self.start(s, now, kind, to, rate, ACK_OCTETS, 0),
        }
    }

    /// What `s` waits for after its frame.
    pub(super) fn awaited(&self, s: usize, kind: Kind) -> Option<Kind> {
        let aggregate = || self.stations[s].high.as_ref().is_some_and(|h| h.psdu.len() > 1);
        match kind {
            Kind::Data if aggregate() => Some(Kind::BlockAck),
            Kind::Data | Kind::Action => Some(Kind::Ack),
            Kind::BlockAckReq => Some(Kind::BlockAck),
            Kind::Rts => Some(Kind::Cts),
            _ => None,
        }
    }

    /// The answer that `s` awaited has come from `j`.
    pub(super) fn answered(&mut self, s: usize, j: usize, kind: Kind, now: u64, out: &mut Vec<Outcome>) {
        let (station, other) = pair(&mut self.stations, s, j);
        let high = station.high.as_mut().expect("from 802.11n on");
        let sending = std::mem::replace(&mut high.sending, Sending::Nothing);
        let mut acknowledged = 0;
        match (sending, kind) {
            (Sending::Data { .. }, Kind::Ack) => {
                acknowledged = 1;
                high.missed = 0;
                high.settle(j, high.psdu[0], true, |_| {});
            }
            (Sending::Data { .. } | Sending::Request, _) => {
                // 10.25.6.5: what the recipient has, whatever was sent last.
                let recipient = &other.high.as_mut().expect("from 802.11n on").peer(s).recipient;
                let Some(peer) = high.peers[j].as_ref() else { return };
                for number in peer.originator.start..peer.originator.next {
                    let (done, tries) = (high.mpdu(j, number).done, high.mpdu(j, number).tries);
                    if done {
                        continue;
                    }
                    if recipient.has(number) {
                        acknowledged += 1;
                        high.settle(j, number, true, |_| {});
                    } else if !high.endless && tries >= high.retry_limit {
                        high.settle(j, number, false, lost(out, Discard::Retries));
                    }
                }
                if sending == Sending::Request {
                    high.peer(j).bar = Bar::No;
                }
            }
            (Sending::Ask, _) => high.asked(j, now),
            (Sending::Grant, _) => high.peer(j).grant = false,
            (Sending::Nothing, _) => {}
        }
        if let (Sending::Data { .. }, Some(control)) = (sending, &mut station.controls[j]) {
            control.on_ppdu(station.rate, high.psdu.len() as u32, acknowledged);
        }
        let peer = high.peer(j);
        if peer.originator.advance() && peer.agreed {
            peer.tell();
        }
        self.go_on(s, now, out);
    }

    /// An exchange has succeeded: a request that is due follows after a SIFS (10.23.2.9), and in a TXOP with time left more
    /// data; else the medium is free.
    fn go_on(&mut self, s: usize, now: u64, out: &mut Vec<Outcome>) {
        let next = now + self.phy.sifs;
        let station = &mut self.stations[s];
        let high = station.high.as_mut().expect("from 802.11n on");
        high.expire(now, lost(out, Discard::Age));
        let due = high.next(now);
        station.done();
        let high = station.high.as_mut().expect("from 802.11n on");
        match due {
            Some((to, Sending::Request)) => {
                high.to = to;
                (station.action, station.at) = (Action::Respond(Kind::BlockAckReq, to, station.rate), next);
            }
            due if (due.is_some() || self.air.like == Like::Ns3) && high.txop > 0 && high.txop_end > next => {
                (station.action, station.at) = (Action::Respond(Kind::Data, high.to, station.rate), next);
            }
            _ => {}
        }
    }

    /// The answer that `s` awaited has not come.
    pub(super) fn unanswered(&mut self, s: usize, now: u64, awaited: Kind, out: &mut Vec<Outcome>) {
        let station = &mut self.stations[s];
        let high = station.high.as_mut().expect("from 802.11n on");
        let to = high.to;
        let sending = std::mem::replace(&mut high.sending, Sending::Nothing);
        let over = station.attempts + 1 >= high.retry_limit;
        high.missed += u32::from(matches!(sending, Sending::Data { .. } | Sending::Request));
        let mut given_up = false;
        if let (Sending::Data { .. }, false, Some(control)) = (sending, awaited == Kind::Cts, &mut station.controls[to])
        {
            control.on_ppdu(station.rate, high.psdu.len() as u32, 0);
        }
        match sending {
            Sending::Data { .. } if awaited == Kind::BlockAck => high.peer(to).tell(),
            Sending::Data { .. } => {
                // A frame by itself has its own limit; RTS counts for all that it announced.
                for i in 0..high.psdu.len() {
                    let number = high.psdu[i];
                    let tries = high.mpdu(to, number).tries;
                    let spent = match awaited {
                        // ns-3 counts what was missed, whatever it was of.
                        _ if high.endless => high.missed >= high.retry_limit,
                        Kind::Cts => over,
                        _ => tries >= high.retry_limit,
                    };
                    if spent {
                        high.settle(to, number, false, lost(out, Discard::Retries));
                        given_up = true;
                    } else if awaited == Kind::Cts {
                        high.mpdu(to, number).tries -= 1;
                    }
                }
            }
            // Where nothing waits, the request can wait, too.
            Sending::Request if over && high.packets == 0 => high.peer(to).bar = Bar::Later,
            Sending::Ask if over => high.asked(to, now),
            Sending::Grant if over => high.peer(to).grant = false,
            _ => {}
        }
        let peer = high.peer(to);
        if peer.originator.advance() && peer.agreed {
            peer.tell();
        }
        if given_up {
            high.missed = 0;
            station.gave_up(now);
        } else {
            station.again(now);
        }
    }

    /// `j` has received the header of the data of `s`: which frames are right, and what follows. False: none is.
    pub(super) fn heard_data(&mut self, s: usize, j: usize, frame: &Frame, now: u64, out: &mut Vec<Outcome>) -> bool {
        let mine = frame.to == j;
        let count = self.stations[s].high.as_ref().map_or(0, |h| h.psdu.len());
        let mut any = false;
        let mut offset = 0;
        // A bystander needs one frame to learn how long the medium is reserved.
        for i in 0..if mine { count } else { count.min(1) } {
            let (number, octets) = self.subframe(s, frame.to, i);
            let right = self.survives(j, frame, count, offset, octets);
            offset += octets.next_multiple_of(4) + 4;
            any |= right;
            if right && mine {
                self.take(s, j, number, out);
            }
        }
        if any && mine {
            let kind = if count > 1 { Kind::BlockAck } else { Kind::Ack };
            let station = &mut self.stations[j];
            (station.action, station.at) =
                (Action::Respond(kind, s, self.phy.control(frame.rate)), now + self.phy.sifs);
        }
        any
    }

    /// Number and octets of a frame in the PSDU of `s`.
    fn subframe(&self, s: usize, to: usize, i: usize) -> (u64, u32) {
        let high = self.stations[s].high.as_ref().expect("from 802.11n on");
        let number = high.psdu[i];
        let octets = high.peers[to].as_ref().map_or(0, |p| p.originator.get(number).octets);
        (number, octets)
    }

    /// Draws whether a frame `offset` octets from the start of a PSDU arrives at `j` without an error.
    pub(super) fn survives(&mut self, j: usize, frame: &Frame, count: usize, offset: u32, octets: u32) -> bool {
        let mode = self.phy.modes[frame.rate];
        let Some(ppdu) = mode.ppdu else { return true };
        let all = f64::from(octets) * 8.0;
        // ns-3 takes so many bits only as one stream carries.
        let share = if self.air.like == Like::Ns3 { 1.0 / f64::from(ppdu.streams) } else { 1.0 };
        let chunks = std::mem::take(&mut self.stations[j].high.as_mut().expect("from 802.11n on").chunks);
        let ln = if let [chunk] = chunks[..] {
            // ns-3 counts the padding of a frame by itself.
            let padded = count == 1 && self.air.like == Like::Ns3;
            let bits = if padded { (chunk.until / ppdu.symbol * ppdu.bits_per_symbol) as f64 } else { all };
            self.ln_of_bits(frame.rate, chunk.snr, bits * share)
        } else {
            let bits_at = |ns: u64| ns as f64 * ppdu.bits_per_symbol as f64 / ppdu.symbol as f64;
            let (from, to) = (f64::from(offset) * 8.0, f64::from(offset) * 8.0 + all);
            let (mut ln, mut since) = (0.0, 0.0);
            for chunk in &chunks {
                let until = bits_at(chunk.until);
                let bits = until.min(to) - f64::max(since, from);
                if bits > 0.0 {
                    ln += self.air.error_model.ln_success(&mode, chunk.snr, bits * share);
                }
                since = until;
            }
            ln
        };
        let station = &mut self.stations[j];
        station.high.as_mut().expect("from 802.11n on").chunks = chunks;
        ln >= 0.0 || station.errors.uniform() < libm::exp(ln)
    }

    /// `j` has received frame `number` of `s` without an error.
    fn take(&mut self, s: usize, j: usize, number: u64, out: &mut Vec<Outcome>) {
        let (sender, receiver) = pair(&mut self.stations, s, j);
        let from = sender.high.as_mut().expect("from 802.11n on").peer(j);
        let agreed = from.agreed;
        let mpdu = from.originator.get_mut(number);
        let recipient = &mut receiver.high.as_mut().expect("from 802.11n on").peer(s).recipient;
        mpdu.received = true;
        recipient.receive(number, &mpdu.packets, agreed, &mut self.released);
        self.pass_on(s, out);
    }

    fn pass_on(&mut self, from: usize, out: &mut Vec<Outcome>) {
        out.extend(self.released.drain(..).map(|(id, link)| Outcome::Arrived { id, link, from }));
    }

    /// `j` has received a request or an action frame of `s`.
    pub(super) fn heard_control(&mut self, s: usize, j: usize, frame: &Frame, now: u64, out: &mut Vec<Outcome>) {
        let (sender, receiver) = pair(&mut self.stations, s, j);
        let from = sender.high.as_mut().expect("from 802.11n on");
        let sending = from.sending;
        let start = from.peer(j).originator.start;
        let here = receiver.high.as_mut().expect("from 802.11n on").peer(s);
        let answer = match sending {
            Sending::Request => {
                here.recipient.move_to(start, &mut self.released);
                Kind::BlockAck
            }
            Sending::Ask => {
                here.recipient.move_to(start, &mut self.released);
                here.grant = true;
                Kind::Ack
            }
            _ => {
                here.agreed = true;
                Kind::Ack
            }
        };
        let rate = self.phy.control(frame.rate);
        (receiver.action, receiver.at) = (Action::Respond(answer, s, rate), now + self.phy.sifs);
        self.pass_on(s, out);
    }
}

/// Two different stations.
fn pair<T>(all: &mut [T], a: usize, b: usize) -> (&mut T, &mut T) {
    let (low, high) = all.split_at_mut(a.max(b));
    let (first, second) = (&mut low[a.min(b)], &mut high[0]);
    if a < b { (first, second) } else { (second, first) }
}

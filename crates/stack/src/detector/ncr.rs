//! `ncr`: Non-Congestion Robustness (RFC 4653). A segment counts as lost only when about one window of data has arrived above it, so that
//! reordering by up to a round trip costs nothing. Meanwhile SACKs let new data go ("extended limited transmit"): a segment for each
//! segment that has arrived (aggressive), or for every second one (careful). A genuine loss is found about a round trip later.
//!
//! DupThresh is LT_F times FlightSize, two thirds when careful and a half when aggressive, at least three, and is computed again with each
//! SACK, since FlightSize grows. It stays as it is during recovery. When the hole is filled without a loss, the window is limited to what
//! is in flight, and slow start returns to the flight before (3.3).
//!
//! Without SACK the rules of NewReno hold (RFC 6582).

use super::rfc6675::Rfc6675;
use super::{AckSample, DUP_THRESH, Detector, Finding, Outstanding, Scoreboard, Sent};
use crate::registry::{Builtin, Info, Need, Parameter, Unit};
use crate::time::{Duration, Instant};

pub(crate) static BUILTIN: Builtin<dyn Detector> = Builtin {
    info: Info::new("ncr", "a segment is lost after a window of data above it, so reordering by up to a round trip is no loss")
        .label("TCP-NCR")
        .source("RFC 4653")
        .needs(&[Need::Sack, Need::Scoreboard, Need::Departures])
        .validated("hand-computed values of DupThresh; scripts: displacement by less and by more than a round trip")
        .parameters(const { &[Parameter::new(
            "careful",
            Unit::Whole,
            1.0,
            (0.0, 1.0),
            "1: sends one new segment for two that arrive, threshold two thirds of the data in flight; 0: one for each, threshold half",
        )] }),
    make: |_, values| Box::new(Ncr { careful: values.get("careful") > 0.0, ..Ncr::default() }),
};

#[derive(Debug, Default)]
struct Ncr {
    careful: bool,
    /// Extended limited transmit is in progress: FlightSizePrev.
    before: Option<u64>,
    /// Skipped: octets that are withheld.
    skipped: u64,
    /// DupThresh, in segments.
    threshold: f64,
    /// Extended limited transmit has ended without a loss: FlightSizePrev.
    ended: Option<u64>,
}

impl Ncr {
    /// 3.1: LT_F of FlightSize, in segments.
    fn compute(&mut self, flight: u64, mss: u32) {
        let share = if self.careful { 2.0 / 3.0 } else { 0.5 };
        self.threshold = (share * flight as f64 / f64::from(mss)).max(f64::from(DUP_THRESH));
    }

    fn mark(&self, board: &mut Scoreboard, mss: u32) {
        let octets = ((self.threshold - 1.0).max(0.0) * f64::from(mss)) as u64;
        board.update_lost(octets, self.threshold.ceil() as u32);
    }
}

impl Detector for Ncr {
    fn on_sent(&mut self, _now: Instant, sent: &Sent, _srtt: Duration) {
        if self.careful && self.before.is_some() && sent.transmissions == 1 {
            self.skipped += u64::from(sent.len);
        }
    }

    fn on_ack(&mut self, ack: &AckSample, board: &mut Scoreboard, sender: &Outstanding) {
        if !sender.sack {
            return;
        }
        if sender.recovering {
            (self.before, self.skipped) = (None, 0);
            if self.threshold == 0.0 {
                self.compute(ack.snd_nxt - ack.una_before, sender.mss);
            }
            self.mark(board, sender.mss);
            return;
        }
        if ack.acked > 0 && self.before.is_some() {
            // 3.3: the hole is filled, or a part of it.
            self.ended = self.before;
            self.skipped = 0;
            if !board.has_sacked() {
                self.before = None;
            }
        }
        if ack.sacked > 0 && board.has_sacked() {
            self.before.get_or_insert(ack.snd_nxt - ack.una_before);
            self.compute(ack.snd_nxt - ack.snd_una, sender.mss);
            self.mark(board, sender.mss);
        }
    }

    fn finding(&mut self, ack: &AckSample, board: &Scoreboard, sender: &Outstanding) -> Finding {
        match () {
            () if !sender.sack => Rfc6675.finding(ack, board, sender),
            () if board.has_lost() => {
                (self.before, self.skipped, self.ended) = (None, 0, None);
                Finding::Loss
            }
            () => Finding::Nothing,
        }
    }

    fn on_timeout(&mut self, now: Instant, board: &mut Scoreboard, sender: &Outstanding) {
        (self.before, self.skipped, self.ended) = (None, 0, None);
        Rfc6675.on_timeout(now, board, sender);
    }

    fn limited_transmit(&self, duplicates: u32) -> u32 {
        Rfc6675.limited_transmit(duplicates)
    }

    fn withholds(&self) -> bool {
        true
    }

    fn withheld(&self) -> u64 {
        self.skipped
    }

    fn take_reordered(&mut self) -> Option<u64> {
        self.ended.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A flight of 20 segments: 13.3 careful, 10 aggressive. Ten more sent carefully: 20 of 30; twenty aggressively: 20 of 40. Four: 3.
    #[test]
    fn the_threshold_is_a_share_of_the_flight() {
        for (careful, flight, wanted) in [
            (true, 20, 13.333),
            (false, 20, 10.0),
            (true, 30, 20.0),
            (false, 40, 20.0),
            (true, 4, 3.0),
            (false, 4, 3.0),
        ] {
            let mut ncr = Ncr { careful, ..Ncr::default() };
            ncr.compute(flight * 1000, 1000);
            assert!((ncr.threshold - wanted).abs() < 1e-3, "{careful} {flight}: {}", ncr.threshold);
        }
    }
}

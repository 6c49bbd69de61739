//! The state of loss recovery: which loss episode is in progress and where it ends, and figures of
//! earlier episodes that later decisions use. The controller has the congestion window.

use super::OFF;
use crate::seq::Seq;
use crate::time::{Duration, Instant};

/// Kind and state of the episode in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// No episode.
    Open,
    /// The window was reduced for an ECN echo; at most one reduction per window (RFC 3168 6.1.2).
    Cwr {
        /// SND.NXT at the reduction.
        recover: Seq,
    },
    /// Fast recovery.
    Fast {
        /// RFC 6582 2 `recover`, RFC 6675 2 RecoveryPoint.
        recover: Seq,
        /// The retransmission that opens the episode, or that answers a NewReno partial
        /// acknowledgement, is still to be sent. The window does not limit it.
        retransmit_first: bool,
        /// NewReno: the first partial acknowledgement has arrived (RFC 6582 3.2 step 3).
        partial: bool,
        /// The rescue retransmission was sent; one per episode (RFC 6675 5 NextSeg rule (4)).
        rescued: bool,
    },
    /// Slow start after a retransmission timeout.
    Loss {
        /// SND.NXT at the timeout: no fast retransmit before it is acknowledged (RFC 6675 5.1, RFC
        /// 6582 4).
        recover: Seq,
        /// F-RTO: send new data instead of retransmissions.
        probe: Probe,
    },
}

/// Whether a judge wants new data sent instead of retransmissions (RFC 5682 2.1 step 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Probe {
    /// No: retransmit as usual.
    No,
    /// The judge wants new data sent, and none has been sent yet.
    Wanted,
    /// New data has been sent; the next acknowledgement decides.
    Sent,
}

/// State of loss recovery: the episode in progress, and what later decisions need of earlier ones.
#[derive(Debug)]
pub(super) struct Recovery {
    phase: Phase,
    /// Duplicate acknowledgements since the last acknowledgement of new data.
    duplicates: u32,
    /// Octets that limited transmit sent beyond the window since the last new acknowledgement.
    limited_sent: u64,
    /// Octets acknowledged since the last loss episode began, and between the beginnings of the
    /// last two episodes.
    acked_since_loss: [u64; 2],
    /// SND.NXT when the current round trip began.
    round_end: Seq,
    /// RFC 6582 3.2 `recover`, plus one. Without SACK, duplicate acknowledgements at or below it
    /// start no fast recovery.
    point: Seq,
    /// SND.NXT when the window was last reduced, and when that was.
    cut: (Seq, Instant),
    /// RFC 6582 3.2, "Impatient" variant: the retransmission timer as the first partial
    /// acknowledgement set it. Later partial acknowledgements do not restart it.
    rto_before: Instant,
    /// TCP-DOOR: congestion window and retransmission timeout do not change before this time.
    hold_until: Instant,
    /// After a spurious timeout (RFC 4015): the first RTT sample of data above this sequence number
    /// adapts the timer, with the SRTT and RTTVAR saved before the timeout.
    adapt: Option<(Seq, (u64, u64))>,
}

impl Recovery {
    /// No episode; `iss` is the initial sequence number.
    pub fn new(iss: Seq) -> Self {
        Self {
            phase: Phase::Open,
            duplicates: 0,
            limited_sent: 0,
            acked_since_loss: [0; 2],
            round_end: iss,
            point: iss,
            cut: (iss, Instant::ZERO),
            rto_before: OFF,
            hold_until: Instant::ZERO,
            adapt: None,
        }
    }

    // ---- the episode ----------------------------------------------------------------------------

    /// Kind and state of the episode in progress.
    #[inline(always)]
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// Gives access to the flags within the episode in progress.
    #[inline(always)]
    pub fn phase_mut(&mut self) -> &mut Phase {
        &mut self.phase
    }

    /// No episode is in progress.
    #[inline(always)]
    pub fn is_open(&self) -> bool {
        matches!(self.phase, Phase::Open)
    }

    /// Fast recovery is in progress.
    #[inline(always)]
    pub fn is_fast(&self) -> bool {
        matches!(self.phase, Phase::Fast { .. })
    }

    /// A loss is being repaired: fast recovery, or after a timeout.
    #[inline(always)]
    pub fn is_repairing(&self) -> bool {
        matches!(self.phase, Phase::Fast { .. } | Phase::Loss { .. })
    }

    /// The episode is over.
    pub fn end(&mut self) {
        self.phase = Phase::Open;
    }

    /// The window was reduced for a congestion signal without a loss.
    pub fn begin_cwr(&mut self, nxt: Seq) {
        self.phase = Phase::Cwr { recover: nxt };
    }

    /// Fast recovery begins.
    pub fn begin_fast(&mut self, nxt: Seq, retransmit_first: bool) {
        self.phase = Phase::Fast { recover: nxt, retransmit_first, partial: false, rescued: false };
    }

    /// Slow start begins over everything that is in flight.
    pub fn begin_loss(&mut self, nxt: Seq) {
        self.phase = Phase::Loss { recover: nxt, probe: Probe::No };
        self.point = nxt;
    }

    /// Returns the recovery point: without SACK, duplicate acknowledgements at or below it start no
    /// fast recovery.
    #[inline(always)]
    pub fn point(&self) -> Seq {
        self.point
    }

    /// Moves [`Recovery::point`].
    pub fn set_point(&mut self, point: Seq) {
        self.point = point;
    }

    /// The window is reduced at `now`; a loss episode begins.
    pub fn note_cut(&mut self, nxt: Seq, now: Instant) {
        self.cut = (nxt, now);
    }

    /// SND.NXT when the window was last reduced, and when that was.
    pub fn cut(&self) -> (Seq, Instant) {
        self.cut
    }

    /// TCP-DOOR: suspends the congestion response until `until`, unless it is suspended for longer.
    pub fn hold(&mut self, until: Instant) {
        self.hold_until = self.hold_until.max(until);
    }

    /// TCP-DOOR (1): the congestion response is suspended.
    #[inline(always)]
    pub fn is_held(&self, now: Instant) -> bool {
        now < self.hold_until
    }

    /// The retransmission timer as the first partial acknowledgement set it, or [`OFF`].
    pub fn rto_before(&self) -> Instant {
        self.rto_before
    }

    /// Sets [`Recovery::rto_before`].
    pub fn set_rto_before(&mut self, at: Instant) {
        self.rto_before = at;
    }

    // ---- what acknowledgements tell -------------------------------------------------------------

    /// Duplicate acknowledgements since the last acknowledgement of new data.
    #[inline(always)]
    pub fn duplicates(&self) -> u32 {
        self.duplicates
    }

    /// Counts an acknowledgement if it is a `duplicate`.
    #[inline(always)]
    pub fn count_duplicate(&mut self, duplicate: bool) {
        self.duplicates += u32::from(duplicate);
    }

    /// Resets the count of duplicate acknowledgements, since the episode is over.
    pub fn forget_duplicates(&mut self) {
        self.duplicates = 0;
    }

    /// SND.UNA has advanced to `una`, by `acked` octets. Returns whether a round trip is over.
    #[inline(always)]
    pub fn on_advance(&mut self, una: Seq, nxt: Seq, acked: u64) -> bool {
        // RFC 6675 5: DupAcks is zero again.
        self.duplicates = 0;
        self.limited_sent = 0;
        self.acked_since_loss[0] += acked;
        let over = una >= self.round_end;
        if over {
            self.round_end = nxt;
        }
        over
    }

    /// Limited transmit has sent so many octets beyond the window.
    pub fn note_limited(&mut self, octets: u64) {
        self.limited_sent += octets;
    }

    /// Octets that limited transmit sent beyond the window since the last new acknowledgement.
    pub fn limited_sent(&self) -> u64 {
        self.limited_sent
    }

    /// Resets the count of octets that limited transmit sent.
    pub fn forget_limited(&mut self) {
        self.limited_sent = 0;
    }

    /// Octets acknowledged since the last loss episode began, and between the beginnings of the
    /// last two episodes.
    #[inline(always)]
    pub fn acked_since_loss(&self) -> [u64; 2] {
        self.acked_since_loss
    }

    /// Another loss episode begins.
    pub fn begin_count(&mut self) {
        self.acked_since_loss = [0, self.acked_since_loss[0]];
    }

    // ---- RFC 4015 3.2, last step ----------------------------------------------------------------

    /// A timeout was spurious: the first RTT sample of data above [`Recovery::point`] adapts the
    /// timer, with the SRTT and RTTVAR `saved` before the timeout.
    pub fn adapt_later(&mut self, saved: (u64, u64)) {
        self.adapt = Some((self.point, saved));
    }

    /// Cancels [`Recovery::adapt_later`], because the timer has expired again.
    pub fn adapt_never(&mut self) {
        self.adapt = None;
    }

    /// Returns true if the next RTT sample of new data adapts the timer.
    #[inline(always)]
    pub fn waits_to_adapt(&self) -> bool {
        self.adapt.is_some()
    }

    /// Takes an RTT `sample` of data up to `ack`. Returns the saved SRTT and RTTVAR with the sample
    /// if the sample is the first one of data above the recovery point, which adapts the timer.
    #[inline]
    pub fn take_adaptation(&mut self, ack: Seq, sample: Option<Duration>) -> Option<((u64, u64), Duration)> {
        let (beyond, saved) = self.adapt?;
        let sample = sample.filter(|_| ack > beyond)?;
        self.adapt = None;
        Some((saved, sample))
    }
}

/// Retransmissions that are to be sent although the congestion window may be full.
#[derive(Debug, Default)]
pub(super) struct Due {
    /// The zero-window probe in flight must be retransmitted.
    pub probe: bool,
    /// RTO fired while TCP-DOOR suspended the congestion response: retransmit the head segment.
    pub held_timeout: bool,
    /// RTO fired: retransmit the head segment even if the segments in flight fill the window, since
    /// the detector may not have marked all of them lost.
    pub timeout: bool,
    /// A tail loss probe is to be sent (RFC 8985 7.3).
    pub tail_probe: bool,
}

impl Due {
    /// None is due.
    #[inline(always)]
    pub fn is_none(&self) -> bool {
        !(self.probe || self.held_timeout || self.tail_probe || self.timeout)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_trip_is_over_when_what_began_it_is_acknowledged() {
        let mut r = Recovery::new(Seq(1));
        assert!(r.on_advance(Seq(101), Seq(501), 100));
        assert!(!r.on_advance(Seq(500), Seq(901), 399));
        assert!(r.on_advance(Seq(501), Seq(901), 1));
        assert_eq!(r.acked_since_loss(), [500, 0]);
        r.begin_count();
        assert_eq!(r.acked_since_loss(), [0, 500]);
    }

    #[test]
    fn an_advance_forgets_duplicates_and_limited_transmit() {
        let mut r = Recovery::new(Seq(1));
        r.count_duplicate(true);
        r.count_duplicate(false);
        r.note_limited(1_000);
        assert_eq!((r.duplicates(), r.limited_sent()), (1, 1_000));
        r.on_advance(Seq(2), Seq(3), 1);
        assert_eq!((r.duplicates(), r.limited_sent()), (0, 0));
    }

    /// RFC 4015 3.2: the sample is of data that was sent after the timeout.
    #[test]
    fn the_timer_adapts_to_the_first_sample_of_later_data() {
        let mut r = Recovery::new(Seq(1));
        r.begin_loss(Seq(100));
        r.adapt_later((5, 6));
        assert_eq!(r.take_adaptation(Seq(100), Some(Duration(7))), None);
        assert_eq!(r.take_adaptation(Seq(101), None), None);
        assert_eq!(r.take_adaptation(Seq(101), Some(Duration(7))), Some(((5, 6), Duration(7))));
        assert!(!r.waits_to_adapt());
    }

    #[test]
    fn a_hold_is_never_shortened() {
        let mut r = Recovery::new(Seq(1));
        r.hold(Instant(10));
        r.hold(Instant(5));
        assert!(r.is_held(Instant(9)) && !r.is_held(Instant(10)));
    }
}

//! Plain TCP after a fallback (RFC 8684 3.7), and the MP_FAIL that begins one: how the sequence
//! numbers of one subflow map to data offsets, and what the peer has still to be told.
//!
//! `connection/fallback.rs` decides when a connection falls back.

use super::fast_path::FastPath;
use super::handshake::Keys;
use super::timers::{Timer, Timers};
use crate::event::SubflowId;
use crate::segment::{Dss, Mapping, Mptcp, Signal};
use crate::seq::Seq;
use crate::time::{Duration, Instant};

/// Transmissions of an unanswered MP_FAIL, and repetitions of an answer to one.
const TRIES: u32 = 8;

/// A checksum failed on the only subflow: MP_FAIL is sent until the peer falls back.
#[derive(Clone, Copy, Debug)]
struct Failing {
    subflow: SubflowId,
    dsn: u64,
    /// The next acknowledgement carries MP_FAIL.
    due: bool,
    /// Transmissions of MP_FAIL. [`Timer::Fail`] repeats MP_FAIL: the peer's answer may have been
    /// lost, and the peer may have no more data to send.
    tries: u32,
}

/// We fell back, but the peer may not know: the path delivered mappings before it dropped options.
/// Until the peer acknowledges our infinite mapping or sends one, it may still send Multipath TCP.
#[derive(Clone, Copy, Debug)]
struct Untold {
    /// Our infinite mapping counts as acknowledged only on a segment with this sequence number or
    /// a later one.
    new: Seq,
    /// Keys needed to interpret the peer's infinite mapping.
    keys: Keys,
}

/// Our answer to the peer's MP_FAIL.
#[derive(Debug, Default)]
struct Answer {
    /// Data sequence number of an MP_FAIL to be sent with the next acknowledgement.
    due: Option<u64>,
    /// Data sequence number of the MP_FAIL that was sent, in case the peer repeats its own.
    sent: Option<u64>,
    /// Repetitions so far.
    repeats: u32,
    /// When the answer was last sent or put off.
    at: Instant,
}

/// How sequence numbers map to data offsets in plain TCP, and the MP_FAILs in progress.
#[derive(Debug, Default)]
pub(crate) struct Fallback {
    /// The subflow that carries plain TCP.
    subflow: SubflowId,
    /// Sender: a sequence number and its data offset. `None`: our first octet has data offset 0.
    tx_base: Option<(Seq, u64)>,
    /// Receiver: likewise for the peer's sequence numbers.
    rx_base: Option<(Seq, u64)>,
    failing: Option<Failing>,
    /// The infinite mapping for our first data segment, and the sequence number of that segment
    /// once it was sent.
    infinite: Option<(Mapping, Option<Seq>)>,
    /// Set while the peer may not know that we fell back.
    untold: Option<Untold>,
    answer: Answer,
}

impl Fallback {
    // ---- sequence numbers and data offsets ------------------------------------------------------

    /// The subflow that carries plain TCP.
    #[inline(always)]
    pub fn subflow(&self) -> SubflowId {
        self.subflow
    }

    /// Data offset of the peer's sequence number `seq`; `irs` is the peer's initial one. `None` for
    /// a sequence number before all data.
    #[inline]
    pub fn rx(&self, irs: Seq, seq: Seq) -> Option<u64> {
        let Some((base, data)) = self.rx_base else { return seq.0.checked_sub(irs.0 + 1) };
        data.checked_add_signed(seq.0.wrapping_sub(base.0) as i64)
    }

    /// Data offset of our sequence number `seq`; `iss` is our initial one.
    #[inline]
    pub fn tx(&self, iss: Seq, seq: Seq) -> u64 {
        let Some((base, data)) = self.tx_base else { return seq - (iss + 1) };
        data.saturating_add_signed(seq.0.wrapping_sub(base.0) as i64)
    }

    /// The sequence number and data offset from which the peer's direction is counted, if a
    /// checksum failure or an infinite mapping has set them.
    pub fn rx_base(&self) -> Option<(Seq, u64)> {
        self.rx_base
    }

    /// Counts the peer's direction from `base`, unless it is counted from somewhere already.
    pub fn begin_rx(&mut self, base: (Seq, u64)) {
        self.rx_base.get_or_insert(base);
    }

    /// Returns true if the peer's infinite mapping of `seq` to `data` contradicts the place where
    /// our checksum failed.
    pub fn contradicts(&self, (seq, data): (Seq, u64)) -> bool {
        let elsewhere = |(at, is): (Seq, u64)| data.wrapping_sub(is) != seq.0.wrapping_sub(at.0);
        self.failing.is_some() && self.rx_base.is_some_and(elsewhere)
    }

    // ---- the fallback ---------------------------------------------------------------------------

    /// The connection continues as plain TCP on `subflow`: `tx` is where our direction is counted
    /// from, and `infinite` the mapping that says so.
    pub fn begin(&mut self, subflow: SubflowId, tx: (Seq, u64), infinite: Mapping) {
        (self.subflow, self.tx_base, self.infinite) = (subflow, Some(tx), Some((infinite, None)));
        self.untold = None;
    }

    /// Notes that the peer may not know of our fallback, because the path delivered its mappings
    /// before. `new`: our next sequence number; `keys`: of the connection.
    pub fn peer_is_untold(&mut self, new: Seq, keys: Keys) {
        self.untold = Some(Untold { new, keys });
    }

    /// The option of a data segment that begins at `seq`: the infinite mapping on the first segment
    /// sent, and on its retransmissions.
    pub fn infinite_option(&mut self, seq: Seq) -> Mptcp {
        let Some((mapping, at)) = &mut self.infinite else { return Mptcp::None };
        if *at.get_or_insert(seq) != seq {
            return Mptcp::None;
        }
        Mptcp::Dss(Dss { data_ack: None, mapping: Some(*mapping), data_fin: false })
    }

    /// Keys needed to interpret an infinite mapping of a peer that may not know of the fallback.
    pub fn untold_keys(&self) -> Option<Keys> {
        self.untold.map(|untold| untold.keys)
    }

    /// RFC 8684 3.7: returns true if the peer is plain TCP, too. A peer whose data have had a
    /// DATA_ACK learns of our fallback from the infinite mapping alone ("in case the path drops
    /// options in one direction only"): before that, and before its own fallback, it may have sent
    /// octets once more at another place of the subflow. `ack` acknowledges our sequence numbers;
    /// `mapping` is the peer's infinite mapping, if the segment has one; `nxt` is the next expected
    /// octet.
    pub fn is_told(&mut self, ack: Seq, mapping: Option<(Seq, u64)>, nxt: u64) -> bool {
        let Some(Untold { new, .. }) = self.untold else { return true };
        let carrier = self.infinite.and_then(|(_, at)| at).filter(|&at| at >= new);
        let mut told = carrier.is_some_and(|at| ack > at);
        // Ignore an infinite mapping that starts beyond a gap: the missing data would never arrive.
        if let Some(base) = mapping.filter(|&(_, data)| data <= nxt) {
            self.rx_base = Some(base);
            told = true;
        }
        self.untold = self.untold.filter(|_| !told);
        told
    }

    /// Returns true if the peer knows of the fallback, or there was none: every octet that arrives
    /// has its place in the stream.
    #[inline]
    pub fn has_told(&self) -> bool {
        self.untold.is_none()
    }

    // ---- our MP_FAIL ----------------------------------------------------------------------------

    /// A checksum has failed on `subflow`, and MP_FAIL with data sequence number `dsn` is due. The
    /// failed mapping begins at `base`.
    pub fn fail(&mut self, subflow: SubflowId, dsn: u64, base: (Seq, u64), fast: &mut FastPath) {
        fast.invalidate();
        self.rx_base = Some(base);
        self.failing = Some(Failing { subflow, dsn, due: true, tries: 0 });
    }

    /// MP_FAIL is answered, or its subflow has ended.
    pub fn forget_failing(&mut self, timers: &mut Timers) {
        self.failing = None;
        timers.stop(Timer::Fail);
    }

    /// Returns true if MP_FAIL has no answer yet.
    #[inline(always)]
    pub fn is_failing(&self) -> bool {
        self.failing.is_some()
    }

    /// Returns true if a checksum has failed on `id`, and MP_FAIL has no answer yet. A join that
    /// completes meanwhile has sequence numbers of its own.
    #[inline]
    pub fn has_failed(&self, id: SubflowId) -> bool {
        self.failing.is_some_and(|f| f.subflow == id)
    }

    /// Data has arrived on `id`: if a checksum has failed there, MP_FAIL is due again. Returns its
    /// data sequence number.
    pub fn renew_failure(&mut self, id: SubflowId) -> Option<u64> {
        let failing = self.failing.as_mut().filter(|f| f.subflow == id)?;
        failing.due = true;
        Some(failing.dsn)
    }

    /// Data sequence number of our MP_FAIL, and whether it was sent; `None` if no checksum has
    /// failed.
    pub fn failure(&self) -> Option<(u64, bool)> {
        self.failing.map(|f| (f.dsn, !f.due))
    }

    /// If [`Timer::Fail`] has expired, returns the subflow and the signal of an MP_FAIL that
    /// was sent often enough. It is unknown whether the peer is plain TCP, so nothing can be
    /// delivered.
    pub fn unanswered(&self, now: Instant, timers: &Timers) -> Option<(SubflowId, Signal)> {
        let given_up = self.failing.filter(|f| f.tries >= TRIES && timers.has_expired(Timer::Fail, now));
        given_up.map(|f| (f.subflow, Signal::Fail { dsn: f.dsn }))
    }

    // ---- our answer to the peer's MP_FAIL -------------------------------------------------------

    /// We have fallen back because of the peer's MP_FAIL. RFC 8684 3.7: "the receiver of an MP_FAIL
    /// MUST also respond with an MP_FAIL in the reverse direction", here with data sequence number
    /// `dsn`, unless ours `was_sent`.
    pub fn answer(&mut self, now: Instant, dsn: u64, was_sent: bool) {
        self.answer.due = (!was_sent).then_some(dsn);
        self.answer.sent = Some(dsn);
        self.answer.at = now;
    }

    /// Returns true if an answer is due.
    pub fn answer_is_due(&self) -> bool {
        self.answer.due.is_some()
    }

    /// The peer repeats MP_FAIL on `id` after we have fallen back, and its `ack` covers the segment
    /// that carried the infinite mapping (if it was sent). So our answer was lost, and with it that
    /// segment, whose octets had arrived in an earlier copy. Repeats the answer, and lets the next
    /// data segment carry the mapping again; returns true if so. The number of repetitions is
    /// limited: two hosts in plain TCP must not answer each other forever. `rto`: of the subflow.
    pub fn repeat_answer(&mut self, now: Instant, id: SubflowId, ack: Seq, rto: Duration) -> bool {
        let subflow = self.subflow;
        let Some((_, carrier)) = self.infinite.as_mut().filter(|_| subflow == id) else { return false };
        // MP_FAILs of the peer that were in flight together count as one. The last of them arrives
        // at most a timeout after the first.
        let same = carrier.is_none() && now.since(self.answer.at) < rto;
        if same || self.answer.repeats == TRIES || carrier.is_some_and(|seq| ack <= seq) {
            return false;
        }
        *carrier = None;
        let repeats = self.answer.repeats + 1;
        self.answer = Answer { due: self.answer.sent, repeats, at: now, ..self.answer };
        true
    }

    // ---- MP_FAIL on an acknowledgement ----------------------------------------------------------

    /// Returns true if an acknowledgement on `id` must carry MP_FAIL. `expired`: [`Timer::Fail`]
    /// has.
    pub fn is_due(&self, id: SubflowId, expired: bool) -> bool {
        let repeats = |f: Failing| f.subflow == id && (f.due || expired && f.tries < TRIES);
        self.failing.is_some_and(repeats) || (self.answer.due.is_some() && self.subflow == id)
    }

    /// The signal of an acknowledgement on `id`: MP_FAIL, repeated until the peer falls back.
    /// `rto`: of the subflow.
    pub fn signal(&mut self, now: Instant, id: SubflowId, rto: Duration, timers: &mut Timers) -> Signal {
        if let Some(failing) = self.failing.as_mut().filter(|f| f.subflow == id) {
            failing.due = false;
            let patience = rto.saturating_mul(1 << failing.tries);
            if failing.tries < TRIES {
                failing.tries += 1;
                timers.set(Timer::Fail, now + patience);
            }
            return Signal::Fail { dsn: failing.dsn };
        }
        match self.answer.due.take_if(|_| self.subflow == id) {
            Some(dsn) => Signal::Fail { dsn },
            None => Signal::None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTO: Duration = Duration::from_millis(200);

    fn infinite() -> Mapping {
        Mapping { dsn: 1, short: false, ssn: 1, len: 0, checksum: None }
    }

    #[test]
    fn without_a_fallback_data_begins_after_the_syn() {
        let f = Fallback::default();
        assert_eq!((f.rx(Seq(9), Seq(10)), f.rx(Seq(9), Seq(9)), f.tx(Seq(4), Seq(7))), (Some(0), None, 2));
    }

    /// RFC 8684 3.7: sequence numbers continue from the point on which both sides agree.
    #[test]
    fn both_directions_are_counted_from_their_bases() {
        let mut f = Fallback::default();
        f.begin(1, (Seq(100), 1000), infinite());
        f.begin_rx((Seq(50), 500));
        f.begin_rx((Seq(60), 0));
        assert_eq!((f.subflow(), f.tx(Seq(0), Seq(90)), f.rx(Seq(0), Seq(70))), (1, 990, Some(520)));
    }

    #[test]
    fn the_first_data_segment_and_its_retransmissions_carry_the_infinite_mapping() {
        let mut f = Fallback::default();
        assert_eq!(f.infinite_option(Seq(5)), Mptcp::None);
        f.begin(0, (Seq(5), 0), infinite());
        assert_ne!(f.infinite_option(Seq(5)), Mptcp::None);
        assert_eq!(f.infinite_option(Seq(6)), Mptcp::None);
        assert_ne!(f.infinite_option(Seq(5)), Mptcp::None);
    }

    #[test]
    fn mp_fail_is_repeated_with_longer_pauses_until_the_sender_gives_up() {
        let (mut f, mut timers) = (Fallback::default(), Timers::default());
        f.fail(0, 7, (Seq(1), 0), &mut FastPath::for_tests());
        assert!(
            f.has_failed(0) && !f.has_failed(1) && f.is_due(0, false) && f.unanswered(Instant(0), &timers).is_none()
        );
        for tries in 0..TRIES {
            assert_eq!(f.signal(Instant(0), 0, RTO, &mut timers), Signal::Fail { dsn: 7 });
            assert_eq!(timers.at(Timer::Fail), Instant(0) + RTO.saturating_mul(1 << tries));
        }
        assert_eq!(
            (f.is_due(0, true), f.unanswered(Instant::FAR_FUTURE, &timers)),
            (false, Some((0, Signal::Fail { dsn: 7 })))
        );
        f.forget_failing(&mut timers);
        assert!(!f.is_failing() && !timers.runs(Timer::Fail));
    }

    /// RFC 8684 3.7: MP_FAIL is answered with MP_FAIL. The peer repeats its own if ours was lost.
    #[test]
    fn a_lost_answer_is_repeated_once_in_a_timeout() {
        let (mut f, mut timers) = (Fallback::default(), Timers::default());
        f.begin(0, (Seq(10), 0), infinite());
        f.answer(Instant(0), 7, false);
        assert!(f.is_due(0, false) && f.answer_is_due());
        assert_eq!(f.signal(Instant(0), 0, RTO, &mut timers), Signal::Fail { dsn: 7 });
        assert!(!f.is_due(0, false));
        assert!(!f.repeat_answer(Instant(1), 0, Seq(10), RTO), "the peer's signals were in flight together");
        assert!(!f.repeat_answer(Instant(0) + RTO, 1, Seq(10), RTO), "another subflow");
        assert!(f.repeat_answer(Instant(0) + RTO, 0, Seq(10), RTO) && f.is_due(0, false));
    }

    /// A peer that has passed mappings may speak Multipath TCP until it acknowledges ours.
    #[test]
    fn the_peer_is_told_by_the_infinite_mapping_on_a_new_segment() {
        let mut f = Fallback::default();
        f.begin(0, (Seq(10), 0), infinite());
        f.peer_is_untold(Seq(20), Keys::new(1, 2));
        f.infinite_option(Seq(20));
        assert!(!f.is_told(Seq(20), None, 100) && !f.has_told());
        assert!(!f.is_told(Seq(20), Some((Seq(5), 101)), 100), "beyond a gap");
        assert!(f.is_told(Seq(21), None, 100) && f.has_told());
    }
}

//! The judges by themselves, step by step as their sources have them: what they are told and what they answer.

use anabranch_stack::Config;
use anabranch_stack::controller::Cause;
use anabranch_stack::judge::{AckSample, Episode, Judge, Response, Verdict};
use anabranch_stack::registry::Choice;
use anabranch_stack::seq::Seq;

use crate::pair::{at, ms};

/// A judge and what its subflow would know: segments of 1000 octets from 1000 on, ten in flight.
struct Court {
    judge: Box<dyn Judge>,
    una: u64,
    nxt: u64,
    sack: bool,
}

impl Court {
    fn of(judge: &str) -> Self {
        let judge = judge.parse::<Choice<dyn Judge>>().unwrap().make(&Config::classic().setup());
        Self { judge, una: 1000, nxt: 11_000, sack: true }
    }

    fn episode(&mut self, cause: Cause, timestamp: u32) {
        self.nested_episode(cause, timestamp, false);
    }

    fn nested_episode(&mut self, cause: Cause, timestamp: u32, nested: bool) {
        let (snd_una, snd_nxt) = (Seq(self.una), Seq(self.nxt));
        self.judge.on_episode(&Episode { now: at(0), cause, snd_una, snd_nxt, timestamp, nested });
    }

    /// Segments `numbers` of the flight are sent again; the first of the flight is 1.
    fn again(&mut self, numbers: &[u64]) {
        for n in numbers {
            self.judge.on_retransmit(Seq(1000 * n), Seq(1000 * n + 1000));
        }
    }

    /// An acknowledgement up to `ack`, with more about it told by `tell`.
    fn ack(&mut self, ack: u64, tell: impl FnOnce(&mut AckSample)) -> Verdict {
        let una_before = Seq(self.una);
        let acked = ack.saturating_sub(self.una);
        self.una += acked;
        let mut e = AckSample {
            now: at(0),
            ack: Seq(ack),
            una_before,
            snd_una: Seq(self.una),
            snd_nxt: Seq(self.nxt),
            acked,
            old: ack < una_before.0,
            sack: self.sack,
            srtt: ms(100),
            ..AckSample::default()
        };
        tell(&mut e);
        self.judge.on_ack(&e)
    }

    /// A report of segment `n` as a duplicate, with an acknowledgement up to `ack`.
    fn report(&mut self, n: u64, ack: u64) -> Verdict {
        self.ack(ack, |e| e.dsack = Some((Seq(1000 * n), Seq(1000 * n + 1000))))
    }
}

// ---- Eifel, RFC 3522 ---------------------------------------------------------------------------------------------

/// RFC 3522 3.2 steps (2) to (4) and (6): the first acceptable ACK decides, by its timestamp alone.
#[test]
fn eifel_compares_the_first_acceptable_echo_with_the_first_retransmission() {
    for (echo, verdict) in [(99, Verdict::Spurious), (100, Verdict::Genuine), (101, Verdict::Genuine)] {
        for cause in [Cause::Timeout, Cause::FastRetransmit] {
            let mut c = Court::of("eifel");
            c.episode(cause, 100);
            c.again(&[1]);
            // Not acceptable: duplicates, whatever they echo.
            assert_eq!(c.ack(1000, |e| (e.duplicate, e.ts_ecr) = (true, Some(50))), Verdict::Pending);
            assert_eq!(c.ack(2000, |e| e.ts_ecr = Some(echo)), verdict);
            // Only the first one.
            assert_eq!(c.ack(3000, |e| e.ts_ecr = Some(50)), Verdict::Pending);
        }
    }
}

/// RFC 3522 3.2 step (2): a timer that expires during fast recovery overwrites nothing either. The fast retransmission, sent at
/// 100, arrives and is echoed: the loss was genuine, though a copy left at 300 that was not needed.
#[test]
fn eifel_takes_no_echo_of_an_earlier_retransmission_for_the_original() {
    for (echo, verdict) in [(99, Verdict::Spurious), (100, Verdict::Genuine)] {
        let mut c = Court::of("eifel");
        c.episode(Cause::FastRetransmit, 100);
        c.again(&[1]);
        c.nested_episode(Cause::Timeout, 300, true);
        c.again(&[1]);
        assert_eq!(c.ack(2000, |e| e.ts_ecr = Some(echo)), verdict);
    }
}

/// The timestamp clock wraps around after 2^32 ms (RFC 7323 5.4): compared as PAWS compares.
#[test]
fn eifel_compares_timestamps_that_wrap_around() {
    for (stored, echo, verdict) in [(5, u32::MAX - 5, Verdict::Spurious), (u32::MAX - 5, 5, Verdict::Genuine)] {
        let mut c = Court::of("eifel");
        c.episode(Cause::Timeout, stored);
        c.again(&[1]);
        assert_eq!(c.ack(2000, |e| e.ts_ecr = Some(echo)), verdict);
    }
}

/// A second timeout of the same segment is no new episode: RetransmitTS stays that of the first retransmission, so that an
/// original that arrives after both is still recognised.
#[test]
fn eifel_keeps_the_timestamp_of_the_first_of_several_retransmissions() {
    let mut c = Court::of("eifel");
    c.episode(Cause::Timeout, 100);
    c.again(&[1, 1]);
    assert_eq!(c.ack(2000, |e| e.ts_ecr = Some(90)), Verdict::Spurious);
    let mut c = Court::of("eifel");
    c.episode(Cause::Timeout, 100);
    c.again(&[1, 1]);
    assert_eq!(c.ack(2000, |e| e.ts_ecr = Some(100)), Verdict::Genuine);
}

/// RFC 3522 3.2 step (5), 3.3: an ACK with a D-SACK, or one that acknowledges all that is outstanding from a receiver that
/// has never sent a D-SACK, may be the answer to a needless retransmission after all ACKs were lost.
#[test]
fn eifel_lets_a_lost_window_of_acknowledgements_alone() {
    let all = |c: &mut Court| c.ack(11_000, |e| e.ts_ecr = Some(90));
    let mut c = Court::of("eifel");
    c.episode(Cause::Timeout, 100);
    assert_eq!(all(&mut c), Verdict::Genuine);
    // A receiver that reports duplicates would have reported this one.
    let mut c = Court::of("eifel");
    assert_eq!(c.report(0, 1000), Verdict::Pending);
    c.episode(Cause::Timeout, 100);
    assert_eq!(all(&mut c), Verdict::Spurious);
    // And here it does, whether all is acknowledged or not.
    for ack in [2000, 11_000] {
        let mut c = Court::of("eifel");
        c.episode(Cause::Timeout, 100);
        let dsack = Some((Seq(1000), Seq(2000)));
        assert_eq!(c.ack(ack, |e| (e.ts_ecr, e.dsack) = (Some(90), dsack)), Verdict::Genuine);
    }
}

/// An ECN echo cuts the window without a retransmission: nothing to judge, also not what an earlier episode left.
#[test]
fn eifel_has_nothing_to_say_of_congestion_marks() {
    let mut c = Court::of("eifel");
    c.episode(Cause::Timeout, 100);
    c.episode(Cause::Ecn, 100);
    assert_eq!(c.ack(2000, |e| e.ts_ecr = Some(90)), Verdict::Pending);
}

// ---- D-SACK, RFC 3708 --------------------------------------------------------------------------------------------

/// RFC 3708 2 (A.2), (B.1), (B.2): spurious when the last retransmission is reported, in whatever order, and only once.
#[test]
fn dsack_waits_for_a_report_of_every_retransmission() {
    for cause in [Cause::Timeout, Cause::FastRetransmit] {
        let mut c = Court::of("dsack");
        c.episode(cause, 0);
        c.again(&[1, 2, 3]);
        assert_eq!(c.ack(5000, |_| ()), Verdict::Pending);
        assert_eq!(c.report(3, 5000), Verdict::Pending);
        assert_eq!(c.report(1, 5000), Verdict::Pending);
        assert_eq!(c.ack(6000, |_| ()), Verdict::Pending);
        assert_eq!(c.report(2, 6000), Verdict::Spurious);
        assert_eq!(c.ack(7000, |_| ()), Verdict::Pending);
    }
}

/// A report may come with the cumulative acknowledgement of something else, and above it (RFC 2883 4.1.2).
#[test]
fn dsack_reads_reports_wherever_they_lie() {
    let mut c = Court::of("dsack");
    c.episode(Cause::FastRetransmit, 0);
    c.again(&[1, 4]);
    assert_eq!(c.ack(3000, |_| ()), Verdict::Pending);
    // Segment 4 is held above a hole at 3, and reported as a duplicate there.
    assert_eq!(c.report(4, 3000), Verdict::Pending);
    assert_eq!(c.report(1, 6000), Verdict::Spurious);
}

/// RFC 3708 2 (A.1): nothing SACKed, and the oldest outstanding segment reported, with the ACK of what follows.
#[test]
fn dsack_lets_a_lost_window_of_acknowledgements_alone() {
    let mut c = Court::of("dsack");
    c.episode(Cause::Timeout, 0);
    c.again(&[1]);
    assert_eq!(c.report(1, 11_000), Verdict::Pending);
    // With something SACKed before it, or an ACK before it, not all ACKs were lost.
    let mut c = Court::of("dsack");
    c.episode(Cause::Timeout, 0);
    c.again(&[1]);
    let dsack = Some((Seq(1000), Seq(2000)));
    assert_eq!(c.ack(11_000, |e| (e.dsack, e.sacked_before) = (dsack, true)), Verdict::Spurious);
    let mut c = Court::of("dsack");
    c.episode(Cause::Timeout, 0);
    c.again(&[1]);
    assert_eq!(c.ack(3000, |_| ()), Verdict::Pending);
    assert_eq!(c.report(1, 11_000), Verdict::Spurious);
}

/// Coupled acknowledgement reports a segment that is held at the acknowledgement itself: no lost ACKs.
#[test]
fn dsack_takes_a_report_at_the_acknowledgement() {
    let mut c = Court::of("dsack");
    c.sack = false;
    c.episode(Cause::Timeout, 0);
    c.again(&[1]);
    assert_eq!(c.report(1, 1000), Verdict::Spurious);
}

/// RFC 3708 2 (A.3): a segment retransmitted twice in an episode leaves it unjudged; the next one is judged again.
#[test]
fn dsack_does_not_judge_an_episode_with_a_segment_sent_three_times() {
    let mut c = Court::of("dsack");
    c.episode(Cause::Timeout, 0);
    c.again(&[1, 1]);
    assert_eq!(c.ack(3000, |_| ()), Verdict::Pending);
    assert_eq!(c.report(1, 3000), Verdict::Pending);
    assert_eq!(c.report(1, 3000), Verdict::Pending);
    c.episode(Cause::FastRetransmit, 0);
    c.again(&[3]);
    assert_eq!(c.ack(5000, |_| ()), Verdict::Pending);
    assert_eq!(c.report(3, 5000), Verdict::Spurious);
}

/// RFC 3708 2 (A.4): a duplicate of what was sent once comes from the network: never to be used again on the connection.
#[test]
fn dsack_is_not_used_on_a_network_that_duplicates() {
    let mut c = Court::of("dsack");
    assert_eq!(c.ack(2000, |_| ()), Verdict::Pending);
    assert_eq!(c.report(1, 2000), Verdict::Pending);
    c.episode(Cause::FastRetransmit, 0);
    c.again(&[2]);
    assert_eq!(c.ack(4000, |_| ()), Verdict::Pending);
    assert_eq!(c.report(2, 4000), Verdict::Pending);
}

/// So does a second report of one retransmission: two copies arrived besides the original.
#[test]
fn dsack_is_not_used_when_a_retransmission_is_reported_twice() {
    let mut c = Court::of("dsack");
    c.episode(Cause::FastRetransmit, 0);
    c.again(&[1, 2]);
    assert_eq!(c.ack(3000, |_| ()), Verdict::Pending);
    assert_eq!(c.report(1, 3000), Verdict::Pending);
    assert_eq!(c.report(1, 3000), Verdict::Pending);
    assert_eq!(c.report(2, 3000), Verdict::Pending);
    c.episode(Cause::FastRetransmit, 0);
    c.again(&[4]);
    assert_eq!(c.ack(6000, |_| ()), Verdict::Pending);
    assert_eq!(c.report(4, 6000), Verdict::Pending);
}

/// Reports of an earlier episode come during the next one: they neither count for it nor tell of duplication.
#[test]
fn dsack_knows_reports_of_an_earlier_episode() {
    let mut c = Court::of("dsack");
    c.episode(Cause::FastRetransmit, 0);
    c.again(&[1]);
    assert_eq!(c.ack(3000, |_| ()), Verdict::Pending);
    c.episode(Cause::Timeout, 0);
    c.again(&[3]);
    assert_eq!(c.report(1, 3000), Verdict::Pending);
    assert_eq!(c.ack(5000, |_| ()), Verdict::Pending);
    assert_eq!(c.report(3, 5000), Verdict::Spurious);
}

// ---- F-RTO, RFC 5682 ---------------------------------------------------------------------------------------------

fn frto(sack: bool) -> Court {
    let mut c = Court::of("frto");
    c.sack = sack;
    c.episode(Cause::Timeout, 0);
    c.again(&[1]);
    c
}

fn duplicate(e: &mut AckSample) {
    e.duplicate = true;
}

/// RFC 5682 2.1 steps 2b and 3b: two ACKs that advance, new data between them.
#[test]
fn frto_takes_two_advancing_acks_for_a_spurious_timeout() {
    for sack in [true, false] {
        let mut c = frto(sack);
        assert_eq!(c.ack(2000, |_| ()), Verdict::Probe);
        c.nxt += 2000;
        assert_eq!(c.ack(3000, |_| ()), Verdict::Spurious);
        assert_eq!(c.ack(4000, |_| ()), Verdict::Pending);
    }
}

/// RFC 5682 2.1 step 2a: a duplicate before the first advance says that the timeout was genuine; 3.1 step 2: with SACK it says
/// what has arrived, and one waits.
#[test]
fn frto_takes_a_first_duplicate_for_a_genuine_timeout_only_without_sack() {
    let mut c = frto(false);
    assert_eq!(c.ack(1000, duplicate), Verdict::Genuine);
    assert_eq!(c.ack(2000, |_| ()), Verdict::Pending);
    let mut c = frto(true);
    assert_eq!(c.ack(1000, duplicate), Verdict::Pending);
    assert_eq!(c.ack(2000, |_| ()), Verdict::Probe);
}

/// RFC 5682 2.1 step 2a: the first ACK covers all that was sent, or not all that was sent again.
#[test]
fn frto_learns_nothing_from_an_ack_of_everything_or_of_a_part() {
    for sack in [true, false] {
        for ack in [11_000, 1500] {
            let mut c = frto(sack);
            assert_eq!(c.ack(ack, |_| ()), Verdict::Genuine);
            assert_eq!(c.ack(11_000, |_| ()), Verdict::Pending);
        }
    }
}

/// RFC 5682 2.1 and 3.1 step 3a: a duplicate that brings nothing, be it one with a report of a duplicate.
#[test]
fn frto_takes_a_second_duplicate_for_a_genuine_timeout() {
    for sack in [true, false] {
        let mut c = frto(sack);
        assert_eq!(c.ack(2000, |_| ()), Verdict::Probe);
        assert_eq!(c.ack(2000, duplicate), Verdict::Genuine);
    }
    let mut c = frto(true);
    assert_eq!(c.ack(2000, |_| ()), Verdict::Probe);
    assert_eq!(c.report(1, 2000), Verdict::Genuine);
}

/// RFC 5682 3.1 step 3: a SACK of an original below RecoveryPoint says as much as a second advance (3b); one of the new data,
/// or an ACK of them, nothing (3a).
#[test]
fn frto_reads_selective_acknowledgements() {
    let sacked = |end: u64| move |e: &mut AckSample| (e.duplicate, e.sacked_original) = (true, Some(Seq(end)));
    for (end, verdict) in [(5000, Verdict::Spurious), (11_000, Verdict::Spurious), (12_000, Verdict::Genuine)] {
        let mut c = frto(true);
        assert_eq!(c.ack(2000, |_| ()), Verdict::Probe);
        c.nxt += 2000;
        assert_eq!(c.ack(2000, sacked(end)), verdict);
    }
    for (ack, verdict) in [(11_000, Verdict::Spurious), (12_000, Verdict::Genuine)] {
        let mut c = frto(true);
        assert_eq!(c.ack(2000, |_| ()), Verdict::Probe);
        c.nxt += 2000;
        assert_eq!(c.ack(ack, |_| ()), verdict);
    }
}

/// RFC 5682 2.1 step 2b: no new data could be sent, so retransmissions went on, and an ACK may be for either copy.
#[test]
fn frto_gives_up_when_more_is_sent_again() {
    for sack in [true, false] {
        let mut c = frto(sack);
        assert_eq!(c.ack(2000, |_| ()), Verdict::Probe);
        c.again(&[2, 3]);
        assert_eq!(c.ack(3000, |_| ()), Verdict::Pending);
    }
}

/// RFC 5682 2.1: what neither acknowledges new data nor is a duplicate (a window update, say) is passed over, in either step.
#[test]
fn frto_passes_over_what_is_neither() {
    for sack in [true, false] {
        let mut c = frto(sack);
        assert_eq!(c.ack(1000, |_| ()), Verdict::Pending);
        assert_eq!(c.ack(2000, |_| ()), Verdict::Probe);
        assert_eq!(c.ack(2000, |_| ()), Verdict::Pending);
        assert_eq!(c.ack(3000, |_| ()), Verdict::Spurious);
    }
}

/// RFC 5682 2.1 step 1: the timer expired again, `recover` is not reached: conventional recovery.
/// RFC 5682 3.1.
#[test]
fn frto_gives_up_when_the_timer_expires_again() {
    for sack in [true, false] {
        let mut c = frto(sack);
        c.again(&[1]);
        assert_eq!(c.ack(2000, |_| ()), Verdict::Pending);
        assert_eq!(c.ack(3000, |_| ()), Verdict::Pending);
    }
}

/// It says nothing of fast retransmits, congestion marks, and timeouts while another episode's retransmissions are out.
/// RFC 5682 2.1, 3.1.
#[test]
fn frto_judges_first_timeouts_only() {
    for (cause, nested) in [(Cause::FastRetransmit, false), (Cause::Ecn, false), (Cause::Timeout, true)] {
        let mut c = Court::of("frto");
        c.nested_episode(cause, 0, nested);
        c.again(&[1]);
        assert_eq!(c.ack(2000, |_| ()), Verdict::Pending);
        assert_eq!(c.ack(3000, |_| ()), Verdict::Pending);
    }
}

// ---- TCP-DOOR, Wang and Zhang ------------------------------------------------------------------------------------

const HOLD: Verdict = Verdict::Reordered { hold: ms(100), undo: ms(100) };

fn numbered(number: u8) -> impl FnOnce(&mut AckSample) {
    move |e| (e.duplicate, e.duplicate_number) = (true, Some(number))
}

/// Out-of-order data: the receiver says so.
#[test]
fn door_believes_the_receiver() {
    let mut c = Court::of("door");
    assert_eq!(c.ack(2000, |_| ()), Verdict::Pending);
    assert_eq!(c.ack(3000, |e| e.data_reordered = true), HOLD);
    assert_eq!(c.ack(4000, |_| ()), Verdict::Pending);
}

/// Out-of-order ACKs: a smaller acknowledgement than an earlier one.
#[test]
fn door_sees_acknowledgements_go_back() {
    let mut c = Court::of("door");
    assert_eq!(c.ack(3000, |_| ()), Verdict::Pending);
    assert_eq!(c.ack(2000, |_| ()), HOLD);
    assert_eq!(c.ack(4000, |_| ()), Verdict::Pending);
}

/// Out-of-order duplicates: a smaller number than an earlier one of the same acknowledgement. The first acknowledgement of a
/// number counts zero; with the next number counting begins anew; a lost duplicate is no reordering.
#[test]
fn door_sees_duplicates_out_of_order() {
    let mut c = Court::of("door");
    let numbers = [(0, false), (1, false), (3, false), (2, true), (4, false), (4, false)];
    for (number, reordered) in numbers {
        assert_eq!(c.ack(2000, numbered(number)) == HOLD, reordered, "{number}");
    }
    for (number, reordered) in [(0, false), (1, false), (0, true)] {
        assert_eq!(c.ack(3000, numbered(number)) == HOLD, reordered, "{number}");
    }
}

/// One octet counts 255 duplicates and begins again: 0 follows 255.
#[test]
fn door_counts_duplicates_round_and_round() {
    let mut c = Court::of("door");
    for i in 0..1000_u32 {
        assert_eq!(c.ack(2000, numbered(i as u8)), Verdict::Pending, "{i}");
    }
    // 231 was the last; 255 would be 24 ahead, 200 is behind.
    assert_eq!(c.ack(2000, numbered(200)), HOLD);
}

/// A piggybacked acknowledgement has no number and is no duplicate.
#[test]
fn door_passes_over_acknowledgements_without_a_number() {
    let mut c = Court::of("door");
    assert_eq!(c.ack(2000, numbered(5)), Verdict::Pending);
    assert_eq!(c.ack(2000, |_| ()), Verdict::Pending);
    assert_eq!(c.ack(2000, numbered(6)), Verdict::Pending);
}

/// T1 and T2 are multiples of the smoothed round-trip time at the moment.
#[test]
fn door_measures_in_round_trips() {
    let mut c = Court::of("door");
    let door: Choice<dyn Judge> = "door".parse().unwrap();
    c.judge = door.with("t1", 0.5).unwrap().with("t2", 8.0).unwrap().make(&Config::classic().setup());
    assert_eq!(c.ack(3000, |e| e.data_reordered = true), Verdict::Reordered { hold: ms(50), undo: ms(800) });
    let slow = |e: &mut AckSample| (e.data_reordered, e.srtt) = (true, ms(300));
    assert_eq!(c.ack(4000, slow), Verdict::Reordered { hold: ms(150), undo: ms(2400) });
}

// ---- all ---------------------------------------------------------------------------------------------------------

/// The response that each source defines.
#[test]
fn every_judge_has_the_response_of_its_source() {
    let responses = [
        ("none", Response::None),
        ("dsack", Response::SlowStartToSaved),
        ("eifel", Response::Rfc4015),
        ("door", Response::Restore),
        ("frto", Response::Rfc4015),
    ];
    for (name, response) in responses {
        assert_eq!(Court::of(name).judge.default_response(), response, "{name}");
    }
}

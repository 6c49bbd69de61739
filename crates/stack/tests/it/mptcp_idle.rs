//! Subflows without progress, as Linux finds them (`Config::stale_after`; `mptcp_pm_subflow_chk_stale`, `__mptcp_retrans`).

use anabranch_stack::Duration;
use anabranch_stack::segment::{Dss, Mptcp, Signal};

use crate::mptcp_bench::{Script, mptcp};

/// Fifty segments are in flight on the first subflow when a second one joins, and the first is silent from then on. What the second one carries in ten
/// seconds: where each octet ends that it is the first to carry, with the time in milliseconds. Its segments are acknowledged there if it `answers`.
fn carried_by_the_other(answers: bool) -> Vec<(u64, u64)> {
    let mut s = Script::client(mptcp().stale_after(2).initial_window(60));
    assert_eq!(s.c.write(50_000), 50_000);
    assert_eq!(s.poll().len(), 50);
    let second = s.open_fully();
    let mut furthest = Vec::new();
    for _ in 0..1000 {
        for (at, t) in s.wait(Duration::from_millis(10)) {
            let end = t.segment.payload.offset + u64::from(t.segment.payload.len);
            if t.subflow != second || t.segment.payload.len == 0 {
                continue;
            }
            if furthest.last().is_none_or(|&(_, before)| end > before) {
                furthest.push((at.0 / 1_000_000, end));
            }
            if answers {
                let ack = s.seq(&t) + t.segment.payload.len;
                let option = Mptcp::Dss(Dss::default());
                let seg = s.ack(second, 1, ack, option);
                s.c.handle_segment(s.now, second, &seg);
            }
        }
    }
    furthest
}

/// At the first expiry the second subflow, which has nothing to do, sends the oldest 32,768 octets again; at the third the first one has made no progress
/// for more than two periods, and all of its data go to the second.
#[test]
fn a_subflow_without_progress_loses_its_data_to_one_that_does_better() {
    let furthest = carried_by_the_other(true);
    let of = |end| furthest.iter().find(|f| f.1 >= end).map(|f| f.0);
    assert!(of(32_000) < of(33_000) && of(50_000).is_some(), "{furthest:?}");
}

/// If the second one makes no progress either, it does no better: it is given no more than the oldest data.
#[test]
fn a_subflow_keeps_its_data_if_no_other_does_better() {
    let furthest = carried_by_the_other(false);
    assert_eq!(furthest.last().map(|f| f.1), Some(32_728), "{furthest:?}");
}

/// Any advance of the DATA_ACK restarts the timer: with one every 100 ms there is no period without progress, and nothing goes to the second subflow.
#[test]
fn progress_of_the_data_restarts_the_period() {
    for advances in [true, false] {
        let mut s = Script::client(mptcp().stale_after(2).initial_window(60));
        s.c.write(50_000);
        s.poll();
        let second = s.open_fully();
        let mut copies = 0;
        for n in 1..=20_u32 {
            let out = s.wait(Duration::from_millis(100));
            copies += out.iter().filter(|(_, t)| t.subflow == second && t.segment.payload.len > 0).count();
            if advances {
                let mut ack = s.dss(0, 1, 1 + 1000 * n, Some(1000 * u64::from(n)), None);
                // One of two is not what was predicted.
                ack.options.signal = if n % 2 == 0 { Signal::Prio { backup: false } } else { Signal::None };
                let out = s.give(0, ack);
                assert!(out.iter().all(|t| t.subflow == 0));
            }
        }
        assert_eq!(copies == 0, advances, "{copies}");
    }
}

/// One that is not usable yet does no better: as it comes up, nothing waits for it. With the next period it is given something.
#[test]
fn a_subflow_that_is_not_usable_yet_does_no_better() {
    let mut s = Script::client(mptcp().stale_after(2).initial_window(60));
    s.c.write(50_000);
    s.poll();
    let (second, nonce) = s.open();
    // More than two periods: each is as long as the SYN of the join is silent, 1, 2 and 4 s.
    for _ in 0..100 {
        s.wait(Duration::from_millis(100));
    }
    s.give(second, s.join_answer(second, nonce));
    let mut out = s.give(second, s.dss(second, 1, 1, None, None));
    let mut furthest = 0;
    while let Some(last) = out.last() {
        furthest = last.segment.payload.offset + u64::from(last.segment.payload.len);
        let ack = s.ack(second, 1, s.seq(last) + last.segment.payload.len, Mptcp::Dss(Dss::default()));
        out = s.give(second, ack);
    }
    assert_eq!(furthest, 0);
    let out = s.wait(Duration::from_secs(10));
    assert!(out.iter().any(|(_, t)| t.subflow == second && t.segment.payload.len > 0));
}

/// One that has made no progress for a period itself does no better (`active_max_loss_cnt`: fewer than one of two). The timer expires at 200, 400
/// and 600 ms. What the second one was given at first, the oldest data, it acknowledges at once, or not before the third.
#[test]
fn a_subflow_without_progress_for_a_period_does_no_better() {
    for (answers, moved) in [(0, true), (650, false)] {
        let mut s = Script::client(mptcp().stale_after(2).initial_window(60));
        s.c.write(50_000);
        s.poll();
        let second = s.open_fully();
        let (mut acked, mut furthest, mut third) = (1, 0, 0);
        for step in 1..=70 {
            let out = s.wait(Duration::from_millis(10));
            let mut carried: Vec<_> = out.into_iter().map(|(_, t)| t).filter(|t| t.subflow == second).collect();
            acked = carried.iter().map(|t| s.seq(t) + t.segment.payload.len).fold(acked, u32::max);
            if 10 * step >= answers {
                carried.extend(s.give(second, s.ack(second, 1, acked, Mptcp::Dss(Dss::default()))));
            }
            furthest = carried.iter().map(|t| t.segment.payload.offset).fold(furthest, u64::max);
            third += if step >= 60 { carried.len() } else { 0 };
        }
        assert_eq!((furthest >= 32_728, third > 0), (moved, moved), "{furthest} {third}");
    }
}

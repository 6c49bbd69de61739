//! Schedulers by themselves.

use super::{Rng, lives};
use crate::config::Config;
use crate::registry::Choice;
use crate::scheduler::{Candidate, Decision, Scheduler};
use crate::time::{Duration, Instant};

const MSS: u64 = 1400;

/// Checks that a scheduler picks only subflows that can send, waits only until a time in the future, and does not wait for ever
/// when nothing is in flight: no arrival would then wake it.
///
/// # Panics
/// If one of that does not hold.
pub fn scheduler(choice: &Choice<dyn Scheduler>) {
    lives(choice, |choice, seed| live(&mut *choice.make(&Config::default()), &mut Rng::new(seed)));
}

fn live(scheduler: &mut dyn Scheduler, rng: &mut Rng) {
    let mut now = Instant(1_000_000_000);
    let mut candidates: Vec<Candidate> = Vec::new();
    for _ in 0..300 {
        now += Duration::from_millis(rng.below(50));
        if candidates.is_empty() || rng.percent(3) {
            candidates = (0..=rng.below(4)).map(|_| Candidate { cwnd: 10 * MSS, ..Candidate::default() }).collect();
        }
        for c in &mut candidates {
            c.cwnd = MSS * (1 + rng.below(40));
            c.in_flight = MSS * rng.below(1 + c.cwnd / MSS);
            c.srtt = Duration::from_millis(rng.below(300));
            c.can_send = c.in_flight < c.cwnd && rng.percent(80);
        }
        if candidates.iter().any(|c| c.can_send) {
            ask(scheduler, now, &candidates);
        }
        candidates.iter_mut().for_each(|c| c.in_flight = 0);
        let last = candidates.len() - 1;
        candidates[last].can_send = true;
        now = until_sent(scheduler, now, &candidates);
    }
}

/// Asks once and checks that the answer is allowed. A segment for the subflow picked counts as sent.
fn ask(scheduler: &mut dyn Scheduler, now: Instant, candidates: &[Candidate]) -> Decision {
    let decision = scheduler.pick(now, candidates);
    match decision {
        Decision::Send(i) => {
            let picked = candidates.get(i);
            assert!(picked.is_some_and(|c| c.can_send), "picked subflow {i}, which cannot send: {candidates:?}");
            scheduler.on_sent(i);
        }
        Decision::Wait(Some(until)) => assert!(until > now, "waits at {now} until {until}, which is not to come"),
        Decision::Wait(None) => {}
    }
    decision
}

/// Asks until the scheduler sends, with nothing in flight; returns when that is.
fn until_sent(scheduler: &mut dyn Scheduler, mut now: Instant, candidates: &[Candidate]) -> Instant {
    for _ in 0..1000 {
        match ask(scheduler, now, candidates) {
            Decision::Send(_) => return now,
            Decision::Wait(Some(until)) => now = until,
            Decision::Wait(None) => panic!("waits for ever with nothing in flight: {candidates:?}"),
        }
    }
    panic!("has waited a thousand times with nothing in flight: {candidates:?}");
}

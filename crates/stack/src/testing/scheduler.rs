//! Schedulers by themselves.

use super::{Rng, lives};
use crate::registry::{Choice, Setup};
use crate::scheduler::{Assignment, Decision, Offer, Path, Scheduler, Subflows};
use crate::time::{Duration, Instant};

const MSS: u64 = 1400;

/// Checks that a scheduler picks only subflows that can send, waits only until a time in the future, and does not wait for ever
/// when nothing is in flight: no arrival would then wake it. One that says that it does not remember answers the same question in the
/// same way, and sends on the only subflow that can.
///
/// # Panics
/// If one of that does not hold.
pub fn scheduler(choice: &Choice<dyn Scheduler>) {
    lives(choice, |choice, seed| live(&mut *choice.make(&Setup::new(1400, 10)), &mut Rng::new(seed)));
}

fn live(scheduler: &mut dyn Scheduler, rng: &mut Rng) {
    let mut now = Instant(1_000_000_000);
    let mut paths: Vec<Path> = Vec::new();
    for _ in 0..300 {
        now += Duration::from_millis(rng.below(50));
        if paths.is_empty() || rng.percent(3) {
            paths =
                (0..=rng.below(4)).map(|_| Path { established: true, mss: MSS as u32, ..Path::default() }).collect();
        }
        for c in &mut paths {
            let window = MSS * (1 + rng.below(40));
            c.cwnd = window as f64;
            c.in_flight = MSS * rng.below(1 + window / MSS);
            c.srtt = Duration::from_millis(rng.below(300));
            c.can_send = c.in_flight < window && rng.percent(80);
            c.takes_data = c.can_send || rng.percent(30);
            c.queued = if c.takes_data { MSS * rng.below(30) } else { 0 };
            c.fill = 1 + rng.below(100_000);
            (c.buffered, c.pacing_rate) = (c.in_flight, rng.below(1_000_000) as f64);
        }
        if paths.iter().any(|c| c.can_send) {
            ask(scheduler, now, &paths);
        }
        paths.iter_mut().for_each(|c| {
            (c.in_flight, c.takes_data, c.buffered, c.queued) = (0, c.can_send, 0, 0);
        });
        let last = paths.len() - 1;
        (paths[last].can_send, paths[last].takes_data, paths[last].pacing_rate) = (true, true, 1e6);
        now = until_sent(scheduler, now, &paths);
    }
}

/// Asks once and checks that the answer is allowed. A segment counts as sent on each subflow picked.
fn ask(scheduler: &mut dyn Scheduler, now: Instant, paths: &[Path]) -> Decision {
    let offer = Offer::new(now, paths, 100 * MSS);
    for _ in 0..=paths.len() {
        let decision = scheduler.pick(&offer);
        if !scheduler.remembers() {
            assert_eq!(scheduler.pick(&offer), decision, "does not remember, and answers in another way");
            let mut open = (0..paths.len()).filter(|&i| paths[i].can_send);
            if let (Some(only), None) = (open.next(), open.next()) {
                assert_eq!(decision, Decision::Send(only), "does not take the only subflow that can send: {paths:?}");
            }
        }
        let mut send = |i: usize| {
            let can_send = paths.get(i).is_some_and(|p| p.can_send);
            assert!(can_send, "picked subflow {i}, which cannot send: {paths:?}");
            scheduler.on_sent(&Assignment::new(i, 0, MSS as u32));
        };
        match decision {
            Decision::Send(i) => send(i),
            Decision::Queue { on, octets } => {
                assert!(octets > 0 && octets <= offer.room(), "assigns {octets} octets of {}", offer.room());
                send(on);
            }
            Decision::SendAll(mut those) => {
                assert_ne!(those, Subflows::default(), "picked none");
                let all = std::iter::from_fn(|| those.pop()).filter(|&i| paths.get(i).is_some_and(|p| p.can_send));
                all.for_each(&mut send);
            }
            Decision::Wait(Some(until)) => assert!(until > now, "waits at {now} until {until}, which is not to come"),
            Decision::Wait(None) => {}
            Decision::Resend { start, end, .. } => panic!("nothing was sent, and {start} to {end} is to be sent again"),
            Decision::Move { from, to, octets } => {
                let able = paths.get(to).is_some_and(|p| p.can_send) && paths.get(from).is_some_and(|p| p.queued > 0);
                assert!(able && from != to && octets > 0, "moves {octets} octets from {from} to {to}: {paths:?}");
                continue;
            }
            Decision::Penalise(i) => {
                assert!(i < paths.len(), "penalises subflow {i}, which is not there: {paths:?}");
                continue;
            }
        }
        return decision;
    }
    panic!("has penalised more subflows than there are: {paths:?}");
}

/// Asks until the scheduler sends, with nothing in flight; returns when that is.
fn until_sent(scheduler: &mut dyn Scheduler, mut now: Instant, paths: &[Path]) -> Instant {
    for _ in 0..1000 {
        match ask(scheduler, now, paths) {
            Decision::Send(_) | Decision::SendAll(_) | Decision::Queue { .. } => return now,
            Decision::Wait(Some(until)) => now = until,
            _ => panic!("waits for ever with nothing in flight: {paths:?}"),
        }
    }
    panic!("has waited a thousand times with nothing in flight: {paths:?}");
}

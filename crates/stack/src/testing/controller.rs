//! Controllers by themselves.

use super::{Rng, lives};
use crate::controller::{AckSample, Adjust, Cause, Congestion, Controller, Path};
use crate::registry::{Choice, Setup};
use crate::seq::Seq;
use crate::time::{Duration, Instant};

const MSS: u32 = 1400;

/// Checks that a controller keeps its window and threshold within their bounds, and that its state is a value, so that the
/// engine can undo a cut. A snapshot taken before a cut must equal the controller at that time (compared by `Debug`, which
/// shows all of it), must not change with the original afterwards, and must behave from then on as the original would have
/// without the cut.
///
/// # Panics
/// If one of that does not hold.
pub fn controller(choice: &Choice<dyn Controller>) {
    lives(choice, |choice, seed| {
        let make = || choice.make(&Setup::new(MSS, 10));
        live(&mut *make(), &mut Rng::new(seed), &mut Instant::ZERO.clone(), 1000);
        undone(&make, seed);
    });
}

fn undone(make: &dyn Fn() -> Box<dyn Controller>, seed: u64) {
    let (mut rng, mut now) = (Rng::new(seed), Instant::ZERO);
    let mut c = make();
    live(&mut *c, &mut rng, &mut now, 200);
    let state = format!("{c:?}");
    let mut copy = c.snapshot();
    // The loss episode that will turn out to be spurious.
    let flight_size = c.window().octets();
    let cause = if seed % 2 == 0 { Cause::FastRetransmit } else { Cause::Timeout };
    let paths = [path(14_000.0, 50)];
    c.on_congestion(&Congestion { now, cause, flight_size, repeated: false, nested: false }, &paths, 0);
    live(&mut *c, &mut rng.clone(), &mut now.clone(), 200);
    assert_eq!(format!("{copy:?}"), state, "a copy changes with the original");
    // A twin that was never cut.
    let (mut again, mut then) = (Rng::new(seed), Instant::ZERO);
    let mut twin = make();
    live(&mut *twin, &mut again, &mut then, 400);
    live(&mut *copy, &mut rng, &mut now, 200);
    assert_eq!(format!("{copy:?}"), format!("{twin:?}"), "a copy lives on in another way");
}

/// An established subflow with this window in octets and round-trip time in milliseconds.
fn path(cwnd: f64, srtt: u64) -> Path {
    Path { established: true, mss: MSS, cwnd, srtt: Duration::from_millis(srtt), ..Path::default() }
}

/// A random life of a controller on the first of two subflows.
fn live(c: &mut dyn Controller, rng: &mut Rng, now: &mut Instant, steps: usize) {
    for _ in 0..steps {
        *now += Duration::from_millis(1 + rng.below(50));
        let established = rng.percent(80);
        let cwnd = f64::from(MSS) * (1 + rng.below(100)) as f64;
        let sibling = Path { established, ..path(cwnd, rng.below(300)) };
        let own = path(c.window().cwnd, 1 + rng.below(300));
        let paths = [own, sibling];
        if rng.percent(1) && c.window().mss > 200.0 {
            smaller_segments(c, rng);
        }
        let before = *c.window();
        if rng.percent(97) {
            let growth = 1 + rng.below(5000);
            let ack = AckSample {
                now: *now,
                acked: growth,
                growth,
                rtt: rng.percent(70).then(|| Duration::from_millis(1 + rng.below(300))),
                cwnd_limited: rng.percent(70),
                after_timeout: rng.percent(5),
                snd_una: Seq(u64::from(MSS) * (now.0 / 10_000_000)),
                snd_nxt: Seq(u64::from(MSS) * (now.0 / 10_000_000) + before.octets()),
                ..AckSample::default()
            };
            c.on_ack(&ack, &paths, 0);
            // One that paces takes its window from a model of the path; what is in flight follows the rate.
            if !ack.cwnd_limited && c.pacing().is_none() {
                assert_eq!(c.window().cwnd, before.cwnd, "grows unused: {ack:?}");
            }
            // RFC 3465 2.2: L = 2 SMSS an ACK in slow start. RFC 9406 4.2 lets a controller with HyStart++ take 8; and in
            // avoidance none takes more than slow start would.
            assert!(c.window().cwnd <= before.cwnd + 8.0 * before.mss, "jumps on {ack:?}: {before:?}");
        } else {
            let cause = rng.pick(&[Cause::FastRetransmit, Cause::Timeout, Cause::Ecn]);
            let flight_size = (before.cwnd * rng.below(101) as f64 / 100.0) as u64;
            let repeated = cause == Cause::Timeout && rng.percent(30);
            let nested = repeated || cause == Cause::Timeout && rng.percent(30);
            c.on_congestion(&Congestion { now: *now, cause, flight_size, repeated, nested }, &paths, 0);
            let w = c.window();
            let most = if nested { before.ssthresh } else { before.cwnd.max(2.0 * w.mss) };
            assert!(w.ssthresh >= w.mss && w.ssthresh <= most, "{cause:?} {before:?} {w:?}");
            assert!(!repeated || w.ssthresh == before.ssthresh, "RFC 5681 3.1: held: {before:?} {w:?}");
            assert!(cause != Cause::Timeout || w.cwnd == w.mss, "{cause:?}: {w:?}");
        }
        let w = c.window();
        assert!(w.cwnd >= w.mss && w.cwnd.is_finite(), "{w:?}");
        assert!(!w.ssthresh.is_nan(), "{w:?}");
        // Keep it where windows are.
        if w.cwnd > 10e6 {
            c.adjust(Adjust::AtMost(1e6));
        }
    }
}

/// A router says that the path takes smaller segments. RFC 5681 3.1: "cwnd SHOULD be reduced by the ratio of the old segment size to the new
/// segment size". It is no congestion (RFC 8201 5.4), and the threshold is in octets.
fn smaller_segments(c: &mut dyn Controller, rng: &mut Rng) {
    let before = *c.window();
    let mss = before.mss - 1.0 - rng.below(50) as f64;
    c.adjust(Adjust::Mss(mss as u32));
    let after = *c.window();
    let segments = [before.cwnd / before.mss, after.cwnd / mss];
    assert!((segments[0] - segments[1]).abs() < 1e-6 * segments[0], "{segments:?} segments");
    assert_eq!((after.mss, after.ssthresh), (mss, before.ssthresh), "{before:?}");
}

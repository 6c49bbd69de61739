//! Reductions by themselves.

use super::{Rng, lives};
use crate::reduction::{AckSample, Entry, Reduction};
use crate::registry::{Choice, Setup};

const MSS: u64 = 1400;

/// That a reduction does not let more be in flight in recovery than was in flight before, or than the window (and a segment) is, lets
/// something leave as long as everything that was in flight is delivered, and is the same after recovery as before.
///
/// # Panics
/// If one of that does not hold.
pub fn reduction(choice: &Choice<dyn Reduction>) {
    lives(choice, |choice, seed| {
        let rng = &mut Rng::new(seed);
        let mut reduction = choice.make(&Setup::new(1400, 10));
        for _ in 0..20 {
            recover(&mut *reduction, rng);
            reduction.on_exit();
            assert_eq!(reduction.inflation(), 0, "inflation is left after recovery");
        }
    });
}

/// An episode with SACK: one segment is delivered by each acknowledgement, until all are.
fn recover(reduction: &mut dyn Reduction, rng: &mut Rng) {
    let segments = 4 + rng.below(60);
    let lost = 1 + rng.below(segments / 2);
    let window = MSS * (segments / 2).max(2);
    let sacked = 3.min(segments - lost - 1);
    let mut pipe = MSS * (segments - lost - sacked);
    let most = pipe.max(window) + MSS;
    let mss = MSS as u32;
    let flight_size = MSS * segments;
    reduction.on_enter(&Entry {
        flight_size,
        pipe,
        sacked: MSS * sacked,
        delivered: MSS,
        window,
        mss,
        sack: true,
        ..Entry::default()
    });
    let mut left = 0;
    for _ in 0..2 * segments {
        // What may leave, leaves.
        while pipe + MSS <= reduction.allows(window, pipe) {
            pipe += MSS;
            left += 1;
            reduction.on_sent(mss);
            assert!(pipe <= most, "{pipe} octets in flight, {most} at most");
        }
        let delivered = MSS.min(pipe);
        pipe -= delivered;
        let sample = AckSample { sacked: delivered, in_flight: pipe + delivered, sack: true, ..AckSample::default() };
        reduction.on_ack(&sample, window, pipe);
    }
    assert!(left > 0, "nothing may leave although all was delivered");
}

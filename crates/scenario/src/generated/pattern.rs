//! Who sends to whom in generated traffic.
//!
//! - A permutation: every host sends to one other and receives from one other (Raiciu et al., SIGCOMM 2011, 4.1: the pattern
//!   that can fill a full-bisection network, and that any collision of paths hurts). Where senders and receivers are the same
//!   hosts it is drawn uniformly among the cyclic ones (Sattolo 1986), so that no host sends to itself. With more connections
//!   than hosts there are further permutations.
//! - Incast: many hosts send to one. With more connections than hosts a host sends on several.

use anabranch_measures::rng::Rng;

use super::super::words::Pattern;
use super::shape::Shape;

/// `count` pairs of sender and receiver.
pub(super) fn pairs(pattern: Pattern, shape: &Shape, count: usize, rng: &mut Rng) -> Vec<(usize, usize)> {
    let (from, to) = (shape.senders(), shape.receivers());
    match pattern {
        Pattern::Permutation => {
            let mut pairs = Vec::with_capacity(count + from.len());
            while pairs.len() < count {
                let mut order = to.clone();
                shuffle(&mut order, from == to, rng);
                let mut round: Vec<_> = from.iter().copied().zip(order).collect();
                if count - pairs.len() < round.len() {
                    // Shuffled, so that an incomplete round does not always have the same hosts.
                    shuffle(&mut round, false, rng);
                }
                pairs.extend(round);
            }
            pairs.truncate(count);
            pairs
        }
        Pattern::Incast => {
            let server = to[below(to.len(), rng)];
            let mut senders: Vec<usize> = from.into_iter().filter(|h| *h != server).collect();
            shuffle(&mut senders, false, rng);
            senders.iter().cycle().take(count).map(|&h| (h, server)).collect()
        }
    }
}

/// Fisher and Yates' shuffle; if `cyclic`, Sattolo's variant, after which no item is in its old place.
fn shuffle<T>(items: &mut [T], cyclic: bool, rng: &mut Rng) {
    for i in (1..items.len()).rev() {
        let j = below(if cyclic { i } else { i + 1 }, rng);
        items.swap(i, j);
    }
}

fn below(n: usize, rng: &mut Rng) -> usize {
    (rng.uniform() * n as f64) as usize
}

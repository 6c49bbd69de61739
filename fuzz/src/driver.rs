//! The driver: takes an input of the corpus, changes it, runs the target, and keeps the new input if it was of a new kind.
//!
//! A stand-in for coverage: a stable compiler does not tell which branches ran, so the target itself says what kind of thing
//! it has seen ([`crate::Target::run`]). Everything follows from the seed, up to the moment at which the time is over.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::{Duration, Instant};

use crate::Target;
use crate::input::Rng;

/// The longest input that is made.
const LONGEST: usize = 8192;
/// Inputs kept at most.
const KEPT: usize = 4096;
/// One run that takes longer is a finding. (Of the wall clock, on a machine that may have much else to do.)
const SLOWEST: Duration = Duration::from_secs(60);
/// Values at the edges of something.
const EDGES: [u8; 10] = [0, 1, 2, 4, 8, 30, 0x7f, 0x80, 0xfe, 0xff];

/// When to end.
#[derive(Clone, Copy, Debug)]
pub enum Until {
    /// After so many runs, the seeds included.
    Runs(u64),
    /// After so long.
    Time(Duration),
}

/// What was done.
#[derive(Clone, Copy, Debug)]
pub struct Report {
    /// Inputs run.
    pub runs: u64,
    /// Kinds of inputs seen.
    pub kinds: usize,
}

/// Runs `target` on its seeds and on what becomes of them.
///
/// # Panics
/// As the target did, after the input was written to standard error; or if it took too long.
pub fn drive(target: &Target, seed: u64, until: Until) -> Report {
    let (began, mut rng) = (Instant::now(), Rng(seed));
    let mut corpus = (target.seeds)();
    corpus.push(Vec::new());
    let mut kinds = BTreeSet::new();
    let mut runs = 0;
    for input in &corpus {
        kinds.insert(run(target, input));
        runs += 1;
    }
    let goes_on = |runs: u64| match until {
        Until::Runs(n) => runs < n,
        Until::Time(t) => runs % 64 != 0 || began.elapsed() < t,
    };
    while goes_on(runs) {
        let mut input = corpus[rng.below(corpus.len())].clone();
        for _ in 0..1 + rng.below(6) {
            let other = rng.below(corpus.len());
            mutate(&mut input, &corpus[other], &mut rng);
        }
        input.truncate(LONGEST);
        runs += 1;
        if kinds.insert(run(target, &input)) {
            if corpus.len() < KEPT {
                corpus.push(input);
            } else {
                let place = rng.below(KEPT);
                corpus[place] = input;
            }
        }
    }
    Report { runs, kinds: kinds.len() }
}

fn run(target: &Target, input: &[u8]) -> u64 {
    let began = Instant::now();
    let told = |what: &str| {
        let hex: String = input.iter().map(|octet| format!("{octet:02x}")).collect();
        eprintln!("fuzz target {}: {what} on the input {hex}", target.name);
    };
    match catch_unwind(AssertUnwindSafe(|| (target.run)(input))) {
        Ok(kind) => {
            if began.elapsed() > SLOWEST {
                told("too slow");
                panic!("a run took {:?}", began.elapsed());
            }
            kind
        }
        Err(panic) => {
            told("panic");
            resume_unwind(panic)
        }
    }
}

/// One change.
fn mutate(input: &mut Vec<u8>, other: &[u8], rng: &mut Rng) {
    let at = rng.below(input.len() + 1);
    let rest = input.len() - at;
    let few = 1 + rng.below(16);
    match rng.below(10) {
        0 if rest > 0 => input[at] ^= 1 << rng.below(8),
        1 if rest > 0 => input[at] = rng.draw() as u8,
        2 if rest > 0 => input[at] = EDGES[rng.below(EDGES.len())],
        3 if rest > 0 => input[at] = input[at].wrapping_add(1 + 254 * (rng.draw() as u8 & 1)),
        4 => drop(input.drain(at..at + few.min(rest))),
        5 => drop(input.splice(at..at, rng.octets(few))),
        6 => {
            // Something twice.
            let again = input[at..at + few.min(rest)].to_vec();
            drop(input.splice(at..at, again));
        }
        7 => {
            // A piece of another input, inserted or in place of what is there.
            let from = rng.below(other.len() + 1);
            let len = rng.below(other.len() - from + 1).min(256);
            let end = at + if rng.below(2) == 0 { 0 } else { len.min(rest) };
            drop(input.splice(at..end, other[from..from + len].iter().copied()));
        }
        8 => input.truncate(at),
        _ => input.extend(rng.octets(few)),
    }
}

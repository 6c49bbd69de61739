//! What must hold for any algorithm by itself: checks for the tests of whoever brings one.
//!
//! Each function leads an algorithm through many random lives, the same in every run of the test. Where a check fails it panics
//! and prints the parameters, the number of the life and what is wrong. It tries the default parameters and both ends of each
//! parameter's range.
//!
//! ```
//! use anabranch_stack::registry::Choice;
//! use anabranch_stack::testing;
//!
//! testing::controller(&"cubic".parse()?);
//! testing::detector(&"rfc6675".parse()?);
//! testing::reduction(&"rfc6675".parse()?);
//! testing::judge(&"eifel".parse()?);
//! testing::scheduler(&"min-rtt".parse()?);
//! # Ok::<(), anabranch_stack::ConfigError>(())
//! ```

use crate::registry::{Choice, Kind};

mod controller;
mod detector;
mod judge;
mod reduction;
mod rng;
mod scheduler;

pub use controller::controller;
pub use detector::detector;
pub use judge::judge;
pub use reduction::reduction;
pub use rng::Rng;
pub use scheduler::scheduler;

/// Random lives of each choice of parameters.
const LIVES: u64 = 50;

/// The algorithm with its defaults, and with each parameter at either end of its range.
fn variants<T: ?Sized + Kind>(choice: &Choice<T>) -> Vec<Choice<T>> {
    if let Err(problem) = choice.info().check() {
        panic!("\"{}\": {problem}", choice.name());
    }
    let mut all = vec![choice.clone()];
    for p in choice.info().parameters.iter() {
        for value in [p.least, p.most] {
            all.push(choice.clone().with(&p.name, value).expect("either end of a range is allowed"));
        }
    }
    all
}

/// Prints the algorithm and the number of the life when a check in it panics.
struct Life<'a, T: ?Sized>(&'a Choice<T>, u64);

impl<T: ?Sized> Drop for Life<'_, T> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{:?}, life {}", self.0, self.1);
        }
    }
}

/// Leads every variant of `choice` through its lives.
fn lives<T: ?Sized + Kind>(choice: &Choice<T>, mut live: impl FnMut(&Choice<T>, u64)) {
    for variant in variants(choice) {
        for seed in 0..LIVES {
            let _life = Life(&variant, seed);
            live(&variant, seed);
        }
    }
}

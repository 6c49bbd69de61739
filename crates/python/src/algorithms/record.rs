//! Values that algorithms record, as columns beside the series over time.

use std::collections::BTreeMap;

use anabranch_measures::measures::{SERIES, columns};
use anabranch_measures::series::{LIMIT, Sample};

/// Different names that a run records at most.
const NAMES: usize = 64;

/// Which instance of an algorithm recorded a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Owner {
    /// Number of the connection in the scenario.
    pub connection: usize,
    /// The instance belongs to the host that opened the connection.
    pub active: bool,
    /// Number of the subflow on this host; `None` if the instance serves the whole connection.
    pub subflow: Option<usize>,
}

/// All values that the algorithms of a run have recorded.
#[derive(Debug, Default)]
pub struct Records {
    names: Vec<String>,
    tracks: BTreeMap<(usize, Owner), Track>,
}

/// Values of one name and one owner: times in nanoseconds, and values.
///
/// Of the values within an interval only the last one is kept. The interval begins with that of the
/// samples ([`anabranch_measures::series`]) and doubles later than theirs, so that each sample
/// finds the last value before it.
#[derive(Debug)]
struct Track {
    values: Vec<(u64, f64)>,
    interval: u64,
}

impl Default for Track {
    fn default() -> Self {
        Self { values: Vec::new(), interval: 1_000_000 }
    }
}

impl Track {
    fn push(&mut self, at: u64, value: f64) {
        let interval = self.interval;
        match self.values.last_mut() {
            Some(last) if last.0 / interval == at / interval => *last = (at, value),
            _ => self.values.push((at, value)),
        }
        if self.values.len() > 2 * LIMIT {
            self.interval *= 2;
            for (at, value) in std::mem::take(&mut self.values) {
                self.push(at, value);
            }
        }
    }

    /// The last value that was recorded before `at`, with its time. A sample, too, shows the state
    /// before the events of its time.
    fn latest(&self, at: u64) -> Option<(u64, f64)> {
        self.values[..self.values.partition_point(|value| value.0 < at)].last().copied()
    }
}

impl Records {
    /// Records `value` as `name` at the virtual time `now`.
    ///
    /// # Errors
    /// If a column cannot have this name.
    pub fn record(&mut self, now: u64, owner: Owner, name: &str, value: f64) -> Result<(), String> {
        let known = self.names.iter().position(|known| known == name);
        let number = match known {
            Some(number) => number,
            None => {
                self.check(name)?;
                self.names.push(name.to_owned());
                self.names.len() - 1
            }
        };
        self.tracks.entry((number, owner)).or_default().push(now, value);
        Ok(())
    }

    fn check(&self, name: &str) -> Result<(), String> {
        let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        if !begins || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            return Err(format!(
                "record: \"{name}\" cannot name a column; use letters of ASCII, digits and _, such as \"alpha_2\""
            ));
        }
        if SERIES.iter().any(|measure| measure.key == name) || columns().iter().any(|column| column.key == name) {
            return Err(format!("record: \"{name}\" is a measure of Anabranch; choose another name"));
        }
        if self.names.len() == NAMES {
            return Err(format!(
                "record: \"{name}\" is name number {}; a run records {NAMES} names at most",
                NAMES + 1
            ));
        }
        Ok(())
    }

    /// The columns beside `samples`: for each sample the last value that was recorded before it by
    /// an algorithm of its subflow or of its connection, NaN before the first. `owner` gives the
    /// connection, host and subflow of a sample.
    pub fn columns(&self, samples: &[Sample], owner: impl Fn(&Sample) -> Owner) -> Vec<(&str, Vec<f64>)> {
        let owners: Vec<Owner> = samples.iter().map(owner).collect();
        let value = |number: usize, at: u64, own: Owner| {
            let of = |owner| self.tracks.get(&(number, owner)).and_then(|track| track.latest(at));
            let found = of(Owner { subflow: None, ..own }).into_iter().chain(of(own));
            found.max_by_key(|(at, _)| *at).map_or(f64::NAN, |(_, value)| value)
        };
        let column = |number| samples.iter().zip(&owners).map(|(s, own)| value(number, s.at, *own)).collect();
        self.names.iter().enumerate().map(|(number, name)| (name.as_str(), column(number))).collect()
    }
}

//! Making a scenario that fails smaller, as long as the same invariant fails.
//!
//! It knows nothing of what the keys mean: it takes away tables, lists and keys wherever they stand, the large ones first, and
//! halves what numbers are left, until nothing more can go or its time is over. A candidate that is not a valid scenario is
//! no candidate.

use std::time::{Duration, Instant};

use anabranch_sim::scenario::{Scenario, Source};
use anabranch_stack::config::Registries;
use toml::{Table, Value};

use super::finding::Finding;
use super::run::{Held, examine};
use super::tree;

/// A document that breaks `finding`'s invariant, as small as it was made within `time`, and what it says now.
pub fn shrink(
    document: &Table,
    finding: &Finding,
    known: &Registries,
    again: bool,
    held: Held,
    time: Duration,
) -> (Table, Finding) {
    let started = Instant::now();
    let fails = |candidate: &Table| {
        let scenario = read(candidate, known)?;
        examine(&scenario, again, held).err().filter(|f| f.invariant == finding.invariant)
    };
    let (mut best, mut said) = (document.clone(), finding.clone());
    loop {
        let mut smaller = false;
        for candidate in candidates(&best) {
            if started.elapsed() > time {
                return (best, said);
            }
            if let Some(finding) = fails(&candidate) {
                (best, said, smaller) = (candidate, finding, true);
                break;
            }
        }
        if !smaller {
            return (best, said);
        }
    }
}

/// The scenario of a document, if it is one that does not take longer than what it comes from.
fn read(document: &Table, known: &Registries) -> Option<Scenario> {
    Source::new(&document.to_string()).registries(known).read().ok()
}

/// Documents a step smaller, the most promising first: without one of their values, then with a smaller number.
fn candidates(document: &Table) -> Vec<Table> {
    let mut all = Vec::new();
    let places = tree::places(document);
    for place in &places {
        // The default of a transfer is a long one.
        if place.last().is_some_and(|key| key == "transfer" || key == "bytes" || key == "duration") {
            continue;
        }
        let mut smaller = document.clone();
        tree::take(&mut smaller, place);
        all.push(smaller);
    }
    for place in &places {
        if place.last().is_some_and(|key| key == "seed") {
            continue;
        }
        let mut smaller = document.clone();
        if tree::at(&mut smaller, place).is_some_and(halve) {
            all.push(smaller);
        }
    }
    all
}

/// Halves a number, or that of a quantity; false if it is none, or small.
fn halve(value: &mut Value) -> bool {
    let smaller = match &*value {
        Value::Integer(n) if *n > 1 => Value::Integer(n / 2),
        Value::String(text) => {
            let Some((number, unit)) = text.split_once(' ') else { return false };
            match number.parse::<u64>() {
                Ok(n) if n > 1 => Value::from(format!("{} {unit}", n / 2)),
                _ => return false,
            }
        }
        _ => return false,
    };
    *value = smaller;
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_nothing_to_do_with_it_goes() {
        let document: Table = "seed = 3
            transfer = { bytes = '300 B' }
            path = [{ loss = 0.1, delay = '7 ms' }, { queue = '9 packets' }]
            connection = { mss = 700, nagle = false }"
            .parse()
            .unwrap();
        let all = candidates(&document);
        let texts: Vec<String> = all.iter().map(ToString::to_string).collect();
        assert!(all.iter().all(|c| c != &document));
        for gone in ["loss", "delay", "queue", "mss", "nagle", "connection"] {
            assert!(texts.iter().any(|t| !t.contains(gone)), "{gone} stays");
        }
        assert!(texts.iter().any(|t| t.contains("150 B")) && texts.iter().any(|t| t.contains("mss = 350")));
        assert!(texts.iter().all(|t| t.contains("bytes")), "the default would be long");
    }

    #[test]
    fn quantities_are_halved_down_to_one() {
        let mut value = Value::from("5 ms");
        assert!(halve(&mut value) && value.as_str() == Some("2 ms"));
        assert!(halve(&mut value) && !halve(&mut value));
        assert!(!halve(&mut Value::from("up")) && !halve(&mut Value::Boolean(true)));
    }
}

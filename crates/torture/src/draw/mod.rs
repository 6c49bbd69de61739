//! A scenario out of a number: any combination that `docs/scenario.md` allows, small enough that a
//! thousand take seconds.
//!
//! Names of algorithms, their parameters and ranges, and names of middleboxes are taken from the
//! registries, so what is registered is drawn. How often a key is drawn, and from which values,
//! stands in the table of keys.
//!
//! What is drawn may contradict itself (`sack = false` with a judge that needs it). The reader of
//! scenarios says which key is at fault; that key is taken away, until the scenario is valid. So
//! rules about combinations stand nowhere twice.
//!
//! The last digit of the number decides what kind of run it is, so that any thousand numbers in a
//! row have their share of each: [`Kind`].

mod algorithm;
mod connection;
mod keys;
mod network;
mod path;
mod transfer;

use anabranch_sim::scenario::{Scenario, Source, middlebox};
use anabranch_stack::config::Registries;
use toml::{Table, Value};

use super::dice::{Dice, micros, octets, table};
use super::{expect, tree};

/// What kind of run a number stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Last digit 5: five megabytes or more.
    Large,
    /// Last digit 3 or 8: three to eight paths.
    Wide,
    /// Last digit 7: Multipath TCP over one path or two, and middleboxes on each: a fallback needs both (RFC 8684 3.7).
    Boxed,
    /// Others.
    Any,
}

impl Kind {
    /// Of the run `number`.
    pub fn of(number: u64) -> Self {
        match number % 10 {
            5 => Self::Large,
            3 | 8 => Self::Wide,
            7 => Self::Boxed,
            _ => Self::Any,
        }
    }
}

/// A drawn scenario.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// As a document.
    pub document: Table,
    /// As it was read.
    pub scenario: Scenario,
}

/// The scenario of the run `number` with algorithms of `known`, or what the reader says if it
/// cannot be mended, which is a fault of this module.
pub fn draw(number: u64, known: &Registries) -> Result<Drawn, String> {
    let mut document = document(number, known);
    for _ in 0..200 {
        match Source::new(&document.to_string()).named("torture").registries(known).read() {
            Ok(scenario) => {
                if !coarsen(&mut document, &scenario) && !limit_answers(&mut document, &scenario) {
                    return Ok(Drawn { document, scenario });
                }
            }
            Err(fault) => {
                if !remove(&mut document, fault.key()) {
                    return Err(fault.to_string());
                }
            }
        }
    }
    Err("a scenario that is not valid after 200 keys were taken away".into())
}

/// What is drawn, valid or not.
fn document(number: u64, known: &Registries) -> Table {
    let mut dice = Dice::new(number, "scenario");
    let kind = Kind::of(number);
    let mut document = Table::new();
    document.insert("seed".into(), Value::from(dice.whole(0, i64::MAX as u64 / 2) as i64));
    let brief = kind != Kind::Large && dice.percent(4);
    let duration = if brief { micros(dice.spread(1, 20_000_000)) } else { Value::from("1 h") };
    document.insert("duration".into(), duration);
    if dice.percent(2) {
        document.insert("title".into(), Value::from(format!("torture {number}")));
    }
    match dice.whole(0, 99) {
        // The model of 2011 and generated networks have their own place, and not the large share.
        0..5 if kind == Kind::Any => {
            document.insert("stack".into(), Value::from("legacy-2011"));
            network::short(&mut dice, kind, &mut document, known);
            document.iter_mut().for_each(|(_, value)| delayed(value));
        }
        5..10 if kind == Kind::Any => network::generated(&mut dice, &mut document, known),
        10..20 => network::long(&mut dice, kind, &mut document, known),
        _ => network::short(&mut dice, kind, &mut document, known),
    }
    document
}

/// The model of 2011 has no least timeout (crates/sim/src/legacy/rules.md, 5.5): without a delay it
/// would do nothing but retransmit.
fn delayed(value: &mut Value) {
    match value {
        Value::Array(list) => list.iter_mut().for_each(delayed),
        Value::Table(table) => {
            for (key, value) in table.iter_mut() {
                if matches!(key.as_str(), "delay" | "delay_up" | "delay_down") {
                    let short =
                        |text: &str| text.split(' ').next().and_then(|n| n.parse().ok()).is_some_and(|n: u64| n < 1000);
                    if value.as_str().is_some_and(short) {
                        *value = micros(1000);
                    }
                } else {
                    delayed(value);
                }
            }
        }
        _ => {}
    }
}

/// Makes the pieces into which boxes cut segments larger, if there are more of them than a minute is enough for; false if
/// there are not. Without SACK each piece's acknowledgement is a partial one that has the whole segment sent again (RFC 6582
/// 3.2, step 3), and so cut again: the number of pieces goes with the square of the pieces of a segment.
fn coarsen(document: &mut Table, scenario: &Scenario) -> bool {
    const PIECES: u64 = 5_000_000;
    let cost = scenario.connections.iter().map(|c| {
        let octets = expect::finite(&c.transfer).unwrap_or(5_000_000);
        octets.saturating_mul(u64::from(c.config.mss))
    });
    let least = (cost.fold(0, u64::saturating_add) / PIECES).isqrt();
    let fine = |kind: &middlebox::Kind| matches!(kind, middlebox::Kind::Split { size, .. } if u64::from(*size) < least);
    if !scenario.links.iter().flat_map(|l| &l.middleboxes).any(|b| fine(&b.kind)) {
        return false;
    }
    let mut changed = false;
    for place in tree::places(document) {
        let Some(value) = tree::at(document, &place) else { continue };
        let (kind, size) = (value.get("kind").and_then(Value::as_str), value.get("size").and_then(Value::as_str));
        let size = size.and_then(|text| text.strip_suffix(" B")?.parse::<u64>().ok());
        if kind == Some("split") && size.is_some_and(|size| size < least) {
            value["size"] = octets(least);
            changed = true;
        }
    }
    changed
}

/// Gives acknowledgements that answer invalid ones their limit back (RFC 5961 5) behind boxes that make such: without it the two
/// ends answer each other as long as the run. False if there is nothing to do.
fn limit_answers(document: &mut Table, scenario: &Scenario) -> bool {
    use middlebox::{Kind, Pattern};
    // One that makes segments longer than the window takes makes all that follows invalid.
    let stale = |kind: &Kind| {
        let ahead = matches!(kind, Kind::Acks { how: Pattern::Optimistic, .. });
        ahead || matches!(kind, Kind::Replay { .. } | Kind::AlterLength { .. } | Kind::RewriteSequence)
    };
    if !scenario.links.iter().flat_map(|l| &l.middleboxes).any(|b| stale(&b.kind)) {
        return false;
    }
    let places = tree::places(document).into_iter();
    let unlimited = places.filter(|place| place.last().is_some_and(|key| key == "invalid_ack_interval"));
    let unlimited: Vec<_> = unlimited
        .filter(|place| tree::at(document, place).is_some_and(|value| value.as_str() == Some("0 us")))
        .collect();
    unlimited.iter().filter(|place| tree::take(document, place)).count() > 0
}

/// Takes away what stands at `key`, in whichever direction, or else the list or table around it; false if there is nothing.
/// A transfer at fault becomes a short one, since the default would be long.
fn remove(document: &mut Table, key: &str) -> bool {
    const APART: &[&str] = &["direction", "start", "start_spread", "read_rate"];
    let place = tree::steps(key);
    if let Some(n) = place.iter().position(|step| step == "transfer") {
        let apart = place.get(n + 1).is_some_and(|key| APART.contains(&key.as_str()));
        return if apart {
            tree::take(document, &place[..n + 2])
        } else {
            let short = table([("bytes", Value::from("20 kB"))]);
            if n == 0 {
                // It may have gone with the only connection.
                document.insert("transfer".into(), short);
                return true;
            }
            tree::at(document, &place[..=n]).map(|transfer| *transfer = short).is_some()
        };
    }
    if place == ["path"] && !document.contains_key("path") {
        // The last one was at fault.
        document.insert("path".into(), Value::Array(vec![table([])]));
        return true;
    }
    let taken = (1..=place.len()).rev().any(|n| {
        let (last, before) = place[..n].split_last().expect("n is at least 1");
        ["", "_up", "_down"].into_iter().any(|way| tree::take(document, &[before, &[format!("{last}{way}")]].concat()))
    });
    if !taken && place.first().is_some_and(|first| first == "connection") && document.contains_key("host") {
        // The only connection of a network was at fault: nothing of the network is left to be used.
        document.retain(|key, _| matches!(key, "seed" | "duration" | "title"));
        document.insert("path".into(), Value::Array(vec![table([])]));
        document.insert("transfer".into(), table([("bytes", Value::from("20 kB"))]));
        return true;
    }
    taken
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use anabranch_sim::scenario::{self, schema};

    use super::*;

    fn draw(number: u64) -> Result<Drawn, String> {
        super::draw(number, &Registries::default())
    }

    fn keys(value: &Value, all: &mut BTreeSet<String>) {
        match value {
            Value::Table(table) => {
                for (key, inner) in table {
                    all.insert(key.trim_end_matches("_up").trim_end_matches("_down").to_owned());
                    keys(inner, all);
                }
            }
            Value::Array(list) => list.iter().for_each(|inner| keys(inner, all)),
            _ => {}
        }
    }

    /// Each key of a scenario must occur in the scenarios 0 to 5999. If a new key does not, extend
    /// the draw, or name the key in `ELSEWHERE`.
    #[test]
    fn every_key_of_a_scenario_is_drawn_and_stays() {
        // No scenario is drawn with `bytes`: `run.rs` repeats runs with it instead.
        const ELSEWHERE: &[&str] = &["bytes"];
        // Presets of `leo` and `cellular` are drawn by name, without keys of these tables.
        const WHOLE: &[&str] = &["leo", "cellular"];
        let mut missing: BTreeSet<(&str, &str)> = schema::TABLES
            .iter()
            .filter(|table| !WHOLE.contains(&table.name))
            .flat_map(|table| table.keys().map(|key| (table.name, key.name)))
            .filter(|(table, key)| *table != "root" || !ELSEWHERE.contains(key))
            .collect();
        assert!(missing.len() > 100);
        let mut drawn = BTreeSet::new();
        for number in 0..6000 {
            if missing.is_empty() {
                return;
            }
            keys(&Value::Table(draw(number).unwrap().document), &mut drawn);
            missing.retain(|(_, key)| !drawn.contains(*key));
        }
        assert!(missing.is_empty(), "tables and keys that are not drawn: {missing:?}");
    }

    #[test]
    fn a_number_is_one_scenario_and_its_last_digit_its_kind() {
        for number in [0, 7, 123_456_789] {
            assert_eq!(draw(number).unwrap().document, draw(number).unwrap().document);
        }
        for number in 0..300 {
            let s = draw(number).unwrap().scenario;
            let paths = s.connections.iter().map(|c| c.paths.len()).max().unwrap();
            match Kind::of(number) {
                Kind::Wide => assert!((2..=64).contains(&s.links.len()), "{number}: {paths} paths"),
                Kind::Large => assert!(super::super::expect::finite(&s.connections[0].transfer).unwrap() >= 5_000_000),
                Kind::Boxed => {
                    let boxed = s.connections[0].paths.iter().flatten().all(|&l| !s.links[l].middleboxes.is_empty());
                    assert!(boxed && s.connections[0].protocol == scenario::Protocol::Mptcp, "{number}");
                }
                Kind::Any => {}
            }
        }
    }

    #[test]
    fn boxes_cut_no_segment_into_more_pieces_than_a_run_has_time_for() {
        let text = |bytes: &str| {
            format!(
                "transfer = {{ bytes = '{bytes}' }}\n[connection]\nmss = 1400\n[[path]]\nmiddleboxes = [{{ kind = 'split', size = '1 B' }}]"
            )
        };
        let size = |bytes: &str| {
            let mut document: Table = text(bytes).parse().unwrap();
            let scenario = scenario::parse(&document.to_string(), "test", &[], None).unwrap();
            let changed = coarsen(&mut document, &scenario);
            let size = tree::at(&mut document, &tree::steps("path[0].middleboxes[0].size")).unwrap().clone();
            assert_eq!(changed, size.as_str() != Some("1 B"));
            size.as_str().unwrap().to_owned()
        };
        // 1,400 * 5,000,000 / 37^2 is a little more than 5,000,000.
        assert_eq!((size("3 kB"), size("5 MB")), ("1 B".into(), "37 B".into()));
    }

    #[test]
    fn answers_are_limited_behind_boxes_that_ask_for_many() {
        let kinds = [
            ("replay", true),
            ("optimistic-acks", true),
            ("alter-length", true),
            ("rewrite-sequence", true),
            ("split", false),
        ];
        for (kind, limited) in kinds {
            let text = format!(
                "transfer = {{ bytes = '1 kB' }}\npath = [{{ middleboxes = ['{kind}'] }}]\nconnection = {{ invalid_ack_interval = '0 us' }}"
            );
            let mut document: Table = text.parse().unwrap();
            let scenario = scenario::parse(&document.to_string(), "test", &[], None).unwrap();
            assert_eq!(limit_answers(&mut document, &scenario), limited, "{kind}");
            assert_eq!(tree::at(&mut document, &tree::steps("connection.invalid_ack_interval")).is_none(), limited);
        }
    }

    #[test]
    fn a_key_at_fault_is_taken_away_and_a_transfer_becomes_a_short_one() {
        let mut document: Table = "transfer = { page = 7, start = '1 s' }\n[[path]]\nrate_up = '1 B'".parse().unwrap();
        assert!(remove(&mut document, "path[0].rate") && remove(&mut document, "transfer.start"));
        assert!(remove(&mut document, "transfer.page.objects"));
        assert_eq!(document, "transfer = { bytes = '20 kB' }\n[[path]]".parse().unwrap());
        document = "seed = 1\n[[host]]\nname = 'a'\n[[link]]\nfrom = 'a'".parse().unwrap();
        assert!(remove(&mut document, "connection.client"));
        assert_eq!(document, "seed = 1\ntransfer = { bytes = '20 kB' }\n[[path]]".parse().unwrap());
        document.clear();
        assert!(remove(&mut document, "transfer") && remove(&mut document, "path"));
        assert_eq!(document, "transfer = { bytes = '20 kB' }\n[[path]]".parse().unwrap());
    }
}

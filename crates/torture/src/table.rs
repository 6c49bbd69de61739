//! Which features the drawn scenarios had, and which pairs of features came together.
//!
//! A feature is a key that is written, with its value if that is a word: `connection.sack`, `controller = cubic`,
//! `middlebox = split`; and the number of paths, connections and megabytes. The table holds how often each one occurred, and
//! each pair, so that one can see what was not tried together.

use std::collections::BTreeMap;

use anabranch_sim::scenario::Protocol;
use serde_json::{Value as Json, json};
use toml::{Table as Document, Value};

use super::draw::Drawn;

/// Counts of features and of pairs.
#[derive(Clone, Debug, Default)]
pub struct Table {
    names: BTreeMap<String, usize>,
    /// By pair of numbers, the smaller one first; a feature with itself is the feature alone.
    pairs: BTreeMap<(usize, usize), u64>,
}

impl Table {
    /// Counts one run.
    pub fn count(&mut self, drawn: &Drawn) {
        let mut numbers: Vec<usize> = features(drawn).into_iter().map(|f| self.number(f)).collect();
        numbers.sort_unstable();
        numbers.dedup();
        for (i, &a) in numbers.iter().enumerate() {
            for &b in &numbers[i..] {
                *self.pairs.entry((a, b)).or_default() += 1;
            }
        }
    }

    fn number(&mut self, name: String) -> usize {
        let next = self.names.len();
        *self.names.entry(name).or_insert(next)
    }

    /// Adds another table to this one.
    pub fn add(&mut self, other: &Self) {
        let mut numbers = vec![0; other.names.len()];
        for (name, &number) in &other.names {
            numbers[number] = self.number(name.clone());
        }
        for (&(a, b), n) in &other.pairs {
            let (a, b) = (numbers[a], numbers[b]);
            *self.pairs.entry((a.min(b), a.max(b))).or_default() += n;
        }
    }

    /// How often a feature occurred.
    fn of(&self, a: usize, b: usize) -> u64 {
        self.pairs.get(&(a.min(b), a.max(b))).copied().unwrap_or(0)
    }

    /// Features with their counts, and for each the counts of the pairs with those after it, in order of names.
    pub fn to_json(&self) -> Json {
        let all: Vec<(&String, usize)> = self.names.iter().map(|(name, &n)| (name, n)).collect();
        let features: serde_json::Map<_, _> =
            all.iter().map(|(name, n)| ((*name).clone(), self.of(*n, *n).into())).collect();
        let pairs: Vec<Vec<u64>> =
            (0..all.len()).map(|i| all[i + 1..].iter().map(|(_, other)| self.of(all[i].1, *other)).collect()).collect();
        let met = pairs.iter().flatten().filter(|n| **n > 0).count();
        let possible = pairs.iter().map(Vec::len).sum::<usize>();
        json!({ "features": features, "pairs": pairs, "pairs_met": met, "pairs_possible": possible })
    }
}

/// Words whose meaning needs no key before it, and those that stand for a table of the same meaning.
const ALGORITHMS: &[&str] =
    &["controller", "detector", "reduction", "judge", "scheduler", "response", "profile", "discipline", "protocol"];

fn features(drawn: &Drawn) -> Vec<String> {
    let mut out = Vec::new();
    written(&drawn.document, "", &mut out);
    let s = &drawn.scenario;
    let paths = s.connections.iter().map(|c| c.paths.len()).max().unwrap_or(0);
    out.push(format!("paths = {}", paths.min(8)));
    out.push(format!("connections = {}", s.connections.len().min(4)));
    let large = s.connections.iter().any(|c| super::expect::finite(&c.transfer).is_some_and(|n| n >= 5_000_000));
    out.push(if large { "5 MB or more".into() } else { "less than 5 MB".into() });
    if s.connections.len() > 1 && s.connections.iter().any(|c| c.protocol == Protocol::Udp) {
        out.push("datagrams beside".into());
    }
    out
}

fn written(table: &Document, within: &str, out: &mut Vec<String>) {
    for (key, value) in table {
        let key = key.trim_end_matches("_up").trim_end_matches("_down");
        match value {
            Value::Table(inner) if ALGORITHMS.contains(&key) => {
                let name = inner.get("name").and_then(Value::as_str).unwrap_or("");
                out.push(format!("{key} = {name}"));
                out.push(format!("{key} with parameters"));
            }
            Value::Table(inner) => {
                out.push(format!("{within}{key}"));
                written(inner, &format!("{key}."), out);
            }
            Value::Array(list) => {
                out.push(format!("{within}{key}"));
                list.iter().for_each(|inner| listed(inner, key, out));
            }
            Value::String(word) if ALGORITHMS.contains(&key) && is_word(key, word) => {
                out.push(format!("{key} = {word}"))
            }
            Value::String(word) if is_word(key, word) => out.push(format!("{within}{key} = {word}")),
            Value::Boolean(flag) => out.push(format!("{within}{key} = {flag}")),
            _ if key == "seed" || key == "duration" => {}
            _ => out.push(format!("{within}{key}")),
        }
    }
}

fn listed(value: &Value, key: &str, out: &mut Vec<String>) {
    match value {
        Value::Table(inner) if key == "middleboxes" => {
            out.push(format!("middlebox = {}", inner.get("kind").and_then(Value::as_str).unwrap_or("")));
        }
        Value::String(name) if key == "middleboxes" => out.push(format!("middlebox = {name}")),
        Value::Table(inner) => written(inner, &format!("{key}."), out),
        _ => {}
    }
}

/// A value that is one of a few words, not a quantity or a name.
fn is_word(key: &str, word: &str) -> bool {
    let names = ["name", "from", "to", "client", "server", "title", "channel"];
    !names.contains(&key) && word.starts_with(|c: char| c.is_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The octets of an answer are no response to a verdict.
    #[test]
    fn quantities_are_no_words() {
        let text = "transfer = { request = '1 B', response = '200 B' }
            connection = { response = 'none', judge = 'dsack', checksum = true }";
        let mut all = Vec::new();
        written(&text.parse().unwrap(), "", &mut all);
        let expected = [
            "connection",
            "connection.checksum = true",
            "judge = dsack",
            "response = none",
            "transfer",
            "transfer.request",
            "transfer.response",
        ];
        all.sort();
        assert_eq!(all, expected);
    }
}

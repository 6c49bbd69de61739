//! Reading one TOML table by hand: known keys, expected types, words from a list.
//!
//! A derived deserialiser would be shorter, but its messages name Rust types and lose the key path. Here unknown keys
//! are refused before any value is read, so that a misspelt key is named as such and not as a missing one.

use toml::{Table, Value};

use super::error::Error;
use super::keys::{Keys, TABLES};
use super::nearest::{did_you_mean, nearest};

/// A table whose keys are all known.
#[derive(Debug)]
pub(super) struct Section<'a> {
    table: &'a Table,
    keys: &'static Keys,
}

impl<'a> Section<'a> {
    /// Refuses keys that are not in `keys`.
    pub(super) fn new(table: &'a Table, keys: &'static Keys) -> Result<Self, Error> {
        match table.keys().find(|k| !keys.contains(k)) {
            None => Ok(Self { table, keys }),
            Some(unknown) => Err(Self::unknown(unknown, keys)),
        }
    }

    fn unknown(key: &str, keys: &Keys) -> Error {
        let own: Vec<&str> = keys.all().collect();
        let base = key.strip_suffix("_up").or_else(|| key.strip_suffix("_down")).unwrap_or(key);
        let ending = &key[base.len()..];
        let home = TABLES.iter().find(|k| k.contains(key)).map(|k| format!("it belongs in {}; ", k.table));
        let hint = if let Some(home) = home {
            home
        } else if let Some(near) = nearest(base, keys.directed).filter(|_| !ending.is_empty()) {
            format!("did you mean \"{near}{ending}\"? ")
        } else {
            did_you_mean(key, &own)
        };
        let directed = match keys.directed {
            [] => "",
            _ => " (most also with _up or _down)",
        };
        Error::at(key, "unknown key", format!("{hint}allowed in {}: {}{directed}", keys.table, own.join(", ")))
    }

    /// The keys given, in the order of the file.
    pub(super) fn given(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.table.keys().map(String::as_str)
    }

    /// Reads another table with the same keys.
    pub(super) fn with<T>(
        &self,
        table: &Table,
        read: impl FnOnce(&Section<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        read(&Section { table, keys: self.keys })
    }

    /// The value of `key`, if it is given.
    pub(super) fn get(&self, key: &str) -> Option<&'a Value> {
        debug_assert!(self.keys.contains(key), "{key} is read but not listed for {}", self.keys.table);
        self.table.get(key)
    }

    /// Whether `key` is given.
    pub(super) fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// Reads `key` with `parse` if it is given.
    pub(super) fn read<T>(&self, key: &str, parse: impl Fn(&'a Value) -> Result<T, Error>) -> Result<Option<T>, Error> {
        self.get(key).map(|v| parse(v).map_err(|e| e.within(key))).transpose()
    }

    /// Reads `key`, or takes `default`.
    pub(super) fn or<T>(
        &self,
        key: &str,
        default: T,
        parse: impl Fn(&'a Value) -> Result<T, Error>,
    ) -> Result<T, Error> {
        Ok(self.read(key, parse)?.unwrap_or(default))
    }

    /// Reads `key`, which must be given; `example` shows how.
    pub(super) fn require<T>(
        &self,
        key: &str,
        example: &str,
        parse: impl Fn(&'a Value) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.read(key, parse)?
            .ok_or_else(|| Error::at(key, "missing", format!("write, for example, {key} = {example}")))
    }
}

/// A value as it would stand in a file, shortened.
pub(super) fn show(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{} ...", &text[..end]),
        None => text,
    }
}

/// Text in quotes.
pub(super) fn text(value: &Value) -> Result<&str, Error> {
    let found = || Error::new(format!("expected text in quotes, found {}", show(value)), "");
    value.as_str().ok_or_else(found)
}

/// A name that can stand in a file name, a column and a legend.
pub(super) fn name(value: &Value) -> Result<String, Error> {
    let name = text(value)?;
    let fine = |c: char| c.is_alphanumeric() || "-_.".contains(c);
    if name.is_empty() || name.chars().count() > 64 || !name.chars().all(fine) {
        let allowed = "allowed: 1 to 64 letters, digits, \"-\", \"_\" or \".\"";
        return Err(Error::new(format!("{} is not a name", show(value)), allowed));
    }
    Ok(name.to_owned())
}

/// `true` or `false`.
pub(super) fn flag(value: &Value) -> Result<bool, Error> {
    value.as_bool().ok_or_else(|| {
        Error::new(format!("expected true or false, found {}", show(value)), "allowed: true, false (without quotes)")
    })
}

/// An integer from `min` to `max`.
pub(super) fn whole(value: &Value, min: u64, max: u64) -> Result<u64, Error> {
    let allowed = format!("allowed: a whole number from {min} to {max}, without quotes");
    let Some(n) = value.as_integer() else {
        return Err(Error::new(format!("expected a whole number, found {}", show(value)), allowed));
    };
    match u64::try_from(n) {
        Ok(n) if (min..=max).contains(&n) => Ok(n),
        _ => Err(Error::new(format!("{n} is out of range"), allowed)),
    }
}

/// A plain number above zero, of at most a million.
pub(super) fn positive(value: &Value) -> Result<f64, Error> {
    let n = value.as_float().or(value.as_integer().map(|n| n as f64)).unwrap_or(f64::NAN);
    if (1e-6..=1e6).contains(&n) {
        return Ok(n);
    }
    let allowed = "allowed: a number from 0.000001 to 1000000, without quotes";
    Err(Error::new(format!("expected a number above 0, found {}", show(value)), allowed))
}

/// One of a list of words. `what` names the list: "controller".
pub(super) fn word<T: Copy>(value: &Value, what: &str, choices: &[(&str, T)]) -> Result<T, Error> {
    let words: Vec<&str> = choices.iter().map(|(w, _)| *w).collect();
    let list = || format!("choices: {}", words.join(", "));
    let Some(text) = value.as_str() else {
        return Err(Error::new(format!("expected a {what} in quotes, found {}", show(value)), list()));
    };
    choices.iter().find(|(w, _)| *w == text).map(|(_, t)| *t).ok_or_else(|| {
        Error::new(format!("unknown {what} \"{text}\""), format!("{}{}", did_you_mean(text, &words), list()))
    })
}

/// A table; `written` says how it is written.
pub(super) fn table<'a>(value: &'a Value, written: &str) -> Result<&'a Table, Error> {
    value.as_table().ok_or_else(|| {
        let remedy = if value.is_array() {
            format!("a list is not allowed here: write {written} once")
        } else {
            format!("write {written}")
        };
        Error::new(format!("expected a table, found {}", show(value)), remedy)
    })
}

/// A list; `written` says how it is written.
pub(super) fn list<'a>(value: &'a Value, written: &str) -> Result<&'a [Value], Error> {
    value
        .as_array()
        .map(Vec::as_slice)
        .ok_or_else(|| Error::new(format!("expected a list, found {}", show(value)), format!("write {written}")))
}

/// Reads each element of a list of tables with `parse`; faults carry the index.
pub(super) fn each_table<'a, T>(
    values: &'a [Value],
    written: &str,
    mut parse: impl FnMut(usize, &'a Table) -> Result<T, Error>,
) -> Result<Vec<T>, Error> {
    let one = |(i, v): (usize, &'a Value)| {
        table(v, written).and_then(|t| parse(i, t)).map_err(|e| e.within(&format!("[{i}]")))
    };
    values.iter().enumerate().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    static FRUIT: Keys = Keys { table: "[fruit]", plain: &["apple", "pear"], directed: &["plum"] };

    fn refused(text: &str) -> String {
        Section::new(&text.parse().unwrap(), &FRUIT).unwrap_err().to_string()
    }

    #[test]
    fn an_unknown_key_gets_the_nearest_word() {
        assert_eq!(
            refused("aple = 1"),
            "aple: unknown key\n  did you mean \"apple\"? allowed in [fruit]: apple, pear, plum (most also with _up or _down)"
        );
        assert!(refused("plim_up = 1").contains("did you mean \"plum_up\"?"));
        assert!(refused("apple_up = 1").contains("apple_up: unknown key"));
        assert!(refused("mss = 1").contains("it belongs in [connection]"));
    }

    #[test]
    fn wrong_types_are_explained() {
        let text = |e: Error| e.to_string();
        assert!(text(flag(&Value::String("true".into())).unwrap_err()).contains("found \"true\""));
        assert!(text(whole(&Value::Float(1.5), 0, 9).unwrap_err()).contains("expected a whole number, found 1.5"));
        assert!(text(whole(&Value::Integer(-1), 0, 9).unwrap_err()).contains("allowed: a whole number from 0 to 9"));
        let fruit = word(&Value::String("appel".into()), "fruit", &[("apple", 1), ("pear", 2)]).unwrap_err();
        assert_eq!(text(fruit), "unknown fruit \"appel\"\n  did you mean \"apple\"? choices: apple, pear");
    }
}

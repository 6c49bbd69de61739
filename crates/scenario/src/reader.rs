//! Reading one TOML table by the table of its keys: known keys, values in their ranges, words from
//! a list.
//!
//! A derived deserialiser would be shorter, but its messages name Rust types and lose the key path.
//! Here unknown keys are refused before any value is read, so that a misspelt key is named as such
//! and not as a missing one.

use anabranch_stack::registry::{Range, Setting};
use anabranch_stack::time::Duration;
use toml::{Table, Value};

use super::error::{Error, show};
use super::model::More;
use super::nearest::{did_you_mean, misspells, nearest};
use super::schema::{self, Default as Usual, HOMES, Key, example};
use super::units::{BYTES, PACKETS, RATE, TIME, word_or};

/// A table whose keys are all known.
#[derive(Debug)]
pub(super) struct Section<'a> {
    table: &'a Table,
    keys: &'static schema::Table,
}

/// A type that a value of a scenario is read as.
pub(super) trait Readable: Sized {
    /// The value; the table of keys must give a range of this type.
    fn from(setting: Setting) -> Option<Self>;
}

impl Readable for bool {
    fn from(setting: Setting) -> Option<Self> {
        if let Setting::Flag(flag) = setting { Some(flag) } else { None }
    }
}

impl Readable for f64 {
    fn from(setting: Setting) -> Option<Self> {
        if let Setting::Number(n) = setting { Some(n) } else { None }
    }
}

impl Readable for Duration {
    fn from(setting: Setting) -> Option<Self> {
        setting.time()
    }
}

macro_rules! whole {
    ($($type:ty),*) => {$(
        impl Readable for $type {
            fn from(setting: Setting) -> Option<Self> {
                setting.whole().and_then(|n| n.try_into().ok())
            }
        }
    )*};
}
whole!(u32, u64, usize);

impl Readable for Setting {
    fn from(setting: Setting) -> Option<Self> {
        Some(setting)
    }
}

/// A word beside the range stands for `None`.
impl<T: Readable> Readable for Option<T> {
    fn from(setting: Setting) -> Option<Self> {
        if matches!(setting, Setting::Word(_)) { Some(None) } else { T::from(setting).map(Some) }
    }
}

impl<'a> Section<'a> {
    /// Refuses keys that are not in `keys`.
    pub(super) fn new(table: &'a Table, keys: &'static schema::Table) -> Result<Self, Error> {
        match table.keys().find(|k| !keys.contains(k)) {
            None => Ok(Self { table, keys }),
            Some(unknown) => Err(Self::unknown(unknown, keys)),
        }
    }

    fn unknown(name: &str, keys: &schema::Table) -> Error {
        let base = name.strip_suffix("_up").or_else(|| name.strip_suffix("_down")).unwrap_or(name);
        let ending = &name[base.len()..];
        let own: Vec<&str> = keys.keys().map(|key| key.name).collect();
        let directed: Vec<&str> = keys.keys().filter(|key| key.directed).map(|key| key.name).collect();
        let homes = homes(name);
        let hint = if (1..=2).contains(&homes.len()) {
            // A key of another table may also be misspelt: `paths` of a connection, for `path`.
            format!("{}it belongs in {}; ", did_you_mean(name, &own), homes.join(" or "))
        } else if let Some(near) = nearest(base, &directed).filter(|_| !ending.is_empty()) {
            format!("did you mean \"{near}{ending}\"? ")
        } else {
            did_you_mean(name, &own)
        };
        let some = match directed.len() {
            0 => "",
            n if n == own.len() => " (each also with _up or _down)",
            n if 2 * n > own.len() => " (most also with _up or _down)",
            _ => " (some also with _up or _down)",
        };
        let allowed = if own.len() > MANY {
            format!("`anabranch list keys {}` lists the keys of {}{some}", keys.name, keys.written)
        } else {
            format!("allowed in {}: {}{some}", keys.written, own.join(", "))
        };
        Error::at(name, "unknown key", format!("{hint}{allowed}"))
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
        assert!(self.keys.contains(key), "{key} is read but not listed for {}", self.keys.written);
        self.table.get(key)
    }

    /// Whether `key` is given.
    pub(super) fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    fn key(&self, name: &str) -> &'static Key {
        self.keys.find(name).unwrap_or_else(|| panic!("{name} is read but not listed for {}", self.keys.written))
    }

    /// Reads `name` as the table of keys says, if it is given.
    pub(super) fn setting(&self, name: &str) -> Result<Option<Setting>, Error> {
        let Some(value) = self.table.get(name) else { return Ok(None) };
        setting(value, self.key(name)).map(Some).map_err(|e| e.within(name))
    }

    /// The value of `name`, if it is given.
    pub(super) fn given_value<T: Readable>(&self, name: &str) -> Result<Option<T>, Error> {
        Ok(self.setting(name)?.map(|setting| made(setting, name)))
    }

    /// The value of `name`, or `default`.
    pub(super) fn value_or<T: Readable>(&self, name: &str, default: T) -> Result<T, Error> {
        Ok(self.given_value(name)?.unwrap_or(default))
    }

    /// The value of `name`, or the default of the table of keys. A key without a default must be
    /// given.
    pub(super) fn value<T: Readable>(&self, name: &str) -> Result<T, Error> {
        match (self.setting(name)?, &self.key(name).default) {
            (Some(setting), _) => Ok(made(setting, name)),
            (None, Usual::Of(usual)) => Ok(made(*usual, name)),
            (None, _) => Err(self.missing(name)),
        }
    }

    /// The meaning of the word at `name`, or of the word that is the default. A key without a
    /// default must be given.
    pub(super) fn word<T: Copy>(&self, name: &str, words: &[(&'static str, T)]) -> Result<T, Error> {
        let usual = |usual: &str| words.iter().find(|(word, _)| *word == usual).map(|(_, meaning)| *meaning);
        match (self.word_given(name, words)?, &self.key(name).default) {
            (Some(meaning), _) => Ok(meaning),
            (None, Usual::Of(Setting::Word(word))) => usual(word).ok_or_else(|| self.missing(name)),
            (None, _) => Err(self.missing(name)),
        }
    }

    /// The meaning of the word at `name`, if it is given.
    pub(super) fn word_given<T: Copy>(&self, name: &str, words: &[(&'static str, T)]) -> Result<Option<T>, Error> {
        self.read(name, |value| word(value, &self.key(name).called(), words))
    }

    /// The values given for the keys that have no field of their own; `ending` is the direction of
    /// directed keys, of which a value for both is given first.
    pub(super) fn more(&self, ending: &str) -> Result<More, Error> {
        let mut more = More::default();
        for key in self.keys.keys().filter(|key| key.stored) {
            for name in
                [key.name.to_owned(), format!("{}{ending}", key.name)].iter().take(if key.directed { 2 } else { 1 })
            {
                let Some(value) = self.table.get(name) else { continue };
                match key.value {
                    schema::Value::Inner => {
                        let inner = key.inner();
                        let read = |t| Section::new(t, inner).and_then(|section| section.all(inner));
                        let written = format!("{name} = {}", key.shown());
                        let values = table(value, &written).and_then(read).map_err(|e| e.within(name))?;
                        values.into_iter().for_each(|(part, value)| more.put(key.name, part, value));
                    }
                    _ => more.put(key.name, "", setting(value, key).map_err(|e| e.within(name))?),
                }
            }
        }
        Ok(more)
    }

    /// Every value of a table whose keys have ranges and defaults, or must be given.
    fn all(&self, keys: &schema::Table) -> Result<Vec<(&'static str, Setting)>, Error> {
        keys.keys().map(|key| self.value(key.name).map(|value| (key.name, value))).collect()
    }

    /// The quantity at `name` in base units, if it is given.
    pub(super) fn quantity(&self, name: &str) -> Result<Option<i64>, Error> {
        let schema::Value::Quantity(kind, least, most) = self.key(name).value else {
            panic!("the table of keys has no quantity for {name}")
        };
        self.read(name, |value| kind.read_within(value, least, most))
    }

    fn missing(&self, name: &str) -> Error {
        Error::at(name, "missing", format!("write, for example, {name} = {}", self.key(name).shown()))
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

    /// Reads `key`, which must be given.
    pub(super) fn require<T>(&self, key: &str, parse: impl Fn(&'a Value) -> Result<T, Error>) -> Result<T, Error> {
        self.read(key, parse)?.ok_or_else(|| self.missing(key))
    }
}

/// The tables in which the key `name` belongs: of tables that have the same key, such as paths and
/// links, the first.
fn homes(name: &str) -> Vec<&'static str> {
    let mut found: Vec<(&str, &str)> = Vec::new();
    for table in HOMES {
        if let Some(key) = table.find(name).filter(|key| found.iter().all(|(meaning, _)| *meaning != key.meaning)) {
            found.push((key.meaning, table.written));
        }
    }
    found.into_iter().map(|(_, written)| written).collect()
}

/// The value of `key`, which decides what the other keys of `table` are; `written` is an example.
pub(super) fn deciding<'a>(table: &'a Table, key: &str, written: &str) -> Result<&'a Value, Error> {
    table.get(key).ok_or_else(|| match table.keys().find(|given| misspells(given, key)) {
        Some(given) => {
            Error::at(given, "unknown key", format!("did you mean \"{key}\"? write, for example, {written}"))
        }
        None => {
            let found = show(&Value::Table(table.clone()));
            Error::at(key, format!("missing in {found}"), format!("write, for example, {written}"))
        }
    })
}

/// A message about an unknown key lists up to so many keys.
const MANY: usize = 24;

/// One direction of a table: a key may stand in the table with the direction's suffix, or without
/// for both directions.
pub(super) struct Way<'a, 'b> {
    pub(super) section: &'b Section<'a>,
    /// `_up` or `_down`.
    pub(super) way: &'b str,
}

impl<'a> Way<'a, '_> {
    /// Returns the key's value for this direction, else its value for both directions, else
    /// `default`. Reads both values, so that an error in either is found.
    pub(super) fn or<T>(
        &self,
        key: &str,
        default: T,
        parse: impl Fn(&'a Value) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let both = self.section.or(key, default, &parse)?;
        self.section.or(&format!("{key}{}", self.way), both, parse)
    }

    /// Like [`Way::or`], with the value's form from the table of keys.
    pub(super) fn value_or<T: Readable>(&self, key: &str, default: T) -> Result<T, Error> {
        let both = self.section.value_or(key, default)?;
        self.section.value_or(&format!("{key}{}", self.way), both)
    }

    /// Like [`Way::value_or`], with the default of the table of keys.
    pub(super) fn value<T: Readable>(&self, key: &str) -> Result<T, Error> {
        let both = self.section.value(key)?;
        self.section.value_or(&format!("{key}{}", self.way), both)
    }
}

/// # Panics
/// If the range of the key `name` is of another type.
fn made<T: Readable>(setting: Setting, name: &str) -> T {
    T::from(setting).unwrap_or_else(|| panic!("{name} has no value of this type: {setting:?}"))
}

/// A value of `key`, in its range.
pub(super) fn setting(value: &Value, key: &Key) -> Result<Setting, Error> {
    if let schema::Value::Either(other, quantity) = key.value {
        if schema::unit(quantity).is_some_and(|unit| unit.fits(value)) {
            return ranged(value, quantity);
        }
        let allowed = format!("allowed: {}", schema::plain(&schema::allowed(key)));
        return ranged(value, other).map_err(|_| Error::new(format!("{} is not allowed", show(value)), allowed));
    }
    let (range, words) = key.range().unwrap_or_else(|| panic!("the table of keys has no range for {}", key.name));
    let choices: Vec<(&str, &'static str)> = words.iter().map(|word| (*word, *word)).collect();
    if range == Range::Word {
        return word(value, &key.called(), &choices).map(Setting::Word);
    }
    if words.is_empty() {
        return ranged(value, range);
    }
    let choices: Vec<(&str, Setting)> = words.iter().map(|word| (*word, Setting::Word(word))).collect();
    word_or(value, &choices, |v| ranged(v, range), example(range).trim_matches('"'))
}

/// A value in `range`.
pub(super) fn ranged(value: &Value, range: Range) -> Result<Setting, Error> {
    match range {
        Range::Flag => flag(value).map(Setting::Flag),
        Range::Whole(least, most) => whole(value, least, most).map(Setting::Whole),
        Range::Octets(least, most) => BYTES.read(value, least, most).map(Setting::Whole),
        Range::Rate(least, most) => RATE.read(value, least, most).map(Setting::Whole),
        Range::Packets(least, most) => PACKETS.read(value, least, most).map(Setting::Whole),
        Range::Time(least, most) => TIME.read(value, least.0, most.0).map(|ns| Setting::Time(Duration(ns))),
        Range::Share(..) => match super::units::ratio(value)? {
            share if range.allows(Setting::Number(share)) => Ok(Setting::Number(share)),
            _ => Err(Error::new(format!("{} is out of range", show(value)), format!("allowed: {range}"))),
        },
        _ => number(value, range).map(Setting::Number),
    }
}

/// A plain number in `range`.
fn number(value: &Value, range: Range) -> Result<f64, Error> {
    let n = value.as_float().or(value.as_integer().map(|n| n as f64)).unwrap_or(f64::NAN);
    if range.allows(Setting::Number(n)) {
        return Ok(n);
    }
    let (unit, least, most) = match range {
        Range::RoundTrips(least, most) => (" of smoothed round-trip times", least, most),
        Range::Number(least, most) => ("", least, most),
        other => unreachable!("{other:?} has no plain numbers"),
    };
    let allowed = format!("allowed: a number from {least} to {most}, without quotes");
    Err(Error::new(format!("expected a number{unit} from {least} to {most}, found {}", show(value)), allowed))
}

/// Text in quotes.
pub(super) fn text(value: &Value) -> Result<&str, Error> {
    let found = || {
        let single = !value.is_table() && !value.is_array();
        let remedy = if single { format!("write \"{value}\"") } else { "write one text in quotes".to_owned() };
        Error::new(format!("expected text in quotes, found {}", show(value)), remedy)
    };
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

/// One of a list of words. `what` names the list: "controller".
pub(super) fn word<T: Copy>(value: &Value, what: &str, choices: &[(&str, T)]) -> Result<T, Error> {
    place(value, what, &names(choices)).map(|place| choices[place].1)
}

/// The words of a list.
pub(super) fn names<'a, T>(choices: &[(&'a str, T)]) -> Vec<&'a str> {
    choices.iter().map(|(word, _)| *word).collect()
}

/// The place in `words` of the word given. `what` names the list.
fn place(value: &Value, what: &str, words: &[&str]) -> Result<usize, Error> {
    let list = || format!("choices: {}", words.join(", "));
    let Some(text) = value.as_str() else {
        let article = if what.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
        return Err(Error::new(format!("expected {article} {what} in quotes, found {}", show(value)), list()));
    };
    words.iter().position(|word| *word == text).ok_or_else(|| {
        Error::new(format!("unknown {what} \"{text}\""), format!("{}{}", did_you_mean(text, words), list()))
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

    fn refused(text: &str) -> String {
        Section::new(&text.parse().unwrap(), &schema::ACCESS).unwrap_err().to_string()
    }

    #[test]
    fn an_unknown_key_gets_the_nearest_word() {
        let said = refused("dellay = 1");
        assert!(
            said.starts_with(
                "dellay: unknown key\n  did you mean \"delay\"? allowed in access = { ... }: rate, delay, "
            ),
            "{said}"
        );
        assert!(said.ends_with("policer (each also with _up or _down)"), "{said}");
        assert!(refused("dlay_up = 1").contains("did you mean \"delay_up\"?"));
        assert!(refused("backup_up = 1").contains("backup_up: unknown key"));
        assert!(refused("mss = 1").contains("it belongs in [connection]"));
        let root = Section::new(&"paths = 1".parse().unwrap(), &schema::ROOT).unwrap_err().to_string();
        assert!(root.contains("did you mean \"path\"? it belongs in [connection]"), "{root}");
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

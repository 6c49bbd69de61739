//! Keys of a scenario in its resolved form: the table of keys names them, with their units.

use anabranch_stack::registry::Setting;
use anabranch_stack::time::{Duration, Instant};
use serde_json::{Map, Value, json};

use crate::scenario::schema::{Key, Table};

/// A value of the model as JSON in SI units: times in seconds; `None` is null.
pub(in crate::scenario) trait Si {
    /// The value as JSON.
    fn si(self) -> Value;
}

macro_rules! as_they_are {
    ($($type:ty),*) => {$(
        impl Si for $type {
            fn si(self) -> Value {
                json!(self)
            }
        }
    )*};
}
as_they_are!(bool, i32, u32, u64, usize, f64, &str);

impl Si for Duration {
    fn si(self) -> Value {
        self.as_secs_f64().into()
    }
}

impl Si for Instant {
    fn si(self) -> Value {
        self.as_secs_f64().into()
    }
}

/// Anything but a quantity is null: a word stands beside a range of quantities for "none".
impl Si for Setting {
    fn si(self) -> Value {
        match self {
            Self::Flag(flag) => flag.into(),
            Self::Whole(n) => n.into(),
            Self::Number(n) => n.into(),
            Self::Time(time) => time.si(),
            _ => Value::Null,
        }
    }
}

impl Si for Value {
    fn si(self) -> Value {
        self
    }
}

impl<T: Si + Copy> Si for &T {
    fn si(self) -> Value {
        (*self).si()
    }
}

impl<T: Si> Si for Option<T> {
    fn si(self) -> Value {
        self.map_or(Value::Null, T::si)
    }
}

/// What the resolved scenario has for a key.
pub(super) enum Resolved {
    /// A value under the name of the key and its unit.
    Value(Value),
    /// An object, whose fields stand in the place of the key.
    Fields(Value),
    /// No field of its own.
    Nothing,
}

/// The fields of `keys` in the order of their table. `resolve` gives the value of each key.
pub(super) fn in_order(keys: impl Iterator<Item = &'static Key>, resolve: impl Fn(&Key) -> Resolved) -> Value {
    let mut out = Map::new();
    for key in keys {
        match resolve(key) {
            Resolved::Value(value) => _ = out.insert(key.resolved(), value),
            Resolved::Fields(Value::Object(fields)) => out.extend(fields),
            Resolved::Fields(other) => unreachable!("{} has no fields: {other}", key.name),
            Resolved::Nothing => {}
        }
    }
    out.into()
}

/// Values of keys of `table`, each under the name of its key and its unit, in the order given.
///
/// # Panics
/// If the table lacks a key.
pub(super) fn named(table: &Table, values: impl IntoIterator<Item = (&'static str, Value)>) -> Value {
    let name = |key| table.find(key).unwrap_or_else(|| panic!("{} has no key {key}", table.written)).resolved();
    values.into_iter().map(|(key, value)| (name(key), value)).collect::<Map<_, _>>().into()
}

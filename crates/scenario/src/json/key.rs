//! Keys of a scenario in its resolved form: the table of keys names them, with their units.

use serde_json::{Map, Value};

use crate::schema::{Key, Table};

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

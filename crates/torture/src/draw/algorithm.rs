//! Algorithms and their parameters, from the registries.

use anabranch_stack::config::{Registered, Registries};
use anabranch_stack::registry::{Choice, Parameter, Unit};
use toml::{Table, Value};

use crate::dice::{Dice, micros};

/// One of the algorithms in `known`, now and then with parameters. A variant of another algorithm
/// is drawn by the parameter of that algorithm.
pub fn any<T: ?Sized + Registered>(dice: &mut Dice, known: &Registries) -> Value {
    let all: Vec<Choice<T>> = known.of().iter().filter(|choice| choice.info().variant_of.is_none()).collect();
    let info = all[dice.whole(0, all.len() as u64 - 1) as usize].info();
    if info.parameters.is_empty() || !dice.percent(30) {
        return Value::from(&*info.name);
    }
    let mut table = Table::new();
    table.insert("name".into(), Value::from(&*info.name));
    for parameter in info.parameters.iter() {
        if dice.percent(60) {
            table.insert(parameter.name.to_string(), value(dice, parameter));
        }
    }
    Value::Table(table)
}

/// A value in the range of a parameter: now and then its ends, else near the default.
fn value(dice: &mut Dice, p: &Parameter) -> Value {
    let near = |dice: &mut Dice| (p.default * dice.real(0.2, 3.0)).clamp(p.least, p.most);
    let number = match dice.whole(0, 9) {
        0 => p.least,
        1 => p.most,
        2 | 3 => dice.real(p.least, p.most),
        _ => near(dice),
    };
    match p.unit {
        Unit::Whole => Value::Integer(number.round() as i64),
        Unit::Time => micros((number * 1e6).round() as u64),
        Unit::Share => Value::from(format!("{} %", number * 100.0)),
        _ => Value::Float(number),
    }
}

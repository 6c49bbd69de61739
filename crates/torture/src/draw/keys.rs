//! Values of keys as the table of keys says.

use anabranch_sim::scenario::schema::{Draw, Key, Value as Shape};
use anabranch_stack::registry::Range;
use toml::Value;

use crate::dice::Dice;

/// A value of `key`, or `None` if code has to draw it.
pub fn drawn(dice: &mut Dice, key: &Key) -> Option<Value> {
    if matches!(key.value, Shape::Inner) {
        let inner = key.inner().keys().filter(|key| dice.percent(key.often)).collect::<Vec<_>>();
        let values = inner.into_iter().filter_map(|key| Some((key.name.to_owned(), drawn(dice, key)?)));
        return Some(Value::Table(values.collect()));
    }
    let (range, words) = key.range().unwrap_or((Range::Word, Vec::new()));
    Some(match key.draw {
        Draw::Code => return None,
        Draw::Any => match range {
            Range::Flag => dice.flag(),
            Range::Whole(least, most) => Value::Integer(dice.whole(least, most) as i64),
            Range::Word => dice.word(&words),
            other => unreachable!("{}: any value of {other:?} would be too many", key.name),
        },
        Draw::Whole(least, most) => Value::Integer(dice.whole(least, most) as i64),
        Draw::Real(least, most) => Value::Float(dice.real(least, most)),
        Draw::Share(most) => dice.share(most),
        Draw::Spread(least, most) => match range {
            Range::Time(..) => dice.micros(least, most),
            Range::Octets(..) => dice.octets(least, most),
            Range::Rate(..) => Value::from(format!("{} kbit/s", dice.spread(least, most))),
            Range::Packets(..) => Value::from(format!("{} packets", dice.spread(least, most))),
            _ => Value::Integer(dice.spread(least, most) as i64),
        },
    })
}

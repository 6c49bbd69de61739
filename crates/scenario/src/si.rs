//! Values of the model as JSON in SI units.

use anabranch_stack::registry::Setting;
use anabranch_stack::time::{Duration, Instant};
use serde_json::{Value, json};

/// A value of the model as JSON in SI units: times in seconds; `None` is null.
pub(super) trait Si {
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

//! The fields of a configuration that are single values: their names, their ranges, and how they
//! are read and written by name.
//!
//! [`Config::validate`](super::Config::validate) checks these ranges. The simulator's scenarios
//! take their keys from this table.

use super::{Acknowledgement, Config, DelayedAck, DsnOctets, KeepAlive, RTO_FLOORS, RtoFloor};
use crate::judge::{RESPONSES, Response};
use crate::registry::{Range, Setting};
use crate::time::Duration;

/// A field of [`Config`] that is a single value.
#[derive(Debug)]
pub struct Field {
    /// The name of the field, which is the key of a scenario.
    pub name: &'static str,
    /// The values allowed beside the words.
    pub range: Range,
    /// The words allowed.
    pub words: &'static [&'static str],
    /// Returns the value.
    pub get: fn(&Config) -> Setting,
    /// Sets the value, which must be allowed.
    pub set: fn(&mut Config, Setting),
}

impl Field {
    /// The field called `name`.
    pub fn find(name: &str) -> Option<&'static Self> {
        FIELDS.iter().find(|field| field.name == name)
    }

    /// True if `value` is in the range or one of the words.
    pub fn allows(&self, value: Setting) -> bool {
        match value {
            Setting::Word(word) => self.words.contains(&word),
            other => self.range.allows(other),
        }
    }

    /// The values allowed, for a message.
    pub(super) fn allowed(&self) -> String {
        match (self.words, self.range) {
            ([], range) => range.to_string(),
            (words, Range::Word) => words.join(", "),
            (words, range) => format!("{}, or {range}", words.join(", ")),
        }
    }
}

/// A type of a field, converted from and to a [`Setting`].
trait Written: Sized {
    /// Converts the value to a [`Setting`]. `words` are the words that the field may have in place
    /// of a number, such as `off` for a time of zero.
    fn read(self, words: &[&'static str]) -> Setting;
    /// Returns the value of a setting that the field allows.
    fn made(value: Setting) -> Self;
}

/// # Panics
/// Always: `value` has another type than the field, so it was not checked against its range.
fn misfit<T>(value: Setting) -> T {
    unreachable!("{value:?} was checked against the range of the field")
}

impl Written for bool {
    fn read(self, _: &[&'static str]) -> Setting {
        Setting::Flag(self)
    }

    fn made(value: Setting) -> Self {
        if let Setting::Flag(flag) = value { flag } else { misfit(value) }
    }
}

macro_rules! whole {
    ($($type:ty),*) => {$(
        impl Written for $type {
            fn read(self, _: &[&'static str]) -> Setting {
                Setting::Whole(self as u64)
            }

            fn made(value: Setting) -> Self {
                value.whole().map_or_else(|| misfit(value), |n| n as Self)
            }
        }
    )*};
}
whole!(u32, u64, usize);

impl Written for f64 {
    fn read(self, _: &[&'static str]) -> Setting {
        Setting::Number(self)
    }

    fn made(value: Setting) -> Self {
        if let Setting::Number(n) = value { n } else { misfit(value) }
    }
}

impl Written for Duration {
    /// A word stands for zero, as `"off"` does in `ack_compression`.
    fn read(self, words: &[&'static str]) -> Setting {
        match words.first() {
            Some(word) if self == Self::ZERO => Setting::Word(word),
            _ => Setting::Time(self),
        }
    }

    fn made(value: Setting) -> Self {
        value.time().unwrap_or(Self::ZERO)
    }
}

impl<T: Written> Written for Option<T> {
    /// The first word stands for `None`.
    fn read(self, words: &[&'static str]) -> Setting {
        self.map_or(Setting::Word(words.first().copied().unwrap_or("none")), |value| value.read(&[]))
    }

    fn made(value: Setting) -> Self {
        (!matches!(value, Setting::Word(_))).then(|| T::made(value))
    }
}

impl Written for DelayedAck {
    fn read(self, _: &[&'static str]) -> Setting {
        match self {
            Self::Off => Setting::Word("off"),
            Self::After(delay) => Setting::Time(delay),
        }
    }

    fn made(value: Setting) -> Self {
        value.time().map_or(Self::Off, Self::After)
    }
}

/// Data sequence numbers of 4 or 8 octets.
impl Written for DsnOctets {
    fn read(self, _: &[&'static str]) -> Setting {
        Setting::Word(if self == Self::Four { "4" } else { "8" })
    }

    fn made(value: Setting) -> Self {
        if value == Setting::Word("4") { Self::Four } else { Self::Eight }
    }
}

/// Returns the name of `value` in `names`.
fn word<T: PartialEq>(names: &[(&'static str, T)], value: &T) -> Setting {
    Setting::Word(names.iter().find(|(_, v)| v == value).map_or("", |(name, _)| name))
}

/// Returns the value of the name `setting` in `names`.
fn named<T: Copy>(names: &[(&'static str, T)], setting: Setting) -> T {
    let found = names.iter().find(|(name, _)| Setting::Word(name) == setting);
    found.map_or_else(|| misfit(setting), |(_, value)| *value)
}

/// Names of the relations between acknowledgements and data order, in scenarios.
pub const ACKNOWLEDGEMENTS: &[(&str, Acknowledgement)] =
    &[("independent", Acknowledgement::Independent), ("coupled", Acknowledgement::Coupled)];

macro_rules! words {
    ($($type:ty, $names:ident;)*) => {$(
        impl Written for $type {
            fn read(self, _: &[&'static str]) -> Setting {
                word($names, &self)
            }

            fn made(value: Setting) -> Self {
                named($names, value)
            }
        }
    )*};
}
words! {
    Acknowledgement, ACKNOWLEDGEMENTS;
    Response, RESPONSES;
    RtoFloor, RTO_FLOORS;
}

/// Returns the names of a list of names and values.
const fn names<T, const N: usize>(names: &[(&'static str, T)]) -> [&'static str; N] {
    let mut words = [""; N];
    let mut i = 0;
    while i < N {
        words[i] = names[i].0;
        i += 1;
    }
    words
}

macro_rules! field {
    ($name:ident, $range:expr) => {
        field!($name, $range, &[])
    };
    ($name:ident, $range:expr, $words:expr) => {
        Field {
            name: stringify!($name),
            range: $range,
            words: $words,
            get: |config| Written::read(config.$name, $words),
            set: |config, value| config.$name = Written::made(value),
        }
    };
}

/// A part of the keep-alives; without keep-alives its default, which cannot be changed.
macro_rules! keepalive {
    ($name:literal, $part:ident, $range:expr) => {
        Field {
            name: $name,
            range: $range,
            words: &[],
            get: |config| Written::read(config.keepalive.unwrap_or_default().$part, &[]),
            set: |config, value| {
                if let Some(keepalive) = &mut config.keepalive {
                    keepalive.$part = Written::made(value);
                }
            },
        }
    };
}

const fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}
const MICROSECOND: Duration = Duration::from_micros(1);
const NANOSECOND: Duration = Duration(1);
const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(86_400);
/// RFC 7323 2.3: no window is larger than 1 GiB.
const BUFFER: Range = Range::Octets(1, 1 << 30);
const TIMEOUT: Range = Range::Time(MICROSECOND, HOUR);

/// Fields in the order in which resolved scenarios list them.
pub static FIELDS: &[Field] = &[
    field!(response, Range::Word, &names::<_, { RESPONSES.len() }>(RESPONSES)),
    field!(acknowledgement, Range::Word, &names::<_, { ACKNOWLEDGEMENTS.len() }>(ACKNOWLEDGEMENTS)),
    // An IPv4 packet has 65535 octets, of which headers without options take 40.
    field!(mss, Range::Whole(1, 65_495)),
    field!(receive_buffer, BUFFER, &["unlimited"]),
    field!(receive_initial, BUFFER, &["full"]),
    field!(held_charge, Range::Number(0.0, 2.0)),
    field!(send_buffer, BUFFER, &["unlimited"]),
    field!(initial_window, Range::Whole(1, 65_535)),
    field!(byte_counting, Range::Flag),
    field!(min_rto, TIMEOUT),
    field!(max_rto, TIMEOUT),
    field!(initial_rto, TIMEOUT),
    field!(rto_floor, Range::Word, &names::<_, { RTO_FLOORS.len() }>(RTO_FLOORS)),
    field!(sack_timing, Range::Flag),
    field!(window_validation, Range::Flag),
    field!(count_segments, Range::Flag),
    field!(pacing, Range::Flag),
    field!(max_retransmissions, Range::Whole(1, 1000)),
    field!(stale_after, Range::Whole(0, 255)),
    field!(opportunistic_retransmission, Range::Flag),
    field!(penalisation, Range::Flag),
    field!(sack, Range::Flag),
    field!(timestamps, Range::Flag),
    field!(ecn, Range::Flag),
    field!(nagle, Range::Flag),
    field!(checksum, Range::Flag),
    field!(time_wait, Range::Time(Duration::ZERO, HOUR)),
    field!(invalid_ack_interval, Range::Time(Duration::ZERO, HOUR)),
    field!(subflow_limit, Range::Whole(1, 255)),
    field!(address_limit, Range::Whole(0, 255)),
    // RFC 1122 4.2.3.2, RFC 5681 4.2, RFC 9293 3.8.6.3: an acknowledgement is delayed by half a
    // second at most.
    field!(delayed_ack, Range::Time(NANOSECOND, ms(500)), &["off"]),
    field!(delayed_ack_adapts, Range::Flag),
    field!(quick_acks, Range::Whole(0, 1000)),
    field!(push_acks, Range::Flag),
    field!(defer_bursts, Range::Flag),
    field!(acknowledge_on_read, Range::Flag),
    field!(ack_compression, Range::Time(NANOSECOND, ms(100)), &["off"]),
    field!(user_timeout, Range::Time(ms(1), DAY), &["none"]),
    Field {
        name: "keepalive",
        range: Range::Time(ms(1), DAY),
        words: &["off"],
        get: |config| Written::read(config.keepalive.map(|k| k.idle), &["off"]),
        set: |config, value| config.keepalive = value.time().map(|idle| KeepAlive { idle, ..KeepAlive::default() }),
    },
    keepalive!("keepalive_interval", interval, Range::Time(ms(1), DAY)),
    // One that is not answered may be lost (RFC 9293 3.8.4, MUST-29).
    keepalive!("keepalive_probes", probes, Range::Whole(2, 127)),
    field!(dsn_octets, Range::Word, &["8", "4"]),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::PROFILES;

    #[test]
    fn each_field_takes_back_the_value_that_it_gives_under_every_profile() {
        for (_, profile) in PROFILES {
            let config = profile.config();
            for field in FIELDS {
                let value = (field.get)(&config);
                assert!(field.allows(value), "{}: {value:?}", field.name);
                let mut other = crate::config::Profile::Classic.config();
                (field.set)(&mut other, value);
                assert!((field.get)(&other) == value || field.name.starts_with("keepalive_"), "{}", field.name);
            }
        }
    }
}

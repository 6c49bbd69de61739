//! Units of measures: that of the field, and the one that tables and figures show.

/// A unit, with the scale to the shown one, the digits behind the point and the bounds of any
/// value.
#[derive(Clone, Copy, Debug)]
pub struct Unit {
    /// Unit of the field in JSON and frames; empty for counts and texts.
    pub name: &'static str,
    /// Unit in tables and figures; empty if the label says it.
    pub shown: &'static str,
    /// From the unit of the field to the shown one.
    pub factor: f64,
    /// Digits behind the point in papers and recommendations.
    pub digits: u8,
    /// Least value in the unit of the field.
    pub low: f64,
    /// Greatest value in the unit of the field.
    pub high: f64,
    /// What the values are: `number`, `text`, `list` or `object`.
    pub kind: &'static str,
}

impl Unit {
    const fn new(name: &'static str, shown: &'static str, factor: f64, digits: u8) -> Self {
        Self { name, shown, factor, digits, low: 0.0, high: f64::INFINITY, kind: "number" }
    }

    const fn of_kind(kind: &'static str, name: &'static str, shown: &'static str) -> Self {
        Self { kind, ..Self::new(name, shown, 1.0, 0) }
    }

    const fn between(self, low: f64, high: f64) -> Self {
        Self { low, high, ..self }
    }
}

/// Text.
pub const TEXT: Unit = Unit::of_kind("text", "", "");
/// A number of things that the label names.
pub const COUNT: Unit = Unit::new("", "", 1.0, 0);
/// True or false; a mean over runs is the share of those with true.
pub const FLAG: Unit = Unit::new("true, false", "%", 100.0, 0).between(0.0, 1.0);
/// A part of a whole.
pub const SHARE: Unit = Unit::new("0 to 1", "%", 100.0, 1).between(0.0, 1.0);
/// Parts of a whole by name.
pub const RATIO: Unit = Unit::of_kind("object", "0 to 1", "").between(0.0, 1.0);
/// An index of fairness.
pub const INDEX: Unit = Unit::new("1/n to 1", "", 1.0, 2).between(0.0, 1.0);
/// Shares by position.
pub const SHARES: Unit = Unit::of_kind("list", "list of shares", "");
/// Values, which may be negative, and their shares.
pub const PAIRS: Unit = Unit::of_kind("list", "list of pairs", "packets").between(f64::NEG_INFINITY, f64::INFINITY);
/// An object with fields of its own.
pub const OBJECT: Unit = Unit::of_kind("object", "", "");
/// A list of objects that may be empty.
pub const LIST: Unit = Unit::of_kind("list", "list", "");
/// A list of objects.
pub const OBJECTS: Unit = Unit::of_kind("list", "list of objects", "");
/// Seconds.
pub const SECONDS: Unit = Unit::new("s", "s", 1.0, 2);
/// Seconds, shown as milliseconds.
pub const SECONDS_AS_MS: Unit = Unit::new("s", "ms", 1e3, 1);
/// Milliseconds.
pub const MILLISECONDS: Unit = Unit::new("ms", "ms", 1.0, 1);
/// 10^6 bit/s.
pub const MBPS: Unit = Unit::new("Mbit/s", "Mbit/s", 1.0, 2);
/// Bits a second, shown as 10^6 bit/s.
pub const BPS: Unit = Unit::new("bit/s", "Mbit/s", 1e-6, 2);
/// Octets, shown as 1000 of them.
pub const OCTETS: Unit = Unit::new("octets", "kB", 1e-3, 0);
/// Octets, shown as 10^6 of them.
pub const OCTETS_AS_MB: Unit = Unit::new("octets", "MB", 1e-6, 2);
/// Octets that the label names.
pub const COUNTED_OCTETS: Unit = Unit::new("octets", "", 1.0, 0);
/// Packets.
pub const PACKETS: Unit = Unit::new("packets", "packets", 1.0, 0);
/// Packets that the label names.
pub const COUNTED_PACKETS: Unit = Unit::new("packets", "", 1.0, 0);
/// Full segments.
pub const FULL_SEGMENTS: Unit = Unit::new("segments", "segments", 1.0, 1);

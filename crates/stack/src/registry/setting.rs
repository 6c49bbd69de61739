//! Values that a user may write and the ranges that they must lie in, alike for keys of a
//! configuration and parameters of an algorithm.

use core::fmt::{Display, Formatter, Result as Written};

use super::{Parameter, Unit};
use crate::time::Duration;

/// One value, in the base unit of its range: octets, bit/s, packets, ratios from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Setting {
    /// True or false.
    Flag(bool),
    /// A whole number, or a whole number of octets, bit/s or packets.
    Whole(u64),
    /// A number or a ratio.
    Number(f64),
    /// A time.
    Time(Duration),
    /// One word of a list, such as `"cubic"` or `"unlimited"`.
    Word(&'static str),
}

impl Setting {
    /// The time, if the value is one.
    pub fn time(self) -> Option<Duration> {
        if let Self::Time(time) = self { Some(time) } else { None }
    }

    /// The whole number, if the value is one.
    pub fn whole(self) -> Option<u64> {
        if let Self::Whole(n) = self { Some(n) } else { None }
    }
}

impl Display for Setting {
    fn fmt(&self, f: &mut Formatter<'_>) -> Written {
        match self {
            Self::Flag(flag) => flag.fmt(f),
            Self::Whole(n) => n.fmt(f),
            Self::Number(n) => n.fmt(f),
            Self::Time(time) => time.fmt(f),
            Self::Word(word) => f.write_str(word),
        }
    }
}

/// Which values are allowed.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Range {
    /// True or false.
    Flag,
    /// Whole numbers from the first to the second.
    Whole(u64, u64),
    /// Numbers from the first to the second.
    Number(f64, f64),
    /// Numbers of smoothed round-trip times, from the first to the second.
    RoundTrips(f64, f64),
    /// Ratios from the first to the second, at least 0 and at most 1.
    Share(f64, f64),
    /// Times from the first to the second.
    Time(Duration, Duration),
    /// Octets from the first to the second.
    Octets(u64, u64),
    /// Rates in bit/s from the first to the second.
    Rate(u64, u64),
    /// Packets from the first to the second.
    Packets(u64, u64),
    /// Words only.
    Word,
}

impl Range {
    /// True if `value` lies in the range. Words are not of the range: its owner lists them.
    pub fn allows(self, value: Setting) -> bool {
        match (self, value) {
            (Self::Flag, Setting::Flag(_)) => true,
            (
                Self::Whole(least, most)
                | Self::Octets(least, most)
                | Self::Rate(least, most)
                | Self::Packets(least, most),
                Setting::Whole(n),
            ) => (least..=most).contains(&n),
            (
                Self::Number(least, most) | Self::RoundTrips(least, most) | Self::Share(least, most),
                Setting::Number(n),
            ) => (least..=most).contains(&n),
            (Self::Time(least, most), Setting::Time(time)) => (least..=most).contains(&time),
            _ => false,
        }
    }
}

/// A ratio in percent, with twelve digits, so that 0.07 is 7 % and not 7.000000000000001 %.
fn percent(ratio: f64) -> f64 {
    (ratio * 1e14).round() / 1e12
}

impl Display for Range {
    fn fmt(&self, f: &mut Formatter<'_>) -> Written {
        match self {
            Self::Flag => f.write_str("true or false"),
            Self::Whole(least, most) => write!(f, "{least} to {most}"),
            Self::Number(least, most) => write!(f, "{least} to {most}"),
            Self::RoundTrips(least, most) => write!(f, "{least} to {most} smoothed round-trip times"),
            Self::Share(least, most) => write!(f, "{} % to {} %", percent(*least), percent(*most)),
            Self::Time(least, most) => write!(f, "{least} to {most}"),
            Self::Octets(least, most) => write!(f, "{least} to {most} octets"),
            Self::Rate(least, most) => write!(f, "{least} to {most} bit/s"),
            Self::Packets(least, most) => write!(f, "{least} to {most} packets"),
            Self::Word => Ok(()),
        }
    }
}

impl Parameter {
    /// The range of the parameter's values.
    pub fn range(&self) -> Range {
        let seconds = |s: f64| Duration((s * 1e9).round() as u64);
        match self.unit {
            Unit::Whole => Range::Whole(self.least as u64, self.most as u64),
            Unit::Time => Range::Time(seconds(self.least), seconds(self.most)),
            Unit::Share => Range::Share(self.least, self.most),
            Unit::RoundTrips => Range::RoundTrips(self.least, self.most),
            Unit::Number => Range::Number(self.least, self.most),
        }
    }
}

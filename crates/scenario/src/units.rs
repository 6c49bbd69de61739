//! Quantities with units: text such as "0.5 Mbit/s", "10 ms" or "64 KiB" into integers of the base unit.
//!
//! Decimal prefixes (k, M, G, T) are powers of 1000, binary ones (Ki, Mi, Gi, Ti) powers of 1024. Case matters: "Mb" and
//! "MB" differ by a factor of eight, and a wrong guess would not be noticed. Digits finer than the base unit round to
//! the nearest integer, but never to zero.

use anabranch_stack::time::Duration;
use toml::Value;

use super::decimal::{Decimal, Misfit};
use super::error::{Error, show};
use super::nearest::{did_you_mean, nearest};

/// The latest time a scenario can name.
pub(super) const LATEST: Duration = Duration::from_secs(1000 * 3600);

/// A kind of quantity: its words and its units with their size in the base unit.
#[derive(Debug)]
pub struct Kind {
    /// Its name with an article, for messages.
    name: &'static str,
    example: &'static str,
    /// The units that messages list.
    listed: &'static str,
    units: &'static [(&'static str, u64)],
}

/// Time, base unit ns.
pub(super) static TIME: Kind = Kind {
    name: "a time",
    example: "10 ms",
    listed: "ns, us, ms, s, min, h",
    units: &[
        ("h", 3_600_000_000_000),
        ("min", 60_000_000_000),
        ("s", 1_000_000_000),
        ("ms", 1_000_000),
        ("us", 1_000),
        ("ns", 1),
        // The micro sign; the Greek letter, which looks alike, is accepted, too.
        ("\u{b5}s", 1_000),
        ("\u{3bc}s", 1_000),
    ],
};

/// Rate, base unit bit/s.
pub(super) static RATE: Kind = Kind {
    name: "a rate",
    example: "10 Mbit/s",
    listed: "bit/s, kbit/s, Mbit/s, Gbit/s, Tbit/s (also bps and B/s; Ki, Mi, Gi are binary)",
    units: &[
        ("Tbit/s", 1_000_000_000_000),
        ("Gbit/s", 1_000_000_000),
        ("Mbit/s", 1_000_000),
        ("kbit/s", 1_000),
        ("bit/s", 1),
        ("Tbps", 1_000_000_000_000),
        ("Gbps", 1_000_000_000),
        ("Mbps", 1_000_000),
        ("kbps", 1_000),
        ("bps", 1),
        ("Gibit/s", 1 << 30),
        ("Mibit/s", 1 << 20),
        ("Kibit/s", 1 << 10),
        ("GB/s", 8_000_000_000),
        ("MB/s", 8_000_000),
        ("kB/s", 8_000),
        ("B/s", 8),
        ("GiB/s", 8 << 30),
        ("MiB/s", 8 << 20),
        ("KiB/s", 8 << 10),
    ],
};

/// An amount of data, base unit octet.
pub(super) static BYTES: Kind = Kind {
    name: "an amount of data",
    example: "50 MB",
    listed: "B, kB, MB, GB, TB (Ki, Mi, Gi, Ti are binary)",
    units: &[
        ("TB", 1_000_000_000_000),
        ("GB", 1_000_000_000),
        ("MB", 1_000_000),
        ("kB", 1_000),
        ("B", 1),
        ("TiB", 1 << 40),
        ("GiB", 1 << 30),
        ("MiB", 1 << 20),
        ("KiB", 1 << 10),
    ],
};

/// A number of packets.
pub(super) static PACKETS: Kind =
    Kind { name: "a number of packets", example: "100 packets", listed: "packets", units: PACKET_UNITS };

/// Length, base unit mm.
pub(super) static LENGTH: Kind = Kind {
    name: "a length",
    example: "30 m",
    listed: "mm, m, km",
    units: &[("km", 1_000_000), ("m", 1_000), ("mm", 1)],
};

/// Speed, base unit mm/s.
pub(super) static SPEED: Kind =
    Kind { name: "a speed", example: "1.5 m/s", listed: "mm/s, m/s", units: &[("m/s", 1_000), ("mm/s", 1)] };

/// Frequency, base unit Hz.
pub(super) static FREQUENCY: Kind = Kind {
    name: "a frequency",
    example: "2.412 GHz",
    listed: "Hz, kHz, MHz, GHz",
    units: &[("GHz", 1_000_000_000), ("MHz", 1_000_000), ("kHz", 1_000), ("Hz", 1)],
};

/// Ratio of powers, base unit a millionth of a decibel.
pub(super) static LEVEL: Kind =
    Kind { name: "a ratio of powers", example: "46.6777 dB", listed: "dB", units: &[("dB", 1_000_000), ("udB", 1)] };

/// Power against a milliwatt, base unit a millionth of a decibel.
pub(super) static POWER: Kind =
    Kind { name: "a power", example: "16.02 dBm", listed: "dBm", units: &[("dBm", 1_000_000), ("udBm", 1)] };

const PACKET_UNITS: &[(&str, u64)] = &[("packets", 1), ("packet", 1)];

impl Kind {
    /// Reads a quantity from `min` to `max` base units.
    pub(super) fn read(&self, value: &Value, min: u64, max: u64) -> Result<u64, Error> {
        self.read_as(value, (min, max), &|| format!("allowed: {} to {}", self.write(min), self.write(max)))
    }

    /// Like [`Kind::read`]. If the value is out of range, the error message contains the text that
    /// `allowed` returns.
    fn read_as(&self, value: &Value, (min, max): (u64, u64), allowed: &dyn Fn() -> String) -> Result<u64, Error> {
        let text = self.text(value)?;
        let (number, unit) = self.split(text)?;
        let Some((_, factor)) = self.units.iter().find(|(u, _)| *u == unit) else {
            return Err(self.unknown_unit(text, unit));
        };
        match number.scale(*factor) {
            Ok(v) if (min..=max).contains(&v) => Ok(v),
            Ok(_) | Err(Misfit::TooLarge) => Err(Error::new(format!("\"{text}\" is out of range"), allowed())),
            Err(Misfit::Negative) => Err(Error::new(format!("\"{text}\" is negative"), allowed())),
            Err(Misfit::Vanishes) => {
                Err(Error::new(format!("\"{text}\" is finer than {}, the smallest step", self.write(1)), allowed()))
            }
        }
    }

    /// Reads a quantity that may be negative, up to `most` base units either way.
    pub(super) fn read_signed(&self, value: &Value, most: u64) -> Result<i64, Error> {
        let sign = value.as_str().and_then(|t| t.trim().strip_prefix('-'));
        let magnitude = sign.map_or(value.clone(), Value::from);
        // The bounds of callers end far below i64::MAX.
        let allowed = || format!("allowed: -{0} to {0}", self.write(most));
        let n = self.read_as(&magnitude, (0, most), &allowed)? as i64;
        Ok(if sign.is_some() { -n } else { n })
    }

    /// Reads a quantity from `least` to `most` base units. If `least` is negative, the range must
    /// be symmetric.
    pub(super) fn read_within(&self, value: &Value, least: i64, most: i64) -> Result<i64, Error> {
        match u64::try_from(least) {
            Ok(least) => self.read(value, least, most as u64).map(|n| n as i64),
            Err(_) => self.read_signed(value, most as u64),
        }
    }

    /// Whether `value` is text that ends in one of this kind's units.
    pub(super) fn fits(&self, value: &Value) -> bool {
        value.as_str().and_then(|t| self.split(t).ok()).is_some_and(|(_, u)| self.units.iter().any(|(n, _)| *n == u))
    }

    /// `n` base units in the largest unit of any kind that divides them, binary units included.
    pub(super) fn shortest(&self, n: u64) -> String {
        let largest = self.units.iter().filter(|(_, factor)| n >= *factor && n % factor == 0).max_by_key(|(_, f)| *f);
        largest.map_or_else(|| self.write(n), |(unit, factor)| format!("{} {unit}", n / factor))
    }

    /// A quantity as it is written.
    pub(super) fn example(&self) -> &'static str {
        self.example
    }

    /// The quantities from `least` to `most` base units, for people.
    pub(super) fn between(&self, least: i64, most: i64) -> String {
        let one = |n: i64| format!("{}{}", if n < 0 { "-" } else { "" }, self.write(n.unsigned_abs()));
        if least == 0 { format!("0 to {}", one(most)) } else { format!("{} to {}", one(least), one(most)) }
    }

    /// `n` base units in the largest unit that divides them.
    pub(super) fn write(&self, n: u64) -> String {
        if n == 0 {
            return format!("0 {}", self.listed.split([',', ' ']).next().unwrap_or_default());
        }
        let decimal = self.units.iter().take_while(|(_, f)| *f != 1).find(|(_, f)| n >= *f && n % f == 0);
        let (unit, factor) =
            decimal.or_else(|| self.units.iter().find(|(_, f)| *f == 1)).copied().unwrap_or((self.name, 1));
        let unit = if (n, unit) == (1, "packets") { "packet" } else { unit };
        format!("{} {unit}", n / factor)
    }

    fn text<'a>(&self, value: &'a Value) -> Result<&'a str, Error> {
        value.as_str().map(str::trim).ok_or_else(|| {
            Error::new(
                format!("expected a quantity in quotes such as \"{}\", found {}", self.example, show(value)),
                format!("units: {}", self.listed),
            )
        })
    }

    fn split<'a>(&self, text: &'a str) -> Result<(Decimal, &'a str), Error> {
        let text = text.trim();
        let expected = || format!("expected {} such as \"{}\"; units: {}", self.name, self.example, self.listed);
        let Some((number, unit)) = Decimal::prefix(text) else {
            let problem = if text.starts_with(|c: char| c.is_ascii_digit()) {
                format!("the number in \"{text}\" has more than 24 digits, or an underscore at a wrong place")
            } else {
                format!("\"{text}\" does not begin with a number")
            };
            return Err(Error::new(problem, expected()));
        };
        let unit = unit.trim_start();
        if unit.starts_with(',') {
            return Err(Error::new(
                format!("\"{text}\" has a comma in its number"),
                "write a decimal point, and no commas between thousands",
            ));
        }
        if unit.is_empty() {
            return Err(Error::new(format!("\"{text}\" has no unit"), expected()));
        }
        Ok((number, unit))
    }

    fn unknown_unit(&self, text: &str, unit: &str) -> Error {
        let prefixes = ["", "k", "M", "G", "T"];
        let bits_or_bytes = unit.strip_suffix("b/s").filter(|_| std::ptr::eq(self, &RATE));
        let bits_or_bytes =
            bits_or_bytes.and_then(|given| prefixes.iter().find(|prefix| prefix.eq_ignore_ascii_case(given)));
        let kilo = ["KB", "KB/s", "Kbit/s", "Kbps", "Kb/s"].contains(&unit);
        let hint = if bits_or_bytes == Some(&"T") {
            // There is no TB/s.
            "did you mean \"Tbit/s\"? ".to_owned()
        } else if let Some(prefix) = bits_or_bytes {
            format!("did you mean \"{prefix}bit/s\" or, eight times as much, \"{prefix}B/s\"? ")
        } else if kilo {
            format!("did you mean \"k{0}\" (1000) or \"Ki{0}\" (1024)? ", &unit[1..]).replace("Kibps", "Kibit/s")
        } else {
            let names: Vec<&str> = self.units.iter().map(|(n, _)| *n).collect();
            let same = names.iter().find(|n| n.eq_ignore_ascii_case(unit)).copied();
            // Units of one letter are too short to guess which one was meant.
            same.or_else(|| nearest(unit, &names).filter(|n| unit.len() > 1 && n.len() > 1))
                .map_or(String::new(), |n| format!("did you mean \"{n}\"? "))
        };
        Error::new(
            format!(
                "\"{text}\": \"{unit}\" is not a unit of {}",
                self.name.trim_start_matches("a ").trim_start_matches("an ")
            ),
            format!("{hint}units: {}", self.listed),
        )
    }
}

/// Reads a time of at most an hour that does not stand in a scenario but on the command line.
///
/// # Errors
/// If it is not one.
pub fn duration(text: &str) -> Result<Duration, Error> {
    time(&Value::from(text), Duration::ZERO, Duration::from_secs(3600))
}

/// Reads a time within bounds.
pub(super) fn time(value: &Value, min: Duration, max: Duration) -> Result<Duration, Error> {
    TIME.read(value, min.0, max.0).map(Duration)
}

/// Reads one of `words`, or a quantity such as `example`.
pub(super) fn word_or<T: Copy>(
    value: &Value,
    words: &[(&str, T)],
    quantity: impl FnOnce(&Value) -> Result<T, Error>,
    example: &str,
) -> Result<T, Error> {
    let names: Vec<&str> = words.iter().map(|(w, _)| *w).collect();
    let allowed = || format!("allowed: \"{}\", or a quantity such as \"{example}\"", names.join("\", \""));
    match value.as_str().map(str::trim) {
        None => Err(Error::new(format!("expected text in quotes, found {}", show(value)), allowed())),
        Some(text) if Decimal::prefix(text).is_some() => {
            quantity(value).map_err(|e| e.or_allowed(&format!(", or \"{}\"", names.join("\", \""))))
        }
        Some(text) => words.iter().find(|(w, _)| *w == text).map(|(_, meaning)| *meaning).ok_or_else(|| {
            Error::new(format!("unknown word \"{text}\""), format!("{}{}", did_you_mean(text, &names), allowed()))
        }),
    }
}

/// Reads a ratio: text such as "5 %", or a number from 0 to 1.
pub(super) fn ratio(value: &Value) -> Result<f64, Error> {
    let allowed = "allowed: \"0 %\" to \"100 %\", or a ratio from 0.0 to 1.0";
    let out_of_range =
        |hint: String| Error::new(format!("{} is out of range", show(value)), format!("{hint}{allowed}"));
    let in_range = |r: f64| {
        let hint = if r > 1.0 && r <= 100.0 && percent(value).is_none() {
            format!("did you mean \"{r} %\"? ")
        } else {
            String::new()
        };
        // Also refuses NaN.
        if (0.0..=1.0).contains(&r) { Ok(r + 0.0) } else { Err(out_of_range(hint)) }
    };
    match value {
        // `1` could mean 1 % or all: it is refused.
        Value::Integer(1) => {
            Err(Error::new("1 may be 1 % or 100 %", "write \"1 %\" or \"100 %\" (or a ratio with a point: 0.01, 1.0)"))
        }
        Value::Integer(n) => in_range(*n as f64),
        Value::Float(r) => in_range(*r),
        Value::String(text) => match (percent(value), Decimal::prefix(text.trim())) {
            (Some(number), _) => in_range(number.shifted(2)),
            (None, Some((number, ""))) => in_range(number.shifted(0)),
            _ => Err(Error::new(format!("{} is not a ratio", show(value)), allowed)),
        },
        _ => Err(Error::new(format!("expected a ratio such as \"5 %\", found {}", show(value)), allowed)),
    }
}

/// The number of a text that ends in "%".
fn percent(value: &Value) -> Option<Decimal> {
    let (number, rest) = Decimal::prefix(value.as_str()?.trim())?;
    (rest.trim_start() == "%").then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(kind: &Kind, text: &str) -> Result<u64, String> {
        kind.read(&Value::String(text.into()), 0, u64::MAX).map_err(|e| e.to_string())
    }

    #[test]
    fn quantities_read_as_written() {
        for (text, bits) in [
            ("0.5 Mbit/s", 500_000),
            ("0.5Mbps", 500_000),
            ("500 kbit/s", 500_000),
            ("1 Gbit/s", 1_000_000_000),
            ("1 MB/s", 8_000_000),
            ("1 Kibit/s", 1024),
            ("1e3 kbps", 1_000_000),
        ] {
            assert_eq!(read(&RATE, text), Ok(bits), "{text}");
        }
        for (text, ns) in [
            ("10 ms", 10_000_000),
            ("0.1 ms", 100_000),
            ("1 h", 3_600_000_000_000),
            ("2 min", 120_000_000_000),
            (" 5us ", 5_000),
            ("5 \u{b5}s", 5_000),
            ("5\u{a0}\u{3bc}s", 5_000),
            ("0 s", 0),
        ] {
            assert_eq!(read(&TIME, text), Ok(ns), "{text}");
        }
        for (text, octets) in [("50 MB", 50_000_000), ("64 KiB", 65_536), ("1.5 kB", 1_500), ("7 B", 7)] {
            assert_eq!(read(&BYTES, text), Ok(octets), "{text}");
        }
        assert_eq!(read(&PACKETS, "100 packets"), Ok(100));
        assert_eq!(read(&PACKETS, "1 packet"), Ok(1));
    }

    #[test]
    fn a_bad_quantity_names_the_remedy() {
        for (kind, text, said) in [
            (&TIME, "10", "\"10\" has no unit"),
            (&TIME, "ten ms", "does not begin with a number"),
            (&TIME, "10 MS", "did you mean \"ms\"?"),
            (&TIME, "10 sec", "units: ns, us, ms, s, min, h"),
            (&TIME, "0,5 s", "has a comma in its number"),
            (&TIME, "1_ s", "an underscore at a wrong place"),
            (&TIME, "1.0000000000000000000000001 s", "more than 24 digits"),
            (&TIME, "-1 s", "\"-1 s\" is negative"),
            (&TIME, "nan s", "does not begin with a number"),
            (&TIME, "0.1 ns", "finer than 1 ns, the smallest step"),
            (&TIME, "1e30 s", "out of range"),
            (&RATE, "10 Mb/s", "\"Mbit/s\" or, eight times as much, \"MB/s\""),
            (&RATE, "10 gb/s", "\"Gbit/s\" or, eight times as much, \"GB/s\""),
            (&RATE, "10 Tb/s", "did you mean \"Tbit/s\"?"),
            (&RATE, "10 mbit/s", "did you mean \"Mbit/s\"?"),
            (&RATE, "10 ms", "\"ms\" is not a unit of rate"),
            (&BYTES, "64 KB", "\"kB\" (1000) or \"KiB\" (1024)"),
            (&BYTES, "64 mb", "did you mean \"MB\"?"),
        ] {
            let error = read(kind, text).unwrap_err();
            assert!(error.contains(said), "{text}: {error}");
        }
        let found = TIME.read(&Value::Integer(10), 0, 1).unwrap_err().to_string();
        assert!(found.starts_with("expected a quantity in quotes such as \"10 ms\", found 10"), "{found}");
    }

    #[test]
    fn a_range_is_named_in_readable_units() {
        let error = RATE.read(&Value::String("0 Mbit/s".into()), 1, 1_000_000_000_000).unwrap_err().to_string();
        assert_eq!(error, "\"0 Mbit/s\" is out of range\n  allowed: 1 bit/s to 1 Tbit/s");
        assert_eq!(TIME.write(0), "0 ns");
        assert_eq!(TIME.write(1_500_000_000), "1500 ms");
        assert_eq!(BYTES.write(65_536), "65536 B");
        assert_eq!(PACKETS.write(3), "3 packets");
    }

    #[test]
    fn ratios_read_as_percent_or_as_numbers() {
        let text = |s: &str| ratio(&Value::String(s.into())).map_err(|e| e.to_string());
        assert_eq!(text("5 %"), Ok(0.05));
        assert_eq!(text("0.1%"), Ok(0.001));
        assert_eq!(text("0.05"), Ok(0.05));
        assert_eq!(text("100 %"), Ok(1.0));
        assert_eq!(ratio(&Value::Float(0.05)), Ok(0.05));
        assert_eq!(ratio(&Value::Integer(0)), Ok(0.0));
        assert!(ratio(&Value::Float(-0.0)).unwrap().is_sign_positive());
        for bad in ["101 %", "-1 %", "nan", "5", "five", "5 ms", ""] {
            assert!(text(bad).is_err(), "{bad}");
        }
        for bad in [Value::Float(f64::NAN), Value::Float(1.5), Value::Integer(1), Value::Boolean(true)] {
            assert!(ratio(&bad).is_err(), "{bad}");
        }
        assert!(text("5").unwrap_err().contains("did you mean \"5 %\"?"));
    }
}

//! Decimal numbers kept exactly as written, not as binary fractions: "0.1 ms" is exactly 100 000 ns.

/// `mantissa * 10^exponent`, possibly negated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Decimal {
    negative: bool,
    mantissa: u128,
    exponent: i32,
}

/// The most significant digits that are accepted: more than any double needs, and few enough that the product with the largest
/// unit fits into `u128`.
const MOST_DIGITS: usize = 24;

/// Why a decimal cannot be expressed as a whole number of base units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Misfit {
    /// Below zero.
    Negative,
    /// Beyond `u64`.
    TooLarge,
    /// Not zero, but rounded to zero.
    Vanishes,
}

impl Decimal {
    /// Reads the number `text` begins with; returns it and the rest. `None`: no number there, or too many digits.
    pub(super) fn prefix(text: &str) -> Option<(Self, &str)> {
        let negative = text.starts_with('-');
        let rest = text.strip_prefix(['-', '+']).unwrap_or(text);
        let whole = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '_').len();
        let (whole, mut rest) = rest.split_at(whole);
        let mut fraction = "";
        if let Some(tail) = rest.strip_prefix('.') {
            let end = tail.len() - tail.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            (fraction, rest) = tail.split_at(end);
        }
        let digits: String = whole.chars().filter(|c| *c != '_').chain(fraction.chars()).collect();
        if digits.is_empty() || whole.starts_with('_') || whole.ends_with('_') {
            return None;
        }
        let significant = digits.trim_start_matches('0');
        if significant.len() > MOST_DIGITS {
            return None;
        }
        let mantissa = if significant.is_empty() { 0 } else { significant.parse().ok()? };
        let (power, rest) = Self::power(rest);
        let exponent = power.checked_sub(i32::try_from(fraction.len()).ok()?)?;
        Some((Self { negative, mantissa, exponent }, rest))
    }

    /// `e-5` and the like, as printed for very small and very large numbers.
    fn power(text: &str) -> (i32, &str) {
        let Some(tail) = text.strip_prefix(['e', 'E']) else { return (0, text) };
        let unsigned = tail.strip_prefix(['-', '+']).unwrap_or(tail);
        let end = unsigned.len() - unsigned.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        if end == 0 {
            return (0, text);
        }
        let (number, rest) = tail.split_at(tail.len() - unsigned.len() + end);
        // With an exponent of more than four digits every number is too large or rounds to zero.
        let power = number.trim_start_matches('+').parse::<i32>().unwrap_or(i32::MAX).clamp(-9999, 9999);
        (power, rest)
    }

    /// `self * factor` as an integer, rounded half up.
    pub(super) fn scale(self, factor: u64) -> Result<u64, Misfit> {
        if self.mantissa == 0 {
            return Ok(0);
        }
        if self.negative {
            return Err(Misfit::Negative);
        }
        let product = self.mantissa.checked_mul(u128::from(factor)).ok_or(Misfit::TooLarge)?;
        let power = 10u128.checked_pow(self.exponent.unsigned_abs());
        let value = match (self.exponent >= 0, power) {
            (true, Some(p)) => product.checked_mul(p).ok_or(Misfit::TooLarge)?,
            (true, None) => return Err(Misfit::TooLarge),
            (false, Some(p)) => product / p + u128::from(product % p >= p - product % p),
            (false, None) => 0,
        };
        match u64::try_from(value) {
            Ok(0) => Err(Misfit::Vanishes),
            Ok(v) => Ok(v),
            Err(_) => Err(Misfit::TooLarge),
        }
    }

    /// The nearest double to `self / 10^shift`.
    pub(super) fn shifted(self, shift: i32) -> f64 {
        let sign = if self.negative && self.mantissa != 0 { "-" } else { "" };
        // The standard library's parser rounds correctly on every platform.
        format!("{sign}{}e{}", self.mantissa, self.exponent - shift).parse().unwrap_or(f64::NAN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scaled(text: &str, factor: u64) -> Result<u64, Misfit> {
        let (number, rest) = Decimal::prefix(text).unwrap();
        assert_eq!(rest, "");
        number.scale(factor)
    }

    #[test]
    fn decimals_scale_exactly() {
        assert_eq!(scaled("0.1", 1_000_000), Ok(100_000));
        assert_eq!(scaled("1.1", 1_000_000_000), Ok(1_100_000_000));
        assert_eq!(scaled("0.000000001", 1_000_000_000), Ok(1));
        assert_eq!(scaled("18446744073.709551615", 1_000_000_000), Ok(u64::MAX));
        assert_eq!(scaled("1e-05", 1_000_000_000), Ok(10_000));
        assert_eq!(scaled("2.5e+3", 1), Ok(2_500));
        assert_eq!(scaled("1_000", 8), Ok(8_000));
        assert_eq!(scaled(".5", 1_000), Ok(500));
    }

    #[test]
    fn finer_digits_round_to_the_nearest_integer() {
        assert_eq!(scaled("33.333333333333336", 1_000_000), Ok(33_333_333));
        assert_eq!(scaled("0.5", 1), Ok(1));
        assert_eq!(scaled("1.4999", 1), Ok(1));
    }

    #[test]
    fn what_does_not_fit_says_why() {
        assert_eq!(scaled("-1", 1), Err(Misfit::Negative));
        assert_eq!(scaled("-0", 1), Ok(0));
        assert_eq!(scaled("18446744073709551616", 1), Err(Misfit::TooLarge));
        assert_eq!(scaled("1e99999999999", 1), Err(Misfit::TooLarge));
        assert_eq!(scaled("1e-60", 1_000_000_000), Err(Misfit::Vanishes));
        assert_eq!(scaled("0e99", 1), Ok(0));
        assert_eq!(scaled("999999999999999999999999", 3_600_000_000_000), Err(Misfit::TooLarge));
    }

    #[test]
    fn what_is_no_number_is_refused() {
        for text in ["", "ms", "-", ".", "_1", "1_ ms", "nan", "inf", "1234567890123456789012345"] {
            assert!(Decimal::prefix(text).is_none(), "{text}");
        }
    }

    #[test]
    fn the_unit_begins_where_the_number_ends() {
        assert_eq!(Decimal::prefix("10 ms").unwrap().1, " ms");
        assert_eq!(Decimal::prefix("0.5Mbps").unwrap().1, "Mbps");
        assert_eq!(Decimal::prefix("5e").unwrap().1, "e");
    }

    #[test]
    fn percentages_are_the_nearest_double() {
        assert_eq!(Decimal::prefix("0.1").unwrap().0.shifted(2), 0.001);
        assert_eq!(Decimal::prefix("7").unwrap().0.shifted(2), 0.07);
        assert_eq!(Decimal::prefix("0.07").unwrap().0.shifted(0), 0.07);
    }
}

//! Numbers of any length, compared exactly.

use std::cmp::Ordering;

/// A decimal: digits, with more of them behind a point perhaps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Decimal {
    whole: Whole,
    /// Without zeros at its end.
    fraction: String,
}

/// A whole number of any length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Whole(String);

impl Decimal {
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (whole, fraction) = match text.split_once('.') {
            Some((whole, fraction)) => (whole, Some(fraction)),
            None => (text, None),
        };
        let fraction = fraction.map_or(Some("0"), digits)?;
        Some(Self { whole: Whole::parse(whole)?, fraction: fraction.trim_end_matches('0').to_owned() })
    }
}

impl Whole {
    pub(super) fn parse(text: &str) -> Option<Self> {
        digits(text).map(|text| Self(text.trim_start_matches('0').to_owned()))
    }

    /// Its value where that is small, as the parts of a date are.
    pub(super) fn small(&self) -> Option<u32> {
        if self.0.is_empty() { Some(0) } else { self.0.parse().ok() }
    }
}

fn digits(text: &str) -> Option<&str> {
    (!text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())).then_some(text)
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        // Digits behind a point count from the left, as text does.
        self.whole.cmp(&other.whole).then_with(|| self.fraction.cmp(&other.fraction))
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Whole {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.len().cmp(&other.0.len()).then_with(|| self.0.cmp(&other.0))
    }
}

impl PartialOrd for Whole {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_exact() {
        let order =
            |first: &str, second: &str| Decimal::parse(first).unwrap().cmp(&Decimal::parse(second).unwrap());
        assert_eq!(order("12345678901234567890", "12345678901234567891"), Ordering::Less);
        assert_eq!(order("1.5", "1.25"), Ordering::Greater);
        assert_eq!(order("1.50", "1.5"), Ordering::Equal);
        assert_eq!(order("1.0", "1"), Ordering::Equal);
        assert_eq!(order("007", "7"), Ordering::Equal);
        assert_eq!(order("0.1", "0.0999"), Ordering::Greater);
        assert_eq!(order("10", "9.9"), Ordering::Greater);
        assert_eq!(order("0", "00.00"), Ordering::Equal);
    }

    #[test]
    fn what_is_no_decimal_is_refused() {
        for text in
            ["", ".", "1.", ".5", "1.2.3", "-1", "+1", "1e3", "0x10", "1_000", "Inf", "NaN", "٣", " 1"]
        {
            assert_eq!(Decimal::parse(text), None, "{text}");
        }
    }
}

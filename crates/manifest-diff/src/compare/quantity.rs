//! Quantities of Kubernetes: `0.1` is `100m`, `1024Mi` is `1Gi`.
//!
//! Input: a string. Output: a number of billionths, the finest unit of Kubernetes. Rejects strings that are not quantities,
//! and quantities too large for an exact comparison.

use super::path::Path;

/// A quantity in billionths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Quantity(i128);

/// Mappings whose values are quantities in every object.
const AMOUNTS: &[&str] = &["limits", "requests"];

/// Mappings whose values are quantities in objects of a kind.
const AMOUNTS_OF_KINDS: &[(&str, &[&str])] = &[
    ("LimitRange", &["default", "defaultRequest", "max", "min", "maxLimitRequestRatio"]),
    ("PersistentVolume", &["capacity"]),
    ("ResourceQuota", &["hard"]),
    ("RuntimeClass", &["podFixed"]),
];

/// Fields that are quantities.
const FIELDS: &[&[&str]] = &[
    &["emptyDir", "sizeLimit"],
    &["resourceFieldRef", "divisor"],
    &["resource", "targetAverageValue"],
    &["target", "averageValue"],
    &["target", "value"],
];

/// Fields that take a number also as text.
const INT_OR_STRING: &[&str] = &["targetPort", "port", "maxSurge", "maxUnavailable", "minAvailable"];

/// Returns true if a field of an object of a kind holds a quantity.
pub(super) fn is_quantity(kind: &str, path: &Path) -> bool {
    let is_below = |key: &&str| path.ends_with(&[key, "*"]);
    AMOUNTS.iter().any(is_below)
        || AMOUNTS_OF_KINDS.iter().any(|(of, keys)| *of == kind && keys.iter().any(is_below))
        || FIELDS.iter().any(|field| path.ends_with(field))
}

pub(super) fn is_int_or_string(path: &Path) -> bool {
    path.last_key().is_some_and(|key| INT_OR_STRING.contains(&key))
}

impl Quantity {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let end = text.find(|character: char| !matches!(character, '0'..='9' | '.' | '+' | '-'));
        let (number, suffix) = text.split_at(end.unwrap_or(text.len()));
        let (two, ten) = scale(suffix)?;
        let (negative, digits) = match number.as_bytes().first()? {
            b'-' => (true, &number[1..]),
            b'+' => (false, &number[1..]),
            _ => (false, number),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let fraction = fraction.trim_end_matches('0');
        let all = format!("{whole}{fraction}");
        if whole.len() + fraction.len() == 0 || !all.bytes().all(|byte| byte.is_ascii_digit()) {
            return (digits == "0." || digits == ".0").then_some(Self(0));
        }
        let mut value: i128 = all.parse().ok()?;
        value = value.checked_mul(1_i128.checked_shl(two)?)?;
        let ten = ten + 9 - i32::try_from(fraction.len()).ok()?;
        for _ in 0..ten.min(64) {
            value = value.checked_mul(10)?;
        }
        for _ in ten.max(-64)..0 {
            // Finer than billionths: Kubernetes rounds up.
            value = value / 10 + i128::from(value % 10 != 0);
        }
        Some(Self(if negative { -value } else { value }))
    }
}

/// Returns the powers of two and of ten of a suffix.
fn scale(suffix: &str) -> Option<(u32, i32)> {
    Some(match suffix {
        "" => (0, 0),
        "n" => (0, -9),
        "u" => (0, -6),
        "m" => (0, -3),
        "k" => (0, 3),
        "M" => (0, 6),
        "G" => (0, 9),
        "T" => (0, 12),
        "P" => (0, 15),
        "E" => (0, 18),
        "Ki" => (10, 0),
        "Mi" => (20, 0),
        "Gi" => (30, 0),
        "Ti" => (40, 0),
        "Pi" => (50, 0),
        "Ei" => (60, 0),
        _ => (0, suffix.strip_prefix(['e', 'E'])?.parse().ok().filter(|ten: &i32| ten.abs() < 30)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The forms of `resource.ParseQuantity` in apimachinery.
    #[test]
    fn amounts_are_equal_whatever_their_form() {
        for (one, other) in [
            ("0.1", "100m"),
            ("1000m", "1"),
            ("1024Mi", "1Gi"),
            ("1e3", "1k"),
            ("1E3", "1000"),
            ("0.5Gi", "512Mi"),
            ("1.50", "1500m"),
            ("-1", "-1000m"),
            ("+1", "1."),
            (".5", "500m"),
            ("0.0000000001", "1n"),
            ("0", "0Mi"),
            ("100000e-2", "1k"),
        ] {
            let (this, that) = (Quantity::parse(one), Quantity::parse(other));
            assert!(this.is_some() && this == that, "{one} {other} {this:?} {that:?}");
        }
        assert!(Quantity::parse("1G") < Quantity::parse("1Gi"));
        assert_ne!(Quantity::parse("1"), Quantity::parse("1m"));
    }

    #[test]
    fn other_texts_are_none() {
        for text in [
            "",
            "x",
            "1x",
            "1 Gi",
            "--1",
            "1-",
            "1.2.3",
            "Gi",
            "1e",
            "1e99",
            "9999999999999999999999999999999999999999",
            ".",
        ] {
            assert_eq!(Quantity::parse(text), None, "{text}");
        }
    }
}

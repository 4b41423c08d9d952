//! Quantities of Kubernetes in the one form that the cluster stores.
//!
//! In: a text such as `0.1` or `1024Mi`. Out: the same amount as Kubernetes writes it: `100m`, `1Gi`. `None` for what is
//! no quantity, and for those of more digits than 128 bits hold, which stay as they are.

/// Parts of a unit are counted down to this: a nano.
const NANO: u32 = 9;

/// The suffixes of powers of ten, by exponents.
const DECIMAL: &[(&str, i32)] = &[
    ("n", -9),
    ("u", -6),
    ("m", -3),
    ("", 0),
    ("k", 3),
    ("M", 6),
    ("G", 9),
    ("T", 12),
    ("P", 15),
    ("E", 18),
];

/// The suffixes of powers of 1024, from the first.
const BINARY: &[&str] = &["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

#[derive(Clone, Copy, PartialEq)]
enum Form {
    Decimal,
    Exponent,
    Binary,
}

/// The canonical form of a quantity.
pub(super) fn canonical(text: &str) -> Option<String> {
    let (negative, digits) = match text.strip_prefix(['+', '-']) {
        Some(rest) => (text.starts_with('-'), rest),
        None => (false, text),
    };
    let end = digits.find(|it: char| !it.is_ascii_digit() && it != '.').unwrap_or(digits.len());
    let (number, suffix) = digits.split_at(end);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') {
        return None;
    }
    let (form, power) = unit(suffix)?;
    let nanos = nanos(whole, fraction, form, power)?;
    let canonical = written(nanos, form)?;
    Some(if negative && nanos != 0 { format!("-{canonical}") } else { canonical })
}

/// The form that a suffix is of, and its power of ten or of 1024.
fn unit(suffix: &str) -> Option<(Form, i32)> {
    if let Some((_, exponent)) = DECIMAL.iter().find(|(known, _)| *known == suffix) {
        return Some((Form::Decimal, *exponent));
    }
    if let Some(at) = BINARY.iter().position(|known| *known == suffix) {
        return Some((Form::Binary, i32::try_from(at).ok()? + 1));
    }
    let exponent = suffix.strip_prefix(['e', 'E'])?.parse().ok()?;
    Some((Form::Exponent, exponent))
}

/// The amount in nanos, what is below one rounded up.
fn nanos(whole: &str, fraction: &str, form: Form, power: i32) -> Option<i128> {
    let digits: i128 = format!("0{whole}{fraction}").parse().ok()?;
    let scale = i32::try_from(NANO).ok()? - i32::try_from(fraction.len()).ok()?;
    let (digits, shift) = match form {
        Form::Binary => (digits.checked_mul(1024i128.checked_pow(u32::try_from(power).ok()?)?)?, scale),
        Form::Decimal | Form::Exponent => (digits, scale.checked_add(power)?),
    };
    if shift >= 0 {
        return digits.checked_mul(10i128.checked_pow(shift.unsigned_abs())?);
    }
    let divisor = 10i128.checked_pow(shift.unsigned_abs())?;
    Some(digits / divisor + i128::from(digits % divisor != 0))
}

fn written(nanos: i128, form: Form) -> Option<String> {
    const UNIT: i128 = 1_000_000_000;
    // Kubernetes gives up powers of 1024 for what is small or no whole number.
    if form == Form::Binary && nanos % UNIT == 0 && nanos / UNIT >= 1024 {
        let mut number = nanos / UNIT;
        let mut suffix = "";
        for known in BINARY {
            if number % 1024 != 0 {
                break;
            }
            number /= 1024;
            suffix = known;
        }
        return Some(format!("{number}{suffix}"));
    }
    if nanos == 0 {
        return Some("0".to_owned());
    }
    let (mut number, mut exponent) = (nanos, -9);
    while exponent < 18 && number % 1000 == 0 {
        number /= 1000;
        exponent += 3;
    }
    if form == Form::Exponent {
        return Some(if exponent == 0 { number.to_string() } else { format!("{number}e{exponent}") });
    }
    let (suffix, _) = DECIMAL.iter().find(|(_, known)| *known == exponent)?;
    Some(format!("{number}{suffix}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// k8s.io/apimachinery/pkg/api/resource/quantity_test.go, and the examples of Kubernetes' documentation
    #[test]
    fn one_amount_has_one_form() {
        for (text, want) in [
            ("0.1", "100m"),
            ("1000m", "1"),
            ("1500m", "1500m"),
            ("1.5", "1500m"),
            ("1", "1"),
            ("0", "0"),
            ("-0", "0"),
            ("0Ki", "0"),
            ("1200", "1200"),
            ("1000", "1k"),
            ("100000", "100k"),
            ("12000M", "12G"),
            ("1024Mi", "1Gi"),
            ("1.5Gi", "1536Mi"),
            ("1Ki", "1Ki"),
            ("0.5Ki", "512"),
            ("1023", "1023"),
            ("1024", "1024"),
            ("1.1Ki", "1126400m"),
            ("1e3", "1e3"),
            ("1E3", "1e3"),
            ("12e4", "120e3"),
            ("1e0", "1"),
            ("5E", "5E"),
            ("100u", "100u"),
            ("0.0000000001", "1n"),
            (".5", "500m"),
            ("5.", "5"),
            ("+1", "1"),
            ("-2000", "-2k"),
            ("128974848", "128974848"),
            ("129e6", "129e6"),
            ("123Mi", "123Mi"),
        ] {
            assert_eq!(canonical(text).as_deref(), Some(want), "{text}");
        }
    }

    #[test]
    fn what_is_no_quantity_has_none() {
        for text in ["", "x", "1x", "1.2.3", ".", "-", "1 Gi", "1e", "1e999", "1Zi", &"9".repeat(50)] {
            assert_eq!(canonical(text), None, "{text}");
        }
    }
}

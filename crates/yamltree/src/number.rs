//! Numbers as Go's `strconv` reads them and as go-yaml and `encoding/json` print them.

use std::fmt::Write as _;

/// `strconv.ParseInt(text, 0, 64)` without underscores: a sign, then a base by prefix, where `017` is octal.
pub(crate) fn parse_int(text: &str) -> Option<i64> {
    let (negative, digits) = split_sign(text);
    signed(negative, parse_uint(digits)?)
}

/// `strconv.ParseUint(text, 0, 64)` without underscores: no sign.
pub(crate) fn parse_uint(text: &str) -> Option<u64> {
    let (base, digits) = match text.as_bytes() {
        [b'0', b'b' | b'B', _, ..] => (2, &text[2..]),
        [b'0', b'o' | b'O', _, ..] => (8, &text[2..]),
        [b'0', b'x' | b'X', _, ..] => (16, &text[2..]),
        [b'0', _, ..] => (8, &text[1..]),
        _ => (10, text),
    };
    parse_uint_in(digits, base)
}

/// `strconv.ParseInt(text, base, 64)`.
pub(crate) fn parse_int_in(text: &str, base: u32) -> Option<i64> {
    let (negative, digits) = split_sign(text);
    signed(negative, parse_uint_in(digits, base)?)
}

/// `strconv.ParseUint(text, base, 64)`: digits only, where Rust would take a plus sign as well.
pub(crate) fn parse_uint_in(text: &str, base: u32) -> Option<u64> {
    if text.starts_with('+') {
        return None;
    }
    u64::from_str_radix(text, base).ok()
}

fn split_sign(text: &str) -> (bool, &str) {
    match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    }
}

fn signed(negative: bool, magnitude: u64) -> Option<i64> {
    if negative { 0_i64.checked_sub_unsigned(magnitude) } else { i64::try_from(magnitude).ok() }
}

/// A decimal float, `[-+]?(\.\d+|\d+(\.\d*)?)([eE][-+]?\d+)?`, that does not overflow.
pub(crate) fn parse_float(text: &str) -> Option<f64> {
    let digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut rest = split_sign(text).1.as_bytes();
    let whole = digits(rest);
    rest = &rest[whole..];
    if let [b'.', fraction @ ..] = rest {
        let count = digits(fraction);
        if whole + count == 0 {
            return None;
        }
        rest = &fraction[count..];
    } else if whole == 0 {
        return None;
    }
    if let [b'e' | b'E', exponent @ ..] = rest {
        let exponent = match exponent {
            [b'+' | b'-', exponent @ ..] => exponent,
            exponent => exponent,
        };
        if exponent.is_empty() {
            return None;
        }
        rest = &exponent[digits(exponent)..];
    }
    if !rest.is_empty() {
        return None;
    }
    text.parse().ok().filter(|float: &f64| float.is_finite())
}

/// The shortest decimal digits that read back as the same float, and the power of ten of the first digit.
struct Shortest {
    negative: bool,
    /// `d.ddd`, as many digits as there are, without the point.
    digits: String,
    exponent: i32,
}

impl Shortest {
    fn new(scientific: &str) -> Self {
        let (negative, text) = split_sign(scientific);
        let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
        let mut digits = mantissa.to_owned();
        if digits.len() > 1 {
            digits.remove(1);
        }
        Self { negative, digits, exponent: exponent.parse().unwrap_or(0) }
    }

    fn push_sign(&self, out: &mut String) {
        if self.negative {
            out.push('-');
        }
    }

    /// `%e`: at least two digits of exponent unless Go's JSON drops a leading zero of a negative one.
    fn push_scientific(&self, out: &mut String, short_exponent: bool) {
        self.push_sign(out);
        out.push_str(&self.digits[..1]);
        if self.digits.len() > 1 {
            out.push('.');
            out.push_str(&self.digits[1..]);
        }
        let (sign, power) = (if self.exponent < 0 { '-' } else { '+' }, self.exponent.unsigned_abs());
        let width = if short_exponent && self.exponent < 0 { 1 } else { 2 };
        let _ = write!(out, "e{sign}{power:0width$}");
    }

    /// `%f`: all digits around the point.
    fn push_decimal(&self, out: &mut String) {
        self.push_sign(out);
        let Ok(whole) = usize::try_from(self.exponent + 1) else {
            return self.push_fraction(out);
        };
        match self.digits.get(whole..) {
            None => {
                out.push_str(&self.digits);
                out.extend(std::iter::repeat_n('0', whole - self.digits.len()));
            }
            Some(_) if whole == 0 => self.push_fraction(out),
            Some(fraction) => {
                out.push_str(&self.digits[..whole]);
                if !fraction.is_empty() {
                    out.push('.');
                    out.push_str(fraction);
                }
            }
        }
    }

    /// A number below one.
    fn push_fraction(&self, out: &mut String) {
        out.push_str("0.");
        let zeros = usize::try_from(-self.exponent - 1).unwrap_or(0);
        out.extend(std::iter::repeat_n('0', zeros));
        out.push_str(&self.digits);
    }
}

/// `strconv.FormatFloat(float, 'g', -1, 64)`, which go-yaml prints.
pub(crate) fn push_yaml_float(out: &mut String, float: f64) {
    push_general(out, &Shortest::new(&format!("{float:e}")));
}

/// `strconv.FormatFloat(float, 'g', -1, 32)`, by which `sigs.k8s.io/yaml` turns a key into a string.
pub(crate) fn push_yaml_float32(out: &mut String, float: f64) {
    #[expect(clippy::cast_possible_truncation, reason = "the loss is what upstream does")]
    let float = float as f32;
    push_general(out, &Shortest::new(&format!("{float:e}")));
}

fn push_general(out: &mut String, shortest: &Shortest) {
    // Go decides by a precision of 6 where it prints as many digits as needed: a million is `1e+06`.
    if shortest.exponent < -4 || shortest.exponent >= 6 {
        shortest.push_scientific(out, false);
    } else {
        shortest.push_decimal(out);
    }
}

/// A finite float as `encoding/json` prints it.
pub(crate) fn push_json_float(out: &mut String, float: f64) {
    let shortest = Shortest::new(&format!("{float:e}"));
    if float != 0.0 && (shortest.exponent < -6 || shortest.exponent >= 21) {
        shortest.push_scientific(out, true);
    } else {
        shortest.push_decimal(out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_floats(float: f64, yaml: &str, json: &str) {
        let (mut as_yaml, mut as_json) = (String::new(), String::new());
        push_yaml_float(&mut as_yaml, float);
        push_json_float(&mut as_json, float);
        assert_eq!((as_yaml.as_str(), as_json.as_str()), (yaml, json));
    }

    #[test]
    fn floats_are_printed_as_by_go() {
        check_floats(0.0, "0", "0");
        check_floats(-0.0, "-0", "-0");
        check_floats(1.0, "1", "1");
        check_floats(0.1, "0.1", "0.1");
        check_floats(-12.5, "-12.5", "-12.5");
        check_floats(100_000.0, "100000", "100000");
        check_floats(1_000_000.0, "1e+06", "1000000");
        check_floats(1_234_567.5, "1.2345675e+06", "1234567.5");
        check_floats(0.0001, "0.0001", "0.0001");
        check_floats(0.000_012, "1.2e-05", "0.000012");
        check_floats(1e-7, "1e-07", "1e-7");
        check_floats(1.5e-10, "1.5e-10", "1.5e-10");
        check_floats(1e20, "1e+20", "100000000000000000000");
        check_floats(1e21, "1e+21", "1e+21");
        check_floats(18_446_744_073_709_551_616.0, "1.8446744073709552e+19", "18446744073709552000");
        check_floats(f64::MAX, "1.7976931348623157e+308", "1.7976931348623157e+308");
        check_floats(5e-324, "5e-324", "5e-324");
    }

    #[test]
    fn a_float_key_goes_through_single_precision() {
        let mut out = String::new();
        push_yaml_float32(&mut out, 0.1);
        out.push(' ');
        push_yaml_float32(&mut out, 16_777_217.0);
        assert_eq!(out, "0.1 1.6777216e+07");
    }

    #[test]
    fn integers_have_a_base_by_prefix() {
        assert_eq!(parse_int("-0x1F"), Some(-31));
        assert_eq!(parse_int("+017"), Some(15));
        assert_eq!(parse_int("0O17"), Some(15));
        assert_eq!(parse_int("0"), Some(0));
        assert_eq!(parse_int("-9223372036854775808"), Some(i64::MIN));
        assert_eq!(parse_uint("18446744073709551615"), Some(u64::MAX));
        for text in ["", "-", "08", "0x", "0b", "1.", "--1", "+-1", "9223372036854775808", "0x-1", "0x+1"] {
            assert_eq!(parse_int(text), None, "{text}");
        }
    }

    #[test]
    fn floats_are_decimal() {
        assert_eq!(parse_float("+.5e1"), Some(5.0));
        assert_eq!(parse_float("5."), Some(5.0));
        assert_eq!(parse_float("08"), Some(8.0));
        assert_eq!(parse_float("1e-400"), Some(0.0));
        for text in ["", ".", "+", "-.", "e1", "1e", "1e+", "1e400", "inf", "-nan", "0x1p4", "1.2.3", ".e1"] {
            assert_eq!(parse_float(text), None, "{text}");
        }
    }
}

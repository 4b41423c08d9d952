//! `strconv.FormatFloat`: in go a float64, a format letter and a precision, out come its digits.

use std::fmt::Write as _;

/// No finite float64 has more digits than this after its point or in front of it.
const MOST_DIGITS: usize = 1100;

/// `strconv.FormatFloat(number, format, precision, 64)`; no precision means the fewest digits that
/// read back as the same number. Formats are `e E f g G b x X`.
#[must_use]
pub fn format_float(number: f64, format: u8, precision: Option<usize>) -> String {
    if number.is_nan() {
        return "NaN".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "+Inf" } else { "-Inf" }.to_owned();
    }
    let mut out = String::new();
    match format {
        b'b' => binary(&mut out, number),
        b'x' | b'X' => hexadecimal(&mut out, number, format, precision),
        b'e' | b'E' => exponential(&mut out, number, format, precision),
        b'f' | b'F' => fixed(&mut out, number, precision),
        _ => general(&mut out, number, format, precision),
    }
    out
}

/// A number as digits d.ddd times a power of ten.
struct Decimal {
    negative: bool,
    digits: String,
    exponent: i32,
}

impl Decimal {
    /// The digits of `number`, as many as `count` or as few as say which number it is.
    fn new(number: f64, count: Option<usize>) -> Self {
        let text = match count {
            Some(count) => format!("{number:.*e}", count.clamp(1, MOST_DIGITS) - 1),
            None => format!("{number:e}"),
        };
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        Self {
            negative: mantissa.starts_with('-'),
            digits: mantissa.bytes().filter(u8::is_ascii_digit).map(char::from).collect(),
            exponent: exponent.parse().unwrap_or(0),
        }
    }

    fn write_exponential(&self, out: &mut String, letter: u8, fraction: usize) {
        if self.negative {
            out.push('-');
        }
        out.push_str(&self.digits[..1]);
        if fraction > 0 {
            out.push('.');
            push_padded(out, &self.digits[1..], fraction);
        }
        out.push(char::from(letter));
        let _ = write!(out, "{}{:02}", if self.exponent < 0 { '-' } else { '+' }, self.exponent.abs());
    }

    /// Writes the number with exactly its digits and no exponent.
    fn write_plain(&self, out: &mut String) {
        if self.negative {
            out.push('-');
        }
        let whole = self.exponent + 1;
        if whole <= 0 {
            out.push_str("0.");
            push_padded(out, "", usize::try_from(-whole).unwrap_or(0));
            out.push_str(&self.digits);
            return;
        }
        let whole = usize::try_from(whole).unwrap_or(0);
        if whole >= self.digits.len() {
            push_padded(out, &self.digits, whole);
        } else {
            let (before, after) = self.digits.split_at(whole);
            out.push_str(before);
            out.push('.');
            out.push_str(after);
        }
    }
}

fn push_padded(out: &mut String, digits: &str, length: usize) {
    let shown = &digits[..digits.len().min(length)];
    out.push_str(shown);
    out.extend(std::iter::repeat_n('0', length - shown.len()));
}

fn exponential(out: &mut String, number: f64, format: u8, precision: Option<usize>) {
    let decimal = Decimal::new(number, precision.map(|fraction| fraction + 1));
    let fraction = precision.unwrap_or(decimal.digits.len() - 1);
    decimal.write_exponential(out, format, fraction);
}

fn fixed(out: &mut String, number: f64, precision: Option<usize>) {
    let Some(precision) = precision else {
        // Rust's own shortest form has no exponent.
        let _ = write!(out, "{number}");
        return;
    };
    let exact = precision.min(MOST_DIGITS);
    let _ = write!(out, "{number:.exact$}");
    push_padded(out, "", precision - exact);
}

fn general(out: &mut String, number: f64, format: u8, precision: Option<usize>) {
    let mut decimal = Decimal::new(number, precision);
    let significant = decimal.digits.trim_end_matches('0').len().max(1);
    decimal.digits.truncate(significant);
    let count = i32::try_from(significant).unwrap_or(i32::MAX);
    let point = if number == 0.0 { 0 } else { decimal.exponent + 1 };
    let threshold = match precision {
        None => 6,
        Some(precision) => {
            let precision = i32::try_from(precision.max(1)).unwrap_or(i32::MAX);
            if precision > count && count >= point { count } else { precision }
        }
    };
    if point - 1 < -4 || point > threshold {
        // Two letters before `g` and `G` are `e` and `E`.
        decimal.write_exponential(out, format - 2, significant - 1);
    } else {
        decimal.write_plain(out);
    }
}

/// The mantissa and the exponent of two that it is times.
fn parts(number: f64) -> (u64, i32) {
    let bits = number.to_bits();
    let mantissa = bits & ((1 << 52) - 1);
    let exponent = i32::try_from(bits >> 52 & 0x7ff).unwrap_or(0);
    if exponent == 0 { (mantissa, -1074) } else { (mantissa | 1 << 52, exponent - 1075) }
}

fn binary(out: &mut String, number: f64) {
    let (mantissa, exponent) = parts(number);
    let sign = if number.is_sign_negative() { "-" } else { "" };
    let _ = write!(out, "{sign}{mantissa}p{exponent:+}");
}

fn hexadecimal(out: &mut String, number: f64, format: u8, precision: Option<usize>) {
    let (mut mantissa, mut exponent) = parts(number);
    if mantissa == 0 {
        exponent = 0;
    } else {
        exponent += 52;
        // One bit before the point, 60 bits after it.
        mantissa <<= 8;
        while mantissa >> 60 == 0 {
            mantissa <<= 1;
            exponent -= 1;
        }
    }
    if let Some(precision) = precision.filter(|precision| *precision < 15) {
        let shift = precision * 4;
        let extra = mantissa << shift & ((1 << 60) - 1);
        mantissa >>= 60 - shift;
        if extra | (mantissa & 1) > 1 << 59 {
            mantissa += 1;
        }
        mantissa <<= 60 - shift;
        if mantissa >> 61 != 0 {
            mantissa >>= 1;
            exponent += 1;
        }
    }
    let mut text = String::new();
    if number.is_sign_negative() {
        text.push('-');
    }
    let _ = write!(text, "0x{}", mantissa >> 60);
    let digits = format!("{:015x}", mantissa & ((1 << 60) - 1));
    let fraction = precision.unwrap_or(digits.trim_end_matches('0').len());
    if fraction > 0 {
        text.push('.');
        push_padded(&mut text, &digits, fraction);
    }
    let _ = write!(text, "p{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs());
    out.push_str(&if format == b'X' { text.to_uppercase() } else { text });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_form_has_an_exponent_from_a_million_on() {
        let shortest = |number| format_float(number, b'g', None);
        assert_eq!(shortest(100_000.0), "100000");
        assert_eq!(shortest(999_999.0), "999999");
        assert_eq!(shortest(1_000_000.0), "1e+06");
        assert_eq!(shortest(1_234_567.5), "1.2345675e+06");
        assert_eq!(shortest(12_345_678.0), "1.2345678e+07");
        assert_eq!(shortest(0.0001), "0.0001");
        assert_eq!(shortest(0.00001), "1e-05");
        assert_eq!(shortest(1e20), "1e+20");
        assert_eq!(shortest(123.456), "123.456");
        assert_eq!(shortest(-0.0), "-0");
        assert_eq!(shortest(0.0), "0");
    }

    #[test]
    fn precision_counts_as_in_go() {
        assert_eq!(format_float(-2.71859, b'f', Some(3)), "-2.719");
        assert_eq!(format_float(2.5, b'f', Some(0)), "2");
        assert_eq!(format_float(1e20, b'f', None), "100000000000000000000");
        assert_eq!(format_float(123_456.789, b'e', Some(6)), "1.234568e+05");
        assert_eq!(format_float(100.0, b'g', Some(3)), "100");
        assert_eq!(format_float(1000.0, b'g', Some(3)), "1e+03");
        assert_eq!(format_float(1000.0, b'G', Some(3)), "1E+03");
        assert_eq!(format_float(1e6, b'g', Some(10)), "1000000");
        assert_eq!(format_float(1.0, b'f', Some(2000)).len(), 2002);
        assert_eq!(format_float(1.0, b'b', None), "4503599627370496p-52");
        assert_eq!(format_float(0.1, b'x', None), "0x1.999999999999ap-04");
        assert_eq!(format_float(1.0, b'X', Some(2)), "0X1.00P+00");
    }
}

//! Number literals: in goes what the lexer took for a number, out comes every type it can have, or
//! Go's words about what is none.

use super::node::{Ideal, Number};
use super::unquote::unquote_char;
use crate::fmt::quoted;

/// A character literal.
pub(super) fn character(text: &[u8]) -> Result<Number, String> {
    let (code, rest) = unquote_char(&text[1..]).ok_or("invalid syntax")?;
    if rest != b"'" {
        return Err(format!("malformed character constant: {}", String::from_utf8_lossy(text)));
    }
    Ok(Number {
        int: Some(i64::from(code)),
        uint: Some(u64::from(code)),
        float: Some(f64::from(code)),
        complex: None,
        ideal: Ideal::Int,
    })
}

/// `1+2i`.
pub(super) fn complex(text: &[u8]) -> Result<Number, String> {
    let text = std::str::from_utf8(text).unwrap_or("");
    let split = text.rfind(['+', '-']).unwrap_or(0);
    let (real, imaginary) = text.split_at(split);
    // A sign after an exponent's letter belongs to the exponent.
    let (real, imaginary) = if real.ends_with(['e', 'E', 'p', 'P']) {
        text.split_at(real.rfind(['+', '-']).unwrap_or(0))
    } else {
        (real, imaginary)
    };
    match (parse_float(real), parse_float(imaginary.trim_end_matches('i'))) {
        (Some(real), Some(imaginary)) => Ok(simplified(real, imaginary)),
        _ => Err("syntax error scanning complex number".to_owned()),
    }
}

/// Every other number.
pub(super) fn number(text: &[u8]) -> Result<Number, String> {
    let text = std::str::from_utf8(text).unwrap_or("");
    if let Some(imaginary) = text.strip_suffix('i').and_then(parse_float) {
        return Ok(simplified(0.0, imaginary));
    }
    let mut number = Number { uint: parse_uint(text), int: parse_int(text), ..Number::default() };
    if number.int == Some(0) {
        number.uint = Some(0);
    }
    if let Some(int) = number.int {
        number.float = Some(int as f64);
    } else if let Some(uint) = number.uint {
        number.float = Some(uint as f64);
    } else if let Some(float) = parse_float(text) {
        if !text.contains(['.', 'e', 'E', 'p', 'P']) {
            return Err(format!("integer overflow: {}", quoted(text.as_bytes())));
        }
        number.set_float(float);
    } else {
        return Err(format!("illegal number syntax: {}", quoted(text.as_bytes())));
    }
    number.ideal = ideal(text, &number);
    Ok(number)
}

fn ideal(text: &str, number: &Number) -> Ideal {
    // The letters of a hexadecimal integer are no exponent.
    let hexadecimal = text.starts_with("0x") || text.starts_with("0X");
    let marks: &[char] = if hexadecimal { &['p', 'P'] } else { &['.', 'e', 'E', 'p', 'P'] };
    if number.float.is_some() && text.contains(marks) {
        Ideal::Float
    } else if number.int.is_some() {
        Ideal::Int
    } else {
        Ideal::Overflow
    }
}

impl Number {
    fn set_float(&mut self, float: f64) {
        self.float = Some(float);
        self.int = whole(float);
        let fits = (0.0..18_446_744_073_709_551_616.0).contains(&float);
        self.uint = (fits && float.fract() == 0.0).then_some(float as u64);
    }
}

fn whole(float: f64) -> Option<i64> {
    let fits = (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&float);
    (fits && float.fract() == 0.0).then_some(float as i64)
}

/// A complex number, which can also be a float or integer if it has no imaginary part.
fn simplified(real: f64, imaginary: f64) -> Number {
    let mut number = Number { complex: Some((real, imaginary)), ideal: Ideal::Complex, ..Number::default() };
    if imaginary == 0.0 {
        number.set_float(real);
    }
    number
}

/// `strconv.ParseUint(text, 0, 64)`.
fn parse_uint(text: &str) -> Option<u64> {
    let lower = text.to_ascii_lowercase();
    let (digits, base) = match lower.as_bytes() {
        [b'0', b'x', ..] => (&lower[2..], 16),
        [b'0', b'o', ..] => (&lower[2..], 8),
        [b'0', b'b', ..] => (&lower[2..], 2),
        [b'0', _, ..] => (&lower[1..], 8),
        _ => (&lower[..], 10),
    };
    if !digits.starts_with(|c: char| c.is_ascii_hexdigit() || c == '_') || !underscores_good(text) {
        return None;
    }
    u64::from_str_radix(&digits.replace('_', ""), base).ok()
}

/// `strconv.ParseInt(text, 0, 64)`.
fn parse_int(text: &str) -> Option<i64> {
    if let Some(digits) = text.strip_prefix('-') {
        return 0i64.checked_sub_unsigned(parse_uint(digits)?);
    }
    i64::try_from(parse_uint(text.strip_prefix('+').unwrap_or(text))?).ok()
}

/// `strconv.ParseFloat(text, 64)`, where the text has nothing but what the lexer lets through.
fn parse_float(text: &str) -> Option<f64> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let hexadecimal = unsigned.starts_with("0x") || unsigned.starts_with("0X");
    if text.contains('_') && !underscores_good(text) {
        return None;
    }
    let plain = unsigned.replace('_', "");
    let float = if hexadecimal { parse_hexadecimal(&plain[2..])? } else { parse_decimal(&plain)? };
    (!float.is_infinite()).then_some(if text.starts_with('-') { -float } else { float })
}

fn parse_decimal(text: &str) -> Option<f64> {
    // The standard library takes words, such as `inf`, which are no numbers here.
    let numeric =
        text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-'));
    if numeric { text.parse().ok() } else { None }
}

fn parse_hexadecimal(text: &str) -> Option<f64> {
    let (mantissa, exponent) = text.split_once(['p', 'P'])?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let exponent: i64 = exponent.parse::<i64>().ok()?.clamp(-1_000_000, 1_000_000);
    let mut bits: u128 = 0;
    let mut shift = exponent - 4 * i64::try_from(fraction.len()).ok()?;
    for digit in whole.bytes().chain(fraction.bytes()) {
        let digit = u128::from(char::from(digit).to_digit(16)?);
        if bits >> 120 == 0 {
            bits = bits << 4 | digit;
        } else {
            // Beyond any rounding but for the question whether something is there.
            bits |= u128::from(digit != 0);
            shift += 4;
        }
    }
    Some(scaled(bits, shift))
}

/// The float64 nearest to `bits` times two to the `shift`.
fn scaled(bits: u128, shift: i64) -> f64 {
    if bits == 0 {
        return 0.0;
    }
    let length = i64::from(128 - bits.leading_zeros());
    // A normal number keeps 53 bits, one below the least normal exponent fewer.
    let lowest = (shift + length - 53).max(-1074);
    let drop = lowest - shift;
    let kept = match u32::try_from(drop) {
        Err(_) => bits << u32::try_from(-drop).unwrap_or(0).min(127),
        Ok(0) => bits,
        Ok(drop) if drop > 127 => 0,
        Ok(drop) => {
            let half = 1u128 << (drop - 1);
            let rest = bits & ((1 << drop) - 1);
            let floor = bits >> drop;
            floor + u128::from(rest > half || rest == half && floor & 1 == 1)
        }
    };
    if lowest > 1023 {
        return f64::INFINITY;
    }
    let exponent = i32::try_from(lowest).unwrap_or(0);
    let (first, second) = (exponent / 2, exponent - exponent / 2);
    kept as f64 * 2f64.powi(first) * 2f64.powi(second)
}

/// Whether every underscore stands between digits, or between a base's prefix and one.
fn underscores_good(text: &str) -> bool {
    let text = text.strip_prefix(['+', '-']).unwrap_or(text);
    let prefixed = matches!(text.as_bytes(), [b'0', letter, ..] if b"xXoObB".contains(letter));
    let hexadecimal = matches!(text.as_bytes(), [b'0', b'x' | b'X', ..]);
    let mut last = if prefixed { b'0' } else { b'^' };
    for byte in text.bytes().skip(if prefixed { 2 } else { 0 }) {
        let digit = byte.is_ascii_digit() || hexadecimal && byte.is_ascii_hexdigit();
        match byte {
            _ if digit => last = b'0',
            b'_' if last == b'0' => last = b'_',
            b'_' => return false,
            _ if last == b'_' => return false,
            _ => last = b'!',
        }
    }
    last != b'_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Number {
        number(text.as_bytes()).unwrap()
    }

    // As `printf "%T %v"` says in Helm 4.3.1.
    #[test]
    fn bases_and_underscores_are_those_of_go() {
        for (text, value) in
            [("0x1F", 31), ("017", 15), ("0o17", 15), ("0b101", 5), ("1_000", 1000), ("-7", -7), ("0_7", 7)]
        {
            assert_eq!(parsed(text).int, Some(value), "{text}");
        }
        assert_eq!(parsed("0x1p-2").float, Some(0.25));
        assert_eq!(parsed("0x1p-1074").float, Some(5e-324));
        assert_eq!(parsed("0x1.fffffffffffffp1023").float, Some(f64::MAX));
        assert_eq!(parsed("1e3").int, Some(1000));
        assert_eq!(parsed("18446744073709551615").uint, Some(u64::MAX));
        assert_eq!(parsed("-0").uint, Some(0));
        for text in ["1_", "1__0", "0x", "+", "1e400", "."] {
            assert_eq!(number(text.as_bytes()), Err(format!("illegal number syntax: \"{text}\"")), "{text}");
        }
        for text in ["08", "99999999999999999999"] {
            assert_eq!(number(text.as_bytes()), Err(format!("integer overflow: \"{text}\"")));
        }
    }

    #[test]
    fn a_complex_number_without_imaginary_part_is_also_a_float() {
        assert_eq!(
            complex(b"1+2i").unwrap(),
            Number { complex: Some((1.0, 2.0)), ideal: Ideal::Complex, ..Number::default() }
        );
        assert_eq!(complex(b"1e+2-0i").unwrap().int, Some(100));
        assert_eq!(parsed("3i").complex, Some((0.0, 3.0)));
    }
}

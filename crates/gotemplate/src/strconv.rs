//! `strconv`'s readers: in goes text, out come the numbers that Go reads in it, or why it does not.

/// Why a text is no number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IntError<T> {
    /// It is not written as one.
    Syntax,
    /// It is too large; this is the nearest that is not.
    Range(T),
}

impl<T> IntError<T> {
    /// Returns what Go says after the text.
    pub(crate) fn reason(&self) -> &'static str {
        match self {
            Self::Syntax => "invalid syntax",
            Self::Range(_) => "value out of range",
        }
    }
}

/// `strconv.ParseUint(text, base, 64)`; base 0 goes by the prefix and takes underscores.
pub(crate) fn parse_uint(text: &[u8], base: u32) -> Result<u64, IntError<u64>> {
    let (digits, radix) = if base == 0 { split_prefix(text) } else { (text, base) };
    if text.is_empty() {
        return Err(IntError::Syntax);
    }
    let mut number = 0u64;
    let mut underscores = false;
    for byte in digits {
        if *byte == b'_' && base == 0 {
            underscores = true;
            continue;
        }
        let digit = char::from(*byte).to_digit(radix).ok_or(IntError::Syntax)?;
        number = number
            .checked_mul(u64::from(radix))
            .and_then(|number| number.checked_add(u64::from(digit)))
            .ok_or(IntError::Range(u64::MAX))?;
    }
    if underscores && !underscores_good(text) { Err(IntError::Syntax) } else { Ok(number) }
}

fn split_prefix(text: &[u8]) -> (&[u8], u32) {
    match text {
        [b'0', b'x' | b'X', digits @ ..] if !digits.is_empty() => (digits, 16),
        [b'0', b'o' | b'O', digits @ ..] if !digits.is_empty() => (digits, 8),
        [b'0', b'b' | b'B', digits @ ..] if !digits.is_empty() => (digits, 2),
        [b'0', digits @ ..] => (digits, 8),
        _ => (text, 10),
    }
}

/// `strconv.ParseInt(text, base, 64)`.
pub(crate) fn parse_int(text: &[u8], base: u32) -> Result<i64, IntError<i64>> {
    let (negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        _ => (false, text),
    };
    let nearest = if negative { i64::MIN } else { i64::MAX };
    let magnitude = match parse_uint(digits, base) {
        Ok(magnitude) => magnitude,
        Err(IntError::Syntax) => return Err(IntError::Syntax),
        Err(IntError::Range(_)) => return Err(IntError::Range(nearest)),
    };
    let number = if negative { 0i64.checked_sub_unsigned(magnitude) } else { i64::try_from(magnitude).ok() };
    number.ok_or(IntError::Range(nearest))
}

/// Returns what `strconv.ParseInt(text, 10, 64)` returns beside its error: 0, or the nearest number.
pub(crate) fn parse_nearest(text: &[u8]) -> i64 {
    match parse_int(text, 10) {
        Ok(number) | Err(IntError::Range(number)) => number,
        Err(IntError::Syntax) => 0,
    }
}

/// `strconv.ParseFloat(text, 64)`, none where that is an error.
pub(crate) fn parse_float(text: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(text).ok()?;
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let infinite = unsigned.eq_ignore_ascii_case("inf") || unsigned.eq_ignore_ascii_case("infinity");
    if text.contains('_') && !underscores_good(text.as_bytes()) {
        return None;
    }
    let plain = unsigned.replace('_', "");
    let digits = plain.strip_prefix("0x").or_else(|| plain.strip_prefix("0X"));
    let number = match digits {
        Some(digits) if !digits.is_empty() => parse_hexadecimal(digits)?,
        _ if plain.starts_with(['+', '-']) => return None,
        _ => plain.parse().ok()?,
    };
    if number.is_infinite() && !infinite {
        return None;
    }
    Some(if text.starts_with('-') { -number } else { number })
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

/// Returns true if every underscore stands between digits, or between a base's prefix and one.
fn underscores_good(text: &[u8]) -> bool {
    let text = text.strip_prefix(b"+").or_else(|| text.strip_prefix(b"-")).unwrap_or(text);
    let prefixed = matches!(text, [b'0', letter, ..] if b"xXoObB".contains(letter));
    let hexadecimal = matches!(text, [b'0', b'x' | b'X', ..]);
    let mut last = if prefixed { b'0' } else { b'^' };
    for byte in &text[if prefixed { 2 } else { 0 }..] {
        if byte.is_ascii_digit() || hexadecimal && byte.is_ascii_hexdigit() {
            last = b'0';
        } else if *byte == b'_' {
            if last != b'0' {
                return false;
            }
            last = b'_';
        } else {
            if last == b'_' {
                return false;
            }
            last = b'!';
        }
    }
    last != b'_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_go_by_their_prefix() {
        let cases: [(&str, Result<i64, IntError<i64>>); 14] = [
            ("017", Ok(15)),
            ("09", Err(IntError::Syntax)),
            ("0x1F", Ok(31)),
            ("0x", Err(IntError::Syntax)),
            ("0", Ok(0)),
            ("-0b11", Ok(-3)),
            ("1_000", Ok(1000)),
            ("1__0", Err(IntError::Syntax)),
            ("_1", Err(IntError::Syntax)),
            ("0_7", Ok(7)),
            ("", Err(IntError::Syntax)),
            ("+-1", Err(IntError::Syntax)),
            ("-9223372036854775808", Ok(i64::MIN)),
            ("-9223372036854775809", Err(IntError::Range(i64::MIN))),
        ];
        for (text, number) in cases {
            assert_eq!(parse_int(text.as_bytes(), 0), number, "{text}");
        }
    }

    #[test]
    fn an_integer_too_large_is_the_largest() {
        assert_eq!(parse_nearest(b"99999999999999999999"), i64::MAX);
        assert_eq!(parse_nearest(b"0x10"), 0);
        assert_eq!(parse_nearest(b"1_0"), 0);
    }

    #[test]
    fn floats_are_those_of_go() {
        let cases: [(&str, Option<f64>); 13] = [
            ("1.5", Some(1.5)),
            (".5", Some(0.5)),
            ("5.", Some(5.0)),
            ("1e3", Some(1000.0)),
            ("1_23.50_0_0e+1_2", Some(1.235e14)),
            ("0x1p-2", Some(0.25)),
            ("0x10", None),
            ("-inf", Some(f64::NEG_INFINITY)),
            ("1e400", None),
            ("", None),
            ("+-1", None),
            (" 1", None),
            ("1_", None),
        ];
        for (text, number) in cases {
            assert_eq!(parse_float(text.as_bytes()), number, "{text}");
        }
    }
}

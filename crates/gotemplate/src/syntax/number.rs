//! Number literals: in goes what the lexer took for a number, out comes every type it can have, or
//! Go's words about what is none.

use gostd::quoted;

use super::node::{Ideal, Number};
use super::unquote::unquote_char;
use crate::strconv::{parse_float, parse_int, parse_uint};

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
    let imaginary = imaginary.trim_end_matches('i');
    match (parse_float(real.as_bytes()), parse_float(imaginary.as_bytes())) {
        (Some(real), Some(imaginary)) => Ok(simplified(real, imaginary)),
        _ => Err("syntax error scanning complex number".to_owned()),
    }
}

/// Every other number.
pub(super) fn number(text: &[u8]) -> Result<Number, String> {
    if let Some(imaginary) = text.strip_suffix(b"i").and_then(parse_float) {
        return Ok(simplified(0.0, imaginary));
    }
    let mut number =
        Number { uint: parse_uint(text, 0).ok(), int: parse_int(text, 0).ok(), ..Number::default() };
    if number.int == Some(0) {
        number.uint = Some(0);
    }
    if let Some(int) = number.int {
        number.float = Some(int as f64);
    } else if let Some(uint) = number.uint {
        number.float = Some(uint as f64);
    } else if let Some(float) = parse_float(text) {
        if !text.iter().any(|byte| b".eEpP".contains(byte)) {
            return Err(format!("integer overflow: {}", quoted(text)));
        }
        number.set_float(float);
    } else {
        return Err(format!("illegal number syntax: {}", quoted(text)));
    }
    number.ideal = ideal(text, &number);
    Ok(number)
}

fn ideal(text: &[u8], number: &Number) -> Ideal {
    // The letters of a hexadecimal integer are no exponent.
    let hexadecimal = text.starts_with(b"0x") || text.starts_with(b"0X");
    let marks: &[u8] = if hexadecimal { b"pP" } else { b".eEpP" };
    if number.float.is_some() && text.iter().any(|byte| marks.contains(byte)) {
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

//! Which plain texts every reader takes for strings.
//!
//! Three families read YAML: by the schema of 1.1 (PyYAML, Ruby), by the core schema of 1.2 (JavaScript, `yq`), and Go's
//! readers with a mixture. A text is safe if it is a string to all of them.

use yamltree::{Dialect, Node, Resolved, Style, Tag, resolve};

/// Returns true if a plain scalar of this text is a string by YAML 1.1, by YAML 1.2 and to both generations of go-yaml.
#[must_use]
pub fn reads_as_string(text: &str) -> bool {
    resolve(text, Dialect::V2) == Resolved::Str
        && resolve(text, Dialect::V3) == Resolved::Str
        && !is_number(text)
        && !is_timestamp(text)
        // The merge key and the default value of YAML 1.1.
        && !matches!(text, "<<" | "=")
}

/// Returns true if a text is a number by the schema of YAML 1.1 or the core schema of YAML 1.2, or close enough to one that an
/// implementation of either took it for one: digits with underscores, a leading zero, a fraction, an exponent.
fn is_number(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    is_of_base(unsigned) || is_decimal(unsigned) || is_sexagesimal(unsigned)
}

/// `0b1010` and `0x1F` with underscores, `0o17` without.
fn is_of_base(text: &str) -> bool {
    let digits = |prefix: &str, is_digit: fn(u8) -> bool| {
        text.strip_prefix(prefix).is_some_and(|digits| !digits.is_empty() && digits.bytes().all(is_digit))
    };
    digits("0b", |byte| matches!(byte, b'0' | b'1' | b'_'))
        || digits("0o", |byte| matches!(byte, b'0'..=b'7'))
        || digits("0x", |byte| byte.is_ascii_hexdigit() || byte == b'_')
}

/// `12`, `1_000`, `1.5`, `.5`, `2.`, `1e7`, `1.5e+3`
fn is_decimal(text: &str) -> bool {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let is_exponent = exponent.is_none_or(|exponent| {
        let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    });
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let starts = |part: &str| part.starts_with(|char: char| char.is_ascii_digit());
    let is_run = |part: &str| part.bytes().all(|byte| byte == b'_' || byte.is_ascii_digit());
    let is_mantissa = starts(whole) || (whole.is_empty() && starts(fraction));
    // YAML 1.1 has underscores, but no exponent without a point and a sign; go-yaml was asked already.
    if let Some(exponent) = exponent.filter(|_| mantissa.contains('_'))
        && !(mantissa.contains('.') && exponent.starts_with(['+', '-']))
    {
        return false;
    }
    is_exponent && is_mantissa && is_run(whole) && is_run(fraction)
}

/// `12:30:45.5`: numbers by sixties.
fn is_sexagesimal(text: &str) -> bool {
    let Some((first, rest)) = text.split_once(':') else { return false };
    let rest = rest.split_once('.').map_or(rest, |(rest, fraction)| match is_digits(fraction) {
        true => rest,
        false => "",
    });
    let is_sixty =
        |group: &str| matches!(group.as_bytes(), [digit] | [b'0'..=b'5', digit] if digit.is_ascii_digit());
    first.starts_with(|char: char| char.is_ascii_digit()) && is_digits(first) && rest.split(':').all(is_sixty)
}

/// `2024-01-15`, also with a time: by its shape, as a reader of YAML 1.1 fails at the thirteenth month.
fn is_timestamp(text: &str) -> bool {
    let (date, time) = match text.split_once(['T', 't', ' ', '\t']) {
        Some((date, time)) => (date, Some(time)),
        None => (text, None),
    };
    let mut fields = date.split('-').map(str::as_bytes);
    let (Some(year), Some(month), Some(day), None) =
        (fields.next(), fields.next(), fields.next(), fields.next())
    else {
        return false;
    };
    let is_field = |field: &[u8]| {
        (if time.is_some() { 1..=2 } else { 2..=2 }).contains(&field.len())
            && field.iter().all(u8::is_ascii_digit)
    };
    let starts_as_time = |time: &str| {
        let hour = time.trim_start_matches([' ', '\t']).split(':').next().unwrap_or_default();
        time.matches(':').count() >= 2 && !hour.is_empty() && hour.bytes().all(|byte| byte.is_ascii_digit())
    };
    let is_date = year.len() == 4 && year.iter().all(u8::is_ascii_digit) && is_field(month) && is_field(day);
    is_date && time.is_none_or(starts_as_time)
}

fn is_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte == b'_' || byte.is_ascii_digit())
}

/// Returns true if every YAML reader takes this scalar for a string.
pub(crate) fn is_string(node: &Node) -> bool {
    let is_str = |dialect| node.resolved(dialect).is_ok_and(|resolved| resolved == Resolved::Str);
    let is_typed = node.style != Style::Plain || node.tag == Tag::Str;
    is_str(Dialect::V2) && is_str(Dialect::V3) && (is_typed || node.text().is_some_and(reads_as_string))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_any_reader_takes_for_something_else_is_no_string() {
        for text in [
            "",
            "~",
            "null",
            "Null",
            "NULL",
            "true",
            "False",
            "y",
            "Y",
            "n",
            "N",
            "yes",
            "No",
            "ON",
            "off",
            "0",
            "12",
            "+1",
            "-0",
            "08",
            "017",
            "0o17",
            "0O17",
            "0x1F",
            "0X1f",
            "0b101",
            "0B1",
            "0x_",
            "1_000",
            "1__",
            "0_",
            "1.20",
            "2.",
            ".5",
            "1_0.5",
            "1._",
            "1e7",
            "1E5",
            "12e4567",
            "1.5e3",
            "1e+3",
            "1e-3",
            "1_0e5",
            "1e5_0",
            ".inf",
            "-.INF",
            ".NaN",
            "2024-01-01",
            "2024-1-1",
            "12:30",
            "1:2:3",
            "1:30.5",
            "190:20:30",
            "1_0:5",
            "<<",
            "=",
        ] {
            assert!(!reads_as_string(text), "{text}");
        }
    }

    #[test]
    fn what_all_take_for_a_string_is_one() {
        for text in [
            "v1",
            "latest",
            "1.2.3",
            "1.2.3e4",
            "1.25-alpine",
            "12e45a7",
            "1e7a",
            "v1e7",
            "0xZZ",
            "0x",
            "0b2",
            "0o8",
            "1e",
            "e5",
            "1e+",
            "_1",
            "2024-01-01-1",
            "2024-01-01T",
            "2024-13-1",
            "2024-01-01T10.00",
            "20240115-abc",
            "sha-3108617",
            "true-1",
            "yess",
            "nULL",
            "inf",
            "nan",
            "NaN",
            "1:60",
            "1:",
            "a:1",
            "12:345",
            "1:2.x",
            ":1",
            "._5",
            ".",
            "-",
            "1-2",
            "app:12",
            "sha256:12",
            // Too large for go-yaml, and YAML 1.1 wants a point and a sign.
            "01_e310",
            "1_0.5e310",
        ] {
            assert!(reads_as_string(text), "{text}");
        }
    }
}

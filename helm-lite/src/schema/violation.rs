//! The violations of a value, with Helm's messages.

use std::fmt::Write as _;

use gostd::quoted;
use gotemplate::fmt::format_float;

use crate::json::escape_token;

/// A violation, with those that it consists of.
#[derive(Clone, Debug, Default)]
pub(super) struct Violation {
    /// The path of the value.
    pub(super) path: Vec<String>,
    pub(super) part: Part,
    pub(super) text: String,
    pub(super) causes: Vec<Violation>,
}

/// The position of a violation among others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Part {
    #[default]
    Keyword,
    /// Several violations of one schema.
    Group,
    /// Those of the schema that a reference names.
    Reference,
}

impl Violation {
    /// Returns true if it is printed as the one violation that it consists of.
    fn is_transparent(&self) -> bool {
        self.part == Part::Reference && self.causes.len() == 1
    }

    fn display(&self, indent: usize, out: &mut String) {
        let mut indent = indent;
        if !self.is_transparent() {
            out.push('\n');
            out.push_str(&"  ".repeat(indent));
            indent += 1;
            let _ = write!(out, "- {}", self.sentence());
        }
        self.causes.iter().for_each(|cause| cause.display(indent, out));
    }

    /// The violation as a sentence of its own.
    pub(super) fn sentence(&self) -> String {
        format!("at {}: {}", quote(&pointer(&self.path)), self.text)
    }

    /// The violations that a reader would see: those that consist of no others.
    pub(super) fn leaves<'v>(&'v self, found: &mut Vec<&'v Self>) {
        if self.causes.is_empty() {
            found.push(self);
        }
        self.causes.iter().for_each(|cause| cause.leaves(found));
    }
}

/// Violations as a list, each line behind a line break.
pub(super) fn list(violations: &[Violation]) -> String {
    let mut out = String::new();
    violations.iter().for_each(|violation| violation.display(0, &mut out));
    out
}

fn pointer(path: &[String]) -> String {
    path.iter().map(|token| format!("/{}", escape_token(token))).collect()
}

/// A text in single quotes.
pub(super) fn quote(text: &str) -> String {
    let quoted = quoted(text.as_bytes()).replace("\\\"", "\"").replace('\'', "\\'");
    format!("'{}'", &quoted[1..quoted.len() - 1])
}

pub(super) fn quote_all<T: AsRef<str>>(texts: &[T]) -> String {
    texts.iter().map(|text| quote(text.as_ref())).collect::<Vec<_>>().join(", ")
}

/// A whole number as English has it.
pub(super) fn count(number: usize) -> String {
    grouped(&number.to_string())
}

/// A number as English has it.
pub(super) fn number(float: f64) -> String {
    let text = format_float(float, b'g', None);
    let Some((mantissa, exponent)) = text.split_once('e') else {
        let (whole, fraction) =
            text.split_once('.').map_or((text.as_str(), None), |(whole, rest)| (whole, Some(rest)));
        let fraction = fraction.map_or_else(String::new, |digits| format!(".{digits}"));
        return grouped(whole) + &fraction;
    };
    let raised = exponent.chars().filter_map(|char| match char {
        '-' => Some('⁻'),
        digit => digit.to_digit(10).and_then(|digit| "⁰¹²³⁴⁵⁶⁷⁸⁹".chars().nth(digit as usize)),
    });
    format!("{mantissa}×10{}", raised.collect::<String>())
}

/// Digits in groups of three.
fn grouped(digits: &str) -> String {
    let (sign, digits) = digits.strip_prefix('-').map_or(("", digits), |digits| ("-", digits));
    let mut grouped = sign.to_owned();
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As in messages of `helm template`.
    #[test]
    fn numbers_are_english() {
        for (float, wanted) in [
            (1234.0, "1,234"),
            (-5.0, "-5"),
            (1.5, "1.5"),
            (0.35, "0.35"),
            (1_234_567.5, "1.2345675×10⁰⁶"),
            (0.000_012_34, "1.234×10⁻⁰⁵"),
            (1e30, "1×10³⁰"),
        ] {
            assert_eq!(number(float), wanted);
        }
        assert_eq!(count(1200), "1,200");
        assert_eq!(count(999), "999");
        assert_eq!(count(1_000_000), "1,000,000");
    }

    #[test]
    fn texts_are_in_single_quotes() {
        assert_eq!(quote("it's \"q\" é\n"), "'it\\'s \"q\" é\\n'");
        assert_eq!(quote("^v\\d"), "'^v\\\\d'");
    }
}

//! Resolves the value of a scalar.
//!
//! In: the text of a plain scalar, or a scalar node with its style and tag. Out: the type that go-yaml finds, with
//! the value. A tag that the text does not fit is refused in go-yaml's words. A plain `<<` is a string here, as it is
//! for go-yaml; that it merges is the business of a mapping's keys.

use crate::dialect::Dialect;
use crate::error::{Error, ErrorKind};
use crate::node::{Kind, Node, Style, Tag};
use crate::number::{parse_float, parse_int, parse_int_in, parse_uint, parse_uint_in};
use crate::timestamp::Timestamp;

/// A scalar's type, with its value unless that is the text itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Resolved {
    /// `null`, `~` or nothing.
    Null,
    /// `true` or `false`, in [`Dialect::V2`] also `y`, `yes`, `on`, `n`, `no` and `off`.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A whole number above [`i64::MAX`].
    Uint(u64),
    /// A number with a fraction or an exponent, a whole number with too many digits, `.inf` or `.nan`.
    Float(f64),
    /// A date, or a date and time.
    Timestamp(Timestamp),
    /// `!!binary`: the text is base64 of the value.
    Binary,
    /// The text itself.
    Str,
}

impl Resolved {
    /// The tag by which go-yaml names the type in an error.
    pub(crate) fn tag(self) -> Tag {
        match self {
            Self::Null => Tag::Null,
            Self::Bool(_) => Tag::Bool,
            Self::Int(_) | Self::Uint(_) => Tag::Int,
            Self::Float(_) => Tag::Float,
            Self::Timestamp(_) => Tag::Timestamp,
            Self::Binary => Tag::Binary,
            Self::Str => Tag::Str,
        }
    }
}

impl Node {
    /// Returns the type and value of a scalar by its text, style and tag. Rejects a text that does not fit its tag, and a
    /// collection.
    pub fn resolved(&self, dialect: Dialect) -> Result<Resolved, Error> {
        let Kind::Scalar(text) = &self.kind else {
            return Err(Error::new(ErrorKind::Invalid, "expected a scalar", self.span));
        };
        match self.tag {
            Tag::Implicit if self.style == Style::Plain => Ok(resolve(text, dialect)),
            Tag::Implicit | Tag::Str | Tag::Merge | Tag::Map | Tag::Seq | Tag::Other => Ok(Resolved::Str),
            Tag::Binary => Ok(Resolved::Binary),
            Tag::Int | Tag::Float | Tag::Bool | Tag::Null | Tag::Timestamp => self.resolved_as(text, dialect),
        }
    }

    /// The value of a text that must fit the node's tag.
    fn resolved_as(&self, text: &str, dialect: Dialect) -> Result<Resolved, Error> {
        let resolved = match resolve(text, dialect) {
            // Only an untagged text, or one tagged so, may be a timestamp.
            Resolved::Timestamp(_) if self.tag != Tag::Timestamp => Resolved::Str,
            resolved => resolved,
        };
        match (self.tag, resolved) {
            #[expect(clippy::cast_precision_loss, reason = "as Go converts")]
            (Tag::Float, Resolved::Int(int)) => Ok(Resolved::Float(int as f64)),
            (tag, resolved) if tag == resolved.tag() => Ok(resolved),
            (tag, resolved) => {
                let (found, wanted) = (resolved.tag().name(), tag.name());
                let message = format!("cannot decode {found} `{text}` as a {wanted}");
                Err(Error::new(ErrorKind::Invalid, message, self.span))
            }
        }
    }
}

impl Tag {
    /// The tag as it is written, for all but [`Tag::Implicit`] and [`Tag::Other`].
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Implicit | Self::Other => "",
            Self::Str => "!!str",
            Self::Int => "!!int",
            Self::Float => "!!float",
            Self::Bool => "!!bool",
            Self::Null => "!!null",
            Self::Timestamp => "!!timestamp",
            Self::Binary => "!!binary",
            Self::Merge => "!!merge",
            Self::Map => "!!map",
            Self::Seq => "!!seq",
        }
    }
}

/// The possible types of a plain text, by its first byte.
#[derive(Clone, Copy, PartialEq)]
enum Lead {
    /// Only a string.
    Text,
    /// One of the words: a null or a boolean.
    Word,
    /// `.5`, `.inf`
    Point,
    /// A number or a timestamp.
    Number,
}

const LEADS: [Lead; 256] = {
    let mut leads = [Lead::Text; 256];
    let words = b"yYnNtTfFoO~";
    let mut at = 0;
    while at < words.len() {
        leads[words[at] as usize] = Lead::Word;
        at += 1;
    }
    let numbers = b"+-0123456789";
    at = 0;
    while at < numbers.len() {
        leads[numbers[at] as usize] = Lead::Number;
        at += 1;
    }
    leads[b'.' as usize] = Lead::Point;
    leads
};

/// The meaning of a plain scalar's text.
#[must_use]
pub fn resolve(text: &str, dialect: Dialect) -> Resolved {
    let Some(first) = text.bytes().next() else { return Resolved::Null };
    match LEADS[usize::from(first)] {
        Lead::Text => Resolved::Str,
        Lead::Word => word(text, dialect),
        Lead::Point => infinity(text).or_else(|| point(text)).unwrap_or(Resolved::Str),
        Lead::Number => number(text, dialect),
    }
}

fn word(text: &str, dialect: Dialect) -> Resolved {
    if text.len() > "false".len() {
        return Resolved::Str;
    }
    match text {
        "~" | "null" | "Null" | "NULL" => Resolved::Null,
        "true" | "True" | "TRUE" => Resolved::Bool(true),
        "false" | "False" | "FALSE" => Resolved::Bool(false),
        _ => match old_bool(text) {
            Some(value) if dialect == Dialect::V2 => Resolved::Bool(value),
            _ => Resolved::Str,
        },
    }
}

/// The booleans that YAML 1.2 gave up.
pub(crate) fn old_bool(text: &str) -> Option<bool> {
    match text {
        "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => Some(true),
        "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => Some(false),
        _ => None,
    }
}

fn infinity(text: &str) -> Option<Resolved> {
    match text {
        ".nan" | ".NaN" | ".NAN" => Some(Resolved::Float(f64::NAN)),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => Some(Resolved::Float(f64::INFINITY)),
        "-.inf" | "-.Inf" | "-.INF" => Some(Resolved::Float(f64::NEG_INFINITY)),
        _ => None,
    }
}

/// Resolves a fraction without an integer part. Go allows single underscores between its digits.
fn point(text: &str) -> Option<Resolved> {
    if !text.contains('_') {
        return parse_float(text).map(Resolved::Float);
    }
    let is_digit = |group: &str, at: Option<usize>| {
        at.and_then(|at| group.as_bytes().get(at)).is_some_and(u8::is_ascii_digit)
    };
    let mut groups = text.split('_').peekable();
    while let Some(group) = groups.next() {
        let next_starts = groups.peek().is_none_or(|next| is_digit(next, Some(0)));
        let ends = groups.peek().is_none() || is_digit(group, group.len().checked_sub(1));
        if !next_starts || !ends {
            return None;
        }
    }
    parse_float(&text.replace('_', "")).map(Resolved::Float)
}

/// Resolves a string that starts with a digit or a sign. Underscores are ignored at every position.
fn number(text: &str, dialect: Dialect) -> Resolved {
    if let Some(infinity) = infinity(text) {
        return infinity;
    }
    if let Some(timestamp) = Timestamp::parse(text) {
        return Resolved::Timestamp(timestamp);
    }
    if text.contains('_') { digits(&text.replace('_', ""), dialect) } else { digits(text, dialect) }
}

fn digits(plain: &str, dialect: Dialect) -> Resolved {
    parse_int(plain)
        .map(Resolved::Int)
        .or_else(|| parse_uint(plain).map(Resolved::Uint))
        .or_else(|| parse_float(plain).map(Resolved::Float))
        .or_else(|| signed_after_prefix(plain, "0b", 2))
        .or_else(|| (dialect == Dialect::V3).then(|| signed_after_prefix(plain, "0o", 8)).flatten())
        .unwrap_or(Resolved::Str)
}

/// go-yaml parses the digits after `0b` as a signed number: `0b-11` is minus three.
fn signed_after_prefix(plain: &str, prefix: &str, base: u32) -> Option<Resolved> {
    let digits = plain.strip_prefix(prefix)?;
    let int = parse_int_in(digits, base).map(Resolved::Int);
    int.or_else(|| parse_uint_in(digits, base).map(Resolved::Uint))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn both(text: &str, wanted: Resolved) {
        assert_eq!(resolve(text, Dialect::V2), wanted, "{text} in v2");
        assert_eq!(resolve(text, Dialect::V3), wanted, "{text} in v3");
    }

    #[test]
    fn words() {
        for text in ["", "~", "null", "Null", "NULL"] {
            both(text, Resolved::Null);
        }
        for text in ["true", "True", "TRUE"] {
            both(text, Resolved::Bool(true));
        }
        for text in ["tRUE", "nULL", "yEs", "ye", "yes ", "none", "<<", "=", "~~", "Nul"] {
            both(text, Resolved::Str);
        }
        for text in ["y", "Y", "yes", "Yes", "YES", "on", "On", "ON"] {
            assert_eq!(resolve(text, Dialect::V2), Resolved::Bool(true));
            assert_eq!(resolve(text, Dialect::V3), Resolved::Str);
        }
        for text in ["n", "N", "no", "No", "NO", "off", "Off", "OFF"] {
            assert_eq!(resolve(text, Dialect::V2), Resolved::Bool(false));
            assert_eq!(resolve(text, Dialect::V3), Resolved::Str);
        }
    }

    #[test]
    fn whole_numbers() {
        both("0", Resolved::Int(0));
        both("+1", Resolved::Int(1));
        both("-0", Resolved::Int(0));
        both("010", Resolved::Int(8));
        both("0o17", Resolved::Int(15));
        both("0x1F", Resolved::Int(31));
        both("0b11", Resolved::Int(3));
        both("1_000", Resolved::Int(1000));
        both("1__0_", Resolved::Int(10));
        both("-9223372036854775808", Resolved::Int(i64::MIN));
        both("9223372036854775808", Resolved::Uint(9_223_372_036_854_775_808));
        both("18446744073709551615", Resolved::Uint(u64::MAX));
        both("18446744073709551616", Resolved::Float(18_446_744_073_709_551_616.0));
        both("+18446744073709551615", Resolved::Float(18_446_744_073_709_551_615.0));
    }

    #[test]
    fn a_sign_after_the_prefix() {
        both("0b-11", Resolved::Int(-3));
        both("0b+11", Resolved::Int(3));
        both("-0b11", Resolved::Int(-3));
        both("0x-11", Resolved::Str);
        assert_eq!(resolve("0o-17", Dialect::V3), Resolved::Int(-15));
        assert_eq!(resolve("0o-17", Dialect::V2), Resolved::Str);
    }

    #[test]
    fn floats() {
        both("1.0", Resolved::Float(1.0));
        both("1e3", Resolved::Float(1000.0));
        both(".5", Resolved::Float(0.5));
        both("-.5e-1", Resolved::Float(-0.05));
        both("08", Resolved::Float(8.0));
        both("1_0.5", Resolved::Float(10.5));
        both(".inf", Resolved::Float(f64::INFINITY));
        both("-.INF", Resolved::Float(f64::NEG_INFINITY));
        assert!(matches!(resolve(".NaN", Dialect::V3), Resolved::Float(float) if float.is_nan()));
        for text in [".", "1e400", ".iNF", "+.nan", "1.2.3", "12:30:45", "190:20:30.15", "0x1p4", "1e"] {
            both(text, Resolved::Str);
        }
    }

    #[test]
    fn timestamps() {
        assert!(matches!(resolve("2001-01-01", Dialect::V2), Resolved::Timestamp(_)));
        both("2001-01", Resolved::Str);
    }

    fn tagged(text: &str, tag: Tag, style: Style) -> Result<Resolved, String> {
        let node = Node { tag, style, ..Node::plain(text) };
        node.resolved(Dialect::V3).map_err(|error| error.message().to_owned())
    }

    #[test]
    fn a_tag_decides_before_the_style() {
        assert_eq!(tagged("12", Tag::Implicit, Style::DoubleQuoted), Ok(Resolved::Str));
        assert_eq!(tagged("12", Tag::Int, Style::DoubleQuoted), Ok(Resolved::Int(12)));
        assert_eq!(tagged("12", Tag::Float, Style::Plain), Ok(Resolved::Float(12.0)));
        assert_eq!(tagged("12", Tag::Str, Style::Plain), Ok(Resolved::Str));
        assert_eq!(tagged("12", Tag::Other, Style::Plain), Ok(Resolved::Str));
        assert_eq!(tagged("MTI=", Tag::Binary, Style::Plain), Ok(Resolved::Binary));
        assert_eq!(tagged("~", Tag::Null, Style::SingleQuoted), Ok(Resolved::Null));
    }

    #[test]
    fn a_tag_that_does_not_fit_is_refused() {
        let refused = |text, tag| tagged(text, tag, Style::Plain).unwrap_err();
        assert_eq!(refused("x", Tag::Int), "cannot decode !!str `x` as a !!int");
        assert_eq!(refused("1.5", Tag::Int), "cannot decode !!float `1.5` as a !!int");
        assert_eq!(refused("2001-01-01", Tag::Int), "cannot decode !!str `2001-01-01` as a !!int");
        assert_eq!(
            refused("18446744073709551615", Tag::Float),
            "cannot decode !!int `18446744073709551615` as a !!float"
        );
        assert_eq!(refused("yes", Tag::Bool), "cannot decode !!str `yes` as a !!bool");
    }
}

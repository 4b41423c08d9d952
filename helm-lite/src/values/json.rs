//! JSON as Go's `encoding/json` reads it, for `--set-json`.
//!
//! In: a text that begins with a value. Out: the value with its places, and where it ends. Refuses what is no JSON,
//! numbers that are no float64, and values that are nested too deeply; no words about it, as Helm has none.

use std::collections::BTreeMap;
use std::sync::Arc;

use compact_str::CompactString;
use yamltree::{MAX_DEPTH, SourceId, Span};

use super::table::{Data, Item, Table};

/// Reads the value at `at`, after white space; returns it with the place behind it. `None` if there is none.
pub(super) fn read(text: &str, at: usize, source: SourceId) -> Option<(Item, usize)> {
    let mut reader = Reader { text, at, source, depth: 0 };
    let item = reader.value()?;
    Some((item, reader.at))
}

/// Reads a text that is one object and nothing else.
pub(super) fn read_object(text: &str, source: SourceId) -> Option<Table> {
    let (item, end) = read(text, 0, source)?;
    match item.data {
        Data::Table(table) if text[end..].bytes().all(is_space) => Some(table),
        _ => None,
    }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    source: SourceId,
    depth: usize,
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

impl Reader<'_> {
    fn value(&mut self) -> Option<Item> {
        self.skip_space();
        let start = self.at;
        let data = match self.peek()? {
            b'{' => self.nested(Self::object)?,
            b'[' => self.nested(Self::array)?,
            b'"' => Data::Str(self.string()?),
            b'n' => self.word("null", Data::Null)?,
            b't' => self.word("true", Data::Bool(true))?,
            b'f' => self.word("false", Data::Bool(false))?,
            _ => self.number()?,
        };
        Some(Item { data, span: self.span_from(start) })
    }

    fn span_from(&self, start: usize) -> Span {
        let offset = |at| u32::try_from(at).unwrap_or(u32::MAX);
        Span { source: self.source, start: offset(start), end: offset(self.at) }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn skip_space(&mut self) {
        while self.peek().is_some_and(is_space) {
            self.at += 1;
        }
    }

    fn word(&mut self, word: &str, data: Data) -> Option<Data> {
        let found = self.text[self.at..].starts_with(word);
        self.at += word.len();
        found.then_some(data)
    }

    fn nested(&mut self, read: fn(&mut Self) -> Option<Data>) -> Option<Data> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        self.at += 1;
        self.skip_space();
        let data = read(self);
        self.depth -= 1;
        data
    }

    fn object(&mut self) -> Option<Data> {
        let mut entries = BTreeMap::new();
        if !self.eat(b'}') {
            loop {
                self.skip_space();
                let start = self.at;
                let key = self.string()?;
                self.skip_space();
                if !self.eat(b':') {
                    return None;
                }
                let data = self.value()?.data;
                entries.insert(key, Item { data, span: self.span_from(start) });
                self.skip_space();
                if self.eat(b'}') {
                    break;
                }
                if !self.eat(b',') {
                    return None;
                }
            }
        }
        Some(Data::Table(Table::from_sorted(entries.into_iter().collect())))
    }

    fn array(&mut self) -> Option<Data> {
        let mut items = Vec::new();
        if !self.eat(b']') {
            loop {
                items.push(self.value()?);
                self.skip_space();
                if self.eat(b']') {
                    break;
                }
                if !self.eat(b',') {
                    return None;
                }
            }
        }
        Some(Data::List(Arc::new(items)))
    }

    fn number(&mut self) -> Option<Data> {
        let start = self.at;
        self.eat(b'-');
        if !self.eat(b'0') {
            self.digits()?;
        }
        if self.eat(b'.') {
            self.digits()?;
        }
        if self.eat(b'e') || self.eat(b'E') {
            let _ = self.eat(b'+') || self.eat(b'-');
            self.digits()?;
        }
        let float: f64 = self.text[start..self.at].parse().ok()?;
        float.is_finite().then_some(Data::Float(float))
    }

    fn digits(&mut self) -> Option<()> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        (self.at > start).then_some(())
    }

    fn string(&mut self) -> Option<CompactString> {
        if !self.eat(b'"') {
            return None;
        }
        let mut string = CompactString::default();
        loop {
            let rest = &self.text[self.at..];
            let plain = rest.find(|char: char| matches!(char, '"' | '\\' | '\0'..='\u{1f}'))?;
            string.push_str(&rest[..plain]);
            self.at += plain + 1;
            match rest.as_bytes()[plain] {
                b'"' => return Some(string),
                b'\\' => string.push(self.escape()?),
                _ => return None,
            }
        }
    }

    fn escape(&mut self) -> Option<char> {
        let byte = self.peek()?;
        self.at += 1;
        Some(match byte {
            b'"' | b'\\' | b'/' => char::from(byte),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let unit = self.unit()?;
                // Go puts a replacement character where half of a pair stands alone.
                self.pair(unit).or_else(|| char::from_u32(unit)).unwrap_or(char::REPLACEMENT_CHARACTER)
            }
            _ => return None,
        })
    }

    /// The character of a pair of UTF-16 units, of which the second is still to be read.
    fn pair(&mut self, high: u32) -> Option<char> {
        if !(0xD800..0xDC00).contains(&high) || !self.text[self.at..].starts_with("\\u") {
            return None;
        }
        let before = self.at;
        self.at += 2;
        let low = self.unit().filter(|low| (0xDC00..0xE000).contains(low));
        if low.is_none() {
            self.at = before;
        }
        char::from_u32(0x1_0000 + ((high - 0xD800) << 10) + (low? - 0xDC00))
    }

    fn unit(&mut self) -> Option<u32> {
        let digits = self.text.get(self.at..self.at + 4)?;
        if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        self.at += 4;
        u32::from_str_radix(digits, 16).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::testing::json;

    fn parsed(text: &str) -> Option<(String, &str)> {
        read(text, 0, 0).map(|(item, end)| (json(&item.data), &text[end..]))
    }

    /// As `helm template --set-json` takes them.
    #[test]
    fn values_end_where_they_end() {
        for (text, wanted, rest) in [
            (r#" {"a": [1, -2.5e1, true, null]} ,x"#, r#"{"a":[1,-25,true,null]}"#, " ,x"),
            (r#"{"b":1,"a":2,"b":3}"#, r#"{"a":2,"b":3}"#, ""),
            ("[ ]{}", "[]", "{}"),
            ("01", "0", "1"),
            (r#""a\"\u00e9\ud83d\ude00\n\/""#, "\"a\\\"\u{e9}\u{1f600}\\n/\"", ""),
            (r#""\ud83dx\ude00""#, "\"\u{fffd}x\u{fffd}\"", ""),
            ("12345678901234567890", "12345678901234567000", ""),
        ] {
            assert_eq!(parsed(text), Some((wanted.to_owned(), rest)), "{text}");
        }
    }

    #[test]
    fn what_is_no_json_is_refused() {
        for text in [
            "",
            "x",
            "nul",
            "{",
            "[1,]",
            "{\"a\"}",
            "{a:1}",
            "'a'",
            "\"a",
            "\"\n\"",
            "-",
            "1.",
            ".5",
            "1e",
            "+1",
            "1e400",
            "\"\\x\"",
            "\"\\u12\"",
            "[1",
            "{\"a\":1,}",
            "\"\\u+123\"",
        ] {
            assert_eq!(parsed(text), None, "{text}");
        }
        assert!(parsed(&("[".repeat(MAX_DEPTH) + &"]".repeat(MAX_DEPTH))).is_some());
        assert!(parsed(&("[".repeat(MAX_DEPTH + 1) + &"]".repeat(MAX_DEPTH + 1))).is_none());
    }

    #[test]
    fn only_a_lone_object_is_one() {
        assert!(read_object("{\"a\": 1} \n", 0).is_some());
        assert!(read_object("{} {}", 0).is_none());
        assert!(read_object("[]", 0).is_none());
    }
}

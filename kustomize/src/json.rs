//! Reads JSON proper, where Kustomize hands a text to Go's JSON decoder: what YAML would forgive is refused, and of
//! equal keys the last counts. Out comes the same tree as from YAML, with the places in the text.

use std::collections::HashMap;

use yamltree::{Entry, MAX_DEPTH, Node, SourceId, Span, Style};

use crate::error::{Error, ErrorKind, Result};

/// The one value that a text consists of.
///
/// # Errors
/// Names the first place that is not JSON.
pub(crate) fn parse(text: &str, source: SourceId) -> Result<Node> {
    let mut parser = Parser { text, bytes: text.as_bytes(), at: 0, source };
    parser.skip_space();
    let value = parser.value(0)?;
    parser.skip_space();
    if parser.at < text.len() {
        return Err(parser.unexpected("after the value"));
    }
    Ok(value)
}

/// One part of a JSON pointer, its escapes undone.
pub(crate) fn unescape(part: &str) -> String {
    let mut plain = String::with_capacity(part.len());
    let mut rest = part;
    while let Some(at) = rest.find('~') {
        plain.push_str(&rest[..at]);
        let (escaped, length) = match rest.as_bytes().get(at + 1) {
            Some(b'1') => ('/', 2),
            Some(b'0') => ('~', 2),
            _ => ('~', 1),
        };
        plain.push(escaped);
        rest = &rest[at + length..];
    }
    plain.push_str(rest);
    plain
}

struct Parser<'t> {
    text: &'t str,
    bytes: &'t [u8],
    at: usize,
    source: SourceId,
}

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    fn value(&mut self, depth: usize) -> Result<Node> {
        let start = self.at;
        if depth > MAX_DEPTH {
            let sentence = format!("the JSON is nested more than {MAX_DEPTH} deep");
            return Err(Error::new(ErrorKind::Limit, sentence).at(self.span(start)));
        }
        let mut node = match self.peek() {
            Some(b'{') => self.object(depth)?,
            Some(b'[') => self.array(depth)?,
            Some(b'"') => self.string()?,
            Some(b'-' | b'0'..=b'9') => self.number()?,
            _ => self.word()?,
        };
        node.span = self.span(start);
        Ok(node)
    }

    fn object(&mut self, depth: usize) -> Result<Node> {
        let mut entries: Vec<Entry> = Vec::new();
        self.at += 1;
        self.skip_space();
        if self.take(b'}') {
            return Ok(flow(Node::mapping(entries)));
        }
        loop {
            if self.peek() != Some(b'"') {
                return Err(self.unexpected("instead of a quoted key"));
            }
            let start = self.at;
            let mut key = self.string()?;
            key.span = self.span(start);
            self.skip_space();
            if !self.take(b':') {
                return Err(self.unexpected("after a key instead of `:`"));
            }
            self.skip_space();
            let value = self.value(depth + 1)?;
            entries.push(Entry { key, value });
            self.skip_space();
            if self.take(b'}') {
                return Ok(flow(Node::mapping(last_of_each(entries))));
            }
            if !self.take(b',') {
                return Err(self.unexpected("in an object instead of `,` or `}`"));
            }
            self.skip_space();
        }
    }

    fn array(&mut self, depth: usize) -> Result<Node> {
        let mut items = Vec::new();
        self.at += 1;
        self.skip_space();
        if self.take(b']') {
            return Ok(flow(Node::sequence(items)));
        }
        loop {
            items.push(self.value(depth + 1)?);
            self.skip_space();
            if self.take(b']') {
                return Ok(flow(Node::sequence(items)));
            }
            if !self.take(b',') {
                return Err(self.unexpected("in a list instead of `,` or `]`"));
            }
            self.skip_space();
        }
    }

    fn string(&mut self) -> Result<Node> {
        self.at += 1;
        let mut text = String::new();
        loop {
            let from = self.at;
            while self.peek().is_some_and(|byte| byte >= b' ' && byte != b'"' && byte != b'\\') {
                self.at += 1;
            }
            text.push_str(&self.text[from..self.at]);
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    let mut node = Node::plain(&text);
                    node.style = Style::DoubleQuoted;
                    return Ok(node);
                }
                Some(b'\\') => text.push(self.escape()?),
                _ => return Err(self.unexpected("in a string")),
            }
        }
    }

    fn escape(&mut self) -> Result<char> {
        self.at += 1;
        let plain = match self.peek() {
            Some(byte @ (b'"' | b'\\' | b'/')) => char::from(byte),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode_escape(),
            _ => return Err(self.unexpected("after `\\` in a string")),
        };
        self.at += 1;
        Ok(plain)
    }

    /// Half of a surrogate pair without the other is U+FFFD, as in Go.
    fn unicode_escape(&mut self) -> Result<char> {
        let first = self.hex()?;
        if (0xd800..0xdc00).contains(&first) && self.bytes[self.at..].starts_with(b"\\u") {
            let before = self.at;
            self.at += 1;
            let second = self.hex()?;
            if (0xdc00..0xe000).contains(&second) {
                let code = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                return Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            self.at = before;
        }
        Ok(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    /// The four digits behind a `u`.
    fn hex(&mut self) -> Result<u32> {
        self.at += 1;
        let mut code = 0;
        for _ in 0..4 {
            let digit = self.peek().and_then(|byte| char::from(byte).to_digit(16));
            code = code * 16 + digit.ok_or_else(|| self.unexpected("in a `\\u` escape"))?;
            self.at += 1;
        }
        Ok(code)
    }

    fn number(&mut self) -> Result<Node> {
        let start = self.at;
        self.take(b'-');
        if !self.take(b'0') {
            self.digits()?;
        }
        if self.take(b'.') {
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(Node::plain(&self.text[start..self.at]))
    }

    fn digits(&mut self) -> Result<()> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        if self.at == start { Err(self.unexpected("in a number")) } else { Ok(()) }
    }

    fn word(&mut self) -> Result<Node> {
        for word in ["true", "false", "null"] {
            if self.text[self.at..].starts_with(word) {
                self.at += word.len();
                return Ok(Node::plain(word));
            }
        }
        Err(self.unexpected("instead of a value"))
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn span(&self, start: usize) -> Span {
        // Texts are bounded far below 4 GiB when they are read.
        let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Span { source: self.source, start: offset(start), end: offset(self.at) }
    }

    fn unexpected(&self, place: &str) -> Error {
        let mut span = self.span(self.at);
        let found = match self.text[self.at..].chars().next() {
            Some(found) => {
                span.end += u32::try_from(found.len_utf8()).unwrap_or(0);
                format!("{found:?}")
            }
            None => "the end".to_owned(),
        };
        Error::invalid(format!("invalid JSON: {found} {place}")).at(span)
    }
}

fn flow(mut node: Node) -> Node {
    node.style = Style::Flow;
    node
}

/// Of equal keys, the last with its value in the place of the first.
fn last_of_each(entries: Vec<Entry>) -> Vec<Entry> {
    let mut places: HashMap<String, usize> = HashMap::with_capacity(entries.len());
    let mut kept: Vec<Entry> = Vec::with_capacity(entries.len());
    for entry in entries {
        let place = *places.entry(entry.key.text().unwrap_or_default().to_owned()).or_insert(kept.len());
        if place < kept.len() {
            kept[place] = entry;
        } else {
            kept.push(entry);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn yaml(text: &str) -> String {
        let node = parse(text, 0).expect("JSON");
        let mut out = String::new();
        yamltree::to_sigs_yaml(&node, &mut out).expect("printable");
        out
    }

    fn message(text: &str) -> String {
        parse(text, 0).expect_err("refused").message().to_owned()
    }

    #[test]
    fn values_of_every_kind() {
        assert_eq!(
            yaml(r#"{"a": [1, -2.5e3, true, null, "x"], "b": {}}"#),
            "a:\n- 1\n- -2500\n- true\n- null\n- x\nb: {}\n"
        );
    }

    #[test]
    fn strings_stay_strings() {
        assert_eq!(
            yaml(r#"["1", "true", "a\u00e9\/", "\ud83d\ude00", "\ud83d!"]"#),
            "- \"1\"\n- \"true\"\n- aé/\n- \"\\U0001F600\"\n- \u{fffd}!\n"
        );
    }

    /// As `encoding/json` decodes into a map.
    #[test]
    fn the_last_of_equal_keys_counts() {
        assert_eq!(yaml(r#"{"a": 1, "b": 2, "a": 3}"#), "a: 3\nb: 2\n");
    }

    #[test]
    fn what_yaml_would_forgive_is_refused() {
        for text in [
            "{a: 1}",
            "[1,]",
            "'a'",
            "[01]",
            "[1] x",
            "{\"a\" 1}",
            "[.5]",
            "\"a\nb\"",
            "",
            "[\"\\x\"]",
            "nul",
        ] {
            assert!(message(text).starts_with("invalid JSON: "), "{text}");
        }
    }

    #[test]
    fn the_place_is_that_of_the_fault() {
        let error = parse("{\"a\": x}", 7).expect_err("refused");
        assert_eq!(error.span(), Span { source: 7, start: 6, end: 7 });
    }

    #[test]
    fn nesting_is_bounded() {
        assert!(message(&"[".repeat(1 << 20)).contains("nested"));
    }

    #[test]
    fn pointer_parts_are_unescaped_in_one_pass() {
        assert_eq!(unescape("a~1b~0c~01~"), "a/b~c~1~");
    }
}

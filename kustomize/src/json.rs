//! Reads JSON proper, where Kustomize hands a text to Go's JSON decoder: what YAML would forgive is refused, and of
//! equal keys the last counts. Out comes the same tree as from YAML, with the places in the text.

use std::collections::HashMap;

use diagnostic::{Error, ErrorKind, Result};
use gojson::{Fault, Tokenizer};
use yamltree::{Entry, MAX_DEPTH, Node, SourceId, Span, Style};

/// The one value that a text consists of.
///
/// # Errors
/// Names the first place that is not JSON.
pub(crate) fn parse(text: &str, source: SourceId) -> Result<Node> {
    let mut parser = Parser { text, tokens: Tokenizer::new(text.as_bytes()), source };
    let value = parser.value(0)?;
    if parser.tokens.peek().is_some() {
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
    tokens: Tokenizer<'t>,
    source: SourceId,
}

impl Parser<'_> {
    /// Reads a value after white space.
    fn value(&mut self, depth: usize) -> Result<Node> {
        let first = self.tokens.peek();
        let start = self.tokens.position;
        if depth > MAX_DEPTH {
            let sentence = format!("the JSON is nested more than {MAX_DEPTH} deep");
            return Err(Error::new(ErrorKind::Limit, sentence).at(self.span(start)));
        }
        let mut node = match first {
            Some(b'{') => self.object(depth)?,
            Some(b'[') => self.array(depth)?,
            Some(b'"') => self.string()?,
            Some(b'-' | b'0'..=b'9') => self.number()?,
            Some(b't') => self.literal("true")?,
            Some(b'f') => self.literal("false")?,
            Some(b'n') => self.literal("null")?,
            _ => return Err(self.unexpected("instead of a value")),
        };
        node.span = self.span(start);
        Ok(node)
    }

    fn object(&mut self, depth: usize) -> Result<Node> {
        let mut entries: Vec<Entry> = Vec::new();
        self.tokens.position += 1;
        if self.tokens.take(b'}') {
            return Ok(flow(Node::mapping(entries)));
        }
        loop {
            if self.tokens.peek() != Some(b'"') {
                return Err(self.unexpected("instead of a quoted key"));
            }
            let start = self.tokens.position;
            let mut key = self.string()?;
            key.span = self.span(start);
            if !self.tokens.take(b':') {
                return Err(self.unexpected("after a key instead of `:`"));
            }
            let value = self.value(depth + 1)?;
            entries.push(Entry { key, value });
            if self.tokens.take(b'}') {
                return Ok(flow(Node::mapping(last_of_each(entries))));
            }
            if !self.tokens.take(b',') {
                return Err(self.unexpected("in an object instead of `,` or `}`"));
            }
        }
    }

    fn array(&mut self, depth: usize) -> Result<Node> {
        let mut items = Vec::new();
        self.tokens.position += 1;
        if self.tokens.take(b']') {
            return Ok(flow(Node::sequence(items)));
        }
        loop {
            items.push(self.value(depth + 1)?);
            if self.tokens.take(b']') {
                return Ok(flow(Node::sequence(items)));
            }
            if !self.tokens.take(b',') {
                return Err(self.unexpected("in a list instead of `,` or `]`"));
            }
        }
    }

    fn string(&mut self) -> Result<Node> {
        let text = self.tokens.string().map_err(|error| self.malformed(error.fault))?;
        let mut node = Node::plain(&text);
        node.style = Style::DoubleQuoted;
        Ok(node)
    }

    fn number(&mut self) -> Result<Node> {
        let range = self.tokens.number().map_err(|error| self.malformed(error.fault))?;
        Ok(Node::plain(&self.text[range]))
    }

    fn literal(&mut self, name: &'static str) -> Result<Node> {
        let start = self.tokens.position;
        if self.tokens.literal(name).is_err() {
            self.tokens.position = start;
            return Err(self.unexpected("instead of a value"));
        }
        Ok(Node::plain(name))
    }

    /// Returns the error of a token that the tokenizer stopped in.
    fn malformed(&self, fault: Fault) -> Error {
        self.unexpected(match fault {
            Fault::Literal { .. } => "instead of a value",
            Fault::Number => "in a number",
            Fault::String => "in a string",
            Fault::Escape => "after `\\` in a string",
            Fault::UnicodeEscape { .. } => "in a `\\u` escape",
        })
    }

    fn span(&self, start: usize) -> Span {
        // Texts are bounded far below 4 GiB when they are read.
        let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Span { source: self.source, start: offset(start), end: offset(self.tokens.position) }
    }

    fn unexpected(&self, place: &str) -> Error {
        let mut span = self.span(self.tokens.position);
        let found = match self.text[self.tokens.position..].chars().next() {
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

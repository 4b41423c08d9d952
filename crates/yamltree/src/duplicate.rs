//! Keys that a mapping has twice.
//!
//! In: the entries of a mapping. Out: the keys that repeat an earlier one; on request, the mapping without those that
//! are overridden, or the refusal that go-yaml prints.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use crate::dialect::Dialect;
use crate::error::{Error, ErrorKind};
use crate::node::{Entry, Kind, Node};
use crate::resolve::Resolved;
use diagnostic::Span;

/// A key of a mapping that an earlier entry has too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Duplicate {
    /// The first entry's key.
    pub first: Span,
    /// The later entry's key.
    pub again: Span,
}

/// The handling of duplicate keys. They are listed in [`Document::duplicates`](crate::Document) in any case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DuplicateKeys {
    /// They stay, as in a tree of go-yaml v3's nodes.
    #[default]
    Keep,
    /// The last one stays, as when go-yaml v2 decodes into a Go map.
    KeepLast,
    /// They are refused, as when go-yaml v3 decodes, or v2 does so strictly.
    Refuse,
}

/// The number of keys above which they are hashed instead of compared pairwise.
const HASHING_THRESHOLD: usize = 16;

/// The maximum number of keys that an error names: a mapping may repeat a key millions of times.
const MAX_NAMED_KEYS: usize = 100;

/// The identity of a key. For go-yaml v3 it is kind and text: tag and style are ignored, and all collections are
/// equal. For v2 it is the value of the text; it rejects collections elsewhere.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Identity<'n> {
    Text(&'n str),
    Alias(&'n str),
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Float(u64),
    Collection(usize),
}

fn identity(key: &Node, dialect: Dialect) -> Identity<'_> {
    match (&key.kind, dialect) {
        (Kind::Alias(name), _) => Identity::Alias(name),
        (Kind::Sequence(_), Dialect::V3) => Identity::Collection(0),
        (Kind::Mapping(_), Dialect::V3) => Identity::Collection(1),
        (Kind::Sequence(_) | Kind::Mapping(_), Dialect::V2) => {
            Identity::Collection(std::ptr::from_ref(key).addr())
        }
        (Kind::Scalar(text), Dialect::V3) => Identity::Text(text),
        (Kind::Scalar(text), Dialect::V2) => match key.resolved(dialect) {
            Ok(Resolved::Null) => Identity::Null,
            Ok(Resolved::Bool(value)) => Identity::Bool(value),
            Ok(Resolved::Int(value)) => Identity::Int(value),
            Ok(Resolved::Uint(value)) => Identity::Uint(value),
            Ok(Resolved::Float(value)) => Identity::Float(value.to_bits()),
            Ok(Resolved::Timestamp(_) | Resolved::Binary | Resolved::Str) | Err(_) => Identity::Text(text),
        },
    }
}

/// Adds the keys that repeat an earlier one, each with the first of its kind.
pub(crate) fn find(entries: &[Entry], dialect: Dialect, found: &mut Vec<Duplicate>) {
    let mut add = |first: &Node, again: &Node| found.push(Duplicate { first: first.span, again: again.span });
    if entries.len() <= HASHING_THRESHOLD {
        let mut seen = [Identity::Null; HASHING_THRESHOLD];
        for (at, entry) in entries.iter().enumerate() {
            seen[at] = identity(&entry.key, dialect);
            if let Some(first) = seen[..at].iter().position(|first| *first == seen[at]) {
                add(&entries[first].key, &entry.key);
            }
        }
        return;
    }
    let mut seen = HashMap::with_capacity(entries.len());
    for entry in entries {
        let first = *seen.entry(identity(&entry.key, dialect)).or_insert(&entry.key);
        if !std::ptr::eq(first, &raw const entry.key) {
            add(first, &entry.key);
        }
    }
}

/// Drops the entries that a later one overrides. Each merge counts.
pub(crate) fn drop_overridden(entries: &mut Vec<Entry>, dialect: Dialect) {
    let mut seen = HashSet::new();
    let last_first = entries.iter().rev().map(|entry| &entry.key);
    let kept: Vec<bool> =
        last_first.map(|key| key.is_merge_key() || seen.insert(identity(key, dialect))).collect();
    let mut kept = kept.into_iter().rev();
    entries.retain(|_| kept.next().unwrap_or_default());
}

/// The refusal of a document that has duplicates; `text` begins at `offset` in its file.
pub(crate) fn refusal(root: &Node, text: &str, offset: u32, dialect: Dialect, found: &[Duplicate]) -> Error {
    let mut refusal = Refusal { lines: line_starts(text), offset, dialect, message: String::new(), named: 0 };
    refusal.message.push_str("unmarshal errors:");
    refusal.visit(root);
    let span = found.first().map_or(root.span, |duplicate| duplicate.again);
    Error::new(ErrorKind::Invalid, refusal.message, span)
}

/// Returns the offsets of the lines of a text, by YAML 1.1's line breaks.
fn line_starts(text: &str) -> Vec<usize> {
    let is_break = |char| matches!(char, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}');
    let ends = text.match_indices(is_break).map(|(at, found)| at + found.len());
    ends.filter(|&end| !text[..end].ends_with('\r') || !text[end..].starts_with('\n')).collect()
}

struct Refusal {
    lines: Vec<usize>,
    offset: u32,
    dialect: Dialect,
    message: String,
    named: usize,
}

impl Refusal {
    fn visit(&mut self, node: &Node) {
        match &node.kind {
            Kind::Scalar(_) | Kind::Alias(_) => {}
            Kind::Sequence(items) => items.iter().for_each(|item| self.visit(item)),
            Kind::Mapping(entries) if self.dialect == Dialect::V3 => self.visit_first(entries),
            Kind::Mapping(entries) => self.visit_last(entries),
        }
    }

    /// Version 3 looks at a mapping's keys before what they hold, and at that only if they differ.
    fn visit_first(&mut self, entries: &[Entry]) {
        let mut places = HashMap::<_, Vec<usize>>::new();
        for (at, entry) in entries.iter().enumerate() {
            places.entry(identity(&entry.key, self.dialect)).or_default().push(at);
        }
        if places.len() == entries.len() {
            for entry in entries {
                self.visit(&entry.key);
                self.visit(&entry.value);
            }
            return;
        }
        for (at, entry) in entries.iter().enumerate() {
            let alike = &places[&identity(&entry.key, self.dialect)];
            for again in alike.iter().filter(|&&again| again > at).map(|&again| &entries[again].key) {
                if self.named == MAX_NAMED_KEYS {
                    return;
                }
                let (line, first_line) = (self.line(again.span), self.line(entry.key.span));
                let key = gostd::quoted(again.text().unwrap_or_default().as_bytes());
                self.name(format_args!(
                    "line {line}: mapping key {key} already defined at line {first_line}"
                ));
            }
        }
    }

    /// Version 2 notices a key when it has read its value.
    fn visit_last(&mut self, entries: &[Entry]) {
        let mut seen = HashSet::new();
        for entry in entries {
            self.visit(&entry.key);
            self.visit(&entry.value);
            let identity = identity(&entry.key, self.dialect);
            if !entry.key.is_merge_key() && !seen.insert(identity) {
                let line = self.line(entry.value.span);
                let key = match identity {
                    Identity::Text(text) => gostd::quoted(text.as_bytes()),
                    Identity::Null => "<nil>".to_owned(),
                    Identity::Bool(value) => value.to_string(),
                    Identity::Int(value) => value.to_string(),
                    Identity::Uint(value) => format!("{value:#x}"),
                    _ => entry.key.text().unwrap_or_default().to_owned(),
                };
                self.name(format_args!("line {line}: key {key} already set in map"));
            }
        }
    }

    fn name(&mut self, fault: std::fmt::Arguments<'_>) {
        if self.named < MAX_NAMED_KEYS {
            self.named += 1;
            let _ = write!(self.message, "\n  {fault}");
        }
    }

    fn line(&self, span: Span) -> usize {
        let at = (span.start - self.offset) as usize;
        self.lines.partition_point(|&start| start <= at) + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Document, ParseOptions};
    use crate::parse::parse;

    fn document(text: &str, dialect: Dialect, duplicate_keys: DuplicateKeys) -> Result<Document, String> {
        let options = ParseOptions { dialect, duplicate_keys, ..ParseOptions::default() };
        parse(text, 0, &options).map(|mut documents| documents.remove(0)).map_err(|error| error.go_text())
    }

    fn places(text: &str, dialect: Dialect) -> Vec<(u32, u32)> {
        let document = document(text, dialect, DuplicateKeys::Keep).unwrap();
        document.duplicates.iter().map(|found| (found.first.start, found.again.start)).collect()
    }

    #[test]
    fn duplicates_are_found_in_the_order_of_the_text() {
        assert_eq!(places("a: 1\nb: {c: 1, c: 2}\na: 2\n'a': 3\n", Dialect::V3), [(9, 15), (0, 21), (0, 26)]);
        assert_eq!(places("a: 1\nb: 2\n", Dialect::V3), []);
    }

    /// Seen in both versions: v3 compares text, v2 the values that it makes of it.
    #[test]
    fn what_is_the_same_key_depends_on_the_version() {
        for (text, v2, v3) in [
            ("1: a\n0x1: b\n", true, false),
            ("1: a\n'1': b\n", false, true),
            ("yes: a\ntrue: b\n", true, false),
            ("~: a\nnull: b\n", true, false),
            ("[a]: 1\n[b]: 2\n", false, true),
            ("&a x: 1\n*a : 2\n", false, false),
        ] {
            assert_eq!(!places(text, Dialect::V2).is_empty(), v2, "{text}");
            assert_eq!(!places(text, Dialect::V3).is_empty(), v3, "{text}");
        }
    }

    #[test]
    fn the_last_one_can_be_kept() {
        let text = "a: 1\nb: 2\na: 3\n<<: {c: 1}\n<<: {c: 2}\n";
        let document = document(text, Dialect::V2, DuplicateKeys::KeepLast).unwrap();
        let kept = document.root.entries().unwrap();
        let kept: Vec<_> = kept.iter().map(|entry| (entry.key.text(), entry.value.text())).collect();
        let merge = (Some("<<"), None);
        assert_eq!(kept, [(Some("b"), Some("2")), (Some("a"), Some("3")), merge, merge]);
        assert_eq!(document.duplicates.len(), 2);
    }

    /// The texts are what go-yaml 3.0.4 and 2.4.2 print for these documents.
    #[test]
    fn refusals_read_as_in_go() {
        let v3 = |text| document(text, Dialect::V3, DuplicateKeys::Refuse).unwrap_err();
        assert_eq!(
            v3("a: 1\r\na: 2\nb: {c: 1, c: 2}\n"),
            "yaml: unmarshal errors:\n  line 2: mapping key \"a\" already defined at line 1"
        );
        assert_eq!(
            v3("x:\n- {c: 1, d: 1, c: 2, d: 2, c: 3}\ny: {\"\\t\": 1, ? \"\\t\"}\n"),
            "yaml: unmarshal errors:
  line 2: mapping key \"c\" already defined at line 2
  line 2: mapping key \"c\" already defined at line 2
  line 2: mapping key \"d\" already defined at line 2
  line 2: mapping key \"c\" already defined at line 2
  line 3: mapping key \"\\t\" already defined at line 3"
        );
        // `strconv.Quote` escapes the two that do not print, and keeps the combining accent.
        assert_eq!(
            v3("\u{A0}\u{200B}e\u{301}: 1\n\u{A0}\u{200B}e\u{301}: 2\n"),
            "yaml: unmarshal errors:\n  line 2: mapping key \"\\u00a0\\u200be\u{301}\" already defined at line 1"
        );
        let v2 = |text| document(text, Dialect::V2, DuplicateKeys::Refuse).unwrap_err();
        assert_eq!(
            v2("a: {b: 1, b: 2}\na: 1\n1: x\n0x1:\n  y\n"),
            "yaml: unmarshal errors:
  line 1: key \"b\" already set in map
  line 2: key \"a\" already set in map
  line 5: key 1 already set in map"
        );
    }

    #[test]
    fn wide_mappings_take_linear_time() {
        let text =
            "k: 1\n".repeat(20_000) + &(0..20_000).map(|key| format!("k{key}: 1\n")).collect::<String>();
        let refusal = document(&text, Dialect::V3, DuplicateKeys::Refuse).unwrap_err();
        assert_eq!(refusal.lines().count(), 1 + MAX_NAMED_KEYS);
        let kept = document(&text, Dialect::V2, DuplicateKeys::KeepLast).unwrap();
        assert_eq!(kept.root.entries().unwrap().len(), 20_001);
        assert_eq!(kept.duplicates.len(), 19_999);
    }
}

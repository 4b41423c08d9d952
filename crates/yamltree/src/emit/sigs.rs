//! A resource as Kustomize prints it.
//!
//! In: a node without aliases. Out: YAML as it comes from Kustomize's way through kyaml's decoder, Go's JSON and
//! `sigs.k8s.io/yaml`: keys in go-yaml v2's order, numbers and strings written anew, two columns a level. All of it
//! happens in one walk; what the way through JSON does to a value is done to the value alone.

use std::borrow::Cow;

use super::analysis::{CONTROL, Classes, WIDE, classes};
use super::emitter::{EmitOptions, Emitter, Start};
use super::json::push_json_string;
use super::values::walk;
use super::walk::{KeyOrder, Scalar, Sink};
use crate::dialect::Dialect;
use crate::error::{Error, ErrorKind};
use crate::node::Node;
use crate::number::{push_json_float, push_yaml_float};
use crate::resolve::{Resolved, resolve};
use diagnostic::Span;

/// Appends a node as a document, which ends in a line break; nothing if the node is refused.
pub fn to_sigs_yaml(node: &Node, out: &mut String) -> Result<(), Error> {
    let before = out.len();
    let mut writer = SigsWriter::new(out);
    match walk(node, Dialect::V3, KeyOrder::Natural, &mut writer) {
        Ok(()) => {
            writer.end();
            Ok(())
        }
        Err(error) => {
            out.truncate(before);
            Err(error)
        }
    }
}

/// `JSONToYAML` of `sigs.k8s.io/yaml`: writes what Go's JSON can hold. Its caller sorts the keys by
/// [`sort_by_key_order`](crate::sort_by_key_order).
#[derive(Debug)]
pub struct SigsWriter<'o> {
    emitter: Emitter<'o>,
    /// The text of the number at hand.
    number: String,
}

impl<'o> SigsWriter<'o> {
    /// A writer that appends to `out`, which must be empty or end in a line break.
    pub fn new(out: &'o mut String) -> Self {
        Self { emitter: Emitter::new(out, EmitOptions::SIGS), number: String::new() }
    }

    /// Ends the document, and with it the line.
    pub fn end(mut self) {
        self.emitter.document_end();
    }
}

impl Sink for SigsWriter<'_> {
    fn mapping_start(&mut self, empty: bool) {
        self.emitter.mapping_start(Start { empty, ..Start::default() });
    }

    fn mapping_end(&mut self) {
        self.emitter.mapping_end();
    }

    fn sequence_start(&mut self, empty: bool) {
        self.emitter.sequence_start(Start { empty, ..Start::default() });
    }

    fn sequence_end(&mut self) {
        self.emitter.sequence_end();
    }

    fn key(&mut self, key: &str, span: Span) -> Result<(), Error> {
        let classes = classes(key);
        if is_too_long_a_key(key) || (classes & WIDE != 0 && key.contains(NEXT_LINE)) {
            return Err(Error::new(ErrorKind::Invalid, "did not find expected ',' or '}'", span));
        }
        self.string(key, classes, span)
    }

    fn value(&mut self, value: &Scalar<'_>, span: Span) -> Result<(), Error> {
        match value {
            Scalar::Null => self.emitter.plain("null"),
            Scalar::Bool(true) => self.emitter.plain("true"),
            Scalar::Bool(false) => self.emitter.plain("false"),
            Scalar::Int(int) => self.number(|text| text.push_str(&int.to_string())),
            Scalar::Uint(uint) => self.number(|text| text.push_str(&uint.to_string())),
            Scalar::Float(float) => self.number(|text| push_float(text, *float)),
            Scalar::Timestamp(timestamp) => self.emitter.string(&timestamp.to_string()),
            Scalar::Str(text) => return self.string(text, classes(text), span),
        }
        Ok(())
    }
}

impl SigsWriter<'_> {
    fn number(&mut self, push: impl FnOnce(&mut String)) {
        self.number.clear();
        push(&mut self.number);
        self.emitter.plain(&self.number);
    }

    fn string(&mut self, text: &str, of_text: Classes, span: Span) -> Result<(), Error> {
        if of_text & (CONTROL | WIDE) == 0 {
            self.emitter.string_of(text, of_text);
            return Ok(());
        }
        let text = through_json(text, span)?;
        self.emitter.string(&text);
        Ok(())
    }
}

/// A float as it is read back from JSON: a whole number where its digits are one that fits.
fn push_float(out: &mut String, float: f64) {
    push_json_float(out, float);
    match resolve(out, Dialect::V2) {
        Resolved::Int(int) => *out = int.to_string(),
        Resolved::Uint(_) => {}
        _ => {
            out.clear();
            push_yaml_float(out, float);
        }
    }
}

/// Returns true if go-yaml, on its way through the JSON, gives up looking for the colon of a key: it wants the key on one line
/// and the colon within 1024 characters.
fn is_too_long_a_key(key: &str) -> bool {
    const REACH: usize = 1024;
    const LONGEST_ESCAPE: usize = "\\u0000".len();
    if (key.len() + 2) * LONGEST_ESCAPE <= REACH {
        return false;
    }
    let mut json = String::new();
    push_json_string(&mut json, key, true);
    json.chars().count() > REACH
}

/// A string as go-yaml v2 reads it from JSON, where some characters stand unescaped that YAML has other plans for.
fn through_json(text: &str, span: Span) -> Result<Cow<'_, str>, Error> {
    let refused = |char| matches!(char, '\u{7F}'..='\u{84}' | '\u{86}'..='\u{9F}' | '\u{FFFE}' | '\u{FFFF}');
    if text.contains(refused) {
        return Err(Error::new(ErrorKind::Invalid, "control characters are not allowed", span));
    }
    if ["\u{85}--- ", "\u{85}---\u{85}", "\u{85}... ", "\u{85}...\u{85}"]
        .iter()
        .any(|mark| text.contains(mark))
    {
        return Err(Error::new(ErrorKind::Invalid, "found unexpected document indicator", span));
    }
    Ok(if text.contains(NEXT_LINE) { Cow::Owned(fold_next_lines(text)) } else { Cow::Borrowed(text) })
}

/// A line break in YAML, but an ordinary character in JSON.
const NEXT_LINE: char = '\u{85}';

/// Folds lines as in double quotes: one break becomes a space, of several the first vanishes, spaces around them too.
fn fold_next_lines(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(NEXT_LINE) {
        folded.push_str(rest[..at].trim_end_matches(' '));
        let after = rest[at..].trim_start_matches([' ', NEXT_LINE]);
        let breaks = rest[at..rest.len() - after.len()].matches(NEXT_LINE).count();
        if breaks == 1 {
            folded.push(' ');
        } else {
            folded.extend(std::iter::repeat_n('\n', breaks - 1));
        }
        rest = after;
    }
    folded.push_str(rest);
    folded
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::{Entry, Style};

    #[track_caller]
    fn check(node: &Node, wanted: &str) {
        let mut out = String::new();
        to_sigs_yaml(node, &mut out).unwrap();
        assert_eq!(out, wanted);
    }

    #[test]
    fn keys_are_sorted_and_sequences_stand_under_their_key() {
        let ports = Node::sequence(vec![
            Node::mapping(vec![
                Entry::new("port", Node::plain("080")),
                Entry::new("name", Node::string("http")),
            ]),
            Node::sequence(vec![Node::plain("1"), Node::sequence(vec![])]),
        ]);
        let spec = Node::mapping(vec![
            Entry::new("ports", ports),
            Entry::new("b10", Node::null()),
            Entry::new("b9", Node::mapping(vec![])),
        ]);
        let node = Node::mapping(vec![Entry::new("spec", spec), Entry::new("kind", Node::plain("Service"))]);
        let wanted = "kind: Service\nspec:\n  b9: {}\n  b10: null\n  ports:\n  - name: http\n    port: 80\n  - - 1\n    - []\n";
        check(&node, wanted);
    }

    #[test]
    fn numbers_are_written_anew() {
        for (text, wanted) in [
            ("1.0", "1"),
            ("1e3", "1000"),
            ("012", "10"),
            ("0x1F", "31"),
            ("1_000", "1000"),
            ("0.10", "0.1"),
            ("-0.0", "0"),
            ("1234567.5", "1.2345675e+06"),
            ("1e20", "1e+20"),
            ("1152921504606846976.0", "1152921504606847000"),
            ("18446744073709551615", "18446744073709551615"),
            ("18446744073709551616", "1.8446744073709552e+19"),
            ("2001-01-01", "\"2001-01-01T00:00:00Z\""),
            ("yes", "\"yes\""),
            ("~", "null"),
        ] {
            check(&Node::plain(text), &format!("{wanted}\n"));
        }
    }

    #[test]
    fn what_json_cannot_hold_is_refused() {
        let message = |node: &Node| to_sigs_yaml(node, &mut String::new()).unwrap_err().message().to_owned();
        assert_eq!(message(&Node::plain("-.inf")), "json: unsupported value: -Inf");
        assert_eq!(message(&Node::string("\u{7F}")), "control characters are not allowed");
        let inner = Node::mapping(vec![Entry { key: Node::plain("1"), value: Node::null() }]);
        let node = Node::mapping(vec![Entry::new("a", inner)]);
        assert_eq!(message(&node), "json: unsupported type: map[interface {}]interface {}");
    }

    #[test]
    fn only_the_root_takes_any_scalar_for_a_key() {
        let key = |text| Entry { key: Node::plain(text), value: Node::null() };
        check(&Node::mapping(vec![key("1"), key("true"), key("~")]), "\"1\": null\n\"true\": null\n");
    }

    /// Kustomize's answers: in the JSON the break stands unescaped, and go-yaml folds it.
    #[test]
    fn a_next_line_is_folded() {
        check(&Node::string("a\u{85}b"), "a b\n");
        check(&Node::string("a \u{85} \u{85}\u{85} b"), "|-\n  a\n\n  b\n");
        let key = Node::mapping(vec![Entry::new("a\u{85}b", Node::null())]);
        let message = |node: &Node| to_sigs_yaml(node, &mut String::new()).unwrap_err().message().to_owned();
        assert_eq!(message(&key), "did not find expected ',' or '}'");
        assert_eq!(message(&Node::string("a\u{85}--- b")), "found unexpected document indicator");
    }

    /// Kustomize's answers: the key's JSON with its quotes must not be longer than 1024 characters.
    #[test]
    fn a_very_long_key_is_refused() {
        let write = |key: String| {
            to_sigs_yaml(&Node::mapping(vec![Entry::new(&key, Node::null())]), &mut String::new()).is_ok()
        };
        assert!(write("é".repeat(1022)) && !write("é".repeat(1023)));
        assert!(write("<".repeat(170)) && !write("<".repeat(171)));
    }

    #[test]
    fn nothing_is_kept_of_a_refused_node() {
        let mut out = "a: b\n".to_owned();
        let node =
            Node::mapping(vec![Entry::new("a", Node::plain("1")), Entry::new("b", Node::plain(".inf"))]);
        assert!(to_sigs_yaml(&node, &mut out).is_err());
        assert_eq!(out, "a: b\n");
    }

    #[test]
    fn a_source_style_does_not_show() {
        let node = Node { style: Style::DoubleQuoted, ..Node::plain("a") };
        check(&node, "a\n");
    }
}

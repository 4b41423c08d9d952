//! The YAML writer: go-yaml's layout, quoting and folding, fed by events.
//!
//! In: starts and ends of collections, and scalars, in document order. Out: text in a string that the caller owns.
//! It holds no tree, so any kind of value can be written through it. It trusts its caller to balance starts and ends
//! and to give a mapping as many values as keys.

use super::analysis::{Analysis, Classes, NEWLINE, classes, is_word};
use super::quoting::reads_as_string;
use crate::dialect::Dialect;
use crate::node::Style;
use crate::number::push_yaml_float;

/// The options of go-yaml's emitter, as a tool sets them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EmitOptions {
    /// Which go-yaml writes. [`Dialect::V2`] folds lines beyond 80 columns, [`Dialect::V3`] never folds.
    pub dialect: Dialect,
    /// The columns of a level: 2 to 9.
    pub indent: usize,
    /// True if `-` is aligned with its key. [`Dialect::V2`] has no other layout.
    pub compact_sequences: bool,
}

impl EmitOptions {
    /// `sigs.k8s.io/yaml`: what Kustomize prints, and Helm's `toYaml`.
    pub const SIGS: Self = Self { dialect: Dialect::V2, indent: 2, compact_sequences: true };
    /// kyaml, inside Kustomize.
    pub const KYAML: Self = Self { dialect: Dialect::V3, indent: 2, compact_sequences: true };

    /// The column after which a line is folded.
    pub(super) fn width(self) -> usize {
        match self.dialect {
            Dialect::V2 => 80,
            Dialect::V3 => usize::MAX,
        }
    }
}

/// The properties in front of a node.
#[derive(Clone, Copy, Debug, Default)]
pub struct Properties<'p> {
    /// A name to refer to the node by, without `&`.
    pub anchor: Option<&'p str>,
    /// A tag: `!!int`, `!Ref`, or a whole one such as `tag:example.com,2000:app`.
    pub tag: Option<&'p str>,
}

impl Properties<'_> {
    fn len(&self) -> usize {
        self.anchor.map_or(0, str::len) + self.tag.map_or(0, str::len)
    }
}

/// The start of a mapping or a sequence.
#[derive(Clone, Copy, Debug, Default)]
pub struct Start<'p> {
    /// True if its end follows at once, as it is then written `{}` or `[]`.
    pub empty: bool,
    /// True if it is written `{…}` or `[…]`.
    pub flow: bool,
    /// The properties in front of it.
    pub properties: Properties<'p>,
}

/// Writes one document after another into a string.
#[derive(Debug)]
pub struct Emitter<'o> {
    pub(super) out: &'o mut String,
    pub(super) options: EmitOptions,
    /// The column that the next character takes, counted in characters.
    pub(super) column: usize,
    /// The column where a new line of the open collection starts; `None` outside of all.
    indent: Option<usize>,
    /// True if the last character was a blank.
    pub(super) whitespace: bool,
    /// True if the line holds only blanks, `-`, `?` and `:` so far.
    pub(super) indention: bool,
    levels: Vec<Level>,
    flow_levels: usize,
}

/// An open collection.
#[derive(Debug)]
struct Level {
    kind: LevelKind,
    flow: bool,
    /// The indent to return to.
    outer: Option<usize>,
    /// True if nothing is in it so far.
    untouched: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LevelKind {
    Sequence,
    /// A mapping that waits for a key.
    Key,
    /// A mapping that waits for the value of a key written without `?`.
    Value,
    /// A mapping that waits for the value of a key written after `?`.
    ComplexValue,
}

/// The position of a node.
#[derive(Clone, Copy, Default)]
struct Position {
    in_mapping: bool,
    /// A key without `?`, so on one line.
    simple_key: bool,
}

/// The maximum length of a key without `?`, with its tag and anchor.
const MAX_SIMPLE_KEY_LEN: usize = 128;

impl<'o> Emitter<'o> {
    /// A writer that appends to `out`, which must be empty or end in a line break.
    pub fn new(out: &'o mut String, options: EmitOptions) -> Self {
        Self {
            out,
            options,
            column: 0,
            indent: None,
            whitespace: true,
            indention: true,
            levels: Vec::new(),
            flow_levels: 0,
        }
    }

    /// Starts a mapping; its keys and values follow in turn.
    pub fn mapping_start(&mut self, start: Start<'_>) {
        self.start(start, LevelKind::Key, '{');
    }

    /// Ends the innermost collection, which is a mapping.
    pub fn mapping_end(&mut self) {
        self.end('}');
    }

    /// Starts a sequence; its items follow.
    pub fn sequence_start(&mut self, start: Start<'_>) {
        self.start(start, LevelKind::Sequence, '[');
    }

    /// Ends the innermost collection, which is a sequence.
    pub fn sequence_end(&mut self) {
        self.end(']');
    }

    /// Writes a string so that it reads back as that string: quoted where its text would be read otherwise, as a
    /// block where it has several lines.
    pub fn string(&mut self, text: &str) {
        self.string_of(text, classes(text));
    }

    /// Writes a null, a boolean or a number by its text, which holds no blanks.
    pub fn plain(&mut self, text: &str) {
        self.word(text);
    }

    /// Writes a float as go-yaml prints it: `1e+06`, `.inf`, `.nan`.
    pub fn float(&mut self, float: f64) {
        let mut text = String::new();
        match float {
            _ if float.is_nan() => text.push_str(".nan"),
            f64::INFINITY => text.push_str(".inf"),
            f64::NEG_INFINITY => text.push_str("-.inf"),
            _ => push_yaml_float(&mut text, float),
        }
        self.plain(&text);
    }

    /// Writes a scalar in a style, or in the next one that can hold its text.
    pub fn scalar(&mut self, text: &str, style: Style, properties: Properties<'_>) {
        self.scalar_of(text, classes(text), style, properties);
    }

    /// Writes `*name`.
    pub fn alias(&mut self, name: &str) {
        self.open(name.len() <= MAX_SIMPLE_KEY_LEN);
        self.indicator("*", true, false, false);
        self.put(name);
        self.whitespace = false;
        self.indention = false;
    }

    /// Ends the document, and with it the line.
    pub fn document_end(&mut self) {
        self.new_line();
    }

    /// Starts a document after another.
    pub fn document_separator(&mut self) {
        self.new_line();
        self.indicator("---", true, false, false);
        // go-yaml v3 ends the line after the marker, v2 writes on.
        if self.options.dialect == Dialect::V3 {
            self.new_line();
        }
    }

    fn start(&mut self, start: Start<'_>, kind: LevelKind, bracket: char) {
        let place = self.open(start.empty && start.properties.len() <= MAX_SIMPLE_KEY_LEN);
        self.properties(start.properties);
        let flow = start.flow || start.empty || self.flow_levels > 0;
        let compact = kind == LevelKind::Sequence && place.in_mapping && !self.indention;
        if flow {
            let mut buffer = [0; 4];
            self.indicator(bracket.encode_utf8(&mut buffer), true, true, false);
            self.flow_levels += 1;
        }
        let outer = self.indent;
        self.indent = Some(self.deeper(flow, compact && !flow));
        self.levels.push(Level { kind, flow, outer, untouched: true });
    }

    fn end(&mut self, bracket: char) {
        let Some(level) = self.levels.pop() else { return };
        self.indent = level.outer;
        if level.flow {
            self.flow_levels -= 1;
            let mut buffer = [0; 4];
            self.indicator(bracket.encode_utf8(&mut buffer), false, false, false);
        }
    }

    /// The indent of what the node at hand holds.
    fn deeper(&self, flow: bool, compact: bool) -> usize {
        let step = self.options.indent;
        let Some(indent) = self.indent else { return if flow { step } else { 0 } };
        match self.options.dialect {
            Dialect::V2 => indent + if compact { 0 } else { step },
            Dialect::V3
                if self
                    .levels
                    .last()
                    .is_some_and(|level| level.kind == LevelKind::Sequence && !level.flow) =>
            {
                indent + 2
            }
            Dialect::V3 => {
                let aligned = (indent + step) / step * step;
                aligned - if compact && self.options.compact_sequences { 2 } else { 0 }
            }
        }
    }

    /// [`Emitter::string`] for a text whose classes are known.
    pub(super) fn string_of(&mut self, text: &str, classes: Classes) {
        if self.flow_levels == 0 && is_word(text, classes) && reads_as_string(text, self.options.dialect) {
            return self.word(text);
        }
        let style = if classes & NEWLINE != 0 {
            Style::Literal
        } else if reads_as_string(text, self.options.dialect) {
            Style::Plain
        } else {
            Style::DoubleQuoted
        };
        self.scalar_of(text, classes, style, Properties::default());
    }

    /// Writes a string that is plain in every context and never folded: most scalars are.
    fn word(&mut self, text: &str) {
        self.open(text.len() <= MAX_SIMPLE_KEY_LEN);
        if !self.whitespace {
            self.out.push(' ');
            self.column += 1;
        }
        self.out.push_str(text);
        self.column += text.len();
        self.whitespace = false;
        self.indention = false;
    }

    fn scalar_of(&mut self, text: &str, classes: Classes, style: Style, properties: Properties<'_>) {
        let analysis = Analysis::of(text, classes, self.options.dialect);
        let simple = !analysis.multiline && text.len() + properties.len() <= MAX_SIMPLE_KEY_LEN;
        let place = self.open(simple);
        let style = self.possible_style(text, style, analysis, place);
        self.properties(properties);
        let outer = self.indent;
        self.indent = Some(self.deeper(true, false));
        self.write_scalar(text, classes, style, !place.simple_key);
        self.indent = outer;
    }

    /// The wanted style, or the next one that can hold the text at this place.
    fn possible_style(&self, text: &str, wanted: Style, analysis: Analysis, place: Position) -> Style {
        let in_flow = self.flow_levels > 0;
        let mut style = wanted;
        if place.simple_key && analysis.multiline {
            style = Style::DoubleQuoted;
        }
        if style == Style::Plain || style == Style::Flow {
            let allowed = if in_flow { analysis.flow_plain } else { analysis.block_plain };
            let invisible = text.is_empty() && (in_flow || place.simple_key);
            style = if allowed && !invisible { Style::Plain } else { Style::SingleQuoted };
        }
        let allowed = match style {
            Style::SingleQuoted => analysis.single_quoted,
            Style::Literal | Style::Folded => analysis.block && !in_flow && !place.simple_key,
            Style::Plain | Style::DoubleQuoted | Style::Flow => true,
        };
        if allowed { style } else { Style::DoubleQuoted }
    }

    /// Writes what the innermost collection has before its next node.
    fn open(&mut self, simple: bool) -> Position {
        let Some(level) = self.levels.last_mut() else { return Position::default() };
        let (kind, flow, first) = (level.kind, level.flow, level.untouched);
        level.untouched = false;
        level.kind = match kind {
            LevelKind::Sequence => LevelKind::Sequence,
            LevelKind::Key if simple => LevelKind::Value,
            LevelKind::Key => LevelKind::ComplexValue,
            LevelKind::Value | LevelKind::ComplexValue => LevelKind::Key,
        };
        match (flow, kind) {
            (_, LevelKind::Value) => self.indicator(":", false, false, false),
            (false, LevelKind::Sequence) => {
                self.new_line();
                self.indicator("-", true, false, true);
            }
            (false, LevelKind::Key) => {
                self.new_line();
                if !simple {
                    self.indicator("?", true, false, true);
                }
            }
            (false, LevelKind::ComplexValue) => {
                self.new_line();
                self.indicator(":", true, false, true);
            }
            (true, LevelKind::Sequence) => self.flow_separator(first),
            (true, LevelKind::Key) => {
                self.flow_separator(first);
                if !simple {
                    self.indicator("?", true, false, false);
                }
            }
            (true, LevelKind::ComplexValue) => {
                self.flow_line();
                self.indicator(":", true, false, false);
            }
        }
        let in_mapping = kind != LevelKind::Sequence;
        Position { in_mapping, simple_key: simple && kind == LevelKind::Key }
    }

    fn flow_separator(&mut self, first: bool) {
        if !first {
            self.indicator(",", false, false, false);
        }
        self.flow_line();
    }

    /// Continues a flow collection on a new line where this one is full.
    fn flow_line(&mut self) {
        if self.column > self.options.width() {
            self.new_line();
        }
    }

    fn properties(&mut self, properties: Properties<'_>) {
        if let Some(anchor) = properties.anchor {
            self.indicator("&", true, false, false);
            self.put(anchor);
        }
        if let Some(tag) = properties.tag {
            self.tag(tag);
        }
    }

    fn tag(&mut self, tag: &str) {
        let (open, text, close) = match tag.strip_prefix("!!").map(|text| ("!!", text)) {
            Some((handle, text)) => (handle, text, ""),
            None => match tag.strip_prefix('!') {
                Some(text) => ("!", text, ""),
                None => ("!<", tag, ">"),
            },
        };
        self.indicator(open, true, false, false);
        for byte in text.bytes() {
            if byte.is_ascii_alphanumeric() || b"-;/?:@&=+$,_.~*'()[]".contains(&byte) {
                self.put_char(char::from(byte));
            } else {
                self.put(&format!("%{byte:02X}"));
            }
        }
        self.put(close);
    }

    /// Goes to the indent of the open collection, on a new line unless this one is still blank up to there.
    pub(super) fn new_line(&mut self) {
        let indent = self.indent.unwrap_or(0);
        if !self.indention || self.column > indent || (self.column == indent && !self.whitespace) {
            self.line_break();
        }
        self.pad(indent);
        self.whitespace = true;
        self.indention = true;
    }

    fn pad(&mut self, column: usize) {
        const SPACES: &str = "                                                                ";
        while self.column < column {
            let count = (column - self.column).min(SPACES.len());
            self.out.push_str(&SPACES[..count]);
            self.column += count;
        }
    }

    pub(super) fn line_break(&mut self) {
        self.out.push('\n');
        self.column = 0;
        self.indention |= self.options.dialect == Dialect::V3;
    }

    /// Writes something in ASCII that is part of the syntax.
    pub(super) fn indicator(
        &mut self,
        indicator: &str,
        after_blank: bool,
        is_blank: bool,
        keeps_indention: bool,
    ) {
        if after_blank && !self.whitespace {
            self.out.push(' ');
            self.column += 1;
        }
        self.out.push_str(indicator);
        self.column += indicator.len();
        self.whitespace = is_blank;
        self.indention &= keeps_indention;
    }

    pub(super) fn put(&mut self, text: &str) {
        self.out.push_str(text);
        self.column += text.chars().count();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(options: EmitOptions, write: impl FnOnce(&mut Emitter<'_>), wanted: &str) {
        let mut out = String::new();
        let mut emitter = Emitter::new(&mut out, options);
        write(&mut emitter);
        emitter.document_end();
        assert_eq!(out, wanted);
    }

    #[test]
    fn floats_are_never_whole() {
        let floats = |out: &mut Emitter<'_>| {
            out.sequence_start(Start::default());
            [1e6, 0.5, f64::INFINITY, f64::NEG_INFINITY, f64::NAN]
                .into_iter()
                .for_each(|float| out.float(float));
            out.sequence_end();
        };
        check(EmitOptions::SIGS, floats, "- 1e+06\n- 0.5\n- .inf\n- -.inf\n- .nan\n");
    }

    /// libyaml's rule, which go-yaml v2 keeps: a flow collection goes on in a new line once a line is full.
    #[test]
    fn a_full_line_of_a_flow_collection_is_left() {
        let numbers = |out: &mut Emitter<'_>| {
            out.mapping_start(Start { flow: true, ..Start::default() });
            out.string("key");
            out.sequence_start(Start { flow: true, ..Start::default() });
            (0..12).for_each(|_| out.string("an-item"));
            out.sequence_end();
            out.mapping_end();
        };
        let items = |count| vec!["an-item"; count].join(", ");
        let two_lines = format!("{{key: [{},\n    {}]}}\n", items(9), items(3));
        check(EmitOptions::SIGS, numbers, &two_lines);
        check(EmitOptions::KYAML, numbers, &format!("{{key: [{}]}}\n", items(12)));
    }

    #[test]
    fn documents_are_separated() {
        let documents = |out: &mut Emitter<'_>| {
            out.string("a");
            out.document_end();
            out.document_separator();
            out.sequence_start(Start { empty: true, ..Start::default() });
            out.sequence_end();
        };
        check(EmitOptions::SIGS, documents, "a\n--- []\n");
        check(EmitOptions::KYAML, documents, "a\n---\n[]\n");
    }
}

//! Renders errors and warnings for a terminal, or as JSON.
//!
//! ```text
//! error: unknown field `imagez`
//!   --> overlays/prod/kustomization.yaml:12:1
//!    |
//! 12 | imagez:
//!    | ^^^^^^
//!    = in the base `../base`: overlays/dev/kustomization.yaml:3:3
//! hint: did you mean `images`?
//! ```

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;

use anstyle::{AnsiColor, Style};
use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::error::{Error, Step};
use crate::redact::redact;
use crate::source::{Location, Source};
use crate::warning::{Warning, WarningCode};

const HINT: Style = AnsiColor::Cyan.on_default().bold();
const FRAME: Style = AnsiColor::Blue.on_default().bold();

/// Maximum number of characters shown of a line; the position stays in view.
const MAX_EXCERPT: usize = 100;

/// The severity of a report, which sets the colour of its label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// An error.
    Error,
    /// A warning.
    Warning,
    /// A note.
    Note,
}

/// One thing to show: an error, a warning, a finding.
#[derive(Clone, Debug)]
pub struct Report<'a> {
    /// The word in front of the message: `error`, `warning[KUST-W001]`.
    pub label: String,
    /// The severity.
    pub severity: Severity,
    /// The message.
    pub message: &'a str,
    /// The location.
    pub location: Option<&'a Location>,
    /// Show the line of the location with a caret.
    pub excerpt: bool,
    /// The chain that led there, innermost first.
    pub chain: Vec<String>,
    /// The hint: what to do.
    pub hint: Option<&'a str>,
}

/// Renders reports. Looks up the lines of each file only once, as a file may have as many warnings as lines.
#[derive(Debug, Default)]
pub struct Renderer {
    lines: Lines,
}

impl Severity {
    fn style(self) -> Style {
        match self {
            Self::Error => AnsiColor::Red.on_default().bold(),
            Self::Warning => AnsiColor::Yellow.on_default().bold(),
            Self::Note => HINT,
        }
    }
}

impl Renderer {
    /// Renders an error with an excerpt of its file; `context` is the outermost link of its chain.
    pub fn error(&mut self, label: &str, error: &Error, context: Option<String>) -> String {
        let mut step = |step: &Step| match &step.location {
            Some(location) => format!("{}: {}", step.note, self.lines.location(location)),
            None => step.note.clone(),
        };
        let mut chain: Vec<String> = error.chain().iter().map(&mut step).collect();
        chain.extend(context);
        self.report(&Report {
            label: label.to_owned(),
            severity: Severity::Error,
            message: error.message(),
            location: error.location(),
            excerpt: true,
            chain,
            hint: error.get_hint(),
        })
    }

    /// Renders a warning in one line, its location and its hint.
    pub fn warning<C: WarningCode>(&mut self, warning: &Warning<C>) -> String {
        self.report(&Report {
            label: format!("warning[{}]", warning.code.as_str()),
            severity: Severity::Warning,
            message: &warning.message,
            location: warning.location.as_ref(),
            excerpt: false,
            chain: Vec::new(),
            hint: warning.hint.as_deref(),
        })
    }

    /// Renders a report, with ANSI colours.
    pub fn report(&mut self, report: &Report<'_>) -> String {
        let style = report.severity.style();
        let mut text = String::new();
        push(&mut text, style, &report.label);
        push(&mut text, Style::new().bold(), &format!(": {}", visible(report.message.trim_end())));
        text.push('\n');
        let position = report.location.map(|location| self.lines.position(location));
        let gutter = position.map_or(2, |position| position.line.to_string().len()).max(2);
        if let (Some(location), Some(position)) = (report.location, position) {
            push(&mut text, FRAME, &format!("{:gutter$}--> ", ""));
            let Position { line, column, .. } = position;
            text.push_str(&visible(&format!("{}:{line}:{column}\n", location.source.name)));
            if report.excerpt {
                push_excerpt(&mut text, location, position, gutter, style);
            }
        }
        for step in &report.chain {
            push(&mut text, FRAME, &format!("{:gutter$} = ", ""));
            let _ = writeln!(text, "{}", visible(step));
        }
        if let Some(hint) = report.hint {
            push(&mut text, HINT, "hint");
            let _ = writeln!(text, ": {}", visible(hint));
        }
        text
    }
}

/// Serializes as `kind`, `message`, and where known `hint`, `location` and `chain`.
impl Serialize for Error {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("kind", &self.kind().name())?;
        map.serialize_entry("message", self.message())?;
        if let Some(hint) = self.get_hint() {
            map.serialize_entry("hint", hint)?;
        }
        if let Some(location) = self.location() {
            map.serialize_entry("location", location)?;
        }
        if !self.chain().is_empty() {
            map.serialize_entry("chain", self.chain())?;
        }
        map.end()
    }
}

/// Serializes as `note` and, where known, `location`.
impl Serialize for Step {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("note", &self.note)?;
        if let Some(location) = &self.location {
            map.serialize_entry("location", location)?;
        }
        map.end()
    }
}

/// Serializes as `path`, `line` and `column`.
impl Serialize for Location {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (line, column) = self.source.line_column(self.span.start);
        let mut map = serializer.serialize_map(Some(3))?;
        map.serialize_entry("path", &self.source.name)?;
        map.serialize_entry("line", &line)?;
        map.serialize_entry("column", &column)?;
        map.end()
    }
}

fn push(text: &mut String, style: Style, words: &str) {
    let _ = write!(text, "{style}{words}{style:#}");
}

fn push_excerpt(text: &mut String, location: &Location, position: Position, gutter: usize, style: Style) {
    let Excerpt { shown, indent, marked } = Excerpt::of(location, position);
    push(text, FRAME, &format!("{:gutter$} |", ""));
    text.push('\n');
    push(text, FRAME, &format!("{:>gutter$} | ", position.line));
    text.push_str(&shown);
    text.push('\n');
    push(text, FRAME, &format!("{:gutter$} | ", ""));
    let _ = write!(text, "{:indent$}", "");
    push(text, style, &"^".repeat(marked));
    text.push('\n');
}

/// A line, or the part of it around a location, and where to mark it.
struct Excerpt {
    shown: String,
    indent: usize,
    marked: usize,
}

impl Excerpt {
    fn of(location: &Location, position: Position) -> Self {
        let rest = &location.source.text[position.line_start..];
        let line = rest.split('\n').next().unwrap_or_default().trim_end_matches('\r');
        let first = position.column - 1;
        let bytes = (location.span.end.saturating_sub(location.span.start)) as usize;
        let marked = rest.char_indices().skip(first).take_while({
            let start = position.offset - position.line_start;
            move |(at, character)| *at < start + bytes && *character != '\n'
        });
        // A long line is cut so that some text before the location stays.
        let skipped = if first > MAX_EXCERPT / 2 { first - MAX_EXCERPT / 4 } else { 0 };
        let ends = line.chars().count();
        let visible_end = ends.min(skipped + MAX_EXCERPT);
        let marked = marked.take(MAX_EXCERPT).count().min(visible_end.saturating_sub(first)).max(1);
        // Redact before cutting: a cut could separate a secret from the URL around it.
        let mut shown: String = redact(line)
            .chars()
            .skip(skipped)
            .take(MAX_EXCERPT)
            .map(|character| if character == '\t' { ' ' } else { character })
            .collect();
        shown = visible(&shown);
        let mut indent = first - skipped;
        if skipped > 0 {
            shown.insert(0, '…');
            indent += 1;
        }
        if visible_end < ends {
            shown.push('…');
        }
        Self { shown, indent, marked }
    }
}

/// Removes secrets and replaces control characters, so that the content of a file cannot control the terminal.
fn visible(text: &str) -> String {
    let text = redact(text);
    let hidden = |character: char| character.is_control() && character != '\n';
    if !text.contains(hidden) {
        return text.into_owned();
    }
    text.chars().map(|character| if hidden(character) { '\u{fffd}' } else { character }).collect()
}

/// The offsets of the lines of each file, by the address of its text.
#[derive(Debug, Default)]
struct Lines(HashMap<*const str, (Arc<str>, Vec<usize>)>);

/// A location in numbers; line and column count from one, a column is a character.
#[derive(Clone, Copy, Debug)]
struct Position {
    offset: usize,
    line: usize,
    line_start: usize,
    column: usize,
}

impl Lines {
    fn position(&mut self, location: &Location) -> Position {
        let text: &str = &location.source.text;
        let mut offset = (location.span.start as usize).min(text.len());
        while !text.is_char_boundary(offset) {
            offset -= 1;
        }
        let starts = self.starts(&location.source);
        let line = starts.partition_point(|start| *start <= offset);
        let line_start = starts[line - 1];
        Position { offset, line, line_start, column: text[line_start..offset].chars().count() + 1 }
    }

    fn location(&mut self, location: &Location) -> String {
        let Position { line, column, .. } = self.position(location);
        format!("{}:{line}:{column}", location.source.name)
    }

    fn starts(&mut self, source: &Source) -> &[usize] {
        let known = self.0.entry(Arc::as_ptr(&source.text)).or_insert_with(|| {
            let breaks = source.text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
            let starts = std::iter::once(0).chain(breaks.map(|(at, _)| at + 1)).collect();
            // Holding the text keeps its address from being given to another one.
            (Arc::clone(&source.text), starts)
        });
        &known.1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ErrorKind, Span};

    fn location(text: &str, start: u32, end: u32) -> Location {
        let source = Arc::new(Source { name: "app/kustomization.yaml".to_owned(), text: text.into() });
        Location { source, span: Span { source: 0, start, end } }
    }

    fn rendered(message: &str, location: Option<&Location>, chain: &[&str], hint: Option<&str>) -> String {
        let chain = chain.iter().map(|step| (*step).to_owned()).collect();
        let (label, severity) = ("error".to_owned(), Severity::Error);
        let report = Report { label, severity, message, location, excerpt: true, chain, hint };
        anstream::adapter::strip_str(&Renderer::default().report(&report)).to_string()
    }

    #[test]
    fn an_error_shows_its_location_chain_and_hint() {
        let location = location("resources:\n- a.yaml\nimagez: []\n", 20, 26);
        let text =
            rendered("unknown field", Some(&location), &["in the base `../app`: k.yaml:3:3"], Some("try"));
        assert_eq!(
            text,
            "error: unknown field\n  --> app/kustomization.yaml:3:1\n   |\n 3 | imagez: []\n   | ^^^^^^\n   = in the base \
             `../app`: k.yaml:3:3\nhint: try\n"
        );
        assert_eq!(rendered("no place", None, &[], None), "error: no place\n");
    }

    #[test]
    fn a_span_of_several_lines_is_marked_to_the_end_of_its_first_line() {
        let location = location("a:\n  b: |\n    text\n", 5, 18);
        assert!(rendered("x", Some(&location), &[], None).contains(" 2 |   b: |\n   |   ^^^^\n"));
    }

    #[test]
    fn an_empty_span_is_marked() {
        let at_end = location("a: [\n", 5, 5);
        assert!(rendered("x", Some(&at_end), &[], None).contains(":2:1\n   |\n 2 | \n   | ^\n"));
        let beyond = location("a", 90, 99);
        assert!(rendered("x", Some(&beyond), &[], None).contains(":1:2\n"));
        let inside_a_character = location("\u{e9}", 1, 2);
        assert!(rendered("x", Some(&inside_a_character), &[], None).contains(":1:1\n"));
    }

    #[test]
    fn columns_are_characters() {
        let location = location("\u{e9}\u{e9}: b\r\n", 6, 7);
        let text = rendered("x", Some(&location), &[], None);
        assert!(text.contains(":1:5\n   |\n 1 | \u{e9}\u{e9}: b\n   |     ^\n"), "{text}");
    }

    #[test]
    fn a_long_line_is_cut_around_the_location() {
        let line = format!("{}target{}", "a".repeat(5000), "b".repeat(5000));
        let text = rendered("x", Some(&location(&line, 5000, 5006)), &[], None);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines.iter().all(|line| line.chars().count() < MAX_EXCERPT + 10), "{text}");
        let at = lines[3].find("target").unwrap();
        // The ellipsis is one character of three bytes.
        assert_eq!(lines[4].find("^^^^^^").unwrap(), at - 2);
    }

    #[test]
    fn a_file_cannot_control_the_terminal() {
        let report = Report {
            label: "error".to_owned(),
            severity: Severity::Note,
            message: "no \u{1b}[31mred",
            location: Some(&location("key\u{1b}[2J: 1\n", 0, 3)),
            excerpt: true,
            chain: vec!["in \u{7}".to_owned()],
            hint: None,
        };
        let text = anstream::adapter::strip_str(&Renderer::default().report(&report)).to_string();
        assert!(
            !text.contains("\u{1b}[31mred") && !text.contains("\u{1b}[2J") && !text.contains('\u{7}'),
            "{text:?}"
        );
    }

    #[test]
    fn json_has_what_the_terminal_shows() {
        let at = location("a: 1\nb: 2\n", 5, 6);
        let error = Error::new(ErrorKind::NotFound, "no file `x`").at(at.clone()).hint("create it");
        assert_eq!(
            serde_json::to_value(error.via("in the base", at)).unwrap(),
            serde_json::json!({
                "kind": "NotFound",
                "message": "no file `x`",
                "hint": "create it",
                "location": {"path": "app/kustomization.yaml", "line": 2, "column": 1},
                "chain": [{
                    "note": "in the base",
                    "location": {"path": "app/kustomization.yaml", "line": 2, "column": 1},
                }],
            })
        );
    }
}

//! Turns errors and warnings into what a person reads on standard error, and into the exit code. Nothing else does.
//!
//! Out: a sentence, its place with an excerpt, the chain that led there, and a hint:
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

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::ExitCode;
use std::sync::Arc;

use anstyle::{AnsiColor, Style};
use findings::{Finding, Severity};
use gitremote::redact;
use yamltree::{Place, Source};

use crate::cli::program::Program;
use crate::error::{Error, ErrorKind, Step};

const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const HINT: Style = AnsiColor::Cyan.on_default().bold();
const FRAME: Style = AnsiColor::Blue.on_default().bold();

/// A line is shown up to this many characters, the place in view.
const MAX_EXCERPT: usize = 100;

/// A warning of an engine or about an Application.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Notice<'w> {
    code: &'static str,
    message: &'w str,
    hint: Option<&'w str>,
    place: Option<&'w Place>,
}

impl<'w> From<&'w kustomize::Warning> for Notice<'w> {
    fn from(warning: &'w kustomize::Warning) -> Self {
        let kustomize::Warning { code, message, hint, place, .. } = warning;
        Self { code: code.as_str(), message, hint: hint.as_deref(), place: place.as_ref() }
    }
}

impl<'w> From<&'w argocd::Warning> for Notice<'w> {
    fn from(warning: &'w argocd::Warning) -> Self {
        let argocd::Warning { code, message, hint, place } = warning;
        Self { code: code.as_str(), message, hint: hint.as_deref(), place: place.as_ref() }
    }
}

impl<'w> From<&'w flux::Warning> for Notice<'w> {
    fn from(warning: &'w flux::Warning) -> Self {
        let flux::Warning { code, message, hint, place } = warning;
        Self { code: code.as_str(), message, hint: hint.as_deref(), place: place.as_ref() }
    }
}

impl<'w> From<&'w helm_lite::Warning> for Notice<'w> {
    fn from(warning: &'w helm_lite::Warning) -> Self {
        let helm_lite::Warning { code, message, hint, place } = warning;
        Self { code: code.as_str(), message, hint: hint.as_deref(), place: place.as_ref() }
    }
}

/// Reports to standard error and keeps in mind what was reported.
#[derive(Debug, Default)]
pub(crate) struct Reporter {
    program: Program,
    quiet: bool,
    failed: Option<ErrorKind>,
    /// What a command ends with where nothing has failed.
    code: Option<u8>,
    shown: HashSet<String>,
    lines: Lines,
}

impl Reporter {
    /// Reports as a program does.
    pub(crate) fn of(program: Program) -> Self {
        Self { program, ..Self::default() }
    }

    /// Leaves out warnings from now on.
    pub(crate) fn set_quiet(&mut self, quiet: bool) {
        self.quiet = quiet;
    }

    /// Reports an error; `target` says which target failed where there are several.
    pub(crate) fn error(&mut self, error: &Error, target: Option<&str>) {
        self.failure(error, target.map(|target| format!("while building `{target}`")));
    }

    /// Reports what is wrong with an Application.
    pub(crate) fn application_error(&mut self, error: &Error, name: &str) {
        self.failure(error, Some(format!("in the Application `{name}`")));
    }

    /// Reports what is wrong with a Kustomization or HelmRelease of Flux, by its kind and name.
    pub(crate) fn flux_error(&mut self, error: &Error, name: &str) {
        self.failure(error, Some(format!("in the {name}")));
    }

    /// Reports what is wrong with an ApplicationSet.
    pub(crate) fn application_set_error(&mut self, error: &Error, name: &str) {
        self.failure(error, Some(format!("in the ApplicationSet `{name}`")));
    }

    /// Reports what is wrong in a line of its own, for a program that shows it as it is.
    pub(crate) fn line(&mut self, kind: ErrorKind, line: &str) {
        self.fail(kind);
        print(&format!("{line}\n"));
    }

    fn failure(&mut self, error: &Error, within: Option<String>) {
        self.fail(error.kind());
        let mut step = |step: &Step| match &step.place {
            Some(place) => format!("{}: {}", step.note, self.lines.location(place)),
            None => step.note.clone(),
        };
        let mut chain: Vec<String> = error.trail().iter().map(&mut step).collect();
        chain.extend(within);
        let report = Report {
            label: if self.program.is_stand_in() { "Error" } else { "error" }.to_owned(),
            style: ERROR,
            message: error.message(),
            place: error.place(),
            excerpt: true,
            chain,
            hint: error.help(),
        };
        let text = report.render(&mut self.lines);
        print(&text);
    }

    /// Reports the warnings of an engine, each once in a run.
    pub(crate) fn warnings<'w, W>(&mut self, warnings: &'w [W])
    where
        Notice<'w>: From<&'w W>,
    {
        if self.quiet {
            return;
        }
        for notice in warnings.iter().map(Notice::from) {
            let report = Report {
                label: format!("warning[{}]", notice.code),
                style: WARNING,
                message: notice.message,
                place: notice.place,
                excerpt: false,
                chain: Vec::new(),
                hint: notice.hint,
            };
            let text = report.render(&mut self.lines);
            if self.shown.insert(text.clone()) {
                print(&text);
            }
        }
    }

    /// A finding as a person reads it.
    pub(crate) fn finding(&mut self, finding: &Finding) -> String {
        let style = match finding.severity {
            Severity::Error => ERROR,
            Severity::Warning => WARNING,
            Severity::Note => HINT,
        };
        let mut about = vec![finding.target.clone()];
        about.extend(finding.object.clone());
        about.extend(finding.field.clone());
        let report = Report {
            label: format!("{}[{}]", finding.severity, finding.rule.code),
            style,
            message: &finding.message,
            place: finding.place.as_ref(),
            // A line of a manifest may be one of a Secret.
            excerpt: false,
            chain: vec![format!("in {}", about.join(", "))],
            hint: finding.hint.as_deref(),
        };
        report.render(&mut self.lines)
    }

    /// Says what a command has come to.
    pub(crate) fn say(&self, message: &str) {
        if !self.quiet {
            print(&format!("{message}\n"));
        }
    }

    /// Ends with a code of the command's own, unless something fails.
    pub(crate) fn end_with(&mut self, code: u8) {
        self.code = Some(code);
    }

    /// Ends in failure, where all has been said.
    pub(crate) fn fail(&mut self, kind: ErrorKind) {
        self.failed = Some(self.failed.map_or(kind, |before| weightier(before, kind)));
    }

    /// Says something about the command line that is not wrong.
    pub(crate) fn notice(&mut self, message: &str) {
        if !self.quiet {
            print(&format!("{WARNING}warning{WARNING:#}: {message}\n"));
        }
    }

    /// What the process ends with.
    pub(crate) fn exit_code(&self) -> ExitCode {
        match self.failed {
            None => self.code.map_or(ExitCode::SUCCESS, ExitCode::from),
            Some(_) if self.program.is_stand_in() => ExitCode::from(1),
            Some(ErrorKind::Input) => ExitCode::from(1),
            Some(ErrorKind::Usage) => ExitCode::from(2),
            Some(ErrorKind::Environment) => ExitCode::from(3),
        }
    }
}

/// Input that is wrong outweighs a machine that is, as the reader can act on it.
fn weightier(left: ErrorKind, right: ErrorKind) -> ErrorKind {
    if left == ErrorKind::Environment { right } else { left }
}

fn print(text: &str) {
    // Where nobody can be told, the exit code still says it.
    let _ = anstream::stderr().write_all(text.as_bytes());
}

/// One thing to report.
struct Report<'a> {
    label: String,
    style: Style,
    message: &'a str,
    place: Option<&'a Place>,
    excerpt: bool,
    chain: Vec<String>,
    hint: Option<&'a str>,
}

impl Report<'_> {
    fn render(&self, lines: &mut Lines) -> String {
        let mut text = String::new();
        let Self { label, style, .. } = self;
        let emphasis = Style::new().bold();
        push(&mut text, *style, label);
        push(&mut text, emphasis, &format!(": {}", visible(self.message)));
        text.push('\n');
        let position = self.place.map(|place| lines.position(place));
        let gutter = position.map_or(2, |position| position.line.to_string().len()).max(2);
        if let (Some(place), Some(position)) = (self.place, position) {
            push(&mut text, FRAME, &format!("{:gutter$}--> ", ""));
            let Position { line, column, .. } = position;
            text.push_str(&visible(&format!("{}:{line}:{column}\n", place.source.name)));
            if self.excerpt {
                push_excerpt(&mut text, place, position, gutter, *style);
            }
        }
        for step in &self.chain {
            push(&mut text, FRAME, &format!("{:gutter$} = ", ""));
            let _ = writeln!(text, "{}", visible(step));
        }
        if let Some(hint) = self.hint {
            push(&mut text, HINT, "hint");
            let _ = writeln!(text, ": {}", visible(hint));
        }
        text
    }
}

fn push(text: &mut String, style: Style, words: &str) {
    let _ = write!(text, "{style}{words}{style:#}");
}

fn push_excerpt(text: &mut String, place: &Place, position: Position, gutter: usize, style: Style) {
    let Excerpt { shown, indent, marked } = Excerpt::of(place, position);
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

/// A line, or the part of it around a place, and where to mark it.
struct Excerpt {
    shown: String,
    indent: usize,
    marked: usize,
}

impl Excerpt {
    fn of(place: &Place, position: Position) -> Self {
        let rest = &place.source.text[position.line_start..];
        let line = rest.split('\n').next().unwrap_or_default().trim_end_matches('\r');
        let first = position.column - 1;
        let bytes = (place.span.end.saturating_sub(place.span.start)) as usize;
        let marked = rest.char_indices().skip(first).take_while({
            let start = position.offset - position.line_start;
            move |(at, character)| *at < start + bytes && *character != '\n'
        });
        // A long line is cut so that the place keeps some text before it.
        let skipped = if first > MAX_EXCERPT / 2 { first - MAX_EXCERPT / 4 } else { 0 };
        let ends = line.chars().count();
        let visible_end = ends.min(skipped + MAX_EXCERPT);
        let marked = marked.take(MAX_EXCERPT).count().min(visible_end.saturating_sub(first)).max(1);
        // A cut could take the start of an address from its secret.
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

/// A text without secrets and with its control characters made visible, so that a file cannot write to the terminal.
fn visible(text: &str) -> String {
    let text = redact(text);
    let hidden = |character: char| character.is_control() && character != '\n';
    if !text.contains(hidden) {
        return text.into_owned();
    }
    text.chars().map(|character| if hidden(character) { '\u{fffd}' } else { character }).collect()
}

/// Where the lines of the files begin, looked up once a file: a file may have as many warnings as lines.
#[derive(Debug, Default)]
struct Lines(HashMap<*const str, (Arc<str>, Vec<usize>)>);

/// A place in numbers; line and column count from one, a column is a character.
#[derive(Clone, Copy, Debug)]
struct Position {
    offset: usize,
    line: usize,
    line_start: usize,
    column: usize,
}

impl Lines {
    fn position(&mut self, place: &Place) -> Position {
        let text: &str = &place.source.text;
        let mut offset = (place.span.start as usize).min(text.len());
        while !text.is_char_boundary(offset) {
            offset -= 1;
        }
        let starts = self.starts(&place.source);
        let line = starts.partition_point(|start| *start <= offset);
        let line_start = starts[line - 1];
        Position { offset, line, line_start, column: text[line_start..offset].chars().count() + 1 }
    }

    fn location(&mut self, place: &Place) -> String {
        let Position { line, column, .. } = self.position(place);
        format!("{}:{line}:{column}", place.source.name)
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
    use yamltree::Span;

    use super::*;

    fn place(text: &str, start: u32, end: u32) -> Place {
        let source = Arc::new(Source { name: "app/kustomization.yaml".to_owned(), text: text.into() });
        Place { source, span: Span { source: 0, start, end } }
    }

    fn rendered(message: &str, place: Option<&Place>, chain: &[&str], hint: Option<&str>) -> String {
        let chain = chain.iter().map(|step| (*step).to_owned()).collect();
        let report =
            Report { label: "error".to_owned(), style: ERROR, message, place, excerpt: true, chain, hint };
        anstream::adapter::strip_str(&report.render(&mut Lines::default())).to_string()
    }

    #[test]
    fn an_error_shows_its_place_its_chain_and_what_to_do() {
        let place = place("resources:\n- a.yaml\nimagez: []\n", 20, 26);
        let text =
            rendered("unknown field", Some(&place), &["in the base `../app`: k.yaml:3:3"], Some("try"));
        assert_eq!(
            text,
            "error: unknown field\n  --> app/kustomization.yaml:3:1\n   |\n 3 | imagez: []\n   | ^^^^^^\n   = in the base \
             `../app`: k.yaml:3:3\nhint: try\n"
        );
        assert_eq!(rendered("no place", None, &[], None), "error: no place\n");
    }

    #[test]
    fn a_place_of_several_lines_is_marked_to_the_end_of_its_first() {
        let place = place("a:\n  b: |\n    text\n", 5, 18);
        assert!(rendered("x", Some(&place), &[], None).contains(" 2 |   b: |\n   |   ^^^^\n"));
    }

    #[test]
    fn an_empty_place_is_marked_too() {
        let at_end = place("a: [\n", 5, 5);
        assert!(rendered("x", Some(&at_end), &[], None).contains(":2:1\n   |\n 2 | \n   | ^\n"));
        let beyond = place("a", 90, 99);
        assert!(rendered("x", Some(&beyond), &[], None).contains(":1:2\n"));
        let inside_a_character = place("\u{e9}", 1, 2);
        assert!(rendered("x", Some(&inside_a_character), &[], None).contains(":1:1\n"));
    }

    #[test]
    fn columns_are_characters() {
        let place = place("\u{e9}\u{e9}: b\r\n", 6, 7);
        let text = rendered("x", Some(&place), &[], None);
        assert!(text.contains(":1:5\n   |\n 1 | \u{e9}\u{e9}: b\n   |     ^\n"), "{text}");
    }

    #[test]
    fn a_long_line_is_cut_around_the_place() {
        let line = format!("{}target{}", "a".repeat(5000), "b".repeat(5000));
        let text = rendered("x", Some(&place(&line, 5000, 5006)), &[], None);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines.iter().all(|line| line.chars().count() < MAX_EXCERPT + 10), "{text}");
        let at = lines[3].find("target").unwrap();
        // The ellipsis is one character of three bytes.
        assert_eq!(lines[4].find("^^^^^^").unwrap(), at - 2);
    }

    #[test]
    fn a_file_cannot_write_to_the_terminal() {
        let report = Report {
            label: "error".to_owned(),
            style: Style::new(),
            message: "no \u{1b}[31mred",
            place: Some(&place("key\u{1b}[2J: 1\n", 0, 3)),
            excerpt: true,
            chain: vec!["in \u{7}".to_owned()],
            hint: None,
        };
        let text = report.render(&mut Lines::default());
        assert!(
            !text.contains("\u{1b}[31mred") && !text.contains("\u{1b}[2J") && !text.contains('\u{7}'),
            "{text:?}"
        );
    }

    #[test]
    fn wrong_input_outweighs_a_failing_machine() {
        let mut reporter = Reporter::default();
        assert_eq!(reporter.exit_code(), ExitCode::SUCCESS);
        reporter.error(&Error::new(ErrorKind::Environment, "no network"), None);
        assert_eq!(reporter.exit_code(), ExitCode::from(3));
        reporter.error(&Error::new(ErrorKind::Input, "bad field"), Some("app"));
        reporter.error(&Error::new(ErrorKind::Environment, "no network"), None);
        assert_eq!(reporter.exit_code(), ExitCode::from(1));
    }
}

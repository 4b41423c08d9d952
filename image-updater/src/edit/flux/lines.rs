//! Markers in files that are no YAML: templates, read line by line.
//!
//! A line is taken for `key: value`, `- value` or `- key: value`, with a comment behind it. Lines of a block scalar and
//! of a quoted text that is not closed on its line are passed over; lines of template control change neither.

use diagnostic::{Error, Result};
use std::ops::Range;

use yamledit::{reads_as_string, scalar};
use yamltree::Style;

use super::marker::{Marker, Policy};
use super::{Outcome, Source, Version, at, wanted};

pub(super) fn edit(source: &Source<'_>, version: &Version, policy: &Policy) -> Result<Outcome> {
    let marks = scan(source.text);
    let mut edited = String::with_capacity(source.text.len() + 64);
    let mut done = 0;
    for mark in marks.iter().filter(|mark| mark.marker.policy == *policy) {
        let written = mark.value.text(source.text);
        let text = wanted(mark.marker.part, version, &written)
            .map_err(|error| at(source, &error, mark.value.range.start))?;
        if written == text && mark.value.is_string(source.text) {
            continue;
        }
        mark.value.check(source)?;
        edited.push_str(&source.text[done..mark.value.range.start]);
        edited.push_str(if mark.value.range.is_empty() { " " } else { "" });
        edited.push_str(&scalar(&text, mark.value.style));
        done = mark.value.range.end;
    }
    if done == 0 {
        let is_there = marks.iter().any(|mark| mark.marker.policy == *policy);
        return Ok(if is_there { Outcome::Right } else { Outcome::NotThere });
    }
    edited.push_str(&source.text[done..]);
    prove(source, &marks, &edited, version, policy)?;
    Ok(Outcome::Changed(edited))
}

/// The markers of a text, each with the text of its scalar.
pub(super) fn marked(text: &str) -> Vec<(Marker, String)> {
    scan(text).into_iter().map(|mark| (mark.marker, mark.value.text(text))).collect()
}

/// Reads the edited text again: it has the same markers, of which those of the policy are right and the others as they
/// were.
fn prove(source: &Source<'_>, old: &[Mark], edited: &str, version: &Version, policy: &Policy) -> Result<()> {
    let new = scan(edited);
    let holds = old.len() == new.len()
        && old.iter().zip(&new).all(|(old, new)| {
            let (was, is) = (old.value.text(source.text), new.value.text(edited));
            let is_right = if old.marker.policy == *policy {
                wanted(old.marker.part, version, &was).is_ok_and(|text| text == is)
                    && new.value.is_string(edited)
            } else {
                was == is
            };
            old.marker == new.marker && is_right
        });
    if holds {
        return Ok(());
    }
    Err(Error::invalid(format!("`{}` would not read as planned", source.path))
        .hint("edit the marked lines by hand"))
}

/// A marker with the value that it is of.
struct Mark {
    marker: Marker,
    value: Value,
}

/// A value on a line.
struct Value {
    /// Its bytes, with its quotes.
    range: Range<usize>,
    style: Style,
}

impl Value {
    /// The text of a scalar; escapes are left as they are, so that a text with one is never right already.
    fn text(&self, text: &str) -> String {
        let written = &text[self.range.clone()];
        match self.style {
            Style::SingleQuoted => written[1..written.len() - 1].replace("''", "'"),
            Style::DoubleQuoted => written[1..written.len() - 1].to_owned(),
            _ => written.to_owned(),
        }
    }

    fn is_string(&self, text: &str) -> bool {
        self.style != Style::Plain || reads_as_string(&text[self.range.clone()])
    }

    /// Refuses what is no scalar of one line.
    fn check(&self, source: &Source<'_>) -> Result<()> {
        let written = &source.text[self.range.clone()];
        let why = match written.as_bytes().first() {
            _ if written.contains("{{") => "made by a template",
            _ if self.style != Style::Plain => return Ok(()),
            Some(b'*') => "an alias, shared with other places",
            Some(b'|' | b'>') => "a block scalar",
            Some(b'{' | b'[' | b'"' | b'\'') => "no scalar",
            _ => return Ok(()),
        };
        Err(source.refuse(format!("the marked value is {why}"), self.range.start))
    }
}

/// The context of a line for those below it.
#[derive(Default)]
struct State {
    /// Within a block scalar, the column of what holds it: its lines lie deeper.
    block: Option<usize>,
    /// Within a text in quotes, which.
    quote: Option<char>,
    /// A marker alone on the line above.
    above: Option<Marker>,
    /// True if the line above is a comment.
    is_comment: bool,
}

fn scan(text: &str) -> Vec<Mark> {
    let mut state = State::default();
    let mut marks = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let content = line.trim_end_matches(['\n', '\r']);
        marks.extend(state.read(content, start));
        start += line.len();
    }
    marks
}

impl State {
    /// Reads a line that begins at a byte of the text.
    fn read(&mut self, line: &str, start: usize) -> Option<Mark> {
        let words = line.trim_start_matches(['\u{FEFF}', ' ', '\t']);
        let indent = line.len() - words.len();
        if let Some(quote) = self.quote {
            let is_closed = quoted_len(&format!("{quote}{line}"), quote).is_some();
            self.quote = self.quote.filter(|_| !is_closed);
            return None;
        }
        if words.is_empty() || (words.starts_with("{{") && words.trim_end().ends_with("}}")) {
            self.above = None;
            self.is_comment = false;
            return None;
        }
        if self.block.is_some_and(|column| indent > column) {
            return None;
        }
        self.block = None;
        if words.starts_with('#') {
            // Of several comments in a row none is a marker.
            let is_alone = !std::mem::replace(&mut self.is_comment, true);
            self.above = Marker::parse(words).filter(|_| is_alone);
            return None;
        }
        self.is_comment = false;
        let above = self.above.take();
        let parsed = Line::parse(line, indent)?;
        self.block = parsed.block;
        self.quote = parsed.quote;
        let marker = match parsed.comment {
            Some(comment) => Marker::parse(&line[comment..]),
            None => above.filter(|_| parsed.is_plain_head),
        }?;
        let Range { start: from, end: to } = parsed.value;
        Some(Mark { marker, value: Value { range: start + from..start + to, style: parsed.style } })
    }
}

/// The value of a line and what is around it.
struct Line {
    value: Range<usize>,
    style: Style,
    comment: Option<usize>,
    /// The column of the key or dash whose value is a block scalar.
    block: Option<usize>,
    /// The quote that the line does not close.
    quote: Option<char>,
    /// True if a comment on the line above is the value's: not of a key behind a dash.
    is_plain_head: bool,
}

impl Line {
    fn parse(line: &str, indent: usize) -> Option<Self> {
        let mut at = indent;
        let mut holder = indent;
        let mut dashes = 0;
        while let Some(rest) =
            line[at..].strip_prefix('-').filter(|rest| rest.is_empty() || rest.starts_with(' '))
        {
            holder = at;
            dashes += 1;
            at = line.len() - rest.trim_start_matches(' ').len();
        }
        let key = key_end(&line[at..]);
        if let Some(len) = key {
            holder = at;
            at += len;
        } else if dashes == 0 {
            return None;
        }
        let is_plain_head = if key.is_some() { dashes == 0 } else { dashes == 1 };
        at = skip_properties(line, at);
        let rest = &line[at..];
        let mut parsed = Self {
            value: at..at,
            style: Style::Plain,
            comment: None,
            block: None,
            quote: None,
            is_plain_head,
        };
        match rest.chars().next() {
            Some(quote @ ('"' | '\'')) => parsed.read_quoted(line, at, quote),
            _ => parsed.read_plain(line, at),
        }
        if rest.starts_with(['|', '>']) {
            parsed.block = Some(holder);
        }
        Some(parsed)
    }

    fn read_plain(&mut self, line: &str, at: usize) {
        let rest = &line[at..];
        let comment = comment_in(line, at);
        let end = comment.unwrap_or(line.len());
        self.comment = comment;
        if end > at {
            self.value = at..at + rest[..end - at].trim_end().len();
        }
        if self.value.is_empty() {
            // It comes right behind the colon or the dash.
            let behind = line[..at].trim_end().len();
            self.value = behind..behind;
        }
    }

    fn read_quoted(&mut self, line: &str, at: usize, quote: char) {
        let Some(len) = quoted_len(&line[at..], quote) else {
            self.quote = Some(quote);
            return;
        };
        let end = at + len;
        self.style = if quote == '"' { Style::DoubleQuoted } else { Style::SingleQuoted };
        self.value = at..end;
        let behind = line[end..].trim_start();
        if behind.starts_with('#') && behind.len() < line.len() - end {
            self.comment = Some(line.len() - behind.len());
        } else if !behind.is_empty() {
            // Not one text in quotes, as in `"{{ "x" }}"`: nothing is known of where it ends.
            self.style = Style::Plain;
            self.comment = comment_in(line, at);
            self.value = at..line[..self.comment.unwrap_or(line.len())].trim_end().len();
        }
    }
}

/// The length of a key with its colon and the blanks behind it.
fn key_end(words: &str) -> Option<usize> {
    let colon = match words.chars().next()? {
        quote @ ('"' | '\'') => {
            let len = quoted_len(words, quote)?;
            let behind = words[len..].trim_start_matches(' ');
            behind.starts_with(':').then_some(words.len() - behind.len())?
        }
        _ => words.char_indices().find_map(|(at, char)| {
            let ends =
                words[at + char.len_utf8()..].chars().next().is_none_or(|next| matches!(next, ' ' | '\t'));
            (char == ':' && ends).then_some(at)
        })?,
    };
    let is_comment = words[..colon].contains(" #");
    let rest = &words[colon + 1..];
    if is_comment || !(rest.is_empty() || rest.starts_with([' ', '\t'])) {
        return None;
    }
    Some(words.len() - rest.trim_start_matches([' ', '\t']).len())
}

/// Behind anchors and tags.
fn skip_properties(line: &str, mut at: usize) -> usize {
    while line[at..].starts_with(['&', '!']) {
        let rest = &line[at..];
        let len = rest.find([' ', '\t']).unwrap_or(rest.len());
        at = line.len() - rest[len..].trim_start_matches([' ', '\t']).len();
    }
    at
}

/// Returns where a comment begins, behind a blank, from a place on.
fn comment_in(line: &str, from: usize) -> Option<usize> {
    line[from..].char_indices().find_map(|(at, char)| {
        let at = from + at;
        (char == '#' && line[..at].ends_with([' ', '\t'])).then_some(at)
    })
}

/// The length of a text in quotes, with them; `None` where it does not end.
fn quoted_len(words: &str, quote: char) -> Option<usize> {
    let mut chars = words.char_indices().skip(1).peekable();
    while let Some((at, char)) = chars.next() {
        match char {
            '\\' if quote == '"' => {
                chars.next();
            }
            char if char == quote && quote == '\'' && chars.peek().is_some_and(|(_, next)| *next == '\'') => {
                chars.next();
            }
            char if char == quote => return Some(at + 1),
            _ => {}
        }
    }
    None
}

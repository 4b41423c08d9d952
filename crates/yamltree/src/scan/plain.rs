//! Plain scalars: text without quotes, on one line or folded over several.

use compact_str::CompactString;

use super::chars::{is_blank, is_flow_indicator, stops_plain};
use super::{Mark, Scanner, TokenKind};
use crate::error::Error;
use crate::node::Style;

/// The line breaks between two pieces of text that are to be joined.
#[derive(Default)]
pub(super) struct Breaks {
    first: First,
    /// Those after the first.
    rest: String,
}

/// The first of several line breaks: joining lines turns it into a space unless more follow.
#[derive(Default, PartialEq)]
enum First {
    #[default]
    Missing,
    Folds,
    /// U+2028 or U+2029
    Stays(char),
    Escaped,
}

impl Breaks {
    pub(super) fn push(&mut self, text: &str) {
        let stays = text.chars().next().filter(|&char| matches!(char, '\u{2028}' | '\u{2029}'));
        if self.first == First::Missing {
            self.first = stays.map_or(First::Folds, First::Stays);
        } else {
            self.rest.push(stays.unwrap_or('\n'));
        }
    }

    /// Notes a break behind a backslash, which leaves nothing.
    pub(super) fn push_escaped(&mut self) {
        self.first = First::Escaped;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.first == First::Missing
    }

    /// Writes what the breaks become when lines are joined.
    pub(super) fn fold_into(&mut self, text: &mut String) {
        match self.first {
            First::Stays(char) => text.push(char),
            First::Folds if self.rest.is_empty() => text.push(' '),
            _ => {}
        }
        text.push_str(&self.rest);
        *self = Self::default();
    }
}

impl Scanner<'_> {
    pub(super) fn fetch_plain(&mut self) -> Result<(), Error> {
        let key = self.start_key()?;
        self.simple_key_allowed = false;
        let start = self.mark();
        let mut end = self.pass_plain_line();
        let mut text = None;
        if self.break_len(self.pos) > 0 {
            let mut breaks = Breaks::default();
            while self.pass_plain_breaks(&mut breaks, start)? {
                let from = self.pos;
                let to = self.pass_plain_line();
                if from == to {
                    break;
                }
                let joined = text.get_or_insert_with(|| self.text[start.pos..end].to_owned());
                breaks.fold_into(joined);
                joined.push_str(&self.text[from..to]);
                end = to;
            }
            // A new line begins a new key, unless text was the last thing on it.
            self.simple_key_allowed = !breaks.is_empty();
        }
        let kind = match text {
            Some(text) => {
                self.texts.push_back(CompactString::new(text));
                TokenKind::CookedScalar(Style::Plain)
            }
            None => TokenKind::Scalar(Style::Plain),
        };
        self.push_scalar(kind, key, start, end);
        Ok(())
    }

    /// Moves over the text on this line up to what ends it, and over the blanks before that. Returns the text's end.
    fn pass_plain_line(&mut self) -> usize {
        let in_flow = self.flow_level > 0;
        let mut at = self.pos;
        loop {
            while !stops_plain(self.byte(at), in_flow) {
                at += 1;
            }
            let mut next = at;
            while is_blank(self.byte(next)) {
                next += 1;
            }
            let ends = match self.byte(next) {
                0 | b'\n' | b'\r' | b'#' => true,
                b':' => self.is_space(next + 1),
                byte if is_flow_indicator(byte) => in_flow,
                _ => self.break_len(next) > 0,
            };
            if ends {
                self.pos = next;
                return at;
            }
            at = next + 1;
        }
    }

    /// Moves over line breaks and indentation; says whether text may go on after them.
    fn pass_plain_breaks(&mut self, breaks: &mut Breaks, start: Mark) -> Result<bool, Error> {
        if self.break_len(self.pos) == 0 {
            return Ok(false);
        }
        let indent = self.indent + 1;
        loop {
            let len = self.break_len(self.pos);
            if len > 0 {
                breaks.push(&self.text[self.pos..self.pos + len]);
                self.pass_break(len);
            } else if self.current() == b'\t' && ((self.pos - self.line_start) as i32) < indent {
                return Err(self.error(start, "found a tab character that violates indentation"));
            } else if is_blank(self.current()) {
                self.pos += 1;
            } else {
                break;
            }
        }
        let is_dedented = self.flow_level == 0 && ((self.pos - self.line_start) as i32) < indent;
        Ok(!is_dedented && self.current() != b'#' && !self.at_document_indicator())
    }
}

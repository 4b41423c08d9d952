//! The text of one scalar in each of its five styles.

use super::analysis::{Classes, SPACE, WIDE, is_break, is_printable};
use super::emitter::Emitter;
use crate::dialect::Dialect;
use crate::node::Style;

impl Emitter<'_> {
    /// Writes a scalar in a style that can hold it. `folds` says whether it may go over several lines.
    pub(super) fn write_scalar(&mut self, text: &str, classes: Classes, style: Style, folds: bool) {
        match style {
            Style::Plain | Style::Flow => self.write_plain(text, classes, folds),
            Style::SingleQuoted => self.write_single_quoted(text, folds),
            Style::DoubleQuoted => self.write_double_quoted(text, folds),
            Style::Literal => self.write_literal(text, classes),
            Style::Folded => self.write_folded(text),
        }
    }

    fn write_plain(&mut self, text: &str, classes: Classes, folds: bool) {
        if text.is_empty() && self.options.dialect == Dialect::V3 {
            return;
        }
        if !self.whitespace {
            self.out.push(' ');
            self.column += 1;
        }
        let width = self.options.width();
        let fits = self.column.saturating_add(text.len()) <= width;
        if fits || !folds || classes & SPACE == 0 {
            self.put_classed(text, classes);
        } else {
            self.put_folded_words(text);
        }
        self.whitespace = false;
        self.indention = false;
    }

    /// Writes a line, going to a new one at a single space beyond the last column.
    fn put_folded_words(&mut self, text: &str) {
        let mut after_space = false;
        let mut chars = text.chars().peekable();
        while let Some(char) = chars.next() {
            let space = char == ' ';
            let folds =
                space && !after_space && self.column > self.options.width() && chars.peek() != Some(&' ');
            if folds {
                self.new_line();
            } else {
                self.put_char(char);
                self.indention &= space;
            }
            after_space = space;
        }
    }

    fn write_single_quoted(&mut self, text: &str, folds: bool) {
        self.indicator("'", true, false, false);
        let (mut after_space, mut after_break) = (false, false);
        let mut chars = text.char_indices().peekable();
        while let Some((at, char)) = chars.next() {
            let next = chars.peek().map(|&(_, next)| next);
            if char == ' ' {
                let inside = at > 0 && next.is_some_and(|next| next != ' ');
                if folds && !after_space && inside && self.column > self.options.width() {
                    self.new_line();
                } else {
                    self.put_char(' ');
                }
                after_space = true;
            } else if is_break(char) {
                if !after_break && char == '\n' {
                    self.line_break();
                }
                self.put_break(char);
                after_break = true;
            } else {
                if after_break {
                    self.new_line();
                }
                if char == '\'' {
                    self.put_char('\'');
                }
                self.put_char(char);
                self.indention = false;
                (after_space, after_break) = (false, false);
            }
        }
        self.indicator("'", false, false, false);
        self.whitespace = false;
        self.indention = false;
    }

    fn write_double_quoted(&mut self, text: &str, folds: bool) {
        // go-yaml looks for a byte order mark at the start of the text, wherever it is.
        let all_escaped = text.starts_with('\u{FEFF}');
        self.indicator("\"", true, false, false);
        let mut after_space = false;
        let mut chars = text.char_indices().peekable();
        while let Some((at, char)) = chars.next() {
            if all_escaped || !is_printable(char) || is_break(char) || matches!(char, '"' | '\\') {
                self.put_escape(char);
                after_space = false;
            } else if char == ' ' {
                let next = chars.peek().map(|&(_, next)| next);
                let inside = at > 0 && next.is_some();
                if folds && !after_space && inside && self.column > self.options.width() {
                    self.new_line();
                    if next == Some(' ') {
                        self.put_char('\\');
                    }
                } else {
                    self.put_char(' ');
                }
                after_space = true;
            } else {
                self.put_char(char);
                after_space = false;
            }
        }
        self.indicator("\"", false, false, false);
        self.whitespace = false;
        self.indention = false;
    }

    fn put_escape(&mut self, char: char) {
        let short = match char {
            '\0' => "\\0",
            '\u{07}' => "\\a",
            '\u{08}' => "\\b",
            '\t' => "\\t",
            '\n' => "\\n",
            '\u{0B}' => "\\v",
            '\u{0C}' => "\\f",
            '\r' => "\\r",
            '\u{1B}' => "\\e",
            '"' => "\\\"",
            '\\' => "\\\\",
            '\u{85}' => "\\N",
            '\u{A0}' => "\\_",
            '\u{2028}' => "\\L",
            '\u{2029}' => "\\P",
            _ => {
                let code = u32::from(char);
                return match code {
                    0..=0xFF => self.put(&format!("\\x{code:02X}")),
                    0x100..=0xFFFF => self.put(&format!("\\u{code:04X}")),
                    _ => self.put(&format!("\\U{code:08X}")),
                };
            }
        };
        self.put(short);
    }

    fn write_literal(&mut self, text: &str, classes: Classes) {
        self.indicator("|", true, false, false);
        self.block_header(text);
        let mut rest = text;
        while !rest.is_empty() {
            let end = if classes & WIDE == 0 { rest.find('\n') } else { rest.find(is_break) };
            let (line, after) = rest.split_at(end.unwrap_or(rest.len()));
            if !line.is_empty() {
                self.new_line();
                self.put_classed(line, classes);
                self.indention = false;
            }
            let mut after = after.chars();
            if let Some(char) = after.next() {
                self.put_break(char);
            }
            rest = after.as_str();
        }
    }

    fn write_folded(&mut self, text: &str) {
        self.indicator(">", true, false, false);
        self.block_header(text);
        // go-yaml doubles a line break unless the text as a whole starts with a blank, where it means the next line.
        let doubles = !text.trim_start_matches(is_break).starts_with([' ', '\t', '\0']);
        let (mut after_break, mut leading_blank) = (true, true);
        let mut chars = text.chars().peekable();
        while let Some(char) = chars.next() {
            if is_break(char) {
                if !after_break && !leading_blank && char == '\n' && doubles {
                    self.line_break();
                }
                self.put_break(char);
                after_break = true;
                continue;
            }
            if after_break {
                self.new_line();
                leading_blank = matches!(char, ' ' | '\t');
            }
            let single_space = char == ' ' && chars.peek() != Some(&' ');
            if !after_break && single_space && self.column > self.options.width() {
                self.new_line();
            } else {
                self.put_char(char);
            }
            self.indention = false;
            after_break = false;
        }
    }

    /// Writes what follows `|` or `>`: the indent if the first line starts with a blank, and the chomping; then the
    /// end of the line.
    fn block_header(&mut self, text: &str) {
        if text.starts_with(|char| char == ' ' || is_break(char)) {
            let indent = self.options.indent.to_string();
            self.indicator(&indent, false, false, false);
        }
        let mut ends = text.chars().rev();
        match ends.next() {
            Some(last) if is_break(last) => {
                if ends.next().is_none_or(is_break) {
                    self.indicator("+", false, false, false);
                }
            }
            _ => self.indicator("-", false, false, false),
        }
        self.line_break();
        self.indention = true;
        self.whitespace = true;
    }

    fn put_classed(&mut self, text: &str, classes: Classes) {
        self.out.push_str(text);
        self.column += if classes & WIDE == 0 { text.len() } else { text.chars().count() };
    }

    pub(super) fn put_char(&mut self, char: char) {
        self.out.push(char);
        self.column += 1;
    }

    fn put_break(&mut self, char: char) {
        self.out.push(char);
        self.column = 0;
        self.indention = true;
    }
}

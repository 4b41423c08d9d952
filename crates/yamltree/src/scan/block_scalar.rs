//! Block scalars: `|` keeps line breaks, `>` folds them.

use compact_str::CompactString;

use super::chars::is_blank;
use super::{Mark, Scanner, TokenKind};
use crate::error::Error;
use crate::node::Style;

/// The handling of trailing line breaks.
#[derive(Clone, Copy, PartialEq)]
enum Chomping {
    Strip,
    Clip,
    Keep,
}

/// The header behind `|` or `>`.
struct Header {
    chomping: Chomping,
    /// The indentation that a digit has set, beyond that of the parent.
    increment: Option<i32>,
    /// One past its last indicator.
    end: usize,
}

/// The text as far as it is read.
#[derive(Default)]
struct Content {
    text: String,
    /// The break after the last line, which folding may turn into a space.
    last_break: String,
    /// The breaks of empty lines after that.
    empty_lines: String,
    /// True if the last line starts with a blank, which keeps its breaks from folding.
    is_last_indented: bool,
}

impl Scanner<'_> {
    pub(super) fn fetch_block_scalar(&mut self, literal: bool) -> Result<(), Error> {
        self.drop_last_key()?;
        self.simple_key_allowed = true;
        let start = self.mark();
        let header = self.scan_block_header(start)?;
        if self.break_len(self.pos) > 0 {
            self.pass_break(self.break_len(self.pos));
        }
        let parent = self.indent.max(0);
        let mut indent = header.increment.map(|increment| parent + increment);
        let mut content = Content::default();
        let indent = self.scan_empty_lines(&mut indent, &mut content.empty_lines, start)?;
        let end = self.scan_block_lines(indent, literal, &mut content, start)?.unwrap_or(header.end);

        let Content { mut text, last_break, empty_lines, .. } = content;
        if header.chomping != Chomping::Strip {
            text.push_str(&last_break);
        }
        if header.chomping == Chomping::Keep {
            text.push_str(&empty_lines);
        }
        let style = if literal { Style::Literal } else { Style::Folded };
        self.texts.push_back(CompactString::new(text));
        self.push(TokenKind::CookedScalar(style), start, end);
        Ok(())
    }

    /// Reads the header up to the line break.
    fn scan_block_header(&mut self, start: Mark) -> Result<Header, Error> {
        self.pos += 1;
        let mut header = Header { chomping: Chomping::Clip, increment: None, end: 0 };
        if self.scan_chomping(&mut header) {
            self.scan_increment(&mut header, start)?;
        } else if self.scan_increment(&mut header, start)? {
            self.scan_chomping(&mut header);
        }
        header.end = self.pos;
        while is_blank(self.current()) {
            self.pos += 1;
        }
        if self.current() == b'#' {
            self.skip_comment();
        }
        if !self.is_break_or_end(self.pos) {
            return Err(self.error(start, "did not find expected comment or line break"));
        }
        Ok(header)
    }

    fn scan_chomping(&mut self, header: &mut Header) -> bool {
        header.chomping = match self.current() {
            b'+' => Chomping::Keep,
            b'-' => Chomping::Strip,
            _ => return false,
        };
        self.pos += 1;
        true
    }

    fn scan_increment(&mut self, header: &mut Header, start: Mark) -> Result<bool, Error> {
        match self.current() {
            b'0' => return Err(self.error(start, "found an indentation indicator equal to 0")),
            digit @ b'1'..=b'9' => header.increment = Some(i32::from(digit - b'0')),
            _ => return Ok(false),
        }
        self.pos += 1;
        Ok(true)
    }

    /// Reads the lines at the scalar's indentation. Returns the end of the last one.
    fn scan_block_lines(
        &mut self,
        indent: i32,
        literal: bool,
        content: &mut Content,
        start: Mark,
    ) -> Result<Option<usize>, Error> {
        let mut end = None;
        while self.indentation() == indent && self.pos < self.bytes.len() {
            let is_indented = is_blank(self.current());
            let folds =
                !literal && !content.is_last_indented && !is_indented && content.last_break.starts_with('\n');
            if !folds {
                content.text.push_str(&content.last_break);
            } else if content.empty_lines.is_empty() {
                content.text.push(' ');
            }
            content.text.push_str(&content.empty_lines);
            content.last_break.clear();
            content.empty_lines.clear();
            content.is_last_indented = is_indented;

            let line_end = self.line_end(self.pos);
            content.text.push_str(&self.text[self.pos..line_end]);
            self.pos = line_end;
            end = Some(line_end);
            self.scan_break(&mut content.last_break);
            self.scan_empty_lines(&mut Some(indent), &mut content.empty_lines, start)?;
        }
        Ok(end)
    }

    /// Returns the current column, if only spaces precede it.
    fn indentation(&self) -> i32 {
        (self.pos - self.line_start) as i32
    }

    /// Reads a line break if there is one.
    fn scan_break(&mut self, breaks: &mut String) -> bool {
        let len = self.break_len(self.pos);
        match len {
            0 => return false,
            // U+2028 and U+2029 stay as they are.
            3 => breaks.push_str(&self.text[self.pos..self.pos + len]),
            _ => breaks.push('\n'),
        }
        self.pass_break(len);
        true
    }

    /// Moves over empty lines and the next line's indentation. Where that is not set, the deepest line so far sets it.
    fn scan_empty_lines(
        &mut self,
        indent: &mut Option<i32>,
        breaks: &mut String,
        start: Mark,
    ) -> Result<i32, Error> {
        let mut deepest = 0;
        loop {
            while indent.is_none_or(|indent| self.indentation() < indent) && self.current() == b' ' {
                self.pos += 1;
            }
            deepest = deepest.max(self.indentation());
            if indent.is_none_or(|indent| self.indentation() < indent) && self.current() == b'\t' {
                let message = "found a tab character where an indentation space is expected";
                return Err(self.error(start, message));
            }
            if !self.scan_break(breaks) {
                break;
            }
        }
        Ok(*indent.get_or_insert(deepest.max(self.indent + 1).max(1)))
    }
}

//! Reads a pattern into the tree that `regex-automata` compiles.
//!
//! Groups are kept on a stack of our own, so that no pattern is too deep to read; what is built is
//! at most [`MAX_HEIGHT`] high, so that none is too deep to compile.

use regex_syntax::hir::{Capture, ClassUnicode, Hir, HirKind, Look, Repetition};

use crate::class;
use crate::cursor::{Cursor, Rune};
use crate::error::{Error, Reason};

/// Go's limit on nested operators.
const MAX_HEIGHT: u32 = 1000;

/// Go's limit on a repeat count, and on the product of nested ones.
const MAX_REPEAT: u32 = 1000;

/// A pattern that was read.
pub(crate) struct Parsed {
    pub(crate) tree: Tree,
    /// The name of each capture group; group 0, the whole match, has none.
    pub(crate) names: Vec<Option<Box<str>>>,
}

/// A parsed pattern.
pub(crate) struct Tree {
    pub(crate) hir: Hir,
    /// The levels of nesting in `hir`, but for the few inside a class.
    pub(crate) height: u32,
}

pub(crate) fn parse(pattern: &[u8]) -> Result<Parsed, Error> {
    let mut parser = Parser {
        cursor: Cursor::new(pattern),
        flags: Flags::default(),
        group: Group::default(),
        outer: Vec::new(),
        names: vec![None],
    };
    // Where the repetition operator just read begins: another may not follow it.
    let mut repeated = None;
    while let Some(byte) = parser.cursor.peek() {
        repeated = parser.step(byte, repeated)?;
    }
    parser.finish()
}

struct Parser<'p> {
    cursor: Cursor<'p>,
    flags: Flags,
    /// The innermost open group, and those around it. The outermost is the pattern itself.
    group: Group,
    outer: Vec<Group>,
    names: Vec<Option<Box<str>>>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Flags {
    fold_case: bool,
    multi_line: bool,
    dot_newline: bool,
    swap_greed: bool,
}

#[derive(Default)]
struct Group {
    capture: Option<u32>,
    /// The flags before the group, which hold again after it.
    flags: Flags,
    alternatives: Vec<Item>,
    sequence: Vec<Item>,
    /// Characters at the end of the sequence that are plain text so far.
    text: String,
}

/// A subexpression.
struct Item {
    hir: Hir,
    height: u32,
    /// The largest product of nested repeat counts.
    copies: u32,
}

impl Item {
    fn leaf(hir: Hir) -> Self {
        Item { hir, height: 1, copies: 1 }
    }
}

impl Parser<'_> {
    /// Reads one element. Answers where it begins if it is a repetition operator.
    fn step(&mut self, byte: u8, repeated: Option<usize>) -> Result<Option<usize>, Error> {
        let start = self.cursor.pos;
        if let Some((min, max)) = self.repetition(byte)? {
            self.repeat(min, max, start, repeated)?;
            return Ok(Some(start));
        }
        match byte {
            b'(' => self.open_group()?,
            b'|' => {
                self.cursor.pos += 1;
                self.end_alternative()?;
            }
            b')' => self.close_group()?,
            b'^' => self.look_here(1, if self.flags.multi_line { Look::StartLF } else { Look::Start })?,
            b'$' => self.look_here(1, if self.flags.multi_line { Look::EndLF } else { Look::End })?,
            b'.' => {
                self.cursor.pos += 1;
                self.class(class::any(self.flags.dot_newline))?;
            }
            b'[' => {
                let class = class::bracketed(&mut self.cursor, self.flags.fold_case)?;
                self.class(class)?;
            }
            b'\\' => self.escape()?,
            _ => {
                let rune = self.cursor.rune()?;
                self.literal(rune)?;
            }
        }
        Ok(None)
    }

    /// Reads a repetition operator without its `?`, if one is next.
    fn repetition(&mut self, byte: u8) -> Result<Option<(u32, Option<u32>)>, Error> {
        let start = self.cursor.pos;
        let counts = match byte {
            b'*' => (0, None),
            b'+' => (1, None),
            b'?' => (0, Some(1)),
            b'{' => {
                let Some((min, max)) = self.cursor.repeat_count() else { return Ok(None) };
                let high = max.unwrap_or(min);
                if min > MAX_REPEAT || high > MAX_REPEAT || min > high {
                    return Err(self.cursor.error_since(Reason::RepeatSize, start));
                }
                return Ok(Some((min, max)));
            }
            _ => return Ok(None),
        };
        self.cursor.pos += 1;
        Ok(Some(counts))
    }

    /// Repeats what comes before the operator at `start`.
    fn repeat(
        &mut self,
        min: u32,
        max: Option<u32>,
        start: usize,
        repeated: Option<usize>,
    ) -> Result<(), Error> {
        let lazy = self.cursor.eat(b'?');
        if let Some(previous) = repeated {
            return Err(self.cursor.error_since(Reason::RepeatOp, previous));
        }
        if let Some(last) = self.group.text.pop() {
            self.flush_text()?;
            self.group.sequence.push(Item::leaf(literal(last)));
        }
        let Some(item) = self.group.sequence.pop() else {
            return Err(self.cursor.error_since(Reason::MissingRepeatArgument, start));
        };
        let copies = item.copies * max.unwrap_or(min).max(1);
        if copies > MAX_REPEAT && (min >= 2 || max >= Some(2)) {
            return Err(self.cursor.error_since(Reason::RepeatSize, start));
        }
        let greedy = lazy == self.flags.swap_greed;
        let hir = Hir::repetition(Repetition { min, max, greedy, sub: Box::new(item.hir) });
        let copies = if max == Some(0) { 1 } else { copies };
        self.push(Item { hir, height: item.height + 1, copies })
    }

    fn escape(&mut self) -> Result<(), Error> {
        match self.cursor.peek_at(1) {
            Some(b'A') => self.look_here(2, Look::Start),
            Some(b'z') => self.look_here(2, Look::End),
            Some(b'b') => self.look_here(2, Look::WordAscii),
            Some(b'B') => self.look_here(2, Look::WordAsciiNegate),
            Some(b'Q') => self.quoted(),
            _ => match class::escaped(&mut self.cursor, self.flags.fold_case)? {
                Some(class) => self.class(class),
                None => {
                    let rune = self.cursor.escape()?;
                    self.literal(rune)
                }
            },
        }
    }

    /// `\Q...\E`, or `\Q...` to the end of the pattern.
    fn quoted(&mut self) -> Result<(), Error> {
        let start = self.cursor.pos + 2;
        let end = self.cursor.find(br"\E", start);
        let stop = end.unwrap_or(self.cursor.pattern.len());
        self.cursor.check_utf8(start..stop)?;
        self.cursor.pos = start;
        while self.cursor.pos < stop {
            let rune = self.cursor.rune()?;
            self.literal(rune)?;
        }
        self.cursor.pos = end.map_or(stop, |end| end + 2);
        Ok(())
    }

    /// `(`, `(?i)`, `(?i:` or `(?P<name>`.
    fn open_group(&mut self) -> Result<(), Error> {
        if self.cursor.peek_at(1) != Some(b'?') {
            self.cursor.pos += 1;
            return self.open_capture(None);
        }
        let rest = self.cursor.rest();
        if rest.starts_with(b"(?P<") && rest.len() > 4 {
            self.open_named(4)
        } else if rest.starts_with(b"(?<") && rest.len() > 3 {
            self.open_named(3)
        } else {
            self.open_flags()
        }
    }

    /// `(?P<name>` or `(?<name>`, whose name begins `before` bytes ahead. Any letters, digits and
    /// `_` make a name, and two groups may have the same.
    fn open_named(&mut self, before: usize) -> Result<(), Error> {
        let start = self.cursor.pos;
        let Some(end) = self.cursor.find(b">", start) else {
            self.cursor.check_utf8(start..self.cursor.pattern.len())?;
            return Err(self.cursor.error_to_end(Reason::NamedCapture, start));
        };
        let span = start + before..end;
        self.cursor.check_utf8(span.clone())?;
        let name = String::from_utf8_lossy(&self.cursor.pattern[span]).into_owned();
        self.cursor.pos = end + 1;
        if name.is_empty() || !name.bytes().all(|b| b == b'_' || b.is_ascii_alphanumeric()) {
            return Err(self.cursor.error_since(Reason::NamedCapture, start));
        }
        self.open_capture(Some(name.into()))
    }

    fn open_capture(&mut self, name: Option<Box<str>>) -> Result<(), Error> {
        let too_many = |_| self.cursor.error_to_end(Reason::Large, 0);
        let index = u32::try_from(self.names.len()).map_err(too_many)?;
        self.names.push(name);
        self.open(Some(index));
        Ok(())
    }

    fn open(&mut self, capture: Option<u32>) {
        let group = Group { capture, flags: self.flags, ..Group::default() };
        self.outer.push(std::mem::replace(&mut self.group, group));
    }

    /// `(?i-s)` for the rest of the group, `(?i-s:` for a new one.
    fn open_flags(&mut self) -> Result<(), Error> {
        let start = self.cursor.pos;
        self.cursor.pos += 2;
        let mut flags = self.flags;
        let (mut value, mut seen) = (true, false);
        while self.cursor.peek().is_some() {
            let rune = self.cursor.rune()?;
            match u8::try_from(rune).unwrap_or(0xFF) {
                b'i' => flags.fold_case = value,
                b'm' => flags.multi_line = value,
                b's' => flags.dot_newline = value,
                b'U' => flags.swap_greed = value,
                b'-' if value => {
                    (value, seen) = (false, false);
                    continue;
                }
                end @ (b':' | b')') if value || seen => {
                    if end == b':' {
                        self.open(None);
                    }
                    self.flags = flags;
                    return Ok(());
                }
                _ => break,
            }
            seen = true;
        }
        Err(self.cursor.error_since(Reason::PerlOp, start))
    }

    fn close_group(&mut self) -> Result<(), Error> {
        let Some(outer) = self.outer.pop() else {
            return Err(self.cursor.error_to_end(Reason::UnexpectedParen, 0));
        };
        self.cursor.pos += 1;
        let item = self.end_group()?;
        let group = std::mem::replace(&mut self.group, outer);
        self.flags = group.flags;
        let Some(index) = group.capture else { return self.push(item) };
        // Names stay with us: regex-automata refuses the repeated ones Go allows.
        let capture = Capture { index, name: None, sub: Box::new(item.hir) };
        self.push(Item { hir: Hir::capture(capture), height: item.height + 1, copies: item.copies })
    }

    fn finish(mut self) -> Result<Parsed, Error> {
        if !self.outer.is_empty() {
            return Err(self.cursor.error_to_end(Reason::MissingParen, 0));
        }
        let Item { hir, height, .. } = self.end_group()?;
        Ok(Parsed { tree: Tree { hir, height }, names: self.names })
    }

    /// The alternatives of the innermost group as one.
    fn end_group(&mut self) -> Result<Item, Error> {
        self.end_alternative()?;
        let alternatives = std::mem::take(&mut self.group.alternatives);
        self.join(alternatives, Hir::alternation)
    }

    fn end_alternative(&mut self) -> Result<(), Error> {
        self.flush_text()?;
        let sequence = std::mem::take(&mut self.group.sequence);
        let item = self.join(sequence, Hir::concat)?;
        self.group.alternatives.push(item);
        Ok(())
    }

    fn join(&mut self, items: Vec<Item>, combine: fn(Vec<Hir>) -> Hir) -> Result<Item, Error> {
        if items.len() == 1 {
            return Ok(items.into_iter().next().unwrap_or_else(|| Item::leaf(Hir::empty())));
        }
        let height = items.iter().map(|item| item.height).max().map_or(1, |height| height + 1);
        let copies = items.iter().map(|item| item.copies).max().unwrap_or(1);
        self.cursor.spend(items.iter().map(|item| parts(&item.hir)).sum())?;
        let hir = combine(items.into_iter().map(|item| item.hir).collect());
        self.checked(Item { hir, height, copies })
    }

    fn look_here(&mut self, width: usize, look: Look) -> Result<(), Error> {
        self.cursor.pos += width;
        self.push(Item::leaf(Hir::look(look)))
    }

    fn class(&mut self, class: ClassUnicode) -> Result<(), Error> {
        self.cursor.spend(class.ranges().len())?;
        self.push(Item::leaf(class::expression(class)))
    }

    fn literal(&mut self, rune: Rune) -> Result<(), Error> {
        let Some(c) = char::from_u32(rune) else {
            // A surrogate, which no text has.
            return self.push(Item::leaf(Hir::fail()));
        };
        if self.flags.fold_case && (!c.is_ascii() || c.is_ascii_alphabetic()) {
            let class = class::folding_to(&mut self.cursor, c)?;
            if class.literal().is_none() {
                return self.class(class);
            }
        }
        self.group.text.push(c);
        Ok(())
    }

    fn push(&mut self, item: Item) -> Result<(), Error> {
        self.flush_text()?;
        let item = self.checked(item)?;
        self.group.sequence.push(item);
        Ok(())
    }

    fn flush_text(&mut self) -> Result<(), Error> {
        if self.group.text.is_empty() {
            return Ok(());
        }
        let text = std::mem::take(&mut self.group.text);
        self.cursor.spend(text.len())?;
        self.group.sequence.push(Item::leaf(Hir::literal(text.into_bytes())));
        Ok(())
    }

    fn checked(&self, item: Item) -> Result<Item, Error> {
        if item.height > MAX_HEIGHT {
            return Err(self.cursor.error_to_end(Reason::NestingDepth, 0));
        }
        Ok(item)
    }
}

fn literal(c: char) -> Hir {
    Hir::literal(c.encode_utf8(&mut [0; 4]).as_bytes())
}

/// Returns how much is moved when this is joined to others.
fn parts(hir: &Hir) -> usize {
    match hir.kind() {
        HirKind::Literal(text) => text.0.len(),
        HirKind::Concat(items) | HirKind::Alternation(items) => items.len(),
        _ => 1,
    }
}

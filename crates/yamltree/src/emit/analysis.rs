//! Which styles can hold a scalar's text.
//!
//! Input: a string. Output: whether it can be plain, single-quoted or a block; double quotes can hold anything. This is
//! libyaml's analysis with go-yaml's changes, of which the outcome, but not the reason, is visible in every output.

use crate::dialect::Dialect;

/// The styles that a text allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Analysis {
    /// The text has a line break.
    pub(super) multiline: bool,
    /// Plain, inside `[…]` or `{…}`.
    pub(super) flow_plain: bool,
    /// Plain, elsewhere.
    pub(super) block_plain: bool,
    pub(super) single_quoted: bool,
    /// `|` or `>`
    pub(super) block: bool,
}

/// A set of character classes of a text: the constants below.
pub(super) type Classes = u8;

pub(super) const SPACE: Classes = 1;
pub(super) const NEWLINE: Classes = 1 << 1;
/// `:` and `#`, which end a plain scalar beside a blank.
const INDICATOR: Classes = 1 << 2;
/// Characters that end a plain scalar inside a flow collection.
const FLOW: Classes = 1 << 3;
const TAB: Classes = 1 << 4;
/// Control characters, which only double quotes can hold.
pub(super) const CONTROL: Classes = 1 << 5;
/// Part of a character beyond ASCII.
pub(super) const WIDE: Classes = 1 << 6;

const CLASSES: [Classes; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b' ' => SPACE,
            b'\n' => NEWLINE,
            b'\t' => TAB,
            b':' => INDICATOR | FLOW,
            b'#' => INDICATOR,
            b',' | b'?' | b'[' | b']' | b'{' | b'}' => FLOW,
            0x00..=0x1F | 0x7F => CONTROL,
            0x80..=0xFF => WIDE,
            _ => 0,
        };
        byte += 1;
    }
    classes
};

/// The classes of all bytes of a text.
pub(super) fn classes(text: &str) -> Classes {
    text.bytes().fold(0, |all, byte| all | CLASSES[usize::from(byte)])
}

/// Returns true if a string without blanks can be plain outside of flow collections.
pub(super) fn is_word(text: &str, classes: Classes) -> bool {
    let bytes = text.as_bytes();
    // A `#` ends a plain scalar after a blank only, and a `:` before one or at the end.
    classes & !(FLOW | INDICATOR) == 0
        && bytes.last().is_some_and(|&last| last != b':')
        && at_start(bytes) != Forbids::Plain
}

impl Analysis {
    pub(super) fn of(text: &str, classes: Classes, dialect: Dialect) -> Self {
        if text.is_empty() {
            return Self {
                multiline: false,
                flow_plain: false,
                block_plain: true,
                single_quoted: true,
                block: false,
            };
        }
        if classes & !(SPACE | FLOW) == 0 {
            Self::of_simple(text, classes)
        } else {
            Self::of_any(text, dialect)
        }
    }

    /// A text of one line where only its ends can forbid the plain style, besides flow indicators.
    fn of_simple(text: &str, classes: Classes) -> Self {
        let bytes = text.as_bytes();
        let (first, last) = (bytes[0], bytes[bytes.len() - 1]);
        let at_start = at_start(bytes);
        let spaced = first == b' ' || last == b' ';
        Self {
            multiline: false,
            flow_plain: !spaced && classes & FLOW == 0 && at_start == Forbids::Nothing,
            block_plain: !spaced && at_start != Forbids::Plain,
            single_quoted: true,
            block: last != b' ',
        }
    }

    fn of_any(text: &str, dialect: Dialect) -> Self {
        let seen = Seen::in_text(text);
        let tab_is_special = dialect == Dialect::V2;
        let special = seen.special || seen.space_break || (seen.tab && tab_is_special);
        let quoted = !(special || seen.tab || seen.break_space);
        let plain = quoted && !seen.outer_blank && !seen.line_break;
        Self {
            multiline: seen.line_break,
            flow_plain: plain && !seen.flow_indicator && !seen.block_indicator,
            block_plain: plain && !seen.block_indicator,
            single_quoted: quoted,
            block: !special && !text.ends_with(' '),
        }
    }
}

/// Restrictions by the start of a text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Forbids {
    Nothing,
    FlowPlain,
    Plain,
}

/// Returns the styles that the first characters of a non-empty string forbid.
fn at_start(bytes: &[u8]) -> Forbids {
    let then_blank = matches!(bytes.get(1), None | Some(b' ' | b'\t'));
    match bytes[0] {
        _ if bytes.starts_with(b"---") || bytes.starts_with(b"...") => Forbids::Plain,
        b'#' | b',' | b'[' | b']' | b'{' | b'}' | b'&' | b'*' | b'!' | b'|' | b'>' | b'\'' | b'"' | b'%'
        | b'@' | b'`' => Forbids::Plain,
        b'?' | b':' | b'-' if then_blank => Forbids::Plain,
        b'?' | b':' => Forbids::FlowPlain,
        _ => Forbids::Nothing,
    }
}

/// The result of scanning all characters.
#[derive(Default)]
struct Seen {
    block_indicator: bool,
    flow_indicator: bool,
    line_break: bool,
    special: bool,
    tab: bool,
    /// A space or a line break at either end.
    outer_blank: bool,
    /// A space after a line break.
    break_space: bool,
    /// A line break after a space.
    space_break: bool,
}

impl Seen {
    fn in_text(text: &str) -> Self {
        let mut seen = Self::default();
        match at_start(text.as_bytes()) {
            Forbids::Nothing => {}
            Forbids::FlowPlain => seen.flow_indicator = true,
            Forbids::Plain => seen.block_indicator = true,
        }
        let outer_blank = |char| char == ' ' || is_break(char);
        seen.outer_blank = text.starts_with(outer_blank) || text.ends_with(outer_blank);
        let mut at = 0;
        while let Some(&byte) = text.as_bytes().get(at) {
            // Most bytes have no class, and their neighbours do not matter.
            if CLASSES[usize::from(byte)] == 0 {
                at += 1;
                continue;
            }
            let (before, rest) = text.split_at(at);
            let mut rest = rest.chars();
            let Some(char) = rest.next() else { break };
            seen.note(char, before.chars().next_back(), rest.as_str().chars().next());
            at += char.len_utf8();
        }
        seen
    }

    /// Notes a character between two others.
    fn note(&mut self, char: char, previous: Option<char>, next: Option<char>) {
        match char {
            ' ' => self.break_space |= previous.is_some_and(is_break),
            '\t' => self.tab = true,
            ',' | '?' | '[' | ']' | '{' | '}' => self.flow_indicator |= previous.is_some(),
            ':' if previous.is_some() => {
                self.flow_indicator = true;
                self.block_indicator |= matches!(next, None | Some(' ' | '\t'));
            }
            '#' if previous.is_some_and(|char| matches!(char, ' ' | '\t' | '\0') || is_break(char)) => {
                self.flow_indicator = true;
                self.block_indicator = true;
            }
            _ => self.special |= !is_printable(char),
        }
        if is_break(char) {
            self.line_break = true;
            self.space_break |= previous == Some(' ');
        }
    }
}

/// Returns true for go-yaml's line breaks.
pub(super) fn is_break(char: char) -> bool {
    matches!(char, '\r' | '\n' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Returns true for characters that go-yaml writes unescaped.
pub(super) fn is_printable(char: char) -> bool {
    matches!(char, '\n' | ' '..='~' | '\u{A0}'..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}') && char != '\u{FEFF}'
}

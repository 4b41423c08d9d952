//! Sets of characters: `[...]`, `\d`, `[:alpha:]` and `\p{...}`, with Go's members (ASCII where
//! Perl's names are meant) and Go's case folding.

use regex_syntax::hir::{Class, ClassBytes, ClassBytesRange, ClassUnicode, ClassUnicodeRange, Hir};

use crate::cursor::{Cursor, Rune};
use crate::error::{Error, Reason};
use crate::unicode;

type AsciiRanges = &'static [(u8, u8)];

const DIGIT: AsciiRanges = &[(b'0', b'9')];
const SPACE: AsciiRanges = &[(b'\t', b'\n'), (b'\x0C', b'\r'), (b' ', b' ')];
const WORD: AsciiRanges = &[(b'0', b'9'), (b'A', b'Z'), (b'_', b'_'), (b'a', b'z')];

/// The names inside `[[:...:]]`. Unlike `\s`, `space` has the vertical tab.
const POSIX: &[(&str, AsciiRanges)] = &[
    ("alnum", &[(b'0', b'9'), (b'A', b'Z'), (b'a', b'z')]),
    ("alpha", &[(b'A', b'Z'), (b'a', b'z')]),
    ("ascii", &[(0, 0x7F)]),
    ("blank", &[(b'\t', b'\t'), (b' ', b' ')]),
    ("cntrl", &[(0, 0x1F), (0x7F, 0x7F)]),
    ("digit", DIGIT),
    ("graph", &[(b'!', b'~')]),
    ("lower", &[(b'a', b'z')]),
    ("print", &[(b' ', b'~')]),
    ("punct", &[(b'!', b'/'), (b':', b'@'), (b'[', b'`'), (b'{', b'~')]),
    ("space", &[(b'\t', b'\r'), (b' ', b' ')]),
    ("upper", &[(b'A', b'Z')]),
    ("word", WORD),
    ("xdigit", &[(b'0', b'9'), (b'A', b'F'), (b'a', b'f')]),
];

/// Reads `[...]`: the cursor is at the opening bracket.
pub(crate) fn bracketed(cursor: &mut Cursor<'_>, fold: bool) -> Result<ClassUnicode, Error> {
    let start = cursor.pos;
    cursor.pos += 1;
    let negated = cursor.eat(b'^');
    let mut ranges = Vec::new();
    let first = cursor.pos;
    // A `]` that comes first is a member.
    while cursor.pos == first || cursor.peek() != Some(b']') {
        match named(cursor, fold)? {
            Some(class) => ranges.extend_from_slice(class.ranges()),
            None => ranges.extend(member_range(cursor, start)?),
        }
    }
    cursor.pos += 1;
    finish(cursor, ClassUnicode::new(ranges), fold, negated)
}

/// Reads a class escape, `\d` or `\p{Greek}`, if one is next.
pub(crate) fn escaped(cursor: &mut Cursor<'_>, fold: bool) -> Result<Option<ClassUnicode>, Error> {
    if cursor.peek() != Some(b'\\') {
        return Ok(None);
    }
    let Some(letter) = cursor.peek_at(1) else { return Ok(None) };
    let ranges = match letter.to_ascii_lowercase() {
        b'd' => DIGIT,
        b's' => SPACE,
        b'w' => WORD,
        b'p' => return unicode_class(cursor, fold).map(Some),
        _ => return Ok(None),
    };
    cursor.pos += 2;
    finish(cursor, ascii(ranges), fold, letter.is_ascii_uppercase()).map(Some)
}

/// `c` and what folds to it.
pub(crate) fn folding_to(cursor: &mut Cursor<'_>, c: char) -> Result<ClassUnicode, Error> {
    finish(cursor, ClassUnicode::new([ClassUnicodeRange::new(c, c)]), true, false)
}

/// Any character but the newline, which `newline` adds.
pub(crate) fn any(newline: bool) -> ClassUnicode {
    let mut class = ClassUnicode::new((!newline).then(|| ClassUnicodeRange::new('\n', '\n')));
    class.negate();
    class
}

/// A class as an expression. One that has all of Unicode but some ASCII, as `.` and `[^/]` do, is
/// put in bytes: the text is known to be valid, and this takes a tenth of the time to compile.
pub(crate) fn expression(class: ClassUnicode) -> Hir {
    let all = class.ranges().last().is_some_and(|last| last.start() <= '\u{80}' && last.end() == char::MAX);
    if !all {
        return Hir::class(Class::Unicode(class));
    }
    let ascii = |c: char| u8::try_from(c).unwrap_or(0x7F).min(0x7F);
    let members = class.ranges().iter().filter(|range| range.start().is_ascii());
    let members = members.map(|range| ClassBytesRange::new(ascii(range.start()), ascii(range.end())));
    let continuation = || bytes(0x80, 0xBF);
    Hir::alternation(vec![
        Hir::class(Class::Bytes(ClassBytes::new(members))),
        Hir::concat(vec![bytes(0xC2, 0xDF), continuation()]),
        Hir::concat(vec![bytes(0xE0, 0xEF), continuation(), continuation()]),
        Hir::concat(vec![bytes(0xF0, 0xF4), continuation(), continuation(), continuation()]),
    ])
}

fn bytes(low: u8, high: u8) -> Hir {
    Hir::class(Class::Bytes(ClassBytes::new([ClassBytesRange::new(low, high)])))
}

/// Reads a set with a name, if one is next inside brackets.
fn named(cursor: &mut Cursor<'_>, fold: bool) -> Result<Option<ClassUnicode>, Error> {
    if cursor.rest().starts_with(b"[:")
        && let Some(end) = cursor.find(b":]", cursor.pos + 2)
    {
        return posix(cursor, end, fold).map(Some);
    }
    escaped(cursor, fold)
}

/// Reads `[:name:]`, which closes at `end`.
fn posix(cursor: &mut Cursor<'_>, end: usize, fold: bool) -> Result<ClassUnicode, Error> {
    let start = cursor.pos;
    let name = &cursor.pattern[start + 2..end];
    cursor.pos = end + 2;
    let (negated, name) = match name.strip_prefix(b"^") {
        Some(name) => (true, name),
        None => (false, name),
    };
    let found = POSIX.iter().find(|(known, _)| known.as_bytes() == name);
    let (_, ranges) = found.ok_or_else(|| cursor.error_since(Reason::CharRange, start))?;
    finish(cursor, ascii(ranges), fold, negated)
}

/// Reads one member of a bracketed class, `a` or `a-z`. `whole` is where the class began.
fn member_range(cursor: &mut Cursor<'_>, whole: usize) -> Result<Option<ClassUnicodeRange>, Error> {
    let start = cursor.pos;
    let low = member(cursor, whole)?;
    let mut high = low;
    // In `[a-]` the dash is a member.
    if cursor.peek() == Some(b'-') && cursor.peek_at(1).is_some_and(|next| next != b']') {
        cursor.pos += 1;
        high = member(cursor, whole)?;
        if high < low {
            return Err(cursor.error_since(Reason::CharRange, start));
        }
    }
    Ok(without_surrogates(low, high))
}

fn member(cursor: &mut Cursor<'_>, whole: usize) -> Result<Rune, Error> {
    match cursor.peek() {
        None => Err(cursor.error_to_end(Reason::MissingBracket, whole)),
        Some(b'\\') => cursor.escape(),
        Some(_) => cursor.rune(),
    }
}

/// The part of a range that text can hold.
fn without_surrogates(low: Rune, high: Rune) -> Option<ClassUnicodeRange> {
    let low = char::from_u32(low).unwrap_or('\u{E000}');
    let high = char::from_u32(high).unwrap_or('\u{D7FF}');
    (low <= high).then(|| ClassUnicodeRange::new(low, high))
}

/// Reads `\pL`, `\p{Greek}`, `\P{^Greek}`.
fn unicode_class(cursor: &mut Cursor<'_>, fold: bool) -> Result<ClassUnicode, Error> {
    let start = cursor.pos;
    let mut negated = cursor.peek_at(1) == Some(b'P');
    cursor.pos += 2;
    let name_start = cursor.pos;
    let name = if cursor.rune()? == Rune::from(b'{') {
        let Some(end) = cursor.find(b"}", cursor.pos) else {
            cursor.check_utf8(start..cursor.pattern.len())?;
            return Err(cursor.error_to_end(Reason::CharRange, start));
        };
        let name = cursor.pos..end;
        cursor.pos = end + 1;
        cursor.check_utf8(name.clone())?;
        name
    } else {
        name_start..cursor.pos
    };
    let mut name = &cursor.pattern[name];
    if let Some(positive) = name.strip_prefix(b"^") {
        negated = !negated;
        name = positive;
    }
    let table = std::str::from_utf8(name).ok().and_then(unicode::table);
    let table = table.ok_or_else(|| cursor.error_since(Reason::CharRange, start))?;
    finish(cursor, table, fold, negated)
}

fn ascii(ranges: AsciiRanges) -> ClassUnicode {
    ClassUnicode::new(ranges.iter().map(|&(low, high)| ClassUnicodeRange::new(low.into(), high.into())))
}

/// Folds before it negates: `(?i)\W` lacks the Kelvin sign, which folds to `k`.
fn finish(
    cursor: &mut Cursor<'_>,
    mut class: ClassUnicode,
    fold: bool,
    negated: bool,
) -> Result<ClassUnicode, Error> {
    cursor.spend(class.ranges().len())?;
    if fold && !holds_all_letters(&class) {
        // Folding looks at every member.
        let members: usize = class.ranges().iter().map(ClassUnicodeRange::len).sum();
        cursor.spend(members / 16)?;
        class.case_fold_simple();
    }
    if negated {
        class.negate();
    }
    Ok(class)
}

/// Returns true if one range has everything that could be folded.
fn holds_all_letters(class: &ClassUnicode) -> bool {
    class.ranges().iter().any(|range| range.start() <= 'A' && range.end() >= '\u{1E943}')
}

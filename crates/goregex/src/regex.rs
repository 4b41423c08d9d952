//! A compiled pattern and what Go's `Regexp` does with it.

use std::fmt;
use std::ops::Range;

use regex_syntax::hir::{Hir, HirKind, Look};

use crate::automaton::Automaton;
use crate::error::{Error, Reason};
use crate::expand::Match;
use crate::parse::{Parsed, parse};
use crate::subject::Subject;

/// Returns whether Go would take `pattern`, without making it ready to match, which takes much longer.
///
/// # Errors
/// As [`Regex::new`], but for patterns that are only too large.
pub fn check<P: AsRef<[u8]> + ?Sized>(pattern: &P) -> Result<(), Error> {
    parse(pattern.as_ref()).map(|_| ())
}

/// A pattern in Go's syntax, ready to match.
///
/// A regular expression. A negative `limit` of a method means all, like Go's `n`.
pub struct Regex {
    pattern: Box<[u8]>,
    engine: Engine,
    names: Box<[Option<Box<str>>]>,
}

enum Engine {
    /// Plain text, perhaps held to the start or end: by far the most patterns in kustomizations,
    /// and not worth an automaton.
    Literal {
        text: Box<[u8]>,
        at_start: bool,
        at_end: bool,
    },
    Automaton(Box<Automaton>),
}

impl Regex {
    /// Compiles `pattern`, as Go's `regexp.Compile` does.
    pub fn new<P: AsRef<[u8]> + ?Sized>(pattern: &P) -> Result<Self, Error> {
        let pattern = pattern.as_ref();
        if is_plain(pattern) {
            return Ok(Self::literal(pattern.into(), pattern, false));
        }
        Self::compile(pattern.into())
    }

    /// Compiles `^(?:pattern)$`, put together without looking, as Kustomize does to its selectors.
    /// An error quotes that whole, but its span is in `pattern`.
    pub fn anchored<P: AsRef<[u8]> + ?Sized>(pattern: &P) -> Result<Self, Error> {
        const BEFORE: &[u8] = b"^(?:";
        let pattern = pattern.as_ref();
        let whole = [BEFORE, pattern, b")$"].concat().into_boxed_slice();
        if is_plain(pattern) {
            return Ok(Self::literal(whole, pattern, true));
        }
        Self::compile(whole).map_err(|e| e.inside(BEFORE.len(), pattern.len()))
    }

    fn literal(pattern: Box<[u8]>, text: &[u8], anchored: bool) -> Self {
        let engine = Engine::Literal { text: text.into(), at_start: anchored, at_end: anchored };
        Regex { pattern, engine, names: Box::new([None]) }
    }

    fn compile(pattern: Box<[u8]>) -> Result<Self, Error> {
        let Parsed { tree, names } = parse(&pattern)?;
        let engine = match as_literal(&tree.hir) {
            Some(literal) => literal,
            None => Automaton::new(tree, names.len())
                .map(|automaton| Engine::Automaton(Box::new(automaton)))
                .ok_or_else(|| Error::new(Reason::Large, &pattern, 0..pattern.len()))?,
        };
        Ok(Regex { pattern, engine, names: names.into() })
    }

    /// The pattern that was compiled.
    #[must_use]
    pub fn pattern(&self) -> &[u8] {
        &self.pattern
    }

    /// The name of each capture group, the whole match first.
    #[must_use]
    pub fn names(&self) -> &[Option<Box<str>>] {
        &self.names
    }

    /// Returns true if `text` holds a match.
    #[must_use]
    pub fn is_match<T: AsRef<[u8]> + ?Sized>(&self, text: &T) -> bool {
        let text = text.as_ref();
        match &self.engine {
            Engine::Literal { .. } => self.find_from(text, 0).is_some(),
            Engine::Automaton(automaton) => automaton.is_match(&Subject::new(text).text),
        }
    }

    /// The leftmost match.
    #[must_use]
    pub fn find<T: AsRef<[u8]> + ?Sized>(&self, text: &T) -> Option<Range<usize>> {
        let subject = self.subject(text.as_ref());
        self.find_from(&subject.text, 0).map(|found| subject.original(&found))
    }

    /// At most `limit` matches that do not overlap. An empty one right behind another is left out.
    #[must_use]
    pub fn find_all<T: AsRef<[u8]> + ?Sized>(&self, text: &T, limit: i64) -> Vec<Range<usize>> {
        let subject = self.subject(text.as_ref());
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let mut found = Vec::new();
        let (mut pos, mut previous_end) = (0, None);
        while found.len() < limit && pos <= subject.text.len() {
            let Some(next) = self.find_from(&subject.text, pos) else { break };
            let end = next.end;
            let repeats = end == pos && previous_end == Some(next.start);
            if !repeats {
                found.push(subject.original(&next));
            }
            pos = if end == pos { pos + subject.width(pos).max(1) } else { end };
            previous_end = Some(end);
        }
        found
    }

    /// The leftmost match, then what each group in it matched.
    #[must_use]
    pub fn captures<T: AsRef<[u8]> + ?Sized>(&self, text: &T) -> Option<Vec<Option<Range<usize>>>> {
        let subject = self.subject(text.as_ref());
        let groups = self.captures_from(&subject.text, 0)?;
        Some(groups.into_iter().map(|group| group.map(|g| subject.original(&g))).collect())
    }

    /// `text` with each match replaced by `template`, in which `$1`, `$name` and `${name}` are
    /// groups and `$$` is a dollar. `$1x` is the group `1x`.
    #[must_use]
    pub fn replace_all<T: AsRef<[u8]> + ?Sized>(&self, text: &T, template: &[u8]) -> Vec<u8> {
        self.replace_all_within(text, template, usize::MAX).unwrap_or_default()
    }

    /// The same, or `None` if the result is longer than `limit` bytes.
    #[must_use]
    pub fn replace_all_within<T: AsRef<[u8]> + ?Sized>(
        &self,
        text: &T,
        template: &[u8],
        limit: usize,
    ) -> Option<Vec<u8>> {
        if !template.contains(&b'$') {
            return self.replace_all_literal_within(text, template, limit);
        }
        let text = text.as_ref();
        self.replace(
            text,
            limit,
            |subject, pos| {
                let groups = self.captures_from(&subject.text, pos)?;
                let whole = groups.first()?.clone()?;
                Some((whole, groups))
            },
            |subject, mut groups, out| {
                for group in groups.iter_mut().flatten() {
                    *group = subject.original(group);
                }
                self.expand(text, &groups, template, out);
            },
        )
    }

    /// `text` with each match replaced by `replacement` as it is.
    #[must_use]
    pub fn replace_all_literal<T: AsRef<[u8]> + ?Sized>(&self, text: &T, replacement: &[u8]) -> Vec<u8> {
        self.replace_all_literal_within(text, replacement, usize::MAX).unwrap_or_default()
    }

    /// The same, or `None` if the result is longer than `limit` bytes.
    #[must_use]
    pub fn replace_all_literal_within<T: AsRef<[u8]> + ?Sized>(
        &self,
        text: &T,
        replacement: &[u8],
        limit: usize,
    ) -> Option<Vec<u8>> {
        self.replace(
            text.as_ref(),
            limit,
            |subject, pos| Some((self.find_from(&subject.text, pos)?, ())),
            |_, (), out| out.extend_from_slice(replacement),
        )
    }

    /// Appends `template` to `out` with its variables replaced by `groups`, which
    /// [`captures`](Self::captures) found in `text`.
    pub fn expand(&self, text: &[u8], groups: &[Option<Range<usize>>], template: &[u8], out: &mut Vec<u8>) {
        Match { text, groups, names: &self.names }.expand(template, out);
    }

    /// The parts of `text` between matches, at most `limit`; the last is what remains. None at all
    /// if `limit` is 0.
    #[must_use]
    pub fn split<T: AsRef<[u8]> + ?Sized>(&self, text: &T, limit: i64) -> Vec<Range<usize>> {
        let text = text.as_ref();
        if limit == 0 {
            return Vec::new();
        }
        if !self.pattern.is_empty() && text.is_empty() {
            return vec![Range::default()];
        }
        let most = usize::try_from(limit).unwrap_or(usize::MAX);
        let mut parts = Vec::new();
        let (mut begin, mut end) = (0, 0);
        for found in self.find_all(text, limit) {
            if parts.len() + 1 >= most {
                break;
            }
            end = found.start;
            if found.end != 0 {
                parts.push(begin..end);
            }
            begin = found.end;
        }
        // Unless the last match was empty and at the end.
        if end != text.len() {
            parts.push(begin..text.len());
        }
        parts
    }

    /// Returns what Go's `replaceAll` does: `find` the match at or after a place, `put` what replaces it.
    /// An empty match right behind another is kept as it is.
    fn replace<M>(
        &self,
        text: &[u8],
        limit: usize,
        find: impl Fn(&Subject<'_>, usize) -> Option<(Range<usize>, M)>,
        put: impl Fn(&Subject<'_>, M, &mut Vec<u8>),
    ) -> Option<Vec<u8>> {
        let subject = self.subject(text);
        let mut out = Vec::with_capacity(text.len());
        let (mut pos, mut copied) = (0, 0);
        while pos <= subject.text.len() {
            let Some((found, matched)) = find(&subject, pos) else { break };
            out.extend_from_slice(&text[subject.original(&(copied..found.start))]);
            if found.end > copied || found.start == 0 {
                put(&subject, matched, &mut out);
            }
            if out.len() > limit {
                return None;
            }
            copied = found.end;
            pos = found.end.max(pos + subject.width(pos).max(1));
        }
        out.extend_from_slice(&text[subject.original(&(copied..subject.text.len()))]);
        Some(out).filter(|out| out.len() <= limit)
    }

    /// `text` as the engine is to see it. Plain text is looked for in the bytes as they are.
    fn subject<'t>(&self, text: &'t [u8]) -> Subject<'t> {
        match &self.engine {
            Engine::Literal { .. } => Subject::verbatim(text),
            Engine::Automaton(_) => Subject::new(text),
        }
    }

    fn find_from(&self, text: &[u8], pos: usize) -> Option<Range<usize>> {
        match &self.engine {
            Engine::Literal { text: literal, at_start, at_end } => {
                find_literal(literal, text, pos, *at_start, *at_end)
            }
            Engine::Automaton(automaton) => automaton.find(text, pos),
        }
    }

    fn captures_from(&self, text: &[u8], pos: usize) -> Option<Vec<Option<Range<usize>>>> {
        match &self.engine {
            Engine::Literal { .. } => {
                // Groups may be left even so, all in parts that repeat no times: `(a){0}b`.
                let mut groups = vec![None; self.names.len()];
                groups[0] = Some(self.find_from(text, pos)?);
                Some(groups)
            }
            Engine::Automaton(automaton) => automaton.captures(text, pos, self.names.len()),
        }
    }
}

impl fmt::Debug for Regex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Regex({:?})", String::from_utf8_lossy(&self.pattern))
    }
}

/// A pattern that matches `text` itself.
#[must_use]
pub fn quote_meta(text: &[u8]) -> Vec<u8> {
    let mut quoted = Vec::with_capacity(text.len());
    for &byte in text {
        if br"\.+*?()|[]{}^$".contains(&byte) {
            quoted.push(b'\\');
        }
        quoted.push(byte);
    }
    quoted
}

/// Returns true if a pattern can only mean its own text. U+FFFD is left to the automaton, since it also
/// matches a stray byte there.
fn is_plain(pattern: &[u8]) -> bool {
    let meta = |byte: &u8| br"\.+*?()|[{^$".contains(byte);
    !pattern.iter().any(meta) && std::str::from_utf8(pattern).is_ok_and(|text| !text.contains('\u{FFFD}'))
}

/// Returns what was plain text once read: `^a\.b$`, `(?:abc)`.
fn as_literal(hir: &Hir) -> Option<Engine> {
    let parts = match hir.kind() {
        HirKind::Concat(parts) => parts.as_slice(),
        _ => std::slice::from_ref(hir),
    };
    let (at_start, parts) = match parts.split_first() {
        Some((first, rest)) if *first.kind() == HirKind::Look(Look::Start) => (true, rest),
        _ => (false, parts),
    };
    let (at_end, parts) = match parts.split_last() {
        Some((last, rest)) if *last.kind() == HirKind::Look(Look::End) => (true, rest),
        _ => (false, parts),
    };
    let text: &[u8] = match parts {
        [] => b"",
        [one] => match one.kind() {
            HirKind::Literal(literal) => &literal.0,
            HirKind::Empty => b"",
            _ => return None,
        },
        _ => return None,
    };
    let plain = std::str::from_utf8(text).is_ok_and(|text| !text.contains('\u{FFFD}'));
    plain.then(|| Engine::Literal { text: text.into(), at_start, at_end })
}

fn find_literal(
    literal: &[u8],
    text: &[u8],
    pos: usize,
    at_start: bool,
    at_end: bool,
) -> Option<Range<usize>> {
    let rest = &text[pos..];
    let start = match (at_start, at_end) {
        (true, _) if pos > 0 => return None,
        (true, true) => (text == literal).then_some(0),
        (true, false) => text.starts_with(literal).then_some(0),
        (false, true) => rest.ends_with(literal).then(|| text.len() - literal.len()),
        (false, false) => memchr::memmem::find(rest, literal).map(|at| pos + at),
    }?;
    Some(start..start + literal.len())
}

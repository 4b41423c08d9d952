//! Replacement templates: `$1`, `$name`, `${name}` and `$$`.

use std::ops::Range;

use crate::cursor::decode;
use crate::unicode::is_letter_or_digit;

/// The values of a template's variables.
pub(crate) struct Match<'m> {
    pub(crate) text: &'m [u8],
    pub(crate) groups: &'m [Option<Range<usize>>],
    pub(crate) names: &'m [Option<Box<str>>],
}

impl Match<'_> {
    /// Appends `template` to `out` with its variables replaced. What is no variable stays as it is;
    /// a variable that names no group, or one that did not match, is nothing.
    pub(crate) fn expand(&self, template: &[u8], out: &mut Vec<u8>) {
        let mut rest = template;
        while let Some(dollar) = memchr::memchr(b'$', rest) {
            out.extend_from_slice(&rest[..dollar]);
            rest = &rest[dollar + 1..];
            if rest.first() == Some(&b'$') {
                out.push(b'$');
                rest = &rest[1..];
            } else if let Some((name, len)) = variable(rest) {
                let group = self.group(name).unwrap_or(0..0);
                out.extend_from_slice(&self.text[group]);
                rest = &rest[len..];
            } else {
                out.push(b'$');
            }
        }
        out.extend_from_slice(rest);
    }

    fn group(&self, name: &[u8]) -> Option<Range<usize>> {
        if let Some(index) = group_number(name) {
            return self.groups.get(index)?.clone();
        }
        let same_name = |known: &Option<Box<str>>| known.as_deref().is_some_and(|k| k.as_bytes() == name);
        let mut named = self.names.iter().zip(self.groups).filter(|(known, _)| same_name(known));
        // Of several groups with the name, the first that matched.
        named.find_map(|(_, group)| group.clone())
    }
}

/// The name of the variable that `text` begins with, behind its dollar, and what to step over.
fn variable(text: &[u8]) -> Option<(&[u8], usize)> {
    let braced = text.first() == Some(&b'{');
    let start = usize::from(braced);
    let mut end = start;
    while let Some((c, width)) = decode(&text[end..])
        && (c == '_' || is_letter_or_digit(c))
    {
        end += width;
    }
    let closed = !braced || text.get(end) == Some(&b'}');
    (end > start && closed).then(|| (&text[start..end], end + start))
}

/// `name` as an index: `01` is a name, and so is a number past nine digits.
fn group_number(name: &[u8]) -> Option<usize> {
    let plain = name.iter().all(u8::is_ascii_digit) && (name.len() == 1 || name[0] != b'0');
    if plain && name.len() <= 9 { std::str::from_utf8(name).ok()?.parse().ok() } else { None }
}

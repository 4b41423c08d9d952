//! Working through text as Go does: characters where there are some, and U+FFFD for each byte that
//! is not UTF-8.

use gostd::characters;
use memchr::memmem;

use crate::Context;
use crate::error::CallError;

/// The characters of `bytes`.
pub(super) fn runes(bytes: &[u8]) -> impl Iterator<Item = char> + '_ {
    characters(bytes).map(|character| character.unwrap_or(char::REPLACEMENT_CHARACTER))
}

/// The first character of `bytes` and how many bytes it takes, none of nothing.
pub(super) fn first_rune(bytes: &[u8]) -> Option<(char, usize)> {
    let first = *bytes.first()?;
    if first.is_ascii() {
        return Some((char::from(first), 1));
    }
    // No character is longer than four bytes, so this looks at no more.
    let head = &bytes[..bytes.len().min(4)];
    let valid = head.utf8_chunks().next().map_or("", |chunk| chunk.valid());
    Some(valid.chars().next().map_or((char::REPLACEMENT_CHARACTER, 1), |c| (c, c.len_utf8())))
}

/// `strings.Map`: each character replaced by another.
pub(super) fn map_characters(bytes: &[u8], mut map: impl FnMut(char) -> char) -> String {
    let mut out = String::with_capacity(bytes.len());
    out.extend(runes(bytes).map(&mut map));
    out
}

/// `strings.TrimFunc`.
pub(super) fn trim_matching(bytes: &[u8], matching: impl Fn(char) -> bool) -> &[u8] {
    let mut start = 0;
    while let Some((c, size)) = first_rune(&bytes[start..])
        && matching(c)
    {
        start += size;
    }
    let mut end = bytes.len();
    while let Some((c, size)) = last_rune(&bytes[start..end])
        && matching(c)
    {
        end -= size;
    }
    &bytes[start..end]
}

fn last_rune(bytes: &[u8]) -> Option<(char, usize)> {
    let last = *bytes.last()?;
    if last.is_ascii() {
        return Some((char::from(last), 1));
    }
    let whole = (2..=bytes.len().min(4)).find_map(|size| {
        let tail = std::str::from_utf8(&bytes[bytes.len() - size..]).ok()?;
        tail.chars().next().map(|c| (c, size))
    });
    Some(whole.unwrap_or((char::REPLACEMENT_CHARACTER, 1)))
}

/// The characters as strings, bytes that are not UTF-8 on their own.
pub(super) fn explode(bytes: &[u8]) -> Vec<&[u8]> {
    let mut rest = bytes;
    let mut parts = Vec::new();
    while let Some((_, size)) = first_rune(rest) {
        let (part, after) = rest.split_at(size);
        parts.push(part);
        rest = after;
    }
    parts
}

/// `strings.SplitN`: at most `limit` parts, of which the last is what remains; all if it is negative.
pub(super) fn split<'a>(bytes: &'a [u8], separator: &[u8], limit: i64) -> Vec<&'a [u8]> {
    let limit = if limit < 0 { usize::MAX } else { usize::try_from(limit).unwrap_or(usize::MAX) };
    if limit == 0 {
        return Vec::new();
    }
    if separator.is_empty() {
        let mut parts = explode(bytes);
        if parts.len() > limit {
            let rest = parts[limit..].iter().map(|part| part.len()).sum::<usize>() + parts[limit - 1].len();
            parts.truncate(limit);
            parts[limit - 1] = &bytes[bytes.len() - rest..];
        }
        return parts;
    }
    let mut parts = Vec::new();
    let mut done = 0;
    for found in memmem::find_iter(bytes, separator).take(limit - 1) {
        parts.push(&bytes[done..found]);
        done = found + separator.len();
    }
    parts.push(&bytes[done..]);
    parts
}

/// Breaks `line` at spaces, or where there are none and `within_words` allows it, after `width` bytes.
pub(super) fn wrap(
    context: &Context<'_>,
    line: &[u8],
    width: i64,
    separator: &[u8],
    within_words: bool,
) -> Result<Vec<u8>, CallError> {
    let width = usize::try_from(width.max(1)).unwrap_or(usize::MAX);
    let mut out = Vec::with_capacity(line.len());
    let mut rest = line;
    while rest.len() > width {
        if rest[0] == b' ' {
            rest = &rest[1..];
            continue;
        }
        let space = memchr::memrchr(b' ', &rest[..=width]);
        let next_space = || memchr::memchr(b' ', &rest[width..]).map(|index| index + width);
        let (end, next) = match space {
            Some(space) => (space, space + 1),
            None if within_words => (width, width),
            None => match next_space() {
                Some(space) => (space, space + 1),
                None => break,
            },
        };
        out.extend_from_slice(&rest[..end]);
        out.extend_from_slice(separator);
        context.check_length(out.len())?;
        rest = &rest[next..];
    }
    out.extend_from_slice(rest);
    Ok(out)
}

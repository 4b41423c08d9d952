//! The patterns of `${name#pattern}` and `${name%pattern}` in `drone/envsubst`: those of Go's `path.Match`, except that `*`
//! also matches `/` (envsubst/path/match.go).

use crate::BadPattern;

/// Returns true if a pattern matches the whole string.
///
/// # Errors
/// If matching reaches a malformed part of the pattern; a part that it does not reach is not checked.
pub fn matches(mut pattern: &[u8], mut text: &[u8]) -> Result<bool, BadPattern> {
    'pattern: while !pattern.is_empty() {
        let (star, chunk, rest) = next_chunk(pattern);
        pattern = rest;
        if star && chunk.is_empty() {
            return Ok(true);
        }
        if let Some(left) = match_chunk(chunk, text)?
            && (left.is_empty() || !pattern.is_empty())
        {
            text = left;
            continue;
        }
        if star {
            for from in 1..=text.len() {
                if let Some(left) = match_chunk(chunk, &text[from..])? {
                    if pattern.is_empty() && !left.is_empty() {
                        continue;
                    }
                    text = left;
                    continue 'pattern;
                }
            }
        }
        return Ok(false);
    }
    Ok(text.is_empty())
}

/// Returns whether stars lead, what follows them up to the next one, and the rest.
fn next_chunk(pattern: &[u8]) -> (bool, &[u8], &[u8]) {
    let stars = pattern.iter().take_while(|byte| **byte == b'*').count();
    let pattern = &pattern[stars..];
    let (mut at, mut in_class) = (0, false);
    while at < pattern.len() {
        match pattern[at] {
            b'\\' if at + 1 < pattern.len() => at += 1,
            b'[' => in_class = true,
            b']' => in_class = false,
            b'*' if !in_class => break,
            _ => {}
        }
        at += 1;
    }
    (stars > 0, &pattern[..at], &pattern[at..])
}

/// Returns what is left of a text whose beginning a chunk matches.
fn match_chunk<'t>(mut chunk: &[u8], mut text: &'t [u8]) -> Result<Option<&'t [u8]>, BadPattern> {
    while let Some((&first, behind)) = chunk.split_first() {
        if text.is_empty() {
            return Ok(None);
        }
        match first {
            b'[' => {
                let (c, rest) = character(text);
                text = rest;
                let (is_in, rest) = class(behind, c)?;
                chunk = rest;
                if !is_in {
                    return Ok(None);
                }
            }
            b'?' => {
                text = character(text).1;
                chunk = behind;
            }
            _ => {
                let literal = if first == b'\\' { behind } else { chunk };
                let (&wanted, behind) = literal.split_first().ok_or(BadPattern)?;
                if wanted != text[0] {
                    return Ok(None);
                }
                text = &text[1..];
                chunk = behind;
            }
        }
    }
    Ok(Some(text))
}

/// Returns whether a class has a character, and what is behind the class.
fn class(chunk: &[u8], c: u32) -> Result<(bool, &[u8]), BadPattern> {
    let is_negated = chunk.first() == Some(&b'^');
    let mut chunk = &chunk[usize::from(is_negated)..];
    let (mut is_in, mut ranges) = (false, 0);
    loop {
        if chunk.first() == Some(&b']') && ranges > 0 {
            return Ok((is_in != is_negated, &chunk[1..]));
        }
        let (low, rest) = member(chunk)?;
        let (high, rest) = if rest.first() == Some(&b'-') { member(&rest[1..])? } else { (low, rest) };
        is_in |= (low..=high).contains(&c);
        chunk = rest;
        ranges += 1;
    }
}

/// A character of a class; something must follow it.
fn member(chunk: &[u8]) -> Result<(u32, &[u8]), BadPattern> {
    let chunk = match chunk.first() {
        None | Some(b'-' | b']') => return Err(BadPattern),
        Some(b'\\') => &chunk[1..],
        Some(_) => chunk,
    };
    if chunk.is_empty() {
        return Err(BadPattern);
    }
    let (c, rest) = character(chunk);
    if c == INVALID || rest.is_empty() { Err(BadPattern) } else { Ok((c, rest)) }
}

/// Stands for a byte that begins no character. The replacement character itself, three bytes long, is another thing.
const INVALID: u32 = u32::MAX;

fn character(text: &[u8]) -> (u32, &[u8]) {
    let length = match text[0] {
        0..0x80 => return (u32::from(text[0]), &text[1..]),
        0xC2..0xE0 => 2,
        0xE0..0xF0 => 3,
        0xF0..0xF5 => 4,
        _ => 1,
    };
    let whole = text.get(..length).and_then(|bytes| std::str::from_utf8(bytes).ok());
    match whole.and_then(|text| text.chars().next()) {
        Some(c) => (u32::from(c), &text[length..]),
        None => (INVALID, &text[1..]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_in_go() {
        for (pattern, text, want) in [
            ("abc", "abc", Ok(true)),
            ("a*c", "a/b/c", Ok(true)),
            ("a*c", "ab", Ok(false)),
            ("*", "", Ok(true)),
            ("a?c", "aéc", Ok(true)),
            ("[a-c]x", "bx", Ok(true)),
            ("[^a-c]x", "bx", Ok(false)),
            (r"\*", "*", Ok(true)),
            (r"a\", "a", Ok(false)),
            (r"a\", "ab", Err(BadPattern)),
            ("[", "a", Err(BadPattern)),
            ("[a", "a", Err(BadPattern)),
            ("[]a]", "]", Err(BadPattern)),
            ("a[", "b", Ok(false)),
            ("*b*d", "abcd", Ok(true)),
        ] {
            assert_eq!(matches(pattern.as_bytes(), text.as_bytes()), want, "{pattern} {text}");
        }
    }
}

//! Go's `path.Match` and `filepath.Match`: `*` and `?` do not match `/`, and there is no `**`.

use std::fmt;

/// A pattern that is malformed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadPattern;

impl fmt::Display for BadPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("syntax error in pattern")
    }
}

impl std::error::Error for BadPattern {}

/// Returns whether a path matches a pattern as a whole.
///
/// # Errors
/// If matching comes upon a fault of the pattern, as in Go: an unclosed class or a last backslash.
pub fn path_match(pattern: &str, path: &str) -> Result<bool, BadPattern> {
    let mut pattern: Vec<char> = pattern.chars().collect();
    let mut path: Vec<char> = path.chars().collect();
    let (mut rest, mut text) = (pattern.as_mut_slice(), path.as_mut_slice());
    while !rest.is_empty() {
        let (star, chunk, after) = next_chunk(rest);
        let (chunk, after) = (chunk.to_vec(), after.to_vec());
        if star && chunk.is_empty() {
            // What is left must be one path element.
            return Ok(!text.contains(&'/'));
        }
        let Some(left) = place_chunk(&chunk, text, star, after.is_empty())? else {
            // Go reads the rest of the pattern for faults before it says no.
            return check(&after).map(|()| false);
        };
        let matched = text.len() - left;
        text = &mut text[matched..];
        let consumed = rest.len() - after.len();
        rest = &mut rest[consumed..];
    }
    Ok(text.is_empty())
}

/// Takes leading stars, and what follows up to the next star outside of a class.
fn next_chunk(pattern: &[char]) -> (bool, &[char], &[char]) {
    let stars = pattern.iter().take_while(|c| **c == '*').count();
    let rest = &pattern[stars..];
    let (mut at, mut in_class) = (0, false);
    while at < rest.len() {
        match rest[at] {
            '\\' if at + 1 < rest.len() => at += 1,
            '[' => in_class = true,
            ']' => in_class = false,
            '*' if !in_class => break,
            _ => {}
        }
        at += 1;
    }
    (stars > 0, &rest[..at], &rest[at..])
}

/// Finds where a chunk matches, after any part of a path element where a star comes first, and says how much text is
/// left behind it.
fn place_chunk(
    chunk: &[char],
    text: &[char],
    star: bool,
    is_last: bool,
) -> Result<Option<usize>, BadPattern> {
    let fits = |left: Option<usize>| left.filter(|left| !is_last || *left == 0);
    if let Some(left) = fits(match_chunk(chunk, text)?) {
        return Ok(Some(left));
    }
    if !star {
        // Without a star before it, what is behind the chunk is for the next one to refuse.
        return match_chunk(chunk, text);
    }
    for skipped in 0..text.len() {
        if text[skipped] == '/' {
            break;
        }
        if let Some(left) = fits(match_chunk(chunk, &text[skipped + 1..])?) {
            return Ok(Some(left));
        }
    }
    Ok(None)
}

/// Matches a chunk at the start of a text, and says how much of the text is left.
fn match_chunk(mut chunk: &[char], mut text: &[char]) -> Result<Option<usize>, BadPattern> {
    let mut failed = false;
    while let Some((&first, rest)) = chunk.split_first() {
        failed |= text.is_empty();
        let c = text.first().copied();
        match first {
            '[' => {
                let (hit, after) = class(rest, c.unwrap_or_default())?;
                failed |= !hit;
                chunk = after;
            }
            '?' => {
                failed |= c == Some('/');
                chunk = rest;
            }
            '\\' => {
                let (&escaped, after) = rest.split_first().ok_or(BadPattern)?;
                failed |= c != Some(escaped);
                chunk = after;
            }
            literal => {
                failed |= c != Some(literal);
                chunk = rest;
            }
        }
        text = text.get(1..).unwrap_or_default();
    }
    Ok((!failed).then_some(text.len()))
}

/// Reads a class behind its `[`: whether it has a character, and what follows it.
fn class(pattern: &[char], c: char) -> Result<(bool, &[char]), BadPattern> {
    let (negated, mut rest) = match pattern.split_first() {
        Some(('^', rest)) => (true, rest),
        _ => (false, pattern),
    };
    let (mut hit, mut ranges) = (false, 0);
    loop {
        if let Some((']', after)) = rest.split_first()
            && ranges > 0
        {
            return Ok((hit != negated, after));
        }
        let (low, after) = class_character(rest)?;
        let (high, after) = match after.split_first() {
            Some(('-', after)) => class_character(after)?,
            _ => (low, after),
        };
        hit |= (low..=high).contains(&c);
        ranges += 1;
        rest = after;
    }
}

fn class_character(pattern: &[char]) -> Result<(char, &[char]), BadPattern> {
    let (c, rest) = match pattern.split_first().ok_or(BadPattern)? {
        ('-' | ']', _) => return Err(BadPattern),
        ('\\', rest) => rest.split_first().ok_or(BadPattern)?,
        plain => plain,
    };
    // A class must be closed: its end is not the pattern's.
    if rest.is_empty() { Err(BadPattern) } else { Ok((*c, rest)) }
}

/// Checks the rest of a pattern that matching did not reach.
fn check(pattern: &[char]) -> Result<(), BadPattern> {
    let mut rest = pattern;
    while !rest.is_empty() {
        let (_, chunk, after) = next_chunk(rest);
        match_chunk(chunk, &[])?;
        rest = after;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From the documentation of Go's `filepath.Match`, and from reasoning by its grammar.
    #[test]
    fn patterns_match_as_in_go() {
        for (pattern, path, expected) in [
            ("abc", "abc", Ok(true)),
            ("*", "abc", Ok(true)),
            ("*c", "abc", Ok(true)),
            ("a*", "a", Ok(true)),
            ("a*", "ab/c", Ok(false)),
            ("a*/b", "abc/b", Ok(true)),
            ("a*/b", "a/c/b", Ok(false)),
            ("a*b*c*d*e*/f", "axbxcxdxe/f", Ok(true)),
            ("a*b?c*x", "abxbbxdbxebxczzx", Ok(true)),
            ("ab[c]", "abc", Ok(true)),
            ("ab[b-d]", "abc", Ok(true)),
            ("ab[^e-g]", "abc", Ok(true)),
            ("a\\*b", "a*b", Ok(true)),
            ("a?b", "a/b", Ok(false)),
            ("[]a]", "]", Err(BadPattern)),
            ("[-x]", "x", Err(BadPattern)),
            ("[", "a", Err(BadPattern)),
            ("a[", "a", Err(BadPattern)),
            ("a[", "ab", Err(BadPattern)),
            ("*x", "xxx", Ok(true)),
            ("templates/.?*", "templates/.x", Ok(true)),
            ("templates/.?*", "templates/a.x", Ok(false)),
            ("a\\", "a", Err(BadPattern)),
        ] {
            assert_eq!(path_match(pattern, path), expected, "{pattern} over {path}");
        }
    }
}

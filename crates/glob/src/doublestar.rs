//! The dialect of the Go library `bmatcuk/doublestar`, as Argo CD uses it for value files.
//!
//! Braces become a list of alternatives without braces; a part between slashes becomes a regular expression. A part `**`
//! matches any number of directories; walking them is the caller's.

use goregex::Regex;

use crate::gobwas::class_escape;

/// The maximum number of alternatives of a pattern.
const MAX_ALTERNATIVES: usize = 1000;

/// Compiles one part of a pattern, which holds neither `/` nor braces nor `**`.
///
/// # Errors
/// If a class is not closed, or if the pattern is too large.
pub fn name_pattern(part: &str) -> Result<Regex, String> {
    let invalid = || format!("invalid pattern `{part}`");
    Regex::new(&expression(part).ok_or_else(invalid)?).map_err(|_| invalid())
}

/// Returns the pattern of a name as a regular expression; `None` if a class is not closed.
fn expression(part: &str) -> Option<String> {
    let mut expression = r"(?s)\A".to_owned();
    let mut rest = part.chars();
    let literal = |character: char, expression: &mut String| {
        let quoted = goregex::quote_meta(character.to_string().as_bytes());
        expression.push_str(&String::from_utf8_lossy(&quoted));
    };
    while let Some(character) = rest.next() {
        match character {
            '*' => expression.push_str(".*"),
            '?' => expression.push('.'),
            '\\' => literal(rest.next()?, &mut expression),
            '[' => {
                let mut class = String::new();
                let negated = rest.as_str().starts_with(['!', '^']);
                if negated {
                    rest.next();
                }
                loop {
                    match rest.next()? {
                        ']' if !class.is_empty() => break,
                        '-' if !class.is_empty() && !rest.as_str().starts_with(']') => class.push('-'),
                        '\\' => class.push_str(&class_escape(rest.next()?)),
                        other => class.push_str(&class_escape(other)),
                    }
                }
                expression.push_str(if negated { "[^" } else { "[" });
                expression.push_str(&class);
                expression.push(']');
            }
            other => literal(other, &mut expression),
        }
    }
    expression.push_str(r"\z");
    Some(expression)
}

/// Expands braces: returns one pattern for each combination of alternatives.
///
/// # Errors
/// If there are too many.
pub fn alternatives(pattern: &str) -> Result<Vec<String>, String> {
    let mut done = Vec::new();
    let mut open = vec![pattern.to_owned()];
    while let Some(pattern) = open.pop() {
        let Some((start, end)) = braces(&pattern) else {
            done.push(pattern);
            continue;
        };
        if done.len() + open.len() > MAX_ALTERNATIVES {
            return Err("the pattern has too many alternatives".to_owned());
        }
        let (before, after) = (&pattern[..start], &pattern[end + 1..]);
        let choices = choices(&pattern[start + 1..end]);
        open.extend(choices.into_iter().rev().map(|choice| format!("{before}{choice}{after}")));
    }
    Ok(done)
}

/// The first braces that have an end.
fn braces(pattern: &str) -> Option<(usize, usize)> {
    let (mut depth, mut start, mut escaped) = (0_usize, 0, false);
    for (at, byte) in pattern.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'{' => {
                if depth == 0 {
                    start = at;
                }
                depth += 1;
            }
            b'}' if depth == 1 => return Some((start, at)),
            b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}

/// Returns what is between the commas of braces, those in inner braces left alone.
fn choices(text: &str) -> Vec<&str> {
    let (mut depth, mut start, mut escaped) = (0_usize, 0, false);
    let mut choices = Vec::new();
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                choices.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    choices.push(&text[start..]);
    choices
}

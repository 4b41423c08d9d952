//! The dialect of the Go library `gobwas/glob`, as Argo CD uses it in settings and projects.
//!
//! `*` and `?` do not match a separator, `**` does. `{a,b}` is an alternative; `[abc]`, `[!abc]` and `[a-z]` match one
//! character; `\` escapes the next character. Rejects empty or unclosed brackets and ranges that run backwards.
//!
//! A pattern becomes a regular expression, so that matching takes linear time whatever the pattern.

use std::sync::Arc;

use diagnostic::{Error, Result};
use goregex::{Regex, quote_meta};

/// A pattern that is ready to match.
#[derive(Clone, Debug)]
pub struct Glob(Arc<Regex>);

impl Glob {
    /// Parses a pattern. `*` and `?` do not match characters of `separators`.
    ///
    /// # Errors
    /// If the pattern is malformed.
    pub fn new(pattern: &str, separators: &str) -> Result<Self> {
        let refuse = |why: &str| Error::invalid(format!("invalid pattern `{pattern}`: {why}"));
        let expression = Translation::of(pattern, separators).map_err(refuse)?;
        let regex = Regex::new(&expression).map_err(|_| refuse("it is too large"))?;
        Ok(Self(Arc::new(regex)))
    }

    /// Returns true if the whole text matches.
    #[must_use]
    pub fn matches(&self, text: &str) -> bool {
        self.0.is_match(text)
    }
}

/// The regular expression in the making.
struct Translation<'p> {
    rest: std::str::Chars<'p>,
    expression: String,
    /// Number of open braces.
    open: usize,
    /// The expression for one character that is not a separator.
    one: String,
}

impl<'p> Translation<'p> {
    fn of(pattern: &'p str, separators: &str) -> Result<String, &'static str> {
        let one = if separators.is_empty() {
            ".".to_owned()
        } else {
            format!("[^{}]", separators.chars().map(class_escape).collect::<String>())
        };
        let mut translation =
            Self { rest: pattern.chars(), expression: r"(?s)\A(?:".to_owned(), open: 0, one };
        translation.translate()?;
        // A brace that stays open ends with the pattern.
        let Self { mut expression, open, .. } = translation;
        expression.extend(std::iter::repeat_n(')', open));
        expression.push_str(r")\z");
        Ok(expression)
    }

    fn translate(&mut self) -> Result<(), &'static str> {
        while let Some(character) = self.rest.next() {
            match character {
                '*' if self.rest.as_str().starts_with('*') => {
                    self.rest.next();
                    self.expression.push_str(".*");
                }
                '*' => {
                    self.expression.push_str(&self.one);
                    self.expression.push('*');
                }
                '?' => self.expression.push_str(&self.one),
                '[' => self.bracket()?,
                '{' => {
                    self.open += 1;
                    self.expression.push_str("(?:");
                }
                ',' if self.open > 0 => self.expression.push('|'),
                '}' if self.open > 0 => {
                    self.open -= 1;
                    self.expression.push(')');
                }
                '\\' => {
                    if let Some(escaped) = self.rest.next() {
                        self.literal(escaped);
                    }
                }
                other => self.literal(other),
            }
        }
        Ok(())
    }

    fn literal(&mut self, character: char) {
        let quoted = quote_meta(character.encode_utf8(&mut [0; 4]).as_bytes());
        self.expression.push_str(&String::from_utf8_lossy(&quoted));
    }

    /// Returns what is in brackets: one range, or characters.
    fn bracket(&mut self) -> Result<(), &'static str> {
        let is_not = self.rest.as_str().starts_with('!');
        if is_not {
            self.rest.next();
        }
        self.expression.push_str(if is_not { "[^" } else { "[" });
        let mut ahead = self.rest.clone();
        let range = (ahead.next(), ahead.next(), ahead.next(), ahead.next());
        if let (Some(low), Some('-'), Some(high), close) = range {
            if close != Some(']') {
                return Err("a range of characters is not closed by `]`");
            }
            if low > high {
                return Err("a range of characters runs backwards");
            }
            self.expression.push_str(&format!("{}-{}]", class_escape(low), class_escape(high)));
            self.rest = ahead;
            return Ok(());
        }
        self.characters()
    }

    fn characters(&mut self) -> Result<(), &'static str> {
        let mut is_empty = true;
        loop {
            let character = match self.rest.next().ok_or("a `[` is not closed")? {
                ']' if is_empty => return Err("empty brackets"),
                ']' => break,
                '\\' => self.rest.next().ok_or("a `[` is not closed")?,
                other => other,
            };
            is_empty = false;
            self.expression.push_str(&class_escape(character));
        }
        self.expression.push(']');
        Ok(())
    }
}

/// Escapes a character for a class of a regular expression.
pub(crate) fn class_escape(character: char) -> String {
    if matches!(character, '\\' | ']' | '[' | '^' | '-' | '&' | '~') {
        format!("\\{character}")
    } else {
        character.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By the documentation of gobwas/glob and its tests.
    #[test]
    fn patterns_match_whole_texts() {
        for (pattern, separators, text, want) in [
            ("abc", "", "abc", true),
            ("a*c", "", "a12345c", true),
            ("a*c", "", "a12345cd", false),
            ("a?c", "", "a1c", true),
            ("a.b", "", "axb", false),
            ("a.b", "", "a.b", true),
            ("a.*", ".", "a.b", true),
            ("a.*", ".", "a.b.c", false),
            ("a.**", ".", "a.b.c", true),
            ("a.?.c", ".", "a.b.c", true),
            ("a.?.?", ".", "a.b.c", true),
            ("?at", "", "cat", true),
            ("?at", "", "at", false),
            ("*", "", "any/thing", true),
            ("*", "/", "any/thing", false),
            ("{abc,def}ghi", "", "defghi", true),
            ("{abc,abcd}a", "", "abcda", true),
            ("{a,ab}{bc,f}", "", "abc", true),
            ("{*,**}{a,b}", "", "ab", true),
            ("[a-z][!a-x]*cat", "", "my cat", true),
            ("[a-z][!a-x]*cat", "", "pig cat", false),
            ("[abc]", "", "b", true),
            ("[!abc]", "", "b", false),
            ("[!abc]", "", "", false),
            ("\\*", "", "*", true),
            ("\\*", "", "x", false),
            ("a,b}", "", "a,b}", true),
            ("{a,b", "", "b", true),
            ("", "", "", true),
            ("", "", "x", false),
            ("*\n", "", "a\nb\n", true),
        ] {
            let glob = Glob::new(pattern, separators).unwrap();
            assert_eq!(glob.matches(text), want, "{pattern} {text}");
        }
    }

    #[test]
    fn brackets_have_content_and_an_end() {
        for pattern in ["[", "[a", "[]", "[!]", "[a-", "[z-a]", "[a-zx]", "[a\\"] {
            assert!(Glob::new(pattern, "").is_err(), "{pattern}");
        }
    }
}

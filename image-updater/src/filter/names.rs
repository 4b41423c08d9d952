//! Filters by the whole name: which tags are allowed, by an expression, and which are ignored, by globs or expressions.

use diagnostic::{Error, Result};
use std::fmt;

use glob::path_match;
use goregex::Regex;

use super::Refusal;
use crate::criteria::{REGEXP, TagPattern};

/// Tags that are allowed: `any`, or `regexp:` and what a tag matches somewhere.
#[derive(Debug)]
pub(super) struct Allow(Option<Regex>);

/// Tags that are ignored.
#[derive(Debug)]
pub(super) struct Ignore(Vec<Pattern>);

/// A pattern for tags: a glob that matches as a whole, or an expression that matches anywhere.
#[derive(Debug)]
pub(super) enum Pattern {
    Glob(String),
    Expression(Regex),
}

impl Allow {
    pub(super) fn new(text: Option<&str>) -> Result<Self> {
        let expression = match text {
            None | Some("any") => return Ok(Self(None)),
            Some(text) => text.strip_prefix(REGEXP).ok_or_else(|| {
                let error = Error::invalid(format!("`{text}` does not restrict the allowed tags"));
                error.hint(format!("write `any`, or an expression as `{REGEXP}^v1`"))
            })?,
        };
        unblanked(expression).map(|expression| Self(Some(expression)))
    }

    pub(super) fn check(&self, tag: &str) -> Result<(), Refusal> {
        match &self.0 {
            Some(expression) if !expression.is_match(tag) => {
                let pattern = String::from_utf8_lossy(expression.pattern());
                Refusal::dropped("allow-tags", format!("not allowed by `{REGEXP}{pattern}`"))
            }
            _ => Ok(()),
        }
    }
}

impl Ignore {
    pub(super) fn new(ignored: &[TagPattern]) -> Result<Self> {
        ignored.iter().map(Pattern::new).collect::<Result<_>>().map(Self)
    }

    pub(super) fn check(&self, tag: &str) -> Result<(), Refusal> {
        match self.0.iter().find(|pattern| pattern.matches(tag)) {
            Some(pattern) => Refusal::dropped("ignore-tags", format!("ignored by `{pattern}`")),
            None => Ok(()),
        }
    }
}

impl Pattern {
    pub(super) fn new(pattern: &TagPattern) -> Result<Self> {
        let glob = match pattern {
            TagPattern::Expression(expression) => return unblanked(expression).map(Self::Expression),
            TagPattern::Glob(glob) => glob,
        };
        // Any text will do: faults are looked for in all of a pattern.
        if path_match(glob, "").is_err() {
            let error = Error::invalid(format!("invalid glob `{glob}`"));
            return Err(error.hint("a `[` needs its `]`, and a `\\` something after it"));
        }
        Ok(Self::Glob(glob.clone()))
    }

    pub(super) fn matches(&self, tag: &str) -> bool {
        match self {
            Self::Glob(pattern) => path_match(pattern, tag).unwrap_or(true),
            Self::Expression(expression) => expression.is_match(tag),
        }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Glob(pattern) => f.write_str(pattern),
            Self::Expression(expression) => {
                write!(f, "{REGEXP}{}", String::from_utf8_lossy(expression.pattern()))
            }
        }
    }
}

/// Compiles an expression that does not begin with a blank, as no tag does.
fn unblanked(expression: &str) -> Result<Regex> {
    if expression.starts_with(char::is_whitespace) {
        let error = Error::invalid(format!("`{REGEXP}{expression}` matches no tag: none has a space"));
        return Err(error.hint(format!("leave out the space after `{REGEXP}`")));
    }
    compile(expression)
}

/// Compiles an expression in Go's syntax.
pub(super) fn compile(expression: &str) -> Result<Regex> {
    Regex::new(expression).map_err(|error| {
        let error = Error::invalid(format!("invalid regular expression `{expression}`: {error}"));
        error.hint("use RE2 syntax: look-around and back-references are not supported")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_allowing_expression_is_not_anchored() {
        let allow = Allow::new(Some("regexp:2")).unwrap();
        assert!(allow.check("1.2").is_ok());
        assert_eq!(allow.check("1.3"), Refusal::dropped("allow-tags", "not allowed by `regexp:2`"));
        assert!(Allow::new(Some("any")).unwrap().check("x").is_ok());
        assert!(Allow::new(None).unwrap().check("x").is_ok());
    }

    #[test]
    fn what_allows_nothing_or_anything_by_mistake_is_refused() {
        for text in ["", "^1", "regex:^1", "regexp: ^1", "regexp:(", "regexp:(?!a)", "all"] {
            assert!(Allow::new(Some(text)).is_err(), "{text}");
        }
    }

    #[test]
    fn an_ignoring_expression_is_not_anchored() {
        let ignore = Ignore::new(&[TagPattern::read(r"regexp:\.sig$")]).unwrap();
        assert_eq!(ignore.check("a.sig"), Refusal::dropped("ignore-tags", r"ignored by `regexp:\.sig$`"));
        assert!(ignore.check("a.signed").is_ok());
    }

    /// As a glob is all that a flag of Argo CD Image Updater can hold.
    #[test]
    fn a_glob_that_looks_like_an_expression_matches_no_tag() {
        let ignore = Ignore::new(&[TagPattern::Glob("regexp:^1".to_owned())]).unwrap();
        assert!(ignore.check("1.2").is_ok());
    }

    #[test]
    fn a_glob_is_for_the_whole_tag() {
        let ignore = Ignore::new(&["*-debug", "1.[34]"].map(TagPattern::read)).unwrap();
        assert_eq!(ignore.check("1-debug"), Refusal::dropped("ignore-tags", "ignored by `*-debug`"));
        assert_eq!(ignore.check("1.4"), Refusal::dropped("ignore-tags", "ignored by `1.[34]`"));
        assert!(ignore.check("1.40").is_ok());
        for pattern in ["regexp:(", "regexp: a", "[", "a\\", "a[b", "x*[]a]"] {
            assert!(Ignore::new(&[TagPattern::read(pattern)]).is_err(), "{pattern}");
        }
    }
}

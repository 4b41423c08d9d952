//! The language in which Kubernetes selects labels: `app=web,tier in (a, b),!legacy`.
//!
//! In: the text of a selector. Out: whether a mapping of labels is selected. Refused, as by Kubernetes: what is no
//! such text, and keys and values that no label can have.

use diagnostic::{Error, Result};
use yamltree::Node;

/// The requirements of a label selector. Without requirements it selects every set.
#[derive(Clone, Debug, Default)]
pub(crate) struct Labels(Vec<Requirement>);

#[derive(Clone, Debug)]
struct Requirement {
    key: String,
    operator: Operator,
}

#[derive(Clone, Debug)]
enum Operator {
    Exists,
    Missing,
    In(Vec<String>),
    NotIn(Vec<String>),
    Above(i64),
    Below(i64),
}

impl Labels {
    /// # Errors
    /// Says what stands where something else must.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let mut parser = Parser { rest: tokens(text).into_iter().peekable() };
        let requirements = parser.requirements();
        requirements.map(Self).map_err(|error| error.prefix(format!("cannot read the selector `{text}`")))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns true if a mapping of labels, or the lack of one, is selected.
    pub(crate) fn matches(&self, labels: Option<&Node>) -> bool {
        self.0.iter().all(|requirement| {
            // A label that is no scalar counts as empty.
            let value = labels.and_then(|labels| labels.get(&requirement.key));
            requirement.operator.matches(value.map(|value| value.text().unwrap_or_default()))
        })
    }
}

impl Operator {
    fn matches(&self, value: Option<&str>) -> bool {
        let number = || value.and_then(|value| value.parse::<i64>().ok());
        match self {
            Self::Exists => value.is_some(),
            Self::Missing => value.is_none(),
            Self::In(values) => value.is_some_and(|value| values.iter().any(|known| known == value)),
            Self::NotIn(values) => value.is_none_or(|value| values.iter().all(|known| known != value)),
            Self::Above(bound) => number().is_some_and(|number| number > *bound),
            Self::Below(bound) => number().is_some_and(|number| number < *bound),
        }
    }
}

/// A word, or one of `( ) , ! = == != < >`. `in` and `notin` are words that may also be operators.
fn tokens(text: &str) -> Vec<&str> {
    let is_symbol = |byte: u8| b"=!(),><".contains(&byte);
    let is_space = |byte: u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
    // Go's scanner takes a NUL for the end.
    let text = text.split('\0').next().unwrap_or_default();
    let bytes = text.as_bytes();
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        if is_space(bytes[at]) {
            at += 1;
            continue;
        }
        if is_symbol(bytes[at]) {
            let is_pair = matches!(bytes.get(at..at + 2), Some(b"==" | b"!="));
            at += if is_pair { 2 } else { 1 };
        } else {
            while at < bytes.len() && !is_symbol(bytes[at]) && !is_space(bytes[at]) {
                at += 1;
            }
        }
        tokens.push(&text[start..at]);
    }
    tokens
}

fn is_word(token: &str) -> bool {
    !token.starts_with(['=', '!', '(', ')', ',', '>', '<'])
}

struct Parser<'t> {
    rest: std::iter::Peekable<std::vec::IntoIter<&'t str>>,
}

impl<'t> Parser<'t> {
    fn requirements(&mut self) -> Result<Vec<Requirement>> {
        let mut requirements = Vec::new();
        while self.rest.peek().is_some() {
            requirements.push(self.requirement()?);
            match self.rest.next() {
                None => break,
                Some(",") if self.rest.peek().is_some() => {}
                Some(",") => return Err(expected(None, "a key after the `,`")),
                other => return Err(expected(other, "`,` or the end")),
            }
        }
        Ok(requirements)
    }

    fn requirement(&mut self) -> Result<Requirement> {
        let negated = self.rest.next_if_eq(&"!").is_some();
        let key = self.word("a key")?.to_owned();
        check_key(&key)?;
        if negated {
            return Ok(Requirement { key, operator: Operator::Missing });
        }
        if matches!(self.rest.peek(), None | Some(&",")) {
            return Ok(Requirement { key, operator: Operator::Exists });
        }
        let operator = match self.rest.next() {
            Some("in") => Operator::In(self.values(&key)?),
            Some("notin") => Operator::NotIn(self.values(&key)?),
            Some("=" | "==") => Operator::In(vec![self.value(&key)?]),
            Some("!=") => Operator::NotIn(vec![self.value(&key)?]),
            Some(">") => Operator::Above(self.number(&key)?),
            Some("<") => Operator::Below(self.number(&key)?),
            other => return Err(expected(other, "`=`, `==`, `!=`, `in`, `notin`, `<` or `>`")),
        };
        Ok(Requirement { key, operator })
    }

    fn word(&mut self, what: &str) -> Result<&'t str> {
        match self.rest.next() {
            Some(word) if is_word(word) => Ok(word),
            other => Err(expected(other, what)),
        }
    }

    /// One value; nothing is the empty one.
    fn value(&mut self, key: &str) -> Result<String> {
        if matches!(self.rest.peek(), None | Some(&",")) {
            return Ok(String::new());
        }
        let value = self.word("a value")?;
        check_value(key, value)?;
        Ok(value.to_owned())
    }

    fn number(&mut self, key: &str) -> Result<i64> {
        let value = self.value(key)?;
        value.parse().map_err(|_| {
            Error::invalid(format!("`{key}` can only be compared with an integer, not with `{value}`"))
        })
    }

    /// `(a,b)`; where a value is missing it is the empty one.
    fn values(&mut self, key: &str) -> Result<Vec<String>> {
        match self.rest.next() {
            Some("(") => {}
            other => return Err(expected(other, "`(`")),
        }
        let mut values: Vec<&str> = Vec::new();
        loop {
            match (self.rest.next(), self.rest.peek().copied()) {
                (Some(word), next) if is_word(word) => {
                    values.push(word);
                    match next {
                        Some(",") => {}
                        Some(")") => break,
                        other => return Err(expected(other, "`,` or `)`")),
                    }
                }
                (Some(","), next) => {
                    values.extend(values.is_empty().then_some(""));
                    match next {
                        Some(")") => {
                            values.push("");
                            break;
                        }
                        Some(",") => {
                            self.rest.next();
                            values.push("");
                        }
                        _ => {}
                    }
                }
                // Kubernetes takes `()` for the empty value, but not `(a,,)`.
                (Some(")"), _) if values.is_empty() => return Ok(vec![String::new()]),
                (other, _) => return Err(expected(other, "a value or `)`")),
            }
        }
        self.rest.next();
        values.iter().try_for_each(|value| check_value(key, value))?;
        Ok(values.into_iter().map(str::to_owned).collect())
    }
}

fn expected(found: Option<&str>, wanted: &str) -> Error {
    let found = found.map_or_else(|| "the end".to_owned(), |token| format!("`{token}`"));
    Error::invalid(format!("expected {wanted}, found {found}"))
}

/// The longest name or value of a label.
const MAX_NAME: usize = 63;
/// The longest prefix of a label's key, as of any DNS name.
const MAX_PREFIX: usize = 253;

fn check_key(key: &str) -> Result<()> {
    let (prefix, name) = match key.split_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, key),
    };
    let fits = !name.is_empty() && is_name(name) && prefix.is_none_or(is_dns_name);
    if fits {
        return Ok(());
    }
    Err(Error::invalid(format!("`{key}` cannot be the key of a label"))
        .hint("a key has up to 63 letters, digits, `-`, `_` and `.`, perhaps after a DNS name and a `/`"))
}

fn check_value(key: &str, value: &str) -> Result<()> {
    if is_name(value) {
        return Ok(());
    }
    Err(Error::invalid(format!("`{value}` cannot be the value of a label (here of `{key}`)"))
        .hint("a value has up to 63 letters, digits, `-`, `_` and `.`, and begins and ends with a letter or a digit"))
}

/// Returns true if a text is empty or has the form of a label's name.
fn is_name(text: &str) -> bool {
    let edge = |byte: Option<&u8>| byte.is_none_or(u8::is_ascii_alphanumeric);
    let bytes = text.as_bytes();
    text.len() <= MAX_NAME
        && edge(bytes.first())
        && edge(bytes.last())
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(byte))
}

fn is_dns_name(text: &str) -> bool {
    let is_part = |part: &str| {
        let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        !part.is_empty() && !part.starts_with('-') && !part.ends_with('-') && part.bytes().all(inner)
    };
    text.len() <= MAX_PREFIX && text.split('.').all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selects(selector: &str, labels: &[(&str, &str)]) -> bool {
        let mut node = Node::mapping(Vec::new());
        for (key, value) in labels {
            node.set(key, Node::string(value));
        }
        Labels::parse(selector).expect(selector).matches(Some(&node))
    }

    /// After the tests of apimachinery's labels package.
    #[test]
    fn sets_that_are_selected() {
        for (selector, labels) in [
            ("", &[("x", "y")][..]),
            (" \t", &[]),
            ("x=y", &[("x", "y")]),
            ("x==y , z", &[("x", "y"), ("z", "w")]),
            ("x!=y", &[("x", "z")]),
            ("x!=y", &[]),
            ("x=", &[("x", "")]),
            ("x=,z=w", &[("x", ""), ("z", "w")]),
            ("!x", &[("y", "z")]),
            ("x in (y, z)", &[("x", "z")]),
            ("x in (,y)", &[("x", "")]),
            ("x in ()", &[("x", "")]),
            ("x notin (y)", &[]),
            ("in in (in)", &[("in", "in")]),
            ("x>7,x<9", &[("x", "8")]),
            ("example.com/x=a.b_c", &[("example.com/x", "a.b_c")]),
        ] {
            assert!(selects(selector, labels), "{selector}");
        }
    }

    #[test]
    fn sets_that_are_not() {
        for (selector, labels) in [
            ("x=y", &[("x", "z")][..]),
            ("x=y", &[]),
            ("x", &[("y", "x")]),
            ("!x", &[("x", "")]),
            ("x in (y)", &[("x", "")]),
            ("x notin (y)", &[("x", "y")]),
            ("x>7", &[("x", "7")]),
            ("x>7", &[("x", "many")]),
            ("x>7", &[]),
        ] {
            assert!(!selects(selector, labels), "{selector}");
        }
    }

    #[test]
    fn what_is_no_selector_is_refused() {
        for selector in [
            "x=a||y=b",
            "x==a==b",
            "!x=a",
            "x<a",
            "x in a",
            "x in (a",
            "x in (a b)",
            ",x",
            "x,",
            "x y",
            "=",
            "!",
            "x=-a",
            "-x",
            "a/b/c",
            "A/x",
            "/x",
            "x=\u{e9}",
            "x in (a!)",
            "x in (a,,)",
            "x!=!",
            "x===a",
        ] {
            assert!(Labels::parse(selector).is_err(), "{selector}");
        }
        assert!(Labels::parse(&"x".repeat(64)).is_err());
    }
}

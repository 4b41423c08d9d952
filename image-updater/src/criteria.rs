//! The criteria for choosing a tag, as flags or a file define them. Only single values are checked.

use diagnostic::{Error, Result};
use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use jiff::SignedDuration;
use oci_registry::Platform;

/// The strategy if none is named.
pub(crate) const DEFAULT_STRATEGY: &str = "semver";

/// The criteria of a person.
#[derive(Clone, Debug, PartialEq)]
pub struct Criteria {
    /// The policy, by its name.
    pub strategy: String,
    /// For `semver`: the versions that are allowed.
    pub semver_constraint: Option<String>,
    /// For `calver`: what a tag looks like.
    pub calver_format: Option<String>,
    /// For `alphabetical` and `numerical`: which end is wanted.
    pub order: Option<Order>,
    /// For `semver`: what follows the version stays.
    pub keep_suffix: bool,
    /// For `semver`: pre-releases count.
    pub prerelease: bool,
    /// For `semver`: a tag has three numbers, whatever the constraint and the current tag have.
    pub strict_versions: bool,
    /// For `semver`: how far from the current version a tag may be.
    pub update_scope: Option<Scope>,
    /// For `semver` and `alphabetical`: numbers in words count by their value.
    pub natural_order: bool,
    /// Tags that may be updated, any of these; all where none is named.
    pub update_from: Vec<UpdateFrom>,
    /// Tags that count: `any`, or `regexp:` and an expression.
    pub allow_tags: Option<String>,
    /// Tags that do not count.
    pub ignore_tags: Vec<TagPattern>,
    /// An expression that tags match.
    pub filter_tags: Option<String>,
    /// The part of the match that is ordered.
    pub extract: Option<String>,
    /// Time a tag must have been there.
    pub min_age: Option<Age>,
    /// Platforms that must all be there.
    pub platforms: Vec<Platform>,
    /// True if a lower tag than the current one may be chosen.
    pub allow_downgrade: bool,
}

impl Default for Criteria {
    fn default() -> Self {
        Self {
            strategy: DEFAULT_STRATEGY.to_owned(),
            semver_constraint: None,
            calver_format: None,
            order: None,
            keep_suffix: false,
            prerelease: false,
            strict_versions: false,
            update_scope: None,
            natural_order: false,
            update_from: Vec::new(),
            allow_tags: None,
            ignore_tags: Vec::new(),
            filter_tags: None,
            extract: None,
            min_age: None,
            platforms: Vec::new(),
            allow_downgrade: false,
        }
    }
}

/// The criteria that not every policy uses.
pub(crate) mod option {
    pub(crate) const SEMVER_CONSTRAINT: &str = "semver-constraint";
    pub(crate) const CALVER_FORMAT: &str = "calver-format";
    pub(crate) const ORDER: &str = "order";
    pub(crate) const KEEP_SUFFIX: &str = "keep-suffix";
    pub(crate) const PRERELEASE: &str = "prerelease";
    pub(crate) const STRICT_VERSIONS: &str = "strict-versions";
    pub(crate) const UPDATE_SCOPE: &str = "update-scope";
    pub(crate) const NATURAL_ORDER: &str = "natural-order";
}

/// An error that calls criteria as files do, `semverConstraint`, where it had the names of flags.
pub(crate) fn as_in_files(error: Error) -> Error {
    const OTHERS: [&str; 3] = ["filter-tags", "update-from", "min-age"];
    let special = [
        option::SEMVER_CONSTRAINT,
        option::CALVER_FORMAT,
        option::KEEP_SUFFIX,
        option::STRICT_VERSIONS,
        option::UPDATE_SCOPE,
        option::NATURAL_ORDER,
    ];
    let names = special.into_iter().chain(OTHERS);
    names.fold(error, |error, name| {
        error.map_text(|text| text.replace(&format!("`{name}`"), &format!("`{}`", field(name))))
    })
}

/// Returns what a file calls a flag.
fn field(flag: &str) -> String {
    let mut words = flag.split('-');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |name, word| {
        let (initial, rest) = word.split_at_checked(1).unwrap_or((word, ""));
        name + &initial.to_ascii_uppercase() + rest
    })
}

impl Criteria {
    /// Those of the criteria that not every policy uses, and that are there.
    pub(crate) fn special(&self) -> impl Iterator<Item = &'static str> {
        [
            (option::SEMVER_CONSTRAINT, self.semver_constraint.is_some()),
            (option::CALVER_FORMAT, self.calver_format.is_some()),
            (option::ORDER, self.order.is_some()),
            (option::KEEP_SUFFIX, self.keep_suffix),
            (option::PRERELEASE, self.prerelease),
            (option::STRICT_VERSIONS, self.strict_versions),
            (option::UPDATE_SCOPE, self.update_scope.is_some()),
            (option::NATURAL_ORDER, self.natural_order),
        ]
        .into_iter()
        .filter_map(|(name, is_set)| is_set.then_some(name))
    }
}

/// Tags, by their names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TagPattern {
    /// Those that a glob matches as a whole.
    Glob(String),
    /// Those that an expression matches somewhere.
    Expression(String),
}

/// Prefix of a regular expression in place of a glob; no tag contains a colon.
pub(crate) const REGEXP: &str = "regexp:";

impl TagPattern {
    /// Reads a glob, or `regexp:` and an expression.
    #[must_use]
    pub fn read(text: &str) -> Self {
        match text.strip_prefix(REGEXP) {
            Some(expression) => Self::Expression(expression.to_owned()),
            None => Self::Glob(text.to_owned()),
        }
    }
}

impl fmt::Display for TagPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Glob(glob) => f.write_str(glob),
            Self::Expression(expression) => write!(f, "{REGEXP}{expression}"),
        }
    }
}

/// Tags that may be updated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UpdateFrom {
    /// By their names.
    Tags(TagPattern),
    /// By a constraint on their versions.
    Versions(String),
}

/// Prefix of a version constraint in place of a glob.
pub(crate) const SEMVER: &str = "semver:";

impl UpdateFrom {
    /// Reads a glob, or `regexp:` and an expression, or `semver:` and a constraint.
    #[must_use]
    pub fn read(text: &str) -> Self {
        match text.strip_prefix(SEMVER) {
            Some(constraint) => Self::Versions(constraint.to_owned()),
            None => Self::Tags(TagPattern::read(text)),
        }
    }
}

impl fmt::Display for UpdateFrom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tags(pattern) => pattern.fmt(f),
            Self::Versions(constraint) => write!(f, "{SEMVER}{constraint}"),
        }
    }
}

/// Distance that a tag may have from the current version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Another patch version.
    Patch,
    /// Another minor version too.
    Minor,
    /// Any version.
    Major,
}

/// Which end of an order is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// The last.
    #[default]
    Ascending,
    /// The first.
    Descending,
}

impl Order {
    /// An order that has its greatest at the end that is wanted.
    pub(crate) fn apply(self, ascending: Ordering) -> Ordering {
        match self {
            Self::Ascending => ascending,
            Self::Descending => ascending.reverse(),
        }
    }
}

/// A span of time as people write it: `3d`, `1h30m`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Age {
    span: SignedDuration,
    text: String,
}

impl Age {
    pub(crate) fn span(&self) -> SignedDuration {
        self.span
    }
}

impl FromStr for Age {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let refuse = |why: &str| {
            let error = Error::invalid(format!("invalid duration `{text}`: {why}"));
            error.hint("use integers with the units d, h, m and s: `3d`, `1h30m`")
        };
        let mut seconds: i64 = 0;
        let mut rest = text;
        if rest.is_empty() {
            return Err(refuse("it is empty"));
        }
        while !rest.is_empty() {
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            let (number, after) = rest.split_at(digits);
            let unit = match after.bytes().next() {
                Some(b'd') => 86_400,
                Some(b'h') => 3_600,
                Some(b'm') => 60,
                Some(b's') => 1,
                _ => return Err(refuse("a unit is missing")),
            };
            if number.is_empty() {
                return Err(refuse("a number is missing"));
            }
            let span = number.parse::<i64>().ok().and_then(|number| number.checked_mul(unit));
            let sum = span.and_then(|span| seconds.checked_add(span));
            seconds = sum.ok_or_else(|| refuse("it is too long"))?;
            rest = &after[1..];
        }
        Ok(Self { span: SignedDuration::from_secs(seconds), text: text.to_owned() })
    }
}

impl fmt::Display for Age {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_add_up() {
        let seconds = |text: &str| text.parse::<Age>().unwrap().span().as_secs();
        assert_eq!(seconds("3d"), 259_200);
        assert_eq!(seconds("1h30m"), 5_400);
        assert_eq!(seconds("0s"), 0);
        assert_eq!(seconds("1d1h1m1s"), 90_061);
    }

    #[test]
    fn what_is_no_age_is_refused() {
        for text in [
            "",
            "3",
            "d",
            "3 d",
            "-3d",
            "1.5h",
            "3w",
            "1h30",
            "99999999999999999999s",
            "9223372036854775807d",
        ] {
            assert!(text.parse::<Age>().is_err(), "{text}");
        }
    }
}

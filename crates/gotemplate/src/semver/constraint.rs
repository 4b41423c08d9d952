//! Constraints on versions: `>=1.2 <2 || ~3.1`.
//!
//! Groups stand between `||`; a version satisfies the whole if it satisfies all of one group. A
//! prerelease does so only if some constraint of the group names one.

use std::cell::OnceCell;
use std::cmp::Ordering;

use goregex::Regex;
use gostd::quoted;

use super::version::{InvalidVersion, Version, compare_prereleases, take, take_identifiers, take_part};

/// Constraints, put together by and and or.
#[derive(Clone, Debug)]
pub struct Constraints {
    groups: Vec<Group>,
    /// True if prereleases satisfy constraints that name none.
    pub include_prereleases: bool,
}

/// Constraints that must all be satisfied.
#[derive(Clone, Debug)]
struct Group {
    constraints: Vec<Constraint>,
    has_prerelease: bool,
}

#[derive(Clone, Debug)]
struct Constraint {
    operator: Operator,
    version: Version,
    /// Number of of the numbers, up to the first `x` or `*`.
    given: Given,
    /// Number of written parts, including wildcards.
    parts: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    /// `=`, or none: the version itself, or all that begin like it.
    Equal,
    NotEqual,
    Greater,
    Less,
    GreaterOrEqual,
    LessOrEqual,
    /// `~`: the same minor version.
    Tilde,
    /// `^`: no number before the first that is not 0 may differ, nor that one.
    Caret,
}

/// The operators, longer ones before those that they begin with.
const OPERATORS: [(&str, Operator); 11] = [
    ("!=", Operator::NotEqual),
    (">=", Operator::GreaterOrEqual),
    ("=>", Operator::GreaterOrEqual),
    ("<=", Operator::LessOrEqual),
    ("=<", Operator::LessOrEqual),
    ("~>", Operator::Tilde),
    ("=", Operator::Equal),
    (">", Operator::Greater),
    ("<", Operator::Less),
    ("~", Operator::Tilde),
    ("^", Operator::Caret),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Given {
    /// Not even the major version.
    Nothing,
    Major,
    Minor,
    All,
}

impl Constraints {
    /// Reads constraints.
    ///
    /// # Errors
    /// If the text is none.
    pub fn parse(text: &str) -> Result<Self, InvalidVersion> {
        let rewritten = rewrite_ranges(text)?;
        let text = rewritten.as_deref().unwrap_or(text);
        let groups = text.split("||").map(Group::parse).collect::<Result<_, _>>()?;
        Ok(Self { groups, include_prereleases: false })
    }

    /// Returns how many parts the shortest version in them has: one in `^1`, two in `1.x`. A bare wildcard has none.
    #[must_use]
    pub fn fewest_parts(&self) -> Option<usize> {
        let constraints = self.groups.iter().flat_map(|group| &group.constraints);
        constraints
            .filter(|constraint| constraint.given != Given::Nothing)
            .map(|constraint| constraint.parts)
            .min()
    }

    /// Returns true if a version satisfies them.
    #[must_use]
    pub fn check(&self, version: &Version) -> bool {
        let releases_only = |group: &Group| !self.include_prereleases && !group.has_prerelease;
        self.groups.iter().any(|group| {
            (version.prerelease.is_empty() || !releases_only(group))
                && group.constraints.iter().all(|constraint| constraint.check(version))
        })
    }
}

/// `1.2 - 2.3` as `>= 1.2, <= 2.3`; nothing where there is none.
fn rewrite_ranges(text: &str) -> Result<Option<String>, InvalidVersion> {
    thread_local! {
        static RANGE: OnceCell<Option<Regex>> = const { OnceCell::new() };
    }
    let spaced = text.as_bytes().windows(3).any(|window| {
        window[1] == b'-' && window[0].is_ascii_whitespace() && window[2].is_ascii_whitespace()
    });
    if !spaced {
        return Ok(None);
    }
    const VERSION: &str = r"v?[0-9|xX*]+(?:\.[0-9|xX*]+)?(?:\.[0-9|xX*]+)?(?:-[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?";
    RANGE.with(|range| {
        let regex = range.get_or_init(|| Regex::new(&format!(r"\s*({VERSION})\s+-\s+({VERSION})\s*")).ok());
        let regex = regex.as_ref().ok_or_else(|| InvalidVersion::new("constraint parser error"))?;
        let rewritten = regex.replace_all(text, b">= $1, <= $2 ");
        Ok(Some(String::from_utf8_lossy(&rewritten).into_owned()))
    })
}

impl Group {
    fn parse(text: &str) -> Result<Self, InvalidVersion> {
        let mut rest = skip_space(text);
        let mut constraints = Vec::new();
        loop {
            let written = Written::take(&mut rest).ok_or_else(|| improper(text))?;
            let after = skip_space(rest);
            let spaced = after.len() < rest.len();
            constraints.push(written);
            if after.is_empty() {
                break;
            }
            rest = match after.strip_prefix(',') {
                Some(after) => skip_space(after),
                None if spaced => after,
                None => return Err(improper(text)),
            };
        }
        let constraints = constraints.into_iter().map(Written::constraint).collect::<Result<Vec<_>, _>>()?;
        let has_prerelease = constraints.iter().any(|constraint| !constraint.version.prerelease.is_empty());
        Ok(Self { constraints, has_prerelease })
    }
}

fn improper(text: &str) -> InvalidVersion {
    InvalidVersion::new(format!("improper constraint: {}", quoted(text.as_bytes())))
}

/// Past what Go's expressions call space, which has no vertical tab.
fn skip_space(text: &str) -> &str {
    text.trim_start_matches([' ', '\t', '\n', '\r', '\u{c}'])
}

/// A constraint as it is written.
struct Written<'a> {
    operator: Operator,
    /// The version with all that belongs to it.
    version: &'a str,
    major: &'a str,
    minor: Option<&'a str>,
    patch: Option<&'a str>,
    prerelease: Option<&'a str>,
}

impl<'a> Written<'a> {
    fn take(rest: &mut &'a str) -> Option<Self> {
        let named = OPERATORS.iter().find_map(|(sign, operator)| Some((*operator, rest.strip_prefix(sign)?)));
        let (operator, after) = named.unwrap_or((Operator::Equal, *rest));
        let version = skip_space(after);
        *rest = version.strip_prefix('v').unwrap_or(version);
        let numbers =
            |rest: &mut &'a str| take(rest, |byte| byte.is_ascii_digit() || b"xX*|".contains(&byte));
        let major = numbers(rest)?;
        let minor = take_part(rest, '.', numbers);
        let patch = minor.and_then(|_| take_part(rest, '.', numbers));
        let prerelease = take_part(rest, '-', take_identifiers);
        take_part(rest, '+', take_identifiers);
        let version = &version[..version.len() - rest.len()];
        Some(Self { operator, version, major, minor, patch, prerelease })
    }

    fn constraint(self) -> Result<Constraint, InvalidVersion> {
        let prerelease = self.prerelease.map(|prerelease| format!("-{prerelease}")).unwrap_or_default();
        let is_open = |number: Option<&str>| matches!(number, None | Some("x" | "X" | "*"));
        let (given, text) = match (self.major, self.minor, self.patch) {
            (major, ..) if is_open(Some(major)) => (Given::Nothing, format!("0.0.0{prerelease}")),
            (major, minor, _) if is_open(minor) => (Given::Major, format!("{major}.0.0{prerelease}")),
            (major, minor, patch) if is_open(patch) => {
                (Given::Minor, format!("{major}.{}.0{prerelease}", minor.unwrap_or_default()))
            }
            _ => (Given::All, self.version.to_owned()),
        };
        let version = Version::parse(&text).map_err(|_| InvalidVersion::new("constraint parser error"))?;
        let parts = 1 + usize::from(self.minor.is_some()) + usize::from(self.patch.is_some());
        Ok(Constraint { operator: self.operator, version, given, parts })
    }
}

impl Constraint {
    fn check(&self, version: &Version) -> bool {
        let order = version.compare(&self.version);
        match self.operator {
            Operator::Equal if self.given == Given::All => order.is_eq(),
            Operator::Equal | Operator::Tilde => self.check_tilde(version, order),
            Operator::NotEqual => self.check_not_equal(version, order),
            Operator::Greater => self.check_greater(version, order),
            Operator::Less => order.is_lt(),
            Operator::GreaterOrEqual => order.is_ge(),
            Operator::LessOrEqual => self.check_less_or_equal(version, order),
            Operator::Caret => self.check_caret(version, order),
        }
    }

    fn check_not_equal(&self, version: &Version, order: Ordering) -> bool {
        let own = &self.version;
        match self.given {
            Given::Nothing | Given::All => order.is_ne(),
            Given::Major => version.major != own.major,
            Given::Minor => {
                (version.major, version.minor) != (own.major, own.minor)
                    || compare_prereleases(&version.prerelease, &own.prerelease).is_ne()
            }
        }
    }

    /// `>11` means 12 or later.
    fn check_greater(&self, version: &Version, order: Ordering) -> bool {
        let own = &self.version;
        match self.given {
            Given::Nothing | Given::All => order.is_gt(),
            Given::Major => version.major > own.major,
            Given::Minor => (version.major, version.minor) > (own.major, own.minor),
        }
    }

    /// `<=1.2` includes 1.2.9.
    fn check_less_or_equal(&self, version: &Version, order: Ordering) -> bool {
        let own = &self.version;
        match self.given {
            Given::All => order.is_le(),
            Given::Major => version.major <= own.major,
            Given::Nothing | Given::Minor => (version.major, version.minor) <= (own.major, own.minor),
        }
    }

    fn check_tilde(&self, version: &Version, order: Ordering) -> bool {
        let own = &self.version;
        // ~0.0.0 takes every version from there on, and so does `*`.
        let all_zero = (own.major, own.minor, own.patch) == (0, 0, 0);
        if order.is_lt() {
            false
        } else if all_zero && matches!(self.given, Given::Nothing | Given::All) {
            true
        } else {
            version.major == own.major && (version.minor == own.minor || self.given == Given::Major)
        }
    }

    fn check_caret(&self, version: &Version, order: Ordering) -> bool {
        let own = &self.version;
        if order.is_lt() || version.major != own.major {
            return false;
        }
        if own.major > 0 || self.given == Given::Major {
            return true;
        }
        if own.minor > 0 || self.given == Given::Minor {
            return version.minor == own.minor;
        }
        version.minor == 0 && version.patch == own.patch
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(constraint: &str, version: &str) -> bool {
        Constraints::parse(constraint).unwrap().check(&Version::parse(version).unwrap())
    }

    // The words are those of `semverCompare` in Helm 4.3.1.
    #[test]
    fn what_is_no_constraint_is_refused() {
        let cases = [
            ("", "improper constraint: \"\""),
            (">>1", "improper constraint: \">>1\""),
            ("a b", "improper constraint: \"a b\""),
            ("1 ||", "improper constraint: \"\""),
            ("1,,2", "improper constraint: \"1,,2\""),
            ("1,2,", "improper constraint: \"1,2,\""),
            ("1.2.3.4", "improper constraint: \"1.2.3.4\""),
            (">=1.2 - 3", "improper constraint: \">=>= 1.2, <= 3 \""),
            ("1.2.3.4 - 5", "improper constraint: \"1.>= 2.3.4, <= 5 \""),
            ("1|2", "constraint parser error"),
            ("1.2.3-01", "constraint parser error"),
            ("99999999999999999999", "constraint parser error"),
        ];
        for (text, words) in cases {
            assert_eq!(Constraints::parse(text).unwrap_err().to_string(), words, "{text}");
        }
    }

    // The answers are those of `semverCompare` in Helm 4.3.1.
    #[test]
    fn open_numbers_make_ranges() {
        for (constraint, version, answer) in [
            ("1", "1.9.9", true),
            ("1.2", "1.3.0", false),
            (">11", "11.1.0", false),
            (">1.2", "1.2.9", false),
            (">1.2", "1.3.0", true),
            ("<=1.2", "1.2.9", true),
            ("!=1.2", "1.2.3", false),
            ("~0.0.0", "5.0.0", true),
            ("x.2", "7.0.0", true),
            ("^0.2.3", "0.2.9", true),
            ("^0.2.3", "0.3.0", false),
            ("^0.0.3", "0.0.4", false),
            ("^0", "0.9.0", true),
            ("1 - 2", "2.5.0", true),
            ("1 - 2||3", "3.1.0", true),
            ("\n^ 1.2.3, != 1.4 \t", "1.3.0", true),
            ("1.2.3 \t2", "1.2.3", false),
        ] {
            assert_eq!(matches(constraint, version), answer, "{constraint} {version}");
        }
    }

    #[test]
    fn the_shortest_version_is_known() {
        for (constraint, parts) in [
            ("*", None),
            ("*-0", None),
            ("1", Some(1)),
            ("1.x", Some(2)),
            ("1.2.x", Some(3)),
            (">=1.2.0 <2", Some(1)),
            ("1.2 - 2.3.4 || 3.1.0", Some(2)),
            ("* || 1.2.3", Some(3)),
        ] {
            assert_eq!(Constraints::parse(constraint).unwrap().fewest_parts(), parts, "{constraint}");
        }
    }

    #[test]
    fn a_prerelease_needs_one_in_its_group() {
        assert!(!matches("*", "1.0.0-beta"));
        assert!(!matches(">=1.19", "v1.20.1-gke.5"));
        assert!(matches(">=1.19-0", "v1.20.1-gke.5"));
        assert!(matches(">=1.0.0-0 <2.0.0", "1.2.3-alpha.1"));
        assert!(!matches("1.x || >=2.0.0-0", "1.2.3-alpha.1"));
        assert!(!matches("!=1.2.3", "1.2.4-alpha"));
        let constraints = Constraints { include_prereleases: true, ..Constraints::parse("*").unwrap() };
        assert!(constraints.check(&Version::parse("1.0.0-beta").unwrap()));
    }
}

//! `semver`: the highest version that a constraint allows, in the dialect of Masterminds' semver.
//!
//! A tag counts as a version with three numbers, or with as few as the constraint or the current tag has. A commit id
//! of digits is none. With `strict_versions` it always is three numbers. Pre-releases count only when they are asked for.
//! With `keep_suffix` what follows the version is no pre-release but a flavour, such as `-alpine3.20`, and must be that of
//! the current tag. With `update_scope` a tag must have the first numbers of the current one. With `natural_order`
//! pre-releases are in the order in which people read them; constraints go by Masterminds' all the same.

use diagnostic::{Error, Result};
use std::cmp::Ordering;

use gotemplate::semver::{Constraints, Version};

use super::{Candidate, Policy, Ranked, Running, Words, natural};
use crate::criteria::{Criteria, Scope, option};
use crate::filter::Refusal;

/// Maximum number of numbers a version has, where nothing asks for fewer.
const PARTS: usize = 3;

/// So many digits and nothing else are the beginning of a commit id.
const COMMIT_ID_LEN: usize = 7;

#[derive(Clone, Debug)]
pub(super) struct Semver {
    constraint: Option<Constraint>,
    prerelease: bool,
    keep_suffix: bool,
    /// Number of numbers a tag needs.
    parts: usize,
    strict_versions: bool,
    /// The suffix of the current tag, where it is kept.
    suffix: String,
    scope: Option<Scope>,
    /// The current version, where it bounds the scope.
    center: Option<Version>,
    natural_order: bool,
}

#[derive(Clone, Debug)]
struct Constraint {
    text: String,
    /// The version constraint.
    strict: Constraints,
    /// The same with pre-releases, to tell why one does not.
    open: Constraints,
}

/// A tag as a version.
#[derive(Clone, Debug)]
pub(super) struct Rank {
    version: Version,
    parts: usize,
    suffix: String,
}

impl Policy for Semver {
    const NAME: &'static str = "semver";
    const USES: &'static [&'static str] = &[
        option::SEMVER_CONSTRAINT,
        option::KEEP_SUFFIX,
        option::PRERELEASE,
        option::STRICT_VERSIONS,
        option::UPDATE_SCOPE,
        option::NATURAL_ORDER,
    ];
    type Rank = Rank;

    fn new(criteria: &Criteria) -> Result<Self> {
        let constraint = criteria.semver_constraint.as_deref();
        let constraint = constraint.map(|text| Constraint::new(text, criteria.prerelease)).transpose()?;
        let fewest = constraint.as_ref().and_then(|constraint| constraint.strict.fewest_parts());
        Ok(Self {
            constraint,
            prerelease: criteria.prerelease,
            keep_suffix: criteria.keep_suffix,
            parts: fewest.filter(|_| !criteria.strict_versions).map_or(PARTS, |fewest| fewest.min(PARTS)),
            strict_versions: criteria.strict_versions,
            suffix: String::new(),
            scope: criteria.update_scope,
            center: None,
            natural_order: criteria.natural_order,
        })
    }

    fn bind(&mut self, running: &Running<'_>) -> Result<()> {
        let current = running.value.as_deref().and_then(|value| self.read(value).ok());
        let needed = |option: &str, what: &str| {
            let why = match running.tag {
                Some(tag) => format!("the current tag `{tag}` is not a version"),
                None => "the current tag is unknown".to_owned(),
            };
            let error = Error::invalid(format!("`{option}` does not know {what}: {why}"));
            error.hint("give the tag that runs, as `current` or with the image")
        };
        if let Some(current) = current.as_ref().filter(|_| !self.strict_versions) {
            self.parts = self.parts.min(current.parts);
        }
        if self.keep_suffix {
            let current =
                current.as_ref().ok_or_else(|| needed(option::KEEP_SUFFIX, "which suffix to keep"))?;
            self.suffix.clone_from(&current.suffix);
        }
        if self.scope.is_some() {
            let current = current.ok_or_else(|| needed(option::UPDATE_SCOPE, "from which version to go"))?;
            self.center = Some(current.version);
        }
        Ok(())
    }

    fn rank(&self, candidate: &Candidate<'_>) -> Result<Rank, Refusal> {
        self.read(&candidate.value).or_else(|what| candidate.is_no("version", what))
    }

    fn admit(&self, rank: &Rank) -> Result<(), Refusal> {
        if rank.suffix != self.suffix {
            let reason = match (rank.suffix.as_str(), self.suffix.as_str()) {
                ("", kept) => format!("no suffix `{kept}`"),
                (own, "") => format!("suffix `{own}`, unlike the current tag"),
                (own, kept) => format!("suffix `{own}`, not `{kept}`"),
            };
            return Refusal::dropped(option::KEEP_SUFFIX, reason);
        }
        if rank.parts < self.parts {
            let (parts, needed) = (rank.parts, self.parts);
            let number = if parts == 1 { "part" } else { "parts" };
            return Refusal::dropped("parts", format!("{parts} {number}, where a version needs {needed}"));
        }
        self.check_scope(&rank.version)?;
        let is_prerelease = !rank.version.prerelease().is_empty();
        match &self.constraint {
            Some(constraint) => constraint.check(&rank.version, is_prerelease),
            None if is_prerelease && !self.prerelease => {
                Refusal::dropped(option::PRERELEASE, "a pre-release, and none is asked for")
            }
            None => Ok(()),
        }
    }

    fn compare(&self, first: &Rank, second: &Rank) -> Ordering {
        if self.natural_order {
            natural::compare_versions(&first.version, &second.version)
        } else {
            first.version.compare(&second.version)
        }
    }

    fn prefer(&self, first: &Ranked<'_, Rank>, second: &Ranked<'_, Rank>) -> (Ordering, &'static str) {
        let bare = |ranked: &Ranked<'_, Rank>| !ranked.value.starts_with('v');
        let by_parts = first.rank.parts.cmp(&second.rank.parts);
        let by_v = bare(first).cmp(&bare(second));
        let names = first.tag.name.cmp(&second.tag.name);
        if by_parts.is_ne() {
            (by_parts, "it has more parts")
        } else if by_v.is_ne() {
            (by_v, "it lacks the prefix `v`")
        } else if first.value == second.value {
            (names, "it is the last in byte order")
        } else {
            (names.reverse(), "it is the first in byte order")
        }
    }

    fn words(&self) -> Words {
        Words { best: "the highest version", below: "lower than" }
    }

    /// Words such as `rc10` are compared as text.
    fn warning(&self, candidates: &[Ranked<'_, Rank>]) -> Option<String> {
        if self.natural_order {
            return None;
        }
        let (best, rest) = candidates.split_first()?;
        let numbers = |version: &Version| (version.major(), version.minor(), version.patch());
        let of_one_release = rest.iter().filter(|other| {
            numbers(&other.rank.version) == numbers(&best.rank.version)
                && !other.rank.version.prerelease().is_empty()
        });
        let pre = |ranked: &Ranked<'_, Rank>| ranked.rank.version.prerelease().to_owned();
        let is_above = |other: &&Ranked<'_, Rank>| natural::compare(&pre(other), &pre(best)).is_gt();
        let other = of_one_release.into_iter().filter(|_| !pre(best).is_empty()).find(is_above)?;
        Some(format!(
            "`{}` sorts below `{}`, as versions compare words as text; `natural-order` goes by their numbers",
            other.tag.name, best.tag.name
        ))
    }
}

impl Semver {
    /// Reads a version, or says what a text is not.
    fn read(&self, value: &str) -> Result<Rank, &'static str> {
        read(value, self.keep_suffix)
    }

    fn check_scope(&self, version: &Version) -> Result<(), Refusal> {
        let (Some(scope), Some(center)) = (self.scope, &self.center) else { return Ok(()) };
        let (major, minor) = (center.major(), center.minor());
        let (is_near, within) = match scope {
            Scope::Major => return Ok(()),
            Scope::Minor => (version.major() == major, format!("{major}.x")),
            Scope::Patch => {
                ((version.major(), version.minor()) == (major, minor), format!("{major}.{minor}.x"))
            }
        };
        if is_near {
            return Ok(());
        }
        Refusal::dropped(option::UPDATE_SCOPE, format!("not within {within}, as the current tag is"))
    }
}

/// Reads a version, or says what a text is not.
fn read(value: &str, keeps_suffix: bool) -> Result<Rank, &'static str> {
    let split = value.find('-').filter(|_| keeps_suffix).unwrap_or(value.len());
    let (text, suffix) = value.split_at(split);
    if text.len() >= COMMIT_ID_LEN && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err("version but digits only, as a commit id has");
    }
    let version = Version::parse(text).map_err(|_| "version")?;
    let numbers = text.split(['-', '+']).next().unwrap_or_default();
    Ok(Rank { version, parts: numbers.split('.').count(), suffix: suffix.to_owned() })
}

/// The version of a tag, as this policy reads it.
pub(crate) fn version(value: &str, keeps_suffix: bool) -> Option<Version> {
    read(value, keeps_suffix).ok().map(|rank| rank.version)
}

/// Reads a constraint.
///
/// # Errors
/// If it is none.
pub(crate) fn constraints(text: &str) -> Result<Constraints> {
    Constraints::parse(text).map_err(|error| {
        let error = Error::invalid(format!("invalid version constraint `{text}`: {error}"));
        error.hint("write `^1.2`, `~1.2.3`, `1.x`, `>=1.2 <3` or several with `||` between them")
    })
}

impl Constraint {
    fn new(text: &str, prerelease: bool) -> Result<Self> {
        let mut strict = constraints(text)?;
        strict.include_prereleases = prerelease;
        let mut open = strict.clone();
        open.include_prereleases = true;
        Ok(Self { text: text.to_owned(), strict, open })
    }

    fn check(&self, version: &Version, is_prerelease: bool) -> Result<(), Refusal> {
        let text = &self.text;
        if self.strict.check(version) {
            Ok(())
        } else if self.open.check(version) {
            Refusal::dropped(option::PRERELEASE, format!("a pre-release, and `{text}` names none"))
        } else if is_prerelease {
            Refusal::dropped(
                option::SEMVER_CONSTRAINT,
                format!("a pre-release outside of the constraint `{text}`"),
            )
        } else {
            Refusal::dropped(option::SEMVER_CONSTRAINT, format!("outside of the constraint `{text}`"))
        }
    }
}

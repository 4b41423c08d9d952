//! Policies: each puts tags in an order of its own, and the last of them is chosen.
//!
//! A policy is a file with a type that is a [`Policy`], and a line in [`POLICIES`]. What all policies have in common,
//! filters, never going down, ties with the current tag, is in [`crate::choose`].

mod alphabetical;
mod calver;
mod digest;
mod natural;
mod newest_build;
mod number;
mod numerical;
mod semver;

use diagnostic::{Error, Result};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;

use oci_registry::Platform;

use crate::choose::{self, Round};
use crate::criteria::Criteria;
use crate::decision::Outcome;
use crate::filter::Refusal;
use crate::tags::Tag;

/// All policies.
const POLICIES: &[Entry] = &[
    Entry::of::<semver::Semver>(),
    Entry::of::<newest_build::NewestBuild>(),
    Entry::of::<digest::Digest>(),
    Entry::of::<alphabetical::Alphabetical>(),
    Entry::of::<numerical::Numerical>(),
    Entry::of::<calver::Calver>(),
];

/// The policy where none is named.
pub(crate) const DEFAULT: &str = semver::Semver::NAME;

pub(crate) use semver::{constraints, version};

/// The policy that watches one tag.
pub(crate) const DIGEST: &str = digest::Digest::NAME;

/// Names that others have for our policies.
const OTHER_NAMES: &[(&str, &str)] =
    &[("latest", newest_build::NewestBuild::NAME), ("name", alphabetical::Alphabetical::NAME)];

/// Puts the tags of an image in order.
pub(crate) trait Policy: Clone + fmt::Debug + Send + Sync + 'static {
    /// The name.
    const NAME: &'static str;
    /// Those of the special criteria that it uses.
    const USES: &'static [&'static str] = &[];
    /// Tells whether it looks at more of a tag than its name.
    const READS_METADATA: bool = false;
    /// Tells whether it looks at no tag but the one that the image is named with.
    const WATCHES: bool = false;
    /// The rank of a tag in the order.
    type Rank;

    /// Reads the criteria.
    fn new(criteria: &Criteria) -> Result<Self>;

    /// Takes in what runs now.
    fn bind(&mut self, _running: &Running<'_>) -> Result<()> {
        Ok(())
    }

    /// Drops a tag by its name before anything else is asked about it.
    fn looks_at(&self, _name: &str) -> Result<(), Refusal> {
        Ok(())
    }

    /// Returns where a tag stands, if anywhere.
    fn rank(&self, candidate: &Candidate<'_>) -> Result<Self::Rank, Refusal>;

    /// Drops what has a place in the order, but may not be chosen. The current tag is not asked about.
    fn admit(&self, _rank: &Self::Rank) -> Result<(), Refusal> {
        Ok(())
    }

    /// The order: the greatest is chosen.
    fn compare(&self, first: &Self::Rank, second: &Self::Rank) -> Ordering;

    /// Which of two tags of one rank is taken, and why the greater one.
    fn prefer(
        &self,
        first: &Ranked<'_, Self::Rank>,
        second: &Ranked<'_, Self::Rank>,
    ) -> (Ordering, &'static str) {
        (first.tag.name.cmp(&second.tag.name), "it is the last in byte order")
    }

    /// Returns how its order is put into words.
    fn words(&self) -> Words;

    /// Returns what may not be meant, looking at the candidates from the best on.
    fn warning(&self, _candidates: &[Ranked<'_, Self::Rank>]) -> Option<String> {
        None
    }
}

/// The words that describe an order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Words {
    /// Describes the chosen tag.
    pub(crate) best: &'static str,
    /// Describes a lower tag, followed by a tag.
    pub(crate) below: &'static str,
}

/// The running version.
#[derive(Clone, Debug, Default)]
pub(crate) struct Running<'q> {
    /// The tag that is named with the image.
    pub(crate) watched: Option<&'q str>,
    /// The tag that runs.
    pub(crate) tag: Option<&'q str>,
    /// The compared part.
    pub(crate) value: Option<Cow<'q, str>>,
}

/// A tag that the filters let through.
#[derive(Clone, Debug)]
pub(crate) struct Candidate<'t> {
    pub(crate) tag: &'t Tag,
    /// The ordered part of its name.
    pub(crate) value: Cow<'t, str>,
    /// The platforms that are asked for.
    pub(crate) platforms: &'t [Platform],
}

impl Candidate<'_> {
    /// Drops it by a rule for not being something.
    pub(crate) fn is_no<T>(&self, rule: &'static str, what: &str) -> Result<T, Refusal> {
        if *self.value == *self.tag.name {
            Refusal::dropped(rule, format!("no {what}"))
        } else {
            Refusal::dropped(rule, format!("its extract `{}` is not a valid {what}", self.value))
        }
    }
}

/// A tag with its place in the order.
#[derive(Clone, Debug)]
pub(crate) struct Ranked<'t, R> {
    pub(crate) tag: &'t Tag,
    pub(crate) value: Cow<'t, str>,
    pub(crate) rank: R,
}

/// A policy with its criteria.
pub(crate) trait Chooser: fmt::Debug + Send + Sync {
    fn choose(&self, round: &Round<'_>) -> Result<Outcome>;

    /// Returns true if it looks at no tag but the one that the image is named with.
    fn watches(&self) -> bool;
}

impl<P: Policy> Chooser for P {
    fn choose(&self, round: &Round<'_>) -> Result<Outcome> {
        choose::choose(self.clone(), round)
    }

    fn watches(&self) -> bool {
        P::WATCHES
    }
}

struct Entry {
    name: &'static str,
    uses: &'static [&'static str],
    build: fn(&Criteria) -> Result<Box<dyn Chooser>>,
}

impl Entry {
    const fn of<P: Policy>() -> Self {
        Self {
            name: P::NAME,
            uses: P::USES,
            build: |criteria| P::new(criteria).map(|policy| Box::new(policy) as Box<dyn Chooser>),
        }
    }
}

/// The names of all policies.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    POLICIES.iter().map(|entry| entry.name)
}

/// The policy that is asked for.
///
/// # Errors
/// If there is none of that name, if it does not use one of the criteria, or finds a fault in one.
pub(crate) fn build(criteria: &Criteria) -> Result<Box<dyn Chooser>> {
    let name = criteria.strategy.as_str();
    let entry = POLICIES.iter().find(|entry| entry.name == name).ok_or_else(|| unknown(name))?;
    match criteria.special().find(|option| !entry.uses.contains(option)) {
        Some(option) => {
            let users = POLICIES.iter().filter(|entry| entry.uses.contains(&option));
            let users = users.map(|entry| format!("`{}`", entry.name)).collect::<Vec<_>>().join(" and ");
            let error = Error::invalid(format!("the strategy `{name}` does not use `{option}`"));
            Err(error.hint(format!("only {users} does")))
        }
        None => (entry.build)(criteria),
    }
}

fn unknown(name: &str) -> Error {
    let error = Error::invalid(format!("unknown strategy `{name}`"));
    match OTHER_NAMES.iter().find(|(other, _)| *other == name) {
        Some((_, ours)) => error.hint(format!("it is `{ours}` here")),
        None => error.hint(format!("there are {}", names().collect::<Vec<_>>().join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::criteria::Order;

    #[test]
    fn a_strategy_is_given_what_it_uses_only() {
        let criteria = |strategy: &str| Criteria { strategy: strategy.to_owned(), ..Criteria::default() };
        let refused = |criteria: Criteria| build(&criteria).unwrap_err();
        let order = Criteria { order: Some(Order::Ascending), ..criteria("semver") };
        let error = refused(order);
        assert_eq!(error.message(), "the strategy `semver` does not use `order`");
        assert_eq!(error.get_hint(), Some("only `alphabetical` and `numerical` does"));
        refused(Criteria { prerelease: true, ..criteria("digest") });
        refused(Criteria { keep_suffix: true, ..criteria("calver") });
        refused(Criteria { semver_constraint: Some("1".to_owned()), ..criteria("newest-build") });
        refused(Criteria { calver_format: Some("YYYY".to_owned()), ..criteria("numerical") });
        assert_eq!(refused(criteria("latest")).get_hint(), Some("it is `newest-build` here"));
        assert!(refused(criteria("newest")).get_hint().unwrap().contains("calver"));
    }
}

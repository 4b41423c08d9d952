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
mod rank;
mod semver;

use diagnostic::{Error, Result};
use std::fmt;

use crate::criteria::Criteria;
use crate::decision::Outcome;
use crate::evaluator::{self, Choice};

/// All policies.
const POLICIES: &[Entry] = &[
    Entry::of::<semver::Semver>(),
    Entry::of::<newest_build::NewestBuild>(),
    Entry::of::<digest::Digest>(),
    Entry::of::<alphabetical::Alphabetical>(),
    Entry::of::<numerical::Numerical>(),
    Entry::of::<calver::Calver>(),
];

pub(crate) use rank::{Candidate, Policy, Ranked, Running, Words};
pub(crate) use semver::{constraints, version};

/// The policy that watches one tag.
pub(crate) const DIGEST: &str = digest::Digest::NAME;

/// Names that others have for our policies.
const OTHER_NAMES: &[(&str, &str)] =
    &[("latest", newest_build::NewestBuild::NAME), ("name", alphabetical::Alphabetical::NAME)];

/// A policy with its criteria.
pub(crate) trait Chooser: fmt::Debug + Send + Sync {
    fn choose(&self, choice: &Choice<'_>) -> Result<Outcome>;

    /// Returns true if it looks at no tag but the one that the image is named with.
    fn watches(&self) -> bool;
}

impl<P: Policy> Chooser for P {
    fn choose(&self, choice: &Choice<'_>) -> Result<Outcome> {
        evaluator::choose(self.clone(), choice)
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

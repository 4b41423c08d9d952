//! Chooses a tag of an image: the steps that every policy has in common.
//!
//! In: rules, tags, the tag that runs, the time. Out: a decision with a reason for every tag, or what is not known that
//! it needs. The order of the tags does not matter.
//!
//! Registry data of a tag is checked last, from the best candidate down. The registry is asked only until the first
//! candidate is accepted: nothing below it can change the decision.

use diagnostic::Result;

use crate::criteria::Criteria;
use crate::decision::Outcome;
use crate::evaluator::Choice;
pub use crate::evaluator::{Inquire, Question};
use crate::filter::{Filters, Refusal};
use crate::policy::{self, Chooser};
use crate::tags::Tag;

/// Checked criteria.
#[derive(Debug)]
pub struct Rules {
    policy: Box<dyn Chooser>,
    filters: Filters,
    allow_downgrade: bool,
}

impl Rules {
    /// Checks criteria.
    ///
    /// # Errors
    /// If one of them is wrong, or not used by the policy.
    pub fn new(criteria: &Criteria) -> Result<Self> {
        Ok(Self {
            policy: policy::build(criteria)?,
            filters: Filters::new(criteria)?,
            allow_downgrade: criteria.allow_downgrade,
        })
    }

    /// The platforms that are asked for.
    #[must_use]
    pub fn platforms(&self) -> &[oci_registry::Platform] {
        self.filters.wanted_platforms()
    }

    /// The tag of a question, where no other is looked at.
    #[must_use]
    pub fn watched<'q>(&self, question: &Question<'q>) -> Option<&'q str> {
        question.tag.filter(|_| self.policy.watches())
    }

    /// Returns true if it matters when a tag was made.
    #[must_use]
    pub fn wants_age(&self) -> bool {
        self.filters.wants_age()
    }

    /// Returns true if what was known of a tag earlier is enough to go by, though the tag may have moved since. So it is for the
    /// tag that runs, if it did suit: whatever it is now, no change comes of it. And so it is for one that still was too
    /// young: it has to wait, and is looked at anew before it is taken.
    pub(crate) fn may_stand(&self, question: &Question<'_>, tag: &Tag) -> bool {
        let runs = question.current.or(question.tag) == Some(&tag.name);
        match self.filters.age(tag, question.now) {
            Ok(()) => runs && !self.allow_downgrade && self.filters.platforms(tag).is_ok(),
            Err(refusal) => matches!(refusal, Refusal::Dropped(..)),
        }
    }

    /// Chooses a tag, with all known of every candidate that a rule looks at.
    ///
    /// # Errors
    /// If the rules need a tag that the question does not have.
    pub fn choose(&self, question: &Question<'_>, tags: &[Tag]) -> Result<Outcome> {
        self.policy.choose(&self.choice(question, tags, None))
    }

    /// Chooses a tag, and asks about candidates from the best on until one suits. A policy whose order is made of what
    /// has to be asked needs it all: what it lacks is the outcome then.
    ///
    /// # Errors
    /// If the rules need a tag that the question does not have, or an inquiry fails.
    pub fn choose_by_asking(
        &self,
        question: &Question<'_>,
        tags: &[Tag],
        inquire: &Inquire<'_>,
    ) -> Result<Outcome> {
        self.policy.choose(&self.choice(question, tags, Some(inquire)))
    }

    fn choice<'r>(
        &'r self,
        question: &'r Question<'r>,
        tags: &'r [Tag],
        inquire: Option<&'r Inquire<'r>>,
    ) -> Choice<'r> {
        Choice { filters: &self.filters, allow_downgrade: self.allow_downgrade, question, tags, inquire }
    }
}

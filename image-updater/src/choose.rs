//! Chooses a tag of an image: the steps that every policy has in common.
//!
//! In: rules, tags, the tag that runs, the time. Out: a decision with a reason for every tag, or what is not known that
//! it needs. The order of the tags does not matter.

use std::cmp::Ordering;

use jiff::Timestamp;

use crate::criteria::Criteria;
use crate::decision::{Decision, Outcome, Standing, Verdict};
use crate::error::Result;
use crate::filter::{Filters, Gap, Refusal};
use crate::policy::{self, Candidate, Chooser, Policy, Ranked, Running};
use crate::tags::Tag;

/// The rules by which one candidate is put above another.
const ORDER: &str = "order";
const TIE: &str = "tie";

/// Checked criteria.
#[derive(Debug)]
pub struct Rules {
    policy: Box<dyn Chooser>,
    filters: Filters,
    allow_downgrade: bool,
}

/// What a tag is chosen for.
#[derive(Clone, Copy, Debug)]
pub struct Question<'q> {
    /// The image as it was named.
    pub image: &'q str,
    /// The tag that the image is named with, which `digest` watches.
    pub tag: Option<&'q str>,
    /// The tag that runs; the one of the image where it is not told.
    pub current: Option<&'q str>,
    /// The time.
    pub now: Timestamp,
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
    pub fn platforms(&self) -> &[registry::Platform] {
        self.filters.wanted_platforms()
    }

    /// Chooses a tag.
    ///
    /// # Errors
    /// If the rules need a tag that the question does not have.
    pub fn choose(&self, question: &Question<'_>, tags: &[Tag]) -> Result<Outcome> {
        self.policy.choose(&Round { rules: self, question, tags })
    }
}

/// One choice.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Round<'r> {
    rules: &'r Rules,
    question: &'r Question<'r>,
    tags: &'r [Tag],
}

/// Chooses by a policy.
pub(crate) fn choose<P: Policy>(mut policy: P, round: &Round<'_>) -> Result<Outcome> {
    let Round { rules, question, tags } = round;
    let tag = question.current.or(question.tag);
    let value = tag.and_then(|tag| rules.filters.value_of_current(tag));
    let running = Running { watched: question.tag, tag, value };
    policy.bind(&running)?;
    let bound = if rules.allow_downgrade { Ok(None) } else { bound(&policy, &running, round) };
    let judge = Judge { policy, running, bound, filters: &rules.filters, now: question.now };

    let (mut kept, mut dropped, mut gaps) = (Vec::new(), Vec::new(), Vec::new());
    for tag in *tags {
        match judge.judge(tag) {
            Ok(ranked) => kept.push(ranked),
            Err(Refusal::Dropped(rule, reason)) => {
                let tag = tag.name.clone();
                dropped.push(Verdict { tag, verdict: Standing::Dropped, rule, reason });
            }
            Err(Refusal::Unknown(gap)) => gaps.push(gap),
        }
    }
    if !gaps.is_empty() {
        gaps.sort();
        gaps.dedup();
        return Ok(Outcome::Incomplete(gaps));
    }
    kept.sort_by(|first, second| judge.compare(second, first));
    dropped.sort_by(|first, second| first.tag.cmp(&second.tag));
    Ok(Outcome::Decided(judge.decide(round, &kept, dropped)))
}

/// Where the current tag stands. Nothing where it has no place in the order, or is gone and with it what is known of it.
fn bound<P: Policy>(policy: &P, running: &Running<'_>, round: &Round<'_>) -> Result<Option<P::Rank>, Gap> {
    let (Some(name), Some(value)) = (running.tag, running.value.clone()) else { return Ok(None) };
    if policy.looks_at(name).is_err() {
        return Ok(None);
    }
    let named = Tag::named(name);
    let tag = match round.tags.iter().find(|tag| tag.name == name) {
        Some(tag) => tag,
        None if P::READS_METADATA => return Ok(None),
        None => &named,
    };
    let platforms = round.rules.filters.wanted_platforms();
    match policy.rank(&Candidate { tag, value, platforms }) {
        Ok(rank) => Ok(Some(rank)),
        Err(Refusal::Dropped(..)) => Ok(None),
        Err(Refusal::Unknown(gap)) => Err(gap),
    }
}

/// All that a tag is judged by.
struct Judge<'r, P: Policy> {
    policy: P,
    running: Running<'r>,
    bound: Result<Option<P::Rank>, Gap>,
    filters: &'r Filters,
    now: Timestamp,
}

impl<P: Policy> Judge<'_, P> {
    /// The steps, cheap ones first: what the registry must be asked about a tag is asked last.
    fn judge<'t>(&'t self, tag: &'t Tag) -> Result<Ranked<'t, P::Rank>, Refusal> {
        let value = self.filters.names(&tag.name)?;
        self.policy.looks_at(&tag.name)?;
        if P::READS_METADATA {
            self.filters.platforms(tag)?;
        }
        let candidate = Candidate { tag, value, platforms: self.filters.wanted_platforms() };
        let rank = self.policy.rank(&candidate)?;
        self.policy.admit(&rank)?;
        self.refuse_lower(&rank)?;
        if !P::READS_METADATA {
            self.filters.platforms(tag)?;
        }
        self.filters.age(tag, self.now)?;
        Ok(Ranked { tag, value: candidate.value, rank })
    }

    fn refuse_lower(&self, rank: &P::Rank) -> Result<(), Refusal> {
        let Some(bound) = self.bound.as_ref().map_err(|gap| Refusal::Unknown(gap.clone()))? else {
            return Ok(());
        };
        if self.policy.compare(rank, bound).is_ge() {
            return Ok(());
        }
        let current = self.running.tag.unwrap_or_default();
        Refusal::dropped("current", format!("{} the current tag `{current}`", self.policy.words().below))
    }

    /// The order of candidates: that of the policy, then the current tag, then what the policy prefers.
    fn compare(&self, first: &Ranked<'_, P::Rank>, second: &Ranked<'_, P::Rank>) -> Ordering {
        self.policy
            .compare(&first.rank, &second.rank)
            .then_with(|| self.is_current(first).cmp(&self.is_current(second)))
            .then_with(|| self.policy.prefer(first, second).0)
    }

    fn is_current(&self, ranked: &Ranked<'_, P::Rank>) -> bool {
        self.running.tag == Some(&ranked.tag.name)
    }

    fn decide(&self, round: &Round<'_>, kept: &[Ranked<'_, P::Rank>], dropped: Vec<Verdict>) -> Decision {
        let mut decisions = Vec::with_capacity(kept.len() + dropped.len());
        if let Some((best, rest)) = kept.split_first() {
            let (rule, reason) = self.why_chosen(best, rest.first());
            let tag = best.tag.name.clone();
            decisions.push(Verdict { tag, verdict: Standing::Chosen, rule, reason });
            decisions.extend(rest.iter().map(|other| {
                let (rule, reason) = self.why_not_chosen(best, other);
                let tag = other.tag.name.clone();
                Verdict { tag, verdict: Standing::Kept, rule, reason }
            }));
        }
        decisions.extend(dropped);
        let best = kept.first().map(|best| best.tag);
        Decision {
            image: round.question.image.to_owned(),
            current: self.running.tag.map(str::to_owned),
            chosen: best.map(|tag| tag.name.clone()),
            digest: best.and_then(|tag| tag.digest.as_ref().map(ToString::to_string)),
            decisions,
            warnings: self.policy.warning(kept).into_iter().chain(self.filter_warning(round)).collect(),
        }
    }

    fn why_chosen(
        &self,
        best: &Ranked<'_, P::Rank>,
        next: Option<&Ranked<'_, P::Rank>>,
    ) -> (&'static str, String) {
        let words = self.policy.words().best;
        let tied = next.filter(|next| self.policy.compare(&best.rank, &next.rank).is_eq());
        match (tied, self.is_current(best)) {
            (Some(other), true) => {
                (TIE, format!("{words}; equal to `{}`, and the current tag stays", other.tag.name))
            }
            (Some(other), false) => {
                let (_, why) = self.policy.prefer(best, other);
                (TIE, format!("{words}; equal to `{}`, and {why}", other.tag.name))
            }
            (None, true) => (ORDER, format!("{words}, which is the current tag")),
            (None, false) => (ORDER, words.to_owned()),
        }
    }

    fn why_not_chosen(
        &self,
        best: &Ranked<'_, P::Rank>,
        other: &Ranked<'_, P::Rank>,
    ) -> (&'static str, String) {
        let name = &best.tag.name;
        if self.policy.compare(&best.rank, &other.rank).is_eq() {
            (TIE, format!("equal to `{name}`, which is preferred"))
        } else {
            (ORDER, format!("{} `{name}`", self.policy.words().below))
        }
    }

    fn filter_warning(&self, round: &Round<'_>) -> Option<String> {
        let pattern = self.filters.idle_pattern(round.tags)?;
        Some(format!("none of the {} tags matches the filter `{pattern}`", round.tags.len()))
    }
}

//! Evaluates the tags of an image by a policy: the steps that all policies share.
//!
//! Registry data of a tag is checked last, from the best candidate down. The registry is asked only until the first
//! candidate is accepted: nothing below it can change the decision.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::HashSet;

use diagnostic::Result;
use jiff::Timestamp;

use crate::decision::{Decision, Outcome, Standing, Verdict};
use crate::filter::{Filters, Gap, Refusal};
use crate::policy::{Candidate, Policy, Ranked, Running};
use crate::tags::Tag;

/// The rules by which one candidate is put above another.
const ORDER: &str = "order";
const TIE: &str = "tie";

/// A warning names so many tags.
const NAMED: usize = 3;

/// Finds out what a decision lacks about a tag; what it cannot find out, it leaves as it is.
pub type Inquire<'i> = dyn Fn(&Gap) -> Result<Tag> + 'i;

/// The input of choosing a tag.
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

/// The input of one choice.
#[derive(Clone, Copy)]
pub(crate) struct Choice<'r> {
    pub(crate) filters: &'r Filters,
    pub(crate) allow_downgrade: bool,
    pub(crate) question: &'r Question<'r>,
    pub(crate) tags: &'r [Tag],
    pub(crate) inquire: Option<&'r Inquire<'r>>,
}

/// Chooses by a policy.
pub(crate) fn choose<P: Policy>(mut policy: P, choice: &Choice<'_>) -> Result<Outcome> {
    let Choice { filters, allow_downgrade, question, tags, .. } = choice;
    let tag = question.current.or(question.tag);
    let value = tag.and_then(|tag| filters.value_of_current(tag));
    let running = Running { watched: question.tag, tag, value };
    policy.bind(&running)?;
    let stays = filters.why_it_stays(tag, running.value.as_deref())?;
    let bound = if *allow_downgrade { Ok(None) } else { bound(&policy, &running, choice) };
    let evaluator = Evaluator { policy, running, stays, bound, filters, now: question.now };

    let mut candidates = Candidates::default();
    for tag in *tags {
        match evaluator.evaluate(tag) {
            Ok(ranked) => candidates.kept.push(ranked),
            Err(refusal) => candidates.refuse(tag, refusal),
        }
    }
    if candidates.gaps.is_empty() {
        candidates = evaluator.suit(candidates, choice.inquire)?;
    }
    if candidates.gaps.is_empty() {
        candidates.dropped.sort_by(|first, second| first.tag.cmp(&second.tag));
        return Ok(Outcome::Decided(evaluator.decide(choice, candidates)));
    }
    candidates.gaps.sort();
    candidates.gaps.dedup();
    Ok(Outcome::Incomplete(candidates.gaps))
}

/// The candidates that remain.
struct Candidates<'t, R> {
    kept: Vec<Ranked<'t, R>>,
    dropped: Vec<Verdict>,
    gaps: Vec<Gap>,
    /// Those of the kept ones that nobody asked about, as a better one suits.
    unasked: HashSet<&'t str>,
    /// The best of the kept ones, with all that is known of it.
    best: Option<Cow<'t, Tag>>,
}

impl<R> Default for Candidates<'_, R> {
    fn default() -> Self {
        let (kept, dropped, gaps) = (Vec::new(), Vec::new(), Vec::new());
        Self { kept, dropped, gaps, unasked: HashSet::new(), best: None }
    }
}

impl<R> Candidates<'_, R> {
    fn refuse(&mut self, tag: &Tag, refusal: Refusal) {
        match refusal {
            Refusal::Unknown(gap) => self.gaps.push(gap),
            Refusal::Dropped(rule, reason) => {
                let tag = tag.name.clone();
                self.dropped.push(Verdict { tag, verdict: Standing::Dropped, rule, reason });
            }
        }
    }
}

/// Returns where the current tag stands. Nothing where it has no place in the order, or is gone and with it what is known of it.
fn bound<P: Policy>(policy: &P, running: &Running<'_>, choice: &Choice<'_>) -> Result<Option<P::Rank>, Gap> {
    let (Some(name), Some(value)) = (running.tag, running.value.clone()) else { return Ok(None) };
    if policy.looks_at(name).is_err() {
        return Ok(None);
    }
    let named = Tag::named(name);
    let tag = match choice.tags.iter().find(|tag| tag.name == name) {
        Some(tag) => tag,
        None if P::READS_METADATA => return Ok(None),
        None => &named,
    };
    let platforms = choice.filters.wanted_platforms();
    match policy.rank(&Candidate { tag, value, platforms }) {
        Ok(rank) => Ok(Some(rank)),
        Err(Refusal::Dropped(..)) => Ok(None),
        Err(Refusal::Unknown(gap)) => Err(gap),
    }
}

/// All that a tag is judged by.
struct Evaluator<'r, P: Policy> {
    policy: P,
    running: Running<'r>,
    /// Why the current tag stays, where it does.
    stays: Option<String>,
    bound: Result<Option<P::Rank>, Gap>,
    filters: &'r Filters,
    now: Timestamp,
}

impl<P: Policy> Evaluator<'_, P> {
    /// The steps that give a tag its place in the order, cheap ones first.
    fn evaluate<'t>(&'t self, tag: &'t Tag) -> Result<Ranked<'t, P::Rank>, Refusal> {
        // A watched tag that stays keeps what it is known by, too.
        let is_other = P::WATCHES || self.running.tag != Some(&tag.name);
        if let Some(reason) = self.stays.as_ref().filter(|_| is_other) {
            return Refusal::dropped("update-from", reason.clone());
        }
        let value = self.filters.names(&tag.name)?;
        self.policy.looks_at(&tag.name)?;
        if P::READS_METADATA {
            self.filters.platforms(tag)?;
        }
        let candidate = Candidate { tag, value, platforms: self.filters.wanted_platforms() };
        let rank = self.policy.rank(&candidate)?;
        self.policy.admit(&rank)?;
        self.refuse_lower(&rank)?;
        Ok(Ranked { tag, value: candidate.value, rank })
    }

    /// The steps that go by what the registry knows of a tag, from the best tag on.
    fn suit<'t>(
        &self,
        candidates: Candidates<'t, P::Rank>,
        inquire: Option<&Inquire<'_>>,
    ) -> Result<Candidates<'t, P::Rank>> {
        let Candidates { kept: mut ranked, dropped, .. } = candidates;
        ranked.sort_by(|first, second| self.compare(second, first));
        let mut candidates = Candidates { dropped, ..Candidates::default() };
        for ranked in ranked {
            let tag = ranked.tag;
            let is_found = candidates.best.is_some();
            let (known, suits) = self.suits_by(tag, inquire.filter(|_| !is_found))?;
            match suits {
                Ok(()) => candidates.best = candidates.best.take().or(Some(known)),
                Err(Refusal::Unknown(_)) if is_found && inquire.is_some() => {
                    candidates.unasked.insert(&tag.name);
                }
                Err(refusal) => {
                    candidates.refuse(tag, refusal);
                    // Without this answer there is no decision, so that no other is needed.
                    if inquire.is_some() && !candidates.gaps.is_empty() {
                        break;
                    }
                    continue;
                }
            }
            candidates.kept.push(ranked);
        }
        Ok(candidates)
    }

    /// Returns whether a tag suits, with what an inquiry finds out about it; what is lacking twice cannot be had.
    fn suits_by<'t>(
        &self,
        tag: &'t Tag,
        inquire: Option<&Inquire<'_>>,
    ) -> Result<(Cow<'t, Tag>, Result<(), Refusal>)> {
        let (mut known, mut suits, mut asked) = (Cow::Borrowed(tag), self.suits(tag), None);
        if let Some(inquire) = inquire {
            while let Err(Refusal::Unknown(gap)) = &suits
                && asked.as_ref() != Some(gap)
            {
                known = Cow::Owned(inquire(gap)?);
                asked = Some(gap.clone());
                suits = self.suits(&known);
            }
        }
        Ok((known, suits))
    }

    fn suits(&self, tag: &Tag) -> Result<(), Refusal> {
        if !P::READS_METADATA {
            self.filters.platforms(tag)?;
        }
        self.filters.age(tag, self.now)
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

    fn decide(&self, choice: &Choice<'_>, candidates: Candidates<'_, P::Rank>) -> Decision {
        let Candidates { kept, dropped, unasked, best, .. } = candidates;
        let mut decisions = Vec::with_capacity(kept.len() + dropped.len());
        if let Some((best, rest)) = kept.split_first() {
            let (rule, reason) = self.why_chosen(best, rest.first());
            let tag = best.tag.name.clone();
            decisions.push(Verdict { tag, verdict: Standing::Chosen, rule, reason });
            decisions.extend(rest.iter().map(|other| {
                let (rule, mut reason) = self.why_not_chosen(best, other);
                if unasked.contains(&*other.tag.name) {
                    reason.push_str(", and the registry was not asked more about it");
                }
                let tag = other.tag.name.clone();
                Verdict { tag, verdict: Standing::Kept, rule, reason }
            }));
        }
        decisions.extend(dropped);
        Decision {
            image: choice.question.image.to_owned(),
            current: self.running.tag.map(str::to_owned),
            chosen: best.as_ref().map(|tag| tag.name.clone()),
            digest: best.as_ref().and_then(|tag| tag.digest.as_ref().map(ToString::to_string)),
            created: best.as_ref().and_then(|tag| tag.created_for(self.filters.wanted_platforms())),
            decisions,
            warnings: self.policy.warning(&kept).into_iter().chain(self.filter_warning(choice)).collect(),
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

    fn filter_warning(&self, choice: &Choice<'_>) -> Option<String> {
        let pattern = self.filters.idle_pattern(choice.tags)?;
        let mut names: Vec<&str> = choice.tags.iter().map(|tag| tag.name.as_str()).collect();
        names.sort_unstable_by(|first, second| second.cmp(first));
        let shown = names.iter().take(NAMED).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        let more = if names.len() > NAMED { ", …" } else { "" };
        let count = names.len();
        Some(format!("none of the {count} tags matches the filter `{pattern}`: found {shown}{more}"))
    }
}

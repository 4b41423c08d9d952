//! The status of an ImageUpdateAutomation, in Flux' words: what it has pushed, and on what it was made.

use diagnostic::ErrorKind;
use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::conditions::Conditions;
use super::frame::{Frame, States, renewed};
use super::image_policy::reference;
use super::news::{Heard, ImageId, News, State};
use super::subject::Fault;
use super::words::{joined, of_error};
use crate::dialect::flux::status::{ImageReference, ImageUpdateAutomationStatus};
use crate::work::OwnerKind;

/// The result.
#[derive(Debug, Default)]
pub(super) struct Automation {
    images: States,
    run_at: Option<Timestamp>,
    policies: BTreeMap<String, ImageReference>,
    /// The branch and the commit that was looked at.
    revision: Option<String>,
    /// Why the repository could not be read or written.
    failure: Option<String>,
    push: Option<Push>,
}

/// A pushed commit that was not reported yet.
#[derive(Debug)]
struct Push {
    commit: String,
    branch: String,
    at: Timestamp,
    /// The changed images.
    changes: Vec<String>,
}

impl Automation {
    pub(super) fn hear(&mut self, news: &News<'_>) {
        self.run_at = Some(news.now);
        self.failure = news.failure.map(of_error);
        for heard in &news.images {
            let Some(state) = self.images.get_mut(&heard.id) else { continue };
            *state = heard.report.map(|_| written_state(heard)).or(state.take());
            if let Some(latest) = heard.report.and_then(|report| reference(heard.image, report)) {
                self.policies.extend(policy_of(heard).map(|policy| (policy, latest)));
            }
        }
        if let Some(tip) = &news.delivered.read {
            self.revision = Some(format!("{}@sha1:{}", tip.branch, tip.commit));
        }
        if let Some(tip) = &news.delivered.pushed {
            let changes = news.images.iter().filter_map(|heard| heard.written);
            self.push = Some(Push {
                commit: tip.commit.to_string(),
                branch: tip.branch.clone(),
                at: news.now,
                changes: changes
                    .map(|change| format!("{}: {} -> {}", change.image, change.old.full(), change.new.full()))
                    .collect(),
            });
        }
    }

    pub(super) fn renew(&mut self, images: BTreeSet<ImageId>) -> bool {
        renewed(&mut self.images, images)
    }

    pub(super) fn anew(self) -> Self {
        Self { push: self.push, ..Self::default() }
    }

    /// Returns what the next status tells of a push.
    pub(super) fn push_in_words(&self) -> Option<String> {
        let Push { commit, branch, changes, .. } = self.push.as_ref()?;
        let short = commit.get(..7).unwrap_or(commit);
        let changes = joined(changes.iter().cloned());
        Some(format!("pushed commit '{short}' to branch '{branch}'\n{changes}"))
    }

    /// That has been told.
    pub(super) fn told(&mut self, push: Option<&str>) {
        if self.push_in_words().as_deref() == push {
            self.push = None;
        }
    }

    /// Nothing as long as nothing is known.
    pub(super) fn status(
        &self,
        before: ImageUpdateAutomationStatus,
        frame: &Frame<'_>,
    ) -> Option<ImageUpdateAutomationStatus> {
        let Frame { subject, handled, now, .. } = *frame;
        let mut conditions = Conditions::of(before.conditions.clone(), subject.generation, now);
        let mut status = before;
        let mut is_settled = true;
        let failures = self.failures();
        match (subject.faults.first(), &self.failure) {
            (Some(fault), _) => {
                let message = joined(subject.faults.iter().map(Fault::message));
                is_settled = say_fault(&mut conditions, fault, &message);
            }
            (None, Some(failure)) => {
                conditions.fail("GitOperationFailed", failure);
                is_settled = false;
            }
            (None, None) if !failures.is_empty() => {
                conditions.fail("UpdateFailed", &format!("failed to apply policies: {failures}"));
                is_settled = false;
            }
            (None, None) if self.run_at.is_none() && !self.images.is_empty() => return None,
            (None, None) => {
                conditions.succeed("repository up-to-date");
                status.observed_policies.clone_from(&self.policies);
                status.observed_source_revision = self.revision.clone().or(status.observed_source_revision);
            }
        }
        if is_settled {
            status.observed_generation = Some(subject.generation);
        }
        if let Some(Push { commit, at, .. }) = &self.push {
            (status.last_push_commit, status.last_push_time) = (Some(commit.clone()), Some((*at).into()));
        }
        status.last_automation_run_time = self.run_at.map(Into::into).or(status.last_automation_run_time);
        status.conditions = conditions.into_all();
        status.last_handled_reconcile_at = handled.map(str::to_owned).or(status.last_handled_reconcile_at);
        Some(status)
    }

    fn failures(&self) -> String {
        let failed = |(image, state): (&ImageId, &Option<State>)| match state {
            Some(State::Failed(why)) => Some(format!("{}: {why}", image.title())),
            _ => None,
        };
        joined(self.images.iter().filter_map(failed))
    }
}

/// Returns how the writing went. That nothing could be chosen is for the policy to say; as with Flux, the others go on.
fn written_state(heard: &Heard<'_>) -> State {
    match heard.report.and_then(|report| report.decided.as_ref()) {
        Some(Err(_)) => State::Well,
        _ => heard.state.clone(),
    }
}

fn policy_of(heard: &Heard<'_>) -> Option<String> {
    let policy = heard.owners.iter().find(|owner| owner.kind == OwnerKind::ImagePolicy)?;
    Some(policy.id.name.clone())
}

/// Returns true if it cannot go on until somebody mends the object.
fn say_fault(conditions: &mut Conditions, fault: &Fault, message: &str) -> bool {
    let is_of = |field: &str| fault.field.as_deref().is_some_and(|known| known.starts_with(field));
    match fault.kind() {
        ErrorKind::Denied => conditions.stall("AccessDenied", message),
        ErrorKind::NotFound | ErrorKind::Credentials => {
            conditions.fail("SourceManagerFailed", message);
            return false;
        }
        _ if is_of("spec.policySelector") => conditions.stall("InvalidPolicySelector", message),
        _ if is_of("spec.update") => conditions.stall("InvalidUpdateStrategy", message),
        _ => conditions.stall("InvalidSourceConfiguration", message),
    }
    true
}

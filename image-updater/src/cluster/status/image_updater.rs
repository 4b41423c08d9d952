//! The status of an ImageUpdater, in Argo CD Image Updater's words.
//!
//! An image that fails makes `Error` true and leaves `Ready` so: the others go on. Only a resource of which nothing is
//! left to do is not ready. Which images stay behind, and why, is said with `Ready`, too.

use diagnostic::ErrorKind;
use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::conditions::{Conditions, ERROR, READY, RECONCILING};
use super::frame::{Counts, Frame, States, renewed};
use super::news::{ImageId, News, State};
use super::subject::{Fault, Subject};
use super::words::joined;
use crate::change::Named;
use crate::dialect::argocd::status::{ImageUpdaterStatus, RecentUpdate};
use crate::dialect::status::{Condition, Truth};

/// So many updates are named, the newest.
const RECENT: usize = 20;

/// The states of its images.
#[derive(Debug, Default)]
pub(super) struct ImageUpdater {
    images: States,
    checked_at: Option<Timestamp>,
    /// Number of images the last round has brought up to date.
    updated: usize,
    /// The updates that were not reported yet.
    updates: Vec<Done>,
}

/// An image that was brought up to date.
#[derive(Debug)]
struct Done {
    alias: String,
    image: String,
    from: String,
    to: String,
    at: Timestamp,
}

/// The totals of errors.
struct Troubles {
    faults: Vec<String>,
    failures: Vec<String>,
    is_conflict: bool,
}

impl ImageUpdater {
    pub(super) fn hear(&mut self, news: &News<'_>) {
        self.checked_at = Some(news.now);
        for heard in &news.images {
            if let Some(state) = self.images.get_mut(&heard.id) {
                *state = Some(heard.state.clone());
            }
        }
        let written: Vec<_> = news.images.iter().filter_map(|heard| Some((heard, heard.written?))).collect();
        self.updated = written.len();
        self.updates.extend(written.into_iter().map(|(heard, change)| Done {
            alias: heard.id.name.clone(),
            image: change.image.clone(),
            from: change.old.identifier().to_owned(),
            to: change.new.identifier().to_owned(),
            at: news.now,
        }));
    }

    pub(super) fn renew(&mut self, images: BTreeSet<ImageId>) -> bool {
        renewed(&mut self.images, images)
    }

    pub(super) fn anew(self) -> Self {
        Self { updates: self.updates, ..Self::default() }
    }

    pub(super) fn counts(&self) -> Counts {
        let applications: BTreeSet<&Named> =
            self.images.keys().filter_map(|image| image.application.as_ref()).collect();
        Counts { applications: applications.len(), images: self.images.len() }
    }

    /// Returns how many updates the next status tells of.
    pub(super) fn untold(&self) -> usize {
        self.updates.len()
    }

    /// So many have been told.
    pub(super) fn told(&mut self, updates: usize) {
        self.updates.drain(..updates.min(self.updates.len()));
    }

    pub(super) fn status(&self, before: ImageUpdaterStatus, frame: &Frame<'_>) -> ImageUpdaterStatus {
        let Counts { applications, images } = self.counts();
        let last = self.updates.last().map(|done| done.at.into());
        ImageUpdaterStatus {
            observed_generation: frame.subject.generation,
            last_checked_at: self.checked_at.map(Into::into).or(before.last_checked_at),
            last_updated_at: last.or(before.last_updated_at),
            applications_matched: i32::try_from(applications).unwrap_or(i32::MAX),
            images_managed: i32::try_from(images).unwrap_or(i32::MAX),
            recent_updates: self.recent(before.recent_updates),
            conditions: self.conditions(before.conditions, frame),
        }
    }

    /// Returns what was updated last, the newest first: an image that goes to one version in several Applications is one.
    fn recent(&self, mut recent: Vec<RecentUpdate>) -> Vec<RecentUpdate> {
        for done in &self.updates {
            let is_it = |known: &RecentUpdate| {
                known.alias == done.alias && known.image == done.image && known.new_version == done.to
            };
            let known = recent.iter().position(is_it).map(|place| recent.remove(place));
            let applications = known.map_or(0, |known| known.applications_updated);
            let update = RecentUpdate {
                alias: done.alias.clone(),
                image: done.image.clone(),
                new_version: done.to.clone(),
                applications_updated: applications.saturating_add(1),
                updated_at: done.at.into(),
                message: format!("Updated from {} to {}.", done.from, done.to),
            };
            recent.insert(0, update);
        }
        recent.truncate(RECENT);
        recent
    }

    fn conditions(&self, before: Vec<Condition>, frame: &Frame<'_>) -> Vec<Condition> {
        let mut conditions = Conditions::of(before, frame.subject.generation, frame.now);
        let unknown = self.images.values().filter(|state| state.is_none()).count();
        let (status, reason, message) = match unknown {
            0 => (Truth::False, "Idle", "Last check completed. Awaiting next cycle.".to_owned()),
            _ => (Truth::True, "Reconciling", format!("{unknown} images were not looked at yet.")),
        };
        conditions.set(RECONCILING, status, reason, &message);
        let troubles = self.troubles(frame.subject);
        let is_lost = self.images.is_empty() && !troubles.faults.is_empty();
        // As long as nothing was looked at, it is not known whether anything is wrong.
        if self.checked_at.is_some() || self.images.is_empty() || !troubles.is_empty() {
            let (status, reason, message) = troubles.error(is_lost);
            conditions.set(ERROR, status, reason, &message);
            let (status, reason, message) = self.ready(&troubles, is_lost);
            conditions.set(READY, status, reason, &message);
        }
        conditions.into_all()
    }

    fn troubles(&self, subject: &Subject) -> Troubles {
        let failed = |(image, state): (&ImageId, &Option<State>)| match state {
            Some(State::Failed(why)) => Some(format!("{}: {why}", image.title())),
            _ => None,
        };
        Troubles {
            faults: subject.faults.iter().map(Fault::message).collect(),
            failures: self.images.iter().filter_map(failed).collect(),
            is_conflict: subject.faults.iter().any(|fault| fault.kind() == ErrorKind::Conflict),
        }
    }

    fn ready(&self, troubles: &Troubles, is_lost: bool) -> (Truth, &'static str, String) {
        let Counts { applications, .. } = self.counts();
        let (errors, updated) = (troubles.len(), self.updated);
        if is_lost {
            let message = format!("Reconciliation failed: {}", troubles.in_words());
            return (Truth::False, "ReconcileFailed", message);
        }
        let (reason, mut message) = match errors {
            0 => (
                "ReconcileSucceeded",
                format!("Reconciled {applications} applications, {updated} images updated."),
            ),
            _ => (
                "ReconcileCompletedWithErrors",
                format!(
                    "Reconciled {applications} applications with {errors} errors, {updated} images updated."
                ),
            ),
        };
        let behind = self.behind();
        if !behind.is_empty() {
            message = format!("{message} Not at a newer version: {behind}.");
        }
        (Truth::True, reason, message)
    }

    /// The images that stay where they are, each with why. The same is said once for all Applications.
    fn behind(&self) -> String {
        let mut by_reason: BTreeMap<(&str, &str), Vec<&ImageId>> = BTreeMap::new();
        for (image, state) in &self.images {
            if let Some(State::Noted(why)) = state {
                by_reason.entry((&image.name, why)).or_default().push(image);
            }
        }
        joined(by_reason.into_iter().map(|((name, why), images)| match images.as_slice() {
            [image] => format!("{} ({why})", image.title()),
            images => format!("{name} of {} applications ({why})", images.len()),
        }))
    }
}

impl Troubles {
    fn len(&self) -> usize {
        self.faults.len() + self.failures.len()
    }

    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn in_words(&self) -> String {
        joined(self.faults.iter().chain(&self.failures).cloned())
    }

    fn error(&self, is_lost: bool) -> (Truth, &'static str, String) {
        if self.is_empty() {
            return (Truth::False, "NoErrors", "No errors during last reconciliation.".to_owned());
        }
        let reason = match (self.is_conflict, is_lost) {
            (true, _) => "Conflict",
            (false, true) => "ReconcileError",
            (false, false) => "PartialErrors",
        };
        (Truth::True, reason, self.in_words())
    }
}

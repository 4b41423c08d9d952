//! Records a reconcile: log lines, metrics, and the audit log of pushes.

use diagnostic::Error;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use oci_registry::Traffic;

use super::logs::{self, Summary};
use super::metrics::Metrics;
use super::{Job, Remarks};
use crate::audit::AuditLog;
use crate::change::Named;
use crate::decision::Decision;
use crate::deliver::{Delivered, Failed};
use crate::round::{Outcome, Plan};
use crate::work::Update;

/// Writes down what happens, for threads side by side.
#[derive(Debug)]
pub(super) struct Recorder {
    metrics: Arc<Metrics>,
    audit: Option<Mutex<AuditLog>>,
    /// The images of each job by its repository, and the applications of these.
    watched: Mutex<Vec<Watched>>,
}

/// The watched images of one repository.
#[derive(Debug)]
struct Watched {
    repository: String,
    images: usize,
    applications: BTreeSet<Named>,
}

impl Recorder {
    pub(super) fn new(metrics: Arc<Metrics>, audit: Option<AuditLog>) -> Self {
        Self { metrics, audit: audit.map(Mutex::new), watched: Mutex::default() }
    }

    /// A configuration is in force; its jobs follow.
    pub(super) fn configured(&self) {
        lock(&self.watched).clear();
        self.metrics.configured();
    }

    /// Records the images of a job.
    pub(super) fn watching(&self, job: &dyn Job) {
        let updates = job.updates();
        let images = updates.iter().filter(|update| !update.suspended);
        // Those of an ImageUpdater are counted with it.
        let is_ours = |update: &&&Update| update.image_updater().is_none();
        let images = images.filter(is_ours);
        let applications: BTreeSet<Named> =
            images.clone().filter_map(|update| update.application.clone()).collect();
        let (repository, images) = (job.repository().to_owned(), images.count());
        if !job.looks_for_more() || images > 0 {
            logs::configured(&repository, images, applications.len());
        }
        let mut watched = lock(&self.watched);
        // Only what looks for more is here a second time; two documents may be of one repository.
        if job.looks_for_more() {
            watched.retain(|known| known.repository != repository);
        }
        watched.push(Watched { repository, images, applications });
        self.count(&watched);
    }

    /// A repository is none of ours any more.
    pub(super) fn dismissed(&self, repository: &str) {
        let mut watched = lock(&self.watched);
        watched.retain(|known| known.repository != repository);
        self.count(&watched);
        self.metrics.dismissed(repository);
    }

    fn count(&self, watched: &[Watched]) {
        let images = watched.iter().map(|watched| watched.images).sum();
        let applications: BTreeSet<&Named> =
            watched.iter().flat_map(|watched| &watched.applications).collect();
        self.metrics.watching(images, applications.len());
    }

    /// There is something else to do in a repository than before.
    pub(super) fn found(&self, job: &dyn Job, remarks: &Remarks) {
        let repository = job.repository();
        for warning in &remarks.warnings {
            logs::warning(repository, warning);
        }
        for fault in &remarks.faults {
            logs::error(Some(repository), fault, "it is left out");
        }
        self.watching(job);
    }

    /// A configuration is broken, and the older one stays in force.
    pub(super) fn misconfigured(&self, error: &Error) {
        self.metrics.misconfigured();
        logs::error(None, error, "the configuration is broken, and the one before it stays in force");
    }

    /// A decision was made.
    pub(super) fn hear(&self, repository: &str, decision: &Decision) {
        if logs::tells_reasons() {
            logs::reasons(repository, decision);
        }
    }

    /// Registries were asked so much more.
    pub(super) fn traffic(&self, more: &BTreeMap<String, Traffic>) {
        self.metrics.traffic(more);
    }

    /// A round is over; whether all went well in it.
    pub(super) fn round(
        &self,
        repository: &str,
        outcome: Result<Delivered, Failed>,
        duration: Duration,
    ) -> bool {
        let now = Timestamp::now();
        let done = outcome.as_ref().unwrap_or_else(|failed| &failed.before);
        let noted = self.audit.as_ref().map_or(Ok(()), |audit| lock(audit).note(done, now));
        if let Err(error) = &noted {
            logs::error(Some(repository), error, "what was pushed is not in the audit log");
        }
        self.metrics.pushed(repository, done.commits.len());
        self.measure(done, now);
        let delivered = match outcome {
            Ok(delivered) => delivered,
            Err(failed) => {
                self.metrics.failed_round(repository, duration);
                logs::delivered(repository, &failed.before);
                let (error, plan) = failed.into_parts();
                self.report(repository, &plan);
                logs::error(Some(repository), &error, "the round failed");
                return false;
            }
        };
        self.report(repository, &delivered.plan);
        logs::delivered(repository, &delivered);
        let summary = summary(&delivered);
        self.metrics.round(repository, duration, now);
        logs::summary(repository, summary, duration);
        noted.is_ok() && summary.errors == 0
    }

    /// Returns how many images were brought up to date or failed, for whom, and how old the new ones are.
    fn measure(&self, done: &Delivered, now: Timestamp) {
        let written: HashSet<_> = done.written.iter().map(|written| written.change.key()).collect();
        let mut counts: BTreeMap<Option<&Named>, (usize, usize)> = BTreeMap::new();
        for report in &done.plan.reports {
            let count = counts.entry(report.image_updater()).or_default();
            match &report.outcome {
                Outcome::Failed(_) => count.1 += 1,
                Outcome::Changed(change) if written.contains(&change.key()) => count.0 += 1,
                _ => {}
            }
        }
        for (of, (updated, errors)) in counts {
            self.metrics.images(of, updated, errors);
        }
        for written in &done.written {
            let age = written.change.new.created().map(|created| now.duration_since(created));
            if let Some(Ok(lag)) = age.map(Duration::try_from) {
                self.metrics.lag(lag);
            }
        }
    }

    /// Records the result for each image.
    fn report(&self, repository: &str, plan: &Plan) {
        for report in &plan.reports {
            self.metrics.decided(repository, report.outcome.as_str());
            logs::report(repository, report);
        }
    }
}

fn summary(delivered: &Delivered) -> Summary {
    let reports = &delivered.plan.reports;
    let count = |is_so: fn(&Outcome) -> bool| reports.iter().filter(|report| is_so(&report.outcome)).count();
    let skipped = count(|outcome| matches!(outcome, Outcome::Suspended | Outcome::Held { .. }));
    let applications: BTreeSet<_> = reports.iter().filter_map(|report| report.application.as_ref()).collect();
    Summary {
        applications: applications.len(),
        considered: reports.len() - skipped,
        skipped,
        updated: delivered.written.len(),
        errors: count(|outcome| matches!(outcome, Outcome::Failed(_))),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

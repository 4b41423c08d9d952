//! What is kept of a round: lines of log, numbers, and the audit log of what was pushed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use registry::Traffic;

use super::logs::{self, Summary};
use super::metrics::Metrics;
use crate::audit::AuditLog;
use crate::decision::Decision;
use crate::deliver::{Delivered, Failed};
use crate::error::Error;
use crate::round::{Outcome, Plan};
use crate::work::Update;

/// Writes down what happens.
#[derive(Debug)]
pub(super) struct Recorder {
    metrics: Arc<Metrics>,
    audit: Option<AuditLog>,
    /// What was asked of registries by the configuration in force, as far as it is counted.
    counted: BTreeMap<String, Traffic>,
}

impl Recorder {
    pub(super) fn new(metrics: Arc<Metrics>, audit: Option<AuditLog>) -> Self {
        Self { metrics, audit, counted: BTreeMap::new() }
    }

    /// A configuration is in force.
    pub(super) fn configured(&mut self, updates: &[Update]) {
        let watched = updates.iter().filter(|update| !update.suspended);
        let applications: BTreeSet<_> =
            watched.clone().filter_map(|update| update.application.as_ref()).collect();
        let images = watched.count();
        self.counted.clear();
        self.metrics.configured(images, applications.len());
        logs::configured(images, applications.len());
    }

    /// A configuration is broken, and the older one stays in force.
    pub(super) fn misconfigured(&self, error: &Error) {
        self.metrics.misconfigured();
        logs::error(error, "the configuration is broken, and the one before it stays in force");
    }

    /// A decision was made.
    pub(super) fn hear(&self, decision: &Decision) {
        if logs::tells_reasons() {
            logs::reasons(decision);
        }
    }

    /// Registries were asked so much since the configuration is in force.
    pub(super) fn traffic(&mut self, traffic: &BTreeMap<String, Traffic>) {
        let more = traffic.iter().map(|(registry, now)| {
            let before = self.counted.get(registry).copied().unwrap_or_default();
            let more = Traffic {
                requests: now.requests.saturating_sub(before.requests),
                failed: now.failed.saturating_sub(before.failed),
                unchanged: now.unchanged.saturating_sub(before.unchanged),
            };
            (registry.clone(), more)
        });
        self.metrics.traffic(&more.collect());
        self.counted.clone_from(traffic);
    }

    /// A round is over; whether all went well in it.
    pub(super) fn round(&mut self, outcome: Result<Delivered, Failed>, duration: Duration) -> bool {
        let now = Timestamp::now();
        let done = outcome.as_ref().unwrap_or_else(|failed| &failed.before);
        let noted = self.audit.as_mut().map_or(Ok(()), |audit| audit.note(done, now));
        if let Err(error) = &noted {
            logs::error(error, "what was pushed is not in the audit log");
        }
        let delivered = match outcome {
            Ok(delivered) => delivered,
            Err(failed) => {
                self.metrics.failed_round(duration);
                self.metrics.pushed(failed.before.written.len(), failed.before.commits.len());
                logs::delivered(&failed.before);
                let (error, plan) = failed.into_parts();
                self.report(&plan);
                logs::error(&error, "the round failed");
                return false;
            }
        };
        self.report(&delivered.plan);
        logs::delivered(&delivered);
        let summary = summary(&delivered);
        self.metrics.round(summary, duration, now);
        self.metrics.pushed(delivered.written.len(), delivered.commits.len());
        logs::summary(summary, duration);
        noted.is_ok() && summary.errors == 0
    }

    /// What became of each image.
    fn report(&self, plan: &Plan) {
        for report in &plan.reports {
            self.metrics.decided(report.outcome.as_str());
            logs::report(report);
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

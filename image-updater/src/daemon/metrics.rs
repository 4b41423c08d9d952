//! Numbers for Prometheus. Those that Argo CD Image Updater has too have its names, so that its dashboards go on.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use jiff::Timestamp;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use registry::Traffic;

use super::http::Page;
use super::logs::Summary;

const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// From a round that finds nothing new to one that a slow registry holds up.
const SECONDS: [f64; 9] = [0.1, 0.5, 1.0, 2.5, 5.0, 15.0, 60.0, 300.0, 900.0];

type ByLabel = Family<[(&'static str, String); 1], Counter>;

type ByOutcome = Family<[(&'static str, String); 2], Counter>;

/// By the repository that is written to.
type Label = [(&'static str, String); 1];

/// What is counted.
#[derive(Debug)]
pub(super) struct Metrics {
    registry: Registry,
    applications_watched: Gauge,
    images_watched: Gauge,
    images_updated: Counter,
    images_errors: Counter,
    registry_requests: ByLabel,
    registry_requests_failed: ByLabel,
    registry_requests_unchanged: ByLabel,
    decisions: ByOutcome,
    rounds: ByOutcome,
    commits: ByLabel,
    config_valid: Gauge,
    last_success: Family<Label, Gauge<f64, AtomicU64>>,
    round_duration: Family<Label, Histogram, fn() -> Histogram>,
}

impl Metrics {
    /// Nothing has happened yet.
    pub(super) fn new() -> Self {
        let mut metrics = Self {
            registry: Registry::default(),
            applications_watched: Gauge::default(),
            images_watched: Gauge::default(),
            images_updated: Counter::default(),
            images_errors: Counter::default(),
            registry_requests: ByLabel::default(),
            registry_requests_failed: ByLabel::default(),
            registry_requests_unchanged: ByLabel::default(),
            decisions: ByOutcome::default(),
            rounds: ByOutcome::default(),
            commits: ByLabel::default(),
            config_valid: Gauge::default(),
            last_success: Family::default(),
            round_duration: Family::new_with_constructor(|| Histogram::new(SECONDS)),
        };
        metrics.register();
        metrics
    }

    /// Names what is counted. `_total` is put behind the names of counters by itself.
    fn register(&mut self) {
        let peer = self.registry.sub_registry_with_prefix("argocd_image_updater");
        let (applications, images) = (self.applications_watched.clone(), self.images_watched.clone());
        peer.register("applications_watched_total", "Applications whose images are watched", applications);
        peer.register("images_watched_total", "Images that are watched", images);
        peer.register("images_updated", "Images for which a version was pushed", self.images_updated.clone());
        peer.register("images_errors", "Images that failed in a round", self.images_errors.clone());
        peer.register("registry_requests", "Requests to registries", self.registry_requests.clone());
        let failed = self.registry_requests_failed.clone();
        peer.register(
            "registry_requests_failed",
            "Requests that registries did not answer or refused",
            failed,
        );
        let ours = self.registry.sub_registry_with_prefix("image_updater");
        let unchanged = self.registry_requests_unchanged.clone();
        ours.register("registry_requests_unchanged", "Requests answered by: nothing has changed", unchanged);
        ours.register("decisions", "What became of images, in all rounds", self.decisions.clone());
        ours.register("rounds", "Rounds, by whether they came to their end", self.rounds.clone());
        ours.register("commits", "Commits that were pushed", self.commits.clone());
        let valid = self.config_valid.clone();
        ours.register("config_valid", "Whether the configuration that is there now could be read", valid);
        let (success, duration) = (self.last_success.clone(), self.round_duration.clone());
        ours.register("last_success_timestamp_seconds", "When a round last came to its end", success);
        ours.register("round_duration_seconds", "How long rounds took", duration);
    }

    /// A configuration is in force.
    pub(super) fn configured(&self) {
        self.config_valid.set(1);
        self.watching(0, 0);
    }

    /// So much is watched in all repositories.
    pub(super) fn watching(&self, images: usize, applications: usize) {
        self.images_watched.set(i64::try_from(images).unwrap_or(i64::MAX));
        self.applications_watched.set(i64::try_from(applications).unwrap_or(i64::MAX));
    }

    /// A configuration is broken, and an older one in force.
    pub(super) fn misconfigured(&self) {
        self.config_valid.set(0);
    }

    /// Something became of an image.
    pub(super) fn decided(&self, repository: &str, outcome: &'static str) {
        let labels = [("repository", repository.to_owned()), ("outcome", outcome.to_owned())];
        self.decisions.get_or_create(&labels).inc();
    }

    /// A round came to its end.
    pub(super) fn round(&self, repository: &str, summary: Summary, duration: Duration, now: Timestamp) {
        self.images_errors.inc_by(summary.errors as u64);
        self.last_success.get_or_create(&label(repository)).set(now.as_duration().as_secs_f64());
        self.over(repository, "completed", duration);
    }

    /// A server has taken commits with new versions of images.
    pub(super) fn pushed(&self, repository: &str, images: usize, commits: usize) {
        self.images_updated.inc_by(images as u64);
        self.commits.get_or_create(&label(repository)).inc_by(commits as u64);
    }

    /// A round failed as a whole.
    pub(super) fn failed_round(&self, repository: &str, duration: Duration) {
        self.over(repository, "failed", duration);
    }

    fn over(&self, repository: &str, result: &str, duration: Duration) {
        let labels = [("repository", repository.to_owned()), ("result", result.to_owned())];
        self.rounds.get_or_create(&labels).inc();
        self.round_duration.get_or_create(&label(repository)).observe(duration.as_secs_f64());
    }

    /// Registries were asked this much more.
    pub(super) fn traffic(&self, more: &BTreeMap<String, Traffic>) {
        for (registry, traffic) in more {
            let labels = [("registry", registry.clone())];
            self.registry_requests.get_or_create(&labels).inc_by(traffic.requests);
            self.registry_requests_failed.get_or_create(&labels).inc_by(traffic.failed);
            self.registry_requests_unchanged.get_or_create(&labels).inc_by(traffic.unchanged);
        }
    }

    /// All of it, in OpenMetrics' words.
    pub(super) fn page(&self) -> Page {
        let mut body = String::new();
        if encode(&mut body, &self.registry).is_err() {
            body.clear();
            // Writing to a String does not fail.
            let _ = writeln!(body, "the numbers cannot be written");
            return Page::text(503, &body);
        }
        Page { status: 200, content_type: CONTENT_TYPE, body }
    }
}

fn label(repository: &str) -> Label {
    [("repository", repository.to_owned())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_is_there_under_the_names_that_dashboards_know() {
        let metrics = Metrics::new();
        metrics.configured();
        metrics.watching(3, 2);
        metrics.decided("r", "current");
        metrics.decided("r", "changed");
        let summary = Summary { applications: 2, considered: 3, skipped: 0, updated: 1, errors: 1 };
        metrics.round("r", summary, Duration::from_secs(2), Timestamp::from_second(1_000).unwrap());
        metrics.pushed("r", 1, 1);
        metrics.failed_round("r", Duration::from_millis(1));
        let asked = Traffic { requests: 5, failed: 1, unchanged: 3 };
        metrics.traffic(&BTreeMap::from([("r.test".to_owned(), asked)]));
        metrics.misconfigured();
        let Page { status, body, .. } = metrics.page();
        assert_eq!(status, 200);
        for line in [
            "argocd_image_updater_applications_watched_total 2",
            "argocd_image_updater_images_watched_total 3",
            "argocd_image_updater_images_updated_total 1",
            "argocd_image_updater_images_errors_total 1",
            "argocd_image_updater_registry_requests_total{registry=\"r.test\"} 5",
            "argocd_image_updater_registry_requests_failed_total{registry=\"r.test\"} 1",
            "image_updater_registry_requests_unchanged_total{registry=\"r.test\"} 3",
            "image_updater_decisions_total{repository=\"r\",outcome=\"changed\"} 1",
            "image_updater_rounds_total{repository=\"r\",result=\"completed\"} 1",
            "image_updater_rounds_total{repository=\"r\",result=\"failed\"} 1",
            "image_updater_commits_total{repository=\"r\"} 1",
            "image_updater_config_valid 0",
            "image_updater_last_success_timestamp_seconds{repository=\"r\"} 1000.0",
            "image_updater_round_duration_seconds_count{repository=\"r\"} 2",
            "# EOF",
        ] {
            assert!(body.lines().any(|known| known == line), "{line} is not in\n{body}");
        }
    }
}

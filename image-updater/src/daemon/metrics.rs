//! Numbers for Prometheus. Those that Argo CD Image Updater has too have its names, so that its dashboards go on.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::atomic::AtomicU64;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use oci_registry::Traffic;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use super::http::Page;
use crate::change::Named;
use crate::round::OUTCOMES;

const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// From a round that finds nothing new to one that a slow registry holds up.
const SECONDS: [f64; 9] = [0.1, 0.5, 1.0, 2.5, 5.0, 15.0, 60.0, 300.0, 900.0];

type ByLabel = Family<[(&'static str, String); 1], Counter>;

type ByOutcome = Family<[(&'static str, String); 2], Counter>;

/// From a tag to its commit: with a webhook, with usual intervals, with a minimum age, after a weekend.
const LAGS: [f64; 12] =
    [5.0, 15.0, 60.0, 300.0, 900.0, 3_600.0, 14_400.0, 43_200.0, 86_400.0, 259_200.0, 604_800.0, 2_592_000.0];

/// Result label of a finished reconcile.
const COMPLETED: &str = "completed";
const FAILED: &str = "failed";
const RESULTS: [&str; 2] = [COMPLETED, FAILED];

/// By the repository that is written to.
type Label = [(&'static str, String); 1];

/// By the ImageUpdater that it is for, in Argo CD Image Updater's labels; none where there is no such resource.
type Resource = Vec<(&'static str, String)>;

/// The metrics.
#[derive(Debug)]
pub(crate) struct Metrics {
    registry: Registry,
    applications_watched: Family<Resource, Gauge>,
    images_watched: Family<Resource, Gauge>,
    images_updated: Family<Resource, Counter>,
    images_errors: Family<Resource, Counter>,
    /// The ImageUpdaters that are counted.
    resources: Mutex<BTreeSet<Named>>,
    api_requests: Counter,
    api_errors: Counter,
    leads: Gauge,
    lag: Histogram,
    registry_requests: ByLabel,
    registry_requests_failed: ByLabel,
    registry_requests_unchanged: ByLabel,
    registry_requests_saved: ByLabel,
    decisions: ByOutcome,
    rounds: ByOutcome,
    commits: ByLabel,
    webhook_requests: ByOutcome,
    config_valid: Gauge,
    last_success: Family<Label, Gauge<f64, AtomicU64>>,
    round_duration: Family<Label, Histogram, fn() -> Histogram>,
}

impl Metrics {
    /// Nothing has happened yet.
    pub(crate) fn new() -> Self {
        let mut metrics = Self {
            registry: Registry::default(),
            applications_watched: Family::default(),
            images_watched: Family::default(),
            images_updated: Family::default(),
            images_errors: Family::default(),
            resources: Mutex::default(),
            api_requests: Counter::default(),
            api_errors: Counter::default(),
            leads: Gauge::default(),
            lag: Histogram::new(LAGS),
            registry_requests: ByLabel::default(),
            registry_requests_failed: ByLabel::default(),
            registry_requests_unchanged: ByLabel::default(),
            registry_requests_saved: ByLabel::default(),
            decisions: ByOutcome::default(),
            rounds: ByOutcome::default(),
            commits: ByLabel::default(),
            webhook_requests: ByOutcome::default(),
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
        peer.register("registry_requests_failed", "Failed or rejected requests to registries", failed);
        let (requests, errors) = (self.api_requests.clone(), self.api_errors.clone());
        peer.register("k8s_api_requests", "Requests to the Kubernetes API", requests);
        peer.register("k8s_api_errors", "Failed or rejected requests to the Kubernetes API", errors);
        let ours = self.registry.sub_registry_with_prefix("image_updater");
        let (leads, lag) = (self.leads.clone(), self.lag.clone());
        ours.register("leader", "Whether this replica is the one that writes", leads);
        ours.register("tag_to_commit_seconds", "How long after an image was made it was committed", lag);
        let unchanged = self.registry_requests_unchanged.clone();
        ours.register("registry_requests_unchanged", "Requests answered by: nothing has changed", unchanged);
        let saved = self.registry_requests_saved.clone();
        ours.register("registry_requests_saved", "Requests that what is kept here made needless", saved);
        ours.register("decisions", "What became of images, in all rounds", self.decisions.clone());
        ours.register("rounds", "Rounds, by whether they came to their end", self.rounds.clone());
        ours.register("commits", "Commits that were pushed", self.commits.clone());
        let told = self.webhook_requests.clone();
        ours.register("webhook_requests", "Webhook requests by type and result", told);
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

    /// So much is watched in all repositories that no ImageUpdater asks for.
    pub(super) fn watching(&self, images: usize, applications: usize) {
        self.watch(None, images, applications);
    }

    /// So many applications and images are watched for each ImageUpdater that there is. What was counted of others goes.
    pub(crate) fn watched_for(&self, counts: &BTreeMap<&Named, (usize, usize)>) {
        let mut known = self.resources.lock().unwrap_or_else(PoisonError::into_inner);
        for gone in known.iter().filter(|resource| !counts.contains_key(resource)) {
            let labels = resource(Some(gone));
            self.applications_watched.remove(&labels);
            self.images_watched.remove(&labels);
            self.images_updated.remove(&labels);
            self.images_errors.remove(&labels);
        }
        *known = counts.keys().map(|resource| (*resource).clone()).collect();
        drop(known);
        for (resource, (applications, images)) in counts {
            self.watch(Some(resource), *images, *applications);
        }
    }

    fn watch(&self, of: Option<&Named>, images: usize, applications: usize) {
        let (labels, number) = (resource(of), |number| i64::try_from(number).unwrap_or(i64::MAX));
        self.images_watched.get_or_create(&labels).set(number(images));
        self.applications_watched.get_or_create(&labels).set(number(applications));
    }

    /// The Kubernetes API was asked something.
    pub(crate) fn asked_api(&self, is_error: bool) {
        self.api_requests.inc();
        if is_error {
            self.api_errors.inc();
        }
    }

    /// Returns whether this replica is the one that writes.
    pub(super) fn leads(&self, leads: bool) {
        self.leads.set(leads.into());
    }

    /// An image was committed so long after it was made.
    pub(super) fn lag(&self, lag: Duration) {
        self.lag.observe(lag.as_secs_f64());
    }

    /// A repository is none of ours any more, and what was counted of it goes.
    pub(super) fn dismissed(&self, repository: &str) {
        let with = |name, value: &str| [("repository", repository.to_owned()), (name, value.to_owned())];
        for outcome in OUTCOMES {
            self.decisions.remove(&with("outcome", outcome));
        }
        for result in RESULTS {
            self.rounds.remove(&with("result", result));
        }
        self.commits.remove(&label(repository));
        self.last_success.remove(&label(repository));
        self.round_duration.remove(&label(repository));
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
    pub(super) fn round(&self, repository: &str, duration: Duration, now: Timestamp) {
        self.last_success.get_or_create(&label(repository)).set(now.as_duration().as_secs_f64());
        self.over(repository, COMPLETED, duration);
    }

    /// Images were brought up to date, and images failed, for an ImageUpdater or for none.
    pub(super) fn images(&self, of: Option<&Named>, updated: usize, errors: usize) {
        let known = self.resources.lock().unwrap_or_else(PoisonError::into_inner);
        // What is gone comes into being no more.
        if of.is_some_and(|of| !known.contains(of)) {
            return;
        }
        self.images_updated.get_or_create(&resource(of)).inc_by(updated as u64);
        self.images_errors.get_or_create(&resource(of)).inc_by(errors as u64);
    }

    /// A server has taken commits with new versions of images.
    pub(super) fn pushed(&self, repository: &str, commits: usize) {
        self.commits.get_or_create(&label(repository)).inc_by(commits as u64);
    }

    /// A round failed as a whole.
    pub(super) fn failed_round(&self, repository: &str, duration: Duration) {
        self.over(repository, FAILED, duration);
    }

    fn over(&self, repository: &str, result: &str, duration: Duration) {
        let labels = [("repository", repository.to_owned()), ("result", result.to_owned())];
        self.rounds.get_or_create(&labels).inc();
        self.round_duration.get_or_create(&label(repository)).observe(duration.as_secs_f64());
    }

    /// Something was told by a webhook, of a kind unless that is not known.
    pub(super) fn told(&self, kind: Option<&'static str>, outcome: &'static str) {
        let labels = [("type", kind.unwrap_or("unknown").to_owned()), ("outcome", outcome.to_owned())];
        self.webhook_requests.get_or_create(&labels).inc();
    }

    /// Registries were asked this much more.
    pub(super) fn traffic(&self, more: &BTreeMap<String, Traffic>) {
        for (registry, traffic) in more {
            let labels = [("registry", registry.clone())];
            self.registry_requests.get_or_create(&labels).inc_by(traffic.requests);
            self.registry_requests_failed.get_or_create(&labels).inc_by(traffic.failed);
            self.registry_requests_unchanged.get_or_create(&labels).inc_by(traffic.unchanged);
            self.registry_requests_saved.get_or_create(&labels).inc_by(traffic.saved);
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
        Page { content_type: CONTENT_TYPE, ..Page::text(200, &body) }
    }
}

fn resource(of: Option<&Named>) -> Resource {
    let labels = |of: &Named| {
        vec![("image_updater_cr_name", of.name.clone()), ("image_updater_cr_namespace", of.namespace.clone())]
    };
    of.map(labels).unwrap_or_default()
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
        metrics.round("r", Duration::from_secs(2), Timestamp::from_second(1_000).unwrap());
        metrics.images(None, 1, 1);
        metrics.pushed("r", 1);
        metrics.asked_api(false);
        metrics.asked_api(true);
        metrics.leads(true);
        metrics.lag(Duration::from_secs(30));
        metrics.failed_round("r", Duration::from_millis(1));
        let asked = Traffic { requests: 5, failed: 1, unchanged: 3, saved: 7 };
        metrics.traffic(&BTreeMap::from([("r.test".to_owned(), asked)]));
        metrics.misconfigured();
        metrics.told(None, "unknown");
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
            "image_updater_registry_requests_saved_total{registry=\"r.test\"} 7",
            "image_updater_decisions_total{repository=\"r\",outcome=\"changed\"} 1",
            "argocd_image_updater_k8s_api_requests_total 2",
            "argocd_image_updater_k8s_api_errors_total 1",
            "image_updater_leader 1",
            "image_updater_tag_to_commit_seconds_bucket{le=\"15.0\"} 0",
            "image_updater_tag_to_commit_seconds_bucket{le=\"60.0\"} 1",
            "image_updater_rounds_total{repository=\"r\",result=\"completed\"} 1",
            "image_updater_rounds_total{repository=\"r\",result=\"failed\"} 1",
            "image_updater_commits_total{repository=\"r\"} 1",
            "image_updater_webhook_requests_total{type=\"unknown\",outcome=\"unknown\"} 1",
            "image_updater_config_valid 0",
            "image_updater_last_success_timestamp_seconds{repository=\"r\"} 1000.0",
            "image_updater_round_duration_seconds_count{repository=\"r\"} 2",
            "# EOF",
        ] {
            assert!(body.lines().any(|known| known == line), "{line} is not in\n{body}");
        }
    }

    #[test]
    fn an_image_updater_is_counted_for_itself_and_goes_with_its_numbers() {
        let (one, other) = (named("one"), named("other"));
        let metrics = Metrics::new();
        metrics.watched_for(&BTreeMap::from([(&one, (2, 3)), (&other, (0, 0))]));
        metrics.images(Some(&one), 1, 0);
        metrics.images(Some(&named("gone")), 1, 0);
        let labels = |name: &str| {
            format!("{{image_updater_cr_name=\"{name}\",image_updater_cr_namespace=\"argocd\"}}")
        };
        let body = metrics.page().body;
        for line in [
            format!("argocd_image_updater_applications_watched_total{} 2", labels("one")),
            format!("argocd_image_updater_images_watched_total{} 3", labels("one")),
            format!("argocd_image_updater_images_updated_total{} 1", labels("one")),
            format!("argocd_image_updater_images_errors_total{} 0", labels("one")),
            format!("argocd_image_updater_applications_watched_total{} 0", labels("other")),
        ] {
            assert!(body.lines().any(|known| known == line), "{line} is not in\n{body}");
        }
        assert!(!body.contains(&labels("gone")));
        metrics.watched_for(&BTreeMap::from([(&other, (0, 0))]));
        let body = metrics.page().body;
        assert!(!body.contains(&labels("one")) && body.contains(&labels("other")), "{body}");
    }

    #[test]
    fn a_repository_goes_with_its_numbers() {
        let metrics = Metrics::new();
        metrics.decided("r", "held");
        metrics.round("r", Duration::from_secs(2), Timestamp::UNIX_EPOCH);
        metrics.failed_round("r", Duration::from_secs(2));
        metrics.pushed("r", 1);
        assert!(metrics.page().body.contains("repository=\"r\""));
        metrics.dismissed("r");
        let body = metrics.page().body;
        assert!(!body.contains("repository=\"r\""), "{body}");
    }

    fn named(name: &str) -> Named {
        Named { namespace: "argocd".to_owned(), name: name.to_owned() }
    }
}

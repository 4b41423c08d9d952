//! The log of the daemon on standard error, as text or JSON: at `info` a line for every image in every reconcile, at
//! `debug` why each tag was chosen or not. Fields are named as in Argo CD Image Updater.
//!
//! Only what is said here is shown. What the libraries below have to say is not, for it may hold what nobody is to read.

use diagnostic::{Error, ErrorKind, Result};
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use clap::ValueEnum;
use oci_registry::Repository;
use tracing::level_filters::LevelFilter;
use tracing::{Level, debug, error, info, warn};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::change::Named;
use crate::decision::Decision;
use crate::deliver::{Delivered, Written};
use crate::report::visible;
use crate::round::{Outcome, Report};
use crate::webhook::{self, News, Received, Refusal};

/// Lines of log, as text or as JSON.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LogFormat {
    /// For people
    Text,
    /// For machines
    Json,
}

/// The log level.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LogLevel {
    /// Errors
    Error,
    /// Warnings, too
    Warn,
    /// Decisions, too
    Info,
    /// Why each tag was chosen or not, too
    #[value(alias = "trace")]
    Debug,
}

/// The counts of a reconcile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Summary {
    pub(super) applications: usize,
    pub(super) considered: usize,
    pub(super) skipped: usize,
    pub(super) updated: usize,
    pub(super) errors: usize,
}

/// Has what is said go to standard error, once for the process.
///
/// # Errors
/// If it goes somewhere already.
pub(crate) fn start_logs(format: LogFormat, level: LogLevel) -> Result<()> {
    let level = match level {
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Debug => LevelFilter::DEBUG,
    };
    let ours = Targets::new().with_target(env!("CARGO_CRATE_NAME"), level);
    let layer = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_target(false);
    let started = match format {
        LogFormat::Text => tracing_subscriber::registry().with(ours).with(layer).try_init(),
        LogFormat::Json => {
            let layer = layer.json().flatten_event(true).with_current_span(false).with_span_list(false);
            tracing_subscriber::registry().with(ours).with(layer).try_init()
        }
    };
    started.map_err(|error| Error::new(ErrorKind::Environment, format!("cannot log: {error}")))
}

/// Returns true if anybody is told why a tag was chosen or not.
pub(super) fn tells_reasons() -> bool {
    tracing::enabled!(Level::DEBUG)
}

pub(super) fn listening(address: SocketAddr) {
    info!(%address, "answers /healthz, /readyz and /metrics");
}

/// Webhooks are heard; those of these kinds, by whether their senders have to prove themselves.
pub(super) fn hearing(address: SocketAddr, has_tls: bool, kinds: impl Iterator<Item = (&'static str, bool)>) {
    let (proven, believed): (Vec<_>, Vec<_>) = kinds.partition(|(_, is_proven)| *is_proven);
    let names = |kinds: Vec<(&'static str, bool)>| {
        let names: Vec<&str> = kinds.into_iter().map(|(name, _)| name).collect();
        names.join(" ")
    };
    info!(%address, tls = has_tls, types = names(proven), "answers /webhook");
    if !believed.is_empty() {
        warn!(types = names(believed), "these webhooks are accepted from anyone: no secret is set");
    }
}

/// Logs a webhook request and its result.
pub(super) fn told(received: &Received, outcome: &str) {
    let webhook = received.kind;
    match &received.news {
        News::Nothing => debug!(webhook, "{outcome}"),
        News::Images(images) => {
            for image in images {
                let (image_name, image_registry) = (image.repository.name(), image.repository.registry());
                let image_tag = image.tag.as_deref();
                let image_digest = image.digest.as_deref().map(visible);
                info!(webhook, image_name, image_registry, image_tag, image_digest, "{outcome}");
            }
        }
        News::Push(push) => {
            let (branch, commit) = (visible(&push.branch), push.commit.as_deref().map(visible));
            // Which one it is, somebody else says, and there may be a password in it.
            let repository = push.addresses.first().map(|address| visible(&diagnostic::redact(address)));
            info!(webhook, repository, branch, commit, "{outcome}");
        }
    }
}

/// Something was told that is not taken. Nothing of it is shown.
pub(super) fn not_told(refusal: &Refusal) {
    let (webhook, reason) = (refusal.kind, refusal.reason);
    match refusal.outcome {
        webhook::Outcome::Unknown => debug!(webhook, reason, "{}", refusal.outcome.as_str()),
        outcome => warn!(webhook, reason, "{}", outcome.as_str()),
    }
}

/// Another certificate is in use.
pub(super) fn certificate(path: &Path) {
    info!(path = %path.display(), "uses a newer certificate");
}

pub(super) fn stopping(signal: i32) {
    info!(signal, "stops");
}

pub(super) fn failure(message: &str) {
    error!("{}", visible(message));
}

/// A configuration is in force.
pub(super) fn configured(repository: &str, images: usize, applications: usize) {
    info!(images, applications, repository, "works by this configuration");
}

/// An error with what it concerns.
pub(super) fn error(repository: Option<&str>, error: &Error, what: &str) {
    let (place, hint) = (error.location().map(ToString::to_string), error.get_hint().map(visible));
    error!(error = visible(error.message()), place, hint, repository, "{what}");
}

/// Logs a warning about a repository.
pub(super) fn warning(repository: &str, warning: &Error) {
    let (place, hint) = (warning.location().map(ToString::to_string), warning.get_hint().map(visible));
    warn!(place, hint, repository, "{}", visible(warning.message()));
}

/// The server of a repository is not checked, as its account says so.
pub(crate) fn unchecked(url: &str) {
    let repository = diagnostic::redact(url);
    warn!(%repository, "the Secret of the repository says `insecure`: neither certificates nor host keys are checked");
}

/// Logs the result for an image. Results of an ImageUpdater have the fields of Argo CD Image Updater's log.
pub(super) fn report(repository: &str, report: &Report) {
    let image = report.image.parse::<Repository>().ok();
    let image_registry = image.as_ref().map(Repository::registry);
    let image_name = image.as_ref().map_or(report.image.as_str(), Repository::name);
    let image_alias = Some(report.name.as_str()).filter(|name| *name != report.image);
    let application = report.application.as_ref().map(ToString::to_string);
    let updater = report.image_updater();
    let (logger, controller) = updater.map(|_| ("reconcile", "imageupdater")).unzip();
    let [updater_name, updater_namespace] =
        [|updater: &Named| updater.name.clone(), |updater: &Named| updater.namespace.clone()]
            .map(|part| updater.map(part));
    let Became { image_tag, image_digest, held_from, from, reason, error, place, hint } =
        Became::of(&report.outcome);
    let outcome = report.outcome.as_str();
    macro_rules! say {
        ($say:ident, {$($field:tt)*}, $($words:tt)*) => {
            $say!(
                logger, controller, imageUpdater_name = updater_name, imageUpdater_namespace = updater_namespace,
                image_name, image_alias, image_registry, application, repository, $($field)* $($words)*
            )
        };
    }
    for warning in &report.warnings {
        say!(warn, {}, "{}", visible(warning));
    }
    match report.outcome {
        Outcome::Failed(_) => say!(error, {error, place, hint,}, "{outcome}"),
        _ => say!(info, {image_tag, image_digest, held_from, from, reason,}, "{outcome}"),
    }
}

/// The fields of a result besides its name.
#[derive(Debug, Default)]
struct Became {
    image_tag: Option<String>,
    image_digest: Option<String>,
    held_from: Option<String>,
    from: Option<String>,
    reason: Option<String>,
    error: Option<String>,
    place: Option<String>,
    hint: Option<String>,
}

impl Became {
    fn of(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Suspended => Self::default(),
            Outcome::Current(version) => Self::at(version),
            Outcome::NoChoice(reason) => Self { reason: Some(reason.clone()), ..Self::default() },
            Outcome::Held { at, version } => Self { held_from: Some(version.clone()), ..Self::at(at) },
            Outcome::Changed(change) => Self {
                image_tag: change.new.tag.clone(),
                image_digest: change.new.digest.clone(),
                from: Some(change.old.full()),
                reason: Some(visible(&change.reason)),
                ..Self::default()
            },
            Outcome::Failed(failure) => Self {
                error: Some(visible(failure.message())),
                place: failure.location().map(ToString::to_string),
                hint: failure.get_hint().map(visible),
                ..Self::default()
            },
        }
    }

    /// A version as it stands behind an image's name.
    fn at(version: &str) -> Self {
        let (tag, digest) =
            version.split_once('@').map_or((version, None), |(tag, digest)| (tag, Some(digest)));
        let some = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        Self { image_tag: some(tag), image_digest: digest.and_then(some), ..Self::default() }
    }
}

/// Why each tag was chosen or not.
pub(super) fn reasons(repository: &str, decision: &Decision) {
    for verdict in &decision.decisions {
        let (image, image_tag, rule) = (&decision.image, &verdict.tag, verdict.rule);
        let reason = visible(&verdict.reason);
        debug!(image, image_tag, rule, reason, repository, "{}", verdict.verdict.as_str());
    }
}

/// Logs a push and the requests to the forge.
pub(super) fn delivered(repository: &str, delivered: &Delivered) {
    if let Some(tip) = &delivered.pushed {
        let commits = delivered.commits.len();
        info!(branch = tip.branch, commit = %tip.commit, commits, repository, "pushed");
    }
    let patched = delivered.written.iter().filter(|written| written.commit.is_none());
    for Written { change, .. } in patched {
        let (image, version) = (&change.image, change.new.full());
        let application = change.application.as_ref().map(ToString::to_string);
        info!(application, image, version, repository, "patched");
    }
    if let Some(request) = &delivered.request {
        info!(url = request.url, repository, "pull request {}", request.action.as_str());
        request.warnings.iter().for_each(|warning| warn!(repository, "{}", visible(&warning.to_string())));
    }
}

/// Logs the summary of a reconcile, as Argo CD Image Updater does.
pub(super) fn summary(repository: &str, summary: Summary, duration: Duration) {
    let Summary { applications, considered, skipped, updated, errors } = summary;
    let seconds = duration.as_secs_f64();
    info!(
        seconds,
        repository,
        "Processing results: applications={applications} images_considered={considered} \
         images_skipped={skipped} images_updated={updated} errors={errors}"
    );
}

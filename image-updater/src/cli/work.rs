//! The common part of `check` and `update`: the configuration, registry answers, and output.

use diagnostic::{Error, Result};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use jiff::Timestamp;
use oci_registry::Repository;
use serde::Serialize;

use super::Format;
use super::discovery::{Discovered, discover};
use super::import;
use super::question::{clock, parse_time};
use super::reach::Reach;
use crate::cluster::Cluster;
use crate::commits::BatchPlanner;
use crate::config::{Config, Registry};
use crate::deliver::{Failed, preview};
use crate::files::{Folder, NoFiles};
use crate::gate::Gate;
use crate::look::Look;
use crate::registries::{self, SharedClient};
use crate::round::{Outcome, Plan, Report, Round};
use crate::tags::{Tag, from_json};
use crate::work::Files;
use crate::{diff, input, output, progress, report, table};

/// A list of tags that was read once is good for all that a command does.
const ONE_RUN: Duration = Duration::from_secs(3_600);

#[derive(Args, Debug)]
pub(super) struct WorkFlags {
    /// The configuration
    #[arg(short, long, value_name = "FILE", default_value = "image-updater.yaml")]
    config: PathBuf,
    /// Take what is written for Flux or Argo CD Image Updater in this file or folder, instead of a configuration; may be
    /// repeated
    #[arg(long = "in", value_name = "PATH", conflicts_with = "config")]
    within: Vec<PathBuf>,
    /// Only images of these names
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Tags that were recorded, instead of registries: a JSON object of images and their lists of tags
    #[arg(long, value_name = "FILE")]
    tags_from: Option<PathBuf>,
    /// The time to reckon ages from, instead of the clock's
    #[arg(long, value_name = "RFC3339")]
    now: Option<String>,
    /// Ask registries for everything, whatever was asked before
    #[arg(long)]
    no_cache: bool,
    /// Output format
    #[arg(short, long, value_name = "FORMAT", default_value = "table")]
    pub(super) output: Format,
}

/// A document of a configuration with what is needed to work it off.
pub(super) struct Work {
    pub(super) config: Config,
    pub(super) client: Arc<SharedClient>,
    pub(super) recorded: Option<Recorded>,
    pub(super) now: Timestamp,
}

/// Tags that were recorded.
pub(super) type Recorded = HashMap<Repository, Vec<Tag>>;

impl WorkFlags {
    /// All that there is to do.
    pub(super) fn load_all(&self) -> Result<Loaded> {
        let now = self.now.as_deref().map_or_else(clock, parse_time)?;
        let (mut configs, faults) = self.configs(now)?;
        let has = |name: &String| {
            let updates = configs.iter().flat_map(|config| &config.batch.updates);
            updates.into_iter().any(|update| update.name == *name)
        };
        if let Some(missing) = self.names.iter().find(|name| !has(name)) {
            let place = self.within.first().unwrap_or(&self.config).display();
            return Err(Error::invalid(format!("no image named `{missing}` in `{place}`")));
        }
        if !self.names.is_empty() {
            for config in &mut configs {
                config.batch.updates.retain(|update| self.names.contains(&update.name));
            }
            configs.retain(|config| !config.batch.updates.is_empty());
        }
        // Read once, as it may be standard input, and as all are worked off at one time.
        let recorded = self.tags_from.as_deref().map(recorded).transpose()?;
        let documents: Vec<&[Registry]> = configs.iter().map(|config| &*config.registries).collect();
        let cache = cache().filter(|_| !self.no_cache);
        let clients = registries::shared_clients(&documents, cache.as_deref(), ONE_RUN, None)?;
        let work = |(config, client)| Work { config, client, recorded: recorded.clone(), now };
        Ok(Loaded { works: configs.into_iter().zip(clients).map(work).collect(), faults })
    }

    fn configs(&self, now: Timestamp) -> Result<(Vec<Config>, Vec<Error>)> {
        if self.within.is_empty() {
            return Ok(discovered(Config::load_all(&self.config)?, now));
        }
        let found = import::find(&self.within, Path::to_owned)?;
        let config = |batch| Config::of_dialect(batch, found.registries.clone());
        Ok((found.batches.into_iter().map(config).collect(), found.faults))
    }
}

/// Documents with those that are discovered by them; what fails leaves out its own.
fn discovered(configs: Vec<Config>, now: Timestamp) -> (Vec<Config>, Vec<Error>) {
    let (mut all, mut faults) = (Vec::new(), Vec::new());
    for config in configs {
        if !config.discover.is_empty() {
            match discover(&config, None, now) {
                Ok(None) => {}
                Ok(Some(Discovered { found, .. })) => {
                    found.warnings.iter().for_each(|warning| report::warning(&warning.to_string()));
                    let batches = found.batches.into_iter();
                    all.extend(batches.map(|batch| config.with_found(batch, &found.registries)));
                    faults.extend(found.faults);
                }
                Err(error) => faults.push(error),
            }
        }
        if config.discover.is_empty() || !config.batch.updates.is_empty() {
            all.push(config);
        }
    }
    (all, faults)
}

/// Returns where what registries said is kept.
pub(super) fn cache() -> Option<PathBuf> {
    registries::cache_folder().map(|cache| cache.join("registries"))
}

/// The loaded work.
pub(super) struct Loaded {
    works: Vec<Work>,
    /// Errors of parts that are left out.
    faults: Vec<Error>,
}

impl Loaded {
    /// Has each worked off, and goes on where one fails. Gives what they planned and all that failed as a whole.
    pub(super) fn each(self, mut work: impl FnMut(&Work) -> Result<Plan, Failed>) -> (Plan, Vec<Error>) {
        let mut failed = self.faults;
        let mut plans = Vec::with_capacity(self.works.len());
        for one in &self.works {
            match progress::while_waiting("asking registries and servers", || work(one)) {
                Ok(plan) => plans.push(plan),
                Err(failure) => {
                    let (error, plan) = failure.into_parts();
                    failed.push(match one.config.batch.files {
                        Files::Folder(_) => error,
                        _ => error.prefix(one.repository_name()),
                    });
                    plans.push(plan);
                }
            }
        }
        (Plan::joined(plans), failed)
    }
}

/// Reads tags that were recorded.
///
/// # Errors
/// If they cannot be read.
pub(super) fn recorded(path: &Path) -> Result<Recorded> {
    let (text, name) = input::read_text(path)?;
    let lists: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&text).map_err(|error| {
        Error::invalid(format!("`{name}` holds no recorded tags: {error}"))
            .hint("write a JSON object of images and their lists of tags")
    })?;
    let mut recorded = HashMap::new();
    for (image, list) in lists {
        let repository: Repository = image.parse()?;
        recorded.insert(repository, from_json(&list.to_string(), &format!("{name}, `{image}`"))?);
    }
    Ok(recorded)
}

impl Work {
    /// Returns what is asked in one round.
    pub(super) fn look(&self) -> Look<'_> {
        self.recorded.clone().map_or_else(|| Look::new(&self.client.client).sparing(), Look::recorded)
    }

    /// Plans, without writing anything anywhere.
    pub(super) fn plan(&self) -> Result<Plan> {
        let look = self.look();
        let round = Round { look: &look, now: self.now, with_labels: false };
        match &self.config.batch.files {
            Files::Folder(folder) => Ok(round.plan(&self.config.batch, &Folder::new(folder))),
            Files::Nowhere => Ok(round.plan(&self.config.batch, &NoFiles)),
            Files::Remote { .. } | Files::Applications => {
                let batch = &self.config.batch;
                let planner = BatchPlanner { batch, round: &round };
                let gate = Gate::default();
                self.reach(None, false, &gate, self.now)?
                    .on_server(|server| preview(&planner, &batch.delivery, server))
            }
        }
    }

    /// Returns what the repository is called where there are several.
    pub(super) fn repository_name(&self) -> String {
        self.config.batch.files.to_string()
    }

    /// The repository to push to, and the branch that is read.
    ///
    /// # Errors
    /// If the configuration names none.
    pub(super) fn repository(&self) -> Result<(&str, Option<&str>)> {
        match &self.config.batch.files {
            Files::Remote { url, branch } => Ok((url, branch.as_deref())),
            _ => Err(Error::invalid("the configuration names no repository to push to")
                .hint("name one with `git.url`, or write the files here with `update --write`")),
        }
    }

    /// The server that it is on.
    ///
    /// # Errors
    /// If the configuration names none.
    pub(super) fn reach<'w>(
        &'w self,
        cluster: Option<&'w Cluster>,
        with_request: bool,
        gate: &'w Gate,
        now: Timestamp,
    ) -> Result<Reach<'w>> {
        let (url, branch) = self.repository()?;
        let (config, delivery) = (Some(&self.config), &self.config.batch.delivery);
        Ok(Reach { url, branch, delivery, config, cluster, with_request, gate, now })
    }
}

/// Returns what became of each image, for people or machines; nothing where all has failed before any image was looked at.
pub(super) fn print(plan: &Plan, failed: &[Error], format: Format, with_diff: bool) -> Result<()> {
    if plan.reports.is_empty() && !failed.is_empty() {
        return Ok(());
    }
    for report in &plan.reports {
        report.warnings.iter().for_each(|warning| report::warning(&format!("{}: {warning}", report.name)));
    }
    let text = match format {
        Format::Json => output::json(&plan.reports.iter().map(Line::of).collect::<Vec<_>>())?,
        Format::Table => {
            let mut text = String::new();
            if with_diff {
                for (path, change) in &plan.texts {
                    text.push_str(&diff::unified(path, &change.old, &change.new));
                }
            }
            text + &table::reports(plan.reports.iter().map(Line::of).map(Line::cells))
        }
    };
    output::to_stdout(&text)
}

/// Ends a command as what failed has it: each with its error, and 1.
pub(super) fn failures(plan: &Plan, mut failed: Vec<Error>) -> Result<()> {
    failed.extend(plan.reports.iter().filter_map(|report| match &report.outcome {
        Outcome::Failed(error) => Some(error.clone().prefix(&report.name)),
        _ => None,
    }));
    let mut failed = failed.into_iter();
    let Some(first) = failed.next() else { return Ok(()) };
    failed.for_each(|error| {
        report::error(&error);
    });
    Err(first)
}

/// The result for an image, in one line.
#[derive(Serialize)]
pub(super) struct Line<'p> {
    name: &'p str,
    image: &'p str,
    outcome: &'static str,
    from: Option<String>,
    to: Option<String>,
    reason: String,
    files: Vec<&'p str>,
}

impl<'p> Line<'p> {
    fn of(report: &'p Report) -> Self {
        let line = |from, to, reason: String| Self {
            name: &report.name,
            image: &report.image,
            outcome: report.outcome.as_str(),
            from,
            to,
            reason,
            files: Vec::new(),
        };
        match &report.outcome {
            Outcome::Suspended => line(None, None, "left alone for now".to_owned()),
            Outcome::Current(version) => line(Some(version.clone()), None, String::new()),
            Outcome::NoChoice(reason) => line(None, None, reason.clone()),
            Outcome::Held { at, version } => {
                let reason = "a person has set it back; it waits for another version".to_owned();
                line(Some(at.clone()), Some(version.clone()), reason)
            }
            Outcome::Changed(change) => {
                let mut files: Vec<&str> = change.edits.iter().map(|edit| edit.file.as_str()).collect();
                files.dedup();
                let to = Some(change.new.full());
                Self { files, ..line(Some(change.old.full()), to, change.reason.clone()) }
            }
            Outcome::Failed(error) => line(None, None, error.to_string()),
        }
    }

    fn cells(self) -> [String; 5] {
        let or_dash = |text: Option<String>| text.filter(|text| !text.is_empty()).unwrap_or("-".to_owned());
        [self.name.to_owned(), self.outcome.to_owned(), or_dash(self.from), or_dash(self.to), self.reason]
    }
}

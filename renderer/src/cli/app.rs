//! `renderer app`: what Argo CD would apply for Applications, without a cluster.

use std::path::{Path, PathBuf};

use argocd::objects;
use clap::Args;
use diagnostic::{Error, ErrorKind, Result};
use vfs::{FileKind, Files};

use super::argocd_flags::WorldFlags;
use crate::argocd::{ApplicationRenderer, CompletedCharts, Discovery, Found, KnownWorld, Outcome};
use crate::output;
use crate::render::{Event, Renderer, side_by_side};
use crate::report::Reporter;

const EXAMPLES: &str = "\
Examples:
  # what Argo CD would apply, with no more than this checkout
  renderer app argocd/applications/web-prod.yaml

  # by its name, wherever in the repository it is
  renderer app web-prod

  # with what is known of clusters, projects and other repositories
  renderer app web-prod --context ci/renderer-context.yaml

  # without what Argo CD writes on objects, to compare with the cluster
  renderer app web-prod --tracking none | kubectl diff -f -";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Files with Applications, or names of Applications in this repository: `NAME` or `NAMESPACE/NAME`
    #[arg(value_name = "FILE|NAME", required = true)]
    applications: Vec<String>,

    /// The format of the manifests
    #[arg(short, long, value_name = "FORMAT", default_value = "yaml")]
    output: super::Format,

    #[command(flatten)]
    world: WorldFlags,
}

pub(super) fn run(arguments: &Arguments, reporter: &mut Reporter) -> Result<()> {
    let config = arguments.world.config(arguments.applications.iter().map(Path::new), reporter);
    let strict = config.strict;
    let disk = config.disk();
    let working_directory = disk.working_directory();
    let world = KnownWorld::load(arguments.world.context.as_deref(), working_directory, &disk)?;
    let renderer = Renderer::new(config.reading(world.checkouts()));
    let found = find(&arguments.applications, working_directory, &world, renderer.files())?;
    let overrides = arguments.world.overrides(world.is_default);
    let applications = ApplicationRenderer {
        renderer: &renderer,
        world: &world,
        overrides: &overrides,
        charts: CompletedCharts::default(),
    };
    let mut outcomes: Vec<Option<Outcome>> = found.iter().map(|_| None).collect();
    let jobs = super::jobs(None, found.len());
    let work = |_: usize, found: &Found| applications.render(&found.application);
    side_by_side(&found, jobs, work, |event| {
        if let Event::Done(number, outcome) = event {
            outcomes[number] = Some(outcome);
        }
    })?;
    let mut rendered = Vec::new();
    let mut failed = false;
    for (outcome, found) in outcomes.into_iter().flatten().zip(&found) {
        outcome.warnings.report(reporter);
        let accepted = if strict { outcome.warnings.refuse() } else { Ok(()) };
        match accepted.and(outcome.rendered) {
            Ok(of_application) => rendered.extend(of_application.objects),
            Err(error) => {
                failed = true;
                reporter.application_error(&error, &found.application.name.value);
            }
        }
    }
    if failed {
        return Ok(());
    }
    output::to_stdout(&match arguments.output {
        super::Format::Yaml => objects::to_yaml(&rendered)?,
        super::Format::Json => objects::to_json(&rendered)?,
    })
}

/// The Applications that are named.
pub(super) fn find(
    names: &[String],
    working_directory: &Path,
    world: &KnownWorld,
    files: &dyn Files,
) -> Result<Vec<Found>> {
    let mut found = Vec::new();
    // What is below this folder is meant before what is elsewhere in the repository.
    let folders = [working_directory, world.root.as_path()];
    let mut searched: Vec<Vec<Found>> = Vec::new();
    for name in names {
        let path = PathBuf::from(name);
        if matches!(files.resolve(&path), Ok((_, FileKind::File))) {
            let mut discovery = Discovery::default();
            discovery.file(&path, files)?;
            if let Some(error) = discovery.errors.into_iter().next() {
                return Err(error);
            }
            found.extend(discovery.found);
            continue;
        }
        found.push(named(name, &folders, &mut searched, files)?);
    }
    refuse_twins(&found)?;
    Ok(found)
}

/// The Application of a name in the first of some folders that has one; each is looked through once.
fn named(name: &str, folders: &[&Path], searched: &mut Vec<Vec<Found>>, files: &dyn Files) -> Result<Found> {
    for (at, folder) in folders.iter().enumerate() {
        if searched.len() == at {
            let mut discovery = Discovery::default();
            discovery.folder(folder, files)?;
            searched.push(discovery.found);
        }
        if let Some(found) = by_name(name, &searched[at])? {
            return Ok(found.clone());
        }
    }
    let error = Error::new(
        ErrorKind::Invalid,
        format!("no file `{name}` and no Application of that name found in the repository"),
    );
    let known = searched.iter().flatten().map(|found| found.application.name.value.as_str());
    Err(match known.min_by_key(|known| strsim::levenshtein(known, name)) {
        Some(near) if strsim::levenshtein(near, name) <= 3 => error.hint(format!("did you mean `{near}`?")),
        _ => error.hint("Applications that others make are found by `renderer apps --name`"),
    })
}

fn by_name<'f>(name: &str, all: &'f [Found]) -> Result<Option<&'f Found>> {
    let is_it = |found: &&Found| {
        let application = &found.application;
        application.name.value == name
            || name.split_once('/') == Some((application.namespace.as_str(), application.name.value.as_str()))
    };
    let matching: Vec<&Found> = all.iter().filter(is_it).collect();
    match matching.as_slice() {
        [] => Ok(None),
        [only] => Ok(Some(only)),
        [first, second, ..] => Err(twins(first, second)),
    }
}

/// Two Applications with one name are one to Argo CD.
fn refuse_twins(found: &[Found]) -> Result<()> {
    let mut seen = std::collections::HashMap::new();
    for each in found {
        let application = &each.application;
        if let Some(first) = seen.insert(application.instance_name(), each) {
            return Err(twins(first, each));
        }
    }
    Ok(())
}

/// That two Applications have one name.
fn twins(first: &Found, second: &Found) -> Error {
    let name = &second.application.name;
    let error = Error::new(ErrorKind::Invalid, format!("there are two Applications `{}`", name.value))
        .at(second.application.place(name.span));
    match first.application.place(first.application.name.span) {
        Some(place) => error.hint(format!("the other is at {place}: remove one, or give it another name")),
        None => error.hint("give one of them another name"),
    }
}

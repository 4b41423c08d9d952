//! `renderer appset`: what ApplicationSets generate, without a cluster.

use std::collections::HashMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use argocd::appset::{self, World};
use argocd::objects::{self, Object, instance_name};
use clap::{Args, Subcommand, ValueEnum};
use diagnostic::{Error, ErrorKind, Result};
use vfs::{Disk, Files, MAX_FILE_SIZE};
use yamltree::Source;

use crate::argocd::{KnownWorld, readable};
use crate::chart;
use crate::output;
use crate::report::Reporter;

pub(super) const EXAMPLES: &str = "\
Examples:
  # the Applications of a set, in a checkout of the repositories that it reads
  renderer appset generate argocd/appsets/web.yaml --context ci/renderer-context.yaml

  # their names alone, of all sets of a folder
  renderer appset generate argocd/appsets/*.yaml --context ci/renderer-context.yaml -o name

  # what a change makes of them
  renderer appset generate web.yaml --context context.yaml -o json | jq '.[].spec.source.targetRevision'

  # what a chart makes of a set
  renderer helm template sets charts/sets | renderer appset generate - --context context.yaml";

#[derive(Subcommand, Debug)]
pub(super) enum Command {
    /// Print the Applications that ApplicationSets generate
    #[command(after_help = EXAMPLES)]
    Generate(Arguments),
}

#[derive(Args, Debug)]
pub(super) struct Arguments {
    /// Files with ApplicationSets, whose other documents are passed over; `-` is standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,

    /// The context file: where repositories are, clusters, projects, and what generators that need a network would find;
    /// `renderer-context.yaml` by default, and without one this repository alone
    #[arg(long, value_name = "CONTEXT")]
    context: Option<PathBuf>,

    /// Read no file outside of DIR [default: the git work tree of the working directory]
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,

    /// The format
    #[arg(short, long, value_name = "FORMAT", default_value = "yaml")]
    output: Format,

    /// Fail where there is a warning
    #[arg(long)]
    strict: bool,

    /// Print no warnings
    #[arg(short, long)]
    quiet: bool,
}

/// A format, as typed.
#[derive(ValueEnum, Clone, Copy, Debug)]
enum Format {
    Yaml,
    Json,
    /// `application.argoproj.io/NAME`, one a line
    Name,
}

pub(super) fn run(command: &Command, reporter: &mut Reporter) -> Result<()> {
    let Command::Generate(arguments) = command;
    reporter.set_quiet(arguments.quiet);
    let named = arguments.files.iter().map(PathBuf::as_path);
    let disk = Disk::confined(readable(arguments.root.as_deref(), arguments.context.as_deref(), named)?);
    let known = KnownWorld::load(arguments.context.as_deref(), disk.working_directory(), &disk)?;
    let random = chart::random();
    let world = World {
        context: &known.context,
        repositories: &known.repositories,
        files: &disk,
        any_cluster: known.is_default,
        templates: gotemplate::Options { now: chart::now(), random: Some(&random), ..Default::default() },
    };
    let mut sets = Vec::new();
    for file in &arguments.files {
        sets.extend(read_sets(&disk, file)?);
    }
    let mut applications = Vec::new();
    let mut failed = false;
    for set in &sets {
        let generated = appset::generate(set, &world);
        reporter.warnings(&generated.warnings);
        let name = set.name();
        for error in generated.errors {
            failed = true;
            reporter.application_set_error(&error, name);
        }
        if let Some(warning) = generated.warnings.first().filter(|_| arguments.strict) {
            failed = true;
            let error = Error::new(ErrorKind::Invalid, "there are warnings, and `--strict` allows none");
            reporter.application_set_error(&error.at(warning.location.clone()), name);
        }
        applications.extend(generated.applications);
    }
    refuse_twins(&applications)?;
    if failed {
        return Ok(());
    }
    applications.sort_by(|one, other| (one.name(), one.namespace()).cmp(&(other.name(), other.namespace())));
    output::to_stdout(&match arguments.output {
        Format::Yaml => objects::to_yaml(&applications)?,
        Format::Json => objects::to_json(&applications)?,
        Format::Name => {
            applications.iter().map(|it| format!("application.argoproj.io/{}\n", it.name())).collect()
        }
    })
}

/// Two sets that generate one Application take turns at changing it.
fn refuse_twins(applications: &[Object]) -> Result<()> {
    let mut seen: HashMap<String, &Object> = HashMap::new();
    for application in applications {
        let name = instance_name(application.namespace(), application.name());
        if let Some(first) = seen.insert(name, application) {
            let sentence = format!("two ApplicationSets generate an Application `{}`", application.name());
            let error = Error::new(ErrorKind::Invalid, sentence).at(application.place());
            let first = first.place().map(|place| format!("the other is at {place}"));
            return Err(error.hint(first.unwrap_or_default()));
        }
    }
    Ok(())
}

/// The ApplicationSets of a file.
fn read_sets(disk: &Disk, path: &Path) -> Result<Vec<Object>> {
    let text = if path == Path::new("-") { read_standard_input()? } else { read_file(disk, path)? };
    let name = if path == Path::new("-") { "standard input".to_owned() } else { path.display().to_string() };
    let source = Arc::new(Source { name, text: text.into() });
    let mut sets = objects::read(&source)?;
    sets.retain(appset::is_application_set);
    if sets.is_empty() {
        let sentence = format!("no ApplicationSet found in `{}`", source.name);
        return Err(Error::new(ErrorKind::Invalid, sentence)
            .hint("an ApplicationSet has `apiVersion: argoproj.io/v1alpha1` and `kind: ApplicationSet`"));
    }
    Ok(sets)
}

fn read_file(disk: &Disk, path: &Path) -> Result<String> {
    let cannot = |reason: String| {
        Error::new(ErrorKind::Invalid, format!("cannot read `{}`: {reason}", path.display()))
    };
    let (real, _) = disk.resolve(path).map_err(|error| cannot(error.to_string()))?;
    let bytes = disk.read(&real).map_err(|error| cannot(error.to_string()))?;
    let text = yamltree::decode(&bytes, 0).map_err(|error| cannot(error.message().to_owned()))?;
    Ok(text.into_owned())
}

fn read_standard_input() -> Result<String> {
    let mut text = String::new();
    // One byte more than is allowed shows that there are more.
    let read = io::stdin().lock().take(MAX_FILE_SIZE + 1).read_to_string(&mut text);
    read.map_err(|error| Error::new(ErrorKind::Invalid, format!("cannot read standard input: {error}")))?;
    Ok(text)
}

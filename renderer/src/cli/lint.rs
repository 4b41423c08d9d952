//! `renderer lint`: what will go wrong with manifests and Applications.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use argocd::application::Overrides;
use clap::{Args, ValueEnum};
use diagnostic::{Error, ErrorKind, Result};
use findings::Severity;
use goregex::Regex;
use manifest_lint::{Check, Options, RULES};
use vfs::Disk;

use super::findings::{FindingFormat, Verdict};
use super::flags::BuildFlags;
use crate::argocd::{KnownWorld, readable};
use crate::chart_target::ChartOptions;
use crate::config::Config;
use crate::linting::Linting;
use crate::output;
use crate::render::Renderer;
use crate::report::Reporter;

const EXAMPLES: &str = "\
Examples:
  # all Applications of a repository, and what they render to
  renderer lint

  # overlays, charts, and what something else rendered
  renderer lint overlays/prod charts/web
  helm template web charts/web | renderer lint -

  # for a pull request
  renderer lint -o github --fail-on error

  # what a rule is about
  renderer lint --explain LINT001

A finding that is meant is suppressed where it is, by a comment on the line or right above, or by an annotation of the
object:
  # renderer-lint: ignore LINT005 the vendor has no other tag
  renderer/lint-ignore: LINT004, LINT005";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Kustomizations, charts, files and folders with Applications or other manifests; `-` is standard input, and without
    /// any it is this folder
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// The format of what is found
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    output: FindingFormat,

    /// Fail where there is a finding of this severity or a worse one
    #[arg(long, value_name = "SEVERITY", default_value = "warning")]
    fail_on: Threshold,

    /// Leave out a rule, by its code or name (repeatable)
    #[arg(long, value_name = "CODE", value_delimiter = ',')]
    disable: Vec<String>,

    /// Print the rules
    #[arg(long, conflicts_with_all = ["paths", "explain"])]
    rules: bool,

    /// Print what a rule is about, and what to do about what it finds
    #[arg(long, value_name = "CODE", conflicts_with = "paths")]
    explain: Option<String>,

    /// Regular expression that matches the names of production projects
    #[arg(long, value_name = "REGEX", default_value = Options::PRODUCTION)]
    production: String,

    /// The context file: repositories, clusters, projects and settings; `renderer-context.yaml` by default
    #[arg(long, value_name = "FILE")]
    context: Option<PathBuf>,

    /// The version of Kubernetes, in place of the clusters'; the newest that is known by default
    #[arg(long, value_name = "VERSION")]
    kube_version: Option<String>,

    /// An API version that clusters have beside Kubernetes' own (repeatable)
    #[arg(long, value_name = "API", value_delimiter = ',')]
    api_versions: Vec<String>,

    /// A file or folder with CustomResourceDefinitions that clusters have (repeatable)
    #[arg(long, value_name = "PATH")]
    crds: Vec<PathBuf>,

    /// Number of Applications to render at a time [default: number of processors]
    #[arg(short, long, value_name = "N")]
    jobs: Option<NonZeroUsize>,

    #[command(flatten)]
    flags: BuildFlags,
}

/// A severity, as typed.
#[derive(ValueEnum, Clone, Copy, Debug)]
enum Threshold {
    Error,
    Warning,
    Note,
}

pub(super) fn run(arguments: &Arguments, reporter: &mut Reporter) -> Result<()> {
    if arguments.rules {
        return output::to_stdout(&table());
    }
    if let Some(code) = &arguments.explain {
        return output::to_stdout(&explanation(rule(code)?));
    }
    let disabled = arguments.disable.iter().map(|code| rule(code)).collect::<Result<Vec<_>>>()?;
    let production = Regex::new(&arguments.production).map_err(|error| {
        Error::new(ErrorKind::Usage, format!("invalid regular expression in `--production`: {error}"))
    })?;
    let named = arguments.paths.iter().chain(&arguments.crds).map(PathBuf::as_path);
    let roots = readable(arguments.flags.root.as_deref(), arguments.context.as_deref(), named)?;
    let renderer = Renderer::new(config(arguments, reporter)?.confined_to(Some(roots))).with_places();
    let disk = Disk::new();
    let world = KnownWorld::load(arguments.context.as_deref(), disk.working_directory(), renderer.files())?;
    let overrides = Overrides {
        tracking: None,
        kube_version: arguments.kube_version.clone(),
        api_versions: (!arguments.api_versions.is_empty()).then(|| arguments.api_versions.clone()),
        any_cluster: world.is_default,
    };
    let jobs = NonZeroUsize::new(super::jobs(arguments.jobs, usize::MAX)).unwrap_or(NonZeroUsize::MIN);
    let linting = Linting { renderer: &renderer, world, overrides, jobs };
    let options = Options {
        kube_version: arguments.kube_version.clone(),
        api_versions: arguments.api_versions.clone(),
        production,
    };
    let gathered = linting.gather(&arguments.paths, &arguments.crds, options)?;
    gathered.errors.iter().for_each(|(error, target)| reporter.error(error, Some(target)));
    gathered.notices.iter().for_each(|notice| reporter.notice(notice));
    let is_enabled = |check: &Check| !disabled.iter().any(|off| off.rule == check.rule);
    let mut findings = manifest_lint::lint(&gathered.set, is_enabled);
    gathered.place(&mut findings);
    let mut verdict = Verdict::default();
    let mut findings = findings.into_iter().peekable();
    for target in &gathered.set.targets {
        let mut own = Vec::new();
        while let Some(finding) = findings.next_if(|finding| finding.target == target.name) {
            own.push(finding);
        }
        verdict.add(&target.name, own);
    }
    verdict.print(arguments.output, reporter)?;
    verdict.fail_from(arguments.fail_on.into(), reporter);
    Ok(())
}

fn config(arguments: &Arguments, reporter: &mut Reporter) -> Result<Config> {
    let flags = &arguments.flags;
    let charts = ChartOptions {
        kube_version: arguments.kube_version.clone().or_else(|| flags.helm_kube_version.clone()),
        api_versions: arguments.api_versions.iter().chain(&flags.helm_api_versions).cloned().collect(),
        include_crds: true,
        ..ChartOptions::default()
    };
    Ok(Config { charts, ..Config::new(flags, reporter)? })
}

fn rule(name: &str) -> Result<&'static Check> {
    manifest_lint::find(name).ok_or_else(|| {
        let error = Error::new(ErrorKind::Usage, format!("unknown rule `{name}`"));
        error.hint("`renderer lint --rules` prints all of them")
    })
}

/// A line for each rule.
fn table() -> String {
    let width = RULES.iter().map(|check| check.rule.name.len()).max().unwrap_or(0);
    let line = |check: &Check| {
        let rule = check.rule;
        format!("{}  {:width$}  {}\n", rule.code, rule.name, rule.meaning)
    };
    RULES.iter().map(line).collect()
}

fn explanation(check: &Check) -> String {
    let Check { rule, fix, .. } = check;
    let (code, name) = (rule.code, rule.name);
    format!(
        "{code} {name}\n\n{}\n\nWhat to do: {fix}.\n\nWhere it is meant:\n  # renderer-lint: ignore {code} REASON    on the line, or right above\n  renderer/lint-ignore: {code}             an annotation of the object\n  --disable {code}                         nowhere\n",
        rule.meaning
    )
}

impl From<Threshold> for Severity {
    fn from(threshold: Threshold) -> Self {
        match threshold {
            Threshold::Error => Self::Error,
            Threshold::Warning => Self::Warning,
            Threshold::Note => Self::Note,
        }
    }
}

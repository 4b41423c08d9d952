//! `renderer helm lint`: what is wrong with charts, or not as it should be.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use diagnostic::{Error, ErrorKind, Result};
use helm_lite::lint::Severity;
use helm_lite::{HelmVersion, KubeVersion};

use super::values::ValueFlags;
use crate::chart;
use crate::chart::lint::{Linting, is_archive};
use crate::output;
use crate::report::Reporter;

pub(super) const EXAMPLES: &str = "\
Examples:
  # a chart, and with the values that it is installed with
  renderer helm lint charts/web
  renderer helm lint charts/web -f envs/prod.yaml --strict

  # all charts of a repository, only what is not as it should be
  renderer helm lint charts/* --quiet";

/// Folders nest no deeper in `charts/`; a link could lead round in a circle.
const MAX_DEPTH: usize = 64;

#[derive(Args, Debug)]
#[command(mut_args = super::flags::go_switch)]
pub(in crate::cli) struct Arguments {
    /// The charts: folders or archives
    #[arg(value_name = "CHART", required = true)]
    charts: Vec<PathBuf>,

    #[command(flatten)]
    values: ValueFlags,

    /// Fail where there is a warning
    #[arg(long)]
    strict: bool,

    /// Look at the charts in `charts/` too
    #[arg(long)]
    with_subcharts: bool,

    /// Print only warnings and errors
    #[arg(short, long)]
    quiet: bool,

    /// Do not check values against the chart's schemas
    #[arg(long)]
    skip_schema_validation: bool,

    /// The cluster's version, which decides what is deprecated
    #[arg(long, value_name = "VERSION")]
    kube_version: Option<String>,

    /// The release's namespace
    #[arg(short, long, value_name = "NAMESPACE")]
    namespace: Option<String>,
}

pub(super) fn run(arguments: &Arguments, reporter: &mut Reporter) -> Result<()> {
    reporter.set_quiet(arguments.quiet);
    let kube_version = match arguments.kube_version.as_deref() {
        None | Some("") => KubeVersion::default(),
        Some(text) => KubeVersion::read(text, HelmVersion::V4)
            .map_err(|error| error.prefix(format_args!("invalid kube version '{text}'")))?,
    };
    let mut charts = arguments.charts.clone();
    if arguments.with_subcharts {
        for chart in &arguments.charts {
            subcharts(&chart.join("charts"), &mut charts, 0);
        }
    }
    let user = chart::user_values(&arguments.values.given(), HelmVersion::V4)?;
    let mut warnings = user.warnings.clone();
    let linting = Linting {
        user: &user,
        namespace: arguments.namespace.as_deref().unwrap_or("default"),
        kube_version: &kube_version,
        checks_schemas: !arguments.skip_schema_validation,
    };
    let mut report = Report { arguments, text: String::new(), failed: 0, noted: 0 };
    for chart in &charts {
        report.chart(chart, linting.messages(chart, &mut warnings));
    }
    reporter.warnings(&warnings);
    report.finish(charts.len())
}

/// The charts somewhere below a folder, those in a folder before those beside it, as Go walks it.
fn subcharts(folder: &Path, charts: &mut Vec<PathBuf>, depth: usize) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut names: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.file_name())).collect();
    names.sort();
    for name in names {
        let path = folder.join(&name);
        let is_folder = fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_dir());
        if name == "Chart.yaml" {
            charts.push(folder.to_owned());
        } else if is_archive(&path) {
            charts.push(path.clone());
        }
        if is_folder && depth < MAX_DEPTH {
            subcharts(&path, charts, depth + 1);
        }
    }
}

/// The report of all charts.
struct Report<'r> {
    arguments: &'r Arguments,
    text: String,
    failed: usize,
    /// Number of messages above the level of information.
    noted: usize,
}

impl Report<'_> {
    fn chart(&mut self, path: &Path, linted: Result<Vec<helm_lite::lint::Message>>) {
        let worst = match &linted {
            Ok(messages) => messages.iter().map(|message| message.severity).max(),
            Err(_) => Some(Severity::Error),
        };
        let is_noted = worst > Some(Severity::Info);
        self.noted += usize::from(is_noted);
        let least = if self.arguments.strict { Severity::Warning } else { Severity::Error };
        self.failed += usize::from(worst >= Some(least));
        if self.arguments.quiet && !is_noted {
            return;
        }
        let _ = writeln!(self.text, "==> Linting {}", path.display());
        match linted {
            Ok(messages) => {
                let shown = messages
                    .iter()
                    .filter(|message| !self.arguments.quiet || message.severity > Severity::Info);
                for message in shown {
                    let _ = writeln!(self.text, "{message}");
                }
            }
            Err(error) => {
                let _ = writeln!(self.text, "Error {}", error.message());
            }
        }
        self.text.push('\n');
    }

    fn finish(mut self, charts: usize) -> Result<()> {
        let summary = format!("{charts} chart(s) linted, {} chart(s) failed", self.failed);
        if self.failed == 0 && (!self.arguments.quiet || self.noted > 0) {
            let _ = writeln!(self.text, "{summary}");
        }
        output::to_stdout(&self.text)?;
        if self.failed == 0 { Ok(()) } else { Err(Error::new(ErrorKind::Invalid, summary)) }
    }
}

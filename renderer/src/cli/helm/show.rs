//! `renderer helm show`: what a chart says of itself.

use clap::{Args, Subcommand};
use diagnostic::Result;
use helm_lite::HelmVersion;
use helm_lite::show::{self, Part};

use super::flags::{self, GlobalFlags};
use super::source::{AccessFlags, HomeFlags, SourceFlags};
use crate::output;
use crate::report::Reporter;

pub(super) const EXAMPLES: &str = "\
Examples:
  # the values that can be given
  renderer helm show values charts/web > values.yaml

  # name, version and dependencies
  renderer helm show chart web-1.2.3.tgz

  # the README of a chart in a registry
  renderer helm show readme oci://registry.example.com/charts/web --version 1.2.3";

#[derive(Subcommand, Debug)]
#[command(defer = true)]
pub(in crate::cli) enum Command {
    /// All of it: metadata, values, README and CRDs
    All(Arguments),
    /// Its metadata
    Chart(Arguments),
    /// Its CRDs
    Crds(Arguments),
    /// Its README
    Readme(Arguments),
    /// Its values
    Values(Arguments),
}

#[derive(Args, Debug)]
#[command(mut_args = flags::go_switch)]
pub(in crate::cli) struct Arguments {
    /// The chart: a folder, an archive, or as for `helm pull`
    chart: String,

    #[command(flatten)]
    source: SourceFlags,

    #[command(flatten)]
    access: AccessFlags,

    #[command(flatten)]
    home: HomeFlags,

    #[command(flatten)]
    global: GlobalFlags,

    /// Leave out warnings
    #[arg(short, long)]
    quiet: bool,
}

pub(super) fn run(command: &Command, reporter: &mut Reporter) -> Result<()> {
    let (part, arguments) = match command {
        Command::All(arguments) => (Part::All, arguments),
        Command::Chart(arguments) => (Part::Chart, arguments),
        Command::Crds(arguments) => (Part::Crds, arguments),
        Command::Readme(arguments) => (Part::Readme, arguments),
        Command::Values(arguments) => (Part::Values, arguments),
    };
    reporter.set_quiet(arguments.quiet);
    let Arguments { chart, source, access, home, .. } = arguments;
    let chart = source.locate(chart, access, home, reporter)?.load(HelmVersion::V4)?;
    reporter.warnings(&chart.warnings);
    output::bytes_to_stdout(&show::show(&chart, part))
}

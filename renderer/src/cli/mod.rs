//! The command line: what can be typed, and where each command goes.

mod app;
mod apps;
mod argocd_flags;
mod build;
mod cmp;
mod completion;
mod context;
mod findings;
pub(crate) mod flags;
mod helm;
mod kustomize;
mod man;
mod plan;
mod validate;
mod version;

use std::num::NonZeroUsize;
use std::process::ExitCode;
use std::thread;

use clap::{Parser, Subcommand, ValueEnum};

use crate::error::Result;
use crate::output;
use crate::report::Reporter;

/// Renders Kustomize overlays and Helm charts to Kubernetes manifests
#[derive(Parser, Debug)]
#[command(name = "renderer", version, disable_help_subcommand = true, args_override_self = true)]
#[command(arg_required_else_help = true, propagate_version = false)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
#[command(defer = true)]
enum Command {
    /// Render many targets, in parallel
    Build(build::Arguments),
    /// Commands as kustomize has them
    #[command(subcommand)]
    Kustomize(kustomize::Command),
    /// Commands as helm has them
    #[command(subcommand)]
    Helm(helm::Command),
    /// Show in which order Argo CD applies manifests
    Plan(plan::Arguments),
    /// Render Applications of Argo CD, without a cluster
    App(app::Arguments),
    /// Render all Applications of a repository, and those that they make
    Apps(apps::Arguments),
    /// Make the context file that Applications are rendered in
    #[command(subcommand)]
    Context(context::Command),
    /// Hold manifests against the schemas of Kubernetes and of CRDs
    Validate(validate::Arguments),
    /// Plugins of Argo CD
    #[command(subcommand)]
    Cmp(cmp::Command),
    /// Print a completion script for a shell
    Completion(completion::Arguments),
    /// Print a man page
    Man(man::Arguments),
    /// Print the version
    Version(version::Arguments),
}

/// A format of manifests, as typed.
#[derive(ValueEnum, Clone, Copy, Debug)]
enum Format {
    Yaml,
    Json,
}

impl From<Format> for output::Format {
    fn from(format: Format) -> Self {
        match format {
            Format::Yaml => Self::Yaml,
            Format::Json => Self::Json,
        }
    }
}

/// Runs the command that the process was started with.
#[must_use]
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    let mut reporter = Reporter::default();
    if let Err(error) = run(cli.command, &mut reporter) {
        reporter.error(&error, None);
    }
    reporter.exit_code()
}

fn run(command: Command, reporter: &mut Reporter) -> Result<()> {
    match command {
        Command::Build(arguments) => build::run(arguments, reporter),
        Command::Kustomize(kustomize::Command::Build(arguments)) => kustomize::build(&arguments, reporter),
        Command::Helm(command) => helm::run(command, reporter),
        Command::Plan(arguments) => plan::run(&arguments, reporter),
        Command::App(arguments) => app::run(&arguments, reporter),
        Command::Apps(arguments) => apps::run(&arguments, reporter),
        Command::Context(command) => context::run(&command, reporter),
        Command::Validate(arguments) => validate::run(&arguments, reporter),
        Command::Cmp(command) => cmp::run(command, reporter),
        Command::Completion(arguments) => completion::run(&arguments),
        Command::Man(arguments) => man::run(&arguments),
        Command::Version(arguments) => version::run(&arguments),
    }
}

/// How many targets are rendered at a time: as many as was said, or as there are processors.
fn jobs(said: Option<NonZeroUsize>, targets: usize) -> usize {
    match said {
        Some(jobs) => jobs.get(),
        None if targets > 1 => thread::available_parallelism().map_or(1, NonZeroUsize::get),
        None => 1,
    }
}

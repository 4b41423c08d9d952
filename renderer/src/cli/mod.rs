//! The command line: what can be typed, and where each command goes.

mod app;
mod apps;
mod appset;
mod argocd_flags;
mod build;
mod cmp;
mod completion;
mod context;
mod diff;
mod explain;
mod findings;
pub(crate) mod flags;
mod flux;
mod helm;
mod kustomize;
mod lint;
mod man;
mod plan;
pub(crate) mod program;
mod validate;
mod version;

use std::env;
use std::io::Write as _;
use std::num::NonZeroUsize;
use std::process::ExitCode;
use std::thread;

use clap::{CommandFactory, Parser, Subcommand, ValueEnum};
use diagnostic::Result;

use self::program::Program;
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
    /// Render what Flux rolls out, without a cluster
    #[command(subcommand)]
    Flux(flux::Command),
    /// Make the context file that Applications are rendered in
    #[command(subcommand)]
    Context(context::Command),
    /// Show what a change does to everything that the repository renders
    Diff(diff::Arguments),
    /// Hold manifests against the schemas of Kubernetes and of CRDs
    Validate(validate::Arguments),
    /// Find what will go wrong with manifests and Applications
    Lint(lint::Arguments),
    /// Say which lines made the fields of an object what they are
    Explain(Box<explain::Arguments>),
    /// Plugins of Argo CD
    #[command(subcommand)]
    Cmp(cmp::Command),
    /// Render ApplicationSets of Argo CD to Applications, without a cluster
    #[command(subcommand)]
    Appset(appset::Command),
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

/// Builds kustomizations and edits them
#[derive(Parser, Debug)]
#[command(name = "kustomize", args_override_self = true, arg_required_else_help = true)]
struct KustomizeCli {
    #[command(subcommand)]
    command: KustomizeCommand,

    /// No effect: an error says where it comes from
    #[arg(long, global = true, hide = true)]
    stack_trace: bool,
}

/// The commands under the name `kustomize`.
#[derive(Subcommand, Debug)]
enum KustomizeCommand {
    #[command(flatten)]
    Kustomize(kustomize::Command),
    /// Print a completion script for a shell
    Completion(completion::Arguments),
}

/// Renders charts and gets them from repositories and registries
#[derive(Parser, Debug)]
#[command(name = "helm", args_override_self = true, arg_required_else_help = true)]
struct HelmCli {
    #[command(subcommand)]
    command: HelmCommand,
}

/// The commands under the name `helm`.
#[derive(Subcommand, Debug)]
enum HelmCommand {
    #[command(flatten)]
    Helm(Box<helm::Command>),
    /// Print a completion script for a shell
    Completion(completion::Arguments),
}

/// Runs the command that the process was started with.
#[must_use]
pub fn main() -> ExitCode {
    let called = env::args_os().next().unwrap_or_default();
    let (program, name) = (Program::called(&called), program::name_of(&called));
    let mut reporter = Reporter::of(program);
    let done = match program {
        Program::Renderer => Cli::try_parse().map(|cli| run(cli.command, &mut reporter)),
        Program::Kustomize => KustomizeCli::try_parse().map(|cli| match cli.command {
            KustomizeCommand::Kustomize(command) => kustomize::run(command, &mut reporter),
            KustomizeCommand::Completion(arguments) => {
                completion::run(&arguments, KustomizeCli::command(), &name)
            }
        }),
        Program::Helm => HelmCli::try_parse().map(|cli| match cli.command {
            HelmCommand::Helm(command) => helm::run(*command, &mut reporter),
            HelmCommand::Completion(arguments) => completion::run(&arguments, HelmCli::command(), &name),
        }),
    };
    match done {
        Ok(Ok(())) => {}
        Ok(Err(error)) => reporter.error(&error, None),
        Err(message) => return said(program, &message, &name),
    }
    reporter.exit_code()
}

/// Prints what a command line gives instead of a command: help, a version, or what is wrong with it.
fn said(program: Program, message: &clap::Error, name: &str) -> ExitCode {
    use clap::error::ErrorKind::{DisplayHelp, DisplayHelpOnMissingArgumentOrSubcommand, DisplayVersion};
    let is_help = match message.kind() {
        DisplayHelp | DisplayVersion => true,
        // To Go's programs no command is a request for help.
        DisplayHelpOnMissingArgumentOrSubcommand => program.is_stand_in(),
        _ => false,
    };
    if is_help {
        let text = program.in_own_words(&message.render().ansi().to_string(), name);
        // Where nobody reads it, there is nothing else to do.
        let _ = anstream::stdout().write_all(text.as_bytes());
        return ExitCode::SUCCESS;
    }
    let _ = anstream::stderr().write_all(program.usage_error(message, name).as_bytes());
    ExitCode::from(if program.is_stand_in() { 1 } else { 2 })
}

fn run(command: Command, reporter: &mut Reporter) -> Result<()> {
    match command {
        Command::Build(arguments) => build::run(arguments, reporter),
        Command::Kustomize(command) => kustomize::run(command, reporter),
        Command::Helm(command) => helm::run(command, reporter),
        Command::Plan(arguments) => plan::run(&arguments, reporter),
        Command::App(arguments) => app::run(&arguments, reporter),
        Command::Apps(arguments) => apps::run(&arguments, reporter),
        Command::Context(command) => context::run(&command, reporter),
        Command::Diff(arguments) => diff::run(&arguments, reporter),
        Command::Validate(arguments) => validate::run(&arguments, reporter),
        Command::Lint(arguments) => lint::run(&arguments, reporter),
        Command::Explain(arguments) => explain::run(&arguments, reporter),
        Command::Cmp(command) => cmp::run(command, reporter),
        Command::Appset(command) => appset::run(&command, reporter),
        Command::Flux(command) => command.run(reporter),
        Command::Completion(arguments) => completion::run(&arguments, Cli::command(), "renderer"),
        Command::Man(arguments) => man::run(&arguments),
        Command::Version(arguments) => version::run(&arguments),
    }
}

/// Returns how many targets are rendered at a time: as many as was said, or as there are processors.
fn jobs(said: Option<NonZeroUsize>, targets: usize) -> usize {
    match said {
        Some(jobs) => jobs.get(),
        None if targets > 1 => thread::available_parallelism().map_or(1, NonZeroUsize::get),
        None => 1,
    }
}

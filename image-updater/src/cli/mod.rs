//! The command line: what can be typed, and where each command goes.

mod check;
#[cfg(feature = "kube")]
mod cluster_flags;
#[cfg(not(feature = "kube"))]
#[path = "no_cluster.rs"]
mod cluster_flags;
#[cfg(feature = "kube")]
mod cluster_jobs;
mod completion;
mod crds;
mod discovery;
mod environment;
mod explain;
mod holds;
mod import;
mod question;
mod reach;
mod registry_flags;
mod rounds;
mod run;
mod schema;
mod set;
mod test;
mod update;
mod version;
mod webhook_flags;
mod work;

use diagnostic::Result;
use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Parser, Subcommand, ValueEnum};

use crate::report;

/// Chooses image tags and writes them into config repositories
#[derive(Parser, Debug)]
#[command(name = "image-updater", version, disable_help_subcommand = true, args_override_self = true)]
#[command(arg_required_else_help = true, propagate_version = false)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
#[command(defer = true)]
enum Command {
    /// Try out which tag is chosen
    Test(Box<test::Arguments>),
    /// Write a version of an image into files
    Set(Box<set::Arguments>),
    /// Say for each tag why it is chosen or not
    Explain(Box<explain::Arguments>),
    /// Say what an update would change; 10 when something would
    Check(check::Arguments),
    /// Bring images up to date, in files or with a pushed commit
    Update(update::Arguments),
    /// Keep images up to date, round after round, until stopped
    Run(Box<run::Arguments>),
    /// List images that a person has set back, and that wait for another version
    Holds(holds::Arguments),
    /// Print a configuration made from what is written for Flux or Argo CD Image Updater
    Import(import::Arguments),
    /// Print the JSON schema of the configuration
    Schema(schema::Arguments),
    /// Print the CustomResourceDefinitions of what is looked for in a cluster
    Crds(crds::Arguments),
    /// Print a completion script for a shell
    Completion(completion::Arguments),
    /// Print the version
    Version(version::Arguments),
}

/// Commands whose options are part of the input, so that a wrong one is 1 as all that is wrong with it, not 2: a
/// policy that cannot be is the same fault in a flag as in a file.
const OPTIONS_ARE_INPUT: &[&str] = &["test", "set"];

/// The output format.
#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Format {
    /// For people
    #[default]
    Table,
    /// For machines
    Json,
}

/// Runs the command that the process was started with.
#[must_use]
pub fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let cli = match Cli::try_parse_from(&arguments) {
        Ok(cli) => cli,
        Err(error) => return refuse(&error, &arguments),
    };
    match run(cli.command) {
        Ok(code) => code,
        Err(error) => report::error(&error),
    }
}

fn run(command: Command) -> Result<ExitCode> {
    let done = match command {
        Command::Test(arguments) => test::run(*arguments),
        Command::Set(arguments) => set::run(&arguments),
        Command::Explain(arguments) => explain::run(*arguments),
        Command::Check(arguments) => return check::run(&arguments),
        Command::Update(arguments) => update::run(&arguments),
        Command::Run(arguments) => return run::run(*arguments),
        Command::Holds(arguments) => holds::run(&arguments),
        Command::Import(arguments) => import::run(&arguments),
        Command::Schema(arguments) => schema::run(&arguments),
        Command::Crds(arguments) => crds::run(&arguments),
        Command::Completion(arguments) => completion::run(&arguments),
        Command::Version(arguments) => version::run(&arguments),
    };
    done.map(|()| ExitCode::SUCCESS)
}

/// Prints what the argument parser says: help on standard output, what is wrong on standard error.
fn refuse(error: &clap::Error, arguments: &[OsString]) -> ExitCode {
    // Where nobody can be told, the exit code still says it.
    let _ = error.print();
    let command = arguments.get(1).and_then(|argument| argument.to_str());
    if !error.use_stderr() {
        ExitCode::SUCCESS
    } else if command.is_some_and(|command| OPTIONS_ARE_INPUT.contains(&command)) {
        ExitCode::from(1)
    } else {
        ExitCode::from(2)
    }
}

//! Commands as helm has them.

mod dependency;
mod explain_values;
pub(super) mod flags;
mod lint;
mod pull;
mod registry;
mod repo;
mod show;
mod source;
mod table;
mod talk;
mod template;
pub(super) mod values;
mod version;

use clap::Subcommand;
use diagnostic::Result;

use crate::report::Reporter;

#[derive(Subcommand, Debug)]
#[command(defer = true)]
pub(super) enum Command {
    /// Get, list and lock the charts that a chart depends on
    #[command(subcommand, visible_alias = "dep", alias = "dependencies")]
    Dependency(dependency::Command),
    /// Say where a value of a chart comes from
    #[command(after_help = explain_values::EXAMPLES)]
    ExplainValues(Box<explain_values::Arguments>),
    /// Look for what is wrong with charts, or not as it should be
    #[command(after_help = lint::EXAMPLES)]
    Lint(lint::Arguments),
    /// Get charts from repositories and registries
    #[command(after_help = pull::EXAMPLES, visible_alias = "fetch")]
    Pull(Box<pull::Arguments>),
    /// Log in to registries and out of them
    #[command(subcommand)]
    Registry(registry::Command),
    /// Add, list, remove and update repositories of charts
    #[command(subcommand)]
    Repo(repo::Command),
    /// Show what a chart says of itself
    #[command(subcommand, alias = "inspect", after_help = show::EXAMPLES)]
    Show(Box<show::Command>),
    /// Render a chart and print its manifests
    #[command(after_help = template::EXAMPLES)]
    Template(Box<template::Arguments>),
    /// Print the version of Helm that charts are rendered as
    #[command(after_help = version::EXAMPLES)]
    Version(version::Arguments),
}

pub(super) fn run(command: Command, reporter: &mut Reporter) -> Result<()> {
    match command {
        Command::Dependency(command) => dependency::run(&command),
        Command::ExplainValues(arguments) => explain_values::run(&arguments, reporter),
        Command::Lint(arguments) => lint::run(&arguments, reporter),
        Command::Pull(arguments) => pull::run(&arguments, reporter),
        Command::Registry(command) => registry::run(command, reporter),
        Command::Repo(command) => repo::run(command, reporter),
        Command::Show(command) => show::run(&command, reporter),
        Command::Template(arguments) => template::run(&arguments, reporter),
        Command::Version(arguments) => version::run(&arguments),
    }
}

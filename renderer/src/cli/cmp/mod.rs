//! `renderer cmp`: a plugin of Argo CD.

mod generate;
mod log;
mod server;
mod size;

use clap::Subcommand;
use diagnostic::Result;

use self::generate::Question;
use crate::report::Reporter;

#[derive(Subcommand, Debug)]
pub(super) enum Command {
    /// Serve the repo-server on a socket, instead of argocd-cmp-server
    Server(Box<server::Arguments>),
    /// Render the application in the working directory, started by argocd-cmp-server
    #[command(after_help = generate::GENERATE_EXAMPLES)]
    Generate(Box<generate::Arguments>),
    /// Announce the parameters of the application in the working directory, with their values so far
    #[command(after_help = generate::PARAMETERS_EXAMPLES)]
    Parameters(Box<generate::Arguments>),
    /// Print what the working directory is if it is a chart or a kustomization, and nothing if it is not
    #[command(after_help = generate::DISCOVER_EXAMPLES)]
    Discover(Box<generate::Arguments>),
}

pub(super) fn run(command: Command, reporter: &mut Reporter) -> Result<()> {
    match command {
        Command::Server(arguments) => server::run(&arguments, reporter),
        Command::Generate(arguments) => generate::run(Question::Manifests, &arguments, reporter),
        Command::Parameters(arguments) => generate::run(Question::Parameters, &arguments, reporter),
        Command::Discover(arguments) => generate::run(Question::Support, &arguments, reporter),
    }
}

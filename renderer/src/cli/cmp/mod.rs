//! `renderer cmp`: a plugin of Argo CD.

mod log;
mod server;
mod size;

use clap::Subcommand;

use crate::error::Result;
use crate::report::Reporter;

#[derive(Subcommand, Debug)]
pub(super) enum Command {
    /// Serve the repo-server on a socket, instead of argocd-cmp-server
    Server(Box<server::Arguments>),
}

pub(super) fn run(command: Command, reporter: &mut Reporter) -> Result<()> {
    match command {
        Command::Server(arguments) => server::run(&arguments, reporter),
    }
}

//! Argo CD's plugin: the engines behind the server and behind the commands that argocd-cmp-server runs.
//!
//! In: an application's folder, in a tree in memory or in a checkout, and what Argo CD says of the application. Out: its
//! objects and parameters. Nothing is read but the repository, and what was fetched for it.

mod confined;
mod fetched;
mod session;

use cmp_server::{Announcement, Failure, Generated, Generator, Request};
use vfs::Files;

use crate::config::Config;

pub(crate) use confined::{Confined, root};
pub(crate) use session::Session;

/// Renders applications as Argo CD's own repo-server would.
#[derive(Debug)]
pub(crate) struct Plugin {
    config: Config,
}

impl Plugin {
    pub(crate) fn new(config: Config) -> Self {
        Self { config }
    }

    fn session<'s>(&'s self, request: &'s Request<'_>, files: &'s dyn Files) -> Session<'s> {
        Session::new(&self.config, request.tree(), files, std::path::Path::new("/"), request.path())
    }
}

impl Generator for Plugin {
    fn version(&self) -> &str {
        env!("CARGO_PKG_VERSION")
    }

    fn generate(&self, request: &Request<'_>, files: &dyn Files) -> Result<Generated, Failure> {
        let variable = |name: &str| request.variable(name).map(str::to_owned);
        self.session(request, files).generate(&variable, &mut |_| {})
    }

    fn supports(&self, request: &Request<'_>, files: &dyn Files) -> Result<bool, Failure> {
        Ok(self.session(request, files).engine().is_some())
    }

    fn parameters(&self, request: &Request<'_>, files: &dyn Files) -> Result<Vec<Announcement>, Failure> {
        let variable = |name: &str| request.variable(name).map(str::to_owned);
        self.session(request, files).parameters(&variable)
    }
}

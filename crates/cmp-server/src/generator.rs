//! The seam to what renders: a request for an application of a tree, and what comes of it.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tonic::{Code, Status};
use vfs::Files;

use crate::messages::{EnvEntry, Metadata, ParameterAnnouncement};
use crate::trees::Tree;

/// The variables that differ from commit to commit. A result depends on one of them only where it was asked for.
pub(crate) const VOLATILE: [&str; 3] =
    ["ARGOCD_APP_REVISION", "ARGOCD_APP_REVISION_SHORT", "ARGOCD_APP_REVISION_SHORT_8"];

/// Maximum length of an error message: user interfaces show it, and it must fit into HTTP/2 headers.
const MAX_MESSAGE: usize = 2000;

/// Renders applications.
pub trait Generator: Send + Sync + 'static {
    /// The version of the engine.
    fn version(&self) -> &str;

    /// Renders an application of the given files; nothing else of the tree may be read. It is called on a thread with a
    /// deep stack.
    ///
    /// # Errors
    /// If the application is invalid.
    fn generate(&self, request: &Request<'_>, files: &dyn Files) -> Result<Generated, Failure>;

    /// Returns whether an application is one that it renders.
    ///
    /// # Errors
    /// If the application is invalid.
    fn supports(&self, request: &Request<'_>, files: &dyn Files) -> Result<bool, Failure>;

    /// The parameters that an application can have.
    ///
    /// # Errors
    /// If the application is invalid.
    fn parameters(&self, request: &Request<'_>, files: &dyn Files) -> Result<Vec<Announcement>, Failure>;
}

/// An application to render. What it is asked for is noted, so that a result is kept by what it depends on.
pub struct Request<'r> {
    path: PathBuf,
    metadata: &'r Metadata,
    tree: &'r Arc<Tree>,
    consulted: [AtomicBool; VOLATILE.len()],
}

/// The manifests of an application.
#[derive(Clone, Default)]
pub struct Generated {
    /// One object each, as compact JSON.
    pub manifests: Vec<String>,
    /// The detected type of the source.
    pub source_type: String,
    /// True if it was made of nothing but the request and the files, so that it may be kept.
    pub is_reproducible: bool,
    /// True if there may be no manifests. Otherwise that is an error, since Argo CD would prune all that there is of the
    /// application.
    pub may_be_empty: bool,
}

/// Why an application was not rendered: one short message that leads with the place, and has no secret value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    message: String,
    is_transient: bool,
}

/// A parameter that an application can have, as a form shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Announcement {
    /// Its name in the source.
    pub name: String,
    /// Its name for people.
    pub title: String,
    /// The description.
    pub tooltip: String,
    /// True if there has to be a value.
    pub is_required: bool,
    /// The type of a value; a string by default.
    pub item_type: String,
    /// `string`, `array` or `map`.
    pub collection_type: String,
    /// The value of a single one.
    pub string: String,
    /// The values of a list.
    pub array: Vec<String>,
    /// The values of a map.
    pub map: BTreeMap<String, String>,
}

impl<'r> Request<'r> {
    pub(crate) fn new(path: PathBuf, metadata: &'r Metadata, tree: &'r Arc<Tree>) -> Self {
        Self { path, metadata, tree, consulted: Default::default() }
    }

    /// The application's folder: a real path, the root of the tree being `/`.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A variable of Argo CD's; the last of a name counts.
    #[must_use]
    pub fn variable(&self, name: &str) -> Option<&'r str> {
        if let Some(number) = VOLATILE.iter().position(|volatile| *volatile == name) {
            self.consulted[number].store(true, Ordering::Relaxed);
        }
        value(self.metadata, name)
    }

    /// The variables whose names begin so, with the rest of their names, in order.
    #[must_use]
    pub fn variables(&self, prefix: &str) -> BTreeMap<&'r str, &'r str> {
        let entries = self.metadata.env.iter();
        let named =
            entries.filter_map(|entry| Some((entry.name.strip_prefix(prefix)?, entry.value.as_str())));
        let named: BTreeMap<_, _> = named.collect();
        for (number, volatile) in VOLATILE.iter().enumerate() {
            if volatile.starts_with(prefix) {
                self.consulted[number].store(true, Ordering::Relaxed);
            }
        }
        named
    }

    /// The whole tree, for what a generator keeps of files between requests. What a result is made of must be asked of
    /// the files that come with the request, or told to them by [`Files::record_reads`].
    #[must_use]
    pub fn tree(&self) -> Arc<dyn Files> {
        Arc::clone(self.tree) as Arc<dyn Files>
    }

    /// The variables that differ from commit to commit and that were asked for, by their places in [`VOLATILE`].
    pub(crate) fn consulted(&self) -> [bool; VOLATILE.len()] {
        self.consulted.each_ref().map(|consulted| consulted.load(Ordering::Relaxed))
    }
}

/// The last value of a variable.
pub(crate) fn value<'m>(metadata: &'m Metadata, name: &str) -> Option<&'m str> {
    let named = |entry: &&EnvEntry| entry.name == name;
    metadata.env.iter().rev().find(named).map(|entry| entry.value.as_str())
}

impl Failure {
    /// Something is wrong with the application.
    #[must_use]
    pub fn input(message: impl Into<String>) -> Self {
        Self { message: shortened(message.into()), is_transient: false }
    }

    /// Something else failed, and may not the next time.
    #[must_use]
    pub fn transient(message: impl Into<String>) -> Self {
        Self { message: shortened(message.into()), is_transient: true }
    }

    /// Returns true if it may not fail the next time.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        self.is_transient
    }

    pub(crate) fn empty(path: &Path) -> Self {
        let path = path.strip_prefix("/").unwrap_or(path);
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        Self::input(format!(
            "{}: no manifests were rendered, and Argo CD would delete all resources of the Application",
            path.display()
        ))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

impl From<Failure> for Status {
    fn from(failure: Failure) -> Self {
        let code = if failure.is_transient { Code::Unavailable } else { Code::InvalidArgument };
        Self::new(code, failure.message)
    }
}

/// A message that is no longer than it may be.
fn shortened(mut message: String) -> String {
    if message.len() > MAX_MESSAGE {
        message.truncate(message.floor_char_boundary(MAX_MESSAGE));
        message.push('…');
    }
    message
}

impl From<Announcement> for ParameterAnnouncement {
    fn from(announcement: Announcement) -> Self {
        let Announcement {
            name,
            title,
            tooltip,
            is_required,
            item_type,
            collection_type,
            string,
            array,
            map,
        } = announcement;
        Self { name, title, tooltip, required: is_required, item_type, collection_type, string, array, map }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_ends_at_a_character() {
        let long = "ä".repeat(MAX_MESSAGE);
        let status = Status::from(Failure::input(long));
        assert_eq!(status.message().len(), MAX_MESSAGE + '…'.len_utf8());
        assert_eq!(Status::from(Failure::transient("x")).code(), Code::Unavailable);
    }
}

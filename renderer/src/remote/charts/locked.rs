//! Charts that charts depend on, from repositories that Helm knows or that only the chart knows of.
//!
//! In: a name, a version or a range, a repository. Out: the archive in exactly that version, or the newest that fits.

use std::sync::Arc;

use diagnostic::{Error, ErrorKind, Result, redact};
use gotemplate::semver::Constraints;
use helm_lite::repository::Index;

use super::access::Access;
use super::repositories::Repository;
use super::{ChartSources, Pulled, address};

/// A chart that a chart depends on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Locked<'l> {
    pub(crate) name: &'l str,
    /// The version; to find the newest, it may be none.
    pub(crate) version: &'l str,
    /// The repository's address.
    pub(crate) url: &'l str,
    /// The repository, where Helm knows it.
    pub(crate) known: Option<&'l Repository>,
    /// By what it is asked otherwise.
    pub(crate) access: &'l Access,
    /// True if its server is asked for its index, if it is not a known one.
    pub(crate) is_fresh: bool,
}

impl ChartSources {
    /// A chart in exactly the version that a lock has, from a repository that is known or only by its address.
    ///
    /// # Errors
    /// As [`Self::pull`].
    pub(crate) fn pull_locked(&self, locked: &Locked<'_>) -> Result<Pulled> {
        self.find_locked(locked)
    }

    fn find_locked(&self, locked: &Locked<'_>) -> Result<Pulled> {
        let Locked { name, version, url, known, access, .. } = *locked;
        let index = self.index_of(locked)?;
        let none = || {
            let repo = redact(url);
            Error::new(ErrorKind::NotFound, format!("chart {name:?} version {version:?} not found in {repo}"))
        };
        let chart = index.locked(name, version).ok_or_else(none)?;
        let access = known.map_or_else(|| access.clone(), Repository::access);
        self.indexed(&format!("chart {name:?}"), chart, &address::parse(url)?, &access)
    }

    /// The newest version of a chart that fits, as its repository has it; nothing where none does.
    ///
    /// # Errors
    /// If there is no index, or no such chart in it.
    pub(crate) fn newest(&self, locked: &Locked<'_>, constraints: &Constraints) -> Result<Option<String>> {
        let index = self.index_of(locked)?;
        if index.versions(locked.name).is_none() {
            let (name, repo) = (locked.name, redact(locked.url));
            let sentence = format!("{name} chart not found in repo {repo}");
            return Err(Error::new(ErrorKind::Invalid, sentence));
        }
        Ok(index.newest(locked.name, constraints).map(|chart| chart.version.clone()))
    }

    fn index_of(&self, locked: &Locked<'_>) -> Result<Arc<Index>> {
        match locked.known {
            Some(known) => self.of_known(&known.name).map_err(|failure| {
                let name = &known.name;
                failure
                    .prefix(format_args!("no cached repository for {name} found. (try 'helm repo update')"))
            }),
            None if locked.is_fresh => self.index_at(locked.url, locked.access),
            None => self.kept_index(locked.url, locked.access),
        }
    }
}

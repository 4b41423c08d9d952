//! The charts in a chart's `charts/` folder, and the lock that says which they are: `helm dependency`.
//!
//! In: a chart's folder. Out: `charts/` with the archives of what it depends on, and `Chart.lock`. All of them are had
//! before anything changes, and each file is replaced whole. Refused: what Helm refuses, in its words.

mod fetch;
mod list;
mod origin;
mod resolve;

use std::fs;
use std::path::Path;

use gotemplate::time::{Time, Zone};
use helm_lite::{Chart, Dependency, HelmVersion, Lock};
use vfs::{FileKind, Files};

use crate::chart;
use crate::charts;
use crate::output;
use crate::remote::charts::repositories::Repositories;
use crate::remote::charts::{Access, ChartSources, Tls};
use diagnostic::{Error, ErrorKind, Result};
use fetch::Fetched;
pub(crate) use list::{Status, list};
use origin::Origin;

/// A time as Go writes it (`time.RFC3339Nano`).
const LAYOUT: &[u8] = b"2006-01-02T15:04:05.999999999Z07:00";

/// Receives progress messages, line by line.
pub(crate) type Say<'s> = &'s mut dyn FnMut(&str);

/// Keeps the dependencies of one chart.
#[derive(Debug)]
pub(crate) struct Manager<'m> {
    sources: &'m ChartSources,
    /// The chart's folder.
    folder: &'m Path,
    /// By what registries are asked.
    access: &'m Access,
    /// By what repositories are asked that only the chart knows of: an account is not for any host that a chart names.
    stranger: Access,
    /// True if the servers of repositories are asked for their indexes.
    refreshes: bool,
    known: Repositories,
    /// The files that charts are read from, and the folder that nothing outside of is read; the disk where there are none.
    repository: Option<(&'m dyn Files, &'m Path)>,
}

/// Dependencies that were resolved and had.
struct Resolved {
    /// As the chart declares them.
    declared: Vec<Dependency>,
    fetched: Fetched,
}

impl<'m> Manager<'m> {
    /// For the chart in a folder.
    ///
    /// # Errors
    /// A list of repositories that cannot be read.
    pub(crate) fn new(
        sources: &'m ChartSources,
        folder: &'m Path,
        access: &'m Access,
        refreshes: bool,
    ) -> Result<Self> {
        let known = Repositories::load(&sources.homes().repository_config)?.unwrap_or_default();
        let tls = Tls { certificate: None, key: None, ..access.tls.clone() };
        let stranger = Access { tls, ..Access::default() };
        Ok(Self { sources, folder, access, stranger, refreshes, known, repository: None })
    }

    /// The same for a chart in a repository, of which alone charts are read. Nothing can be written there.
    pub(crate) fn within(self, files: &'m dyn Files, root: &'m Path) -> Self {
        Self { repository: Some((files, root)), ..self }
    }

    /// The same as [`Self::update`] where a dependency is missing.
    ///
    /// # Errors
    /// The first thing that is wrong; nothing is changed then.
    pub(crate) fn update_missing(&self, say: Say<'_>) -> Result<()> {
        let chart = self.chart(self.folder)?;
        if chart.missing_dependencies().is_empty() { Ok(()) } else { self.update(say) }
    }

    /// Resolves the dependencies anew, gets them and locks them.
    ///
    /// # Errors
    /// The first thing that is wrong; nothing is changed then.
    pub(crate) fn update(&self, say: Say<'_>) -> Result<()> {
        let chart = self.load()?;
        let Some(Resolved { declared, fetched }) = self.resolve_anew(&chart, say)? else { return Ok(()) };
        let lock = Lock::new(&declared, fetched.resolved.clone());
        let is_new = chart.lock.as_ref().is_none_or(|old| old.digest != lock.digest);
        let lock_file = self.lock_file(&chart);
        if is_new {
            refuse_link(&lock_file)?;
        }
        fetched.write(self.folder, say)?;
        if is_new {
            let generated = Time::unix(chart::now(), Zone::local("UTC")).format(LAYOUT);
            output::put(&lock_file, lock.text(&String::from_utf8_lossy(&generated)).as_bytes())?;
        }
        Ok(())
    }

    /// Gets what the lock says; resolves anew where there is none.
    ///
    /// # Errors
    /// The first thing that is wrong, a lock that does not fit first of all; nothing is changed then.
    pub(crate) fn build(&self, say: Say<'_>) -> Result<()> {
        let chart = self.load()?;
        match &chart.lock {
            None => self.update(say),
            Some(lock) => self.fetch_locked(&chart, lock, say)?.write(self.folder, say),
        }
    }

    /// The charts that [`Self::build`] would write archives of. Nothing is written.
    ///
    /// # Errors
    /// As [`Self::build`].
    pub(crate) fn charts(&self, say: Say<'_>) -> Result<Vec<Chart>> {
        let chart = self.load()?;
        let fetched = match &chart.lock {
            None => self.resolve_anew(&chart, say)?.map(|resolved| resolved.fetched),
            Some(lock) => Some(self.fetch_locked(&chart, lock, say)?),
        };
        fetched.map_or(Ok(Vec::new()), Fetched::charts)
    }

    fn resolve_anew(&self, chart: &Chart, say: Say<'_>) -> Result<Option<Resolved>> {
        if !chart.metadata.declares_dependencies() {
            return Ok(None);
        }
        let mut declared = chart.metadata.dependencies.clone();
        let origins = self.origins(&mut declared)?;
        self.refresh_strangers(&origins, say)?;
        self.refresh_known(say);
        let resolved = self.resolve(&declared, &origins)?;
        let fetched = self.fetch(&resolved, &origins, say)?;
        Ok(Some(Resolved { declared, fetched }))
    }

    fn fetch_locked(&self, chart: &Chart, lock: &Lock, say: Say<'_>) -> Result<Fetched> {
        let mut declared = chart.metadata.dependencies.clone();
        let is_of_helm2 = is_v1(chart) && lock.fits_as_of_helm2(&declared);
        self.origins(&mut declared)?;
        if !lock.fits(&declared) && !is_of_helm2 {
            return Err(stale(chart));
        }
        let mut resolved = lock.dependencies.clone().unwrap_or_default();
        self.refuse_strangers(&resolved)?;
        let origins = self.origins(&mut resolved)?;
        self.refresh_known(say);
        self.fetch(&resolved, &origins, say)
    }

    fn load(&self) -> Result<Chart> {
        let folder = self.folder;
        let missing = |error| input(format!("could not find {}: {error}", folder.display()));
        let is_folder = match self.repository {
            Some((files, _)) => files.resolve(folder).map_err(missing)?.1 == FileKind::Directory,
            None => fs::metadata(folder).map_err(missing)?.is_dir(),
        };
        if !is_folder {
            return Err(input("only unpacked charts can be updated"));
        }
        self.chart(folder)
    }

    fn chart(&self, path: &Path) -> Result<Chart> {
        match self.repository {
            Some((files, root)) => charts::load_within(files, path, Some(root), HelmVersion::V4),
            None => charts::load(path, HelmVersion::V4),
        }
    }

    fn lock_file(&self, chart: &Chart) -> std::path::PathBuf {
        self.folder.join(if is_v1(chart) { "requirements.lock" } else { "Chart.lock" })
    }

    /// Gets the indexes of all repositories that Helm knows; one that cannot be had may not be needed.
    fn refresh_known(&self, say: Say<'_>) {
        if !self.refreshes || self.known.list.is_empty() {
            return;
        }
        say("Hang tight while we grab the latest from your chart repositories...");
        self.sources.refresh_all(&self.known.list.iter().collect::<Vec<_>>(), say);
        say("Update Complete. ⎈Happy Helming!⎈");
    }

    fn refresh_strangers(&self, origins: &[Origin<'_>], say: Say<'_>) -> Result<()> {
        let mut urls: Vec<&str> = Vec::new();
        for origin in origins {
            if let Origin::Stranger(url) = origin
                && !urls.contains(&url.as_str())
            {
                urls.push(url);
            }
        }
        if !self.refreshes || urls.is_empty() {
            return Ok(());
        }
        say("Getting updates for unmanaged Helm repositories...");
        for url in urls {
            self.sources.check_index(url, &self.stranger)?;
            let url = diagnostic::redact(url);
            say(&format!("...Successfully got an update from the {url:?} chart repository"));
        }
        Ok(())
    }
}

fn is_v1(chart: &Chart) -> bool {
    chart.metadata.api_version == "v1"
}

fn stale(chart: &Chart) -> Error {
    if is_v1(chart) {
        return input(
            "the lock file (requirements.lock) is out of sync with the dependencies file (requirements.yaml). Please \
             update the dependencies",
        );
    }
    input(
        "the lock file (Chart.lock) is out of sync with the dependencies file (Chart.yaml). Please update the \
         dependencies with 'helm dependency update'",
    )
}

/// A lock that is a link would be written elsewhere.
fn refuse_link(lock: &Path) -> Result<()> {
    let Ok(target) = fs::read_link(lock) else { return Ok(()) };
    let name = lock.file_name().unwrap_or_default().display();
    Err(input(format!("the {name} file is a symlink to {:?}", target.display().to_string())))
}

fn input(sentence: impl Into<String>) -> Error {
    Error::new(ErrorKind::Invalid, sentence)
}

/// The version that a dependency has once it is resolved, and nothing else of what was declared.
fn resolved(dependency: &Dependency, version: String) -> Dependency {
    Dependency {
        name: dependency.name.clone(),
        repository: dependency.repository.clone(),
        version,
        ..Dependency::default()
    }
}

//! The archives of resolved dependencies: had all together, then written.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use diagnostic::{Error, Result};
use gotemplate::semver::{Constraints, Version};
use helm_lite::{Chart, Dependency, HelmVersion, pack};

use super::origin::Origin;
use super::{Manager, Say, input};
use crate::charts;
use crate::output;
use crate::remote::charts::{ChartRequest, are_same};
use crate::roots;

/// The new content of `charts/`.
#[derive(Debug)]
pub(super) struct Fetched {
    /// The dependencies, with the versions that were had.
    pub(super) resolved: Vec<Dependency>,
    /// The names of files in the order of dependencies, and their content.
    archives: Vec<(String, Arc<[u8]>)>,
    /// Dependencies without a repository, which stay where they are.
    beside: Vec<String>,
}

impl Manager<'_> {
    /// Gets the archives of dependencies, whose origins are in the same order.
    pub(super) fn fetch(
        &self,
        resolved: &[Dependency],
        origins: &[Origin<'_>],
        say: Say<'_>,
    ) -> Result<Fetched> {
        if self.repository.is_none() {
            refuse_no_folder(&self.folder.join("charts"))?;
        }
        say(&format!("Saving {} charts", resolved.len()));
        let mut fetched = Fetched { resolved: resolved.to_vec(), archives: Vec::new(), beside: Vec::new() };
        for (at, origin) in origins.iter().enumerate() {
            self.fetch_one(at, origin, &mut fetched, say)?;
        }
        Ok(fetched)
    }

    fn fetch_one(&self, at: usize, origin: &Origin<'_>, fetched: &mut Fetched, say: Say<'_>) -> Result<()> {
        let (earlier, rest) = fetched.resolved.split_at(at);
        let dependency = &rest[0];
        let name = &dependency.name;
        match origin {
            Origin::Beside => {
                say(&format!(
                    "Dependency {name} did not declare a repository. Assuming it exists in the charts directory"
                ));
                self.refuse_other_version(dependency, &self.folder.join("charts").join(name))?;
                fetched.beside.push(name.clone());
                Ok(())
            }
            Origin::Folder(path) => {
                let (version, file_name, bytes) = self.packed(dependency, path)?;
                fetched.resolved[at].version = version;
                fetched.add(file_name, bytes.into())
            }
            _ => {
                let repository = diagnostic::redact(&dependency.repository);
                let doing = if is_again(dependency, earlier) { "Already downloaded" } else { "Downloading" };
                say(&format!("{doing} {name} from repo {repository}"));
                let (file_name, bytes) = self.pulled(dependency, origin)?;
                fetched.add(file_name, bytes)
            }
        }
    }

    /// The archive of a dependency from a server, which is looked into before it is believed to be a chart.
    fn pulled(&self, dependency: &Dependency, origin: &Origin<'_>) -> Result<(String, Arc<[u8]>)> {
        let Dependency { name, version, repository, .. } = dependency;
        let pulled = match (origin, self.locked(dependency, origin)) {
            (_, Some(locked)) => self.sources.pull_locked(&locked),
            _ => self.sources.pull(&ChartRequest {
                reference: name,
                repo: Some(repository),
                version: Some(version),
                access: self.access,
            }),
        };
        let repository = diagnostic::redact(repository);
        let named = |error: &Error| {
            let named = input(format!("could not download {name} from {repository}: {}", error.message()));
            match error.get_hint() {
                Some(hint) => named.hint(hint),
                None => named,
            }
        };
        let pulled = pulled.map_err(|error| named(&error))?;
        Chart::load_archive(&pulled.bytes, &pulled.file_name, HelmVersion::V4)
            .map_err(|error| named(&error))?;
        Ok((pulled.file_name, pulled.bytes))
    }

    /// Packs the chart in a folder: its version, the name of its file, and that.
    fn packed(&self, dependency: &Dependency, folder: &Path) -> Result<(String, String, Vec<u8>)> {
        let name = &dependency.name;
        let files = match self.repository {
            Some((files, root)) => charts::files(files, folder, Some(root))?,
            None => charts::files(&roots::disk_for(folder), folder, None)?,
        };
        let shown = folder.display().to_string();
        let metadata = Chart::load(files.clone(), &shown, HelmVersion::V4)?.metadata;
        let constraints = Constraints::parse(&dependency.version).map_err(|error| {
            input(format!("dependency {name} has an invalid version/constraint format: {error}"))
        })?;
        let version = Version::parse(&metadata.version).map_err(|error| input(error.to_string()))?;
        if !constraints.check(&version) {
            return Err(input(format!("can't get a valid version for dependency {name}")));
        }
        let packed = pack(&metadata.name, &files)
            .map_err(|error| input(format!("the chart in `{shown}` cannot be packed: {error}")))?;
        let file_name = format!("{}-{}.tgz", metadata.name, metadata.version);
        Ok((metadata.version, file_name, packed))
    }

    /// A dependency without a repository has to be there in a version that fits.
    fn refuse_other_version(&self, dependency: &Dependency, folder: &Path) -> Result<()> {
        let Dependency { name, version: wanted, .. } = dependency;
        let chart = self.chart(folder).map_err(|error| {
            input(format!("unable to load chart '{}': {}", folder.display(), error.message()))
        })?;
        let constraints = Constraints::parse(wanted).map_err(|error| {
            input(format!("dependency {name} has an invalid version/constraint format: {error}"))
        })?;
        let found = &chart.metadata.version;
        let version = Version::parse(found)
            .map_err(|error| input(format!("invalid version {wanted} for dependency {name}: {error}")))?;
        if constraints.check(&version) {
            return Ok(());
        }
        Err(input(format!("dependency {name} at version {found} does not satisfy the constraint {wanted}")))
    }
}

impl Fetched {
    fn add(&mut self, name: String, bytes: Arc<[u8]>) -> Result<()> {
        match self.archives.iter().find(|(known, _)| *known == name) {
            Some((_, known)) if *known != bytes => {
                Err(input(format!("two dependencies would both be written to `charts/{name}`")))
            }
            Some(_) => Ok(()),
            None => {
                self.archives.push((name, bytes));
                Ok(())
            }
        }
    }

    /// The charts in the archives.
    pub(super) fn charts(self) -> Result<Vec<Chart>> {
        let load = |(name, bytes): &(String, Arc<[u8]>)| Chart::load_archive(bytes, name, HelmVersion::V4);
        self.archives.iter().map(load).collect()
    }

    /// Writes the archives, and removes those of a time before.
    pub(super) fn write(self, chart: &Path, say: Say<'_>) -> Result<()> {
        let folder = chart.join("charts");
        fs::create_dir_all(&folder).map_err(|error| Error::disk("create the directory", &folder, &error))?;
        let before = names(&folder)?;
        for (name, bytes) in &self.archives {
            output::put(&folder.join(name), bytes)?;
        }
        say("Deleting outdated charts");
        let kept: HashMap<&str, ()> = self.archives.iter().map(|(name, _)| (name.as_str(), ())).collect();
        for name in before.iter().filter(|name| !kept.contains_key(name.as_str())) {
            let path = folder.join(name);
            match charts::load(&path, HelmVersion::V4) {
                Err(error) => {
                    let (path, reason) = (path.display(), error.message());
                    say(&format!("Could not verify {path} for deletion: {reason} (Skipping)"));
                }
                Ok(chart) if self.beside.contains(&chart.metadata.name) => {}
                Ok(_) => fs::remove_file(&path).map_err(|error| Error::disk("remove", &path, &error))?,
            }
        }
        Ok(())
    }
}

/// Returns true if an earlier dependency is the same archive, under another alias.
fn is_again(dependency: &Dependency, earlier: &[Dependency]) -> bool {
    earlier.iter().any(|other| {
        other.name == dependency.name
            && other.version == dependency.version
            && are_same(&other.repository, &dependency.repository)
    })
}

/// Refuses what archives cannot be written into. A link could lead anywhere, and comes with a checkout.
fn refuse_no_folder(folder: &Path) -> Result<()> {
    let shown = folder.display();
    match folder.symlink_metadata() {
        Ok(metadata) if metadata.is_symlink() => {
            Err(input(format!("`{shown}` is a link, and archives are not written through one"))
                .hint("make it a folder"))
        }
        Ok(metadata) if !metadata.is_dir() => {
            Err(input(format!("{:?} is not a directory", shown.to_string())))
        }
        _ => Ok(()),
    }
}

/// The files in a folder, in order.
fn names(folder: &Path) -> Result<Vec<String>> {
    let entries = fs::read_dir(folder).map_err(|error| Error::io("read", folder, &error))?;
    let is_file = |path: &Path| path.symlink_metadata().is_ok_and(|metadata| !metadata.is_dir());
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| is_file(path));
    let mut names: Vec<String> =
        paths.filter_map(|path| path.file_name()?.to_str().map(str::to_owned)).collect();
    names.sort();
    Ok(names)
}

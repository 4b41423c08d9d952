//! `image-updater import`: our own configuration from what is written for Flux and Argo CD Image Updater.

use diagnostic::{Error, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;

use crate::dialect::{self, Found};
use crate::work::Files;
use crate::{find, output, report};

const EXAMPLES: &str = "\
Examples:
  # what a repository has for Flux or for Argo CD Image Updater, as our own configuration
  image-updater import > image-updater.yaml

  # of one cluster, as its folder says
  image-updater import clusters/prod

  # as the cluster itself says: its ImageUpdaters, annotated Applications and image objects of Flux
  image-updater import --from-cluster --context prod > image-updater.yaml";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Files and folders of a repository; targets are named from its root, which is where `.git` is
    #[arg(value_name = "PATH", default_value = ".")]
    paths: Vec<PathBuf>,
    /// Take what is in a Kubernetes cluster, instead of files
    #[arg(long, conflicts_with = "paths")]
    from_cluster: bool,
    /// Path of the kubeconfig [default: as kubectl]
    #[arg(long, value_name = "FILE", requires = "from_cluster")]
    kubeconfig: Option<PathBuf>,
    /// Another context than the current one of the kubeconfig
    #[arg(long, value_name = "NAME", requires = "from_cluster")]
    context: Option<String>,
    /// Only what is in this namespace
    #[arg(short, long, value_name = "NAMESPACE", requires = "from_cluster")]
    namespace: Option<String>,
}

pub(super) fn run(arguments: &Arguments) -> Result<()> {
    let found = match arguments.from_cluster {
        true => in_cluster(arguments)?,
        false => find(&arguments.paths, |_| PathBuf::from("."))?,
    };
    failures(&found)?;
    output::to_stdout(&dialect::print(&found)?)
}

/// Returns what is in a cluster. What the cluster alone can do of it is a fault.
#[cfg(feature = "kube")]
fn in_cluster(arguments: &Arguments) -> Result<Found> {
    let Arguments { kubeconfig, context, namespace, .. } = arguments;
    let access =
        crate::cluster::settings::Access { kubeconfig: kubeconfig.clone(), context: context.clone() };
    let listing = || crate::cluster::list(&access, namespace.as_deref());
    let objects = crate::progress::while_waiting("asking the API server", listing)?;
    let mut found = dialect::read(&objects, &Files::Folder(PathBuf::from(".")));
    found.refuse_applications();
    if found.batches.is_empty() && found.faults.is_empty() {
        let names = dialect::names().collect::<Vec<_>>().join(" or ");
        return Err(Error::invalid(format!("no image found in the cluster that {names} updates")));
    }
    for warning in &found.warnings {
        report::warning(&warning.to_string());
    }
    Ok(found)
}

/// Nothing, as no cluster can be asked.
#[cfg(not(feature = "kube"))]
fn in_cluster(_: &Arguments) -> Result<Found> {
    let error = Error::new(
        diagnostic::ErrorKind::Usage,
        "this program was built without the feature `kube`, and asks no cluster",
    );
    Err(error.hint("build it with its default features, or name files"))
}

/// Finds the resources of other tools in files and directories of a repository, whose root becomes the directory of
/// the batches. Unsupported settings become warnings.
pub(super) fn find(paths: &[PathBuf], folder: impl FnOnce(&Path) -> PathBuf) -> Result<Found> {
    let found = search(paths, folder)?;
    for warning in &found.warnings {
        report::warning(&warning.to_string());
    }
    Ok(found)
}

/// The same, with what is not done as it is written in the result only.
pub(super) fn search(paths: &[PathBuf], folder: impl FnOnce(&Path) -> PathBuf) -> Result<Found> {
    let (mut files, mut roots) = (BTreeMap::new(), BTreeSet::new());
    for path in paths {
        roots.insert(read(path, &mut files)?);
    }
    let within = || paths.iter().map(|path| format!("`{}`", path.display())).collect::<Vec<_>>().join(", ");
    let (Some(root), None) = (roots.pop_first(), roots.first()) else {
        return Err(Error::invalid(format!("{} are not of one repository", within()))
            .hint("name files and directories of one repository at a time"));
    };
    let files: Vec<(String, String)> = files.into_iter().collect();
    let found = dialect::read(&files, &Files::Folder(folder(&root)));
    if found.batches.is_empty() && found.faults.is_empty() {
        let names = dialect::names().collect::<Vec<_>>().join(" or ");
        return Err(Error::invalid(format!("no image found in {} that {names} updates", within()))
            .hint("name the directory with the ImageUpdateAutomations, ImageUpdaters or Applications"));
    }
    Ok(found)
}

/// Ends with the first fault, once all are reported.
fn failures(found: &Found) -> Result<()> {
    match found.faults.split_first() {
        None => Ok(()),
        Some((first, rest)) => {
            for fault in rest {
                report::error(fault);
            }
            Err(first.clone())
        }
    }
}

/// Reads the files that matter, with their paths from the root of the repository, and gives that.
fn read(path: &Path, files: &mut BTreeMap<String, String>) -> Result<PathBuf> {
    let failed = |error| Error::io("read", path, &error);
    let path = fs::canonicalize(path).map_err(failed)?;
    let root = root_of(&path);
    let from_root = |path: &Path| {
        let path = path.strip_prefix(&root).unwrap_or(path);
        path.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/")
    };
    let is_wanted = |path: &Path, text: &str| dialect::concerns(&from_root(path), text);
    for file in find::texts(&[path], &is_wanted)? {
        files.insert(from_root(&file.path), file.text);
    }
    Ok(root)
}

/// The root of the repository that a path is in; outside of any, the folder itself.
fn root_of(path: &Path) -> PathBuf {
    let folder = if path.is_dir() { path } else { path.parent().unwrap_or(path) };
    let root = folder.ancestors().find(|folder| folder.join(".git").exists());
    root.unwrap_or(folder).to_owned()
}

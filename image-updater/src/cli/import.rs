//! `image-updater import`: our own configuration from what is written for Flux and Argo CD Image Updater.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;

use crate::dialect::{self, Found};
use crate::error::{Error, Result};
use crate::work::Files;
use crate::{find, output, report};

const EXAMPLES: &str = "\
Examples:
  # what a repository has for Flux or for Argo CD Image Updater, as our own configuration
  image-updater import > image-updater.yaml

  # of one cluster
  image-updater import clusters/prod";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Files and folders of a repository; targets are named from its root, which is where `.git` is
    #[arg(value_name = "PATH", default_value = ".")]
    paths: Vec<PathBuf>,
}

pub(super) fn run(arguments: &Arguments) -> Result<()> {
    let mut files = BTreeMap::new();
    for path in &arguments.paths {
        read(path, &mut files)?;
    }
    let files: Vec<(String, String)> = files.into_iter().collect();
    let found = dialect::read(&files, &Files::Folder(PathBuf::from(".")));
    for warning in &found.warnings {
        report::warning(&warning.to_string());
    }
    failures(&found)?;
    if found.batches.is_empty() {
        let names = dialect::names().collect::<Vec<_>>().join(" or ");
        let within: Vec<_> = arguments.paths.iter().map(|path| format!("`{}`", path.display())).collect();
        return Err(Error::input(format!("{} has no image that {names} updates", within.join(", ")))
            .hint("name the folder with the ImageUpdateAutomations, ImageUpdaters or Applications"));
    }
    output::to_stdout(&dialect::print(&found)?)
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

/// Reads the files that matter, with their paths from the root of the repository.
fn read(path: &Path, files: &mut BTreeMap<String, String>) -> Result<()> {
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
    Ok(())
}

/// The root of the repository that a path is in; outside of any, the folder itself.
fn root_of(path: &Path) -> PathBuf {
    let folder = if path.is_dir() { path } else { path.parent().unwrap_or(path) };
    let root = folder.ancestors().find(|folder| folder.join(".git").exists());
    root.unwrap_or(folder).to_owned()
}

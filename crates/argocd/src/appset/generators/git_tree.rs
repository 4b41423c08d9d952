//! The files of a repository, as the `git` generators read them.

use std::io;
use std::path::{Path, PathBuf};

use diagnostic::{Error, Result};
use gotemplate::Value;
use vfs::FileKind;

use super::Run;
use crate::appset::faults;
use crate::appset::params::Params;
use crate::appset::slug::normalize;
use crate::appset::tree::Tree;

/// The files of a repository.
pub(super) struct Repository<'r> {
    run: &'r Run<'r>,
    root: PathBuf,
}

/// The content of a directory, by its path from the root.
pub(super) struct Found {
    pub(super) path: String,
    pub(super) real: PathBuf,
    pub(super) kind: FileKind,
    /// True if it is a symbolic link.
    pub(super) is_link: bool,
}

impl<'r> Repository<'r> {
    pub(super) fn open(run: &'r Run<'r>, folder: &Path) -> Result<Self> {
        match run.world.files.resolve(folder) {
            Ok((root, FileKind::Directory)) => Ok(Self { run, root }),
            Ok((path, FileKind::File)) => Err(Error::invalid(format!(
                "`{}` is a file, not a repository directory",
                run.world.files.display(&path)
            ))),
            Err(error) => Err(faults::cannot_read(run.world.files, folder, &error)),
        }
    }

    /// Returns what is in a folder, in the order of the names. Links that lead nowhere are not there.
    pub(super) fn list(&self, folder: &str) -> Result<Vec<Found>> {
        let files = self.run.world.files;
        let at = if folder.is_empty() { self.root.clone() } else { self.root.join(folder) };
        let names = files.list(&at).map_err(|error| faults::cannot_read(files, &at, &error))?;
        let mut found = Vec::with_capacity(names.len());
        for name in names {
            let named = at.join(&name);
            match files.resolve(&named) {
                Ok((real, kind)) => {
                    let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
                    found.push(Found { path, is_link: real != named, real, kind });
                }
                Err(error) if is_nothing(&error) => {}
                Err(error) => return Err(faults::cannot_read(files, &named, &error)),
            }
        }
        Ok(found)
    }

    /// Returns true if there is a folder.
    pub(super) fn has_folder(&self, folder: &str) -> bool {
        let at = self.root.join(folder);
        folder.is_empty()
            || matches!(self.run.world.files.resolve(&at), Ok((real, FileKind::Directory)) if real == at)
    }

    /// The text of a file, which may be behind a link within the repository.
    pub(super) fn read(&self, file: &Found) -> Result<String> {
        let files = self.run.world.files;
        let named = self.root.join(&file.path);
        if !file.real.starts_with(&self.root) {
            return Err(Error::invalid(format!("`{}` leads out of the repository", files.display(&named)))
                .hint("Argo CD rejects a repository with such a link"));
        }
        let bytes = files.read(&file.real).map_err(|error| faults::cannot_read(files, &named, &error))?;
        match yamltree::decode(&bytes, 0) {
            Ok(text) => Ok(text.into_owned()),
            Err(error) => Err(Error::invalid(format!(
                "`{}` is not valid UTF-8: {}",
                files.display(&named),
                error.message()
            ))),
        }
    }

    pub(super) fn display(&self, path: &str) -> String {
        self.run.world.files.display(&self.root.join(path))
    }
}

fn is_nothing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::Unsupported | io::ErrorKind::NotADirectory
    )
}

/// Adds what is known of a path: that of a folder, or the one that a file is in.
pub(super) fn add_path(run: &Run<'_>, config: &Tree, params: &Params, folder: &str, filename: Option<&str>) {
    let prefix = config.text_of("pathParamPrefix");
    let base = folder.rsplit('/').next().unwrap_or_default();
    let mut named = vec![("basename", base.to_owned()), ("basenameNormalized", normalize(base))];
    if let Some(filename) = filename {
        named.push(("filename", filename.to_owned()));
        named.push(("filenameNormalized", normalize(filename)));
    }
    if run.language.is_go() {
        let segments = ("segments", Value::strings(folder.split('/')));
        let path = ("path", Value::from(folder));
        let named = named.into_iter().map(|(name, text)| (name, Value::from(text)));
        let path = Value::map(named.chain([segments, path]));
        match prefix {
            "" => params.insert("path", path),
            prefix => params.insert(prefix, Value::map([("path", path)])),
        }
        return;
    }
    let key = if prefix.is_empty() { "path".to_owned() } else { format!("{prefix}.path") };
    for (name, text) in named {
        params.insert(format!("{key}.{name}"), text.into());
    }
    for (at, segment) in folder.split('/').enumerate() {
        params.insert(format!("{key}[{at}]"), segment.into());
    }
    params.insert(key, folder.into());
}

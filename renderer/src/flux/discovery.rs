//! Finds what Flux has in a repository: Kustomizations, HelmReleases, sources, and the ConfigMaps and Secrets that these
//! take values from.
//!
//! In: the folder of the repository. Out: objects with their files. Files of templates, and folders of charts that hold
//! some, are passed over.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use argocd::objects::{self, Key, Object};
use diagnostic::{Error, ErrorKind, Result};
use flux::{HELM_GROUP, InFile, KUSTOMIZE_GROUP, SOURCE_GROUP};
use vfs::{FileKind, Files};
use yamltree::Source;

/// Folders nest no deeper.
const MAX_DEPTH: usize = 64;

/// Folders that hold what is not the repository's own.
const PASSED_OVER: [&str; 3] = [".git", "node_modules", ".terraform"];

/// The discovered objects.
#[derive(Debug, Default)]
pub(crate) struct Discovery {
    /// Kustomizations and HelmReleases.
    pub(crate) units: Vec<InFile>,
    /// Sources, ConfigMaps and Secrets.
    pub(crate) others: BTreeMap<Key, Vec<InFile>>,
    seen: HashSet<PathBuf>,
}

impl Discovery {
    /// Looks through a folder and those below it.
    ///
    /// # Errors
    /// If reading fails.
    pub(crate) fn folder(&mut self, folder: &Path, files: &dyn Files) -> Result<()> {
        self.walk(folder, files, 0)
    }

    fn walk(&mut self, folder: &Path, files: &dyn Files, depth: usize) -> Result<()> {
        let (real, kind) = files.resolve(folder).map_err(|error| unreadable(folder, &error, files))?;
        // A link may lead back to where it is.
        if kind != FileKind::Directory || depth > MAX_DEPTH || !self.seen.insert(real.clone()) {
            return Ok(());
        }
        let names = files.list(&real).map_err(|error| unreadable(folder, &error, files))?;
        let is_chart = names.iter().any(|name| name == "Chart.yaml");
        for name in &names {
            let is_of_chart = is_chart && matches!(name.as_str(), "templates" | "charts" | "crds");
            if is_of_chart || PASSED_OVER.contains(&name.as_str()) {
                continue;
            }
            let path = folder.join(name);
            match files.resolve(&path) {
                Ok((_, FileKind::Directory)) => self.walk(&path, files, depth + 1)?,
                Ok((real, FileKind::File)) if name.ends_with(".yaml") || name.ends_with(".yml") => {
                    self.look_into(&path, &real, files)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Most files have nothing of Flux, and show that without being parsed. What is wrong with a file is said when
    /// something is built of it.
    fn look_into(&mut self, path: &Path, real: &Path, files: &dyn Files) -> Result<()> {
        let bytes = files.read(real).map_err(|error| unreadable(path, &error, files))?;
        let has = |word: &str| memchr::memmem::find(&bytes, word.as_bytes()).is_some();
        if !has(".toolkit.fluxcd.io/") && !has("ConfigMap") && !has("Secret") {
            return Ok(());
        }
        let Ok(text) = yamltree::decode(&bytes, 0) else { return Ok(()) };
        let source = Arc::new(Source { name: files.display(path), text: Arc::from(text.as_ref()) });
        let (objects, _) = objects::documents_until_fault(&source);
        for object in objects::flatten(objects).unwrap_or_default() {
            self.take(object, path);
        }
        Ok(())
    }

    fn take(&mut self, object: Object, path: &Path) {
        let key = object.key();
        let found = InFile { path: path.to_owned(), object };
        match (key.group.as_str(), key.kind.as_str()) {
            (KUSTOMIZE_GROUP, "Kustomization") | (HELM_GROUP, "HelmRelease") => self.units.push(found),
            (SOURCE_GROUP, _) | ("", "ConfigMap" | "Secret") => {
                self.others.entry(key).or_default().push(found);
            }
            _ => {}
        }
    }
}

fn unreadable(path: &Path, error: &std::io::Error, files: &dyn Files) -> Error {
    Error::new(ErrorKind::Invalid, format!("cannot read `{}`: {error}", files.display(path)))
}

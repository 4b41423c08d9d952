//! Finds the Applications and ApplicationSets in folders and files.
//!
//! In: files and folders. Out: those in them, each with its file, and what is wrong with those that are none.
//! Folders of a chart that hold templates are passed over, and so are kustomizations' patches for Applications.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use argocd::application::{Application, is_application};
use argocd::appset::is_application_set;
use argocd::objects::{self, Object};
use diagnostic::{Error, ErrorKind, Result};
use vfs::{FileKind, Files};
use yamltree::Source;

/// Folders nest no deeper.
const MAX_DEPTH: usize = 64;

const ENDINGS: [&str; 3] = ["yaml", "yml", "json"];

/// Folders that hold what is not the repository's own.
const PASSED_OVER: [&str; 3] = [".git", "node_modules", ".terraform"];

/// The discovered objects.
#[derive(Debug, Default)]
pub(crate) struct Discovery {
    pub(crate) found: Vec<Found>,
    /// ApplicationSets.
    pub(crate) sets: Vec<Object>,
    pub(crate) errors: Vec<Error>,
    /// Applications without a source, which patches are.
    pub(crate) fragments: Vec<String>,
    seen: HashSet<PathBuf>,
}

/// An Application, and what it was read from.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) application: Application,
    pub(crate) object: Object,
}

impl Discovery {
    /// Reads a file that is named: it must have an Application.
    pub(crate) fn file(&mut self, path: &Path, files: &dyn Files) -> Result<()> {
        let before = self.count();
        let (real, _) = files.resolve(path).map_err(|error| unreadable(path, &error, files))?;
        let source = read(path, &real, files)?;
        self.take(objects::read(&source)?, false);
        if self.count() > before {
            return Ok(());
        }
        let message = format!("no Application found in `{}`", files.display(path));
        Err(Error::new(ErrorKind::Invalid, message)
            .hint("an Application has `apiVersion: argoproj.io/v1alpha1` and `kind: Application`"))
    }

    fn count(&self) -> usize {
        self.found.len() + self.sets.len() + self.errors.len()
    }

    /// Looks for Applications in a folder and those below it.
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
                Ok((real, FileKind::File)) if has_ending(name) => self.look_into(&path, &real, files)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// Most files have no Application, and show that without being parsed.
    fn look_into(&mut self, path: &Path, real: &Path, files: &dyn Files) -> Result<()> {
        let bytes = files.read(real).map_err(|error| unreadable(path, &error, files))?;
        if !contains(&bytes, b"argoproj.io/") || !contains(&bytes, b"Application") {
            return Ok(());
        }
        let source = read(path, real, files)?;
        match objects::documents_until_fault(&source) {
            (objects, None) => self.take(objects::flatten(objects)?, true),
            // A file of templates is none of Argo CD's before it is rendered.
            (_, Some(_)) if contains(&bytes, b"{{") && !contains(&bytes, b"ApplicationSet") => {}
            (_, Some(fault)) => self.errors.push(fault),
        }
        Ok(())
    }

    fn take(&mut self, objects: Vec<Object>, passes_fragments: bool) {
        let (sets, others): (Vec<Object>, Vec<Object>) = objects.into_iter().partition(is_application_set);
        self.sets.extend(sets);
        for object in others.into_iter().filter(is_application) {
            let spec = object.node().get("spec");
            let has_source = ["source", "sources", "sourceHydrator"]
                .iter()
                .any(|field| spec.is_some_and(|spec| spec.get(field).is_some()));
            if passes_fragments && !has_source {
                let place = object.place().map_or_else(String::new, |place| place.to_string());
                self.fragments.push(place);
                continue;
            }
            match Application::read(&object) {
                Ok(application) => self.found.push(Found { application, object }),
                Err(error) => self.errors.push(error),
            }
        }
    }
}

fn has_ending(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, ending)| ENDINGS.contains(&ending))
}

fn contains(bytes: &[u8], word: &[u8]) -> bool {
    memchr::memmem::find(bytes, word).is_some()
}

fn read(path: &Path, real: &Path, files: &dyn Files) -> Result<Arc<Source>> {
    let name = files.display(path);
    let bytes = files.read(real).map_err(|error| unreadable(path, &error, files))?;
    let text = yamltree::decode(&bytes, 0).map_err(|error| {
        Error::new(ErrorKind::Invalid, format!("`{name}` is not valid UTF-8: {}", error.message()))
    })?;
    Ok(Arc::new(Source { name, text: Arc::from(text.as_ref()) }))
}

fn unreadable(path: &Path, error: &std::io::Error, files: &dyn Files) -> Error {
    Error::new(ErrorKind::Invalid, format!("cannot read `{}`: {error}", files.display(path)))
}

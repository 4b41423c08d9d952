//! Rendered Applications as files, in the layout of Argo CD's hydrator (commitserver/commit/hydratorhelper.go).
//!
//! In: rendered Applications and a folder. Out: `PATH/manifest.yaml` with `hydrator.metadata` and `README.md` beside it, and
//! `.gitattributes` and `hydrator.metadata` at the top. A file that would not change is not touched, and what is said of a
//! manifest stays as long as the manifest does. Folders of Applications that are gone lose these files. Refused: paths that
//! lead out, and two Applications with one path.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use argocd::application::{Application, Rendered};
use argocd::objects::Object;
use argocd::repositories;
use diagnostic::{Error, ErrorKind, Result};
use serde_json::{Value, json};
use yamltree::{Dialect, EmitOptions, Node, Style, Tag, sort_by_key_order, to_kyaml};

use crate::output;

const MANIFEST: &str = "manifest.yaml";
const METADATA: &str = "hydrator.metadata";
const README: &str = "README.md";
const ATTRIBUTES: &str = ".gitattributes";
const ATTRIBUTES_TEXT: &str =
    "**/README.md linguist-generated=true\n**/hydrator.metadata linguist-generated=true";

/// No folder is looked for in what is deeper.
const MAX_DEPTH: usize = 64;

/// A folder of rendered Applications.
#[derive(Debug)]
pub(crate) struct Layout {
    top: PathBuf,
    /// The paths below it that Applications have, those that failed too.
    taken: BTreeMap<PathBuf, String>,
    /// The origins of the manifests.
    origins: HashSet<(String, String)>,
    written: usize,
}

impl Layout {
    /// Makes the folder.
    ///
    /// # Errors
    /// If it cannot be created.
    pub(crate) fn new(folder: &Path) -> Result<Self> {
        fs::create_dir_all(folder).map_err(|error| Error::disk("create", folder, &error))?;
        let top = folder.canonicalize().map_err(|error| Error::disk("find", folder, &error))?;
        Ok(Self { top, taken: BTreeMap::new(), origins: HashSet::new(), written: 0 })
    }

    /// Takes a path for an Application: that which its manifests are synced from, or its name.
    ///
    /// # Errors
    /// A path that leads out, or that another has.
    pub(crate) fn reserve(&mut self, application: &Application) -> Result<PathBuf> {
        let name = application.instance_name();
        let (text, span) = match &application.hydrator {
            Some(sync) => (sync.path.value.as_str(), sync.path.span),
            None => (name.as_str(), application.name.span),
        };
        let refuse =
            |message: String| Err(Error::new(ErrorKind::Invalid, message).at(application.place(span)));
        let mut path = PathBuf::new();
        for component in Path::new(text).components() {
            match component {
                Component::Normal(part) => path.push(part),
                Component::CurDir => {}
                _ => return refuse(format!("`{text}` leads out of the output folder")),
            }
        }
        if path.as_os_str().is_empty() {
            return refuse("the path of hydrated manifests is the whole repository".to_owned());
        }
        if let Some(other) = self.taken.get(&path) {
            return refuse(format!("`{name}` and `{other}` would both be written to `{}`", path.display()));
        }
        self.taken.insert(path.clone(), name);
        Ok(path)
    }

    /// Writes an Application to its path.
    ///
    /// # Errors
    /// If writing fails.
    pub(crate) fn write(
        &mut self,
        path: &Path,
        application: &Application,
        rendered: &Rendered,
    ) -> Result<()> {
        let folder = self.folder(path)?;
        let manifest = manifests(rendered.sources.iter().flat_map(|source| &source.objects));
        let (url, revision) = origin(application, rendered);
        self.origins.insert((url.clone(), revision.clone()));
        if !self.put(&folder.join(MANIFEST), manifest.as_bytes())? {
            return Ok(());
        }
        let commands: Vec<&str> =
            rendered.sources.iter().flat_map(|source| &source.commands).map(String::as_str).collect();
        self.put(&folder.join(METADATA), metadata(&url, &revision, &commands)?.as_bytes())?;
        self.put(&folder.join(README), readme(&url, &revision, &commands).as_bytes())?;
        Ok(())
    }

    /// Writes what is at the top, and how many files have changed.
    ///
    /// # Errors
    /// If writing fails.
    pub(crate) fn finish(&mut self) -> Result<usize> {
        self.put(&self.top.join(ATTRIBUTES), ATTRIBUTES_TEXT.as_bytes())?;
        // There is one commit to name where all come from one.
        if let [(url, revision)] = self.origins.iter().collect::<Vec<_>>().as_slice() {
            let text = metadata(url, revision, &[])?;
            self.put(&self.top.join(METADATA), text.as_bytes())?;
        }
        Ok(self.written)
    }

    /// Removes the files of Applications that are gone; their folders.
    ///
    /// # Errors
    /// If it cannot be removed.
    pub(crate) fn remove_stale(&self) -> Result<Vec<PathBuf>> {
        let mut found = Vec::new();
        self.find(Path::new(""), 0, &mut found)?;
        found.retain(|path| !self.taken.contains_key(path));
        for path in &found {
            let folder = self.top.join(path);
            for name in [MANIFEST, METADATA, README] {
                match fs::remove_file(folder.join(name)) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => {
                        return Err(Error::disk("remove", &folder.join(name), &error));
                    }
                    _ => {}
                }
            }
            // One with other files, or other Applications below it, stays.
            let _ = fs::remove_dir(&folder);
        }
        Ok(found)
    }

    /// Folders that have what only a hydrator writes. Links are not followed.
    fn find(&self, below: &Path, depth: usize, found: &mut Vec<PathBuf>) -> Result<()> {
        let folder = self.top.join(below);
        if depth > MAX_DEPTH {
            return Ok(());
        }
        let is_file = |name: &str| fs::symlink_metadata(folder.join(name)).is_ok_and(|found| found.is_file());
        if depth > 0 && is_file(MANIFEST) && is_file(METADATA) {
            found.push(below.to_owned());
        }
        let entries = fs::read_dir(&folder).map_err(|error| Error::io("read", &folder, &error))?;
        for entry in entries.filter_map(Result::<_, io::Error>::ok) {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) && entry.file_name() != ".git" {
                self.find(&below.join(entry.file_name()), depth + 1, found)?;
            }
        }
        Ok(())
    }

    /// The folder of a path, which no link leads out of.
    fn folder(&self, path: &Path) -> Result<PathBuf> {
        let folder = self.top.join(path);
        fs::create_dir_all(&folder).map_err(|error| Error::disk("create", &folder, &error))?;
        let real = folder.canonicalize().map_err(|error| Error::disk("find", &folder, &error))?;
        if real.starts_with(&self.top) {
            return Ok(real);
        }
        let message = format!("`{}` leads out of the output folder by a link", folder.display());
        Err(Error::new(ErrorKind::Environment, message))
    }

    /// Gives a file its content; whether that is another than before.
    fn put(&mut self, path: &Path, content: &[u8]) -> Result<bool> {
        let is_file = fs::symlink_metadata(path).is_ok_and(|found| found.is_file());
        if is_file && fs::read(path).is_ok_and(|before| before == content) {
            return Ok(false);
        }
        output::put(path, content)?;
        self.written += 1;
        Ok(true)
    }
}

/// The repository and the commit of an Application's first source.
fn origin(application: &Application, rendered: &Rendered) -> (String, String) {
    let url = application
        .sources
        .first()
        .map_or(String::new(), |source| repositories::shown(&source.repo_url.value));
    let revision = rendered.sources.first().map_or(String::new(), |source| source.revision.clone());
    (url, revision)
}

/// Objects as `gopkg.in/yaml.v3` writes Go's maps: keys sorted, lists indented, long texts as blocks.
fn manifests<'o>(objects: impl Iterator<Item = &'o Object>) -> String {
    let options = EmitOptions { dialect: Dialect::V3, indent: 2, compact_sequences: false };
    let mut stream = String::new();
    for object in objects {
        if !stream.is_empty() {
            stream.push_str("---\n");
        }
        let mut node = object.node().clone();
        as_go_map(&mut node);
        to_kyaml(&node, options, &mut stream);
    }
    stream
}

fn as_go_map(node: &mut Node) {
    node.style = match node.text() {
        Some(text) if node.tag == Tag::Str && text.contains('\n') => Style::Literal,
        _ => Style::Plain,
    };
    if let Some(items) = node.items_mut() {
        items.iter_mut().for_each(as_go_map);
    }
    if let Some(entries) = node.entries_mut() {
        sort_by_key_order(entries, |entry| entry.key.text().unwrap_or_default());
        entries.iter_mut().for_each(|entry| as_go_map(&mut entry.value));
    }
}

/// `hydrator.metadata`: JSON without what is empty.
fn metadata(url: &str, revision: &str, commands: &[&str]) -> Result<String> {
    let mut fields = Vec::new();
    let mut field = |name: &str, value: Value| {
        serde_json::to_string_pretty(&value)
            .map(|text| fields.push(format!("  \"{name}\": {}", text.replace('\n', "\n  "))))
            .map_err(|error| Error::new(ErrorKind::Environment, format!("cannot write JSON: {error}")))
    };
    if !url.is_empty() {
        field("repoURL", json!(url))?;
    }
    if !revision.is_empty() {
        field("drySha", json!(revision))?;
    }
    if !commands.is_empty() {
        field("commands", json!(commands))?;
    }
    if fields.is_empty() {
        return Ok("{}\n".to_owned());
    }
    Ok(format!("{{\n{}\n}}\n", fields.join(",\n")))
}

fn readme(url: &str, revision: &str, commands: &[&str]) -> String {
    let at = if revision.is_empty() { String::new() } else { format!(" at `{revision}`") };
    let mut text =
        format!("# Rendered manifests\n\nThese manifests are made from `{url}`{at}; change them there.\n");
    if !commands.is_empty() {
        text.push_str("\nArgo CD would run, from the top of that repository:\n\n```shell\n");
        for command in commands {
            text.push_str(command);
            text.push('\n');
        }
        text.push_str("```\n");
    }
    text
}

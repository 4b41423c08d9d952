//! Where rendered manifests go: standard output, a file, a folder with a file for each resource.
//!
//! In: what an engine made. Out: bytes. A file is only ever replaced whole: its new content is written beside it and
//! then takes its name.

use std::borrow::Cow;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use kustomize::Output;
use yamltree::JsonOptions;

use crate::error::{Error, ErrorKind, Result};

/// How manifests are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// As Kustomize prints them.
    #[default]
    Yaml,
    /// A JSON array, one resource a line.
    Json,
}

impl Format {
    /// The ending of a file in this format.
    #[must_use]
    pub(crate) fn extension(self) -> &'static str {
        match self {
            Format::Yaml => "yaml",
            Format::Json => "json",
        }
    }
}

/// The manifests of a target.
///
/// # Errors
/// A resource that has no JSON.
pub(crate) fn text(output: &Output, format: Format) -> Result<Cow<'_, str>> {
    if format == Format::Yaml {
        return Ok(Cow::Borrowed(output.yaml()));
    }
    let options = JsonOptions { escape_html: false, ..JsonOptions::KYAML };
    let mut text = String::from("[");
    for (object, separator) in
        output.objects().iter().zip(std::iter::once("\n").chain(std::iter::repeat(",\n")))
    {
        text.push_str(separator);
        yamltree::to_json(&object.node, options, &mut text)
            .map_err(|error| Error::new(ErrorKind::Input, error.message()))?;
    }
    text.push_str("\n]\n");
    Ok(Cow::Owned(text))
}

/// The manifests of several targets as one text of the same format.
pub(crate) fn join(texts: &[String], format: Format) -> String {
    match format {
        Format::Yaml => {
            let texts: Vec<&str> = texts.iter().map(String::as_str).filter(|text| !text.is_empty()).collect();
            texts.join("---\n")
        }
        Format::Json => {
            let inner = |text: &'_ str| text.trim_start_matches("[\n").trim_end_matches("\n]\n").to_owned();
            let texts: Vec<String> =
                texts.iter().map(|text| inner(text)).filter(|text| !text.is_empty()).collect();
            format!("[\n{}\n]\n", texts.join(",\n"))
        }
    }
}

/// Fails where there are warnings, as `--strict` asks for.
///
/// # Errors
/// That there are warnings.
pub(crate) fn refuse_warnings(output: &Output) -> Result<()> {
    match output.warnings().len() {
        0 => Ok(()),
        1 => Err(Error::new(ErrorKind::Input, "there is a warning, and `--strict` makes it an error")),
        count => Err(Error::new(
            ErrorKind::Input,
            format!("there are {count} warnings, and `--strict` makes them errors"),
        )),
    }
}

/// Writes to standard output. A reader that has seen enough is no fault.
///
/// # Errors
/// What writing gives.
pub(crate) fn to_stdout(text: &str) -> Result<()> {
    match io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Error::new(ErrorKind::Environment, format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Writes one file for each resource into a folder, named as Kustomize names them.
///
/// # Errors
/// A resource whose name cannot be that of a file, two resources with one file name, what writing gives.
pub(crate) fn to_folder(folder: &Path, output: &Output) -> Result<()> {
    let names = file_names(output)?;
    for (object, name) in output.objects().iter().zip(names) {
        replace(&folder.join(name), output.text(object).as_bytes())?;
    }
    Ok(())
}

/// `group_version_kind_name.yaml`, with the namespace in front where there are several.
fn file_names(output: &Output) -> Result<Vec<String>> {
    let mut namespaces: Vec<&str> =
        output.objects().iter().filter_map(|object| object.namespace.as_deref()).collect();
    namespaces.sort_unstable();
    namespaces.dedup();
    let several = namespaces.len() > 1;
    let mut taken = std::collections::HashSet::new();
    let mut names = Vec::with_capacity(output.objects().len());
    for object in output.objects() {
        let namespace = object.namespace.as_deref().filter(|_| several).unwrap_or_default();
        let parts = [namespace, &object.group, &object.version, &object.kind, &object.name];
        let parts: Vec<String> =
            parts.iter().filter(|part| !part.is_empty()).map(|part| part.to_lowercase()).collect();
        let name = format!("{}.yaml", parts.join("_"));
        let described = format!("{}/{}", object.kind, object.name);
        if name.contains(['/', '\\', '\0']) {
            let sentence = format!("{described} cannot have a file of its own: `{name}` is no file name");
            return Err(Error::new(ErrorKind::Input, sentence).hint("write all resources into one file"));
        }
        if !taken.insert(name.clone()) {
            let sentence = format!("{described} and another resource would both be written to `{name}`");
            return Err(Error::new(ErrorKind::Input, sentence).hint("write all resources into one file"));
        }
        names.push(name);
    }
    Ok(names)
}

/// Gives a file a new content, all of it or nothing.
///
/// # Errors
/// What writing gives.
pub(crate) fn replace(path: &Path, content: &[u8]) -> Result<()> {
    let failed = |error: io::Error| Error::io("write", path, &error);
    let existing = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return swap_in(path, content, None).map_err(failed);
        }
        Err(error) => return Err(failed(error)),
    };
    if existing.is_symlink() {
        // The link stays one; what it points to is replaced.
        return fs::canonicalize(path).map_err(failed).and_then(|real| replace(&real, content));
    }
    if existing.is_file() {
        return swap_in(path, content, Some(existing.permissions())).map_err(failed);
    }
    // A device or a pipe, as in `-o /dev/null`, has no content to replace.
    let written = OpenOptions::new().write(true).open(path).and_then(|mut file| file.write_all(content));
    written.map_err(failed)
}

fn swap_in(path: &Path, content: &[u8], permissions: Option<fs::Permissions>) -> io::Result<()> {
    let temporary = beside(path);
    let written = (|| {
        let mut file = OpenOptions::new().write(true).create_new(true).open(&temporary)?;
        file.write_all(content)?;
        if let Some(permissions) = permissions {
            file.set_permissions(permissions)?;
        }
        fs::rename(&temporary, path)
    })();
    if written.is_err() {
        // What failed is reported; a leftover would only confuse.
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// A name in the same folder that no other process or thread uses.
fn beside(path: &Path) -> PathBuf {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    path.with_file_name(format!(".renderer-{}-{number}.tmp", std::process::id()))
}

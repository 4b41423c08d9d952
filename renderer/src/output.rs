//! Writes rendered manifests: to standard output, a file, or a directory with a file for each resource.
//!
//! In: what an engine made. Out: bytes. A file is only ever replaced whole: its new content is written beside it and
//! then takes its name.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use diagnostic::{Error, ErrorKind, Result};
use kustomize::Output;

/// The output format of manifests.
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

/// The manifests of several targets as one text.
pub(crate) fn join(fragments: &[impl AsRef<str>], format: Format) -> String {
    // A chart that renders to nothing prints a line break, as with helm.
    let fragments = fragments.iter().map(AsRef::as_ref).filter(|text| !text.trim_ascii().is_empty());
    let fragments: Vec<&str> = fragments.collect();
    match format {
        Format::Yaml => {
            let mut stream = String::with_capacity(fragments.iter().map(|text| text.len() + 4).sum());
            for text in fragments {
                // A chart's manifests begin with the separator.
                if !stream.is_empty() && !text.trim_ascii_start().starts_with("---") {
                    stream.push_str("---\n");
                }
                stream.push_str(text);
            }
            stream
        }
        Format::Json if fragments.is_empty() => "[]\n".to_owned(),
        Format::Json => format!("[\n{}\n]\n", fragments.join(",\n")),
    }
}

/// Writes to standard output. A reader that has seen enough is no fault.
///
/// # Errors
/// If writing fails.
pub(crate) fn to_stdout(text: &str) -> Result<()> {
    bytes_to_stdout(text.as_bytes())
}

/// The same for a text with colours, which only a terminal gets.
///
/// # Errors
/// If writing fails.
pub(crate) fn to_stdout_coloured(text: &str) -> Result<()> {
    to_stdout(&match anstream::AutoStream::choice(&io::stdout()) {
        anstream::ColorChoice::Never => anstream::adapter::strip_str(text).to_string(),
        _ => text.to_owned(),
    })
}

/// The same for what may be no text.
///
/// # Errors
/// If writing fails.
pub(crate) fn bytes_to_stdout(bytes: &[u8]) -> Result<()> {
    match io::stdout().lock().write_all(bytes) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Error::new(ErrorKind::Environment, format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Writes to standard error; what cannot be said is no fault.
pub(crate) fn to_stderr(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// Writes one file for each resource into a folder, named as Kustomize names them.
///
/// # Errors
/// A resource whose name cannot be that of a file, two resources with one file name, what writing gives.
pub(crate) fn to_folder(folder: &Path, output: &Output) -> Result<()> {
    let names = file_names(output)?;
    for (object, name) in output.objects().iter().zip(names) {
        put(&folder.join(name), output.text(object).as_bytes())?;
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
            let sentence = format!("cannot write {described} to its own file: invalid file name `{name}`");
            return Err(Error::new(ErrorKind::Invalid, sentence).hint("write all resources into one file"));
        }
        if !taken.insert(name.clone()) {
            let sentence = format!("{described} and another resource would both be written to `{name}`");
            return Err(Error::new(ErrorKind::Invalid, sentence).hint("write all resources into one file"));
        }
        names.push(name);
    }
    Ok(names)
}

/// Gives a file a new content, all of it or nothing.
///
/// # Errors
/// If writing fails.
pub(crate) fn replace(path: &Path, content: &[u8]) -> Result<()> {
    let failed = |error: io::Error| Error::disk("write", path, &error);
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

/// Gives a name to a file with this content, all of it or nothing. A link that has the name goes: what it leads to may
/// be anything where others can make links.
///
/// # Errors
/// If writing fails.
pub(crate) fn put(path: &Path, content: &[u8]) -> Result<()> {
    swap_in(path, content, None).map_err(|error| Error::disk("write", path, &error))
}

/// Gives a file below a directory its content, and makes the directories between. Links between them are rejected: a repository that
/// the output directory is in may have put them there.
///
/// # Errors
/// If a link leads on, or writing fails.
pub(crate) fn put_below(top: &Path, file: &Path, content: &[u8]) -> Result<()> {
    fs::create_dir_all(top).map_err(|error| Error::disk("create the directory", top, &error))?;
    let below = file.strip_prefix(top).unwrap_or(file);
    let mut directory = top.to_owned();
    for part in below.parent().into_iter().flat_map(Path::components) {
        directory.push(part);
        if fs::symlink_metadata(&directory).is_ok_and(|found| found.is_symlink()) {
            let message = format!("`{}` is a link, and no output is written through it", directory.display());
            return Err(Error::new(ErrorKind::Denied, message)
                .hint("remove the link, or name another output directory"));
        }
        match fs::create_dir(&directory) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(Error::disk("create the directory", &directory, &error));
            }
            _ => {}
        }
    }
    put(&top.join(below), content)
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

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let names =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_replaced_whole_and_keeps_its_permissions() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.yaml");
        replace(&path, b"old content").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        // A reader that has the old file open keeps it whole.
        let mut reader = fs::File::open(&path).unwrap();
        replace(&path, b"new").unwrap();
        let mut seen = String::new();
        io::Read::read_to_string(&mut reader, &mut seen).unwrap();
        assert_eq!(seen, "old content");
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
        assert_eq!(names(folder.path()), ["out.yaml"]);
    }

    #[test]
    fn a_link_stays_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real"), folder.path().join("link"));
        fs::write(&real, "old").unwrap();
        symlink("real", &link).unwrap();
        replace(&link, b"new").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&real).unwrap(), b"new");
    }

    #[test]
    fn a_link_goes_where_a_name_is_given() {
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real"), folder.path().join("link"));
        fs::write(&real, "old").unwrap();
        symlink("real", &link).unwrap();
        put(&link, b"new").unwrap();
        assert_eq!((fs::read(&real).unwrap(), fs::read(&link).unwrap()), (b"old".to_vec(), b"new".to_vec()));
    }

    #[test]
    fn no_output_goes_through_a_link_below_its_directory() {
        let folder = tempfile::tempdir().unwrap();
        let (top, other) = (folder.path().join("out"), folder.path().join("other"));
        fs::create_dir_all(top.join("a")).unwrap();
        fs::create_dir(&other).unwrap();
        fs::write(other.join("b.yaml"), "old").unwrap();
        symlink(&other, top.join("link")).unwrap();
        symlink(other.join("b.yaml"), top.join("a/b.yaml")).unwrap();
        put_below(&top, &top.join("a/b.yaml"), b"new").unwrap();
        put_below(&top, &top.join("new/c/d.yaml"), b"new").unwrap();
        let error = put_below(&top, &top.join("link/c/d.yaml"), b"new").unwrap_err();
        assert!(error.message().contains("out/link` is a link"), "{error}");
        assert_eq!(
            (names(&other), fs::read(other.join("b.yaml")).unwrap()),
            (vec!["b.yaml".to_owned()], b"old".to_vec())
        );
        assert_eq!(
            (fs::read(top.join("a/b.yaml")).unwrap(), fs::read(top.join("new/c/d.yaml")).unwrap()),
            (b"new".to_vec(), b"new".to_vec())
        );
    }

    #[test]
    fn a_device_is_written_to() {
        replace(Path::new("/dev/null"), b"text").unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }

    #[test]
    fn a_failed_write_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("taken")).unwrap();
        let error = replace(&folder.path().join("taken"), b"text").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Environment);
        let error = replace(&folder.path().join("missing/out.yaml"), b"text").unwrap_err();
        assert!(error.message().contains("missing/out.yaml"), "{error}");
        assert_eq!(names(folder.path()), ["taken"]);
    }

    #[test]
    fn texts_are_joined_as_one_stream() {
        assert_eq!(join(&["a: 1\n", "", "b: 2\n"], Format::Yaml), "a: 1\n---\nb: 2\n");
        assert_eq!(
            join(&["a: 1\n", "---\n# Source: c\nb: 2\n", "\n", "c: 3\n"], Format::Yaml),
            "a: 1\n---\n# Source: c\nb: 2\n---\nc: 3\n"
        );
        assert_eq!(
            join(&["{\"a\":1},\n{\"b\":2}", "", "{}"], Format::Json),
            "[\n{\"a\":1},\n{\"b\":2},\n{}\n]\n"
        );
        let none: [&str; 0] = [];
        assert_eq!(join(&none, Format::Yaml), "");
        assert_eq!(join(&none, Format::Json), "[]\n");
    }
}

//! Files that are edited: read whole, replaced whole or not at all.
//!
//! A link is followed only to a file below the folder that the command was given or runs in: a repository must not be
//! able to have another file of the machine written.

use diagnostic::{Error, ErrorKind, Result};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The longest file in bytes. Values files of large charts have some 200 KiB; more is no configuration of people.
pub(crate) const MAX_FILE_LEN: u64 = 16 << 20;

/// The file behind a path: itself, or what a link points to.
///
/// # Errors
/// If a link leads out of the root, in the last or any other part of the path.
pub(crate) fn locate(path: &Path, root: &Path) -> Result<PathBuf> {
    let Ok(metadata) = fs::symlink_metadata(path) else { return Ok(path.to_owned()) };
    let failed = |error: io::Error| Error::io("follow", path, &error);
    let real = fs::canonicalize(path).map_err(failed)?;
    let root = fs::canonicalize(root).map_err(failed)?;
    if real.starts_with(&root) {
        return Ok(if metadata.is_symlink() { real } else { path.to_owned() });
    }
    Err(Error::invalid(format!("`{}` is a link out of `{}`", path.display(), root.display()))
        .hint("name the file that it points to"))
}

/// Returns where a link at a path may lead: below the working folder, or below the folder of a file elsewhere.
pub(crate) fn root_of(path: &Path) -> &Path {
    let is_below = path.is_relative() && !path.components().any(|part| part == Component::ParentDir);
    match path.parent() {
        Some(parent) if !is_below => parent,
        _ => Path::new("."),
    }
}

/// The text of a file; `None` if there is none.
///
/// # Errors
/// If it cannot be read, is too long, or is not UTF-8.
pub(crate) fn read(path: &Path) -> Result<Option<String>> {
    bytes(path)?.map(|bytes| text(bytes, &path.display().to_string())).transpose()
}

/// Returns what is in a file; `None` if there is none.
///
/// # Errors
/// If it cannot be read, or is too long.
pub(crate) fn bytes(path: &Path) -> Result<Option<Vec<u8>>> {
    let failed = |error: io::Error| Error::io("read", path, &error);
    let mut bytes = Vec::new();
    match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file.and_then(|file| file.take(MAX_FILE_LEN + 1).read_to_end(&mut bytes)).map_err(failed)?,
    };
    if bytes.len() as u64 > MAX_FILE_LEN {
        return Err(Error::invalid(format!(
            "`{}` is longer than {} MiB",
            path.display(),
            MAX_FILE_LEN >> 20
        )));
    }
    Ok(Some(bytes))
}

/// Returns what is in a file, as a text.
///
/// # Errors
/// If it is not UTF-8.
pub(crate) fn text(bytes: Vec<u8>, shown: &str) -> Result<String> {
    String::from_utf8(bytes).map_err(|error| {
        let line = error.as_bytes()[..error.utf8_error().valid_up_to()]
            .iter()
            .filter(|byte| **byte == b'\n')
            .count()
            + 1;
        Error::invalid(format!("line {line} of `{shown}` is not UTF-8"))
            .hint("only files in UTF-8 are edited")
    })
}

/// Writes a file's text in the place of what it had; its permissions stay.
///
/// # Errors
/// If writing fails; then the file is as it was.
pub(crate) fn replace(path: &Path, text: &str) -> Result<()> {
    let temporary = beside(path);
    let written = (|| {
        let permissions = match fs::metadata(path) {
            Ok(metadata) => Some(metadata.permissions()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        let mut file = OpenOptions::new().write(true).create_new(true).open(&temporary)?;
        file.write_all(text.as_bytes())?;
        if let Some(permissions) = permissions {
            file.set_permissions(permissions)?;
        }
        file.sync_all()?;
        fs::rename(&temporary, path)
    })();
    written.map_err(|error| {
        // What failed is reported; a leftover would only confuse.
        let _ = fs::remove_file(&temporary);
        Error::new(ErrorKind::Environment, format!("cannot write `{}`: {error}", path.display()))
    })
}

/// A name in the same folder that no other process or thread uses.
fn beside(path: &Path) -> PathBuf {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    path.with_file_name(format!(".image-updater-{}-{number}.tmp", std::process::id()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn a_file_is_replaced_whole_and_keeps_its_permissions() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("values.yaml");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        // A reader that has the old file open keeps it.
        let mut reader = File::open(&path).unwrap();
        replace(&path, "new").unwrap();
        let mut seen = String::new();
        reader.read_to_string(&mut seen).unwrap();
        assert_eq!((seen.as_str(), read(&path).unwrap().as_deref()), ("old", Some("new")));
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_failed_write_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("taken")).unwrap();
        assert_eq!(replace(&folder.path().join("taken"), "x").unwrap_err().kind(), ErrorKind::Environment);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn links_are_followed_below_the_root_only() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("repo");
        fs::create_dir(&root).unwrap();
        fs::write(folder.path().join("secret"), "x").unwrap();
        fs::write(root.join("real"), "x").unwrap();
        symlink("../secret", root.join("out")).unwrap();
        symlink("real", root.join("in")).unwrap();
        symlink("nothing", root.join("dangling")).unwrap();
        let located = locate(&root.join("in"), &root).unwrap();
        assert_eq!(located, fs::canonicalize(root.join("real")).unwrap());
        assert!(locate(&root.join("out"), &root).unwrap_err().message().contains("is a link out of"));
        assert!(locate(&root.join("dangling"), &root).is_err());
        symlink("..", root.join("up")).unwrap();
        assert!(locate(&root.join("up/secret"), &root).unwrap_err().message().contains("is a link out of"));
        assert_eq!(locate(&root.join("real"), &root).unwrap(), root.join("real"));
        assert_eq!(locate(&root.join("missing"), &root).unwrap(), root.join("missing"));
    }

    #[test]
    fn what_is_no_text_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("values.yaml");
        assert_eq!(read(&path).unwrap(), None);
        fs::write(&path, b"a: 1\nb: \xFF\n").unwrap();
        assert!(read(&path).unwrap_err().message().starts_with("line 2 of"));
        File::create(&path).unwrap().set_len(MAX_FILE_LEN + 1).unwrap();
        assert!(read(&path).unwrap_err().message().contains("longer than 16 MiB"));
    }
}

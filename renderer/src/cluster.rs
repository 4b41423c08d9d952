//! The objects for `lookup`, from files in place of a cluster.
//!
//! In: paths of files and folders. Out: the objects in them. Refused: more than a cluster of any sense has, and what is
//! no file with Kubernetes objects.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use diagnostic::{Error, ErrorKind, Result};
use helm_lite::Cluster;

/// All files together have no more than what thousands of objects take.
const MAX_SIZE: u64 = 256 << 20;

/// Folders nest no deeper; a link could lead round in a circle.
const MAX_DEPTH: usize = 32;

/// The endings of files in folders that hold objects.
const ENDINGS: [&str; 3] = ["yaml", "yml", "json"];

/// Reads the objects at some paths, the later ones in place of earlier ones of the same name.
///
/// # Errors
/// If it cannot be read or is not an object, with the location.
pub(crate) fn read(paths: &[PathBuf]) -> Result<Cluster> {
    let mut reader = Reader { cluster: Cluster::default(), left: MAX_SIZE };
    for path in paths {
        let metadata = fs::metadata(path).map_err(|error| unreadable(path, &error))?;
        if metadata.is_dir() {
            reader.folder(path, 0)?;
        } else {
            reader.file(path)?;
        }
    }
    Ok(reader.cluster)
}

struct Reader {
    cluster: Cluster,
    left: u64,
}

impl Reader {
    fn folder(&mut self, folder: &Path, depth: usize) -> Result<()> {
        if depth > MAX_DEPTH {
            return Err(Error::new(ErrorKind::Invalid, format!("`{}` is nested too deep", folder.display())));
        }
        let entries = fs::read_dir(folder).and_then(|entries| {
            entries.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<Vec<_>>>()
        });
        let mut entries = entries.map_err(|error| unreadable(folder, &error))?;
        entries.sort();
        for path in entries {
            let Ok(metadata) = fs::metadata(&path) else { continue };
            if metadata.is_dir() {
                self.folder(&path, depth + 1)?;
            } else if path.extension().is_some_and(|ending| ENDINGS.iter().any(|known| ending == *known)) {
                self.file(&path)?;
            }
        }
        Ok(())
    }

    fn file(&mut self, path: &Path) -> Result<()> {
        let mut bytes = Vec::new();
        let file = File::open(path).map_err(|error| unreadable(path, &error))?;
        file.take(self.left + 1).read_to_end(&mut bytes).map_err(|error| unreadable(path, &error))?;
        let size = bytes.len() as u64;
        let too_large = || {
            let sentence = format!("the objects for `lookup` are larger than {} MiB", MAX_SIZE >> 20);
            Error::new(ErrorKind::Invalid, sentence)
        };
        self.left = self.left.checked_sub(size).ok_or_else(too_large)?;
        let text = String::from_utf8(bytes)
            .map_err(|_| Error::new(ErrorKind::Invalid, format!("`{}` is not UTF-8", path.display())))?;
        self.cluster.add(&path.display().to_string(), &text)
    }
}

/// The user named it, so it is the user's to mend.
fn unreadable(path: &Path, error: &io::Error) -> Error {
    Error::new(ErrorKind::Invalid, format!("cannot read `{}`: {error}", path.display()))
}

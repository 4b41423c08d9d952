//! Notices that the configuration has changed. It is looked at, as no news come from a file that is mounted into a pod:
//! there a link is put to another folder. What tells is which file it is, how long, and when it was written.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

#[derive(Debug)]
pub(super) struct Watch {
    path: PathBuf,
    seen: Option<Stamp>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    device: u64,
    inode: u64,
    length: u64,
    written: (i64, i64),
}

impl Watch {
    /// Starts with the current state as seen, so this must be called before it is read.
    pub(super) fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), seen: stamp(path) }
    }

    /// Returns true if it is another one than it was when this was last asked.
    pub(super) fn has_changed(&mut self) -> bool {
        let now = stamp(&self.path);
        now != std::mem::replace(&mut self.seen, now)
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    let metadata = fs::metadata(path).ok()?;
    Some(Stamp {
        device: metadata.dev(),
        inode: metadata.ino(),
        length: metadata.len(),
        written: (metadata.mtime(), metadata.mtime_nsec()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_file_that_is_written_or_replaced_or_gone_has_changed_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("image-updater.yaml");
        fs::write(&path, "a").unwrap();
        let mut watch = Watch::new(&path);
        assert!(!watch.has_changed());
        fs::write(&path, "ab").unwrap();
        assert!(watch.has_changed());
        assert!(!watch.has_changed());
        fs::remove_file(&path).unwrap();
        assert!(watch.has_changed());
        assert!(!watch.has_changed());
    }

    #[test]
    fn a_config_map_changes_by_a_link_to_another_folder() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for version in ["1", "2"] {
            fs::create_dir(at(version)).unwrap();
            fs::write(at(version).join("image-updater.yaml"), version).unwrap();
        }
        symlink("1", at("..data")).unwrap();
        symlink("..data/image-updater.yaml", at("image-updater.yaml")).unwrap();
        let mut watch = Watch::new(&at("image-updater.yaml"));
        symlink("2", at("..data_tmp")).unwrap();
        fs::rename(at("..data_tmp"), at("..data")).unwrap();
        assert!(watch.has_changed());
    }
}

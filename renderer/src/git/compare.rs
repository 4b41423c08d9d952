//! Which of the paths that something depends on differ between two states of a repository.
//!
//! In: the files of a commit, and those of another one or of the work tree. Out: for a [`ReadSet`], whether anything in it
//! differs. Files are compared by content, folders that were listed by their names; each path once, however many
//! Applications depend on it. Outside of the repository nothing differs.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use gix::ObjectId;
use vfs::{Disk, Entry, Files as _, ReadSet, Tree as _};

use super::tree::RevisionTree;

/// Two states of the files below a folder.
#[derive(Debug)]
pub struct Comparison {
    top: PathBuf,
    base: Side,
    head: Side,
}

/// One of the states, with what is known of it.
#[derive(Debug)]
struct Side {
    files: SideFiles,
    states: Mutex<HashMap<PathBuf, State>>,
}

#[derive(Debug)]
enum SideFiles {
    Commit(Arc<RevisionTree>),
    WorkTree(PathBuf),
}

/// The state of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Nothing,
    Folder,
    File(ObjectId),
    /// A symbolic link, which is also what stands for all paths through it.
    Link(ObjectId),
    /// It cannot be read, and so not be compared.
    Unknown,
}

impl Comparison {
    /// A commit and another one.
    pub fn of_commits(top: PathBuf, base: Arc<RevisionTree>, head: Arc<RevisionTree>) -> Self {
        Self { top, base: Side::new(SideFiles::Commit(base)), head: Side::new(SideFiles::Commit(head)) }
    }

    /// A commit and what is on disk.
    pub fn with_work_tree(top: PathBuf, base: Arc<RevisionTree>) -> Self {
        let head = Side::new(SideFiles::WorkTree(top.clone()));
        Self { top, base: Side::new(SideFiles::Commit(base)), head }
    }

    /// Returns true if anything of what was consulted differs.
    pub fn touches(&self, set: &ReadSet) -> bool {
        let mut paths = set.files.iter().chain(&set.directories).chain(&set.missing);
        paths.any(|path| self.has_changed(path)) || set.listed.iter().any(|path| self.lists_otherwise(path))
    }

    fn has_changed(&self, path: &Path) -> bool {
        let Ok(below) = path.strip_prefix(&self.top) else { return false };
        let (base, head) = (self.base.state(below), self.head.state(below));
        base != head || base == State::Unknown
    }

    fn lists_otherwise(&self, path: &Path) -> bool {
        let Ok(below) = path.strip_prefix(&self.top) else { return false };
        match (self.base.names(below), self.head.names(below)) {
            (Ok(base), Ok(head)) => base != head,
            (Err(_), Err(_)) => false,
            _ => true,
        }
    }
}

impl Side {
    fn new(files: SideFiles) -> Self {
        Self { files, states: Mutex::default() }
    }

    fn state(&self, below: &Path) -> State {
        let known = |states: &Mutex<HashMap<PathBuf, State>>| {
            states.lock().unwrap_or_else(PoisonError::into_inner).get(below).copied()
        };
        if let Some(state) = known(&self.states) {
            return state;
        }
        let above = below.parent().map_or(State::Folder, |parent| self.state(parent));
        let state = match above {
            State::Folder => self.look(below),
            State::File(_) => State::Nothing,
            other => other,
        };
        self.states.lock().unwrap_or_else(PoisonError::into_inner).insert(below.to_owned(), state);
        state
    }

    /// Returns the state of a path whose directories are resolved.
    fn look(&self, below: &Path) -> State {
        let state = match &self.files {
            SideFiles::Commit(tree) => in_commit(tree, below),
            SideFiles::WorkTree(top) => on_disk(&top.join(below)),
        };
        state.unwrap_or_else(|error| match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => State::Nothing,
            _ => State::Unknown,
        })
    }

    fn names(&self, below: &Path) -> io::Result<Vec<String>> {
        match &self.files {
            SideFiles::Commit(tree) => tree.list(below),
            SideFiles::WorkTree(top) => {
                let mut names = Disk::new().list(&top.join(below))?;
                // What git keeps in the root is in no commit.
                names.retain(|name| name != ".git");
                Ok(names)
            }
        }
    }
}

fn in_commit(tree: &RevisionTree, below: &Path) -> io::Result<State> {
    Ok(match tree.entry(below)? {
        Entry::Directory => State::Folder,
        Entry::File => State::File(tree.id(below)?),
        Entry::Link(_) => State::Link(tree.id(below)?),
    })
}

/// Returns what is at a path of the disk, by the name that git would give it.
fn on_disk(path: &Path) -> io::Result<State> {
    let metadata = fs::symlink_metadata(path)?;
    let name =
        |content: &[u8]| gix::objs::compute_hash(gix::hash::Kind::Sha1, gix::objs::Kind::Blob, content);
    if metadata.is_dir() {
        Ok(State::Folder)
    } else if metadata.is_symlink() {
        let target = fs::read_link(path)?.into_os_string().into_encoded_bytes();
        Ok(name(&target).map_or(State::Unknown, State::Link))
    } else if metadata.is_file() {
        Ok(name(&Disk::new().read(path)?).map_or(State::Unknown, State::File))
    } else {
        Ok(State::Unknown)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::process::Command;

    use vfs::Recorder;

    use super::*;
    use crate::git::Repository;

    fn git(folder: &Path, arguments: &[&str]) {
        let who = ["-c", "user.name=Ann", "-c", "user.email=ann@example.com", "-c", "commit.gpgsign=false"];
        let done = Command::new("git").args(who).args(arguments).current_dir(folder).output().unwrap();
        assert!(done.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    }

    /// A repository with a commit.
    fn repository() -> (tempfile::TempDir, Repository) {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path();
        git(top, &["init", "-q", "-b", "main"]);
        fs::create_dir_all(top.join("base")).unwrap();
        fs::create_dir_all(top.join("app")).unwrap();
        fs::write(top.join("base/a.yaml"), "a: 1\n").unwrap();
        fs::write(top.join("app/b.yaml"), "b: 1\n").unwrap();
        symlink("../base", top.join("app/link")).unwrap();
        git(top, &["add", "."]);
        git(top, &["commit", "-qm", "first"]);
        let repository = Repository::discover(&top.join("app")).unwrap();
        (folder, repository)
    }

    /// Returns what reading a file through the link, and looking for one that is not there, consults.
    fn consulted(repository: &Repository) -> ReadSet {
        let top = repository.work_tree();
        let tree = Arc::new(repository.tree(repository.commit("HEAD").unwrap()).unwrap());
        let files = repository.files(tree, Disk::new());
        let recorder = Recorder::new(&files);
        let (real, _) = recorder.resolve(&top.join("app/link/a.yaml")).unwrap();
        assert_eq!(&*recorder.read(&real).unwrap(), b"a: 1\n");
        recorder.resolve(&top.join("app/none.yaml")).unwrap_err();
        recorder.list(&top.join("base")).unwrap();
        recorder.into_read_set()
    }

    #[test]
    fn only_what_was_consulted_counts() {
        let (folder, repository) = repository();
        let top = folder.path();
        let set = consulted(&repository);
        let touched = || {
            let base = Arc::new(repository.tree(repository.commit("HEAD").unwrap()).unwrap());
            Comparison::with_work_tree(repository.work_tree().to_owned(), base).touches(&set)
        };
        assert!(!touched());
        fs::write(top.join("app/b.yaml"), "b: 2\n").unwrap();
        assert!(!touched(), "nobody read it");
        fs::write(top.join("app/none.yaml"), "").unwrap();
        assert!(touched(), "it was missing");
        fs::remove_file(top.join("app/none.yaml")).unwrap();
        fs::write(top.join("base/new.yaml"), "").unwrap();
        assert!(touched(), "the folder was listed");
        fs::remove_file(top.join("base/new.yaml")).unwrap();
        fs::remove_file(top.join("app/link")).unwrap();
        symlink("../elsewhere", top.join("app/link")).unwrap();
        assert!(touched(), "the link leads elsewhere");
    }

    #[test]
    fn two_commits_are_compared_by_content() {
        let (folder, repository) = repository();
        let set = consulted(&repository);
        fs::write(folder.path().join("base/a.yaml"), "a: 2\n").unwrap();
        git(folder.path(), &["commit", "-qam", "second"]);
        let tree = |revision: &str| Arc::new(repository.tree(repository.commit(revision).unwrap()).unwrap());
        let touched = |base: &str, head: &str| {
            let top = repository.work_tree().to_owned();
            Comparison::of_commits(top, tree(base), tree(head)).touches(&set)
        };
        assert!(touched("HEAD~1", "main"));
        assert!(!touched("HEAD", "main"));
    }

    #[test]
    fn a_revision_that_is_not_here_is_said_so() {
        let (folder, repository) = repository();
        let error = repository.commit("release").unwrap_err();
        assert!(error.message().starts_with("no commit `release` in this repository"), "{error}");
        assert!(error.get_hint().unwrap().starts_with("fetch it"));
        fs::write(folder.path().join("base/a.yaml"), "a: 2\n").unwrap();
        git(folder.path(), &["commit", "-qam", "second"]);
        let clone = tempfile::tempdir().unwrap();
        let from = format!("file://{}", folder.path().display());
        git(clone.path(), &["clone", "-q", "--depth=1", &from, "."]);
        let error = Repository::discover(clone.path()).unwrap().commit("HEAD~1").unwrap_err();
        assert!(error.get_hint().unwrap().contains("the clone is shallow"), "{error}");
    }
}

//! A bare repository with the fetched objects of one remote, in a cache directory or a temporary one.
//!
//! In: branches. Out: their last commits and files, and no more of their history than is asked for; what is there already is not asked for again.
//! One process at a time has a mirror open. What has a reference below `refs/tips` is complete: such a reference is
//! made last and in one step, so that a process may be killed at any moment. A mirror that is damaged is made anew.

use std::fmt::Write as _;
use std::fs::{self, DirBuilder, File};
use std::num::NonZeroU32;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use diagnostic::{Error, ErrorKind, Result, without_account};
use gix::ObjectId;
use gix::progress::Discard;
use gix::protocol::fetch::Shallow;
use gix::protocol::transport::Service;
use gix::remote::Direction;
use sha2::{Digest, Sha256};
use tempfile::TempDir;

use crate::Remote;
use crate::address;
use crate::conversation::{Conversation, Tip, keep_pack};
use crate::error::cause;
use crate::fetch::{create, open_configured, open_repository};
use crate::session::Session;
use crate::tree::{Tree, damaged};

/// With more packs than these, looking for objects is slower than to fetch anew.
const MAX_PACKS: usize = 50;

/// Commits that a server is told of: those of a few branches, of which the newest help most.
const MAX_HAVES: usize = 32;

/// git keeps a branch in a file of its name.
const MAX_NAME: usize = 1024;

/// Reference prefix under which complete commits are recorded.
const TIPS: &str = "refs/tips";

/// A bare repository with what was fetched from a remote.
#[derive(Debug)]
pub struct Mirror {
    folder: PathBuf,
    depth: NonZeroU32,
    _lock: Option<File>,
    _temporary: Option<TempDir>,
}

impl Mirror {
    /// The mirror of a remote in the folder of a cache; waits where another process has it open.
    ///
    /// # Errors
    /// If the disk fails.
    pub fn cached(cache: &Path, remote: &Remote) -> Result<Self> {
        // What is cached may be private.
        let made = DirBuilder::new().recursive(true).mode(0o700).create(cache);
        made.map_err(|error| crate::error::disk("create the directory", cache, &error))?;
        let name = name(&remote.url);
        let path = cache.join(format!("{name}.lock"));
        let lock = File::options().create(true).truncate(false).write(true).open(&path);
        let lock = lock.and_then(|file| file.lock().map(|()| file));
        let lock = lock.map_err(|error| crate::error::disk("lock", &path, &error))?;
        let mirror =
            Self { folder: cache.join(name), depth: NonZeroU32::MIN, _lock: Some(lock), _temporary: None };
        if mirror.is_sound() {
            mirror.tidy();
        } else {
            mirror.reset()?;
        }
        Ok(mirror)
    }

    /// A mirror that goes when it is dropped.
    ///
    /// # Errors
    /// If the disk fails.
    pub fn temporary() -> Result<Self> {
        let folder = TempDir::new()
            .map_err(|error| crate::error::disk("create a directory in", &std::env::temp_dir(), &error))?;
        let mirror = Self {
            folder: folder.path().join("mirror.git"),
            depth: NonZeroU32::MIN,
            _lock: None,
            _temporary: Some(folder),
        };
        mirror.reset()?;
        Ok(mirror)
    }

    /// Fetches so many of each branch's last commits instead of one, for whoever asks for its
    /// [`history`](Self::history) anyway: then that takes no second exchange.
    #[must_use]
    pub fn remembering(mut self, commits: u32) -> Self {
        self.depth = NonZeroU32::new(commits).unwrap_or(NonZeroU32::MIN);
        self
    }

    /// Fetches the last commits of branches (`HEAD` for the one that the server calls current) in one exchange; nothing
    /// for one that the server does not have.
    ///
    /// # Errors
    /// If the server cannot be reached, or a name is none of a branch.
    pub fn fetch(&self, remote: &Remote, branches: &[&str]) -> Result<Vec<Option<Tip>>> {
        for branch in branches {
            check_branch(branch)?;
        }
        match self.try_fetch(remote, branches) {
            // Packs that are lost or broken are no help to anybody.
            Err(Failed { has_history: true, .. }) => {
                self.reset()?;
                self.try_fetch(remote, branches)
            }
            fetched => fetched,
        }
        .map_err(|failed| failed.error)
    }

    /// The files of a commit that was fetched.
    ///
    /// # Errors
    /// If it was not.
    pub fn tree(&self, commit: ObjectId) -> Result<Tree> {
        Tree::of_commit(open_repository(&self.folder)?, commit)
    }

    /// Stores a pack that a server has got, with the last of its commits.
    pub(crate) fn keep(&self, pack: &[u8], commit: ObjectId) -> Result<()> {
        let folder = self.folder.join("objects/pack");
        let mut pack = pack;
        keep_pack(&mut pack, &folder, None, &mut Discard, &AtomicBool::new(false)).map_err(|error| {
            Error::new(ErrorKind::Unavailable, format!("a pack cannot be stored: {}", cause(&error)))
        })?;
        note_tip(&self.folder, commit)
    }

    /// Returns where the repository is.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    fn try_fetch(&self, remote: &Remote, branches: &[&str]) -> Result<Vec<Option<Tip>>, Failed> {
        let (remote, folder, depth) = (remote.clone(), self.folder.clone(), self.depth);
        let branches: Vec<String> = branches.iter().map(|branch| (*branch).to_owned()).collect();
        // The session's own failures are errors, what its work finds is a value.
        let fetched = Session::run(remote.access.timeout, move |session| {
            Ok(fetch(&remote, &folder, &branches, depth, session))
        });
        fetched.map_err(Failed::from)?
    }

    /// Returns true if it is a repository that is worth keeping.
    fn is_sound(&self) -> bool {
        let packs = fs::read_dir(self.folder.join("objects/pack"));
        // The folder of the tips is made last: without it, whoever made the mirror was killed.
        let is_whole = self.folder.join(TIPS).is_dir();
        is_whole
            && open_repository(&self.folder).is_ok()
            && packs.is_ok_and(|packs| packs.count() < 2 * MAX_PACKS)
    }

    /// Removes what a killed process left in the way.
    fn tidy(&self) {
        let _ = fs::remove_file(self.folder.join("shallow.lock"));
        for entry in fs::read_dir(self.folder.join("objects/pack")).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.extension().is_none_or(|extension| extension != "pack" && extension != "idx") {
                let _ = fs::remove_file(path);
            }
        }
    }

    fn reset(&self) -> Result<()> {
        let removed = |path: &Path| match fs::remove_dir_all(path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(crate::error::disk("remove", path, &error))
            }
            _ => Ok(()),
        };
        // First of all nothing is complete any more.
        removed(&self.folder.join(TIPS))?;
        removed(&self.folder)?;
        create(&self.folder)?;
        let tips = self.folder.join(TIPS);
        fs::create_dir_all(&tips).map_err(|error| crate::error::disk("create the directory", &tips, &error))
    }
}

/// A fetch that failed.
struct Failed {
    error: Error,
    /// True if what the mirror had before may be the reason.
    has_history: bool,
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Self { error, has_history: false }
    }
}

fn fetch(
    remote: &Remote,
    folder: &Path,
    branches: &[String],
    depth: NonZeroU32,
    session: &Arc<Session>,
) -> Result<Vec<Option<Tip>>, Failed> {
    let repository = open_configured(folder)?;
    let url = address::resolve(&remote.url, Direction::Fetch, &repository)?;
    let mut conversation =
        Conversation::open(&url, Service::UploadPack, &remote.access, &repository, session)?;
    let tips = conversation.branches(branches)?;
    let known = known_tips(folder);
    // Each came with a pack of its own, so that the loss of any pack shows.
    for commit in &known {
        let tree = repository.find_commit(*commit).and_then(|commit| commit.tree().map(drop));
        tree.map_err(|error| Failed { error: damaged(&cause(&error)), has_history: true })?;
    }
    let mut wanted: Vec<ObjectId> = tips.iter().flatten().map(|tip| tip.commit).collect();
    wanted.sort_unstable();
    wanted.dedup();
    wanted.retain(|commit| !known.contains(commit));
    if wanted.is_empty() {
        return Ok(tips);
    }
    let haves = &known[..known.len().min(MAX_HAVES)];
    conversation
        .receive(&wanted, haves, &Shallow::DepthAtRemote(depth))
        .map_err(|error| Failed { has_history: !haves.is_empty() && !conversation.is_cut_off(), error })?;
    for commit in wanted {
        note_tip(folder, commit)?;
    }
    Ok(tips)
}

/// The commits that are here with all their files, newest first.
fn known_tips(folder: &Path) -> Vec<ObjectId> {
    let entries = fs::read_dir(folder.join(TIPS)).into_iter().flatten().flatten();
    let mut tips: Vec<_> = entries
        .filter_map(|entry| {
            let id = ObjectId::from_hex(entry.file_name().as_encoded_bytes()).ok()?;
            Some((entry.metadata().ok()?.modified().ok()?, id))
        })
        .collect();
    tips.sort_unstable();
    tips.into_iter().rev().map(|(_, id)| id).collect()
}

fn note_tip(folder: &Path, commit: ObjectId) -> Result<()> {
    let (staged, path) = (folder.join("tip.new"), folder.join(TIPS).join(commit.to_string()));
    fs::write(&staged, format!("{commit}\n"))
        .and_then(|()| fs::rename(&staged, &path))
        .map_err(|error| crate::error::disk("write", &path, &error))
}

/// Refuses what git does not take for a branch.
pub(crate) fn check_branch(name: &str) -> Result<()> {
    let full = crate::conversation::full_name(name);
    if name.starts_with('-')
        || name.len() > MAX_NAME
        || (name != crate::HEAD && gix::validate::reference::name(full.as_ref()).is_err())
    {
        let reason = format!("invalid branch name `{}`", name.escape_debug());
        return Err(Error::new(ErrorKind::Invalid, reason));
    }
    Ok(())
}

/// A folder's name for an address: its last part, and 128 bits of SHA-256 of the whole without who asks.
fn name(url: &str) -> String {
    let url = without_account(url);
    let last = url.trim_end_matches('/').rsplit(['/', ':']).next().unwrap_or_default();
    let plain = |character: &char| character.is_ascii_alphanumeric() || "._-".contains(*character);
    let mut name: String = last.trim_end_matches(".git").chars().filter(plain).take(40).collect();
    name.push('-');
    for byte in &Sha256::digest(url.as_bytes())[..16] {
        let _ = write!(name, "{byte:02x}");
    }
    name + ".git"
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::thread;
    use std::time::Duration;

    use super::*;
    use crate::Access;

    fn remote() -> Remote {
        Remote {
            url: "https://host/org/config".to_owned(),
            access: Access::new("test", Duration::from_secs(1)),
        }
    }

    #[test]
    fn a_mirror_that_has_grown_is_made_anew() {
        let cache = tempfile::tempdir().unwrap();
        let mirror = Mirror::cached(cache.path(), &remote()).unwrap();
        let id = ObjectId::null(gix::hash::Kind::Sha1);
        note_tip(mirror.folder(), id).unwrap();
        drop(mirror);
        let mirror = Mirror::cached(cache.path(), &remote()).unwrap();
        assert_eq!(known_tips(mirror.folder()), [id]);
        for number in 0..2 * MAX_PACKS {
            fs::write(mirror.folder().join(format!("objects/pack/pack-{number}.pack")), "").unwrap();
        }
        drop(mirror);
        let mirror = Mirror::cached(cache.path(), &remote()).unwrap();
        assert!(known_tips(mirror.folder()).is_empty());
        assert_eq!(fs::read_dir(mirror.folder().join("objects/pack")).unwrap().count(), 0);
    }

    #[test]
    fn a_mirror_that_was_half_made_is_made_anew() {
        let cache = tempfile::tempdir().unwrap();
        let mirror = Mirror::cached(cache.path(), &remote()).unwrap();
        fs::remove_dir(mirror.folder().join(TIPS)).unwrap();
        drop(mirror);
        let mirror = Mirror::cached(cache.path(), &remote()).unwrap();
        note_tip(mirror.folder(), ObjectId::null(gix::hash::Kind::Sha1)).unwrap();
    }

    #[test]
    fn a_mirror_is_open_once() {
        let cache = tempfile::tempdir().unwrap();
        let mirror = Mirror::cached(cache.path(), &remote()).unwrap();
        let (sender, opened) = channel();
        let folder = cache.path().to_owned();
        let other = thread::spawn(move || {
            let _mirror = Mirror::cached(&folder, &remote()).unwrap();
            sender.send(()).unwrap();
        });
        assert!(opened.recv_timeout(Duration::from_millis(100)).is_err());
        drop(mirror);
        opened.recv().unwrap();
        other.join().unwrap();
    }

    #[test]
    fn a_mirror_is_named_without_who_asks() {
        let named = name("https://host/org/config.git");
        assert!(named.starts_with("config-"), "{named}");
        assert_eq!(named, name("https://me:hunter2@host/org/config.git"));
        assert_ne!(named, name("https://host/other/config.git"));
        assert!(name("ssh://h/..").starts_with("..-"));
    }

    #[test]
    fn a_name_that_git_refuses_is_no_branch() {
        for name in ["", "-x", "a..b", "a b", "x.lock", "a@{b", "/a", "a/", "refs/heads/a..b"] {
            assert_eq!(check_branch(name).unwrap_err().kind(), ErrorKind::Invalid, "{name}");
        }
        for name in ["main", "feature/x", "HEAD", "refs/for/main", "image-updater-1a2b"] {
            check_branch(name).unwrap();
        }
    }
}

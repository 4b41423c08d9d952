//! One fetch from a git server: which commit a revision is, and its objects, without its history.
//!
//! In: a remote, a revision, a folder for the objects. Out: the commit, and where its objects are. Nothing that a
//! repository contains is run or configures anything: what is followed is the configuration of whoever runs this
//! (credential helpers, `insteadOf`, ssh, proxies). A repository on this machine's disk is read where it is, without a
//! git program.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use diagnostic::{Error, ErrorKind, Result};
use gix::ObjectId;
use gix::protocol::fetch::Shallow;
use gix::protocol::transport::Service;
use gix::remote::Direction;
use gix::sec::Permission;
use gix::url::Scheme;

use crate::Remote;
use crate::address;
use crate::conversation::Conversation;
use crate::error::cause;
use crate::local;
use crate::revision::Revision;
use crate::session::Session;

/// A fetched revision.
#[derive(Debug)]
pub struct Fetched {
    /// The commit.
    pub commit: ObjectId,
    /// The repository that has its objects; none where they are known already.
    pub repository: Option<PathBuf>,
}

/// Fetches the commit that a revision is (a branch, a tag, a commit id in full; the remote's HEAD where absent), unless
/// it is known. `scratch` is a folder that does not exist yet, for a repository with the objects.
///
/// # Errors
/// If the server cannot be reached, or has no such commit.
pub fn fetch_commit(
    remote: &Remote,
    revision: Option<&str>,
    scratch: &Path,
    is_known: impl Fn(ObjectId) -> bool + Send + 'static,
) -> Result<Fetched> {
    let revision = Revision::parse(revision)?;
    let (remote, scratch) = (remote.clone(), scratch.to_owned());
    Session::run(remote.access.timeout, move |session| fetch(&remote, &revision, &scratch, is_known, session))
}

fn fetch(
    remote: &Remote,
    revision: &Revision,
    scratch: &Path,
    is_known: impl Fn(ObjectId) -> bool,
    session: &Arc<Session>,
) -> Result<Fetched> {
    let configuration = create(scratch)?;
    let url = address::resolve(&remote.url, Direction::Fetch, &configuration)?;
    if url.scheme == Scheme::File {
        return in_place(&url, revision, is_known);
    }
    let open = || Conversation::open(&url, Service::UploadPack, &remote.access, &configuration, session);
    let mut conversation = open()?;
    let wanted = conversation.find(revision)?;
    if let Some(commit) = wanted.commit
        && is_known(commit)
    {
        return Ok(Fetched { commit, repository: None });
    }
    let received = conversation.receive(&[wanted.object], &[], &depth_one());
    match (received, revision) {
        (Ok(()), _) => {}
        (Err(failure), Revision::Commit(_)) if session.failure().is_none() => {
            // Not every server gives a commit that is no branch's or tag's; then it is somewhere below them.
            drop(conversation);
            let mut conversation = open()?;
            let tips = conversation.tips()?;
            conversation.receive(&tips, &[], &Shallow::NoChange).map_err(|_| failure)?;
        }
        (Err(failure), _) => return Err(failure),
    }
    let repository = open_repository(scratch)?;
    let commit = peel(&repository, wanted.object, revision)?;
    Ok(Fetched { commit, repository: Some(scratch.to_owned()) })
}

pub(crate) fn depth_one() -> Shallow {
    Shallow::DepthAtRemote(std::num::NonZeroU32::MIN)
}

/// Makes a bare repository for what is received.
pub(crate) fn create(folder: &Path) -> Result<gix::Repository> {
    let made = gix::ThreadSafeRepository::init_opts(
        folder,
        gix::create::Kind::Bare,
        gix::create::Options::default(),
        configured(),
    );
    made.map(|repository| repository.to_thread_local()).map_err(|error| {
        let reason = format!("no repository can be made at `{}`: {}", folder.display(), cause(&error));
        Error::new(ErrorKind::Unavailable, reason)
    })
}

/// Opens a repository of our own.
pub(crate) fn open_configured(folder: &Path) -> Result<gix::Repository> {
    let opened = gix::ThreadSafeRepository::open_opts(folder, configured());
    opened.map(|repository| repository.to_thread_local()).map_err(|error| {
        let reason = format!("the repository at `{}` cannot be opened: {}", folder.display(), cause(&error));
        Error::new(ErrorKind::Unavailable, reason)
    })
}

/// With the configuration of whoever runs this, and nothing from the variables by which git tells a hook which
/// repository it runs in.
fn configured() -> gix::open::Options {
    let mut permissions = gix::open::Permissions::all();
    permissions.env.objects = Permission::Deny;
    gix::open::Options::default().permissions(permissions)
}

/// A repository of this machine, read without its configuration having a say in anything.
///
/// # Errors
/// If there is none.
pub fn open_repository(path: &Path) -> Result<gix::Repository> {
    gix::open_opts(path, gix::open::Options::isolated()).map_err(|error| {
        let kind =
            if error.is_not_found() || !path.exists() { ErrorKind::NotFound } else { ErrorKind::Unavailable };
        Error::new(kind, format!("no git repository found at `{}`", path.display()))
    })
}

/// A commit of a repository on this machine's disk.
fn in_place(url: &gix::Url, revision: &Revision, is_known: impl Fn(ObjectId) -> bool) -> Result<Fetched> {
    let path = local::path(url);
    let repository = open_repository(&path)?;
    let object = match revision {
        Revision::Commit(id) => *id,
        Revision::Name(_, names) => {
            let found = names.iter().find_map(|name| {
                let full = gix::refs::FullName::try_from(name.clone()).ok()?;
                let mut reference = repository.try_find_reference(full.as_ref()).ok().flatten()?;
                reference.peel_to_id().ok().map(gix::Id::detach)
            });
            found.ok_or_else(|| revision.missing())?
        }
    };
    let commit = peel(&repository, object, revision)?;
    let repository = (!is_known(commit)).then_some(path);
    Ok(Fetched { commit, repository })
}

fn peel(repository: &gix::Repository, object: ObjectId, revision: &Revision) -> Result<ObjectId> {
    let object = repository.find_object(object).map_err(|_| revision.missing())?;
    let commit = object.peel_to_kind(gix::objs::Kind::Commit).map_err(|_| {
        Error::new(ErrorKind::Invalid, "the revision is a tag that does not point to a commit")
    })?;
    Ok(commit.id)
}

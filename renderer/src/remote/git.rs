//! One fetch from a git server: which commit a revision is, and its objects, without its history.
//!
//! In: an address, a revision, a folder for the objects. Out: the commit, and where its objects are. Nothing that a
//! repository contains is run or configures anything: what is followed is the configuration of whoever runs this
//! (credential helpers, `insteadOf`, ssh, proxies). Protocols other than https, http, ssh and file are refused.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gix::ObjectId;
use gix::protocol::fetch::Shallow;
use gix::sec::Permission;
use gix::url::Scheme;
use kustomize::ErrorKind;

use super::conversation::Conversation;
use super::failure::{Failure, Result, cause};
use super::revision::Revision;
use super::session::Session;

/// What is to be fetched.
pub(super) struct Order {
    /// What git is given.
    pub(super) url: String,
    /// A branch, a tag, a commit id in full; the remote's HEAD where absent.
    pub(super) revision: Option<String>,
    /// A folder that does not exist yet, for a repository with the objects.
    pub(super) scratch: PathBuf,
}

/// What a revision turned out to be.
pub(super) struct Fetched {
    pub(super) commit: ObjectId,
    /// The repository that has its objects; none where they are known already.
    pub(super) repository: Option<PathBuf>,
}

/// Fetches the commit that a revision is, unless it is known.
pub(super) fn fetch(
    order: &Order,
    is_known: impl Fn(ObjectId) -> bool,
    session: &Arc<Session>,
) -> Result<Fetched> {
    let revision = Revision::parse(order.revision.as_deref())?;
    let scratch = scratch_repository(&order.scratch)?;
    let url = address(&order.url, &scratch)?;
    if url.scheme == Scheme::File {
        return local(&url, &revision, is_known);
    }
    let mut conversation = Conversation::open(&url, &scratch, session)?;
    let wanted = conversation.find(&revision)?;
    if let Some(commit) = wanted.commit
        && is_known(commit)
    {
        return Ok(Fetched { commit, repository: None });
    }
    let received = conversation.receive(&[wanted.object], &depth_one());
    match (received, &revision) {
        (Ok(()), _) => {}
        (Err(failure), Revision::Commit(_)) if session.failure().is_none() => {
            // Not every server gives a commit that is no branch's or tag's; then it is somewhere below them.
            drop(conversation);
            let mut conversation = Conversation::open(&url, &scratch, session)?;
            let tips = conversation.tips()?;
            conversation.receive(&tips, &Shallow::NoChange).map_err(|_| failure)?;
        }
        (Err(failure), _) => return Err(failure),
    }
    let repository = open(&order.scratch)?;
    let commit = peel(&repository, wanted.object, &revision)?;
    Ok(Fetched { commit, repository: Some(order.scratch.clone()) })
}

fn depth_one() -> Shallow {
    Shallow::DepthAtRemote(std::num::NonZeroU32::MIN)
}

/// A repository for what is received. It takes the configuration of whoever runs this, and nothing from the variables
/// by which git tells a hook which repository it runs in.
fn scratch_repository(folder: &Path) -> Result<gix::Repository> {
    let mut permissions = gix::open::Permissions::all();
    permissions.env.objects = Permission::Deny;
    let options = gix::open::Options::default().permissions(permissions);
    let made = gix::ThreadSafeRepository::init_opts(
        folder,
        gix::create::Kind::Bare,
        gix::create::Options::default(),
        options,
    );
    made.map(|repository| repository.to_thread_local()).map_err(|error| {
        let reason = format!("no repository can be made at `{}`: {}", folder.display(), cause(&error));
        Failure::new(ErrorKind::Unavailable, reason)
    })
}

/// A repository of this machine, read without its configuration having a say in anything.
pub(super) fn open(path: &Path) -> Result<gix::Repository> {
    gix::open_opts(path, gix::open::Options::isolated()).map_err(|error| {
        let kind =
            if error.is_not_found() || !path.exists() { ErrorKind::NotFound } else { ErrorKind::Unavailable };
        Failure::new(kind, format!("there is no git repository at `{}`", path.display()))
    })
}

/// The address after `insteadOf`, where its protocol is allowed.
fn address(written: &str, configuration: &gix::Repository) -> Result<gix::Url> {
    let refused = |reason: String| Failure::new(ErrorKind::Denied, reason);
    let url = gix::url::parse(written).map_err(|error| {
        Failure::new(ErrorKind::Invalid, format!("the address is malformed: {}", cause(&error)))
    })?;
    // What has neither a scheme nor the colon of scp would be a path relative to wherever this runs.
    if url.scheme == Scheme::File && !written.starts_with("file://") {
        return Err(Failure::new(ErrorKind::Invalid, "the address names no host")
            .hint("write it as https://host/path or user@host:path"));
    }
    let remote = configuration.remote_at(url).map_err(|error| {
        Failure::new(
            ErrorKind::Unavailable,
            format!("git's `insteadOf` cannot be applied: {}", cause(&error)),
        )
    })?;
    let url = remote.url(gix::remote::Direction::Fetch).cloned();
    let url = url.ok_or_else(|| refused("git's configuration leaves no address to fetch from".to_owned()))?;
    match url.scheme {
        Scheme::Https | Scheme::Http | Scheme::Ssh | Scheme::File => Ok(url),
        other => Err(refused(format!("the protocol `{}` is not allowed", other.as_str()))
            .hint("https, http, ssh and file are")),
    }
}

/// A commit of a repository on this machine's disk.
fn local(url: &gix::Url, revision: &Revision, is_known: impl Fn(ObjectId) -> bool) -> Result<Fetched> {
    // git has `file://a/b` mean `/a/b`.
    let mut path = url.host().map(|host| format!("/{host}").into_bytes()).unwrap_or_default();
    path.extend_from_slice(&url.path);
    let path = PathBuf::from(OsString::from_vec(path));
    let repository = open(&path)?;
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
        Failure::new(ErrorKind::Invalid, "the revision is a tag of something that is no commit")
    })?;
    Ok(commit.id)
}

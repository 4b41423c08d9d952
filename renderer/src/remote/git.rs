//! One fetch from a git server: which commit a revision is, and its objects, without its history.
//!
//! In: an address, a revision, a folder for the objects. Out: the commit, and where its objects are. Nothing that a
//! repository contains is run or configures anything: what is followed is the configuration of whoever runs this
//! (credential helpers, `insteadOf`, ssh, proxies). Protocols other than https, http, ssh and file are refused.

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gix::ObjectId;
use gix::bstr::{BStr, BString, ByteSlice};
use gix::credentials::helper::Action;
use gix::odb::pack;
use gix::progress::Discard;
use gix::protocol::fetch::{self, Arguments, Shallow, Tags, negotiate};
use gix::protocol::handshake::Ref;
use gix::protocol::ls_refs::RefPrefixes;
use gix::protocol::transport::client;
use gix::protocol::transport::client::blocking_io::Transport;
use gix::protocol::transport::{Protocol, Service};
use gix::protocol::{Handshake, LsRefsCommand};
use gix::sec::Permission;
use gix::url::Scheme;
use kustomize::ErrorKind;

use super::failure::{Failure, Result};
use super::http;
use super::session::Session;
use super::ssh::{Complaint, SshTransport};
use super::web;

/// No object is larger: the largest file that a build may load.
const MAX_OBJECT: usize = kustomize::MAX_FILE as usize;

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

/// A revision as an entry names it.
enum Revision {
    Commit(ObjectId),
    /// The names that it may have in full, in the order in which git looks for them.
    Name(String, Vec<BString>),
}

impl Revision {
    fn parse(revision: Option<&str>) -> Result<Self> {
        let name = revision.unwrap_or("HEAD");
        if name.len() == gix::hash::Kind::Sha1.len_in_hex()
            && let Ok(id) = ObjectId::from_hex(name.as_bytes())
        {
            return Ok(Self::Commit(id));
        }
        if gix::validate::reference::name_partial(name.into()).is_err() {
            let reason = format!("`{name}` is no name of a branch or tag and no commit id in full");
            return Err(Failure::new(ErrorKind::Invalid, reason));
        }
        // git's ref_rev_parse_rules (refs.c).
        let places = ["", "refs/", "refs/tags/", "refs/heads/", "refs/remotes/"];
        let mut names: Vec<BString> = places.iter().map(|place| format!("{place}{name}").into()).collect();
        names.push(format!("refs/remotes/{name}/HEAD").into());
        Ok(Self::Name(name.to_owned(), names))
    }

    fn missing(&self) -> Failure {
        let name = match self {
            Self::Commit(id) => {
                return Failure::new(ErrorKind::NotFound, format!("the repository has no commit `{id}`"));
            }
            Self::Name(name, _) if name == "HEAD" => {
                return Failure::new(ErrorKind::NotFound, "the repository is empty");
            }
            Self::Name(name, _) => name,
        };
        let missing =
            Failure::new(ErrorKind::NotFound, format!("the repository has no branch or tag `{name}`"));
        if name.len() >= 7 && name.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return missing.hint("a commit id is written in full, with 40 digits");
        }
        missing
    }
}

/// An object to ask a server for.
struct Wanted {
    object: ObjectId,
    /// The commit that it is or leads to, where the server says so.
    commit: Option<ObjectId>,
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

/// A server that has introduced itself.
struct Conversation<'r> {
    repository: &'r gix::Repository,
    session: Arc<Session>,
    handshake: Handshake,
    transport: Box<dyn Transport + 'r>,
    complaint: Option<Complaint>,
}

impl<'r> Conversation<'r> {
    fn open(url: &gix::Url, repository: &'r gix::Repository, session: &Arc<Session>) -> Result<Self> {
        let (mut transport, complaint): (Box<dyn Transport>, _) = if url.scheme == Scheme::Ssh {
            let (transport, complaint) = SshTransport::connect(url, repository, session)?;
            (Box::new(transport), Some(complaint))
        } else {
            (Box::new(http::connect(url, repository, session)?), None)
        };
        let mut credentials = Credentials { repository, asked: None };
        let introduced = gix::protocol::handshake(
            &mut transport,
            Service::UploadPack,
            |action| credentials.answer(action),
            Vec::new(),
            &mut Discard,
        );
        match introduced {
            Ok(handshake) => {
                Ok(Self { repository, session: Arc::clone(session), handshake, transport, complaint })
            }
            Err(error) => {
                drop(transport);
                Err(explain(&error, session, complaint))
            }
        }
    }

    /// The object behind a revision. A commit id is taken at its word.
    fn find(&mut self, revision: &Revision) -> Result<Wanted> {
        match revision {
            Revision::Commit(id) => Ok(Wanted { object: *id, commit: Some(*id) }),
            Revision::Name(_, names) => {
                let references = self.references(names)?;
                let found = names.iter().find_map(|name| {
                    references.iter().find_map(|reference| wanted(reference, name.as_bstr()))
                });
                found.ok_or_else(|| revision.missing())
            }
        }
    }

    /// The objects of all branches and tags.
    fn tips(&mut self) -> Result<Vec<ObjectId>> {
        let places = ["refs/heads/", "refs/tags/"];
        let references = self.references(&places.map(BString::from))?;
        let is_tip = |name: &BStr| places.iter().any(|place| name.starts_with_str(place));
        let mut tips: Vec<ObjectId> = references
            .iter()
            .map(Ref::unpack)
            .filter(|(name, ..)| is_tip(name))
            .filter_map(|(_, target, _)| target.map(ToOwned::to_owned))
            .collect();
        tips.sort_unstable();
        tips.dedup();
        Ok(tips)
    }

    /// The references that a server has; from protocol 2 on those only whose names begin with one of the prefixes.
    fn references(&mut self, prefixes: &[BString]) -> Result<Vec<Ref>> {
        if let Some(references) = &self.handshake.refs {
            return Ok(references.clone());
        }
        let mut wanted = RefPrefixes::new();
        wanted.extend(prefixes.iter().cloned());
        let command = LsRefsCommand::new(Some(wanted), &self.handshake.capabilities, agent());
        let listed = command.invoke_blocking(&mut self.transport, &mut Discard, false);
        listed.map_err(|error| self.explain(&error))
    }

    /// Receives objects into the repository.
    fn receive(&mut self, objects: &[ObjectId], shallow: &Shallow) -> Result<()> {
        let pack_folder = self.repository.objects.store_ref().path().join("pack");
        let session = Arc::clone(&self.session);
        let context = fetch::Context {
            handshake: &mut self.handshake,
            transport: &mut self.transport,
            user_agent: agent(),
            trace_packetlines: false,
        };
        let options = fetch::Options {
            shallow_file: self.repository.git_dir().join("shallow"),
            shallow,
            tags: Tags::None,
            reject_shallow_remote: false,
        };
        let received = gix::protocol::fetch(
            &mut Wants(objects),
            |pack, progress, stopped| {
                let bounds = pack::bundle::write::Options {
                    alloc_limit_bytes: Some(MAX_OBJECT),
                    ..pack::bundle::write::Options::default()
                };
                let no_bases = None::<gix::OdbHandle>;
                let kind = gix::hash::Kind::Sha1;
                pack::Bundle::write_to_directory(
                    pack,
                    Some(&pack_folder),
                    progress,
                    stopped,
                    no_bases,
                    kind,
                    bounds,
                )
                .map(|_| true)
            },
            Discard,
            &session.stopped,
            context,
            options,
        );
        if self.handshake.server_protocol_version == Protocol::V2 {
            // It is only polite.
            let _ = gix::protocol::indicate_end_of_interaction(&mut self.transport, false);
        }
        match received {
            Ok(Some(_)) => Ok(()),
            Ok(None) => Err(Failure::new(ErrorKind::NotFound, "the server has nothing to send")),
            Err(error) => Err(self.explain(&error)),
        }
    }

    fn explain(&mut self, error: &gix::Error) -> Failure {
        self.session.end_program();
        explain(error, &self.session, self.complaint.take())
    }
}

fn agent() -> (&'static str, Option<String>) {
    ("agent", Some(concat!("renderer/", env!("CARGO_PKG_VERSION")).into()))
}

fn wanted(reference: &Ref, name: &BStr) -> Option<Wanted> {
    let (full_name, target, peeled) = reference.unpack();
    let object = target.filter(|_| full_name == name)?.to_owned();
    // Where a server does not say what a tag is of, the tag's id is no commit that anything is known by.
    Some(Wanted { object, commit: Some(peeled.map_or(object, ToOwned::to_owned)) })
}

/// Asks git's credential helpers, and `GIT_ASKPASS`, but never the terminal: builds run side by side and unattended.
struct Credentials<'r> {
    repository: &'r gix::Repository,
    /// Those that were asked, to hear whether what they gave was of use.
    asked: Option<(gix::credentials::helper::Cascade, gix::prompt::Options)>,
}

impl Credentials<'_> {
    fn answer(&mut self, action: Action) -> gix::Result<Option<gix::credentials::protocol::Outcome>> {
        if let Action::Get(context) = &action {
            // After a redirect it is another address than the first.
            let url = gix::url::parse(context.url.clone().unwrap_or_default())?;
            let (helpers, _, mut prompt) = self.repository.config_snapshot().credential_helpers(url)?;
            prompt.mode = gix::prompt::Mode::Disable;
            self.asked = Some((helpers, prompt));
        }
        match &mut self.asked {
            Some((helpers, prompt)) => helpers.invoke(action, prompt.clone()),
            None => Ok(None),
        }
    }
}

/// Asks for some objects, having none.
struct Wants<'a>(&'a [ObjectId]);

impl fetch::Negotiate for Wants<'_> {
    fn mark_complete_and_common_ref(&mut self) -> gix::Result<negotiate::Action> {
        Ok(negotiate::Action::MustNegotiate { remote_ref_target_known: Vec::new() })
    }

    fn add_wants(&mut self, arguments: &mut Arguments, _: &[bool]) -> bool {
        for object in self.0 {
            arguments.want(object);
        }
        !self.0.is_empty()
    }

    fn one_round(
        &mut self,
        state: &mut negotiate::one_round::State,
        _: &mut Arguments,
        _: Option<&fetch::Response>,
    ) -> gix::Result<(negotiate::Round, bool)> {
        let round = negotiate::Round {
            haves_sent: 0,
            in_vain: 0,
            haves_to_send: state.haves_to_send,
            previous_response_had_at_least_one_in_common: false,
        };
        Ok((round, true))
    }
}

/// Says why a server could not be talked to.
fn explain(error: &gix::Error, session: &Session, complaint: Option<Complaint>) -> Failure {
    if let Some(failure) = session.failure() {
        return failure;
    }
    if let Some(error) = error.downcast_any_ref::<reqwest::Error>() {
        return match error.status() {
            Some(status) => web::refusal(status),
            None => web::explain(error, session.time_left()),
        };
    }
    if error.is_unauthenticated() {
        return Failure::new(ErrorKind::Denied, "the server wants credentials, and has got none that it takes")
            .hint("git's credential helpers are asked, the terminal is not; a server may also hide what it does not have");
    }
    if matches!(error.downcast_any_ref(), Some(client::Error::AuthenticationRefused(_))) {
        return Failure::new(
            ErrorKind::Denied,
            "the server wants credentials, which are not sent in clear text",
        )
        .hint("use https");
    }
    let reason = complaint.and_then(Complaint::last_line).unwrap_or_else(|| cause(error));
    Failure::new(ErrorKind::Unavailable, reason)
}

fn cause(error: &gix::Error) -> String {
    let broke_off = |error: &io::Error| error.kind() == io::ErrorKind::UnexpectedEof;
    if error.downcast_any_ref().is_some_and(broke_off) {
        return "the connection ended in the middle of an answer".to_owned();
    }
    web::innermost(error.probable_cause())
}

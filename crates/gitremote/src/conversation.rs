//! The git protocol: lists references and requests objects.

use std::fs;
use std::io::BufRead;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use diagnostic::{Error, ErrorKind, Result};
use gix::DynNestedProgress;
use gix::ObjectId;
use gix::bstr::{BStr, BString, ByteSlice};
use gix::odb::pack;
use gix::progress::Discard;
use gix::protocol::fetch::{self, Arguments, Shallow, Tags, negotiate};
use gix::protocol::handshake::Ref;
use gix::protocol::ls_refs::RefPrefixes;
use gix::protocol::transport::client;
use gix::protocol::transport::client::blocking_io::Transport;
use gix::protocol::transport::{Protocol, Service};
use gix::protocol::{Handshake, LsRefsCommand};
use gix::url::Scheme;

use crate::access::{Access, Credentials};
use crate::credentials::Answers;
use crate::error::cause;
use crate::program::{Complaint, ProgramTransport};
use crate::revision::{HEAD, Revision};
use crate::session::Session;
use crate::web;
use crate::{http, local, ssh};

/// An object is taken apart in memory. Nothing that is built from is as large.
const MAX_OBJECT: usize = 1 << 30;

/// An object to ask a server for.
pub(crate) struct Wanted {
    pub(crate) object: ObjectId,
    /// The commit that it is or leads to, where the server says so.
    pub(crate) commit: Option<ObjectId>,
}

/// A server that has introduced itself.
pub(crate) struct Conversation<'r> {
    pub(crate) repository: &'r gix::Repository,
    pub(crate) session: Arc<Session>,
    pub(crate) handshake: Handshake,
    pub(crate) transport: Box<dyn Transport + 'r>,
    access: &'r Access,
    complaint: Option<Complaint>,
    is_cut_off: bool,
}

impl<'r> Conversation<'r> {
    /// Calls a server at its address; `repository` has the configuration of whoever runs this.
    pub(crate) fn open(
        url: &'r gix::Url,
        service: Service,
        access: &'r Access,
        repository: &'r gix::Repository,
        session: &Arc<Session>,
    ) -> Result<Self> {
        let (mut transport, complaint) = connect(url, service, access, repository, session)?;
        let mut answers = Answers::new(&access.credentials, url, repository);
        let introduced = gix::protocol::handshake(
            &mut transport,
            service,
            |action| answers.answer(action),
            Vec::new(),
            &mut Discard,
        );
        match introduced {
            Ok(handshake) => Ok(Self {
                repository,
                session: Arc::clone(session),
                handshake,
                transport,
                access,
                complaint,
                is_cut_off: false,
            }),
            Err(error) => {
                drop(transport);
                Err(explain(&error, access, session, complaint))
            }
        }
    }

    /// The object behind a revision. A commit id is taken at its word.
    pub(crate) fn find(&mut self, revision: &Revision) -> Result<Wanted> {
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
    pub(crate) fn tips(&mut self) -> Result<Vec<ObjectId>> {
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
        let command = LsRefsCommand::new(Some(wanted), &self.handshake.capabilities, self.agent());
        let listed = command.invoke_blocking(&mut self.transport, &mut Discard, false);
        listed.map_err(|error| self.explain(&error))
    }

    /// The branches of some names (`HEAD` for the one that the server calls current); nothing for one that is not there.
    pub(crate) fn branches(&mut self, names: &[String]) -> Result<Vec<Option<Tip>>> {
        let full: Vec<BString> = names.iter().map(|name| full_name(name)).collect();
        let references = self.references(&full)?;
        let mut tips = Vec::with_capacity(full.len());
        for name in &full {
            let reference = references.iter().find(|reference| reference.unpack().0 == name);
            tips.push(reference.map(tip).transpose()?);
        }
        Ok(tips)
    }

    /// Receives objects into the repository, which has those of some commits already.
    pub(crate) fn receive(
        &mut self,
        objects: &[ObjectId],
        haves: &[ObjectId],
        shallow: &Shallow,
    ) -> Result<()> {
        let pack_folder = self.repository.objects.store_ref().path().join("pack");
        let session = Arc::clone(&self.session);
        let agent = self.agent();
        let context = fetch::Context {
            handshake: &mut self.handshake,
            transport: &mut self.transport,
            user_agent: agent,
            trace_packetlines: false,
        };
        let options = fetch::Options {
            shallow_file: self.repository.git_dir().join("shallow"),
            shallow,
            tags: Tags::None,
            reject_shallow_remote: false,
        };
        let bases = (!haves.is_empty()).then(|| self.repository.objects.clone());
        let received = gix::protocol::fetch(
            &mut Wants { objects, haves },
            |pack, progress, stopped| keep_pack(pack, &pack_folder, bases, progress, stopped),
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
            Ok(None) => Err(Error::new(ErrorKind::NotFound, "the server sent nothing")),
            Err(error) => {
                self.is_cut_off = self.session.failure().is_some() || is_of_connection(&error);
                Err(self.explain(&error))
            }
        }
    }

    /// Returns true if what failed was the connection, and not what came over it.
    pub(crate) fn is_cut_off(&self) -> bool {
        self.is_cut_off
    }

    /// Says why the server could not be talked to.
    pub(crate) fn explain(&mut self, error: &gix::Error) -> Error {
        self.session.end_program();
        explain(error, self.access, &self.session, self.complaint.take())
    }

    /// Returns what this program is called to servers.
    pub(crate) fn agent_name(&self) -> &str {
        &self.access.agent
    }

    fn agent(&self) -> (&'static str, Option<String>) {
        ("agent", Some(self.access.agent.clone()))
    }
}

fn connect<'r>(
    url: &gix::Url,
    service: Service,
    access: &Access,
    repository: &'r gix::Repository,
    session: &Arc<Session>,
) -> Result<(Box<dyn Transport + 'r>, Option<Complaint>)> {
    let prepared = match url.scheme {
        Scheme::Ssh => ssh::prepare(url, service, &access.ssh, repository)?,
        Scheme::File => local::prepare(url, service),
        _ => return Ok((Box::new(http::connect(url, repository, access, session)?), None)),
    };
    let (transport, complaint) = ProgramTransport::start(prepared, url, session)?;
    Ok((Box::new(transport), Some(complaint)))
}

fn is_of_connection(error: &gix::Error) -> bool {
    use std::io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
    let is_lost = |error: &std::io::Error| {
        matches!(error.kind(), BrokenPipe | ConnectionAborted | ConnectionReset | UnexpectedEof)
    };
    error.downcast_any_ref().is_some_and(is_lost) || error.downcast_any_ref::<reqwest::Error>().is_some()
}

fn wanted(reference: &Ref, name: &BStr) -> Option<Wanted> {
    let (full_name, target, peeled) = reference.unpack();
    let object = target.filter(|_| full_name == name)?.to_owned();
    // Where a server does not say what a tag is of, the tag's id is no commit that anything is known by.
    Some(Wanted { object, commit: Some(peeled.map_or(object, ToOwned::to_owned)) })
}

/// A branch, and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tip {
    /// Its name, without `refs/heads/`.
    pub branch: String,
    /// Its last commit.
    pub commit: ObjectId,
}

/// A branch's name as servers know it. A name that begins with `refs/` is one in full.
pub(crate) fn full_name(name: &str) -> BString {
    if name == HEAD || name.starts_with("refs/") { name.into() } else { format!("refs/heads/{name}").into() }
}

fn tip(reference: &Ref) -> Result<Tip> {
    let (name, commit, _) = reference.unpack();
    let name = match reference {
        Ref::Symbolic { target, .. } | Ref::Unborn { target, .. } => target.as_bstr(),
        _ => name,
    };
    if name == HEAD {
        return Err(
            Error::new(ErrorKind::NotFound, "the server's HEAD is not a branch").hint("name the branch")
        );
    }
    let name = name.strip_prefix(b"refs/heads/").map_or(name, ByteSlice::as_bstr);
    let branch =
        name.to_str().map_err(|_| Error::new(ErrorKind::Invalid, "a branch name is not valid UTF-8"))?;
    let commit = commit.ok_or_else(|| {
        Error::new(ErrorKind::NotFound, format!("the branch `{branch}` is empty"))
            .hint("push a first commit to it")
    })?;
    Ok(Tip { branch: branch.to_owned(), commit: commit.to_owned() })
}

/// Stores a pack with what makes it complete.
pub(crate) fn keep_pack(
    pack: &mut dyn BufRead,
    folder: &Path,
    bases: Option<gix::OdbHandle>,
    progress: &mut dyn DynNestedProgress,
    stopped: &AtomicBool,
) -> gix::Result<bool> {
    let bounds = pack::bundle::write::Options {
        alloc_limit_bytes: Some(MAX_OBJECT),
        ..pack::bundle::write::Options::default()
    };
    let kind = gix::hash::Kind::Sha1;
    let kept = pack::Bundle::write_to_directory(pack, Some(folder), progress, stopped, bases, kind, bounds)?;
    // It is for who collects garbage meanwhile, and nobody does.
    if let Some(mark) = kept.keep_path {
        let _ = fs::remove_file(mark);
    }
    Ok(true)
}

/// Asks for some objects, having those of some commits.
struct Wants<'a> {
    objects: &'a [ObjectId],
    haves: &'a [ObjectId],
}

impl fetch::Negotiate for Wants<'_> {
    fn mark_complete_and_common_ref(&mut self) -> gix::Result<negotiate::Action> {
        Ok(negotiate::Action::MustNegotiate { remote_ref_target_known: Vec::new() })
    }

    fn add_wants(&mut self, arguments: &mut Arguments, _: &[bool]) -> bool {
        for object in self.objects {
            arguments.want(object);
        }
        !self.objects.is_empty()
    }

    fn one_round(
        &mut self,
        state: &mut negotiate::one_round::State,
        arguments: &mut Arguments,
        _: Option<&fetch::Response>,
    ) -> gix::Result<(negotiate::Round, bool)> {
        for commit in self.haves {
            arguments.have(commit);
        }
        let round = negotiate::Round {
            haves_sent: self.haves.len(),
            in_vain: 0,
            haves_to_send: state.haves_to_send,
            previous_response_had_at_least_one_in_common: false,
        };
        Ok((round, true))
    }
}

fn explain(error: &gix::Error, access: &Access, session: &Session, complaint: Option<Complaint>) -> Error {
    if let Some(failure) = session.failure() {
        return failure;
    }
    if let Some(error) = error.downcast_any_ref::<reqwest::Error>() {
        return match error.status() {
            Some(status) => web::refusal(status),
            None => web::explain(error, session.time_left()),
        };
    }
    // One of ours: a secret that cannot be read.
    if let Some(error) = error.downcast_any_ref::<Error>() {
        return error.clone();
    }
    if error.is_unauthenticated() {
        return unauthenticated(&access.credentials);
    }
    if matches!(error.downcast_any_ref(), Some(client::Error::AuthenticationRefused(_))) {
        return http::clear_text();
    }
    let Some(complaint) = complaint.and_then(Complaint::last_line) else {
        return Error::new(ErrorKind::Unavailable, cause(error));
    };
    match ssh::advice(&complaint) {
        Some((kind, hint)) => Error::new(kind, complaint).hint(hint),
        None => Error::new(ErrorKind::Unavailable, complaint),
    }
}

fn unauthenticated(credentials: &Credentials) -> Error {
    if let Credentials::Configured = credentials {
        return Error::new(
            ErrorKind::Denied,
            "the server wants credentials, and has got none that it takes",
        )
        .hint("git's credential helpers are asked, the terminal is not; a server may also hide what it does not have");
    }
    Error::new(ErrorKind::Denied, "the server does not take the credentials that were given")
        .hint("a server may also hide what they do not let see")
}

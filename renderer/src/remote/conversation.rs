//! What is said to a git server: which references it has, and which objects it shall send.

use std::sync::Arc;

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
use kustomize::ErrorKind;

use super::credentials::Credentials;
use super::failure::{Failure, Result, cause};
use super::http;
use super::revision::Revision;
use super::session::Session;
use super::ssh::{Complaint, SshTransport};
use super::web;

/// An object is taken apart in memory. Nothing that is built from is as large.
const MAX_OBJECT: usize = 1 << 30;

/// An object to ask a server for.
pub(super) struct Wanted {
    pub(super) object: ObjectId,
    /// The commit that it is or leads to, where the server says so.
    pub(super) commit: Option<ObjectId>,
}

/// A server that has introduced itself.
pub(super) struct Conversation<'r> {
    repository: &'r gix::Repository,
    session: Arc<Session>,
    handshake: Handshake,
    transport: Box<dyn Transport + 'r>,
    complaint: Option<Complaint>,
}

impl<'r> Conversation<'r> {
    pub(super) fn open(
        url: &gix::Url,
        repository: &'r gix::Repository,
        session: &Arc<Session>,
    ) -> Result<Self> {
        let (mut transport, complaint): (Box<dyn Transport>, _) = if url.scheme == Scheme::Ssh {
            let (transport, complaint) = SshTransport::connect(url, repository, session)?;
            (Box::new(transport), Some(complaint))
        } else {
            (Box::new(http::connect(url, repository, session)?), None)
        };
        let mut credentials = Credentials::new(repository);
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
    pub(super) fn find(&mut self, revision: &Revision) -> Result<Wanted> {
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
    pub(super) fn tips(&mut self) -> Result<Vec<ObjectId>> {
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
    pub(super) fn receive(&mut self, objects: &[ObjectId], shallow: &Shallow) -> Result<()> {
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

//! Reads the last commits of a branch: committer, time and trailers.
//!
//! In: a tip that was fetched, and how many commits to look at. Out: these, newest first, along first parents. They are
//! asked for only where the mirror lacks them.

use std::num::NonZeroU32;

use diagnostic::Result;
use gix::ObjectId;
use gix::protocol::fetch::Shallow;
use gix::protocol::transport::Service;
use gix::remote::Direction;

use crate::Remote;
use crate::address;
use crate::commit::Person;
use crate::conversation::{Conversation, Tip};
use crate::fetch::open_configured;
use crate::message;
use crate::mirror::Mirror;
use crate::session::Session;
use crate::tree::damaged;

/// A person who undoes what a program did has done so since then.
const MAX_DEPTH: u32 = 1_000;

/// A commit as its readers see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Past {
    /// Its id.
    pub commit: ObjectId,
    /// The committer.
    pub committer: Person,
    /// When, in seconds since 1970.
    pub time: i64,
    /// Its message.
    pub message: String,
    /// The lines of the message that programs read.
    pub trailers: Vec<(String, String)>,
}

impl Mirror {
    /// The last commits of a branch, newest first: `depth` of them, or as many as there are.
    ///
    /// # Errors
    /// If the server cannot be reached.
    pub fn history(&self, remote: &Remote, tip: &Tip, depth: u32) -> Result<Vec<Past>> {
        let depth = depth.min(MAX_DEPTH);
        let (past, is_whole) = walk(&open_configured(self.folder())?, tip.commit, depth)?;
        let Some(deepen) = NonZeroU32::new(depth).filter(|_| !is_whole) else { return Ok(past) };
        let (remote, folder, commit) = (remote.clone(), self.folder().to_owned(), tip.commit);
        Session::run(remote.access.timeout, move |session| {
            let repository = open_configured(&folder)?;
            let url = address::resolve(&remote.url, Direction::Fetch, &repository)?;
            let mut conversation =
                Conversation::open(&url, Service::UploadPack, &remote.access, &repository, session)?;
            conversation.receive(&[commit], &[commit], &Shallow::DepthAtRemote(deepen))
        })?;
        walk(&open_configured(self.folder())?, tip.commit, depth).map(|(past, _)| past)
    }
}

/// The commits that are here, and whether there are no more to be had.
fn walk(repository: &gix::Repository, tip: ObjectId, depth: u32) -> Result<(Vec<Past>, bool)> {
    let mut past = Vec::new();
    let mut next = Some(tip);
    while let Some(id) = next.filter(|_| past.len() < depth as usize) {
        let Some(object) = repository.try_find_object(id).map_err(|error| damaged(&error))? else {
            return Ok((past, false));
        };
        let commit = object.try_into_commit().map_err(|error| damaged(&error))?;
        let committer = commit.committer().map_err(|error| damaged(&error))?;
        let message = commit.message_raw().map_err(|error| damaged(&error))?.to_string();
        past.push(Past {
            commit: id,
            committer: Person { name: committer.name.to_string(), email: committer.email.to_string() },
            time: committer.seconds(),
            trailers: message::trailers(&message),
            message,
        });
        next = commit.parent_ids().next().map(gix::Id::detach);
    }
    Ok((past, true))
}

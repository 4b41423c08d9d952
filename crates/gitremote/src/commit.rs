//! Commits made from edits to files, in memory: nothing is written anywhere until a server has them.
//!
//! In: a tree, files with their new bytes, who says so and when. Out: commits and the objects that a server lacks. A file
//! keeps whether it is executable; links, folders and submodules are not overwritten.

use std::collections::BTreeMap;

use diagnostic::{Error, ErrorKind, Result};
use gix::ObjectId;
use gix::actor::Signature;
use gix::objs::tree::{Editor, EntryKind};
use gix::objs::{Commit, Kind, Write, WriteTo};

use crate::error::cause;
use crate::message::compose;
use crate::pack::Object;
use crate::sign::Sign;
use crate::tree::{Found, Tree, damaged, no_file, parts};

/// Edits that make one commit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// Paths, and the whole of each file as it shall be.
    pub files: BTreeMap<String, Vec<u8>>,
    /// The message.
    pub message: String,
    /// Lines below the message that programs read: a name and a value.
    pub trailers: Vec<(String, String)>,
}

/// The author, committer and time of commits.
#[derive(Clone, Debug)]
pub struct Authorship {
    /// The author.
    pub author: Person,
    /// The committer.
    pub committer: Person,
    /// When, in seconds since 1970.
    pub time: i64,
    /// True if the committer signs it off.
    pub sign_off: bool,
}

/// A name and an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Person {
    /// As people call them.
    pub name: String,
    /// Their e-mail address.
    pub email: String,
}

/// Commits that no server has yet.
#[derive(Debug)]
pub(crate) struct Made {
    /// Oldest first.
    pub(crate) commits: Vec<ObjectId>,
    /// The tree of the last one.
    pub(crate) tree: ObjectId,
    /// All that a server with the base lacks.
    pub(crate) objects: Vec<Object>,
}

/// Makes a commit for each change that changes something, one on the other.
pub(crate) fn make(
    base: &Tree,
    changes: &[Change],
    by: &Authorship,
    signer: Option<&dyn Sign>,
) -> Result<Made> {
    let maker = Maker {
        author: signature(&by.author, by.time)?,
        committer: signature(&by.committer, by.time)?,
        sign_off: by.sign_off.then(|| format!("{} <{}>", by.committer.name, by.committer.email)),
        signer,
    };
    let repository = base.repository.clone().with_object_memory();
    let mut tip = Tree::of_commit(repository, base.commit())?;
    let mut commits = Vec::new();
    for change in changes {
        let tree = edit(&tip, &change.files)?;
        if tree != tip.id {
            let commit = maker.commit(&tip, tree, change)?;
            commits.push(commit);
            tip = Tree::of_commit(tip.repository, commit)?;
        }
    }
    let written = tip.repository.objects.reset_object_memory().unwrap_or_default();
    let object = |(id, (kind, data)): (&ObjectId, &(Kind, Vec<u8>))| Object {
        id: *id,
        kind: *kind,
        data: data.clone(),
    };
    let mut objects: Vec<Object> = written.iter().map(object).collect();
    objects.sort_unstable_by_key(|object| object.id);
    Ok(Made { commits, tree: tip.id, objects })
}

/// Creates commits.
struct Maker<'a> {
    author: Signature,
    committer: Signature,
    sign_off: Option<String>,
    signer: Option<&'a dyn Sign>,
}

impl Maker<'_> {
    /// Writes a commit on top of another one.
    fn commit(&self, parent: &Tree, tree: ObjectId, change: &Change) -> Result<ObjectId> {
        let mut trailers = change.trailers.clone();
        trailers.extend(self.sign_off.iter().map(|who| ("Signed-off-by".to_owned(), who.clone())));
        let mut commit = Commit {
            tree,
            parents: [parent.commit()].into_iter().collect(),
            author: self.author.clone(),
            committer: self.committer.clone(),
            encoding: None,
            message: compose(&change.message, &trailers)?.into(),
            extra_headers: Vec::new(),
        };
        let failed = |error: &dyn std::fmt::Display| {
            Error::new(ErrorKind::Unavailable, format!("a commit cannot be made: {error}"))
        };
        if let Some(signer) = self.signer {
            let mut payload = Vec::new();
            commit.write_to(&mut payload).map_err(|error| failed(&error))?;
            let signature = signer.sign(&payload)?;
            commit.extra_headers.push(("gpgsig".into(), signature.trim_end().into()));
        }
        parent.repository.objects.write(&commit).map_err(|error| failed(&cause(&error)))
    }
}

/// The tree with other bytes in some files.
fn edit(tree: &Tree, files: &BTreeMap<String, Vec<u8>>) -> Result<ObjectId> {
    let objects = &tree.repository.objects;
    let failed = |error: gix::Error| damaged(&cause(&error));
    let root = tree.repository.find_tree(tree.id).and_then(|tree| tree.decode().map(Into::into));
    let mut editor = Editor::new(root.map_err(failed)?, objects, gix::hash::Kind::Sha1);
    let mut is_changed = false;
    for (path, content) in files {
        let id = gix::objs::compute_hash(gix::hash::Kind::Sha1, Kind::Blob, content).map_err(failed)?;
        let kind = match tree.find(path)? {
            Found::Nothing => EntryKind::Blob,
            Found::File { id: old, .. } if old == id => continue,
            Found::File { kind, .. } => kind,
            Found::Other(what) => return Err(no_file(path, what)),
        };
        let above = path.match_indices('/').map(|(end, _)| &path[..end]);
        if let Some(file) = above.into_iter().find(|folder| files.contains_key(*folder)) {
            return Err(no_file(path, &format!("below the file `{file}`")));
        }
        // Also where the mirror has it: that is no proof that the server still does.
        objects.write_buf(Kind::Blob, content).map_err(failed)?;
        editor.upsert(parts(path)?, kind, id).map_err(failed)?;
        is_changed = true;
    }
    if !is_changed {
        return Ok(tree.id);
    }
    editor.write(|tree| objects.write(tree)).map_err(failed)
}

fn signature(person: &Person, seconds: i64) -> Result<Signature> {
    let Person { name, email } = person;
    let is_broken = |text: &str| text.trim().is_empty() || text.contains(['<', '>', '\n', '\0']);
    if is_broken(name) || is_broken(email) {
        let reason = format!("invalid commit author `{} <{}>`", name.escape_debug(), email.escape_debug());
        return Err(Error::new(ErrorKind::Invalid, reason).hint("give a name and an e-mail address"));
    }
    let time = gix::date::Time { seconds, offset: 0 };
    Ok(Signature { name: name.trim().into(), email: email.trim().into(), time })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn person(name: &str, email: &str) -> Person {
        Person { name: name.to_owned(), email: email.to_owned() }
    }

    #[test]
    fn who_would_break_the_commit_is_no_author() {
        assert!(signature(&person("Bot", "bot@example.com"), 0).is_ok());
        for (name, email) in
            [("", "b@x"), ("b", ""), ("b<", "b@x"), ("b\ncommitter x", "b@x"), ("b", "b> 0 +0")]
        {
            assert!(signature(&person(name, email), 0).is_err(), "{name:?} {email:?}");
        }
    }
}

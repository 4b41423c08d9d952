//! A commit named by id, branch or tag.

use diagnostic::{Error, ErrorKind, Result};
use gix::ObjectId;
use gix::bstr::BString;

/// The name of a repository's current branch.
pub const HEAD: &str = "HEAD";

/// A revision as an entry names it.
pub(crate) enum Revision {
    Commit(ObjectId),
    /// The names that it may have in full, in the order in which git looks for them.
    Name(String, Vec<BString>),
}

impl Revision {
    pub(crate) fn parse(revision: Option<&str>) -> Result<Self> {
        let name = revision.unwrap_or(HEAD);
        if name.len() == gix::hash::Kind::Sha1.len_in_hex()
            && let Ok(id) = ObjectId::from_hex(name.as_bytes())
        {
            return Ok(Self::Commit(id));
        }
        if gix::validate::reference::name_partial(name.into()).is_err() {
            let reason = format!("`{name}` is neither a branch or tag name nor a full commit id");
            return Err(Error::new(ErrorKind::Invalid, reason));
        }
        // git's ref_rev_parse_rules (refs.c).
        let places = ["", "refs/", "refs/tags/", "refs/heads/", "refs/remotes/"];
        let mut names: Vec<BString> = places.iter().map(|place| format!("{place}{name}").into()).collect();
        names.push(format!("refs/remotes/{name}/HEAD").into());
        Ok(Self::Name(name.to_owned(), names))
    }

    pub(crate) fn missing(&self) -> Error {
        let name = match self {
            Self::Commit(id) => {
                return Error::new(ErrorKind::NotFound, format!("no commit `{id}` in the repository"));
            }
            Self::Name(name, _) if name == HEAD => {
                return Error::new(ErrorKind::NotFound, "the repository is empty");
            }
            Self::Name(name, _) => name,
        };
        let missing = Error::new(ErrorKind::NotFound, format!("no branch or tag `{name}` in the repository"));
        if name.len() >= 7 && name.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return missing.hint("a commit id is written in full, with 40 digits");
        }
        missing
    }
}

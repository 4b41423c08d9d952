//! Commits and pushes until it is done: where somebody else was faster, the edits are made again on what they pushed.
//!
//! In: a branch and a function that says, for the files of a commit, what to change. Out: what was pushed, or that there
//! was nothing to change. Texts are never merged: the function sees the newer files and decides anew. Chance and waiting
//! come in from outside.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use diagnostic::{Error, ErrorKind, Result};
use gix::ObjectId;

use crate::Remote;
use crate::commit::{Authorship, Change, make};
use crate::conversation::Tip;
use crate::mirror::{Mirror, check_branch};
use crate::pack;
use crate::push::{Pushed, Update, push};
use crate::revision::HEAD;
use crate::sign::Sign;
use crate::tree::Tree;

/// Maximum number of times a push is tried while others push too.
const MAX_TRIES: u32 = 5;

/// The first pause; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(200);

/// The target branch of commits.
#[derive(Clone, Debug, Default)]
pub struct Target {
    /// The branch whose files are changed; the remote's HEAD where absent.
    pub base: Option<String>,
    /// The branch that is pushed where it is another one; made where it does not exist. One that is there is made anew
    /// from the base, unless somebody else has committed to it: then it is continued.
    pub branch: Option<String>,
    /// Push options for the server: `merge_request.create`.
    pub options: Vec<String>,
}

/// Commits for one branch of a remote.
#[derive(Clone, Copy)]
pub struct Publisher<'a> {
    /// The mirror that receives what is fetched.
    pub mirror: &'a Mirror,
    /// From where, and to where.
    pub remote: &'a Remote,
    /// To which branch.
    pub target: &'a Target,
    /// The author and committer.
    pub authorship: &'a Authorship,
    /// The signer.
    pub signer: Option<&'a dyn Sign>,
    /// A check right before commits are sent.
    pub consent: Option<&'a Consent>,
}

/// Says whether commits may still be sent: it is asked when the server has been reached and all is ready, which may be long
/// after they were made, and from another thread.
#[derive(Clone)]
pub struct Consent(Arc<dyn Fn() -> Result<()> + Send + Sync>);

impl Consent {
    /// Asks this.
    pub fn new(ask: impl Fn() -> Result<()> + Send + Sync + 'static) -> Self {
        Self(Arc::new(ask))
    }

    pub(crate) fn ask(&self) -> Result<()> {
        (self.0)()
    }
}

impl fmt::Debug for Consent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Consent")
    }
}

/// Chance and patience, which a test has its own of.
pub struct Waiting<'a> {
    /// Any number, each as likely.
    pub random: &'a mut dyn FnMut() -> u64,
    /// Waits.
    pub sleep: &'a mut dyn FnMut(Duration),
}

/// The result of publishing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Published {
    /// There was nothing to change.
    Unchanged {
        /// The branch that is right already.
        tip: Tip,
    },
    /// The server has new commits.
    Pushed {
        /// The branch, with the last of them.
        tip: Tip,
        /// All of them, oldest first.
        commits: Vec<ObjectId>,
        /// Number of attempts.
        tries: u32,
        /// The message of the server, such as the URL of the change.
        said: String,
    },
}

impl Publisher<'_> {
    /// Fetches, asks for changes, commits and pushes. `edit` is called once for each try, and only with files that the
    /// server had a moment ago; each change that it gives becomes a commit.
    ///
    /// # Errors
    /// Those of `edit`; when the server cannot be reached or does not want the commits, or others push all the time.
    pub fn publish<E: From<Error>>(
        &self,
        waiting: &mut Waiting<'_>,
        mut edit: impl FnMut(&Tree) -> Result<Vec<Change>, E>,
    ) -> Result<Published, E> {
        let mut tries = 1;
        loop {
            let branch = match self.attempt(&mut edit, tries)? {
                Attempt::Over(published) => return Ok(published),
                Attempt::Lost { branch } => branch,
            };
            if tries == MAX_TRIES {
                let reason =
                    format!("others pushed to `{branch}` each time before we could, {MAX_TRIES} times");
                return Err(Error::new(ErrorKind::Conflict, reason).into());
            }
            (waiting.sleep)(pause(tries, (waiting.random)()));
            tries += 1;
        }
    }

    fn attempt<E: From<Error>>(
        &self,
        edit: &mut impl FnMut(&Tree) -> Result<Vec<Change>, E>,
        tries: u32,
    ) -> Result<Attempt, E> {
        let Ground { tree, start, branch, old, replaces } = self.ground()?;
        let made = make(&tree, &edit(&tree)?, self.authorship, self.signer)?;
        let unchanged = |tip| Ok(Attempt::Over(Published::Unchanged { tip }));
        let Some(last) = made.commits.last().copied() else {
            return unchanged(Tip { branch: start, commit: tree.commit() });
        };
        if let Some(commit) = old.filter(|_| replaces == Some(made.tree)) {
            return unchanged(Tip { branch, commit });
        }
        let pack = pack::write(&made.objects)?;
        let update = Update {
            branch: branch.clone(),
            old,
            new: last,
            pack,
            options: self.target.options.clone(),
            consent: self.consent.cloned(),
        };
        match push(self.remote, self.mirror, &update)? {
            Pushed::Moved => Ok(Attempt::Lost { branch }),
            Pushed::Refused(reason) => {
                let reason = format!("the server rejected the push to `{branch}`: {reason}");
                Err(Error::new(ErrorKind::Rejected, reason).into())
            }
            Pushed::Done(said) => {
                // Only to spare the next fetch.
                let _ = self.mirror.keep(&update.pack, last);
                let tip = Tip { branch, commit: last };
                Ok(Attempt::Over(Published::Pushed { tip, commits: made.commits, tries, said }))
            }
        }
    }

    /// Fetches what the commits go on.
    fn ground(&self) -> Result<Ground> {
        let base = self.target.base.as_deref().unwrap_or(HEAD);
        let branch = self.target.branch.as_deref();
        let mut names = vec![base];
        if let Some(branch) = branch {
            check_branch(branch)?;
            names.push(branch);
        }
        let mut tips = self.mirror.fetch(self.remote, &names)?.into_iter();
        let tip = tips.next().flatten().ok_or_else(|| missing(base))?;
        let Some(branch) = branch.filter(|branch| **branch != tip.branch) else {
            let tree = self.mirror.tree(tip.commit)?;
            let old = Some(tip.commit);
            return Ok(Ground { tree, start: tip.branch.clone(), branch: tip.branch, old, replaces: None });
        };
        let existing = tips.next().flatten().map(|existing| existing.commit);
        self.apart(&tip, branch, existing)
    }

    /// The ground of a branch besides the base.
    fn apart(&self, base: &Tip, branch: &str, existing: Option<ObjectId>) -> Result<Ground> {
        let branch = branch.to_owned();
        let on_base = |replaces| {
            let tree = self.mirror.tree(base.commit)?;
            let start = base.branch.clone();
            Ok(Ground { tree, start, branch: branch.clone(), old: existing, replaces })
        };
        let Some(commit) = existing else { return on_base(None) };
        let tree = self.mirror.tree(commit)?;
        if commit == base.commit || self.is_ours(&tree)? {
            return on_base(Some(tree.id));
        }
        Ok(Ground { tree, start: branch.clone(), branch, old: existing, replaces: None })
    }

    /// Returns whether the tip of a branch is a commit that we would have made.
    fn is_ours(&self, tree: &Tree) -> Result<bool> {
        let committer = tree.committer()?;
        Ok(committer == self.authorship.committer)
    }
}

/// The result of one attempt.
enum Attempt {
    Over(Published),
    /// Somebody else was faster.
    Lost {
        branch: String,
    },
}

/// The parent commit and the target branch.
struct Ground {
    tree: Tree,
    /// The branch that has these files.
    start: String,
    /// The branch that is pushed.
    branch: String,
    /// The commit of the branch.
    old: Option<ObjectId>,
    /// The files of what is given up.
    replaces: Option<ObjectId>,
}

fn missing(branch: &str) -> Error {
    if branch == HEAD {
        return Error::new(ErrorKind::NotFound, "the repository is empty").hint("push a first commit to it");
    }
    Error::new(ErrorKind::NotFound, format!("no branch `{branch}` in the repository"))
        .hint("push a first commit to it, or name another branch")
}

/// Half of the time, and of the other half as much as chance wants, so that two that met do not meet again.
fn pause(tries: u32, random: u64) -> Duration {
    let half = FIRST_PAUSE * 2_u32.pow(tries - 1) / 2;
    half + half.mul_f64(random as f64 / u64::MAX as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_differ() {
        let milliseconds = |tries, random| pause(tries, random).as_millis();
        assert_eq!((milliseconds(1, 0), milliseconds(1, u64::MAX)), (100, 200));
        assert_eq!((milliseconds(4, 0), milliseconds(4, u64::MAX)), (800, 1600));
    }
}

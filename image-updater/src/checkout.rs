//! A work tree on this machine: where it is from, and commits in it as whoever runs this would make them.
//!
//! In: a folder, and files that were written in it. Out: the address and the branch that it follows, or a commit. The
//! `git` program does it, with the hooks and the configuration of whoever runs this.

use diagnostic::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::change::Change;
use crate::commits::message;
use crate::message::{Set, sets_of};
use crate::round::Plan;
use crate::work::Delivery;

/// A work tree with where it comes from.
#[derive(Debug)]
pub(crate) struct Checkout {
    /// The root directory of the checkout.
    pub(crate) root: PathBuf,
    /// The folder that was asked about, from there, with a slash behind it unless it is the root itself.
    pub(crate) prefix: String,
}

impl Checkout {
    /// The work tree that a folder is in.
    ///
    /// # Errors
    /// If it is in none.
    pub(crate) fn around(folder: &Path) -> Result<Self> {
        let ask = |what: &str| line(&git(folder, &["rev-parse", what])?);
        let Some(root) = ask("--show-toplevel")?.filter(|root| !root.is_empty()) else {
            return Err(Error::invalid(format!("`{}` is in no work tree of git", folder.display()))
                .hint("run it in a checkout, or name the repository in a configuration"));
        };
        Ok(Self { root: root.into(), prefix: ask("--show-prefix")?.unwrap_or_default() })
    }

    /// The address of `origin`; a path on this machine as one with `file://`.
    ///
    /// # Errors
    /// If there is none.
    pub(crate) fn origin(&self) -> Result<String> {
        let address = line(&git(&self.root, &["config", "--get", "remote.origin.url"])?)?;
        let address = address.ok_or_else(|| {
            Error::invalid("the checkout lacks the remote `origin` to push to")
                .hint("add it: `git remote add origin URL`")
        })?;
        let is_path = address.starts_with(['/', '.']);
        Ok(if is_path { format!("file://{}", self.root.join(address).display()) } else { address })
    }

    /// The branch that is checked out.
    ///
    /// # Errors
    /// If none is.
    pub(crate) fn branch(&self) -> Result<String> {
        line(&git(&self.root, &["symbolic-ref", "--quiet", "--short", "HEAD"])?)?.ok_or_else(|| {
            Error::invalid("no branch is checked out to push to")
                .hint("check one out, or name it with `git.branch` in a configuration")
        })
    }
}

/// Commits the files of a plan, whose paths are from the folder, and nothing else that is changed or staged there.
///
/// # Errors
/// If git fails, with its message.
pub(crate) fn commit(folder: &Path, plan: &Plan, delivery: &Delivery) -> Result<()> {
    let mut changes: Vec<Change> = plan.changes().cloned().collect();
    // Who reads them back knows paths from the root, wherever the commit is made.
    let prefix = line(&git(folder, &["rev-parse", "--show-prefix"])?)?.unwrap_or_default();
    for edit in changes.iter_mut().flat_map(|change| &mut change.edits) {
        edit.file.insert_str(0, &prefix);
    }
    let name = std::fs::canonicalize(folder).ok();
    let name = name.as_deref().and_then(Path::file_name).and_then(|name| name.to_str()).unwrap_or("config");
    let mut text = format!("{}\n\n", message(delivery, name, &changes)?.trim_end());
    for (token, value) in sets_of(&changes).iter().map(Set::trailer) {
        text.push_str(&format!("{token}: {value}\n"));
    }
    let paths: Vec<&str> = plan.texts.keys().map(String::as_str).collect();
    // A file that git does not know yet can only be committed once it is noted.
    let noted = git(folder, &[&["--literal-pathspecs", "add", "--intent-to-add", "--"], &*paths].concat())?;
    succeeded(&noted)?;
    let mut arguments = vec!["--literal-pathspecs", "commit", "--quiet", "--message", &text];
    if delivery.sign_off {
        arguments.push("--signoff");
    }
    arguments.extend(["--only", "--"]);
    succeeded(&git(folder, &[arguments, paths].concat())?)
}

fn git(folder: &Path, arguments: &[&str]) -> Result<Output> {
    let output = Command::new("git").arg("-C").arg(folder).args(arguments).output();
    output.map_err(|error| Error::new(ErrorKind::Environment, format!("`git` cannot be run: {error}")))
}

/// Returns what it printed, where it has an answer.
fn line(output: &Output) -> Result<Option<String>> {
    if !output.status.success() {
        return Ok(None);
    }
    let text = String::from_utf8(output.stdout.clone());
    let text = text.map_err(|_| Error::invalid("git names a path or an address that is not UTF-8"))?;
    Ok(Some(text.trim_end_matches(['\n', '\r']).to_owned()))
}

fn succeeded(output: &Output) -> Result<()> {
    if output.status.success() {
        return Ok(());
    }
    let complaint = String::from_utf8_lossy(&output.stderr);
    let line = complaint.lines().find(|line| !line.trim().is_empty()).unwrap_or("it failed");
    Err(Error::invalid(format!("git does not commit: {}", diagnostic::redact(line)))
        .hint("the files are written; commit them by hand"))
}

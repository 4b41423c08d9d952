//! The audit log: a line of JSON for every change that a server has taken, and for nothing else.
//!
//! In: what was delivered. Out: lines at the end of a file, which is never read, shortened or written over here. A line
//! goes out in one write, so that several processes may share the file. Refused: a file that cannot be written, and that
//! before anything is pushed. There is no place in a line for credentials: addresses of repositories are not in it.

use diagnostic::{Error, Result};
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::Serialize;

use crate::deliver::{Delivered, Written};

/// A file that only grows.
#[derive(Debug)]
pub(crate) struct AuditLog {
    path: PathBuf,
    file: File,
}

/// One change of one image.
#[derive(Serialize)]
struct Line<'l> {
    time: String,
    image: &'l str,
    #[serde(skip_serializing_if = "Option::is_none")]
    application: Option<String>,
    old: String,
    new: String,
    digest: Option<&'l str>,
    files: Vec<&'l str>,
    /// The commit; `None` if the change is in an Application of the cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    commit: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    branch: Option<&'l str>,
    reason: &'l str,
}

impl AuditLog {
    /// Opens a log, which is made where there is none.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let opened = OpenOptions::new().append(true).create(true).open(path);
        let file = opened.map_err(|error| Error::io("write", path, &error))?;
        Ok(Self { path: path.to_owned(), file })
    }

    /// Notes what a server has taken.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn note(&mut self, delivered: &Delivered, time: Timestamp) -> Result<()> {
        if delivered.written.is_empty() {
            return Ok(());
        }
        let branch = delivered.pushed.as_ref().map(|tip| tip.branch.as_str());
        let failed = |error: &std::io::Error| {
            let what = branch.map_or("the change of the Application".to_owned(), |branch| {
                format!("the push to `{branch}`")
            });
            Error::io("write", &self.path, error).hint(format!("{what} is done"))
        };
        for written in &delivered.written {
            let mut line =
                serde_json::to_vec(&line(written, branch, time)).map_err(|error| failed(&error.into()))?;
            line.push(b'\n');
            self.file.write_all(&line).map_err(|error| failed(&error))?;
        }
        self.file.sync_data().map_err(|error| failed(&error))
    }
}

fn line<'l>(Written { change, commit }: &'l Written, branch: Option<&'l str>, time: Timestamp) -> Line<'l> {
    let mut files: Vec<&str> = change.edits.iter().map(|edit| edit.file.as_str()).collect();
    files.dedup();
    Line {
        time: time.to_string(),
        image: &change.image,
        application: change.application.as_ref().map(ToString::to_string),
        old: change.old.full(),
        new: change.new.full(),
        digest: change.new.digest.as_deref(),
        files,
        commit: commit.map(|commit| commit.to_string()),
        branch,
        reason: &change.reason,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::{Change, Edit, Named, Version};
    use crate::round::Plan;

    fn delivered(branch: Option<&str>, writes: bool) -> Delivered {
        let commit = gitremote::ObjectId::from_hex(&[b'a'; 40]).unwrap();
        let edit = |file: &str| Edit { file: file.to_owned(), ..Edit::default() };
        let change = Change {
            image: "r.test/shop".to_owned(),
            application: Some(Named { namespace: "argocd".to_owned(), name: "shop".to_owned() }),
            old: Version::of_tag("1.0.0"),
            new: Version { digest: Some("sha256:00".to_owned()), ..Version::of_tag("1.1.0") },
            edits: vec![edit("a.yaml"), edit("a.yaml"), edit("b.yaml")],
            reason: "the highest\nversion".to_owned(),
            ..Change::default()
        };
        Delivered {
            read: None,
            plan: Plan::joined([]),
            pushed: branch.map(|branch| gitremote::Tip { branch: branch.to_owned(), commit }),
            commits: branch.map(|_| commit).into_iter().collect(),
            written: writes.then(|| Written { change, commit: branch.map(|_| commit) }).into_iter().collect(),
            request: None,
        }
    }

    #[test]
    fn a_change_is_a_line_that_is_added_once_it_is_pushed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.jsonl");
        let time = Timestamp::from_second(0).unwrap();
        AuditLog::open(&path).unwrap().note(&delivered(None, false), time).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "");
        AuditLog::open(&path).unwrap().note(&delivered(Some("main"), true), time).unwrap();
        AuditLog::open(&path).unwrap().note(&delivered(Some("main"), true), time).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let line = concat!(
            r#"{"time":"1970-01-01T00:00:00Z","image":"r.test/shop","application":"argocd/shop","#,
            r#""old":"1.0.0","new":"1.1.0@sha256:00","digest":"sha256:00","files":["a.yaml","b.yaml"],"#,
            r#""commit":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","branch":"main","reason":"the highest\nversion"}"#,
            "\n"
        );
        assert_eq!(text, line.repeat(2));
    }

    #[test]
    fn a_change_of_an_application_has_no_commit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.jsonl");
        let time = Timestamp::from_second(0).unwrap();
        AuditLog::open(&path).unwrap().note(&delivered(None, true), time).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains(r#""files":["a.yaml","b.yaml"],"reason""#), "{text}");
    }

    #[test]
    fn a_log_that_cannot_be_written_is_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let error = AuditLog::open(&folder.path().join("missing/audit.jsonl")).unwrap_err();
        assert!(error.message().starts_with("cannot write"), "{error}");
    }
}

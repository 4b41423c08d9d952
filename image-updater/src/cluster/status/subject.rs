//! An object of the cluster that is told how it does, as it is at one time, and what is wrong with what it says.

use crate::work::Owner;
use diagnostic::{Error, ErrorKind};

/// An object that is told, as it was when work was made of it.
#[derive(Clone, Debug)]
pub(crate) struct Subject {
    /// Which one.
    pub(crate) owner: Owner,
    /// In which version of the API it is written: `image.toolkit.fluxcd.io/v1`.
    pub(crate) api: String,
    /// Its `metadata.generation`.
    pub(crate) generation: i64,
    /// The annotation `reconcile.fluxcd.io/requestedAt`.
    pub(crate) requested_at: Option<String>,
    /// True if it is left alone for now; then it is told nothing.
    pub(crate) is_suspended: bool,
    /// True if it is being deleted, and only waits for its finalizers.
    pub(crate) is_going: bool,
    /// The errors. Each has excluded an image, an Application or all of it.
    pub(crate) faults: Vec<Fault>,
}

/// An error in an object.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    /// The field: `spec.applicationRefs[0].images[1].alias`.
    pub(crate) field: Option<String>,
    /// In words, which never are those of a Secret.
    pub(crate) error: Error,
}

impl Fault {
    /// The field and what is wrong with it.
    pub(in crate::cluster) fn message(&self) -> String {
        let hint = self.error.get_hint().map(|hint| format!(" ({hint})")).unwrap_or_default();
        match &self.field {
            Some(field) => format!("{field}: {}{hint}", self.error.message()),
            None => format!("{}{hint}", self.error.message()),
        }
    }

    /// Returns the kind of the error.
    pub(super) fn kind(&self) -> ErrorKind {
        self.error.kind()
    }

    fn key(&self) -> (ErrorKind, Option<&str>, &str) {
        (self.kind(), self.field.as_deref(), self.error.message())
    }
}

impl Subject {
    /// Returns true if another look found it as it was.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        let faults =
            |subject: &Self| subject.faults.iter().map(Fault::key).eq(other.faults.iter().map(Fault::key));
        let plain = |subject: &Self| {
            let Self { owner, api, generation, requested_at, is_suspended, is_going, .. } = subject.clone();
            (owner, api, generation, requested_at, is_suspended, is_going)
        };
        plain(self) == plain(other) && faults(self)
    }
}

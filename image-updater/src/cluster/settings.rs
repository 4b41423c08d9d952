//! The cluster settings of the command line: which cluster, which sources, and which replica.
//!
//! In: texts of flags. Out: checked settings. Refused: names that no namespace and no object can have.

use diagnostic::{Error, Result};
use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::ValueEnum;

use super::shard::Shard;
use crate::config::SigningKey;
use crate::work::Delivery;

/// The settings of a cluster.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) access: Access,
    /// The watched sources [default: all that the cluster has CRDs for].
    pub(crate) sources: Option<BTreeSet<Source>>,
    pub(crate) scope: Scope,
    /// The namespace of Argo CD [default: our own].
    pub(crate) argocd_namespace: Option<String>,
    /// Nothing where all replicas lead.
    pub(crate) election: Option<Election>,
    pub(crate) shard: Shard,
    /// The defaults of commits.
    pub(crate) delivery: Delivery,
    /// The signing key that `delivery` names.
    pub(crate) signing_key: Option<SigningKey>,
    /// Argo CD Image Updater's file about registries.
    pub(crate) registries_conf: Option<PathBuf>,
    /// True if Events are written.
    pub(crate) with_events: bool,
}

/// The access to the API server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Access {
    /// As kubectl reaches it where nothing is said, or as a pod does.
    pub(crate) kubeconfig: Option<PathBuf>,
    /// Its current one where nothing is said.
    pub(crate) context: Option<String>,
}

/// The kinds of objects that define work.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Source {
    /// ImageUpdaters, for the Applications that they name
    Argocd,
    /// Applications with annotations of their own
    Annotations,
    /// ImageRepositories, ImagePolicies and ImageUpdateAutomations
    Flux,
}

/// The namespaces whose objects count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Scope {
    /// The one that we are in.
    #[default]
    Own,
    /// All of them.
    All,
    These(BTreeSet<String>),
}

/// Which Lease decides who leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Election {
    /// Our own where nothing is said.
    pub(crate) namespace: Option<String>,
    pub(crate) lease: String,
}

impl Scope {
    /// Reads a list as Argo CD Image Updater has it: nothing is our own namespace, `*` all of them.
    ///
    /// # Errors
    /// If a namespace cannot be called so.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let names: BTreeSet<&str> = text.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
        if names.is_empty() {
            return match text.trim() {
                "" => Ok(Self::Own),
                _ => Err(Error::invalid(format!("`{text}` names no namespace"))),
            };
        }
        if names.contains("*") {
            return match names.len() {
                1 => Ok(Self::All),
                _ => Err(Error::invalid("`*` means all namespaces, and must be the only entry")),
            };
        }
        let names: Result<BTreeSet<String>> = names.into_iter().map(namespace).collect();
        Ok(Self::These(names?))
    }

    /// The namespaces to watch, one by one; a single nothing where all are watched at once.
    pub(crate) fn namespaces(&self, own: &str) -> Vec<Option<String>> {
        match self {
            Self::Own => vec![Some(own.to_owned())],
            Self::All => vec![None],
            Self::These(names) => names.iter().cloned().map(Some).collect(),
        }
    }
}

/// The name of a namespace: a label of DNS.
///
/// # Errors
/// If none can be called so.
pub(crate) fn namespace(name: &str) -> Result<String> {
    match name.len() <= 63 && is_label(name) {
        true => Ok(name.to_owned()),
        false => Err(Error::invalid(format!("no namespace can be called `{name}`"))
            .hint("a name has lower case letters, digits and dashes, 63 at most")),
    }
}

/// The name of an object: labels of DNS with dots between.
///
/// # Errors
/// If none can be called so.
pub(crate) fn object_name(name: &str) -> Result<String> {
    match name.len() <= 253 && name.split('.').all(is_label) {
        true => Ok(name.to_owned()),
        false => Err(Error::invalid(format!("no object can be called `{name}`"))
            .hint("a name has lower case letters, digits, dashes and dots, 253 at most")),
    }
}

fn is_label(name: &str) -> bool {
    let is_inner = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let (first, last) = (name.as_bytes().first(), name.as_bytes().last());
    first.is_some_and(is_inner)
        && last.is_some_and(is_inner)
        && name.bytes().all(|byte| is_inner(&byte) || byte == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn namespaces_are_named_as_argo_cd_image_updater_names_them() {
        let these = |names: &[&str]| Ok(Scope::These(names.iter().copied().map(str::to_owned).collect()));
        for (text, scope) in [
            ("", Ok(Scope::Own)),
            (" ", Ok(Scope::Own)),
            ("*", Ok(Scope::All)),
            ("b, a,,a", these(&["a", "b"])),
            (",", Err("`,` names no namespace")),
            ("a,*", Err("`*` means all namespaces, and must be the only entry")),
            ("Team", Err("no namespace can be called `Team`")),
            ("-a", Err("no namespace can be called `-a`")),
        ] {
            let read = Scope::parse(text).map_err(|error| error.message().to_owned());
            assert_eq!(read, scope.map_err(str::to_owned), "{text}");
        }
    }

    #[test]
    fn all_namespaces_are_watched_at_once_and_others_one_by_one() {
        assert_eq!(Scope::All.namespaces("argocd"), [None]);
        assert_eq!(Scope::Own.namespaces("argocd"), [Some("argocd".to_owned())]);
        assert_eq!(Scope::parse("a,b").unwrap().namespaces("argocd").len(), 2);
    }
}

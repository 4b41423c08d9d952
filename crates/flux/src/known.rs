//! The objects of a cluster, as far as a repository tells: what Kustomizations render to, and what files have.
//!
//! In: objects. Out: the one of a kind, namespace and name. What was rendered counts before what a file has, and of several
//! files the one below the folder of the cluster.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use argocd::objects::{Key, Object};

/// An object in a file.
#[derive(Clone, Debug)]
pub struct InFile {
    /// The file.
    pub path: PathBuf,
    /// The object.
    pub object: Object,
}

/// The known state of a cluster.
#[derive(Clone, Debug, Default)]
pub struct Known {
    rendered: BTreeMap<Key, Object>,
    in_files: Arc<BTreeMap<Key, Vec<InFile>>>,
    /// The directory of the cluster's own files.
    folder: PathBuf,
}

impl Known {
    /// The objects of files, for the cluster of a folder.
    #[must_use]
    pub fn new(in_files: &Arc<BTreeMap<Key, Vec<InFile>>>, folder: &Path) -> Self {
        Self { rendered: BTreeMap::new(), in_files: Arc::clone(in_files), folder: folder.to_owned() }
    }

    /// Takes in what was rendered.
    pub fn add<'o>(&mut self, objects: impl IntoIterator<Item = &'o Object>) {
        self.rendered.extend(objects.into_iter().map(|object| (object.key(), object.clone())));
    }

    /// An object.
    #[must_use]
    pub fn get(&self, key: &Key) -> Option<&Object> {
        // In a file an object may be waiting for a kustomization to give it a namespace.
        let in_no_namespace = || self.in_file(&Key { namespace: String::new(), ..key.clone() });
        self.rendered.get(key).or_else(|| self.in_file(key)).or_else(in_no_namespace)
    }

    fn in_file(&self, key: &Key) -> Option<&Object> {
        let all = self.in_files.get(key)?;
        let own = all.iter().find(|found| found.path.starts_with(&self.folder));
        own.or_else(|| all.first()).map(|found| &found.object)
    }

    /// The names of the objects of a kind.
    fn names<'k>(&'k self, group: &'k str, kind: &'k str) -> impl Iterator<Item = &'k str> {
        let is_it = move |key: &&Key| key.group == group && key.kind == kind;
        let keys = self.rendered.keys().chain(self.in_files.keys());
        keys.filter(is_it).map(|key| key.name.as_str())
    }
}

/// The known state of a cluster; records what is read.
#[derive(Debug)]
pub struct Lookup<'k> {
    known: &'k Known,
    asked: Mutex<BTreeSet<Key>>,
}

impl<'k> Lookup<'k> {
    /// Nothing was asked yet.
    #[must_use]
    pub fn new(known: &'k Known) -> Self {
        Self { known, asked: Mutex::default() }
    }

    /// Returns what was asked. As long as all of it is the same, so is what was made of it.
    #[must_use]
    pub fn into_asked(self) -> BTreeSet<Key> {
        self.asked.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// An object.
    pub(crate) fn get(&self, group: &str, kind: &str, namespace: &str, name: &str) -> Option<&'k Object> {
        let key = Key {
            group: group.to_owned(),
            kind: kind.to_owned(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        };
        let found = self.known.get(&key);
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).insert(key);
        found
    }

    /// The names of the objects of a kind.
    pub(crate) fn names(&self, group: &'k str, kind: &'k str) -> impl Iterator<Item = &'k str> {
        self.known.names(group, kind)
    }
}

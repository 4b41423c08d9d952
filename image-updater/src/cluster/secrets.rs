//! Reads secrets of the cluster by its API on demand, without caching.
//!
//! In: names, from threads that may wait. Out: Secrets, ConfigMaps and what ServiceAccounts pull with, and a ring when one
//! that was asked for has changed since; of that only names and versions are watched, in the namespaces that were asked
//! about. Refused: to wait for long.

use diagnostic::{Error, ErrorKind, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Debug};
use std::future::Future;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::StreamExt as _;
use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::core::v1::{ConfigMap, Secret, ServiceAccount};
use kube::api::{Api, ListParams};
use kube::core::PartialObjectMeta;
use kube::runtime::WatchStreamExt as _;
use kube::runtime::watcher::{self, Event, watcher};
use kube::{Client, Resource, ResourceExt as _};
use serde::de::DeserializeOwned;
use tokio::runtime::Handle;

use super::{Kept, Vault};
use crate::change::Named;

/// Time the API may take for one answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Reads from the cluster.
pub(super) struct Secrets {
    client: Client,
    handle: Handle,
    asked: Arc<Asked>,
}

/// The requested objects.
struct Asked {
    /// Kinds with names, in the version that was read, which is empty where there was none; a name that is empty stands for
    /// all of the namespace.
    names: Mutex<BTreeMap<(&'static str, Named), String>>,
    /// Kinds and namespaces that are watched.
    watched: Mutex<BTreeSet<(&'static str, String)>>,
    /// Number of changes.
    changes: AtomicU64,
    /// Rings when any of it has changed.
    ring: Box<dyn Fn() + Send + Sync>,
}

impl Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Secrets").finish_non_exhaustive()
    }
}

impl Secrets {
    /// Nothing was asked for yet.
    pub(super) fn new(client: Client, handle: Handle, ring: Box<dyn Fn() + Send + Sync>) -> Self {
        let (names, watched, changes) = (Mutex::default(), Mutex::default(), AtomicU64::new(0));
        let asked = Asked { names, watched, changes, ring };
        Self { client, handle, asked: Arc::new(asked) }
    }

    /// Notes that somebody depends on something, and has changes of it noticed.
    fn depends_on<K>(&self, kind: &'static str, id: &Named)
    where
        K: Resource<Scope = NamespaceResourceScope, DynamicType = ()>
            + Clone
            + Debug
            + DeserializeOwned
            + Send
            + Sync
            + 'static,
    {
        lock(&self.asked.names).entry((kind, id.clone())).or_default();
        if lock(&self.asked.watched).insert((kind, id.namespace.clone())) {
            let api: Api<PartialObjectMeta<K>> = Api::namespaced(self.client.clone(), &id.namespace);
            self.handle.spawn(follow(kind, id.namespace.clone(), api, Arc::clone(&self.asked)));
        }
    }

    /// Notes in which version something was read; nothing where there is none.
    fn was_read(&self, kind: &'static str, id: &Named, read: Option<&impl kube::ResourceExt>) {
        let version = read.and_then(kube::ResourceExt::resource_version).unwrap_or_default();
        lock(&self.asked.names).insert((kind, id.clone()), version);
    }

    fn wait<T>(&self, what: &str, answer: impl Future<Output = kube::Result<T>>) -> Result<T> {
        let answer = async { tokio::time::timeout(PATIENCE, answer).await };
        match self.handle.block_on(answer) {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => Err(refused(what, &error)),
            Err(_) => {
                Err(Error::new(ErrorKind::Environment, format!("{what} cannot be read: no answer in time")))
            }
        }
    }
}

impl Vault for Secrets {
    fn secret(&self, id: &Named) -> Result<Option<Kept>> {
        self.depends_on::<Secret>("Secret", id);
        let api: Api<Secret> = Api::namespaced(self.client.clone(), &id.namespace);
        let what = format!("the Secret `{}/{}`", id.namespace, id.name);
        let found = self.wait(&what, api.get_opt(&id.name))?;
        self.was_read("Secret", id, found.as_ref());
        Ok(found.map(kept))
    }

    fn config_map(&self, id: &Named) -> Result<Option<Kept>> {
        self.depends_on::<ConfigMap>("ConfigMap", id);
        let api: Api<ConfigMap> = Api::namespaced(self.client.clone(), &id.namespace);
        let what = format!("the ConfigMap `{}/{}`", id.namespace, id.name);
        let found = self.wait(&what, api.get_opt(&id.name))?;
        self.was_read("ConfigMap", id, found.as_ref());
        Ok(found.map(|map| {
            let texts = map.data.unwrap_or_default().into_iter().map(|(key, text)| (key, text.into_bytes()));
            let bytes = map.binary_data.unwrap_or_default().into_iter().map(|(key, bytes)| (key, bytes.0));
            let data = texts.chain(bytes).map(|(key, bytes)| (key, oci_registry::Secret::new(bytes)));
            Kept { id: id.clone(), data: data.collect() }
        }))
    }

    fn labelled(&self, namespace: &str, label: &str, value: &str) -> Result<Vec<Kept>> {
        let all = Named { namespace: namespace.to_owned(), name: String::new() };
        self.depends_on::<Secret>("Secret", &all);
        let api: Api<Secret> = Api::namespaced(self.client.clone(), namespace);
        let which = ListParams::default().labels(&format!("{label}={value}"));
        let what = format!("the Secrets with `{label}: {value}` in `{namespace}`");
        Ok(self.wait(&what, api.list(&which))?.into_iter().map(kept).collect())
    }

    fn pull_secrets(&self, account: &Named) -> Result<Option<Vec<String>>> {
        let api: Api<ServiceAccount> = Api::namespaced(self.client.clone(), &account.namespace);
        let what = format!("the ServiceAccount `{}/{}`", account.namespace, account.name);
        let account = self.wait(&what, api.get_opt(&account.name))?;
        Ok(account.map(|account| {
            let secrets = account.image_pull_secrets.unwrap_or_default();
            secrets.into_iter().map(|secret| secret.name).filter(|name| !name.is_empty()).collect()
        }))
    }

    fn changes(&self) -> u64 {
        self.asked.changes.load(Ordering::Relaxed)
    }
}

fn kept(secret: Secret) -> Kept {
    let id = Named { namespace: secret.namespace().unwrap_or_default(), name: secret.name_any() };
    let data: BTreeMap<_, _> = secret.data.unwrap_or_default();
    Kept {
        id,
        data: data.into_iter().map(|(key, bytes)| (key, oci_registry::Secret::new(bytes.0))).collect(),
    }
}

fn refused(what: &str, error: &kube::Error) -> Error {
    match error {
        kube::Error::Api(status) if matches!(status.code, 401 | 403) => {
            Error::new(ErrorKind::Environment, format!("{what} may not be read by this program"))
                .hint("grant it `get`, `list` and `watch` on it by a Role")
        }
        kube::Error::Api(status) => {
            Error::new(ErrorKind::Environment, format!("{what} cannot be read: {}", status.reason))
        }
        // What does not fit the type may quote what is in it.
        kube::Error::SerdeError(_) => Error::invalid(format!("{what} cannot be understood")),
        _ => Error::new(
            ErrorKind::Environment,
            format!("{what} cannot be read: the API server does not answer"),
        ),
    }
}

/// Rings for each change of what was asked for; what is as it was read when the watch begins is no change.
async fn follow<K>(kind: &'static str, namespace: String, api: Api<PartialObjectMeta<K>>, asked: Arc<Asked>)
where
    K: Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned + Send + Sync + 'static,
{
    let mut events = Box::pin(watcher(api, watcher::Config::default()).default_backoff());
    let (mut known, mut listed) = (None, BTreeMap::new());
    while let Some(event) = events.next().await {
        let version = |object: &PartialObjectMeta<K>| object.resource_version().unwrap_or_default();
        let changed: Vec<String> = match event {
            // Whether it may be watched is said where it is read.
            Err(_) | Ok(Event::Init) => continue,
            Ok(Event::InitApply(object)) => {
                listed.insert(object.name_any(), version(&object));
                continue;
            }
            Ok(Event::InitDone) => {
                let now = std::mem::take(&mut listed);
                let changed = match &known {
                    Some(known) => differing(known, &now),
                    None => asked.differing(kind, &namespace, &now),
                };
                known = Some(now);
                changed
            }
            Ok(Event::Apply(object)) => {
                let (name, version) = (object.name_any(), version(&object));
                known.get_or_insert_default().insert(name.clone(), version);
                vec![name]
            }
            Ok(Event::Delete(object)) => {
                known.get_or_insert_default().remove(&object.name_any());
                vec![object.name_any()]
            }
        };
        let is_asked = |name: String| {
            let names = lock(&asked.names);
            let has =
                |name: String| names.contains_key(&(kind, Named { namespace: namespace.clone(), name }));
            has(String::new()) || has(name)
        };
        if changed.into_iter().any(is_asked) {
            asked.changes.fetch_add(1, Ordering::Relaxed);
            (asked.ring)();
        }
    }
}

impl Asked {
    /// The names of a namespace that have changed between being read and being watched.
    fn differing(&self, kind: &str, namespace: &str, now: &BTreeMap<String, String>) -> Vec<String> {
        let names = lock(&self.names);
        let of_namespace = names
            .iter()
            .filter(|((known, id), _)| *known == kind && id.namespace == namespace && !id.name.is_empty());
        let other =
            of_namespace.filter(|((_, id), version)| now.get(&id.name).unwrap_or(&String::new()) != *version);
        other.map(|((_, id), _)| id.name.clone()).collect()
    }
}

/// The names that are only in one of two, or in both with different versions.
fn differing(one: &BTreeMap<String, String>, other: &BTreeMap<String, String>) -> Vec<String> {
    let names: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
    names.into_iter().filter(|name| one.get(*name) != other.get(*name)).cloned().collect()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

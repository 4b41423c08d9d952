//! What is in the cluster, kept up to date: a watch for each kind of object and each namespace.
//!
//! In: the API. Out: every object as a text by the name `KIND/NAMESPACE/NAME`, of Applications only what images depend
//! on, and a ring for each change of one of these texts. A watch that breaks goes on where it was, or begins anew, less
//! and less often where the API is away; what is known stays until then. Kinds that the cluster does not have are looked
//! for now and then.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Debug;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures::StreamExt as _;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::api::{Api, ApiResource, DynamicObject};
use kube::core::Object;
use kube::runtime::WatchStreamExt as _;
use kube::runtime::watcher::{self, Event, watcher};
use kube::{Client, Resource};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::deliver::Known;
use super::flag::Flag;
use super::settings::Source;
use crate::change::Named;

/// How often it is looked whether the cluster has a kind by now.
const LOOK_FOR_KIND: Duration = Duration::from_secs(30);

/// Applications carry the state of all that they deploy, of which nothing is kept.
pub(super) const PAGE: u32 = 100;

/// Flux' own annotation.
const REQUESTED: &str = "reconcile.fluxcd.io/requestedAt";

/// Where kubectl keeps what was applied.
const KUBECTL: &str = "kubectl.kubernetes.io/";

/// What annotations of Applications are kept: what images are updated, and what the Application is made of itself.
const KEPT: [&str; 2] = ["argocd-image-updater.argoproj.io/", "argocd.argoproj.io/tracking-id"];

/// A kind of object that says what there is to do, or what that depends on.
#[derive(Debug)]
pub(super) struct Kind {
    pub(super) name: &'static str,
    group: &'static str,
    version: &'static str,
    plural: &'static str,
    /// Where its objects are looked for: whose objects say what there is to do.
    sources: &'static [Source],
    pub(super) is_namespaced: bool,
}

const fn kind(
    sources: &'static [Source],
    group: &'static str,
    version: &'static str,
    name: &'static str,
    plural: &'static str,
) -> Kind {
    Kind { name, group, version, plural, sources, is_namespaced: true }
}

const APPLICATIONS: &[Source] = &[Source::Argocd, Source::Annotations];
const FLUX: &[Source] = &[Source::Flux];

/// All kinds that are watched; the Applications are first.
pub(super) const KINDS: &[Kind] = &[
    kind(APPLICATIONS, "argoproj.io", "v1alpha1", "Application", "applications"),
    kind(&[Source::Argocd], "argocd-image-updater.argoproj.io", "v1alpha1", "ImageUpdater", "imageupdaters"),
    kind(FLUX, "image.toolkit.fluxcd.io", "v1", "ImageRepository", "imagerepositories"),
    kind(FLUX, "image.toolkit.fluxcd.io", "v1", "ImagePolicy", "imagepolicies"),
    kind(FLUX, "image.toolkit.fluxcd.io", "v1", "ImageUpdateAutomation", "imageupdateautomations"),
    kind(FLUX, "source.toolkit.fluxcd.io", "v1", "GitRepository", "gitrepositories"),
    // Access over namespaces is by their labels.
    Kind { is_namespaced: false, ..kind(FLUX, "", "v1", "Namespace", "namespaces") },
];

impl Kind {
    /// Its API and the version of that.
    fn api(&self) -> String {
        match self.group {
            "" => self.version.to_owned(),
            group => format!("{group}/{}", self.version),
        }
    }

    pub(super) fn resource(&self) -> ApiResource {
        ApiResource {
            group: self.group.to_owned(),
            version: self.version.to_owned(),
            api_version: self.api(),
            kind: self.name.to_owned(),
            plural: self.plural.to_owned(),
        }
    }
}

/// An object, as far as it matters.
#[derive(Clone, Debug)]
pub(super) struct Live {
    pub(super) kind: &'static str,
    pub(super) id: Named,
    pub(super) generation: i64,
    pub(super) labels: BTreeMap<String, String>,
    /// Its API and the version of that.
    pub(super) api: String,
    /// When somebody asked for it to be looked at at once, as Flux does.
    pub(super) requested_at: Option<String>,
    pub(super) is_suspended: bool,
    /// Whether it is being deleted.
    pub(super) is_ending: bool,
    pub(super) text: String,
    /// Its `resourceVersion`.
    pub(super) version: String,
}

impl Live {
    /// Whether it says what it said before, in whichever version.
    fn says_the_same(&self, other: &Self) -> bool {
        let Self {
            kind,
            id,
            generation,
            labels,
            api,
            requested_at,
            is_suspended,
            is_ending,
            text,
            version: _,
        } = self;
        (kind, id, generation, labels) == (&other.kind, &other.id, &other.generation, &other.labels)
            && (api, requested_at, text) == (&other.api, &other.requested_at, &other.text)
            && (*is_suspended, *is_ending) == (other.is_suspended, other.is_ending)
    }

    /// What its text is called.
    pub(super) fn path(&self) -> String {
        format!("{}/{}/{}", self.kind, self.id.namespace, self.id.name)
    }
}

/// What of an Application matters. All of it is taken as it is, so that no Application can break the watch of others.
pub(super) type Application = Object<ApplicationSpec, ApplicationStatus>;

#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ApplicationSpec {
    #[serde(default, skip_serializing_if = "Value::is_null")]
    project: Value,
    #[serde(default, skip_serializing_if = "Value::is_null")]
    source: Value,
    #[serde(default, skip_serializing_if = "Value::is_null")]
    sources: Value,
    #[serde(default, skip_serializing_if = "Value::is_null")]
    source_hydrator: Value,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ApplicationStatus {
    #[serde(default, skip_serializing_if = "Value::is_null")]
    source_type: Value,
    #[serde(default, skip_serializing_if = "Value::is_null")]
    source_types: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    summary: Option<Summary>,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct Summary {
    #[serde(default, skip_serializing_if = "Value::is_null")]
    images: Value,
}

/// Everything that is watched.
#[derive(Debug)]
pub(super) struct Store {
    slots: Mutex<Vec<Slot>>,
    /// Raised when anything has changed.
    pub(super) changed: Flag,
    /// Since when the API has not answered.
    away: Mutex<Option<Instant>>,
}

/// What one watch has seen.
#[derive(Debug, Default)]
struct Slot {
    objects: BTreeMap<Named, Arc<Live>>,
    is_synced: bool,
}

impl Store {
    fn new(slots: usize) -> Self {
        let slots = std::iter::repeat_with(Slot::default).take(slots).collect();
        Self { slots: Mutex::new(slots), changed: Flag::default(), away: Mutex::default() }
    }

    /// All objects; nothing before every watch has seen all of its own once.
    pub(super) fn snapshot(&self) -> Option<Vec<Arc<Live>>> {
        let slots = lock(&self.slots);
        let all = || slots.iter().flat_map(|slot| slot.objects.values().cloned());
        slots.iter().all(|slot| slot.is_synced).then(|| all().collect())
    }

    /// Whether every watch has seen all of its own once.
    pub(super) fn is_synced(&self) -> bool {
        lock(&self.slots).iter().all(|slot| slot.is_synced)
    }

    /// For how long the API has not answered.
    pub(super) fn away(&self) -> Option<Duration> {
        lock(&self.away).map(|since| since.elapsed())
    }

    fn answered(&self) {
        *lock(&self.away) = None;
    }

    fn failed(&self) {
        lock(&self.away).get_or_insert_with(Instant::now);
    }

    /// All objects of a watch; those that it had and has no more are gone.
    fn replace(&self, slot: usize, objects: BTreeMap<Named, Arc<Live>>) {
        if let Some(slot) = lock(&self.slots).get_mut(slot) {
            *slot = Slot { objects, is_synced: true };
        }
        self.changed.raise();
    }

    fn put(&self, slot: usize, live: Live) {
        let mut slots = lock(&self.slots);
        let Some(slot) = slots.get_mut(slot) else { return };
        // Argo CD writes the state of Applications all the time; most of that is nothing to us.
        let is_news = slot.objects.get(&live.id).is_none_or(|known| !known.says_the_same(&live));
        slot.objects.insert(live.id.clone(), Arc::new(live));
        if is_news {
            self.changed.raise();
        }
    }

    fn remove(&self, slot: usize, id: &Named) {
        let mut slots = lock(&self.slots);
        if slots.get_mut(slot).is_some_and(|slot| slot.objects.remove(id).is_some()) {
            self.changed.raise();
        }
    }
}

impl Known for Store {
    fn application(&self, id: &Named) -> Option<Value> {
        let slots = lock(&self.slots);
        let of_kind = |slot: &Slot| slot.objects.get(id).filter(|live| live.kind == KINDS[0].name).cloned();
        let live = slots.iter().find_map(of_kind)?;
        drop(slots);
        let mut object: Value = serde_json::from_str(&live.text).ok()?;
        object["metadata"]["resourceVersion"] = json!(live.version);
        Some(object)
    }
}

/// Begins to watch all kinds of some sources, in some namespaces or, where there is but nothing, in all.
pub(super) fn watch(
    client: &Client,
    namespaces: &[Option<String>],
    sources: impl Fn(Source) -> bool,
) -> Arc<Store> {
    let is_wanted = |kind: &&Kind| kind.sources.iter().any(|source| sources(*source));
    let mut watches: Vec<(&'static Kind, Option<String>)> = Vec::new();
    for kind in KINDS.iter().filter(is_wanted) {
        // Who sees some namespaces only is not let to see what namespaces there are.
        let namespaces = namespaces.iter().filter(|namespace| kind.is_namespaced || namespace.is_none());
        watches.extend(namespaces.map(|namespace| (kind, namespace.clone())));
    }
    let store = Arc::new(Store::new(watches.len()));
    for (slot, (kind, namespace)) in watches.into_iter().enumerate() {
        let watch = Watch { client: client.clone(), kind, namespace, slot, store: Arc::clone(&store) };
        tokio::spawn(watch.run());
    }
    store
}

/// The watch of a kind.
struct Watch {
    client: Client,
    kind: &'static Kind,
    namespace: Option<String>,
    slot: usize,
    store: Arc<Store>,
}

impl Watch {
    async fn run(self) {
        let (name, resource) = (self.kind.name, self.kind.resource());
        while !self.is_there().await {
            // What the cluster does not have has no objects.
            self.store.replace(self.slot, BTreeMap::new());
            tokio::time::sleep(LOOK_FOR_KIND).await;
        }
        if name == "Application" {
            self.follow(self.api::<Application>(&resource), application).await;
        } else {
            let kind = self.kind;
            self.follow(self.api::<DynamicObject>(&resource), move |object| dynamic(kind, object)).await;
        }
    }

    fn api<K: Resource<DynamicType = ApiResource>>(&self, resource: &ApiResource) -> Api<K>
    where
        K: Resource<Scope = kube::core::DynamicResourceScope>,
    {
        match &self.namespace {
            Some(namespace) => Api::namespaced_with(self.client.clone(), namespace, resource),
            None => Api::all_with(self.client.clone(), resource),
        }
    }

    /// Whether the cluster has the kind. While it cannot be asked this waits.
    async fn is_there(&self) -> bool {
        let Kind { group, version, plural, .. } = *self.kind;
        if group.is_empty() {
            return true;
        }
        let mut pause = Duration::from_millis(500);
        loop {
            let known = self.client.list_api_group_resources(&format!("{group}/{version}")).await;
            match known {
                Ok(list) => {
                    self.store.answered();
                    return list.resources.iter().any(|resource| resource.name == plural);
                }
                Err(kube::Error::Api(status)) if status.code == 404 => {
                    self.store.answered();
                    return false;
                }
                Err(error) => {
                    tracing::debug!(%error, kind = self.kind.name, "the API cannot be asked for a kind");
                    self.store.failed();
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(LOOK_FOR_KIND);
                }
            }
        }
    }

    async fn follow<K>(&self, api: Api<K>, read: impl Fn(&K) -> Live)
    where
        K: Resource + Clone + DeserializeOwned + Debug + Send + 'static,
    {
        let config = watcher::Config::default().page_size(PAGE);
        let mut events = Box::pin(watcher(api, config).default_backoff());
        let mut listed = BTreeMap::new();
        let mut is_failing = false;
        while let Some(event) = events.next().await {
            let event = match event {
                Ok(event) => event,
                Err(error) => {
                    self.store.failed();
                    if !is_failing {
                        tracing::warn!(kind = self.kind.name, %error, "a watch is broken, and is tried again");
                    }
                    is_failing = true;
                    continue;
                }
            };
            // That a list begins is said before the API is asked.
            if !matches!(event, Event::Init) {
                self.store.answered();
                is_failing = false;
            }
            match event {
                Event::Init => listed.clear(),
                Event::InitApply(object) => {
                    let live = read(&object);
                    listed.insert(live.id.clone(), Arc::new(live));
                }
                Event::InitDone => self.store.replace(self.slot, std::mem::take(&mut listed)),
                Event::Apply(object) => self.store.put(self.slot, read(&object)),
                Event::Delete(object) => self.store.remove(self.slot, &id(object.meta())),
            }
        }
    }
}

fn id(metadata: &ObjectMeta) -> Named {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    Named { namespace: text(&metadata.namespace), name: text(&metadata.name) }
}

pub(super) fn application(application: &Application) -> Live {
    let annotations = application.metadata.annotations.iter().flatten();
    let ours: HashMap<&String, &String> =
        annotations.filter(|(key, _)| KEPT.iter().any(|kept| key.starts_with(kept))).collect();
    let rest = json!({ "spec": application.spec, "status": application.status });
    live(&KINDS[0], &application.metadata, json!(ours), rest)
}

pub(super) fn dynamic(kind: &'static Kind, object: &DynamicObject) -> Live {
    let spec = object.data.get("spec").cloned().unwrap_or(Value::Null);
    let rest = if spec.is_null() { json!({}) } else { json!({ "spec": spec }) };
    let annotations = object.metadata.annotations.iter().flatten();
    // What kubectl keeps there is the whole object once more.
    let kept: HashMap<&String, &String> = annotations.filter(|(key, _)| !key.starts_with(KUBECTL)).collect();
    live(kind, &object.metadata, json!(kept), rest)
}

/// The text of an object is JSON, which is YAML.
fn live(kind: &'static Kind, metadata: &ObjectMeta, annotations: Value, mut rest: Value) -> Live {
    let api = kind.api();
    let id = id(metadata);
    let labels = metadata.labels.clone().unwrap_or_default();
    let mut known = json!({ "name": id.name, "labels": labels, "annotations": annotations });
    if let (false, Some(known)) = (id.namespace.is_empty(), known.as_object_mut()) {
        known.insert("namespace".to_owned(), json!(id.namespace));
        let owners = metadata.owner_references.iter().flatten();
        let sets: Vec<_> = owners.filter(|owner| owner.kind == "ApplicationSet").collect();
        if !sets.is_empty() {
            known.insert("ownerReferences".to_owned(), json!(sets));
        }
    }
    let is_suspended = rest.pointer("/spec/suspend").and_then(Value::as_bool).unwrap_or_default();
    if let Some(fields) = rest.as_object_mut() {
        fields.retain(|_, value| !value.is_null());
        fields.insert("apiVersion".to_owned(), json!(api));
        fields.insert("kind".to_owned(), json!(kind.name));
        fields.insert("metadata".to_owned(), known);
    }
    let requested_at = metadata.annotations.iter().flatten().find(|(key, _)| *key == REQUESTED);
    Live {
        kind: kind.name,
        id,
        generation: metadata.generation.unwrap_or_default(),
        labels,
        api,
        requested_at: requested_at.map(|(_, value)| value.clone()),
        is_suspended,
        is_ending: metadata.deletion_timestamp.is_some(),
        text: rest.to_string(),
        version: metadata.resource_version.clone().unwrap_or_default(),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

//! Caches the objects of the cluster: one watch for each kind and namespace.
//!
//! In: the API. Out: every object as a text by the name `KIND/NAMESPACE/NAME`, of Applications only what images depend
//! on, and a ring for each change of one of these texts. A watch that breaks goes on where it was, or begins anew, less
//! and less often where the API is away; what is known stays until then. Kinds that the cluster does not have are looked
//! for now and then.

use std::collections::{BTreeMap, BTreeSet, HashMap};
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

/// Maximum number of times it is looked whether the cluster has a kind by now.
const LOOK_FOR_KIND: Duration = Duration::from_secs(30);

/// Applications carry the state of all that they deploy, of which nothing is kept.
pub(super) const PAGE: u32 = 100;

/// Flux' own annotation.
const REQUESTED: &str = "reconcile.fluxcd.io/requestedAt";

/// Prefix of kubectl's annotations.
const KUBECTL: &str = "kubectl.kubernetes.io/";

/// Prefixes of cached annotations: which images are updated, and how the Application is deployed.
const KEPT: [&str; 2] = ["argocd-image-updater.argoproj.io/", "argocd.argoproj.io/tracking-id"];

/// A kind of object that says what there is to do, or what that depends on.
#[derive(Debug)]
pub(super) struct Kind {
    pub(super) name: &'static str,
    group: &'static str,
    version: &'static str,
    plural: &'static str,
    /// The sources whose objects it watches.
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
    /// True if it is being deleted.
    pub(super) is_ending: bool,
    pub(super) text: String,
    /// Its `resourceVersion`.
    pub(super) version: String,
}

impl Live {
    /// Returns true if it says what it said before, in whichever version.
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

    /// Returns what its text is called.
    pub(super) fn path(&self) -> String {
        format!("{}/{}/{}", self.kind, self.id.namespace, self.id.name)
    }
}

/// The relevant fields of an Application. They are not typed further, so that no Application can break the watch of
/// others.
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
    /// True if what we may not see counts as not there, as nobody has asked for it.
    passes_denied: bool,
    /// Raised when anything has changed.
    pub(super) changed: Flag,
    /// Raised with it when what objects name has changed, such as a Secret.
    pub(super) ground: Flag,
    /// Since when the API has not answered.
    away: Mutex<Option<Instant>>,
    /// Counts how often all watches were to begin anew.
    renewals: tokio::sync::watch::Sender<u64>,
}

/// The state of one watch.
#[derive(Debug)]
struct Slot {
    kind: &'static Kind,
    objects: BTreeMap<Named, Arc<Live>>,
    is_synced: bool,
    /// True if we may not see it.
    is_denied: bool,
}

impl Store {
    fn new(kinds: impl Iterator<Item = &'static Kind>, passes_denied: bool) -> Self {
        let slot = |kind| Slot { kind, objects: BTreeMap::new(), is_synced: false, is_denied: false };
        let slots = Mutex::new(kinds.map(slot).collect());
        let (changed, ground, away) = (Flag::default(), Flag::default(), Mutex::default());
        let renewals = tokio::sync::watch::Sender::new(0);
        Self { slots, passes_denied, changed, ground, away, renewals }
    }

    /// All objects; nothing before every watch has seen all of its own once. Of a source of which we may not see all
    /// there is nothing, as what is seen of it would say something else alone.
    pub(super) fn snapshot(&self) -> Option<Vec<Arc<Live>>> {
        let slots = lock(&self.slots);
        let is_there = |slot: &Slot| slot.is_synced || slot.is_denied && self.passes_denied;
        if !slots.iter().all(is_there) {
            return None;
        }
        let denied: Vec<Source> =
            slots.iter().filter(|slot| slot.is_denied).flat_map(|slot| slot.kind.sources).copied().collect();
        let counts = |slot: &&Slot| slot.kind.sources.iter().any(|source| !denied.contains(source));
        Some(slots.iter().filter(counts).flat_map(|slot| slot.objects.values().cloned()).collect())
    }

    /// Called if a referenced object, such as a Secret, changes.
    pub(super) fn ground_moved(&self) {
        self.ground.raise();
        self.changed.raise();
    }

    /// Returns true if every watch has seen all of its own once.
    pub(super) fn is_synced(&self) -> bool {
        lock(&self.slots).iter().all(|slot| slot.is_synced)
    }

    /// Has all watches begin anew, at once: one that is broken waits before it goes on, and what it has seen may be wrong
    /// by now. There is no snapshot until they all have seen all of their own again.
    pub(super) fn renew(&self) {
        lock(&self.slots).iter_mut().for_each(|slot| slot.is_synced = false);
        self.renewals.send_modify(|count| *count += 1);
    }

    /// For how long the API has not answered.
    pub(super) fn away(&self) -> Option<Duration> {
        lock(&self.away).map(|since| since.elapsed())
    }

    /// The API has answered something.
    pub(super) fn answered(&self) {
        *lock(&self.away) = None;
    }

    fn failed(&self) {
        lock(&self.away).get_or_insert_with(Instant::now);
    }

    /// We may not see what a watch is for.
    fn denied(&self, slot: usize) {
        if let Some(slot) = lock(&self.slots).get_mut(slot) {
            slot.is_denied = true;
        }
        self.changed.raise();
    }

    /// All objects of a watch; those that it had and has no more are gone.
    fn replace(&self, slot: usize, objects: BTreeMap<Named, Arc<Live>>) {
        if let Some(slot) = lock(&self.slots).get_mut(slot) {
            *slot = Slot { objects, is_synced: true, is_denied: false, ..*slot };
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
    sources: Option<&BTreeSet<Source>>,
) -> Arc<Store> {
    let wanted = |source: &Source| sources.is_none_or(|sources| sources.contains(source));
    let is_wanted = |kind: &&Kind| kind.sources.iter().any(wanted);
    let mut watches: Vec<(&'static Kind, Option<String>)> = Vec::new();
    for kind in KINDS.iter().filter(is_wanted) {
        // Who sees some namespaces only is not let to see what namespaces there are.
        let namespaces = namespaces.iter().filter(|namespace| kind.is_namespaced || namespace.is_none());
        watches.extend(namespaces.map(|namespace| (kind, namespace.clone())));
    }
    let store = Arc::new(Store::new(watches.iter().map(|(kind, _)| *kind), sources.is_none()));
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
        let mut renewals = self.store.renewals.subscribe();
        loop {
            tokio::select! {
                () = self.go_on() => {}
                _ = renewals.changed() => {}
            }
        }
    }

    async fn go_on(&self) {
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

    fn api<K>(&self, resource: &ApiResource) -> Api<K>
    where
        K: Resource<DynamicType = ApiResource, Scope = kube::core::DynamicResourceScope>,
    {
        match &self.namespace {
            Some(namespace) => Api::namespaced_with(self.client.clone(), namespace, resource),
            None => Api::all_with(self.client.clone(), resource),
        }
    }

    /// Returns true if the cluster has the kind. While it cannot be asked this waits.
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

    /// A watch is broken: the API refuses it, or does not answer.
    fn fail(&self, error: &watcher::Error, is_known: bool) {
        match refusal(error) {
            Some(code) if code < 500 => self.store.answered(),
            _ => self.store.failed(),
        }
        if refusal(error) == Some(403) {
            self.store.denied(self.slot);
        }
        if !is_known {
            let kind = self.kind.name;
            tracing::warn!(kind, namespace = self.namespace, %error, "a watch is broken, and is tried again");
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
                    self.fail(&error, is_failing);
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

/// Returns what the API says where it refuses a watch.
fn refusal(error: &watcher::Error) -> Option<u16> {
    use watcher::Error as Failed;
    match error {
        Failed::InitialListFailed(kube::Error::Api(status))
        | Failed::WatchStartFailed(kube::Error::Api(status))
        | Failed::WatchFailed(kube::Error::Api(status))
        | Failed::WatchError(status) => Some(status.code),
        _ => None,
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
    live(&KINDS[0], &application.metadata, &ours, rest)
}

pub(super) fn dynamic(kind: &'static Kind, object: &DynamicObject) -> Live {
    let spec = object.data.get("spec").cloned().unwrap_or(Value::Null);
    let rest = if spec.is_null() { json!({}) } else { json!({ "spec": spec }) };
    let annotations = object.metadata.annotations.iter().flatten();
    // What kubectl keeps there is the whole object once more.
    let kept: HashMap<&String, &String> = annotations.filter(|(key, _)| !key.starts_with(KUBECTL)).collect();
    live(kind, &object.metadata, &kept, rest)
}

/// The text of an object is JSON, which is YAML.
fn live(
    kind: &'static Kind,
    metadata: &ObjectMeta,
    annotations: &HashMap<&String, &String>,
    mut rest: Value,
) -> Live {
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

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// An object as the watch of its kind has it.
    pub(in crate::cluster) fn seen(object: Value) -> Live {
        let kind = KINDS.iter().find(|kind| object["kind"] == kind.name).expect("it is watched");
        match kind.name {
            "Application" => application(&serde_json::from_value(object).expect("it is one")),
            _ => dynamic(kind, &serde_json::from_value(object).expect("it is one")),
        }
    }

    fn named(name: &str) -> Live {
        let metadata = json!({"namespace": "argocd", "name": name, "resourceVersion": "7"});
        seen(
            json!({"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": metadata, "spec": {}}),
        )
    }

    fn names(store: &Store) -> Option<Vec<String>> {
        Some(store.snapshot()?.iter().map(|live| live.id.name.clone()).collect())
    }

    fn listed(names: &[&str]) -> BTreeMap<Named, Arc<Live>> {
        names.iter().map(|name| named(name)).map(|live| (live.id.clone(), Arc::new(live))).collect()
    }

    #[test]
    fn of_an_application_only_what_images_depend_on_is_kept() {
        let live = seen(json!({
            "apiVersion": "argoproj.io/v1alpha1", "kind": "Application",
            "metadata": {
                "namespace": "argocd", "name": "web", "resourceVersion": "7", "labels": {"team": "a"},
                "annotations": {"argocd-image-updater.argoproj.io/image-list": "a=b", "other": "x"},
            },
            "spec": {"project": "default", "source": {"repoURL": "u", "path": "p"}, "syncPolicy": {}},
            "status": {"sourceType": "Helm", "summary": {"images": ["a:1"], "externalURLs": []}, "resources": [1, 2]},
        }));
        let kept: Value = serde_json::from_str(&live.text).unwrap();
        assert_eq!(
            kept,
            json!({
                "apiVersion": "argoproj.io/v1alpha1", "kind": "Application",
                "metadata": {
                    "namespace": "argocd", "name": "web", "labels": {"team": "a"},
                    "annotations": {"argocd-image-updater.argoproj.io/image-list": "a=b"},
                },
                "spec": {"project": "default", "source": {"repoURL": "u", "path": "p"}},
                "status": {"sourceType": "Helm", "summary": {"images": ["a:1"]}},
            })
        );
        assert_eq!((live.path().as_str(), live.version.as_str()), ("Application/argocd/web", "7"));
    }

    #[test]
    fn nothing_is_known_before_each_watch_has_seen_all_of_its_own() {
        let store = Store::new([&KINDS[0], &KINDS[0]].into_iter(), false);
        store.replace(0, listed(&["a", "b"]));
        assert_eq!(names(&store), None);
        store.replace(1, listed(&["c"]));
        assert_eq!(names(&store), Some(vec!["a".to_owned(), "b".to_owned(), "c".to_owned()]));
        store.replace(0, listed(&["b"]));
        assert_eq!(names(&store), Some(vec!["b".to_owned(), "c".to_owned()]), "what is not listed is gone");
    }

    #[test]
    fn what_says_the_same_in_another_version_is_no_news() {
        let store = Store::new([&KINDS[0]].into_iter(), false);
        store.replace(0, listed(&["a"]));
        assert!(store.changed.take_down(Duration::ZERO));
        store.put(0, Live { version: "8".to_owned(), ..named("a") });
        assert!(!store.changed.take_down(Duration::ZERO));
        let id = named("a").id;
        assert_eq!(
            store.application(&id).unwrap()["metadata"]["resourceVersion"],
            "8",
            "and yet it is the newest"
        );
        store.put(0, Live { text: "{}".to_owned(), ..named("a") });
        assert!(store.changed.take_down(Duration::ZERO));
        store.remove(0, &id);
        assert!(store.changed.take_down(Duration::ZERO) && names(&store) == Some(Vec::new()));
    }

    /// A Role for Argo CD's objects alone, in a cluster that has Flux besides.
    #[test]
    fn a_source_that_we_may_not_see_is_off_unless_it_was_asked_for() {
        let flux = KINDS.iter().filter(|kind| kind.sources == FLUX);
        for (passes, expected) in [(true, Some(vec!["a".to_owned()])), (false, None)] {
            let store = Store::new([&KINDS[0]].into_iter().chain(flux.clone().take(2)), passes);
            store.replace(0, listed(&["a"]));
            store.replace(1, listed(&["hidden"]));
            store.denied(2);
            assert_eq!(names(&store), expected);
            store.replace(2, BTreeMap::new());
            assert_eq!(names(&store).map(|names| names.len()), Some(2), "by now we may");
        }
    }

    #[test]
    fn an_api_is_away_from_the_first_failure_to_the_next_answer() {
        let store = Store::new([].into_iter(), false);
        assert!(store.away().is_none());
        store.failed();
        let first = store.away().expect("it is away");
        store.failed();
        assert!(store.away().expect("it is away still") >= first);
        store.answered();
        assert!(store.away().is_none());
    }
}

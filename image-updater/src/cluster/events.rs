//! Events on the objects concerned, as Argo CD Image Updater sends them, so that `kubectl get events` shows the same.
//!
//! In: notices, from threads that must not wait. Out: an Event each, written one after the other. Refused: the same
//! trouble of the same object again and again, and to wait for an API server that is slow: what does not fit is left out.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use k8s_openapi::api::core::v1::{Event, EventSource, ObjectReference};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time};
use kube::api::{Api, DynamicObject, PostParams};
use kube::core::{ApiResource, GroupVersionKind};
use tokio::sync::Notify;
use tracing::{debug, warn};

use super::status::{Fault, News, State, Subject, joined};
use super::witness::lock;
use crate::gate::Gate;
use crate::work::{Owner, OwnerKind, Update};

/// So many wait to be sent: what a commit for every one of 2,000 Applications brings.
const WAITING: usize = 4_000;

/// Trouble of one kind is said so often of an object, whatever its words.
const AGAIN: Duration = Duration::from_secs(300);

/// Time one may take; Events are not worth more.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Time between two, so that a burst does not take the API from others.
const PACE: Duration = Duration::from_millis(20);

/// Maximum number of times it is looked whether it is our turn again.
const TICK: Duration = Duration::from_secs(1);

/// So many images are named in the annotations of one; the API takes 256 KiB of them.
const ANNOTATED: usize = 200;

/// The event source of Argo CD Image Updater.
const ARGO_CD: &str = "ArgocdImageUpdater";

/// Our event source.
const OURS: &str = "image-updater";

/// Versions were pushed: Argo CD Image Updater's own word.
const UPDATED: &str = "ImagesUpdated";

/// Images were not brought up to date.
const FAILED: &str = "ImagesUpdateFailed";

/// Event reason: annotations of an Application are invalid.
const INVALID: &str = "ImageUpdaterConfigInvalid";

/// An event about an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Notice {
    pub(super) owner: Owner,
    pub(super) severity: Severity,
    pub(super) reason: String,
    pub(super) message: String,
    pub(super) annotations: Vec<(String, String)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Severity {
    Normal,
    Warning,
}

/// Events that wait to be sent.
#[derive(Debug)]
pub(super) struct Events {
    is_on: bool,
    waiting: Mutex<VecDeque<Notice>>,
    is_busy: AtomicBool,
    rung: Notify,
    lost: AtomicU64,
}

/// The Applications that are in trouble, by what was said of it. They have no status of ours that would remember it.
#[derive(Debug, Default)]
pub(super) struct Troubles {
    /// The configuration errors, by owner.
    faults: BTreeMap<Owner, String>,
    /// The reconcile errors, by owner.
    failures: BTreeMap<Owner, String>,
}

impl Events {
    pub(super) fn new(is_on: bool) -> Self {
        Self {
            is_on,
            waiting: Mutex::default(),
            is_busy: AtomicBool::new(false),
            rung: Notify::new(),
            lost: AtomicU64::new(0),
        }
    }

    /// Has these sent.
    pub(super) fn extend(&self, notices: impl IntoIterator<Item = Notice>) {
        if !self.is_on {
            return;
        }
        let mut waiting = lock(&self.waiting);
        for notice in notices {
            if waiting.len() < WAITING {
                waiting.push_back(notice);
            } else {
                self.lost.fetch_add(1, Ordering::Relaxed);
            }
        }
        self.rung.notify_one();
    }

    /// Returns true if there is nothing to be sent.
    pub(super) fn is_idle(&self) -> bool {
        lock(&self.waiting).is_empty() && !self.is_busy.load(Ordering::Relaxed)
    }

    /// Sends them, for as long as it is let.
    pub(super) async fn send(&self, client: &kube::Client, gate: &Gate) {
        let mut sender = Sender { client, said: HashMap::new(), last: 0 };
        // What is still to be said is said, though it is stopping.
        while !gate.is_stopped() || !self.is_idle() {
            let Some(notice) = self.take(gate) else {
                // What is left out is said once the rest is sent.
                let lost = self.lost.swap(0, Ordering::Relaxed);
                if lost > 0 {
                    warn!(lost, "there were more Events than could be sent");
                }
                let _ = tokio::time::timeout(TICK, self.rung.notified()).await;
                continue;
            };
            if sender.is_new(&notice, Instant::now()) {
                let (kind, id) = (notice.owner.kind, notice.owner.id.to_string());
                match tokio::time::timeout(TIMEOUT, sender.send(notice)).await {
                    Ok(Ok(())) => {}
                    Ok(Err(error)) => warn!(object = id, "an Event of {kind:?} was not sent: {error}"),
                    Err(_) => warn!(object = id, "an Event of {kind:?} was not sent in time"),
                }
            }
            self.is_busy.store(false, Ordering::Relaxed);
            tokio::time::sleep(PACE).await;
        }
    }

    /// The next one, unless another replica leads.
    fn take(&self, gate: &Gate) -> Option<Notice> {
        let mut waiting = lock(&self.waiting);
        let next = if gate.is_held() { None } else { waiting.pop_front() };
        self.is_busy.store(next.is_some(), Ordering::Relaxed);
        next
    }
}

struct Sender<'c> {
    client: &'c kube::Client,
    /// When trouble of a kind was last said.
    said: HashMap<(Owner, String), Instant>,
    /// The time in the name of the last one, which is another for each.
    last: i128,
}

impl Sender<'_> {
    fn is_new(&mut self, notice: &Notice, now: Instant) -> bool {
        if notice.severity == Severity::Normal {
            return true;
        }
        self.said.retain(|_, said| now.duration_since(*said) < AGAIN);
        let key = (notice.owner.clone(), notice.reason.clone());
        if self.said.contains_key(&key) {
            debug!(object = %notice.owner.id, "the same trouble was said before");
            return false;
        }
        self.said.insert(key, now);
        true
    }

    async fn send(&mut self, notice: Notice) -> kube::Result<()> {
        let namespace = notice.owner.id.namespace.clone();
        let resource = resource(notice.owner.kind, None);
        let objects: Api<DynamicObject> = Api::namespaced_with(self.client.clone(), &namespace, &resource);
        // The Event is of this very object, and not of one that had its name before.
        let Some(object) = objects.get_metadata_opt(&notice.owner.id.name).await? else { return Ok(()) };
        let now = Timestamp::now();
        self.last = now.as_nanosecond().max(self.last + 1);
        let event = event(notice, &resource, object.metadata, now, self.last);
        Api::<Event>::namespaced(self.client.clone(), &namespace)
            .create(&PostParams::default(), &event)
            .await?;
        Ok(())
    }
}

fn event(notice: Notice, resource: &ApiResource, object: ObjectMeta, now: Timestamp, unique: i128) -> Event {
    let Notice { owner, severity, reason, message, annotations } = notice;
    let component = match owner.kind {
        OwnerKind::Application | OwnerKind::ImageUpdater => ARGO_CD,
        _ => OURS,
    };
    let type_ = match severity {
        Severity::Normal => "Normal",
        Severity::Warning => "Warning",
    };
    let annotations: BTreeMap<String, String> = annotations.into_iter().collect();
    Event {
        metadata: ObjectMeta {
            name: Some(format!("{}.{unique:x}", owner.id.name)),
            namespace: Some(owner.id.namespace.clone()),
            annotations: Some(annotations).filter(|annotations| !annotations.is_empty()),
            ..ObjectMeta::default()
        },
        involved_object: ObjectReference {
            api_version: Some(resource.api_version.clone()),
            kind: Some(resource.kind.clone()),
            name: Some(owner.id.name),
            namespace: Some(owner.id.namespace),
            resource_version: object.resource_version,
            uid: object.uid,
            field_path: None,
        },
        source: Some(EventSource { component: Some(component.to_owned()), host: None }),
        first_timestamp: Some(Time(now)),
        last_timestamp: Some(Time(now)),
        count: Some(1),
        type_: Some(type_.to_owned()),
        reason: Some(reason),
        message: Some(message),
        ..Event::default()
    }
}

impl Troubles {
    /// Returns what is said of an object after a round: what was pushed for it and, of an Application, what failed.
    pub(super) fn notices(&mut self, owner: &Owner, news: &News<'_>) -> Vec<Notice> {
        match owner.kind {
            OwnerKind::Application => {
                updated(owner, news).into_iter().chain(self.failed(owner, news)).collect()
            }
            OwnerKind::ImageUpdater => updated(owner, news).into_iter().collect(),
            _ => Vec::new(),
        }
    }

    /// Returns what is said of Applications that say something wrong. Those that have no images any more are forgotten.
    pub(super) fn resolved<'u>(
        &mut self,
        subjects: &[Subject],
        updates: impl Iterator<Item = &'u Update>,
    ) -> Vec<Notice> {
        let is_application = |owner: &&Owner| owner.kind == OwnerKind::Application;
        let known: HashSet<&Owner> =
            updates.flat_map(|update| &update.owners).filter(is_application).collect();
        self.failures.retain(|owner, _| known.contains(owner));
        let mut before = std::mem::take(&mut self.faults);
        let mut notices = Vec::new();
        for subject in subjects.iter().filter(|subject| is_application(&&subject.owner)) {
            let message = joined(subject.faults.iter().map(Fault::message));
            if before.remove(&subject.owner).as_ref() != Some(&message) {
                notices.push(warning(&subject.owner, INVALID, message.clone()));
            }
            self.faults.insert(subject.owner.clone(), message);
        }
        notices
    }

    fn failed(&mut self, owner: &Owner, news: &News<'_>) -> Option<Notice> {
        let failed = news.images.iter().filter_map(|heard| match &heard.state {
            State::Failed(why) => Some(format!("{}: {why}", heard.id.name)),
            _ => None,
        });
        let message = joined(failed);
        if message.is_empty() {
            self.failures.remove(owner);
            return None;
        }
        let before = self.failures.insert(owner.clone(), message.clone());
        (before.as_ref() != Some(&message)).then(|| warning(owner, FAILED, message))
    }
}

fn warning(owner: &Owner, reason: &str, message: String) -> Notice {
    let (severity, reason) = (Severity::Warning, reason.to_owned());
    Notice { owner: owner.clone(), severity, reason, message, annotations: Vec::new() }
}

/// Returns what was pushed for an object, if anything was.
fn updated(owner: &Owner, news: &News<'_>) -> Option<Notice> {
    let written: Vec<_> = news.images.iter().filter_map(|heard| Some((heard, heard.written?))).collect();
    if written.is_empty() {
        return None;
    }
    let mut annotations = Vec::new();
    for (place, (heard, change)) in written.iter().take(ANNOTATED).enumerate() {
        let mut annotate = |what: &str, value: &str| {
            annotations.push((format!("argocd-image-updater.image-{place}/{what}"), value.to_owned()));
        };
        annotate("full-image-name", heard.image);
        annotate("image-name", change.short_name());
        annotate("old-tag", change.old.identifier());
        annotate("new-tag", change.new.identifier());
    }
    let mut applications: Vec<String> = written
        .iter()
        .filter_map(|(heard, _)| Some(format!("'{}'", heard.id.application.as_ref()?)))
        .collect();
    applications.sort();
    applications.dedup();
    let message = match applications.as_slice() {
        [] => format!("Successfully updated {} images", written.len()),
        [one] => format!("Successfully updated application {one}"),
        several => {
            format!("Successfully updated {} applications: {}", several.len(), joined(several.to_vec()))
        }
    };
    let (owner, reason) = (owner.clone(), UPDATED.to_owned());
    Some(Notice { owner, severity: Severity::Normal, reason, message, annotations })
}

/// Returns how the API calls a kind of object; where nothing else is known, in the version that its own tool writes.
pub(super) fn resource(kind: OwnerKind, api: Option<&str>) -> ApiResource {
    let (kind, plural, usual) = match kind {
        OwnerKind::Application => ("Application", "applications", "argoproj.io/v1alpha1"),
        OwnerKind::ImageUpdater => {
            ("ImageUpdater", "imageupdaters", "argocd-image-updater.argoproj.io/v1alpha1")
        }
        OwnerKind::ImageRepository => ("ImageRepository", "imagerepositories", FLUX),
        OwnerKind::ImagePolicy => ("ImagePolicy", "imagepolicies", FLUX),
        OwnerKind::ImageUpdateAutomation => ("ImageUpdateAutomation", "imageupdateautomations", FLUX),
    };
    let (group, version) = api.unwrap_or(usual).split_once('/').unwrap_or_default();
    ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk(group, version, kind), plural)
}

const FLUX: &str = "image.toolkit.fluxcd.io/v1";

//! Resolves the objects of the cluster into jobs.
//!
//! In: the objects as they are. Out: batches of work by the place that they are written to, and for each object that is
//! told how it does what is to be said of it. An object that is wrong leaves out itself, or the part that is wrong. Left
//! out is what another shard works off, by the object that says what there is to do, so that one alone tells it.

use diagnostic::Error;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::shard::Shard;
use super::status::{Fault, Subject};
use super::watch::Live;
use crate::change::Named;
use crate::config::Registry;
use crate::dialect;
use crate::dialect::field::field_at;
use crate::work::{Batch, Owner, OwnerKind};

/// The resolved jobs.
#[derive(Debug, Default)]
pub(super) struct Resolved {
    /// By the name of the place that they are written to.
    pub(super) places: BTreeMap<String, Vec<(Batch, Vec<Registry>)>>,
    /// The objects that are told how they do.
    pub(super) subjects: Vec<Subject>,
    /// Warnings.
    pub(super) warnings: Vec<Error>,
}

/// Resolves the configured sources and shard.
#[derive(Debug)]
pub(super) struct Resolver {
    pub(super) argocd_namespace: String,
    pub(super) shard: Shard,
    /// True if annotations of Applications count by themselves.
    pub(super) has_annotations: bool,
}

impl Resolver {
    /// Returns what there is to do.
    pub(super) fn resolve(&self, objects: &[Arc<Live>]) -> Resolved {
        // What is being deleted is let go of.
        let (ending, staying): (Vec<&Arc<Live>>, Vec<&Arc<Live>>) =
            objects.iter().partition(|live| live.is_ending);
        let texts: Vec<(String, String)> =
            staying.iter().map(|live| (live.path(), live.text.clone())).collect();
        let found = dialect::read_live(&texts, &self.argocd_namespace);
        let (faults, warnings) = (found.faults.clone(), found.warnings.clone());
        let mut resolved = Resolved { warnings, ..Resolved::default() };
        // Who has images is told by whoever works off one of them.
        let mut told: HashMap<Owner, bool> = HashMap::new();
        let labels: HashMap<(&str, &Named), &Arc<Live>> =
            staying.iter().map(|live| ((live.kind, &live.id), *live)).collect();
        for (mut batch, registries) in found.into_tenants() {
            batch.updates.retain(|update| {
                let first = update.owners.first();
                let is_ours = first.is_some_and(|owner| {
                    let live = labels.get(&(name_of(owner.kind), &owner.id));
                    let is_let = owner.kind != OwnerKind::Application || self.has_annotations;
                    is_let && live.is_some_and(|live| self.shard.owns(&live.id, &live.labels))
                });
                for owner in &update.owners {
                    *told.entry(owner.clone()).or_default() |= is_ours;
                }
                is_ours
            });
            if batch.updates.is_empty() {
                continue;
            }
            resolved.places.entry(batch.files.to_string()).or_default().push((batch, registries));
        }
        let is_ours = |owner: &Owner, live: &Live| {
            told.get(owner).copied().unwrap_or_else(|| self.shard.owns(&live.id, &live.labels))
        };
        resolved.subjects = subjects(&staying, &faults, &is_ours);
        resolved.subjects.extend(subjects(&ending, &[], &is_ours));
        resolved
    }
}

/// The objects that are told how they do, and are ours to tell.
fn subjects(
    objects: &[&Arc<Live>],
    faults: &[Error],
    is_ours: &dyn Fn(&Owner, &Live) -> bool,
) -> Vec<Subject> {
    let mut by_path: HashMap<&str, Vec<&Error>> = HashMap::new();
    for fault in faults {
        if let Some(location) = fault.location() {
            by_path.entry(location.path()).or_default().push(fault);
        }
    }
    let told = objects.iter().filter_map(|live| {
        let (path, kind) = (live.path(), kind_of(live.kind)?);
        let faults = by_path.get(path.as_str()).into_iter().flatten().map(|error| fault(error, live));
        let faults: Vec<Fault> = faults.collect();
        // Of Applications there are thousands, and most of them have no say.
        let has_a_say = kind != OwnerKind::Application || !faults.is_empty();
        let owner = Owner { kind, id: live.id.clone() };
        (has_a_say && is_ours(&owner, live)).then(|| Subject {
            owner,
            api: live.api.clone(),
            generation: live.generation,
            requested_at: live.requested_at.clone(),
            is_suspended: live.is_suspended,
            is_going: live.is_ending,
            faults,
        })
    });
    told.collect()
}

fn fault(error: &Error, live: &Live) -> Fault {
    let field = error.location().and_then(|place| field_at(&live.text, place));
    Fault { field, error: error.clone() }
}

/// The kinds of objects that are told how they do.
const TOLD: [(&str, OwnerKind); 5] = [
    ("Application", OwnerKind::Application),
    ("ImageUpdater", OwnerKind::ImageUpdater),
    ("ImageRepository", OwnerKind::ImageRepository),
    ("ImagePolicy", OwnerKind::ImagePolicy),
    ("ImageUpdateAutomation", OwnerKind::ImageUpdateAutomation),
];

fn kind_of(name: &str) -> Option<OwnerKind> {
    TOLD.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind)
}

fn name_of(kind: OwnerKind) -> &'static str {
    TOLD.iter().find(|(_, known)| *known == kind).map_or("", |(name, _)| name)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::watch::tests::seen;
    use super::*;
    use crate::work::{Files, Running};
    use diagnostic::ErrorKind;

    fn application(name: &str, running: &[&str]) -> Value {
        json!({
            "apiVersion": "argoproj.io/v1alpha1", "kind": "Application",
            "metadata": {"namespace": "argocd", "name": name, "labels": {"team": name}},
            "spec": {"source": {"repoURL": "https://git.test/r.git", "path": name}},
            "status": {"sourceType": "Kustomize", "summary": {"images": running}},
        })
    }

    fn updater(name: &str, spec: &Value) -> Value {
        json!({
            "apiVersion": "argocd-image-updater.argoproj.io/v1alpha1", "kind": "ImageUpdater",
            "metadata": {"namespace": "argocd", "name": name, "generation": 3}, "spec": spec,
        })
    }

    fn images(pattern: &str, images: &[&str]) -> Value {
        let image = |name: &&str| json!({"alias": name.replace(['/', '.', ':'], "-"), "imageName": name});
        json!({"applicationRefs": [{"namePattern": pattern, "images": images.iter().map(image).collect::<Vec<_>>()}]})
    }

    fn resolve(shard: Shard, objects: Vec<Value>) -> Resolved {
        let resolver = Resolver { argocd_namespace: "argocd".to_owned(), shard, has_annotations: true };
        let objects: Vec<Arc<Live>> = objects.into_iter().map(|object| Arc::new(seen(object))).collect();
        resolver.resolve(&objects)
    }

    fn subject<'r>(resolved: &'r Resolved, name: &str) -> &'r Subject {
        resolved.subjects.iter().find(|subject| subject.owner.id.name == name).expect("it is told")
    }

    #[test]
    fn what_runs_decides_whether_an_image_is_written_that_stands_nowhere() {
        let resolved = resolve(
            Shard::Whole,
            vec![
                updater("all", &images("*", &["nginx:1.x", "redis:7.x"])),
                application(
                    "web",
                    &[
                        "docker.io/library/nginx:1.2@sha256:0000000000000000000000000000000000000000000000000000000000000000",
                    ],
                ),
            ],
        );
        let (batch, _) = &resolved.places["the Applications of the cluster"][0];
        assert_eq!(batch.files, Files::Applications);
        let running: Vec<&Running> = batch.updates.iter().map(|update| &update.running).collect();
        assert!(
            matches!(running[0], Running::At(version) if version.tag.as_deref() == Some("1.2")),
            "{running:?}"
        );
        assert_eq!(running[1], &Running::Nothing);
        let kinds: Vec<OwnerKind> = batch.updates[0].owners.iter().map(|owner| owner.kind).collect();
        assert_eq!(kinds, [OwnerKind::ImageUpdater, OwnerKind::Application]);
    }

    #[test]
    fn two_that_claim_one_image_are_both_told_and_neither_is_done() {
        let resolved = resolve(
            Shard::Whole,
            vec![
                updater("one", &images("web", &["nginx"])),
                updater("two", &images("w*", &["docker.io/library/nginx:1.x", "redis"])),
                application("web", &["nginx:1.0", "redis:7"]),
            ],
        );
        let (batch, _) = &resolved.places["the Applications of the cluster"][0];
        let names: Vec<&str> = batch.updates.iter().map(|update| update.image.as_str()).collect();
        assert_eq!(names, ["redis"], "what nobody else claims is done");
        for name in ["one", "two"] {
            let faults = &subject(&resolved, name).faults;
            assert_eq!(faults.len(), 1, "{faults:?}");
            assert_eq!(faults[0].error.kind(), ErrorKind::Conflict);
            assert_eq!(faults[0].field.as_deref(), Some("spec.applicationRefs[0].images[0]"));
        }
    }

    #[test]
    fn an_object_that_is_wrong_stops_only_itself() {
        let resolved = resolve(
            Shard::Whole,
            vec![
                updater("right", &images("web", &["nginx"])),
                updater(
                    "wrong",
                    &json!({"applicationRefs": [{"namePattern": "web", "images": [{"alias": "a b", "imageName": "x"}]}]}),
                ),
                application("web", &["nginx:1.0"]),
            ],
        );
        assert_eq!(resolved.places.len(), 1);
        let wrong = subject(&resolved, "wrong");
        assert_eq!(wrong.faults[0].field.as_deref(), Some("spec.applicationRefs[0].images[0].alias"));
        assert_eq!((wrong.generation, subject(&resolved, "right").faults.len()), (3, 0));
    }

    #[test]
    fn shards_share_out_by_who_says_what_there_is_to_do() {
        let objects = || -> Vec<Value> {
            let updaters = (0..8)
                .map(|index| updater(&format!("u{index}"), &images(&format!("web{index}"), &["nginx"])));
            let applications = (0..8).map(|index| application(&format!("web{index}"), &["nginx:1.0"]));
            updaters.chain(applications).collect()
        };
        let count = |shard| {
            let resolved = resolve(shard, objects());
            let updates =
                resolved.places.values().flatten().map(|(batch, _)| batch.updates.len()).sum::<usize>();
            (updates, resolved.subjects.len())
        };
        let parts: Vec<(usize, usize)> = (0..3).map(|index| count(Shard::Part { index, count: 3 })).collect();
        assert_eq!(parts.iter().map(|(updates, _)| updates).sum::<usize>(), 8);
        assert!(
            parts.iter().all(|(updates, subjects)| updates == subjects),
            "who works it off tells it: {parts:?}"
        );
    }

    #[test]
    fn what_is_ours_is_only_for_the_namespace_of_argo_cd() {
        let mut spec = images("web", &["nginx"]);
        spec["commonUpdateSettings"] = json!({"pullSecret": "env:GITHUB_WEBHOOK_SECRET"});
        let objects = [updater("all", &spec), application("web", &["nginx:1.0"])];
        let objects: Vec<Arc<Live>> = objects.into_iter().map(|object| Arc::new(seen(object))).collect();
        for (argocd, places) in [("argocd", 1), ("elsewhere", 0)] {
            let resolver =
                Resolver { argocd_namespace: argocd.to_owned(), shard: Shard::Whole, has_annotations: true };
            let resolved = resolver.resolve(&objects);
            assert_eq!(resolved.places.len(), places, "{argocd}");
            let causes: Vec<ErrorKind> =
                subject(&resolved, "all").faults.iter().map(|fault| fault.error.kind()).collect();
            assert_eq!(causes, vec![ErrorKind::Denied; 1 - places]);
        }
    }

    /// A policy and its repository are told by who works off their automation, wherever they would be by themselves.
    #[test]
    fn each_object_of_flux_is_told_by_exactly_one_shard() {
        let object = |group: &str, kind: &str, name: &str, spec: Value| {
            json!({"apiVersion": format!("{group}.toolkit.fluxcd.io/v1"), "kind": kind,
                   "metadata": {"namespace": "flux-system", "name": name}, "spec": spec})
        };
        let objects = || -> Vec<Value> {
            let author = json!({"email": "flux@example.com"});
            let git = json!({"commit": {"author": author}, "checkout": {"ref": {"branch": "main"}}});
            let automation =
                json!({"interval": "1m", "sourceRef": {"kind": "GitRepository", "name": "r"}, "git": git});
            let source = json!({"url": "https://git.test/r.git", "interval": "1m"});
            let images = (0..6).flat_map(|index| {
                let name = format!("app{index}");
                let policy =
                    json!({"imageRepositoryRef": {"name": name}, "policy": {"semver": {"range": "1.x"}}});
                let repository = json!({"image": format!("registry.test/{name}"), "interval": "1m"});
                [
                    object("image", "ImageRepository", &name, repository),
                    object("image", "ImagePolicy", &name, policy),
                ]
            });
            images
                .chain([
                    object("image", "ImageUpdateAutomation", "all", automation),
                    object("source", "GitRepository", "r", source),
                ])
                .collect()
        };
        let told = |index| -> Vec<Owner> {
            let resolved = resolve(Shard::Part { index, count: 3 }, objects());
            resolved.subjects.into_iter().map(|subject| subject.owner).collect()
        };
        let parts: Vec<Vec<Owner>> = (0..3).map(told).collect();
        let mut sizes: Vec<usize> = parts.iter().map(Vec::len).collect();
        sizes.sort_unstable();
        assert_eq!(sizes, [0, 0, 13], "the automation, six policies and six repositories: {parts:?}");
    }

    /// Case: who may write a resource of their own namespace is not let to use what another has of a registry.
    #[test]
    fn what_one_says_of_a_registry_is_not_for_the_images_of_others() {
        let with_secret = |name: &str, secret: &str| {
            let mut spec = images(name, &["registry.test/a"]);
            spec["commonUpdateSettings"] = json!({"pullSecret": secret});
            updater(name, &spec)
        };
        let resolved = resolve(
            Shard::Whole,
            vec![
                // Whoever comes first.
                updater("zero", &images("zero", &["registry.test/a"])),
                application("zero", &["registry.test/a:1"]),
                with_secret("one", "env:ONE"),
                with_secret("two", "env:TWO"),
                updater("three", &images("three", &["registry.test/a"])),
                application("one", &["registry.test/a:1"]),
                application("two", &["registry.test/a:1"]),
                application("three", &["registry.test/a:1"]),
            ],
        );
        let batches = &resolved.places["the Applications of the cluster"];
        for (batch, registries) in batches {
            let names: Vec<&str> = batch
                .updates
                .iter()
                .filter_map(|update| Some(update.application.as_ref()?.name.as_str()))
                .collect();
            let wanted = match names.as_slice() {
                ["one" | "two"] => 1,
                ["zero", "three"] => 0,
                _ => panic!("{names:?} have one client"),
            };
            assert_eq!(registries.len(), wanted, "{names:?}");
        }
        assert_eq!(batches.len(), 3);
    }
}

//! Argo CD Image Updater: ImageUpdater resources, and annotations on the manifests of Applications.
//!
//! The Applications are those whose manifests are in the files. An image of an Application that two resources name is a
//! fault, and neither is done. Method `argocd` writes to the manifest of the Application, as there is no cluster.

mod annotations;
mod application;
mod claim;
mod crd;
mod image_list;
mod resource;
pub(crate) mod status;
mod types;
mod write_back;

use diagnostic::{Error, ErrorKind, Result};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::objects::{Object, collect};
use super::{Dialect, Found, Input};
use crate::work::{Delivery, Files, Owner, OwnerKind, Running, Update};
use annotations::PREFIX;
use application::{KUSTOMIZATIONS, Paths, Source};
use claim::Claim;
use resource::Resource;
use write_back::Destination;

const GROUP: &str = "argocd-image-updater.argoproj.io";
const VERSION: &str = "v1alpha1";

/// The files that tell what renders a folder.
pub(super) const TELLING: [&str; 4] = ["Chart.yaml", KUSTOMIZATIONS[0], KUSTOMIZATIONS[1], KUSTOMIZATIONS[2]];

pub(super) const DIALECT: Dialect = Dialect {
    name: "Argo CD Image Updater",
    signs: &["argocd-image-updater.argoproj.io/"],
    uses: &["argoproj.io/"],
    definitions: crd::DEFINITIONS,
    read,
};

/// The settings of all Applications.
struct World<'w> {
    resources: &'w [Resource],
    paths: Paths<'w>,
    home: &'w Files,
    /// Number of Applications each file has.
    counts: HashMap<Arc<str>, usize>,
}

fn read(input: Input<'_>, found: &mut Found) {
    let objects = collect(input.files, &["argoproj.io/"], found);
    let (mut applications, mut resources) = (Vec::new(), Vec::new());
    let mut counts: HashMap<Arc<str>, usize> = HashMap::new();
    for object in objects {
        match (object.group_version(), object.kind.as_str()) {
            ((GROUP, VERSION), "ImageUpdater") => match Resource::new(object, found) {
                Ok(resource) => resources.push(resource),
                Err(error) => found.faults.push(error),
            },
            ((GROUP, _), "ImageUpdater") => {
                let message = format!("{} is of `{}`, which is not known", object.title(), object.api);
                let error = Error::invalid(message).at(object.place());
                found.faults.push(error.hint(format!("the version is {VERSION}")));
            }
            (("argoproj.io", _), "Application") => {
                *counts.entry(object.path.clone()).or_default() += 1;
                applications.push(object);
            }
            (("argoproj.io", _), "ApplicationSet") => {
                *counts.entry(object.path.clone()).or_default() += 1;
                warn_of_set(&object, found);
            }
            _ => {}
        }
    }
    let world = World { resources: &resources, paths: Paths::new(input.files), home: input.home, counts };
    let mut used = vec![Vec::new(); resources.len()];
    for application in &applications {
        world.read_application(application, &mut used, found);
    }
    for (resource, used) in resources.iter().zip(used) {
        resource.warn_of_idle(&used, found);
    }
}

/// Which Applications a set makes is known to a cluster only.
fn warn_of_set(set: &Object, found: &mut Found) {
    let annotations = set.get(&["spec", "template", "metadata", "annotations"]);
    let entries = annotations.and_then(|annotations| annotations.entries()).into_iter().flatten();
    let mut keys = entries.filter_map(|entry| Some((entry.key.text()?, entry.key.span.start)));
    if let Some((_, start)) = keys.find(|(key, _)| key.starts_with(PREFIX)) {
        let message = format!("the Applications of {} are ignored", set.title());
        let warning = set.refuse(start, message);
        found.warnings.push(warning.hint("which they are is known to a cluster only"));
    }
}

impl World<'_> {
    fn read_application(&self, application: &Object, used: &mut [Vec<usize>], found: &mut Found) {
        let mut claims = Vec::new();
        let mut is_named = false;
        for (index, resource) in self.resources.iter().enumerate() {
            let Some(reference) = resource.reference_for(application) else { continue };
            is_named = true;
            used[index].push(reference);
            match resource.claims(reference, application, found) {
                Ok(of_resource) => claims.extend(of_resource.into_iter().map(|claim| (Some(index), claim))),
                Err(error) => found.fault_once(error),
            }
        }
        if !is_named {
            if !annotations::has_list(application) {
                return;
            }
            match annotations::claims(application, found) {
                Ok(listed) => claims.extend(listed.into_iter().map(|claim| (None, claim))),
                Err(error) => return found.faults.push(error),
            }
        }
        let claims = self.undisputed(application, claims, found);
        if claims.is_empty() {
            return;
        }
        let source = match Source::of(application) {
            Ok(source) => source,
            Err(error) => return found.faults.push(error),
        };
        let destination = Destination {
            application,
            source,
            paths: &self.paths,
            home: self.home,
            is_alone: self.counts.get(&application.path).is_none_or(|count| *count < 2),
        };
        for (resource, claim) in claims {
            found.noted = None;
            match update(&claim, &destination, found) {
                Ok((files, delivery, mut update)) => {
                    update.owners = self.owners(resource, application, found);
                    found.add(&files, &delivery, update);
                }
                Err(error) => found.fault_once(error),
            }
        }
    }

    /// Returns the objects that own an image, in a cluster.
    fn owners(&self, resource: Option<usize>, application: &Object, found: &Found) -> Vec<Owner> {
        if !found.is_live() {
            return Vec::new();
        }
        let owner = |kind, object: &Object| Owner { kind, id: object.id.clone() };
        let resource = resource.and_then(|index| self.resources.get(index));
        let resource = resource.map(|resource| owner(OwnerKind::ImageUpdater, &resource.object));
        resource.into_iter().chain([owner(OwnerKind::Application, application)]).collect()
    }

    /// The claims whose image no other resource claims of the Application.
    fn undisputed<'c>(
        &self,
        application: &Object,
        claims: Vec<(Option<usize>, Claim<'c>)>,
        found: &mut Found,
    ) -> Vec<(Option<usize>, Claim<'c>)> {
        let mut by_image: BTreeMap<String, Vec<(Option<usize>, Claim<'c>)>> = BTreeMap::new();
        let mut order = Vec::new();
        for (resource, claim) in claims {
            match claim.repository() {
                Ok(repository) => {
                    let image = repository.to_string();
                    let of_image = by_image.entry(image.clone()).or_default();
                    if of_image.is_empty() {
                        order.push(image);
                    }
                    of_image.push((resource, claim));
                }
                Err(error) => found.fault_once(error),
            }
        }
        let mut undisputed = Vec::new();
        for image in order {
            let claims = by_image.remove(&image).unwrap_or_default();
            let first = claims.first().map(|(resource, _)| *resource);
            match claims.iter().find(|(resource, _)| Some(*resource) != first) {
                None => undisputed.extend(claims),
                Some((_, other)) => {
                    let (one, title) = (&claims[0].1, application.title());
                    found.faults.push(dispute(one, other, &image, &title));
                    // Each of them is told where each has an ear of its own.
                    if found.is_live() {
                        found.faults.push(dispute(other, one, &image, &title));
                    }
                }
            }
        }
        undisputed
    }
}

fn dispute(one: &Claim<'_>, other: &Claim<'_>, image: &str, application: &str) -> Error {
    let message = format!(
        "the image `{image}` of {application} is also claimed by {} at {}, and neither is done",
        other.said.title(),
        other.said.at(other.start)
    );
    one.said.refuse(one.start, message).with_kind(ErrorKind::Conflict).hint("leave it to one of them")
}

fn update(
    claim: &Claim<'_>,
    destination: &Destination<'_>,
    found: &mut Found,
) -> Result<(Files, Delivery, Update)> {
    let choice = claim.choice(found)?;
    let (files, delivery, spot) = destination.of(claim, found)?;
    let pins_digest = choice.criteria.strategy == "digest";
    let update = Update {
        name: claim.alias.clone().unwrap_or_else(|| choice.image.clone()),
        image: choice.image,
        watched: choice.watched,
        criteria: choice.criteria,
        pins_digest,
        keeps_digest: false,
        spots: vec![spot],
        application: Some(destination.application.id.clone()),
        interval: None,
        suspended: false,
        verification: claim.verification.clone(),
        running: if found.is_live() { destination.running(claim) } else { Running::Any },
        requested: None,
        owners: Vec::new(),
        place: claim.said.at(claim.start),
    };
    Ok((files, delivery, update))
}

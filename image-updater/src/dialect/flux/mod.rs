//! Flux: ImageUpdateAutomations with the ImagePolicies of their namespace and the ImageRepositories of these.
//!
//! Each automation is a batch: its policies, by the markers below its path. What stands in Secrets is not read.

mod automation;
mod crd;
mod policy;
pub(crate) mod status;
mod types;

use diagnostic::{Error, Result};
use std::collections::{BTreeMap, HashSet};

use serde::de::DeserializeOwned;

use super::objects::{Object, collect, nearest};
use super::{Dialect, Found, Input};
use crate::change::Named;
use crate::work::{Delivery, Files};
use types::{GitRepository, ImagePolicy, ImageRepository, ImageUpdateAutomation};
use yamlserde::Spanned;

const GROUP: &str = "image.toolkit.fluxcd.io";
const SOURCES: &str = "source.toolkit.fluxcd.io";
const VERSIONS: &[&str] = &["v1", "v1beta2", "v1beta1"];

pub(super) const DIALECT: Dialect = Dialect {
    name: "Flux",
    signs: &["image.toolkit.fluxcd.io/"],
    uses: &["source.toolkit.fluxcd.io/", NAMESPACE],
    definitions: crd::DEFINITIONS,
    read,
};

const NAMESPACE: &str = "Namespace";

/// An object with what it says.
struct Parsed<T> {
    object: Object,
    spec: Spanned<T>,
}

/// Objects of a kind. A repository of several clusters may have several of one name.
type ByName<T> = BTreeMap<Named, Vec<Parsed<T>>>;

/// All that automations refer to.
struct Flux<'i> {
    home: &'i Files,
    repositories: ByName<ImageRepository>,
    policies: ByName<ImagePolicy>,
    sources: ByName<GitRepository>,
    /// The labels of namespaces that are declared.
    namespaces: BTreeMap<String, Object>,
}

fn read(input: Input<'_>, found: &mut Found) {
    let signs = [GROUP, SOURCES].map(|group| format!("{group}/"));
    let mut objects = collect(input.files, &signs.each_ref().map(String::as_str), found);
    objects.retain(|object| is_known(object, found));
    let repositories: ByName<ImageRepository> = parsed(&mut objects, "ImageRepository", found);
    let is_shared = |repository: &Parsed<ImageRepository>| repository.spec.value.access_from.is_some();
    let is_shared = repositories.values().flatten().any(is_shared);
    let flux = Flux {
        home: input.home,
        repositories,
        policies: parsed(&mut objects, "ImagePolicy", found),
        sources: parsed(&mut objects, "GitRepository", found),
        namespaces: if is_shared { namespaces(input) } else { BTreeMap::new() },
    };
    let automations: ByName<ImageUpdateAutomation> = parsed(&mut objects, "ImageUpdateAutomation", found);
    let mut written = HashSet::new();
    for automation in automations.values().flatten() {
        if let Err(error) = flux.read_automation(automation, &mut written, found) {
            found.faults.push(error);
        }
    }
    let is_written = |policy: &&Parsed<_>| written.contains(&policy.object.place().to_string());
    for policy in flux.policies.values().flatten().filter(|policy| !is_written(policy)) {
        // In a cluster others may read what its status says.
        if found.is_live() {
            match flux.watch(policy, None, found) {
                Ok(update) => found.add(&Files::Nowhere, &Delivery::default(), update),
                Err(error) => found.faults.push(error),
            }
            continue;
        }
        let message = format!("no ImageUpdateAutomation writes {}", policy.object.title());
        found.warnings.push(Error::invalid(message).at(policy.object.place()));
    }
}

/// Returns true if an object is of Flux and of a version that is read.
fn is_known(object: &Object, found: &mut Found) -> bool {
    let (group, version) = object.group_version();
    if group != GROUP {
        return group == SOURCES && object.kind == "GitRepository";
    }
    if !VERSIONS.contains(&version) {
        let message = format!("{} is of `{}`, which is not known", object.title(), object.api);
        let error = Error::invalid(message).at(object.place());
        found.faults.push(error.hint(format!("the versions are {}", VERSIONS.join(", "))));
        return false;
    }
    true
}

/// Takes out the objects of a kind and reads them.
fn parsed<T: DeserializeOwned>(objects: &mut Vec<Object>, kind: &str, found: &mut Found) -> ByName<T> {
    let of_kind = objects.extract_if(.., |object| object.kind == kind);
    let read = |object: Object| Ok(Parsed { spec: object.spec()?, object });
    let mut by_name = ByName::new();
    for object in of_kind {
        match read(object) {
            Ok(parsed) => by_name.entry(parsed.object.id.clone()).or_default().push(parsed),
            Err(error) => found.faults.push(error),
        }
    }
    by_name
}

/// Namespaces are looked for only where access depends on their labels.
fn namespaces(input: Input<'_>) -> BTreeMap<String, Object> {
    // What is wrong with files that are not Flux's is not for this tool to say.
    let objects = collect(input.files, &[NAMESPACE], &mut Found::default());
    let namespaces = objects.into_iter().filter(|object| object.kind == NAMESPACE && object.api == "v1");
    namespaces.map(|object| (object.id.name.clone(), object)).collect()
}

impl<T> Parsed<T> {
    /// The object that a reference of this one means.
    ///
    /// # Errors
    /// If several could be meant, or none is there.
    fn find<'o, U>(
        &self,
        candidates: &'o ByName<U>,
        name: &str,
        namespace: Option<&str>,
        start: u32,
    ) -> Result<&'o Parsed<U>, Missing> {
        let id = Named {
            namespace: namespace.unwrap_or(&self.object.id.namespace).to_owned(),
            name: name.to_owned(),
        };
        let of_name = candidates.get(&id).into_iter().flatten();
        let candidates = of_name.map(|candidate| (&candidate.object, candidate));
        match nearest(&self.object.path, candidates) {
            Ok(Some(candidate)) => Ok(candidate),
            Ok(None) => Err(Missing::Absent(id)),
            Err((first, second)) => {
                let message =
                    format!("{} is declared at {} and {}", first.title(), first.place(), second.place());
                Err(Missing::Several(Box::new(self.object.refuse(start, message))))
            }
        }
    }
}

/// Why a reference means nothing.
enum Missing {
    Absent(Named),
    Several(Box<Error>),
}

/// A span of time as Go writes it, in whole seconds: a part of one counts as one.
fn duration(object: &Object, text: &Spanned<String>) -> Result<std::time::Duration> {
    let refuse = || {
        let error = object.refuse(text.start, format!("invalid duration `{}`", text.value));
        error.hint("write numbers with the units h, m, s and ms: `5m`, `1h30m`")
    };
    let mut rest = text.value.as_str();
    let mut milliseconds = 0.0;
    while !rest.is_empty() {
        let end = rest.find(|character: char| !character.is_ascii_digit() && character != '.');
        let (number, after) = rest.split_at(end.ok_or_else(refuse)?);
        let units = [("ms", 1.0), ("h", 3_600_000.0), ("m", 60_000.0), ("s", 1_000.0)];
        let unit = units.into_iter().find(|(unit, _)| after.starts_with(unit));
        let (unit, factor) = unit.ok_or_else(refuse)?;
        let is_number = number.starts_with(|c: char| c.is_ascii_digit()) && !number.ends_with('.');
        let number: f64 = number.parse().ok().filter(|_| is_number).ok_or_else(refuse)?;
        milliseconds += number * factor;
        rest = &after[unit.len()..];
    }
    let seconds = (milliseconds / 1_000.0).ceil();
    // Longer than a century is no interval.
    if !(1.0..=3.2e9).contains(&seconds) {
        return Err(refuse());
    }
    std::time::Duration::try_from_secs_f64(seconds).map_err(|_| refuse())
}

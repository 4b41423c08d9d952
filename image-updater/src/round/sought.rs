//! An image with the places that it is written to.
//!
//! In: what is configured of it, the texts of files, and what was chosen. Out: what stands in them, and the new texts:
//! everywhere or nowhere. Refused: files and places that are not there, unless they may be made.

use diagnostic::{Error, Result};
use std::collections::BTreeMap;

use cosign::Verified;
use jiff::Timestamp;
use oci_registry::Repository;

use super::{Decided, Outcome, Text};
use crate::change::{Change, Edit, Version as Changed};
use crate::choose::Rules;
use crate::decision::{Decision, Standing as Verdict};
use crate::edit::{self, Paths, Policy, Request, Source, Standing, TARGETS, Target, Version};
use crate::files::{Files, is_pattern};
use crate::policy::DIGEST;
use crate::work::{OwnerKind, Running, Spot, Update};

/// File names of a kustomization.
const KUSTOMIZATIONS: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// The choice for an image.
#[derive(Clone, Debug, Default)]
pub(super) struct Choice {
    pub(super) tag: Option<String>,
    pub(super) digest: Option<String>,
    created: Option<Timestamp>,
    reason: String,
    pub(super) warnings: Vec<String>,
    pub(super) old_labels: BTreeMap<String, String>,
    pub(super) new_labels: BTreeMap<String, String>,
}

impl Choice {
    pub(super) fn of(decision: &Decision) -> Self {
        let chosen = decision.decisions.iter().find(|verdict| verdict.verdict == Verdict::Chosen);
        let reason = match chosen {
            Some(verdict) => verdict.reason.clone(),
            None => decision.why_none(),
        };
        let (tag, warnings) = (decision.chosen.clone(), decision.warnings.clone());
        let created = decision.created;
        Self { tag, reason, warnings, created, ..Self::default() }
    }

    /// Returns what objects are told.
    pub(super) fn decided(&self) -> Decided {
        Decided { version: self.tag.as_deref().map(|tag| self.version(tag)), reason: self.reason.clone() }
    }

    fn version(&self, tag: &str) -> Changed {
        let (digest, labels) = (self.digest.clone(), self.new_labels.clone());
        Changed { digest, labels, created: self.created, ..Changed::of_tag(tag) }
    }
}

/// By which key an image's choice is signed, where it has to be.
pub(super) type Prove<'p> = &'p dyn Fn(&Sought<'_>, &Choice) -> Result<Option<Verified>>;

/// An image with its places.
pub(super) struct Sought<'b> {
    pub(super) update: &'b Update,
    pub(super) rules: Rules,
    pub(super) repository: Repository,
    pub(super) pins_digest: bool,
    places: Vec<WriteTarget<'b>>,
    /// The current versions in the targets.
    standing: Vec<Standing>,
}

/// One file of a spot.
struct WriteTarget<'b> {
    target: &'static Target,
    spot: &'b Spot,
    path: String,
    request: Request,
    standing: Vec<Standing>,
}

impl<'b> Sought<'b> {
    pub(super) fn seek(update: &'b Update, texts: &mut Texts<'_>) -> Result<Self> {
        let pins_digest = update.pins_digest || update.criteria.strategy == DIGEST;
        let version = edit::sought(&update.image, pins_digest)?;
        let rules = Rules::new(&update.criteria)?;
        let mut places = Vec::new();
        for spot in &update.spots {
            let (target, request) = request(spot, &version)?;
            let paths = match is_pattern(&spot.path) {
                true => texts.list(&spot.path)?,
                false => vec![texts.kustomization(target, &spot.path)],
            };
            for path in paths {
                let text = match texts.get(&path) {
                    Ok(Some(text)) => text,
                    Ok(None) if target.creates_file && spot.creates => "",
                    Ok(None) if update.running == Running::Nothing => continue,
                    Ok(None) => return Err(Error::invalid(format!("the file `{path}` does not exist"))),
                    Err(error) => return Err(texts.hinted(error, target, &path)),
                };
                let standing = edit::current(target, &Source { path: &path, text }, &request)?;
                places.push(WriteTarget { target, spot, path, request: request.clone(), standing });
            }
        }
        let standing = places.iter().flat_map(|place| place.standing.clone()).collect();
        let repository = version.repository().clone();
        Ok(Self { update, rules, repository, pins_digest, places, standing })
    }

    /// The tags that a decision has to be made for: each that stands somewhere, or none. A digest has no order, and what
    /// stands matters only where not all may be updated.
    pub(super) fn currents(&self) -> Vec<Option<&str>> {
        let tags = self.standing.iter().map(|standing| standing.tag.as_str());
        let mut tags: Vec<&str> = tags.filter(|tag| !tag.is_empty()).collect();
        tags.sort_unstable();
        tags.dedup();
        let criteria = &self.update.criteria;
        if let (true, Running::At(running)) = (tags.is_empty(), &self.update.running) {
            tags.extend(running.tag.as_deref().filter(|tag| !tag.is_empty()));
        }
        if tags.is_empty() || (criteria.strategy == DIGEST && criteria.update_from.is_empty()) {
            return vec![None];
        }
        tags.into_iter().map(Some).collect()
    }

    /// The digest that stays with a tag: the only one that stands there, where no other tag does.
    pub(super) fn kept_digest(&self, tag: &str) -> Option<&str> {
        let is_of_tag = |standing: &Standing| standing.tag.is_empty() || standing.tag == tag;
        if !self.update.keeps_digest || !self.standing.iter().all(is_of_tag) {
            return None;
        }
        let digests = self.standing.iter().map(|standing| standing.digest.as_str());
        let mut digests = digests.filter(|digest| !digest.is_empty());
        let first = digests.next()?;
        digests.all(|digest| digest == first).then_some(first)
    }

    /// Why it is not looked at: it neither stands anywhere nor runs.
    pub(super) fn passed_over(&self) -> Option<String> {
        let is_idle = self.update.running == Running::Nothing && self.standing.is_empty();
        is_idle.then(|| {
            let places: Vec<String> =
                self.update.spots.iter().map(|spot| format!("`{}`", spot.path)).collect();
            format!("it does not run and is not in {}; set `forceUpdate` to write it", places.join(", "))
        })
    }

    /// Returns true if the chosen version runs, and none stands that would be another.
    fn is_running(&self, new: &Changed) -> bool {
        let Running::At(running) = &self.update.running else { return false };
        let is_same = running.tag == new.tag && (new.digest.is_none() || running.digest == new.digest);
        is_same && self.standing.iter().all(|standing| standing.tag.is_empty() && standing.digest.is_empty())
    }

    /// Returns the version to write, if it differs.
    pub(super) fn replaced(&self, tag: &str, digest: Option<&str>) -> Option<&Standing> {
        let standing = self.standing.first()?;
        let is_other = |standing: &Standing| {
            standing.tag != tag || digest.is_some_and(|digest| standing.digest != digest)
        };
        self.standing.iter().any(is_other).then_some(standing)
    }

    /// Returns true if what is chosen may come to be written, as far as it can be told before.
    pub(super) fn may_be_written(&self, choice: &Choice) -> bool {
        let Some(tag) = &choice.tag else { return false };
        let is_other = self.standing.is_empty() || self.replaced(tag, choice.digest.as_deref()).is_some();
        is_other && !self.update.spots.is_empty() && !self.is_running(&choice.version(tag))
    }

    /// Writes the chosen version into the texts, everywhere or nowhere, if it is proven to be signed where it has to be.
    pub(super) fn edit(
        self,
        choice: Choice,
        texts: &mut Texts<'_>,
        is_held: &dyn Fn(&Change) -> bool,
        prove: Prove<'_>,
    ) -> Result<Outcome> {
        let Some(tag) = &choice.tag else { return Ok(Outcome::NoChoice(choice.reason)) };
        let new = choice.version(tag);
        if self.update.spots.is_empty() || self.is_running(&new) {
            return Ok(Outcome::Current(new.full()));
        }
        let version = Version::parse(&format!("{}:{}", self.update.image, new.full()))?;
        let before = texts.snapshot(self.places.iter().map(|place| place.path.as_str()));
        let outcome = self.write(&version, &new, texts).and_then(|edits| {
            if edits.is_empty() {
                return Ok(Outcome::Current(new.full()));
            }
            self.outcome(&choice, new, edits, is_held, prove)
        });
        if !matches!(outcome, Ok(Outcome::Changed(_))) {
            texts.restore(before);
        }
        outcome
    }

    /// Returns what an image comes to whose texts would change.
    fn outcome(
        &self,
        choice: &Choice,
        new: Changed,
        edits: Vec<Edit>,
        is_held: &dyn Fn(&Change) -> bool,
        prove: Prove<'_>,
    ) -> Result<Outcome> {
        let mut change = Change {
            image: self.repository.to_string(),
            alias: Some(self.update.name.clone()).filter(|name| *name != self.update.image),
            application: self.update.application.clone(),
            old: self.old(choice),
            new,
            edits,
            reason: choice.reason.clone(),
        };
        if is_held(&change) {
            return Ok(Outcome::Held { at: change.old.full(), version: change.new.full() });
        }
        if let Some(verified) = prove(self, choice)? {
            change.reason = format!("{}; signed with {}", change.reason, verified.key);
        }
        Ok(Outcome::Changed(Box::new(change)))
    }

    /// The version that is replaced: what stands, or else what runs.
    fn old(&self, choice: &Choice) -> Changed {
        let old = self.standing.first().cloned().unwrap_or_default();
        let running = match &self.update.running {
            Running::At(running) if old.tag.is_empty() && old.digest.is_empty() => running.clone(),
            _ => Changed::default(),
        };
        let some = |text: String| (!text.is_empty()).then_some(text);
        Changed {
            tag: some(old.tag).or(running.tag),
            digest: some(old.digest).or(running.digest),
            labels: choice.old_labels.clone(),
            created: None,
        }
    }

    fn write(&self, version: &Version, new: &Changed, texts: &mut Texts<'_>) -> Result<Vec<Edit>> {
        let (mut edits, mut is_there) = (Vec::new(), false);
        for place in &self.places {
            let request = Request { version: version.clone(), ..place.request.clone() };
            let old = texts.get(&place.path)?.unwrap_or_default();
            match (place.target.edit)(&Source { path: &place.path, text: old }, &request)? {
                edit::Outcome::NotThere if is_pattern(&place.spot.path) => {}
                edit::Outcome::NotThere => {
                    let message = format!("`{}` does not contain `{}`", place.path, self.update.image);
                    return Err(Error::invalid(message)
                        .hint("check the target, or let it be made with `create: true`"));
                }
                edit::Outcome::Right => is_there = true,
                edit::Outcome::Changed(text) => {
                    is_there = true;
                    texts.set(&place.path, text);
                    edits.push(Edit {
                        file: place.path.clone(),
                        object: None,
                        old: place.standing.first().map(Standing::full).unwrap_or_default(),
                        new: new.full(),
                        setter: place.spot.policy.clone().unwrap_or_default(),
                    });
                }
            }
        }
        // To an automation of a cluster belong all policies of its namespace, whether or not a marker names them.
        let is_of = |kind| self.update.owners.iter().any(|owner| owner.kind == kind);
        if is_there || is_of(OwnerKind::ImageUpdateAutomation) {
            return Ok(edits);
        }
        let spots: Vec<String> = self.update.spots.iter().map(|spot| format!("`{}`", spot.path)).collect();
        Err(Error::invalid(format!("`{}` not found in {}", self.update.image, spots.join(", "))))
    }
}

fn request(spot: &Spot, version: &Version) -> Result<(&'static Target, Request)> {
    let target = TARGETS.iter().find(|target| target.name == spot.kind);
    let target = target.ok_or_else(|| Error::invalid(format!("unknown target `{}`", spot.kind)))?;
    let path = |text: &Option<String>| -> Result<Option<yamledit::Path>> {
        let parsed = text.as_deref().map(yamledit::Path::parse).transpose();
        parsed.map_err(|error| Error::invalid(error.message()))
    };
    let paths = Paths {
        tag: path(&spot.paths.tag)?,
        name: path(&spot.paths.name)?,
        registry: path(&spot.paths.registry)?,
        spec: path(&spot.paths.spec)?,
        digest: path(&spot.paths.digest)?,
    };
    let policy = spot.policy.as_deref().map(Policy::parse).transpose()?;
    let image_name = spot.image_name.clone();
    let request = Request { version: version.clone(), paths, policy, image_name, insists: spot.creates };
    request.check(target)?;
    Ok((target, request))
}

/// The texts of files, as they are and as they become.
pub(super) struct Texts<'f> {
    files: &'f dyn Files,
    read: BTreeMap<String, (Option<String>, Option<String>)>,
    /// Paths by the pattern that they match, which many images share.
    listed: BTreeMap<String, Vec<String>>,
}

impl<'f> Texts<'f> {
    pub(super) fn of(files: &'f dyn Files) -> Self {
        Self { files, read: BTreeMap::new(), listed: BTreeMap::new() }
    }

    fn get(&mut self, path: &str) -> Result<Option<&str>> {
        if !self.read.contains_key(path) {
            let text = self.files.read(path)?;
            self.read.insert(path.to_owned(), (text, None));
        }
        Ok(self.read.get(path).and_then(|(old, new)| new.as_deref().or(old.as_deref())))
    }

    /// Returns what to write instead where the folder of a kustomization is named, as other tools have it.
    fn hinted(&mut self, error: Error, target: &Target, path: &str) -> Error {
        let mut inside = KUSTOMIZATIONS.iter().map(|name| format!("{}/{name}", path.trim_end_matches('/')));
        match inside.find(|inside| target.name == "kustomization" && matches!(self.get(inside), Ok(Some(_))))
        {
            Some(inside) => error.hint(format!("that is a folder; the file in it is `{inside}`")),
            None => error,
        }
    }

    /// The path of a file, or where it is a kustomization that is not there, the one in its folder by another name.
    fn kustomization(&mut self, target: &Target, path: &str) -> String {
        let (folder, name) =
            path.rsplit_once('/').map_or(("", path), |(folder, name)| (&path[..=folder.len()], name));
        if target.name != "kustomization" || !KUSTOMIZATIONS.contains(&name) {
            return path.to_owned();
        }
        let mut names = [name].into_iter().chain(KUSTOMIZATIONS).map(|name| format!("{folder}{name}"));
        names.find(|path| !matches!(self.get(path), Ok(None))).unwrap_or_else(|| path.to_owned())
    }

    fn list(&mut self, pattern: &str) -> Result<Vec<String>> {
        if let Some(paths) = self.listed.get(pattern) {
            return Ok(paths.clone());
        }
        let paths = self.files.glob(pattern)?;
        self.listed.insert(pattern.to_owned(), paths.clone());
        Ok(paths)
    }

    fn set(&mut self, path: &str, text: String) {
        self.read.entry(path.to_owned()).or_default().1 = Some(text);
    }

    fn snapshot<'p>(&self, paths: impl Iterator<Item = &'p str>) -> Vec<(String, Option<String>)> {
        let new = |path: &str| self.read.get(path).and_then(|(_, new)| new.clone());
        paths.map(|path| (path.to_owned(), new(path))).collect()
    }

    fn restore(&mut self, before: Vec<(String, Option<String>)>) {
        for (path, text) in before {
            self.read.entry(path).or_default().1 = text;
        }
    }

    pub(super) fn changed(self) -> BTreeMap<String, Text> {
        let changed = |(path, (old, new)): (String, (Option<String>, Option<String>))| {
            let (old, new) = (old.unwrap_or_default(), new?);
            (old != new).then_some((path, Text { old, new }))
        };
        self.read.into_iter().filter_map(changed).collect()
    }
}

//! One round over a batch: what stands in the files, what the registries have, what is to be written.
//!
//! ```text
//! seek      which files an image stands in, and at which versions     files
//! decide    which tag is chosen, for all images side by side          registries
//! edit      the files' new texts, image by image                      nothing
//! ```
//!
//! Nothing is written here. An image that fails is reported and leaves no trace in the texts; the others go on.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use jiff::Timestamp;
use registry::Repository;

use crate::change::{Change, Edit, Named, Version as Changed};
use crate::choose::{Question, Rules};
use crate::decision::{Decision, Standing as Verdict};
use crate::edit::{self, Paths, Policy, Request, Source, Standing, TARGETS, Target, Version};
use crate::error::{Error, Result};
use crate::files::{Files, is_pattern};
use crate::look::Look;
use crate::work::{Batch, Spot, Update};

/// How many images are decided about at once; what a registry gets, its client bounds.
const AT_ONCE: usize = 16;

/// One look at everything, at one time.
#[derive(Clone, Copy, Debug)]
pub struct Round<'r> {
    /// What registries say.
    pub look: &'r Look<'r>,
    /// The time.
    pub now: Timestamp,
}

/// What a round comes to.
#[derive(Debug)]
pub struct Plan {
    /// Every image of the batch, in its order.
    pub reports: Vec<Report>,
    /// Files that change: their paths, and their texts before and after.
    pub texts: BTreeMap<String, Text>,
}

/// A file that changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// As it is; empty where there is none.
    pub old: String,
    /// As it shall be.
    pub new: String,
}

/// What became of an image.
#[derive(Debug)]
pub struct Report {
    /// What it is called.
    pub name: String,
    /// The image.
    pub image: String,
    /// Whose image it is, where the configuration knows applications.
    pub application: Option<Named>,
    /// What became of it.
    pub outcome: Outcome,
    /// What is not wrong, but may not be meant.
    pub warnings: Vec<String>,
}

/// What became of an image.
#[derive(Debug)]
pub enum Outcome {
    /// It is left alone for now.
    Suspended,
    /// It stands at the version that is chosen.
    Current(String),
    /// No tag may be chosen, for this reason.
    NoChoice(String),
    /// A person set it back from the version that would be written, so it waits for another.
    Held {
        /// Where it stands.
        at: String,
        /// What is not written again.
        version: String,
    },
    /// It is to change.
    Changed(Box<Change>),
    /// It could not be decided about, or not be written.
    Failed(Error),
}

impl Outcome {
    /// It in a word.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Suspended => "suspended",
            Self::Current(_) => "current",
            Self::NoChoice(_) => "none",
            Self::Held { .. } => "held",
            Self::Changed(_) => "changed",
            Self::Failed(_) => "failed",
        }
    }
}

impl Plan {
    /// Plans of which each was made on the files that the one before it leaves.
    pub(crate) fn joined(plans: impl IntoIterator<Item = Self>) -> Self {
        let mut whole = Self { reports: Vec::new(), texts: BTreeMap::new() };
        for plan in plans {
            whole.reports.extend(plan.reports);
            for (path, text) in plan.texts {
                whole.texts.entry(path).and_modify(|known| known.new.clone_from(&text.new)).or_insert(text);
            }
        }
        whole
    }

    /// What changes.
    pub fn changes(&self) -> impl Iterator<Item = &Change> {
        self.reports.iter().filter_map(|report| match &report.outcome {
            Outcome::Changed(change) => Some(&**change),
            _ => None,
        })
    }

    /// Whether an image could not be decided about, or not be written.
    #[must_use]
    pub fn has_failures(&self) -> bool {
        self.reports.iter().any(|report| matches!(report.outcome, Outcome::Failed(_)))
    }
}

impl Round<'_> {
    /// Plans what to write for a batch.
    #[must_use]
    pub fn plan(&self, batch: &Batch, files: &dyn Files) -> Plan {
        self.plan_without(batch, files, &|_| false)
    }

    /// Plans what to write for a batch, but for what is held.
    #[must_use]
    pub(crate) fn plan_without(
        &self,
        batch: &Batch,
        files: &dyn Files,
        is_held: &dyn Fn(&Change) -> bool,
    ) -> Plan {
        let mut texts = Texts { files, read: BTreeMap::new() };
        let sought: Vec<Option<Result<Sought<'_>>>> = batch
            .updates
            .iter()
            .map(|update| (!update.suspended).then(|| Sought::seek(update, &mut texts)))
            .collect();
        let decided = self.decide_all(&sought);
        let mut reports = Vec::with_capacity(batch.updates.len());
        for (update, (sought, decided)) in batch.updates.iter().zip(sought.into_iter().zip(decided)) {
            let (outcome, warnings) = match (sought, decided) {
                (None, _) | (_, None) => (Outcome::Suspended, Vec::new()),
                (Some(Err(error)), _) | (_, Some(Err(error))) => (Outcome::Failed(error), Vec::new()),
                (Some(Ok(sought)), Some(Ok(choice))) => {
                    let warnings = choice.warnings.clone();
                    (sought.edit(choice, &mut texts, is_held).unwrap_or_else(Outcome::Failed), warnings)
                }
            };
            let outcome = match outcome {
                Outcome::Failed(error) if error.place().is_none() => {
                    Outcome::Failed(error.at(update.place.clone()))
                }
                outcome => outcome,
            };
            reports.push(Report {
                name: update.name.clone(),
                image: update.image.clone(),
                application: update.application.clone(),
                outcome,
                warnings,
            });
        }
        Plan { reports, texts: texts.changed() }
    }

    /// Decides about images side by side: each waits for a registry most of its time.
    fn decide_all(&self, sought: &[Option<Result<Sought<'_>>>]) -> Vec<Option<Result<Choice>>> {
        let next = AtomicUsize::new(0);
        let choices: Vec<Mutex<Option<Result<Choice>>>> = sought.iter().map(|_| Mutex::default()).collect();
        let work = || {
            loop {
                let place = next.fetch_add(1, Ordering::Relaxed);
                let (Some(sought), Some(choice)) = (sought.get(place), choices.get(place)) else { break };
                let decided = match sought {
                    Some(Ok(sought)) => self.decide(sought),
                    // It is reported for another reason.
                    Some(Err(_)) => Ok(Choice::default()),
                    None => continue,
                };
                *choice.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(decided);
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..AT_ONCE.min(sought.len()) {
                scope.spawn(work);
            }
            work();
        });
        let taken = |choice: Mutex<_>| choice.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        choices.into_iter().map(taken).collect()
    }

    fn decide(&self, sought: &Sought<'_>) -> Result<Choice> {
        let update = sought.update;
        let is_digest = update.criteria.strategy == crate::policy::DIGEST;
        let mut tags: Vec<&str> = sought.standing.iter().map(|standing| standing.tag.as_str()).collect();
        tags.retain(|tag| !tag.is_empty());
        tags.sort_unstable();
        tags.dedup();
        let currents: Vec<Option<&str>> = match tags.as_slice() {
            _ if is_digest => vec![None],
            [] => vec![None],
            tags => tags.iter().copied().map(Some).collect(),
        };
        let mut decisions = Vec::with_capacity(currents.len());
        for current in currents {
            let tag = update.watched.as_deref().filter(|_| is_digest);
            let question = Question { image: &update.image, tag, current, now: self.now };
            decisions.push(self.look.decide(&sought.repository, &sought.rules, &question)?);
        }
        let (first, others) = decisions.split_first().ok_or_else(|| Error::input("nothing is decided"))?;
        if let Some(other) = others.iter().find(|other| other.chosen != first.chosen) {
            return Err(disagreement(first, other));
        }
        let mut choice = Choice::of(first);
        if let Some(tag) = choice.tag.as_ref().filter(|_| sought.pins_digest) {
            let digest = match &first.digest {
                Some(digest) => digest.clone(),
                None => self.look.digest(&sought.repository, tag)?.to_string(),
            };
            choice.digest = Some(digest);
        }
        Ok(choice)
    }
}

fn disagreement(one: &Decision, other: &Decision) -> Error {
    let named = |decision: &Decision| match (&decision.current, &decision.chosen) {
        (Some(current), Some(chosen)) => format!("`{chosen}` where `{current}` stands"),
        (Some(current), None) => format!("none where `{current}` stands"),
        _ => "another".to_owned(),
    };
    let message = format!(
        "the image stands at different versions, for which different tags are chosen: {} and {}",
        named(one),
        named(other)
    );
    Error::input(message).hint("bring its places to one version by hand")
}

/// What is chosen for an image.
#[derive(Clone, Debug, Default)]
struct Choice {
    tag: Option<String>,
    digest: Option<String>,
    reason: String,
    warnings: Vec<String>,
}

impl Choice {
    fn of(decision: &Decision) -> Self {
        let chosen = decision.decisions.iter().find(|verdict| verdict.verdict == Verdict::Chosen);
        let reason = match chosen {
            Some(verdict) => verdict.reason.clone(),
            None if decision.decisions.is_empty() => "the repository has no tags".to_owned(),
            None => format!("none of {} tags may be chosen", decision.decisions.len()),
        };
        Self { tag: decision.chosen.clone(), digest: None, reason, warnings: decision.warnings.clone() }
    }
}

/// An image with its places.
struct Sought<'b> {
    update: &'b Update,
    rules: Rules,
    repository: Repository,
    pins_digest: bool,
    places: Vec<Place<'b>>,
    /// What stands in them.
    standing: Vec<Standing>,
}

/// One file of a spot.
struct Place<'b> {
    target: &'static Target,
    spot: &'b Spot,
    path: String,
    request: Request,
    standing: Vec<Standing>,
}

impl<'b> Sought<'b> {
    fn seek(update: &'b Update, texts: &mut Texts<'_>) -> Result<Self> {
        let pins_digest = update.pins_digest || update.criteria.strategy == crate::policy::DIGEST;
        let version = edit::sought(&update.image, pins_digest)?;
        let rules = Rules::new(&update.criteria)?;
        let mut places = Vec::new();
        for spot in &update.spots {
            let (target, request) = request(spot, &version)?;
            let paths = match is_pattern(&spot.path) {
                true => texts.files.glob(&spot.path)?,
                false => vec![spot.path.clone()],
            };
            for path in paths {
                let text = match texts.get(&path)? {
                    Some(text) => text,
                    None if target.creates_file && spot.creates => "",
                    None => return Err(Error::input(format!("there is no file `{path}`"))),
                };
                let standing = edit::current(target, &Source { path: &path, text }, &request)?;
                places.push(Place { target, spot, path, request: request.clone(), standing });
            }
        }
        let standing = places.iter().flat_map(|place| place.standing.clone()).collect();
        let repository = version.repository().clone();
        Ok(Self { update, rules, repository, pins_digest, places, standing })
    }

    /// Writes the chosen version into the texts, everywhere or nowhere.
    fn edit(
        self,
        choice: Choice,
        texts: &mut Texts<'_>,
        is_held: &dyn Fn(&Change) -> bool,
    ) -> Result<Outcome> {
        let Some(tag) = &choice.tag else { return Ok(Outcome::NoChoice(choice.reason)) };
        let new = Changed { tag: Some(tag.clone()), digest: choice.digest.clone(), ..Changed::default() };
        let version = Version::parse(&format!("{}:{}", self.update.image, new.full()))?;
        let before = texts.snapshot(self.places.iter().map(|place| place.path.as_str()));
        let edits = match self.write(&version, &new, texts) {
            Ok(edits) => edits,
            Err(error) => {
                texts.restore(before);
                return Err(error);
            }
        };
        if edits.is_empty() {
            return Ok(Outcome::Current(new.full()));
        }
        let old = self.standing.first().cloned().unwrap_or_default();
        let some = |text: String| (!text.is_empty()).then_some(text);
        let change = Change {
            image: self.repository.to_string(),
            alias: Some(self.update.name.clone()).filter(|name| *name != self.update.image),
            application: self.update.application.clone(),
            old: Changed { tag: some(old.tag), digest: some(old.digest), ..Changed::default() },
            new,
            edits,
            reason: choice.reason,
        };
        if is_held(&change) {
            texts.restore(before);
            return Ok(Outcome::Held { at: change.old.full(), version: change.new.full() });
        }
        Ok(Outcome::Changed(Box::new(change)))
    }

    fn write(&self, version: &Version, new: &Changed, texts: &mut Texts<'_>) -> Result<Vec<Edit>> {
        let (mut edits, mut is_there) = (Vec::new(), false);
        for place in &self.places {
            let request = Request { version: version.clone(), ..place.request.clone() };
            let old = texts.get(&place.path)?.unwrap_or_default();
            match (place.target.edit)(&Source { path: &place.path, text: old }, &request)? {
                edit::Outcome::NotThere if is_pattern(&place.spot.path) => {}
                edit::Outcome::NotThere => {
                    let message = format!("`{}` has no place for `{}`", place.path, self.update.image);
                    return Err(
                        Error::input(message).hint("check the target, or let it be made with `create: true`")
                    );
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
        if is_there {
            return Ok(edits);
        }
        let spots: Vec<String> = self.update.spots.iter().map(|spot| format!("`{}`", spot.path)).collect();
        Err(Error::input(format!("`{}` is nowhere in {}", self.update.image, spots.join(", "))))
    }
}

fn request(spot: &Spot, version: &Version) -> Result<(&'static Target, Request)> {
    let target = TARGETS.iter().find(|target| target.name == spot.kind);
    let target = target.ok_or_else(|| Error::input(format!("there is no target `{}`", spot.kind)))?;
    let path = |text: &Option<String>| -> Result<Option<yamledit::Path>> {
        let parsed = text.as_deref().map(yamledit::Path::parse).transpose();
        parsed.map_err(|error| Error::input(error.message()))
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
struct Texts<'f> {
    files: &'f dyn Files,
    read: BTreeMap<String, (Option<String>, Option<String>)>,
}

impl Texts<'_> {
    fn get(&mut self, path: &str) -> Result<Option<&str>> {
        if !self.read.contains_key(path) {
            let text = self.files.read(path)?;
            self.read.insert(path.to_owned(), (text, None));
        }
        Ok(self.read.get(path).and_then(|(old, new)| new.as_deref().or(old.as_deref())))
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

    fn changed(self) -> BTreeMap<String, Text> {
        let changed = |(path, (old, new)): (String, (Option<String>, Option<String>))| {
            let (old, new) = (old.unwrap_or_default(), new?);
            (old != new).then_some((path, Text { old, new }))
        };
        self.read.into_iter().filter_map(changed).collect()
    }
}

//! One round over a batch: what stands in the files, what the registries have, what is to be written.
//!
//! ```text
//! seek      which files an image stands in, and at which versions     files
//! decide    which tag is chosen, for all images side by side          registries
//! prove     whether it is signed, where it has to be                  registries
//! edit      the files' new texts, image by image                      nothing
//! ```
//!
//! Nothing is written here. An image that fails is reported and leaves no trace in the texts; the others go on.

mod scan;
mod sought;
#[cfg(test)]
mod tests;

use diagnostic::{Error, Result};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use cosign::Verified;
use jiff::Timestamp;

use crate::change::{Change, Named, Version};
use crate::choose::Question;
use crate::criteria::as_in_files;
use crate::decision::Decision;
use crate::files::Files;
use crate::look::Look;
use crate::policy::DIGEST;
use crate::work::{Batch, Owner, OwnerKind, Update, image_updater};
pub use scan::Scan;
use sought::{Choice, Sought, Texts};

/// Maximum number of images that are decided about at once; what a registry gets, its client bounds.
const AT_ONCE: usize = 16;

/// One look at everything, at one time.
#[derive(Clone, Copy, Debug)]
pub struct Round<'r> {
    /// The registry answers.
    pub look: &'r Look<'r>,
    /// The time.
    pub now: Timestamp,
    /// True if the labels of images that change are read, for links and messages.
    pub with_labels: bool,
}

/// The plan of a reconcile.
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

/// The result for an image.
#[derive(Debug)]
pub struct Report {
    /// The name.
    pub name: String,
    /// The image.
    pub image: String,
    /// The Application of the image, if known.
    pub application: Option<Named>,
    /// The outcome.
    pub outcome: Outcome,
    /// Warnings.
    pub warnings: Vec<String>,
    /// The objects of a cluster that it is worked off for.
    pub owners: Vec<Owner>,
    /// The decision or why there is none; `None` if it was not reached.
    pub decided: Option<Result<Decided>>,
    /// The scan result, if requested.
    pub scan: Option<Result<Scan>>,
}

/// The decision about an image, whether or not it could be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decided {
    /// The version to run; nothing where no tag may.
    pub version: Option<Version>,
    /// Why.
    pub reason: String,
}

/// The outcome for an image.
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
        /// The current version.
        at: String,
        /// The version that is not written again.
        version: String,
    },
    /// It is to change.
    Changed(Box<Change>),
    /// It could not be decided about, or not be written.
    Failed(Error),
}

/// All words for what became of an image.
pub(crate) const OUTCOMES: [&str; 6] = ["suspended", "current", "none", "held", "changed", "failed"];

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

impl Report {
    /// The ImageUpdater that asks for it, where one does.
    pub(crate) fn image_updater(&self) -> Option<&Named> {
        image_updater(&self.owners)
    }

    /// A failure that says nothing of its place is where the image is configured.
    fn of(update: &Update, outcome: Outcome, warnings: Vec<String>) -> Self {
        let outcome = match outcome {
            Outcome::Failed(error) if error.location().is_none() => {
                Outcome::Failed(error.at(update.place.clone()))
            }
            outcome => outcome,
        };
        let (name, image) = (update.name.clone(), update.image.clone());
        let (application, owners) = (update.application.clone(), update.owners.clone());
        Self { name, image, application, outcome, warnings, owners, decided: None, scan: None }
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

    /// Images of which none could be decided about, for one reason.
    #[cfg(feature = "kube")]
    pub(crate) fn failed(updates: &[Update], error: &Error) -> Self {
        let report = |update| Report::of(update, Outcome::Failed(error.clone()), Vec::new());
        Self { reports: updates.iter().map(report).collect(), texts: BTreeMap::new() }
    }

    /// Returns what was planned, where none of it could be written.
    #[cfg(feature = "kube")]
    pub(crate) fn unwritten(mut self, error: &Error) -> Self {
        self.texts.clear();
        for report in &mut self.reports {
            if matches!(report.outcome, Outcome::Changed(_)) {
                report.outcome = Outcome::Failed(error.clone());
            }
        }
        self
    }

    /// Returns what changes.
    pub fn changes(&self) -> impl Iterator<Item = &Change> {
        self.reports.iter().filter_map(|report| match &report.outcome {
            Outcome::Changed(change) => Some(&**change),
            _ => None,
        })
    }

    /// Returns true if an image could not be decided about, or not be written.
    #[must_use]
    pub fn has_failures(&self) -> bool {
        self.reports.iter().any(|report| matches!(report.outcome, Outcome::Failed(_)))
    }
}

impl Round<'_> {
    /// Plans what to write for a batch.
    #[must_use]
    pub fn plan(&self, batch: &Batch, files: &dyn Files) -> Plan {
        self.plan_unless(batch, files, &|_| false)
    }

    /// Plans what to write for a batch, but for what is held.
    #[must_use]
    pub(crate) fn plan_unless(
        &self,
        batch: &Batch,
        files: &dyn Files,
        is_held: &dyn Fn(&Change) -> bool,
    ) -> Plan {
        let mut texts = Texts::of(files);
        let sought: Vec<Option<Result<Sought<'_>>>> = batch
            .updates
            .iter()
            .map(|update| (!update.suspended).then(|| Sought::seek(update, &mut texts)))
            .collect();
        let decided = self.decide_all(&sought);
        let mut reports = Vec::with_capacity(batch.updates.len());
        for (update, (sought, decided)) in batch.updates.iter().zip(sought.into_iter().zip(decided)) {
            let said = self.said(&sought, &decided);
            let (outcome, warnings) = match (sought, decided) {
                (None, _) | (_, None) => (Outcome::Suspended, Vec::new()),
                (Some(Err(error)), _) | (_, Some(Err(error))) => (Outcome::Failed(error), Vec::new()),
                (Some(Ok(sought)), _) if sought.passed_over().is_some() => {
                    (Outcome::NoChoice(sought.passed_over().unwrap_or_default()), Vec::new())
                }
                (Some(Ok(sought)), Some(Ok(choice))) => {
                    let warnings = choice.warnings.clone();
                    let prove = |sought: &Sought<'_>, choice: &Choice| self.prove(sought, choice);
                    (
                        sought.edit(choice, &mut texts, is_held, &prove).unwrap_or_else(Outcome::Failed),
                        warnings,
                    )
                }
            };
            let report = Report::of(update, outcome, warnings);
            reports.push(Report { decided: said.0, scan: said.1, ..report });
        }
        Plan { reports, texts: texts.changed() }
    }

    /// Returns what objects are told of an image beside what became of it.
    fn said(
        &self,
        sought: &Option<Result<Sought<'_>>>,
        decided: &Option<Result<Choice>>,
    ) -> (Option<Result<Decided>>, Option<Result<Scan>>) {
        let (Some(Ok(sought)), Some(decided)) = (sought, decided) else { return (None, None) };
        let is_scanned = |owner: &Owner| owner.kind == OwnerKind::ImageRepository;
        let scan = sought.update.owners.iter().any(is_scanned).then(|| {
            let names = self.look.names(&sought.repository)?;
            Scan::of(names, &sought.update.criteria.ignore_tags)
        });
        (Some(decided.as_ref().map(Choice::decided).map_err(Error::clone)), scan)
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
                    Some(Ok(sought)) if sought.passed_over().is_some() => Ok(Choice::default()),
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
        let tag = update.watched.as_deref().filter(|_| update.criteria.strategy == DIGEST);
        let mut decisions = Vec::new();
        for current in sought.currents() {
            let question = Question { image: &update.image, tag, current, now: self.now };
            let decided = self.look.decide(&sought.repository, &sought.rules, &question);
            decisions.push(decided.map_err(as_in_files)?);
        }
        if let Some(missing) = tag.filter(|tag| decisions.iter().any(|decision| lacks(decision, tag))) {
            return Err(Error::invalid(format!("no tag `{missing}` of `{}` found", sought.repository))
                .hint("push it, or name the image with another tag"));
        }
        let (first, others) = decisions.split_first().ok_or_else(|| Error::invalid("nothing is decided"))?;
        if let Some(other) = others.iter().find(|other| other.chosen != first.chosen) {
            return Err(disagreement(first, other));
        }
        let mut choice = Choice::of(first);
        if let Some(tag) = choice.tag.as_ref().filter(|_| sought.pins_digest) {
            let digest = match (sought.kept_digest(tag), &first.digest) {
                (Some(kept), _) => kept.to_owned(),
                (None, Some(digest)) => digest.clone(),
                (None, None) => self.look.digest(&sought.repository, tag)?.to_string(),
            };
            choice.digest = Some(digest);
        }
        if sought.may_be_written(&choice) {
            // It is asked for again when it is written; here all images are asked about side by side.
            let _ = self.prove(sought, &choice);
        }
        if self.with_labels {
            self.read_labels(sought, &mut choice);
        }
        Ok(choice)
    }
}

impl Round<'_> {
    /// By which key what is chosen is signed, where it has to be.
    ///
    /// # Errors
    /// If it has to be and does not count as signed.
    fn prove(&self, sought: &Sought<'_>, choice: &Choice) -> Result<Option<Verified>> {
        let (Some(verification), Some(tag)) = (&sought.update.verification, &choice.tag) else {
            return Ok(None);
        };
        self.look.verify(&sought.repository, tag, choice.digest.as_deref(), verification).map(Some)
    }

    /// Labels of the version that is chosen and of the one that stands, if they differ. Nothing depends on them but
    /// words, so that an image without any, or one that is gone, has none.
    fn read_labels(&self, sought: &Sought<'_>, choice: &mut Choice) {
        let Some(new) = &choice.tag else { return };
        let Some(old) = sought.replaced(new, choice.digest.as_deref()) else { return };
        let read = |tag: Option<&str>, digest: Option<&str>| {
            let labels = self.look.labels(&sought.repository, sought.rules.platforms(), tag, digest);
            labels.unwrap_or_default()
        };
        let some = |text: &'_ str| Some(text.to_owned()).filter(|text| !text.is_empty());
        let (tag, digest) = (some(&old.tag), some(&old.digest));
        choice.old_labels = read(tag.as_deref(), digest.as_deref());
        choice.new_labels = read(Some(new), choice.digest.as_deref());
    }
}

/// Returns true if a tag was not even looked at.
fn lacks(decision: &Decision, tag: &str) -> bool {
    !decision.decisions.iter().any(|verdict| verdict.tag == tag)
}

fn disagreement(one: &Decision, other: &Decision) -> Error {
    let named = |decision: &Decision| match (&decision.current, &decision.chosen) {
        (Some(current), Some(chosen)) => format!("`{chosen}` for `{current}`"),
        (Some(current), None) => format!("none for `{current}`"),
        _ => "another".to_owned(),
    };
    let message = format!(
        "the image has different versions in different places, for which different tags are chosen: {} and {}",
        named(one),
        named(other)
    );
    Error::invalid(message).hint("bring its places to one version by hand")
}

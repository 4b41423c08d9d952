//! Groups the result of a reconcile by the objects that own its images.

use diagnostic::Error;
use std::collections::{BTreeMap, HashSet};

use jiff::Timestamp;

use super::words::of_error;
use crate::change::{Change, Named};
use crate::deliver::{Delivered, Failed};
use crate::forge::Action;
use crate::round::{Outcome, Report};
use crate::work::{Owner, Update};

/// Which image of an object: what it is called, and whose it is.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(in crate::cluster) struct ImageId {
    pub(in crate::cluster) application: Option<Named>,
    pub(in crate::cluster) name: String,
}

/// The state of an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::cluster) enum State {
    /// It stands where it should.
    Well,
    /// Nothing is wrong, but it does not stand at the newest version.
    Noted(String),
    Failed(String),
}

/// The result of a reconcile for one object.
#[derive(Debug)]
pub(in crate::cluster) struct News<'r> {
    pub(super) now: Timestamp,
    pub(in crate::cluster) images: Vec<Heard<'r>>,
    pub(super) delivered: &'r Delivered,
    /// Why the round failed as a whole.
    pub(super) failure: Option<&'r Error>,
}

/// The result for one image.
#[derive(Clone, Debug)]
pub(in crate::cluster) struct Heard<'r> {
    pub(in crate::cluster) id: ImageId,
    /// The image without a tag, as its author spells it.
    pub(in crate::cluster) image: &'r str,
    pub(in crate::cluster) state: State,
    /// Nothing where the round failed before it came to this image.
    pub(super) report: Option<&'r Report>,
    /// The published change.
    pub(in crate::cluster) written: Option<&'r Change>,
    pub(super) owners: &'r [Owner],
}

impl ImageId {
    pub(super) fn of(update: &Update) -> Self {
        Self { application: update.application.clone(), name: update.name.clone() }
    }

    /// Returns what people call it.
    pub(in crate::cluster) fn title(&self) -> String {
        match &self.application {
            Some(application) => format!("{} of {application}", self.name),
            None => self.name.clone(),
        }
    }
}

impl Heard<'_> {
    fn of_failed<'r>(update: &'r Update, failure: &Error) -> Heard<'r> {
        Heard {
            id: ImageId::of(update),
            image: &update.image,
            state: State::Failed(of_error(failure)),
            report: None,
            written: None,
            owners: &update.owners,
        }
    }
}

/// Returns what a round over these images came to, for each object that it concerns.
pub(in crate::cluster) fn sorted<'r>(
    updates: &'r [Update],
    outcome: Result<&'r Delivered, &'r Failed>,
    now: Timestamp,
) -> BTreeMap<&'r Owner, News<'r>> {
    let (delivered, failure) = match outcome {
        Ok(delivered) => (delivered, None),
        Err(failed) => (&*failed.before, Some(&failed.error)),
    };
    let written: HashSet<_> = delivered.written.iter().map(|written| written.change.key()).collect();
    let mut images: Vec<Heard<'r>> = Vec::with_capacity(updates.len());
    for report in &delivered.plan.reports {
        let written = match &report.outcome {
            Outcome::Changed(change) => Some(&**change).filter(|change| written.contains(&change.key())),
            _ => None,
        };
        let state = state_of(report, written.is_some(), delivered, failure);
        let id = ImageId { application: report.application.clone(), name: report.name.clone() };
        let (image, owners) = (&*report.image, &*report.owners);
        images.push(Heard { id, image, state, report: Some(report), written, owners });
    }
    if let Some(failure) = failure {
        let known: HashSet<_> = images.iter().map(|heard| (heard.id.clone(), heard.owners)).collect();
        let is_new = |update: &&Update| !known.contains(&(ImageId::of(update), &*update.owners));
        images.extend(updates.iter().filter(is_new).map(|update| Heard::of_failed(update, failure)));
    }
    let mut by_owner: BTreeMap<&Owner, News<'r>> = BTreeMap::new();
    for heard in images {
        for owner in heard.owners {
            let none = || News { now, images: Vec::new(), delivered, failure };
            by_owner.entry(owner).or_insert_with(none).images.push(heard.clone());
        }
    }
    by_owner
}

fn state_of(report: &Report, is_written: bool, delivered: &Delivered, failure: Option<&Error>) -> State {
    match &report.outcome {
        Outcome::Suspended | Outcome::Current(_) => State::Well,
        Outcome::NoChoice(reason) => State::Noted(reason.clone()),
        Outcome::Held { at, version } => {
            State::Noted(format!("stays at {at}, as a person has set it back from {version}"))
        }
        Outcome::Failed(error) => State::Failed(of_error(error)),
        Outcome::Changed(change) => match (&delivered.request, failure) {
            _ if is_written => State::Well,
            (_, Some(failure)) => State::Failed(of_error(failure)),
            (Some(request), None) if request.action == Action::Declined => {
                let version = change.new.full();
                State::Noted(format!("is not brought to {version}: {} was closed unmerged", request.url))
            }
            (Some(request), None) => State::Noted(format!("waits for {}", request.url)),
            // It was only tried.
            (_, None) => State::Well,
        },
    }
}

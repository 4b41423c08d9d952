//! The state of each object, aggregated over reconciles.
//!
//! A round is over the images that are due in one repository, and an object's images may be in many. So what each round
//! came to is kept by image, until there are other images. Nothing is kept of Applications: they are told by Events only.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::automation::Automation;
use super::frame::{Counts, Frame};
use super::image_policy::ImagePolicy;
use super::image_repository::ImageRepository;
use super::image_updater::ImageUpdater;
use super::news::{ImageId, News};
use super::subject::Subject;
use crate::work::{Owner, OwnerKind, Update};

/// Everything that is told.
#[derive(Debug, Default)]
pub(in crate::cluster) struct Ledger {
    accounts: BTreeMap<Owner, Account>,
}

/// The state of one object.
#[derive(Debug)]
struct Account {
    subject: Subject,
    story: Story,
    /// Which of its annotations `reconcile.fluxcd.io/requestedAt` was heeded.
    handled: Option<String>,
}

/// The states of its images.
#[derive(Debug)]
enum Story {
    ImageUpdater(ImageUpdater),
    ImageRepository(ImageRepository),
    ImagePolicy(ImagePolicy),
    Automation(Automation),
}

/// A status to be written.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::cluster) struct Draft {
    pub(in crate::cluster) status: Value,
    /// The reported changes, for events.
    pub(in crate::cluster) told: Told,
}

/// Part of the story a draft has told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::cluster) struct Told {
    /// So many updates, from the oldest on.
    updates: usize,
    /// The pushed commit.
    pub(in crate::cluster) push: Option<String>,
}

impl Ledger {
    /// These are all objects and their images; whatever else is known is forgotten. Those of which there may be something
    /// to say are given back.
    pub(in crate::cluster) fn renew<'u>(
        &mut self,
        subjects: Vec<Subject>,
        updates: impl IntoIterator<Item = &'u Update>,
    ) -> Vec<Owner> {
        let mut images: BTreeMap<&Owner, BTreeSet<ImageId>> = BTreeMap::new();
        for update in updates {
            for owner in &update.owners {
                images.entry(owner).or_default().insert(ImageId::of(update));
            }
        }
        let (mut accounts, mut touched) = (BTreeMap::new(), Vec::new());
        for subject in subjects {
            let owner = subject.owner.clone();
            let images = images.remove(&owner).unwrap_or_default();
            let before = self.accounts.remove(&owner);
            let Some((account, is_other)) = Account::renewed(before, subject, images) else { continue };
            if is_other {
                touched.push(owner.clone());
            }
            accounts.insert(owner, account);
        }
        // Those that are gone are to be let go of.
        touched.extend(std::mem::replace(&mut self.accounts, accounts).into_keys());
        touched
    }

    /// A round has told something of an object; whether it is one that is told.
    pub(in crate::cluster) fn hear(&mut self, owner: &Owner, news: &News<'_>) -> bool {
        let Some(account) = self.accounts.get_mut(owner) else { return false };
        if account.subject.is_suspended {
            return false;
        }
        account.handled.clone_from(&account.subject.requested_at);
        match &mut account.story {
            Story::ImageUpdater(story) => story.hear(news),
            Story::ImageRepository(story) => story.hear(news),
            Story::ImagePolicy(story) => story.hear(news),
            Story::Automation(story) => story.hear(news),
        }
        true
    }

    /// An object as it was when work was made of it; nothing where it is gone.
    pub(in crate::cluster) fn subject(&self, owner: &Owner) -> Option<&Subject> {
        self.accounts.get(owner).map(|account| &account.subject)
    }

    /// Returns what is watched for each ImageUpdater.
    pub(in crate::cluster) fn counts(&self) -> impl Iterator<Item = (&Owner, Counts)> {
        self.accounts.iter().filter_map(|(owner, account)| match &account.story {
            Story::ImageUpdater(story) if !account.subject.is_going => Some((owner, story.counts())),
            _ => None,
        })
    }

    /// The status that an object is to have, by what it says and has now; nothing where nothing is known yet, or it is
    /// told nothing.
    pub(in crate::cluster) fn draft(&self, owner: &Owner, object: &Value, now: Timestamp) -> Option<Draft> {
        let account = self.accounts.get(owner)?;
        let Account { subject, story, handled } = account;
        if subject.is_suspended || subject.is_going {
            return None;
        }
        let frame = Frame { subject, spec: &object["spec"], handled: handled.as_deref(), now };
        let before = &object["status"];
        let drafted = |status: Option<Value>| Some(Draft { status: status?, told: Told::default() });
        match story {
            Story::ImageUpdater(story) => {
                let status = written(story.status(read(before), &frame))?;
                Some(Draft { status, told: Told { updates: story.untold(), push: None } })
            }
            Story::ImageRepository(story) => drafted(written(story.status(read(before), &frame)?)),
            Story::ImagePolicy(story) => drafted(written(story.status(read(before), &frame)?)),
            Story::Automation(story) => {
                let status = written(story.status(read(before), &frame)?)?;
                Some(Draft { status, told: Told { updates: 0, push: story.push_in_words() } })
            }
        }
    }

    /// A draft is what the object says now.
    pub(in crate::cluster) fn wrote(&mut self, owner: &Owner, told: &Told) {
        match self.accounts.get_mut(owner).map(|account| &mut account.story) {
            Some(Story::ImageUpdater(story)) => story.told(told.updates),
            Some(Story::Automation(story)) if told.push.is_some() => story.told(told.push.as_deref()),
            _ => {}
        }
    }
}

impl Account {
    /// An account of an object as it is now; whether there may be something else to say of it. Nothing for kinds that are
    /// not told.
    fn renewed(before: Option<Self>, subject: Subject, images: BTreeSet<ImageId>) -> Option<(Self, bool)> {
        let (mut story, handled, is_like) = match before {
            // Nothing that was found out by other rules is said of these.
            Some(known) if known.subject.generation != subject.generation => {
                (known.story.anew(), known.handled, false)
            }
            Some(known) => {
                let is_like = known.subject.is_like(&subject);
                (known.story, known.handled, is_like)
            }
            None => (Story::new(subject.owner.kind)?, None, false),
        };
        // Where no round will come, there is nothing to wait for.
        let handled = if images.is_empty() { subject.requested_at.clone() } else { handled };
        let is_other = story.renew(images);
        Some((Self { subject, story, handled }, is_other || !is_like))
    }
}

impl Story {
    fn new(kind: OwnerKind) -> Option<Self> {
        Some(match kind {
            OwnerKind::Application => return None,
            OwnerKind::ImageUpdater => Self::ImageUpdater(ImageUpdater::default()),
            OwnerKind::ImageRepository => Self::ImageRepository(ImageRepository::default()),
            OwnerKind::ImagePolicy => Self::ImagePolicy(ImagePolicy::default()),
            OwnerKind::ImageUpdateAutomation => Self::Automation(Automation::default()),
        })
    }

    /// Without what was found out, but with what was done and not told yet.
    fn anew(self) -> Self {
        match self {
            Self::ImageUpdater(story) => Self::ImageUpdater(story.anew()),
            Self::ImageRepository(_) => Self::ImageRepository(ImageRepository::default()),
            Self::ImagePolicy(_) => Self::ImagePolicy(ImagePolicy::default()),
            Self::Automation(story) => Self::Automation(story.anew()),
        }
    }

    /// These are its images; whether they are others than before.
    fn renew(&mut self, images: BTreeSet<ImageId>) -> bool {
        match self {
            Self::ImageUpdater(story) => story.renew(images),
            Self::ImageRepository(story) => story.renew(&images),
            Self::ImagePolicy(story) => story.renew(&images),
            Self::Automation(story) => story.renew(images),
        }
    }
}

/// Returns what an object says of its state. What cannot be read was written by nobody who knows the kind.
fn read<T: DeserializeOwned + Default>(status: &Value) -> T {
    T::deserialize(status).unwrap_or_default()
}

fn written(status: impl Serialize) -> Option<Value> {
    serde_json::to_value(status).ok()
}

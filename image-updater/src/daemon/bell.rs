//! News for jobs, so that they look before their time.
//!
//! In: that something may have changed: what there is to do, an image, a repository. Out: the news of each job, once.
//! Notifications during a reconcile are merged into one.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use oci_registry::Repository;

use crate::gate::Gate;

/// The changes that a job is notified of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct News {
    /// True if the job specification changed.
    pub(crate) is_other: bool,
    /// True if a dependency such as a Secret changed, so that all images are checked.
    pub(crate) is_ground_other: bool,
    /// The files that it is done in, by the commits that they are of now; without one where nobody said it.
    pub(crate) files: BTreeSet<Option<String>>,
    /// Images whose registry content changed.
    pub(crate) images: BTreeSet<String>,
}

impl News {
    /// Nothing.
    pub(crate) fn is_empty(&self) -> bool {
        !self.is_other && !self.is_ground_other && self.files.is_empty() && self.images.is_empty()
    }
}

/// The notifications that a job subscribes to.
#[derive(Clone, Debug, Default)]
pub(super) struct Interest {
    /// Images, in their normal form.
    pub(super) images: BTreeSet<String>,
    /// Repositories by their addresses, with the branch that is read where that is named.
    pub(super) repositories: BTreeSet<(String, Option<String>)>,
}

/// Tells whether anybody heard the ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rung {
    /// Nobody is concerned.
    Nobody,
    /// It rang before, and nobody has come since.
    Again,
    /// It is news for somebody.
    Anew,
}

/// The bell of one job.
#[derive(Clone, Debug)]
pub(crate) struct Bell {
    state: Arc<Mutex<State>>,
    gate: Arc<Gate>,
}

#[derive(Debug, Default)]
struct State {
    news: News,
    interest: Interest,
}

impl Bell {
    fn new(gate: &Gate) -> Self {
        Self { state: Arc::default(), gate: Arc::new(gate.sibling()) }
    }

    /// Notifies the job that its specification may have changed.
    #[cfg(feature = "kube")]
    fn ring(&self) {
        lock(&self.state).news.is_other = true;
        self.gate.wake();
    }

    #[cfg(feature = "kube")]
    fn ring_for_ground(&self) {
        lock(&self.state).news.is_ground_other = true;
        self.gate.wake();
    }

    fn ring_for_image(&self, image: &str) -> Rung {
        let mut state = lock(&self.state);
        if !state.interest.images.contains(image) {
            return Rung::Nobody;
        }
        if !state.news.images.insert(image.to_owned()) {
            return Rung::Again;
        }
        drop(state);
        self.gate.wake();
        Rung::Anew
    }

    fn ring_for_push(&self, is_meant: &dyn Fn(&str, Option<&str>) -> bool, commit: Option<&str>) -> Rung {
        let mut state = lock(&self.state);
        let mut repositories = state.interest.repositories.iter();
        if !repositories.any(|(address, branch)| is_meant(address, branch.as_deref())) {
            return Rung::Nobody;
        }
        if !state.news.files.insert(commit.map(str::to_owned)) {
            return Rung::Again;
        }
        drop(state);
        self.gate.wake();
        Rung::Anew
    }

    /// Replaces the subscription.
    pub(super) fn attend_to(&self, interest: Interest) {
        lock(&self.state).interest = interest;
    }

    /// Returns true if there is news; of what only is to be looked at again, not while the job rests.
    pub(super) fn is_rung(&self, rests: bool) -> bool {
        let news = &lock(&self.state).news;
        news.is_other || !(rests || news.is_empty())
    }

    /// The news, which is none afterwards.
    pub(super) fn take(&self) -> News {
        std::mem::take(&mut lock(&self.state).news)
    }
}

/// The bells of all jobs.
#[derive(Clone, Debug)]
pub(crate) struct Switchboard {
    bells: Arc<Mutex<Vec<(String, Bell)>>>,
    gate: Arc<Gate>,
}

impl Switchboard {
    /// Without any job.
    pub(crate) fn new(gate: &Gate) -> Self {
        Self { bells: Arc::default(), gate: Arc::new(gate.sibling()) }
    }

    /// A bell for a job, by the repository that it is for.
    pub(super) fn connect(&self, repository: &str) -> Bell {
        let bell = Bell::new(&self.gate);
        lock(&self.bells).push((repository.to_owned(), bell.clone()));
        bell
    }

    /// The job of a bell is over.
    pub(super) fn disconnect(&self, bell: &Bell) {
        lock(&self.bells).retain(|(_, known)| !Arc::ptr_eq(&known.state, &bell.state));
    }

    /// Notifies the jobs of a repository that their specification may have changed.
    #[cfg(feature = "kube")]
    pub(crate) fn ring(&self, repository: &str) {
        let bells = lock(&self.bells);
        bells.iter().filter(|(known, _)| known == repository).for_each(|(_, bell)| bell.ring());
    }

    /// Notifies all jobs that a dependency changed, if it is not known which ones use it.
    #[cfg(feature = "kube")]
    pub(crate) fn ring_for_ground(&self) {
        lock(&self.bells).iter().for_each(|(_, bell)| bell.ring_for_ground());
    }

    /// A registry has something new of an image: whoever has it looks at it, and at nothing else.
    pub(super) fn ring_for_image(&self, image: &Repository) -> Rung {
        let image = image.to_string();
        let rung = lock(&self.bells).iter().map(|(_, bell)| bell.ring_for_image(&image)).max();
        rung.unwrap_or(Rung::Nobody)
    }

    /// Somebody pushed to a branch, by a test of an address and the branch that is read there.
    pub(super) fn ring_for_push(
        &self,
        is_meant: impl Fn(&str, Option<&str>) -> bool,
        commit: Option<&str>,
    ) -> Rung {
        let rung = lock(&self.bells).iter().map(|(_, bell)| bell.ring_for_push(&is_meant, commit)).max();
        rung.unwrap_or(Rung::Nobody)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bell(switchboard: &Switchboard, images: &[&str], address: &str) -> Bell {
        let bell = switchboard.connect(address);
        let images = images.iter().map(ToString::to_string).collect();
        let repositories = BTreeSet::from([(address.to_owned(), Some("main".to_owned()))]);
        bell.attend_to(Interest { images, repositories });
        bell
    }

    #[test]
    fn a_burst_is_one_piece_of_news_and_only_for_whom_it_is() {
        let switchboard = Switchboard::new(&Gate::default());
        let nginx: Repository = "nginx".parse().unwrap();
        assert_eq!(switchboard.ring_for_image(&nginx), Rung::Nobody);
        let one = bell(&switchboard, &["docker.io/library/nginx"], "a");
        let other = bell(&switchboard, &["docker.io/library/redis"], "b");
        let rung: Vec<Rung> = (0..1000).map(|_| switchboard.ring_for_image(&nginx)).collect();
        assert_eq!(rung.iter().filter(|rung| **rung == Rung::Anew).count(), 1);
        assert_eq!(rung[999], Rung::Again);
        assert!(one.is_rung(false) && !one.is_rung(true) && !other.is_rung(false));
        assert_eq!(one.take().images.len(), 1);
        assert!(one.take().is_empty());
        assert_eq!(switchboard.ring_for_image(&nginx), Rung::Anew, "somebody has come since");
        one.take();
        let push = |branch: &str| {
            let is_meant = |address: &str, own: Option<&str>| address == "b" && own == Some(branch);
            switchboard.ring_for_push(is_meant, Some("c0ffee"))
        };
        assert_eq!([push("topic"), push("main"), push("main")], [Rung::Nobody, Rung::Anew, Rung::Again]);
        assert!(!one.is_rung(false) && other.take().files.contains(&Some("c0ffee".to_owned())));
        switchboard.disconnect(&other);
        assert_eq!(push("main"), Rung::Nobody);
    }

    #[test]
    #[cfg(feature = "kube")]
    fn what_a_cluster_says_of_jobs_does_not_wait_and_what_they_rest_on_does() {
        let switchboard = Switchboard::new(&Gate::default());
        let one = bell(&switchboard, &[], "a");
        switchboard.ring_for_ground();
        assert!(one.is_rung(false) && !one.is_rung(true));
        switchboard.ring("a");
        assert!(one.is_rung(true));
    }
}

//! News for jobs, so that they look before their time.
//!
//! In: that something may have changed: what there is to do, an image, a repository. Out: the news of each job, once.
//! What comes while a job is at work is kept for it and folded into one.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use registry::Repository;

use crate::gate::Gate;

/// What may have changed for a job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct News {
    /// What there is to do.
    pub(crate) is_other: bool,
    /// The files that it is done in.
    pub(crate) are_files_other: bool,
    /// What registries have of these images.
    pub(crate) images: BTreeSet<String>,
}

impl News {
    /// Nothing.
    pub(crate) fn is_empty(&self) -> bool {
        !self.is_other && !self.are_files_other && self.images.is_empty()
    }
}

/// The bell of one job.
#[derive(Clone, Debug)]
pub(crate) struct Bell {
    news: Arc<Mutex<News>>,
    gate: Arc<Gate>,
}

impl Bell {
    fn new(gate: &Gate) -> Self {
        Self { news: Arc::default(), gate: Arc::new(gate.sibling()) }
    }

    /// What there is to do may be other than it was.
    fn ring(&self) {
        lock(&self.news).is_other = true;
        self.gate.wake();
    }

    fn ring_for_files(&self) {
        lock(&self.news).are_files_other = true;
        self.gate.wake();
    }

    fn ring_for_image(&self, image: &str) {
        lock(&self.news).images.insert(image.to_owned());
        self.gate.wake();
    }

    /// Whether there is news.
    pub(super) fn is_rung(&self) -> bool {
        !lock(&self.news).is_empty()
    }

    /// The news, which is none afterwards.
    pub(super) fn take(&self) -> News {
        std::mem::take(&mut *lock(&self.news))
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
        lock(&self.bells).retain(|(_, known)| !Arc::ptr_eq(&known.news, &bell.news));
    }

    /// What there is to do for a repository may be other than it was.
    pub(crate) fn ring(&self, repository: &str) {
        let bells = lock(&self.bells);
        bells.iter().filter(|(known, _)| known == repository).for_each(|(_, bell)| bell.ring());
    }

    /// A registry has something new of an image: whoever has it looks at it, and at nothing else.
    pub(crate) fn ring_for_image(&self, image: &Repository) {
        let image = image.to_string();
        lock(&self.bells).iter().for_each(|(_, bell)| bell.ring_for_image(&image));
    }

    /// Somebody pushed to a repository, by a test of its address.
    pub(crate) fn ring_for_repository(&self, is_meant: impl Fn(&str) -> bool) {
        let bells = lock(&self.bells);
        bells
            .iter()
            .filter(|(repository, _)| is_meant(repository))
            .for_each(|(_, bell)| bell.ring_for_files());
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_one_piece_of_news_and_only_for_whom_it_is() {
        let switchboard = Switchboard::new(&Gate::default());
        let (one, other) = (switchboard.connect("https://a.test/r"), switchboard.connect("https://b.test/r"));
        assert!(one.take().is_empty());
        for _ in 0..1000 {
            switchboard.ring_for_image(&"docker.io/library/nginx".parse().unwrap());
        }
        assert_eq!(one.take().images.len(), 1);
        assert!(one.take().is_empty() && other.is_rung());
        other.take();
        switchboard.ring_for_repository(|address| address.contains("b.test"));
        assert!(!one.is_rung() && other.take().are_files_other);
        switchboard.disconnect(&other);
        switchboard.ring_for_repository(|_| true);
        assert!(one.is_rung() && !other.is_rung());
    }
}

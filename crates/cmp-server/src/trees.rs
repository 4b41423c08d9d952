//! Repositories in memory, by the checksum of their archive: what a request can be answered from without unpacking.
//!
//! In: checksums, as they come before an archive's bytes. Out: the tree, or the task to unpack it, which one request
//! has while others for the same tree wait. Trees that no request uses go when room is needed, least recently used
//! first.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::timeout;
use vfs::{FileKind, Files, MemoryTree};

use crate::archive::Unpacked;
use crate::contents::Digest;

/// Time a request waits for another that unpacks the same tree, which may have a slow client.
const PATIENCE: Duration = Duration::from_secs(10);

/// A repository; as long as somebody has it, its memory is counted.
#[derive(Debug)]
pub(crate) struct Tree {
    checksum: Digest,
    unpacked: Unpacked,
}

#[derive(Debug, Default)]
pub(crate) struct Trees(Mutex<Slots>);

#[derive(Debug, Default)]
struct Slots {
    by_checksum: HashMap<Digest, Slot>,
    /// Counts uses, for the order of them.
    uses: u64,
}

#[derive(Debug)]
enum Slot {
    Ready {
        tree: Arc<Tree>,
        used: u64,
    },
    /// A request unpacks it; others are told when it has ended.
    Unpacking(Arc<Notify>),
}

/// The task of a request for a tree.
#[derive(Debug)]
pub(crate) enum Claim {
    /// Nothing: here it is.
    Ready(Arc<Tree>),
    /// Unpack it.
    Unpack(Ticket),
}

/// The task to unpack a tree. Where it is dropped, another request gets it.
#[derive(Debug)]
pub(crate) struct Ticket {
    trees: Arc<Trees>,
    checksum: Digest,
    /// Nothing where others do the same, as they have waited for too long.
    notify: Option<Arc<Notify>>,
}

impl Tree {
    pub(crate) fn checksum(&self) -> &Digest {
        &self.checksum
    }

    /// The digest of a file at a real path from the root.
    pub(crate) fn digest(&self, path: &Path) -> Option<&Digest> {
        self.unpacked.digests.get(path.strip_prefix("/").unwrap_or(path))
    }

    pub(crate) fn files(&self) -> usize {
        self.unpacked.digests.len()
    }

    fn tree(&self) -> &MemoryTree {
        &self.unpacked.files
    }
}

impl Files for Tree {
    fn resolve(&self, path: &Path) -> io::Result<(PathBuf, FileKind)> {
        self.tree().resolve(path)
    }

    fn read(&self, path: &Path) -> io::Result<Arc<[u8]>> {
        Files::read(self.tree(), path)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        Files::list(self.tree(), path)
    }

    fn display(&self, path: &Path) -> String {
        self.tree().display(path)
    }
}

impl Trees {
    /// The tree of an archive, or the task to unpack it.
    pub(crate) async fn claim(self: &Arc<Self>, checksum: Digest) -> Claim {
        loop {
            let other = match self.look(checksum) {
                Ok(claim) => return claim,
                Err(other) => other,
            };
            let ended = other.notified();
            tokio::pin!(ended);
            ended.as_mut().enable();
            // It may have ended before it was listened to.
            if self.is_unpacking(&checksum, &other) && timeout(PATIENCE, ended).await.is_err() {
                return Claim::Unpack(Ticket { trees: Arc::clone(self), checksum, notify: None });
            }
        }
    }

    fn look(self: &Arc<Self>, checksum: Digest) -> Result<Claim, Arc<Notify>> {
        let mut slots = self.lock();
        let now = slots.next_use();
        match slots.by_checksum.get_mut(&checksum) {
            Some(Slot::Ready { tree, used }) => {
                *used = now;
                Ok(Claim::Ready(Arc::clone(tree)))
            }
            Some(Slot::Unpacking(notify)) => Err(Arc::clone(notify)),
            None => {
                let notify = Arc::new(Notify::new());
                slots.by_checksum.insert(checksum, Slot::Unpacking(Arc::clone(&notify)));
                Ok(Claim::Unpack(Ticket { trees: Arc::clone(self), checksum, notify: Some(notify) }))
            }
        }
    }

    fn is_unpacking(&self, checksum: &Digest, by: &Arc<Notify>) -> bool {
        matches!(self.lock().by_checksum.get(checksum), Some(Slot::Unpacking(other)) if Arc::ptr_eq(other, by))
    }

    /// Lets go of the tree that was not used for longest and that no request uses; whether there was one.
    pub(crate) fn evict(&self) -> bool {
        let mut slots = self.lock();
        let idle = slots.by_checksum.iter().filter_map(|(checksum, slot)| match slot {
            Slot::Ready { tree, used } if Arc::strong_count(tree) == 1 => Some((*used, *checksum)),
            _ => None,
        });
        let Some((_, checksum)) = idle.min() else { return false };
        let evicted = slots.by_checksum.remove(&checksum);
        drop(slots);
        // It takes a while to free, and nobody need wait for it.
        drop(evicted);
        true
    }

    fn lock(&self) -> MutexGuard<'_, Slots> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Slots {
    fn next_use(&mut self) -> u64 {
        self.uses += 1;
        self.uses
    }
}

impl Ticket {
    /// Hands over what was unpacked.
    pub(crate) fn finish(self, unpacked: Unpacked) -> Arc<Tree> {
        let tree = Arc::new(Tree { checksum: self.checksum, unpacked });
        let mut slots = self.trees.lock();
        let used = slots.next_use();
        slots.by_checksum.insert(self.checksum, Slot::Ready { tree: Arc::clone(&tree), used });
        drop(slots);
        tree
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let Some(notify) = &self.notify else { return };
        let mut slots = self.trees.lock();
        if matches!(slots.by_checksum.get(&self.checksum), Some(Slot::Unpacking(other)) if Arc::ptr_eq(other, notify))
        {
            slots.by_checksum.remove(&self.checksum);
        }
        drop(slots);
        notify.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::budget::Budget;
    use crate::contents::Uses;

    fn unpacked(budget: &Arc<Budget>) -> Unpacked {
        let uses = Uses::of(&Arc::default());
        Unpacked {
            files: MemoryTree::new(),
            digests: HashMap::new(),
            uses,
            reservation: budget.take(10).unwrap(),
        }
    }

    fn ticket(claim: Claim) -> Ticket {
        match claim {
            Claim::Unpack(ticket) => ticket,
            Claim::Ready(_) => panic!("there is no such tree yet"),
        }
    }

    #[tokio::test]
    async fn one_unpacks_and_the_others_wait() {
        let (budget, trees) = (Budget::new(100), Arc::new(Trees::default()));
        let first = ticket(trees.claim([1; 32]).await);
        let others: Vec<_> = (0..3)
            .map(|_| {
                let trees = Arc::clone(&trees);
                tokio::spawn(async move { matches!(trees.claim([1; 32]).await, Claim::Ready(_)) })
            })
            .collect();
        tokio::task::yield_now().await;
        first.finish(unpacked(&budget));
        for other in others {
            assert!(other.await.unwrap());
        }
    }

    #[tokio::test]
    async fn who_gives_up_hands_the_task_on() {
        let trees = Arc::new(Trees::default());
        let first = ticket(trees.claim([1; 32]).await);
        let waiting = tokio::spawn({
            let trees = Arc::clone(&trees);
            async move { ticket(trees.claim([1; 32]).await) }
        });
        tokio::task::yield_now().await;
        drop(first);
        drop(waiting.await.unwrap());
        assert!(trees.lock().by_checksum.is_empty());
    }

    #[tokio::test]
    async fn a_slow_one_does_not_hold_up_others_for_ever() {
        tokio::time::pause();
        let trees = Arc::new(Trees::default());
        let slow = ticket(trees.claim([1; 32]).await);
        let second = ticket(trees.claim([1; 32]).await);
        assert!(second.notify.is_none());
        let budget = Budget::new(100);
        second.finish(unpacked(&budget));
        drop(slow);
        assert!(matches!(trees.claim([1; 32]).await, Claim::Ready(_)));
    }

    #[tokio::test]
    async fn the_least_recently_used_goes_first_and_none_in_use() {
        let (budget, trees) = (Budget::new(100), Arc::new(Trees::default()));
        for number in 1..=3 {
            ticket(trees.claim([number; 32]).await).finish(unpacked(&budget));
        }
        let in_use = trees.claim([1; 32]).await;
        drop(trees.claim([2; 32]).await);
        assert_eq!(budget.used(), 30);
        for gone in [3, 2] {
            assert!(trees.evict());
            assert!(!trees.lock().by_checksum.contains_key(&[gone; 32]));
        }
        assert!(!trees.evict());
        drop(in_use);
        assert!(trees.evict());
        assert_eq!(budget.used(), 0);
    }
}

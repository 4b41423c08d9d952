//! Versions that a person reverted, which are not set again.
//!
//! In: what the trailers of a branch's last commits set, and a change that would be made. Out: whether that would undo a
//! person's choice. Our own later commits undo nothing: when a tag's digest goes back and forth, each is set again.

use diagnostic::{Error, Result};
use std::cell::OnceCell;

use gitremote::{Mirror, Remote, Tip};

use crate::change::Change;
use crate::message::{Set, read_sets};

/// Maximum number of commits that are looked at for what we set before.
pub(crate) const REMEMBERED: u32 = 100;

/// A branch's memory, which is looked into once there is something to ask it.
pub(crate) struct Memory<'m> {
    pub(crate) mirror: &'m Mirror,
    pub(crate) remote: &'m Remote,
    pub(crate) tip: &'m Tip,
    sets: OnceCell<Result<Vec<Set>>>,
}

impl<'m> Memory<'m> {
    pub(crate) fn of(mirror: &'m Mirror, remote: &'m Remote, tip: &'m Tip) -> Self {
        Self { mirror, remote, tip, sets: OnceCell::new() }
    }

    /// Returns true if a change would undo a person's choice. Where that cannot be known it would.
    pub(crate) fn is_held(&self, change: &Change) -> bool {
        match self.sets.get_or_init(|| self.recall()) {
            Ok(sets) => was_set_back(change, sets),
            Err(_) => true,
        }
    }

    /// Returns what kept it from knowing.
    pub(crate) fn failure(self) -> Option<Error> {
        self.sets.into_inner()?.err()
    }

    /// Returns what our last commits set, newest first.
    fn recall(&self) -> Result<Vec<Set>> {
        let past = self.mirror.history(self.remote, self.tip, REMEMBERED)?;
        // Of several in one message the last is the newest: forges join messages so when they squash.
        Ok(past.iter().flat_map(|past| read_sets(&past.message).into_iter().rev()).collect())
    }
}

/// Returns true if we set the same before, in one of the files, and found or left something else there since.
fn was_set_back(change: &Change, newest_first: &[Set]) -> bool {
    let new = change.new.full();
    let is_edited = |file: &str| change.edits.iter().any(|edit| edit.file == file);
    newest_first.iter().enumerate().any(|(place, set)| {
        let is_same = set.new == new && set.image == change.image && is_edited(&set.file);
        is_same && {
            let of_same_value =
                |later: &&Set| later.image == set.image && later.file == set.file && later.alias == set.alias;
            let next = newest_first[..place].iter().rev().find(of_same_value);
            next.is_none_or(|next| next.old != new)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::{Edit, Version};

    fn set(alias: &str, old: &str, new: &str) -> Set {
        let text = |text: &str| text.to_owned();
        Set {
            image: text("r.test/app"),
            alias: text(alias),
            application: String::new(),
            file: text("a.yaml"),
            old: text(old),
            new: text(new),
        }
    }

    fn is_held(new: &str, newest_first: &[Set]) -> bool {
        let edits = vec![Edit { file: "a.yaml".to_owned(), ..Edit::default() }];
        let change =
            Change { image: "r.test/app".to_owned(), new: Version::of_tag(new), edits, ..Change::default() };
        was_set_back(&change, newest_first)
    }

    #[test]
    fn what_a_person_set_back_is_held_and_a_newer_version_is_not() {
        let past = [set("", "1.0", "1.1")];
        assert!(is_held("1.1", &past));
        assert!(!is_held("1.2", &past));
        assert!(!is_held("1.1", &[]));
        let other = Set { file: "b.yaml".to_owned(), ..set("", "1.0", "1.1") };
        assert!(!is_held("1.1", &[other]));
    }

    /// 1.1 was set back to 1.0, 1.2 came and was set back too, and is now gone from the registry.
    #[test]
    fn what_was_set_back_earlier_stays_held() {
        assert!(is_held("1.1", &[set("", "1.0", "1.2"), set("", "1.0", "1.1")]));
    }

    #[test]
    fn what_we_replaced_ourselves_may_be_set_again() {
        assert!(!is_held("main@b", &[set("", "main@b", "main@a"), set("", "main@a", "main@b")]));
    }

    #[test]
    fn two_values_of_one_image_in_one_file_are_told_apart() {
        let past =
            [set("dev", "dev@b", "dev@a"), set("prod", "prod@a", "prod@b"), set("dev", "dev@a", "dev@b")];
        assert!(!is_held("dev@b", &past));
        assert!(is_held("prod@b", &past));
    }
}

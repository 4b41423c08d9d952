//! The inputs and image states that the statuses of all kinds share.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde_json::Value;

use super::news::{ImageId, State};
use super::subject::Subject;

/// The inputs of a status besides the image states.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame<'f> {
    pub(super) subject: &'f Subject,
    /// The current spec of the object.
    pub(super) spec: &'f Value,
    pub(super) handled: Option<&'f str>,
    pub(super) now: Timestamp,
}

/// Counts of an ImageUpdater.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::cluster) struct Counts {
    pub(in crate::cluster) applications: usize,
    pub(in crate::cluster) images: usize,
}

/// The states of images by id; `None` until the first reconcile.
pub(super) type States = BTreeMap<ImageId, Option<State>>;

/// Takes over which images there are, with what is known of them; whether they are others.
pub(super) fn renewed(states: &mut States, images: BTreeSet<ImageId>) -> bool {
    if states.keys().eq(&images) {
        return false;
    }
    let mut before = std::mem::take(states);
    states.extend(images.into_iter().map(|image| {
        let state = before.remove(&image).flatten();
        (image, state)
    }));
    true
}

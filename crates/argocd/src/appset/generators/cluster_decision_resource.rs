//! `clusterDecisionResource`: what objects in Argo CD's own cluster decide, which nothing here can know.

use diagnostic::{Error, Result};

use super::{Depth, REQUEUE, Run, TEMPLATE, VALUES};
use crate::appset::params::Params;
use crate::appset::schema::{Shape, optional, required};
use crate::appset::selector;
use crate::appset::tree::Tree;

pub(super) fn shape(_: Depth) -> Option<Shape> {
    const SHAPE: Shape = Shape::Object(&[
        required("configMapRef", Shape::Text),
        optional("name", Shape::Text),
        REQUEUE,
        optional("labelSelector", selector::SHAPE),
        TEMPLATE,
        VALUES,
    ]);
    Some(SHAPE)
}

pub(super) fn generate(_: &Run<'_>, _: &Tree, _: Depth) -> Result<Vec<Params>> {
    Err(Error::invalid(
        "a clusterDecisionResource generator cannot be rendered offline: its decisions are in the cluster",
    )
    .hint("a `list` or `clusters` generator with the same parameters can"))
}

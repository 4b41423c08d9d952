//! `git`: a set for each folder or file of a repository (applicationset/generators/git.go).
//!
//! Refused: repositories that the context does not have, and projects that it does not.

use diagnostic::{Error, Result};

use super::git_tree::Repository;
use super::{Depth, REQUEUE, Run, TEMPLATE, VALUES, git_directories, git_files};
use crate::appset::params::Params;
use crate::appset::schema::{Shape, optional, required};
use crate::appset::tree::Tree;

const ITEM: Shape = Shape::Object(&[required("path", Shape::Text), optional("exclude", Shape::Bool)]);

pub(super) fn shape(_: Depth) -> Option<Shape> {
    const SHAPE: Shape = Shape::Object(&[
        required("repoURL", Shape::Text),
        optional("directories", Shape::List(&ITEM)),
        optional("files", Shape::List(&ITEM)),
        required("revision", Shape::Text),
        REQUEUE,
        TEMPLATE,
        optional("pathParamPrefix", Shape::Text),
        VALUES,
    ]);
    Some(SHAPE)
}

pub(super) fn generate(run: &Run<'_>, config: &Tree, _: Depth) -> Result<Vec<Params>> {
    let place = config.get("repoURL").map_or(config.span, |url| url.span);
    let checkout = run.world.repositories.find(config.text_of("repoURL"), config.text_of("revision"));
    let checkout = checkout.map_err(|error| error.at(run.place(place)))?;
    let repository = Repository::open(run, checkout.folder()).map_err(|error| error.at(run.place(place)))?;
    if !config.items_of("directories").is_empty() {
        git_directories::generate(run, config, &repository)
    } else if !config.items_of("files").is_empty() {
        git_files::generate(run, config, &repository)
    } else {
        Err(Error::invalid("a git generator has `directories` or `files`"))
    }
}

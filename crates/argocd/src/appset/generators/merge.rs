//! `merge`: the sets of a first generator, overridden by those of others that agree with them in some keys
//! (applicationset/generators/merge.go).
//!
//! Argo CD puts the sets out in no order; here they keep that of the first generator.

use std::collections::{HashMap, HashSet};

use diagnostic::{Error, Result};

use super::{Depth, Run, TEMPLATE, holding, transform_only};
use crate::appset::params::Params;
use crate::appset::schema::{Shape, required};
use crate::appset::tree::Tree;

pub(super) fn shape(depth: Depth) -> Option<Shape> {
    const TOP: Shape = Shape::Object(&[
        holding(&Shape::Generator(Depth::Nested)),
        required("mergeKeys", Shape::TEXTS),
        TEMPLATE,
    ]);
    const NESTED: Shape =
        Shape::Object(&[holding(&Shape::Generator(Depth::Terminal)), required("mergeKeys", Shape::TEXTS)]);
    match depth {
        Depth::Top => Some(TOP),
        Depth::Nested => Some(NESTED),
        Depth::Terminal => None,
    }
}

pub(super) fn generate(run: &Run<'_>, config: &Tree, depth: Depth) -> Result<Vec<Params>> {
    let entries = config.items_of("generators");
    if entries.len() < 2 {
        return Err(Error::invalid(format!(
            "a merge has two generators or more, and this one has {}",
            entries.len()
        )));
    }
    let mut made = Vec::new();
    for entry in entries {
        made.push(transform_only(run, entry, depth.below(), None)?);
    }
    let keys: Vec<&str> = config.items_of("mergeKeys").iter().filter_map(Tree::text).collect();
    if keys.is_empty() {
        return Err(Error::invalid(
            "a merge needs `mergeKeys`: the parameters in which its generators agree",
        ));
    }
    let mut all = made
        .into_iter()
        .zip(entries)
        .map(|(sets, entry)| by_key(sets, &keys).map_err(|error| error.at(run.place(entry.span))));
    let mut merged = all.next().transpose()?.unwrap_or_default();
    for overriding in all {
        let overriding: HashMap<String, Params> = overriding?.into_iter().collect();
        for (key, set) in &mut merged {
            if let Some(other) = overriding.get(key) {
                *set = if run.language.is_go() { set.overridden_by(other) } else { set.replaced_by(other) };
            }
        }
    }
    Ok(merged.into_iter().map(|(_, set)| set).collect())
}

/// Each set with the JSON of its keys, which no two of a generator may share.
fn by_key(sets: Vec<Params>, keys: &[&str]) -> Result<Vec<(String, Params)>> {
    let mut keyed = Vec::with_capacity(sets.len());
    let mut taken = HashSet::new();
    for set in sets {
        let key = set.merge_key(keys).map_err(Error::invalid)?;
        if !taken.insert(key.clone()) {
            return Err(Error::invalid(format!("two sets of this generator have the merge keys `{key}`"))
                .hint("with `goTemplate: true` a merge key is a name, no path; a set without it has null"));
        }
        keyed.push((key, set));
    }
    Ok(keyed)
}

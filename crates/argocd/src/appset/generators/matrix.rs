//! `matrix`: every set of one generator with every set of another, which is a template over the first
//! (applicationset/generators/matrix.go).

use diagnostic::{Error, Result};

use super::{Depth, Run, TEMPLATE, holding, transform_only};
use crate::appset::params::Params;
use crate::appset::schema::Shape;
use crate::appset::tree::Tree;

pub(super) fn shape(depth: Depth) -> Option<Shape> {
    const TOP: Shape = Shape::Object(&[holding(&Shape::Generator(Depth::Nested)), TEMPLATE]);
    const NESTED: Shape = Shape::Object(&[holding(&Shape::Generator(Depth::Terminal))]);
    match depth {
        Depth::Top => Some(TOP),
        Depth::Nested => Some(NESTED),
        Depth::Terminal => None,
    }
}

pub(super) fn generate(run: &Run<'_>, config: &Tree, depth: Depth) -> Result<Vec<Params>> {
    let [first, second] = config.items_of("generators") else {
        let count = config.items_of("generators").len();
        return Err(Error::invalid(format!("a matrix has two generators, and this one has {count}")));
    };
    let below = depth.below();
    let mut sets = Vec::new();
    for one in transform_only(run, first, below, None)? {
        for other in transform_only(run, second, below, Some(&one))? {
            sets.push(both(run, &one, &other).map_err(|error| error.at(run.place(second.span)))?);
        }
    }
    Ok(sets)
}

/// With `goTemplate` the first generator's parameters count; without, a key has one text.
fn both(run: &Run<'_>, one: &Params, other: &Params) -> Result<Params> {
    if run.language.is_go() {
        return Ok(other.overridden_by(one));
    }
    one.combined_with(other).map_err(|(key, first, second)| {
        Error::invalid(format!(
            "both generators of the matrix have the parameter `{key}`, with the values `{first}` and `{second}`"
        ))
        .hint("name them apart (a git generator by `pathParamPrefix`), or use `goTemplate: true`, where the first counts")
    })
}

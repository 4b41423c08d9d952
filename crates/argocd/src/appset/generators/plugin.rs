//! `plugin`: a set for each object that the context's fixtures have a plugin answer
//! (applicationset/generators/plugin.go).

use diagnostic::{Error, Result};
use gotemplate::Value;
use yamltree::Span;

use super::{Depth, REQUEUE, Run, TEMPLATE, VALUES};
use crate::appset::faults;
use crate::appset::params::Params;
use crate::appset::schema::{Shape, optional, required};
use crate::appset::tree::Tree;

const CONFIG_MAP: Shape = Shape::Object(&[required("name", Shape::Text)]);
const INPUT: Shape = Shape::Object(&[optional("parameters", Shape::Map(&Shape::Any))]);

pub(super) fn shape(_: Depth) -> Option<Shape> {
    const SHAPE: Shape = Shape::Object(&[
        required("configMapRef", CONFIG_MAP),
        optional("input", INPUT),
        REQUEUE,
        TEMPLATE,
        VALUES,
    ]);
    Some(SHAPE)
}

pub(super) fn generate(run: &Run<'_>, config: &Tree, _: Depth) -> Result<Vec<Params>> {
    let fixtures = run.world.context.fixtures.plugin.as_ref();
    let fixtures = fixtures.ok_or_else(|| faults::no_fixtures("plugin", "parameter objects"))?;
    let parameters = config.get("input").and_then(|input| input.get("parameters"));
    let parameters = parameters.map_or_else(|| Value::map::<&str>([]), Tree::to_value);
    let mut sets = Vec::new();
    for fixture in fixtures {
        let object = Params::of_value(&Tree::of_json(fixture.clone(), Span::NONE).to_value())
            .ok_or_else(|| Error::invalid("a fixture of `plugin` must be an object of parameters"))?;
        let params = if run.language.is_go() { object } else { Params::flat(object.map()) };
        params.insert("generator", Value::map([("input", Value::map([("parameters", parameters.clone())]))]));
        run.add_values(config, &params)?;
        sets.push(params);
    }
    Ok(sets)
}

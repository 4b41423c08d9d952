//! `list`: elements as they are written, and elements in a text of YAML (applicationset/generators/list.go).

use diagnostic::{Error, Result};
use gotemplate::Value;
use helm_lite::yaml;

use super::{Depth, Run, TEMPLATE};
use crate::appset::params::Params;
use crate::appset::schema::{Shape, optional, required};
use crate::appset::tree::{Kind, Tree};

pub(super) fn shape(_: Depth) -> Option<Shape> {
    const SHAPE: Shape = Shape::Object(&[
        required("elements", Shape::List(&Shape::Any)),
        optional("elementsYaml", Shape::Text),
        TEMPLATE,
    ]);
    Some(SHAPE)
}

pub(super) fn generate(run: &Run<'_>, config: &Tree, _: Depth) -> Result<Vec<Params>> {
    let mut sets = Vec::new();
    for element in config.items_of("elements") {
        let value = element.to_value();
        let object = Params::of_value(&value).ok_or_else(|| {
            Error::invalid(format!("an element must be a mapping, found {}", element.kind.name()))
                .at(run.place(element.span))
        })?;
        sets.push(if run.language.is_go() { object } else { flat(run, element)? });
    }
    if let Some(text) =
        config.get("elementsYaml").filter(|text| text.text().is_some_and(|text| !text.is_empty()))
    {
        let elements = read(text.text().unwrap_or_default());
        sets.extend(elements.map_err(|message| Error::invalid(message).at(run.place(text.span)))?);
    }
    Ok(sets)
}

/// The texts of an element, those below `values` as `values.<key>`.
fn flat(run: &Run<'_>, element: &Tree) -> Result<Params> {
    let params = Params::default();
    for (key, value) in element.entries().into_iter().flatten() {
        match &value.kind {
            Kind::Text(text) if key != "values" => params.insert(key.as_str(), text.as_str().into()),
            Kind::Map(values) if key == "values" => {
                for (name, value) in values {
                    let text = value.text().ok_or_else(|| not_a_text(run, name, value))?;
                    params.insert(format!("values.{name}"), text.into());
                }
            }
            _ => return Err(not_a_text(run, key, value)),
        }
    }
    Ok(params)
}

fn not_a_text(run: &Run<'_>, key: &str, value: &Tree) -> Error {
    let wanted = if key == "values" { "a mapping of strings" } else { "a string" };
    Error::invalid(format!(
        "`{key}` is {}; without `goTemplate: true` it must be {wanted}",
        value.kind.name()
    ))
    .hint("quote it")
    .at(run.place(value.span))
}

fn read(text: &str) -> Result<Vec<Params>, String> {
    let unfit = || "`elementsYaml` must be a list of mappings".to_owned();
    match yaml::read(text.as_bytes()).map_err(|reason| format!("`elementsYaml`: {reason}"))? {
        Value::Nil => Ok(Vec::new()),
        Value::List(items) => {
            items.items().iter().map(|item| Params::of_value(item).ok_or_else(unfit)).collect()
        }
        _ => Err(unfit()),
    }
}

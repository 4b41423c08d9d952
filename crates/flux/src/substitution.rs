//! Variables put into what a Kustomization builds (fluxcd/pkg/kustomize, `SubstituteVariables`).
//!
//! In: an object, as it was built. Out: the object that its text gives with the variables in it: what a value makes of a
//! number or a boolean is one then. Refused, with its place: what Flux refuses, names of variables among it.

use std::sync::Arc;

use argocd::objects::{self, Object};
use diagnostic::{Error, Result};
use yamltree::{Location, Source, Span};

use crate::data::{self, Data};
use crate::envsubst::{self, Mode, Value, Variables, is_name};
use crate::known::Lookup;
use crate::kustomization::PostBuild;
use crate::warning::Warning;

/// Opts an object out, as a label or an annotation.
const KEY: &str = "kustomize.toolkit.fluxcd.io/substitute";

/// The variables of a Kustomization: those of its references in their order, and then its own.
pub(crate) fn variables(
    post_build: &PostBuild,
    namespace: &str,
    known: &Lookup<'_>,
    warnings: &mut Vec<Warning>,
) -> Result<Variables> {
    let mut variables = Variables::default();
    for reference in &post_build.from {
        let mut set = |name: &str, value: Value| -> Result<()> {
            let origin = format!("{} `{}`", reference.kind, reference.name);
            check_name(name, &origin).map_err(|error| error.at(reference.place.clone()))?;
            variables.values.insert(name.to_owned(), value);
            Ok(())
        };
        match data::of(reference, namespace, known, warnings)? {
            Data::Absent => {}
            Data::Missing => variables.has_unknown = true,
            Data::Encrypted(keys) => keys.iter().try_for_each(|key| set(key, Value::Unknown))?,
            Data::Plain(data) => {
                for (key, bytes) in data {
                    let value =
                        String::from_utf8(bytes).map_or(Value::Binary, |text| Value::Text(one_line(&text)));
                    set(&key, value)?;
                }
            }
        }
    }
    for (name, text) in &post_build.variables {
        check_name(name, "`substitute`").map_err(|error| error.at(post_build.place.clone()))?;
        variables.values.insert(name.clone(), Value::Text(one_line(text)));
    }
    Ok(variables)
}

fn one_line(text: &str) -> String {
    text.replace('\n', "")
}

fn check_name(name: &str, origin: &str) -> Result<()> {
    if is_name(name) {
        return Ok(());
    }
    Err(Error::invalid(format!("{origin} has the key `{name}`, which is not a variable name")).hint(
        "Flux then applies nothing: names have letters, digits and underscores, and begin with no digit",
    ))
}

/// An object with the variables in it.
pub(crate) fn substituted(object: Object, variables: &Variables, mode: Mode) -> Result<Object> {
    let is_out = |value: Option<&str>| value == Some("disabled");
    if is_out(object.label(KEY)) || is_out(object.annotation(KEY)) {
        return Ok(object);
    }
    let text = object.to_yaml()?;
    // Without a dollar sign that means something the text stays, and its places are known.
    if !text.contains("${") && !text.contains("$$") {
        return Ok(object);
    }
    let result = envsubst::substitute(&text, variables, mode).map_err(|error| {
        let refused = Error::invalid(error.message).at(place(&object, &text[error.offset..]));
        match error.hint {
            Some(hint) => refused.hint(hint),
            None => refused,
        }
    })?;
    let name = object.place().map_or_else(|| object.to_string(), |place| place.source.name.clone());
    let source = Arc::new(Source { name: format!("{name} (with variables)"), text: result.into() });
    let mut objects = objects::documents(&source).map_err(|error| {
        // What is wrong was put in by a value, which may be a secret: its text is not shown.
        let message = format!("{object} is not valid after variable substitution: {}", error.message());
        Error::invalid(message).at(object.place())
    })?;
    match objects.len() {
        1 => Ok(objects.remove(0)),
        _ => {
            Err(Error::invalid(format!("{object} is not valid after variable substitution"))
                .at(object.place()))
        }
    }
}

/// Returns where an expression is in the file that the object is from; the object where it is not found.
fn place(object: &Object, rest: &str) -> Option<Location> {
    let place = object.place()?;
    let end = rest.find(['}', '\n']).map_or(rest.len(), |end| end + 1);
    let from = place.span.start as usize;
    let at = from + place.source.text.get(from..)?.find(rest.get(..end)?.trim_end())?;
    let (start, end) = (u32::try_from(at).ok()?, u32::try_from(at + end).ok()?);
    Some(Location { source: Arc::clone(&place.source), span: Span { source: place.span.source, start, end } })
}

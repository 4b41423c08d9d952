//! `replacements`: copies a value from a field of one resource, or from the configuration, to fields of others.
//!
//! It refuses a source that is not one field of one resource, and a target's field that is missing or of another form.
//! A target that selects no resource is worth a warning.

mod comments;
mod config;
mod path;
mod select;
mod structured;
#[cfg(test)]
mod tests;
mod value;

use diagnostic::{Error, Result};
use yamltree::Node;

use self::config::{Replacement, Source, SourceField, TargetSelector};
use self::path::{FieldPath, Walk};
use self::select::Kinds;
use self::value::{Budget, Value};
use super::{Builtin, Transformer};
use crate::context::Context;
use crate::decode::{Object, Reading, closest};
use crate::dotted;
use crate::resmap::ResMap;
use crate::resource::Resource;
use crate::target::Target;
use crate::warning::{Code, Warning};

pub(crate) const BUILTIN: Builtin = Builtin { kind: "ReplacementTransformer", from_fields, from_config };

struct ReplacementTransformer {
    replacements: Vec<Replacement>,
}

fn from_fields(target: &Target<'_, '_>) -> Result<Vec<Box<dyn Transformer>>> {
    let entries = target.kustomization.items("replacements")?;
    if entries.is_empty() {
        return Ok(Vec::new());
    }
    let replacements = config::from_entries(entries, Reading::KUSTOMIZATION, target)?;
    Ok(vec![Box::new(ReplacementTransformer { replacements })])
}

fn from_config(config: &Node, target: &Target<'_, '_>) -> Result<Box<dyn Transformer>> {
    let object = Object::plugin(config, "a ReplacementTransformer")?;
    let replacements = config::from_entries(object.items("replacements")?, object.reading(), target)?;
    object.close(target.cx)?;
    Ok(Box::new(ReplacementTransformer { replacements }))
}

impl Transformer for ReplacementTransformer {
    fn transform(&self, map: &mut ResMap, cx: &Context<'_>) -> Result<()> {
        let mut run = Run { kinds: Kinds::new(map), map, cx, budget: Budget::default() };
        for replacement in &self.replacements {
            let value = run.value(&replacement.source)?;
            for target in &replacement.targets {
                run.apply(&value, target)?;
            }
        }
        Ok(())
    }
}

struct Run<'r, 'cx> {
    map: &'r mut ResMap,
    kinds: Kinds,
    cx: &'r Context<'cx>,
    budget: Budget,
}

impl Run<'_, '_> {
    fn value(&self, source: &Source) -> Result<Value> {
        let field = match source {
            Source::Value(text) => return Ok(Value::literal(text)),
            Source::Field(field) => field,
        };
        let resource = self.source(field)?;
        let parts = dotted::parts(&field.path.text);
        let found = dotted::lookup(&resource.node, &parts).filter(|node| !value::is_empty(node));
        let Some(found) = found else {
            let sentence = format!("{} has no `{}`", resource.id().described(), field.path.text);
            let error =
                Error::invalid(sentence).at(field.path.span).via("the source is here", resource.span());
            return Err(match source_hint(&resource.node, &parts) {
                Some(hint) => error.hint(hint),
                None => error,
            });
        };
        Value::of(found, &field.options).map_err(|error| error.at(field.options.span))
    }

    /// The one resource that a source names.
    fn source(&self, field: &SourceField) -> Result<&Resource> {
        let candidates = self.kinds.candidates(self.map, field.id.name(), field.id.kind());
        let resources = candidates.into_iter().map(|position| self.map.get(position));
        let mut selected = resources.filter(|resource| field.id.selects(resource));
        match (selected.next(), selected.next()) {
            (Some(resource), None) => Ok(resource),
            (Some(first), Some(second)) => {
                let sentence = format!(
                    "the source is ambiguous: {} and {} both match",
                    first.id().described(),
                    second.id().described()
                );
                Err(Error::invalid(sentence)
                    .at(field.span)
                    .via("the first one is here", first.span())
                    .via("the second one is here", second.span()))
            }
            (None, _) => Err(self.no_source(field)),
        }
    }

    fn no_source(&self, field: &SourceField) -> Error {
        let sentence = format!("no resource is the source of the replacement: {}", field.id.described());
        let error = Error::invalid(sentence).at(field.span);
        let kind = field.id.kind();
        let of_kind = self.map.iter().filter(|resource| kind.is_none_or(|kind| resource.kind() == kind));
        let Some(name) = field.id.name() else { return error };
        match closest(name, of_kind.map(Resource::name)) {
            Some(meant) if meant != name => error.hint(format!("did you mean `{meant}`?")),
            _ => error,
        }
    }

    fn apply(&mut self, value: &Value, target: &TargetSelector) -> Result<()> {
        let select = &target.select;
        let mut selected = Vec::new();
        for position in self.kinds.candidates(self.map, select.literal_name(), select.literal_kind()) {
            if target.selects(self.map.get(position))? {
                selected.push(position);
            }
        }
        if selected.is_empty() {
            let message = "the target of the replacement selects no resource";
            self.cx.warn(Code::ReplacementWithoutTarget, message, target.span);
        }
        for position in selected {
            let mut writer = Writer { value, target, budget: &mut self.budget, notes: Vec::new() };
            self.map.modify(position, |resource| writer.write(resource))?;
            for warning in writer.notes {
                self.cx.push_warning(warning);
            }
            self.kinds.add(position, self.map.get(position));
        }
        Ok(())
    }
}

/// Puts a value into the fields of one resource.
struct Writer<'w> {
    value: &'w Value,
    target: &'w TargetSelector,
    budget: &'w mut Budget,
    notes: Vec<Warning>,
}

impl Writer<'_> {
    fn write(&mut self, resource: &mut Resource) -> Result<()> {
        for path in &self.target.paths {
            self.write_along(path, &mut resource.node).map_err(|error| {
                error.at(path.span).via(format!("in {}", resource.id().described()), resource.span())
            })?;
            resource.sync_aliases();
        }
        Ok(())
    }

    fn write_along(&mut self, path: &FieldPath, node: &mut Node) -> Result<()> {
        let (value, options) = (self.value, &self.target.options);
        let create = options.create.then(|| value.shape());
        let mut notes = Vec::new();
        let mut put = |field: &mut Node| value.put(field, path, self.budget);
        let mut walk = Walk { create, change: &mut put, notes: &mut notes };
        let mut found = structured::replace(node, path, &mut walk);
        if found == 0 {
            let mut put = |field: &mut Node| value.put_part(field, options, path, self.budget);
            let mut walk = Walk { create, change: &mut put, notes: &mut notes };
            found = walk.follow(node, &path.parts)?;
        } else if !options.delimiter.is_empty() {
            notes.push("the options are ignored for a field inside a string".to_owned());
        }
        let warning = |note| Warning::new(Code::Ignored, note).at(path.span);
        self.notes.extend(notes.into_iter().map(warning));
        if found > 0 { Ok(()) } else { Err(missing(node, path, self.target)) }
    }
}

fn missing(node: &Node, path: &FieldPath, target: &TargetSelector) -> Error {
    let error = Error::invalid(format!("unknown field `{}`", path.text));
    match meant_key(node, &path.names) {
        Some(meant) => error.hint(format!("did you mean `{meant}`?")),
        None if !target.options.create => error.hint("set `options: {create: true}` to have it made"),
        None => error,
    }
}

fn source_hint(node: &Node, parts: &[String]) -> Option<String> {
    if parts.iter().any(|part| part == "*") {
        return Some("a source is one field, so its path cannot contain `*`".to_owned());
    }
    Some(format!("did you mean `{}`?", meant_key(node, parts)?))
}

/// The key that was perhaps meant by the first part of a path that leads nowhere.
fn meant_key<'n>(node: &'n Node, parts: &[String]) -> Option<&'n str> {
    let at = (0..parts.len()).find(|at| dotted::lookup(node, &parts[..=*at]).is_none())?;
    let entries = dotted::lookup(node, &parts[..at])?.entries()?;
    closest(&parts[at], entries.iter().filter_map(|entry| entry.key.text()))
}

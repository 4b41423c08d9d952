//! Strategic merge patches, as kyaml merges them.
//!
//! In: a resource, a patch of the same form, and what is known of the types. Out: the resource, changed in place, and
//! warnings. A mapping is merged key by key, a list is replaced unless its type says by which keys its items are told
//! apart, a null deletes. Refused: a value of another form than the resource's, and directives that are none.
//!
//! If kyaml loses entries of a list or prints an unknown directive, the entries are kept and the directive is applied
//! as `kubectl patch` does, with a warning. If kyaml ignores a part of a patch, so does this, with a warning.

mod directive;
mod keyed;
mod plan;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

use yamltree::{Dialect, Entry, Kind, Node, Resolved, Style, Tag, resolve};

use crate::decode::described;
use crate::resource::{is_null, new_style};
use crate::schema::written::Written;
use crate::schema::{Schema, Type};
use crate::warning::{Code, Warning};

use diagnostic::{Error, Result};
use directive::{Directives, Strategy};

/// The result of a patch.
#[derive(Debug)]
pub(crate) struct Merged {
    /// True if the patch deletes the resource.
    pub(crate) is_deleted: bool,
    pub(crate) warnings: Vec<Warning>,
}

/// Changes a resource by a patch.
///
/// # Errors
/// Names the place in the patch that does not fit the resource.
pub(crate) fn apply(resource: &mut Node, patch: &Node, schema: &Schema) -> Result<Merged> {
    let written = Written::of(&[resource, patch], schema);
    let schema = written.as_ref().map_or(schema, |written| &written.schema);
    let mut merge = Merge { schema, written: written.as_ref(), warnings: Vec::new() };
    let known = merge.root_type(resource, patch);
    let fate = match (Strategy::of_mapping(patch)?, &mut resource.kind, &patch.kind) {
        (Some((Strategy::Delete, _)), ..) => Fate::Goes,
        (Some((Strategy::Replace, span)), ..) => {
            // The resource in kyaml's hands is another one than it returns.
            let sentence = "`$patch: replace` on a whole resource has no effect";
            merge.warn(Code::PatchDirective, sentence, span);
            Fate::Stays
        }
        (_, Kind::Mapping(fields), Kind::Mapping(changes)) => merge.fields(fields, changes, known)?,
        _ => return Err(wrong_form(resource, patch)),
    };
    Ok(Merged { is_deleted: fate == Fate::Goes, warnings: merge.warnings })
}

/// Tells whether a value is kept or its key taken out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Stays,
    Goes,
}

struct Merge<'s> {
    schema: &'s Schema,
    /// The types that comments hold.
    written: Option<&'s Written>,
    warnings: Vec<Warning>,
}

impl<'s> Merge<'s> {
    /// The type of a resource, or else the one that the patch's kind has in the resource's group and version.
    fn root_type(&self, resource: &Node, patch: &Node) -> Option<Type<'s>> {
        let api_version = resource.get("apiVersion").and_then(Node::text)?;
        let kind = |node: &Node| self.schema.resource(api_version, node.get("kind")?.text()?);
        kind(resource).or_else(|| kind(patch))
    }

    /// Changes a value by the patch's.
    fn value(&mut self, dest: &mut Node, patch: &Node, known: Option<Type<'s>>) -> Result<Fate> {
        if is_null(patch) {
            return Ok(Fate::Goes);
        }
        if is_null(dest) {
            let Some(mut added) = self.added(patch, known)? else { return Ok(Fate::Goes) };
            if added.is_scalar() {
                restyle(&mut added, dest.style);
            }
            *dest = added;
            return Ok(Fate::Stays);
        }
        let known = self.known(known, &[dest, patch]);
        match (&mut dest.kind, &patch.kind) {
            (Kind::Mapping(fields), Kind::Mapping(changes)) => match Strategy::of_mapping(patch)? {
                Some((Strategy::Delete, _)) => Ok(Fate::Goes),
                Some((Strategy::Replace, _)) => {
                    *fields = self.added_fields(changes, known)?;
                    Ok(Fate::Stays)
                }
                Some((Strategy::Merge, _)) | None => self.fields(fields, changes, known),
            },
            (Kind::Sequence(items), Kind::Sequence(changes)) => {
                let Some(keys) = known.and_then(Type::merge_keys) else {
                    return Ok(self.replaced(patch)?.map_or(Fate::Goes, |list| put(dest, list)));
                };
                let items_type = known.and_then(Type::items);
                if directive::is_overlooked(changes) {
                    let sentence =
                        "the directive is obeyed, which Kustomize overlooks behind that of an entry";
                    self.warn(Code::PatchDirective, sentence, patch.span);
                }
                match Strategy::of_list(changes)? {
                    Some(Strategy::Delete) => Ok(Fate::Goes),
                    Some(Strategy::Replace) => {
                        *items = self.added_items(changes, keys, items_type)?;
                        Ok(Fate::Stays)
                    }
                    Some(Strategy::Merge) | None => {
                        self.items(items, changes, keys, items_type)?;
                        Ok(Fate::Stays)
                    }
                }
            }
            (Kind::Scalar(_), Kind::Scalar(_)) => {
                let mut scalar = patch.clone();
                restyle(&mut scalar, dest.style);
                dest.overwrite(scalar);
                Ok(Fate::Stays)
            }
            _ => Err(wrong_form(dest, patch)),
        }
    }

    /// Changes the fields of a mapping.
    fn fields(
        &mut self,
        fields: &mut Vec<Entry>,
        changes: &[Entry],
        known: Option<Type<'s>>,
    ) -> Result<Fate> {
        let directives = Directives::read(changes)?;
        let before = self.prepare(fields, &directives, known);
        let places = Places::of(changes);
        let mut met = vec![false; changes.len()];
        let mut fault = None;
        fields.retain_mut(|field| {
            let name = field.key.text().unwrap_or_default();
            let inner = known.and_then(|known| known.field(name));
            let Some(place) = places.get(name) else { return self.unmentioned(&mut field.value, inner) };
            met[place] = true;
            let fate = if fault.is_some() {
                Ok(Fate::Stays)
            } else {
                self.value(&mut field.value, &changes[place].value, inner)
            };
            fate.map_err(|error| fault = Some(error)) != Ok(Fate::Goes)
        });
        if let Some(fault) = fault {
            return Err(fault);
        }
        let new =
            changes.iter().zip(met).filter(|(change, met)| !met && !directive::is_directive(&change.key));
        for (change, _) in new {
            fields.extend(self.added_field(change, known)?);
        }
        self.reorder(fields, &directives, &before, known);
        Ok(Fate::Stays)
    }

    /// Returns what becomes of a value that the patch does not mention: kyaml takes out a null that is written as nothing, and
    /// folds entries of lists that have the same keys. Returns whether it stays.
    fn unmentioned(&mut self, value: &mut Node, known: Option<Type<'s>>) -> bool {
        if is_null(value) {
            return value.text() != Some("");
        }
        let known = self.known(known, &[value]);
        match &mut value.kind {
            Kind::Mapping(fields) => fields.retain_mut(|field| {
                let inner = field.key.text().and_then(|name| known?.field(name));
                self.unmentioned(&mut field.value, inner)
            }),
            Kind::Sequence(items) => {
                if let Some(keys) = known.and_then(Type::merge_keys) {
                    self.unmentioned_items(items, keys, known.and_then(Type::items));
                }
            }
            Kind::Scalar(_) | Kind::Alias(_) => settle(value),
        }
        true
    }

    /// Returns what a patch adds where the resource has nothing: its value without nulls and directives.
    fn added(&mut self, patch: &Node, known: Option<Type<'s>>) -> Result<Option<Node>> {
        if is_null(patch) {
            return Ok(None);
        }
        let known = self.known(known, &[patch]);
        let kind = match &patch.kind {
            Kind::Mapping(fields) => match Strategy::of_mapping(patch)? {
                Some((Strategy::Delete, _)) => return Ok(None),
                _ => Kind::Mapping(self.added_fields(fields, known)?),
            },
            Kind::Sequence(items) => {
                let Some(keys) = known.and_then(Type::merge_keys) else { return self.replaced(patch) };
                let strategy = Strategy::of_list(items)?;
                if let Some(lone) = items.iter().find(|item| directive::is_lone(item)) {
                    let sentence = "the resource has no such list; Kustomize would print the directive in it";
                    self.warn(Code::PatchDirective, sentence, lone.span);
                }
                match strategy {
                    Some(Strategy::Delete) => return Ok(None),
                    _ => Kind::Sequence(self.added_items(items, keys, known.and_then(Type::items))?),
                }
            }
            Kind::Scalar(_) | Kind::Alias(_) => return Ok(Some(patch.clone())),
        };
        let mut added = Node::null().at(patch.span);
        (added.kind, added.tag, added.style) = (kind, patch.tag, patch.style);
        Ok(Some(added))
    }

    fn added_fields(&mut self, changes: &[Entry], known: Option<Type<'s>>) -> Result<Vec<Entry>> {
        let directives = Directives::read(changes)?;
        let mut fields = Vec::with_capacity(changes.len());
        for change in changes.iter().filter(|change| !directive::is_directive(&change.key)) {
            fields.extend(self.added_field(change, known)?);
        }
        let before = self.prepare(&mut Vec::new(), &directives, known);
        self.reorder(&mut fields, &directives, &before, known);
        Ok(fields)
    }

    fn added_field(&mut self, change: &Entry, known: Option<Type<'s>>) -> Result<Option<Entry>> {
        let inner = change.key.text().and_then(|name| known?.field(name));
        let Some(mut value) = self.added(&change.value, inner)? else { return Ok(None) };
        settle(&mut value);
        Ok(Some(Entry { key: change.key.clone(), value }))
    }

    /// The list of a patch where lists are replaced. What its items hold is data, whatever its name; only an item that
    /// is nothing but a directive is one.
    fn replaced(&mut self, patch: &Node) -> Result<Option<Node>> {
        let mut list = patch.clone();
        let Some(items) = list.items_mut() else { return Ok(Some(list)) };
        let Some(at) = items.iter().position(directive::is_lone) else { return Ok(Some(list)) };
        let sentence = "the list is replaced by the patch's anyway; the directive is not printed";
        self.warn(Code::PatchDirective, sentence, items[at].span);
        let strategy = Strategy::of_list(items)?;
        items.retain(|item| !directive::is_lone(item));
        Ok((strategy != Some(Strategy::Delete)).then_some(list))
    }

    /// The type of a value: that which a comment gives it, that of its field, or that which it names itself.
    fn known(&self, known: Option<Type<'s>>, values: &[&Node]) -> Option<Type<'s>> {
        let own = |value: &&Node| {
            let text = |key| value.get(key).filter(|node| !is_null(node)).and_then(Node::text);
            self.schema.resource(text("apiVersion")?, text("kind")?)
        };
        let written = self.written.and_then(|written| values.iter().find_map(|value| written.type_of(value)));
        written.or(known).or_else(|| values.iter().find_map(own))
    }

    fn warn(&mut self, code: Code, sentence: impl Into<String>, span: yamltree::Span) {
        self.warnings.push(Warning::new(code, sentence).at(span));
    }
}

/// Puts a node in the place of another.
fn put(dest: &mut Node, node: Node) -> Fate {
    *dest = node;
    Fate::Stays
}

/// The positions of a patch's keys in it.
enum Places<'p> {
    Few(&'p [Entry]),
    Many(HashMap<&'p str, usize>),
}

impl<'p> Places<'p> {
    /// Up to so many keys are compared in turn.
    const FEW: usize = 8;

    fn of(changes: &'p [Entry]) -> Self {
        if changes.len() <= Self::FEW {
            return Self::Few(changes);
        }
        let keys = changes.iter().map(|change| change.key.text().unwrap_or_default());
        Self::Many(keys.enumerate().map(|(place, key)| (key, place)).collect())
    }

    fn get(&self, key: &str) -> Option<usize> {
        match self {
            Self::Few(changes) => changes.iter().position(|change| change.key.text() == Some(key)),
            Self::Many(places) => places.get(key).copied(),
        }
    }
}

/// Gives a scalar the style of the one it replaces, as kyaml does: so a plain number becomes a string where the
/// resource has quotes, while what was quoted in the patch stays a string without.
fn restyle(scalar: &mut Node, style: Style) {
    let text = scalar.text().unwrap_or_default();
    match scalar.tag {
        Tag::Implicit if scalar.style != Style::Plain && style == Style::Plain => scalar.tag = Tag::Str,
        // A tag that says no more than the text does is not written.
        Tag::Int | Tag::Float | Tag::Bool | Tag::Timestamp
            if tag_of(resolve(text, Dialect::V3)) == scalar.tag =>
        {
            scalar.tag = Tag::Implicit;
        }
        _ => {}
    }
    scalar.style = style;
}

fn tag_of(resolved: Resolved) -> Tag {
    match resolved {
        Resolved::Null => Tag::Null,
        Resolved::Bool(_) => Tag::Bool,
        Resolved::Int(_) | Resolved::Uint(_) => Tag::Int,
        Resolved::Float(_) => Tag::Float,
        Resolved::Timestamp(_) => Tag::Timestamp,
        Resolved::Binary => Tag::Binary,
        Resolved::Str => Tag::Str,
    }
}

/// Quotes a string that YAML 1.1 would read as something else, as kyaml does with every field that it sets: what
/// replaces it later takes over its quotes. A text that is a string by its tag alone keeps that.
fn settle(value: &mut Node) {
    let Some(text) = value.text() else { return };
    let is_string = value.tag == Tag::Implicit && value.style == Style::Plain;
    if is_string && !text.is_empty() && resolve(text, Dialect::V3) == Resolved::Str {
        value.style = new_style(text);
    }
}

fn wrong_form(dest: &Node, patch: &Node) -> Error {
    let (found, wanted) = (described(patch), described(dest));
    Error::invalid(format!("the patch has {found} here, but the resource has {wanted}"))
        .at(patch.span)
        .via("the resource has it here", dest.span)
        .hint("a null deletes the resource's value, and a second patch can set another one")
}

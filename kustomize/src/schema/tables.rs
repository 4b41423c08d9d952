//! Types as flat tables: found by binary search, written down by `build.rs` or filled from an OpenAPI document.

use std::borrow::Cow;

/// A part of a table or of the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) start: u32,
    pub(super) len: u32,
}

/// Stands for no shape.
pub(super) const NONE: u32 = u32::MAX;

/// The shape of a value: an object, a map, a list. A scalar has none.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    /// Its fields, sorted by name.
    pub(super) fields: Range,
    /// The shape behind every other key.
    pub(super) each: u32,
    /// The shape of a list's items.
    pub(super) items: u32,
    /// The merge keys, if a patch adds to the list instead of replacing it; none for a list of scalars.
    pub(super) merge: Option<Range>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Field {
    pub(super) name: Range,
    pub(super) shape: u32,
}

/// A kind of resource.
#[derive(Clone, Copy, Debug)]
pub(super) struct Resource {
    pub(super) kind: Range,
    pub(super) api_version: Range,
    pub(super) shape: u32,
    pub(super) scope: Scope,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    Unknown,
    Namespaced,
    Cluster,
}

/// All types. The shape of a named type is its place among `types`.
#[derive(Clone, Debug, Default)]
pub(super) struct Tables {
    pub(super) text: Cow<'static, str>,
    pub(super) types: Cow<'static, [Range]>,
    pub(super) shapes: Cow<'static, [Shape]>,
    pub(super) fields: Cow<'static, [Field]>,
    pub(super) keys: Cow<'static, [Range]>,
    /// Sorted by kind, then by apiVersion.
    pub(super) resources: Cow<'static, [Resource]>,
}

mod kubernetes {
    use super::{Field, Range, Resource, Scope, Shape, Tables};
    use std::borrow::Cow;

    include!(concat!(env!("OUT_DIR"), "/kubernetes.rs"));

    pub(in super::super) const TABLES: Tables = Tables {
        text: Cow::Borrowed(TEXT),
        types: Cow::Borrowed(TYPES),
        shapes: Cow::Borrowed(SHAPES),
        fields: Cow::Borrowed(FIELDS),
        keys: Cow::Borrowed(KEYS),
        resources: Cow::Borrowed(RESOURCES),
    };
}

pub(super) use kubernetes::TABLES as KUBERNETES;

impl Shape {
    /// Known, but nothing of its inside.
    pub(super) const EMPTY: Shape =
        Shape { fields: Range { start: 0, len: 0 }, each: NONE, items: NONE, merge: None };
}

impl Tables {
    pub(super) fn text(&self, range: Range) -> &str {
        let start = range.start as usize;
        &self.text[start..start + range.len as usize]
    }

    pub(super) fn resource(&self, api_version: &str, kind: &str) -> Option<&Resource> {
        let key = (kind, api_version);
        let at = self
            .resources
            .binary_search_by(|known| (self.text(known.kind), self.text(known.api_version)).cmp(&key))
            .ok()?;
        Some(&self.resources[at])
    }

    /// The shape of a named type.
    pub(super) fn named(&self, name: &str) -> Option<u32> {
        let at = self.types.binary_search_by(|known| self.text(*known).cmp(name)).ok()?;
        u32::try_from(at).ok()
    }

    pub(super) fn shape(&self, shape: u32) -> Shape {
        self.shapes.get(shape as usize).copied().unwrap_or(Shape::EMPTY)
    }

    pub(super) fn field(&self, shape: u32, name: &str) -> Option<u32> {
        let shape = self.shape(shape);
        let fields = slice(&self.fields, shape.fields);
        match fields.binary_search_by(|field| self.text(field.name).cmp(name)) {
            Ok(at) => Some(fields[at].shape),
            Err(_) => Some(shape.each),
        }
        .filter(|found| *found != NONE)
    }

    pub(super) fn keys(&self, range: Range) -> impl ExactSizeIterator<Item = &str> + Clone {
        slice(&self.keys, range).iter().map(|key| self.text(*key))
    }
}

fn slice<T>(table: &[T], range: Range) -> &[T] {
    &table[range.start as usize..range.start as usize + range.len as usize]
}

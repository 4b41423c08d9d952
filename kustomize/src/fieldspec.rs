//! Field specifications: which fields of which kinds a transformer changes, and the walk to them.
//!
//! A path leads through mappings; a list on the way stands for each of its items. What is missing ends the walk
//! without a word, or is made. Refused are scalars on the way and parts that are no field names.

use std::sync::{Arc, OnceLock};

use compact_str::CompactString;
use diagnostic::{Error, Result};
use yamltree::{Entry, Kind, Node, Span, Tag};

use crate::context::Context;
use crate::decode::{self, Object, Reading};
use crate::resid::Gvk;
use crate::resource::{Resource, is_null};

/// A field of the resources of a kind: `spec/template/metadata/labels` of every Deployment.
#[derive(Clone, Debug)]
pub(crate) struct FieldSpec {
    /// The kinds concerned; an empty part means any.
    pub(crate) gvk: Gvk,
    pub(crate) path: FieldPath,
    /// True if the path is made where it is missing.
    pub(crate) create: bool,
    /// The span of its configuration; [`Span::NONE`] for a built-in one.
    pub(crate) span: Span,
}

/// A path of field names, split at its slashes when it is first walked: most built-in paths never are.
#[derive(Clone, Debug)]
pub(crate) struct FieldPath {
    text: CompactString,
    parts: OnceLock<Arc<[Part]>>,
}

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    name: CompactString,
    kind: PartKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PartKind {
    /// The field of that name.
    Field,
    /// `name[]`: the field of that name, which is a list, so it is never made.
    List,
    /// Only blanks, which stay where they are.
    Blank,
    /// Nothing between two slashes.
    Empty,
    /// An index, `-`, `*` or `[key=value]`: what mappings do not have.
    Index,
}

/// The value that a walk creates for a missing field, if the field specification allows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    /// Nothing: the walk changes what is there.
    Stays,
    /// A scalar; one that is null gets this tag.
    Scalar(Tag),
    /// A mapping.
    Mapping,
}

impl FieldSpec {
    /// Reads a field specification of a kustomization, a configuration file or a plugin.
    pub(crate) fn read(node: &Node, reading: Reading, cx: &Context<'_>) -> Result<Self> {
        let object = Object::read(node, "a field specification", reading)?;
        let spec = Self {
            gvk: Gvk::read(&object)?,
            path: FieldPath::new(object.text("path")?.into()),
            create: object.flag("create")?,
            span: node.span,
        };
        object.close(cx)?;
        Ok(spec)
    }

    /// Changes every field that the path names in a resource, if the resource is of the kind.
    pub(crate) fn apply(
        &self,
        resource: &mut Resource,
        missing: Missing,
        change: impl FnMut(&mut Node) -> Result<()>,
    ) -> Result<()> {
        if !resource.gvk().is_selected(&self.gvk) {
            return Ok(());
        }
        if self.path.leads_to_annotations() {
            resource.hold_annotations();
        }
        let missing = if self.create { missing } else { Missing::Stays };
        self.path.visit(&mut resource.node, missing, change).map_err(|error| self.explain(error, resource))
    }

    fn explain(&self, error: Error, resource: &Resource) -> Error {
        let error = error.prefix(format_args!("the field `{}` of {}", self.path, resource.id().described()));
        let error = error.at(resource.span());
        if self.span.is_some() { error.via("by this field specification", self.span) } else { error }
    }
}

impl FieldPath {
    pub(crate) fn new(text: CompactString) -> Self {
        Self { text, parts: OnceLock::new() }
    }

    /// The path as written.
    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// The steps of the path.
    pub(crate) fn parts(&self) -> &[Part] {
        self.parts.get_or_init(|| split(&self.text).iter().map(|part| Part::new(part)).collect())
    }

    fn leads_to_annotations(&self) -> bool {
        matches!(self.parts(), [first, second, ..] if first.name == "metadata" && second.name == "annotations")
    }

    /// Changes every node that the path names below a node.
    pub(crate) fn visit(
        &self,
        node: &mut Node,
        missing: Missing,
        mut change: impl FnMut(&mut Node) -> Result<()>,
    ) -> Result<()> {
        walk(node, self.parts(), missing, &mut change)
    }
}

impl PartialEq for FieldPath {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl std::fmt::Display for FieldPath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

/// Splits a path at its slashes: one at the start does not count, `\/` belongs to a name.
fn split(path: &str) -> Vec<CompactString> {
    let path = path.strip_prefix('/').unwrap_or(path);
    let mut parts: Vec<CompactString> = Vec::new();
    for piece in path.split('/') {
        match parts.last_mut() {
            Some(last) if last.ends_with('\\') => {
                last.pop();
                last.push('/');
                last.push_str(piece);
            }
            _ => parts.push(piece.into()),
        }
    }
    parts
}

impl Part {
    fn new(written: &str) -> Self {
        let (name, is_list) = match written.strip_suffix("[]") {
            Some(name) => (name, true),
            None => (written, false),
        };
        let trimmed = name.trim();
        let is_index = trimmed.parse::<i64>().is_ok()
            || matches!(trimmed, "-" | "*")
            || (trimmed.starts_with('[') && trimmed.ends_with(']'));
        let kind = match () {
            () if name.is_empty() => PartKind::Empty,
            () if trimmed.is_empty() => PartKind::Blank,
            () if is_index => PartKind::Index,
            () if is_list => PartKind::List,
            () => PartKind::Field,
        };
        Self { name: trimmed.into(), kind }
    }

    /// Takes in a step to the same field, which may say that it is a list; whether it is to the same.
    pub(crate) fn absorb(&mut self, other: &Part) -> bool {
        let same = self.is_same_field(other);
        if same && other.kind == PartKind::List {
            self.kind = PartKind::List;
        }
        same
    }

    /// Returns true if two steps lead to the same field, whatever they say of it.
    pub(crate) fn is_same_field(&self, other: &Part) -> bool {
        let kind = |part: &Part| if part.kind == PartKind::List { PartKind::Field } else { part.kind };
        self.name == other.name && kind(self) == kind(other)
    }

    /// Returns the child behind this step of a node that is neither a list nor null; `None` if it is missing and not
    /// created.
    ///
    /// # Errors
    /// If the node is a scalar, and when the step is no field's name.
    pub(crate) fn enter<'n>(
        &self,
        node: &'n mut Node,
        is_last: bool,
        missing: Missing,
    ) -> Result<Option<&'n mut Node>> {
        let span = node.span;
        match (&node.kind, self.kind) {
            (Kind::Mapping(_), PartKind::Field | PartKind::List) => {
                Ok(node.entries_mut().and_then(|entries| field(entries, self, is_last, missing)))
            }
            (Kind::Mapping(_), PartKind::Blank) => Ok(Some(node)),
            (Kind::Mapping(_), PartKind::Empty) => {
                Err(Error::invalid("the path has an empty field name").at(span))
            }
            (Kind::Mapping(_), PartKind::Index) => {
                let name = &self.name;
                let sentence = format!("invalid field name `{name}`: a list in a path means all its items");
                Err(Error::invalid(sentence).at(span))
            }
            _ => {
                let (name, found) = (&self.name, decode::described(node));
                Err(Error::invalid(format!("expected a mapping or a list to hold `{name}`, not {found}"))
                    .at(span))
            }
        }
    }
}

/// Follows a path from a node and changes what is at its end.
fn walk<F>(node: &mut Node, parts: &[Part], missing: Missing, change: &mut F) -> Result<()>
where
    F: FnMut(&mut Node) -> Result<()>,
{
    let Some((part, rest)) = parts.split_first() else { return change(node) };
    if is_null(node) {
        return Ok(());
    }
    if let Kind::Sequence(items) = &mut node.kind {
        return items.iter_mut().try_for_each(|item| walk(item, parts, missing, change));
    }
    match part.enter(node, rest.is_empty(), missing)? {
        Some(next) => walk(next, rest, missing, change),
        None => Ok(()),
    }
}

/// The value of a mapping's field, made where it is missing and may be. A null becomes what the field should hold.
fn field<'n>(
    entries: &'n mut Vec<Entry>,
    part: &Part,
    is_last: bool,
    missing: Missing,
) -> Option<&'n mut Node> {
    let is_list = part.kind == PartKind::List;
    let position = match entries.iter().position(|entry| entry.key.text() == Some(part.name.as_str())) {
        Some(position) => position,
        None if is_list || missing == Missing::Stays => return None,
        None => {
            // The key is written as it is, not as a string: `1` and `true` are read back as such.
            entries.push(Entry { key: Node::plain(&part.name), value: made(is_last, missing) });
            entries.len() - 1
        }
    };
    let field = &mut entries[position].value;
    if is_null(field) {
        match missing {
            _ if is_list => *field = Node::sequence(Vec::new()),
            Missing::Stays => {}
            Missing::Scalar(tag) if is_last => field.tag = tag,
            Missing::Scalar(_) | Missing::Mapping => *field = Node::mapping(Vec::new()),
        }
    }
    Some(field)
}

/// Returns what a walk makes where there is nothing.
fn made(is_last: bool, missing: Missing) -> Node {
    match missing {
        Missing::Scalar(_) if is_last => Node::plain(""),
        _ => Node::mapping(Vec::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walked(yaml: &str, path: &str, missing: Missing) -> Result<(Node, usize)> {
        let mut node =
            yamltree::parse_first(yaml, 0, &yamltree::ParseOptions::default())?.expect("a document").root;
        let mut count = 0;
        FieldPath::new(path.into()).visit(&mut node, missing, |_| {
            count += 1;
            Ok(())
        })?;
        Ok((node, count))
    }

    fn count(yaml: &str, path: &str) -> usize {
        walked(yaml, path, Missing::Stays).expect("a good path").1
    }

    fn made(yaml: &str, path: &str, missing: Missing) -> String {
        let (node, _) = walked(yaml, path, missing).expect("a good path");
        let mut text = String::new();
        yamltree::to_sigs_yaml(&node, &mut text).expect("plain keys");
        text
    }

    #[test]
    fn paths_split_at_slashes_that_are_not_escaped() {
        assert_eq!(split("a/b/c"), ["a", "b", "c"]);
        assert_eq!(split("/a/b"), ["a", "b"]);
        assert_eq!(
            split(r"metadata/annotations/example.com\/x"),
            ["metadata", "annotations", "example.com/x"]
        );
        assert_eq!(split(""), [""]);
        assert_eq!(split("a//b/"), ["a", "", "b", ""]);
    }

    #[test]
    fn a_list_on_the_way_stands_for_its_items_with_or_without_brackets() {
        let yaml = "spec: {containers: [{image: a}, {image: b}, {name: c}, null]}";
        assert_eq!(count(yaml, "spec/containers/image"), 2);
        assert_eq!(count(yaml, "spec/containers[]/image"), 2);
        assert_eq!(count(yaml, "spec/initContainers/image"), 0);
    }

    #[test]
    fn what_is_missing_is_made_but_no_list() {
        assert_eq!(made("a: 1", "b/c", Missing::Mapping), "a: 1\nb:\n  c: {}\n");
        assert_eq!(made("a: 1", "b[]/c", Missing::Mapping), "a: 1\n");
        assert_eq!(made("a: 1", "b/c[]", Missing::Mapping), "a: 1\nb: {}\n");
        assert_eq!(made("a: 1", "b/c", Missing::Stays), "a: 1\n");
    }

    /// Kustomize turns `containers: null` into `[]` when an image is set, since the path says that it is a list.
    #[test]
    fn nulls_become_what_the_path_says() {
        assert_eq!(
            made("spec: {containers: null}", "spec/containers[]/image", Missing::Stays),
            "spec:\n  containers: []\n"
        );
        assert_eq!(made("a: null", "a/b", Missing::Mapping), "a:\n  b: {}\n");
        assert_eq!(made("a: null", "a/b", Missing::Stays), "a: null\n");
        assert_eq!(made("a: null", "a", Missing::Scalar(Tag::Str)), "a: \"null\"\n");
    }

    /// `fieldName: 1: wrong node kind: expected SequenceNode but got MappingNode`
    #[test]
    fn parts_that_are_no_field_names_are_refused_when_they_are_reached() {
        for path in ["spec/1", "spec/-", "spec/*", "spec/[a=b]", "spec/", "spec//x", ""] {
            assert!(walked("spec: {x: 1}", path, Missing::Stays).is_err(), "{path}");
        }
        assert_eq!(count("{}", "spec/1"), 0);
        assert!(walked("spec: text", "spec/x", Missing::Stays).is_err());
    }
}

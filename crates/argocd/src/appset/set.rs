//! An ApplicationSet as it is written (pkg/apis/application/v1alpha1/applicationset_types.go).
//!
//! In: an object. Out: the set, with warnings about fields that Argo CD passes over. Refused, with the place: values of
//! another type than the field's, and a set without a name.

use std::cell::RefCell;

use diagnostic::{Error, Result};
use yamltree::Span;

use super::Places;
use super::application::TEMPLATE;
use super::generators::Depth;
use super::schema::{Input, Remarks, Shape, decode, optional, pointer, required};
use super::tree::{Entries, Kind, Tree};
use crate::objects::Object;
use crate::warning::{Code, Warning};

const GROUP: &str = "argoproj.io";
const KIND: &str = "ApplicationSet";

const SET: Shape = Shape::Object(&[
    optional("apiVersion", Shape::Text),
    optional("kind", Shape::Text),
    required("metadata", METADATA),
    required("spec", SPEC),
    pointer("status", Shape::Any),
]);

const METADATA: Shape = Shape::Object(&[
    optional("name", Shape::Text),
    optional("namespace", Shape::Text),
    optional("annotations", Shape::Any),
    optional("creationTimestamp", Shape::Any),
    optional("finalizers", Shape::Any),
    optional("generation", Shape::Any),
    optional("labels", Shape::Any),
    optional("managedFields", Shape::Any),
    optional("ownerReferences", Shape::Any),
    optional("resourceVersion", Shape::Any),
    optional("uid", Shape::Any),
]);

// What decides how Applications follow one another and are updated has no part in what they are.
const SPEC: Shape = Shape::Object(&[
    optional("goTemplate", Shape::Bool),
    required("generators", Shape::List(&Shape::Generator(Depth::Top))),
    required("template", TEMPLATE),
    pointer("syncPolicy", SYNC_POLICY),
    pointer("strategy", Shape::Any),
    pointer("preservedFields", Shape::Any),
    optional("goTemplateOptions", Shape::TEXTS),
    optional("applyNestedSelectors", Shape::Bool),
    optional("ignoreApplicationDifferences", Shape::Any),
    pointer("templatePatch", Shape::Text),
]);

const SYNC_POLICY: Shape = Shape::Object(&[
    optional("preserveResourcesOnDeletion", Shape::Bool),
    pointer("applicationsSync", Shape::Text),
]);

/// A set whose values have their types.
pub(crate) struct Set {
    tree: Tree,
    spec: Tree,
    template: Tree,
}

/// Returns true if an object is an ApplicationSet.
#[must_use]
pub fn is_application_set(object: &Object) -> bool {
    object.group() == GROUP && object.kind() == KIND
}

impl Set {
    pub(crate) fn read(
        object: &Object,
        places: &Places<'_>,
        warnings: &RefCell<Vec<Warning>>,
    ) -> Result<Self> {
        let origin = |span: Span| {
            let source = object.sources().get(span.source as usize)?;
            let text = source.text.get(span.start as usize..span.end as usize)?;
            Some(yamltree::resolve(text, yamltree::Dialect::V2))
        };
        let tree = Tree::of_node_in(object.node(), &origin)
            .map_err(|error| Error::invalid(error.message()).at(places(error.span())))?;
        let mut remarks = Remarks::default();
        let decoded = decode(tree, SET, Input::Yaml, &mut remarks);
        let tree = decoded.map_err(|mismatch| Error::invalid(mismatch.message).at(places(mismatch.span)))?;
        if tree.get("metadata").is_none_or(|metadata| metadata.text_of("name").is_empty()) {
            let span = tree.get("metadata").map_or(tree.span, |metadata| metadata.key);
            return Err(Error::invalid("an ApplicationSet has a name, `metadata.name`").at(places(span)));
        }
        warnings.borrow_mut().extend(remarked(remarks, places));
        let spec = tree.get("spec").cloned().unwrap_or_else(empty);
        let template = spec.get("template").cloned().unwrap_or_else(|| Tree { span: spec.span, ..empty() });
        Ok(Self { tree, spec, template })
    }

    pub(crate) fn namespace(&self) -> Option<&str> {
        let namespace = self.tree.get("metadata")?.text_of("namespace");
        Some(namespace).filter(|namespace| !namespace.is_empty())
    }

    pub(crate) fn is_go_template(&self) -> bool {
        self.spec.is_set("goTemplate")
    }

    pub(crate) fn template_options(&self) -> &[Tree] {
        self.spec.items_of("goTemplateOptions")
    }

    pub(crate) fn generators(&self) -> &[Tree] {
        self.spec.items_of("generators")
    }

    pub(crate) fn template(&self) -> &Tree {
        &self.template
    }

    pub(crate) fn patch(&self) -> Option<&Tree> {
        self.spec.get("templatePatch")
    }

    pub(crate) fn preserves_resources(&self) -> bool {
        self.spec.get("syncPolicy").is_some_and(|policy| policy.is_set("preserveResourcesOnDeletion"))
    }

    /// The project of the template, which may be a template itself.
    pub(crate) fn project(&self) -> &str {
        self.template.get("spec").map_or("", |spec| spec.text_of("project"))
    }

    pub(crate) fn project_span(&self) -> Span {
        let spec = self.template.get("spec");
        let project = spec.and_then(|spec| spec.get("project")).or(spec);
        project.map_or(self.template.span, |tree| tree.span)
    }
}

/// Returns where the name of a template's Applications is.
pub(crate) fn name_span(template: &Tree) -> Span {
    let name = template.get("metadata").and_then(|metadata| metadata.get("name"));
    name.map_or(template.span, |name| name.span)
}

fn empty() -> Tree {
    Tree { kind: Kind::Map(Entries::new()), ..Tree::default() }
}

fn remarked(remarks: Remarks, places: &Places<'_>) -> Vec<Warning> {
    let unknown = remarks.unknown.into_iter().map(|(field, span)| {
        Warning::new(Code::UnknownField, format!("Argo CD knows no field `{field}` here, and passes over it"))
            .at(places(span))
    });
    let untyped = remarks.untyped.into_iter().map(|(field, span)| {
        Warning::new(Code::UntypedText, format!("`{field}` must be a string: the API server rejects this"))
            .hint("quote it")
            .at(places(span))
    });
    unknown.chain(untyped).collect()
}

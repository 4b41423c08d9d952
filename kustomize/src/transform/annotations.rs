//! `commonAnnotations`, and the plugin `AnnotationsTransformer`: sets annotations in metadata and templates.

use diagnostic::Result;
use yamltree::Node;

use crate::config::FieldSpecs;
use crate::decode::{self, Object};
use crate::target::Target;

use super::entries::EntrySetter;
use super::{Builtin, Transformer};

pub(crate) const BUILTIN: Builtin = Builtin { kind: "AnnotationsTransformer", from_fields, from_config };

fn from_fields(target: &Target<'_, '_>) -> Result<Vec<Box<dyn Transformer>>> {
    let Some(node) = target.kustomization.field("commonAnnotations") else { return Ok(Vec::new()) };
    let annotations = decode::string_map(node, "commonAnnotations")?;
    if annotations.is_empty() {
        return Ok(Vec::new());
    }
    let specs = target.config.common_annotations.clone();
    Ok(vec![Box::new(EntrySetter { entries: annotations, specs, span: node.span })])
}

fn from_config(node: &Node, target: &Target<'_, '_>) -> Result<Box<dyn Transformer>> {
    let object = Object::plugin(node, "an AnnotationsTransformer")?;
    let transformer = EntrySetter {
        entries: object.string_map("annotations")?,
        span: object.span(),
        specs: FieldSpecs::read(&object, "fieldSpecs", target.cx)?,
    };
    object.close(target.cx)?;
    Ok(Box::new(transformer))
}

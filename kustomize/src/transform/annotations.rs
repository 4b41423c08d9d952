//! `commonAnnotations`, and the plugin `AnnotationsTransformer`: sets annotations in metadata and templates.

use yamltree::Node;

use crate::config::FieldSpecs;
use crate::context::Context;
use crate::decode::{self, Object};
use crate::error::Result;
use crate::resmap::ResMap;
use crate::target::Target;

use super::entries::set_entries;
use super::{Builtin, Transformer};

pub(crate) const BUILTIN: Builtin = Builtin { kind: "AnnotationsTransformer", from_fields, from_config };

#[derive(Debug)]
struct AnnotationsTransformer {
    annotations: Vec<(String, String)>,
    specs: FieldSpecs,
}

fn from_fields(target: &Target<'_, '_>) -> Result<Vec<Box<dyn Transformer>>> {
    let Some(node) = target.kustomization.field("commonAnnotations") else { return Ok(Vec::new()) };
    let annotations = decode::string_map(node, "commonAnnotations")?;
    if annotations.is_empty() {
        return Ok(Vec::new());
    }
    let specs = target.config.common_annotations.clone();
    Ok(vec![Box::new(AnnotationsTransformer { annotations, specs })])
}

fn from_config(node: &Node, target: &Target<'_, '_>) -> Result<Box<dyn Transformer>> {
    let object = Object::plugin(node, "an AnnotationsTransformer")?;
    let transformer = AnnotationsTransformer {
        annotations: object.string_map("annotations")?,
        specs: FieldSpecs::read(&object, "fieldSpecs", target.cx)?,
    };
    object.close(target.cx)?;
    Ok(Box::new(transformer))
}

impl Transformer for AnnotationsTransformer {
    fn transform(&self, map: &mut ResMap, _: &Context<'_>) -> Result<()> {
        set_entries(map, &self.annotations, &self.specs)
    }
}

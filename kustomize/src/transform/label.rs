//! `labels` and the deprecated `commonLabels`, and the plugin `LabelTransformer`: sets labels in metadata, templates
//! and selectors.

use yamltree::{Node, Span};

use crate::config::FieldSpecs;
use crate::decode::{self, Object};
use crate::error::Result;
use crate::fieldspec::{FieldPath, FieldSpec};
use crate::resid::Gvk;
use crate::target::Target;

use super::entries::EntrySetter;
use super::{Builtin, Transformer};

pub(crate) const BUILTIN: Builtin = Builtin { kind: "LabelTransformer", from_fields, from_config };

fn from_fields(target: &Target<'_, '_>) -> Result<Vec<Box<dyn Transformer>>> {
    let mut transformers: Vec<Box<dyn Transformer>> = Vec::new();
    for node in target.kustomization.items("labels")? {
        transformers.push(Box::new(entry(node, target)?));
    }
    let common = target.kustomization.field("commonLabels");
    let labels = common.map_or(Ok(Vec::new()), |node| decode::string_map(node, "commonLabels"))?;
    // One for `commonLabels` runs beside those for `labels` even if it sets nothing, as its trace in the annotations
    // of `buildMetadata` shows.
    if !transformers.is_empty() || !labels.is_empty() {
        transformers.push(Box::new(EntrySetter {
            entries: labels,
            specs: target.config.common_labels.clone(),
            span: common.map_or(Span::NONE, |node| node.span),
        }));
    }
    Ok(transformers)
}

/// Reads an entry of `labels`. Its own fields come first, so that they decide where they overlap with built-in ones.
fn entry(node: &Node, target: &Target<'_, '_>) -> Result<EntrySetter> {
    let object = Object::new(node, "an entry of labels")?;
    let labels = object.string_map("pairs")?;
    let mut specs = FieldSpecs::read(&object, "fields", target.cx)?;
    let include_selectors = object.flag("includeSelectors")?;
    let include_templates = object.flag("includeTemplates")?;
    object.close(target.cx)?;
    let mut add = |list: &FieldSpecs| specs.merge(list).map_err(|error| error.at(node.span));
    add(&target.config.labels)?;
    if include_selectors {
        add(&target.config.common_labels)?;
    } else {
        if include_templates {
            add(&target.config.template_labels)?;
        }
        let metadata = FieldSpec {
            gvk: Gvk::default(),
            path: FieldPath::new("metadata/labels".into()),
            create: true,
            span: Span::NONE,
        };
        add(&FieldSpecs::new(vec![metadata]))?;
    }
    Ok(EntrySetter { entries: labels, specs, span: node.span })
}

fn from_config(node: &Node, target: &Target<'_, '_>) -> Result<Box<dyn Transformer>> {
    let object = Object::plugin(node, "a LabelTransformer")?;
    let transformer = EntrySetter {
        entries: object.string_map("labels")?,
        span: object.span(),
        specs: FieldSpecs::read(&object, "fieldSpecs", target.cx)?,
    };
    object.close(target.cx)?;
    Ok(Box::new(transformer))
}

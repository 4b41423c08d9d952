//! `labels` and the deprecated `commonLabels`, and the plugin `LabelTransformer`: sets labels in metadata, templates
//! and selectors.

use diagnostic::Result;
use yamltree::{Node, Span};

use crate::config::FieldSpecs;
use crate::decode::{self, Object};
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

#[cfg(test)]
mod tests {
    use crate::testing::{built, refused};

    const DEPLOYMENT: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n";

    fn labelled(labels: &str) -> String {
        built(&[
            ("kustomization.yaml", &format!("resources: [web.yaml]\n{labels}")),
            ("web.yaml", DEPLOYMENT),
        ])
    }

    #[test]
    fn labels_go_where_the_entry_says() {
        let metadata =
            format!("{}  labels:\n    a: x\n  name: web\n", DEPLOYMENT.replace("  name: web\n", ""));
        let template = "  template:\n    metadata:\n      labels:\n        a: x\n";
        assert_eq!(labelled("labels: [{pairs: {a: x}}]\n"), metadata);
        assert_eq!(
            labelled("labels: [{pairs: {a: x}, includeTemplates: true}]\n"),
            format!("{metadata}spec:\n{template}")
        );
        let selected = format!("{metadata}spec:\n  selector:\n    matchLabels:\n      a: x\n{template}");
        assert_eq!(labelled("labels: [{pairs: {a: x}, includeSelectors: true}]\n"), selected);
        assert_eq!(labelled("commonLabels: {a: x}\n"), selected);
        assert_eq!(
            labelled("labels: [{pairs: {a: x}, fields: [{path: spec/b, create: true}]}]\n"),
            format!("{metadata}spec:\n  b:\n    a: x\n")
        );
    }

    #[test]
    fn fields_of_an_entry_must_agree_with_the_built_in_ones() {
        let kustomization = "resources: []\nlabels:\n- pairs: {a: x}\n  fields: [{path: metadata/labels}]\n";
        let message = refused(&[("kustomization.yaml", kustomization)]);
        assert!(message.starts_with("kustomization.yaml:4:12: two field specifications"), "{message}");
    }

    #[test]
    fn an_unknown_field_of_an_entry_is_refused() {
        let kustomization = "resources: []\nlabels:\n- pair: {a: x}\n";
        let message = refused(&[("kustomization.yaml", kustomization)]);
        assert_eq!(message, "kustomization.yaml:3:3: unknown field `pair` in an entry of labels");
    }
}

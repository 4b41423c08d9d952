//! Sets entries of the mappings that field specifications name: what labels and annotations have in common.

use diagnostic::Result;
use yamltree::Span;

use crate::config::FieldSpecs;
use crate::context::Context;
use crate::fieldspec::Missing;
use crate::resmap::ResMap;
use crate::resource::Resource;
use crate::setter::set_entry;

use super::Transformer;

/// Entries to set in each field that the specifications name.
#[derive(Debug)]
pub(super) struct EntrySetter {
    pub(super) entries: Vec<(String, String)>,
    pub(super) specs: FieldSpecs,
    /// The span of the configuration.
    pub(super) span: Span,
}

impl Transformer for EntrySetter {
    fn transform(&self, map: &mut ResMap, _: &Context<'_>) -> Result<()> {
        if self.entries.is_empty() {
            return Ok(());
        }
        map.modify_each(|resource| self.change(resource)).map_err(|error| error.via("set here", self.span))
    }
}

impl EntrySetter {
    /// Kustomize puts one node for a value in all the places where the key is new. Whoever changes one of them later,
    /// a patch or another label, changes all: an overlay's label changes the selectors that the base's label made.
    fn change(&self, resource: &mut Resource) -> Result<()> {
        let places = self.specs.iter().filter(|spec| resource.gvk().is_selected(&spec.gvk)).count();
        let first = (places > 1).then(|| resource.hand_out_shares(self.entries.len()));
        let mut overwritten = false;
        self.specs.apply(resource, Missing::Mapping, |node| {
            for (number, (key, value)) in (0..).zip(&self.entries) {
                overwritten |= set_entry(node, key, value, first.map(|first| first + number))?;
            }
            Ok(())
        })?;
        if overwritten {
            resource.sync_aliases();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{built, refused};

    const DEPLOYMENT: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n";
    const CONFIG_MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n";

    /// Kustomize prints `new` three times: the base's label stands in all places as one node.
    #[test]
    fn a_label_of_an_overlay_changes_what_the_label_of_the_base_made() {
        let output = built(&[
            ("kustomization.yaml", "resources: [base]\nlabels: [{pairs: {app: new}}]\n"),
            ("base/kustomization.yaml", "resources: [web.yaml]\ncommonLabels: {app: old}\n"),
            ("base/web.yaml", DEPLOYMENT),
        ]);
        assert_eq!(output.matches("app: new").count(), 3, "{output}");
    }

    #[test]
    fn a_label_that_was_there_is_a_node_of_its_own() {
        let output = built(&[
            ("kustomization.yaml", "resources: [base]\nlabels: [{pairs: {app: new}}]\n"),
            ("base/kustomization.yaml", "resources: [web.yaml]\ncommonLabels: {app: old}\n"),
            ("base/web.yaml", &format!("{DEPLOYMENT}  labels: {{app: own}}\n")),
        ]);
        assert_eq!(
            (output.matches("app: new").count(), output.matches("app: old").count()),
            (1, 2),
            "{output}"
        );
    }

    /// By then Kustomize keeps annotations of its own in the tree, so that the field exists.
    #[test]
    fn annotations_exist_once_a_name_has_changed() {
        let plugin = "apiVersion: builtin\nkind: AnnotationsTransformer\nmetadata: {name: p}\n\
                      annotations: {a: b}\nfieldSpecs: [{path: metadata/annotations}]\n";
        let run = |kustomization| {
            built(&[("kustomization.yaml", kustomization), ("cm.yaml", CONFIG_MAP), ("plugin.yaml", plugin)])
        };
        assert!(!run("resources: [cm.yaml]\ntransformers: [plugin.yaml]\n").contains("a: b"));
        assert!(run("resources: [cm.yaml]\nnamePrefix: p-\ntransformers: [plugin.yaml]\n").contains("a: b"));
    }

    /// `y` is a boolean in a kustomization, and the key of a JSON object is then `true`.
    #[test]
    fn a_key_that_would_be_read_back_as_something_else_is_refused() {
        for key in ["y", "1", "\"1.5\"", "'~'"] {
            let kustomization = format!("resources: [cm.yaml]\ncommonLabels: {{{key}: x}}\n");
            let message = refused(&[("kustomization.yaml", &kustomization), ("cm.yaml", CONFIG_MAP)]);
            assert!(message.contains("is not a string in YAML"), "{key}: {message}");
        }
    }
}

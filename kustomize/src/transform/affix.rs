//! Adds a text before or behind names: what the prefix and the suffix transformer have in common.

use diagnostic::{Error, Result};
use yamltree::Tag;

use crate::config::FieldSpecs;
use crate::context::Context;
use crate::decode::Object;
use crate::fieldspec::Missing;
use crate::resid::Gvk;
use crate::resmap::ResMap;
use crate::resource::Resource;
use crate::setter::set_scalar;
use crate::target::Target;

use super::Transformer;

/// The side of the affix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Before,
    Behind,
}

/// A text to add to the fields that the specifications name.
#[derive(Debug)]
pub(super) struct Affix {
    pub(super) side: Side,
    pub(super) text: String,
    pub(super) specs: FieldSpecs,
}

/// The field by whose change a resource is another one.
const NAME: &str = "metadata/name";

impl Affix {
    /// The affix that a field of the kustomization asks for, unless it is empty.
    pub(super) fn from_field(
        name: &str,
        side: Side,
        specs: &FieldSpecs,
        target: &Target<'_, '_>,
    ) -> Result<Vec<Box<dyn Transformer>>> {
        let text = target.kustomization.text(name)?.text;
        if text.is_empty() {
            return Ok(Vec::new());
        }
        Ok(vec![Box::new(Self { side, text, specs: specs.clone() })])
    }

    /// The affix in a field of a plugin's configuration.
    pub(super) fn read(
        object: &Object<'_>,
        name: &'static str,
        side: Side,
        cx: &Context<'_>,
    ) -> Result<Self> {
        if object.field("fieldSpecs").is_none() {
            return Err(Error::invalid("the transformer needs `fieldSpecs`")
                .at(object.span())
                .hint("for names: `fieldSpecs: [{path: metadata/name}]`"));
        }
        Ok(Self { side, text: object.text(name)?, specs: FieldSpecs::read(object, "fieldSpecs", cx)? })
    }

    fn change(&self, resource: &mut Resource) -> Result<()> {
        let original = resource.original_id().gvk.clone();
        if is_exempt(&original) {
            return Ok(());
        }
        for spec in self.specs.iter().filter(|spec| original.is_selected(&spec.gvk)) {
            if spec.path.as_str() == NAME && !self.text.is_empty() {
                match self.side {
                    Side::Before => resource.prefixes.push(self.text.as_str().into()),
                    Side::Behind => resource.suffixes.push(self.text.as_str().into()),
                }
                resource.store_previous_id();
            }
            spec.apply(resource, Missing::Scalar(Tag::Str), |node| {
                let old = node.text().unwrap_or_default();
                let new = match self.side {
                    Side::Before => format!("{}{old}", self.text),
                    Side::Behind => format!("{old}{}", self.text),
                };
                set_scalar(node, &new)
            })?;
        }
        Ok(())
    }
}

impl Transformer for Affix {
    fn transform(&self, map: &mut ResMap, _: &Context<'_>) -> Result<()> {
        map.modify_each(|resource| self.change(resource))
    }
}

/// Kinds whose names mean something to the cluster.
fn is_exempt(gvk: &Gvk) -> bool {
    matches!(gvk.kind.as_str(), "CustomResourceDefinition" | "Namespace")
        || (gvk.kind == "APIService" && gvk.group == "apiregistration.k8s.io")
}

#[cfg(test)]
mod tests {
    use crate::testing::{built, refused, warned};

    const CONFIG_MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n";

    #[test]
    fn names_that_mean_something_to_the_cluster_stay() {
        let others = "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: n}\n\
                      ---\napiVersion: apiregistration.k8s.io/v1\nkind: APIService\nmetadata: {name: n}\n\
                      ---\napiVersion: example.com/v1\nkind: APIService\nmetadata: {name: n}\n";
        let output = built(&[
            ("kustomization.yaml", "resources: [all.yaml]\nnamePrefix: p-\nnameSuffix: -s\n"),
            ("all.yaml", &format!("{CONFIG_MAP}{others}")),
        ]);
        let names: Vec<&str> = output.lines().filter_map(|line| line.strip_prefix("  name: ")).collect();
        assert_eq!(names, ["\"n\"", "p-a-s", "\"n\"", "p-n-s"]);
    }

    fn with_plugin(plugin: &str) -> [(&str, &str); 3] {
        [
            ("kustomization.yaml", "resources: [cm.yaml]\ntransformers: [plugin.yaml]\n"),
            ("cm.yaml", CONFIG_MAP),
            ("plugin.yaml", plugin),
        ]
    }

    #[test]
    fn a_plugin_needs_field_specifications() {
        let plugin = "apiVersion: builtin\nkind: PrefixTransformer\nmetadata: {name: p}\nprefix: x-\n";
        let message = refused(&with_plugin(plugin));
        assert_eq!(message, "plugin.yaml:1:1: the transformer needs `fieldSpecs`");
    }

    /// A plugin's configuration is a resource, in which `012` is the number ten.
    #[test]
    fn a_number_stands_for_its_digits_and_an_unknown_field_for_nothing() {
        let plugin = "apiVersion: builtin\nkind: PrefixTransformer\nmetadata: {name: p}\nprefix: 012\n\
                      prefx: y\nfieldSpecs: [{path: metadata/name}]\n";
        assert_eq!(built(&with_plugin(plugin)), CONFIG_MAP.replace("name: a", "name: 10a"));
        let sentence = "unknown field `prefx` in a PrefixTransformer; ignored";
        assert_eq!(warned(&with_plugin(plugin)), [format!("KUST-W008 plugin.yaml:5:1 {sentence}")]);
    }
}

//! Adds a text before or behind names: what the prefix and the suffix transformer have in common.

use yamltree::Tag;

use crate::config::FieldSpecs;
use crate::context::Context;
use crate::decode::Object;
use crate::error::{Error, Result};
use crate::fieldspec::Missing;
use crate::resid::Gvk;
use crate::resmap::ResMap;
use crate::resource::Resource;
use crate::setter::set_scalar;
use crate::target::Target;

use super::Transformer;

/// Where the text goes.
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

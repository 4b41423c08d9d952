//! Sets entries of the mappings that field specifications name: what labels and annotations have in common.

use yamltree::Span;

use crate::config::FieldSpecs;
use crate::context::Context;
use crate::error::Result;
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
    /// Where they are asked for.
    pub(super) span: Span,
}

impl Transformer for EntrySetter {
    fn transform(&self, map: &mut ResMap, _: &Context<'_>) -> Result<()> {
        if self.entries.is_empty() {
            return Ok(());
        }
        map.modify_each(|resource| self.change(resource))
            .map_err(|error| error.via("to be set here", self.span))
    }
}

impl EntrySetter {
    /// Kustomize puts one node for a value in all the places where the key is new. Whoever changes one of them later,
    /// a patch or another label, changes all: an overlay's label changes the selectors that the base's label made.
    fn change(&self, resource: &mut Resource) -> Result<()> {
        let places = self.specs.iter().filter(|spec| resource.gvk().is_selected(&spec.gvk)).count();
        let first = (places > 1).then(|| resource.hand_out_shares(self.entries.len()));
        self.specs.apply(resource, Missing::Mapping, |node| {
            for (number, (key, value)) in (0..).zip(&self.entries) {
                set_entry(node, key, value, first.map(|first| first + number))?;
            }
            Ok(())
        })?;
        resource.settle();
        Ok(())
    }
}

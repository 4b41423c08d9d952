//! Sets entries of the mappings that field specifications name: what labels and annotations have in common.

use crate::config::FieldSpecs;
use crate::error::Result;
use crate::fieldspec::Missing;
use crate::resmap::ResMap;
use crate::resource::Resource;
use crate::setter::set_entry;

/// Sets each entry in each field of every resource.
pub(super) fn set_entries(map: &mut ResMap, entries: &[(String, String)], specs: &FieldSpecs) -> Result<()> {
    if entries.is_empty() {
        return Ok(());
    }
    map.modify_each(|resource| set_in(resource, entries, specs))
}

/// Kustomize puts one node for a value in all the places where the key is new. Whoever changes one of them later, a
/// patch or another label, changes all: an overlay's label changes the selectors which the base's label made.
fn set_in(resource: &mut Resource, entries: &[(String, String)], specs: &FieldSpecs) -> Result<()> {
    let places = specs.iter().filter(|spec| resource.gvk().is_selected(&spec.gvk)).count();
    let first = (places > 1).then(|| resource.hand_out_shares(entries.len()));
    specs.apply(resource, Missing::Mapping, |node| {
        for (number, (key, value)) in (0..).zip(entries) {
            set_entry(node, key, value, first.map(|first| first + number))?;
        }
        Ok(())
    })?;
    resource.settle();
    Ok(())
}

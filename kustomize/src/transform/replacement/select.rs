//! Which resources a replacement means.
//!
//! A source names one resource by its id, literally; a target selects by patterns. Both look at every id that a resource
//! has or had. What is named is found by an index, so that not every replacement looks at every resource.

use std::collections::HashMap;

use compact_str::CompactString;
use diagnostic::Result;

use super::config::TargetSelector;
use crate::decode::Object;
use crate::resid::Gvk;
use crate::resmap::ResMap;
use crate::resource::Resource;
use crate::selector::Selector;

/// The id of a source; what is empty is not asked for.
pub(super) struct SourceId {
    gvk: Gvk,
    name: String,
    namespace: String,
}

impl SourceId {
    pub(super) fn decode(object: &Object<'_>) -> Result<Self> {
        let gvk = Gvk {
            group: object.text("group")?.into(),
            version: object.text("version")?.into(),
            kind: object.text("kind")?.into(),
        };
        Ok(Self { gvk, name: object.text("name")?, namespace: object.text("namespace")? })
    }

    pub(super) fn selects(&self, resource: &Resource) -> bool {
        resource.all_ids().any(|id| {
            (self.name.is_empty() || self.name == id.name)
                && (self.namespace.is_empty() || or_default(&self.namespace) == or_default(&id.namespace))
                && id.gvk.is_selected(&self.gvk)
        })
    }

    pub(super) fn kind(&self) -> Option<&str> {
        Some(self.gvk.kind.as_str()).filter(|kind| !kind.is_empty())
    }

    pub(super) fn name(&self) -> Option<&str> {
        Some(self.name.as_str()).filter(|name| !name.is_empty())
    }

    pub(super) fn described(&self) -> String {
        let parts = [
            ("group", self.gvk.group.as_str()),
            ("version", &self.gvk.version),
            ("kind", &self.gvk.kind),
            ("name", &self.name),
            ("namespace", &self.namespace),
        ];
        let given = parts.iter().filter(|(_, text)| !text.is_empty());
        given.map(|(part, text)| format!("{part} `{text}`")).collect::<Vec<_>>().join(", ")
    }
}

/// Returns whether a resource is cluster-scoped does not count here.
fn or_default(namespace: &str) -> &str {
    if namespace.is_empty() { "default" } else { namespace }
}

impl TargetSelector {
    pub(super) fn selects(&self, resource: &Resource) -> Result<bool> {
        if !self.select.matches_metadata(resource)? {
            return Ok(false);
        }
        for reject in &self.reject {
            // A rejection by id and one by labels or annotations count each on its own.
            if reject.asks_for_metadata() && reject.matches_metadata(resource)? {
                return Ok(false);
            }
            if reject.asks_for_id() && matches_any_id(reject, resource) {
                return Ok(false);
            }
        }
        Ok(matches_any_id(&self.select, resource))
    }
}

fn matches_any_id(selector: &Selector, resource: &Resource) -> bool {
    resource.all_ids().any(|id| {
        selector.matches_gvk(&id.gvk)
            && selector.matches_name(&id.name)
            && selector.matches_namespace(&id.namespace)
    })
}

/// The positions of resources by each kind that they have or had. One may stand under a kind that is no longer its own.
pub(super) struct Kinds(HashMap<CompactString, Vec<usize>>);

impl Kinds {
    pub(super) fn new(map: &ResMap) -> Self {
        let mut kinds = Self(HashMap::new());
        for (position, resource) in map.iter().enumerate() {
            kinds.add(position, resource);
        }
        kinds
    }

    /// Takes in the kinds of a resource, which may be new.
    pub(super) fn add(&mut self, position: usize, resource: &Resource) {
        for id in resource.all_ids() {
            let positions = self.0.entry(id.gvk.kind.clone()).or_default();
            if let Err(at) = positions.binary_search(&position) {
                positions.insert(at, position);
            }
        }
    }

    /// The positions, in their order, of the resources that can have a name and a kind, where these are given.
    pub(super) fn candidates(&self, map: &ResMap, name: Option<&str>, kind: Option<&str>) -> Vec<usize> {
        match (name, kind) {
            (Some(name), _) => map.with_any_name(name).to_vec(),
            (None, Some(kind)) => self.0.get(kind).cloned().unwrap_or_default(),
            (None, None) => (0..map.len()).collect(),
        }
    }
}

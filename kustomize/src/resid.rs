//! The identity of a resource: group, version, kind, name and namespace.

use std::fmt;
use std::hash::{Hash, Hasher};

use compact_str::CompactString;
use diagnostic::Result;
use yamltree::Node;

use crate::decode::Object;
use crate::schema::Schema;

/// Group, version and kind of a resource.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Gvk {
    pub(crate) group: CompactString,
    pub(crate) version: CompactString,
    pub(crate) kind: CompactString,
}

/// The namespace that stands for none, where ids are compared.
const DEFAULT_NAMESPACE: &str = "default";
/// The namespace of resources that cannot have one; no real namespace can have this name.
pub(crate) const NO_NAMESPACE: &str = "_non_namespaceable_";

/// The full identity of a resource. Two ids are equal when group, version, kind and name are, and when they are in the
/// same namespace in effect: none and `default` are one, and a cluster-scoped resource's namespace does not count.
#[derive(Clone, Debug, Default)]
pub(crate) struct ResId {
    pub(crate) gvk: Gvk,
    pub(crate) name: CompactString,
    pub(crate) namespace: CompactString,
    pub(crate) cluster_scoped: bool,
}

impl Gvk {
    pub(crate) fn new(api_version: &str, kind: &str) -> Self {
        let (group, version) = parse_group_version(api_version);
        Self { group: group.into(), version: version.into(), kind: kind.into() }
    }

    /// The fields `group`, `version` and `kind` of a selection, where what is absent means any.
    pub(crate) fn read(object: &Object<'_>) -> Result<Self> {
        let part = |name| object.text(name).map(CompactString::from);
        Ok(Self { group: part("group")?, version: part("version")?, kind: part("kind")? })
    }

    pub(crate) fn of(node: &Node) -> Self {
        let text = |key| node.get(key).and_then(Node::text).unwrap_or("");
        Self::new(text("apiVersion"), text("kind"))
    }

    /// Returns true if this is the kind of that apiVersion.
    pub(crate) fn is(&self, api_version: &str, kind: &str) -> bool {
        self.kind == kind && parse_group_version(api_version) == (self.group.as_str(), self.version.as_str())
    }

    pub(crate) fn api_version(&self) -> CompactString {
        if self.group.is_empty() {
            return self.version.clone();
        }
        compact_str::format_compact!("{}/{}", self.group, self.version)
    }

    /// Returns true if a selector's group, version and kind, where given, are these.
    pub(crate) fn is_selected(&self, selector: &Gvk) -> bool {
        (selector.group.is_empty() || selector.group == self.group)
            && (selector.version.is_empty() || selector.version == self.version)
            && (selector.kind.is_empty() || selector.kind == self.kind)
    }
}

/// Splits `apps/v1` at its first slash; a core version has no group.
pub(crate) fn parse_group_version(api_version: &str) -> (&str, &str) {
    api_version.split_once('/').unwrap_or(("", api_version))
}

impl fmt::Display for Gvk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let or = |text: &CompactString, none: &'static str| {
            if text.is_empty() { CompactString::const_new(none) } else { text.clone() }
        };
        let (kind, version) = (or(&self.kind, "[noKind]"), or(&self.version, "[noVer]"));
        write!(f, "{kind}.{version}.{}", or(&self.group, "[noGrp]"))
    }
}

impl ResId {
    pub(crate) fn new(gvk: Gvk, name: &str, namespace: &str, schema: &Schema) -> Self {
        let cluster_scoped = schema.is_cluster_scoped(&gvk);
        Self { gvk, name: name.into(), namespace: namespace.into(), cluster_scoped }
    }

    /// The namespace by which ids are compared.
    pub(crate) fn effective_namespace(&self) -> &str {
        if self.cluster_scoped {
            NO_NAMESPACE
        } else if self.namespace.is_empty() {
            DEFAULT_NAMESPACE
        } else {
            &self.namespace
        }
    }

    /// Returns how a person would name the resource: `Deployment web in namespace prod`.
    pub(crate) fn described(&self) -> String {
        let Self { gvk, name, namespace, .. } = self;
        if namespace.is_empty() || self.cluster_scoped {
            format!("{}/{name}", gvk.kind)
        } else {
            format!("{}/{name} in namespace `{namespace}`", gvk.kind)
        }
    }
}

impl PartialEq for ResId {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
            && self.gvk == other.gvk
            && self.effective_namespace() == other.effective_namespace()
    }
}

impl Eq for ResId {}

impl Hash for ResId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.gvk.hash(state);
        self.name.hash(state);
        self.effective_namespace().hash(state);
    }
}

/// As Kustomize prints an id: `Deployment.v1.apps/web.[noNs]`.
impl fmt::Display for ResId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = if self.name.is_empty() { "[noName]" } else { &self.name };
        let namespace = if self.namespace.is_empty() { "[noNs]" } else { &self.namespace };
        write!(f, "{}/{name}.{namespace}", self.gvk)
    }
}

//! The merge keys of Kubernetes' own types, for other crates.
//!
//! In: an apiVersion and a kind, then fields. Out: by which keys the items of a list are told apart. Types that
//! Kubernetes 1.21.2 does not have are not known.

use crate::schema::{Type, builtin_resource};

/// The type of an object, or of one of its fields.
#[derive(Clone, Copy, Debug)]
pub struct KubernetesType(Type<'static>);

impl KubernetesType {
    /// The type of an object.
    #[must_use]
    pub fn of(api_version: &str, kind: &str) -> Option<Self> {
        builtin_resource(api_version, kind).map(Self)
    }

    /// The type of a field, or of any key's value in a map.
    #[must_use]
    pub fn field(self, name: &str) -> Option<Self> {
        self.0.field(name).map(Self)
    }

    /// The type of a list's items.
    #[must_use]
    pub fn items(self) -> Option<Self> {
        self.0.items().map(Self)
    }

    /// The keys of a list whose items are told apart, none of them for one of scalars that is a set; `None` where the
    /// list is one value.
    #[must_use]
    pub fn list_keys(self) -> Option<Vec<&'static str>> {
        self.0.merge_keys().map(|keys| keys.iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_say_by_what_their_items_are_told_apart() {
        let pod = KubernetesType::of("v1", "Pod").and_then(|pod| pod.field("spec")).unwrap();
        let containers = pod.field("containers").unwrap();
        assert_eq!(containers.list_keys(), Some(vec!["name"]));
        let container = containers.items().unwrap();
        let ports = container.field("ports").and_then(KubernetesType::list_keys).unwrap();
        assert_eq!(ports, ["containerPort", "protocol"]);
        assert_eq!(container.field("args").and_then(KubernetesType::list_keys), None);
        let metadata = KubernetesType::of("v1", "Pod").and_then(|pod| pod.field("metadata")).unwrap();
        assert_eq!(metadata.field("finalizers").and_then(KubernetesType::list_keys), Some(Vec::new()));
        assert!(KubernetesType::of("example.com/v1", "Widget").is_none());
    }
}

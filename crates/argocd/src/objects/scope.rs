//! Which kinds have objects that belong to the cluster and to no namespace.
//!
//! In: the CRDs of a set. Out: answers by group and kind, whatever the version. A kind that nobody knows counts as
//! namespaced, as it does for Argo CD.

use std::collections::HashMap;

use super::Object;

/// Kubernetes' own kinds of the cluster, also those that it has given up, by group.
const CLUSTER_KINDS: &[(&str, &[&str])] = &[
    ("", &["ComponentStatus", "Namespace", "Node", "PersistentVolume"]),
    (
        "admissionregistration.k8s.io",
        &[
            "MutatingAdmissionPolicy",
            "MutatingAdmissionPolicyBinding",
            "MutatingWebhookConfiguration",
            "ValidatingAdmissionPolicy",
            "ValidatingAdmissionPolicyBinding",
            "ValidatingWebhookConfiguration",
        ],
    ),
    ("apiextensions.k8s.io", &["CustomResourceDefinition"]),
    ("apiregistration.k8s.io", &["APIService"]),
    ("authentication.k8s.io", &["SelfSubjectReview", "TokenReview"]),
    ("authorization.k8s.io", &["SelfSubjectAccessReview", "SelfSubjectRulesReview", "SubjectAccessReview"]),
    ("certificates.k8s.io", &["CertificateSigningRequest", "ClusterTrustBundle"]),
    ("extensions", &["PodSecurityPolicy"]),
    ("flowcontrol.apiserver.k8s.io", &["FlowSchema", "PriorityLevelConfiguration"]),
    ("internal.apiserver.k8s.io", &["StorageVersion"]),
    ("metrics.k8s.io", &["NodeMetrics"]),
    ("networking.k8s.io", &["ClusterCIDR", "IPAddress", "IngressClass", "ServiceCIDR"]),
    ("node.k8s.io", &["RuntimeClass"]),
    ("policy", &["PodSecurityPolicy"]),
    ("rbac.authorization.k8s.io", &["ClusterRole", "ClusterRoleBinding"]),
    ("resource.k8s.io", &["DeviceClass", "DeviceTaintRule", "ResourceClass", "ResourceSlice"]),
    ("scheduling.k8s.io", &["PriorityClass"]),
    (
        "storage.k8s.io",
        &["CSIDriver", "CSINode", "StorageClass", "VolumeAttachment", "VolumeAttributesClass"],
    ),
    ("storagemigration.k8s.io", &["StorageVersionMigration"]),
];

/// The known scopes of kinds.
#[derive(Clone, Debug, Default)]
pub struct Scopes {
    /// Tells whether kinds are namespaced, by group and kind.
    defined: HashMap<(String, String), bool>,
}

impl Scopes {
    /// Kubernetes' own kinds, and those that are defined in a set.
    #[must_use]
    pub fn of<'o>(objects: impl IntoIterator<Item = &'o Object>) -> Self {
        let mut scopes = Self::default();
        for crd in objects.into_iter().filter(|object| object.is_crd()) {
            let kind = (crd.text_at(&["spec", "group"]), crd.text_at(&["spec", "names", "kind"]));
            let is_namespaced = crd.text_at(&["spec", "scope"]) != "Cluster";
            scopes.defined.insert((kind.0.to_owned(), kind.1.to_owned()), is_namespaced);
        }
        scopes
    }

    /// Returns true if objects of a kind are in namespaces.
    #[must_use]
    pub fn is_namespaced(&self, group: &str, kind: &str) -> bool {
        let of_cluster = CLUSTER_KINDS.iter().any(|(of, kinds)| *of == group && kinds.contains(&kind));
        if of_cluster || self.defined.is_empty() {
            return !of_cluster;
        }
        self.defined.get(&(group.to_owned(), kind.to_owned())).copied().unwrap_or(true)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use yamltree::Source;

    use super::*;

    #[test]
    fn crds_say_the_scope_of_their_kinds() {
        let crd = |group: &str, kind: &str, scope: &str| {
            format!(
                "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nspec: {{group: {group}, names: {{kind: {kind}}}{scope}}}\n---\n"
            )
        };
        let text = crd("example.com", "Realm", ", scope: Cluster")
            + &crd("example.com", "Widget", ", scope: Namespaced")
            + &crd("old.example.com", "Thing", "");
        let source = Arc::new(Source { name: "crds.yaml".to_owned(), text: text.into() });
        let scopes = Scopes::of(&super::super::read(&source).unwrap());
        for (group, kind, want) in [
            ("example.com", "Realm", false),
            ("example.com", "Widget", true),
            ("old.example.com", "Thing", true),
            ("unknown.example.com", "Realm", true),
            ("", "Namespace", false),
            ("example.com", "Namespace", true),
            ("rbac.authorization.k8s.io", "ClusterRole", false),
            ("rbac.authorization.k8s.io", "Role", true),
        ] {
            assert_eq!(scopes.is_namespaced(group, kind), want, "{group} {kind}");
        }
    }

    /// Kubernetes' own document of 1.21.2, which Kustomize embeds, says the same of what it knows.
    #[test]
    fn the_table_agrees_with_kubernetes() {
        let schema = include_str!("../../../../kustomize/data/kubernetes-1.21.2.schema");
        let mut checked = 0;
        for line in schema.lines() {
            let mut words = line.split(' ');
            let (scope, Some(api_version), Some(kind)) = (words.next(), words.next(), words.next()) else {
                continue;
            };
            // What is sent with a request to a node's proxy is no object.
            if kind == "NodeProxyOptions" {
                continue;
            }
            let group = api_version.split_once('/').map_or("", |(group, _)| group);
            let is_namespaced = match scope {
                Some("N") => true,
                Some("C") => false,
                _ => continue,
            };
            checked += 1;
            assert_eq!(Scopes::default().is_namespaced(group, kind), is_namespaced, "{line}");
        }
        assert!(checked > 60, "{checked}");
    }
}

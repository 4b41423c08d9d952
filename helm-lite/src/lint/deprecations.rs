//! The kinds of Kubernetes that are going or gone, as the last release of its API says.
//!
//! In: the version and kind of an object, and a minor version of Kubernetes. Out: a warning in Kubernetes' words.

/// A kind that is deprecated. All versions are those of Kubernetes 1.
struct Deprecated {
    api_version: &'static str,
    kind: &'static str,
    /// Since when.
    since: u64,
    /// From when on it is not there; 0 where that is not said.
    removed: u64,
    /// The replacement, if there is one.
    replacement: &'static str,
}

/// Returns the warning about a kind that is deprecated in a version of Kubernetes.
pub(super) fn warning(api_version: &str, kind: &str, major: u64, minor: u64) -> Option<String> {
    let known = |entry: &&Deprecated| entry.api_version == api_version && entry.kind == kind;
    let Deprecated { since, removed, replacement, .. } = DEPRECATED.iter().find(known)?;
    if (major, minor) < (1, *since) {
        return None;
    }
    let mut text = format!("{api_version} {kind} is deprecated in v1.{since}+");
    if *removed > 0 {
        text.push_str(&format!(", unavailable in v1.{removed}+"));
    }
    if !replacement.is_empty() {
        text.push_str(&format!("; use {replacement}"));
    }
    Some(text)
}

const fn gone(
    api_version: &'static str,
    kind: &'static str,
    since: u64,
    removed: u64,
    replacement: &'static str,
) -> Deprecated {
    Deprecated { api_version, kind, since, removed, replacement }
}

/// By version and kind.
const DEPRECATED: &[Deprecated] = &[
    gone("admissionregistration.k8s.io/v1alpha1", "MutatingAdmissionPolicy", 35, 38, ""),
    gone("admissionregistration.k8s.io/v1alpha1", "MutatingAdmissionPolicyBinding", 35, 38, ""),
    gone("admissionregistration.k8s.io/v1alpha1", "MutatingAdmissionPolicyBindingList", 35, 38, ""),
    gone("admissionregistration.k8s.io/v1alpha1", "MutatingAdmissionPolicyList", 35, 38, ""),
    gone("admissionregistration.k8s.io/v1alpha1", "ValidatingAdmissionPolicy", 29, 32, ""),
    gone("admissionregistration.k8s.io/v1alpha1", "ValidatingAdmissionPolicyBinding", 29, 32, ""),
    gone("admissionregistration.k8s.io/v1alpha1", "ValidatingAdmissionPolicyBindingList", 29, 32, ""),
    gone("admissionregistration.k8s.io/v1alpha1", "ValidatingAdmissionPolicyList", 29, 32, ""),
    gone(
        "admissionregistration.k8s.io/v1beta1",
        "MutatingAdmissionPolicy",
        37,
        40,
        "admissionregistration.k8s.io/v1 MutatingAdmissionPolicy",
    ),
    gone(
        "admissionregistration.k8s.io/v1beta1",
        "MutatingAdmissionPolicyBinding",
        37,
        40,
        "admissionregistration.k8s.io/v1 MutatingAdmissionPolicyBinding",
    ),
    gone(
        "admissionregistration.k8s.io/v1beta1",
        "MutatingAdmissionPolicyBindingList",
        37,
        40,
        "admissionregistration.k8s.io/v1 MutatingAdmissionPolicyBindingList",
    ),
    gone(
        "admissionregistration.k8s.io/v1beta1",
        "MutatingAdmissionPolicyList",
        37,
        40,
        "admissionregistration.k8s.io/v1 MutatingAdmissionPolicyList",
    ),
    gone(
        "admissionregistration.k8s.io/v1beta1",
        "MutatingWebhookConfiguration",
        16,
        22,
        "admissionregistration.k8s.io/v1 MutatingWebhookConfiguration",
    ),
    gone(
        "admissionregistration.k8s.io/v1beta1",
        "MutatingWebhookConfigurationList",
        16,
        22,
        "admissionregistration.k8s.io/v1 MutatingWebhookConfigurationList",
    ),
    gone("admissionregistration.k8s.io/v1beta1", "ValidatingAdmissionPolicy", 31, 34, ""),
    gone("admissionregistration.k8s.io/v1beta1", "ValidatingAdmissionPolicyBinding", 31, 34, ""),
    gone("admissionregistration.k8s.io/v1beta1", "ValidatingAdmissionPolicyBindingList", 31, 34, ""),
    gone("admissionregistration.k8s.io/v1beta1", "ValidatingAdmissionPolicyList", 31, 34, ""),
    gone(
        "admissionregistration.k8s.io/v1beta1",
        "ValidatingWebhookConfiguration",
        16,
        22,
        "admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration",
    ),
    gone(
        "admissionregistration.k8s.io/v1beta1",
        "ValidatingWebhookConfigurationList",
        16,
        22,
        "admissionregistration.k8s.io/v1 ValidatingWebhookConfigurationList",
    ),
    gone("apps/v1beta1", "ControllerRevision", 8, 16, "apps/v1 ControllerRevision"),
    gone("apps/v1beta1", "ControllerRevisionList", 8, 16, "apps/v1 ControllerRevisionList"),
    gone("apps/v1beta1", "Deployment", 8, 16, "apps/v1 Deployment"),
    gone("apps/v1beta1", "DeploymentList", 8, 16, "apps/v1 DeploymentList"),
    gone("apps/v1beta1", "DeploymentRollback", 8, 16, "apps/v1 DeploymentRollback"),
    gone("apps/v1beta1", "Scale", 8, 16, "autoscaling/v1 Scale"),
    gone("apps/v1beta1", "StatefulSet", 8, 16, "apps/v1 StatefulSet"),
    gone("apps/v1beta1", "StatefulSetList", 8, 16, "apps/v1 StatefulSetList"),
    gone("apps/v1beta2", "ControllerRevision", 9, 16, "apps/v1 ControllerRevision"),
    gone("apps/v1beta2", "ControllerRevisionList", 9, 16, "apps/v1 ControllerRevisionList"),
    gone("apps/v1beta2", "DaemonSet", 9, 16, "apps/v1 DaemonSet"),
    gone("apps/v1beta2", "DaemonSetList", 9, 16, "apps/v1 DaemonSetList"),
    gone("apps/v1beta2", "Deployment", 9, 16, "apps/v1 Deployment"),
    gone("apps/v1beta2", "DeploymentList", 9, 16, "apps/v1 DeploymentList"),
    gone("apps/v1beta2", "ReplicaSet", 9, 16, "apps/v1 ReplicaSet"),
    gone("apps/v1beta2", "ReplicaSetList", 9, 16, "apps/v1 ReplicaSetList"),
    gone("apps/v1beta2", "Scale", 9, 16, "autoscaling/v1 Scale"),
    gone("apps/v1beta2", "StatefulSet", 9, 16, "apps/v1 StatefulSet"),
    gone("apps/v1beta2", "StatefulSetList", 9, 16, "apps/v1 StatefulSetList"),
    gone("authentication.k8s.io/v1alpha1", "SelfSubjectReview", 29, 32, ""),
    gone("authentication.k8s.io/v1beta1", "SelfSubjectReview", 30, 33, ""),
    gone("authentication.k8s.io/v1beta1", "TokenReview", 19, 22, "authentication.k8s.io/v1 TokenReview"),
    gone(
        "authorization.k8s.io/v1beta1",
        "LocalSubjectAccessReview",
        19,
        22,
        "authorization.k8s.io/v1 LocalSubjectAccessReview",
    ),
    gone(
        "authorization.k8s.io/v1beta1",
        "SelfSubjectAccessReview",
        19,
        22,
        "authorization.k8s.io/v1 SelfSubjectAccessReview",
    ),
    gone(
        "authorization.k8s.io/v1beta1",
        "SelfSubjectRulesReview",
        19,
        22,
        "authorization.k8s.io/v1 SelfSubjectRulesReview",
    ),
    gone(
        "authorization.k8s.io/v1beta1",
        "SubjectAccessReview",
        19,
        22,
        "authorization.k8s.io/v1 SubjectAccessReview",
    ),
    gone("batch/v1beta1", "CronJob", 21, 25, "batch/v1 CronJob"),
    gone("batch/v1beta1", "CronJobList", 21, 25, "batch/v1 CronJobList"),
    gone("certificates.k8s.io/v1alpha1", "ClusterTrustBundle", 34, 37, ""),
    gone("certificates.k8s.io/v1alpha1", "ClusterTrustBundleList", 34, 37, ""),
    gone(
        "certificates.k8s.io/v1beta1",
        "CertificateSigningRequest",
        19,
        22,
        "certificates.k8s.io/v1 CertificateSigningRequest",
    ),
    gone(
        "certificates.k8s.io/v1beta1",
        "CertificateSigningRequestList",
        19,
        22,
        "certificates.k8s.io/v1 CertificateSigningRequestList",
    ),
    gone(
        "certificates.k8s.io/v1beta1",
        "ClusterTrustBundle",
        37,
        40,
        "certificates.k8s.io/v1 ClusterTrustBundle",
    ),
    gone(
        "certificates.k8s.io/v1beta1",
        "ClusterTrustBundleList",
        37,
        40,
        "certificates.k8s.io/v1 ClusterTrustBundleList",
    ),
    gone(
        "certificates.k8s.io/v1beta1",
        "PodCertificateRequest",
        37,
        40,
        "certificates.k8s.io/v1 PodCertificateRequest",
    ),
    gone(
        "certificates.k8s.io/v1beta1",
        "PodCertificateRequestList",
        37,
        40,
        "certificates.k8s.io/v1 PodCertificateRequestList",
    ),
    gone("coordination.k8s.io/v1alpha2", "LeaseCandidate", 35, 38, ""),
    gone("coordination.k8s.io/v1alpha2", "LeaseCandidateList", 35, 38, ""),
    gone("coordination.k8s.io/v1beta1", "Lease", 19, 22, "coordination.k8s.io/v1 Lease"),
    gone("coordination.k8s.io/v1beta1", "LeaseCandidate", 36, 39, ""),
    gone("coordination.k8s.io/v1beta1", "LeaseCandidateList", 36, 39, ""),
    gone("coordination.k8s.io/v1beta1", "LeaseList", 19, 22, "coordination.k8s.io/v1 LeaseList"),
    gone("discovery.k8s.io/v1beta1", "EndpointSlice", 21, 25, "discovery.k8s.io/v1 EndpointSlice"),
    gone("discovery.k8s.io/v1beta1", "EndpointSliceList", 21, 25, "discovery.k8s.io/v1 EndpointSlice"),
    gone("events.k8s.io/v1beta1", "Event", 22, 25, ""),
    gone("events.k8s.io/v1beta1", "EventList", 22, 25, ""),
    gone("extensions/v1beta1", "DaemonSet", 8, 16, "apps/v1 DaemonSet"),
    gone("extensions/v1beta1", "DaemonSetList", 8, 16, "apps/v1 DaemonSetList"),
    gone("extensions/v1beta1", "Deployment", 8, 16, "apps/v1 Deployment"),
    gone("extensions/v1beta1", "DeploymentList", 8, 16, "apps/v1 DeploymentList"),
    gone("extensions/v1beta1", "DeploymentRollback", 8, 16, ""),
    gone("extensions/v1beta1", "Ingress", 14, 22, "networking.k8s.io/v1 Ingress"),
    gone("extensions/v1beta1", "IngressList", 14, 22, "networking.k8s.io/v1 IngressList"),
    gone("extensions/v1beta1", "NetworkPolicy", 9, 16, "networking.k8s.io/v1 NetworkPolicy"),
    gone("extensions/v1beta1", "NetworkPolicyList", 9, 16, "networking.k8s.io/v1 NetworkPolicyList"),
    gone("extensions/v1beta1", "ReplicaSet", 8, 16, "apps/v1 ReplicaSet"),
    gone("extensions/v1beta1", "ReplicaSetList", 8, 16, "apps/v1 ReplicaSetList"),
    gone("extensions/v1beta1", "Scale", 2, 16, ""),
    gone(
        "flowcontrol.apiserver.k8s.io/v1beta1",
        "FlowSchema",
        23,
        26,
        "flowcontrol.apiserver.k8s.io/v1beta3 FlowSchema",
    ),
    gone(
        "flowcontrol.apiserver.k8s.io/v1beta1",
        "FlowSchemaList",
        23,
        26,
        "flowcontrol.apiserver.k8s.io/v1beta3 FlowSchemaList",
    ),
    gone(
        "flowcontrol.apiserver.k8s.io/v1beta1",
        "PriorityLevelConfiguration",
        23,
        26,
        "flowcontrol.apiserver.k8s.io/v1beta3 PriorityLevelConfiguration",
    ),
    gone(
        "flowcontrol.apiserver.k8s.io/v1beta1",
        "PriorityLevelConfigurationList",
        23,
        26,
        "flowcontrol.apiserver.k8s.io/v1beta3 PriorityLevelConfigurationList",
    ),
    gone(
        "flowcontrol.apiserver.k8s.io/v1beta2",
        "FlowSchema",
        26,
        29,
        "flowcontrol.apiserver.k8s.io/v1beta3 FlowSchema",
    ),
    gone(
        "flowcontrol.apiserver.k8s.io/v1beta2",
        "FlowSchemaList",
        26,
        29,
        "flowcontrol.apiserver.k8s.io/v1beta3 FlowSchemaList",
    ),
    gone(
        "flowcontrol.apiserver.k8s.io/v1beta2",
        "PriorityLevelConfiguration",
        26,
        29,
        "flowcontrol.apiserver.k8s.io/v1beta3 PriorityLevelConfiguration",
    ),
    gone(
        "flowcontrol.apiserver.k8s.io/v1beta2",
        "PriorityLevelConfigurationList",
        26,
        29,
        "flowcontrol.apiserver.k8s.io/v1beta3 PriorityLevelConfigurationList",
    ),
    gone(
        "flowcontrol.apiserver.k8s.io/v1beta3",
        "FlowSchema",
        29,
        32,
        "flowcontrol.apiserver.k8s.io/v1 FlowSchema",
    ),
    gone(
        "flowcontrol.apiserver.k8s.io/v1beta3",
        "FlowSchemaList",
        29,
        32,
        "flowcontrol.apiserver.k8s.io/v1 FlowSchemaList",
    ),
    gone(
        "flowcontrol.apiserver.k8s.io/v1beta3",
        "PriorityLevelConfiguration",
        29,
        32,
        "flowcontrol.apiserver.k8s.io/v1 PriorityLevelConfiguration",
    ),
    gone(
        "flowcontrol.apiserver.k8s.io/v1beta3",
        "PriorityLevelConfigurationList",
        29,
        32,
        "flowcontrol.apiserver.k8s.io/v1 PriorityLevelConfigurationList",
    ),
    gone("lifecycle.k8s.io/v1alpha1", "Eviction", 40, 43, ""),
    gone("lifecycle.k8s.io/v1alpha1", "EvictionList", 40, 43, ""),
    gone("lifecycle.k8s.io/v1alpha1", "EvictionRequest", 40, 43, ""),
    gone("lifecycle.k8s.io/v1alpha1", "EvictionRequestList", 40, 43, ""),
    gone("networking.k8s.io/v1beta1", "IPAddress", 34, 37, ""),
    gone("networking.k8s.io/v1beta1", "IPAddressList", 34, 37, ""),
    gone("networking.k8s.io/v1beta1", "Ingress", 19, 22, "networking.k8s.io/v1 Ingress"),
    gone("networking.k8s.io/v1beta1", "IngressClass", 19, 22, "networking.k8s.io/v1 IngressClassList"),
    gone("networking.k8s.io/v1beta1", "IngressClassList", 19, 22, "networking.k8s.io/v1 IngressClassList"),
    gone("networking.k8s.io/v1beta1", "IngressList", 19, 22, "networking.k8s.io/v1 IngressList"),
    gone("networking.k8s.io/v1beta1", "ServiceCIDR", 34, 37, ""),
    gone("networking.k8s.io/v1beta1", "ServiceCIDRList", 34, 37, ""),
    gone("node.k8s.io/v1beta1", "RuntimeClass", 22, 25, ""),
    gone("node.k8s.io/v1beta1", "RuntimeClassList", 22, 25, ""),
    gone("policy/v1beta1", "Eviction", 22, 25, ""),
    gone("policy/v1beta1", "PodDisruptionBudget", 21, 25, "policy/v1 PodDisruptionBudget"),
    gone("policy/v1beta1", "PodDisruptionBudgetList", 21, 25, "policy/v1 PodDisruptionBudgetList"),
    gone(
        "rbac.authorization.k8s.io/v1beta1",
        "ClusterRole",
        17,
        22,
        "rbac.authorization.k8s.io/v1 ClusterRole",
    ),
    gone(
        "rbac.authorization.k8s.io/v1beta1",
        "ClusterRoleBinding",
        17,
        22,
        "rbac.authorization.k8s.io/v1 ClusterRoleBinding",
    ),
    gone(
        "rbac.authorization.k8s.io/v1beta1",
        "ClusterRoleBindingList",
        17,
        22,
        "rbac.authorization.k8s.io/v1 ClusterRoleBindingList",
    ),
    gone(
        "rbac.authorization.k8s.io/v1beta1",
        "ClusterRoleList",
        17,
        22,
        "rbac.authorization.k8s.io/v1 ClusterRoleList",
    ),
    gone("rbac.authorization.k8s.io/v1beta1", "Role", 17, 22, "rbac.authorization.k8s.io/v1 Role"),
    gone(
        "rbac.authorization.k8s.io/v1beta1",
        "RoleBinding",
        17,
        22,
        "rbac.authorization.k8s.io/v1 RoleBinding",
    ),
    gone(
        "rbac.authorization.k8s.io/v1beta1",
        "RoleBindingList",
        17,
        22,
        "rbac.authorization.k8s.io/v1 RoleBindingList",
    ),
    gone("rbac.authorization.k8s.io/v1beta1", "RoleList", 17, 22, "rbac.authorization.k8s.io/v1 RoleList"),
    gone("resource.k8s.io/v1alpha3", "DeviceTaintRule", 36, 39, ""),
    gone("resource.k8s.io/v1alpha3", "DeviceTaintRuleList", 36, 39, ""),
    gone("resource.k8s.io/v1alpha3", "ResourcePoolStatusRequest", 39, 42, ""),
    gone("resource.k8s.io/v1alpha3", "ResourcePoolStatusRequestList", 39, 42, ""),
    gone("resource.k8s.io/v1beta1", "DeviceClass", 35, 38, ""),
    gone("resource.k8s.io/v1beta1", "DeviceClassList", 35, 38, ""),
    gone("resource.k8s.io/v1beta1", "ResourceClaim", 35, 38, ""),
    gone("resource.k8s.io/v1beta1", "ResourceClaimList", 35, 38, ""),
    gone("resource.k8s.io/v1beta1", "ResourceClaimTemplate", 35, 38, ""),
    gone("resource.k8s.io/v1beta1", "ResourceClaimTemplateList", 35, 38, ""),
    gone("resource.k8s.io/v1beta1", "ResourceSlice", 35, 38, ""),
    gone("resource.k8s.io/v1beta1", "ResourceSliceList", 35, 38, ""),
    gone("resource.k8s.io/v1beta2", "DeviceClass", 36, 39, ""),
    gone("resource.k8s.io/v1beta2", "DeviceClassList", 36, 39, ""),
    gone("resource.k8s.io/v1beta2", "DeviceTaintRule", 39, 42, ""),
    gone("resource.k8s.io/v1beta2", "DeviceTaintRuleList", 39, 42, ""),
    gone("resource.k8s.io/v1beta2", "ResourceClaim", 36, 39, ""),
    gone("resource.k8s.io/v1beta2", "ResourceClaimList", 36, 39, ""),
    gone("resource.k8s.io/v1beta2", "ResourceClaimTemplate", 36, 39, ""),
    gone("resource.k8s.io/v1beta2", "ResourceClaimTemplateList", 36, 39, ""),
    gone("resource.k8s.io/v1beta2", "ResourceSlice", 36, 39, ""),
    gone("resource.k8s.io/v1beta2", "ResourceSliceList", 36, 39, ""),
    gone("scheduling.k8s.io/v1beta1", "PodGroup", 40, 43, ""),
    gone("scheduling.k8s.io/v1beta1", "PodGroupList", 40, 43, ""),
    gone("scheduling.k8s.io/v1beta1", "PriorityClass", 14, 22, "scheduling.k8s.io/v1 PriorityClass"),
    gone("scheduling.k8s.io/v1beta1", "PriorityClassList", 14, 22, "scheduling.k8s.io/v1 PriorityClassList"),
    gone("scheduling.k8s.io/v1beta1", "Workload", 40, 43, ""),
    gone("scheduling.k8s.io/v1beta1", "WorkloadList", 40, 43, ""),
    gone(
        "storage.k8s.io/v1alpha1",
        "CSIStorageCapacity",
        21,
        24,
        "storage.k8s.io/v1beta1 CSIStorageCapacity",
    ),
    gone(
        "storage.k8s.io/v1alpha1",
        "CSIStorageCapacityList",
        21,
        24,
        "storage.k8s.io/v1beta1 CSIStorageCapacityList",
    ),
    gone("storage.k8s.io/v1alpha1", "VolumeAttachment", 21, 24, "storage.k8s.io/v1 VolumeAttachment"),
    gone("storage.k8s.io/v1alpha1", "VolumeAttachmentList", 21, 24, "storage.k8s.io/v1 VolumeAttachmentList"),
    gone(
        "storage.k8s.io/v1alpha1",
        "VolumeAttributesClass",
        32,
        35,
        "storage.k8s.io/v1 VolumeAttributesClass",
    ),
    gone(
        "storage.k8s.io/v1alpha1",
        "VolumeAttributesClassList",
        32,
        35,
        "storage.k8s.io/v1 VolumeAttributesClassList",
    ),
    gone("storage.k8s.io/v1beta1", "CSIDriver", 19, 22, "storage.k8s.io/v1 CSIDriver"),
    gone("storage.k8s.io/v1beta1", "CSIDriverList", 19, 22, "storage.k8s.io/v1 CSIDriverList"),
    gone("storage.k8s.io/v1beta1", "CSINode", 17, 22, "storage.k8s.io/v1 CSINode"),
    gone("storage.k8s.io/v1beta1", "CSINodeList", 17, 22, "storage.k8s.io/v1 CSINode"),
    gone("storage.k8s.io/v1beta1", "CSIStorageCapacity", 24, 27, "storage.k8s.io/v1 CSIStorageCapacity"),
    gone(
        "storage.k8s.io/v1beta1",
        "CSIStorageCapacityList",
        24,
        27,
        "storage.k8s.io/v1 CSIStorageCapacityList",
    ),
    gone("storage.k8s.io/v1beta1", "StorageClass", 19, 22, "storage.k8s.io/v1 StorageClass"),
    gone("storage.k8s.io/v1beta1", "StorageClassList", 19, 22, "storage.k8s.io/v1 StorageClassList"),
    gone("storage.k8s.io/v1beta1", "VolumeAttachment", 19, 22, "storage.k8s.io/v1 VolumeAttachment"),
    gone("storage.k8s.io/v1beta1", "VolumeAttachmentList", 19, 22, "storage.k8s.io/v1 VolumeAttachmentList"),
    gone(
        "storage.k8s.io/v1beta1",
        "VolumeAttributesClass",
        34,
        37,
        "storage.k8s.io/v1 VolumeAttributesClass",
    ),
    gone(
        "storage.k8s.io/v1beta1",
        "VolumeAttributesClassList",
        34,
        37,
        "storage.k8s.io/v1 VolumeAttributesClassList",
    ),
    gone(
        "storagemigration.k8s.io/v1beta1",
        "StorageVersionMigration",
        37,
        40,
        "storagemigration.k8s.io/v1 StorageVersionMigration",
    ),
    gone(
        "storagemigration.k8s.io/v1beta1",
        "StorageVersionMigrationList",
        37,
        40,
        "storagemigration.k8s.io/v1 StorageVersionMigrationList",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// As `helm lint` warns.
    #[test]
    fn a_kind_is_deprecated_from_a_version_on() {
        let ingress = |minor| warning("extensions/v1beta1", "Ingress", 1, minor);
        assert_eq!(ingress(13), None);
        assert_eq!(
            ingress(14).as_deref(),
            Some(
                "extensions/v1beta1 Ingress is deprecated in v1.14+, unavailable in v1.22+; use networking.k8s.io/v1 Ingress"
            )
        );
        assert_eq!(warning("networking.k8s.io/v1", "Ingress", 1, 99), None);
    }
}

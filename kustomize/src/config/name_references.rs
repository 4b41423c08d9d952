//! The built-in table of name references: which fields hold the name of a resource of which kind.
//!
//! Not covered, as in Kustomize: ephemeral containers, the secrets of most volume types, runtime classes, and custom
//! resources, for which `configurations` and `crds` are there.

use super::builtin::{Referred, Row};

const RBAC: &str = "rbac.authorization.k8s.io";
const ADMISSION: &str = "admissionregistration.k8s.io";

/// The fields of a pod spec, or of one in a template, that name ConfigMaps.
const CONFIG_MAPS_OF_A_POD: &[&str] = &[
    "volumes/configMap/name",
    "containers/env/valueFrom/configMapKeyRef/name",
    "initContainers/env/valueFrom/configMapKeyRef/name",
    "containers/envFrom/configMapRef/name",
    "initContainers/envFrom/configMapRef/name",
    "volumes/projected/sources/configMap/name",
];

/// The fields of a pod spec, or of one in a template, that name Secrets.
const SECRETS_OF_A_POD: &[&str] = &[
    "volumes/secret/secretName",
    "containers/env/valueFrom/secretKeyRef/name",
    "initContainers/env/valueFrom/secretKeyRef/name",
    "containers/envFrom/secretRef/name",
    "initContainers/envFrom/secretRef/name",
    "imagePullSecrets/name",
    "volumes/projected/sources/secret/name",
];

/// The kinds whose pod template holds ConfigMaps and Secrets. A ReplicationController is not among them.
const TEMPLATED: &[&str] = &["Deployment", "ReplicaSet", "DaemonSet", "StatefulSet", "Job"];

/// The kinds whose pod template holds service accounts, claims and priority classes. A ReplicaSet is not among them.
const WORKLOADS: &[&str] = &["StatefulSet", "Deployment", "ReplicationController", "Job", "DaemonSet"];

const TEMPLATE: &str = "spec/template/spec";
const JOB_TEMPLATE: &str = "spec/jobTemplate/spec/template/spec";

const SCALE_TARGET: &[Row] = &[Row::of(&["HorizontalPodAutoscaler"], &["spec/scaleTargetRef/name"])];

pub(super) const NAME_REFERENCES: &[Referred] = &[
    Referred { group: "", version: "", kind: "Deployment", by: SCALE_TARGET },
    Referred { group: "", version: "", kind: "ReplicationController", by: SCALE_TARGET },
    Referred { group: "", version: "", kind: "ReplicaSet", by: SCALE_TARGET },
    Referred { group: "", version: "", kind: "StatefulSet", by: SCALE_TARGET },
    Referred {
        group: "",
        version: "v1",
        kind: "ConfigMap",
        by: &[
            Row::of(&["Pod"], CONFIG_MAPS_OF_A_POD).version("v1").below("spec"),
            Row::of(&["PodTemplate"], CONFIG_MAPS_OF_A_POD).below("template/spec"),
            Row::of(TEMPLATED, CONFIG_MAPS_OF_A_POD).below(TEMPLATE),
            Row::of(&["CronJob"], CONFIG_MAPS_OF_A_POD).below(JOB_TEMPLATE),
            Row::of(&["Node"], &["spec/configSource/configMap"]),
            Row::of(&["Role", "ClusterRole"], &["rules/resourceNames"]),
            Row::of(
                &["Ingress"],
                &[r"metadata/annotations/nginx.ingress.kubernetes.io\/fastcgi-params-configmap"],
            ),
        ],
    },
    Referred {
        group: "",
        version: "v1",
        kind: "Secret",
        by: &[
            Row::of(&["Pod"], SECRETS_OF_A_POD).version("v1").below("spec"),
            Row::of(&["PodTemplate"], SECRETS_OF_A_POD).below("template/spec"),
            Row::of(TEMPLATED, SECRETS_OF_A_POD).below(TEMPLATE),
            Row::of(&["CronJob"], SECRETS_OF_A_POD).below(JOB_TEMPLATE),
            Row::of(
                &["Ingress"],
                &[
                    "spec/tls/secretName",
                    r"metadata/annotations/ingress.kubernetes.io\/auth-secret",
                    r"metadata/annotations/nginx.ingress.kubernetes.io\/auth-secret",
                    r"metadata/annotations/nginx.ingress.kubernetes.io\/auth-tls-secret",
                    // A second pass over the same field, as in Kustomize's table.
                    "spec/tls/secretName",
                ],
            ),
            Row::of(&["ServiceAccount"], &["imagePullSecrets/name"]),
            Row::of(&["StorageClass"], &["secretName", "adminSecretName", "userSecretName", "secretRef"])
                .below("parameters"),
            Row::of(&["Role", "ClusterRole"], &["rules/resourceNames"]),
            Row::of(&["Service"], &["spec/template/spec/containers/env/valueFrom/secretKeyRef/name"])
                .group("serving.knative.dev")
                .version("v1"),
            Row::of(&["PersistentVolume"], &["spec/azureFile/secretName"]),
        ],
    },
    Referred {
        group: "",
        version: "v1",
        kind: "Service",
        by: &[
            Row::of(&["StatefulSet"], &["spec/serviceName"]).group("apps"),
            Row::of(
                &["Ingress"],
                &[
                    "rules/http/paths/backend/serviceName",
                    "backend/serviceName",
                    "rules/http/paths/backend/service/name",
                    "defaultBackend/service/name",
                ],
            )
            .below("spec"),
            Row::of(&["APIService"], &["spec/service/name"]).group("apiregistration.k8s.io"),
            Row::of(
                &["ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"],
                &["webhooks/clientConfig/service"],
            )
            .group(ADMISSION),
        ],
    },
    Referred {
        group: RBAC,
        version: "",
        kind: "Role",
        by: &[Row::of(&["RoleBinding"], &["roleRef/name"]).group(RBAC)],
    },
    Referred {
        group: RBAC,
        version: "",
        kind: "ClusterRole",
        by: &[Row::of(&["RoleBinding", "ClusterRoleBinding"], &["roleRef/name"]).group(RBAC)],
    },
    Referred {
        group: "",
        version: "v1",
        kind: "ServiceAccount",
        by: &[
            Row::of(&["RoleBinding", "ClusterRoleBinding"], &["subjects"]).group(RBAC),
            Row::of(&["Pod"], &["spec/serviceAccountName"]),
            Row::of(WORKLOADS, &["serviceAccountName"]).below(TEMPLATE),
            Row::of(&["CronJob"], &["serviceAccountName"]).below(JOB_TEMPLATE),
        ],
    },
    Referred {
        group: "",
        version: "v1",
        kind: "PersistentVolumeClaim",
        by: &[
            Row::of(&["Pod"], &["spec/volumes/persistentVolumeClaim/claimName"]),
            Row::of(WORKLOADS, &["volumes/persistentVolumeClaim/claimName"]).below(TEMPLATE),
            Row::of(&["CronJob"], &["volumes/persistentVolumeClaim/claimName"]).below(JOB_TEMPLATE),
        ],
    },
    Referred {
        group: "",
        version: "v1",
        kind: "PersistentVolume",
        by: &[
            Row::of(&["PersistentVolumeClaim"], &["spec/volumeName"]),
            Row::of(&["ClusterRole"], &["rules/resourceNames"]),
        ],
    },
    Referred {
        group: "storage.k8s.io",
        version: "v1",
        kind: "StorageClass",
        by: &[
            Row::of(&["PersistentVolume", "PersistentVolumeClaim"], &["spec/storageClassName"]),
            Row::of(&["StatefulSet"], &["spec/volumeClaimTemplates/spec/storageClassName"]),
        ],
    },
    Referred {
        group: "scheduling.k8s.io",
        version: "v1",
        kind: "PriorityClass",
        by: &[
            Row::of(&["Pod"], &["spec/priorityClassName"]),
            Row::of(WORKLOADS, &["priorityClassName"]).below(TEMPLATE),
            Row::of(&["CronJob"], &["priorityClassName"]).below(JOB_TEMPLATE),
        ],
    },
    // The group is upstream's, version and all, so that no IngressClass is ever meant by it.
    Referred {
        group: "networking.k8s.io/v1",
        version: "v1",
        kind: "IngressClass",
        by: &[Row::of(&["Ingress"], &["spec/ingressClassName"])],
    },
    Referred {
        group: ADMISSION,
        version: "",
        kind: "ValidatingAdmissionPolicy",
        by: &[Row::of(&["ValidatingAdmissionPolicyBinding"], &["spec/policyName"]).group(ADMISSION)],
    },
];

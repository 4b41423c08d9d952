//! The built-in field specifications, as tables: which fields of which kinds each transformer works on.

use compact_str::{CompactString, format_compact};
use yamltree::Span;

use super::name_references::NAME_REFERENCES;
use super::{FieldSpecs, Lists, NameReference};
use crate::fieldspec::{FieldPath, FieldSpec};
use crate::resid::Gvk;

/// Some fields of some kinds: each path, below a common start, of each kind.
#[derive(Clone, Copy)]
pub(super) struct Row {
    group: &'static str,
    version: &'static str,
    /// None means every kind.
    kinds: &'static [&'static str],
    below: &'static str,
    paths: &'static [&'static str],
    create: bool,
}

/// The fields that hold names of a kind.
pub(super) struct Referred {
    pub(super) group: &'static str,
    pub(super) version: &'static str,
    pub(super) kind: &'static str,
    pub(super) by: &'static [Row],
}

impl Row {
    /// Fields of resources of any kind.
    const fn any(paths: &'static [&'static str]) -> Self {
        Self::of(&[], paths)
    }

    pub(super) const fn of(kinds: &'static [&'static str], paths: &'static [&'static str]) -> Self {
        Self { group: "", version: "", kinds, below: "", paths, create: false }
    }

    /// Only kinds of this group.
    pub(super) const fn group(self, group: &'static str) -> Self {
        Self { group, ..self }
    }

    /// Only kinds of this version.
    pub(super) const fn version(self, version: &'static str) -> Self {
        Self { version, ..self }
    }

    /// The paths start here.
    pub(super) const fn below(self, below: &'static str) -> Self {
        Self { below, ..self }
    }

    /// Makes the fields where they are missing.
    const fn create(self) -> Self {
        Self { create: true, ..self }
    }

    fn specs(self) -> impl Iterator<Item = FieldSpec> {
        let kinds: &[&str] = if self.kinds.is_empty() { &[""] } else { self.kinds };
        kinds.iter().flat_map(move |kind| self.paths.iter().map(move |path| self.spec(kind, path)))
    }

    fn spec(self, kind: &'static str, path: &'static str) -> FieldSpec {
        let constant = CompactString::const_new;
        let gvk = Gvk { group: constant(self.group), version: constant(self.version), kind: constant(kind) };
        let path =
            if self.below.is_empty() { constant(path) } else { format_compact!("{}/{path}", self.below) };
        FieldSpec { gvk, path: FieldPath::new(path), create: self.create, span: Span::NONE }
    }
}

/// Every built-in list.
pub(super) fn lists() -> Lists {
    let list = |tables: &[&[Row]]| {
        FieldSpecs::new(tables.iter().copied().flatten().flat_map(|row| row.specs()).collect())
    };
    let reference = |referred: &Referred| NameReference {
        gvk: Gvk {
            group: referred.group.into(),
            version: referred.version.into(),
            kind: referred.kind.into(),
        },
        referrers: list(&[referred.by]),
    };
    let mut lists = Lists {
        name_prefix: list(&[NAME]),
        name_suffix: list(&[NAME]),
        namespace: list(&[NAMESPACE]),
        common_labels: list(&[SELECTORS, METADATA_LABELS]),
        labels: FieldSpecs::default(),
        template_labels: list(&[METADATA_LABELS]),
        common_annotations: list(&[ANNOTATIONS]),
        var_reference: list(&[VAR_REFERENCES]),
        images: list(&[IMAGES]),
        replicas: list(&[REPLICAS]),
        name_reference: NAME_REFERENCES.iter().map(reference).collect(),
    };
    lists.sort();
    lists
}

const NAME: &[Row] = &[Row::any(&["metadata/name"])];

const NAMESPACE: &[Row] = &[
    Row::of(&["Namespace"], &["metadata/name"]).create(),
    Row::of(&["APIService"], &["spec/service/namespace"]).group("apiregistration.k8s.io").create(),
    Row::of(&["CustomResourceDefinition"], &["spec/conversion/webhook/clientConfig/service/namespace"])
        .group("apiextensions.k8s.io"),
];

/// The label selectors that `includeSelectors` adds to [`METADATA_LABELS`].
const SELECTORS: &[Row] = &[
    Row::of(&["Service", "ReplicationController"], &["spec/selector"]).version("v1").create(),
    Row::of(&["Deployment", "ReplicaSet", "DaemonSet"], &["spec/selector/matchLabels"]).create(),
    Row::of(&["StatefulSet"], &["spec/selector/matchLabels"]).group("apps").create(),
    Row::of(
        &["Deployment", "StatefulSet"],
        &[
            "affinity/podAffinity/preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm/labelSelector/matchLabels",
            "affinity/podAffinity/requiredDuringSchedulingIgnoredDuringExecution/labelSelector/matchLabels",
            "affinity/podAntiAffinity/preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm/labelSelector/matchLabels",
            "affinity/podAntiAffinity/requiredDuringSchedulingIgnoredDuringExecution/labelSelector/matchLabels",
            "topologySpreadConstraints/labelSelector/matchLabels",
        ],
    )
    .group("apps")
    .below("spec/template/spec"),
    Row::of(&["Job"], &["spec/selector/matchLabels"]).group("batch"),
    Row::of(&["CronJob"], &["spec/jobTemplate/spec/selector/matchLabels"]).group("batch"),
    Row::of(&["PodDisruptionBudget"], &["spec/selector/matchLabels"]).group("policy"),
    Row::of(
        &["NetworkPolicy"],
        &[
            "podSelector/matchLabels",
            "ingress/from/podSelector/matchLabels",
            "egress/to/podSelector/matchLabels",
        ],
    )
    .group("networking.k8s.io")
    .below("spec"),
];

const METADATA_LABELS: &[Row] = &[
    Row::any(&["metadata/labels"]).create(),
    Row::of(&["ReplicationController"], &["spec/template/metadata/labels"]).version("v1").create(),
    Row::of(&["Deployment", "ReplicaSet", "DaemonSet"], &["spec/template/metadata/labels"]).create(),
    Row::of(
        &["StatefulSet"],
        &["spec/template/metadata/labels", "spec/volumeClaimTemplates[]/metadata/labels"],
    )
    .group("apps")
    .create(),
    Row::of(&["Job"], &["spec/template/metadata/labels"]).group("batch").create(),
    Row::of(&["CronJob"], &["metadata/labels", "spec/template/metadata/labels"])
        .group("batch")
        .below("spec/jobTemplate")
        .create(),
];

const ANNOTATIONS: &[Row] = &[
    Row::any(&["metadata/annotations"]).create(),
    Row::of(&["ReplicationController"], &["spec/template/metadata/annotations"]).version("v1").create(),
    Row::of(
        &["Deployment", "ReplicaSet", "DaemonSet", "StatefulSet"],
        &["spec/template/metadata/annotations"],
    )
    .create(),
    Row::of(&["Job"], &["spec/template/metadata/annotations"]).group("batch").create(),
    Row::of(&["CronJob"], &["metadata/annotations", "spec/template/metadata/annotations"])
        .group("batch")
        .below("spec/jobTemplate")
        .create(),
];

const IMAGES_OF_A_POD: &[&str] =
    &["containers[]/image", "initContainers[]/image", "volumes[]/image/reference"];

const IMAGES: &[Row] = &[
    Row::any(IMAGES_OF_A_POD).below("spec").create(),
    Row::any(IMAGES_OF_A_POD).below("spec/template/spec").create(),
];

const REPLICAS: &[Row] =
    &[Row::of(&["Deployment", "ReplicationController", "ReplicaSet", "StatefulSet"], &["spec/replicas"])
        .create()];

/// The fields of a pod spec in which vars are expanded.
const VARS_OF_A_POD: &[&str] = &[
    "containers/args",
    "containers/command",
    "containers/env/value",
    "containers/volumeMounts/mountPath",
    "initContainers/args",
    "initContainers/command",
    "initContainers/env/value",
    "initContainers/volumeMounts/mountPath",
];

const VAR_REFERENCES: &[Row] = &[
    Row::of(&["CronJob"], VARS_OF_A_POD).below("spec/jobTemplate/spec/template/spec"),
    Row::of(&["CronJob"], &["spec/jobTemplate/spec/template/volumes/nfs/server"]),
    Row::of(&["DaemonSet", "Deployment", "Job", "ReplicaSet", "StatefulSet"], VARS_OF_A_POD)
        .below("spec/template/spec"),
    Row::of(&["DaemonSet", "Deployment", "Job", "ReplicaSet"], &["spec/template/spec/volumes/nfs/server"]),
    Row::of(&["StatefulSet"], &["spec/volumeClaimTemplates/spec/nfs/server"]),
    Row::of(&["Pod"], VARS_OF_A_POD).below("spec"),
    Row::of(&["Pod"], &["spec/volumes/nfs/server"]),
    Row::of(&["Deployment"], &["spec/template/metadata/annotations"]),
    Row::of(&["Ingress"], &["spec/rules/host", "spec/tls/hosts", "spec/tls/secretName"]),
    Row::of(&["Service"], &["spec/ports/port", "spec/ports/targetPort"]),
    Row::of(&["PersistentVolume"], &["spec/nfs/server"]),
    Row::any(&["metadata/labels", "metadata/annotations"]),
];

//! The CRDs of Flux' image objects. Older versions are only read from files; a server that serves them has the CRDs
//! of an older Flux.

use schemars::JsonSchema;

use super::status::{ImagePolicyStatus, ImageRepositoryStatus, ImageUpdateAutomationStatus};
use super::types::{ImagePolicy, ImageRepository, ImageUpdateAutomation};
use super::{GROUP, VERSIONS};
use crate::crds::{Column, Definition};

pub(super) const DEFINITIONS: &[Definition] = &[
    Definition {
        kind: "ImagePolicy",
        plural: "imagepolicies",
        singular: "imagepolicy",
        short_names: &["imgpol", "imagepol"],
        description: "An ImagePolicy chooses a tag of an image.",
        columns: &[
            column("Image", "string", ".status.latestRef.name"),
            column("Tag", "string", ".status.latestRef.tag"),
            READY,
            STATUS,
            AGE,
        ],
        spec: ImagePolicy::json_schema,
        status: ImagePolicyStatus::json_schema,
        ..COMMON
    },
    Definition {
        kind: "ImageRepository",
        plural: "imagerepositories",
        singular: "imagerepository",
        short_names: &["imgrepo", "imagerepo"],
        description: "An ImageRepository has the tags of an image looked for.",
        columns: &[
            column("Image", "string", ".spec.image"),
            column("Tags", "string", ".status.lastScanResult.tagCount"),
            READY,
            STATUS,
            wide("Last scan", ".status.lastScanResult.scanTime"),
            AGE,
        ],
        spec: ImageRepository::json_schema,
        status: ImageRepositoryStatus::json_schema,
        ..COMMON
    },
    Definition {
        kind: "ImageUpdateAutomation",
        plural: "imageupdateautomations",
        singular: "imageupdateautomation",
        short_names: &["iua", "imgupd", "imgauto"],
        // Its templates have `$` and braces, which Flux is not to take for variables.
        annotations: &[("kustomize.toolkit.fluxcd.io/substitute", "disabled")],
        description: "An ImageUpdateAutomation writes the images that policies have chosen to a Git repository.",
        columns: &[READY, STATUS, wide("Last run", ".status.lastAutomationRunTime"), AGE],
        spec: ImageUpdateAutomation::json_schema,
        status: ImageUpdateAutomationStatus::json_schema,
        ..COMMON
    },
];

/// The common part of the definitions.
const COMMON: Definition = Definition {
    group: GROUP,
    version: VERSIONS[0],
    kind: "",
    plural: "",
    singular: "",
    short_names: &[],
    categories: &["all", "fluxcd", "fluxcd-images"],
    annotations: &[],
    description: "",
    columns: &[],
    spec: ImagePolicy::json_schema,
    status: ImagePolicyStatus::json_schema,
    unseen: Some(-1),
};

const READY: Column = column("Ready", "string", r#".status.conditions[?(@.type=="Ready")].status"#);
const STATUS: Column = column("Status", "string", r#".status.conditions[?(@.type=="Ready")].message"#);
const AGE: Column = column("Age", "date", ".metadata.creationTimestamp");

const fn column(name: &'static str, kind: &'static str, path: &'static str) -> Column {
    Column { name, kind, path, is_wide: false }
}

const fn wide(name: &'static str, path: &'static str) -> Column {
    Column { name, kind: "string", path, is_wide: true }
}

//! The CRD of ImageUpdaters.

use schemars::JsonSchema;

use super::status::ImageUpdaterStatus;
use super::types::ImageUpdater;
use super::{GROUP, VERSION};
use crate::crds::{Column, Definition};

pub(super) const DEFINITIONS: &[Definition] = &[Definition {
    group: GROUP,
    version: VERSION,
    kind: "ImageUpdater",
    plural: "imageupdaters",
    singular: "imageupdater",
    short_names: &[],
    categories: &[],
    annotations: &[],
    description: "An ImageUpdater keeps images of Argo CD's Applications up to date.",
    columns: &[
        column("Apps", "integer", ".status.applicationsMatched"),
        column("Images", "integer", ".status.imagesManaged"),
        column("Last Checked", "date", ".status.lastCheckedAt"),
        column("Ready", "string", r#".status.conditions[?(@.type=="Ready")].status"#),
    ],
    spec: ImageUpdater::json_schema,
    status: ImageUpdaterStatus::json_schema,
    unseen: None,
}];

const fn column(name: &'static str, kind: &'static str, path: &'static str) -> Column {
    Column { name, kind, path, is_wide: false }
}

//! Changes that occur with every release of a chart and mean nothing: counted, not shown.
//!
//! In places that nobody may change even noise matters: there it makes the API server refuse the object.

use super::path::Path;

/// Labels and annotations that are noise.
const NOISE: &[&str] = &["helm.sh/chart", "app.kubernetes.io/version"];

/// Prefix of annotations that restart a workload when its configuration changes.
const CHECKSUM: &str = "checksum/";

/// Returns true if a field is noise.
pub(super) fn is_noise(kind: &str, path: &Path) -> bool {
    let Some(key) = path.last_key() else { return false };
    // What a controller fills in.
    if key == "caBundle" {
        return true;
    }
    let is_noise = (NOISE.contains(&key) && is_in(path, "labels"))
        || ((NOISE.contains(&key) || key.starts_with(CHECKSUM)) && is_in(path, "annotations"));
    is_noise && !is_immutable(kind, path)
}

/// Returns true if a field holds labels or annotations, in which all changes may be noise.
pub(super) fn may_be_noise(path: &Path) -> bool {
    path.ends_with(&["metadata"])
        || path.ends_with(&["metadata", "labels"])
        || path.ends_with(&["metadata", "annotations"])
}

fn is_in(path: &Path, map: &str) -> bool {
    path.ends_with(&["metadata", map, "*"])
}

fn is_immutable(kind: &str, path: &Path) -> bool {
    (kind == "StatefulSet" && path.passes("volumeClaimTemplates"))
        || (kind == "Job" && path.starts_with(&["spec", "template"]))
}

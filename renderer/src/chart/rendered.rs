//! A rendered chart.

use diagnostic::Error;
use helm_lite::manifest::Manifests;
use helm_lite::{HelmVersion, Warning};

/// A rendered chart.
#[derive(Debug)]
pub(crate) struct Rendered {
    /// Its manifests and hooks.
    pub(crate) manifests: Manifests,
    /// Its CRDs and those of the charts in it: path and content.
    pub(crate) crds: Vec<(String, String)>,
    /// Warnings.
    pub(crate) warnings: Vec<Warning>,
    /// The error of manifests that are printed in spite of it.
    pub(crate) fault: Option<Error>,
    /// The generation of Helm that it was rendered as.
    pub(super) version: HelmVersion,
}

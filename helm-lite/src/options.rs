//! The options of a rendering.

use std::sync::Arc;

use gotemplate::{Limits, Now, Random};

use crate::capabilities::KubeVersion;
use crate::cluster::Cluster;
use crate::version::HelmVersion;

/// The release, the cluster as it is pretended to be, and what templates are given of the world.
#[derive(Clone)]
pub struct Options<'a> {
    /// `.Release.Name`.
    pub release_name: String,
    /// `.Release.Namespace`.
    pub namespace: String,
    /// True if it is an upgrade and not an installation.
    pub is_upgrade: bool,
    /// `.Release.Revision`.
    pub revision: i64,
    /// The generation of Helm to render as.
    pub version: HelmVersion,
    /// `.Capabilities.KubeVersion`.
    pub kube_version: KubeVersion,
    /// The entries of `.Capabilities.APIVersions` besides those of Kubernetes itself.
    pub api_versions: Vec<String>,
    /// True if values are not checked against schemas.
    pub skip_schema_validation: bool,
    /// True if `required` and `fail` let templates go on, as for a linter.
    pub lint: bool,
    /// True if a value that does not exist is an error.
    pub strict: bool,
    /// The time that it is.
    pub now: Now,
    /// Fills a slice with random bytes; without it, functions that need some fail.
    pub random: Option<&'a Random<'a>>,
    /// The name of the local time zone in the IANA database.
    pub zone: &'a str,
    /// The objects that `lookup` finds; without any there is no cluster to ask.
    pub cluster: Option<Arc<Cluster>>,
    /// When to give up, for each template.
    pub limits: Limits,
}

impl Default for Options<'_> {
    /// As `helm template` without flags, at midnight of 1970-01-01 in UTC and without randomness.
    fn default() -> Self {
        Self {
            release_name: "release-name".to_owned(),
            namespace: "default".to_owned(),
            is_upgrade: false,
            revision: 1,
            version: HelmVersion::default(),
            kube_version: KubeVersion::default(),
            api_versions: Vec::new(),
            skip_schema_validation: false,
            lint: false,
            strict: false,
            now: Now::default(),
            random: None,
            zone: "UTC",
            cluster: None,
            limits: Limits::default(),
        }
    }
}

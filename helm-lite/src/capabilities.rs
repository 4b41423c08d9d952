//! The capabilities of the target cluster: its version and its API versions.
//!
//! There is no cluster to ask, so both are what Helm 4.3.1 takes for granted, or what the user says.

use std::fmt;

use diagnostic::Error;
use gotemplate::semver::Version;

use crate::version::HelmVersion;

/// A version of Kubernetes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KubeVersion {
    /// As it was given, with a `v`: `v1.33.4-gke.1245000`.
    pub version: String,
    /// The numbers only, by which constraints are checked: `v1.33.4`.
    pub normalized: String,
    /// `1`
    pub major: String,
    /// `33`
    pub minor: String,
}

impl Default for KubeVersion {
    fn default() -> Self {
        let text = |text: &str| text.to_owned();
        Self { version: text("v1.37.0"), normalized: text("v1.37.0"), major: text("1"), minor: text("37") }
    }
}

impl KubeVersion {
    /// Returns what a generation of Helm takes for granted: that of the libraries it is built with.
    #[must_use]
    pub fn known_to(version: HelmVersion) -> Self {
        match version {
            HelmVersion::V4 => Self::default(),
            HelmVersion::V3 => {
                let text = "v1.32.0".to_owned();
                Self {
                    version: text.clone(),
                    normalized: text,
                    major: "1".to_owned(),
                    minor: "32".to_owned(),
                }
            }
        }
    }

    /// Reads what a user says of the version, as a generation of Helm does.
    ///
    /// # Errors
    /// In Helm's words, when it is none.
    pub fn read(text: &str, version: HelmVersion) -> Result<Self, Error> {
        match version {
            HelmVersion::V4 => Self::parse(text),
            HelmVersion::V3 => Self::parse_semantic(text),
        }
    }

    /// Helm 3 takes it for a semantic version: three numbers, of which two may be left out, and what is behind them
    /// counts in constraints.
    fn parse_semantic(text: &str) -> Result<Self, Error> {
        let read = Version::parse(text).map_err(|error| Error::invalid(error.to_string()))?;
        let version = format!("v{read}");
        let (major, minor) = (read.major().to_string(), read.minor().to_string());
        Ok(Self { normalized: version.clone(), version, major, minor })
    }

    /// Reads `1.30`, `v1.29.7` or `v1.29.7-gke.12`: two or more numbers, and anything after them.
    ///
    /// # Errors
    /// In the words of Kubernetes, when it does not begin like that.
    fn parse(text: &str) -> Result<Self, Error> {
        let unreadable = || Error::invalid(format!("could not parse {text:?} as version"));
        let trimmed = text.trim_matches(|c: char| c.is_whitespace());
        let bare = trimmed.strip_prefix('v').unwrap_or(trimmed);
        let end = bare.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(bare.len());
        // A dot before what follows belongs to no number.
        let numbers = bare[..end].strip_suffix('.').filter(|_| end < bare.len()).unwrap_or(&bare[..end]);
        let parts: Vec<&str> = numbers.split('.').collect();
        if numbers.is_empty() {
            return Err(unreadable());
        }
        if parts.len() < 2 {
            return Err(Error::invalid(format!("illegal version string {text:?}")));
        }
        for part in &parts {
            if part.is_empty() || part.parse::<u64>().is_err() {
                return Err(unreadable());
            }
            if part.len() > 1 && part.starts_with('0') {
                return Err(Error::invalid(format!(
                    "illegal zero-prefixed version component {part:?} in {text:?}"
                )));
            }
        }
        let version = if text.starts_with('v') { text.to_owned() } else { format!("v{text}") };
        Ok(Self {
            version,
            normalized: format!("v{numbers}"),
            major: parts[0].to_owned(),
            minor: parts[1].to_owned(),
        })
    }
}

/// As templates print it.
impl fmt::Display for KubeVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.normalized)
    }
}

/// The API versions that Kubernetes itself knows, in the order in which Helm 4.3.1 lists them.
pub const API_VERSIONS: &[&str] = &[
    "v1",
    "admissionregistration.k8s.io/v1",
    "admissionregistration.k8s.io/v1alpha1",
    "admissionregistration.k8s.io/v1beta1",
    "internal.apiserver.k8s.io/v1alpha1",
    "apps/v1",
    "apps/v1beta1",
    "apps/v1beta2",
    "authentication.k8s.io/v1",
    "authentication.k8s.io/v1alpha1",
    "authentication.k8s.io/v1beta1",
    "authorization.k8s.io/v1",
    "authorization.k8s.io/v1beta1",
    "autoscaling/v1",
    "autoscaling/v2",
    "batch/v1",
    "batch/v1beta1",
    "certificates.k8s.io/v1",
    "certificates.k8s.io/v1beta1",
    "certificates.k8s.io/v1alpha1",
    "coordination.k8s.io/v1alpha2",
    "coordination.k8s.io/v1beta1",
    "coordination.k8s.io/v1",
    "discovery.k8s.io/v1",
    "discovery.k8s.io/v1beta1",
    "events.k8s.io/v1",
    "events.k8s.io/v1beta1",
    "extensions/v1beta1",
    "flowcontrol.apiserver.k8s.io/v1",
    "flowcontrol.apiserver.k8s.io/v1beta1",
    "flowcontrol.apiserver.k8s.io/v1beta2",
    "flowcontrol.apiserver.k8s.io/v1beta3",
    "lifecycle.k8s.io/v1alpha1",
    "networking.k8s.io/v1",
    "networking.k8s.io/v1beta1",
    "node.k8s.io/v1",
    "node.k8s.io/v1alpha1",
    "node.k8s.io/v1beta1",
    "policy/v1",
    "policy/v1beta1",
    "rbac.authorization.k8s.io/v1",
    "rbac.authorization.k8s.io/v1beta1",
    "rbac.authorization.k8s.io/v1alpha1",
    "resource.k8s.io/v1",
    "resource.k8s.io/v1beta2",
    "resource.k8s.io/v1beta1",
    "resource.k8s.io/v1alpha3",
    "scheduling.k8s.io/v1alpha3",
    "scheduling.k8s.io/v1beta1",
    "scheduling.k8s.io/v1",
    "storage.k8s.io/v1beta1",
    "storage.k8s.io/v1",
    "storage.k8s.io/v1alpha1",
    "storagemigration.k8s.io/v1",
    "storagemigration.k8s.io/v1beta1",
    "apiextensions.k8s.io/v1beta1",
    "apiextensions.k8s.io/v1",
];

#[cfg(test)]
mod tests {
    use super::*;

    /// As `helm template --kube-version` takes them.
    #[test]
    fn versions_of_kubernetes_are_read_as_helm_reads_them() {
        for (text, version, normalized, minor) in [
            ("1.30", "v1.30", "v1.30", "30"),
            ("v1.29.7", "v1.29.7", "v1.29.7", "29"),
            ("v1.29.7-gke.12", "v1.29.7-gke.12", "v1.29.7", "29"),
            ("1.29.7+k3s1", "v1.29.7+k3s1", "v1.29.7", "29"),
        ] {
            let read = KubeVersion::parse(text).expect("a version");
            assert_eq!(
                (read.version.as_str(), read.normalized.as_str(), read.minor.as_str()),
                (version, normalized, minor)
            );
        }
    }

    /// By helm.md, section 6: Helm 3 keeps the suffix everywhere and adds the numbers that are left out.
    #[test]
    fn helm_3_takes_semantic_versions() {
        for (text, version) in
            [("1.30", "v1.30.0"), ("v1.29.7-gke.12", "v1.29.7-gke.12"), ("1.29.7+k3s1", "v1.29.7+k3s1")]
        {
            let read = KubeVersion::read(text, HelmVersion::V3).expect("a version");
            assert_eq!((read.version.as_str(), read.normalized.as_str()), (version, version));
        }
        assert!(KubeVersion::read("1.29.7.1", HelmVersion::V3).is_err());
        assert_eq!(KubeVersion::known_to(HelmVersion::V3).to_string(), "v1.32.0");
    }

    /// As `helm template --kube-version` refuses them.
    #[test]
    fn what_is_no_version_is_refused() {
        for (text, reason) in [
            ("x", "could not parse \"x\" as version"),
            ("", "could not parse \"\" as version"),
            ("1", "illegal version string \"1\""),
            ("1.01", "illegal zero-prefixed version component \"01\" in \"1.01\""),
        ] {
            assert_eq!(KubeVersion::parse(text).expect_err(text).message(), reason);
        }
    }
}

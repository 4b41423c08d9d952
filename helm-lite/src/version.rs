//! The emulated Helm version.

/// The generation of Helm to render as, where the two differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HelmVersion {
    /// Helm 3.17.
    V3,
    /// Helm 4.3.
    #[default]
    V4,
}

//! The options of a build: the flags of kustomize.

/// The options of a build.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Which files a kustomization may name.
    pub load_restrictor: LoadRestrictor,
    /// True if charts are inflated.
    pub enable_helm: bool,
    /// The Kubernetes version that charts see.
    pub helm_kube_version: Option<String>,
    /// The API versions that charts see.
    pub helm_api_versions: Vec<String>,
    /// True if plugins that are not built in may be used.
    pub enable_alpha_plugins: bool,
    /// True if such a plugin may be a program that is run.
    pub enable_exec: bool,
    /// Variables for functions, `NAME=VALUE` each.
    pub function_environment: Vec<String>,
    /// The order of the output where the kustomization has no `sortOptions`.
    pub reorder: Reorder,
    /// True if every resource is labelled as managed by kustomize.
    pub enable_managed_by_label: bool,
}

/// Which files a kustomization may name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LoadRestrictor {
    /// Those in or below its own folder.
    #[default]
    RootOnly,
    /// Any.
    None,
}

/// The order of the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reorder {
    /// By kind, namespaces first, webhooks last.
    #[default]
    Legacy,
    /// As accumulated.
    None,
}

//! What a run was asked to do: flags and environment, checked. Nothing later looks at either.

use kustomize::Options;

use crate::cli::flags::BuildFlags;
use crate::error::{Error, ErrorKind, Result};
use crate::report::Reporter;

/// How Kustomize turns its managed-by label on without the flag (konfig/general.go:45).
const MANAGED_BY_LABEL: &str = "KUSTOMIZE_ENABLE_MANAGEDBY_LABEL";

/// How targets are rendered.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// What the engine is told.
    pub options: Options,
    /// Whether remote resources come from the cache only.
    pub offline: bool,
    /// Whether a warning makes a target fail.
    pub strict: bool,
}

impl Config {
    /// Checks the flags, and adds what the environment says.
    pub(crate) fn new(flags: &BuildFlags, reporter: &mut Reporter) -> Result<Self> {
        reporter.set_quiet(flags.quiet);
        if flags.enable_star {
            return Err(Error::new(ErrorKind::Usage, "Kustomize 5 runs no Starlark functions")
                .hint("write the function as a program and use --enable-exec"));
        }
        if flags.reorder.is_some() {
            reporter.notice("`--reorder` is deprecated: use `sortOptions` in the kustomization");
        }
        if flags.enable_managedby_label {
            reporter
                .notice("`--enable-managedby-label` is deprecated: use `buildMetadata` in the kustomization");
        }
        let managed =
            flags.enable_managedby_label || std::env::var_os(MANAGED_BY_LABEL).is_some_and(|on| on == "on");
        let options = Options {
            load_restrictor: flags.load_restrictor,
            enable_helm: flags.enable_helm,
            helm_kube_version: flags.helm_kube_version.clone(),
            helm_api_versions: flags.helm_api_versions.clone(),
            enable_alpha_plugins: flags.enable_alpha_plugins,
            enable_exec: flags.enable_exec,
            function_environment: flags.env.clone(),
            reorder: flags.reorder.unwrap_or_default(),
            enable_managed_by_label: managed,
        };
        Ok(Self { options, offline: flags.offline, strict: flags.strict })
    }
}

//! The checked flags and environment of a run. Nothing later reads either.

use std::path::PathBuf;

use diagnostic::{Error, ErrorKind, Result};
use kustomize::Options;
use vfs::Disk;

use crate::chart_target::ChartOptions;
use crate::cli::flags::BuildFlags;
use crate::report::Reporter;
use crate::roots;

/// Variable by which Kustomize enables its managed-by label (konfig/general.go:45).
const MANAGED_BY_LABEL: &str = "KUSTOMIZE_ENABLE_MANAGEDBY_LABEL";

/// The folder of the cache, for all runs of a user or a machine.
const CACHE_DIR: &str = "RENDERER_CACHE_DIR";

/// The settings of rendering targets.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// The options of the engine.
    pub options: Options,
    /// The settings of charts that are targets.
    pub charts: ChartOptions,
    /// True if remote resources come from the cache only.
    pub offline: bool,
    /// The folder of the cache, where there is a place for one.
    pub cache_dir: Option<PathBuf>,
    /// True if a warning makes a target fail.
    pub strict: bool,
    /// The real paths of the directories to which reads are confined; without them the rules of the real tools hold.
    pub roots: Option<Vec<PathBuf>>,
}

impl Config {
    /// Checks the flags, and adds what the environment says.
    pub(crate) fn new(flags: &BuildFlags, reporter: &mut Reporter) -> Result<Self> {
        reporter.set_quiet(flags.quiet);
        check_build_flags(flags)?;
        if flags.reorder.is_some() {
            reporter.notice("`--reorder` is deprecated: use `sortOptions` in the kustomization");
        }
        if flags.enable_managedby_label {
            reporter
                .notice("`--enable-managedby-label` is deprecated: use `buildMetadata` in the kustomization");
        }
        // Argo CD and habit pass `helm`; a program that does more, such as to decrypt values, would be missed.
        if flags.helm_command.as_deref().is_some_and(|command| command != "helm") {
            reporter.notice("`--helm-command` is ignored: charts are rendered without helm");
        }
        let options = build_options(flags);
        let cache_dir = flags.cache_dir.clone().or_else(default_cache_dir);
        let cache_dir = cache_dir.map(|path| std::path::absolute(&path).unwrap_or(path));
        let charts = ChartOptions::default();
        Ok(Self { options, charts, offline: flags.offline, cache_dir, strict: flags.strict, roots: None })
    }

    /// The same, confined to some directories.
    #[must_use]
    pub(crate) fn confined_to(self, roots: Option<Vec<PathBuf>>) -> Self {
        Self { roots, ..self }
    }

    /// The same, which may read from more directories where it is confined.
    #[must_use]
    pub(crate) fn reading(mut self, directories: impl Iterator<Item = PathBuf>) -> Self {
        if let Some(roots) = &mut self.roots {
            roots.extend(directories);
        }
        self
    }

    /// The disk that targets are read from. The cache of what was fetched is always part of it.
    pub(crate) fn disk(&self) -> Disk {
        let Some(roots) = &self.roots else { return Disk::new() };
        let cache = self.cache_dir.as_deref().map(roots::real);
        Disk::confined(roots.iter().cloned().chain(cache).collect())
    }
}

/// Refuses flags that ask for what there is not.
///
/// # Errors
/// That there is no such thing.
pub(crate) fn check_build_flags(flags: &BuildFlags) -> Result<()> {
    if flags.enable_star {
        return Err(Error::new(ErrorKind::Usage, "Kustomize 5 runs no Starlark functions")
            .hint("write the function as a program and use --enable-exec"));
    }
    Ok(())
}

/// Returns what the flags of a build say to the engine.
pub(crate) fn build_options(flags: &BuildFlags) -> Options {
    let managed =
        flags.enable_managedby_label || std::env::var_os(MANAGED_BY_LABEL).is_some_and(|on| on == "on");
    Options {
        load_restrictor: flags.load_restrictor,
        enable_helm: flags.enable_helm,
        helm_kube_version: flags.helm_kube_version.clone(),
        helm_api_versions: flags.helm_api_versions.clone(),
        enable_alpha_plugins: flags.enable_alpha_plugins,
        enable_exec: flags.enable_exec,
        function_environment: flags.env.clone(),
        reorder: flags.reorder.unwrap_or_default(),
        enable_managed_by_label: managed,
    }
}

/// Returns where the XDG base directory specification puts what a program can get again.
pub(crate) fn default_cache_dir() -> Option<PathBuf> {
    let path = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| !path.as_os_str().is_empty());
    let absolute = |name| path(name).filter(|path| path.is_absolute());
    path(CACHE_DIR)
        .or_else(|| Some(absolute("XDG_CACHE_HOME")?.join("renderer")))
        .or_else(|| Some(absolute("HOME")?.join(".cache/renderer")))
}

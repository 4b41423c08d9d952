//! The flags that the commands for Argo CD share, and what they come to.

use std::path::{Path, PathBuf};

use argocd::application::Overrides;
use argocd::objects::Method;
use clap::{Args, ValueEnum};

use crate::config::{Config, default_cache_dir};
use crate::report::Reporter;
use crate::roots;

#[derive(Args, Clone, Debug)]
pub(super) struct WorldFlags {
    /// The context file: repositories, clusters, projects and settings; `renderer-context.yaml` by default, and without
    /// one this repository alone
    #[arg(long, value_name = "FILE")]
    pub(super) context: Option<PathBuf>,

    /// Tracking method of objects [default: that of the context]
    #[arg(long, value_name = "METHOD")]
    tracking: Option<Tracking>,

    /// The version of Kubernetes, in place of the clusters'
    #[arg(long, value_name = "VERSION")]
    kube_version: Option<String>,

    /// An API version that the clusters have, in place of those of the context (repeatable)
    #[arg(long, value_name = "API", value_delimiter = ',')]
    api_versions: Vec<String>,

    /// Take remote charts and bases from the cache only
    #[arg(long)]
    offline: bool,

    /// Cache directory for remote charts and bases [env: RENDERER_CACHE_DIR] [default: ~/.cache/renderer]
    #[arg(long, value_name = "DIR")]
    cache_dir: Option<PathBuf>,

    /// Read no file outside of DIR [default: the git work tree of the working directory]
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,

    /// Fail where there is a warning
    #[arg(long)]
    strict: bool,

    /// Print no warnings
    #[arg(short, long)]
    quiet: bool,
}

/// The tracking method, as typed.
#[derive(ValueEnum, Clone, Copy, Debug)]
enum Tracking {
    Annotation,
    Label,
    #[value(name = "annotation+label")]
    AnnotationAndLabel,
    None,
}

impl WorldFlags {
    /// Returns the settings of the renderer, which reads from the repository and from what the command line names.
    pub(super) fn config<'p>(
        &self,
        named: impl IntoIterator<Item = &'p Path>,
        reporter: &mut Reporter,
    ) -> Config {
        reporter.set_quiet(self.quiet);
        let cache_dir = self.cache_dir.clone().or_else(default_cache_dir);
        let cache_dir = cache_dir.map(|path| std::path::absolute(&path).unwrap_or(path));
        let roots = Some(roots::of_repository(self.root.as_deref(), named));
        Config { offline: self.offline, cache_dir, strict: self.strict, roots, ..Config::default() }
    }

    /// Returns what takes the place of what the context says.
    pub(super) fn overrides(&self, any_cluster: bool) -> Overrides {
        Overrides {
            tracking: self.tracking.map(|tracking| match tracking {
                Tracking::Annotation => Method::Annotation,
                Tracking::Label => Method::Label,
                Tracking::AnnotationAndLabel => Method::AnnotationAndLabel,
                Tracking::None => Method::None,
            }),
            kube_version: self.kube_version.clone(),
            api_versions: (!self.api_versions.is_empty()).then(|| self.api_versions.clone()),
            any_cluster,
        }
    }
}

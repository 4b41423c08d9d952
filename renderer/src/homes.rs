//! The paths of Helm's files: from the environment, and the flags that override it.
//!
//! In: flags and the environment. Out: paths; nothing is read. As Helm's `pkg/helmpath` and `pkg/cli/environment.go`.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use oci_registry::DockerConfig;

/// Helm's own files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Homes {
    /// The repositories that `helm repo add` was told of.
    pub(crate) repository_config: PathBuf,
    /// The folder with their indexes.
    pub(crate) repository_cache: PathBuf,
    /// The registries that `helm registry login` was told of.
    pub(crate) registry_config: PathBuf,
    /// Docker's configuration, which has accounts of registries too.
    pub(crate) docker_config: Option<PathBuf>,
}

impl Homes {
    /// As the environment has it.
    pub(crate) fn from_environment() -> Self {
        Self::new(&|name| env::var_os(name).map(PathBuf::from), env::home_dir())
    }

    /// The same with another folder of configuration, as by `HELM_CONFIG_HOME`.
    pub(crate) fn with_config(self, folder: &Path) -> Self {
        Self {
            repository_config: folder.join("repositories.yaml"),
            registry_config: folder.join("registry/config.json"),
            ..self
        }
    }

    fn new(variable: &dyn Fn(&str) -> Option<PathBuf>, home: Option<PathBuf>) -> Self {
        let set = |name: &str| variable(name).filter(|path| !path.as_os_str().is_empty());
        let home = home.unwrap_or_else(|| PathBuf::from("/"));
        let folder = |helm: &str, xdg: &str, default: &str| {
            set(helm).unwrap_or_else(|| set(xdg).unwrap_or_else(|| home.join(default)).join("helm"))
        };
        let config = folder("HELM_CONFIG_HOME", "XDG_CONFIG_HOME", ".config");
        let cache = folder("HELM_CACHE_HOME", "XDG_CACHE_HOME", ".cache");
        let file = |name: &str, default: PathBuf| set(name).unwrap_or(default);
        Self {
            repository_config: file("HELM_REPOSITORY_CONFIG", config.join("repositories.yaml")),
            repository_cache: file("HELM_REPOSITORY_CACHE", cache.join("repository")),
            registry_config: file("HELM_REGISTRY_CONFIG", config.join("registry/config.json")),
            docker_config: DockerConfig::default_path(|name| variable(name).map(OsString::from)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `helm env` 4.3.1 prints them.
    #[test]
    fn the_nearest_variable_counts() {
        let homes = |variables: &[(&str, &str)]| {
            let variable = |name: &str| {
                variables.iter().find(|(known, _)| *known == name).map(|(_, value)| PathBuf::from(value))
            };
            let homes = Homes::new(&variable, Some(PathBuf::from("/home/ann")));
            [homes.repository_config, homes.repository_cache, homes.registry_config]
                .map(|path| path.display().to_string())
        };
        assert_eq!(
            homes(&[]),
            [
                "/home/ann/.config/helm/repositories.yaml",
                "/home/ann/.cache/helm/repository",
                "/home/ann/.config/helm/registry/config.json"
            ]
        );
        assert_eq!(
            homes(&[("XDG_CONFIG_HOME", "/x"), ("HELM_CACHE_HOME", "/c"), ("XDG_CACHE_HOME", "/d")]),
            ["/x/helm/repositories.yaml", "/c/repository", "/x/helm/registry/config.json"]
        );
        assert_eq!(
            homes(&[
                ("HELM_CONFIG_HOME", "/h"),
                ("HELM_REPOSITORY_CONFIG", "/r.yaml"),
                ("XDG_CACHE_HOME", "")
            ]),
            ["/r.yaml", "/home/ann/.cache/helm/repository", "/h/registry/config.json"]
        );
    }
}

//! The settings of `argocd-cm` that concern rendering.

use std::collections::BTreeMap;

/// The keys of `argocd-cm` that rendering asks for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings<'c>(pub(crate) &'c BTreeMap<String, String>);

impl<'c> Settings<'c> {
    fn get(self, key: &str) -> Option<&'c str> {
        self.0.get(key).map(String::as_str)
    }

    /// Returns true if a kind of source is rendered as such: by `helm.enable`, `kustomize.enable` or `jsonnet.enable`.
    pub(crate) fn is_enabled(self, key: &str) -> bool {
        self.get(key).is_none_or(|value| value.is_empty() || value == "true")
    }

    /// The schemes of addresses that value files may have.
    pub(crate) fn value_file_schemes(self) -> Vec<&'c str> {
        let given = self.get("helm.valuesFileSchemes").unwrap_or("https, http");
        given.split(',').map(str::trim).filter(|scheme| !scheme.is_empty()).collect()
    }

    /// The flags of `kustomize build`. Argo CD passes those for one version to the program of that version only, and here
    /// there is one program for all.
    pub(crate) fn build_options(self, version: &str) -> Vec<String> {
        let of_version =
            self.get(&format!("kustomize.buildOptions.{version}")).filter(|_| !version.is_empty());
        let options = of_version.or_else(|| self.get("kustomize.buildOptions")).unwrap_or_default();
        options.split_whitespace().map(str::to_owned).collect()
    }

    /// Returns true if a version of Kustomize has a program.
    pub(crate) fn has_kustomize(self, version: &str) -> bool {
        ["kustomize.path.", "kustomize.version."]
            .iter()
            .any(|key| self.get(&format!("{key}{version}")).is_some())
    }
}

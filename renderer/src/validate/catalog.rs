//! A folder of JSON schemas, named as kubeconform names them.
//!
//! In: a folder, or a pattern of paths with `{{.Group}}`, `{{.ResourceKind}}` and so on in it. Out: the schema of a kind.

use std::path::{Path, PathBuf};

use diagnostic::{Error, ErrorKind, Result};
use kubeschema::{Gvk, Schema};
use vfs::{Disk, Files};
use yamltree::{Expansion, ParseOptions};

/// The layout of CRD catalogs.
const LAYOUT: &str = "{{.Group}}/{{.ResourceKind}}_{{.ResourceAPIVersion}}.json";

/// The variables of a pattern.
const VARIABLES: [&str; 6] = [
    "{{.Group}}",
    "{{.ResourceKind}}",
    "{{.ResourceAPIVersion}}",
    "{{.NormalizedKubernetesVersion}}",
    "{{.StrictSuffix}}",
    "{{.KindSuffix}}",
];

/// A catalog of schemas.
#[derive(Clone, Debug)]
pub(crate) struct Catalog {
    pattern: String,
}

impl Catalog {
    /// A folder, or a pattern of paths.
    ///
    /// # Errors
    /// A folder that is not there, and a variable that is unknown.
    pub(crate) fn new(text: &str) -> Result<Self> {
        let usage = |sentence: String| Error::new(ErrorKind::Usage, sentence);
        if text.contains("://") {
            return Err(usage(format!("`{text}` is an address: schemas are read from folders only"))
                .hint("clone or unpack it first, so that a run depends on nothing that may change"));
        }
        if !text.contains("{{") {
            if !Path::new(text).is_dir() {
                return Err(Error::new(ErrorKind::Invalid, format!("the directory `{text}` does not exist")));
            }
            return Ok(Self { pattern: format!("{}/{LAYOUT}", text.trim_end_matches('/')) });
        }
        // Spaces within the braces are as good as none.
        let pattern = text.replace("{{ ", "{{").replace(" }}", "}}");
        let rest = VARIABLES.iter().fold(pattern.clone(), |rest, variable| rest.replace(variable, ""));
        if rest.contains("{{") {
            return Err(usage(format!("unknown variable between braces in `{text}`"))
                .hint(format!("the variables are {}", VARIABLES.join(", "))));
        }
        Ok(Self { pattern })
    }

    /// The schema of a kind, where there is one.
    ///
    /// # Errors
    /// A schema that cannot be read.
    pub(crate) fn schema(&self, gvk: &Gvk, minor: &str) -> Result<Option<Schema>> {
        let path = self.path(gvk, minor);
        let disk = Disk::new();
        let Ok((real, vfs::FileKind::File)) = disk.resolve(&path) else { return Ok(None) };
        let bytes = disk.read(&real).map_err(|error| Error::io("read", &path, &error))?;
        let refuse = |reason: &str| {
            Error::new(
                ErrorKind::Invalid,
                format!("the schema `{}` cannot be read: {reason}", path.display()),
            )
        };
        let text = std::str::from_utf8(&bytes).map_err(|_| refuse("it is not valid UTF-8"))?;
        let document = yamltree::parse_first(text, 0, &ParseOptions::default())
            .map_err(|error| refuse(error.message()))?
            .ok_or_else(|| refuse("it is empty"))?;
        let mut root = document.root;
        root.expand_aliases(Expansion::Decoded(yamltree::Dialect::V3))
            .map_err(|error| refuse(error.message()))?;
        Ok(Some(Schema::read_json_schema(&root)))
    }

    fn path(&self, gvk: &Gvk, minor: &str) -> PathBuf {
        let Gvk { group, version, kind } = gvk;
        let first_of_group = group.split('.').next().unwrap_or_default();
        let suffix =
            if group.is_empty() { format!("-{version}") } else { format!("-{first_of_group}-{version}") };
        let values = [
            group.clone(),
            kind.to_lowercase(),
            version.clone(),
            format!("v{minor}.0"),
            "-strict".to_owned(),
            suffix.to_lowercase(),
        ];
        // A kind is a manifest's word, and must not lead out of the folder.
        let safe = |value: &str| value.replace(['/', '\\'], "_").replace("..", "_");
        let named = VARIABLES.iter().zip(&values);
        let path =
            named.fold(self.pattern.clone(), |path, (variable, value)| path.replace(variable, &safe(value)));
        PathBuf::from(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_has_the_path_that_kubeconform_gives_it() {
        let path = |pattern: &str, api_version: &str, kind: &str| {
            let catalog = Catalog { pattern: pattern.to_owned() };
            catalog.path(&Gvk::new(api_version, kind), "1.34").display().to_string()
        };
        let standard = "{{.NormalizedKubernetesVersion}}-standalone{{.StrictSuffix}}/{{.ResourceKind}}{{.KindSuffix}}.json";
        assert_eq!(path(standard, "v1", "Service"), "v1.34.0-standalone-strict/service-v1.json");
        assert_eq!(
            path(standard, "networking.k8s.io/v1", "Ingress"),
            "v1.34.0-standalone-strict/ingress-networking-v1.json"
        );
        assert_eq!(path(LAYOUT, "example.com/v1", "Widget"), "example.com/widget_v1.json");
        assert_eq!(path(LAYOUT, "example.com/v1", "../../etc/passwd"), "example.com/____etc_passwd_v1.json");
    }

    #[test]
    fn what_is_no_folder_is_refused() {
        assert_eq!(Catalog::new("https://example.com/").unwrap_err().kind(), ErrorKind::Usage);
        assert_eq!(Catalog::new("{{.Other}}").unwrap_err().kind(), ErrorKind::Usage);
        assert_eq!(Catalog::new("nowhere/at/all").unwrap_err().kind(), ErrorKind::Invalid);
        assert!(Catalog::new("schemas/{{ .Group }}.json").is_ok());
    }
}

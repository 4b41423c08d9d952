//! The sources of Kustomizations and charts: GitRepositories, OCIRepositories and Buckets as directories.
//!
//! In: a reference, what is known of the cluster, and which repositories are where. Out: a folder. Refused, with what to
//! add to the context: a source that is not this repository and that the context does not have.

use std::path::{Path, PathBuf};

use argocd::Repositories;
use argocd::objects::Object;
use diagnostic::{Error, Result};
use yamltree::Location;

use crate::known::Lookup;
use crate::section::Section;
use crate::warning::{Code, Warning};

/// The group of sources.
pub const GROUP: &str = "source.toolkit.fluxcd.io";

/// The source that `flux bootstrap` makes of the repository itself.
const BOOTSTRAPPED: &str = "flux-system";

/// A reference to a source.
#[derive(Clone, Debug)]
pub struct SourceRef {
    /// The kind.
    pub kind: String,
    /// The name.
    pub name: String,
    /// The namespace.
    pub namespace: String,
    /// The location of the source.
    pub place: Option<Location>,
}

/// A source in a folder.
#[derive(Clone, Debug)]
pub(crate) struct Folder {
    pub(crate) path: PathBuf,
    /// The ignore patterns.
    pub(crate) ignored: String,
    pub(crate) warnings: Vec<Warning>,
}

/// The known repositories.
#[derive(Clone, Copy, Debug)]
pub struct Places<'p> {
    /// The repository that is rendered.
    pub root: &'p Path,
    /// Others, by their addresses.
    pub repositories: &'p Repositories,
}

impl SourceRef {
    pub(crate) fn read(section: &Section<'_>, own_namespace: &str) -> Result<Self> {
        let namespace = section.text("namespace")?;
        let namespace = if namespace.is_empty() { own_namespace.to_owned() } else { namespace };
        Ok(Self {
            kind: section.required("kind")?,
            name: section.required("name")?,
            namespace,
            place: section.place("name"),
        })
    }

    /// The object, where a file or a Kustomization has it.
    pub(crate) fn object<'k>(&self, known: &Lookup<'k>) -> Option<&'k Object> {
        known.get(GROUP, &self.kind, &self.namespace, &self.name)
    }

    pub(crate) fn missing(&self) -> Error {
        let Self { kind, name, namespace, .. } = self;
        Error::invalid(format!("no {kind} `{namespace}/{name}` found in the repository"))
            .at(self.place.clone())
    }

    /// The folder that the source stands for.
    pub(crate) fn folder(&self, known: &Lookup<'_>, places: Places<'_>) -> Result<Folder> {
        let here = |ignored: String, warnings| Folder { path: places.root.to_owned(), ignored, warnings };
        let Some(object) = self.object(known) else {
            let is_lone =
                self.kind == "GitRepository" && known.names(GROUP, "GitRepository").next().is_none();
            if is_lone || self.name == BOOTSTRAPPED {
                return Ok(here(String::new(), Vec::new()));
            }
            return Err(self
                .missing()
                .hint("add a file with it, or name the source that this repository is"));
        };
        let spec = Section::of(object, "spec")?;
        let ignored = spec.text("ignore")?;
        let warnings = self.unfollowed(&spec)?;
        let address = match self.kind.as_str() {
            "Bucket" => format!("{}/{}", spec.text("endpoint")?, spec.text("bucketName")?),
            _ => spec.text("url")?,
        };
        let reference = spec.section("ref")?;
        if places.repositories.has(&address) {
            let mut revision = String::new();
            for field in ["commit", "name", "semver", "tag", "branch"] {
                if revision.is_empty() {
                    revision = reference.text(field)?;
                }
            }
            let checkout = places
                .repositories
                .find(&address, &revision)
                .map_err(|error| error.at(self.place.clone()))?;
            return Ok(Folder { path: checkout.folder().to_owned(), ignored, warnings });
        }
        let others = known.names(GROUP, "GitRepository").filter(|name| *name != self.name).count();
        if self.name == BOOTSTRAPPED || (self.kind == "GitRepository" && others == 0) {
            return Ok(here(ignored, warnings));
        }
        let shown = argocd::repositories::shown(&address);
        let Self { kind, name, namespace, .. } = self;
        Err(Error::invalid(format!("the {kind} `{namespace}/{name}` is `{shown}`, which is not here"))
            .at(self.place.clone())
            .hint("check it out, and add it to `repositories` of the context file: `{url: …, path: …}`"))
    }

    /// Returns what of a source only Flux follows.
    fn unfollowed(&self, spec: &Section<'_>) -> Result<Vec<Warning>> {
        let Self { kind, name, .. } = self;
        let mut warnings = Vec::new();
        if !spec.items("include")?.is_empty() {
            let message = format!("the {kind} `{name}` includes other sources, which are left out");
            warnings.push(Warning::new(Code::NotFollowed, message).at(spec.place("include")));
        }
        Ok(warnings)
    }
}

//! The versions that ranges of versions stand for.

use diagnostic::Result;
use gotemplate::semver::{Constraints, Version};
use helm_lite::Dependency;

use super::origin::Origin;
use super::{Manager, input, resolved};
use crate::remote::charts::Locked;

impl Manager<'_> {
    /// Resolves dependencies, whose origins are in the same order.
    pub(super) fn resolve(&self, declared: &[Dependency], origins: &[Origin<'_>]) -> Result<Vec<Dependency>> {
        let mut list = Vec::with_capacity(declared.len());
        let mut missing = Vec::new();
        for (dependency, origin) in declared.iter().zip(origins) {
            match self.version(dependency, origin)? {
                Some(version) => list.push(resolved(dependency, version)),
                None => {
                    let Dependency { name, repository, version, .. } = dependency;
                    let repository = diagnostic::redact(repository);
                    missing.push(format!("{name:?} (repository {repository:?}, version {version:?})"));
                }
            }
        }
        if missing.is_empty() {
            return Ok(list);
        }
        Err(input(format!(
            "can't get a valid version for {} subchart(s): {}. Make sure a matching chart version exists in the repo, \
             or change the version constraint in Chart.yaml",
            missing.len(),
            missing.join(", ")
        )))
    }

    fn version(&self, dependency: &Dependency, origin: &Origin<'_>) -> Result<Option<String>> {
        let Dependency { name, version, .. } = dependency;
        let constraints = Constraints::parse(version).map_err(|error| {
            input(format!("dependency {name:?} has an invalid version/constraint format: {error}"))
        })?;
        match origin {
            Origin::Beside => {
                self.local(&format!("charts/{name}"))?;
                Ok(Some(version.clone()))
            }
            Origin::Folder(path) => {
                let found = self.chart(path)?.metadata.version;
                Ok(Version::parse(&found).ok().filter(|version| constraints.check(version)).map(|_| found))
            }
            // One version is taken at its word.
            Origin::Registry(_) if Version::parse(version).is_ok() => Ok(Some(version.clone())),
            Origin::Registry(url) => {
                let reference = format!("{}/{name}", url.trim_end_matches('/'));
                self.sources.newest_tag(&reference, version, self.access).map_err(|error| {
                    let repository = diagnostic::redact(url).into_owned();
                    let sentence = format!(
                        "could not retrieve list of tags for repository {repository}: {}",
                        error.message()
                    );
                    input(sentence)
                })
            }
            Origin::Known(_) | Origin::Stranger(_) => {
                let locked = self.locked(dependency, origin);
                locked.map_or(Ok(None), |locked| self.sources.newest(&locked, &constraints))
            }
        }
    }

    /// Returns what to ask a repository for; nothing where the origin is none.
    pub(super) fn locked<'l>(
        &'l self,
        dependency: &'l Dependency,
        origin: &'l Origin<'_>,
    ) -> Option<Locked<'l>> {
        let (url, known) = match origin {
            Origin::Known(repository) => (dependency.repository.as_str(), Some(*repository)),
            Origin::Stranger(url) => (url.as_str(), None),
            _ => return None,
        };
        let Dependency { name, version, .. } = dependency;
        Some(Locked { name, version, url, known, access: &self.stranger, is_fresh: self.refreshes })
    }
}

//! Which engine a source is for.
//!
//! In: a source, merged with what its repository says, and its folder. Out: the engine. Refused: two sections at once.

use std::path::Path;

use diagnostic::{Error, Result};
use kustomize_edit::FILE_NAMES;
use vfs::{FileKind, Files};

use super::fields::place_of;
use super::settings::Settings;
use super::source::Source;
use crate::objects::Sources;

/// The engine that renders a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// A chart.
    Helm,
    /// A kustomization.
    Kustomize,
    /// Manifests as they are.
    Directory,
    /// A plugin.
    Plugin,
}

impl Engine {
    /// Its name, as Argo CD has it for the type of a source.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Helm => "Helm",
            Self::Kustomize => "Kustomize",
            Self::Directory => "Directory",
            Self::Plugin => "Plugin",
        }
    }

    /// The engine of a source in a folder (types.go `ExplicitType`, discovery.go `Discover`).
    pub(crate) fn of(
        source: &Source,
        texts: &Sources,
        folder: &Path,
        files: &dyn Files,
        settings: Settings<'_>,
    ) -> Result<Self> {
        let sections = [
            (Self::Kustomize, "kustomize", source.kustomize.as_ref().map(|section| section.span)),
            (Self::Helm, "helm", source.helm.as_ref().map(|section| section.span)),
            (Self::Directory, "directory", source.directory.as_ref().map(|section| section.span)),
            (Self::Plugin, "plugin", source.plugin.as_ref().map(|section| section.span)),
        ];
        let given: Vec<_> =
            sections.iter().filter_map(|(engine, name, at)| Some((engine, name, (*at)?))).collect();
        match given.as_slice() {
            [] => Ok(Self::discovered(folder, files, settings)),
            [(engine, ..)] if engine.is_enabled(settings) => Ok(**engine),
            [_] => Ok(Self::Directory),
            several => {
                let names: Vec<String> = several.iter().map(|(_, name, _)| format!("`{name}`")).collect();
                let second = several.iter().map(|(.., at)| *at).max_by_key(|at| (at.source, at.start));
                Err(Error::invalid(format!("the source has {} at once", names.join(" and ")))
                    .at(second.and_then(|at| place_of(texts, at)))
                    .hint("a source is rendered by one of them: keep that, and remove the others"))
            }
        }
    }

    /// By the names of the files in the folder: of several the last in byte order decides.
    pub(crate) fn discovered(folder: &Path, files: &dyn Files, settings: Settings<'_>) -> Self {
        let names = files.list(folder).unwrap_or_default();
        let engine = |name: &String| {
            let engine = if FILE_NAMES.contains(&name.as_str()) {
                Self::Kustomize
            } else if name.ends_with("Chart.yaml") {
                Self::Helm
            } else {
                return None;
            };
            let is_file = matches!(files.resolve(&folder.join(name)), Ok((_, FileKind::File)));
            (is_file && engine.is_enabled(settings)).then_some(engine)
        };
        names.iter().rev().find_map(engine).unwrap_or(Self::Directory)
    }

    fn is_enabled(self, settings: Settings<'_>) -> bool {
        match self {
            Self::Helm => settings.is_enabled("helm.enable"),
            Self::Kustomize => settings.is_enabled("kustomize.enable"),
            Self::Directory | Self::Plugin => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use vfs::MemoryTree;

    use super::*;

    fn found(names: &[&str], settings: &[(&str, &str)]) -> Engine {
        let tree: MemoryTree = names.iter().map(|name| (format!("app/{name}"), b"" as &[u8])).collect();
        let settings: BTreeMap<String, String> =
            settings.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        Engine::discovered(Path::new("/app"), &tree, Settings(&settings))
    }

    #[test]
    fn the_last_name_in_byte_order_decides() {
        for (names, want) in [
            (&["Chart.yaml", "kustomization.yaml"][..], Engine::Kustomize),
            (&["Kustomization", "MyChart.yaml"], Engine::Helm),
            (&["Chart.yml", "a.yaml"], Engine::Directory),
            (&["below/Chart.yaml"], Engine::Directory),
            (&["kustomization.yml/a"], Engine::Directory),
        ] {
            assert_eq!(found(names, &[]), want, "{names:?}");
        }
        let both = ["Chart.yaml", "kustomization.yaml"];
        assert_eq!(found(&both, &[("kustomize.enable", "false")]), Engine::Helm);
        assert_eq!(found(&both, &[("kustomize.enable", "")]), Engine::Kustomize);
    }
}

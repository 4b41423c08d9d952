//! The annotation by which Argo CD knows which files an Application depends on, held against what it really read.
//!
//! In: what a rendering consulted, and the folders of the sources. Out: the paths that the annotation should have, or those
//! of the consulted files that it misses. A change counts for Argo CD when it is at one of the paths, below it, or matches it
//! as a pattern (util/app/path/path.go `AppFilesHaveChanged`).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use glob::path_match;
use vfs::{ReadSet, clean};

/// The annotation of an Application.
pub const ANNOTATION: &str = "argocd.argoproj.io/manifest-generate-paths";

/// Files that show that the folder around them is read as a whole.
const MARKS: [&str; 4] = ["Chart.yaml", "kustomization.yaml", "kustomization.yml", "Kustomization"];

/// A repository, and the folders in it that sources name.
#[derive(Clone, Debug)]
pub struct SourceFolders {
    /// The repository's real path.
    pub root: PathBuf,
    /// Folders from there.
    pub folders: Vec<PathBuf>,
}

impl SourceFolders {
    /// The paths that cover what was consulted: those below a source's folder as `.`, others from the repository's root.
    #[must_use]
    pub fn suggest(&self, consulted: &ReadSet) -> Vec<String> {
        let files = self.files(consulted);
        let units: BTreeSet<&Path> = files
            .iter()
            .filter(|file| file.file_name().is_some_and(|name| MARKS.iter().any(|mark| name == *mark)))
            .filter_map(|file| file.parent())
            .collect();
        let mut needs_own = false;
        let mut others: BTreeSet<&Path> = BTreeSet::new();
        for file in &files {
            if self.folders.iter().any(|folder| file.starts_with(folder)) {
                needs_own = true;
                continue;
            }
            // The outermost folder that is read as a whole; a folder within needs no word.
            let unit = file.ancestors().skip(1).filter(|folder| units.contains(folder)).last();
            others.insert(unit.unwrap_or(file));
        }
        let is_within = |path: &Path| path.ancestors().skip(1).any(|folder| others.contains(folder));
        let shown = others.iter().filter(|path| !is_within(path)).map(|path| format!("/{}", path.display()));
        needs_own.then(|| ".".to_owned()).into_iter().chain(shown).collect()
    }

    /// The consulted files that an annotation does not cover.
    #[must_use]
    pub fn uncovered(&self, annotation: &str, consulted: &ReadSet) -> Vec<PathBuf> {
        let paths: Vec<PathBuf> = annotation.split(';').flat_map(|path| self.located(path)).collect();
        let covers = |file: &Path| {
            paths.iter().any(|path| {
                let matches = || path_match(&path.to_string_lossy(), &file.to_string_lossy());
                file.starts_with(path) || matches().unwrap_or(false)
            })
        };
        self.files(consulted).into_iter().filter(|file| !covers(file)).collect()
    }

    /// Returns what a path of the annotation stands for (`GetAppRefreshPaths`).
    fn located(&self, path: &str) -> Vec<PathBuf> {
        let path = path.trim();
        if path.is_empty() {
            return Vec::new();
        }
        match path.strip_prefix('/') {
            Some(path) => vec![from_root(Path::new(path))],
            None => self.folders.iter().map(|folder| from_root(&folder.join(path))).collect(),
        }
    }

    /// The consulted files of the repository, from its root, in the order of their paths.
    fn files(&self, consulted: &ReadSet) -> Vec<PathBuf> {
        let within = consulted.files.iter().filter_map(|file| file.strip_prefix(&self.root).ok());
        within.map(Path::to_owned).collect()
    }
}

/// A path from the root, above which nothing leads.
fn from_root(path: &Path) -> PathBuf {
    let path = clean(&Path::new("/").join(path));
    path.strip_prefix("/").map(Path::to_owned).unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn consulted(files: &[&str]) -> ReadSet {
        let files = files.iter().map(|file| Path::new("/repo").join(file)).collect();
        ReadSet { files, ..ReadSet::default() }
    }

    fn folders(folders: &[&str]) -> SourceFolders {
        SourceFolders { root: "/repo".into(), folders: folders.iter().map(PathBuf::from).collect() }
    }

    #[test]
    fn folders_that_are_read_as_a_whole_are_named_once() {
        let set = consulted(&[
            "apps/web/overlays/prod/kustomization.yaml",
            "apps/web/overlays/prod/patch.yaml",
            "apps/web/base/kustomization.yaml",
            "apps/web/base/deployment.yaml",
            "envs/prod/values.yaml",
            "charts/common/Chart.yaml",
            "charts/common/charts/lib/Chart.yaml",
            "charts/common/charts/lib/templates/_helpers.tpl",
        ]);
        let sources = folders(&["apps/web/overlays/prod"]);
        assert_eq!(
            sources.suggest(&set),
            [".", "/apps/web/base", "/charts/common", "/envs/prod/values.yaml"]
        );
        assert!(sources.uncovered(&sources.suggest(&set).join(";"), &set).is_empty());
    }

    #[test]
    fn what_the_annotation_misses_is_named() {
        let set = consulted(&["apps/web/a.yaml", "apps/base/b.yaml", "envs/prod/values.yaml"]);
        let sources = folders(&["apps/web"]);
        for (annotation, missed) in [
            (".", &["apps/base/b.yaml", "envs/prod/values.yaml"][..]),
            (".;../base", &["envs/prod/values.yaml"]),
            ("/apps;/envs/*/values.yaml", &[]),
            ("/apps;/envs/dev", &["envs/prod/values.yaml"]),
            // A folder's name alone is no beginning of another's.
            ("/app;/env", &["apps/base/b.yaml", "apps/web/a.yaml", "envs/prod/values.yaml"]),
            ("", &["apps/base/b.yaml", "apps/web/a.yaml", "envs/prod/values.yaml"]),
        ] {
            let missed: Vec<PathBuf> = missed.iter().map(PathBuf::from).collect();
            assert_eq!(sources.uncovered(annotation, &set), missed, "{annotation}");
        }
    }

    #[test]
    fn a_source_at_the_root_needs_nothing_but_itself() {
        let set = consulted(&["kustomization.yaml", "base/a.yaml"]);
        assert_eq!(folders(&[""]).suggest(&set), ["."]);
    }
}

//! The value files of a chart, as the repo-server finds them (repository.go `getResolvedValueFiles`).
//!
//! In: what an Application names: paths, patterns, `$ref/…` of another source, addresses. Out: files in the order in which
//! their values count. Refused, with the place of the entry: what leads out of a repository, patterns and files without a
//! match, schemes of addresses that the settings do not allow, and names that no source has.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use diagnostic::{Error, Result};
use yamltree::Span;

use super::checkout::{Absence, Checkout};
use super::doublestar;
use super::environment::Environment;
use super::fields::{At, place_of};
use super::source::Helm;
use crate::objects::Sources;

/// The repositories that sources may refer to, by `$name`.
pub(crate) type References<'f> = BTreeMap<String, Checkout<'f>>;

/// The source of a values file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ValueFile {
    /// A file of a repository.
    File(PathBuf),
    /// An address.
    Url(String),
}

/// Resolves the paths of a source.
pub(crate) struct Resolver<'r> {
    pub(crate) checkout: &'r Checkout<'r>,
    /// The source's folder.
    pub(crate) folder: &'r Path,
    pub(crate) references: &'r References<'r>,
    pub(crate) environment: &'r Environment,
    pub(crate) schemes: Vec<&'r str>,
    pub(crate) texts: &'r Sources,
}

/// A path of a source, and the repository that it is in.
enum Resolved<'r> {
    Url(String),
    Path(&'r Checkout<'r>, PathBuf),
}

impl<'r> Resolver<'r> {
    /// The value files of a chart.
    pub(crate) fn value_files(&self, helm: &Helm) -> Result<Vec<ValueFile>> {
        // A file that is named is where it is named, also when a pattern before has found it.
        let mut named = HashSet::new();
        for entry in &helm.value_files {
            if let Ok(Resolved::Path(_, path)) = self.resolve(&entry.value, entry.span)
                && !doublestar::is_pattern(&path.to_string_lossy())
            {
                named.insert(path);
            }
        }
        let (mut found, mut seen) = (Vec::new(), HashSet::new());
        for entry in &helm.value_files {
            for file in self.files_of(entry, helm.ignore_missing_value_files, &named)? {
                if seen.insert(file.clone()) {
                    found.push(file);
                }
            }
        }
        Ok(found)
    }

    /// The file of a parameter.
    pub(crate) fn parameter_file(&self, path: &At<String>) -> Result<ValueFile> {
        match self.resolve(&path.value, path.span)? {
            Resolved::Url(url) => Ok(ValueFile::Url(url)),
            Resolved::Path(checkout, file) => match checkout.file(&file) {
                Ok(_) => Ok(ValueFile::File(file)),
                Err(absence) => Err(self.refuse(&absence, &path.value, path.span)),
            },
        }
    }

    fn files_of(
        &self,
        entry: &At<String>,
        ignores_missing: bool,
        named: &HashSet<PathBuf>,
    ) -> Result<Vec<ValueFile>> {
        let (checkout, path) = match self.resolve(&entry.value, entry.span)? {
            Resolved::Url(url) => return Ok(vec![ValueFile::Url(url)]),
            Resolved::Path(checkout, path) => (checkout, path),
        };
        if doublestar::is_pattern(&path.to_string_lossy()) {
            return self.matching(entry, checkout, &path, ignores_missing, named);
        }
        match checkout.file(&path) {
            Ok(_) => Ok(vec![ValueFile::File(path)]),
            Err(Absence::Missing) if ignores_missing => Ok(Vec::new()),
            Err(absence) => Err(self.refuse(&absence, &entry.value, entry.span)),
        }
    }

    fn matching(
        &self,
        entry: &At<String>,
        checkout: &Checkout<'_>,
        path: &Path,
        ignores_missing: bool,
        named: &HashSet<PathBuf>,
    ) -> Result<Vec<ValueFile>> {
        let below = path.strip_prefix(checkout.root()).unwrap_or(path);
        let found = doublestar::expand(checkout.root(), &below.to_string_lossy(), checkout.files)
            .map_err(|message| self.error(message, entry.span))?;
        if found.is_empty() && !ignores_missing {
            let message = format!("no value file matches `{}`", entry.value);
            return Err(self
                .error(message, entry.span)
                .hint("set `ignoreMissingValueFiles: true` to allow missing files"));
        }
        for file in &found {
            checkout.file(file).map_err(|absence| {
                let shown = checkout.files.display(file);
                self.refuse(&absence, &shown, entry.span)
            })?;
        }
        Ok(found.into_iter().filter(|file| !named.contains(file)).map(ValueFile::File).collect())
    }

    /// Returns what a path leads to (resolved.go `ResolveValueFilePathOrUrl`).
    fn resolve(&self, text: &str, span: Span) -> Result<Resolved<'r>> {
        let reference = text.split('/').next().unwrap_or_default();
        let (checkout, folder, text) = match self.references.get(reference) {
            // Variables are put in behind the name, which is none itself.
            Some(checkout) => {
                let path = &text[reference.len()..];
                let path = self.environment.expand(if path.is_empty() { "/" } else { path });
                (checkout, checkout.root(), path)
            }
            None => (self.checkout, self.folder, self.environment.expand(text)),
        };
        if let Some(scheme) = scheme(&text) {
            if self.schemes.iter().any(|allowed| allowed.eq_ignore_ascii_case(scheme)) {
                return Ok(Resolved::Url(text));
            }
            let message = format!("value files may not come from addresses that begin with `{scheme}:`");
            return Err(self
                .error(message, span)
                .hint("`helm.valuesFileSchemes` in `argocd-cm` names those that may"));
        }
        let path = checkout.locate(folder, &text).map_err(|absence| self.refuse(&absence, &text, span))?;
        if path == checkout.root() {
            return Err(self.error(format!("`{text}` is the repository itself"), span));
        }
        Ok(Resolved::Path(checkout, path))
    }

    fn refuse(&self, absence: &Absence, path: &str, span: Span) -> Error {
        match absence {
            Absence::Outside => self.error(format!("`{path}` is outside of the repository"), span),
            Absence::Missing => {
                let error = self.error(format!("the file `{path}` does not exist"), span);
                error.hint(
                    "paths are relative to the chart's directory, or to the repository with a leading `/`",
                )
            }
            Absence::WrongKind => self.error(format!("`{path}` is a directory, not a file"), span),
            Absence::Unreadable(reason) => self.error(format!("cannot read `{path}`: {reason}"), span),
        }
    }

    fn error(&self, message: impl Into<String>, span: Span) -> Error {
        Error::invalid(message).at(place_of(self.texts, span))
    }
}

/// The scheme of an address, as Go's `url.Parse` finds it.
fn scheme(text: &str) -> Option<&str> {
    let (scheme, _) = text.split_once(':')?;
    let mut bytes = scheme.bytes();
    let is_scheme = bytes.next().is_some_and(|first| first.is_ascii_alphabetic())
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    is_scheme.then_some(scheme)
}

#[cfg(test)]
mod tests {
    use vfs::MemoryTree;

    use super::super::environment::Identity;
    use super::*;

    const FILES: [&str; 6] = [
        "repo/charts/web/values-a.yaml",
        "repo/charts/web/values-b.yaml",
        "repo/common.yaml",
        "repo/web/x.yaml",
        "other/envs/prod.yaml",
        "elsewhere/secret.yaml",
    ];

    /// Returns what the value files of a chart resolve to, without what all paths begin with; a fault as its sentence.
    fn resolved(entries: &[&str], ignores_missing: bool) -> Result<Vec<String>, String> {
        let mut tree: MemoryTree = FILES.iter().map(|path| (*path, b"" as &[u8])).collect();
        tree.add_link(Path::new("repo/charts/web/out.yaml"), PathBuf::from("../../../elsewhere/secret.yaml"))
            .unwrap();
        let checkout = Checkout::new(Path::new("/repo"), &tree).unwrap();
        let mut references = References::new();
        references.insert("$other".to_owned(), Checkout::new(Path::new("/other"), &tree).unwrap());
        let environment = Environment::of(&Identity {
            application: "web",
            namespace: "shop",
            project: "default",
            revision: "",
            repo_url: "",
            path: "charts/web",
            target_revision: "",
        });
        let resolver = Resolver {
            checkout: &checkout,
            folder: Path::new("/repo/charts/web"),
            references: &references,
            environment: &environment,
            schemes: vec!["https"],
            texts: &Sources::from([]),
        };
        let entry = |text: &&str| At { value: (*text).to_owned(), ..At::default() };
        let helm = Helm {
            value_files: entries.iter().map(entry).collect(),
            ignore_missing_value_files: ignores_missing,
            ..Helm::default()
        };
        let files = resolver.value_files(&helm).map_err(|error| error.message().to_owned())?;
        let shown = |file: &ValueFile| match file {
            ValueFile::File(path) => path.display().to_string(),
            ValueFile::Url(url) => url.clone(),
        };
        Ok(files.iter().map(shown).collect())
    }

    #[test]
    fn paths_mean_what_argo_cd_takes_them_for() {
        for (entries, want) in [
            (&["values-a.yaml"][..], &["/repo/charts/web/values-a.yaml"][..]),
            (&["../../common.yaml", "/common.yaml"], &["/repo/common.yaml"]),
            (&["/$ARGOCD_APP_NAME/x.yaml"], &["/repo/web/x.yaml"]),
            // No source is called so: the name is an empty variable, and the rest begins at the root.
            (&["$none/common.yaml"], &["/repo/common.yaml"]),
            (&["$other/envs/prod.yaml", "$other/envs/*.yaml"], &["/other/envs/prod.yaml"]),
            (&["HTTPS://h/v.yaml"], &["HTTPS://h/v.yaml"]),
            (
                &["values-*.yaml", "values-a.yaml"],
                &["/repo/charts/web/values-b.yaml", "/repo/charts/web/values-a.yaml"],
            ),
        ] {
            let want: Vec<String> = want.iter().map(|path| (*path).to_owned()).collect();
            assert_eq!(resolved(entries, false), Ok(want), "{entries:?}");
        }
    }

    #[test]
    fn what_is_not_there_or_leads_out_is_refused() {
        for (entry, ignores_missing, want) in [
            ("none.yaml", false, Some("the file `none.yaml` does not exist")),
            ("none.yaml", true, None),
            ("none-*.yaml", false, Some("no value file matches `none-*.yaml`")),
            ("none-*.yaml", true, None),
            (
                "../../../elsewhere/secret.yaml",
                true,
                Some("`../../../elsewhere/secret.yaml` is outside of the repository"),
            ),
            ("out.yaml", true, Some("`out.yaml` is outside of the repository")),
            ("o*.yaml", true, Some("`repo/charts/web/out.yaml` is outside of the repository")),
            ("$other/../repo/common.yaml", true, Some("`/../repo/common.yaml` is outside of the repository")),
            ("/", false, Some("`/` is the repository itself")),
            ("/charts", false, Some("`/charts` is a directory, not a file")),
            ("ftp://h/v.yaml", true, Some("value files may not come from addresses that begin with `ftp:`")),
        ] {
            let want = want.map_or(Ok(Vec::new()), |sentence| Err(sentence.to_owned()));
            assert_eq!(resolved(&[entry], ignores_missing), want, "{entry}");
        }
    }
}

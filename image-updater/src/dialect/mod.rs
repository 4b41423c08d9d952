//! Dialects: what others have written for other tools, read as work for this one.
//!
//! In: the files of a repository, and where they are. Out: batches of work, what has to be known of registries, and two
//! lists: faults, each of which leaves out an image, an Application or an automation and no other, and warnings of what
//! is not carried over. A file that names none of a dialect's objects costs a search in its text. Refused: fields that
//! an object does not have, what its own tool would refuse, and what would be done only in part.
//!
//! A dialect is a file or folder here, and a line in `DIALECTS`.

pub(crate) mod argocd;
#[cfg(any(feature = "kube", test))]
pub(crate) mod field;
pub(crate) mod flux;
mod labels;
mod objects;
mod print;
pub(crate) mod status;

use diagnostic::Error;
use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap, HashSet};

use oci_registry::Repository;

use crate::config::Registry;
use crate::crds::Definition;
use crate::files;
use crate::work::{Batch, Delivery, Files, Update};
pub use print::print;

/// The work found in the files of a repository.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The work.
    pub batches: Vec<Batch>,
    /// The settings of single registries.
    pub registries: Vec<Registry>,
    /// The errors: each has excluded something.
    pub faults: Vec<Error>,
    /// Settings that are not supported or have no effect.
    pub warnings: Vec<Error>,
    /// The namespace of Argo CD, where the files are the objects of a cluster, whose Secrets can be read.
    live: Option<String>,
    /// The tenants of the batches, if there are several.
    tenants: Vec<Tenant>,
    /// The registry settings of the current image, until they are added.
    noted: Option<Registry>,
    /// The batches of each place of files.
    by_files: HashMap<Files, Vec<usize>>,
    /// The registries by what they are of.
    by_prefix: HashMap<String, usize>,
    /// The notices that were already added, as several images may share one source.
    said: HashSet<String>,
}

/// The owner of a batch: its registry settings do not apply to others.
#[derive(Clone, Debug, Default)]
struct Tenant {
    registries: Vec<Registry>,
    /// All images of the batch, however they are spelled in it.
    images: BTreeSet<String>,
}

/// The input files.
#[derive(Clone, Copy, Debug)]
struct Input<'i> {
    /// Files with their paths from the root of the repository.
    files: &'i [(String, String)],
    /// The repository of these files.
    home: &'i Files,
}

/// Objects of another tool.
struct Dialect {
    /// The name of the tool.
    name: &'static str,
    /// A file that has none of these texts has none of its objects.
    signs: &'static [&'static str],
    /// Other signs of files that it reads, if there are objects of its own.
    uses: &'static [&'static str],
    /// The CRDs of its kinds.
    definitions: &'static [Definition],
    read: fn(Input<'_>, &mut Found),
}

const DIALECTS: &[Dialect] = &[flux::DIALECT, argocd::DIALECT];

/// Reads what is written for other tools in the files of a repository: pairs of a path from its root and a text.
#[must_use]
pub fn read(files: &[(String, String)], home: &Files) -> Found {
    read_into(Found::default(), files, home)
}

/// Reads the objects of a cluster, each as a file by the name `KIND/NAMESPACE/NAME`. What one says of a registry counts
/// for its own images only.
pub(crate) fn read_live(objects: &[(String, String)], argocd_namespace: &str) -> Found {
    let live = Some(argocd_namespace.to_owned());
    read_into(Found { live, ..Found::default() }, objects, &Files::Applications)
}

fn read_into(mut found: Found, files: &[(String, String)], home: &Files) -> Found {
    for dialect in DIALECTS {
        if files.iter().any(|(_, text)| dialect.signs.iter().any(|sign| text.contains(sign))) {
            (dialect.read)(Input { files, home }, &mut found);
        }
    }
    found.faults.sort_by(in_order);
    found.warnings.sort_by(in_order);
    found
}

/// The order of the places that errors are about.
fn in_order(first: &Error, second: &Error) -> Ordering {
    let position = |error: &Error| error.location().map(|it| (it.path().to_owned(), it.span.start));
    position(first).cmp(&position(second))
}

/// Returns true if a file may have to do with the objects of any dialect, by its path and text.
#[must_use]
pub fn concerns(path: &str, text: &str) -> bool {
    let has = |signs: &[&str]| signs.iter().any(|sign| text.contains(sign));
    tells(path) || DIALECTS.iter().any(|dialect| has(dialect.signs) || has(dialect.uses))
}

/// Returns true if a file tells what renders a folder, wherever it is.
pub(crate) fn tells(path: &str) -> bool {
    argocd::TELLING.contains(&path.rsplit('/').next().unwrap_or(path))
}

/// The tools whose objects are read.
pub fn names() -> impl Iterator<Item = &'static str> {
    DIALECTS.iter().map(|dialect| dialect.name)
}

/// Returns what the API server has to know of the kinds that are read.
pub(crate) fn definitions() -> impl Iterator<Item = &'static Definition> {
    DIALECTS.iter().flat_map(|dialect| dialect.definitions)
}

impl Found {
    /// Returns true if the files are the objects of a cluster.
    fn is_live(&self) -> bool {
        self.live.is_some()
    }

    /// Adds an image to the batch that is delivered so, or to a new one.
    fn add(&mut self, files: &Files, delivery: &Delivery, update: Update) {
        let noted = self.noted.take();
        let repository: Option<Repository> = update.image.parse().ok();
        let goes = |index: usize| {
            self.batches[index].delivery == *delivery
                && self.tenants[index].admits(repository.as_ref(), noted.as_ref())
        };
        let of_files = self.by_files.entry(files.clone()).or_default();
        let index = match of_files.iter().find(|index| goes(**index)) {
            Some(index) => {
                self.batches[*index].updates.push(update);
                *index
            }
            None => {
                of_files.push(self.batches.len());
                let (files, delivery) = (files.clone(), delivery.clone());
                self.batches.push(Batch { files, delivery, updates: vec![update] });
                self.tenants.push(Tenant::default());
                self.batches.len() - 1
            }
        };
        let Tenant { registries, images } = &mut self.tenants[index];
        registries.extend(noted.filter(|noted| !registries.contains(noted)));
        images.extend(repository.map(|repository| repository.to_string()));
    }

    /// Has what is written into Applications themselves be a fault: it is in no file.
    pub(crate) fn refuse_applications(&mut self) {
        for batch in &mut self.batches {
            let of_application =
                |update: &mut Update| update.spots.iter().any(|spot| spot.kind == "application");
            for update in batch.updates.extract_if(.., of_application) {
                let message = format!(
                    "`{}` is written into the Application itself, by the method `argocd`",
                    update.name
                );
                let error = Error::invalid(message).at(update.place);
                self.faults.push(error.hint("let `image-updater run --cluster` do it, or write back by git"));
            }
        }
        self.batches.retain(|batch| !batch.updates.is_empty());
    }

    /// The batches, each with what is particular to its registries, in a cluster.
    pub(crate) fn into_tenants(self) -> Vec<(Batch, Vec<Registry>)> {
        let tenants = self.tenants.into_iter().map(|tenant| tenant.registries);
        self.batches.into_iter().zip(tenants).collect()
    }

    /// Begins to read an image: what was noted for one that came to nothing is for no other.
    fn begin_image(&mut self) {
        self.noted = None;
    }

    /// Notes how a registry is to be reached for an image. Says whether that goes with what was noted before.
    fn note_registry(&mut self, registry: Registry) -> bool {
        if self.is_live() {
            self.noted = Some(registry);
            return true;
        }
        let Some(index) = self.by_prefix.get(&registry.prefix) else {
            self.by_prefix.insert(registry.prefix.clone(), self.registries.len());
            self.registries.push(registry);
            return true;
        };
        let known = &mut self.registries[*index];
        known.plain_http |= registry.plain_http;
        let agrees = registry.credentials.is_none() || known.credentials == registry.credentials;
        if known.credentials.is_none() {
            known.credentials = registry.credentials;
            return true;
        }
        agrees
    }

    /// Adds a warning, unless it has been said.
    fn warn_once(&mut self, warning: Error) {
        if self.said.insert(warning.to_string()) {
            self.warnings.push(warning);
        }
    }

    /// Adds a fault, unless it has been said.
    fn fault_once(&mut self, fault: Error) {
        if self.said.insert(fault.to_string()) {
            self.faults.push(fault);
        }
    }
}

impl Tenant {
    /// Returns true if an image goes with those that are there: none is asked for with what is said for others.
    fn admits(&self, image: Option<&Repository>, noted: Option<&Registry>) -> bool {
        let is_below = |prefix: &str| image.is_some_and(|image| image.is_below(prefix));
        let is_other = |known: &Registry| is_below(&known.prefix) && Some(known) != noted;
        let is_new = |noted: &&Registry| !self.registries.contains(noted);
        !self.registries.iter().any(is_other)
            && !noted.filter(is_new).is_some_and(|it| self.has_below(&it.prefix))
    }

    /// Returns true if an image is there that settings of this prefix are for.
    fn has_below(&self, prefix: &str) -> bool {
        let below = format!("{prefix}/");
        let mut after = self.images.range(below.clone()..);
        self.images.contains(prefix) || after.next().is_some_and(|image| image.starts_with(&below))
    }
}

/// By what settings are known to be for an image, however that is spelled.
fn prefix_of(image: &str) -> String {
    image.parse().map_or_else(|_| image.to_owned(), |repository: Repository| repository.to_string())
}

/// A path as a pattern that matches itself only.
fn literal(path: &str) -> String {
    let mut pattern = String::with_capacity(path.len());
    for character in path.chars() {
        if matches!(character, '*' | '?' | '[' | '\\') && files::is_pattern(path) {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    pattern
}

/// A path that is relative to a folder, from the root of the repository and in normal form; one with a leading slash is
/// from the root already. Nothing where it leads out.
pub(crate) fn within(folder: &str, path: &str) -> Option<String> {
    let folder = if path.starts_with('/') { "" } else { folder };
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::Named;
    use crate::config::{Credentials, Provider};
    use diagnostic::ErrorKind;

    const APPLICATION: &str = "apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: shop, namespace: argocd}
spec: {source: {repoURL: https://git.test/shop, path: ., kustomize: {}}}
status: {sourceType: Kustomize, summary: {images: ['quay.io/team/app:1.0.0']}}
";

    fn claimed(pull_secret: &str) -> Found {
        let resource = format!(
            "apiVersion: argocd-image-updater.argoproj.io/v1alpha1
kind: ImageUpdater
metadata: {{name: updater, namespace: argocd}}
spec:
  applicationRefs:
  - namePattern: shop
    images:
    - alias: app
      imageName: quay.io/team/app
      commonUpdateSettings: {{pullSecret: '{pull_secret}'}}
"
        );
        let objects = [("Application/argocd/shop", APPLICATION), ("ImageUpdater/argocd/updater", &resource)];
        read_live(&objects.map(|(path, text)| (path.to_owned(), text.to_owned())), "argocd")
    }

    fn registry(found: Found) -> Registry {
        assert!(found.faults.is_empty(), "{:?}", found.faults);
        let (_, registries) = found.into_tenants().remove(0);
        registries.into_iter().next().unwrap()
    }

    #[test]
    fn live_claims_have_credentials_in_secrets_of_their_namespace() {
        let credentials = |text: &str| registry(claimed(text)).credentials.unwrap();
        assert_eq!(credentials("pullsecret:argocd/quay"), Credentials::pull_secret("argocd", "quay"));
        assert_eq!(credentials("quay.io=env:QUAY"), Credentials::Env("QUAY".to_owned()));
        assert!(matches!(credentials("secret:argocd/quay#login"), Credentials::Secret(_)));
        for (text, cause, want) in [
            (
                "pullsecret:other/quay",
                ErrorKind::Denied,
                "the Secret `other/quay` is not in the namespace `argocd`",
            ),
            ("ci:s3cret", ErrorKind::Invalid, "invalid credentials source"),
        ] {
            let found = claimed(text);
            let fault = found.faults.first().unwrap();
            assert_eq!((fault.kind(), fault.message()), (cause, want));
            assert_eq!(fault.location().unwrap().path(), "ImageUpdater/argocd/updater");
            assert!(found.batches.is_empty());
        }
    }

    fn scanned(spec: &str) -> Found {
        let objects = [
            (
                "ImageRepository/apps/app",
                format!(
                    "apiVersion: image.toolkit.fluxcd.io/v1
kind: ImageRepository
metadata: {{name: app, namespace: apps}}
spec: {{image: quay.io/team/app, interval: 5m{spec}}}
"
                ),
            ),
            (
                "ImagePolicy/apps/app",
                "apiVersion: image.toolkit.fluxcd.io/v1
kind: ImagePolicy
metadata: {name: app, namespace: apps}
spec: {imageRepositoryRef: {name: app}, policy: {semver: {range: '*'}}}
"
                .to_owned(),
            ),
        ];
        read_live(&objects.map(|(path, text)| (path.to_owned(), text)), "argocd")
    }

    #[test]
    fn live_repositories_say_all_that_flux_lets_them_say_of_their_registry() {
        let id = |name: &str| Named { namespace: "apps".to_owned(), name: name.to_owned() };
        let all = registry(scanned(
            ", secretRef: {name: pull}, serviceAccountName: puller, certSecretRef: {name: tls}, \
             proxySecretRef: {name: proxy}, insecure: true",
        ));
        assert_eq!(all.credentials, Some(Credentials::pull_secret("apps", "pull")));
        let account = all.otherwise.first().and_then(Credentials::in_cluster);
        assert_eq!(account, Some(&id("puller")));
        assert_eq!((all.tls_secret, all.proxy_secret), (Some(id("tls")), Some(id("proxy"))));
        assert!(all.plain_http && all.only_own_credentials);
        let cloud = registry(scanned(", provider: aws"));
        assert_eq!(cloud.credentials, Some(Credentials::Provider(Provider::Aws)));
        assert!(!cloud.only_own_credentials);
        // The identity of another account is not that of this program.
        let found = scanned(", provider: aws, serviceAccountName: other");
        assert!(found.warnings[0].message().starts_with("a cloud is not asked"), "{:?}", found.warnings);
        assert_eq!(registry(found).credentials, None);
    }
}

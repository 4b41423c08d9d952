//! Overrides of a source in the repository: `.argocd-source.yaml` and `.argocd-source-<application>.yaml` in its
//! directory.
//!
//! In: a source as the Application has it, and the text of such a file. Out: the source with the file merged in. Refused:
//! files that are no mapping, empty ones too, and fields of another type.
//!
//! The merge is Argo CD's (repository.go `mergeSourceParameters`): a JSON merge patch whose result Go reads into the
//! fields that are there already. So a null removes nothing outside of `valuesObject`, and an item of a list keeps those
//! fields of the item it replaces that it does not have itself.

use std::io;
use std::path::Path;
use std::sync::Arc;

use diagnostic::{Error, Result};
use vfs::{FileKind, Files};
use yamltree::{Dialect, DuplicateKeys, Entry, Expansion, Kind, Node, ParseOptions};

use super::fields::{Reading, is_null, place_of};
use super::source::Source;
use crate::objects::Sources;
use crate::warning::Warning;

const FOR_ALL: &str = ".argocd-source.yaml";

/// Fields that no override may change (repository.go `mergeSourceParameters`).
const FIXED: [&str; 4] = ["chart", "path", "repoURL", "targetRevision"];

/// A source with what the repository says merged in, and the texts that its places lead to.
pub(crate) struct Overridden {
    pub(crate) source: Source,
    pub(crate) texts: Sources,
    pub(crate) warnings: Vec<Warning>,
}

/// Merges the files of a folder into a source; `instance` is the Application's name as objects are tracked by it.
pub(crate) fn apply(
    source: &Source,
    texts: &Sources,
    folder: &Path,
    instance: &str,
    files: &dyn Files,
) -> Result<Overridden> {
    let mut overridden =
        Overridden { source: source.clone(), texts: Arc::clone(texts), warnings: Vec::new() };
    for name in [FOR_ALL.to_owned(), format!(".argocd-source-{instance}.yaml")] {
        let path = folder.join(&name);
        let real = match files.resolve(&path) {
            Ok((real, FileKind::File)) => real,
            Ok((_, FileKind::Directory)) => continue,
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                continue;
            }
            Err(error) => return Err(unreadable(&path, &error, files)),
        };
        let bytes = files.read(&real).map_err(|error| unreadable(&path, &error, files))?;
        overridden = overridden.merge(&bytes, files.display(&path))?;
    }
    Ok(overridden)
}

fn unreadable(path: &Path, error: &io::Error, files: &dyn Files) -> Error {
    Error::invalid(format!("cannot read `{}`: {error}", files.display(path)))
}

impl Overridden {
    fn merge(self, bytes: &[u8], name: String) -> Result<Self> {
        let Self { source, texts, mut warnings } = self;
        let number = u32::try_from(texts.len()).unwrap_or(u32::MAX);
        let text = yamltree::decode(bytes, number)
            .map_err(|error| Error::invalid(format!("`{name}` is not valid UTF-8: {}", error.message())))?;
        let text = Arc::new(yamltree::Source { name, text: Arc::from(text.as_ref()) });
        let texts: Sources = texts.iter().cloned().chain([Arc::clone(&text)]).collect();
        let refuse =
            |error: yamltree::Error| Error::invalid(error.message()).at(place_of(&texts, error.span()));
        let options = ParseOptions {
            dialect: Dialect::V2,
            duplicate_keys: DuplicateKeys::KeepLast,
            ..ParseOptions::default()
        };
        let mut patch = yamltree::parse_first(&text.text, number, &options)
            .map_err(refuse)?
            .map_or_else(Node::null, |document| document.root);
        patch.expand_aliases(Expansion::Decoded(Dialect::V2)).map_err(refuse)?;
        if !patch.is_mapping() {
            let start = yamltree::Span { source: number, start: 0, end: 0 };
            let place = place_of(&texts, if patch.span.is_some() { patch.span } else { start });
            return Err(Error::invalid("expected a mapping such as `kustomize: {images: […]}`")
                .at(place)
                .hint("remove the file if it is not needed"));
        }
        let mut merged = source.node.clone();
        merge_patch(&mut merged, &patch);
        let mut merged = read_into(&source.node, merged, &[]);
        for field in FIXED {
            match source.node.get(field) {
                Some(node) => merged.set(field, node.clone()),
                None => drop(merged.remove(field)),
            }
        }
        let mut reading = Reading::new(&texts);
        let source = Source::read(&merged, "source", &mut reading)?.unwrap_or(source);
        // Those of the Application are known.
        warnings.extend(reading.warnings.into_iter().filter(|warning| {
            warning.location.as_ref().is_some_and(|place| Arc::ptr_eq(&place.source, &text))
        }));
        Ok(Self { source, texts, warnings })
    }
}

/// A JSON merge patch: a null removes, mappings are merged, all else replaces.
fn merge_patch(document: &mut Node, patch: &Node) {
    for Entry { key, value } in patch.entries().into_iter().flatten() {
        let name = key.text().unwrap_or_default();
        if is_null(value) {
            document.remove(name);
            continue;
        }
        match document.get_mut(name) {
            Some(current) if current.is_mapping() && value.is_mapping() => merge_patch(current, value),
            Some(current) => *current = without_nulls(value),
            None => {
                if let Some(entries) = document.entries_mut() {
                    entries.push(Entry { key: key.clone(), value: without_nulls(value) });
                }
            }
        }
    }
}

fn without_nulls(node: &Node) -> Node {
    let mut node = node.clone();
    prune(&mut node);
    node
}

fn prune(node: &mut Node) {
    if let Some(entries) = node.entries_mut() {
        entries.retain(|entry| !is_null(&entry.value));
        entries.iter_mut().for_each(|entry| prune(&mut entry.value));
    }
}

/// Returns what Go's `json.Unmarshal` leaves in a value that has fields already.
fn read_into(old: &Node, mut new: Node, path: &[&str]) -> Node {
    // A `RawExtension` takes all of what it is given.
    if is_null(&new) {
        return old.clone();
    }
    if path == ["helm", "valuesObject"] {
        return new;
    }
    new.kind = match (std::mem::take(&mut new.kind), &old.kind) {
        (Kind::Mapping(entries), Kind::Mapping(old)) => Kind::Mapping(read_entries(old, entries, path)),
        (Kind::Sequence(items), Kind::Sequence(old)) => {
            let item = |(at, item): (usize, Node)| match old.get(at) {
                Some(old) => read_into(old, item, &[]),
                None => item,
            };
            Kind::Sequence(items.into_iter().enumerate().map(item).collect())
        }
        (kind, _) => kind,
    };
    new
}

fn read_entries(old: &[Entry], new: Vec<Entry>, path: &[&str]) -> Vec<Entry> {
    let find =
        |entries: &[Entry], key: &Node| entries.iter().position(|entry| entry.key.text() == key.text());
    let mut entries: Vec<Entry> = Vec::with_capacity(new.len().max(old.len()));
    for Entry { key, value } in new {
        let name = key.text().unwrap_or_default().to_owned();
        let below: Vec<&str> = path.iter().copied().chain([name.as_str()]).collect();
        let value = match find(old, &key) {
            Some(at) => read_into(&old[at].value, value, &below),
            None => value,
        };
        entries.push(Entry { key, value });
    }
    for entry in old {
        if find(&entries, &entry.key).is_none() {
            entries.push(entry.clone());
        }
    }
    entries
}

#[cfg(test)]
mod tests {
    use vfs::MemoryTree;

    use super::*;

    const SPEC: &str = "repoURL: https://h/a
path: app
targetRevision: main
helm:
  releaseName: web
  parameters:
  - {name: a, value: '1', forceString: true}
  - {name: b, value: '2'}
  valuesObject: {x: {y: 1, z: 2}}
";

    fn applied(files: &[(&str, &str)]) -> Result<Overridden> {
        let text = Arc::new(yamltree::Source { name: "app.yaml".to_owned(), text: SPEC.into() });
        let texts: Sources = Arc::from([Arc::clone(&text)]);
        let root = yamltree::parse_first(SPEC, 0, &ParseOptions::default()).unwrap().unwrap().root;
        let source = Source::read(&root, "source", &mut Reading::new(&texts)).unwrap().unwrap();
        let tree: MemoryTree =
            files.iter().map(|(name, text)| (format!("app/{name}"), text.as_bytes())).collect();
        apply(&source, &texts, Path::new("/app"), "team_web", &tree)
    }

    #[test]
    fn the_applications_file_comes_after_that_for_all() {
        let merged = applied(&[
            (".argocd-source.yaml", "helm: {releaseName: all, skipCrds: true}\npath: elsewhere\nchart: c\n"),
            (".argocd-source-team_web.yaml", "helm: {releaseName: one}\n"),
            (".argocd-source-web.yaml", "helm: {releaseName: other}\n"),
        ])
        .unwrap();
        let helm = merged.source.helm.unwrap();
        assert_eq!((helm.release_name.value.as_str(), helm.skip_crds), ("one", true));
        assert_eq!((merged.source.path.value.as_str(), merged.source.chart.value.as_str()), ("app", ""));
        assert_eq!(
            place_of(&merged.texts, helm.release_name.span).unwrap().to_string(),
            "app/.argocd-source-team_web.yaml:1:21"
        );
    }

    /// Go's decoder reads into what is there: fields, entries of maps, and items of lists by their number.
    #[test]
    fn nulls_remove_nothing_and_items_keep_their_fields() {
        let text =
            "helm:\n  releaseName: null\n  parameters: [{name: c}]\n  valuesObject: {x: {y: null, w: 3}}\n";
        let helm = applied(&[(".argocd-source.yaml", text)]).unwrap().source.helm.unwrap();
        assert_eq!(helm.release_name.value, "web");
        let [parameter] = helm.parameters.as_slice() else { panic!("{:?}", helm.parameters) };
        assert_eq!(
            (parameter.name.value.as_str(), parameter.value.as_str(), parameter.force_string),
            ("c", "1", true)
        );
        let object = helm.values_object.unwrap();
        let keys: Vec<_> =
            object.get("x").unwrap().entries().unwrap().iter().map(|entry| entry.key.text()).collect();
        assert_eq!(keys, [Some("z"), Some("w")]);
    }

    #[test]
    fn what_is_wrong_has_its_place_in_the_file() {
        for (text, want) in [
            ("", "app/.argocd-source.yaml:1:1: expected a mapping"),
            ("[a]", "app/.argocd-source.yaml:1:1: expected a mapping"),
            (
                "helm:\n  releaseName: 7\n",
                "app/.argocd-source.yaml:2:16: `source.helm.releaseName` must be a string",
            ),
            ("helm: [", "app/.argocd-source.yaml:"),
        ] {
            let error = applied(&[(".argocd-source.yaml", text)]).err().unwrap().to_string();
            assert!(error.starts_with(want), "{error}");
        }
        let merged = applied(&[(".argocd-source.yaml", "helm: {relaseName: x}\n")]).unwrap();
        assert_eq!(merged.warnings.len(), 1);
    }
}

//! The kustomization that Flux builds: the one in the folder, or one of all that is below it, with what the Kustomization
//! adds (fluxcd/pkg/kustomize, `GenerateManifest`).
//!
//! In: a Kustomization's edits, and an artifact. Out: the text of the kustomization, unless the file can be built as it is.
//! Refused: components that are no relative paths, and manifests that cannot be read.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use diagnostic::{Error, Result};
use vfs::{FileKind, Files};
use yamltree::{Entry, Location, Node, Source};

use crate::engines::EditedKustomization;
use crate::kustomization::{Edits, Image};

const FILE_NAMES: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// Folders nest no deeper.
const MAX_DEPTH: usize = 64;

/// The fields of Go's type, which survive decoding; Flux drops all others, while kustomize rejects them.
const FIELDS: &[&str] = &[
    "apiVersion",
    "kind",
    "metadata",
    "openapi",
    "namePrefix",
    "nameSuffix",
    "namespace",
    "commonLabels",
    "labels",
    "commonAnnotations",
    "patchesStrategicMerge",
    "patchesJson6902",
    "patches",
    "images",
    "replacements",
    "replicas",
    "vars",
    "sortOptions",
    "resources",
    "components",
    "crds",
    "bases",
    "configMapGenerator",
    "secretGenerator",
    "helmGlobals",
    "helmCharts",
    "helmChartInflationGenerator",
    "generatorOptions",
    "configurations",
    "generators",
    "transformers",
    "validators",
    "buildMetadata",
];

/// The kustomization of a folder, where it is another than the file in it.
pub(crate) fn kustomization(
    edits: &Edits,
    folder: &Path,
    files: &dyn Files,
) -> Result<Option<EditedKustomization>> {
    let is_file = |path: &PathBuf| matches!(files.resolve(path), Ok((_, FileKind::File)));
    let found = FILE_NAMES.iter().map(|name| folder.join(name)).find(is_file);
    let (path, mut root, mut is_changed) = match found {
        Some(path) => {
            let mut root = read(&path, files)?;
            let had = root.entries().map_or(0, Vec::len);
            if let Some(entries) = root.entries_mut() {
                entries.retain(|entry| FIELDS.contains(&entry.key.text().unwrap_or_default()));
            }
            let mut is_changed = root.entries().map_or(0, Vec::len) != had;
            // Without this Flux' own build would call it empty; with it what generators make is annotated.
            if root.get("resources").and_then(Node::items).is_none_or(Vec::is_empty) {
                root.set("buildMetadata", list(&["originAnnotations".to_owned()]));
                is_changed = true;
            }
            (path, root, is_changed)
        }
        None => (folder.join(FILE_NAMES[0]), generated(folder, files)?, true),
    };
    is_changed |= edits.apply(&mut root, folder, files)?;
    if !is_changed {
        return Ok(None);
    }
    let mut text = String::new();
    yamltree::to_sigs_yaml(&root, &mut text).map_err(|error| {
        Error::invalid(format!("the kustomization cannot be written: {}", error.message()))
    })?;
    Ok(Some(EditedKustomization { path, text }))
}

fn read(path: &Path, files: &dyn Files) -> Result<Node> {
    let name = files.display(path);
    let unreadable = |reason: String| Error::invalid(format!("cannot read `{name}`: {reason}"));
    let bytes = files
        .resolve(path)
        .and_then(|(real, _)| files.read(&real))
        .map_err(|error| unreadable(error.to_string()))?;
    let text = yamltree::decode(&bytes, 0).map_err(|error| unreadable(error.message().to_owned()))?;
    let source = Arc::new(Source { name: name.clone(), text: Arc::from(text.as_ref()) });
    let refuse = |error: &yamltree::Error| {
        let place = Location { source: Arc::clone(&source), span: error.span() };
        Error::invalid(format!("invalid YAML: {}", error.message())).at(Some(place))
    };
    let document = yamltree::parse_first(&text, 0, &yamltree::ParseOptions::default());
    let Some(document) = document.map_err(|error| refuse(&error))? else {
        return Ok(Node::mapping(Vec::new()));
    };
    let mut root = document.root;
    root.expand_aliases(yamltree::Expansion::Decoded(yamltree::Dialect::V2))
        .map_err(|error| refuse(&error))?;
    if !root.is_mapping() {
        let place = Location { source: Arc::clone(&source), span: root.span };
        return Err(Error::invalid("expected a kustomization (a mapping)").at(Some(place)));
    }
    Ok(root)
}

/// A kustomization of all manifests below a folder; folders with one of their own are one resource.
fn generated(folder: &Path, files: &dyn Files) -> Result<Node> {
    let mut resources = Vec::new();
    scan(folder, ".", files, 0, &mut resources)?;
    let mut root = Node::mapping(Vec::new());
    root.set("apiVersion", Node::string("kustomize.config.k8s.io/v1beta1"));
    root.set("kind", Node::string("Kustomization"));
    if resources.is_empty() {
        root.set("namespace", Node::string("_placeholder"));
    } else {
        root.set("resources", list(&resources));
    }
    Ok(root)
}

fn scan(
    folder: &Path,
    below: &str,
    files: &dyn Files,
    depth: usize,
    resources: &mut Vec<String>,
) -> Result<()> {
    let failed =
        |error: std::io::Error| Error::invalid(format!("cannot read `{}`: {error}", files.display(folder)));
    if depth > MAX_DEPTH {
        return Err(Error::invalid(format!("`{}` is nested too deep", files.display(folder))));
    }
    let (real, _) = files.resolve(folder).map_err(failed)?;
    for name in files.list(&real).map_err(failed)? {
        let (path, shown) = (folder.join(&name), format!("{below}/{name}"));
        match files.resolve(&path) {
            Ok((_, FileKind::Directory)) => {
                let is_file = |name: &str| matches!(files.resolve(&path.join(name)), Ok((_, FileKind::File)));
                if FILE_NAMES.iter().any(|name| is_file(name)) {
                    resources.push(shown);
                } else {
                    scan(&path, &shown, files, depth + 1, resources)?;
                }
            }
            Ok((_, FileKind::File)) if name.ends_with(".yaml") || name.ends_with(".yml") => {
                resources.push(shown);
            }
            _ => {}
        }
    }
    Ok(())
}

impl Edits {
    /// Makes the edits in Flux' order; whether there are any.
    fn apply(&self, root: &mut Node, folder: &Path, files: &dyn Files) -> Result<bool> {
        let mut is_changed = false;
        for (field, text) in [
            ("namespace", &self.namespace),
            ("namePrefix", &self.name_prefix),
            ("nameSuffix", &self.name_suffix),
        ] {
            if !text.is_empty() {
                root.set(field, Node::string(text));
                is_changed = true;
            }
        }
        let components = self.components(folder, files)?;
        let strategic = self.patches_strategic_merge.iter().map(text_of).collect::<Result<Vec<_>>>()?;
        let json = self.patches_json6902.iter().map(json6902).collect::<Result<Vec<_>>>()?;
        for (field, items) in [
            ("patches", self.patches.clone()),
            ("components", components),
            ("patchesStrategicMerge", strategic),
            ("patchesJson6902", json),
        ] {
            if !items.is_empty() {
                append(root, field, items);
                is_changed = true;
            }
        }
        if !self.images.is_empty() {
            merge_images(root, &self.images);
            is_changed = true;
        }
        if !self.build_metadata.is_empty() {
            root.set("buildMetadata", list(&self.build_metadata));
            is_changed = true;
        }
        Ok(is_changed)
    }

    fn components(&self, folder: &Path, files: &dyn Files) -> Result<Vec<Node>> {
        let mut components = Vec::new();
        for component in &self.components {
            if !is_relative(component) {
                let message = format!("the component `{component}` is not a relative path in the repository");
                return Err(Error::invalid(message).at(self.components_place.clone()));
            }
            if self.ignores_missing_components && files.resolve(&folder.join(component)).is_err() {
                continue;
            }
            components.push(Node::string(component));
        }
        Ok(components)
    }
}

/// `IsLocalRelativePath`
fn is_relative(path: &str) -> bool {
    let lower = path.to_lowercase();
    let addresses = ["git::", "gh:", "ssh://", "https://", "http://", "git@", "github.com:", "github.com/"];
    let is_address = addresses.iter().any(|start| lower.len() > start.len() && lower.starts_with(start));
    !is_address && !path.starts_with('/') && !lower.trim_start_matches("file://").starts_with('/')
}

/// A tag and a digest are one thing: what sets one of them takes the other away.
fn merge_images(root: &mut Node, images: &[Image]) {
    let mut all =
        root.remove("images").and_then(|mut node| node.items_mut().map(std::mem::take)).unwrap_or_default();
    for image in images {
        let is_it = |node: &&mut Node| node.get("name").and_then(Node::text) == Some(&image.name);
        let Some(node) = all.iter_mut().find(is_it) else {
            all.push(image.node());
            continue;
        };
        if !image.new_name.is_empty() {
            node.set("newName", Node::string(&image.new_name));
        }
        if !image.new_tag.is_empty() || !image.digest.is_empty() {
            for (field, text) in [("newTag", &image.new_tag), ("digest", &image.digest)] {
                if text.is_empty() {
                    node.remove(field);
                } else {
                    node.set(field, Node::string(text));
                }
            }
        }
    }
    root.set("images", Node::sequence(all));
}

fn append(root: &mut Node, field: &str, items: Vec<Node>) {
    match root.get_mut(field).and_then(Node::items_mut) {
        Some(all) => all.extend(items),
        None => root.set(field, Node::sequence(items)),
    }
}

/// A patch in the Kustomization becomes a text in the kustomization.
fn text_of(node: &Node) -> Result<Node> {
    let mut json = String::new();
    yamltree::to_json(node, yamltree::JsonOptions::SIGS, &mut json)
        .map_err(|error| Error::invalid(format!("a patch cannot be written: {}", error.message())))?;
    Ok(Node::string(&json))
}

fn json6902(node: &Node) -> Result<Node> {
    let mut patch = Node::mapping(Vec::new());
    for Entry { key, value } in node.entries().into_iter().flatten() {
        match key.text() {
            Some("patch") => patch.set("patch", text_of(value)?),
            Some("target") => patch.set("target", value.clone()),
            _ => {}
        }
    }
    Ok(patch)
}

fn list(texts: &[String]) -> Node {
    Node::sequence(texts.iter().map(|text| Node::string(text)).collect())
}

#[cfg(test)]
mod tests {
    use vfs::MemoryTree;

    use super::*;

    fn text(edits: &Edits, files: &[(&str, &str)]) -> Option<String> {
        let tree: MemoryTree = files.iter().map(|(path, text)| (*path, text.as_bytes())).collect();
        kustomization(edits, Path::new("/app"), &tree).unwrap().map(|edited| edited.text)
    }

    #[test]
    fn a_file_that_needs_no_edit_is_built_as_it_is() {
        assert_eq!(text(&Edits::default(), &[("app/kustomization.yaml", "resources: [a.yaml]\n")]), None);
        // Fields that Go's type has not are lost on the way through it.
        let unknown = text(&Edits::default(), &[("app/kustomization.yml", "resources: [a.yaml]\nnone: 1\n")]);
        assert_eq!(unknown.as_deref(), Some("resources:\n- a.yaml\n"));
        // GenerateManifest sets it where there are no resources, components or not.
        let components = text(&Edits::default(), &[("app/Kustomization", "components: [a]\n")]);
        assert_eq!(components.as_deref(), Some("buildMetadata:\n- originAnnotations\ncomponents:\n- a\n"));
    }

    #[test]
    fn all_manifests_below_make_a_kustomization() {
        let files = [
            ("app/b.yml", ""),
            ("app/a.yaml", ""),
            ("app/notes.md", ""),
            ("app/base/kustomization.yaml", ""),
            ("app/base/c.yaml", ""),
            ("app/more/d.yaml", ""),
        ];
        assert_eq!(
            text(&Edits::default(), &files).unwrap(),
            "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n- ./a.yaml\n- ./b.yml\n- ./base\n- ./more/d.yaml\n"
        );
        let empty = text(&Edits::default(), &[("app/notes.md", "")]).unwrap();
        assert!(empty.ends_with("namespace: _placeholder\n"), "{empty}");
    }

    #[test]
    fn edits_go_over_and_behind_what_is_there() {
        let image = |name: &str, new_tag: &str, digest: &str| Image {
            name: name.to_owned(),
            new_tag: new_tag.to_owned(),
            digest: digest.to_owned(),
            ..Image::default()
        };
        let edits = Edits {
            namespace: "shop".to_owned(),
            images: vec![image("a", "2", ""), image("b", "", "sha256:b"), image("c", "3", "")],
            components: vec!["../none".to_owned(), "../there".to_owned()],
            ignores_missing_components: true,
            ..Edits::default()
        };
        let files = [
            (
                "app/kustomization.yaml",
                "namespace: old\nresources: [x.yaml]\nimages:\n- {name: a, newName: n, digest: 'sha256:a'}\n- {name: b, newTag: '1'}\n",
            ),
            ("there/kustomization.yaml", ""),
        ];
        assert_eq!(
            text(&edits, &files).unwrap(),
            "components:\n- ../there\nimages:\n- name: a\n  newName: \"n\"\n  newTag: \"2\"\n- digest: sha256:b\n  name: b\n- name: c\n  newTag: \"3\"\nnamespace: shop\nresources:\n- x.yaml\n"
        );
    }

    #[test]
    fn components_are_in_the_repository() {
        for (path, want) in [
            ("../a", true),
            ("/a", false),
            ("https://h/a", false),
            ("github.com/o/r", false),
            ("file:///a", false),
        ] {
            assert_eq!(is_relative(path), want, "{path}");
        }
    }
}

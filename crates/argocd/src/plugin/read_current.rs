//! Reads the current values of parameters: from a chart's values, or from a kustomization and its pods.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use diagnostic::{Error, Result};
use kustomize_edit::FILE_NAMES;
use vfs::Files;
use yamltree::{Dialect, DuplicateKeys, Expansion, Node, ParseOptions};

use super::current::Current;
use super::render::Asked;
use crate::application::fields::{is_null, place_of};
use crate::application::{Engine, Engines, ValueFile};
use crate::objects::{Object, Sources};

/// A chart has no more values than this that a form could show.
const MAX_VALUES: usize = 10_000;

/// Returns the current values of a source.
pub(super) fn read_current<E: Engines>(
    asked: &Asked<'_>,
    files: &dyn Files,
    folder: &Path,
    engines: &E,
) -> Result<Current, E::Error> {
    let mut current = Current {
        engine: asked.engine,
        chain: asked.chain.as_deref().map(|chart| relative(chart, folder)),
        application: asked.name(),
        namespace: asked.namespace().to_owned(),
        values: BTreeMap::new(),
        images: Vec::new(),
        kustomization: Node::null(),
    };
    if let Some(chart) = asked.chart() {
        current.values = asked.with(engines, |run| {
            let given = asked.helm().map(|helm| asked.resolver(chart, run).value_files(helm));
            values(chart, &given.transpose()?.unwrap_or_default(), files)
        })?;
    }
    if asked.engine == Engine::Kustomize {
        let path = FILE_NAMES.iter().map(|name| folder.join(name)).find(|path| files.resolve(path).is_ok());
        current.kustomization = path.map_or(Ok(Node::null()), |path| read(&path, files))?;
        let objects = asked.with(engines, |run| asked.objects(run, &mut Vec::new()))?;
        current.images = images(&objects);
    }
    Ok(current)
}

/// A path as the parameter would name it.
fn relative(path: &Path, folder: &Path) -> String {
    match path.strip_prefix(folder) {
        Ok(below) if below.as_os_str().is_empty() => ".".to_owned(),
        Ok(below) => below.display().to_string(),
        Err(_) => {
            let common = path.ancestors().find(|above| folder.starts_with(above)).unwrap_or(path);
            let up = folder.components().count() - common.components().count();
            let down = path.strip_prefix(common).unwrap_or(path);
            format!("{}{}", "../".repeat(up), down.display())
        }
    }
}

/// The values of a chart, those of files after its own (util/helm/helm.go `GetParameters`).
fn values(chart: &Path, given: &[ValueFile], files: &dyn Files) -> Result<BTreeMap<String, String>> {
    let mut values = BTreeMap::new();
    let own = chart.join("values.yaml");
    let own = files.resolve(&own).is_ok().then_some(own);
    let given = given.iter().filter_map(|file| match file {
        ValueFile::File(path) => Some(path.clone()),
        // What is elsewhere is not asked for just to fill a form.
        ValueFile::Url(_) => None,
    });
    for path in own.into_iter().chain(given) {
        flatten(&read(&path, files)?, &mut String::new(), &mut values);
    }
    Ok(values)
}

/// Puts single values by their paths, as `--set` would have them (util/helm/helm.go `flatVals`).
fn flatten(node: &Node, path: &mut String, values: &mut BTreeMap<String, String>) {
    let length = path.len();
    if let Some(entries) = node.entries() {
        for entry in entries {
            if length > 0 {
                path.push('.');
            }
            path.push_str(entry.key.text().unwrap_or_default());
            flatten(&entry.value, path, values);
            path.truncate(length);
        }
    } else if let Some(items) = node.items() {
        for (number, item) in items.iter().enumerate() {
            path.push_str(&format!("[{number}]"));
            flatten(item, path, values);
            path.truncate(length);
        }
    } else if !path.is_empty() && values.len() < MAX_VALUES {
        let text = if is_null(node) { "" } else { node.text().unwrap_or_default() };
        values.insert(path.clone(), text.to_owned());
    }
}

fn read(path: &Path, files: &dyn Files) -> Result<Node> {
    let name = files.display(path);
    let bytes = files.resolve(path).and_then(|(real, _)| files.read(&real));
    let bytes = bytes.map_err(|error| Error::invalid(format!("cannot read `{name}`: {error}")))?;
    let text = yamltree::decode(&bytes, 0)
        .map_err(|error| Error::invalid(format!("`{name}` is not valid UTF-8: {}", error.message())))?;
    let texts = Sources::from([Arc::new(yamltree::Source { name, text: Arc::from(text.as_ref()) })]);
    let options = ParseOptions {
        dialect: Dialect::V2,
        duplicate_keys: DuplicateKeys::KeepLast,
        ..ParseOptions::default()
    };
    let refuse = |error: yamltree::Error| Error::invalid(error.message()).at(place_of(&texts, error.span()));
    let document = yamltree::parse_first(&text, 0, &options).map_err(refuse)?;
    let mut root = document.map_or_else(Node::null, |document| document.root);
    root.expand_aliases(Expansion::Decoded(Dialect::V2)).map_err(refuse)?;
    Ok(root)
}

/// The images of all containers, each once, in order (util/kustomize/kustomize.go `getImageParameters`).
fn images(objects: &[Object]) -> Vec<String> {
    let mut found = BTreeSet::new();
    let mut open: Vec<&Node> = objects.iter().map(Object::node).collect();
    while let Some(node) = open.pop() {
        open.extend(node.items().into_iter().flatten());
        for entry in node.entries().into_iter().flatten() {
            open.push(&entry.value);
            if matches!(entry.key.text(), Some("containers" | "initContainers")) {
                let containers = entry.value.items().into_iter().flatten();
                let images = containers.filter_map(|container| container.get("image")?.text());
                found.extend(images.map(str::to_owned));
            }
        }
    }
    found.into_iter().collect()
}

//! Tells whether the CRDs are as published, and whether an API server that has them and the readers of the dialects are of one
//! mind.
//!
//! `testdata/image-updater/crds/` has objects: `world.yaml` those that others refer to, each other file samples, whose
//! annotations say which field is refused: `refused` by both, `server` and `reader` by one of them, with the reason in a
//! comment. What is wanted follows from the rules of the originals. What the API server refuses the reader refuses too,
//! as it reads files that nobody has shown to an API server.

mod expression;
mod server;

use diagnostic::Location;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use yamlserde::YamlFile;
use yamltree::Node;

use super::*;
use crate::dialect::field::field_at;
use crate::output;
use crate::work::Files;
use server::Server;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// An object that a file has.
struct Sample {
    root: Node,
    text: String,
    /// The line of the file that it begins at.
    line: usize,
}

impl Sample {
    fn field(&self, path: &[&str]) -> Option<String> {
        self.root.lookup(path).and_then(Node::text).map(str::to_owned)
    }

    fn annotation(&self, name: &str) -> Option<String> {
        self.field(&["metadata", "annotations", name])
    }

    /// The name by which it is read as an object of a cluster.
    fn key(&self) -> String {
        let metadata = |key| self.field(&["metadata", key]).unwrap_or_default();
        format!(
            "{}/{}/{}",
            self.field(&["kind"]).unwrap_or_default(),
            metadata("namespace"),
            metadata("name")
        )
    }

    /// The fields that an API server refuses.
    fn refused_by_server(&self, servers: &BTreeMap<&str, Server>) -> Vec<String> {
        let server = self.field(&["kind"]).and_then(|kind| servers.get(kind.as_str()));
        server.map(|server| server.refused(&self.root)).unwrap_or_default()
    }

    /// The field that the reader refuses, among the objects of a cluster.
    fn refused_by_reader(&self, world: &[(String, String)]) -> Option<String> {
        let mut objects = world.to_vec();
        objects.retain(|(key, _)| *key != self.key());
        objects.push((self.key(), self.text.clone()));
        let found = dialect::read_live(&objects, "argocd");
        let is_own = |place: &&Location| place.path() == self.key();
        let place = found.faults.iter().filter_map(|fault| fault.location()).find(is_own)?;
        Some(field_at(&self.text, place).unwrap_or_default())
    }
}

/// By kind, what an API server has of it.
fn servers() -> BTreeMap<&'static str, Server> {
    all().into_iter().map(|definition| (definition.kind, Server::new(&definition.manifest()))).collect()
}

/// The objects of a file; what is no YAML is none.
fn samples(path: &Path) -> Vec<Sample> {
    let text = fs::read_to_string(path).unwrap();
    let (mut samples, mut line) = (Vec::new(), 1);
    for text in text.split("---\n") {
        let roots = YamlFile::new("sample", text).documents().unwrap_or_default();
        samples.extend(roots.into_iter().map(|root| Sample { root, text: text.to_owned(), line }));
        line += text.matches('\n').count() + 1;
    }
    samples
}

fn files_below(folder: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let below = |path: PathBuf| match path.is_dir() {
        true => files_below(&path.display().to_string()),
        false => vec![path],
    };
    let mut files: Vec<PathBuf> = entries.flat_map(below).collect();
    files.sort();
    files
}

#[test]
fn samples_are_refused_where_they_are_wrong() {
    let folder = format!("{ROOT}/testdata/image-updater/crds");
    let world = samples(Path::new(&format!("{folder}/world.yaml")));
    let world: Vec<(String, String)> = world.into_iter().map(|it| (it.key(), it.text)).collect();
    let (servers, mut wrong, mut count) = (servers(), Vec::new(), 0);
    for path in files_below(&folder) {
        for sample in samples(&path) {
            let both = sample.annotation("refused");
            let server = sample.annotation("server").or(both.clone()).unwrap_or_default();
            let reader = sample.annotation("reader").or(both);
            let found = (sample.refused_by_server(&servers).join(", "), sample.refused_by_reader(&world));
            if found != (server, reader) {
                let file = path.file_name().unwrap().display();
                wrong.push(format!("{file}:{}: {}: {found:?}", sample.line, sample.key()));
            }
            count += 1;
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(count > 100, "{count}");
}

/// Expected values: what dialects are shown in files: what an API server refuses of it is a fault to the reader, and so the other way
/// round what is read without a fault can be applied.
#[test]
fn what_is_read_from_files_can_be_applied() {
    let (servers, mut count) = (servers(), 0);
    for case in fs::read_dir(format!("{ROOT}/testdata/image-updater/dialects")).unwrap() {
        let folder = case.unwrap().path().join("in");
        let paths = files_below(&folder.display().to_string());
        let name = |path: &Path| path.strip_prefix(&folder).unwrap().display().to_string();
        let files: Vec<_> =
            paths.iter().map(|path| (name(path), fs::read_to_string(path).unwrap())).collect();
        let found = dialect::read(&files, &Files::Folder(folder.clone()));
        for path in paths.iter().filter(|path| path.extension().is_some_and(|end| end == "yaml")) {
            for sample in samples(path) {
                let mut refused = sample.refused_by_server(&servers);
                // A field of older versions, which is passed over with a warning.
                refused.retain(|field| field != "spec.namespace");
                let lines = sample.line..sample.line + sample.text.lines().count();
                let is_here =
                    |place: &Location| place.path() == name(path) && lines.contains(&place.line_column().0);
                let is_fault = found.faults.iter().any(|fault| fault.location().is_some_and(is_here));
                assert!(refused.is_empty() || is_fault, "{}: {}: {refused:?}", path.display(), sample.key());
                count += 1;
            }
        }
    }
    assert!(count > 40, "{count}");
}

#[test]
fn the_published_manifests_are_those_of_the_types() {
    let folder = format!("{ROOT}/deploy/crds");
    let mut names = Vec::new();
    for definition in all() {
        let name = format!("{}.yaml", definition.file_stem());
        let published = fs::read_to_string(format!("{folder}/{name}")).unwrap_or_default();
        let made = output::yaml(&definition.manifest()).unwrap();
        assert!(published == made, "write {name} anew: `image-updater crds --output-dir deploy/crds`");
        names.push(name);
    }
    let files = fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut files: Vec<String> = files.filter(|name| name.contains('_')).collect();
    files.sort();
    names.sort();
    assert_eq!(files, names);
}

#[test]
fn a_kind_is_called_as_kubectl_calls_it() {
    let called = |word: &str| {
        let kinds = all().into_iter().filter(|definition| definition.is_called(word));
        kinds.map(|definition| definition.kind).collect::<Vec<_>>()
    };
    for word in
        ["ImagePolicy", "imagepolicy", "imagepolicies", "imgpol", "imagepolicies.image.toolkit.fluxcd.io"]
    {
        assert_eq!(called(word), ["ImagePolicy"], "{word}");
    }
    assert_eq!(called("ImageUpdater"), ["ImageUpdater"]);
    assert!(called("image").is_empty());
}

/// Schema keywords that an API server accepts, besides those about values.
const WORDS: &[&str] = &[
    "type",
    "description",
    "properties",
    "required",
    "items",
    "additionalProperties",
    "default",
    "enum",
    "format",
    "maximum",
    "minimum",
    "maxLength",
    "minLength",
    "maxItems",
    "minItems",
    "pattern",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-list-type",
    "x-kubernetes-map-type",
    "x-kubernetes-validations",
];

/// A type everywhere, no references, nothing that is refused for being closed, and the keys of a list always there.
#[test]
fn every_schema_is_one_that_an_api_server_takes() {
    for definition in all() {
        let manifest = definition.manifest();
        let schema = &manifest["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
        check_structure(schema, definition.kind);
    }
}

fn check_structure(schema: &Value, path: &str) {
    let fields = schema.as_object().unwrap();
    let unknown: Vec<_> = fields.keys().filter(|key| !WORDS.contains(&key.as_str())).collect();
    assert!(unknown.is_empty(), "{path}: {unknown:?}");
    let kind = schema["type"].as_str().unwrap_or_default();
    assert!(["object", "array", "string", "integer", "boolean"].contains(&kind), "{path}: {kind}");
    assert!(
        fields.contains_key("description") || path.ends_with(".metadata") || path.ends_with("[]"),
        "{path}"
    );
    if let Some(pattern) = schema["pattern"].as_str() {
        assert!(goregex::Regex::new(pattern).is_ok(), "{path}: {pattern}");
    }
    for key in schema["x-kubernetes-list-map-keys"].as_array().into_iter().flatten() {
        let required = schema["items"]["required"].as_array().unwrap();
        assert!(required.contains(key), "{path}: {key}");
    }
    assert_eq!(fields.contains_key("items"), kind == "array", "{path}");
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        check_structure(property, &format!("{path}.{name}"));
    }
    for inner in ["items", "additionalProperties"].iter().filter_map(|key| fields.get(*key)) {
        check_structure(inner, &format!("{path}[]"));
    }
}

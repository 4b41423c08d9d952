//! Kubernetes objects in files. In: files, and texts that show which files matter. Out: the objects of these files, each
//! with the place of all that is in it.

use diagnostic::{Error, Location, Result};
use std::collections::BTreeMap;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use yamltree::Node;

use super::Found;
use crate::change::Named;
use yamlserde::{Spanned, YamlFile};

/// An object that a file declares.
#[derive(Clone, Debug)]
pub(super) struct Object {
    /// The file.
    pub(super) path: Arc<str>,
    pub(super) api: String,
    pub(super) kind: String,
    pub(super) id: Named,
    text: Arc<YamlFile>,
    root: Node,
}

/// The objects of the files that have one of the signs. A file that is no YAML is a fault, unless it is a template.
pub(super) fn collect(files: &[(String, String)], signs: &[&str], found: &mut Found) -> Vec<Object> {
    let mut objects = Vec::new();
    for (path, text) in files.iter().filter(|(_, text)| signs.iter().any(|sign| text.contains(sign))) {
        let is_template = text.contains("{{");
        let text = Arc::new(YamlFile::new(path, text));
        match text.documents() {
            Ok(roots) => {
                let path: Arc<str> = Arc::from(path.as_str());
                for root in roots {
                    add(&mut objects, &path, &text, root);
                }
            }
            Err(error) if is_template => {
                let message = format!("ignored a template that is not valid YAML: {}", error.message());
                found.warnings.push(replaced(&error, message));
            }
            Err(error) => found.faults.push(error),
        }
    }
    objects
}

fn replaced(error: &Error, message: String) -> Error {
    error.clone().with_message(message)
}

/// Adds an object, or those of a list.
fn add(objects: &mut Vec<Object>, path: &Arc<str>, text: &Arc<YamlFile>, root: Node) {
    let field = |key: &str| root.get(key).and_then(Node::text).unwrap_or_default().to_owned();
    let (api, kind) = (field("apiVersion"), field("kind"));
    if kind.ends_with("List")
        && let Some(items) = root.get("items").and_then(Node::items)
    {
        for item in items.iter().filter(|item| item.is_mapping()) {
            add_one(objects, path, text, item.clone());
        }
    } else if !kind.is_empty() && !api.is_empty() {
        add_one(objects, path, text, root);
    }
}

fn add_one(objects: &mut Vec<Object>, path: &Arc<str>, text: &Arc<YamlFile>, root: Node) {
    let field = |keys: &[&str]| root.lookup(keys).and_then(Node::text).unwrap_or_default().to_owned();
    let id = Named { namespace: field(&["metadata", "namespace"]), name: field(&["metadata", "name"]) };
    objects.push(Object {
        path: path.clone(),
        api: field(&["apiVersion"]),
        kind: field(&["kind"]),
        id,
        text: text.clone(),
        root,
    });
}

impl Object {
    /// The group of its API, and the version.
    pub(super) fn group_version(&self) -> (&str, &str) {
        self.api.split_once('/').unwrap_or(("", &self.api))
    }

    /// Returns where it begins.
    pub(super) fn place(&self) -> Location {
        self.at(self.root.span.start)
    }

    /// Returns where a byte of its file is.
    pub(super) fn at(&self, start: u32) -> Location {
        self.text.location(start)
    }

    /// An error at a byte of its file.
    pub(super) fn refuse(&self, start: u32, message: impl Into<String>) -> Error {
        Error::invalid(message).at(self.at(start))
    }

    /// `Kind namespace/name`, for what is said of it.
    pub(super) fn title(&self) -> String {
        let Named { namespace, name } = &self.id;
        if namespace.is_empty() {
            format!("{} `{name}`", self.kind)
        } else {
            format!("{} `{namespace}/{name}`", self.kind)
        }
    }

    /// Returns what is below it by keys.
    pub(super) fn get(&self, keys: &[&str]) -> Option<&Node> {
        self.root.lookup(keys)
    }

    /// Its `spec`, strictly.
    pub(super) fn spec<T: DeserializeOwned>(&self) -> Result<Spanned<T>> {
        let Some(spec) = self.root.get("spec") else {
            return Err(Error::invalid(format!("{} lacks `spec`", self.title())).at(self.place()));
        };
        self.text.read_node(spec)
    }

    /// Its labels.
    pub(super) fn labels(&self) -> BTreeMap<&str, &str> {
        let labels = self.pairs("labels").filter_map(|(key, value)| Some((key, value.text()?)));
        labels.collect()
    }

    /// Its annotations.
    pub(super) fn annotations(&self) -> impl Iterator<Item = (&str, Spanned<&str>)> {
        self.pairs("annotations").filter_map(|(key, value)| {
            value.text().map(|text| (key, Spanned { value: text, start: value.span.start }))
        })
    }

    /// An annotation.
    pub(super) fn annotation(&self, key: &str) -> Option<&str> {
        self.annotations().find(|(known, _)| *known == key).map(|(_, value)| value.value)
    }

    fn pairs(&self, field: &str) -> impl Iterator<Item = (&str, &Node)> {
        let entries = self.root.lookup(&["metadata", field]).and_then(Node::entries);
        entries.into_iter().flatten().filter_map(|entry| Some((entry.key.text()?, &entry.value)))
    }
}

/// The objects of a name, by how near their files are: in a repository of several clusters a name is there for each.
///
/// # Errors
/// If there is none, or two are as near.
pub(super) fn nearest<'o, T>(
    from: &str,
    candidates: impl Iterator<Item = (&'o Object, T)>,
) -> std::result::Result<Option<T>, (&'o Object, &'o Object)> {
    let mut best: Option<(usize, &Object, T)> = None;
    let mut tie = None;
    for (object, value) in candidates {
        let common = common_folders(from, &object.path);
        match &best {
            Some((most, other, _)) if *most == common => tie = Some((*other, object)),
            Some((most, ..)) if *most > common => {}
            _ => {
                best = Some((common, object, value));
                tie = None;
            }
        }
    }
    match tie {
        Some(tie) => Err(tie),
        None => Ok(best.map(|(_, _, value)| value)),
    }
}

/// Returns how many folders two paths begin with in common; one more for the same file.
fn common_folders(first: &str, second: &str) -> usize {
    if first == second {
        return usize::MAX;
    }
    let folders = |path: &str| path.split('/').rev().skip(1).map(str::to_owned).collect::<Vec<_>>();
    let (first, second) = (folders(first), folders(second));
    first.iter().rev().zip(second.iter().rev()).take_while(|(first, second)| first == second).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn objects(files: &[(&str, &str)]) -> (Vec<Object>, Found) {
        let files: Vec<_> =
            files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
        let mut found = Found::default();
        (collect(&files, &["kind"], &mut found), found)
    }

    #[test]
    fn documents_and_items_of_lists_are_objects() {
        let text = "apiVersion: v1\nkind: A\nmetadata: {name: a, labels: {x: 1}}\n---\n---\nkind: B\n---\n\
            apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: C, metadata: {name: c, namespace: n}}\n- x\n";
        let (found, faults) = objects(&[("a.yaml", text), ("b.yaml", "x: y\n")]);
        let titles: Vec<String> = found.iter().map(Object::title).collect();
        assert_eq!(titles, ["A `a`", "C `n/c`"], "what has no API version is no object");
        assert_eq!(found[0].labels(), BTreeMap::from([("x", "1")]));
        assert_eq!(found[1].place().to_string(), "a.yaml:11:3");
        assert!(faults.faults.is_empty() && faults.warnings.is_empty());
    }

    #[test]
    fn what_is_no_yaml_is_a_fault_and_a_template_a_warning() {
        let (_, found) = objects(&[("a.yaml", "kind: [\n"), ("b.yaml", "kind: {{ x }}\n  y: [\n")]);
        assert_eq!(found.faults.len(), 1);
        assert!(found.warnings[0].to_string().starts_with("b.yaml:"), "{}", found.warnings[0]);
    }

    #[test]
    fn the_nearest_of_a_name_is_meant() {
        let object = "apiVersion: v1\nkind: A\nmetadata: {name: a}\n";
        let paths = ["clusters/prod/a.yaml", "clusters/test/a.yaml", "b.yaml"];
        let (found, _) = objects(&paths.map(|path| (path, object)));
        let meant = |from: &str| nearest(from, found.iter().map(|object| (object, &*object.path))).ok();
        assert_eq!(meant("clusters/test/flux/b.yaml"), Some(Some("clusters/test/a.yaml")));
        assert_eq!(meant("b.yaml"), Some(Some("b.yaml")));
        assert_eq!(meant("clusters/b.yaml"), None, "two are as near");
        assert!(matches!(nearest("x", std::iter::empty::<(&Object, ())>()), Ok(None)));
    }
}

//! The checks of rendered manifests and of CRDs.
//!
//! In: texts with Kubernetes objects. Out: what is wrong with them, in Helm's words and order. After the first document
//! that cannot be read nothing more is looked at, as in Helm.

use yamltree::{Dialect, DuplicateKeys, Expansion, JsonOptions, Node, ParseOptions, Resolved, to_json};

use super::{Message, Severity, deprecations, names};
use crate::capabilities::KubeVersion;
use crate::chart::shape::{self, Shape};
use crate::chart::text;
use crate::values;

/// The fields of an object that the linter reads.
const OBJECT: Shape = Shape::Struct(
    "rules.k8sYamlStruct",
    &[
        ("apiVersion", Shape::Text),
        ("kind", Shape::Text),
        (
            "metadata",
            Shape::Struct("rules.k8sYamlMetadata", &[("namespace", Shape::Text), ("name", Shape::Text)]),
        ),
    ],
);

/// Files of other kinds are no templates.
const ENDINGS: [&str; 4] = [".yaml", ".yml", ".tpl", ".txt"];

/// The kinds that select their pods.
const SELECTING: [&str; 4] = ["Deployment", "ReplicaSet", "DaemonSet", "StatefulSet"];

/// Looks at files one after the other.
pub(super) struct Files<'m> {
    pub(super) messages: &'m mut Vec<Message>,
    pub(super) cluster: &'m KubeVersion,
}

impl Files<'_> {
    fn say(&mut self, severity: Severity, path: &str, text: Option<String>) {
        self.messages.extend(text.map(|text| Message { severity, path: path.to_owned(), text }));
    }

    /// A template and what it rendered to; whether all of it could be read.
    pub(super) fn template(&mut self, path: &str, rendered: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or_default();
        let ending = name.rfind('.').map_or("", |at| &name[at..]);
        if !ENDINGS.contains(&ending) {
            let text = format!(
                "file extension '{ending}' not valid. Valid extensions are .yaml, .yml, .tpl, or .txt"
            );
            self.say(Severity::Error, path, Some(text));
        }
        let is_yaml =
            ["yaml", "yml"].iter().any(|known| ending[ending.len().min(1)..].eq_ignore_ascii_case(known));
        if !is_yaml || rendered.trim().is_empty() {
            return true;
        }
        self.say(Severity::Warning, path, indented(rendered));
        self.documents(path, rendered, |files, object| files.object(path, object, rendered))
    }

    /// A file of CRDs; whether all of it could be read.
    pub(super) fn crds(&mut self, path: &str, content: &str) -> bool {
        self.documents(path, content, |files, object| {
            let is_of_group = text(object, "apiVersion").starts_with("apiextensions.k8s.io");
            files.say(
                Severity::Error,
                path,
                (!is_of_group).then(|| "apiVersion is not in 'apiextensions.k8s.io'".to_owned()),
            );
            let is_crd = text(object, "kind") == "CustomResourceDefinition";
            files.say(
                Severity::Error,
                path,
                (!is_crd).then(|| "object kind is not 'CustomResourceDefinition'".to_owned()),
            );
        })
    }

    fn documents(&mut self, path: &str, content: &str, mut look: impl FnMut(&mut Self, &Node)) -> bool {
        let (chunks, fault) = values::split(content.as_bytes());
        for chunk in chunks {
            match read(&content[chunk]) {
                Ok(object) if is_null(&object) => {}
                Ok(object) => look(self, &object),
                Err(reason) => {
                    self.say(Severity::Error, path, Some(format!("unable to parse YAML: {reason}")));
                    return false;
                }
            }
        }
        if let Some((reason, _)) = fault {
            self.say(Severity::Error, path, Some(format!("unable to parse YAML: {reason}")));
            return false;
        }
        true
    }

    fn object(&mut self, path: &str, object: &Node, rendered: &str) {
        let [api_version, kind] = ["apiVersion", "kind"].map(|key| text(object, key));
        let name = object.get("metadata").map(|metadata| text(metadata, "name")).unwrap_or_default();
        self.say(Severity::Warning, path, names::fault(&kind, &name));
        let number = |text: &str| text.parse().unwrap_or_default();
        let (major, minor) = (number(&self.cluster.major), number(&self.cluster.minor));
        self.say(Severity::Warning, path, deprecations::warning(&api_version, &kind, major, minor));
        self.say(Severity::Error, path, without_selector(&kind, &name, rendered));
        self.say(Severity::Error, path, annotated_in_list(&kind, rendered));
    }
}

fn is_null(node: &Node) -> bool {
    matches!(node.resolved(Dialect::V2), Ok(Resolved::Null))
}

/// A document as Go decodes it, or Go's words.
fn read(document: &str) -> Result<Node, String> {
    let mut root = decoded(document)?;
    shape::fit(&mut root, &OBJECT)
        .map_err(|misfit| format!("error unmarshaling JSON: while decoding JSON: {}", misfit.message))?;
    Ok(root)
}

fn decoded(document: &str) -> Result<Node, String> {
    let refused = |error: yamltree::Error| format!("error converting YAML to JSON: {}", error.go_text());
    let options = ParseOptions {
        dialect: Dialect::V2,
        duplicate_keys: DuplicateKeys::KeepLast,
        ..ParseOptions::default()
    };
    let Some(parsed) = yamltree::parse_first(document, 0, &options).map_err(refused)? else {
        return Ok(Node::null());
    };
    let mut root = parsed.root;
    root.expand_aliases(Expansion::Decoded(Dialect::V2))
        .and_then(|()| to_json(&root, JsonOptions::SIGS, &mut String::new()))
        .map_err(refused)?;
    Ok(root)
}

/// The first line with something on it must not be indented.
fn indented(content: &str) -> Option<String> {
    let line = content.lines().find(|line| !line.trim().is_empty())?;
    line.starts_with([' ', '\t']).then(|| {
        let line = gostd::quoted(line.as_bytes());
        format!("document starts with an illegal indent: {line}, which may cause parsing problems")
    })
}

fn without_selector(kind: &str, name: &str, rendered: &str) -> Option<String> {
    let has_one = rendered.contains("matchLabels") || rendered.contains("matchExpressions");
    (SELECTING.contains(&kind) && !has_one).then(|| {
        let name = gostd::quoted(name.as_bytes());
        format!("a {kind} must contain matchLabels or matchExpressions, and {name} does not")
    })
}

/// The first document of the file is looked at, whichever is the list.
fn annotated_in_list(kind: &str, rendered: &str) -> Option<String> {
    if kind != "List" {
        return None;
    }
    let list = match decoded(rendered) {
        Ok(list) => list,
        Err(reason) => return Some(format!("unable to parse YAML: {reason}")),
    };
    let is_annotated =
        |item: &Node| item.lookup(&["metadata", "annotations", "helm.sh/resource-policy"]).is_some();
    let items = list.get("items").and_then(Node::items)?;
    items
        .iter()
        .any(is_annotated)
        .then(|| "annotation 'helm.sh/resource-policy' within List objects are ignored".to_owned())
}

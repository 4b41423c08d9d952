//! The metadata by which Argo CD recognizes the objects of an Application.
//!
//! In: an object, and the settings of `argocd-cm`. Out: the object with its annotation, its label, or both. Refused:
//! labels or annotations beside it that are no text, on which Argo CD gives up the whole Application.

use std::collections::BTreeMap;
use std::str::FromStr;

use diagnostic::{Error, Result};
use yamltree::{Entry, Node};

use super::Object;
use super::values::{described, is_null, string};

/// The namespace that Argo CD is in.
pub const ARGOCD_NAMESPACE: &str = "argocd";

const TRACKING_ID: &str = "argocd.argoproj.io/tracking-id";
const INSTALLATION_ID: &str = "argocd.argoproj.io/installation-id";
const DEFAULT_LABEL: &str = "app.kubernetes.io/instance";
/// The label of Argo CD before 0.11, which is also put on the templates of pods.
const LEGACY_LABEL: &str = "applications.argoproj.io/app-name";

const METHOD_SETTING: &str = "application.resourceTrackingMethod";
const LABEL_SETTING: &str = "application.instanceLabelKey";
const INSTALLATION_SETTING: &str = "installationID";

/// The longest value of a label.
const MAX_LABEL: usize = 63;

/// The tracking method.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// In an annotation, with what the object is.
    #[default]
    Annotation,
    /// In a label.
    Label,
    /// In both, of which the annotation counts.
    AnnotationAndLabel,
    /// Nowhere: manifests as they are rendered.
    None,
}

impl FromStr for Method {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        match name {
            "annotation" => Ok(Self::Annotation),
            "label" => Ok(Self::Label),
            "annotation+label" => Ok(Self::AnnotationAndLabel),
            "none" => Ok(Self::None),
            _ => Err(Error::invalid(format!("unknown tracking method `{name}`"))
                .hint("there are `annotation`, `label`, `annotation+label` and `none`")),
        }
    }
}

/// The tracking of an Application's objects.
#[derive(Clone, Debug)]
pub struct Tracking {
    method: Method,
    /// The Application's name among all: see [`instance_name`].
    instance: String,
    label: String,
    installation: Option<String>,
}

/// The name of an Application by which its objects are tracked: outside of Argo CD's namespace it has its own in it.
#[must_use]
pub fn instance_name(namespace: &str, name: &str) -> String {
    if namespace.is_empty() || namespace == ARGOCD_NAMESPACE {
        name.to_owned()
    } else {
        format!("{namespace}_{name}")
    }
}

impl Tracking {
    /// Returns what the settings say; a method that is given counts before theirs.
    #[must_use]
    pub fn new(settings: &BTreeMap<String, String>, instance: String, method: Option<Method>) -> Self {
        let setting = |key: &str| settings.get(key).map(String::as_str).filter(|value| !value.is_empty());
        // To Argo CD every name that it does not know is the default.
        let in_settings = || match setting(METHOD_SETTING) {
            Some("label") => Method::Label,
            Some("annotation+label") => Method::AnnotationAndLabel,
            _ => Method::Annotation,
        };
        Self {
            method: method.unwrap_or_else(in_settings),
            instance,
            label: setting(LABEL_SETTING).unwrap_or(DEFAULT_LABEL).to_owned(),
            installation: setting(INSTALLATION_SETTING).map(str::to_owned),
        }
    }

    /// Writes on an object whose it is. `destination` is the Application's namespace, for objects without one.
    ///
    /// # Errors
    /// If its labels or annotations are no texts, or the name is none that a label can hold.
    pub fn track(&self, object: &mut Object, destination: &str) -> Result<()> {
        if self.instance.is_empty() {
            return Ok(());
        }
        match self.method {
            Method::None => Ok(()),
            // Cut, it would be the name of another Application.
            Method::Label => self.write_label(object, &self.instance),
            Method::Annotation => self.annotate(object, destination),
            Method::AnnotationAndLabel => {
                self.annotate(object, destination)?;
                self.write_label(object, &shortened(&self.instance)?)
            }
        }
    }

    fn annotate(&self, object: &mut Object, destination: &str) -> Result<()> {
        let namespace = if object.namespace().is_empty() { destination } else { object.namespace() };
        let (group, kind, name) = (object.group(), object.kind(), object.name());
        let id = format!("{}:{group}/{kind}:{namespace}/{name}", self.instance);
        let annotations = texts(object, "annotations")?;
        match &self.installation {
            Some(installation) => put(annotations, INSTALLATION_ID, installation),
            None => annotations.retain(|entry| entry.key.text() != Some(INSTALLATION_ID)),
        }
        put(annotations, TRACKING_ID, &id);
        Ok(())
    }

    fn write_label(&self, object: &mut Object, value: &str) -> Result<()> {
        put(texts(object, "labels")?, &self.label, value);
        if self.label == LEGACY_LABEL {
            label_template(object, value);
        }
        Ok(())
    }
}

/// A name as the value of a label: cut, and without what cannot be at its end.
fn shortened(name: &str) -> Result<String> {
    if name.len() <= MAX_LABEL {
        return Ok(name.to_owned());
    }
    let cut = &name[..name.floor_char_boundary(MAX_LABEL)];
    let cut = cut.trim_end_matches(|last: char| !last.is_ascii_alphanumeric());
    if cut.is_empty() {
        return Err(Error::invalid(format!("`{name}` cannot be shortened to the value of a label")));
    }
    Ok(cut.to_owned())
}

/// The labels or annotations of an object, made if there are none.
fn texts<'o>(object: &'o mut Object, field: &str) -> Result<&'o mut Vec<Entry>> {
    check(object, field)?;
    let node = object.node_mut();
    if node.get("metadata").is_none_or(is_null) {
        node.set("metadata", Node::mapping(Vec::new()));
    }
    let metadata = node.get_mut("metadata").filter(|metadata| metadata.is_mapping());
    let metadata = metadata.ok_or_else(|| Error::invalid("`metadata` must be a mapping"))?;
    if metadata.get(field).is_none_or(is_null) {
        metadata.set(field, Node::mapping(Vec::new()));
    }
    let entries = metadata.get_mut(field).and_then(Node::entries_mut);
    entries.ok_or_else(|| Error::invalid(format!("`{field}` must be a mapping")))
}

/// Says what is no text among the labels or annotations.
fn check(object: &Object, field: &str) -> Result<()> {
    let Some(metadata) = object.node().get("metadata").filter(|node| !is_null(node)) else { return Ok(()) };
    if !metadata.is_mapping() {
        let message = format!("`metadata` of {object} is {}, not a mapping", described(metadata));
        return Err(Error::invalid(message).at(object.place_of(metadata)));
    }
    let Some(node) = metadata.get(field).filter(|node| !is_null(node)) else { return Ok(()) };
    let Some(entries) = node.entries() else {
        let message = format!("`metadata.{field}` of {object} is {}, not a mapping", described(node));
        return Err(Error::invalid(message).at(object.place_of(node)));
    };
    match entries.iter().find(|entry| string(&entry.value).is_none()) {
        None => Ok(()),
        Some(Entry { key, value }) => {
            let (what, key) = (field.trim_end_matches('s'), key.text().unwrap_or_default());
            let message = format!("the {what} `{key}` of {object} is {}, not text", described(value));
            Err(Error::invalid(message).at(object.place_of(value)).hint("quote it"))
        }
    }
}

fn put(entries: &mut Vec<Entry>, key: &str, value: &str) {
    match entries.iter_mut().find(|entry| entry.key.text() == Some(key)) {
        Some(entry) => entry.value = Node::string(value),
        None => entries.push(Entry::new(key, Node::string(value))),
    }
}

/// Puts the legacy label on the pods of workloads too, but not where Kubernetes would make a selector of it.
fn label_template(object: &mut Object, value: &str) {
    let has_template = match object.group() {
        "apps" | "extensions" => {
            matches!(object.kind(), "Deployment" | "ReplicaSet" | "StatefulSet" | "DaemonSet")
        }
        "batch" => object.kind() == "Job",
        _ => false,
    };
    if !has_template {
        return;
    }
    let selects_by_template = matches!(object.api_version(), "apps/v1beta1" | "extensions/v1beta1");
    let Some(spec) = object.node_mut().get_mut("spec").filter(|spec| spec.is_mapping()) else { return };
    let mut of_pods = spec.lookup(&["template", "metadata", "labels"]).cloned();
    of_pods = of_pods.filter(Node::is_mapping);
    let is_selecting =
        spec.get("selector").and_then(Node::entries).is_some_and(|entries| !entries.is_empty());
    if selects_by_template && !is_selecting {
        let labels = of_pods.clone().unwrap_or_else(|| Node::mapping(Vec::new()));
        spec.set("selector", Node::mapping(vec![Entry::new("matchLabels", labels)]));
    }
    let mut labels = of_pods.unwrap_or_else(|| Node::mapping(Vec::new()));
    labels.set(LEGACY_LABEL, Node::string(value));
    let mut at = spec;
    for field in ["template", "metadata"] {
        if at.get(field).is_none_or(|node| !node.is_mapping()) {
            at.set(field, Node::mapping(Vec::new()));
        }
        let Some(below) = at.get_mut(field) else { return };
        at = below;
    }
    at.set("labels", labels);
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use yamltree::Source;

    use super::*;

    fn object(text: &str) -> Object {
        super::super::read(&Arc::new(Source { name: "a.yaml".to_owned(), text: text.into() }))
            .unwrap()
            .remove(0)
    }

    fn tracked(text: &str, settings: &[(&str, &str)], method: Method) -> Result<String> {
        let settings = settings.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let mut object = object(text);
        Tracking::new(&settings, "web".to_owned(), Some(method)).track(&mut object, "shop")?;
        object.node().get("metadata").cloned().map_or(Ok(String::new()), |metadata| {
            let mut json = String::new();
            yamltree::to_json(&metadata, yamltree::JsonOptions::SIGS, &mut json).unwrap();
            Ok(json)
        })
    }

    #[test]
    fn names_outside_of_argocd_have_their_namespace() {
        for (namespace, want) in [("", "web"), ("argocd", "web"), ("team", "team_web")] {
            assert_eq!(instance_name(namespace, "web"), want);
        }
    }

    #[test]
    fn annotations_say_what_the_object_is() {
        let plain = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\n";
        assert_eq!(
            tracked(plain, &[], Method::Annotation).unwrap(),
            r#"{"annotations":{"argocd.argoproj.io/tracking-id":"web:apps/Deployment:shop/a"},"name":"a"}"#
        );
        let old = "kind: Pod\nmetadata: {name: a, namespace: x, annotations: {argocd.argoproj.io/installation-id: old, argocd.argoproj.io/tracking-id: x}}\n";
        assert_eq!(
            tracked(old, &[], Method::Annotation).unwrap(),
            r#"{"annotations":{"argocd.argoproj.io/tracking-id":"web:/Pod:x/a"},"name":"a","namespace":"x"}"#
        );
        assert_eq!(
            tracked("kind: Pod\n", &[("installationID", "i")], Method::AnnotationAndLabel).unwrap(),
            r#"{"annotations":{"argocd.argoproj.io/installation-id":"i","argocd.argoproj.io/tracking-id":"web:/Pod:shop/"},"labels":{"app.kubernetes.io/instance":"web"}}"#
        );
        assert_eq!(tracked("kind: Pod\n", &[], Method::None).unwrap(), "");
    }

    #[test]
    fn what_is_no_text_is_refused_where_it_would_be_written() {
        let text = "kind: Pod\nmetadata:\n  name: a\n  labels: {a: 1}\n  annotations: {b: true}\n";
        let refused = |method| tracked(text, &[], method).unwrap_err().to_string();
        assert_eq!(refused(Method::Label), "a.yaml:4:15: the label `a` of Pod/a is a number, not text");
        assert_eq!(
            refused(Method::Annotation),
            "a.yaml:5:20: the annotation `b` of Pod/a is a boolean, not text"
        );
        assert!(tracked(text, &[], Method::None).is_ok());
        let list = "kind: Pod\nmetadata: {annotations: []}\n";
        let error = tracked(list, &[], Method::Annotation).unwrap_err().to_string();
        assert!(error.contains("`metadata.annotations` of Pod/without a name is a list"), "{error}");
    }

    #[test]
    fn labels_are_cut_only_beside_an_annotation() {
        let long = format!("{}---y", "x".repeat(60));
        assert_eq!(shortened(&long).unwrap(), "x".repeat(60));
        assert_eq!(shortened("a-").unwrap(), "a-");
        assert!(shortened(&"-".repeat(64)).is_err());
        let mut object = object("kind: Pod\n");
        Tracking::new(&BTreeMap::new(), long.clone(), Some(Method::Label)).track(&mut object, "").unwrap();
        assert_eq!(object.label("app.kubernetes.io/instance"), Some(long.as_str()));
    }

    #[test]
    fn the_legacy_label_goes_to_pods() {
        let settings = BTreeMap::from([("application.instanceLabelKey".to_owned(), LEGACY_LABEL.to_owned())]);
        let tracking = Tracking::new(&settings, "web".to_owned(), Some(Method::Label));
        let mut deployment = object(
            "apiVersion: extensions/v1beta1\nkind: Deployment\nspec: {template: {metadata: {labels: {a: b}}}}\n",
        );
        tracking.track(&mut deployment, "").unwrap();
        let spec = deployment.node().get("spec").unwrap();
        let pods = spec.lookup(&["template", "metadata", "labels"]).unwrap();
        assert_eq!(pods.get(LEGACY_LABEL).and_then(Node::text), Some("web"));
        let selected = spec.lookup(&["selector", "matchLabels"]).unwrap();
        assert_eq!(selected.entries().unwrap().len(), 1);
        let mut job = object("apiVersion: batch/v1\nkind: Job\nspec: {}\n");
        tracking.track(&mut job, "").unwrap();
        let labels = job.node().lookup(&["spec", "template", "metadata", "labels", LEGACY_LABEL]);
        assert_eq!(labels.and_then(Node::text), Some("web"));
    }

    #[test]
    fn settings_choose_the_method() {
        for (setting, want) in [
            ("", Method::Annotation),
            ("label", Method::Label),
            ("annotation+label", Method::AnnotationAndLabel),
            ("typo", Method::Annotation),
        ] {
            let settings = BTreeMap::from([(METHOD_SETTING.to_owned(), setting.to_owned())]);
            assert_eq!(Tracking::new(&settings, "web".to_owned(), None).method, want);
        }
        assert!("typo".parse::<Method>().is_err());
    }
}

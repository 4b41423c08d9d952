//! Normalizes objects so that differences which Argo CD ignores disappear.
//!
//! In: an object as it would be applied. Out: the same in the form in which it is compared: without `status` and fields
//! that are ignored, Secrets with their data alone, empty roles and quantities in one form ([`Normalizer`]). Refused:
//! settings that cannot be read. Both sides of a comparison go through the same.

mod ignore;
mod jq;
mod known;
mod quantity;

use std::collections::BTreeMap;

use gostd::base64;
use serde::Deserialize;
use yamlserde::YamlFile;
use yamltree::{Entry, Node, Tag};

use crate::application::IgnoreDifferences;
use crate::objects::Object;

use diagnostic::Result;
use ignore::Rule;

const COMPARE_OPTIONS: &str = "resource.compareoptions";

/// Brings objects into the form in which they are compared.
#[derive(Clone, Debug)]
pub struct Normalizer {
    rules: Vec<Rule>,
    ignores_aggregated_roles: bool,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct CompareOptions {
    ignore_aggregated_roles: bool,
    ignore_resource_status_field: Option<String>,
}

impl Normalizer {
    /// By what an Application ignores, and by the settings.
    ///
    /// # Errors
    /// If the settings cannot be read.
    pub fn new(ignored: &[IgnoreDifferences], settings: &BTreeMap<String, String>) -> Result<Self> {
        let options = compare_options(settings)?;
        let mut rules: Vec<Rule> = ignored.iter().map(Rule::of_application).collect();
        rules.extend(ignore::of_settings(settings)?);
        match options.ignore_resource_status_field.as_deref() {
            Some("none" | "off" | "false") => {}
            Some("crd") => {
                rules.push(Rule::everywhere("apiextensions.k8s.io", "CustomResourceDefinition", "/status"));
            }
            // To Argo CD every other word is `all`.
            _ => rules.push(Rule::everywhere("*", "*", "/status")),
        }
        Ok(Self { rules, ignores_aggregated_roles: options.ignore_aggregated_roles })
    }

    /// Brings an object into the form in which it is compared.
    pub fn normalize(&self, object: &mut Object) {
        if let Some(metadata) = object.node_mut().get_mut("metadata") {
            metadata.remove("creationTimestamp");
        }
        match (object.group(), object.kind()) {
            ("", "Secret") => normalize_secret(object),
            ("rbac.authorization.k8s.io", "Role" | "ClusterRole") => {
                normalize_role(object, self.ignores_aggregated_roles);
            }
            _ => {}
        }
        for rule in self.rules.iter().filter(|rule| rule.matches(object)).collect::<Vec<_>>() {
            rule.apply(object);
        }
        known::normalize(object);
    }

    /// Returns what is ignored of an object by Argo CD, but not here: what managers of fields own, and expressions that are none.
    #[must_use]
    pub fn not_done(&self, object: &Object) -> Vec<&str> {
        let rules = self.rules.iter().filter(|rule| rule.matches(object));
        rules.flat_map(Rule::not_done).collect()
    }
}

fn compare_options(settings: &BTreeMap<String, String>) -> Result<CompareOptions> {
    let Some(text) = settings.get(COMPARE_OPTIONS).filter(|text| !text.trim().is_empty()) else {
        return Ok(CompareOptions::default());
    };
    YamlFile::new(&format!("settings: {COMPARE_OPTIONS}"), text).read()
}

/// Moves `stringData` to `data`, and spells all of it as the cluster does.
fn normalize_secret(object: &mut Object) {
    let node = object.node_mut();
    if node.get("stringData").is_some_and(Node::is_mapping) {
        let texts = node.remove("stringData").and_then(|mut texts| texts.entries_mut().map(std::mem::take));
        if node.get("data").is_none_or(|data| !data.is_mapping()) {
            node.set("data", Node::mapping(Vec::new()));
        }
        let Some(data) = node.get_mut("data") else { return };
        for Entry { key, value } in texts.unwrap_or_default() {
            let encoded = match value.text().filter(|_| value.tag == Tag::Str) {
                Some(text) => Node::string(&base64::encode(text.as_bytes())).at(value.span),
                // What is no text is refused by the cluster, and stays to be seen.
                None => value,
            };
            data.set(key.text().unwrap_or_default(), encoded);
        }
    }
    let Some(entries) = node.get_mut("data").and_then(Node::entries_mut) else { return };
    let spelled: Option<Vec<Node>> = entries.iter().map(|entry| respelled(&entry.value)).collect();
    // One value that is no base64 makes no Secret, and then Argo CD leaves the others as they are.
    for (entry, value) in entries.iter_mut().zip(spelled.unwrap_or_default()) {
        entry.value = value;
    }
}

/// A value of a Secret's `data` after it was decoded and encoded; null is empty.
fn respelled(value: &Node) -> Option<Node> {
    if value.tag == Tag::Null {
        return Some(Node::string("").at(value.span));
    }
    let text = value.text().filter(|_| value.tag == Tag::Str)?;
    let bytes = base64::decode(text.as_bytes()).ok()?;
    Some(Node::string(&base64::encode(&bytes)).at(value.span))
}

/// No rules are null, and so are those that the cluster puts together of other roles, if that is asked for.
fn normalize_role(object: &mut Object, ignores_aggregated: bool) {
    let node = object.node_mut();
    let is_aggregated = node.get("aggregationRule").is_some_and(Node::is_mapping);
    let is_empty = node.get("rules").and_then(Node::items).is_some_and(Vec::is_empty);
    if is_empty || (ignores_aggregated && is_aggregated) {
        node.set("rules", Node::null());
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use yamltree::Source;

    use super::*;
    use crate::objects::read;

    fn normalized(text: &str, settings: &[(&str, &str)]) -> String {
        let settings = settings.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let normalizer = Normalizer::new(&[], &settings).unwrap();
        let source = Arc::new(Source { name: "a.yaml".to_owned(), text: text.into() });
        let mut object = read(&source).unwrap().remove(0);
        normalizer.normalize(&mut object);
        object.to_json().unwrap()
    }

    /// gitops-engine/pkg/diff/diff.go `NormalizeSecret`
    #[test]
    fn secrets_have_data_alone() {
        for (text, want) in [
            (
                "{kind: Secret, stringData: {a: x}, data: {a: b2xk, b: eQ==}}",
                r#"{"data":{"a":"eA==","b":"eQ=="},"kind":"Secret"}"#,
            ),
            ("{kind: Secret, data: {a: null}}", r#"{"data":{"a":""},"kind":"Secret"}"#),
            ("{kind: Secret, data: {a: \"eA=\\n=\"}}", r#"{"data":{"a":"eA=="},"kind":"Secret"}"#),
            // Bits of the last digit that belong to no byte do not count, as in Go.
            ("{kind: Secret, data: {a: YR==}}", r#"{"data":{"a":"YQ=="},"kind":"Secret"}"#),
            ("{kind: Secret, data: {a: null, b: '?'}}", r#"{"data":{"a":null,"b":"?"},"kind":"Secret"}"#),
            ("{kind: Secret, stringData: {a: 1}}", r#"{"data":{"a":1},"kind":"Secret"}"#),
            ("{kind: Other, stringData: {a: x}}", r#"{"kind":"Other","stringData":{"a":"x"}}"#),
        ] {
            assert_eq!(normalized(text, &[]), want);
        }
    }

    /// `normalizeRole`
    #[test]
    fn roles_without_rules_have_none() {
        let role = "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, aggregationRule: {}, rules: [{verbs: [get]}]}";
        assert!(normalized(role, &[]).contains("verbs"));
        let settings = [(COMPARE_OPTIONS, "ignoreAggregatedRoles: true")];
        assert!(normalized(role, &settings).contains(r#""rules":null"#));
        let empty = "{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, rules: []}";
        assert!(normalized(empty, &[]).contains(r#""rules":null"#));
    }

    #[test]
    fn status_is_ignored_unless_the_settings_say_otherwise() {
        let text = "{kind: A, metadata: {creationTimestamp: null}, status: {}}";
        assert_eq!(normalized(text, &[]), r#"{"kind":"A","metadata":{}}"#);
        for word in ["none", "crd"] {
            let options = format!("ignoreResourceStatusField: {word}");
            assert!(normalized(text, &[(COMPARE_OPTIONS, &options)]).contains("status"));
        }
    }

    #[test]
    fn quantities_are_spelled_in_one_way() {
        let text = "{apiVersion: apps/v1, kind: Deployment, spec: {template: {spec: {containers: [{name: a, resources: {limits: {cpu: 0.5, memory: 1024Mi}, requests: {cpu: 1000m}}}]}}}}";
        assert_eq!(
            normalized(text, &[]),
            r#"{"apiVersion":"apps/v1","kind":"Deployment","spec":{"template":{"spec":{"containers":[{"name":"a","resources":{"limits":{"cpu":"500m","memory":"1Gi"},"requests":{"cpu":"1"}}}]}}}}"#
        );
        let quota = "{apiVersion: v1, kind: ResourceQuota, spec: {hard: {pods: 1000, cpu: x}}}";
        assert!(normalized(quota, &[]).contains(r#"{"cpu":"x","pods":"1k"}"#));
        // The same words mean nothing in a kind that is not known.
        let other = "{apiVersion: example.com/v1, kind: ResourceQuota, spec: {hard: {pods: 1000}}}";
        assert!(normalized(other, &[]).contains("1000"));
    }

    #[test]
    fn pointers_and_expressions_of_the_settings_take_fields_out() {
        let key = |of: &str| format!("resource.customizations.ignoreDifferences.{of}");
        let text = "{apiVersion: apps/v1, kind: Deployment, metadata: {annotations: {a/b: x, c: d}}, spec: {list: [1, 2, 3]}}";
        let all = "jsonPointers: [/metadata/annotations/a~1b, /missing/at/all, /spec/list/9, none]";
        let apps = "jsonPointers: [/spec/list/-1, /spec/list/0]\njqPathExpressions: [.metadata.annotations.c, '.spec[']\nmanagedFieldsManagers: [kube-controller-manager]\n";
        assert_eq!(
            normalized(text, &[(&key("all"), all), (&key("apps_Deployment"), apps)]),
            r#"{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"annotations":{}},"spec":{"list":[2]}}"#
        );
        let settings = BTreeMap::from([(key("apps_Deployment"), apps.to_owned())]);
        let normalizer = Normalizer::new(&[], &settings).unwrap();
        let source = Arc::new(Source { name: "a.yaml".to_owned(), text: text.into() });
        assert_eq!(normalizer.not_done(&read(&source).unwrap()[0]), ["kube-controller-manager", ".spec["]);
    }
}

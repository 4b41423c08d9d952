//! The objects that `lookup` finds in place of those of a cluster.
//!
//! In: texts with Kubernetes objects and lists of such, in YAML or JSON. Out: what a cluster with just these would
//! answer. Refused: what is no object, and objects without a kind or a name.

use std::collections::{BTreeMap, HashMap};

use diagnostic::{Error, Result};
use gotemplate::Value;
use yamltree::{
    Dialect, DuplicateKeys, Expansion, JsonOptions, Node, ParseOptions, Resolved, Span, parse, parse_first,
    to_json,
};

use crate::sources::Sources;

/// Objects by `apiVersion` and `kind`.
#[derive(Clone, Debug, Default)]
pub struct Cluster(HashMap<(String, String), Objects>);

/// Objects of a kind by namespace and name, in the order in which a cluster lists them. One without a namespace is for
/// all of them.
type Objects = BTreeMap<(String, String), Node>;

/// The defaults of a list for items without their own.
#[derive(Clone, Copy, Default)]
struct Defaults<'d> {
    api_version: &'d str,
    kind: &'d str,
}

impl Cluster {
    /// Takes in the objects of a text, each in place of an older one of its kind and name. `name` is that of the file.
    ///
    /// # Errors
    /// With the place in the file.
    pub fn add(&mut self, name: &str, text: &str) -> Result<()> {
        let mut sources = Sources::default();
        let source = sources.add(name, text);
        let options = ParseOptions {
            dialect: Dialect::V2,
            duplicate_keys: DuplicateKeys::KeepLast,
            ..ParseOptions::default()
        };
        let refused =
            |error: yamltree::Error| Error::invalid(error.message()).at(sources.place(error.span()));
        for document in parse(text, source, &options).map_err(refused)? {
            let mut root = document.root;
            root.expand_aliases(Expansion::Decoded(Dialect::V2)).map_err(refused)?;
            let wrong = |(sentence, span): (String, Span)| Error::invalid(sentence).at(sources.place(span));
            self.object(&root, Defaults::default()).map_err(wrong)?;
        }
        Ok(())
    }

    fn object(&mut self, node: &Node, defaults: Defaults<'_>) -> std::result::Result<(), (String, Span)> {
        if matches!(node.resolved(Dialect::V2), Ok(Resolved::Null)) {
            return Ok(());
        }
        let refuse = |sentence: &str| Err((sentence.to_owned(), node.span));
        if !node.is_mapping() {
            return refuse("expected a Kubernetes object");
        }
        let field = |key, default| node.get(key).and_then(Node::text).unwrap_or(default);
        let (api_version, kind) = (field("apiVersion", defaults.api_version), field("kind", defaults.kind));
        if api_version.is_empty() || kind.is_empty() {
            return refuse("the object lacks `apiVersion` or `kind`");
        }
        if let (Some(items), Some(item_kind)) =
            (node.get("items").and_then(Node::items), kind.strip_suffix("List"))
        {
            // A `List` is of anything, a `SecretList` of secrets.
            let api_version = if item_kind.is_empty() { "" } else { api_version };
            let defaults = Defaults { api_version, kind: item_kind };
            return items.iter().try_for_each(|item| self.object(item, defaults));
        }
        let named = |key| node.lookup(&["metadata", key]).and_then(Node::text).unwrap_or_default().to_owned();
        let name = named("name");
        if name.is_empty() {
            return refuse("the object lacks `metadata.name`");
        }
        let mut object = through_json(node).map_err(|error| (error.message().to_owned(), error.span()))?;
        object.set("apiVersion", Node::string(api_version));
        object.set("kind", Node::string(kind));
        let objects = self.0.entry((api_version.to_owned(), kind.to_owned())).or_default();
        objects.insert((named("namespace"), name), object);
        Ok(())
    }

    /// Returns what a cluster answers: an object, a list where no name is given, or an empty map.
    pub(crate) fn lookup(&self, api_version: &str, kind: &str, namespace: &str, name: &str) -> Value {
        let objects = self.0.get(&(api_version.to_owned(), kind.to_owned()));
        if name.is_empty() {
            let of_namespace = |((owner, _), _): &(&(String, String), &Node)| {
                namespace.is_empty() || owner.is_empty() || owner == namespace
            };
            let found = objects.into_iter().flatten().filter(of_namespace);
            return Value::map([
                ("apiVersion", api_version.into()),
                ("items", Value::list(found.map(|(_, object)| value(object)).collect())),
                ("kind", format!("{kind}List").into()),
                ("metadata", Value::map([("resourceVersion", "".into())])),
            ]);
        }
        let get = |owner: &str| objects?.get(&(owner.to_owned(), name.to_owned()));
        get(namespace).or_else(|| get("")).map_or_else(|| Value::map::<&str>([]), value)
    }
}

/// An object as Kubernetes has it: by way of JSON, which knows no booleans but `true` and `false`.
fn through_json(node: &Node) -> std::result::Result<Node, yamltree::Error> {
    let mut json = String::new();
    to_json(node, JsonOptions { escape_html: false, ..JsonOptions::SIGS }, &mut json)?;
    let options = ParseOptions { dialect: Dialect::V3, ..ParseOptions::default() };
    Ok(parse_first(&json, node.span.source, &options)?.map_or_else(Node::null, |document| document.root))
}

/// A client of Kubernetes reads whole numbers as integers, other than all else that templates read.
fn value(node: &Node) -> Value {
    if let Some(entries) = node.entries() {
        let entry =
            |entry: &yamltree::Entry| (entry.key.text().unwrap_or_default().to_owned(), value(&entry.value));
        return Value::map(entries.iter().map(entry));
    }
    if let Some(items) = node.items() {
        return Value::list(items.iter().map(value).collect());
    }
    match node.resolved(Dialect::V3) {
        Ok(Resolved::Null) => Value::Nil,
        Ok(Resolved::Bool(on)) => on.into(),
        Ok(Resolved::Int(number)) => Value::int64(number),
        #[expect(clippy::cast_precision_loss, reason = "k8s.io/apimachinery's JSON does the same")]
        Ok(Resolved::Uint(number)) => Value::Float(number as f64),
        Ok(Resolved::Float(number)) => number.into(),
        _ => node.text().unwrap_or_default().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OBJECTS: &str = "\
apiVersion: v1
kind: Secret
metadata: {name: db, namespace: prod}
data: {password: c2VjcmV0}
---
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Namespace
  metadata: {name: prod, uid: 123, labels: {on: yes}}
- apiVersion: apps/v1
  kind: DeploymentList
  items:
  - metadata: {name: web, namespace: dev}
    spec: {replicas: 1000000, ratio: 0.5}
---
";

    fn cluster() -> Cluster {
        let mut cluster = Cluster::default();
        cluster.add("objects.yaml", OBJECTS).expect("objects");
        cluster.add("more.json", "{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":\"a\",\"namespace\":\"prod\"}}")
            .expect("an object");
        cluster
    }

    fn found(api_version: &str, kind: &str, namespace: &str, name: &str) -> String {
        let value = cluster().lookup(api_version, kind, namespace, name);
        let text = gotemplate::json::encode(&value, gotemplate::json::Style::RAW, 1 << 20).expect("JSON");
        String::from_utf8(text).expect("text")
    }

    #[test]
    fn an_object_is_found_by_its_name() {
        assert_eq!(
            found("v1", "Secret", "prod", "db"),
            "{\"apiVersion\":\"v1\",\"data\":{\"password\":\"c2VjcmV0\"},\"kind\":\"Secret\",\"metadata\":{\"name\":\"db\",\"namespace\":\"prod\"}}"
        );
        // As a cluster answers: a namespace is asked for all of its own, and no other.
        for (kind, namespace, name) in [("Secret", "dev", "db"), ("Secret", "", "db"), ("Pod", "prod", "db")]
        {
            assert_eq!(found("v1", kind, namespace, name), "{}", "{kind} {namespace}");
        }
        for namespace in ["", "prod"] {
            assert_eq!(
                found("v1", "Namespace", namespace, "prod"),
                "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"labels\":{\"true\":true},\"name\":\"prod\",\"uid\":123}}"
            );
        }
    }

    #[test]
    fn without_a_name_there_is_a_list() {
        let list = |items: &str, kind: &str| {
            format!(
                "{{\"apiVersion\":\"v1\",\"items\":[{items}],\"kind\":\"{kind}List\",\"metadata\":{{\"resourceVersion\":\"\"}}}}"
            )
        };
        let a = "{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":\"a\",\"namespace\":\"prod\"}}";
        let all = found("v1", "Secret", "", "");
        assert!(all.starts_with(&list(a, "Secret")[..70]) && all.contains("\"name\":\"db\""), "{all}");
        assert_eq!(found("v1", "Secret", "prod", ""), all);
        assert_eq!(found("v1", "Secret", "dev", ""), list("", "Secret"));
        assert_eq!(found("v1", "Pod", "dev", ""), list("", "Pod"));
    }

    #[test]
    fn whole_numbers_are_integers_and_items_are_of_the_lists_kind() {
        let value = cluster().lookup("apps/v1", "Deployment", "dev", "web");
        let Value::Map(web) = value else { panic!("a map") };
        assert_eq!(web.get("kind").map(|kind| kind.type_name()), Some("string".to_owned()));
        let Some(Value::Map(spec)) = web.get("spec") else { panic!("a map") };
        let types = ["replicas", "ratio"].map(|key| spec.get(key).map(|value| value.type_name()));
        assert_eq!(types, [Some("int64".to_owned()), Some("float64".to_owned())]);
    }

    #[test]
    fn what_is_no_object_is_refused_with_its_place() {
        for (text, location, message) in [
            ("a: [\n", "x.yaml:2:1", ""),
            ("---\n- a\n", "x.yaml:2:1", "expected a Kubernetes object"),
            (
                "apiVersion: v1\nmetadata: {name: a}\n",
                "x.yaml:1:1",
                "the object lacks `apiVersion` or `kind`",
            ),
            (
                "kind: List\napiVersion: v1\nitems:\n- kind: Pod\n  apiVersion: v1\n",
                "x.yaml:4:3",
                "the object lacks `metadata.name`",
            ),
        ] {
            let error = Cluster::default().add("x.yaml", text).expect_err(text);
            assert_eq!(error.location().map(ToString::to_string).as_deref(), Some(location), "{text}");
            assert!(error.message().contains(message), "{error}");
        }
    }
}

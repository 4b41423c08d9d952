//! `.Chart`: the metadata as a map under the names of Helm's Go fields, every one of which is there.
//!
//! In Helm 3 it is a struct: a field that it lacks is an error, and JSON has the names of Chart.yaml.

use std::any::Any;

use gotemplate::{Entries, Map, Object, Type, Value};
use yamltree::Node;

use crate::chart::{Chart, Dependency, sanitized, text};
use crate::funcs::node_value;
use crate::version::HelmVersion;

/// `.Chart` of a chart.
pub(crate) fn metadata(chart: &Chart, is_root: bool, version: HelmVersion) -> Value {
    let fields = fields(chart, is_root);
    match version {
        HelmVersion::V4 => Value::map(fields),
        HelmVersion::V3 => Value::object(ChartStruct(fields)),
    }
}

fn fields(chart: &Chart, is_root: bool) -> Vec<(&'static str, Value)> {
    let metadata = &chart.metadata;
    let node = &metadata.node;
    let field = |key| Value::from(sanitized(&text(node, key)));
    vec![
        ("APIVersion", metadata.api_version.as_str().into()),
        ("Annotations", annotations(node)),
        ("AppVersion", metadata.app_version.as_str().into()),
        ("Condition", field("condition")),
        ("Dependencies", Value::list(metadata.dependencies.iter().map(dependency).collect())),
        ("Deprecated", metadata.deprecated.into()),
        ("Description", field("description")),
        ("Home", field("home")),
        ("Icon", field("icon")),
        ("IsRoot", is_root.into()),
        ("Keywords", strings(node, "keywords")),
        ("KubeVersion", metadata.kube_version.as_str().into()),
        ("Maintainers", maintainers(node)),
        ("Name", metadata.name.as_str().into()),
        ("Sources", strings(node, "sources")),
        ("Tags", field("tags")),
        ("Type", text(node, "type").into()),
        ("Version", metadata.version.as_str().into()),
    ]
}

/// `.Chart` in Helm 3.
#[derive(Debug)]
struct ChartStruct(Vec<(&'static str, Value)>);

/// The fields of `chart.Metadata` in their order, with their names in JSON, and the one that Helm adds.
const JSON_FIELDS: [(&str, &str); 18] = [
    ("Name", "name"),
    ("Home", "home"),
    ("Sources", "sources"),
    ("Version", "version"),
    ("Description", "description"),
    ("Keywords", "keywords"),
    ("Maintainers", "maintainers"),
    ("Icon", "icon"),
    ("APIVersion", "apiVersion"),
    ("Condition", "condition"),
    ("Tags", "tags"),
    ("AppVersion", "appVersion"),
    ("Deprecated", "deprecated"),
    ("Annotations", "annotations"),
    ("KubeVersion", "kubeVersion"),
    ("Dependencies", "dependencies"),
    ("Type", "type"),
    ("IsRoot", "IsRoot"),
];

impl Object for ChartStruct {
    fn go_type(&self) -> Type {
        Type::Named("struct { chart.Metadata; IsRoot bool }", &Type::Struct)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn field(&self, name: &str) -> Option<Value> {
        self.0.iter().find(|(field, _)| *field == name).map(|(_, value)| value.clone())
    }

    fn fields(&self) -> Vec<(&'static str, Value)> {
        JSON_FIELDS.iter().filter_map(|(name, _)| Some((*name, self.field(name)?))).collect()
    }

    /// Those that are not empty; whether it is the root is always said.
    fn json_fields(&self) -> Option<Vec<(&'static str, Value)>> {
        let field = |(name, json): &(&str, &'static str)| {
            let value = self.field(name)?;
            (value.is_true() || *name == "IsRoot").then_some((*json, value))
        };
        Some(JSON_FIELDS.iter().filter_map(field).collect())
    }

    fn equals(&self, other: &dyn Object) -> bool {
        let Some(Self(other)) = other.as_any().downcast_ref() else { return false };
        self.0.iter().zip(other).all(|((_, left), (_, right))| left.deep_equal(right))
    }
}

fn items<'n>(node: &'n Node, key: &str) -> &'n [Node] {
    node.get(key).and_then(Node::items).map(Vec::as_slice).unwrap_or_default()
}

fn strings(node: &Node, key: &str) -> Value {
    let item = |item: &Node| Value::from(sanitized(item.text().unwrap_or_default()));
    Value::list(items(node, key).iter().map(item).collect())
}

fn annotations(node: &Node) -> Value {
    let Some(entries) = node.get("annotations").and_then(Node::entries) else {
        return Map::nil(Type::STRING_MAP).into();
    };
    let entry = |entry: &yamltree::Entry| {
        let key = entry.key.text().unwrap_or_default();
        (key.into(), entry.value.text().unwrap_or_default().into())
    };
    Map::typed(Type::STRING_MAP, entries.iter().map(entry).collect::<Entries>()).into()
}

fn maintainers(node: &Node) -> Value {
    let maintainer = |node: &Node| {
        let field = |key| Value::from(sanitized(&text(node, key)));
        Value::map([("Email", field("email")), ("Name", field("name")), ("URL", field("url"))])
    };
    Value::list(items(node, "maintainers").iter().map(maintainer).collect())
}

fn dependency(dependency: &Dependency) -> Value {
    let imports = dependency.import_values.iter().map(|node| node_value(node).unwrap_or_default());
    let tags = dependency.tags.iter().map(|tag| tag.as_str().into());
    Value::map([
        ("Alias", dependency.alias.as_str().into()),
        ("Condition", dependency.condition.as_str().into()),
        ("Enabled", dependency.enabled.into()),
        ("ImportValues", Value::list(imports.collect())),
        ("Name", dependency.name.as_str().into()),
        ("Repository", dependency.repository.as_str().into()),
        ("Tags", Value::list(tags.collect())),
        ("Version", dependency.version.as_str().into()),
    ])
}

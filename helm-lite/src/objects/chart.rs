//! `.Chart`: the metadata as a map under the names of Helm's Go fields, every one of which is there.

use gotemplate::{Entries, Map, Type, Value};
use yamltree::Node;

use crate::chart::{Chart, Dependency, sanitized, text};
use crate::funcs::node_value;

/// `.Chart` of a chart.
pub(crate) fn metadata(chart: &Chart, is_root: bool) -> Value {
    let metadata = &chart.metadata;
    let node = &metadata.node;
    let field = |key| Value::from(sanitized(&text(node, key)));
    Value::map([
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
    ])
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

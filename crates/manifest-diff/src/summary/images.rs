//! Images that change, by workload.

use std::collections::BTreeMap;

use yamltree::{Kind, Node};

use super::Difference;
use crate::model::{ImageChange, Summary};
use crate::objects::is_text;

/// Kinds whose `image` fields are not container images.
const NO_WORKLOADS: &[&str] = &["ConfigMap", "Secret", "CustomResourceDefinition"];

pub(super) fn look(difference: &Difference<'_>, summary: &mut Summary) {
    if NO_WORKLOADS.contains(&difference.id.kind.as_str()) {
        return;
    }
    for change in difference.changes {
        let path = change.path.to_string();
        let is_image = change.path.last_key() == Some("image");
        let images = |node: Option<&Node>| {
            let mut images = BTreeMap::new();
            if let Some(node) = node {
                collect(node, path.clone(), is_image, &mut images);
            }
            images
        };
        let mut changes: BTreeMap<String, (Option<String>, Option<String>)> = BTreeMap::new();
        for (path, image) in images(change.old.as_ref()) {
            changes.entry(path).or_default().0 = Some(image);
        }
        for (path, image) in images(change.new.as_ref()) {
            changes.entry(path).or_default().1 = Some(image);
        }
        let changes = changes.into_iter().filter(|(_, (old, new))| old != new);
        summary.images.extend(changes.map(|(path, (old, new))| ImageChange {
            target: difference.target.to_owned(),
            object: difference.id.clone(),
            path,
            old,
            new,
        }));
    }
}

fn collect(node: &Node, path: String, is_image: bool, images: &mut BTreeMap<String, String>) {
    match &node.kind {
        Kind::Scalar(text) if is_image && is_text(node) && !text.is_empty() => {
            images.insert(path, text.to_string());
        }
        Kind::Mapping(entries) => {
            for entry in entries {
                let key = entry.key.text().unwrap_or_default();
                let dot = if path.is_empty() { "" } else { "." };
                collect(&entry.value, format!("{path}{dot}{key}"), key == "image", images);
            }
        }
        Kind::Sequence(items) => {
            for (at, item) in items.iter().enumerate() {
                let label = item
                    .get("name")
                    .and_then(Node::text)
                    .map_or_else(|| at.to_string(), |name| format!("name={name}"));
                collect(item, format!("{path}[{label}]"), false, images);
            }
        }
        Kind::Scalar(_) | Kind::Alias(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use crate::input::ApplyOptions;
    use crate::summary::testing::summary;

    fn pod(containers: &str) -> String {
        format!("apiVersion: v1\nkind: Pod\nmetadata: {{name: p}}\nspec: {{containers: [{containers}]}}\n")
    }

    #[test]
    fn images_change_come_and_go() {
        let images = |base: &str, head: &str| {
            let images = summary(base, head, &ApplyOptions::default()).images;
            images.into_iter().map(|it| format!("{} {:?} {:?}", it.path, it.old, it.new)).collect::<Vec<_>>()
        };
        assert_eq!(
            images(
                &pod("{name: a, image: 'x:1'}, {name: b, image: w}"),
                &pod("{name: a, image: 'x:2'}, {name: c, image: z}")
            ),
            [
                "spec.containers[name=a].image Some(\"x:1\") Some(\"x:2\")",
                "spec.containers[name=c].image None Some(\"z\")",
                "spec.containers[name=b].image Some(\"w\") None",
            ]
        );
        assert_eq!(
            images("", &pod("{name: a, image: x}")),
            ["spec.containers[name=a].image None Some(\"x\")"]
        );
        let map = |value: &str| {
            format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: m}}\ndata: {{image: {value}}}\n")
        };
        assert!(images(&map("a"), &map("b")).is_empty());
    }
}

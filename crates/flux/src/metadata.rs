//! Labels and annotations that controllers write on what they apply.

use argocd::objects::Object;
use yamltree::Node;

/// Writes a label or an annotation.
pub(crate) fn set(object: &mut Object, field: &str, key: &str, value: &str) {
    let node = object.node_mut();
    for (at, name) in ["metadata", field].into_iter().enumerate() {
        let holder = if at == 0 { Some(&mut *node) } else { node.get_mut("metadata") };
        let Some(holder) = holder else { return };
        if holder.get(name).is_none_or(|inner| !inner.is_mapping()) {
            holder.set(name, Node::mapping(Vec::new()));
        }
    }
    if let Some(map) = node.get_mut("metadata").and_then(|metadata| metadata.get_mut(field)) {
        map.set(key, Node::string(value));
    }
}

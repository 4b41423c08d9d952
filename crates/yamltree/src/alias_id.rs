//! Alias ids: one logical node that occurs in several places of a tree.
//!
//! Kustomize holds its nodes by pointer, and some of its steps put the same node in several places: a change in one place
//! shows in all. Here a node owns its children, so the places share an id instead: [`Node::overwrite`] changes one of
//! them, and [`Node::sync_aliases`] then updates the others.

use std::collections::HashMap;

use crate::node::{AliasId, Kind, Node};

impl Node {
    /// Marks the node as one of those with this id. The owner of the tree allocates the ids.
    pub fn set_alias_id(&mut self, id: u32) {
        self.props.get_or_insert_default().alias_id = Some(AliasId { id, overwritten: false });
    }

    /// Replaces the value of this node and keeps its alias id.
    pub fn overwrite(&mut self, value: Node) {
        let alias_id = self.props.as_deref().and_then(|props| props.alias_id);
        *self = value;
        if let Some(alias_id) = alias_id {
            self.props.get_or_insert_default().alias_id = Some(AliasId { overwritten: true, ..alias_id });
        }
    }

    /// Replaces the text of a scalar and keeps its style, tag, span and alias id.
    pub fn set_text(&mut self, text: &str) {
        self.kind = Kind::Scalar(text.into());
        if let Some(alias_id) = self.props.as_deref_mut().and_then(|props| props.alias_id.as_mut()) {
            alias_id.overwritten = true;
        }
    }

    /// Copies each overwritten value to all nodes of this tree with the same alias id. If several were overwritten, the
    /// last one in key order wins. Alias ids inside the new values are lost.
    pub fn sync_aliases(&mut self) {
        if !self.any(&|alias_id| alias_id.overwritten) {
            return;
        }
        let mut values = HashMap::new();
        self.take_overwritten(&mut values);
        self.spread(&values);
    }

    /// Removes the alias ids of this node and of all nodes below it.
    pub fn clear_alias_ids(&mut self) {
        if let Some(props) = &mut self.props {
            props.alias_id = None;
        }
        self.children_mut().for_each(Node::clear_alias_ids);
    }

    fn any(&self, test: &impl Fn(AliasId) -> bool) -> bool {
        self.props.as_deref().and_then(|props| props.alias_id).is_some_and(test)
            || match &self.kind {
                Kind::Mapping(entries) => entries.iter().any(|entry| entry.value.any(test)),
                Kind::Sequence(items) => items.iter().any(|item| item.any(test)),
                Kind::Scalar(_) | Kind::Alias(_) => false,
            }
    }

    fn take_overwritten(&mut self, values: &mut HashMap<u32, Node>) {
        if let Some(alias_id) = self.props.as_deref_mut().and_then(|props| props.alias_id.as_mut())
            && std::mem::take(&mut alias_id.overwritten)
        {
            values.insert(alias_id.id, self.clone());
        }
        let Kind::Mapping(entries) = &mut self.kind else {
            return self.children_mut().for_each(|child| child.take_overwritten(values));
        };
        let mut sorted: Vec<_> =
            entries.iter_mut().map(|entry| (entry.key.text(), &mut entry.value)).collect();
        sorted.sort_by_key(|(key, _)| *key);
        sorted.into_iter().for_each(|(_, value)| value.take_overwritten(values));
    }

    fn spread(&mut self, values: &HashMap<u32, Node>) {
        if let Some(alias_id) = self.props.as_deref().and_then(|props| props.alias_id)
            && let Some(value) = values.get(&alias_id.id)
        {
            *self = value.clone();
            return;
        }
        self.children_mut().for_each(|child| child.spread(values));
    }

    fn children_mut(&mut self) -> impl Iterator<Item = &mut Node> {
        let (entries, items) = match &mut self.kind {
            Kind::Mapping(entries) => (entries.as_mut_slice(), &mut [][..]),
            Kind::Sequence(items) => (&mut [][..], items.as_mut_slice()),
            Kind::Scalar(_) | Kind::Alias(_) => (&mut [][..], &mut [][..]),
        };
        entries.iter_mut().map(|entry| &mut entry.value).chain(items)
    }
}

#[cfg(test)]
mod tests {
    use crate::{Entry, Node};

    fn labelled() -> Node {
        let mut value = Node::string("x");
        value.set_alias_id(1);
        let labels = Node::mapping(vec![Entry::new("app", value)]);
        let list = Node::sequence(vec![labels.clone()]);
        Node::mapping(vec![Entry::new("spec", list), Entry::new("metadata", labels)])
    }

    fn texts(node: &Node) -> (&str, &str) {
        let app = |node: &'static str, tree| Node::get(tree, node);
        let listed = app("spec", node).and_then(Node::items).and_then(|items| items[0].get("app"));
        let named = node.lookup(&["metadata", "app"]);
        (listed.and_then(Node::text).expect("a text"), named.and_then(Node::text).expect("a text"))
    }

    fn overwrite(node: &mut Node, key: &str, value: &str) {
        let place = node.get_mut(key).expect("a key");
        let place = if place.is_sequence() { &mut place.items_mut().expect("items")[0] } else { place };
        place.get_mut("app").expect("a label").overwrite(Node::string(value));
    }

    #[test]
    fn what_is_overwritten_in_one_place_is_in_all() {
        let mut node = labelled();
        overwrite(&mut node, "metadata", "y");
        assert_eq!(texts(&node), ("x", "y"));
        node.sync_aliases();
        assert_eq!(texts(&node), ("y", "y"));
        overwrite(&mut node, "spec", "z");
        node.sync_aliases();
        assert_eq!(texts(&node), ("z", "z"));
    }

    /// Kustomize merges a patch in the order of the keys, so the label under `spec` is written last.
    #[test]
    fn the_last_in_the_order_of_the_keys_wins() {
        let mut node = labelled();
        overwrite(&mut node, "spec", "of spec");
        overwrite(&mut node, "metadata", "of metadata");
        node.sync_aliases();
        assert_eq!(texts(&node), ("of spec", "of spec"));
    }

    #[test]
    fn a_node_of_its_own_stays_alone() {
        let mut node = labelled();
        node.clear_alias_ids();
        overwrite(&mut node, "metadata", "y");
        node.sync_aliases();
        assert_eq!(texts(&node), ("x", "y"));
    }
}

//! Nodes that are one node in several places.
//!
//! Kustomize's tree holds its nodes by pointer, and some of its steps put the same node in several places: change it
//! in one, and it has changed in all. Here a node owns its children, so the places are marked with a number instead:
//! [`Node::overwrite`] changes one, [`Node::settle`] then brings the others up to date.

use std::collections::HashMap;

use crate::node::{Kind, Node};

/// That a node is one of several which stand for the same node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shared {
    /// The number that they have in common.
    number: u32,
    /// Whether this one was overwritten and the others not yet.
    overwritten: bool,
}

impl Node {
    /// Marks the node as one of those that have this number. The numbers of a tree are its owner's business.
    pub fn share(&mut self, number: u32) {
        self.props.get_or_insert_default().shared = Some(Shared { number, overwritten: false });
    }

    /// Puts another value in the place of this node's own, which remains the node that it is: it keeps its number.
    pub fn overwrite(&mut self, value: Node) {
        let shared = self.props.as_deref().and_then(|props| props.shared);
        *self = value;
        if let Some(shared) = shared {
            self.props.get_or_insert_default().shared = Some(Shared { overwritten: true, ..shared });
        }
    }

    /// Changes the text of a scalar and nothing else of it.
    pub fn set_text(&mut self, text: &str) {
        self.kind = Kind::Scalar(text.into());
        if let Some(shared) = self.props.as_deref_mut().and_then(|props| props.shared.as_mut()) {
            shared.overwritten = true;
        }
    }

    /// Gives every node below, and this one, the value of the one with the same number that was overwritten last, in
    /// the order of the keys. Numbers that the overwriting values had are gone.
    pub fn settle(&mut self) {
        if !self.any(&|shared| shared.overwritten) {
            return;
        }
        let mut values = HashMap::new();
        self.take_overwritten(&mut values);
        self.spread(&values);
    }

    /// Makes every node below, and this one, a node of its own.
    pub fn unshare(&mut self) {
        if let Some(props) = &mut self.props {
            props.shared = None;
        }
        self.children_mut().for_each(Node::unshare);
    }

    fn any(&self, test: &impl Fn(Shared) -> bool) -> bool {
        self.props.as_deref().and_then(|props| props.shared).is_some_and(test)
            || match &self.kind {
                Kind::Mapping(entries) => entries.iter().any(|entry| entry.value.any(test)),
                Kind::Sequence(items) => items.iter().any(|item| item.any(test)),
                Kind::Scalar(_) | Kind::Alias(_) => false,
            }
    }

    fn take_overwritten(&mut self, values: &mut HashMap<u32, Node>) {
        if let Some(shared) = self.props.as_deref_mut().and_then(|props| props.shared.as_mut())
            && std::mem::take(&mut shared.overwritten)
        {
            values.insert(shared.number, self.clone());
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
        if let Some(shared) = self.props.as_deref().and_then(|props| props.shared)
            && let Some(value) = values.get(&shared.number)
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
        value.share(1);
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
        node.settle();
        assert_eq!(texts(&node), ("y", "y"));
        overwrite(&mut node, "spec", "z");
        node.settle();
        assert_eq!(texts(&node), ("z", "z"));
    }

    /// Kustomize merges a patch in the order of the keys, so the label under `spec` is written last.
    #[test]
    fn the_last_in_the_order_of_the_keys_wins() {
        let mut node = labelled();
        overwrite(&mut node, "spec", "of spec");
        overwrite(&mut node, "metadata", "of metadata");
        node.settle();
        assert_eq!(texts(&node), ("of spec", "of spec"));
    }

    #[test]
    fn a_node_of_its_own_stays_alone() {
        let mut node = labelled();
        node.unshare();
        overwrite(&mut node, "metadata", "y");
        node.settle();
        assert_eq!(texts(&node), ("x", "y"));
    }
}

//! Resolves aliases, and the entries that a mapping has by merging.
//!
//! Aliases are followed to find things, never to edit them.

use std::collections::{HashMap, HashSet};

use diagnostic::Result;
use yamltree::{Document, Entry, Kind, Node};

use crate::error::refused;

/// The aliases of a file.
#[derive(Debug)]
pub struct Anchors<'f> {
    /// The nodes that have a name, in the order of the text: a name may be given again.
    named: HashMap<&'f str, Vec<&'f Node>>,
}

/// An entry of a mapping.
#[derive(Clone, Copy, Debug)]
pub struct FoundEntry<'f> {
    /// The entry.
    pub entry: &'f Entry,
    /// True if it is another mapping's, merged in by `<<`.
    pub is_merged: bool,
}

impl<'f> Anchors<'f> {
    pub(crate) fn of(documents: &'f [Document]) -> Self {
        let mut anchors = Self { named: HashMap::new() };
        documents.iter().for_each(|document| anchors.collect(&document.root));
        anchors
    }

    fn collect(&mut self, node: &'f Node) {
        if let Some(name) = node.anchor() {
            self.named.entry(name).or_default().push(node);
        }
        match &node.kind {
            Kind::Scalar(_) | Kind::Alias(_) => {}
            Kind::Sequence(items) => items.iter().for_each(|item| self.collect(item)),
            Kind::Mapping(entries) => {
                for entry in entries {
                    self.collect(&entry.key);
                    self.collect(&entry.value);
                }
            }
        }
    }

    /// Returns the target of an alias, and any other node itself; `None` for an alias inside of its own target.
    #[must_use]
    pub fn resolve(&self, node: &'f Node) -> Option<&'f Node> {
        let Kind::Alias(name) = &node.kind else { return Some(node) };
        let named = self.named.get(name.as_str())?;
        let after = named.partition_point(|anchored| anchored.span.start < node.span.start);
        let anchored = named[after.checked_sub(1)?];
        (anchored.span.end <= node.span.start).then_some(anchored)
    }

    /// The entry of a mapping for a key: its own, or one that it merges in.
    ///
    /// # Errors
    /// When the mapping has the key twice.
    pub fn get(&self, mapping: &'f Node, key: &str) -> Result<Option<FoundEntry<'f>>> {
        if let Some(entry) = own(mapping, key)? {
            return Ok(Some(FoundEntry { entry, is_merged: false }));
        }
        self.merged(mapping, key, &mut HashSet::new())
    }

    /// `seen` keeps mappings that merge one another from being looked at more than once.
    fn merged(
        &self,
        mapping: &'f Node,
        key: &str,
        seen: &mut HashSet<*const Node>,
    ) -> Result<Option<FoundEntry<'f>>> {
        let entries = mapping.entries().map(Vec::as_slice).unwrap_or_default();
        for merge in entries.iter().filter(|entry| entry.key.is_merge_key()) {
            let value = self.resolve(&merge.value);
            let list = value.and_then(Node::items).map(Vec::as_slice);
            for source in list.unwrap_or_else(|| value.map(std::slice::from_ref).unwrap_or_default()) {
                let Some(source) = self.resolve(source) else { continue };
                if !seen.insert(std::ptr::from_ref(source)) {
                    continue;
                }
                if let Some(entry) = own(source, key)? {
                    return Ok(Some(FoundEntry { entry, is_merged: true }));
                }
                if let Some(found) = self.merged(source, key, seen)? {
                    return Ok(Some(found));
                }
            }
        }
        Ok(None)
    }
}

/// The entry that a mapping itself has for a key. The key's text counts, not its type: `on` is `on`.
pub(crate) fn own<'f>(mapping: &'f Node, key: &str) -> Result<Option<&'f Entry>> {
    let entries = mapping.entries().map(Vec::as_slice).unwrap_or_default();
    let mut found = entries.iter().filter(|entry| entry.key.text() == Some(key));
    let first = found.next();
    match found.next() {
        Some(again) => {
            Err(refused(format!("duplicate key `{key}`"), again.key.span).hint("remove one of the two"))
        }
        None => Ok(first),
    }
}

#[cfg(test)]
mod tests {
    use crate::File;

    fn found(text: &str, key: &str) -> Option<(String, bool)> {
        let file = File::parse(text, 0).unwrap();
        let anchors = file.anchors();
        let mapping = file.documents()[0].root.get("it").unwrap();
        let found = anchors.get(mapping, key).unwrap();
        found.map(|found| (found.entry.value.text().unwrap_or_default().to_owned(), found.is_merged))
    }

    #[test]
    fn own_keys_come_before_merged_ones() {
        let text = "a: &a {x: 1, y: 1}\nb: &b {<<: *a, y: 2}\nit: {<<: [*b, {z: 3}], x: 4}\n";
        assert_eq!(found(text, "x"), Some(("4".to_owned(), false)));
        assert_eq!(found(text, "y"), Some(("2".to_owned(), true)));
        assert_eq!(found(text, "z"), Some(("3".to_owned(), true)));
        assert_eq!(found(text, "w"), None);
    }

    #[test]
    fn a_name_given_again_counts_from_there() {
        let text = "a: &a {x: 1}\nit: {<<: *a}\nb: &a {x: 2}\n";
        assert_eq!(found(text, "x"), Some(("1".to_owned(), true)));
    }

    /// Each mapping merges the one before it twice: looked up naively the last has 2^60 ancestors.
    #[test]
    fn merges_of_merges_are_looked_at_once() {
        let mut text = "m0: &m0 {x: 1}\n".to_owned();
        for at in 1..60 {
            text += &format!("m{at}: &m{at} {{<<: [*m{0}, *m{0}]}}\n", at - 1);
        }
        text += "it: {<<: *m59}\n";
        assert_eq!(found(&text, "y"), None);
        assert_eq!(found(&text, "x"), Some(("1".to_owned(), true)));
    }

    #[test]
    fn an_alias_of_what_it_is_in_stands_for_nothing() {
        assert_eq!(found("it: &a {<<: *a, x: 1}\n", "y"), None);
    }
}

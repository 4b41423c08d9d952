//! A node that shall have another content: found out by comparison, and done with the fewest changes.
//!
//! Unchanged content keeps its bytes. Removed keys and items are deleted, new ones are added at the end; a removed
//! key with a new one of the same kind of value is renamed. Only if items change their order, or an alias or merged
//! key prevents it, the collection around them is rewritten.

use std::collections::HashMap;

use diagnostic::Result;
use yamltree::{Entry, Kind, Node, Style};

use super::{Edits, check_editable};
use crate::content::Content;

impl<'f> Edits<'f> {
    /// Makes the first document have this content. A mapping stays one.
    ///
    /// # Errors
    /// If the aliases of the file cannot be resolved, or an edit that is needed is rejected.
    pub fn reconcile_to(&mut self, content: &Content) -> Result<()> {
        let was = self.file.content()?;
        match (self.file.documents().first().map(|document| &document.root), content) {
            (Some(root), _) if root.span.start != root.span.end => self.reconcile_node(root, &was, content),
            (_, Content::Mapping(entries)) if !entries.is_empty() => self.fill(entries.clone()),
            _ => Ok(()),
        }
    }

    fn reconcile_node(&mut self, node: &'f Node, was: &Content, content: &Content) -> Result<()> {
        if was == content {
            return Ok(());
        }
        match (&node.kind, was, content) {
            (Kind::Mapping(entries), Content::Mapping(old), Content::Mapping(new))
                if is_as_read(entries, old) =>
            {
                let change = Change::of(old, new);
                if self.can_change(node, &change, old.len()) {
                    return self.turn_mapping(node, entries, old, new, &change);
                }
            }
            (Kind::Sequence(items), Content::Sequence(old), Content::Sequence(new))
                if items.len() == old.len() =>
            {
                if let Some(kept) = kept_items(old, new) {
                    let change = Change::of_items(&kept, new);
                    if self.can_change(node, &change, old.len()) {
                        return self.turn_sequence(node, items, (old, new), &kept);
                    }
                }
            }
            (Kind::Scalar(_), _, Content::String(text)) if check_editable(node).is_ok() => {
                return self.set(node, text).map(drop);
            }
            _ => {}
        }
        self.replace(node, content.clone())
    }

    /// Returns true if removals and additions can be told apart in the text of a collection.
    fn can_change(&self, node: &Node, change: &Change, count: usize) -> bool {
        let removed = change.removed.len();
        if node.style == Style::Flow {
            return removed == 0 || (removed == 1 && change.added.is_empty() && count > 1);
        }
        removed < count || self.is_last_root(node)
    }

    fn turn_mapping(
        &mut self,
        node: &'f Node,
        entries: &'f [Entry],
        old: &[(String, Content)],
        new: &[(String, Content)],
        change: &Change,
    ) -> Result<()> {
        let by_key: HashMap<&str, &Content> = new.iter().map(|(key, value)| (key.as_str(), value)).collect();
        for (at, (entry, (key, was))) in entries.iter().zip(old).enumerate() {
            if change.removed.contains(&at) {
                self.remove(node, entry)?;
            } else if let Some(renamed) = change.renamed.get(&at) {
                let (key, content) = &new[*renamed];
                self.rename(entry, key)?;
                self.reconcile_node(&entry.value, was, content)?;
            } else if let Some(content) = by_key.get(key.as_str()) {
                self.reconcile_node(&entry.value, was, content)?;
            }
        }
        for (key, content) in change.added.iter().map(|at| &new[*at]) {
            self.insert(node, key, content.clone())?;
        }
        Ok(())
    }

    fn turn_sequence(
        &mut self,
        node: &'f Node,
        items: &'f [Node],
        (old, new): (&[Content], &[Content]),
        kept: &[bool],
    ) -> Result<()> {
        let mut contents = new.iter();
        for ((item, was), is_kept) in items.iter().zip(old).zip(kept) {
            if !is_kept {
                self.remove_item(node, item)?;
            } else if let Some(content) = contents.next() {
                self.reconcile_node(item, was, content)?;
            }
        }
        contents.try_for_each(|content| self.push(node, content.clone()))
    }
}

/// Returns true if a mapping has no merged and no duplicate entries.
fn is_as_read(entries: &[Entry], read: &[(String, Content)]) -> bool {
    let is_same = |(entry, (key, _)): (&Entry, &(String, Content))| {
        entry.key.text() == Some(key.as_str()) && !entry.key.is_merge_key()
    };
    entries.len() == read.len() && entries.iter().zip(read).all(is_same)
}

/// Removed and added positions of a collection.
#[derive(Debug, Default)]
struct Change {
    removed: Vec<usize>,
    /// From an old position to a new one.
    renamed: HashMap<usize, usize>,
    added: Vec<usize>,
}

impl Change {
    fn of(old: &[(String, Content)], new: &[(String, Content)]) -> Self {
        let keys = |entries: &[(String, Content)]| -> HashMap<String, usize> {
            entries.iter().enumerate().map(|(at, (key, _))| (key.clone(), at)).collect()
        };
        let (old_keys, new_keys) = (keys(old), keys(new));
        let gone = |(at, (key, _)): (usize, &(String, Content))| (!new_keys.contains_key(key)).then_some(at);
        let come = |(at, (key, _)): (usize, &(String, Content))| (!old_keys.contains_key(key)).then_some(at);
        let mut change = Self {
            removed: old.iter().enumerate().filter_map(gone).collect(),
            renamed: HashMap::new(),
            added: Vec::new(),
        };
        for at in new.iter().enumerate().filter_map(come) {
            let takes_over = |gone: &&usize| is_continued(&old[**gone].1, &new[at].1);
            match change.removed.iter().find(takes_over).copied() {
                Some(gone) => {
                    change.removed.retain(|removed| *removed != gone);
                    change.renamed.insert(gone, at);
                }
                None => change.added.push(at),
            }
        }
        change
    }

    fn of_items(kept: &[bool], new: &[Content]) -> Self {
        let removed: Vec<usize> =
            kept.iter().enumerate().filter(|(_, kept)| !**kept).map(|(at, _)| at).collect();
        let first_added = kept.len() - removed.len();
        Self { removed, renamed: HashMap::new(), added: (first_added..new.len()).collect() }
    }
}

/// Returns true if a value may continue another one under a new key: strings, or a list that has grown.
fn is_continued(was: &Content, is: &Content) -> bool {
    match (was, is) {
        (Content::String(_), Content::String(_)) => true,
        (Content::Sequence(was), Content::Sequence(is)) => !was.is_empty() && is.starts_with(was),
        _ => false,
    }
}

/// Which items of the old list are, in their order, the first of the new one; `None` where the order changes.
fn kept_items(old: &[Content], new: &[Content]) -> Option<Vec<bool>> {
    let mut left: HashMap<Identity<'_>, usize> = HashMap::new();
    for item in new {
        *left.entry(identity(item)).or_default() += 1;
    }
    let mut next = 0;
    let mut kept = Vec::with_capacity(old.len());
    for item in old {
        let known = identity(item);
        let is_next = new.get(next).is_some_and(|new| identity(new) == known);
        if is_next {
            next += 1;
            left.entry(known).and_modify(|count| *count -= 1);
        } else if left.get(&known).is_some_and(|count| *count > 0) {
            return None;
        }
        kept.push(is_next);
    }
    Some(kept)
}

/// The identity of an item: its name and namespace if it has a name, else all of it.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Identity<'n> {
    Named(&'n str, &'n str),
    Whole(&'n Content),
}

fn identity(item: &Content) -> Identity<'_> {
    let Content::Mapping(entries) = item else { return Identity::Whole(item) };
    let text = |wanted: &str| {
        entries.iter().find_map(|(key, value)| match value {
            Content::String(text) if key == wanted => Some(text.as_str()),
            _ => None,
        })
    };
    match text("name") {
        Some(name) => Identity::Named(name, text("namespace").unwrap_or_default()),
        None => Identity::Whole(item),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::File;

    /// Turns a text into the content of another one.
    fn turned(old: &str, new: &str) -> String {
        let file = File::parse(old, 0).unwrap();
        let content = File::parse(new, 0).unwrap().content().unwrap();
        let mut edits = Edits::new(&file);
        edits.reconcile_to(&content).unwrap();
        let text = edits.apply().unwrap().unwrap_or_else(|| old.to_owned());
        assert_eq!(File::parse(&text, 0).unwrap().content().unwrap(), content, "{text}");
        text
    }

    #[test]
    fn what_is_the_same_stays_in_its_bytes() {
        for (old, new, wanted) in [
            ("a:   1 # c\n", "a: 1", "a:   1 # c\n"),
            ("a: x # c\nb: u\n", "a: z\nb: u", "a: z # c\nb: u\n"),
            ("l:\n  - x # c\n", "l: [x, u]", "l:\n  - x # c\n  - u\n"),
            ("l:\n- x # c\n- u # d\n- z # e\n", "l: [x, z, w]", "l:\n- x # c\n- z # e\n- w\n"),
            ("l:\n- x # c\n- u # d\n", "l: [x, z]", "l:\n- x # c\n- z\n"),
            ("l: [x, u, z]\n", "l: [x, z]", "l: [x, z]\n"),
            ("l: [x, u]\n", "l: [x, z]", "l: [x, z]\n"),
            ("m:\n  a: 1 # c\n  b: 2\n", "m: {a: 1, c: [1]}", "m:\n  a: 1 # c\n  c:\n  - 1\n"),
            ("m:\n  a: 1\n  b: x # c\n", "m: {a: 1, c: u}", "m:\n  a: 1\n  c: u # c\n"),
            ("a: x # c\n", "b: [1]", "b:\n- 1\n"),
            ("", "a: {b: c}", "a:\n  b: c\n"),
            ("a: # c\n", "a: {b: c}", "a: # c\n  b: c\n"),
            ("a: ~\nb: 1\n", "a: {b: c}\nb: 1", "a: {b: c}\nb: 1\n"),
            ("a:\n  b: x\n", "a: {b: 1}", "a:\n  b: 1\n"),
        ] {
            assert_eq!(turned(old, new), wanted, "{old:?}");
        }
    }

    #[test]
    fn items_are_known_by_name_and_namespace() {
        assert_eq!(
            turned("l:\n- v: a # c\n  name: x\n- name: u\n", "l: [{v: b, name: x}, {name: u}, {name: z}]"),
            "l:\n- v: b # c\n  name: x\n- name: u\n- name: z\n"
        );
    }

    #[test]
    fn another_order_is_written_anew() {
        assert_eq!(turned("l:\n- u # c\n- x\n", "l: [x, u]"), "l:\n- x\n- u\n");
        assert_eq!(turned("l: [u, x] # c\n", "l: [x, u]"), "l: [x, u] # c\n");
    }

    #[test]
    fn what_is_shared_gets_a_value_of_its_own() {
        assert_eq!(turned("a: &a [x]\nb: *a # c\n", "a: [x]\nb: [x, u]"), "a: &a [x]\nb: [x, u] # c\n");
        assert_eq!(
            turned("a: &a {x: 1}\nb:\n  <<: *a\n  u: 2\n", "a: {x: 1}\nb: {x: 1, u: 3}"),
            "a: &a {x: 1}\nb:\n  x: 1\n  u: 3\n"
        );
    }

    #[test]
    fn a_text_of_several_lines_is_a_block() {
        assert_eq!(turned("a: 1\n", "a: 1\nb: \"x\\n\\n  u: z\\n\""), "a: 1\nb: |\n  x\n\n    u: z\n");
        assert_eq!(
            turned("l:\n- p: x\n", "l: [{p: x}, {p: \"x\\nu\"}]"),
            "l:\n- p: x\n- p: |-\n    x\n    u\n"
        );
        for odd in ["\" x\\ny\"", "\"x\\n\\n\"", "\"x\\n\\ty\"", "\"x\\r\\ny\"", "\"\\nx\""] {
            turned("a: 1\n", &format!("a: 1\nb: {odd}"));
        }
    }
}

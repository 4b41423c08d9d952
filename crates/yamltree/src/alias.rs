//! Expansion of aliases and merge keys.
//!
//! Input: a tree as it was parsed. Output: the tree without `*alias`, `&anchor` and `<<`. Rejects a node that contains
//! itself, a merge of anything but mappings, and trees that would become too large.

use std::collections::{HashMap, HashSet};

use compact_str::CompactString;

use crate::dialect::Dialect;
use crate::error::{Error, ErrorKind};
use crate::limits::{ALIAS_RATIO_RANGE_HIGH, ALIAS_RATIO_RANGE_LOW, MAX_ALIASED_TEXT_LEN, MAX_DEPTH};
use crate::node::{Entry, Kind, Node, Props, Style, Tag};

/// The expansion of merged mappings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expansion {
    /// As Kustomize's `DeAnchor` does to resources: a mapping's own keys win and come before merged ones.
    Kyaml,
    /// As go-yaml does when it decodes into Go values. In version 3 a mapping's own keys win; to version 2 a merge is
    /// worth as much as the keys around it, and the last one wins.
    Decoded(Dialect),
}

impl Node {
    /// Replaces aliases by their targets and merge keys by the merged entries, and drops anchors.
    ///
    /// Each span stays that of the place where the text is written.
    ///
    /// # Errors
    /// In the words of go-yaml or of Kustomize. A tree that is refused stays as it was.
    pub fn expand_aliases(&mut self, expansion: Expansion) -> Result<(), Error> {
        if has_shorthand(self) {
            let mut binder = Binder::default();
            binder.bind(self)?;
            *self = Expander::new(expansion, binder.targets).expand(self)?;
        }
        Ok(())
    }

    /// Returns true if this is a key that merges: `<<` without quotes, or text tagged `!!merge`.
    #[must_use]
    pub fn is_merge_key(&self) -> bool {
        match self.tag {
            Tag::Merge => self.is_scalar(),
            Tag::Implicit => self.style == Style::Plain && self.text() == Some(MERGE),
            _ => false,
        }
    }
}

/// The key that merges, unless it is quoted.
const MERGE: &str = "<<";

/// Returns true if there is anything to expand or to drop.
fn has_shorthand(node: &Node) -> bool {
    let is_short = |entry: &Entry| {
        entry.key.is_merge_key()
            || entry.key.text() == Some(MERGE)
            || has_shorthand(&entry.key)
            || has_shorthand(&entry.value)
    };
    node.anchor().is_some()
        || match &node.kind {
            Kind::Scalar(_) => false,
            Kind::Alias(_) => true,
            Kind::Sequence(items) => items.iter().any(has_shorthand),
            Kind::Mapping(entries) => entries.iter().any(is_short),
        }
}

/// The targets of aliases, by the address of the alias node.
type Targets<'n> = HashMap<*const Node, &'n Node>;

/// Finds the targets: an alias refers to the last node before it with its anchor.
#[derive(Default)]
struct Binder<'n> {
    anchors: HashMap<&'n str, &'n Node>,
    targets: Targets<'n>,
}

impl<'n> Binder<'n> {
    fn bind(&mut self, node: &'n Node) -> Result<(), Error> {
        if let Some(anchor) = node.anchor() {
            self.anchors.insert(anchor, node);
        }
        match &node.kind {
            Kind::Scalar(_) => {}
            Kind::Alias(name) => {
                let Some(target) = self.anchors.get(name.as_str()) else {
                    let message = format!("unknown anchor '{name}' referenced");
                    return Err(Error::new(ErrorKind::Invalid, message, node.span));
                };
                self.targets.insert(node, target);
            }
            Kind::Sequence(items) => {
                for item in items {
                    self.bind(item)?;
                }
            }
            Kind::Mapping(entries) => {
                for entry in entries {
                    self.bind(&entry.key)?;
                    self.bind(&entry.value)?;
                }
            }
        }
        Ok(())
    }
}

struct Expander<'n> {
    expansion: Expansion,
    targets: Targets<'n>,
    /// The aliases that are being expanded.
    open: HashSet<*const Node>,
    depth: usize,
    nodes: usize,
    aliased_nodes: usize,
    aliased_text_len: usize,
}

impl<'n> Expander<'n> {
    fn new(expansion: Expansion, targets: Targets<'n>) -> Self {
        // go-yaml counts the document too.
        Self {
            expansion,
            targets,
            open: HashSet::new(),
            depth: 0,
            nodes: 1,
            aliased_nodes: 0,
            aliased_text_len: 0,
        }
    }

    fn expand(&mut self, node: &'n Node) -> Result<Node, Error> {
        self.count(node)?;
        let kind = match &node.kind {
            Kind::Alias(name) => return self.expand_alias(node, name),
            Kind::Scalar(text) => Kind::Scalar(text.clone()),
            Kind::Sequence(items) => {
                self.enter(node)?;
                let mut expanded = Vec::with_capacity(items.len());
                for item in items {
                    expanded.push(self.expand(item)?);
                }
                self.depth -= 1;
                Kind::Sequence(expanded)
            }
            Kind::Mapping(entries) => {
                self.enter(node)?;
                let entries = self.expand_entries(entries)?;
                self.depth -= 1;
                Kind::Mapping(entries)
            }
        };
        let tag = node.tag_text().map(CompactString::new);
        let props = tag.map(|tag| Box::new(Props { tag: Some(tag), ..Props::default() }));
        Ok(Node { kind, span: node.span, style: node.style, tag: node.tag, props })
    }

    fn expand_alias(&mut self, alias: &'n Node, name: &str) -> Result<Node, Error> {
        let target = self.open_alias(alias, name)?;
        let node = self.expand(target)?;
        self.open.remove(&std::ptr::from_ref(alias));
        Ok(node)
    }

    fn open_alias(&mut self, alias: &'n Node, name: &str) -> Result<&'n Node, Error> {
        if !self.open.insert(alias) {
            let message = format!("anchor '{name}' value contains itself");
            return Err(Error::new(ErrorKind::Invalid, message, alias.span));
        }
        Ok(self.targets[&std::ptr::from_ref(alias)])
    }

    fn expand_entries(&mut self, entries: &'n [Entry]) -> Result<Vec<Entry>, Error> {
        if !entries.iter().any(|entry| entry.key.is_merge_key()) {
            let mut expanded = Vec::with_capacity(entries.len());
            for entry in self.without_merge(entries) {
                expanded.push(self.expand_entry(entry)?);
            }
            return Ok(expanded);
        }
        let mut merged = Merged::default();
        if self.expansion == Expansion::Decoded(Dialect::V2) {
            self.merge_in_turn(entries, &mut merged)?;
        } else {
            self.merge_behind(entries, &mut merged)?;
        }
        Ok(merged.entries)
    }

    /// Returns the entries that are not merge keys. kyaml takes the first `<<` of a mapping away by its text, so that it also loses
    /// one that is quoted.
    fn without_merge(&self, entries: &'n [Entry]) -> impl Iterator<Item = &'n Entry> + use<'n> {
        let is_kyaml = self.expansion == Expansion::Kyaml;
        let lost = entries.iter().position(|entry| is_kyaml && entry.key.text() == Some(MERGE));
        let kept = move |(at, entry): &(usize, &Entry)| Some(*at) != lost && !entry.key.is_merge_key();
        entries.iter().enumerate().filter(kept).map(|(_, entry)| entry)
    }

    fn expand_entry(&mut self, entry: &'n Entry) -> Result<Entry, Error> {
        Ok(Entry { key: self.expand(&entry.key)?, value: self.expand(&entry.value)? })
    }

    /// Takes keys and merges as they come; what comes later wins, and of several merged mappings the first.
    fn merge_in_turn(&mut self, entries: &'n [Entry], merged: &mut Merged) -> Result<(), Error> {
        for entry in entries {
            if !entry.key.is_merge_key() {
                merged.put(self.expand_entry(entry)?);
                continue;
            }
            for source in sources(&entry.value).iter().rev() {
                self.check_source(source)?;
                if let Kind::Mapping(entries) = self.expand(source)?.kind {
                    entries.into_iter().for_each(|entry| merged.put(entry));
                }
            }
        }
        Ok(())
    }

    /// Takes the keys first and puts behind them what the merge adds.
    fn merge_behind(&mut self, entries: &'n [Entry], merged: &mut Merged) -> Result<(), Error> {
        for entry in self.without_merge(entries) {
            merged.entries.push(self.expand_entry(entry)?);
        }
        // go-yaml reads the keys once more to know what not to merge.
        entries.iter().try_for_each(|entry| self.count(&entry.key))?;
        self.merge_missing(entries, merged)
    }

    /// Adds what the merge among some entries brings in and the mapping lacks: of several merged mappings the first wins.
    fn merge_missing(&mut self, entries: &'n [Entry], merged: &mut Merged) -> Result<(), Error> {
        let mut merges = entries.iter().filter(|entry| entry.key.is_merge_key());
        let Some(merge) = merges.next_back() else { return Ok(()) };
        let sources = sources(&merge.value);
        if self.expansion == Expansion::Kyaml {
            if merges.next().is_some() {
                return Err(self.refuse("duplicate merge key", &merge.key));
            }
            sources.iter().try_for_each(|source| self.check_source(source))?;
        }
        for source in sources {
            self.check_source(source)?;
            self.count(source)?;
            match &source.kind {
                Kind::Alias(name) => {
                    let target = self.open_alias(source, name)?;
                    self.count(target)?;
                    self.add_missing(target, merged)?;
                    self.open.remove(&std::ptr::from_ref(source));
                }
                _ => self.add_missing(source, merged)?,
            }
        }
        Ok(())
    }

    /// Adds the entries of a merged mapping that are not there yet. What is there is not even expanded: it may contain
    /// the mapping itself.
    fn add_missing(&mut self, source: &'n Node, merged: &mut Merged) -> Result<(), Error> {
        let Kind::Mapping(entries) = &source.kind else { return Ok(()) };
        self.enter(source)?;
        for entry in entries.iter().filter(|entry| !entry.key.is_merge_key()) {
            let key = self.expand(&entry.key)?;
            if merged.place(&key).is_none() {
                merged.entries.push(Entry { key, value: self.expand(&entry.value)? });
            }
        }
        self.merge_missing(entries, merged)?;
        self.depth -= 1;
        Ok(())
    }

    fn check_source(&self, source: &Node) -> Result<(), Error> {
        let target = self.targets.get(&std::ptr::from_ref(source));
        if target.copied().unwrap_or(source).is_mapping() {
            return Ok(());
        }
        let message = match self.expansion {
            Expansion::Kyaml if target.is_some() => "invalid map merge: received alias for a non-map value",
            // The value itself is taken apart, so this is a sequence within one.
            Expansion::Kyaml if source.is_sequence() => "invalid map merge: received a nested sequence",
            _ => "map merge requires map or sequence of maps as the value",
        };
        Err(self.refuse(message, source))
    }

    fn refuse(&self, message: &str, node: &Node) -> Error {
        let error = Error::new(ErrorKind::Invalid, message, node.span);
        if self.expansion == Expansion::Kyaml { error.into_kyaml() } else { error }
    }

    // Bounds.

    fn enter(&mut self, node: &Node) -> Result<(), Error> {
        if self.depth == MAX_DEPTH {
            let message = format!("exceeded max depth of {MAX_DEPTH}");
            return Err(Error::new(ErrorKind::Limit, message, node.span));
        }
        self.depth += 1;
        Ok(())
    }

    /// go-yaml's rule against documents that grow by their aliases, and ours for their text.
    fn count(&mut self, node: &Node) -> Result<(), Error> {
        self.nodes += 1;
        if self.open.is_empty() {
            return Ok(());
        }
        self.aliased_nodes += 1;
        self.aliased_text_len += node.text().map_or(0, str::len);
        let is_excessive = self.aliased_nodes > 100
            && self.nodes > 1000
            && self.aliased_nodes as f64 / self.nodes as f64 > allowed_share(self.nodes);
        if is_excessive || self.aliased_text_len > MAX_ALIASED_TEXT_LEN {
            return Err(Error::new(ErrorKind::Limit, "document contains excessive aliasing", node.span));
        }
        Ok(())
    }
}

/// The nodes that a merge key's value names: mappings, or aliases of them, if all is well.
fn sources(value: &Node) -> &[Node] {
    match &value.kind {
        Kind::Sequence(items) => items,
        _ => std::slice::from_ref(value),
    }
}

/// Which share of a tree's nodes may come from aliases.
fn allowed_share(nodes: usize) -> f64 {
    let (few, many) = (ALIAS_RATIO_RANGE_LOW as f64, ALIAS_RATIO_RANGE_HIGH as f64);
    0.99 - 0.89 * ((nodes as f64 - few) / (many - few)).clamp(0.0, 1.0)
}

/// The entries of a mapping under a merge.
#[derive(Default)]
struct Merged {
    entries: Vec<Entry>,
    /// The places of keys, for as many entries as were looked at.
    places: HashMap<CompactString, usize>,
    placed: usize,
}

impl Merged {
    /// Returns the index of the entry with a key.
    fn place(&mut self, key: &Node) -> Option<usize> {
        for (place, entry) in self.entries.iter().enumerate().skip(self.placed) {
            if let Some(text) = entry.key.text() {
                self.places.entry(CompactString::new(text)).or_insert(place);
            }
        }
        self.placed = self.entries.len();
        key.text().and_then(|text| self.places.get(text)).copied()
    }

    /// Replaces the entry with the same key, or appends the entry.
    fn put(&mut self, entry: Entry) {
        match self.place(&entry.key) {
            Some(place) => self.entries[place] = entry,
            None => self.entries.push(entry),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::ParseOptions;
    use crate::parse::parse_first;

    const V2: Expansion = Expansion::Decoded(Dialect::V2);
    const V3: Expansion = Expansion::Decoded(Dialect::V3);

    fn expand(text: &str, expansion: Expansion) -> Result<String, String> {
        expanded(text, expansion).map(|root| flow(&root))
    }

    fn expanded(text: &str, expansion: Expansion) -> Result<Node, String> {
        let dialect = if expansion == V2 { Dialect::V2 } else { Dialect::V3 };
        let options = ParseOptions { dialect, ..ParseOptions::default() };
        let mut root = parse_first(text, 0, &options).unwrap().unwrap().root;
        root.expand_aliases(expansion).map_err(|error| error.go_text()).map(|()| root)
    }

    /// A tree on one line.
    fn flow(node: &Node) -> String {
        let anchor = node.anchor().map(|anchor| format!("&{anchor} ")).unwrap_or_default();
        let content = match &node.kind {
            Kind::Scalar(text) => text.to_string(),
            Kind::Alias(name) => format!("*{name}"),
            Kind::Sequence(items) => format!("[{}]", items.iter().map(flow).collect::<Vec<_>>().join(", ")),
            Kind::Mapping(entries) => {
                let pair = |entry: &Entry| format!("{}: {}", flow(&entry.key), flow(&entry.value));
                format!("{{{}}}", entries.iter().map(pair).collect::<Vec<_>>().join(", "))
            }
        };
        anchor + &content
    }

    #[test]
    fn aliases_become_copies_of_the_last_node_of_that_name() {
        let text = "a: &x 1\nb: [*x, &y {k: *x}]\nc: &x 2\nd: [*x, *y]\n";
        for expansion in [V2, V3, Expansion::Kyaml] {
            assert_eq!(expand(text, expansion).unwrap(), "{a: 1, b: [1, {k: 1}], c: 2, d: [2, {k: 1}]}");
        }
    }

    #[test]
    fn a_tree_without_aliases_stays_as_it_is() {
        let text = "a: 1\na: 2\n";
        assert_eq!(expand(text, V2).unwrap(), "{a: 1, a: 2}");
    }

    #[test]
    fn own_keys_win_over_merged_ones() {
        let text = "x: &x {a: 1, b: 2}\ny: {<<: *x, b: 3, c: 4}\n";
        for expansion in [V3, Expansion::Kyaml] {
            assert_eq!(expand(text, expansion).unwrap(), "{x: {a: 1, b: 2}, y: {b: 3, c: 4, a: 1}}");
        }
        assert_eq!(expand(text, V2).unwrap(), "{x: {a: 1, b: 2}, y: {a: 1, b: 3, c: 4}}");
    }

    /// go-yaml 2.4.2 decodes `{a: 1, <<: {a: 2}}` into a map whose `a` is 2.
    #[test]
    fn to_version_2_a_later_merge_wins() {
        assert_eq!(expand("{a: 1, <<: {a: 2}}", V2).unwrap(), "{a: 2}");
        assert_eq!(expand("{a: 1, <<: {a: 2}}", V3).unwrap(), "{a: 1}");
    }

    #[test]
    fn of_several_merged_mappings_the_first_wins() {
        let text = "{<<: [{a: 1}, {a: 2, b: 2, <<: {c: 3}}]}";
        assert_eq!(expand(text, V3).unwrap(), "{a: 1, b: 2, c: 3}");
        assert_eq!(expand(text, V2).unwrap(), "{a: 1, b: 2, c: 3}");
    }

    /// go-yaml 3.0.4 decodes this: the entry that would lead back is not needed.
    #[test]
    fn a_mapping_may_merge_what_it_lies_in() {
        let text = "a: &a {b: {b: 1, <<: *a}, c: 2}\n";
        assert_eq!(expand(text, V3).unwrap(), "{a: {b: {b: 1, c: 2}, c: 2}}");
    }

    #[test]
    fn quotes_keep_a_key_from_merging() {
        assert_eq!(expand("{'<<': {a: 1}, !!merge k: {b: 1}}", V3).unwrap(), "{<<: {a: 1}, b: 1}");
    }

    #[test]
    fn faults_in_go_s_words() {
        let no_mapping = "yaml: map merge requires map or sequence of maps as the value";
        for expansion in [V2, V3] {
            let refusal = |text| expand(text, expansion).unwrap_err();
            assert_eq!(refusal("<<: 1"), no_mapping);
            assert_eq!(refusal("<<:"), no_mapping);
            assert_eq!(refusal("a: &a [x]\nb: {<<: *a}"), no_mapping);
            assert_eq!(refusal("<<: [[{a: 1}]]"), no_mapping);
            assert_eq!(refusal("a: &a {b: *a}"), "yaml: anchor 'a' value contains itself");
            assert_eq!(refusal("a: &a {<<: *a}"), "yaml: anchor 'a' value contains itself");
        }
    }

    /// The texts are kyaml's (`findMergeValues` and `getMergeTagValue` in yaml/rnode.go).
    #[test]
    fn faults_in_kyaml_s_words() {
        let refusal = |text| expand(text, Expansion::Kyaml).unwrap_err();
        assert_eq!(refusal("<<: 1"), "map merge requires map or sequence of maps as the value");
        assert_eq!(
            refusal("a: &a [x]\nb: {<<: *a}"),
            "invalid map merge: received alias for a non-map value"
        );
        assert_eq!(refusal("<<: [[{a: 1}]]"), "invalid map merge: received a nested sequence");
        assert_eq!(refusal("<<: {a: 1}\n<<: {b: 1}"), "duplicate merge key");
    }

    /// Nine lists, each of nine aliases of the one before: 387 million nodes.
    #[test]
    fn bombs_are_refused() {
        let mut text = "a: &a [x, x, x, x, x, x, x, x, x]\n".to_owned();
        for (name, before) in ('b'..='i').zip('a'..) {
            let items = vec![format!("*{before}"); 9].join(", ");
            text.push_str(&format!("{name}: &{name} [{items}]\n"));
        }
        for expansion in [V2, V3, Expansion::Kyaml] {
            assert_eq!(expand(&text, expansion).unwrap_err(), "yaml: document contains excessive aliasing");
        }
    }

    #[test]
    fn long_texts_are_not_repeated_without_bound() {
        let items = ["*a"].repeat(100).join(", ");
        let bomb = |len: usize| format!("a: &a {}\nb: [{items}]\n", "x".repeat(len));
        assert!(expanded(&bomb(MAX_ALIASED_TEXT_LEN / 100), V3).is_ok());
        let refusal = expanded(&bomb(MAX_ALIASED_TEXT_LEN / 100 + 1), V3).unwrap_err();
        assert_eq!(refusal, "yaml: document contains excessive aliasing");
    }

    #[test]
    fn depth_counts_what_aliases_add() {
        let nested = |depth: usize| format!("{}x{}", "[".repeat(depth), "]".repeat(depth));
        let text = |depth| format!("a: &a {}\nb: {}\n", nested(300), nested(depth).replace('x', "*a"));
        assert!(expand(&text(MAX_DEPTH - 301), V3).is_ok());
        let refusal = expand(&text(MAX_DEPTH - 300), V3).unwrap_err();
        assert_eq!(refusal, "yaml: exceeded max depth of 500");
    }

    /// A mapping with a merge is looked at once for each key, however many there are.
    /// Kustomize's answers: it clears the field `<<` once a mapping, whatever wrote it, and go-yaml still knows a merge.
    #[test]
    fn kyaml_loses_the_first_key_that_looks_like_a_merge() {
        let expanded = |text| expand(text, Expansion::Kyaml).unwrap();
        assert_eq!(expanded("'<<': 1\na: 2\n"), "{a: 2}");
        assert_eq!(expanded("'<<': 1\na: 2\n'<<': 3\n"), "{a: 2, <<: 3}");
        assert_eq!(expanded("'<<': {y: 2}\n<<: {z: 1}\n"), "{z: 1}");
        assert_eq!(expanded("<<: {z: 1}\n'<<': 2\n"), "{<<: 2, z: 1}");
        assert_eq!(expand("'<<': 1\na: 2\n", V3).unwrap(), "{<<: 1, a: 2}");
    }

    #[test]
    fn wide_merges_take_linear_time() {
        let keys: String = (0..20_000).map(|number| format!("  k{number}: 1\n")).collect();
        let text = format!("a: &a\n{keys}b:\n  <<: *a\n{keys}");
        assert!(expanded(&text, V3).is_ok());
        assert!(expanded(&text, V2).is_ok());
    }
}

//! Which items of two lists are the same one.
//!
//! By the keys of the list's type; else, for mappings that each have a name of their own, by that; else by content, in
//! order. Where the type has keys items may come in any order, unless they run one after the other; elsewhere the order
//! may mean something, and another one is a difference.

use std::collections::HashMap;
use std::ops::Range;

use imara_diff::{Algorithm, Diff, InternedInput};
use yamltree::Node;

use super::path::{self, Segment};
use super::shape::Shape;
use super::{Shown, Walk};
use crate::json_text::text_of;
use crate::model::FieldStatus;
use crate::objects::is_null;

/// Lists known by keys whose order matters all the same: these run one after the other.
const ORDERED: &[&str] = &["initContainers"];

/// The default keys of list items if the type does not define any.
const NAMES: &[&[&str]] = &[&["name"], &["metadata.name"]];

/// The keys of list items, and whether order matters.
struct Keys<'k> {
    keys: &'k [&'k str],
    any_order: bool,
}

/// The default protocol of a port.
const DEFAULT_PROTOCOL: &str = "TCP";

impl Walk<'_> {
    pub(super) fn list(&mut self, base: &Node, head: &Node, shape: Shape<'_>) -> Shown {
        let (old, new) = (items(base), items(head));
        let keys = shape.keys();
        let by = |keys: &[&str]| Some((identities(old, keys)?, identities(new, keys)?));
        let any_order = keys.is_some() && !self.path.last_key().is_some_and(|key| ORDERED.contains(&key));
        let known = keys
            .iter()
            .map(Vec::as_slice)
            .chain(NAMES.iter().copied())
            .find_map(|keys| Some((keys, by(keys)?)));
        let (base_items, head_items) = match known {
            Some((keys, (olds, news))) => {
                let keys = Keys { keys, any_order };
                self.keyed((old, &olds), (new, &news), keys, shape.items())
            }
            None => self.by_content(old, new, shape.items()),
        };
        (Some(Node::sequence(base_items).at(base.span)), Some(Node::sequence(head_items).at(head.span)))
    }

    fn keyed(
        &mut self,
        (old, olds): (&[Node], &[Vec<String>]),
        (new, news): (&[Node], &[Vec<String>]),
        Keys { keys, any_order }: Keys<'_>,
        shape: Shape<'_>,
    ) -> (Vec<Node>, Vec<Node>) {
        let places: HashMap<&[String], usize> =
            olds.iter().enumerate().map(|(at, identity)| (identity.as_slice(), at)).collect();
        let matched: Vec<Option<usize>> =
            news.iter().map(|identity| places.get(identity.as_slice()).copied()).collect();
        let is_reordered = !matched.iter().flatten().is_sorted();
        let keeps_order = is_reordered && !any_order;
        let label = |identity: &[String]| {
            if keys.is_empty() { identity.concat() } else { path::label(keys, identity) }
        };
        if keeps_order {
            let names = |all: &[Vec<String>]| {
                Node::sequence(all.iter().map(|identity| Node::string(&label(identity))).collect())
            };
            self.record(Some(&names(olds)), Some(&names(news)));
            if let Some(change) = self.changes.last_mut() {
                change.status = FieldStatus::Reordered;
            }
        } else if is_reordered {
            self.hidden.reordered += 1;
        }
        let (mut shown_old, mut shown_new) = (vec![None; old.len()], Vec::new());
        for (index, (at, node)) in matched.iter().zip(new).enumerate() {
            let shown = self.item(at.map(|at| &old[at]), Some(node), label(&news[index]), index, shape);
            if let Some(at) = at {
                shown_old[*at] = shown.0;
            }
            shown_new.extend(shown.1);
        }
        let mut is_kept = vec![false; old.len()];
        matched.iter().flatten().for_each(|at| is_kept[*at] = true);
        for (index, node) in old.iter().enumerate().filter(|(index, _)| !is_kept[*index]) {
            shown_old[index] = self.item(Some(node), None, label(&olds[index]), index, shape).0;
        }
        if !keeps_order {
            shown_old = in_order(shown_old, &matched, &is_kept);
        }
        (shown_old.into_iter().flatten().collect(), shown_new)
    }

    fn item(
        &mut self,
        old: Option<&Node>,
        new: Option<&Node>,
        label: String,
        index: usize,
        shape: Shape<'_>,
    ) -> Shown {
        self.path.push(Segment::Item { label, index });
        let shown = match (old, new) {
            // A null in a list is an item, unlike one in a mapping.
            (Some(one), Some(other)) if is_null(one) && is_null(other) => super::same(other),
            (Some(one), Some(other)) if is_null(one) || is_null(other) => {
                self.record(old, new);
                (Some(one.clone()), Some(other.clone()))
            }
            (Some(_), Some(_)) => self.value(old, new, shape),
            _ => {
                self.record(old, new);
                (old.cloned(), new.cloned())
            }
        };
        self.path.pop();
        shown
    }

    fn by_content(&mut self, old: &[Node], new: &[Node], shape: Shape<'_>) -> (Vec<Node>, Vec<Node>) {
        let texts = |items: &[Node]| items.iter().map(text_of).collect::<Vec<_>>();
        let (olds, news) = (texts(old), texts(new));
        let mut input = InternedInput::default();
        input.update_before(olds.iter().map(String::as_str));
        input.update_after(news.iter().map(String::as_str));
        let diff = Diff::compute(Algorithm::Myers, &input);
        let (mut shown_old, mut shown_new) = (Vec::new(), Vec::new());
        let mut done = 0;
        for hunk in diff.hunks() {
            let (removed, added) = (range(hunk.before), range(hunk.after));
            let same = &new[done..added.start];
            shown_old.extend_from_slice(same);
            shown_new.extend_from_slice(same);
            done = added.end;
            for at in 0..removed.len().max(added.len()) {
                let (one, other) = (removed.clone().nth(at), added.clone().nth(at));
                let index = other.or(one).unwrap_or_default();
                let (one, other) = (one.map(|at| &old[at]), other.map(|at| &new[at]));
                let shown = self.item(one, other, index.to_string(), index, shape);
                shown_old.extend(shown.0);
                shown_new.extend(shown.1);
            }
        }
        shown_old.extend_from_slice(&new[done..]);
        shown_new.extend_from_slice(&new[done..]);
        (shown_old, shown_new)
    }
}

/// The old items in the order of the new ones; one that is gone stays behind the one that it stood behind.
fn in_order(mut shown: Vec<Option<Node>>, matched: &[Option<usize>], is_kept: &[bool]) -> Vec<Option<Node>> {
    let len = shown.len();
    let mut ordered = Vec::with_capacity(len);
    let take_gone = |from: usize, ordered: &mut Vec<Option<Node>>, shown: &mut Vec<Option<Node>>| {
        for at in (from..len).take_while(|at| !is_kept[*at]) {
            ordered.push(shown[at].take());
        }
    };
    take_gone(0, &mut ordered, &mut shown);
    for at in matched.iter().flatten() {
        let kept = shown[*at].take();
        ordered.push(kept);
        take_gone(at + 1, &mut ordered, &mut shown);
    }
    ordered
}

/// Returns the identities of the items of a list; `None` if the keys are not unique.
fn identities(items: &[Node], keys: &[&str]) -> Option<Vec<Vec<String>>> {
    let identities: Vec<Vec<String>> =
        items.iter().map(|item| identity(item, keys)).collect::<Option<_>>()?;
    let distinct: std::collections::HashSet<&[String]> = identities.iter().map(Vec::as_slice).collect();
    (distinct.len() == identities.len()).then_some(identities)
}

fn identity(item: &Node, keys: &[&str]) -> Option<Vec<String>> {
    if keys.is_empty() {
        return item.text().map(|text| vec![text.to_owned()]);
    }
    let values: Vec<String> = keys.iter().map(|key| value(item, key)).collect::<Option<_>>()?;
    values.iter().any(|value| !value.is_empty()).then_some(values)
}

fn value(item: &Node, key: &str) -> Option<String> {
    let default = if key == "protocol" { DEFAULT_PROTOCOL } else { "" };
    item.entries()?;
    let value = key.split('.').try_fold(item, |node, key| node.get(key));
    value.map_or(Some(default), Node::text).map(str::to_owned)
}

fn items(list: &Node) -> &[Node] {
    list.items().map_or(&[], Vec::as_slice)
}

fn range(range: Range<u32>) -> Range<usize> {
    range.start as usize..range.end as usize
}

//! Which item of a patch's list meets which of the resource's, and in which order they come out.

use std::collections::{HashMap, HashSet};

use yamltree::Node;

use super::directive::Strategy;
use crate::resource::is_null;
use crate::schema::MergeKeys;
use crate::warning::{Code, Warning};

/// Which items meet, and in which order they come out.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) slots: Vec<Slot>,
    pub(super) order: Vec<Place>,
}

/// The items with one identity.
#[derive(Debug, Default)]
pub(super) struct Slot {
    /// The first of the patch.
    pub(super) change: Option<usize>,
    /// The first and the last of the resource.
    pub(super) items: Option<(usize, usize)>,
    /// True if the resource's item lacks the second of two keys. kyaml cannot delete it then.
    pub(super) lacks_second: bool,
    /// True if others of its group have the key. kyaml then leaves it as it is, without a look inside.
    pub(super) is_passed_over: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    Slot(usize),
    /// An item of the patch without its key.
    Change(usize),
    /// An item of the resource without its key.
    Item(usize),
}

/// The identity of an item: the values of the first key and of the others.
type Identity<'n> = (&'n str, Vec<&'n str>);

/// Items with the same value of the first key, where a second one tells them apart. kyaml takes an item without the
/// second for the same as any other of the group, and then merges neither.
#[derive(Clone, Copy, Debug, Default)]
struct Group {
    /// True if some item has the second key.
    has_second: bool,
    /// True if an item of the resource lacks it.
    has_item_without: bool,
}

impl Plan {
    /// Warns of what kyaml would fold, ignore or lose.
    pub(super) fn new(
        changes: &[&Node],
        items: &[&Node],
        keys: MergeKeys<'_>,
        warnings: &mut Vec<Warning>,
    ) -> Self {
        let keys = keys_in_use(changes, items, keys);
        let mut planner = Planner {
            groups: groups(changes, items, &keys),
            keys,
            slots: Vec::new(),
            places: HashMap::new(),
            warnings,
        };
        let item_places = planner.items(items);
        let change_places = planner.changes(changes);
        let slots = planner.slots;
        // With one key kyaml replaces in place, so the patch's order wins; with several it deletes and appends, so
        // what the resource has keeps its order, behind what is new.
        let in_place = planner.keys.len() == 1;
        let mut order = change_places;
        order.retain(|place| match place {
            Place::Slot(at) => in_place || slots[*at].items.is_none(),
            _ => true,
        });
        order.extend(item_places.into_iter().enumerate().filter_map(|(at, place)| match place {
            Place::Slot(slot) => {
                let Slot { change, items, .. } = &slots[slot];
                let is_there =
                    items.is_some_and(
                        |(first, last)| {
                            if in_place { change.is_none() && first == at } else { last == at }
                        },
                    );
                is_there.then_some(place)
            }
            _ => Some(place),
        }));
        Self { slots, order }
    }
}

/// The keys that some item has, and the first. kyaml tells items apart by these alone.
fn keys_in_use<'k>(changes: &[&Node], items: &[&Node], keys: MergeKeys<'k>) -> Vec<&'k str> {
    let is_used = |key: &&str| changes.iter().chain(items).any(|node| !value(node, key).is_empty());
    let mut keys = keys.iter();
    let first = keys.next();
    first.into_iter().chain(keys.filter(is_used)).collect()
}

/// The text by which a key tells an item apart, empty where it does not.
fn value<'n>(node: &'n Node, key: &str) -> &'n str {
    node.get(key).filter(|value| !is_null(value)).and_then(Node::text).unwrap_or_default()
}

/// Returns what tells an item apart; `None` where it lacks the first key.
fn identity<'n>(node: &'n Node, keys: &[&str]) -> Option<Identity<'n>> {
    let (first, others) = keys.split_first()?;
    let first = value(node, first);
    (!first.is_empty()).then(|| (first, others.iter().map(|key| value(node, key)).collect()))
}

fn groups<'n>(changes: &[&'n Node], items: &[&'n Node], keys: &[&str]) -> HashMap<&'n str, Group> {
    let mut groups: HashMap<&str, Group> = HashMap::new();
    if keys.len() != 2 {
        return groups;
    }
    for (place, node) in changes.iter().chain(items).enumerate() {
        if let Some((first, others)) = identity(node, keys) {
            let group = groups.entry(first).or_default();
            group.has_second |= !others[0].is_empty();
            group.has_item_without |= others[0].is_empty() && place >= changes.len();
        }
    }
    groups
}

struct Planner<'n, 'k, 'w> {
    keys: Vec<&'k str>,
    groups: HashMap<&'n str, Group>,
    slots: Vec<Slot>,
    places: HashMap<Identity<'n>, usize>,
    warnings: &'w mut Vec<Warning>,
}

impl<'n> Planner<'n, '_, '_> {
    fn items(&mut self, items: &[&'n Node]) -> Vec<Place> {
        let mut groups_with_second = HashSet::new();
        let mut places = Vec::with_capacity(items.len());
        for (at, item) in items.iter().enumerate() {
            let Some(identity) = identity(item, &self.keys) else {
                let sentence = format!("an entry lacks `{}`; all entries of the list are kept", self.keys[0]);
                self.kept(sentence, item);
                places.push(Place::Item(at));
                continue;
            };
            let lacks_second = self.keys.len() == 2 && identity.1[0].is_empty();
            let is_passed_over =
                lacks_second && self.groups.get(identity.0).is_some_and(|group| group.has_second);
            if is_passed_over && groups_with_second.contains(identity.0) {
                let sentence = format!(
                    "another entry has the same `{}` and a `{}`; both are kept",
                    self.keys[0], self.keys[1]
                );
                self.kept(sentence, item);
            } else if !is_passed_over {
                groups_with_second.insert(identity.0);
            }
            let slot = self.slot(identity);
            places.push(Place::Slot(slot));
            let first = match self.slots[slot].items {
                Some((first, _)) => {
                    self.folded("the last one counts", item);
                    first
                }
                None => at,
            };
            self.slots[slot].items = Some((first, at));
            self.slots[slot].is_passed_over = is_passed_over;
            self.slots[slot].lacks_second = lacks_second;
        }
        places
    }

    fn changes(&mut self, changes: &[&'n Node]) -> Vec<Place> {
        let mut places = Vec::with_capacity(changes.len());
        for (at, change) in changes.iter().enumerate() {
            let Some(identity) = identity(change, &self.keys) else {
                let sentence = format!("an entry of the patch lacks `{}`; it is added", self.keys[0]);
                self.kept(sentence, change);
                places.push(Place::Change(at));
                continue;
            };
            if self.is_ignored(&identity, change) {
                let sentence = format!(
                    "the entry changes nothing, because the `{}` of some entries is given and of others is not",
                    self.keys[1]
                );
                let warning = Warning::new(Code::Ignored, sentence).at(change.span);
                self.warnings.push(warning.hint(format!("give every entry a `{}`", self.keys[1])));
                continue;
            }
            let slot = self.slot(identity);
            if self.slots[slot].change.is_some() {
                self.folded("the first one of the patch counts", change);
                continue;
            }
            self.slots[slot].change = Some(at);
            places.push(Place::Slot(slot));
        }
        places
    }

    fn slot(&mut self, identity: Identity<'n>) -> usize {
        let slots = &mut self.slots;
        *self.places.entry(identity).or_insert_with(|| {
            slots.push(Slot::default());
            slots.len() - 1
        })
    }

    /// Returns true if kyaml does nothing with an item of a patch: it looks for one with the same second key and finds none,
    /// or finds the one without and throws away its own work.
    fn is_ignored(&self, identity: &Identity<'n>, change: &Node) -> bool {
        let Some(group) = self.groups.get(identity.0) else { return false };
        if identity.1[0].is_empty() {
            let deletes = matches!(Strategy::of_mapping(change), Ok(Some((Strategy::Delete, _))));
            return group.has_second || (deletes && group.has_item_without);
        }
        group.has_item_without && !self.places.contains_key(identity)
    }

    fn kept(&mut self, sentence: String, item: &Node) {
        let warning = Warning::new(Code::ListKept, sentence).at(item.span);
        self.warnings.push(warning.hint("Kustomize would lose entries of this list"));
    }

    fn folded(&mut self, which: &str, item: &Node) {
        let texts: Vec<&str> = self.keys.iter().map(|key| value(item, key)).collect();
        let sentence =
            format!("several entries have the {} `{}`; {which}", self.keys.join(" and "), texts.join(" "));
        self.warnings.push(Warning::new(Code::EntriesFolded, sentence).at(item.span));
    }
}

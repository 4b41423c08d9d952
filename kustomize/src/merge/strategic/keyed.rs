//! Lists whose items are told apart by keys, and lists of scalars that a patch adds to.
//!
//! kyaml searches the list anew for every item, and puts the result together by deleting and appending. Here a plan is
//! made first of which item of the patch meets which of the resource, with the same result; what kyaml's way loses,
//! stays.

use std::collections::HashMap;

use diagnostic::Result;
use yamltree::Node;

use super::directive::{self, Strategy};
use super::plan::{Place, Plan, Slot};
use super::{Fate, Merge};
use crate::resource::is_null;
use crate::schema::{MergeKeys, Type};
use crate::warning::Code;

impl<'s> Merge<'s> {
    /// Changes the items of a list by those of a patch.
    pub(super) fn items(
        &mut self,
        items: &mut Vec<Node>,
        changes: &[Node],
        keys: MergeKeys<'s>,
        known: Option<Type<'s>>,
    ) -> Result<()> {
        let changes: Vec<&Node> = changes.iter().filter(|change| is_item(change)).collect();
        if keys.iter().len() == 0 {
            add_scalars(items, &changes);
            return Ok(());
        }
        let plan = Plan::new(&changes, &items.iter().collect::<Vec<_>>(), keys, &mut self.warnings);
        let mut old: Vec<Option<Node>> = std::mem::take(items).into_iter().map(Some).collect();
        let mut slots = Vec::with_capacity(plan.slots.len());
        for slot in &plan.slots {
            slots.push(self.slot(slot, &changes, &mut old, known)?);
        }
        for place in &plan.order {
            items.extend(match *place {
                Place::Slot(at) => slots[at].take(),
                Place::Change(at) => self.added(changes[at], known)?,
                Place::Item(at) => old[at].take(),
            });
        }
        Ok(())
    }

    /// Folds the items of a list that have the same keys, as kyaml does in every list that it passes.
    pub(super) fn unmentioned_items(
        &mut self,
        items: &mut Vec<Node>,
        keys: MergeKeys<'s>,
        known: Option<Type<'s>>,
    ) {
        if items.len() > 1 || keys.iter().len() == 0 {
            // Without changes nothing can be at fault.
            let unchanged = self.items(items, &[], keys, known);
            debug_assert!(unchanged.is_ok());
        } else if let Some(only) = items.first_mut().filter(|only| only.is_mapping()) {
            self.unmentioned(only, known);
        }
    }

    /// The items of a list that the resource does not have.
    pub(super) fn added_items(
        &mut self,
        changes: &[Node],
        keys: MergeKeys<'s>,
        known: Option<Type<'s>>,
    ) -> Result<Vec<Node>> {
        let changes: Vec<&Node> = changes.iter().filter(|change| is_item(change)).collect();
        let mut items = Vec::with_capacity(changes.len());
        if keys.iter().len() == 0 {
            items.extend(changes.into_iter().cloned());
            add_scalars(&mut items, &[]);
            return Ok(items);
        }
        let plan = Plan::new(&[], &changes, keys, &mut self.warnings);
        for place in &plan.order {
            items.extend(match *place {
                Place::Slot(at) => self.added_slot(&plan.slots[at], &changes, known)?,
                Place::Change(at) | Place::Item(at) => self.added(changes[at], known)?,
            });
        }
        Ok(items)
    }

    /// Returns what becomes of the items with one identity.
    fn slot(
        &mut self,
        slot: &Slot,
        changes: &[&Node],
        items: &mut [Option<Node>],
        known: Option<Type<'s>>,
    ) -> Result<Option<Node>> {
        let change = slot.change.map(|at| changes[at]);
        let Some((first, last)) = slot.items else {
            return change.map_or(Ok(None), |change| self.added(change, known));
        };
        let Some(mut item) = items[first].take() else { return Ok(None) };
        match change {
            None if slot.is_passed_over => {}
            None => {
                self.unmentioned(&mut item, known);
            }
            Some(change) => match Strategy::of_mapping(change)? {
                Some((Strategy::Replace, span)) => {
                    let sentence = "`$patch: replace` on an entry that the resource has changes nothing";
                    self.warn(Code::PatchDirective, sentence, span);
                }
                _ if self.value(&mut item, change, known)? == Fate::Goes => return Ok(None),
                _ => {}
            },
        }
        // The last of several is put in the place of what the first has become.
        Ok(if last == first { Some(item) } else { items[last].take() })
    }

    fn added_slot(
        &mut self,
        slot: &Slot,
        changes: &[&Node],
        known: Option<Type<'s>>,
    ) -> Result<Option<Node>> {
        let Some((first, last)) = slot.items else { return Ok(None) };
        let mut raw = changes[last].clone();
        let directive = raw.remove(directive::PATCH);
        match Strategy::of_mapping(changes[first])? {
            Some((Strategy::Delete, span)) if slot.lacks_second && !slot.is_passed_over => {
                let sentence = "the entry is added and not deleted, because it lacks a key that others have";
                self.warn(Code::Ignored, sentence, span);
                return Ok(Some(raw));
            }
            Some((strategy, span)) if slot.is_passed_over => {
                self.warn(Code::PatchDirective, "the directive is obeyed; Kustomize would print it", span);
                return Ok((strategy != Strategy::Delete).then_some(raw));
            }
            None if slot.is_passed_over => return Ok(Some(raw)),
            _ => {}
        }
        let added = self.added(changes[first], known)?;
        if added.is_none() || first == last {
            return Ok(added);
        }
        if directive.is_some() {
            let sentence = "the directive of a duplicate entry is ignored; Kustomize would print it";
            self.warn(Code::PatchDirective, sentence, raw.span);
        }
        Ok(Some(raw))
    }
}

/// Returns true if an item of a patch's list is one, and no directive for the list.
fn is_item(change: &Node) -> bool {
    !is_null(change)
        && !directive::is_lone(change)
        && change.entries().is_none_or(|entries| !entries.is_empty())
}

/// Adds scalars that are not there yet in front. Of equal ones in the list the first place and the last spelling stay.
fn add_scalars(items: &mut Vec<Node>, changes: &[&Node]) {
    let old = std::mem::take(items);
    let mut places: HashMap<String, usize> = HashMap::with_capacity(old.len() + changes.len());
    for change in changes {
        let place = change.text().map(|text| *places.entry(text.to_owned()).or_insert(items.len()));
        if place.is_none_or(|place| place == items.len()) {
            items.push((*change).clone());
        }
    }
    for item in old.into_iter().filter(|item| !is_null(item)) {
        let place = item.text().map(|text| *places.entry(text.to_owned()).or_insert(items.len()));
        match place.filter(|place| *place < items.len()) {
            Some(place) => items[place] = item,
            None => items.push(item),
        }
    }
}

//! The resources of a build in the order of accumulation, found by id without a search.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::sync::Arc;

use compact_str::CompactString;
use diagnostic::{Error, ErrorKind, Result};
use foldhash::fast::RandomState;
use yamltree::Node;

use crate::context::Context;
use crate::resid::ResId;
use crate::resource::{Behavior, Resource, is_null};
use crate::schema::Schema;

/// The resources, with an index by current and by former id.
///
/// The index is made when it is first asked for, follows the change of single resources, and is dropped by a change of
/// all: so a list of patches by id costs one index and not a search each.
#[derive(Debug)]
pub(crate) struct ResMap {
    resources: Vec<Resource>,
    schema: Arc<Schema>,
    index: OnceCell<Index>,
}

#[derive(Debug, Default)]
struct Index {
    current: HashMap<ResId, Vec<usize>, RandomState>,
    /// Current and former ids; a resource stands once under each.
    any: HashMap<ResId, Vec<usize>, RandomState>,
    /// Current and former names.
    names: HashMap<CompactString, Vec<usize>, RandomState>,
    /// Number of ids more than one resource has.
    duplicates: usize,
}

impl ResMap {
    pub(crate) fn new(schema: Arc<Schema>) -> Self {
        Self { resources: Vec::new(), schema, index: OnceCell::new() }
    }

    pub(crate) fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// Takes another schema, by which scopes are judged from now on.
    pub(crate) fn set_schema(&mut self, schema: Arc<Schema>) {
        if !Arc::ptr_eq(&self.schema, &schema) {
            self.schema = schema;
            self.refresh();
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.resources.len()
    }

    pub(crate) fn iter(&self) -> std::slice::Iter<'_, Resource> {
        self.resources.iter()
    }

    pub(crate) fn get(&self, position: usize) -> &Resource {
        &self.resources[position]
    }

    pub(crate) fn into_resources(self) -> Vec<Resource> {
        self.resources
    }

    /// The positions of the resources whose current id this is.
    pub(crate) fn with_current_id(&self, id: &ResId) -> &[usize] {
        self.index().current.get(id).map_or(&[], Vec::as_slice)
    }

    /// The positions of the resources which have or had this id.
    pub(crate) fn with_any_id(&self, id: &ResId) -> &[usize] {
        self.index().any.get(id).map_or(&[], Vec::as_slice)
    }

    /// The positions of the resources which have or had this name.
    pub(crate) fn with_any_name(&self, name: &str) -> &[usize] {
        self.index().names.get(name).map_or(&[], Vec::as_slice)
    }

    /// Adds a resource at the end.
    ///
    /// # Errors
    /// Names both places when the id is taken.
    pub(crate) fn append(&mut self, resource: Resource) -> Result<()> {
        if let Some(&taken) = self.with_current_id(resource.id()).first() {
            return Err(already_registered(&resource, &self.resources[taken]));
        }
        let position = self.resources.len();
        if let Some(index) = self.index.get_mut() {
            index.insert(position, &resource);
        }
        self.resources.push(resource);
        Ok(())
    }

    /// Adds resources at the end, each by [`ResMap::append`].
    pub(crate) fn append_all(&mut self, resources: impl IntoIterator<Item = Resource>) -> Result<()> {
        resources.into_iter().try_for_each(|resource| self.append(resource))
    }

    /// Takes in a generated resource: adds it, or merges it into or puts it in the place of the one of its id.
    pub(crate) fn absorb(&mut self, mut resource: Resource, cx: &Context<'_>) -> Result<()> {
        let matches = self.with_any_id(resource.id());
        let &[position] = matches else {
            if matches.is_empty() {
                return match resource.behavior {
                    Behavior::Merge | Behavior::Replace => Err(nothing_to_merge(&resource)),
                    Behavior::Create | Behavior::Unspecified => self.append(resource),
                };
            }
            let first = self.resources[matches[0]].span();
            return Err(Error::invalid(format!(
                "found multiple objects that could accept merge of {}",
                resource.id().described()
            ))
            .at(resource.span())
            .via("one of them is defined here", first));
        };
        let old = &self.resources[position];
        match resource.behavior {
            Behavior::Replace => crate::generate::replace_generated(&mut resource, old),
            Behavior::Merge => crate::generate::merge_generated(&mut resource, old, cx),
            Behavior::Create | Behavior::Unspecified => {
                return Err(already_registered(&resource, old)
                    .hint("set `behavior: merge` or `behavior: replace` to change the existing one"));
            }
        }
        self.modify(position, |slot| {
            *slot = resource;
            Ok(())
        })
    }

    /// Changes one resource; the index follows.
    pub(crate) fn modify<T>(
        &mut self,
        position: usize,
        change: impl FnOnce(&mut Resource) -> Result<T>,
    ) -> Result<T> {
        let resource = &mut self.resources[position];
        if let Some(index) = self.index.get_mut() {
            index.remove(position, resource);
        }
        let done = change(resource);
        resource.refresh(&self.schema);
        if let Some(index) = self.index.get_mut() {
            index.insert(position, resource);
        }
        done
    }

    /// Refuses two resources with the same id, as after patches that change names.
    pub(crate) fn refuse_duplicates(&self) -> Result<()> {
        let index = self.index();
        if index.duplicates == 0 {
            return Ok(());
        }
        let others =
            |resource: &&Resource| index.current.get(resource.id()).is_some_and(|same| same.len() > 1);
        let Some(resource) = self.resources.iter().rfind(others) else { return Ok(()) };
        let first = index.current[resource.id()][0];
        Err(already_registered(resource, &self.resources[first]))
    }

    /// Changes every resource in turn.
    pub(crate) fn modify_each(&mut self, mut change: impl FnMut(&mut Resource) -> Result<()>) -> Result<()> {
        self.index.take();
        for resource in &mut self.resources {
            change(resource)?;
            resource.refresh(&self.schema);
        }
        Ok(())
    }

    /// Changes the trees with all resources in sight. Of the trees of the resources seen only the places are left, and
    /// their ids are those from before the change.
    pub(crate) fn modify_nodes(
        &mut self,
        change: impl FnOnce(&[Resource], &mut [Node]) -> Result<()>,
    ) -> Result<()> {
        let take = |resource: &mut Resource| {
            let place = Node::null().at(resource.span());
            std::mem::replace(&mut resource.node, place)
        };
        let mut nodes: Vec<Node> = self.resources.iter_mut().map(take).collect();
        let done = change(&self.resources, &mut nodes);
        self.index.take();
        for (resource, node) in self.resources.iter_mut().zip(nodes) {
            resource.node = node;
            resource.sync_aliases();
            resource.refresh(&self.schema);
        }
        done
    }

    /// Keeps the resources that a test passes.
    pub(crate) fn retain(&mut self, keep: impl FnMut(&Resource) -> bool) {
        self.index.take();
        self.resources.retain(keep);
    }

    /// Puts the resources in another order, given as the positions that they have now.
    pub(crate) fn reorder(&mut self, positions: &[usize]) {
        self.index.take();
        let reordered = positions.iter().map(|position| std::mem::take(&mut self.resources[*position]));
        self.resources = reordered.collect();
    }

    fn refresh(&mut self) {
        self.index.take();
        for resource in &mut self.resources {
            resource.rescope(&self.schema);
        }
    }

    fn index(&self) -> &Index {
        self.index.get_or_init(|| {
            let mut index = Index::default();
            for (position, resource) in self.resources.iter().enumerate() {
                index.insert(position, resource);
            }
            index
        })
    }
}

impl Index {
    fn insert(&mut self, position: usize, resource: &Resource) {
        // A resource that was deleted leaves its place for a while, but is not to be found.
        if is_null(&resource.node) {
            return;
        }
        let same = self.current.entry(resource.id().clone()).or_default();
        note(same, position);
        self.duplicates += usize::from(same.len() == 2);
        for id in resource.all_ids() {
            note(self.any.entry(id.clone()).or_default(), position);
            note(self.names.entry(id.name.clone()).or_default(), position);
        }
    }

    fn remove(&mut self, position: usize, resource: &Resource) {
        if let Some(same) = self.current.get_mut(resource.id()) {
            self.duplicates -= usize::from(same.len() == 2);
            same.retain(|at| *at != position);
        }
        for id in resource.all_ids() {
            let lists = [self.any.get_mut(id), self.names.get_mut(&id.name)];
            for positions in lists.into_iter().flatten() {
                if let Ok(at) = positions.binary_search(&position) {
                    positions.remove(at);
                }
            }
        }
    }
}

/// Adds a position to a sorted list that may have it already.
fn note(positions: &mut Vec<usize>, position: usize) {
    if let Err(at) = positions.binary_search(&position) {
        positions.insert(at, position);
    }
}

fn already_registered(new: &Resource, old: &Resource) -> Error {
    Error::invalid(format!("{} is defined twice", new.id().described()))
        .at(new.span())
        .via("first defined here", old.span())
}

fn nothing_to_merge(resource: &Resource) -> Error {
    Error::new(
        ErrorKind::Invalid,
        format!("{} does not exist, so nothing can be merged into it or replaced", resource.id().described()),
    )
    .at(resource.span())
}

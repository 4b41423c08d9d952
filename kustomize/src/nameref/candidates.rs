//! The resources whose name has changed, found by a former name without a search.
//!
//! A name that few resources had is looked through. One that many had (a base that is built a thousand times, each
//! time with another prefix or namespace) has lists by kind, namespace, prefixes and suffixes; of those that hold every
//! possible answer the shortest is looked through.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

use compact_str::CompactString;

use crate::resid::{Gvk, NO_NAMESPACE, ResId};
use crate::resource::Resource;

/// Up to here looking through all is faster than looking up.
const FEW: usize = 16;
/// The longest ending of a list of prefixes by which resources are listed.
const LONGEST_ENDING: usize = 8;

/// The resources that had another name before, and what must be known of all.
pub(super) struct Candidates<'r> {
    resources: &'r [Resource],
    by_name: HashMap<&'r str, Namesakes<'r>>,
    places: OnceCell<Places<'r>>,
    current: OnceCell<HashSet<(&'r str, &'r str)>>,
}

/// Original namespaces, each with the current ones (in effect, and as written) of the resources that had it.
struct Places<'r> {
    originals: HashSet<&'r str>,
    in_effect: HashSet<(&'r str, &'r str)>,
    written: HashSet<(&'r str, &'r str)>,
}

/// The resources that once had a certain name, in the order of the build.
pub(super) struct Namesakes<'r> {
    all: Vec<&'r Resource>,
    lists: OnceCell<HashMap<Facet<'r>, Vec<usize>>>,
}

/// A property by which resources of one name are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Facet<'r> {
    FormerKind(&'r str),
    Namespace(&'r str),
    OriginalNamespace(&'r str),
    /// All prefixes or suffixes.
    Affixes(Side, &'r [CompactString]),
    /// The last prefixes or suffixes.
    Ending(Side, &'r [CompactString]),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Side {
    Prefix,
    Suffix,
}

/// The scope in which a referrer's target is searched.
pub(super) enum Scope<'r> {
    Everywhere,
    /// In the referrer's namespace or in none; service accounts also in those that a role binding gives.
    Namespace {
        namespace: &'r str,
        accounts: HashSet<CompactString>,
    },
}

/// The namespace that stands beside a name.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place<'w> {
    Any,
    Original(&'w str),
    Current(&'w str),
}

/// The query of a reference.
pub(super) struct Wanted<'w> {
    pub(super) gvk: &'w Gvk,
    /// Group and kind, where they stand beside the name.
    pub(super) role: Option<&'w Gvk>,
    pub(super) place: Place<'w>,
    pub(super) scope: &'w Scope<'w>,
    pub(super) referrer: &'w Resource,
}

/// The required match of a resource's prefixes and suffixes with the referrer's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Nearness {
    Any,
    /// One ends as the other, or either is empty.
    Near,
    /// One ends as the other.
    Nearest,
}

impl<'r> Candidates<'r> {
    pub(super) fn new(resources: &'r [Resource]) -> Self {
        let mut by_name: HashMap<&str, Namesakes<'r>> = HashMap::new();
        for resource in resources {
            for id in resource.previous_ids() {
                let all = &mut by_name.entry(&id.name).or_insert_with(Namesakes::new).all;
                if !all.last().is_some_and(|last| std::ptr::eq(*last, resource)) {
                    all.push(resource);
                }
            }
        }
        Self { resources, by_name, places: OnceCell::new(), current: OnceCell::new() }
    }

    /// The resources that had a name before.
    pub(super) fn once_named(&self, name: &str) -> Option<&Namesakes<'r>> {
        self.by_name.get(name)
    }

    /// Returns true if some resource of a kind has a name now.
    pub(super) fn is_current_name(&self, name: &str, gvk: &Gvk) -> bool {
        let current = self.current.get_or_init(|| {
            self.resources.iter().map(|resource| (resource.kind(), resource.name())).collect()
        });
        current.contains(&(&gvk.kind, name))
    }

    /// A namespace means where resources were originally, if any within reach was there; else where they are.
    pub(super) fn place<'w>(&self, namespace: &'w str, scope: &Scope<'_>) -> Place<'w> {
        let places = self.places.get_or_init(|| Places::new(self.resources));
        let is_original = match scope {
            Scope::Everywhere => places.originals.contains(namespace),
            Scope::Namespace { namespace: own, accounts } => {
                places.in_effect.contains(&(namespace, own))
                    || places.in_effect.contains(&(namespace, NO_NAMESPACE))
                    || accounts.iter().any(|account| places.written.contains(&(namespace, account)))
            }
        };
        if is_original { Place::Original(namespace) } else { Place::Current(namespace) }
    }
}

impl<'r> Places<'r> {
    fn new(resources: &'r [Resource]) -> Self {
        let mut places =
            Self { originals: HashSet::new(), in_effect: HashSet::new(), written: HashSet::new() };
        for resource in resources {
            let original = resource.original_id().effective_namespace();
            places.originals.insert(original);
            places.in_effect.insert((original, resource.id().effective_namespace()));
            places.written.insert((original, resource.namespace()));
        }
        places
    }
}

impl<'r> Namesakes<'r> {
    fn new() -> Self {
        Self { all: Vec::new(), lists: OnceCell::new() }
    }

    /// The resources that a reference can mean, or some of them where a few are enough to know.
    pub(super) fn select(&self, wanted: &Wanted<'_>, nearness: Nearness, limit: usize) -> Vec<&'r Resource> {
        let keep = |at: &usize| {
            let resource = self.all[*at];
            wanted.takes(resource) && wanted.is_near(resource, nearness)
        };
        let lists = if self.all.len() <= FEW { None } else { self.shortest_lists(wanted, nearness) };
        let mut found: Vec<usize> = match lists {
            Some(lists) => lists.into_iter().flatten().copied().filter(keep).take(limit).collect(),
            None => (0..self.all.len()).filter(keep).take(limit).collect(),
        };
        found.sort_unstable();
        found.into_iter().map(|at| self.all[at]).collect()
    }

    /// The shortest of the sets of lists that hold every resource which a reference can mean.
    fn shortest_lists<'s>(&'s self, wanted: &'s Wanted<'_>, nearness: Nearness) -> Option<Vec<&'s [usize]>> {
        let lists: &'s HashMap<Facet<'s>, Vec<usize>> = self.lists.get_or_init(|| self.make_lists());
        let sets = wanted.facets(nearness).into_iter().map(|facets| {
            facets
                .iter()
                .filter_map(|facet| lists.get(facet))
                .map(Vec::as_slice)
                .collect::<Vec<&'s [usize]>>()
        });
        sets.min_by_key(|set| set.iter().map(|list| list.len()).sum::<usize>())
    }

    fn make_lists(&self) -> HashMap<Facet<'r>, Vec<usize>> {
        let mut lists: HashMap<Facet<'r>, Vec<usize>> = HashMap::new();
        for (position, resource) in self.all.iter().enumerate() {
            let mut add = |facet| {
                let list = lists.entry(facet).or_default();
                if list.last() != Some(&position) {
                    list.push(position);
                }
            };
            resource.previous_ids().iter().for_each(|id| add(Facet::FormerKind(&id.gvk.kind)));
            add(Facet::Namespace(resource.id().effective_namespace()));
            add(Facet::OriginalNamespace(resource.original_id().effective_namespace()));
            for side in [Side::Prefix, Side::Suffix] {
                let affixes = side.of(resource);
                add(Facet::Affixes(side, affixes));
                (1..=affixes.len().min(LONGEST_ENDING))
                    .for_each(|length| add(Facet::Ending(side, ending(affixes, length))));
            }
        }
        lists
    }
}

impl<'w> Wanted<'w> {
    fn takes(&self, resource: &Resource) -> bool {
        self.is_in_scope(resource)
            && self.is_in_place(resource)
            && had_kind(resource, self.gvk)
            && self.role.is_none_or(|role| had_kind(resource, role))
    }

    fn is_in_scope(&self, resource: &Resource) -> bool {
        let id = resource.id();
        match self.scope {
            Scope::Everywhere => true,
            Scope::Namespace { namespace, accounts } => {
                id.cluster_scoped
                    || id.effective_namespace() == *namespace
                    || (resource.kind() == "ServiceAccount" && accounts.contains(resource.namespace()))
            }
        }
    }

    fn is_in_place(&self, resource: &Resource) -> bool {
        let is =
            |id: &ResId, namespace: &str| namespace != NO_NAMESPACE && id.effective_namespace() == namespace;
        match self.place {
            Place::Any => true,
            Place::Original(namespace) => is(resource.original_id(), namespace),
            Place::Current(namespace) => is(resource.id(), namespace),
        }
    }

    fn is_near(&self, resource: &Resource, nearness: Nearness) -> bool {
        [Side::Prefix, Side::Suffix].into_iter().all(|side| {
            let (one, other) = (side.of(self.referrer), side.of(resource));
            match nearness {
                Nearness::Any => true,
                Nearness::Near => one.is_empty() || other.is_empty() || end_alike(one, other),
                Nearness::Nearest => end_alike(one, other),
            }
        })
    }

    /// Sets of facets such that every resource that can be meant has one facet of each set.
    fn facets(&self, nearness: Nearness) -> Vec<Vec<Facet<'_>>> {
        let kinds = [Some(self.gvk), self.role].into_iter().flatten().filter(|gvk| !gvk.kind.is_empty());
        let mut sets: Vec<Vec<Facet<'_>>> = kinds.map(|gvk| vec![Facet::FormerKind(&gvk.kind)]).collect();
        if let Scope::Namespace { namespace, accounts } = self.scope {
            let accounts =
                accounts.iter().map(|account| if account.is_empty() { "default" } else { account });
            sets.push([namespace, NO_NAMESPACE].into_iter().chain(accounts).map(Facet::Namespace).collect());
        }
        match self.place {
            Place::Any => {}
            Place::Original(namespace) => sets.push(vec![Facet::OriginalNamespace(namespace)]),
            Place::Current(namespace) => sets.push(vec![Facet::Namespace(namespace)]),
        }
        sets.extend(
            [Side::Prefix, Side::Suffix].into_iter().filter_map(|side| self.affix_facets(side, nearness)),
        );
        sets
    }

    fn affix_facets(&self, side: Side, nearness: Nearness) -> Option<Vec<Facet<'_>>> {
        let affixes = side.of(self.referrer);
        let none = Facet::Affixes(side, &[]);
        match nearness {
            Nearness::Any => None,
            Nearness::Near if affixes.is_empty() => None,
            Nearness::Nearest if affixes.is_empty() => Some(vec![none]),
            Nearness::Near | Nearness::Nearest => {
                let longest = affixes.len().min(LONGEST_ENDING);
                let shorter = (1..longest).map(|length| Facet::Affixes(side, ending(affixes, length)));
                let mut facets: Vec<Facet<'_>> = shorter.collect();
                facets.push(Facet::Ending(side, ending(affixes, longest)));
                if nearness == Nearness::Near {
                    facets.push(none);
                }
                Some(facets)
            }
        }
    }
}

impl Side {
    /// The prefixes or suffixes, innermost first.
    fn of(self, resource: &Resource) -> &[CompactString] {
        match self {
            Side::Prefix => &resource.prefixes,
            Side::Suffix => &resource.suffixes,
        }
    }
}

fn had_kind(resource: &Resource, gvk: &Gvk) -> bool {
    resource.previous_ids().iter().any(|id| id.gvk.is_selected(gvk))
}

fn ending(affixes: &[CompactString], length: usize) -> &[CompactString] {
    &affixes[affixes.len() - length..]
}

/// Returns true if the shorter list is the end of the longer; an empty one is that only of another.
fn end_alike(one: &[CompactString], other: &[CompactString]) -> bool {
    let (shorter, longer) = if one.len() <= other.len() { (one, other) } else { (other, one) };
    if shorter.is_empty() { longer.is_empty() } else { longer.ends_with(shorter) }
}

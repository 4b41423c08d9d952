//! Which objects of two sides are the same one.
//!
//! By identity, the version apart. Of those that remain: the same kind and name in a group that the kind has moved to;
//! the same name but for a content hash; and content that is mostly the same. Objects that a target has twice are paired
//! in order.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};

use argocd::objects::{Key, Object};
use yamltree::{Kind, Node};

use crate::moved;
use crate::objects::{is_null, key};

/// An object before and after.
pub(crate) struct Pair<'o> {
    pub(crate) base: Option<&'o Object>,
    pub(crate) head: Option<&'o Object>,
}

/// Groups that kinds have moved from, and to.
const MOVED_GROUPS: &[(&str, &str)] = &[
    ("extensions", "apps"),
    ("extensions", "networking.k8s.io"),
    ("extensions", "policy"),
    ("certmanager.k8s.io", "cert-manager.io"),
    ("networking.x-k8s.io", "gateway.networking.k8s.io"),
];

/// The length of the hash that Kustomize puts behind names.
const HASH_LEN: usize = 10;

/// The characters of it: hexadecimal digits, of which those that could make words are others.
const HASH_CHARACTERS: &str = "2456789bcdfghkmt";

/// Pairs objects, sorted by group, kind, namespace and name.
pub(crate) fn pair<'o>(base: &'o [Object], head: &'o [Object]) -> Vec<Pair<'o>> {
    let mut before: HashMap<Key, VecDeque<&Object>> = HashMap::new();
    for object in base {
        before.entry(key(object)).or_default().push_back(object);
    }
    let mut pairs: Vec<(Key, Pair<'o>)> = Vec::new();
    let mut new: Vec<(Key, &Object)> = Vec::new();
    for object in head {
        let key = key(object);
        match before.get_mut(&key).and_then(VecDeque::pop_front) {
            Some(old) => pairs.push((key, Pair { base: Some(old), head: Some(object) })),
            None => new.push((key, object)),
        }
    }
    let mut gone: Vec<(Key, &Object)> = before
        .into_iter()
        .flat_map(|(key, objects)| objects.into_iter().map(move |object| (key.clone(), object)))
        .collect();
    gone.sort_by(|one, other| one.0.cmp(&other.0));
    new.sort_by(|one, other| one.0.cmp(&other.0));
    for same in [by_group, by_hash, by_content] {
        let found = same(&gone, &new);
        take(&mut gone, &mut new, &found, &mut pairs);
    }
    pairs.extend(gone.into_iter().map(|(key, object)| (key, Pair { base: Some(object), head: None })));
    pairs.extend(new.into_iter().map(|(key, object)| (key, Pair { base: None, head: Some(object) })));
    pairs.sort_by(|one, other| one.0.cmp(&other.0));
    pairs.into_iter().map(|(_, pair)| pair).collect()
}

type Keyed<'o> = (Key, &'o Object);

fn take<'o>(
    gone: &mut Vec<Keyed<'o>>,
    new: &mut Vec<Keyed<'o>>,
    found: &[(usize, usize)],
    pairs: &mut Vec<(Key, Pair<'o>)>,
) {
    let (mut is_taken, mut is_given) = (vec![false; gone.len()], vec![false; new.len()]);
    for (removed, added) in found {
        (is_taken[*removed], is_given[*added]) = (true, true);
        let pair = Pair { base: Some(gone[*removed].1), head: Some(new[*added].1) };
        pairs.push((new[*added].0.clone(), pair));
    }
    let (mut taken, mut given) = (is_taken.into_iter(), is_given.into_iter());
    gone.retain(|_| !taken.next().unwrap_or(false));
    new.retain(|_| !given.next().unwrap_or(false));
}

/// Pairs those that have the same of something, in order.
fn by<'o, T: Ord>(
    gone: &[Keyed<'o>],
    new: &[Keyed<'o>],
    of: impl Fn(&Key) -> Option<T>,
    is_pair: impl Fn(&Key, &Key) -> bool,
) -> Vec<(usize, usize)> {
    let mut places: BTreeMap<T, VecDeque<usize>> = BTreeMap::new();
    for (at, (key, _)) in gone.iter().enumerate() {
        if let Some(of) = of(key) {
            places.entry(of).or_default().push_back(at);
        }
    }
    let mut found = Vec::new();
    for (added, (key, _)) in new.iter().enumerate() {
        let Some(places) = of(key).and_then(|of| places.get_mut(&of)) else { continue };
        if places.front().is_some_and(|removed| is_pair(&gone[*removed].0, key)) {
            found.extend(places.pop_front().map(|removed| (removed, added)));
        }
    }
    found
}

fn by_group(gone: &[Keyed<'_>], new: &[Keyed<'_>]) -> Vec<(usize, usize)> {
    let of = |key: &Key| Some((key.kind.clone(), key.namespace.clone(), key.name.clone()));
    by(gone, new, of, |old, new| {
        let moves = |from: &str, to: &str| MOVED_GROUPS.contains(&(from, to));
        moves(&old.group, &new.group) || moves(&new.group, &old.group)
    })
}

fn by_hash(gone: &[Keyed<'_>], new: &[Keyed<'_>]) -> Vec<(usize, usize)> {
    let of = |key: &Key| {
        let name = without_hash(&key.name)?;
        Some((key.group.clone(), key.kind.clone(), key.namespace.clone(), name.to_owned()))
    };
    by(gone, new, of, |_, _| true)
}

/// A name without the hash of the content behind it.
pub(crate) fn without_hash(name: &str) -> Option<&str> {
    let (name, hash) = name.rsplit_once('-')?;
    let is_hash = hash.len() == HASH_LEN && hash.chars().all(|character| HASH_CHARACTERS.contains(character));
    is_hash.then_some(name)
}

fn by_content(gone: &[Keyed<'_>], new: &[Keyed<'_>]) -> Vec<(usize, usize)> {
    if gone.is_empty() || new.is_empty() {
        return Vec::new();
    }
    let all = |objects: &[Keyed<'_>]| objects.iter().map(|(_, object)| parts(object)).collect::<Vec<_>>();
    moved::pairs(&all(gone), &all(new))
}

/// The values of an object with their paths, as hashes. Its name and namespace do not count, nor where they stand
/// elsewhere in it.
fn parts(object: &Object) -> Vec<u64> {
    let mut parts = Parts { object, path: (object.group(), object.kind()).hashed(), all: Vec::new() };
    for entry in object.node().entries().into_iter().flatten() {
        match entry.key.text() {
            Some("apiVersion" | "kind" | "status") => {}
            Some(key) => parts.at(key, &entry.value),
            None => {}
        }
    }
    parts.all
}

struct Parts<'o> {
    object: &'o Object,
    path: u64,
    all: Vec<u64>,
}

impl Parts<'_> {
    fn at(&mut self, step: impl Hash, node: &Node) {
        let path = self.path;
        self.path = (path, step).hashed();
        self.add(node);
        self.path = path;
    }

    fn add(&mut self, node: &Node) {
        match &node.kind {
            Kind::Mapping(entries) => {
                for entry in entries {
                    self.at(entry.key.text().unwrap_or_default(), &entry.value);
                }
            }
            // The items of a list by content, at any position.
            Kind::Sequence(items) => items.iter().for_each(|item| self.at((), item)),
            Kind::Scalar(text) if !is_null(node) => {
                let own = [self.object.name(), self.object.namespace()];
                if !own.contains(&text.as_str()) {
                    self.all.push((self.path, text.as_str()).hashed());
                }
            }
            Kind::Scalar(_) | Kind::Alias(_) => {}
        }
    }
}

trait Hashed: Hash {
    fn hashed(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.hash(&mut hasher);
        hasher.finish()
    }
}

impl<T: Hash + ?Sized> Hashed for T {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objects::testing::objects;

    fn paired(base: &str, head: &str) -> Vec<String> {
        let (base, head) = (objects(base), objects(head));
        let name =
            |object: Option<&Object>| object.map_or("∅".to_owned(), |object| key(object).to_string());
        pair(&base, &head).iter().map(|pair| format!("{} → {}", name(pair.base), name(pair.head))).collect()
    }

    #[test]
    fn versions_do_not_count_and_groups_may_move() {
        let ingress =
            |version: &str| format!("apiVersion: {version}\nkind: Ingress\nmetadata: {{name: a}}\n");
        assert_eq!(
            paired(&ingress("networking.k8s.io/v1beta1"), &ingress("networking.k8s.io/v1")),
            ["networking.k8s.io/Ingress/a → networking.k8s.io/Ingress/a"]
        );
        assert_eq!(
            paired(&ingress("extensions/v1beta1"), &ingress("networking.k8s.io/v1")),
            ["extensions/Ingress/a → networking.k8s.io/Ingress/a"]
        );
        assert_eq!(
            paired(
                "apiVersion: v1\nkind: Service\nmetadata: {name: a}\n",
                "apiVersion: serving.knative.dev/v1\nkind: Service\nmetadata: {name: a}\n"
            ),
            ["Service/a → ∅", "∅ → serving.knative.dev/Service/a"]
        );
    }

    #[test]
    fn names_with_hashes_are_the_same_but_for_the_hash() {
        let map = |name: &str, value: &str| {
            format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {{a: {value}}}\n")
        };
        assert_eq!(
            paired(&map("env-9g4c5g4h2d", "x"), &map("env-6t7h28bd4k", "y")),
            ["ConfigMap/env-9g4c5g4h2d → ConfigMap/env-6t7h28bd4k"]
        );
        assert_eq!(
            paired(&map("env-production", "x"), &map("env-aaaaaaaaaa", "y")),
            ["∅ → ConfigMap/env-aaaaaaaaaa", "ConfigMap/env-production → ∅"]
        );
    }

    #[test]
    fn content_tells_what_got_another_name() {
        let web = |name: &str, namespace: &str, image: &str| {
            format!(
                "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {name}, namespace: {namespace}, labels: {{app: {name}}}}}\nspec: {{replicas: 3, template: {{spec: {{containers: [{{name: app, image: {image}, args: [a, b], resources: {{limits: {{cpu: 1, memory: 1Gi}}}}}}]}}}}}}\n"
            )
        };
        assert_eq!(
            paired(&web("web", "a", "x:1"), &web("frontend", "b", "x:2")),
            ["apps/Deployment/a/web → apps/Deployment/b/frontend"]
        );
        // ServiceAccounts have no content to compare.
        let account = |name: &str| {
            format!("apiVersion: v1\nkind: ServiceAccount\nmetadata: {{name: {name}, labels: {{x: y}}}}\n")
        };
        assert_eq!(paired(&account("a"), &account("b")), ["ServiceAccount/a → ∅", "∅ → ServiceAccount/b"]);
    }

    #[test]
    fn objects_that_are_there_twice_are_paired_in_order() {
        let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n";
        assert_eq!(paired(&format!("{pod}---\n{pod}"), pod), ["Pod/a → Pod/a", "Pod/a → ∅"]);
    }
}

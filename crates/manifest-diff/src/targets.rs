//! Which targets of two sides are the same one: by kind and name, else by the objects that they have.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};

use argocd::objects::Key;

use crate::input::Target;
use crate::model::TargetKind;
use crate::moved;
use crate::objects::key;

/// A target before and after.
#[derive(Clone, Copy)]
pub(crate) struct TargetPair<'t> {
    pub(crate) base: Option<&'t Target>,
    pub(crate) head: Option<&'t Target>,
}

impl<'t> TargetPair<'t> {
    /// The target after, or the one before where it is gone.
    pub(crate) fn latest(&self) -> Option<&'t Target> {
        self.head.or(self.base)
    }
}

/// Pairs targets, sorted by kind and name.
pub(crate) fn pair<'t>(base: &'t [Target], head: &'t [Target]) -> Vec<TargetPair<'t>> {
    let mut before: BTreeMap<(TargetKind, &str), VecDeque<&Target>> = BTreeMap::new();
    for target in base {
        before.entry((target.kind, &target.name)).or_default().push_back(target);
    }
    let (mut pairs, mut new) = (Vec::new(), Vec::new());
    for target in head {
        match before.get_mut(&(target.kind, target.name.as_str())).and_then(VecDeque::pop_front) {
            Some(old) => pairs.push(TargetPair { base: Some(old), head: Some(target) }),
            None => new.push(target),
        }
    }
    let gone: Vec<&Target> = before.into_values().flatten().collect();
    let renamed = moved::pairs(&parts(&gone), &parts(&new));
    for (removed, added) in &renamed {
        pairs.push(TargetPair { base: Some(gone[*removed]), head: Some(new[*added]) });
    }
    let (taken, given): (HashSet<usize>, HashSet<usize>) = renamed.into_iter().unzip();
    let is_gone = |at: &usize| !taken.contains(at);
    let is_new = |at: &usize| !given.contains(at);
    pairs.extend((0..gone.len()).filter(is_gone).map(|at| TargetPair { base: Some(gone[at]), head: None }));
    pairs.extend((0..new.len()).filter(is_new).map(|at| TargetPair { base: None, head: Some(new[at]) }));
    pairs.sort_by_key(|pair| pair.latest().map(|target| (target.kind, &target.name)));
    pairs
}

fn parts(targets: &[&Target]) -> Vec<Vec<u64>> {
    let part = |target: &Target, object| {
        let mut hasher = DefaultHasher::new();
        // Groups move, and that makes no other object.
        let Key { kind, namespace, name, .. } = key(object);
        (target.kind, kind, namespace, name).hash(&mut hasher);
        hasher.finish()
    };
    targets
        .iter()
        .map(|target| target.objects().iter().map(|object| part(target, object)).collect())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objects::testing::objects;

    #[test]
    fn a_target_with_the_objects_of_another_has_another_name() {
        let all: String = (0..6).map(|n| format!("kind: Pod\nmetadata: {{name: p{n}}}\n---\n")).collect();
        let target = |kind, name: &str| Target::rendered(kind, name, objects(&all));
        let base = [target(TargetKind::Application, "old"), target(TargetKind::Application, "same")];
        let head = [
            target(TargetKind::Application, "same"),
            target(TargetKind::Application, "new"),
            target(TargetKind::Files, "old"),
        ];
        let names: Vec<_> = pair(&base, &head)
            .iter()
            .map(|pair| (pair.base.map(|it| it.name.as_str()), pair.head.map(|it| it.name.as_str())))
            .collect();
        assert_eq!(names, [(Some("old"), Some("new")), (Some("same"), Some("same")), (None, Some("old"))]);
    }
}

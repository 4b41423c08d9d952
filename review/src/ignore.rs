//! Fields that an Application ignores: `ignoreDifferences`.
//!
//! In: the rules of both sides and two trees of an object. Out: the trees without the fields that are ignored, and how
//! many of them differ. A rule that is no pattern, or a pointer to what is not there, does nothing, as in Argo CD.

use argocd::glob::Glob;
use yamltree::{Kind, Node};

use crate::input::IgnoreDifferences;
use crate::model::ObjectId;
use crate::objects::is_same;

/// The rules of a target, ready to match.
pub(crate) struct Ignored<'t> {
    rules: Vec<Ready<'t>>,
}

struct Ready<'t> {
    group: Option<Glob>,
    kind: Option<Glob>,
    rule: &'t IgnoreDifferences,
    pointers: Vec<Vec<String>>,
}

impl<'t> Ignored<'t> {
    pub(crate) fn new(rules: &'t [IgnoreDifferences]) -> Self {
        let ready = |rule: &'t IgnoreDifferences| Ready {
            group: Glob::new(&rule.group, "").ok(),
            kind: Glob::new(&rule.kind, "").ok(),
            rule,
            pointers: rule.json_pointers.iter().filter_map(|pointer| segments(pointer)).collect(),
        };
        Self { rules: rules.iter().map(ready).collect() }
    }

    /// Takes what is ignored out of both trees, and says how many fields of it differ.
    pub(crate) fn remove(&self, id: &ObjectId, base: &mut Node, head: &mut Node) -> usize {
        let rules = self.rules.iter().filter(|rule| rule.is_for(id));
        let mut differing = 0;
        for pointer in rules.flat_map(|rule| &rule.pointers) {
            let is_equal = match (removed(base, pointer), removed(head, pointer)) {
                (Some(one), Some(other)) => is_same(&one, &other),
                (one, other) => one.is_none() && other.is_none(),
            };
            differing += usize::from(!is_equal);
        }
        differing
    }
}

impl Ready<'_> {
    fn is_for(&self, id: &ObjectId) -> bool {
        let is = |glob: &Option<Glob>, text: &str| glob.as_ref().is_some_and(|glob| glob.matches(text));
        let is_or_any = |wanted: &str, text: &str| wanted.is_empty() || wanted == text;
        is(&self.group, id.group())
            && is(&self.kind, &id.kind)
            && is_or_any(&self.rule.name, &id.name)
            && is_or_any(&self.rule.namespace, &id.namespace)
    }
}

/// The steps of a JSON pointer; `None` for one that is none, or that is the whole object.
fn segments(pointer: &str) -> Option<Vec<String>> {
    let steps = pointer.strip_prefix('/')?;
    Some(steps.split('/').map(|step| step.replace("~1", "/").replace("~0", "~")).collect())
}

fn removed(node: &mut Node, pointer: &[String]) -> Option<Node> {
    let (step, rest) = pointer.split_first()?;
    if rest.is_empty() {
        return match &mut node.kind {
            Kind::Sequence(items) => {
                let at = step.parse().ok().filter(|at: &usize| *at < items.len())?;
                Some(items.remove(at))
            }
            _ => node.remove(step),
        };
    }
    let next = match &mut node.kind {
        Kind::Sequence(items) => items.get_mut(step.parse::<usize>().ok()?)?,
        _ => node.get_mut(step)?,
    };
    removed(next, rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objects::testing::object;
    use crate::objects::{id, yaml};

    fn remaining(rule: &IgnoreDifferences) -> (String, usize) {
        let old = object(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {replicas: 1, a/b: 2, list: [x, v]}\n",
        );
        let new = object(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {replicas: 3, a/b: 2, list: [x, z]}\n",
        );
        let (mut base, mut head) = (old.node().clone(), new.node().clone());
        let rules = [rule.clone()];
        let count = Ignored::new(&rules).remove(&id(&new), &mut base, &mut head);
        (yaml(base.get("spec").unwrap()), count)
    }

    fn rule(group: &str, kind: &str, name: &str, pointers: &[&str]) -> IgnoreDifferences {
        let json_pointers = pointers.iter().map(|pointer| (*pointer).to_owned()).collect();
        let (group, kind, name) = (group.to_owned(), kind.to_owned(), name.to_owned());
        IgnoreDifferences { group, kind, name, namespace: String::new(), json_pointers }
    }

    #[test]
    fn what_is_ignored_is_gone_and_counted_if_it_differs() {
        let all = &["/spec/replicas", "/spec/a~1b", "/spec/list/1", "/spec/none/x", "", "/spec/list/9"];
        for (rule, want) in [
            (rule("apps", "Deployment", "", all), ("list:\n- x\n", 2)),
            (rule("*", "Deploy*", "a", all), ("list:\n- x\n", 2)),
            (rule("*", "*", "b", all), ("a/b: 2\nlist:\n- x\n- v\nreplicas: 1\n", 0)),
            (rule("", "Deployment", "", all), ("a/b: 2\nlist:\n- x\n- v\nreplicas: 1\n", 0)),
        ] {
            assert_eq!(remaining(&rule), (want.0.to_owned(), want.1), "{rule:?}");
        }
    }
}

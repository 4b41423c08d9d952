//! Many paths walked at once: the fields that concern a kind of resource, merged into a tree, so that a resource is
//! walked once and not once for each of a hundred paths.
//!
//! In come paths of field specifications with a mark each; at every field that a path leads to, the marks of that path
//! come out in the order in which they were put in. Paths of which one leads through the end of another are kept in
//! trees of their own, one after another, because there the order of changes can be seen.

use diagnostic::Result;
use yamltree::{Kind, Node};

use crate::fieldspec::{FieldPath, Missing, Part};
use crate::resource::is_null;

/// The paths that concern one kind of resource.
#[derive(Debug)]
pub(crate) struct FieldTree<M> {
    trees: Vec<Branch<M>>,
}

/// The ends and intermediate nodes of paths.
#[derive(Debug)]
struct Branch<M> {
    marks: Vec<M>,
    below: Vec<(Part, Branch<M>)>,
}

impl<M> Default for FieldTree<M> {
    fn default() -> Self {
        Self { trees: Vec::new() }
    }
}

impl<M> Default for Branch<M> {
    fn default() -> Self {
        Self { marks: Vec::new(), below: Vec::new() }
    }
}

impl<M> FieldTree<M> {
    /// Adds a path.
    pub(crate) fn insert(&mut self, path: &FieldPath, mark: M) {
        if self.trees.last().is_none_or(|tree| !tree.can_take(path.parts())) {
            self.trees.push(Branch::default());
        }
        if let Some(tree) = self.trees.last_mut() {
            tree.insert(path.parts(), mark);
        }
    }

    /// Calls a function with every field that a path leads to and with the marks of that path. Lists on the way are
    /// passed through; what is missing or null ends the way.
    ///
    /// # Errors
    /// Those of the function; and where a path leads on but the field is a scalar.
    pub(crate) fn visit(
        &self,
        root: &mut Node,
        act: &mut impl FnMut(&mut Node, &[M]) -> Result<()>,
    ) -> Result<()> {
        self.trees.iter().try_for_each(|tree| tree.descend(root, act))
    }
}

impl<M> Branch<M> {
    /// Returns true if a path neither leads through the end of another nor ends on the way of one.
    fn can_take(&self, path: &[Part]) -> bool {
        let mut branch = self;
        for part in path {
            if !branch.marks.is_empty() {
                return false;
            }
            match branch.below.iter().find(|(next, _)| next.is_same_field(part)) {
                Some((_, next)) => branch = next,
                None => return true,
            }
        }
        branch.below.is_empty()
    }

    fn insert(&mut self, path: &[Part], mark: M) {
        let Some((part, rest)) = path.split_first() else {
            self.marks.push(mark);
            return;
        };
        let at = self.below.iter_mut().position(|(next, _)| next.absorb(part)).unwrap_or_else(|| {
            self.below.push((part.clone(), Self::default()));
            self.below.len() - 1
        });
        self.below[at].1.insert(rest, mark);
    }

    fn descend(&self, node: &mut Node, act: &mut impl FnMut(&mut Node, &[M]) -> Result<()>) -> Result<()> {
        if !self.marks.is_empty() {
            return act(node, &self.marks);
        }
        if is_null(node) {
            return Ok(());
        }
        if let Kind::Sequence(items) = &mut node.kind {
            return items.iter_mut().try_for_each(|item| self.descend(item, act));
        }
        for (part, next) in &self.below {
            if let Some(field) = part.enter(node, false, Missing::Stays)? {
                next.descend(field, act)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(paths: &[&str]) -> FieldTree<usize> {
        let mut tree = FieldTree::default();
        for (mark, path) in paths.iter().enumerate() {
            tree.insert(&FieldPath::new((*path).into()), mark);
        }
        tree
    }

    fn visited(paths: &[&str], text: &str) -> Result<Vec<(String, Vec<usize>)>> {
        let mut root = node(text);
        let mut seen = Vec::new();
        tree(paths).visit(&mut root, &mut |node, marks| {
            seen.push((node.text().unwrap_or("(a collection)").to_owned(), marks.to_vec()));
            Ok(())
        })?;
        Ok(seen)
    }

    fn node(text: &str) -> Node {
        yamltree::parse_first(text, 0, &yamltree::ParseOptions::default()).unwrap().unwrap().root
    }

    fn seen(items: &[(&str, &[usize])]) -> Vec<(String, Vec<usize>)> {
        items.iter().map(|(text, marks)| ((*text).to_owned(), marks.to_vec())).collect()
    }

    #[test]
    fn lists_are_passed_through_and_marks_keep_their_order() {
        let paths = ["spec/c/env/name", "spec/c/image", "spec/c/env/name", "spec/missing/name"];
        let text = "spec: {c: [{image: i, env: [{name: a}, {name: b}]}, {env: null}]}";
        let want = seen(&[("a", &[0, 2]), ("b", &[0, 2]), ("i", &[1])]);
        assert_eq!(visited(&paths, text).unwrap(), want);
    }

    #[test]
    fn a_path_through_the_end_of_another_comes_in_its_turn() {
        let paths = ["subjects", "subjects/name", "role", "subjects"];
        let want = seen(&[("(a collection)", &[0]), ("a", &[1]), ("r", &[2]), ("(a collection)", &[3])]);
        assert_eq!(visited(&paths, "{subjects: [{name: a}], role: r}").unwrap(), want);
    }

    #[test]
    fn a_scalar_on_the_way_is_an_error() {
        let error = visited(&["spec/template/name"], "spec: {template: yes}").unwrap_err();
        assert!(error.message().starts_with("expected a mapping or a list to hold `name`"), "{error}");
    }

    /// Kustomize turns the null into an empty list when a path calls it one.
    #[test]
    fn a_null_that_is_called_a_list_becomes_one() {
        let mut root = node("spec: {containers: null, other: null}");
        tree(&["spec/containers[]/image", "spec/other/image"]).visit(&mut root, &mut |_, _| Ok(())).unwrap();
        assert!(root.lookup(&["spec", "containers"]).unwrap().is_sequence());
        assert!(is_null(root.lookup(&["spec", "other"]).unwrap()));
    }
}

//! Limits of the growth of a build: copies of what is there already and bases that are named twice can double each time.
//!
//! Input: copied or moved nodes, visited bases. Rejected, before the work is done: what takes too much memory, work or depth.

use std::cell::Cell;

use diagnostic::{Error, ErrorKind, Result};
use yamltree::{Kind, MAX_DEPTH, Node};

/// The maximum size of all copies that JSON patches make in a build, in bytes. Objects have at most 1.5 MiB in etcd, and patches
/// copy single fields.
const MAX_COPIED: usize = 64 << 20;

/// The maximum size of all nodes that JSON patches move in a build, in bytes: each is measured.
const MAX_MOVED: usize = 4 << 30;

/// The maximum number of bases and components in a build. The largest repositories have some thousand; what names a directory twice
/// on each of thirty levels has a billion.
const MAX_VISITS: usize = 20_000;

/// The growth of a build.
#[derive(Debug, Default)]
pub(crate) struct Growth {
    visits: Cell<usize>,
    copied: Cell<usize>,
    moved: Cell<usize>,
}

impl Growth {
    /// Accounts for a base or component that is built.
    ///
    /// # Errors
    /// [`ErrorKind::Limit`] if there are too many.
    pub(crate) fn visit(&self) -> Result<()> {
        self.visits.set(self.visits.get() + 1);
        if self.visits.get() <= MAX_VISITS {
            return Ok(());
        }
        let message = format!("the build has more than {MAX_VISITS} bases and components");
        Err(Error::new(ErrorKind::Limit, message)
            .hint("a directory that is listed twice is built twice, on each level"))
    }

    /// Accounts for a copy of a node that is put at a path.
    ///
    /// # Errors
    /// [`ErrorKind::Limit`] if the copies become too large or too deep.
    pub(crate) fn copy(&self, node: &Node, path: &str) -> Result<()> {
        let (size, depth) = measure(node);
        take(&self.copied, size, MAX_COPIED, "copy")?;
        check_depth(depth, path)
    }

    /// Accounts for a node that is moved to a path.
    ///
    /// # Errors
    /// [`ErrorKind::Limit`] if the moves become too much work or too deep.
    pub(crate) fn relocate(&self, node: &Node, path: &str) -> Result<()> {
        let (size, depth) = measure(node);
        take(&self.moved, size, MAX_MOVED, "move")?;
        check_depth(depth, path)
    }
}

/// Rejects a node that becomes too deep at a path.
///
/// # Errors
/// [`ErrorKind::Limit`]
pub(crate) fn check_nesting(node: &Node, path: &str) -> Result<()> {
    check_depth(measure(node).1, path)
}

fn take(taken: &Cell<usize>, size: usize, limit: usize, what: &str) -> Result<()> {
    taken.set(taken.get().saturating_add(size));
    if taken.get() <= limit {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::Limit,
        format!("JSON patches {what} more than {} MiB in this build", limit >> 20),
    ))
}

fn check_depth(depth: usize, path: &str) -> Result<()> {
    if path.matches('/').count() + depth <= MAX_DEPTH {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Limit, format!("the patch nests values more than {MAX_DEPTH} deep")))
}

/// Returns about how much memory a copy of a node takes, and how deep it is.
pub(crate) fn measure(node: &Node) -> (usize, usize) {
    let (mut size, mut depth) = (0, 0);
    let mut open = vec![(node, 1)];
    while let Some((node, level)) = open.pop() {
        size += size_of::<Node>() + node.text().map_or(0, str::len);
        depth = depth.max(level);
        match &node.kind {
            Kind::Mapping(entries) => {
                open.extend(
                    entries.iter().flat_map(|entry| [(&entry.key, level + 1), (&entry.value, level + 1)]),
                );
            }
            Kind::Sequence(items) => open.extend(items.iter().map(|item| (item, level + 1))),
            Kind::Scalar(_) | Kind::Alias(_) => {}
        }
    }
    (size, depth)
}

#[cfg(test)]
mod tests {
    use crate::testing::refused;

    /// Thirty levels that name the next one twice are a billion bases.
    #[test]
    fn what_is_named_twice_on_each_level_is_bounded() {
        for (field, kind) in [("components", "Component"), ("resources", "Kustomization")] {
            let level = |at: usize| {
                let next = format!("{field}: [../l{next}, ../l{next}]\n", next = at + 1);
                (format!("l{at}/kustomization.yaml"), format!("kind: {kind}\n{next}"))
            };
            let last = ("l30/kustomization.yaml".to_owned(), format!("kind: {kind}\nnamePrefix: a\n"));
            let top = ("kustomization.yaml".to_owned(), format!("{field}: [l0]\n"));
            let files: Vec<(String, String)> = (0..30).map(level).chain([last, top]).collect();
            let files: Vec<(&str, &str)> =
                files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
            let error = refused(&files);
            assert!(error.contains("the build has more than 20000 bases and components"), "{error}");
            assert!(error.contains("/kustomization.yaml:2:"), "{error}");
        }
    }
}

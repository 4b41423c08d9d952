//! How much resources may grow in a build by copies of what is there already, which can double each time.
//!
//! Input: the copied or moved nodes. Rejected, before anything is copied: what takes too much memory, work or depth.

use std::cell::Cell;

use diagnostic::{Error, ErrorKind, Result};
use yamltree::{Kind, MAX_DEPTH, Node};

/// The maximum size of all copies that JSON patches make in a build, in bytes. Objects have at most 1.5 MiB in etcd, and patches
/// copy single fields.
const MAX_COPIED: usize = 64 << 20;

/// The maximum size of all nodes that JSON patches move in a build, in bytes: each is measured.
const MAX_MOVED: usize = 4 << 30;

/// The growth of the resources of a build.
#[derive(Debug, Default)]
pub(crate) struct Growth {
    copied: Cell<usize>,
    moved: Cell<usize>,
}

impl Growth {
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

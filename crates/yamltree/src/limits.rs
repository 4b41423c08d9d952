//! The limits of a document.

/// The longest text in bytes. A tree takes 5 times its text in memory, 28 times where that is all punctuation; spans
/// are 32 bits wide; and nothing that people write or a cluster stores comes near: etcd takes 1.5 MiB an object.
pub const MAX_TEXT_LEN: usize = 128 << 20;

/// The deepest nesting of collections. go-yaml stops at 10,000 on a stack that grows. Here reading, cloning, merging,
/// writing and dropping a tree recurse on a fixed one, and this leaves them 4 KiB a level even in a thread with 2 MiB.
/// Manifests stay below 60.
pub const MAX_DEPTH: usize = 500;

/// The most text in bytes that aliases may repeat. go-yaml bounds the nodes that they repeat, but shares their text, so
/// that a long one named often costs it nothing; our nodes own their text.
pub const MAX_ALIASED_TEXT_LEN: usize = 64 << 20;

/// Up to this many nodes, 99 of 100 may come from aliases, as in go-yaml: small documents may use them freely.
pub(crate) const ALIAS_RATIO_RANGE_LOW: usize = 400_000;

/// From this many nodes on, one of 10 may come from aliases, as in go-yaml. In between the share falls evenly, so that
/// about 400,000 aliased nodes are the most that any document gets.
pub(crate) const ALIAS_RATIO_RANGE_HIGH: usize = 4_000_000;

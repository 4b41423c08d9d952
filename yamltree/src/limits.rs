//! How much a document may hold before it is refused.

/// The longest text in bytes. A tree takes several times its text in memory, spans are 32 bits wide, and nothing that
/// people write or a cluster stores comes near; etcd takes 1.5 MiB an object.
pub const MAX_TEXT_LEN: usize = 256 << 20;

/// The deepest nesting of collections. go-yaml stops at 10,000 on a stack that grows; ours is 8 MiB, or 2 MiB in a
/// thread, and reading, cloning, merging, writing and dropping a tree all recurse.
pub const MAX_DEPTH: usize = 1_000;

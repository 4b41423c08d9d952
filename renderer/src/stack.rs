//! Room for documents that nest deep: each level costs stack in whatever walks the tree.

/// Thirty times what the deepest document needs of a build without optimisation.
pub(crate) const DEEP: usize = 64 << 20;

/// Lets the stack of the main thread grow to [`DEEP`]; whether it can.
///
/// Linux grows it on demand up to the limit of the moment, and leaves 128 MiB below it free when a program starts
/// (gcc relies on the same). Elsewhere a thread has to be started.
#[cfg(target_os = "linux")]
pub(crate) fn let_main_grow() -> bool {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    let limit = getrlimit(Resource::Stack);
    let enough = |bytes: Option<u64>| bytes.is_none_or(|bytes| bytes >= DEEP as u64);
    enough(limit.current)
        || (enough(limit.maximum)
            && setrlimit(Resource::Stack, Rlimit { current: Some(DEEP as u64), ..limit }).is_ok())
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn let_main_grow() -> bool {
    false
}

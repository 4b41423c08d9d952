//! Tracks stack use. Input: a number of bytes. Output: whether they are used up.
//!
//! Templates may be nested, and call each other, as deep as they like; what that costs depends on
//! the build, so bytes are counted and not levels.

/// A place on the stack from which to count.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stack {
    base: usize,
    limit: usize,
}

impl Stack {
    /// Counts from the caller on.
    #[inline(never)]
    pub(crate) fn here(limit: usize) -> Self {
        Self { base: address(), limit }
    }

    /// Returns true if more than the limit is in use.
    pub(crate) fn is_used_up(&self) -> bool {
        self.base.abs_diff(address()) > self.limit
    }
}

/// About where the stack ends now.
#[inline(always)]
fn address() -> usize {
    let here = 0u8;
    std::ptr::from_ref(std::hint::black_box(&here)).addr()
}

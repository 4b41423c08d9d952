//! Changing a resource by a patch: a strategic merge patch, or a JSON patch (RFC 6902).

pub(crate) mod json6902;
pub(crate) mod strategic;

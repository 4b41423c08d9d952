//! The parts of a reference as it stands in a file, where anything may stand.

/// A reference in its parts; what is absent is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Parts<'t> {
    pub(crate) name: &'t str,
    pub(crate) tag: &'t str,
    pub(crate) digest: &'t str,
}

impl<'t> Parts<'t> {
    pub(crate) fn split(text: &'t str) -> Self {
        let (rest, digest) = text.split_once('@').unwrap_or((text, ""));
        // A colon before the last slash is a port's.
        let path = rest.rfind('/').map_or(0, |slash| slash + 1);
        match rest[path..].find(':') {
            Some(colon) => Self { name: &rest[..path + colon], tag: &rest[path + colon + 1..], digest },
            None => Self { name: rest, tag: "", digest },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_is_split_at_its_own_colon() {
        for (text, name, tag, digest) in [
            ("nginx", "nginx", "", ""),
            ("nginx:1", "nginx", "1", ""),
            ("r.test:5000/a", "r.test:5000/a", "", ""),
            ("r.test:5000/a:1@sha256:2", "r.test:5000/a", "1", "sha256:2"),
            ("a@sha256:2", "a", "", "sha256:2"),
            ("", "", "", ""),
        ] {
            assert_eq!(Parts::split(text), Parts { name, tag, digest }, "{text}");
        }
    }
}

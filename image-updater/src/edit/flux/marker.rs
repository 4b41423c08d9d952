//! Markers: comments that are one JSON object and nothing else.

use diagnostic::{Error, Result};

/// The key that makes an object a marker, as it must stand in the text.
pub(crate) const KEY: &str = "\"$imagepolicy\"";

/// An ImagePolicy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Policy {
    namespace: String,
    name: String,
}

impl Policy {
    /// Reads `NAMESPACE:NAME`.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        match text.split_once(':') {
            Some((namespace, name)) if !namespace.is_empty() && !name.is_empty() && !name.contains(':') => {
                Ok(Self { namespace: namespace.to_owned(), name: name.to_owned() })
            }
            _ => Err(Error::invalid(format!("invalid policy reference `{text}`"))
                .hint("write it as markers do: `NAMESPACE:NAME`")),
        }
    }
}

/// The part of a version that a marker names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// `name:tag`, with the digest if there is one.
    Reference,
    Tag,
    Name,
    Digest,
    /// `tag@digest`, which Flux itself does not know.
    TagAndDigest,
}

/// A marker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Marker {
    pub(crate) policy: Policy,
    pub(crate) part: Part,
}

impl Marker {
    /// Reads a comment from its `#` on; `None` where it is no marker.
    pub(super) fn parse(comment: &str) -> Option<Self> {
        let object: serde_json::Map<String, serde_json::Value> =
            serde_json::from_str(comment.trim_start_matches('#')).ok()?;
        if !object.values().all(serde_json::Value::is_string) {
            return None;
        }
        let value = object.get(KEY.trim_matches('"'))?.as_str()?;
        let mut fields = value.splitn(3, ':');
        let (namespace, name) = (fields.next()?, fields.next()?);
        let part = match fields.next() {
            None => Part::Reference,
            Some("tag") => Part::Tag,
            Some("name") => Part::Name,
            Some("digest") => Part::Digest,
            Some("tag@digest") => Part::TagAndDigest,
            Some(_) => return None,
        };
        Some(Self { policy: Policy { namespace: namespace.to_owned(), name: name.to_owned() }, part })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marker_is_one_object_of_strings() {
        let part = |comment| Marker::parse(comment).map(|marker| marker.part);
        assert_eq!(part(r#"# {"$imagepolicy": "a:b"}"#), Some(Part::Reference));
        assert_eq!(part(r#"#{"$imagepolicy":"a:b:tag"}"#), Some(Part::Tag));
        assert_eq!(part("##  { \"$imagepolicy\" : \"a:b:name\" }  \r"), Some(Part::Name));
        assert_eq!(part(r#"# {"$imagepolicy": "a:b:digest", "x": "y"}"#), Some(Part::Digest));
        assert_eq!(part(r#"# {"$imagepolicy": "a:b:tag@digest"}"#), Some(Part::TagAndDigest));
        for comment in [
            r#"# see {"$imagepolicy": "a:b"}"#,
            r#"# {"$imagepolicy": "a:b"} please"#,
            r#"# # {"$imagepolicy": "a:b"}"#,
            r"# {'$imagepolicy': 'a:b'}",
            r#"# {"$imagepolicy": "a"}"#,
            r#"# {"$imagepolicy": "a:b:x"}"#,
            r#"# {"$imagepolicy": 1}"#,
            r#"# {"$imagepolicy": "a:b", "x": 1}"#,
            "#",
        ] {
            assert_eq!(part(comment), None, "{comment}");
        }
    }

    #[test]
    fn a_policy_has_two_parts() {
        assert!(Policy::parse("a:b").is_ok());
        for text in ["", "a", ":b", "a:", "a:b:tag"] {
            assert!(Policy::parse(text).is_err(), "{text}");
        }
    }
}

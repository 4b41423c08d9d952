//! Tags of an image with what is known of each.
//!
//! Tags come from a registry or from a file ([`from_json`]). What is not known is not guessed: a policy that needs it
//! says so instead of choosing.

mod json;

use jiff::Timestamp;
use oci_registry::{Digest, Platform};

pub use json::from_json;

/// A tag of an image.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tag {
    /// Its name.
    pub name: String,
    /// When the image was made, by the index or by its only image.
    pub created: Option<Timestamp>,
    /// The digest of the index, or of the only image.
    pub digest: Option<Digest>,
    /// The platforms it is made for, where they were asked for.
    pub platforms: Option<Vec<Platform>>,
    /// The images of its index, where they were asked for.
    pub children: Option<Vec<Child>>,
}

/// One image of an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Child {
    /// The platform.
    pub platform: Platform,
    /// Its own digest.
    pub digest: Option<Digest>,
    /// When it was made.
    pub created: Option<Timestamp>,
}

impl Tag {
    /// A tag of which the name only is known.
    #[must_use]
    pub fn named(name: &str) -> Self {
        Self { name: name.to_owned(), ..Self::default() }
    }

    /// The platforms that it has; nothing where they are not known.
    pub(crate) fn known_platforms(&self) -> Option<Vec<&Platform>> {
        if self.platforms.is_none() && self.children.is_none() {
            return None;
        }
        let own = self.platforms.iter().flatten();
        let of_children = self.children.iter().flatten().map(|child| &child.platform);
        Some(own.chain(of_children).filter(|platform| !platform.is_unknown()).collect())
    }

    /// When it was made: its own time, else that of its newest image for the platforms that are asked for. Nothing where
    /// one of these is not known, as the newest is not known then.
    pub(crate) fn created_for(&self, wanted: &[Platform]) -> Option<Timestamp> {
        if self.created.is_some() {
            return self.created;
        }
        let counts = |child: &&Child| {
            let asked_for = wanted.is_empty() || wanted.iter().any(|wanted| child.platform.satisfies(wanted));
            !child.platform.is_unknown() && asked_for
        };
        let times = self.children.iter().flatten().filter(counts).map(|child| child.created);
        times.collect::<Option<Vec<_>>>()?.into_iter().max()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn child(platform: &str, created: Option<i64>) -> Child {
        let created = created.map(|second| Timestamp::from_second(second).unwrap());
        Child { platform: platform.parse().unwrap(), digest: None, created }
    }

    fn second(tag: &Tag, wanted: &[&str]) -> Option<i64> {
        let wanted: Vec<Platform> = wanted.iter().map(|platform| platform.parse().unwrap()).collect();
        tag.created_for(&wanted).map(Timestamp::as_second)
    }

    #[test]
    fn the_newest_child_that_is_asked_for_gives_the_time() {
        let children = vec![
            child("linux/amd64", Some(10)),
            child("linux/arm64/v8", Some(20)),
            child("linux/s390x", None),
            child("unknown/unknown", Some(90)),
        ];
        let mut tag = Tag { children: Some(children), ..Tag::named("a") };
        assert_eq!(second(&tag, &["linux/amd64", "linux/arm64"]), Some(20));
        assert_eq!(second(&tag, &["linux/amd64"]), Some(10));
        assert_eq!(second(&tag, &[]), None, "one that counts has no time");
        assert_eq!(second(&tag, &["linux/arm"]), None);
        tag.created = Some(Timestamp::from_second(5).unwrap());
        assert_eq!(second(&tag, &[]), Some(5), "its own time comes first");
    }

    #[test]
    fn platforms_that_were_not_asked_for_are_not_known() {
        assert_eq!(Tag::named("a").known_platforms(), None);
        let none = Tag { platforms: Some(Vec::new()), ..Tag::named("a") };
        assert_eq!(none.known_platforms(), Some(Vec::new()));
        let attested = Tag { children: Some(vec![child("unknown/unknown", None)]), ..Tag::named("a") };
        assert_eq!(attested.known_platforms(), Some(Vec::new()));
    }
}

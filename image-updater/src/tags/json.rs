//! Reads a list of tags from JSON: names, or objects `{"tag","created","digest","platforms":[…],"children":[…]}`.
//!
//! Out: the tags in the order of the list. Refused: fields of other names, times, digests, platforms and tags that are
//! none, a tag that is there twice. `null` and an empty time or digest mean that it is not known.

use diagnostic::{Error, Location, Result};
use std::collections::HashSet;
use std::fmt;

use jiff::Timestamp;
use oci_registry::{Digest, Platform, is_tag};
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

use super::{Child, Tag};

/// Reads tags; `path` is what errors name.
///
/// # Errors
/// If the text is no such list.
pub fn from_json(text: &str, path: &str) -> Result<Vec<Tag>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let List(tags) = serde_json::from_str(text).map_err(|error| misread(&error, text, path))?;
    Ok(tags)
}

fn misread(error: &serde_json::Error, text: &str, path: &str) -> Error {
    let (line, byte) = (error.line(), error.column());
    let sentence = error.to_string();
    let position = format!(" at line {line} column {byte}");
    let message = sentence.strip_suffix(&position).unwrap_or(&sentence);
    let before = text.lines().nth(line.saturating_sub(1)).unwrap_or_default().as_bytes();
    // A column there is the number of bytes that were read.
    let column = String::from_utf8_lossy(&before[..byte.min(before.len())]).chars().count().max(1);
    let place = Location::at_line(path, text, line.max(1), column);
    Error::invalid(format!("cannot read the list of tags: {message}"))
        .at(place)
        .hint("expected a JSON list of tags: strings, or objects with `tag`, `created`, `digest`, `platforms`, `children`")
}

struct List(Vec<Tag>);

impl<'de> Deserialize<'de> for List {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Tags;
        impl<'de> Visitor<'de> for Tags {
            type Value = List;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of tags")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<List, A::Error> {
                let (mut tags, mut names) = (Vec::new(), HashSet::new());
                while let Some(Item(tag)) = list.next_element()? {
                    if !names.insert(tag.name.clone()) {
                        return Err(A::Error::custom(format_args!("the tag `{}` is there twice", tag.name)));
                    }
                    tags.push(tag);
                }
                Ok(List(tags))
            }
        }
        deserializer.deserialize_seq(Tags)
    }
}

struct Item(Tag);

impl<'de> Deserialize<'de> for Item {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NameOrObject;
        impl<'de> Visitor<'de> for NameOrObject {
            type Value = Item;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a tag: a string or an object")
            }

            fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<Item, E> {
                checked_name(name).map(|name| Item(Tag { name, ..Tag::default() }))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Item, A::Error> {
                let fields = TagFields::deserialize(MapAccessDeserializer::new(map))?;
                Ok(Item(fields.into()))
            }
        }
        deserializer.deserialize_any(NameOrObject)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TagFields {
    #[serde(deserialize_with = "name")]
    tag: String,
    #[serde(default, deserialize_with = "time")]
    created: Option<Timestamp>,
    #[serde(default, deserialize_with = "digest")]
    digest: Option<Digest>,
    platforms: Option<Vec<PlatformField>>,
    children: Option<Vec<ChildFields>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ChildFields {
    platform: PlatformField,
    #[serde(default, deserialize_with = "digest")]
    digest: Option<Digest>,
    #[serde(default, deserialize_with = "time")]
    created: Option<Timestamp>,
}

#[derive(Deserialize)]
struct PlatformField(#[serde(deserialize_with = "platform")] Platform);

impl From<TagFields> for Tag {
    fn from(fields: TagFields) -> Self {
        let TagFields { tag: name, created, digest, platforms, children } = fields;
        let platforms =
            platforms.map(|list| list.into_iter().map(|PlatformField(platform)| platform).collect());
        let children = children.map(|list| list.into_iter().map(Child::from).collect());
        Self { name, created, digest, platforms, children }
    }
}

impl From<ChildFields> for Child {
    fn from(fields: ChildFields) -> Self {
        let ChildFields { platform: PlatformField(platform), digest, created } = fields;
        Self { platform, digest, created }
    }
}

fn name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    checked_name(&String::deserialize(deserializer)?)
}

fn checked_name<E: serde::de::Error>(name: &str) -> Result<String, E> {
    if is_tag(name) { Ok(name.to_owned()) } else { Err(E::custom(format_args!("invalid tag `{name}`"))) }
}

fn time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Timestamp>, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?.filter(|text| !text.is_empty());
    let parse = |text: String| {
        text.parse().map_err(|_| {
            D::Error::custom(format_args!(
                "invalid time `{text}`: expected a time such as `2024-05-01T12:00:00Z`"
            ))
        })
    };
    text.map(parse).transpose()
}

fn digest<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Digest>, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?.filter(|text| !text.is_empty());
    text.map(|text| text.parse().map_err(D::Error::custom)).transpose()
}

fn platform<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Platform, D::Error> {
    String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_objects_are_tags() {
        let text = r#"["1.0", {"tag": "1.1", "created": "2024-01-01T02:00:00+02:00", "digest": null,
            "platforms": ["linux/amd64"], "children": [{"platform": "linux/arm64/v8", "created": ""}]}]"#;
        let tags = from_json(text, "tags.json").unwrap();
        assert_eq!(tags[0], Tag::named("1.0"));
        assert_eq!(tags[1].created, Some("2024-01-01T00:00:00Z".parse().unwrap()));
        assert_eq!(tags[1].known_platforms().unwrap().len(), 2);
        assert_eq!(tags[1].created_for(&[]), tags[1].created);
        assert_eq!(from_json("\u{feff}[]", "tags.json").unwrap(), []);
    }

    #[test]
    fn nanoseconds_count() {
        let tags = from_json(r#"[{"tag": "a", "created": "2024-01-01T00:00:00.123456789Z"}]"#, "t").unwrap();
        assert_eq!(tags[0].created.unwrap().subsec_nanosecond(), 123_456_789);
    }

    #[test]
    fn what_is_no_list_of_tags_is_refused() {
        for (text, message) in [
            ("{}", "a list of tags"),
            ("[1]", "a string or an object"),
            (r#"["ü"]"#, "invalid tag `ü`"),
            (r#"["a", "a"]"#, "`a` is there twice"),
            (r#"[{"tag": "a", "create": ""}]"#, "unknown field `create`"),
            (r#"[{"created": ""}]"#, "missing field `tag`"),
            (r#"[{"tag": "a", "created": "today"}]"#, "invalid time `today`"),
            (r#"[{"tag": "a", "digest": "sha256:1"}]"#, "invalid digest `sha256:1`"),
            (r#"[{"tag": "a", "platforms": ["linux"]}]"#, "invalid platform `linux`"),
            (r#"[{"tag": "a", "tag": "b"}]"#, "duplicate field `tag`"),
            (r#"["a""#, "EOF"),
            (r#"["a"] x"#, "trailing"),
            ("", "EOF"),
        ] {
            let error = from_json(text, "t").unwrap_err();
            assert!(error.message().contains(message), "{text}: {error}");
            assert!(!error.message().contains("at line"), "{text}: {error}");
        }
    }

    /// The place is where reading stopped: on the last character that was read, or the one behind it.
    #[test]
    fn an_error_has_its_line_and_column() {
        for (text, line, columns) in [
            ("[\"a\",\n \"ü!\"]", 2, 5..=6),
            ("[\n  {\"tag\": \"a\",\n   \"x\": 1}]", 3, 6..=7),
            ("", 1, 1..=1),
        ] {
            let error = from_json(text, "tags.json").unwrap_err();
            let place = error.location().unwrap();
            assert_eq!((place.path(), place.line_column().0), ("tags.json", line), "{text}");
            assert!(columns.contains(&place.line_column().1), "{text}: {place}");
        }
    }
}

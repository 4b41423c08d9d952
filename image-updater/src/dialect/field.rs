//! Which field of an object a fault is about. In: the text that the object was read from, and a place in it. Out: the path
//! of the field as Kubernetes writes it, `spec.applicationRefs[0].images[1].alias`, for those who have the object and not
//! the text.

use diagnostic::Location;
use std::fmt::Write as _;

use yamltree::{Kind, Node, Span};

use yamlserde::YamlFile;

/// The path of the field that a place is in; nothing where it is the object as a whole.
pub(crate) fn field_at(text: &str, place: &Location) -> Option<String> {
    let start = place.span.start;
    let documents = YamlFile::new(place.path(), text).documents().ok()?;
    let root = documents.iter().find(|root| holds(root.span, start))?;
    let mut path = String::new();
    descend(root, start, &mut path);
    Some(path).filter(|path| !path.is_empty())
}

/// Goes down to the value that a byte is in. A mapping begins where its first key does, and such a place is the mapping's:
/// what it lacks is said there.
fn descend(node: &Node, start: u32, path: &mut String) {
    if node.span.start == start {
        return;
    }
    match &node.kind {
        Kind::Mapping(entries) => {
            let is_in = |span: Span| holds(span, start);
            let Some(entry) = entries.iter().find(|it| is_in(it.key.span) || is_in(it.value.span)) else {
                return;
            };
            push_key(path, entry.key.text().unwrap_or_default());
            if is_in(entry.value.span) {
                descend(&entry.value, start, path);
            }
        }
        Kind::Sequence(items) => {
            if let Some((index, item)) = items.iter().enumerate().find(|(_, item)| holds(item.span, start)) {
                let _ = write!(path, "[{index}]");
                descend(item, start, path);
            }
        }
        Kind::Scalar(_) | Kind::Alias(_) => {}
    }
}

/// Returns true if a byte is one of a value's; of one that is empty, the byte where it would be.
fn holds(span: Span, start: u32) -> bool {
    span.start == start || (span.start..span.end).contains(&start)
}

/// Adds a field, or a key of a map that is none.
fn push_key(path: &mut String, key: &str) {
    let is_field = !key.is_empty() && key.chars().all(|it| it.is_ascii_alphanumeric() || it == '_');
    match (is_field, path.is_empty()) {
        (true, true) => path.push_str(key),
        (true, false) => {
            path.push('.');
            path.push_str(key);
        }
        (false, _) => {
            let _ = write!(path, "[{key}]");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OBJECT: &str = "\
apiVersion: argocd-image-updater.argoproj.io/v1alpha1
kind: ImageUpdater
metadata:
  name: ä
  annotations:
    example.com/a: b
spec:
  applicationRefs:
  - namePattern: web
    images:
    - {alias: a, imageName: x}
    - alias: b c
      imageName: y
  - namePattern: api
    useAnnotations:
";

    /// The place of a piece of text that is there once.
    fn place_of(text: &str, piece: &str) -> Location {
        assert_eq!(text.matches(piece).count(), 1, "{piece}");
        YamlFile::new("ImageUpdater/argocd/all", text)
            .location(u32::try_from(text.find(piece).unwrap()).unwrap())
    }

    #[test]
    fn a_place_is_a_field() {
        for (piece, path) in [
            ("b c", Some("spec.applicationRefs[0].images[1].alias")),
            ("alias: b", Some("spec.applicationRefs[0].images[1]")),
            ("imageName: y", Some("spec.applicationRefs[0].images[1].imageName")),
            ("{alias", Some("spec.applicationRefs[0].images[0]")),
            ("alias: a", Some("spec.applicationRefs[0].images[0].alias")),
            ("- {", Some("spec.applicationRefs[0].images")),
            ("namePattern: api", Some("spec.applicationRefs[1]")),
            ("api\n", Some("spec.applicationRefs[1].namePattern")),
            ("useAnnotations", Some("spec.applicationRefs[1].useAnnotations")),
            ("applicationRefs", Some("spec")),
            ("spec:", Some("spec")),
            ("b\nspec", Some("metadata.annotations[example.com/a]")),
            ("ä", Some("metadata.name")),
            ("apiVersion", None),
        ] {
            assert_eq!(field_at(OBJECT, &place_of(OBJECT, piece)).as_deref(), path, "{piece}");
        }
    }

    /// Objects of a cluster are JSON, and in one line.
    #[test]
    fn a_place_in_json_is_a_field() {
        let text = r#"{"spec":{"ä":"ö","images":[{"alias":"a"},{"alias":"b","x":{}}]},"y":[]}"#;
        for (piece, path) in [
            (r#""b""#, Some("spec.images[1].alias")),
            (r#"{"alias":"b""#, Some("spec.images[1]")),
            (r#""x""#, Some("spec.images[1].x")),
            ("{}", Some("spec.images[1].x")),
            ("[]", Some("y")),
            (r#"{"spec""#, None),
        ] {
            assert_eq!(field_at(text, &place_of(text, piece)).as_deref(), path, "{piece}");
        }
    }

    #[test]
    fn places_that_are_not_there_are_no_fields() {
        let beyond = Location::at_line("x", &format!("{OBJECT}\nmore: 1\n"), 99, 1);
        assert_eq!(field_at(OBJECT, &beyond), None);
        assert_eq!(field_at("a: [", &Location::at_line("x", "a: [", 1, 4)), None);
    }
}

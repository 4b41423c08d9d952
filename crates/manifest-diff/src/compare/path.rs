//! Paths of fields.

use std::fmt;

/// The way from an object to one of its fields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Path(Vec<Segment>);

/// One step of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Segment {
    Key(String),
    /// An item of a list: by what it is known, and its number on the side that has it (the head, if both do).
    Item {
        label: String,
        index: usize,
    },
}

impl Path {
    pub(crate) fn push(&mut self, segment: Segment) {
        self.0.push(segment);
    }

    pub(crate) fn pop(&mut self) {
        self.0.pop();
    }

    pub(crate) fn segments(&self) -> &[Segment] {
        &self.0
    }

    /// The key that the path ends with.
    pub(crate) fn last_key(&self) -> Option<&str> {
        self.0.last().and_then(Segment::key)
    }

    /// Returns true if the path begins with these keys; `*` is any key or item.
    pub(crate) fn starts_with(&self, keys: &[&str]) -> bool {
        self.0.len() >= keys.len() && self.0.iter().zip(keys).all(|(segment, key)| segment.is(key))
    }

    /// Returns true if the path ends with these keys.
    pub(crate) fn ends_with(&self, keys: &[&str]) -> bool {
        let Some(at) = self.0.len().checked_sub(keys.len()) else { return false };
        self.0[at..].iter().zip(keys).all(|(segment, key)| segment.is(key))
    }

    /// Returns true if one of the keys is on the path.
    pub(crate) fn passes(&self, key: &str) -> bool {
        self.0.iter().any(|segment| segment.key() == Some(key))
    }

    /// The path as a JSON pointer.
    pub(crate) fn pointer(&self) -> String {
        let mut pointer = String::new();
        for segment in &self.0 {
            pointer.push('/');
            match segment {
                Segment::Key(key) => pointer += &key.replace('~', "~0").replace('/', "~1"),
                Segment::Item { index, .. } => pointer += &index.to_string(),
            }
        }
        pointer
    }
}

impl Segment {
    pub(crate) fn key(&self) -> Option<&str> {
        match self {
            Segment::Key(key) => Some(key),
            Segment::Item { .. } => None,
        }
    }

    fn is(&self, pattern: &str) -> bool {
        pattern == "*" || self.key() == Some(pattern)
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, segment) in self.0.iter().enumerate() {
            match segment {
                Segment::Key(key) if is_plain(key) => {
                    let dot = if at == 0 { "" } else { "." };
                    write!(f, "{dot}{key}")?;
                }
                // Debug writes quotes, and escapes them and what nobody sees.
                Segment::Key(key) => write!(f, "[{key:?}]")?,
                Segment::Item { label, .. } => write!(f, "[{label}]")?,
            }
        }
        Ok(())
    }
}

/// Returns the identity of an item: `name=web`.
pub(crate) fn label(keys: &[&str], values: &[String]) -> String {
    let mut label = String::new();
    for (key, value) in keys.iter().zip(values).filter(|(_, value)| !value.is_empty()) {
        if !label.is_empty() {
            label.push(',');
        }
        label.push_str(key);
        label.push('=');
        let is_plain =
            value.chars().all(|character| character.is_alphanumeric() || "-_./:".contains(character));
        if is_plain { label.push_str(value) } else { label.push_str(&format!("{value:?}")) }
    }
    label
}

fn is_plain(key: &str) -> bool {
    !key.is_empty() && key.chars().all(|character| character.is_alphanumeric() || "-_$".contains(character))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_read_as_people_write_them() {
        let mut path = Path::default();
        for key in ["metadata", "annotations", "a.b/c~"] {
            path.push(Segment::Key(key.to_owned()));
        }
        assert_eq!(path.to_string(), "metadata.annotations[\"a.b/c~\"]");
        assert_eq!(path.pointer(), "/metadata/annotations/a.b~1c~0");
        let mut path = Path::default();
        path.push(Segment::Key("containers".to_owned()));
        path.push(Segment::Item {
            label: label(&["name", "port"], &["web\"]".to_owned(), "80".to_owned()]),
            index: 2,
        });
        path.push(Segment::Key("image".to_owned()));
        assert_eq!(path.to_string(), "containers[name=\"web\\\"]\",port=80].image");
        assert_eq!(path.pointer(), "/containers/2/image");
        assert!(
            path.ends_with(&["containers", "*", "image"])
                && !path.ends_with(&["a", "containers", "*", "image"])
        );
    }
}

//! Objects as text.

use diagnostic::{Error, Result};
use yamltree::{JsonOptions, to_sigs_yaml};

use super::{Object, place_of};

impl Object {
    /// The object as JSON on one line, as Go writes it.
    ///
    /// # Errors
    /// If a number is none that JSON has.
    pub fn to_json(&self) -> Result<String> {
        let mut json = String::new();
        yamltree::to_json(&self.node, JsonOptions::SIGS, &mut json).map_err(|error| self.refusal(&error))?;
        Ok(json)
    }

    /// The object as a document of YAML without a separator, as Kubernetes' tools write it.
    ///
    /// # Errors
    /// If it holds what YAML cannot.
    pub fn to_yaml(&self) -> Result<String> {
        let mut yaml = String::new();
        to_sigs_yaml(&self.node, &mut yaml).map_err(|error| self.refusal(&error))?;
        Ok(yaml)
    }

    fn refusal(&self, error: &yamltree::Error) -> Error {
        let place = place_of(&self.sources, error.span()).or_else(|| self.place());
        Error::invalid(format!("{self} cannot be written: {}", error.message())).at(place)
    }
}

/// A stream of YAML with a document for each object; without objects it is empty.
///
/// # Errors
/// If one of them cannot be written.
pub fn to_yaml(objects: &[Object]) -> Result<String> {
    let mut stream = String::new();
    for object in objects {
        if !stream.is_empty() {
            stream.push_str("---\n");
        }
        stream.push_str(&object.to_yaml()?);
    }
    Ok(stream)
}

/// A JSON array with an object a line.
///
/// # Errors
/// If one of them cannot be written.
pub fn to_json(objects: &[Object]) -> Result<String> {
    let lines = objects.iter().map(Object::to_json).collect::<Result<Vec<_>>>()?;
    Ok(if lines.is_empty() { "[]\n".to_owned() } else { format!("[\n{}\n]\n", lines.join(",\n")) })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use yamltree::Source;

    use super::*;

    fn objects(text: &str) -> Vec<Object> {
        super::super::read(&Arc::new(Source { name: "a.yaml".to_owned(), text: text.into() })).unwrap()
    }

    /// Expected values: what `kubectl apply` would get: as `sigs.k8s.io/yaml` reads and writes.
    #[test]
    fn texts_and_numbers_stay_apart() {
        let text = "kind: A\ndata: {a: yes, b: 'yes', c: 0o7, d: 1_0, e: '1e3', f: \"x\\ny\", g: null, h: 1.50, i: on, j: 08}\n---\nkind: B\n";
        let objects = objects(text);
        assert_eq!(
            to_yaml(&objects).unwrap(),
            "data:\n  a: true\n  b: \"yes\"\n  c: 7\n  d: 10\n  e: \"1e3\"\n  f: |-\n    x\n    y\n  g: null\n  h: 1.5\n  i: true\n  j: 8\nkind: A\n---\nkind: B\n"
        );
        assert_eq!(
            to_json(&objects).unwrap(),
            "[\n{\"data\":{\"a\":true,\"b\":\"yes\",\"c\":7,\"d\":10,\"e\":\"1e3\",\"f\":\"x\\ny\",\"g\":null,\"h\":1.5,\"i\":true,\"j\":8},\"kind\":\"A\"},\n{\"kind\":\"B\"}\n]\n"
        );
    }

    #[test]
    fn nothing_is_an_empty_stream() {
        assert_eq!((to_yaml(&[]).unwrap(), to_json(&[]).unwrap()), (String::new(), "[]\n".to_owned()));
    }
}

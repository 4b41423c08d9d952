//! The content hash that is appended to the names of generated resources.
//!
//! In: a resource. Out: ten characters, which for a ConfigMap or Secret depend on its data alone. It refuses data that
//! has no JSON.

use diagnostic::Result;
use sha2::{Digest, Sha256};
use yamltree::{JsonOptions, Node, push_json_string, to_json};

use crate::resmap::ResMap;

/// JSON options of hashed values: decoded from JSON once more, so that a number is a float.
const JSON: JsonOptions = JsonOptions { floats: true, ..JsonOptions::KYAML };

/// Appends its content hash to the name of every resource that was generated with one.
pub(crate) fn append_hashes(map: &mut ResMap) -> Result<()> {
    for position in 0..map.len() {
        if !map.get(position).needs_hash {
            continue;
        }
        map.modify(position, |resource| {
            let hash = content_hash(&resource.node).map_err(|error| {
                error.at(resource.span()).via(format!("in {}", resource.id().described()), resource.span())
            })?;
            let name = format!("{}-{hash}", resource.name());
            resource.store_previous_id();
            resource.set_name(&name);
            Ok(())
        })?;
    }
    Ok(())
}

/// The hash of what a resource holds.
fn content_hash(node: &Node) -> Result<String> {
    let json = match node.get("kind").and_then(Node::text) {
        Some("ConfigMap") => fields_json(node, &["binaryData", "data", "kind", "name"])?,
        Some("Secret") => fields_json(node, &["data", "kind", "name", "stringData", "type"])?,
        // Here Kustomize hashes its inner form of the tree, in which comments and line numbers count.
        _ => {
            let mut json = String::new();
            to_json(node, JSON, &mut json)?;
            json
        }
    };
    Ok(encode(&Sha256::digest(json)))
}

/// The fields that count, as a JSON object. Some are left out unless they are collections.
fn fields_json(node: &Node, fields: &[&str]) -> Result<String> {
    let mut json = String::from("{");
    for field in fields {
        // Kustomize looks for the name by a path as if it were a key, and so never finds it.
        let value = node.get(if *field == "name" { "metadata/name" } else { field });
        let is_optional = matches!(*field, "binaryData" | "stringData");
        if is_optional && value.is_none_or(Node::is_scalar) {
            continue;
        }
        if json.len() > 1 {
            json.push(',');
        }
        push_json_string(&mut json, field, true);
        json.push(':');
        push_value(&mut json, value)?;
    }
    json.push('}');
    Ok(json)
}

fn push_value(json: &mut String, value: Option<&Node>) -> Result<()> {
    match value {
        Some(value) if value.is_mapping() => to_json(value, JSON, json)?,
        Some(value) if value.is_sequence() => json.push_str("null"),
        // A scalar counts by its text, and what is absent as an empty one.
        value => push_json_string(json, value.and_then(Node::text).unwrap_or(""), true),
    }
    Ok(())
}

/// The first ten hexadecimal digits, with letters for those that could make a word or be mistaken for another.
fn encode(digest: &[u8]) -> String {
    let digits = digest.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.take(10).map(|digit| char::from(b"gh2k456789mbcdtf"[usize::from(digit)])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::built;

    fn hash(yaml: &str) -> String {
        let documents = yamltree::parse(yaml, 0, &yamltree::ParseOptions::default()).unwrap();
        content_hash(&documents[0].root).unwrap()
    }

    /// The hashes are Kustomize's, from builds of generators with the same data.
    #[test]
    fn a_configmap_is_hashed_by_its_data() {
        assert_eq!(hash("kind: ConfigMap\nmetadata: {name: a}"), "6ct58987ht");
        assert_eq!(hash("kind: ConfigMap\nmetadata: {name: b}\nimmutable: true"), "6ct58987ht");
        assert_eq!(hash("kind: ConfigMap\ndata: {y: v}"), "898k4bmk67");
        assert_eq!(
            hash("kind: ConfigMap\ndata: {A: b=c, FOO: '', X: ' \"q\" ', export G: '1'}"),
            "ckb6t7h74t"
        );
    }

    #[test]
    fn the_json_is_escaped_as_by_go() {
        assert_eq!(hash("kind: ConfigMap\ndata: {a: b, n: '<&>é'}"), "6dg8hh85f5");
    }

    #[test]
    fn binary_data_counts_when_there_is_some() {
        assert_eq!(hash("kind: ConfigMap\nbinaryData: {bin: //4=}"), "2k5k4c2bm6");
    }

    #[test]
    fn a_secret_is_hashed_by_its_data_and_type() {
        assert_eq!(hash("kind: Secret\ntype: x\ndata: {a: Yg==}"), "tg8mf2mm6h");
        assert_eq!(hash("kind: Secret\ntype: Opaque\ndata: {}"), "46f8b28mk5");
    }

    /// A patch may put anything into the data. Kustomize prints the number in full but hashes it as a float.
    #[test]
    fn a_large_number_loses_digits() {
        let data = "{a: b, f: 1e21, m: {x: [1, true]}, n: 9007199254740993, t: 2001-01-01}";
        assert_eq!(hash(&format!("kind: ConfigMap\ndata: {data}")), "6c554mgf56");
    }

    #[test]
    fn only_what_is_marked_gets_a_hash() {
        let kustomization =
            "configMapGenerator:\n- name: a\n- name: b\n  options: {disableNameSuffixHash: true}\n";
        let names = built(&[("kustomization.yaml", kustomization)]);
        assert!(names.contains("name: a-6ct58987ht\n") && names.contains("name: b\n"), "{names}");
    }

    #[test]
    fn a_key_that_is_no_string_is_refused() {
        let kustomization = "configMapGenerator:\n- name: a\n  literals:\n  - 1=x\n";
        let refused = crate::testing::refused(&[("kustomization.yaml", kustomization)]);
        assert!(refused.starts_with("kustomization.yaml:4:5: "), "{refused}");
    }
}

//! A document as the values that JSON has, with their places.
//!
//! In: a node as it was read, without aliases. Out: the same tree with every scalar spelled as JSON spells it, so that
//! `yes` is a boolean, `0x10` is 16, and all else is a string by its tag, whoever reads the tree next. Refused: what
//! `sigs.k8s.io/yaml` refuses on the way from YAML to JSON.

use yamltree::{Dialect, JsonOptions, JsonWriter, Kind, Node, Scalar, Sink, Span, Tag, map_values};

/// Returns the tree of the values that JSON has.
pub(super) fn json_values(node: &Node) -> Result<Node, yamltree::Error> {
    map_values(node, Dialect::V2, Node::string, |value| match value {
        Scalar::Null => Node::null(),
        Scalar::Bool(value) => boolean(*value),
        Scalar::Str(text) => Node::string(text),
        // Kubernetes reads integers as signed ones, and larger ones as floats.
        #[expect(clippy::cast_precision_loss, reason = "as Go converts")]
        Scalar::Uint(large) => number(&Scalar::Float(*large as f64)),
        Scalar::Timestamp(timestamp) => Node::string(&timestamp.to_string()),
        Scalar::Int(_) | Scalar::Float(_) => number(value),
    })
}

/// Returns a number as JSON spells it.
pub(super) fn number(value: &Scalar<'_>) -> Node {
    let mut text = String::new();
    // A writer of JSON refuses no scalar that is finite, and others do not come to be.
    let _ = JsonWriter::new(&mut text, JsonOptions::SIGS).value(value, Span::NONE);
    Node::plain(&text)
}

pub(super) fn boolean(value: bool) -> Node {
    Node::plain(if value { "true" } else { "false" })
}

/// The text of a string; `None` for every other value.
pub(super) fn string(node: &Node) -> Option<&str> {
    node.text().filter(|_| node.tag == Tag::Str)
}

/// Returns true if the value is null.
pub(super) fn is_null(node: &Node) -> bool {
    node.tag == Tag::Null
}

/// Returns what kind of value it is, in an error's words.
pub(super) fn described(node: &Node) -> &'static str {
    match &node.kind {
        Kind::Mapping(_) => "a mapping",
        Kind::Sequence(_) => "a list",
        Kind::Alias(_) => "an alias",
        Kind::Scalar(_) if node.tag == Tag::Str => "text",
        Kind::Scalar(_) if is_null(node) => "null",
        Kind::Scalar(text) if text == "true" || text == "false" => "a boolean",
        Kind::Scalar(_) => "a number",
    }
}

#[cfg(test)]
mod tests {
    use yamltree::{ParseOptions, parse_first, to_json};

    use super::*;

    fn values(text: &str) -> Node {
        let options = ParseOptions { dialect: Dialect::V2, ..ParseOptions::default() };
        json_values(&parse_first(text, 0, &options).unwrap().unwrap().root).unwrap()
    }

    #[test]
    fn scalars_are_what_the_first_generation_of_go_yaml_reads() {
        let node = values(
            "{a: yes, b: 0x10, c: 1.0, d: ~, e: '1', f: 2001-01-01, g: 1e3, h: 18446744073709551615, 7: x}",
        );
        for dialect in [Dialect::V2, Dialect::V3] {
            let mut json = String::new();
            let options = JsonOptions { dialect, ..JsonOptions::SIGS };
            to_json(&node, options, &mut json).unwrap();
            assert_eq!(
                json,
                r#"{"7":"x","a":true,"b":16,"c":1,"d":null,"e":"1","f":"2001-01-01","g":1000,"h":18446744073709552000}"#
            );
        }
    }

    #[test]
    fn values_say_what_they_are() {
        let node = values("{a: x, b: 1, c: ~, d: true, e: {}, f: []}");
        let described: Vec<_> = node.entries().unwrap().iter().map(|entry| described(&entry.value)).collect();
        assert_eq!(described, ["text", "a number", "null", "a boolean", "a mapping", "a list"]);
        assert_eq!(node.get("b").unwrap().span.start, 10);
    }
}

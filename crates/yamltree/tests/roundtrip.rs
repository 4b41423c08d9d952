//! Written text reads back as the same value, whatever the strings are made of.

use proptest::prelude::*;
use yamltree::{
    Dialect, EmitOptions, Entry, JsonOptions, Node, ParseOptions, Style, parse, to_json, to_kyaml,
    to_sigs_yaml,
};

/// Strings made of what YAML has plans for, with a few that it has none for.
fn text() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "a",
        "word",
        "yes",
        "n",
        "~",
        "null",
        "0",
        "12",
        "0x",
        "1e3",
        ".5",
        "-",
        "- ",
        "---",
        "...",
        "?",
        ":",
        ": ",
        "#",
        " #",
        "&",
        "*",
        "!",
        "|",
        ">",
        "%",
        "@",
        "`",
        "'",
        "\"",
        "\\",
        ",",
        "[",
        "]",
        "{",
        "}",
        "=",
        "<<",
        "2001-01-01",
        ":30",
        "_",
        "\n",
        "\n\n",
        " ",
        "  ",
        "\t",
        "\r",
        "\0",
        "\u{1B}",
        "é",
        "日",
        "😀",
        "\u{A0}",
        "\u{2028}",
        "\u{FEFF}",
        "\u{200B}",
        "some longer text that makes lines fold ",
    ]);
    prop::collection::vec(pieces, 0..12)
        .prop_map(|pieces| pieces.concat())
        // go-yaml writes such a text as a block that it cannot read.
        .prop_filter("starts with a tab", |text| !text.starts_with('\t'))
}

fn styled(mut node: Node, style: Style) -> Node {
    node.style = style;
    node
}

fn scalar() -> impl Strategy<Value = Node> {
    let styles =
        prop::sample::select(vec![Style::Plain, Style::SingleQuoted, Style::DoubleQuoted, Style::Literal]);
    let strings = (text(), styles).prop_map(|(text, style)| styled(Node::string(&text), style));
    let typed = prop::sample::select(vec!["~", "true", "-1", "0o17", "1.5", "1e21", "2001-01-01"]);
    prop_oneof![strings, typed.prop_map(Node::plain)]
}

fn tree() -> impl Strategy<Value = Node> {
    scalar().prop_recursive(4, 32, 6, |node| {
        let flow = any::<bool>().prop_map(|flow| if flow { Style::Flow } else { Style::Plain });
        let sequence = prop::collection::vec(node.clone(), 0..5).prop_map(Node::sequence);
        let entries = prop::collection::btree_map(text(), node, 0..5);
        let mapping = entries.prop_map(|entries| {
            Node::mapping(entries.into_iter().map(|(key, value)| Entry::new(&key, value)).collect())
        });
        (prop_oneof![sequence, mapping], flow).prop_map(|(node, style)| styled(node, style))
    })
}

fn read(text: &str, dialect: Dialect) -> Node {
    let options = ParseOptions { dialect, ..ParseOptions::default() };
    parse(text, 0, &options).unwrap_or_else(|error| panic!("{error} in:\n{text}")).swap_remove(0).root
}

fn json(node: &Node, dialect: Dialect) -> String {
    let mut out = String::new();
    to_json(node, JsonOptions { dialect, ..JsonOptions::KYAML }, &mut out)
        .expect("strings and finite numbers have JSON");
    out
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_kustomize_prints_keeps_its_meaning(node in tree()) {
        let mut out = String::new();
        to_sigs_yaml(&node, &mut out).unwrap();
        prop_assert_eq!(json(&read(&out, Dialect::V3), Dialect::V3), json(&node, Dialect::V3));
        prop_assert_eq!(json(&read(&out, Dialect::V2), Dialect::V2), json(&node, Dialect::V3));
        let mut again = String::new();
        to_sigs_yaml(&read(&out, Dialect::V3), &mut again).unwrap();
        prop_assert_eq!(again, out);
    }

    #[test]
    fn what_kyaml_writes_keeps_its_meaning(node in tree(), compact_sequences: bool) {
        let mut out = String::new();
        to_kyaml(&node, EmitOptions { compact_sequences, ..EmitOptions::KYAML }, &mut out);
        prop_assert_eq!(json(&read(&out, Dialect::V3), Dialect::V3), json(&node, Dialect::V3));
    }

    #[test]
    fn json_is_read_as_yaml(node in tree()) {
        let written = json(&node, Dialect::V3);
        if !written.contains("\\ud") {
            prop_assert_eq!(json(&read(&written, Dialect::V3), Dialect::V3), written);
        }
    }
}

//! The layout of collections.
//!
//! Expected values are the answers of Kustomize 5.8.1 and Helm 4.3.1; those of kyaml follow from go-yaml v3's rules:
//! styles stay, nothing is folded.

use yamltree::{EmitOptions, Node, ParseOptions, parse, to_kyaml, to_sigs_yaml};

const WIDE: EmitOptions = EmitOptions { compact_sequences: false, ..EmitOptions::KYAML };

fn read(text: &str) -> Node {
    parse(text, 0, &ParseOptions::default()).expect("the text is valid").swap_remove(0).root
}

#[track_caller]
fn kept_by_kyaml(text: &str, options: EmitOptions) {
    let mut out = String::new();
    to_kyaml(&read(text), options, &mut out);
    assert_eq!(out, text);
}

/// The output of Helm's `toYaml` for nested lists and maps, long keys and keys with line breaks.
const NESTED: &str = "a:
- b:
  - x
  - - \"y\"
    - - z
    - []
  - {}
  c:
    d:
    - e
- - f: g
    h:
    - i
? |
  k2
: m: \"n\"
? kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk
: long
t:
- |-
  a
  b
- - |+
    c

  - |2-
     d
    e
";

#[test]
fn sequences_stand_under_their_key() {
    let mut out = String::new();
    to_sigs_yaml(&read(NESTED), &mut out).unwrap();
    assert_eq!(out, NESTED);
    kept_by_kyaml(NESTED, EmitOptions::KYAML);
}

#[test]
fn wide_sequences_are_indented() {
    let nested = "a:
  - b:
      - x
      - - \"y\"
        - - z
        - []
      - {}
    c:
      d:
        - e
  - - f: g
      h:
        - i
? |
  k2
: m: \"n\"
t:
  - |-
    a
    b
  - - |+
      c

    - |2-
       d
      e
";
    kept_by_kyaml(nested, WIDE);
}

#[test]
fn wider_levels_start_at_their_multiples() {
    let options = EmitOptions { indent: 4, ..WIDE };
    kept_by_kyaml("a:\n    b:\n        - c:\n            d: e\n        - - f\n", options);
}

#[test]
fn kyaml_keeps_styles_and_order() {
    kept_by_kyaml("z: 'single'\na: \"double\"\nm: plain\nn: 0x1F\ne:\n", EmitOptions::KYAML);
    kept_by_kyaml("f: >-\n  folded\n\n  block\nl: |\n  literal\n", EmitOptions::KYAML);
    kept_by_kyaml("a: {b: c, d: [e, 'f', {}]}\nlist: [1, \"2\"]\n? [x]\n: {? [y] : z}\n", EmitOptions::KYAML);
    kept_by_kyaml("a: &x 1\nb: &y\n  c: *x\n*x: d\n", EmitOptions::KYAML);
}

#[test]
fn kyaml_keeps_tags_that_the_text_does_not_show() {
    kept_by_kyaml(
        "a: !!binary YQ==\nb: !Ref c\nd: !<tag:example.com,2000:x%20y> e\nf: !!set {g: h}\n",
        EmitOptions::KYAML,
    );
    let mut out = String::new();
    to_kyaml(&read("<<: a\nb: <<\n"), EmitOptions::KYAML, &mut out);
    assert_eq!(out, "!!merge <<: a\nb: !!merge <<\n");
}

#[test]
fn strings_of_code_are_quoted_where_they_must_be() {
    let mut out = String::new();
    let items = ["1", "a", "a\nb", "y", ""].map(Node::string);
    to_kyaml(&Node::sequence(items.into()), EmitOptions::KYAML, &mut out);
    // kyaml knows the string by its tag; only what go-yaml v3 would read otherwise is quoted, so `y` is not.
    assert_eq!(out, "- \"1\"\n- a\n- |-\n  a\n  b\n- y\n- \"\"\n");
}

#[test]
fn a_document_may_be_a_scalar() {
    kept_by_kyaml("a\n", EmitOptions::KYAML);
    kept_by_kyaml("|-\n  a\n  b\n", EmitOptions::KYAML);
    kept_by_kyaml("[]\n", EmitOptions::KYAML);
}

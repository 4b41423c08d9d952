//! Properties of edits over random files.
//!
//! A file is some lines that hold nothing of the image, the place of the image in one of many styles, and more such
//! lines; with either line end, with or without a byte order mark and an end of the last line. The place's bytes are
//! known where it is put together, so what must be the new file is known without the code under test.

use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::Config;
use yamledit::{File, reads_as_string};
use yamltree::{Dialect, Node, Resolved};

use super::testing::request;
use super::{Outcome, Request, Source, TARGETS, Target};

/// Lines of values files that look like the image's place, or that a reader of lines would stumble over.
const NOISE: &[&str] = &[
    "",
    "# tag: v1.0.0\n#   tag: v0\n",
    "\n\n",
    "other:\n  image:\n    tag: v1.0.0\n",
    "script: |\n  image:\n    tag: v1.0.0\n\n  # text\n",
    "keep: |+\n  tag: v1.0.0\n\n",
    "folded: >-\n  image: x\n    tag: v1.0.0\n",
    "quoted: \"image:\n  tag: v1.0.0 # text\n\n  \\\"end\"\n",
    "single: 'it''s\n  tag: v1.0.0'\n",
    "plain: goes on\n  tag v1.0.0 # c\n",
    "url: http://x.test:80/#tag:v1\n",
    "list:\n- tag: v1.0.0\n- - tag\n  - x   \n",
    "deep:\n    - a:\n        b: [tag, {tag: v1.0.0}]\n",
    "anchor: &a {tag: v1.0.0}\nalias: *a\nmerged: {<<: *a}\n",
    "? [complex, key]\n: value\n",
    "größe: 'ö'  # ✓ 日本\n",
    "nothing:\ntilde: ~\nempty: ''\n",
    "numbers: [1.20, 0x1F, 1e7, yes, 2024-01-01]\n",
    "typed: !!str 1.0\n",
    "'tag': v1.0.0\n",
];

/// The place of a tag, which stands where `@` does, with what it is written as now.
const TAGS: &[(&str, &str)] = &[
    ("image:\n  repository: r.test/shop\n  tag: @\n", ""),
    ("image:\n  tag: @   # set by CI\n  repository: r.test/shop\n", ""),
    ("image: {repository: r.test/shop, tag: @}\n", ""),
    ("image: { tag: @ , repository: r.test/shop }  # c\n", ""),
    ("image: {\"repository\": \"r.test/shop\", \"tag\": @}\n", "\""),
    ("image: {\n  repository: r.test/shop, # c\n  tag: @\n}\n", ""),
    ("image:\n  tag:\n    @\n", ""),
    ("image:\n  tag: &anchor @\nagain: *anchor\n", ""),
    ("image:\n  'tag' : @\t\n", ""),
    ("\"image\":\n    ? tag\n    : @\n", ""),
    ("image: &image\n  # the tag\n  tag: @\n  # below\n", ""),
];

/// Places of a tag in a kustomization.
const ENTRIES: &[&str] = &[
    "images:\n- name: r.test/shop\n  newTag: @\n",
    "images:\n  - newTag: @ # c\n    name: r.test/shop\n",
    "images:\n    -   name: shop\n        newName: r.test/shop\n        newTag: @\n",
    "images:\n- {name: r.test/shop, newTag: @}\n",
    "images: [{name: b, newTag: v1}, {name: r.test/shop, newTag: @}] # c\n",
    "images:\n- name: b\n  newTag: v1\n- name: r.test/shop # ours\n  newTag: &t @\n  tagSuffix: -x\n",
    "images:\n- &e\n  name: r.test/shop\n\n  # why\n  newTag: @\n- name: z\n",
];

/// Lines of kustomizations.
const KUSTOMIZE_NOISE: &[&str] = &[
    "",
    "# images:\n# - name: r.test/shop\n",
    "resources:\n- a.yaml\n",
    "patches:\n  - patch: |-\n      - op: replace\n        path: /spec\n        value: {newTag: v1}\n",
    "configMapGenerator:\n- name: x\n  literals: [\"newTag=v1\"]\n",
    "commonLabels: {app: shop}\n",
    "namespace: shop   \n\n",
];

/// Tags as they are, and as they were.
fn tag() -> impl Strategy<Value = String> {
    let like = select(vec![
        "1.20",
        "017",
        "08",
        "0x1F",
        "0o17",
        "0b11",
        "1e7",
        "1_000",
        "2.",
        "on",
        "No",
        "y",
        "null",
        "true",
        "20240115",
        "2024-01-15",
        "latest",
        "v1",
        "12e45a7",
        "3108617",
        "1.2.3-alpine",
        "_",
        "0",
    ]);
    prop_oneof![
        like.prop_map(str::to_owned),
        "[0-9]{1,8}",
        "[0-9][0-9._]{0,4}",
        "[A-Za-z0-9_][A-Za-z0-9._-]{0,20}"
    ]
    // What requests are typed with has these words stand for digests.
    .prop_filter("a word of the tests", |tag| !tag.contains("OLD") && !tag.contains("NEW"))
}

/// In which quotes the old tag stands.
#[derive(Clone, Copy, Debug)]
enum Quotes {
    None,
    Single,
    Double,
}

#[derive(Debug)]
struct Built {
    text: String,
    /// The old scalar's place.
    start: usize,
    end: usize,
    quotes: Quotes,
}

#[derive(Clone, Debug)]
struct Shape {
    before: Vec<Index>,
    after: Vec<Index>,
    place: Index,
    quotes: Quotes,
    is_crlf: bool,
    has_bom: bool,
    has_end: bool,
}

fn shape() -> impl Strategy<Value = Shape> {
    let noise = || prop::collection::vec(any::<Index>(), 0..4);
    let quotes = select(vec![Quotes::None, Quotes::Single, Quotes::Double]);
    (noise(), noise(), any::<Index>(), quotes, any::<bool>(), any::<bool>(), any::<bool>()).prop_map(
        |(before, after, place, quotes, is_crlf, has_bom, has_end)| Shape {
            before,
            after,
            place,
            quotes,
            is_crlf,
            has_bom,
            has_end,
        },
    )
}

impl Shape {
    fn build(&self, noise: &[&str], places: &[(&str, &str)], old: &str) -> Built {
        let (place, quote) = places[self.place.index(places.len())];
        let quotes = if quote == "\"" { Quotes::Double } else { self.quotes };
        // A text is there once, as its keys may not be there twice.
        let mut left: Vec<&str> = noise.to_vec();
        let mut draw = |picks: &[Index]| -> String {
            picks.iter().map(|pick| left.remove(pick.index(left.len()))).collect()
        };
        let (before, after) = (draw(&self.before), draw(&self.after));
        let mut text = format!("{before}{place}{after}");
        if !self.has_end {
            text.truncate(text.trim_end_matches('\n').len());
        }
        if self.is_crlf {
            text = text.replace('\n', "\r\n");
        }
        if self.has_bom {
            text.insert(0, '\u{FEFF}');
        }
        let start = text.find('@').unwrap();
        let written = quotes.around(old);
        let end = start + written.len();
        text.replace_range(start..=start, &written);
        Built { text, start, end, quotes }
    }
}

impl Quotes {
    fn around(self, text: &str) -> String {
        match self {
            Self::None => text.to_owned(),
            Self::Single => format!("'{text}'"),
            Self::Double => format!("\"{text}\""),
        }
    }
}

/// Edits a file and checks that it is the old one with the new tag in the place of the old. Quotes come only where there
/// are none and are needed.
fn check(target: &Target, built: &Built, request: &Request, tag: &str) {
    let run = |text: &str| (target.edit)(&Source { path: "f", text }, request).unwrap();
    let quotes = match built.quotes {
        Quotes::None if !reads_as_string(tag) => Quotes::Double,
        quotes => quotes,
    };
    let (before, after) = (&built.text[..built.start], &built.text[built.end..]);
    let wanted = format!("{before}{}{after}", quotes.around(tag));
    let outcome = if wanted == built.text { Outcome::Right } else { Outcome::Changed(wanted.clone()) };
    assert_eq!(run(&built.text), outcome);
    assert_eq!(run(&wanted), Outcome::Right);
}

/// That a scalar is the tag, as a string, to both generations of go-yaml.
fn check_string(node: &Node, tag: &str) {
    assert_eq!(node.text(), Some(tag));
    for dialect in [Dialect::V2, Dialect::V3] {
        assert_eq!(node.resolved(dialect).unwrap(), Resolved::Str, "{tag}");
    }
}

fn target(name: &str) -> &'static Target {
    TARGETS.iter().find(|target| target.name == name).unwrap()
}

proptest! {
    #![proptest_config(Config { cases: 2_000, failure_persistence: None, ..Config::default() })]

    #[test]
    fn in_values_only_the_tag_changes(shape in shape(), old in tag(), new in tag()) {
        let built = shape.build(NOISE, TAGS, &old);
        let request = request(&format!("r.test/shop:{new}"), &[("tag", "image.tag")]);
        check(target("helmvalues"), &built, &request, &new);
        let Outcome::Changed(edited) = (target("helmvalues").edit)(&Source { path: "f", text: &built.text }, &request).unwrap()
        else { return Ok(()) };
        let file = File::parse(&edited, 0).unwrap();
        check_string(file.find(&yamledit::Path::parse("image.tag").unwrap()).unwrap(), &new);
    }

    #[test]
    fn in_kustomizations_only_the_tag_changes(shape in shape(), old in tag(), new in tag()) {
        let places: Vec<_> = ENTRIES.iter().map(|entry| (*entry, "")).collect();
        let built = shape.build(KUSTOMIZE_NOISE, &places, &old);
        let request = request(&format!("r.test/shop:{new}"), &[]);
        check(target("kustomization"), &built, &request, &new);
    }

    /// Expected values: what is added stands at its place, every other byte is as it was, and a second run adds nothing.
    #[test]
    fn an_added_entry_is_all_that_changes(shape in shape(), new in tag()) {
        let places = [("images:\n  - name: b\n    newTag: v1 # @\n", ""), ("x: @\n", "")];
        let built = shape.build(KUSTOMIZE_NOISE, &places, "b");
        let request = request(&format!("r.test/shop:{new}"), &[]);
        let run = |text: &str| (target("kustomization").edit)(&Source { path: "f", text }, &request).unwrap();
        let Outcome::Changed(edited) = run(&built.text) else { panic!("{:?}", built.text) };
        let (old, bytes) = (built.text.as_bytes(), edited.as_bytes());
        let added = bytes.len() - old.len();
        let is_addition = |at: usize| bytes[..at] == old[..at] && bytes[at + added..] == old[at..];
        prop_assert!((0..=old.len()).any(is_addition), "{edited:?}");
        prop_assert_eq!(run(&edited), Outcome::Right);
        let file = File::parse(&edited, 0).unwrap();
        let images = file.find(&yamledit::Path::key("images")).unwrap().items().unwrap();
        check_string(images.last().unwrap().get("newTag").unwrap(), &new);
    }
}

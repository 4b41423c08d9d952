//! Reads arbitrary bytes as YAML. Run with
//! `RUSTC_BOOTSTRAP=1 cargo fuzz run -s none yaml_read -- -max_total_time=600`.
//!
//! Nothing may panic; spans must lie in the text and in those of their parents; and both ways of expanding aliases must
//! leave a tree without any.

#![no_main]

use libfuzzer_sys::fuzz_target;
use yamltree::{Dialect, DuplicateKeys, Expansion, Kind, Node, ParseOptions, Span, decode, parse, parse_first};

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = decode(bytes, 0) else { return };
    for dialect in [Dialect::V2, Dialect::V3] {
        for duplicate_keys in [DuplicateKeys::Keep, DuplicateKeys::KeepLast, DuplicateKeys::Refuse] {
            let options = ParseOptions { dialect, duplicate_keys, comments: true, offset: 7 };
            let first = parse_first(&text, 0, &options).map(|document| document.is_some());
            let documents = match parse(&text, 0, &options) {
                Ok(documents) => documents,
                Err(error) => {
                    check_span(error.span(), whole(&text));
                    assert!(error.go_text().starts_with("yaml: "));
                    continue;
                }
            };
            assert_eq!(first.expect("the first of several good documents is good"), !documents.is_empty());
            for document in documents {
                document.comments.iter().for_each(|comment| check_comment(&text, comment.span));
                check(&document.root, whole(&text));
                for expansion in [Expansion::Kyaml, Expansion::Decoded(dialect)] {
                    let mut root = document.root.clone();
                    if root.expand_aliases(expansion).is_ok() {
                        check_expanded(&root);
                    }
                }
            }
        }
    }
});

fn whole(text: &str) -> Span {
    Span { source: 0, start: 7, end: 7 + text.len() as u32 }
}

fn check_span(span: Span, parent: Span) {
    assert!(parent.start <= span.start && span.start <= span.end && span.end <= parent.end);
}

fn check_comment(text: &str, span: Span) {
    check_span(span, whole(text));
    assert!(text[span.start as usize - 7..span.end as usize - 7].starts_with('#'));
}

fn check(node: &Node, parent: Span) {
    check_span(node.span, parent);
    match &node.kind {
        Kind::Scalar(_) | Kind::Alias(_) => {}
        Kind::Sequence(items) => items.iter().for_each(|item| check(item, node.span)),
        Kind::Mapping(entries) => {
            for entry in entries {
                check(&entry.key, node.span);
                check(&entry.value, node.span);
                assert!(entry.key.span.end <= entry.value.span.start);
            }
        }
    }
}

fn check_expanded(node: &Node) {
    assert!(node.anchor().is_none());
    match &node.kind {
        Kind::Scalar(_) => {}
        Kind::Alias(name) => panic!("the alias {name} was left"),
        Kind::Sequence(items) => items.iter().for_each(check_expanded),
        Kind::Mapping(entries) => {
            for entry in entries {
                check_expanded(&entry.key);
                check_expanded(&entry.value);
            }
        }
    }
}

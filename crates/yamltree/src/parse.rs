//! The parser's entry points.
//!
//! Input: UTF-8 text, as `decode` returns it. Output: its documents, or the first error that go-yaml would report.

use crate::compose::Composer;
use crate::document::{Document, ParseOptions};
use crate::error::{Error, ErrorKind};
use crate::limits::MAX_TEXT_LEN;
use crate::scan::Scanner;
use crate::text;
use diagnostic::{SourceId, Span};

/// Parses all documents of a text: those that a loop over go-yaml's `Decoder` returns.
///
/// A text without content has no document. Each `---` starts one, even if nothing follows it.
///
/// # Errors
/// If go-yaml rejects any of the documents, or if one exceeds the limits of this crate.
pub fn parse(text: &str, source: SourceId, options: &ParseOptions) -> Result<Vec<Document>, Error> {
    let mut composer = composer(text, source, options)?;
    let mut documents = Vec::new();
    while let Some(document) = composer.document()? {
        documents.push(document);
    }
    Ok(documents)
}

/// Parses the first document and ignores the rest of the text, as go-yaml's `Unmarshal` does. Returns `None` if the
/// text has no content.
///
/// # Errors
/// If go-yaml rejects the document, or if it exceeds the limits of this crate.
pub fn parse_first(text: &str, source: SourceId, options: &ParseOptions) -> Result<Option<Document>, Error> {
    composer(text, source, options)?.document()
}

fn composer<'t>(text: &'t str, source: SourceId, options: &ParseOptions) -> Result<Composer<'t>, Error> {
    if options.offset as usize + text.len() > MAX_TEXT_LEN {
        let message = format!("exceeded max size of {MAX_TEXT_LEN} bytes");
        return Err(Error::new(ErrorKind::Limit, message, Span { source, start: 0, end: 0 }));
    }
    let traits = text::check(text, source, options.offset)?;
    let scanner = Scanner::new(text, traits, options.dialect, source, options.offset);
    Ok(Composer::new(scanner, *options))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Dialect;
    use crate::duplicate::DuplicateKeys;
    use crate::limits::MAX_DEPTH;
    use crate::node::Kind;
    use crate::node::Node;

    fn first(text: &str) -> Document {
        let options = ParseOptions { comments: true, ..ParseOptions::default() };
        parse_first(text, 0, &options).unwrap().unwrap()
    }

    /// Collects the text that the spans of a node and its descendants enclose.
    fn enclosed<'t>(text: &'t str, node: &Node, found: &mut Vec<&'t str>) {
        found.push(&text[node.span.start as usize..node.span.end as usize]);
        match &node.kind {
            Kind::Scalar(_) | Kind::Alias(_) => {}
            Kind::Sequence(items) => items.iter().for_each(|item| enclosed(text, item, found)),
            Kind::Mapping(entries) => {
                for entry in entries {
                    enclosed(text, &entry.key, found);
                    enclosed(text, &entry.value, found);
                }
            }
        }
    }

    #[test]
    fn spans_hold_what_is_written_and_no_more() {
        for (text, wanted) in [
            ("  a: 'b c'  # d\n", &["a: 'b c'", "a", "'b c'"][..]),
            ("- é\n- \"\\n\"\n\n", &["- é\n- \"\\n\"", "é", "\"\\n\""]),
            ("a:\n- b\n- c\nd: e\n", &["a:\n- b\n- c\nd: e", "a", "- b\n- c", "b", "c", "d", "e"]),
            ("a: b\n  c\n\n", &["a: b\n  c", "a", "b\n  c"]),
            ("[a, {b: c}, d: e ]\n", &["[a, {b: c}, d: e ]", "a", "{b: c}", "b", "c", "d: e", "d", "e"]),
            // Properties are no part of what they are of.
            ("&x a: !!str &y b\nc: *x\n", &["&x a: !!str &y b\nc: *x", "a", "b", "c", "*x"]),
            // A block scalar ends with the last line of its text, or with its header.
            ("a: |\n  b\n\n\nc: |+ # d\n\n", &["a: |\n  b\n\n\nc: |+", "a", "|\n  b", "c", "|+"]),
        ] {
            let mut found = Vec::new();
            enclosed(text, &first(text).root, &mut found);
            assert_eq!(found, wanted, "{text:?}");
        }
    }

    #[test]
    fn a_null_that_is_not_written_lies_behind_its_indicator() {
        for (text, path, at) in [
            ("a:   # b\nc: d\n", &[0][..], 2),
            ("a:\n", &[0], 2),
            ("a: &x\nb: c\n", &[0], 5),
            ("? a\n? b\n", &[0], 3),
            ("-  \n- a\n", &[0], 1),
            ("{a: , b}", &[0], 3),
            ("{a: , b}", &[1], 7),
            ("[a: , b]", &[0, 0], 3),
        ] {
            let mut node = &first(text).root;
            for &step in path {
                node = match &node.kind {
                    Kind::Mapping(entries) => &entries[step].value,
                    _ => &node.items().unwrap()[step],
                };
            }
            assert_eq!((node.text(), node.span.start, node.span.end), (Some(""), at, at), "{text:?}");
        }
    }

    #[test]
    fn comments_tell_whether_they_trail() {
        let text = "# a\nb: c # d\n  #e\nf: |  #g\n  # no\n#h";
        let comments = first(text).comments;
        let found: Vec<_> = comments
            .iter()
            .map(|comment| (&text[comment.span.start as usize..comment.span.end as usize], comment.own_line))
            .collect();
        assert_eq!(found, [("# a", true), ("# d", false), ("#e", true), ("#g", false), ("#h", true)]);
        assert!(parse(text, 0, &ParseOptions::default()).unwrap()[0].comments.is_empty());
    }

    #[test]
    fn comments_go_with_the_document_that_they_are_in() {
        let options = ParseOptions { comments: true, ..ParseOptions::default() };
        let documents = parse("# a\nb\n# c\n---\n# d\n---\ne\n# f\n", 0, &options).unwrap();
        let starts = |document: &Document| -> Vec<u32> {
            document.comments.iter().map(|comment| comment.span.start).collect()
        };
        assert_eq!(documents.iter().map(starts).collect::<Vec<_>>(), [vec![0, 6], vec![14], vec![24]]);
        assert_eq!(
            documents.iter().map(|document| document.is_explicit).collect::<Vec<_>>(),
            [false, true, true]
        );
    }

    #[test]
    fn a_part_of_a_file_has_the_places_of_the_file() {
        let options =
            ParseOptions { offset: 100, duplicate_keys: DuplicateKeys::Refuse, ..ParseOptions::default() };
        let root = parse_first("a: b\n", 3, &options).unwrap().unwrap().root;
        assert_eq!(root.span, Span { source: 3, start: 100, end: 104 });
        let error = parse("a: b\nc: @\n", 3, &options).unwrap_err();
        assert_eq!(error.span(), Span { source: 3, start: 108, end: 109 });
        assert_eq!(error.go_text(), "yaml: line 2: found character that cannot start any token");
        let error = parse("a: b\na: c\n", 3, &options).unwrap_err();
        assert_eq!(error.span(), Span { source: 3, start: 105, end: 106 });
        assert_eq!(
            error.message(),
            "unmarshal errors:\n  line 2: mapping key \"a\" already defined at line 1"
        );
    }

    /// `Unmarshal` returns when it has the first document; what makes the second one bad is never seen.
    #[test]
    fn the_first_document_stands_alone() {
        assert_eq!(parse_first("[a] b\n", 0, &ParseOptions::default()).unwrap().unwrap().root.span.end, 3);
        assert!(parse("[a] b\n", 0, &ParseOptions::default()).is_err());
        assert!(parse_first("# a\n", 0, &ParseOptions::default()).unwrap().is_none());
    }

    #[test]
    fn nesting_is_bounded() {
        let flow = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let dashes = |depth: usize| "- ".repeat(depth);
        let keys = |depth: usize| (0..depth).map(|level| format!("{}a:\n", " ".repeat(level))).collect();
        for nested in [&flow as &dyn Fn(usize) -> String, &dashes, &keys] {
            let document = first(&nested(MAX_DEPTH));
            drop(document.clone());
            let error = parse(&nested(MAX_DEPTH + 1), 0, &ParseOptions::default()).unwrap_err();
            assert_eq!((error.kind(), error.message()), (ErrorKind::Limit, "exceeded max depth of 500"));
        }
    }

    #[test]
    fn size_is_bounded() {
        let text = "#".repeat(MAX_TEXT_LEN + 1);
        let error = parse(&text, 0, &ParseOptions::default()).unwrap_err();
        assert_eq!(
            (error.kind(), error.message()),
            (ErrorKind::Limit, "exceeded max size of 134217728 bytes")
        );
    }

    /// Texts that would take minutes if anything were done once a token for all that is before or behind it.
    #[test]
    fn hostile_texts_take_linear_time() {
        let many = 30_000;
        for text in [
            "[".to_owned() + &"a , ".repeat(many) + "]",
            " ".repeat(many) + "[" + &"é , ".repeat(many) + "]",
            "[".to_owned() + &"{b: c}: a, ".repeat(many) + "]",
            "%TAG ! a\n".to_owned()
                + &(0..many).map(|handle| format!("%TAG !{handle}! a\n")).collect::<String>()
                + "---\na",
            "# a\n".repeat(many) + "b",
            "a: |\n".to_owned() + &"\n".repeat(many) + "  b",
            "'".to_owned() + &"a\n".repeat(many) + "'",
            "- &a b\n".repeat(many),
        ] {
            for dialect in [Dialect::V2, Dialect::V3] {
                let options = ParseOptions { dialect, ..ParseOptions::default() };
                assert!(parse(&text, 0, &options).is_ok(), "{}", &text[..40]);
            }
        }
    }
}

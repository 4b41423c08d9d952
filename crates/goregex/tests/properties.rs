//! Whatever the pattern and the text: no panic, places that hold, and one answer.

use goregex::{Regex, quote_meta};
use proptest::prelude::*;

/// Patterns that are mostly well formed, from what the syntax is made of.
fn pattern() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        8 => r"[a-cé ]",
        4 => prop::sample::select(vec![
            "(", ")", "(?:", "(?i)", "(?U)", "(?s:", "(?P<n>", "(?<1>", "|", "*", "+", "?", "*?", "{2}", "{0,3}",
            "{2", "[", "]", "[^", "-", "&&", "[:alpha:]", ".", "^", "$", r"\b", r"\B", r"\d", r"\W", r"\pL",
            r"\P{Greek}", r"\p{", r"\x{", r"\x41", r"\Q", r"\E", r"\z", r"\C", r"\", r"\0", "\u{FFFD}",
        ]).prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

fn text() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just(b"a".to_vec()),
        Just(b"b ".to_vec()),
        Just("é".as_bytes().to_vec()),
        Just("\u{10FFFF}".as_bytes().to_vec()),
        any::<u8>().prop_map(|byte| vec![byte]),
    ];
    prop::collection::vec(piece, 0..10).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_bytes_make_a_pattern_or_an_error(pattern in prop::collection::vec(any::<u8>(), 0..40)) {
        if let Err(error) = Regex::new(&pattern) {
            prop_assert!(error.span().end <= pattern.len());
        }
    }

    #[test]
    fn answers_agree(pattern in pattern(), text in text(), template in "[$a{}n1]{0,6}") {
        let Ok(regex) = Regex::new(&pattern) else { return Ok(()) };
        let found = regex.find(&text);
        let captures = regex.captures(&text);
        prop_assert_eq!(regex.is_match(&text), found.is_some());
        prop_assert_eq!(captures.as_ref().map(|groups| groups[0].clone()), found.clone().map(Some));
        prop_assert_eq!(captures.map_or(regex.names().len(), |groups| groups.len()), regex.names().len());
        prop_assert_eq!(regex.find_all(&text, 1).into_iter().next(), found);
        prop_assert_eq!(regex.replace_all(&text, b"$0"), text.clone());
        let _ = regex.replace_all(&text, template.as_bytes());
        let parts = regex.split(&text, -1);
        prop_assert!(parts.windows(2).all(|pair| pair[0].end <= pair[1].start));
    }

    #[test]
    fn ranges_of_a_string_cut_no_character(pattern in pattern(), text in "[ab é\u{10FFFF}]{0,8}") {
        let Ok(regex) = Regex::new(&pattern) else { return Ok(()) };
        for range in regex.find_all(&text, -1).into_iter().chain(regex.split(&text, -1)) {
            prop_assert!(text.get(range).is_some());
        }
    }

    #[test]
    fn what_is_quoted_matches_itself(text in text()) {
        let quoted = quote_meta(&text);
        if let Ok(regex) = Regex::anchored(&quoted) {
            prop_assert!(regex.is_match(&text));
        } else {
            prop_assert!(std::str::from_utf8(&text).is_err());
        }
    }

    /// Long texts are searched by another engine than short ones.
    #[test]
    fn length_changes_no_answer(pattern in pattern(), text in "[abc é]{0,8}") {
        let Ok(regex) = Regex::new(&pattern) else { return Ok(()) };
        let short = regex.find_all(&text, -1);
        let padding = "\n".repeat(40_000);
        let _ = regex.find_all(&padding, 1);
        let _ = regex.is_match(&padding);
        prop_assert_eq!(regex.find_all(&text, -1), short);
    }
}

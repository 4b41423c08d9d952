//! Formats errors and warnings in a bounded length.

use crate::report::visible;
use diagnostic::Error;

/// More is not read in a list of objects; the API allows far more.
const LONGEST: usize = 1024;

/// So many of a kind are named, and the rest counted.
const NAMED: usize = 5;

/// An error with what to do about it, without its place: that is for who reads files.
pub(super) fn of_error(error: &Error) -> String {
    match error.get_hint() {
        Some(hint) => format!("{} ({hint})", error.message()),
        None => error.message().to_owned(),
    }
}

/// Sentences as one text, the first few of them.
pub(in crate::cluster) fn joined(sentences: impl IntoIterator<Item = String>) -> String {
    let mut sentences = sentences.into_iter();
    let named: Vec<String> = sentences.by_ref().take(NAMED).collect();
    let mut text = named.join("; ");
    let rest = sentences.count();
    if rest > 0 {
        text = format!("{}; and {rest} more", cut(&text, LONGEST - 32));
    }
    cut(&text, LONGEST)
}

/// A text on one line, without what no terminal should get, and no longer than this.
pub(super) fn cut(text: &str, longest: usize) -> String {
    let text = visible(text);
    match text.char_indices().nth(longest) {
        None => text,
        Some(_) => text.chars().take(longest.saturating_sub(1)).chain(['…']).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_stays_readable_however_much_there_is() {
        let text = joined((0..100).map(|number| format!("image {number} failed")));
        assert!(text.starts_with("image 0 failed; image 1 failed"), "{text}");
        assert!(text.ends_with("; and 95 more"), "{text}");
        let long = joined((0..100).map(|_| "é".repeat(2000)));
        assert!(long.chars().count() <= LONGEST && long.ends_with("; and 95 more"), "{long}");
        assert_eq!(joined(Vec::new()), "");
        assert_eq!(joined(["a".to_owned()]), "a");
    }
}

//! Lines and columns of a text, and how a file indents its lists.

use yamltree::{Kind, Node, Style};

use crate::file::File;

const BOM: char = '\u{FEFF}';

/// Returns the start of the line of a position, after a byte order mark.
pub(crate) fn line_start(text: &str, at: usize) -> usize {
    match text[..at].rfind(['\n', '\r']) {
        Some(line_break) => line_break + 1,
        None if text.starts_with(BOM) => BOM.len_utf8().min(at),
        None => 0,
    }
}

/// Returns the end of the line of a position, before its line break.
pub(crate) fn line_end(text: &str, at: usize) -> usize {
    text[at..].find(['\n', '\r']).map_or(text.len(), |len| at + len)
}

/// Returns the line break at a position, or an empty string.
pub(crate) fn break_at(text: &str, at: usize) -> &str {
    let rest = &text[at..];
    let len = if rest.starts_with("\r\n") { 2 } else { usize::from(rest.starts_with(['\n', '\r'])) };
    &rest[..len]
}

/// Returns the line break of the line of a position; for a last line without one, the line break of the file.
pub(crate) fn line_break(text: &str, at: usize) -> &str {
    let own = break_at(text, line_end(text, at));
    if !own.is_empty() {
        return own;
    }
    match break_at(text, line_end(text, 0)) {
        "" => "\n",
        first => first,
    }
}

/// Returns the blanks before a position, if its line holds nothing else before it.
pub(crate) fn own_line(text: &str, at: usize) -> Option<&str> {
    let before = &text[line_start(text, at)..at];
    before.bytes().all(|byte| matches!(byte, b' ' | b'\t')).then_some(before)
}

/// The column of a place that has only blanks and block indicators before it on its line.
pub(crate) fn column(text: &str, at: usize) -> Option<usize> {
    let before = &text[line_start(text, at)..at];
    before.bytes().all(|byte| matches!(byte, b' ' | b'-' | b'?' | b':')).then_some(before.len())
}

/// Returns how many columns the file's lists lie behind their keys: what most do that are at the root, else those below, else
/// none, as kustomize writes them.
pub(crate) fn list_indent(file: &File<'_>) -> usize {
    let mut counts = Vec::new();
    for document in file.documents() {
        for entry in document.root.entries().map(Vec::as_slice).unwrap_or_default() {
            count(file.text(), entry.key.span.start as usize, &entry.value, &mut counts);
        }
    }
    if counts.is_empty() {
        file.documents().iter().for_each(|document| count_below(file.text(), &document.root, &mut counts));
    }
    let mut most = (0, 0);
    for &(indent, number) in &counts {
        if number > most.1 {
            most = (indent, number);
        }
    }
    most.0
}

/// Counts an indentation, if a value is a list in block style.
fn count(text: &str, key: usize, value: &Node, counts: &mut Vec<(usize, usize)>) {
    if !value.is_sequence() || value.style != Style::Plain {
        return;
    }
    let (Some(key), Some(list)) = (column(text, key), own_line(text, value.span.start as usize)) else {
        return;
    };
    let Some(indent) = list.len().checked_sub(key) else { return };
    match counts.iter_mut().find(|(known, _)| *known == indent) {
        Some((_, number)) => *number += 1,
        None => counts.push((indent, 1)),
    }
}

fn count_below(text: &str, node: &Node, counts: &mut Vec<(usize, usize)>) {
    match &node.kind {
        Kind::Scalar(_) | Kind::Alias(_) => {}
        Kind::Sequence(items) => items.iter().for_each(|item| count_below(text, item, counts)),
        Kind::Mapping(entries) => {
            for entry in entries {
                count(text, entry.key.span.start as usize, &entry.value, counts);
                count_below(text, &entry.value, counts);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_in_any_break() {
        let text = "\u{FEFF}ab\r\ncd\nef";
        assert_eq!((line_start(text, 4), line_end(text, 4)), (3, 5));
        assert_eq!((line_start(text, 3), line_start(text, 8)), (3, 7));
        assert_eq!((line_break(text, 4), line_break(text, 8), line_break(text, 11)), ("\r\n", "\n", "\r\n"));
        assert_eq!((line_break("ab", 1), own_line(text, 3)), ("\n", Some("")));
    }

    #[test]
    fn lists_are_indented_as_most_are() {
        for (text, wanted) in [
            ("a: 1\n", 0),
            ("a:\n- b\n", 0),
            ("a:\n  - b\n", 2),
            ("a:\n- b\nc:\n    - d\ne:\n    - f\n", 4),
            ("a: [b]\nc:\n  d:\n   - e\n", 1),
            ("a:\n  - b:\n    - c\n    - d\n    e:\n    - f\n", 2),
        ] {
            assert_eq!(list_indent(&File::parse(text, 0).unwrap()), wanted, "{text}");
        }
    }
}

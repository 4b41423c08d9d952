//! Messages of errors that occur in several parts.

use std::io;
use std::path::Path;

use diagnostic::Error;
use vfs::Files;
use yamltree::{Location, Span};

use super::Places;
use super::language::Fault;

/// A template that makes no text, at the line of it that is to blame.
pub(crate) fn template_error(fault: &Fault, span: Span, places: &Places<'_>) -> Error {
    let place = places(span).map(|place| at_line(place, fault.line));
    let error = Error::invalid(format!("the template fails: {}", fault.message)).at(place);
    if fault.is_missing {
        return error.hint("name a parameter that the generators make, or give a default");
    }
    error
}

/// A generator that needs what no context says.
pub(crate) fn no_fixtures(generator: &str, answers: &str) -> Error {
    Error::invalid(format!(
        "cannot render a {generator} generator offline: the context has no fixtures for it"
    ))
    .hint(format!(
        "list the {answers} that it finds under `fixtures.{generator}` of the context file; `[]` for none"
    ))
}

/// A file or folder of a repository that cannot be read.
pub(crate) fn cannot_read(files: &dyn Files, path: &Path, error: &io::Error) -> Error {
    Error::invalid(format!("cannot read `{}`: {error}", files.display(path)))
}

/// The line of a text in a block (`|`), which stands on lines of its own.
fn at_line(mut place: Location, line: usize) -> Location {
    let text = &place.source.text;
    let start = place.span.start as usize;
    let block = text.get(start..place.span.end as usize).filter(|text| text.starts_with('|'));
    let Some(block) = block else { return place };
    let Some((at, found)) = block.match_indices('\n').nth(line - 1).and_then(|(at, _)| {
        let rest = &block[at + 1..];
        let indent = rest.len() - rest.trim_start_matches(' ').len();
        let end = rest.find('\n').unwrap_or(rest.len());
        (indent < end).then_some((start + at + 1 + indent, end - indent))
    }) else {
        return place;
    };
    let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    place.span = Span { start: offset(at), end: offset(at + found), ..place.span };
    place
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use yamltree::Source;

    use super::*;

    #[test]
    fn a_line_of_a_block_has_its_own_place() {
        let text = "templatePatch: |\n  a: b\n  c: {{ .d }}\nx: y\n";
        let source = Arc::new(Source { name: "f.yaml".to_owned(), text: Arc::from(text) });
        let place =
            |start, end| Location { source: Arc::clone(&source), span: Span { source: 0, start, end } };
        assert_eq!(at_line(place(15, 39), 2).to_string(), "f.yaml:3:3");
        assert_eq!(at_line(place(15, 39), 9).to_string(), "f.yaml:1:16");
        // Other texts have no lines of their own in the file.
        assert_eq!(at_line(place(0, 13), 2).to_string(), "f.yaml:1:1");
    }
}

//! The files that builds have read, so that a span can be shown; and texts inside them, whose spans lead back to the
//! file that holds them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use yamltree::{Location, Node, Source, SourceId, Span, Style};

use crate::loader::File;
use crate::world::TextPlaces;

/// The files that were read, by number. Shared by builds that run side by side.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    texts: RwLock<Vec<Text>>,
    /// The numbers of texts that others hold, by their addresses.
    numbers: Mutex<HashMap<usize, SourceId>>,
}

#[derive(Clone, Debug)]
struct Text {
    source: Arc<Source>,
    origin: TextOrigin,
}

/// The origin of a text.
#[derive(Clone, Debug)]
enum TextOrigin {
    /// It is a file, or nothing is known of it.
    File,
    /// In this scalar of another file.
    Scalar(Span, Style),
    /// Something made it of other files.
    Made(Arc<dyn TextPlaces>),
}

impl Sources {
    /// Takes in a file's text under the name that a user would give it.
    pub(crate) fn file(&self, name: String, text: Arc<str>) -> File {
        self.add(name, text, TextOrigin::File)
    }

    /// Takes in a text that something made, so that its spans lead to what it was made of where that is known.
    pub(crate) fn rendered(&self, name: String, text: Arc<str>, places: Option<Arc<dyn TextPlaces>>) -> File {
        self.add(name, text, places.map_or(TextOrigin::File, TextOrigin::Made))
    }

    /// Takes in a scalar's text that is to be read as YAML, so that its spans lead to lines of the file around it.
    pub(crate) fn inline(&self, scalar: &Node) -> Option<File> {
        let text: Arc<str> = scalar.text()?.into();
        let name = self.get(scalar.span.source).map_or_else(String::new, |text| text.source.name.clone());
        Some(self.add(name, text, TextOrigin::Scalar(scalar.span, scalar.style)))
    }

    /// The place that a span stands for; `None` for a node that no file holds.
    pub(crate) fn place(&self, span: Span) -> Option<Location> {
        let Text { source, origin } = self.get(span.source)?;
        let (scalar, style) = match origin {
            TextOrigin::File => return Some(Location { source, span }),
            TextOrigin::Made(places) => {
                let place = places.place(span.start, span.end);
                return Some(place.map_or(Location { source, span }, |place| self.numbered(place)));
            }
            TextOrigin::Scalar(scalar, style) => (scalar, style),
        };
        let outer = self.place(scalar)?;
        let span = match style {
            Style::Literal => in_literal(&source, span, &outer).unwrap_or(outer.span),
            _ => outer.span,
        };
        Some(Location { source: outer.source, span })
    }

    /// All that were read, by their numbers.
    pub(crate) fn all(&self) -> Vec<Arc<Source>> {
        let sources = self.texts.read().unwrap_or_else(PoisonError::into_inner);
        sources.iter().map(|text| Arc::clone(&text.source)).collect()
    }

    /// A place in a text of others, with a number of ours.
    fn numbered(&self, Location { source, span }: Location) -> Location {
        let mut numbers = self.numbers.lock().unwrap_or_else(PoisonError::into_inner);
        let number = *numbers
            .entry(Arc::as_ptr(&source).addr())
            .or_insert_with(|| self.push(Text { source: Arc::clone(&source), origin: TextOrigin::File }));
        Location { source, span: Span { source: number, ..span } }
    }

    fn add(&self, name: String, text: Arc<str>, origin: TextOrigin) -> File {
        let source = Arc::new(Source { name, text: Arc::clone(&text) });
        File { source: self.push(Text { source, origin }), text }
    }

    fn push(&self, text: Text) -> SourceId {
        let mut sources = self.texts.write().unwrap_or_else(PoisonError::into_inner);
        sources.push(text);
        SourceId::try_from(sources.len() - 1).unwrap_or(SourceId::MAX)
    }

    fn get(&self, source: SourceId) -> Option<Text> {
        self.texts.read().unwrap_or_else(PoisonError::into_inner).get(source as usize).cloned()
    }
}

/// Returns where a span of a block scalar's text stands in the file: as many lines below the `|`, and further right by the
/// block's indentation.
fn in_literal(text: &Source, span: Span, outer: &Location) -> Option<Span> {
    let file = &outer.source.text;
    let body = outer.span.start as usize + file[outer.span.start as usize..].find('\n')? + 1;
    let indent = indentation(&file[body..])?.checked_sub(indentation(&text.text)?)?;
    let to_file = |offset: u32| -> Option<usize> {
        let before = text.text.get(..offset as usize)?;
        let lines = before.bytes().filter(|byte| *byte == b'\n').count();
        let column = before.len() - before.rfind('\n').map_or(0, |at| at + 1);
        let line_start = file[body..].split_inclusive('\n').take(lines).map(str::len).sum::<usize>() + body;
        Some((line_start + indent + column).min(file.len()))
    };
    let (start, end) = (to_file(span.start)?, to_file(span.end)?);
    Some(Span { source: outer.span.source, start: u32::try_from(start).ok()?, end: u32::try_from(end).ok()? })
}

/// The spaces before the first line that is not blank.
fn indentation(text: &str) -> Option<usize> {
    let line = text.lines().find(|line| !line.trim().is_empty())?;
    Some(line.len() - line.trim_start_matches(' ').len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_in_a_block_scalar_leads_to_the_file() {
        let sources = Sources::default();
        let text = "patches:\n- patch: |\n    - op: add\n      path: /x\n";
        let file = sources.file("kustomization.yaml".to_owned(), text.into());
        let at = u32::try_from(text.find('|').expect("the block")).expect("small");
        let mut scalar = Node::string("- op: add\n  path: /x\n");
        scalar.style = Style::Literal;
        scalar.span = Span { source: file.source, start: at, end: at + 1 };
        let inner = sources.inline(&scalar).expect("a scalar");
        let start = u32::try_from(inner.text.find("/x").expect("the path")).expect("small");
        let place = sources.place(Span { source: inner.source, start, end: start + 2 }).expect("a place");
        assert_eq!(place.to_string(), "kustomization.yaml:4:13");
        assert_eq!(&text[place.span.start as usize..place.span.end as usize], "/x");
    }
}

//! The files behind spans: which text a [`Span`] of a chart or of values points into.
//!
//! Charts are shared by renderings and by threads, and a rendering combines the texts of several holders. A text's number
//! is therefore a hash of its name and content: the same in each holder, with nothing shared between them. If two texts of
//! different holders have the same number, a message shows the wrong excerpt.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use yamltree::{Location, Source, SourceId, Span};

/// The texts that some spans point into, in the order in which they were added.
#[derive(Clone, Debug, Default)]
pub struct Sources(Vec<(SourceId, Arc<Source>)>);

impl Sources {
    /// Adds a text under the name that a user would give it, and returns the number for its spans.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<Arc<str>>) -> SourceId {
        let source = Source { name: name.into(), text: text.into() };
        let mut hasher = DefaultHasher::new();
        (&source.name, &source.text).hash(&mut hasher);
        let mut id = (hasher.finish() >> 32) as SourceId;
        while id == Span::NONE.source || self.get(id).is_some_and(|other| **other != source) {
            id = id.wrapping_add(1);
        }
        self.0.push((id, Arc::new(source)));
        id
    }

    /// Adds the texts of others.
    pub fn extend(&mut self, others: &Self) {
        self.0.extend_from_slice(&others.0);
    }

    fn get(&self, id: SourceId) -> Option<&Arc<Source>> {
        self.0.iter().find(|(known, _)| *known == id).map(|(_, source)| source)
    }

    /// Returns the names of the texts, in the order in which they were added.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(_, source)| source.name.as_str())
    }

    /// Returns the location of a span, if it is in one of the texts.
    #[must_use]
    pub fn place(&self, span: Span) -> Option<Location> {
        self.get(span.source).map(|source| Location { source: Arc::clone(source), span })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_of_several_holders_are_told_apart() {
        let (mut chart, mut flags) = (Sources::default(), Sources::default());
        let in_chart = Span { source: chart.add("values.yaml", "a: 1\nb: 2\n"), start: 5, end: 6 };
        let in_flags = Span { source: flags.add("--set", "a=3"), start: 2, end: 3 };
        assert!(chart.place(in_flags).is_none());
        chart.extend(&flags);
        let location = |span| chart.place(span).map(|place| place.to_string());
        assert_eq!(location(in_chart).as_deref(), Some("values.yaml:2:1"));
        assert_eq!(location(in_flags).as_deref(), Some("--set:1:3"));
        assert_eq!(location(Span::NONE), None);
    }
}

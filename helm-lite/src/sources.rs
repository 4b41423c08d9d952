//! The files behind spans: which text a [`Span`] of a chart or of values points into.
//!
//! Charts are shared by renderings and by threads, so every text that is read gets a number that no other in the
//! process has, and whoever holds nodes or values with spans holds their texts too.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use yamltree::{Location, Source, SourceId, Span};

/// The texts that some spans point into.
#[derive(Clone, Debug, Default)]
pub struct Sources(BTreeMap<SourceId, Arc<Source>>);

/// The next free number. When they have all been used they are handed out anew, which at worst shows a wrong excerpt.
static NEXT: AtomicU32 = AtomicU32::new(0);

impl Sources {
    /// Takes in a text under the name that a user would give it, and returns the number for its spans.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<Arc<str>>) -> SourceId {
        let id = NEXT.fetch_add(1, Ordering::Relaxed) % Span::NONE.source;
        self.0.insert(id, Arc::new(Source { name: name.into(), text: text.into() }));
        id
    }

    /// Takes in the texts of others.
    pub fn extend(&mut self, others: &Self) {
        self.0.extend(others.0.iter().map(|(id, source)| (*id, Arc::clone(source))));
    }

    /// The names of the texts, in the order in which they were taken in.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.values().map(|source| source.name.as_str())
    }

    /// The place that a span stands for; none for what no file holds.
    #[must_use]
    pub fn place(&self, span: Span) -> Option<Location> {
        self.0.get(&span.source).map(|source| Location { source: Arc::clone(source), span })
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

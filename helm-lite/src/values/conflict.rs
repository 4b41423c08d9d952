//! Warnings about values that replace a mapping by something else.

use yamltree::Span;

use super::coalesce::{Path, sources};
use super::merge::UserValues;
use crate::chart::Chart;
use crate::sources::Sources;
use crate::warning::{Code, Warning};

/// The most conflicts that are told of: a chart that meets with more is another chart.
const MAX_CONFLICTS: usize = 100;

/// The conflicts of a pass.
#[derive(Debug, Default)]
pub(crate) struct Conflicts(Vec<Conflict>);

#[derive(Debug)]
struct Conflict {
    code: Code,
    path: String,
    /// The span of the effective value.
    above: Span,
    /// The span of the ignored value.
    below: Span,
}

impl Conflicts {
    pub(super) fn mapping_replaced(&mut self, path: &Path<'_>, above: Span, below: Span) {
        self.add(Code::MapReplaced, path, above, below);
    }

    pub(super) fn value_ignored(&mut self, path: &Path<'_>, above: Span, below: Span) {
        self.add(Code::ValueIgnored, path, above, below);
    }

    fn add(&mut self, code: Code, path: &Path<'_>, above: Span, below: Span) {
        // A parent chart's values hold those of its sub-charts, so that one conflict is met once a level.
        let is_known = |known: &Conflict| known.above == above && known.below == below && above.is_some();
        if self.0.len() < MAX_CONFLICTS && !self.0.iter().any(is_known) {
            self.0.push(Conflict { code, path: path.text(), above, below });
        }
    }

    /// The conflicts as warnings.
    pub(super) fn warn(&self, chart: &Chart, user: &UserValues, warnings: &mut Vec<Warning>) {
        if !self.0.is_empty() {
            let sources = sources(chart, user);
            warnings.extend(self.0.iter().map(|conflict| conflict.warning(&sources)));
        }
    }
}

impl Conflict {
    fn warning(&self, sources: &Sources) -> Warning {
        let below = sources.place(self.below).map_or_else(String::new, |place| {
            format!(" ({}:{})", place.source.name, place.source.line_column(place.span.start).0)
        });
        let path = &self.path;
        let message = match self.code {
            Code::MapReplaced => {
                format!(
                    "`{path}` is a mapping in the chart{below} and is replaced by a value that is not a mapping"
                )
            }
            _ => format!("`{path}` of the chart{below} is ignored because it is given as a mapping"),
        };
        Warning::new(self.code, message).at(sources.place(self.above))
    }
}

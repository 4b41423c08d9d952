//! What is wrong with a chart or its values: in Helm's words, with the place that Helm does not tell.

use std::fmt;

use yamltree::Place;

pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a chart could not be rendered, as far as a caller decides by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The chart, its values or an option is wrong.
    Invalid,
    /// A file, chart or dependency that is named does not exist.
    NotFound,
    /// The input asks for something that is not allowed: an archive's path outside its folder, a disabled feature.
    Denied,
    /// The input is larger, deeper or takes longer than is allowed.
    Limit,
    /// The input asks for something that this program does not do.
    Unsupported,
    /// Something outside failed: the network, a registry, the disk.
    Unavailable,
}

/// A failure: Helm's message, and where the fault is written.
#[derive(Clone, Debug)]
pub struct Error(Box<Inner>);

#[derive(Clone, Debug)]
struct Inner {
    kind: ErrorKind,
    message: String,
    hint: Option<String>,
    place: Option<Place>,
    trail: Vec<Step>,
}

/// Something else that has to do with an error: an outer template's call, the next violation of a schema, a values
/// file that was read.
#[derive(Clone, Debug)]
pub struct Step {
    /// What it is: `included here`, `values were read from`.
    pub note: String,
    /// Where, when that is in a file.
    pub place: Option<Place>,
}

/// What Helm adds to an error once there is a release whose manifests `--debug` would print.
pub const DEBUG_ADVICE: &str = "\n\nUse --debug flag to render out invalid YAML";

impl Error {
    /// An error with the text that Helm prints behind `Error: `, without a final line break.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner { kind, message: message.into(), hint: None, place: None, trail: Vec::new() }))
    }

    /// A fault of the chart or of its values.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Invalid, message)
    }

    /// Says where it is wrong, unless a place nearer to the fault is known already.
    #[must_use]
    pub fn at(mut self, place: Option<Place>) -> Self {
        if self.0.place.is_none() {
            self.0.place = place;
        }
        self
    }

    /// Says what to do about it, unless something is said already.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint.get_or_insert_with(|| hint.into());
        self
    }

    /// Adds what else has to do with it, from the fault outwards.
    #[must_use]
    pub fn via(mut self, note: impl Into<String>, place: Option<Place>) -> Self {
        self.0.trail.push(Step { note: note.into(), place });
        self
    }

    /// Puts words and a colon before the message, as Helm does from caller to caller.
    #[must_use]
    pub fn prefix(mut self, words: impl fmt::Display) -> Self {
        self.0.message = format!("{words}: {}", self.0.message);
        self
    }

    /// Adds the advice that Helm gives for faults of what was rendered.
    #[must_use]
    pub fn advise_debug(mut self) -> Self {
        self.0.message.push_str(DEBUG_ADVICE);
        self
    }

    /// The kind of failure.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// What Helm prints behind `Error: `, possibly of several lines.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// What to do about it, when there is something to say.
    #[must_use]
    pub fn help(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }

    /// Where it is wrong, when that is in a file.
    #[must_use]
    pub fn place(&self) -> Option<&Place> {
        self.0.place.as_ref()
    }

    /// What else has to do with it, from the fault outwards.
    #[must_use]
    pub fn trail(&self) -> &[Step] {
        &self.0.trail
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `helm template` of a document that is no YAML ends.
    #[test]
    fn messages_grow_outwards() {
        let error = Error::invalid("yaml: line 2: found a tab character")
            .prefix("error converting YAML to JSON")
            .prefix("YAML parse error on c/templates/a.yaml")
            .advise_debug();
        assert_eq!(
            error.to_string(),
            "YAML parse error on c/templates/a.yaml: error converting YAML to JSON: \
             yaml: line 2: found a tab character\n\nUse --debug flag to render out invalid YAML"
        );
    }

    #[test]
    fn the_first_hint_counts() {
        assert_eq!(Error::invalid("").with_hint("a").with_hint("b").help(), Some("a"));
    }
}

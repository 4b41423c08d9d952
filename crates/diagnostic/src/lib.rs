//! Errors and warnings with their location in a file, and how they are shown.
//!
//! Input: what went wrong, the span of the text at fault, and a hint. Output: the same for a terminal, with an excerpt
//! and a caret, or as JSON. Secrets in URLs are replaced by stars when a message is made, and control characters of a
//! file never reach the terminal.
//!
//! ```
//! use std::sync::Arc;
//! use diagnostic::{Error, ErrorKind, Location, Renderer, Source, Span};
//!
//! let text = "resources:\n- a.yaml\nimagez: []\n";
//! let source = Arc::new(Source { name: "app/kustomization.yaml".to_owned(), text: text.into() });
//! let location = Location { source, span: Span { source: 0, start: 20, end: 26 } };
//! let error = Error::new(ErrorKind::Invalid, "unknown field `imagez`").at(location).hint("did you mean `images`?");
//!
//! assert_eq!(error.to_string(), "app/kustomization.yaml:3:1: unknown field `imagez`");
//! let report = Renderer::default().error("error", &error, None);
//! assert!(report.contains("imagez: []"));
//! ```
//!
//! An error keeps two things that a caller reads: its [`ErrorKind`], by which it decides (exit code, gRPC code, retry),
//! and its location. Nobody decides by an error's text.
//!
//! Engines number the files that they read ([`SourceId`]) and put spans into errors; [`Error::located`] turns the spans
//! into locations once, when the error leaves the engine.

mod error;
mod redact;
mod render;
mod source;
mod warning;

pub use error::{Error, ErrorKind, Position, Step};
pub use redact::{redact, without_account};
pub use render::{Renderer, Report, Severity};
pub use source::{Location, Source, SourceId, Span};
pub use warning::{Warning, WarningCode};

/// The result of an operation that fails with an [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

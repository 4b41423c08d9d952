//! A YAML tree with spans that reads and writes as go-yaml does.

mod dialect;
mod error;
mod node;
mod source;

pub use dialect::Dialect;
pub use error::{Error, ErrorKind};
pub use node::{Entry, Kind, Node, Style, Tag};
pub use source::{Source, SourceId, Span};

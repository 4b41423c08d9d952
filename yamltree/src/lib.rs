//! A YAML tree with spans that reads and writes as go-yaml does.

mod base64;
mod dialect;
mod emit;
mod error;
mod node;
mod number;
mod resolve;
mod source;
mod timestamp;

pub use dialect::Dialect;
pub use emit::{
    EmitOptions, Emitter, JsonOptions, Properties, Start, compare_keys, push_json_string, sort_by_key_order,
    to_json, to_sigs_yaml,
};
pub use error::{Error, ErrorKind};
pub use node::{Entry, Kind, Node, Style, Tag};
pub use resolve::{Resolved, resolve};
pub use source::{Source, SourceId, Span};
pub use timestamp::Timestamp;

//! A YAML tree with spans that reads and writes as go-yaml does.

mod alias;
mod alias_id;
mod base64;
mod compose;
mod decode;
mod dialect;
mod document;
mod duplicate;
mod emit;
mod error;
mod limits;
mod node;
mod number;
mod parse;
mod resolve;
mod scan;
mod text;
mod timestamp;

pub use alias::Expansion;
pub use decode::decode;
pub use diagnostic::{Location, Source, SourceId, Span};
pub use dialect::Dialect;
pub use document::{Comment, Document, ParseOptions};
pub use duplicate::{Duplicate, DuplicateKeys};
pub use emit::{
    EmitOptions, Emitter, JsonOptions, JsonWriter, Properties, Scalar, SigsWriter, Sink, Start, compare_keys,
    map_values, push_json_string, send_values, sort_by_key_order, to_json, to_json_tree, to_kyaml,
    to_sigs_yaml,
};
pub use error::{Error, ErrorKind};
pub use limits::{MAX_ALIASED_TEXT_LEN, MAX_DEPTH, MAX_TEXT_LEN};
pub use node::{Entry, Kind, Node, Style, Tag};
pub use parse::{parse, parse_first};
pub use resolve::{Resolved, resolve};
pub use timestamp::Timestamp;

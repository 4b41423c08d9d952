//! A YAML tree with spans that parses and prints as go-yaml does.
//!
//! Input: the bytes of a YAML stream. Output: a [`Node`] tree per document, and YAML or JSON text made from a tree, byte
//! for byte as Kustomize and Helm print it. Errors carry go-yaml's own text ([`Error::go_text`]) and an exact span.
//! Rejects what go-yaml rejects, and documents that are too large, nested too deeply or aliased too often
//! ([`MAX_TEXT_LEN`], [`MAX_DEPTH`], [`MAX_ALIASED_TEXT_LEN`]).
//!
//! ```
//! use yamltree::{Dialect, Expansion, JsonOptions, Node, ParseOptions, parse, to_json, to_sigs_yaml};
//!
//! let text = "base: &base {image: web, port: 0x50}\nprod: {<<: *base, replicas: 3}\n";
//! let mut root = parse(text, 0, &ParseOptions::default())?.remove(0).root;
//! root.expand_aliases(Expansion::Decoded(Dialect::V3))?;
//! root.set("env", Node::string("on"));
//!
//! let mut yaml = String::new();
//! to_sigs_yaml(root.get("prod").expect("the key exists"), &mut yaml)?;
//! assert_eq!(yaml, "image: web\nport: 80\nreplicas: 3\n");
//!
//! let mut json = String::new();
//! to_json(&root, JsonOptions::KYAML, &mut json)?;
//! assert!(json.starts_with(r#"{"base":{"image":"web","port":80},"env":"on","#));
//! # Ok::<(), yamltree::Error>(())
//! ```
//!
//! # Steps
//!
//! [`decode`] converts UTF-16 to UTF-8. [`parse()`] runs scanner and composer in one pass, without tokens or events in
//! memory. [`Node::resolved`] gives the type of a scalar by the rules of the [`Dialect`]: go-yaml v2 (Helm, `kubectl`) or
//! v3 (kyaml in Kustomize). [`to_kyaml`] keeps styles, tags and anchors; [`to_sigs_yaml`] and [`to_json`] print the values
//! that Go decodes. Callers with values of their own implement [`Sink`] or drive [`Emitter`].
//!
//! A node owns its children. Strings of up to 24 bytes are stored in the node, and rare properties (anchor, foreign tag,
//! comment) behind one pointer.

mod alias;
mod alias_id;
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

//! Writing: trees, and the events of other values, to YAML and JSON as go-yaml and `encoding/json` write them.
//!
//! [`Emitter`] lays out and quotes YAML. On top of it are [`to_kyaml`], which keeps a tree's styles, and [`to_sigs_yaml`],
//! which writes the values that Go decodes; [`to_json`] writes the same values as JSON.

mod analysis;
mod emitter;
mod fault;
mod go_syntax;
mod json;
mod kyaml;
mod order;
mod quoting;
mod reread;
mod scalar;
mod sigs;
mod tree;
mod values;
mod walk;

pub use self::emitter::{EmitOptions, Emitter, Properties, Start};
pub use self::json::{JsonOptions, JsonWriter, push_json_string, to_json};
pub use self::kyaml::to_kyaml;
pub use self::order::{compare_keys, sort_by_key_order};
pub use self::sigs::{SigsWriter, to_sigs_yaml};
pub use self::tree::{map_values, to_json_tree};
pub use self::values::send_values;
pub use self::walk::{Scalar, Sink};

//! YAML as values of templates, for others whose templates have `toYaml` and `fromYaml`.

pub use crate::funcs::{node_value, read, to_yaml};

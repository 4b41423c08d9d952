//! The functions that Helm adds to Sprig's, or has in their place.

mod json;
mod template;
#[cfg(test)]
mod testing;
mod toml;
mod yaml;

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use gotemplate::funcs::{DURATIONS, SPRIG};
use gotemplate::{Function, Functions, Str};

use crate::cluster::Cluster;
pub(crate) use template::{FAILURE, NO_VALUE, no_values, without_no_value};
pub use yaml::{node_value, read, to_yaml};

/// All functions that templates of a chart know.
pub(crate) fn functions() -> Functions {
    let own: [&'static [Function]; 5] = [DURATIONS, json::FUNCS, template::FUNCS, toml::FUNCS, yaml::FUNCS];
    let tables: Vec<_> = SPRIG.iter().copied().chain(own).collect();
    Functions::new(&tables)
}

/// The state that the functions of one rendering share.
#[derive(Debug, Default)]
pub(crate) struct Host {
    /// Current nesting of each template's inclusion.
    pub(crate) included: RefCell<HashMap<Str, u32>>,
    /// True if `required` and `fail` let templates go on.
    pub(crate) lint: bool,
    /// The cluster that `lookup` reads.
    pub(crate) cluster: Option<Arc<Cluster>>,
    /// The template file that is being executed.
    pub(crate) file: RefCell<String>,
}

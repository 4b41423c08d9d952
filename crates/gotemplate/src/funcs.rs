//! The Sprig functions, a file for each family.
//!
//! Each family is a table; a host that wants them all takes [`SPRIG`]. Two functions read the
//! environment in Sprig, `env` and `expandenv`; as in Helm, they are not there.

mod args;
mod big;
mod convert;
mod copy;
mod crypto;
mod dates;
mod decimal;
mod defaults;
mod dicts;
mod durations;
mod encoding;
mod flow;
mod lists;
mod math;
mod merge;
mod network;
mod paths;
mod random;
mod reflect;
mod regex;
mod semver;
mod strings;
#[cfg(test)]
mod testing;
mod text;
mod url;
mod urls;
mod values;
mod words;

use crate::function::Function;

/// Helm's functions over durations, which are not Sprig's.
pub use durations::FUNCS as DURATIONS;

/// Every Sprig function.
pub const SPRIG: &[&[Function]] = &[
    crypto::certificate::FUNCS,
    crypto::cipher::FUNCS,
    crypto::key::FUNCS,
    crypto::password::FUNCS,
    dates::FUNCS,
    defaults::FUNCS,
    dicts::FUNCS,
    encoding::FUNCS,
    flow::FUNCS,
    lists::FUNCS,
    math::FUNCS,
    network::FUNCS,
    paths::FUNCS,
    random::FUNCS,
    reflect::FUNCS,
    regex::FUNCS,
    semver::FUNCS,
    strings::FUNCS,
    urls::FUNCS,
    words::FUNCS,
];

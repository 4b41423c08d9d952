//! Values: read from files and flags, merged with a chart's own, and explained.

mod coalesce;
mod conflict;
mod draft;
mod file;
mod json;
mod live;
mod merge;
mod set;
mod table;
#[cfg(test)]
mod testing;

pub use coalesce::{Coalesced, coalesce};
pub use file::load;
pub use merge::{Options, UserValues, ValuesFile, merge};
pub use table::{Data, Item, Table};

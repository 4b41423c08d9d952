//! Values: read from files and flags, merged with a chart's own, and explained.

mod coalesce;
mod conflict;
mod draft;
mod explain;
mod file;
mod live;
mod merge;
mod set;
mod step;
mod table;
#[cfg(test)]
pub(crate) mod testing;
mod unknown;

pub use coalesce::{Coalesced, coalesce};
pub(crate) use coalesce::{Nulls, coalesce_live, coalesce_tables, sources};
pub(crate) use conflict::Conflicts;
pub use explain::{Change, Effect, Explanation, explain};
pub use file::load;
pub(crate) use file::split;
pub(crate) use live::{Live, Slot};
pub(crate) use merge::merge_tables;
pub use merge::{Options, UserValues, ValuesFile, merge};
pub use step::SetAs;
pub use table::{Data, Item, Table};

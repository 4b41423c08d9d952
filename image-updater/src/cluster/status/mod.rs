//! Writes the `status` of objects from the results of reconciles.
//!
//! ```text
//! resolved    which objects there are, of which generation, and what is wrong with them    subject.rs
//! heard       what a round came to, sorted by the objects that it was for                  news.rs
//! kept        what is known of each object, folded over many rounds                        ledger.rs
//! said        the status that this makes, by the kind of object                            image_updater.rs, …
//! written     to the API, no more often than is needed                                     writer.rs
//! ```
//!
//! All but the last is pure. Refused: to tell an object that is suspended anything, and to say what is in a Secret.

mod automation;
mod conditions;
mod frame;
mod image_policy;
mod image_repository;
mod image_updater;
mod ledger;
mod news;
mod patch;
mod said;
mod subject;
#[cfg(test)]
mod tests;
mod words;
mod writer;

pub(super) use ledger::Ledger;
pub(super) use news::{News, State, sorted};
pub(crate) use subject::{Fault, Subject};
pub(super) use words::joined;
pub(super) use writer::Writer;

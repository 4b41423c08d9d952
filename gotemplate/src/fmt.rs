//! Go's `fmt`: in go values and a format, out comes text.

mod quote;

pub use quote::{quoted, quoted_ascii};

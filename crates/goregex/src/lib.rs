//! Go's regexp package: RE2 syntax, error texts and matching rules.
//!
//! In goes a pattern as Go programs write it, out comes a [`Regex`] that finds what Go finds, or
//! the [`Error`] Go would print. Matching is `regex-automata`'s, which is leftmost-first and linear
//! in the text as RE2 is; reading the pattern is ours, because the `regex` crate reads another
//! language (Unicode `\w`, nested classes, `(?x)`, no `\Q..\E`).
//!
//! Texts are bytes. Like Go, a byte that is not UTF-8 counts as one U+FFFD.
//!
//! Refused, beyond what Go refuses: a pattern whose automaton would need more than
//! 32 MiB, and more than a thousand nested groups even where Go would flatten them.

mod automaton;
mod class;
mod cursor;
mod error;
mod expand;
mod parse;
mod regex;
mod subject;
mod unicode;

pub use error::Error;
pub use regex::{Regex, check, quote_meta};

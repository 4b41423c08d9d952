//! Go's text/template of Go 1.27, with fmt's verbs and the Sprig functions.
//!
//! In go template texts and a [`Value`]; out comes text, byte for byte what Go writes, or an
//! [`Error`] in Go's words with its place. The language knows nothing of charts: a host adds its
//! functions as tables of [`Function`]s and its types as [`Object`]s.
//!
//! Pure: the time, random bytes and the time zone come in through [`Options`]. Templates are
//! programs, so their execution is bounded by [`Limits`].

mod builtins;
mod context;
mod error;
mod exec;
pub mod fmt;
pub mod funcs;
mod function;
mod functions;
pub mod json;
pub mod semver;
mod set;
mod stack;
mod strconv;
mod syntax;
pub mod time;
mod value;
mod watch;

pub use context::{Context, Limits, MissingKey, Now, Options, Random};
pub use error::{CallError, Error, ErrorKind, Executing, Place};
pub use function::{Call, Function};
pub use functions::Functions;
pub use set::TemplateSet;
pub use value::{Entries, IntKind, Kind, List, Map, Object, Str, Type, UintKind, Value};
pub use watch::{Event, Marks, Trace, Watch};

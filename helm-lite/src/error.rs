//! The crate's error is [`diagnostic::Error`]; its message is what Helm prints behind `Error: `.

pub(crate) use diagnostic::{Error, ErrorKind, Result};

/// The text that Helm appends to an error if a release exists whose manifests `--debug` would print.
pub const DEBUG_ADVICE: &str = "\n\nUse --debug flag to render out invalid YAML";

//! What Helm adds to an error.

/// The text that Helm appends to an error if a release exists whose manifests `--debug` would print.
pub const DEBUG_ADVICE: &str = "\n\nUse --debug flag to render out invalid YAML";

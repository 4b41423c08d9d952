//! The values of a chart, as a user types them.

/// The values that a user gives, as typed.
#[derive(Clone, Debug, Default)]
pub struct Values {
    /// `--values`
    pub files: Vec<String>,
    /// `--set-json`
    pub json: Vec<String>,
    /// `--set`
    pub set: Vec<String>,
    /// `--set-string`
    pub string: Vec<String>,
    /// `--set-file`
    pub file: Vec<String>,
    /// `--set-literal`
    pub literal: Vec<String>,
}

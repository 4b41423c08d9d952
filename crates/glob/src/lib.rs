//! Glob patterns in the dialects of the tools that this workspace follows.
//!
//! Input: a pattern and a string. Output: true if the pattern matches all of the string. Each dialect accepts and rejects
//! what its original does:
//!
//! | dialect | used for |
//! |---|---|
//! | [`path_match`] | Go's `path.Match`: `.helmignore`, `kustomize edit`, tags to ignore, projects of Argo CD |
//! | [`gobwas`] | settings and projects of Argo CD |
//! | [`helm`] | `.Files.Glob` of Helm |
//! | [`doublestar`] | value files of an Application |
//! | [`pathspec`] | files of a git generator |
//! | [`envsubst`] | `${name#pattern}` in Flux' substitutions, and `.sourceignore` |
//!
//! ```
//! use glob::{gobwas, path_match};
//!
//! assert_eq!(path_match("apps/*.yaml", "apps/web.yaml"), Ok(true));
//! assert_eq!(path_match("apps/*.yaml", "apps/web/a.yaml"), Ok(false));
//! let glob = gobwas::Glob::new("{prod,stage}-*", "/")?;
//! assert!(glob.matches("prod-eu"));
//! # Ok::<(), diagnostic::Error>(())
//! ```

pub mod doublestar;
pub mod envsubst;
pub mod gobwas;
pub mod helm;
mod path;
pub mod pathspec;

pub use path::{BadPattern, path_match};

//! Changes scalars and entries of YAML files and leaves every other byte alone.
//!
//! In: a text and what to change in it, named by nodes of its tree. Out: the text with a few runs of bytes replaced,
//! read again and proven to differ from the old one only as planned.
//!
//! ```
//! use yamledit::{Edits, File, Path};
//!
//! let file = File::parse("image:\n  tag: 1.19   # bumped\n", 0)?;
//! let mut edits = Edits::new(&file);
//! edits.set(file.find(&Path::parse("image.tag")?)?, "1.20")?;
//! assert_eq!(edits.apply()?.as_deref(), Some("image:\n  tag: \"1.20\"   # bumped\n"));
//! # Ok::<(), diagnostic::Error>(())
//! ```
//!
//! Refused, each with the place and the reason: a text that is no YAML; a path that goes through an alias or a merged
//! key, or that has a key twice; an alias, a block scalar or a number by tag as what is to be changed; and whatever the
//! proof does not bear out.

mod anchors;
mod content;
mod edits;
mod error;
mod file;
mod layout;
mod path;
mod proof;
mod scalar;
mod schema;

pub use anchors::{Anchors, FoundEntry};
pub use content::Content;
pub use edits::Edits;
pub use file::File;
pub use path::{MissingPath, Path};
pub use scalar::scalar;
pub use schema::reads_as_string;

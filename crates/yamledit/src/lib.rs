//! Edits scalars and entries of YAML files and leaves every other byte as it is.
//!
//! Input: a YAML text and a list of edits, each of which names a node of its tree. Output: the text with a few byte ranges
//! replaced. The result is parsed again, and an edit fails if the trees differ in more than what was planned.
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
//! Rejects, with location and reason: text that is not YAML; a path through an alias, a merged key or a duplicate key;
//! edits of an alias, of a block scalar or of a tagged number; and any result that the second parse does not confirm.

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

//! The parts of Go's standard library whose output ends up in manifests and messages.
//!
//! - [`quoted`] and its relatives: `strconv.Quote`, as `%q` prints it
//! - [`unicode`]: character classes and letter case
//! - [`base64`] and [`base32`]: the standard encodings, with Go's errors
//!
//! Input: bytes and characters. Output: what Go 1.27 returns. Everything here is pure.
//!
//! ```
//! assert_eq!(gostd::quoted("caf\u{e9}\u{a0}\n".as_bytes()), r#""café\u00a0\n""#);
//! assert_eq!(gostd::base64::decode(b"YW\nI=").unwrap(), b"ab");
//! let error = gostd::base64::decode(b"Y!==").unwrap_err();
//! assert_eq!(error.to_string(), "illegal base64 data at input byte 1");
//! ```

pub mod base32;
pub mod base64;
mod quote;
pub mod unicode;

pub use quote::{characters, quoted, quoted_ascii, quoted_char};

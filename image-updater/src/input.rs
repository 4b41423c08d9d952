//! Reads what the command line names: a file, or standard input as `-`. Texts only, and none without end.

use diagnostic::{Error, Result};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// A list of a hundred thousand tags with all that is known of each is a fifth of that.
const MAX_LEN: u64 = 256 * 1024 * 1024;

/// Reads a text, and gives the name that errors call it by.
///
/// # Errors
/// If it cannot be read, is too long or not UTF-8.
pub(crate) fn read_text(path: &Path) -> Result<(String, String)> {
    if path == Path::new("-") {
        let name = "standard input";
        return Ok((bounded(io::stdin().lock(), name, Path::new(name))?, name.to_owned()));
    }
    let name = path.display().to_string();
    let file = File::open(path).map_err(|error| Error::io("read", path, &error))?;
    Ok((bounded(file, &name, path)?, name))
}

fn bounded(reader: impl Read, name: &str, path: &Path) -> Result<String> {
    let mut bytes = Vec::new();
    reader.take(MAX_LEN + 1).read_to_end(&mut bytes).map_err(|error| Error::io("read", path, &error))?;
    if bytes.len() as u64 > MAX_LEN {
        return Err(Error::invalid(format!("`{name}` is longer than {} MiB", MAX_LEN >> 20)));
    }
    String::from_utf8(bytes).map_err(|_| Error::invalid(format!("`{name}` is not valid UTF-8")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use diagnostic::ErrorKind;

    #[test]
    fn what_has_no_end_and_what_is_no_text_is_refused() {
        assert!(bounded(io::repeat(b'a'), "x", Path::new("x")).is_err());
        assert!(bounded(&b"\xff"[..], "x", Path::new("x")).is_err());
        assert_eq!(bounded(&b"[]"[..], "x", Path::new("x")).unwrap(), "[]");
        let missing = read_text(Path::new("does-not-exist.json")).unwrap_err();
        assert_eq!(missing.kind(), ErrorKind::NotFound);
    }
}

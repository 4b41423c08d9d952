//! Prints the schema of the data, which is published as `crates/manifest-diff/schema.json`.

use std::io::{self, Write};

fn main() -> io::Result<()> {
    writeln!(io::stdout(), "{:#}", manifest_diff::schema())
}

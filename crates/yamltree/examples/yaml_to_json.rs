//! Reads YAML from standard input and prints each document as JSON, as `encoding/json` would.
//!
//! ```console
//! $ cargo run -p yamltree --example yaml_to_json < deployment.yaml
//! ```

use std::error::Error;
use std::io::{self, Read, Write};

use yamltree::{Dialect, Expansion, JsonOptions, ParseOptions, decode, parse, to_json};

fn main() -> Result<(), Box<dyn Error>> {
    let mut bytes = Vec::new();
    io::stdin().read_to_end(&mut bytes)?;
    let text = decode(&bytes, 0)?;
    for mut document in parse(&text, 0, &ParseOptions::default())? {
        document.root.expand_aliases(Expansion::Decoded(Dialect::V3))?;
        let mut json = String::new();
        to_json(&document.root, JsonOptions::KYAML, &mut json)?;
        writeln!(io::stdout(), "{json}")?;
    }
    Ok(())
}

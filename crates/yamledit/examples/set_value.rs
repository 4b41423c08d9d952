//! Sets one value of a YAML file and prints the result; every other byte stays.
//!
//! ```console
//! $ cargo run -p yamledit --example set_value values.yaml image.tag 1.20
//! ```

use std::error::Error;
use std::io::{self, Write};
use std::{env, fs};

use yamledit::{Edits, File, Path};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [file, path, value] = arguments.as_slice() else {
        return Err("usage: set_value FILE PATH VALUE".into());
    };
    let text = fs::read_to_string(file)?;
    let file = File::parse(&text, 0)?;
    let mut edits = Edits::new(&file);
    edits.set(file.find(&Path::parse(path)?)?, value)?;
    let edited = edits.apply()?;
    write!(io::stdout(), "{}", edited.as_deref().unwrap_or(&text))?;
    Ok(())
}

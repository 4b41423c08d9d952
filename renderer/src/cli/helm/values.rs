//! The flags that give values, which several commands have.

use clap::Args;

use crate::chart::Values;

#[derive(Args, Debug)]
pub(in crate::cli) struct ValueFlags {
    /// A file with values (repeatable, or several with commas)
    #[arg(short = 'f', long = "values", value_name = "FILE", value_delimiter = ',')]
    values: Vec<String>,

    /// A value: `key=value`, typed as helm does (repeatable)
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,

    /// A value that is a string (repeatable)
    #[arg(long, value_name = "KEY=VALUE")]
    set_string: Vec<String>,

    /// A value in JSON (repeatable)
    #[arg(long, value_name = "KEY=JSON")]
    set_json: Vec<String>,

    /// A value that is a file's content (repeatable)
    #[arg(long, value_name = "KEY=FILE")]
    set_file: Vec<String>,

    /// A value that is a string, taken literally (repeatable)
    #[arg(long, value_name = "KEY=VALUE")]
    set_literal: Vec<String>,
}

impl ValueFlags {
    /// Returns what they give.
    pub(in crate::cli) fn given(&self) -> Values {
        Values {
            files: self.values.clone(),
            json: self.set_json.clone(),
            set: self.set.clone(),
            string: self.set_string.clone(),
            file: self.set_file.clone(),
            literal: self.set_literal.clone(),
        }
    }
}

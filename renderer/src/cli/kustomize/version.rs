//! `renderer kustomize version`: the Kustomize that is built as, in the forms that tools parse.

use clap::Args;
use diagnostic::{Error, ErrorKind, Result};

use crate::cli::helm::flags::go_switch;
use crate::cli::version::KUSTOMIZE;
use crate::output;

pub(super) const EXAMPLES: &str = "\
Examples:
  renderer kustomize version

  # for a machine
  renderer kustomize version -o json";

/// The commit of Kustomize's version output; this program was not built from one.
const COMMIT: &str = concat!("renderer.", env!("CARGO_PKG_VERSION"));

#[derive(Args, Debug)]
#[command(mut_args = go_switch)]
pub(in crate::cli) struct Arguments {
    /// Print it in the form that older tools read
    #[arg(long)]
    short: bool,

    /// The format of all that is known of it
    #[arg(short, long, value_name = "FORMAT")]
    output: Option<crate::cli::Format>,
}

pub(super) fn run(arguments: &Arguments) -> Result<()> {
    use crate::cli::Format::{Json, Yaml};
    let text = match (arguments.output, arguments.short) {
        (Some(_), true) => {
            let sentence = "--short and --output are mutually exclusive";
            return Err(Error::new(ErrorKind::Usage, sentence));
        }
        (None, true) => format!("{{v{KUSTOMIZE}  {COMMIT}   }}\n"),
        (None, false) => format!("v{KUSTOMIZE}\n"),
        (Some(Yaml), false) => format!("version: v{KUSTOMIZE}\ngitCommit: {COMMIT}\n"),
        (Some(Json), false) => {
            format!("{{\n  \"version\": \"v{KUSTOMIZE}\",\n  \"gitCommit\": \"{COMMIT}\"\n}}\n")
        }
    };
    output::to_stdout(&text)
}

//! `renderer kustomize edit fix`.

use std::path::Path;

use clap::Args;
use diagnostic::Result;

use super::{edit, usage};
use crate::cli::helm::flags::go_switch;
use crate::output;
use crate::report::Reporter;

pub(super) const EXAMPLES: &str = "\
Examples:
  # patchesJson6902 and patchesStrategicMerge become patches, commonLabels become labels
  renderer kustomize edit fix";

#[derive(Args, Debug)]
#[command(mut_args = go_switch)]
pub(in crate::cli) struct Arguments {
    /// Refused: vars stay vars
    #[arg(long)]
    vars: bool,
}

pub(super) fn run(arguments: &Arguments, reporter: &mut Reporter) -> Result<()> {
    if arguments.vars {
        return Err(usage("`--vars` is not supported: vars are not converted to replacements")
            .hint("write the replacements by hand, and compare what is built"));
    }
    edit(reporter, |kustomization| kustomization.fix(|path| Path::new(path).is_file()))?;
    output::to_stdout(
        "\nFixed fields:\n  patchesJson6902 -> patches\n  patchesStrategicMerge -> patches\n  \
         commonLabels -> labels\n",
    )
}

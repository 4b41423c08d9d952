//! `image-updater test`: which tag the rules choose, tried out on what a registry says or on a list of tags.

use clap::Args;
use diagnostic::Result;

use super::Format;
use super::question::QuestionFlags;
use crate::{output, table};

const EXAMPLES: &str = "\
Examples:
  # what the registry has that is newer
  image-updater test nginx:1.25.5 --semver-constraint 1.x

  # a registry with an account, whose password is in a variable
  image-updater test quay.io/team/shop:1.4.2 --credentials env:QUAY_LOGIN

  # the highest 1.x of a list of tags
  image-updater test example.com/shop:1.4.2 --tags-from tags.json \\
    --semver-constraint 1.x

  # what the flavour of the running tag has to offer
  image-updater test nginx:1.25.5-alpine --tags-from tags.json --keep-suffix

  # the newest build of the main branch, by the time in the tag
  image-updater test example.com/shop --tags-from tags.json \\
    --update-strategy numerical \\
    --filter-tags '^main-[0-9a-f]+-(?P<time>[0-9]+)$' --extract '$time'

  # tags from another program
  skopeo list-tags docker://nginx | jq .Tags | image-updater test nginx --tags-from -";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    #[command(flatten)]
    question: QuestionFlags,
    /// Output format
    #[arg(short, long, value_name = "FORMAT", default_value = "table")]
    output: Format,
}

pub(super) fn run(arguments: Arguments) -> Result<()> {
    let decision = arguments.question.decide()?;
    output::to_stdout(&match arguments.output {
        Format::Table => table::decision(&decision),
        Format::Json => output::json(&decision)?,
    })
}

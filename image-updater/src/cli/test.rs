//! `image-updater test`: which tag the rules choose, tried out on a list of tags.

use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use clap::builder::PossibleValuesParser;
use clap::{ArgAction, Args, ValueEnum};
use jiff::{SignedDuration, Timestamp};
use registry::Reference;

use super::Format;
use crate::choose::{Question, Rules};
use crate::criteria::{Criteria, Order};
use crate::decision::Decision;
use crate::error::{Error, ErrorKind, Result};
use crate::tags::from_json;
use crate::{input, output, policy, report, table};

const EXAMPLES: &str = "\
Examples:
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
    /// The image, with the tag that runs or that is watched
    #[arg(value_name = "IMAGE[:TAG]")]
    image: String,
    /// A JSON list of tags: texts, or objects with `tag`, `created`, `digest`, `platforms`, `children`; `-` is standard
    /// input
    #[arg(long, value_name = "FILE")]
    tags_from: PathBuf,
    #[command(flatten)]
    criteria: CriteriaFlags,
    /// The tag that runs, where it is not that of the image
    #[arg(long, value_name = "TAG", allow_hyphen_values = true)]
    current: Option<String>,
    /// The time to reckon ages from, instead of the clock's
    #[arg(long, value_name = "RFC3339")]
    now: Option<String>,
    /// How to print the decision
    #[arg(short, long, value_name = "FORMAT", default_value = "table")]
    output: Format,
}

// How a tag is chosen, in flags. Not a documentation comment, which would become the text of each command's help.
#[derive(Args, Debug)]
pub(super) struct CriteriaFlags {
    /// How tags are put in order
    #[arg(long, value_name = "STRATEGY", default_value = policy::DEFAULT)]
    #[arg(value_parser = PossibleValuesParser::new(policy::names()))]
    update_strategy: String,
    /// semver: the versions that are allowed, such as `^1.2` or `>=1.2 <2`
    #[arg(long, value_name = "CONSTRAINT", allow_hyphen_values = true)]
    semver_constraint: Option<String>,
    /// calver: what a tag looks like, such as `YYYY.0M[.MICRO]`
    #[arg(long, value_name = "FORMAT", allow_hyphen_values = true)]
    calver_format: Option<String>,
    /// Tags that count: `any`, or `regexp:` and an expression
    #[arg(long, value_name = "MATCH", allow_hyphen_values = true)]
    allow_tags: Option<String>,
    /// Tags that do not count, as a glob; may be repeated
    #[arg(long, value_name = "GLOB", action = ArgAction::Append, allow_hyphen_values = true)]
    ignore_tags: Vec<String>,
    /// An expression that tags must match
    #[arg(long, value_name = "REGEXP", allow_hyphen_values = true)]
    filter_tags: Option<String>,
    /// What of a match is put in order, such as `$1` or `${name}`
    #[arg(long, value_name = "TEMPLATE", allow_hyphen_values = true)]
    extract: Option<String>,
    /// alphabetical, numerical: whether the last or the first is wanted
    #[arg(long, value_name = "ORDER")]
    order: Option<OrderFlag>,
    /// semver: what follows the version must be that of the current tag
    #[arg(long)]
    keep_suffix: bool,
    /// semver: pre-releases count
    #[arg(long)]
    prerelease: bool,
    /// How long a tag must have been there, such as `3d` or `1h30m`
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true)]
    min_age: Option<String>,
    /// Platforms that must all be there, such as `linux/amd64,linux/arm64`
    #[arg(long, value_name = "OS/ARCH[/VARIANT],…", value_delimiter = ',')]
    platforms: Vec<String>,
    /// Choose a lower tag than the current one, if no other is left
    #[arg(long)]
    allow_downgrade: bool,
}

/// An order, as typed.
#[derive(ValueEnum, Clone, Copy, Debug)]
enum OrderFlag {
    Asc,
    Desc,
}

impl CriteriaFlags {
    fn criteria(self) -> Result<Criteria> {
        let order = |flag| match flag {
            OrderFlag::Asc => Order::Ascending,
            OrderFlag::Desc => Order::Descending,
        };
        Ok(Criteria {
            strategy: self.update_strategy,
            semver_constraint: self.semver_constraint,
            calver_format: self.calver_format,
            order: self.order.map(order),
            keep_suffix: self.keep_suffix,
            prerelease: self.prerelease,
            allow_tags: self.allow_tags,
            ignore_tags: self.ignore_tags,
            filter_tags: self.filter_tags,
            extract: self.extract,
            min_age: self.min_age.map(|age| age.parse()).transpose()?,
            platforms: self
                .platforms
                .iter()
                .map(|platform| platform.parse().map_err(Error::from))
                .collect::<Result<_>>()?,
            allow_downgrade: self.allow_downgrade,
        })
    }
}

pub(super) fn run(arguments: Arguments) -> Result<()> {
    let format = arguments.output;
    let decision = decide(arguments)?;
    for warning in &decision.warnings {
        report::warning(warning);
    }
    output::to_stdout(&match format {
        Format::Table => table::decision(&decision),
        Format::Json => json(&decision)?,
    })
}

fn decide(arguments: Arguments) -> Result<Decision> {
    // All that is typed is checked before the tags are read: it is wrong whatever they are.
    let image: Reference = arguments.image.parse()?;
    let rules = Rules::new(&arguments.criteria.criteria()?)?;
    if let Some(current) = arguments.current.as_ref().filter(|current| !registry::is_tag(current)) {
        return Err(Error::input(format!("the current tag `{current}` is no tag")));
    }
    let now = arguments.now.as_deref().map_or_else(clock, parse_time)?;
    let (text, name) = input::read_text(&arguments.tags_from)?;
    let tags = from_json(&text, &name)?;
    let question =
        Question { image: &arguments.image, tag: image.tag(), current: arguments.current.as_deref(), now };
    rules.choose(&question, &tags)?.decided(&arguments.image)
}

fn parse_time(text: &str) -> Result<Timestamp> {
    let refuse = |_| Error::input(format!("`{text}` is no time")).hint("write it as `2024-05-01T12:00:00Z`");
    text.parse().map_err(refuse)
}

fn clock() -> Result<Timestamp> {
    let broken = || Error::new(ErrorKind::Environment, "the clock of this machine is far off");
    let since = SystemTime::now().duration_since(UNIX_EPOCH).map_err(|_| broken())?;
    let since = SignedDuration::try_from(since).map_err(|_| broken())?;
    Timestamp::from_duration(since).map_err(|_| broken())
}

fn json(decision: &Decision) -> Result<String> {
    let text = serde_json::to_string_pretty(decision);
    let text =
        text.map_err(|error| Error::new(ErrorKind::Environment, format!("cannot write JSON: {error}")))?;
    Ok(text + "\n")
}

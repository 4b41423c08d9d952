//! The arguments of `test` and `explain`: an image, its tags, and the policy.

use diagnostic::{Error, ErrorKind, Result};
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use clap::builder::PossibleValuesParser;
use clap::{ArgAction, Args, ValueEnum};
use cosign::Verified;
use jiff::{SignedDuration, Timestamp};

use super::registry_flags::RegistryFlags;
use crate::choose::{Question, Rules};
use crate::criteria::{Criteria, Order, Scope, TagPattern, UpdateFrom};
use crate::decision::Decision;
use crate::look::Look;
use crate::tags::from_json;
use crate::trust::Keyring;
use crate::work::{KeyPlace, Verification};
use crate::{input, policy, progress, report};

// A question, in flags. Not a documentation comment, which would become the text of each command's help.
#[derive(Args, Debug)]
pub(super) struct QuestionFlags {
    /// The image, with the tag that runs or that is watched
    #[arg(value_name = "IMAGE[:TAG]")]
    image: String,
    /// Ask no registry but a JSON list of tags: texts, or objects with `tag`, `created`, `digest`, `platforms`,
    /// `children`; `-` is standard input
    #[arg(long, value_name = "FILE")]
    tags_from: Option<PathBuf>,
    #[command(flatten)]
    registries: RegistryFlags,
    #[command(flatten)]
    criteria: CriteriaFlags,
    /// The tag that runs, where it is not that of the image
    #[arg(long, value_name = "TAG", allow_hyphen_values = true)]
    current: Option<String>,
    /// The time to reckon ages from, instead of the clock's
    #[arg(long, value_name = "RFC3339")]
    now: Option<String>,
}

// How a tag is chosen, in flags.
#[derive(Args, Debug)]
struct CriteriaFlags {
    /// Strategy that orders tags
    #[arg(long, value_name = "STRATEGY", default_value = crate::criteria::DEFAULT_STRATEGY)]
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
    /// Part of the match that is ordered, such as `$1` or `${name}`
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
    /// semver: a tag needs three numbers, whatever the constraint and the current tag have
    #[arg(long)]
    strict_versions: bool,
    /// semver: how far from the current version a tag may be
    #[arg(long, value_name = "SCOPE")]
    update_scope: Option<ScopeFlag>,
    /// semver, alphabetical: numbers in words count by their value, so that `rc10` is above `rc9`
    #[arg(long)]
    natural_order: bool,
    /// Current tags that may be updated, as a glob, or `regexp:` and an expression, or `semver:` and a constraint; any
    /// other stays; may be repeated
    #[arg(long, value_name = "MATCH", action = ArgAction::Append, allow_hyphen_values = true)]
    update_from: Vec<String>,
    /// Minimum age of a tag, such as `3d` or `1h30m`
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

/// A scope, as typed.
#[derive(ValueEnum, Clone, Copy, Debug)]
enum ScopeFlag {
    /// Another patch version
    Patch,
    /// Another minor version too
    Minor,
    /// Any version
    Major,
}

impl CriteriaFlags {
    fn criteria(self) -> Result<Criteria> {
        let order = |flag| match flag {
            OrderFlag::Asc => Order::Ascending,
            OrderFlag::Desc => Order::Descending,
        };
        let scope = |flag| match flag {
            ScopeFlag::Patch => Scope::Patch,
            ScopeFlag::Minor => Scope::Minor,
            ScopeFlag::Major => Scope::Major,
        };
        Ok(Criteria {
            strategy: self.update_strategy,
            semver_constraint: self.semver_constraint,
            calver_format: self.calver_format,
            order: self.order.map(order),
            keep_suffix: self.keep_suffix,
            prerelease: self.prerelease,
            strict_versions: self.strict_versions,
            update_scope: self.update_scope.map(scope),
            natural_order: self.natural_order,
            update_from: self.update_from.iter().map(|text| UpdateFrom::read(text)).collect(),
            allow_tags: self.allow_tags,
            ignore_tags: self.ignore_tags.into_iter().map(TagPattern::Glob).collect(),
            filter_tags: self.filter_tags,
            extract: self.extract,
            min_age: self.min_age.map(|age| age.parse()).transpose()?,
            platforms: self.platforms.iter().map(|platform| platform.parse()).collect::<Result<_>>()?,
            allow_downgrade: self.allow_downgrade,
        })
    }
}

impl QuestionFlags {
    /// Decides, and says what may not be meant.
    pub(super) fn decide(self) -> Result<Decision> {
        self.decide_signed(&[]).map(|(decision, _)| decision)
    }

    /// Decides, and says by which of some keys what is chosen is signed, where there are keys and something is chosen.
    pub(super) fn decide_signed(self, keys: &[PathBuf]) -> Result<(Decision, Option<Result<Verified>>)> {
        // All that is typed is checked before the tags are read: it is wrong whatever they are.
        let registries = self.registries.read()?;
        let image = registries.reference(&self.image)?;
        let rules = Rules::new(&self.criteria.criteria()?)?;
        if let Some(current) = self.current.as_ref().filter(|current| !oci_registry::is_tag(current)) {
            return Err(Error::invalid(format!("invalid current tag `{current}`")));
        }
        let now = self.now.as_deref().map_or_else(clock, parse_time)?;
        let verification = Verification { keys: keys.iter().cloned().map(KeyPlace::File).collect() };
        let keyring = Keyring::default();
        keyring.keys(&verification)?;
        let question =
            Question { image: &self.image, tag: image.tag(), current: self.current.as_deref(), now };
        let (decision, signed) = match &self.tags_from {
            Some(path) => {
                let (text, name) = input::read_text(path)?;
                (rules.choose(&question, &from_json(&text, &name)?)?.decided(&self.image)?, None)
            }
            None => {
                let repository = image.repository();
                let client = registries.client(repository)?;
                progress::while_waiting(&format!("asking about {repository}"), || {
                    let look = Look::new(&client).trusting(keyring);
                    let decision = look.decide(repository, &rules, &question)?;
                    let chosen = decision.chosen.as_deref().filter(|_| !keys.is_empty());
                    let digest = decision.digest.as_deref();
                    let signed = chosen.map(|tag| look.verify(repository, tag, digest, &verification));
                    Ok::<_, Error>((decision, signed))
                })?
            }
        };
        decision.warnings.iter().for_each(|warning| report::warning(warning));
        Ok((decision, signed))
    }
}

pub(super) fn parse_time(text: &str) -> Result<Timestamp> {
    let refuse =
        |_| Error::invalid(format!("invalid time `{text}`")).hint("write it as `2024-05-01T12:00:00Z`");
    text.parse().map_err(refuse)
}

pub(super) fn clock() -> Result<Timestamp> {
    let broken = || Error::new(ErrorKind::Environment, "the clock of this machine is far off");
    let since = SystemTime::now().duration_since(UNIX_EPOCH).map_err(|_| broken())?;
    let since = SignedDuration::try_from(since).map_err(|_| broken())?;
    Timestamp::from_duration(since).map_err(|_| broken())
}

//! `image-updater explain`: the rule that kept or dropped each tag, and why the chosen one won.

use diagnostic::{Error, Result};
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use clap::Args;
use cosign::Verified;
use serde::Serialize;

use super::Format;
use super::question::QuestionFlags;
use crate::decision::{Decision, Standing, Verdict};
use crate::{output, table};

const EXAMPLES: &str = "\
Examples:
  # all tags that the registry lists
  image-updater explain nginx:1.25.5 --semver-constraint 1.x

  # all tags of a list
  image-updater explain example.com/shop:1.4.2 --tags-from tags.json \\
    --semver-constraint 1.x

  # whether the chosen one is signed, and if not, why
  image-updater explain example.com/shop:1.4.2 --cosign-key cosign.pub

  # why one of them is not chosen
  image-updater explain example.com/shop:1.4.2 1.5.0 --tags-from tags.json";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    #[command(flatten)]
    question: QuestionFlags,
    /// Only these tags
    #[arg(value_name = "TAG")]
    tags: Vec<String>,
    /// Say whether the chosen version is signed with the public key in this file; may be repeated, and one is enough
    #[arg(long, value_name = "FILE", conflicts_with = "tags_from")]
    cosign_key: Vec<PathBuf>,
    /// Output format
    #[arg(short, long, value_name = "FORMAT", default_value = "table")]
    output: Format,
}

pub(super) fn run(arguments: Arguments) -> Result<()> {
    let (decision, signed) = arguments.question.decide_signed(&arguments.cosign_key)?;
    let signature = signed.map(|signed| Signature::of(&signed));
    let explanation = Explanation { signature, ..Explanation::new(&decision, &arguments.tags)? };
    output::to_stdout(&match arguments.output {
        Format::Table => explanation.table(),
        Format::Json => output::json(&explanation)?,
    })
}

/// A decision with its rules.
#[derive(Debug, Serialize)]
struct Explanation<'d> {
    image: &'d str,
    current: Option<&'d str>,
    chosen: Option<&'d str>,
    digest: Option<&'d str>,
    /// By what the chosen version is signed, where that is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    signature: Option<Signature>,
    /// Number of tags that each rule dropped.
    dropped: BTreeMap<&'static str, usize>,
    warnings: &'d [String],
    tags: Vec<Explained<'d>>,
}

/// By what a version is signed.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Signature {
    Good { key: String, format: String },
    None { reason: String },
}

impl Signature {
    fn of(signed: &Result<Verified>) -> Self {
        match signed {
            Ok(Verified { key, format }) => Self::Good { key: key.clone(), format: format.to_string() },
            Err(error) => Self::None { reason: error.message().to_owned() },
        }
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Good { key, format } => write!(f, "with {key}, by {format}"),
            Self::None { reason } => write!(f, "no: {reason}"),
        }
    }
}

#[derive(Debug, Serialize)]
struct Explained<'d> {
    tag: &'d str,
    verdict: Standing,
    rule: &'static str,
    reason: &'d str,
}

impl<'d> Explanation<'d> {
    /// Explains what became of the tags that are asked for, or of all.
    fn new(decision: &'d Decision, wanted: &[String]) -> Result<Self> {
        let has = |wanted: &&String| decision.decisions.iter().any(|verdict| verdict.tag == **wanted);
        if let Some(missing) = wanted.iter().find(|wanted| !has(wanted)) {
            let error = Error::invalid(format!("no tag `{missing}` of `{}` found", decision.image));
            return Err(error.hint("a tag that the registry does not list cannot be chosen"));
        }
        let mut dropped = BTreeMap::new();
        for verdict in decision.decisions.iter().filter(|verdict| verdict.verdict == Standing::Dropped) {
            *dropped.entry(verdict.rule).or_default() += 1;
        }
        let is_wanted = |verdict: &&Verdict| wanted.is_empty() || wanted.contains(&verdict.tag);
        Ok(Self {
            image: &decision.image,
            current: decision.current.as_deref(),
            chosen: decision.chosen.as_deref(),
            digest: decision.digest.as_deref(),
            signature: None,
            dropped,
            warnings: &decision.warnings,
            tags: decision.decisions.iter().filter(is_wanted).map(Explained::from).collect(),
        })
    }

    fn table(&self) -> String {
        let signature = self.signature.as_ref().map(ToString::to_string);
        let mut facts = vec![
            ("IMAGE", Some(self.image)),
            ("CURRENT", self.current),
            ("CHOSEN", self.chosen),
            ("DIGEST", self.digest),
        ];
        facts.extend(signature.as_deref().map(|signature| ("SIGNED", Some(signature))));
        let mut text = table::facts(&facts);
        let counts = self.dropped.iter().map(|(rule, count)| [(*rule).to_owned(), count.to_string()]);
        text.push_str(&table::columns(["RULE", "DROPPED"], counts.map(|row| (Standing::Kept, row))));
        let rows = self.tags.iter().map(|tag| {
            let words = [tag.tag, tag.verdict.as_str(), tag.rule, tag.reason];
            (tag.verdict, words.map(str::to_owned))
        });
        text.push_str(&table::columns(["TAG", "VERDICT", "RULE", "REASON"], rows));
        text
    }
}

impl<'d> From<&'d Verdict> for Explained<'d> {
    fn from(verdict: &'d Verdict) -> Self {
        let Verdict { tag, verdict, rule, reason } = verdict;
        Self { tag, verdict: *verdict, rule, reason }
    }
}

//! A decision about an image: a verdict and a reason for every tag.

use diagnostic::{Error, Result};
use jiff::Timestamp;
use serde::Serialize;

use crate::filter::{Gap, Lack};

/// An error names so many tags, and counts the rest.
const NAMED: usize = 5;

/// Of so many rules it is said what they are against.
const RULES: usize = 3;

/// The result of choosing.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// A decision.
    Decided(Decision),
    /// None, as not all is known that it needs.
    Incomplete(Vec<Gap>),
}

/// A decision about an image.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Decision {
    /// The image, as it was named.
    pub image: String,
    /// The tag that runs.
    pub current: Option<String>,
    /// The tag to run; nothing where no tag may.
    pub chosen: Option<String>,
    /// The digest of the chosen tag, where it is known.
    pub digest: Option<String>,
    /// When the image of the chosen tag was made, where that is known.
    #[serde(skip)]
    pub created: Option<Timestamp>,
    /// Every tag: the chosen one, those that might have been from the best on, and the dropped ones by name.
    pub decisions: Vec<Verdict>,
    /// Warnings.
    #[serde(skip)]
    pub warnings: Vec<String>,
}

/// The decision about a tag.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// The tag.
    pub tag: String,
    /// The verdict.
    pub verdict: Standing,
    /// The rule that decided: an option, or the order that the policy puts tags in.
    #[serde(skip)]
    pub rule: &'static str,
    /// Why.
    pub reason: String,
}

/// The verdict on a tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Standing {
    /// It is the one.
    Chosen,
    /// It might have been, were it not for a better one.
    Kept,
    /// A rule is against it.
    Dropped,
}

impl Standing {
    /// The word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Chosen => "chosen",
            Self::Kept => "kept",
            Self::Dropped => "dropped",
        }
    }
}

impl Decision {
    /// Why no tag may be chosen: how many each rule is against, the strictest first, and one of them as an example.
    pub(crate) fn why_none(&self) -> String {
        if self.decisions.is_empty() {
            return "the repository does not have any tags".to_owned();
        }
        let mut rules: Vec<(usize, &Verdict)> = Vec::new();
        for verdict in &self.decisions {
            match rules.iter_mut().find(|(_, example)| example.rule == verdict.rule) {
                Some((count, _)) => *count += 1,
                None => rules.push((1, verdict)),
            }
        }
        rules.sort_by(|(count, one), (other, another)| other.cmp(count).then(one.rule.cmp(another.rule)));
        let told = |(count, Verdict { tag, rule, reason, .. }): &(usize, &Verdict)| {
            format!("{count} by `{rule}` (`{tag}`: {reason})")
        };
        let told: Vec<String> = rules.iter().take(RULES).map(told).collect();
        format!("none of {} tags is allowed: {}", self.decisions.len(), told.join(", "))
    }
}

impl Outcome {
    /// The decision.
    ///
    /// # Errors
    /// If there is none: what is missing for it.
    pub fn decided(self, image: &str) -> Result<Decision> {
        match self {
            Self::Decided(decision) => Ok(decision),
            Self::Incomplete(gaps) => Err(incomplete(image, &gaps)),
        }
    }
}

fn incomplete(image: &str, gaps: &[Gap]) -> Error {
    let of = |lack: Lack| {
        let tags: Vec<&str> =
            gaps.iter().filter(|gap| gap.lacks == lack).map(|gap| gap.tag.as_str()).collect();
        let named = tags.iter().take(NAMED).map(|tag| format!("`{tag}`")).collect::<Vec<_>>().join(", ");
        let rest = tags.len().saturating_sub(NAMED);
        let named = if rest > 0 { format!("{named} and {rest} more") } else { named };
        let what = match lack {
            Lack::Created => "the time of creation is",
            Lack::Digest => "the digest is",
            Lack::Platforms => "the platforms are",
        };
        (!tags.is_empty()).then(|| format!("{what} not known of {named}"))
    };
    let lacks: Vec<String> =
        [Lack::Created, Lack::Digest, Lack::Platforms].into_iter().filter_map(of).collect();
    Error::invalid(format!("cannot choose a tag of `{image}`: {}", lacks.join("; ")))
        .hint("nothing is chosen by what is only partly known")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_no_tag_may_be_chosen_the_rules_say_why() {
        let dropped = |tag: &str, rule: &'static str, reason: &str| Verdict {
            tag: tag.to_owned(),
            verdict: Standing::Dropped,
            rule,
            reason: reason.to_owned(),
        };
        let mut decision = Decision {
            image: "r.test/shop".to_owned(),
            current: None,
            chosen: None,
            digest: None,
            created: None,
            decisions: vec![
                dropped("1.0-rc1", "semver", "a pre-release"),
                dropped("latest", "allow-tags", "not allowed by `regexp:^1`"),
                dropped("main", "allow-tags", "not allowed by `regexp:^1`"),
            ],
            warnings: Vec::new(),
        };
        assert_eq!(
            decision.why_none(),
            "none of 3 tags is allowed: 2 by `allow-tags` (`latest`: not allowed by `regexp:^1`), 1 by `semver` \
             (`1.0-rc1`: a pre-release)"
        );
        decision.decisions.clear();
        assert_eq!(decision.why_none(), "the repository does not have any tags");
    }
}

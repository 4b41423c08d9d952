//! Which tags may be updated: what runs is one of them, or stays as it is.

use diagnostic::Result;
use std::fmt;

use gotemplate::semver::Constraints;

use super::names::Pattern;
use crate::criteria::{Criteria, SEMVER, UpdateFrom};
use crate::policy;

/// Tags that may be updated; all where it has no rule.
#[derive(Debug)]
pub(super) struct Updatable {
    rules: Vec<Rule>,
    keeps_suffix: bool,
}

#[derive(Debug)]
enum Rule {
    Tags(Pattern),
    Versions { text: String, constraints: Constraints },
}

impl Updatable {
    pub(super) fn new(criteria: &Criteria) -> Result<Self> {
        let rules = criteria.update_from.iter().map(Rule::new).collect::<Result<_>>()?;
        Ok(Self { rules, keeps_suffix: criteria.keep_suffix })
    }

    pub(super) fn is_limited(&self) -> bool {
        !self.rules.is_empty()
    }

    /// Returns true if a tag may be updated; its value is what of it is put in order, where it has that.
    pub(super) fn has(&self, tag: &str, value: Option<&str>) -> bool {
        let version = value.and_then(|value| policy::version(value, self.keeps_suffix));
        self.rules.iter().any(|rule| match rule {
            Rule::Tags(pattern) => pattern.matches(tag),
            Rule::Versions { constraints, .. } => {
                version.as_ref().is_some_and(|version| constraints.check(version))
            }
        })
    }
}

impl Rule {
    fn new(from: &UpdateFrom) -> Result<Self> {
        match from {
            UpdateFrom::Tags(pattern) => Pattern::new(pattern).map(Self::Tags),
            UpdateFrom::Versions(text) => {
                let constraints = policy::constraints(text)?;
                Ok(Self::Versions { text: text.clone(), constraints })
            }
        }
    }
}

impl fmt::Display for Updatable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, rule) in self.rules.iter().enumerate() {
            f.write_str(if place == 0 { "" } else { ", " })?;
            match rule {
                Rule::Tags(pattern) => write!(f, "`{pattern}`")?,
                Rule::Versions { text, .. } => write!(f, "`{SEMVER}{text}`")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn updatable(rules: &[&str], keep_suffix: bool) -> Result<Updatable> {
        let update_from = rules.iter().map(|rule| UpdateFrom::read(rule)).collect();
        Updatable::new(&Criteria { update_from, keep_suffix, ..Criteria::default() })
    }

    #[test]
    fn one_rule_that_has_the_tag_is_enough() {
        let updatable = updatable(&["latest", r"regexp:^main-", "semver:>=1.8 <2"], false).unwrap();
        for (tag, has) in [
            ("latest", true),
            ("my-latest", false),
            ("main-5", true),
            ("1.8", true),
            ("v1.9.3", true),
            ("1.7.9", false),
            ("2.0.0", false),
            ("1.9.0-rc1", false),
            ("stable", false),
        ] {
            assert_eq!(updatable.has(tag, Some(tag)), has, "{tag}");
        }
        assert_eq!(updatable.to_string(), "`latest`, `regexp:^main-`, `semver:>=1.8 <2`");
    }

    #[test]
    fn a_version_is_read_as_the_policy_reads_it() {
        let kept = updatable(&["semver:1.x"], true).unwrap();
        assert!(kept.has("1.8.0-alpine", Some("1.8.0-alpine")), "the flavour is no pre-release");
        let all = updatable(&["semver:>=1"], false).unwrap();
        assert!(!all.has("1234567", Some("1234567")), "a commit id is no version");
        assert!(all.has("app-1.2.0", Some("1.2.0")), "an extract is what has a version");
        assert!(!all.has("1.2.0", None));
    }

    #[test]
    fn what_would_have_no_tag_is_refused() {
        for rule in ["[", "regexp:(", "regexp: ^1", "semver:one", "semver:=>"] {
            assert!(updatable(&[rule], false).is_err(), "{rule}");
        }
    }
}

//! The rules, one per file.
//!
//! A rule reads the index and adds findings. It also sets the severity: an error will not work, a warning is almost
//! certainly unintended, a note may be right.

mod argocd_namespace;
mod cascading_applications;
mod deprecated_api;
mod hook_typo;
mod literal_secret;
mod missing_definition;
mod missing_reference;
mod mutable_image;
mod mutable_revision;
mod project_denial;
mod removed_api;
mod replicas_under_autoscaler;
mod shared_object;

use findings::Rule;

use crate::builder::FindingBuilder;
use crate::index::Index;

/// A rule, with what it does.
#[derive(Debug)]
pub struct Check {
    /// Its code, its name and what it is about.
    pub rule: &'static Rule,
    /// The hint of a finding, unless the rule gives a better one.
    pub fix: &'static str,
    /// Finds it.
    pub(crate) run: for<'s> fn(&Index<'s>, &mut Vec<FindingBuilder<'s>>),
}

impl Check {
    /// Returns true if a code or a name is the rule's.
    #[must_use]
    pub fn is_called(&self, name: &str) -> bool {
        self.rule.code.eq_ignore_ascii_case(name) || self.rule.name == name
    }
}

/// All rules, in the order of their codes.
pub const RULES: &[Check] = &[
    replicas_under_autoscaler::CHECK,
    missing_definition::CHECK,
    hook_typo::CHECK,
    literal_secret::CHECK,
    mutable_image::CHECK,
    mutable_revision::CHECK,
    cascading_applications::CHECK,
    shared_object::CHECK,
    missing_reference::CHECK,
    deprecated_api::CHECK,
    removed_api::CHECK,
    project_denial::CHECK,
    argocd_namespace::CHECK,
    UNUSED_SUPPRESSION,
];

/// The check for suppressions without effect; it runs after all others.
pub(crate) const UNUSED_SUPPRESSION: Check = Check {
    rule: &Rule {
        code: "LINT014",
        name: "unused-suppression",
        meaning: "A suppression without a finding would hide the next finding of its kind.",
    },
    fix: "remove it",
    run: |_, _| {},
};

/// The rule of a code or name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Check> {
    RULES.iter().find(|check| check.is_called(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_numbered_and_mean_something() {
        for (at, check) in RULES.iter().enumerate() {
            assert_eq!(check.rule.code, format!("LINT{:03}", at + 1));
            assert!(check.rule.meaning.ends_with('.'), "{}", check.rule.code);
            assert!(find(check.rule.name).is_some() && find(&check.rule.code.to_lowercase()).is_some());
        }
        assert!(find("LINT999").is_none());
    }
}

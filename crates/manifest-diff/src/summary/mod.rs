//! The summary of a change: each file checks one aspect of an object's difference.

mod crds;
mod deleted;
mod images;
mod immutable;
mod permissions;
mod privileges;
mod replicas;

use std::collections::BTreeMap;

use argocd::objects::Object;
use yamltree::{Location, Node};

use crate::compare::Change;
use crate::input::{ApplyOptions, Target};
use crate::model::{
    FileLocation, Finding, Level, Moved, ObjectId, ObjectStatus, Rule, Summary, TargetReview, TargetStatus,
};

/// The checks, in order.
const LOOKS: &[fn(&Difference<'_>, &mut Summary)] = &[
    images::look,
    replicas::look,
    privileges::look,
    permissions::look,
    crds::look,
    deleted::look,
    immutable::look,
];

/// An object that is not the same on both sides, without values of Secrets.
pub(crate) struct Difference<'d> {
    /// The target in words.
    pub(crate) target: &'d str,
    pub(crate) target_status: TargetStatus,
    pub(crate) apply: &'d ApplyOptions,
    pub(crate) id: &'d ObjectId,
    pub(crate) was: Option<&'d Moved>,
    pub(crate) is_hook: bool,
    pub(crate) base: Option<&'d Node>,
    pub(crate) head: Option<&'d Node>,
    pub(crate) changes: &'d [Change],
    /// The object after, if its places are in files.
    pub(crate) object: Option<&'d Object>,
    /// The location of the target's definition.
    pub(crate) origin: Option<&'d Location>,
    /// The target that has the object of before after the change.
    pub(crate) owner: Option<&'d Target>,
}

impl Difference<'_> {
    /// Returns true if the cluster sees one object before and after.
    fn is_one_object(&self) -> bool {
        self.base.is_some() && self.head.is_some() && !self.was.is_some_and(|was| was.is_renamed)
    }

    fn finding(&self, rule: Rule, level: Level, message: String) -> Finding {
        let place = self.object.and_then(Object::place).or_else(|| self.origin.cloned());
        Finding { object: Some(self.id.clone()), ..of_target(rule, level, self.target.to_owned(), message) }
            .at(place)
    }

    /// A finding about a field that has a value after the change, or had one before.
    fn finding_at(&self, rule: Rule, level: Level, message: String, change: &Change) -> Finding {
        let written = self.object.zip(change.new.as_ref());
        let finding = Finding { path: Some(change.path.to_string()), ..self.finding(rule, level, message) };
        match written.and_then(|(object, node)| object.place_of(node)) {
            Some(place) => finding.at(Some(place)),
            None => finding,
        }
    }
}

impl Finding {
    fn at(mut self, place: Option<Location>) -> Self {
        self.location = place.as_ref().map(FileLocation::of);
        self.place = place;
        self
    }
}

fn of_target(rule: Rule, level: Level, target: String, message: String) -> Finding {
    Finding { rule, level, target, object: None, path: None, message, location: None, place: None }
}

/// Looks at one object.
pub(crate) fn look(difference: &Difference<'_>, summary: &mut Summary) {
    LOOKS.iter().for_each(|look| look(difference, summary));
}

/// Counts a target and its objects, and looks at it as a whole.
pub(crate) fn count(target: &TargetReview, input: &Target, summary: &mut Summary) {
    deleted::look_at_target(target, &input.apply, summary);
    let counts = &mut summary.targets;
    let count = match target.status {
        TargetStatus::Added => &mut counts.added,
        TargetStatus::Removed => &mut counts.removed,
        TargetStatus::Changed => &mut counts.changed,
        TargetStatus::Unchanged => &mut counts.unchanged,
        TargetStatus::FailedBefore | TargetStatus::FailedAfter | TargetStatus::FailedBoth => {
            &mut counts.failed
        }
    };
    *count += 1;
    let counts = &mut summary.objects;
    for object in &target.objects {
        match object.status {
            ObjectStatus::Added => counts.added += 1,
            ObjectStatus::Removed => counts.removed += 1,
            ObjectStatus::Changed => counts.changed += 1,
        }
    }
    counts.unchanged += target.unchanged;
    summary.hidden.add(target.hidden);
    if let Some(error) = &target.head_error {
        // Errors from before the change are not part of it.
        let level = if target.base_error.is_some() { Level::Note } else { Level::Error };
        let finding = of_target(Rule::RenderFailed, level, target.to_string(), error.clone());
        summary.findings.push(finding.at(input.origin.clone()));
    }
}

/// Puts the gravest first, rule by rule.
pub(crate) fn finish(summary: &mut Summary) {
    let mut gravest: BTreeMap<Rule, Level> = BTreeMap::new();
    for finding in &summary.findings {
        let level = gravest.entry(finding.rule).or_insert(finding.level);
        *level = finding.level.min(*level);
    }
    // The sort is stable: within a rule and a level the order of targets and objects stays.
    summary
        .findings
        .sort_by_key(|finding| (gravest.get(&finding.rule).copied(), finding.rule, finding.level));
}

#[cfg(test)]
pub(crate) mod testing {
    use crate::input::{ApplyOptions, SecretKey, Target};
    use crate::model::{Summary, TargetKind};
    use crate::objects::testing::objects;
    use crate::review::{Options, review};

    /// The summary of what is between two streams of an Application's objects.
    pub(crate) fn summary(base: &str, head: &str, apply: &ApplyOptions) -> Summary {
        let target = |text: &str| {
            let objects = if text.is_empty() { Vec::new() } else { objects(text) };
            Target { apply: apply.clone(), ..Target::rendered(TargetKind::Application, "a", objects) }
        };
        review(&[target(base)], &[target(head)], &Options { secret_key: SecretKey::new([0; 32]) }).summary
    }

    /// The findings, one a line.
    pub(crate) fn findings(base: &str, head: &str) -> Vec<String> {
        let findings = summary(base, head, &ApplyOptions::default()).findings;
        findings.into_iter().map(|finding| format!("{:?} {}", finding.level, finding.message)).collect()
    }
}

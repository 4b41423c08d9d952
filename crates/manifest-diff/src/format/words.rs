//! Texts that several formats share.

use std::fmt::Write as _;

use serde_json::Value;

use crate::mask;
use crate::model::{FieldChange, Hidden, ObjectReview, Review, Summary, TargetReview, TargetStatus};
use crate::objects::yaml_of;

/// `1 object`, `2 objects`.
pub(super) fn number(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// Returns a summary of a change, in a few phrases.
pub(super) fn headline(review: &Review) -> Vec<String> {
    let Summary { targets, objects, hidden, .. } = &review.summary;
    let (one, many) = noun(review);
    let mut phrases = Vec::new();
    let counted = [
        (targets.changed, "changed"),
        (targets.added, "added"),
        (targets.removed, "removed"),
        (targets.failed, "not rendered"),
    ];
    phrases.extend(counts(&counted, one, many));
    let counted = [(objects.changed, "changed"), (objects.added, "added"), (objects.removed, "removed")];
    phrases.extend(counts(&counted, "object", "objects"));
    if phrases.is_empty() {
        phrases.push("nothing changes".to_owned());
    }
    phrases.extend(self::hidden(*hidden));
    phrases
}

/// `2 objects changed, 1 added`; nothing where all is zero.
fn counts(counted: &[(usize, &str)], one: &str, many: &str) -> Option<String> {
    let mut phrase = String::new();
    for (count, what) in counted.iter().filter(|(count, _)| *count > 0) {
        if phrase.is_empty() {
            phrase = format!("{} {what}", number(*count, one, many));
        } else {
            let _ = write!(phrase, ", {count} {what}");
        }
    }
    (!phrase.is_empty()).then_some(phrase)
}

/// Returns the hidden differences, in a phrase.
pub(super) fn hidden(hidden: Hidden) -> Option<String> {
    let Hidden { noise, ignored, reordered } = hidden;
    let kinds = [(noise, "noise"), (ignored, "ignored"), (reordered, "order of lists")];
    let parts: Vec<String> =
        kinds.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
    let all = noise + ignored + reordered;
    (all > 0).then(|| format!("{} hidden ({})", number(all, "difference", "differences"), parts.join(", ")))
}

/// Returns the noun for the targets.
fn noun(review: &Review) -> (&'static str, &'static str) {
    use crate::model::TargetKind::{Application, Chart, FluxKustomization, HelmRelease, Kustomization};
    let Some(kind) = review.targets.first().map(|target| target.kind) else { return ("target", "targets") };
    if review.targets.iter().any(|target| target.kind != kind) {
        return ("target", "targets");
    }
    match kind {
        Application => ("Application", "Applications"),
        FluxKustomization => ("Kustomization", "Kustomizations"),
        HelmRelease => ("HelmRelease", "HelmReleases"),
        Kustomization => ("kustomization", "kustomizations"),
        Chart => ("chart", "charts"),
        crate::model::TargetKind::Files => ("target", "targets"),
    }
}

/// Returns the change of an object, in a phrase.
pub(super) fn object_status(object: &ObjectReview) -> String {
    let mut phrase = object.status.as_str().to_owned();
    if let Some(was) = &object.was {
        if was.is_renamed {
            let _ = write!(phrase, ", was {}", was.id);
        }
        if was.id.api_version != object.id.api_version {
            let _ = write!(phrase, ", {} → {}", was.id.api_version, object.id.api_version);
        }
    }
    if object.is_hook {
        phrase.push_str(", hook");
    }
    if object.fields.iter().any(|field| field.is_volatile) {
        phrase.push_str(", changes on every render");
    }
    phrase
}

/// Returns the change of a target, in a phrase.
pub(super) fn target_status(target: &TargetReview) -> String {
    let mut phrase = target.status.as_str().to_owned();
    if let Some(was) = &target.was {
        let _ = write!(phrase, ", was {was}");
    }
    phrase
}

/// Returns true if a report has something to say of a target.
pub(super) fn is_told(target: &TargetReview) -> bool {
    target.status != TargetStatus::Unchanged || target.warnings.iter().any(|warning| warning.is_new)
}

/// A field's values as one, where they are tags of Secrets.
pub(super) fn tags(field: &FieldChange) -> Option<String> {
    mask::joined(field.old.as_ref()?.as_str()?, field.new.as_ref()?.as_str()?)
}

/// A text of several lines as one.
pub(super) fn one_line(text: &str) -> String {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" · ")
}

/// A value as lines: text of several lines as it is, all else as YAML.
pub(super) fn lines(value: &Value) -> String {
    match value {
        Value::String(text) if text.contains('\n') => text.trim_end_matches('\n').to_owned(),
        value => yaml_of(value).trim_end_matches('\n').to_owned(),
    }
}

/// A text in which nothing controls a terminal, a page or the direction of writing. Tabs stay.
pub(super) fn visible(text: &str) -> String {
    let is_hidden =
        |character: char| (character.is_control() && character != '\t') || is_invisible(character);
    if !text.contains(is_hidden) {
        return text.to_owned();
    }
    let mut shown = String::new();
    for character in text.chars() {
        if is_hidden(character) {
            // Writing to a String does not fail.
            let _ = write!(shown, "\\u{{{:x}}}", u32::from(character));
        } else {
            shown.push(character);
        }
    }
    shown
}

/// Line separators, and what turns the direction of a text or hides in it.
fn is_invisible(character: char) -> bool {
    matches!(character,
        '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_text_is_obeyed() {
        assert_eq!(
            visible("a\u{1b}[31m\tb\u{202e}\u{9b}\r\n"),
            "a\\u{1b}[31m\tb\\u{202e}\\u{9b}\\u{d}\\u{a}"
        );
    }

    #[test]
    fn phrases_count_what_there_is() {
        assert_eq!(
            counts(&[(1, "changed"), (0, "added"), (2, "removed")], "object", "objects").as_deref(),
            Some("1 object changed, 2 removed")
        );
        assert_eq!(counts(&[(0, "changed")], "object", "objects"), None);
        let all = Hidden { noise: 2, ignored: 0, reordered: 1 };
        assert_eq!(hidden(all).as_deref(), Some("3 differences hidden (2 noise, 1 order of lists)"));
        assert_eq!(hidden(Hidden::default()), None);
    }
}

//! Annotations by which an object is not applied as its author thinks, or not at all.
//!
//! In: an object. Out: a warning for each value that Argo CD passes over in silence, with the one that was perhaps meant.

use super::hook::{
    AT_DELETION, DELETE_POLICY, DeletePolicy, HELM_DELETE_POLICY, HELM_HOOK, HELM_WEIGHT, HELM_WITHOUT_PHASE,
    HOOK, Phase, Role, SKIP, WAVE, role,
};
use crate::objects::Object;
use crate::suggestion::closest;
use crate::warning::{Code, Warning};

const HELM_PHASES: &[&str] = &["pre-install", "pre-upgrade", "post-install", "post-upgrade"];

/// Adds what is to be said of an object.
pub(super) fn check(object: &Object, warnings: &mut Vec<Warning>) {
    if check_texts(object, warnings) {
        return;
    }
    check_hook(object, warnings);
    if matches!(role(object), Role::Hook(_)) {
        check_policies(object, warnings);
    }
    for key in [WAVE, HELM_WEIGHT] {
        if let Some(value) = object.annotation(key).filter(|value| value.parse::<i64>().is_err()) {
            let message = format!("`{key}` of {object} must be an integer, found `{value}`; ignored");
            warnings
                .push(Warning::new(Code::UnknownAnnotationValue, message).at(object.annotation_place(key)));
        }
    }
}

/// Returns true if an annotation that is no text hides others that Argo CD would read.
fn check_texts(object: &Object, warnings: &mut Vec<Warning>) -> bool {
    let annotations = object.node().lookup(&["metadata", "annotations"]).and_then(|node| node.entries());
    let Some(annotations) = annotations else { return false };
    let Some(fault) = annotations.iter().find(|entry| entry.value.tag != yamltree::Tag::Str) else {
        return false;
    };
    let is_read = |key: &str| [HOOK, HELM_HOOK, WAVE, HELM_WEIGHT].contains(&key);
    if annotations.iter().filter_map(|entry| entry.key.text()).any(is_read) {
        let key = fault.key.text().unwrap_or_default();
        let message = format!(
            "the annotation `{key}` of {object} must be a string; Argo CD ignores all its annotations, sync waves and hooks included"
        );
        warnings.push(
            Warning::new(Code::UnknownAnnotationValue, message)
                .at(object.place_of(&fault.value))
                .hint("quote it"),
        );
    }
    true
}

fn check_hook(object: &Object, warnings: &mut Vec<Warning>) {
    let is_never = role(object) == Role::Hook(Vec::new());
    let (argo, helm) = (object.annotation_list(HOOK), object.annotation_list(HELM_HOOK));
    let argo_known: Vec<&str> = Phase::ALL
        .iter()
        .map(|phase| phase.as_str())
        .chain([SKIP])
        .chain(AT_DELETION.iter().copied())
        .collect();
    let helm_known: Vec<&str> = HELM_PHASES.iter().chain(HELM_WITHOUT_PHASE).copied().collect();
    let sides = [(HOOK, &argo, &argo_known), (HELM_HOOK, &helm, &helm_known)];
    for (key, names, known) in sides {
        if object.annotation(key).is_some() && names.is_empty() && is_never {
            let message =
                format!("{object} is never applied: its `{key}` is empty, and so it is a hook of no phase");
            let warning = Warning::new(Code::NeverApplied, message).at(object.annotation_place(key));
            warnings.push(warning.hint("name a phase, or remove the annotation"));
        }
        for name in names.iter().filter(|name| !known.contains(name)) {
            // Of the names of a hook that is known to one tool, the others are passed over.
            let is_cause = is_never && !known_anywhere(&argo, &argo_known, &helm, &helm_known);
            let (code, outcome) = if is_cause {
                (Code::NeverApplied, format!("{object} is never applied: unknown Argo CD hook `{name}`"))
            } else {
                (Code::UnknownAnnotationValue, format!("unknown hook `{name}` of {object}; ignored"))
            };
            let warning = Warning::new(code, outcome).at(object.annotation_place(key));
            warnings.push(warning.hint(suggestion(name, known, is_cause)));
        }
    }
}

fn known_anywhere(argo: &[&str], argo_known: &[&str], helm: &[&str], helm_known: &[&str]) -> bool {
    argo.iter().any(|name| argo_known.contains(name)) || helm.iter().any(|name| helm_known.contains(name))
}

fn check_policies(object: &Object, warnings: &mut Vec<Warning>) {
    let argo: Vec<&str> = DeletePolicy::ALL.iter().map(|policy| policy.as_str()).collect();
    let helm: Vec<&str> = DeletePolicy::ALL.iter().map(|policy| policy.helm_name()).collect();
    for (key, known) in [(DELETE_POLICY, argo), (HELM_DELETE_POLICY, helm)] {
        for name in object.annotation_list(key).into_iter().filter(|name| !known.contains(name)) {
            let message = format!("unknown value `{name}` of `{key}`; ignored for {object}");
            let warning =
                Warning::new(Code::UnknownAnnotationValue, message).at(object.annotation_place(key));
            warnings.push(warning.hint(suggestion(name, &known, false)));
        }
    }
}

fn suggestion(name: &str, known: &[&str], is_cause: bool) -> String {
    match closest(name, known.iter().copied()) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None if is_cause => format!("there are {}; to leave it out on purpose, `{SKIP}`", listed(known)),
        None => format!("there are {}", listed(known)),
    }
}

fn listed(known: &[&str]) -> String {
    known.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::super::testing::objects;
    use super::*;

    fn warned(annotations: &str) -> Vec<(Code, String, Option<String>)> {
        let text = format!("kind: Job\nmetadata:\n  name: a\n  annotations:\n    {annotations}\n");
        let mut warnings = Vec::new();
        check(&objects(&text)[0], &mut warnings);
        let line = |warning: Warning| {
            let place = warning.location.as_ref().map(ToString::to_string).unwrap_or_default();
            (warning.code, format!("{place} {}", warning.message), warning.hint)
        };
        warnings.into_iter().map(line).collect()
    }

    fn one(annotations: &str) -> (Code, String, Option<String>) {
        let mut warned = warned(annotations);
        assert_eq!(warned.len(), 1, "{warned:?}");
        warned.remove(0)
    }

    #[test]
    fn a_typo_is_shown_with_what_was_meant() {
        for (written, meant) in [
            ("PreSinc", "PreSync"),
            ("presync", "PreSync"),
            ("pre-sync", "PreSync"),
            ("Post-Sync", "PostSync"),
            ("SyncFailed", "SyncFail"),
            ("skip", "Skip"),
            ("Predelete", "PreDelete"),
        ] {
            let (code, message, hint) = one(&format!("argocd.argoproj.io/hook: {written}"));
            assert_eq!(code, Code::NeverApplied);
            assert_eq!(
                message,
                format!("a.yaml:5:30 Job/a is never applied: unknown Argo CD hook `{written}`")
            );
            assert_eq!(hint.unwrap(), format!("did you mean `{meant}`?"));
        }
        let (_, message, hint) = one("helm.sh/hook: pre-instal");
        assert!(message.contains("unknown Argo CD hook `pre-instal`"), "{message}");
        assert_eq!(hint.unwrap(), "did you mean `pre-install`?");
        let (_, _, hint) = one("argocd.argoproj.io/hook: 'true'");
        assert!(hint.unwrap().starts_with("there are `PreSync`, `Sync`"));
        let (code, message, _) = one("argocd.argoproj.io/hook: ''");
        assert_eq!(code, Code::NeverApplied);
        assert!(message.contains("is empty"), "{message}");
    }

    #[test]
    fn a_typo_beside_a_phase_does_not_count() {
        let (code, message, _) = one("argocd.argoproj.io/hook: PreSync,PostSinc");
        assert_eq!(code, Code::UnknownAnnotationValue);
        assert!(message.ends_with("unknown hook `PostSinc` of Job/a; ignored"), "{message}");
        let (code, _, _) = one("{argocd.argoproj.io/hook: PreSinc, helm.sh/hook: post-install}");
        assert_eq!(code, Code::UnknownAnnotationValue);
    }

    #[test]
    fn what_is_meant_is_not_warned_of() {
        for annotations in [
            "a: b",
            "argocd.argoproj.io/hook: Skip",
            "argocd.argoproj.io/hook: PreDelete",
            "helm.sh/hook: test",
            "helm.sh/hook: crd-install",
            "{helm.sh/hook: pre-install, helm.sh/hook-weight: '-5', helm.sh/hook-delete-policy: hook-failed}",
            "{argocd.argoproj.io/hook-delete-policy: typo}",
            "{a: 1}",
        ] {
            assert_eq!(warned(annotations), [], "{annotations}");
        }
    }

    #[test]
    fn values_that_do_not_count_are_said() {
        let (_, message, hint) =
            one("{argocd.argoproj.io/hook: Sync, argocd.argoproj.io/hook-delete-policy: HookSucceded}");
        assert!(message.contains("unknown value `HookSucceded`"), "{message}");
        assert_eq!(hint.unwrap(), "did you mean `HookSucceeded`?");
        let (_, message, _) = one("argocd.argoproj.io/sync-wave: first");
        assert!(message.contains("must be an integer, found `first`"), "{message}");
        let (_, message, _) = one("{argocd.argoproj.io/sync-wave: 1, argocd.argoproj.io/hook: PreSync}");
        assert!(
            message.starts_with("a.yaml:5:36 the annotation `argocd.argoproj.io/sync-wave`"),
            "{message}"
        );
    }
}

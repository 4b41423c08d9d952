//! Reads the annotations that control when an object is applied: hooks, delete policies, sync waves.
//!
//! In: an object. Out: the phases that Argo CD finds, by its own annotations and by Helm's. A value that it does not
//! know is no fault to it; `lint.rs` says so.

use std::fmt;

use crate::objects::Object;

pub(super) const HOOK: &str = "argocd.argoproj.io/hook";
pub(super) const DELETE_POLICY: &str = "argocd.argoproj.io/hook-delete-policy";
pub(super) const WAVE: &str = "argocd.argoproj.io/sync-wave";
pub(super) const OPTIONS: &str = "argocd.argoproj.io/sync-options";
pub(super) const HELM_HOOK: &str = "helm.sh/hook";
pub(super) const HELM_DELETE_POLICY: &str = "helm.sh/hook-delete-policy";
pub(super) const HELM_WEIGHT: &str = "helm.sh/hook-weight";

/// The one of Helm's hooks that marks an object which is none.
const CRD_INSTALL: &str = "crd-install";

/// Beside a phase it means nothing.
pub(super) const SKIP: &str = "Skip";

/// Argo CD's hooks that are no part of a sync.
pub(super) const AT_DELETION: &[&str] = &["PreDelete", "PostDelete"];

/// Helm's hooks that Argo CD has no phase for. The first two run when the Application is deleted.
pub(super) const HELM_WITHOUT_PHASE: &[&str] = &[
    "pre-delete",
    "post-delete",
    "pre-rollback",
    "post-rollback",
    "test",
    "test-success",
    "test-failure",
    CRD_INSTALL,
];

/// When in a sync, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// Before everything else.
    PreSync,
    /// With all that is no hook.
    Sync,
    /// When all of it is healthy.
    PostSync,
    /// When any of it has failed.
    SyncFail,
}

impl Phase {
    /// All phases, in order.
    pub const ALL: &[Phase] = &[Phase::PreSync, Phase::Sync, Phase::PostSync, Phase::SyncFail];

    /// The name that hooks have.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::PreSync => "PreSync",
            Self::Sync => "Sync",
            Self::PostSync => "PostSync",
            Self::SyncFail => "SyncFail",
        }
    }

    pub(super) fn of(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|phase| phase.as_str() == name)
    }

    pub(super) fn of_helm(name: &str) -> Option<Self> {
        match name {
            "pre-install" | "pre-upgrade" => Some(Self::PreSync),
            "post-install" | "post-upgrade" => Some(Self::PostSync),
            _ => None,
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// When a hook is deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeletePolicy {
    /// When it is about to be made again.
    BeforeHookCreation,
    /// When the sync has succeeded.
    HookSucceeded,
    /// When the sync has failed.
    HookFailed,
}

impl DeletePolicy {
    pub(super) const ALL: &[DeletePolicy] =
        &[Self::BeforeHookCreation, Self::HookSucceeded, Self::HookFailed];

    /// The name in Argo CD's annotation.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::BeforeHookCreation => "BeforeHookCreation",
            Self::HookSucceeded => "HookSucceeded",
            Self::HookFailed => "HookFailed",
        }
    }

    /// The name in Helm's annotation.
    pub(super) fn helm_name(self) -> &'static str {
        match self {
            Self::BeforeHookCreation => "before-hook-creation",
            Self::HookSucceeded => "hook-succeeded",
            Self::HookFailed => "hook-failed",
        }
    }
}

/// The role of an object in a sync.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// A resource.
    Resource,
    /// A hook of phases; of none, it is never applied.
    Hook(Vec<Phase>),
    /// Told to be left out.
    Skipped,
}

/// Returns what an object is to a sync. One of Argo CD's names that is known hides all of Helm's.
pub(super) fn role(object: &Object) -> Role {
    let argo = object.annotation_list(HOOK);
    let mut phases: Vec<Phase> = argo.iter().filter_map(|name| Phase::of(name)).collect();
    let is_skip = argo.contains(&SKIP);
    if phases.is_empty() && is_skip {
        return Role::Skipped;
    }
    if phases.is_empty() {
        phases = object.annotation_list(HELM_HOOK).iter().filter_map(|name| Phase::of_helm(name)).collect();
    }
    if !is_hook(object) {
        return Role::Resource;
    }
    phases.sort_unstable();
    phases.dedup();
    Role::Hook(phases)
}

/// Returns true if an object that is not skipped is a hook, if only one of no phase.
pub(super) fn is_hook(object: &Object) -> bool {
    object.annotation(HOOK).is_some()
        || object.annotation(HELM_HOOK).is_some_and(|value| value != CRD_INSTALL)
}

/// When a hook is deleted, by both annotations together.
pub(super) fn delete_policies(object: &Object) -> Vec<DeletePolicy> {
    let (argo, helm) = (object.annotation_list(DELETE_POLICY), object.annotation_list(HELM_DELETE_POLICY));
    let mut policies: Vec<DeletePolicy> = DeletePolicy::ALL.to_vec();
    policies.retain(|policy| argo.contains(&policy.as_str()) || helm.contains(&policy.helm_name()));
    if policies.is_empty() {
        policies.push(DeletePolicy::BeforeHookCreation);
    }
    policies
}

/// The wave of an object: what Argo CD's annotation says, else Helm's, of hooks and others alike.
pub(super) fn wave(object: &Object) -> i64 {
    let of = |key: &str| object.annotation(key)?.parse().ok();
    of(WAVE).or_else(|| of(HELM_WEIGHT)).unwrap_or(0)
}

/// The value of an option `NAME=VALUE` in an object's annotation.
pub(super) fn option<'o>(object: &'o Object, name: &str) -> Option<&'o str> {
    let mut options = object.annotation_list(OPTIONS).into_iter();
    options.find_map(|option| option.strip_prefix(name)?.strip_prefix('='))
}

#[cfg(test)]
mod tests {
    use super::super::testing::objects;
    use super::*;

    fn object(annotations: &str) -> Object {
        objects(&format!("kind: Job\nmetadata: {{name: a, annotations: {{{annotations}}}}}\n")).remove(0)
    }

    /// gitops-engine/pkg/sync/hook/hook.go and helm/hook.go
    #[test]
    fn hooks_have_phases() {
        let hook = |phases: &[Phase]| Role::Hook(phases.to_vec());
        for (annotations, want) in [
            ("", Role::Resource),
            ("argocd.argoproj.io/hook: PreSync", hook(&[Phase::PreSync])),
            (
                "argocd.argoproj.io/hook: 'PostSync, ,PreSync,PostSync'",
                hook(&[Phase::PreSync, Phase::PostSync]),
            ),
            ("argocd.argoproj.io/hook: presync", hook(&[])),
            ("argocd.argoproj.io/hook: ''", hook(&[])),
            ("argocd.argoproj.io/hook: Skip", Role::Skipped),
            ("argocd.argoproj.io/hook: 'Skip,Foo'", Role::Skipped),
            ("argocd.argoproj.io/hook: 'Skip,SyncFail'", hook(&[Phase::SyncFail])),
            ("argocd.argoproj.io/hook: Skip, helm.sh/hook: post-install", Role::Skipped),
            ("argocd.argoproj.io/hook: Sync, helm.sh/hook: post-install", hook(&[Phase::Sync])),
            ("argocd.argoproj.io/hook: Sinc, helm.sh/hook: post-install", hook(&[Phase::PostSync])),
            ("helm.sh/hook: 'pre-install,pre-upgrade'", hook(&[Phase::PreSync])),
            ("helm.sh/hook: test", hook(&[])),
            ("helm.sh/hook: crd-install", Role::Resource),
            ("helm.sh/hook: 'crd-install,pre-install'", hook(&[Phase::PreSync])),
            // An annotation that is no text hides all.
            ("argocd.argoproj.io/hook: PreSync, x: 1", Role::Resource),
        ] {
            assert_eq!(role(&object(annotations)), want, "{annotations}");
        }
    }

    #[test]
    fn policies_of_both_tools_are_united() {
        use DeletePolicy::{BeforeHookCreation, HookFailed, HookSucceeded};
        for (annotations, want) in [
            ("", vec![BeforeHookCreation]),
            ("argocd.argoproj.io/hook-delete-policy: hook-failed", vec![BeforeHookCreation]),
            ("argocd.argoproj.io/hook-delete-policy: HookFailed", vec![HookFailed]),
            (
                "argocd.argoproj.io/hook-delete-policy: HookFailed, helm.sh/hook-delete-policy: 'hook-succeeded,x'",
                vec![HookSucceeded, HookFailed],
            ),
        ] {
            assert_eq!(delete_policies(&object(annotations)), want, "{annotations}");
        }
    }

    #[test]
    fn waves_are_what_go_takes_for_numbers() {
        for (annotations, want) in [
            ("argocd.argoproj.io/sync-wave: '+2'", 2),
            ("argocd.argoproj.io/sync-wave: '007'", 7),
            ("argocd.argoproj.io/sync-wave: '-0'", 0),
            ("argocd.argoproj.io/sync-wave: '1.0', helm.sh/hook-weight: '-3'", -3),
            ("argocd.argoproj.io/sync-wave: ' 1'", 0),
            ("argocd.argoproj.io/sync-wave: '1_0'", 0),
            ("argocd.argoproj.io/sync-wave: '99999999999999999999', helm.sh/hook-weight: '4'", 4),
            ("argocd.argoproj.io/sync-wave: '5', helm.sh/hook-weight: '4'", 5),
        ] {
            assert_eq!(wave(&object(annotations)), want, "{annotations}");
        }
    }
}

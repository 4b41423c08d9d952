//! The plan of a sync: what Argo CD applies in which order, what it deletes, and what it never touches.
//!
//! In: the objects of one Application, as [`objects::Pipeline`](crate::objects::Pipeline) gives them, and those that are
//! there already, if that is known. Out: tasks in order ([`Plan`]), and warnings of what is surely not meant. Nothing is
//! refused: annotations that make no sense are ignored here as they are by Argo CD.

mod hook;
mod lint;
mod order;
mod prune;
mod write;

use crate::objects::{Object, Scopes};
use crate::warning::Warning;

use hook::Role;
pub use hook::{DeletePolicy, Phase};

/// The settings of a sync.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options<'o> {
    /// The Application's destination namespace.
    pub namespace: &'o str,
    /// True if that is made if it is not there (`CreateNamespace=true`).
    pub create_namespace: bool,
    /// The objects that are there; those that are not wanted any more are deleted.
    pub old: &'o [Object],
    /// True if everything is deleted last (`PruneLast=true`).
    pub prune_last: bool,
    /// Objects of kinds that Argo CD leaves alone.
    pub excluded: &'o [Object],
}

/// The plan of a sync.
#[derive(Debug)]
pub struct Plan<'o> {
    /// The tasks in order. Tasks of one phase and wave with the same kind order run concurrently.
    pub tasks: Vec<Task<'o>>,
    /// Objects that no sync applies.
    pub never: Vec<Never<'o>>,
    /// Warnings.
    pub warnings: Vec<Warning>,
}

/// One object in one phase.
#[derive(Clone, Debug)]
pub struct Task<'o> {
    /// When, in general.
    pub phase: Phase,
    /// When, within the phase.
    pub wave: i64,
    /// The action.
    pub action: Action,
    /// The object's API group.
    pub group: &'o str,
    /// Its kind.
    pub kind: &'o str,
    /// The namespace that it ends up in; empty for objects of the cluster.
    pub namespace: &'o str,
    /// True if it is a hook.
    pub is_hook: bool,
    /// The object; none for a namespace that Argo CD makes.
    pub object: Option<&'o Object>,
    /// True if it comes earlier than it says, because another object needs it.
    pub is_moved: bool,
    /// The name by which it is sorted.
    sorted_name: &'o str,
    /// The namespace that Argo CD writes on it, also on objects of the cluster.
    sent_namespace: &'o str,
}

/// The action on an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// It is made or changed.
    Apply,
    /// It is deleted, if pruning is on.
    Prune,
    /// The destination namespace is made, if it is not there.
    CreateNamespace,
}

/// An object that no sync applies.
#[derive(Clone, Debug)]
pub struct Never<'o> {
    /// The object.
    pub object: &'o Object,
    /// The wave that it would be in.
    pub wave: i64,
    /// True if it is a hook.
    pub is_hook: bool,
    /// Why.
    pub reason: Reason,
}

/// Why an object is never applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It says so.
    Skipped,
    /// Argo CD leaves its kind alone.
    Excluded,
    /// It runs when the Application is deleted.
    AtDeletion,
    /// It is a hook for which Argo CD has no phase, such as a test of Helm's.
    NoPhase,
    /// Its hook is a name that neither tool knows, or empty.
    Unknown,
}

/// Returns what Argo CD passes over in silence in an object's annotations: hooks, waves and policies that it does not know.
#[must_use]
pub fn annotation_warnings(object: &Object) -> Vec<Warning> {
    let mut warnings = Vec::new();
    lint::check(object, &mut warnings);
    warnings
}

impl<'o> Plan<'o> {
    /// Plans a sync of objects.
    #[must_use]
    pub fn new(objects: &'o [Object], options: &Options<'o>) -> Self {
        let mut warnings = Vec::new();
        let mut never = Vec::new();
        let (mut resources, mut hooks) = (Vec::new(), Vec::new());
        for object in objects {
            lint::check(object, &mut warnings);
            match hook::role(object) {
                Role::Resource => resources.push(Task::apply(object, Phase::Sync)),
                Role::Hook(phases) if phases.is_empty() => never.push(Never::hook(object)),
                Role::Hook(phases) => {
                    hooks.extend(phases.into_iter().map(|phase| Task::apply(object, phase)));
                }
                Role::Skipped => never.push(Never::resource(object, Reason::Skipped)),
            }
        }
        never.extend(options.excluded.iter().map(|object| Never {
            is_hook: matches!(hook::role(object), Role::Hook(_)),
            ..Never::resource(object, Reason::Excluded)
        }));
        let is_made = options.create_namespace
            && !options.namespace.is_empty()
            && !resources.iter().any(|task| task.is_namespace(options.namespace));
        let mut tasks = resources;
        tasks.extend(prune::tasks(objects, options));
        tasks.extend(hooks);
        settle(&mut tasks, objects, options);
        if is_made {
            tasks.push(Task::create_namespace(options.namespace));
        }
        prune::put_last(&mut tasks, options);
        Self { tasks: order::sort(tasks), never, warnings }
    }
}

/// Puts objects without a namespace in the destination's.
fn settle<'o>(tasks: &mut [Task<'o>], objects: &[Object], options: &Options<'o>) {
    let scopes = Scopes::of(objects.iter().chain(options.old));
    for task in tasks.iter_mut().filter(|task| task.action == Action::Apply) {
        if task.sent_namespace.is_empty() {
            task.sent_namespace = options.namespace;
        }
        if !scopes.is_namespaced(task.group, task.kind) {
            task.namespace = "";
        } else if task.namespace.is_empty() {
            task.namespace = options.namespace;
        }
    }
}

impl<'o> Task<'o> {
    fn apply(object: &'o Object, phase: Phase) -> Self {
        let is_hook = hook::is_hook(object);
        // A hook gets a name that goes on with the revision, the phase and the time; nothing else gets one here.
        let sorted_name = match object.name() {
            "" if is_hook => object.generate_name(),
            name => name,
        };
        Self {
            phase,
            wave: hook::wave(object),
            action: Action::Apply,
            group: object.group(),
            kind: object.kind(),
            namespace: object.namespace(),
            is_hook,
            object: Some(object),
            is_moved: false,
            sorted_name,
            sent_namespace: object.namespace(),
        }
    }

    fn prune(object: &'o Object) -> Self {
        Self { action: Action::Prune, ..Self::apply(object, Phase::Sync) }
    }

    fn create_namespace(name: &'o str) -> Self {
        Self {
            phase: Phase::PreSync,
            wave: 0,
            action: Action::CreateNamespace,
            group: "",
            kind: "Namespace",
            namespace: "",
            is_hook: false,
            object: None,
            is_moved: false,
            sorted_name: name,
            sent_namespace: "",
        }
    }

    fn is_namespace(&self, name: &str) -> bool {
        self.kind == "Namespace" && self.group.is_empty() && self.sorted_name == name
    }

    /// The name; of one that the cluster makes, its beginning and `*`.
    #[must_use]
    pub fn name(&self) -> String {
        self.object.map_or_else(|| self.sorted_name.to_owned(), name)
    }

    /// When a hook is deleted; nothing for others.
    #[must_use]
    pub fn delete_policies(&self) -> Vec<DeletePolicy> {
        self.object.filter(|_| self.is_hook).map_or_else(Vec::new, hook::delete_policies)
    }
}

impl<'o> Never<'o> {
    fn resource(object: &'o Object, reason: Reason) -> Self {
        Self { object, wave: hook::wave(object), is_hook: false, reason }
    }

    fn hook(object: &'o Object) -> Self {
        let argo = object.annotation_list(hook::HOOK);
        let helm = object.annotation_list(hook::HELM_HOOK);
        let is_any = |names: &[&str], known: &[&str]| names.iter().any(|name| known.contains(name));
        let reason = if is_any(&argo, hook::AT_DELETION) || is_any(&helm, &hook::HELM_WITHOUT_PHASE[..2]) {
            Reason::AtDeletion
        } else if is_any(&helm, hook::HELM_WITHOUT_PHASE) {
            Reason::NoPhase
        } else {
            Reason::Unknown
        };
        Self { object, wave: hook::wave(object), is_hook: true, reason }
    }
}

/// An object's name; of one that the cluster makes, its beginning and `*`.
fn name(object: &Object) -> String {
    match (object.name(), object.generate_name()) {
        ("", beginning) if !beginning.is_empty() => format!("{beginning}*"),
        (name, _) => name.to_owned(),
    }
}

#[cfg(test)]
mod testing {
    use std::sync::Arc;

    use yamltree::Source;

    use crate::objects::{Object, read};

    pub(super) fn objects(text: &str) -> Vec<Object> {
        read(&Arc::new(Source { name: "a.yaml".to_owned(), text: text.into() })).unwrap()
    }
}

#[cfg(test)]
mod tests {
    use super::testing::objects;
    use super::*;

    fn object(kind: &str, name: &str, wave: &str) -> String {
        let api_version = if kind == "CustomResourceDefinition" { "apiextensions.k8s.io/v1" } else { "v1" };
        format!(
            "apiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: {name}, annotations: {{argocd.argoproj.io/sync-wave: '{wave}'}}}}\n---\n"
        )
    }

    fn planned(new: &[Object], options: &Options<'_>) -> Vec<String> {
        let plan = Plan::new(new, options);
        let line = |task: &Task<'_>| {
            let action = match task.action {
                Action::Apply => "",
                Action::Prune => "-",
                Action::CreateNamespace => "+",
            };
            format!("{} {} {action}{} {}/{}", task.phase, task.wave, task.kind, task.namespace, task.name())
        };
        plan.tasks.iter().map(line).collect()
    }

    /// gitops-engine/pkg/sync/sync_context.go `getSyncTasks`, symmetric swap
    #[test]
    fn what_goes_goes_backwards() {
        let old = objects(
            &(object("ConfigMap", "a", "-1")
                + &object("ConfigMap", "b", "0")
                + &object("ConfigMap", "c", "3")
                + &object("ConfigMap", "d", "7")
                + &object("ConfigMap", "kept", "0")),
        );
        let new = objects(&object("ConfigMap", "kept", "1"));
        let mut options = Options { old: &old, ..Options::default() };
        assert_eq!(
            planned(&new, &options),
            [
                "Sync -1 -ConfigMap /d",
                "Sync 0 -ConfigMap /c",
                "Sync 1 ConfigMap /kept",
                "Sync 3 -ConfigMap /b",
                "Sync 7 -ConfigMap /a"
            ]
        );
        options.prune_last = true;
        assert_eq!(planned(&new, &options)[0..2], ["Sync 1 ConfigMap /kept", "Sync 8 -ConfigMap /a"]);
    }

    #[test]
    fn one_object_may_ask_to_go_last() {
        let last = "kind: Secret\nmetadata: {name: s, annotations: {argocd.argoproj.io/sync-options: PruneLast=true}}\n---\n";
        let old = objects(&format!("{last}{}", object("ConfigMap", "a", "0")));
        let new = objects(&object("ConfigMap", "new", "4"));
        let options = Options { old: &old, ..Options::default() };
        assert_eq!(
            planned(&new, &options),
            ["Sync 0 -ConfigMap /a", "Sync 4 ConfigMap /new", "Sync 5 -Secret /s"]
        );
    }

    /// gitops-engine/pkg/sync/reconcile.go: hooks are no resources, neither among the old nor the new.
    #[test]
    fn hooks_are_not_pruned_and_keep_nothing() {
        let hook = "kind: Job\nmetadata: {name: j, annotations: {argocd.argoproj.io/hook: PreSync}}\n---\n";
        let plain = "kind: Job\nmetadata: {name: j}\n---\n";
        let (hook, plain) = (objects(hook), objects(plain));
        let options = Options { old: &hook, ..Options::default() };
        assert!(planned(&[], &options).is_empty());
        let options = Options { old: &plain, ..Options::default() };
        assert_eq!(planned(&hook, &options), ["PreSync 0 Job /j", "Sync 0 -Job /j"]);
    }

    #[test]
    fn the_same_object_is_found_with_and_without_its_namespace() {
        let old = objects(
            "kind: Pod\nmetadata: {name: p, namespace: shop}\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: x}\n",
        );
        let new = objects(
            "kind: Pod\nmetadata: {name: p}\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: x, namespace: shop}\n",
        );
        let options = Options { old: &old, namespace: "shop", ..Options::default() };
        assert_eq!(planned(&new, &options), ["Sync 0 Namespace /x", "Sync 0 Pod shop/p"]);
    }

    /// `getSyncTasks` puts the destination namespace on objects of the cluster too before it sorts.
    #[test]
    fn the_destination_namespace_comes_before_all_without_one() {
        let new = objects(
            &(object("CustomResourceDefinition", "x", "-5")
                + &object("ConfigMap", "a", "-2")
                + &object("Namespace", "shop", "0")),
        );
        let options = Options { namespace: "shop", create_namespace: true, ..Options::default() };
        assert_eq!(
            planned(&new, &options),
            ["Sync -5 Namespace /shop", "Sync -5 CustomResourceDefinition /x", "Sync -2 ConfigMap shop/a"]
        );
        assert_eq!(planned(&new, &Options::default())[2], "Sync 0 Namespace /shop");
    }

    #[test]
    fn a_namespace_that_is_made_comes_before_the_first_hook_in_it() {
        let new = objects(
            "kind: Job\nmetadata: {name: j, annotations: {argocd.argoproj.io/hook: PreSync, argocd.argoproj.io/sync-wave: '-1'}}\n---\nkind: Pod\nmetadata: {name: p}\n",
        );
        let options = Options { namespace: "shop", create_namespace: true, ..Options::default() };
        assert_eq!(
            planned(&new, &options),
            ["PreSync -1 +Namespace /shop", "PreSync -1 Job shop/j", "Sync 0 Pod shop/p"]
        );
        let options = Options { create_namespace: true, ..Options::default() };
        assert_eq!(planned(&new, &options).len(), 2);
    }

    #[test]
    fn what_is_never_applied_has_its_reason() {
        for (annotation, want) in [
            ("argocd.argoproj.io/hook: Skip", Reason::Skipped),
            ("argocd.argoproj.io/hook: PreDelete", Reason::AtDeletion),
            ("helm.sh/hook: 'test,post-delete'", Reason::AtDeletion),
            ("helm.sh/hook: test", Reason::NoPhase),
            ("argocd.argoproj.io/hook: PreSinc", Reason::Unknown),
            ("argocd.argoproj.io/hook: ''", Reason::Unknown),
        ] {
            let objects =
                objects(&format!("kind: Job\nmetadata: {{name: j, annotations: {{{annotation}}}}}\n"));
            let plan = Plan::new(&objects, &Options::default());
            assert!(plan.tasks.is_empty());
            assert_eq!(plan.never[0].reason, want, "{annotation}");
        }
    }
}

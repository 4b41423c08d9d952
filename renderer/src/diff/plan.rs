//! The order in which an Application's objects are applied, for a report.

use argocd::application::Application;
use argocd::objects::Object;
use argocd::sync::{Action, Options, Plan};
use manifest_diff::{PlanStep, PlannedObject};

/// The plan of a sync from the old objects to the new ones.
pub(super) fn of(application: &Application, new: &[Object], old: &[Object]) -> manifest_diff::Plan {
    let has = |option: &str| application.sync_policy.sync_options.iter().any(|given| given == option);
    let options = Options {
        namespace: &application.destination.namespace,
        create_namespace: has("CreateNamespace=true"),
        old,
        prune_last: has("PruneLast=true"),
        excluded: &[],
    };
    let plan = Plan::new(new, &options);
    let mut steps: Vec<PlanStep> = Vec::new();
    for task in &plan.tasks {
        let title = format!("{}, wave {}", task.phase, task.wave);
        if steps.last().is_none_or(|step| step.title != title) {
            steps.push(PlanStep { title, objects: Vec::new() });
        }
        let action = match task.action {
            Action::Apply => "apply",
            Action::Prune => "delete",
            Action::CreateNamespace => "create",
        };
        let mut notes = Vec::new();
        if task.is_hook {
            notes.push("hook");
        }
        if task.is_moved {
            notes.push("earlier than it says, as others need it");
        }
        let object = titled(task.kind, task.namespace, &task.name());
        let note = (!notes.is_empty()).then(|| notes.join(", "));
        if let Some(step) = steps.last_mut() {
            step.objects.push(PlannedObject { action: action.to_owned(), object, note });
        }
    }
    if !plan.never.is_empty() {
        let never = plan.never.iter().map(|never| PlannedObject {
            action: "none".to_owned(),
            object: titled(never.object.kind(), never.object.namespace(), never.object.name()),
            note: never.is_hook.then(|| "hook".to_owned()),
        });
        steps.push(PlanStep { title: "Never applied".to_owned(), objects: never.collect() });
    }
    manifest_diff::Plan { steps }
}

fn titled(kind: &str, namespace: &str, name: &str) -> String {
    if namespace.is_empty() { format!("{kind} {name}") } else { format!("{kind} {namespace}/{name}") }
}

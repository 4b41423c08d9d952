//! Violations of projects by their Applications.

use argocd::project::{self, Projects};
use diagnostic::Error;
use findings::{Rule, Severity};

use super::Check;
use crate::builder::FindingBuilder;
use crate::index::Index;
use crate::input::Deployment;

pub(super) const CHECK: Check = Check {
    rule: &Rule {
        code: "LINT012",
        name: "project-denial",
        meaning: "The project of an Application does not permit its source, its destination or one of its objects: \
                  Argo CD does not sync it.",
    },
    fix: "permit it in the AppProject, or use another project",
    run,
};

fn run<'s>(index: &Index<'s>, drafts: &mut Vec<FindingBuilder<'s>>) {
    let Some(projects) = &index.set.projects else { return };
    for (at, target) in index.set.targets.iter().enumerate() {
        let Some(deployment) = target.deployment.as_deref() else { continue };
        let mut denied = |error: &Error, object: &'s argocd::objects::Object| {
            let draft = FindingBuilder::new(index, at, object, Severity::Error).message(error.message());
            let draft = draft.at(error.location().cloned());
            drafts.push(match error.get_hint() {
                Some(hint) => draft.hint(hint),
                None => draft,
            });
        };
        let project = match projects.get(&deployment.application.project.value) {
            Ok(project) => project,
            Err(_) if !index.set.knows_all_projects => continue,
            Err(error) => {
                let place = deployment.application.place(deployment.application.project.span);
                denied(&error.at(place), &deployment.object);
                continue;
            }
        };
        for error in of_application(projects, deployment) {
            denied(&error, &deployment.object);
        }
        let scopes = index.scopes(at);
        for object in &target.objects {
            if let Err(error) = project.check_object(object, &deployment.cluster, &scopes) {
                denied(&error, object);
            }
        }
    }
}

fn of_application(projects: &Projects, deployment: &Deployment) -> Vec<Error> {
    let application = &deployment.application;
    let Ok(project) = projects.get(&application.project.value) else { return Vec::new() };
    let source = |source: &'_ argocd::application::Source| {
        (source.repo_url.value.clone(), application.place(source.repo_url.span))
    };
    let sources: Vec<_> = application.sources.iter().map(source).collect();
    project.check_application(&project::Application {
        name: &application.name.value,
        namespace: &application.namespace,
        place: application.place(application.name.span),
        sources: sources.iter().map(|(url, place)| project::Source { url, place: place.clone() }).collect(),
        cluster: &deployment.cluster,
        destination_namespace: &application.destination.namespace,
        destination_place: deployment
            .object
            .node()
            .lookup(&["spec", "destination"])
            .and_then(|node| deployment.object.place_of(node)),
    })
}

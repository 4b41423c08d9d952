//! Applications that may deploy into Argo CD's namespace, where Applications, projects and credentials are.
//!
//! Left alone: Applications of Applications, whose objects are all Argo CD's own kinds, and Argo CD itself. A project
//! that permits the namespace to Applications which do not go there is one finding.

use std::collections::BTreeMap;

use argocd::application::{IN_CLUSTER_NAME, IN_CLUSTER_SERVER};
use argocd::objects::{ARGOCD_NAMESPACE, Object};
use argocd::project;
use findings::{Rule, Severity};

use super::Check;
use crate::builder::FindingBuilder;
use crate::index::Index;
use crate::input::{Deployment, Target};

pub(super) const CHECK: Check = Check {
    rule: &Rule {
        code: "LINT013",
        name: "argocd-namespace",
        meaning: "Whoever can write into Argo CD's namespace can make Applications and projects, and read credentials: \
                  an Application that may deploy there is an administrator of every cluster.",
    },
    fix: "give the project destinations that leave out the namespace of Argo CD, such as `!argocd` beside `*`",
    run,
};

fn run<'s>(index: &Index<'s>, drafts: &mut Vec<FindingBuilder<'s>>) {
    let mut by_project: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, target) in index.set.targets.iter().enumerate() {
        let Some(deployment) = target.deployment.as_deref() else { continue };
        if !is_own_cluster(deployment) {
            continue;
        }
        let inside: Vec<&Object> =
            target.objects.iter().filter(|object| object.namespace() == ARGOCD_NAMESPACE).collect();
        let goes_there =
            deployment.application.destination.namespace == ARGOCD_NAMESPACE || !inside.is_empty();
        if !goes_there {
            by_project.entry(&deployment.application.project.value).or_default().push(at);
            continue;
        }
        let of_argocd = |object: &&Object| object.group() == "argoproj.io";
        let is_of_applications = !inside.is_empty() && inside.iter().all(of_argocd);
        if !is_of_applications && !is_argocd(target) {
            let what = match inside.iter().find(|object| !of_argocd(object)) {
                Some(object) => {
                    format!(
                        "the Application deploys {object} into `{ARGOCD_NAMESPACE}`, the namespace of Argo CD"
                    )
                }
                None => format!(
                    "the destination of the Application is `{ARGOCD_NAMESPACE}`, the namespace of Argo CD"
                ),
            };
            let mut draft = FindingBuilder::new(index, at, &deployment.object, Severity::Warning)
                .message(what)
                .hint("deploy it into its own namespace");
            if let Some(node) = deployment.object.node().lookup(&["spec", "destination", "namespace"]) {
                draft = draft.field("spec.destination.namespace", node);
            }
            drafts.push(draft);
        }
    }
    by_project.into_iter().for_each(|(name, targets)| drafts.extend(permitted(index, name, &targets)));
}

/// That a project permits it, where the project is written somewhere.
fn permitted<'s>(index: &Index<'s>, name: &str, targets: &[usize]) -> Option<FindingBuilder<'s>> {
    let project = index.set.projects.as_ref()?.get(name).ok()?;
    let place = project.place()?.clone();
    let first = *targets.first()?;
    let deployment = index.set.targets[first].deployment.as_deref()?;
    let asked = project::Application {
        name: &deployment.application.name.value,
        namespace: "",
        place: None,
        sources: Vec::new(),
        cluster: &deployment.cluster,
        destination_namespace: ARGOCD_NAMESPACE,
        destination_place: None,
    };
    if !project.check_application(&asked).is_empty() {
        return None;
    }
    let others = match targets.len() {
        1 => String::new(),
        count => format!(" and {} more", count - 1),
    };
    let message = format!(
        "the project `{name}` permits `{}`{others} to deploy into `{ARGOCD_NAMESPACE}`, the namespace of Argo CD",
        deployment.application.name.value
    );
    Some(
        FindingBuilder::new(index, first, &deployment.object, Severity::Warning)
            .message(message)
            .at(Some(place)),
    )
}

/// Returns true if an Application goes to the cluster that Argo CD runs in.
fn is_own_cluster(deployment: &Deployment) -> bool {
    deployment.cluster.name == IN_CLUSTER_NAME
        || deployment.cluster.server.trim_end_matches('/') == IN_CLUSTER_SERVER
}

/// Returns true if a target is Argo CD.
fn is_argocd(target: &Target) -> bool {
    target.objects.iter().any(|object| {
        object.group() == "apps" && object.label("app.kubernetes.io/part-of").is_some_and(|of| of == "argocd")
    })
}

//! Power over the node that a workload gets: what its pods may do after the change and could not before.

use std::collections::BTreeSet;

use yamltree::{Kind, Node};

use super::Difference;
use crate::model::{Level, Rule, Summary};

/// Switches of a pod, and what they give.
const OF_PODS: &[(&str, &str)] = &[
    ("hostNetwork", "is in the node's network"),
    ("hostPID", "sees the node's processes"),
    ("hostIPC", "shares the node's memory for processes"),
];

const CONTAINERS: &[&str] = &["containers", "initContainers", "ephemeralContainers"];

/// Capabilities with which nobody needs more.
const MIGHTY: &[&str] =
    &["ALL", "SYS_ADMIN", "SYS_PTRACE", "SYS_MODULE", "DAC_READ_SEARCH", "NET_ADMIN", "BPF"];

pub(super) fn look(difference: &Difference<'_>, summary: &mut Summary) {
    let powers = |node: Option<&Node>| {
        let mut powers = BTreeSet::new();
        if let Some(node) = node {
            find_pods(node, &mut powers);
        }
        powers
    };
    let (before, after) = (powers(difference.base), powers(difference.head));
    for (level, message) in after.difference(&before) {
        summary.findings.push(difference.finding(Rule::PrivilegeGained, *level, message.clone()));
    }
}

type Powers = BTreeSet<(Level, String)>;

/// Anything with a list of containers is a pod.
fn find_pods(node: &Node, powers: &mut Powers) {
    match &node.kind {
        Kind::Mapping(entries) => {
            if node.get("containers").is_some_and(Node::is_sequence) {
                pod(node, powers);
            }
            entries.iter().for_each(|entry| find_pods(&entry.value, powers));
        }
        Kind::Sequence(items) => items.iter().for_each(|item| find_pods(item, powers)),
        Kind::Scalar(_) | Kind::Alias(_) => {}
    }
}

fn pod(pod: &Node, powers: &mut Powers) {
    for (field, power) in OF_PODS {
        if is(pod.get(field), "true") {
            powers.insert((Level::Warning, format!("the pod {power} (`{field}`)")));
        }
    }
    for volume in pod.get("volumes").and_then(Node::items).into_iter().flatten() {
        let path = volume.lookup(&["hostPath", "path"]).and_then(Node::text);
        if let Some(path) = path {
            powers.insert((Level::Warning, format!("the pod has the node's `{path}` (`hostPath`)")));
        }
    }
    let context = pod.get("securityContext");
    user("the pod", context, powers);
    for list in CONTAINERS {
        for container in pod.get(list).and_then(Node::items).into_iter().flatten() {
            self::container(container, powers);
        }
    }
}

fn container(container: &Node, powers: &mut Powers) {
    let name = container.get("name").and_then(Node::text).unwrap_or_default();
    let name = format!("the container `{name}`");
    let context = container.get("securityContext");
    user(&name, context, powers);
    let field = |field: &str| context.and_then(|context| context.get(field));
    if is(field("privileged"), "true") {
        powers.insert((Level::Warning, format!("{name} is privileged: it owns the node")));
    }
    if is(field("allowPrivilegeEscalation"), "true") {
        powers.insert((Level::Note, format!("{name} may gain privileges (`allowPrivilegeEscalation`)")));
    }
    if is(field("procMount"), "Unmasked") {
        powers.insert((Level::Warning, format!("{name} sees all of `/proc` (`procMount`)")));
    }
    let added = field("capabilities").and_then(|all| all.get("add")).and_then(Node::items);
    for capability in added.into_iter().flatten().filter_map(Node::text) {
        let plain = capability.strip_prefix("CAP_").unwrap_or(capability);
        let level = if MIGHTY.contains(&plain) { Level::Warning } else { Level::Note };
        powers.insert((level, format!("{name} has the capability `{plain}`")));
    }
    for port in container.get("ports").and_then(Node::items).into_iter().flatten() {
        if let Some(host_port) = port.get("hostPort").and_then(Node::text).filter(|port| *port != "0") {
            powers.insert((Level::Note, format!("{name} takes the node's port {host_port} (`hostPort`)")));
        }
    }
}

fn user(who: &str, context: Option<&Node>, powers: &mut Powers) {
    let field = |field: &str| context.and_then(|context| context.get(field));
    if is(field("runAsUser"), "0") {
        powers.insert((Level::Warning, format!("{who} runs as root (`runAsUser: 0`)")));
    }
    if is(field("runAsNonRoot"), "false") {
        powers.insert((Level::Note, format!("{who} may run as root (`runAsNonRoot: false`)")));
    }
    for profile in ["seccompProfile", "appArmorProfile"] {
        if is(field(profile).and_then(|profile| profile.get("type")), "Unconfined") {
            powers.insert((Level::Warning, format!("{who} is unconfined (`{profile}`)")));
        }
    }
}

fn is(node: Option<&Node>, text: &str) -> bool {
    node.and_then(Node::text) == Some(text)
}

#[cfg(test)]
mod tests {
    use crate::summary::testing::findings;

    fn deployment(spec: &str) -> String {
        format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: d}}\nspec: {{template: {{spec: {spec}}}}}\n"
        )
    }

    #[test]
    fn only_what_is_gained_is_said() {
        let old = deployment("{hostPID: true, containers: [{name: a, securityContext: {privileged: true}}]}");
        let new = deployment(
            "{hostPID: true, hostNetwork: true, volumes: [{name: v, hostPath: {path: /}}], containers: [{name: a, securityContext: {privileged: true, runAsUser: 0, capabilities: {add: [CAP_SYS_ADMIN, CHOWN]}}}]}",
        );
        assert_eq!(
            findings(&old, &new),
            [
                "Warning the container `a` has the capability `SYS_ADMIN`",
                "Warning the container `a` runs as root (`runAsUser: 0`)",
                "Warning the pod has the node's `/` (`hostPath`)",
                "Warning the pod is in the node's network (`hostNetwork`)",
                "Note the container `a` has the capability `CHOWN`",
            ]
        );
        assert!(findings(&new, &old).is_empty());
        assert_eq!(findings("", &old).len(), 2);
    }
}

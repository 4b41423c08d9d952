//! Facts about a set that all rules share.
//!
//! In: a set. Out: its objects by kind and name, the kinds that it defines, and what its texts mention.

use std::collections::{HashMap, HashSet};

use argocd::objects::{Object, Scopes};
use yamltree::{Kind, Node};

use crate::input::{Manifests, Target};
use crate::pods;

/// The shared facts.
#[derive(Debug)]
pub(crate) struct Index<'s> {
    pub(crate) set: &'s Manifests,
    /// The targets that define a kind, by group and kind; empty if the definition comes from elsewhere.
    defined: HashMap<(&'s str, &'s str), Vec<usize>>,
    /// The namespaces of objects, by cluster, kind and name. Of core kinds only.
    named: HashMap<(&'s str, &'s str, &'s str), Vec<&'s str>>,
    /// Custom resources of operators by cluster: what these make is often named after them.
    custom: HashMap<&'s str, HashSet<&'s str>>,
    /// Words in texts that programs read, by cluster: what they name, they may make.
    words: HashMap<&'s str, HashSet<&'s str>>,
    /// Words in what is there to have Secrets made, by cluster.
    secret_words: HashMap<&'s str, HashSet<&'s str>>,
}

/// The role of a custom resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// Nothing else: it is a rule or a description.
    Passive,
    /// Secrets that it names.
    Secrets,
    /// Anything.
    Operator,
}

/// API groups whose controllers create no ConfigMaps, Secrets, ServiceAccounts, claims or Services.
const PASSIVE_GROUPS: &[&str] = &[
    "argoproj.io",
    "autoscaling.k8s.io",
    "cloud.google.com",
    "gateway.networking.k8s.io",
    "keda.sh",
    "kyverno.io",
    "networking.gke.io",
    "networking.istio.io",
    "policies.kyverno.io",
    "policy.linkerd.io",
    "route.openshift.io",
    "security.istio.io",
    "snapshot.storage.k8s.io",
    "traefik.containo.us",
    "traefik.io",
];

/// Kinds of which there come none, in groups that have others.
const PASSIVE_KINDS: &[&str] = &[
    "AlertmanagerConfig",
    "PodMonitor",
    "PodMonitoring",
    "Probe",
    "PrometheusRule",
    "ScrapeConfig",
    "ServiceMonitor",
    "VMPodScrape",
    "VMRule",
    "VMServiceScrape",
];

/// Groups of what makes Secrets and nothing else.
const SECRET_GROUPS: &[&str] =
    &["bitnami.com", "cert-manager.io", "external-secrets.io", "isindir.github.com", "secrets.hashicorp.com"];

/// The groups of Kubernetes itself whose names look like those of custom resources.
const OWN_SUFFIX: &str = ".k8s.io";

impl<'s> Index<'s> {
    pub(crate) fn of(set: &'s Manifests) -> Self {
        let mut index = Self {
            set,
            defined: HashMap::new(),
            named: HashMap::new(),
            custom: HashMap::new(),
            words: HashMap::new(),
            secret_words: HashMap::new(),
        };
        for definition in &set.definitions {
            index.defined.entry(kind_defined_by(definition)).or_default();
        }
        for (at, target) in set.targets.iter().enumerate() {
            for object in &target.objects {
                index.take(at, target.cluster(), object);
            }
        }
        index
    }

    fn take(&mut self, target: usize, cluster: &'s str, object: &'s Object) {
        if object.is_crd() {
            self.defined.entry(kind_defined_by(object)).or_default().push(target);
            return;
        }
        if object.group().is_empty() {
            let key = (cluster, object.kind(), object.name());
            self.named.entry(key).or_default().push(object.namespace());
        }
        let words = self.words.entry(cluster).or_default();
        if is_custom(object.group()) {
            match role(object) {
                Role::Passive => {}
                Role::Secrets => add_words(object.node(), self.secret_words.entry(cluster).or_default()),
                Role::Operator => {
                    self.custom.entry(cluster).or_default().insert(object.name());
                    add_words(object.node(), words);
                }
            }
            if object.kind() != "Rollout" {
                return;
            }
        }
        for part in [&["metadata", "annotations"][..], &["data"], &["rules"]] {
            let is_read = part != ["data"] || object.kind() == "ConfigMap";
            if let Some(node) = object.node().lookup(part).filter(|_| is_read) {
                add_words(node, words);
            }
        }
        for container in pods::containers(object) {
            for part in ["args", "command"] {
                if let Some(node) = container.node.get(part) {
                    add_words(node, words);
                }
            }
            for variable in container.node.get("env").and_then(Node::items).into_iter().flatten() {
                if let Some(value) = variable.get("value") {
                    add_words(value, words);
                }
            }
        }
    }

    /// All objects, each with the number of its target.
    pub(crate) fn objects(&self) -> impl Iterator<Item = (usize, &'s Target, &'s Object)> + use<'s> {
        let set = self.set;
        let targets = set.targets.iter().enumerate();
        targets.flat_map(|(at, target)| target.objects.iter().map(move |object| (at, target, object)))
    }

    /// The targets that define a kind; `None` where nothing does.
    pub(crate) fn definers<'a>(&'a self, group: &'a str, kind: &'a str) -> Option<&'a [usize]> {
        self.defined.get(&(group, kind)).map(Vec::as_slice)
    }

    /// Returns true if an object of a core kind exists. An object without a namespace matches every namespace.
    pub(crate) fn has(&self, cluster: &str, kind: &str, namespace: &str, name: &str) -> bool {
        let found = self.named.get(&(cluster, kind, name));
        let is_it = |of: &&str| namespace.is_empty() || of.is_empty() || *of == namespace;
        found.is_some_and(|namespaces| namespaces.iter().any(is_it))
    }

    /// Returns true if a program of the cluster gets this name in its configuration, and so may create the object.
    pub(crate) fn mentions(&self, cluster: &str, kind: &str, name: &str) -> bool {
        let has =
            |words: &HashMap<&str, HashSet<&str>>| words.get(cluster).is_some_and(|it| it.contains(name));
        has(&self.words) || kind == "Secret" && has(&self.secret_words)
    }

    /// Returns true if a name starts or ends with that of a custom resource.
    pub(crate) fn is_of_custom(&self, cluster: &str, name: &str) -> bool {
        let Some(custom) = self.custom.get(cluster) else { return false };
        let mut parts = name.match_indices(['-', '.']).flat_map(|(at, _)| [&name[..at], &name[at + 1..]]);
        custom.contains(name) || parts.any(|part| custom.contains(part))
    }

    /// Which kinds of a target's objects belong to the cluster.
    pub(crate) fn scopes(&self, target: usize) -> Scopes {
        Scopes::of(&self.set.targets[target].objects)
    }
}

/// Returns true if a group can only be there by a CRD or another API server.
pub(crate) fn is_custom(group: &str) -> bool {
    const OF_CRDS: [&str; 3] = ["gateway.networking.k8s.io", "snapshot.storage.k8s.io", "metrics.k8s.io"];
    // Beside those of Kubernetes, kubernetes-sigs has groups by CRDs, which are two words long.
    let own = group.strip_suffix(OWN_SUFFIX);
    let is_own = own.is_some_and(|first| !first.contains('.') || first.ends_with("apiserver"));
    let is_own = is_own || matches!(group, "rbac.authorization.k8s.io" | "flowcontrol.apiserver.k8s.io");
    group.contains('.') && (!is_own || OF_CRDS.contains(&group))
}

fn role(object: &Object) -> Role {
    if PASSIVE_GROUPS.contains(&object.group()) || PASSIVE_KINDS.contains(&object.kind()) {
        Role::Passive
    } else if SECRET_GROUPS.contains(&object.group()) {
        Role::Secrets
    } else {
        Role::Operator
    }
}

fn kind_defined_by(definition: &Object) -> (&str, &str) {
    (definition.text_at(&["spec", "group"]), definition.text_at(&["spec", "names", "kind"]))
}

/// Adds the words of all texts: what is made of letters, digits, dots and dashes.
fn add_words<'s>(node: &'s Node, words: &mut HashSet<&'s str>) {
    match &node.kind {
        Kind::Scalar(text) => {
            let is_between =
                |character: char| !(character.is_ascii_alphanumeric() || "-.".contains(character));
            words.extend(text.split(is_between).filter(|word| !word.is_empty()));
        }
        Kind::Sequence(items) => items.iter().for_each(|item| add_words(item, words)),
        Kind::Mapping(entries) => entries.iter().for_each(|entry| add_words(&entry.value, words)),
        Kind::Alias(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_of_kubernetes_are_told_from_those_of_crds() {
        for group in
            ["", "apps", "policy", "networking.k8s.io", "rbac.authorization.k8s.io", "storage.k8s.io"]
        {
            assert!(!is_custom(group), "{group}");
        }
        for group in
            ["monitoring.coreos.com", "gateway.networking.k8s.io", "snapshot.storage.k8s.io", "argoproj.io"]
        {
            assert!(is_custom(group), "{group}");
        }
    }
}

//! References to what is not in the set.
//!
//! Looked at: ConfigMaps, Secrets, ServiceAccounts and PersistentVolumeClaims of pods, and Services of Ingresses, each in
//! the namespace of what refers to it. Left alone: what is optional; what Kubernetes and operators make, as far as a
//! custom resource, an annotation, a role or a program's arguments name it; secrets for pulling images and for TLS of
//! Ingresses, without which things go on. Secrets are often made by hand, and charts are given things by others: there it
//! is a note.

use argocd::objects::Object;
use findings::{Rule, Severity};
use yamltree::{Node, Tag};

use super::Check;
use crate::builder::FindingBuilder;
use crate::index::Index;
use crate::input::Target;
use crate::pods;

pub(super) const CHECK: Check = Check {
    rule: &Rule {
        code: "LINT009",
        name: "missing-reference",
        meaning: "An object names another that is not among those that are rendered: pods that need it do not start.",
    },
    fix: "correct the name or add the object; set `optional: true` if it may be missing",
    run,
};

/// Objects that Kubernetes creates itself, and that distributions and meshes add to every namespace.
const ALWAYS_THERE: &[(&str, &str)] = &[
    (CONFIG_MAP, "extension-apiserver-authentication"),
    (CONFIG_MAP, "istio-ca-root-cert"),
    (CONFIG_MAP, "kube-root-ca.crt"),
    (CONFIG_MAP, "openshift-service-ca.crt"),
    (SERVICE_ACCOUNT, "default"),
];

const CONFIG_MAP: &str = "ConfigMap";
const SECRET: &str = "Secret";
const SERVICE: &str = "Service";
const SERVICE_ACCOUNT: &str = "ServiceAccount";
const CLAIM: &str = "PersistentVolumeClaim";

/// A name that an object has for another.
struct Reference<'o> {
    kind: &'static str,
    node: &'o Node,
    path: String,
}

fn run<'s>(index: &Index<'s>, drafts: &mut Vec<FindingBuilder<'s>>) {
    for (at, target, object) in index.objects() {
        let mut seen = Vec::new();
        for reference in of_pod(object).into_iter().chain(of_ingress(object)) {
            let Some(name) = reference.node.text().filter(|name| !name.is_empty() && !name.contains('$'))
            else {
                continue;
            };
            if seen.contains(&(reference.kind, name)) || is_there(index, target, object, reference.kind, name)
            {
                continue;
            }
            seen.push((reference.kind, name));
            let near = nearest(target, reference.kind, name);
            let is_sure = near.is_some() || (target.is_complete && reference.kind != SECRET);
            let severity = if is_sure { Severity::Warning } else { Severity::Note };
            let draft = FindingBuilder::new(index, at, object, severity)
                .field(reference.path, reference.node)
                .message(format!("no {} `{name}` among the rendered objects", reference.kind));
            drafts.push(match near {
                Some(near) => draft.hint(format!("did you mean `{near}`?")),
                None => draft,
            });
        }
    }
}

fn is_there(index: &Index<'_>, target: &Target, object: &Object, kind: &'static str, name: &str) -> bool {
    let cluster = target.cluster();
    index.has(cluster, kind, object.namespace(), name)
        || ALWAYS_THERE.contains(&(kind, name))
        || index.is_of_custom(cluster, name)
        || matches!(kind, SECRET | CONFIG_MAP) && index.mentions(cluster, kind, name)
}

/// Returns the references that an object's pod needs to start.
fn of_pod(object: &Object) -> Vec<Reference<'_>> {
    let Some((spec, path)) = pods::spec(object) else { return Vec::new() };
    let mut found = Vec::new();
    let account = spec.get("serviceAccountName").or_else(|| spec.get("serviceAccount"));
    if let Some(node) = account {
        found.push(Reference { kind: SERVICE_ACCOUNT, node, path: format!("{path}.serviceAccountName") });
    }
    for container in pods::containers(object) {
        for (at, from) in items(container.node, "envFrom") {
            let path = format!("{}.envFrom[{at}]", container.path);
            add(&mut found, from.get("configMapRef"), "name", CONFIG_MAP, &format!("{path}.configMapRef"));
            add(&mut found, from.get("secretRef"), "name", SECRET, &format!("{path}.secretRef"));
        }
        for (at, variable) in items(container.node, "env") {
            let path = format!("{}.env[{at}].valueFrom", container.path);
            let from = |field: &str| variable.get("valueFrom").and_then(|from| from.get(field));
            add(&mut found, from("configMapKeyRef"), "name", CONFIG_MAP, &format!("{path}.configMapKeyRef"));
            add(&mut found, from("secretKeyRef"), "name", SECRET, &format!("{path}.secretKeyRef"));
        }
    }
    for (at, volume) in items(spec, "volumes") {
        let path = format!("{path}.volumes[{at}]");
        of_volume(&mut found, volume, &path);
    }
    found
}

fn of_volume<'o>(found: &mut Vec<Reference<'o>>, volume: &'o Node, path: &str) {
    add(found, volume.get("configMap"), "name", CONFIG_MAP, &format!("{path}.configMap"));
    add(found, volume.get("secret"), "secretName", SECRET, &format!("{path}.secret"));
    let claim = volume.get("persistentVolumeClaim");
    add(found, claim, "claimName", CLAIM, &format!("{path}.persistentVolumeClaim"));
    let projected = volume.get("projected");
    for (at, source) in projected.iter().flat_map(|projected| items(projected, "sources")) {
        let path = format!("{path}.projected.sources[{at}]");
        add(found, source.get("configMap"), "name", CONFIG_MAP, &format!("{path}.configMap"));
        add(found, source.get("secret"), "name", SECRET, &format!("{path}.secret"));
    }
}

/// Adds the name in a node, unless that may be missing.
fn add<'o>(
    found: &mut Vec<Reference<'o>>,
    node: Option<&'o Node>,
    field: &str,
    kind: &'static str,
    path: &str,
) {
    let is_optional = node.and_then(|node| node.get("optional")).and_then(Node::text) == Some("true");
    if let Some(name) = node.filter(|_| !is_optional).and_then(|node| node.get(field)) {
        let path = format!("{path}.{field}");
        found.extend((name.tag != Tag::Null).then_some(Reference { kind, node: name, path }));
    }
}

/// The Services of an Ingress.
fn of_ingress(object: &Object) -> Vec<Reference<'_>> {
    if object.kind() != "Ingress" || !matches!(object.group(), "networking.k8s.io" | "extensions") {
        return Vec::new();
    }
    let Some(spec) = object.node().get("spec") else { return Vec::new() };
    let mut found = Vec::new();
    for field in ["defaultBackend", "backend"] {
        of_backend(&mut found, spec.get(field), &format!("spec.{field}"));
    }
    for (at, rule) in items(spec, "rules") {
        for (number, path) in rule.get("http").iter().flat_map(|http| items(http, "paths")) {
            let field = format!("spec.rules[{at}].http.paths[{number}].backend");
            of_backend(&mut found, path.get("backend"), &field);
        }
    }
    found
}

fn of_backend<'o>(found: &mut Vec<Reference<'o>>, backend: Option<&'o Node>, path: &str) {
    let Some(backend) = backend else { return };
    // AWS load balancers use such a backend name for an annotation, not for a Service.
    let port = backend.lookup(&["service", "port", "name"]).or_else(|| backend.get("servicePort"));
    if port.and_then(Node::text) == Some("use-annotation") {
        return;
    }
    add(found, backend.get("service"), "name", SERVICE, &format!("{path}.service"));
    add(found, Some(backend), "serviceName", SERVICE, path);
}

fn items<'n>(node: &'n Node, field: &str) -> impl Iterator<Item = (usize, &'n Node)> + use<'n> {
    node.get(field).and_then(Node::items).into_iter().flatten().enumerate()
}

/// The name that was perhaps meant: that of an object of the target which differs by a letter or two.
fn nearest<'s>(target: &'s Target, kind: &str, name: &str) -> Option<&'s str> {
    let of_kind = target.objects.iter().filter(|object| object.kind() == kind && object.group().is_empty());
    of_kind.map(Object::name).filter(|known| is_near(known, name)).min()
}

/// Returns true if two names differ by one letter that is another, missing or exchanged with the next.
fn is_near(left: &str, right: &str) -> bool {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    let prefix = left.iter().zip(right).take_while(|(one, other)| one == other).count();
    let (left, right) = (&left[prefix..], &right[prefix..]);
    let suffix = left.iter().rev().zip(right.iter().rev()).take_while(|(one, other)| one == other).count();
    let (left, right) = (&left[..left.len() - suffix], &right[..right.len() - suffix]);
    // Names that differ by a number are of a series.
    let is_number = |part: &[u8]| part.iter().any(u8::is_ascii_digit);
    if is_number(left) || is_number(right) || prefix + suffix < 4 {
        return false;
    }
    match (left, right) {
        ([_], [_]) | ([_], []) | ([], [_]) => true,
        ([a, b], [c, d]) => a == d && b == c,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_typos() {
        for (one, other) in
            [("web-config", "web-confg"), ("web-config", "web-cofnig"), ("settings", "setting")]
        {
            assert!(is_near(one, other), "{one} {other}");
        }
        for (one, other) in [("web-1", "web-2"), ("web", "api"), ("web-config", "web-secrets"), ("a", "b")] {
            assert!(!is_near(one, other), "{one} {other}");
        }
    }
}

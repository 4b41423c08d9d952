//! Discovery: the version, groups, versions and resources of the server.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::cluster::Cluster;
use super::resource::{Resource, Version};

/// The answer to a path that is about the server; nothing where it is about something else.
pub(super) fn answer(cluster: &Cluster, path: &str) -> Option<Value> {
    let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
    match parts.as_slice() {
        ["version"] => Some(json!({
            "major": "1", "minor": "33", "gitVersion": "v1.33.0", "gitCommit": "", "gitTreeState": "clean",
            "buildDate": "2025-04-23T13:00:00Z", "goVersion": "go1.24.2", "compiler": "gc", "platform": "linux/amd64",
        })),
        ["api"] => Some(json!({
            "kind": "APIVersions", "versions": ["v1"],
            "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": "127.0.0.1:0"}],
        })),
        ["api", version] => resources(cluster, "", version),
        ["apis"] => {
            let groups: Vec<Value> = groups(cluster).iter().filter_map(|name| group(cluster, name)).collect();
            Some(json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}))
        }
        ["apis", name] => {
            let mut group = group(cluster, name)?;
            group["kind"] = "APIGroup".into();
            group["apiVersion"] = "v1".into();
            Some(group)
        }
        ["apis", group, version] => resources(cluster, group, version),
        _ => None,
    }
}

fn groups(cluster: &Cluster) -> BTreeSet<&str> {
    let names = cluster.resources.iter().map(|resource| resource.group.as_str());
    names.filter(|name| !name.is_empty()).collect()
}

fn group(cluster: &Cluster, name: &str) -> Option<Value> {
    let of_group = cluster.resources.iter().filter(|resource| !name.is_empty() && resource.group == name);
    let versions = of_group.flat_map(|resource| resource.versions.iter());
    let names: BTreeSet<&str> =
        versions.filter(|version| version.served).map(|version| version.name.as_str()).collect();
    let mut names: Vec<&str> = names.into_iter().collect();
    names.sort_by_key(|name| std::cmp::Reverse(priority(name)));
    let versions: Vec<Value> = names
        .iter()
        .map(|version| json!({"groupVersion": format!("{name}/{version}"), "version": version}))
        .collect();
    let preferred = versions.first()?.clone();
    Some(json!({"name": name, "versions": versions, "preferredVersion": preferred}))
}

/// `v2` before `v1` before `v1beta2` before `v1beta1` before `v1alpha1`.
fn priority(version: &str) -> (u8, u32, u32) {
    let text = version.trim_start_matches('v');
    let split = |word: &str| {
        let (major, minor) = text.split_once(word)?;
        Some((major.parse().ok()?, minor.parse().ok()?))
    };
    if let Ok(major) = text.parse() {
        return (2, major, 0);
    }
    if let Some((major, minor)) = split("beta") {
        return (1, major, minor);
    }
    split("alpha").map_or((0, 0, 0), |(major, minor)| (0, major, minor))
}

fn resources(cluster: &Cluster, group: &str, version: &str) -> Option<Value> {
    let of_group = cluster.resources.iter().filter(|resource| resource.group == group);
    let all: Vec<Value> = of_group
        .filter_map(|resource| Some(entries(resource, resource.version(version)?)))
        .flatten()
        .collect();
    if all.is_empty() {
        return None;
    }
    let name = if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") };
    Some(json!({"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": name, "resources": all}))
}

fn entries(resource: &Resource, version: &Version) -> Vec<Value> {
    let mut entry = json!({
        "name": resource.plural, "singularName": resource.singular, "namespaced": resource.namespaced,
        "kind": resource.kind,
        "verbs": ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"],
    });
    for (field, names) in [("shortNames", &resource.short_names), ("categories", &resource.categories)] {
        if !names.is_empty() {
            entry[field] = names.as_slice().into();
        }
    }
    let mut entries = vec![entry];
    if version.status {
        entries.push(json!({
            "name": format!("{}/status", resource.plural), "singularName": "", "namespaced": resource.namespaced,
            "kind": resource.kind, "verbs": ["get", "patch", "update"],
        }));
    }
    if resource.group.is_empty() && resource.plural == "serviceaccounts" {
        entries.push(json!({
            "name": "serviceaccounts/token", "singularName": "", "namespaced": true, "group": "authentication.k8s.io",
            "version": "v1", "kind": "TokenRequest", "verbs": ["create"],
        }));
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    /// https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/#version-priority
    #[test]
    fn the_preferred_version_is_the_most_stable_one() {
        let mut versions = ["v1alpha1", "v1beta1", "v2", "v1", "foo", "v1beta2", "v10"];
        versions.sort_by_key(|version| std::cmp::Reverse(priority(version)));
        assert_eq!(versions[..5], ["v10", "v2", "v1", "v1beta2", "v1beta1"]);
    }
}

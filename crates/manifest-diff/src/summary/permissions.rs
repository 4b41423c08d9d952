//! Permissions that accounts get: rules of roles, and subjects of bindings.

use std::collections::{BTreeMap, BTreeSet};

use yamltree::Node;

use super::Difference;
use crate::model::{Level, Rule, Summary};

const GROUP: &str = "rbac.authorization.k8s.io";

/// The maximum number of permissions of a role that are compared one by one.
const MAX_PERMISSIONS: usize = 20_000;

/// Permissions that lead to all others, or to what is secret.
const GRAVE_VERBS: &[&str] = &["*", "escalate", "bind", "impersonate"];
const GRAVE_RESOURCES: &[&str] =
    &["*", "secrets", "pods/exec", "pods/attach", "nodes/proxy", "serviceaccounts/token"];

/// A permission: a verb on a resource of a group, possibly limited to names. Non-resource URLs use a group that no
/// resource has.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Permission {
    group: String,
    resource: String,
    names: Vec<String>,
    verb: String,
}

const ADDRESSES: &str = "(address)";

pub(super) fn look(difference: &Difference<'_>, summary: &mut Summary) {
    if difference.id.group() != GROUP {
        return;
    }
    match difference.id.kind.as_str() {
        "Role" | "ClusterRole" => role(difference, summary),
        "RoleBinding" | "ClusterRoleBinding" => binding(difference, summary),
        _ => {}
    }
}

fn role(difference: &Difference<'_>, summary: &mut Summary) {
    let mut gain = |level, message| {
        summary.findings.push(difference.finding(Rule::PermissionGained, level, message));
    };
    let (Some(before), Some(after)) = (permissions(difference.base), permissions(difference.head)) else {
        gain(Level::Note, "has too many permissions to compare them one by one".to_owned());
        return;
    };
    let mut gained: BTreeMap<(&str, &str, &[String]), Vec<&str>> = BTreeMap::new();
    for permission in after.iter().filter(|permission| !is_covered(permission, &before)) {
        let Permission { group, resource, names, verb } = permission;
        gained.entry((group, resource, names)).or_default().push(verb);
    }
    for ((group, resource, names), verbs) in gained {
        let is_grave =
            verbs.iter().any(|verb| GRAVE_VERBS.contains(verb)) || GRAVE_RESOURCES.contains(&resource);
        let level = if is_grave { Level::Warning } else { Level::Note };
        let verbs = verbs
            .iter()
            .map(|verb| if *verb == "*" { "do everything to" } else { verb })
            .collect::<Vec<_>>()
            .join(", ");
        let what = match (group, resource) {
            (ADDRESSES, address) => format!("`{address}`"),
            (_, "*") if group == "*" => "all resources".to_owned(),
            (_, "*") => format!("all resources of `{group}`"),
            ("", resource) => format!("`{resource}`"),
            (group, resource) => format!("`{resource}.{group}`"),
        };
        let names = if names.is_empty() { String::new() } else { format!(" named {}", names.join(", ")) };
        gain(level, format!("may {verbs} {what}{names}"));
    }
    let rules = |node: Option<&Node>| {
        node.and_then(|role| role.get("aggregationRule")).map(crate::json_text::text_of)
    };
    if let Some(rule) = rules(difference.head).filter(|rule| Some(rule) != rules(difference.base).as_ref()) {
        gain(Level::Note, format!("takes the permissions of all roles that match {rule}"));
    }
}

/// The permissions of a role; `None` where there are too many.
fn permissions(role: Option<&Node>) -> Option<BTreeSet<Permission>> {
    let mut permissions = BTreeSet::new();
    let rules = role.and_then(|role| role.get("rules")).and_then(Node::items);
    for rule in rules.into_iter().flatten() {
        let texts = |field: &str| {
            let items = rule.get(field).and_then(Node::items);
            items.into_iter().flatten().filter_map(Node::text).collect::<Vec<_>>()
        };
        let (groups, resources, verbs) = (texts("apiGroups"), texts("resources"), texts("verbs"));
        let addresses = texts("nonResourceURLs");
        let count = (groups.len() * resources.len() + addresses.len()).checked_mul(verbs.len())?;
        if permissions.len() + count > MAX_PERMISSIONS {
            return None;
        }
        let mut names: Vec<String> = texts("resourceNames").into_iter().map(str::to_owned).collect();
        names.sort_unstable();
        let mut add = |group: &str, resource: &str, names: &[String]| {
            for verb in &verbs {
                let (group, resource, verb) = (group.to_owned(), resource.to_owned(), (*verb).to_owned());
                permissions.insert(Permission { group, resource, names: names.to_vec(), verb });
            }
        };
        for group in &groups {
            resources.iter().for_each(|resource| add(group, resource, &names));
        }
        addresses.iter().for_each(|address| add(ADDRESSES, address, &[]));
    }
    Some(permissions)
}

/// Returns true if a permission is among others, also by a `*` or because it was not limited to names.
fn is_covered(permission: &Permission, others: &BTreeSet<Permission>) -> bool {
    let Permission { group, resource, names, verb } = permission;
    let of = |own: &str| if own == "*" { vec!["*".to_owned()] } else { vec![own.to_owned(), "*".to_owned()] };
    let all_names = if names.is_empty() { vec![Vec::new()] } else { vec![names.clone(), Vec::new()] };
    of(group).iter().any(|group| {
        of(resource).iter().any(|resource| {
            of(verb).iter().any(|verb| {
                all_names.iter().any(|names| {
                    let (group, resource, verb) = (group.clone(), resource.clone(), verb.clone());
                    others.contains(&Permission { group, resource, names: names.clone(), verb })
                })
            })
        })
    })
}

fn binding(difference: &Difference<'_>, summary: &mut Summary) {
    let role = |node: Option<&Node>| {
        let role = node?.get("roleRef")?;
        Some(format!("{} {}", role.get("kind")?.text()?, role.get("name")?.text()?))
    };
    let (before, after) = (subjects(difference.base), subjects(difference.head));
    let Some(new_role) = role(difference.head) else { return };
    let is_other_role = role(difference.base).as_ref() != Some(&new_role);
    let level = if new_role == "ClusterRole cluster-admin" { Level::Warning } else { Level::Note };
    for subject in after.iter().filter(|subject| is_other_role || !before.contains(*subject)) {
        let message = format!("gives `{new_role}` to `{subject}`");
        summary.findings.push(difference.finding(Rule::PermissionGained, level, message));
    }
}

fn subjects(binding: Option<&Node>) -> BTreeSet<String> {
    let subjects = binding.and_then(|binding| binding.get("subjects")).and_then(Node::items);
    let subject = |subject: &Node| {
        let text = |field: &str| subject.get(field).and_then(Node::text);
        let namespace = text("namespace").map(|namespace| format!("{namespace}/")).unwrap_or_default();
        Some(format!("{} {namespace}{}", text("kind")?, text("name")?))
    };
    subjects.into_iter().flatten().filter_map(subject).collect()
}

#[cfg(test)]
mod tests {
    use crate::summary::testing::findings;

    fn role(rules: &str) -> String {
        format!(
            "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {{name: r}}\nrules: [{rules}]\n"
        )
    }

    #[test]
    fn only_new_permissions_are_said() {
        let pods = "{apiGroups: [''], resources: [pods], verbs: [get, list]}";
        assert_eq!(
            findings(&role(pods), &role("{apiGroups: [''], resources: [secrets, pods], verbs: [get, list]}")),
            ["Warning may get, list `secrets`"]
        );
        // The same in two rules.
        let halves = "{apiGroups: [''], resources: [pods], verbs: [list]}, {apiGroups: [''], resources: [pods], verbs: [get], resourceNames: [a]}";
        assert!(findings(&role(pods), &role(halves)).is_empty());
        assert_eq!(findings(&role(halves), &role(pods)), ["Note may get `pods`"]);
        assert!(
            findings(&role("{apiGroups: ['*'], resources: ['*'], verbs: ['*']}"), &role(pods)).is_empty()
        );
        assert_eq!(
            findings(&role(pods), &role("{apiGroups: ['*'], resources: ['*'], verbs: ['*']}")),
            ["Warning may do everything to all resources"]
        );
        assert_eq!(
            findings("", &role("{nonResourceURLs: [/metrics], verbs: [get]}")),
            ["Note may get `/metrics`"]
        );
    }

    #[test]
    fn subjects_get_the_role_of_their_binding() {
        let binding = |role: &str, subjects: &str| {
            format!(
                "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {{name: b}}\nroleRef: {{kind: ClusterRole, name: {role}}}\nsubjects: [{subjects}]\n"
            )
        };
        let (a, b) = ("{kind: ServiceAccount, name: a, namespace: shop}", "{kind: Group, name: all}");
        assert_eq!(
            findings(&binding("view", a), &binding("view", &format!("{a}, {b}"))),
            ["Note gives `ClusterRole view` to `Group all`"]
        );
        assert_eq!(
            findings(&binding("view", a), &binding("cluster-admin", a)),
            [
                "Error the field `roleRef` of a RoleBinding cannot change",
                "Warning gives `ClusterRole cluster-admin` to `ServiceAccount shop/a`"
            ]
        );
    }

    #[test]
    fn very_many_permissions_are_not_taken_apart() {
        let many = (0..200).map(|n| format!("r{n}")).collect::<Vec<_>>().join(", ");
        let rule = format!("{{apiGroups: [{many}], resources: [{many}], verbs: [get]}}");
        assert_eq!(findings("", &role(&rule)), ["Note has too many permissions to compare them one by one"]);
    }
}

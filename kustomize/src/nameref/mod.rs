//! Brings the references to a resource's name up to date after the name has changed.
//!
//! In come the resources with their former ids, and the table that says which field of which kind names a resource of
//! which other kind. Each such field that holds a former name gets the current one. A name that several resources had
//! is decided by namespace and by the prefixes and suffixes that both sides got on their way; what stays undecided is
//! left alone, and is refused only where equally near resources have different names now.

mod candidates;
mod generated;

use std::collections::{HashMap, HashSet};

use compact_str::CompactString;
use diagnostic::{Error, Result};
use yamltree::{Dialect, Entry, Kind, Node, Resolved, Style};

pub(crate) use self::generated::warn_about_generated_names;

use self::candidates::{Candidates, Nearness, Place, Scope, Wanted};
use crate::config::TransformerConfig;
use crate::context::Context;
use crate::decode::described;
use crate::fieldtree::FieldTree;
use crate::resid::Gvk;
use crate::resmap::ResMap;
use crate::resource::{Resource, is_null};
use crate::warning::{Code, Warning};

/// Rewrites every field that holds the former name of a resource.
pub(crate) fn update_references(
    map: &mut ResMap,
    config: &TransformerConfig,
    cx: &Context<'_>,
) -> Result<()> {
    map.modify_nodes(|resources, nodes| {
        let candidates = Candidates::new(resources);
        let mut fields = HashMap::new();
        for (referrer, node) in resources.iter().zip(nodes) {
            let gvk = &referrer.original_id().gvk;
            let tree = fields.entry(gvk).or_insert_with(|| fields_of(gvk, config));
            let update = Update {
                referrer,
                scope: scope(referrer, node)?,
                role: role(node),
                candidates: &candidates,
                cx,
            };
            tree.visit(node, &mut |field, targets| {
                targets.iter().try_for_each(|target| update.field(field, target))
            })?;
        }
        Ok(())
    })
}

/// The target of a reference field.
#[derive(Debug)]
struct Target<'c> {
    gvk: &'c Gvk,
    /// True if the field is the name in a `roleRef`, beside which the kind stands.
    is_role: bool,
}

/// The fields of a kind that name something.
fn fields_of<'c>(gvk: &Gvk, config: &'c TransformerConfig) -> FieldTree<Target<'c>> {
    let mut tree = FieldTree::default();
    for reference in &config.name_reference {
        for field in reference.referrers.iter().filter(|field| gvk.is_selected(&field.gvk)) {
            let is_role = field.path.as_str().ends_with("roleRef/name");
            tree.insert(&field.path, Target { gvk: &reference.gvk, is_role });
        }
    }
    tree
}

/// The update of one resource's references.
struct Update<'u, 'r> {
    referrer: &'r Resource,
    scope: Scope<'r>,
    /// The kind and group of the referrer's `roleRef`, if it has both.
    role: Option<Gvk>,
    candidates: &'u Candidates<'r>,
    cx: &'u Context<'u>,
}

impl Update<'_, '_> {
    /// A field is a name, a mapping with a name and perhaps a namespace, or a list of either.
    fn field(&self, node: &mut Node, target: &Target<'_>) -> Result<()> {
        match &mut node.kind {
            Kind::Sequence(items) => items.iter_mut().try_for_each(|item| match item.kind {
                Kind::Sequence(_) => {
                    Err(Error::invalid("a name must be a string or a mapping with `name`, not a list")
                        .at(item.span))
                }
                _ => self.name(item, target),
            }),
            _ => self.name(node, target),
        }
    }

    fn name(&self, node: &mut Node, target: &Target<'_>) -> Result<()> {
        if is_null(node) {
            return Ok(());
        }
        if node.is_mapping() { self.mapping(node, target) } else { self.scalar(node, target) }
    }

    fn scalar(&self, node: &mut Node, target: &Target<'_>) -> Result<()> {
        let old = node.text().unwrap_or_default();
        let same = |a: &Resource, b: &Resource| a.name() == b.name();
        if let Some(referral) = self.select(old, None, target, same, node)?
            && referral.name() != old
        {
            set_text(node, referral.name());
        }
        Ok(())
    }

    fn mapping(&self, node: &mut Node, target: &Target<'_>) -> Result<()> {
        let Some(name) = node.get("name") else {
            let kind = &target.gvk.kind;
            return Err(Error::invalid(format!("the reference to a {kind} lacks `name`")).at(node.span));
        };
        let old = name.text().unwrap_or_default();
        let namespace = node.get("namespace").map(|namespace| namespace.text().unwrap_or_default());
        let same = |a: &Resource, b: &Resource| a.name() == b.name() && a.namespace() == b.namespace();
        let Some(referral) = self.select(old, namespace, target, same, name)? else { return Ok(()) };
        if referral.name() != old || !referral.namespace().is_empty() {
            set_field(node, "name", referral.name());
            // None is no statement about the namespace `default`.
            if !referral.namespace().is_empty() {
                set_field(node, "namespace", referral.namespace());
            }
        }
        Ok(())
    }

    /// The resource that a name means: the only one that it can mean, else the only one whose prefixes and suffixes
    /// go with the referrer's.
    fn select(
        &self,
        old: &str,
        namespace: Option<&str>,
        target: &Target<'_>,
        same: impl Fn(&Resource, &Resource) -> bool,
        node: &Node,
    ) -> Result<Option<&Resource>> {
        let Some(namesakes) = self.candidates.once_named(old) else { return Ok(None) };
        let role = self.role.as_ref().filter(|_| target.is_role);
        let place = namespace.map_or(Place::Any, |namespace| self.candidates.place(namespace, &self.scope));
        let wanted = Wanted { gvk: target.gvk, role, place, scope: &self.scope, referrer: self.referrer };
        let possible = namesakes.select(&wanted, Nearness::Any, 2);
        if possible.len() < 2 {
            return Ok(possible.first().copied());
        }
        let near = namesakes.select(&wanted, Nearness::Near, 2);
        if let [one] = *near {
            return Ok(Some(one));
        }
        let nearest =
            if near.is_empty() { near } else { namesakes.select(&wanted, Nearness::Nearest, usize::MAX) };
        match *nearest {
            [] => {
                self.warn_about_ambiguity(old, &possible, target, node);
                Ok(None)
            }
            [first, ref rest @ ..] if rest.iter().all(|other| same(first, other)) => Ok(Some(first)),
            [first, ..] => {
                Err(several(old, &nearest).at(node.span).via("one of them is defined here", first.span()))
            }
        }
    }

    fn warn_about_ambiguity(&self, old: &str, possible: &[&Resource], target: &Target<'_>, node: &Node) {
        if self.candidates.is_current_name(old, target.gvk) {
            return;
        }
        let names: Vec<String> = possible.iter().map(|resource| format!("`{}`", resource.name())).collect();
        let sentence = format!("`{old}` could mean {}, and was left as it is", names.join(" or "));
        let warning = Warning::new(Code::AmbiguousReference, sentence).at(node.span);
        self.cx.push_warning(warning.hint("write the name that is meant"));
    }
}

/// Puts a name in the place of a scalar; how it is quoted stays.
fn set_text(node: &mut Node, text: &str) {
    let mut value = Node::plain(text).at(node.span);
    value.style = node.style;
    node.overwrite(value);
}

/// Sets a field of a mapping; a new one is quoted where YAML 1.1 would not read a string.
fn set_field(mapping: &mut Node, key: &str, text: &str) {
    match mapping.get_mut(key) {
        Some(field) if field.is_scalar() => set_text(field, text),
        Some(field) => field.overwrite(Node::plain(text).at(field.span)),
        None => {
            let mut value = Node::plain(text);
            if !matches!(value.resolved(Dialect::V2), Ok(Resolved::Str)) {
                value.style = Style::DoubleQuoted;
            }
            if let Some(entries) = mapping.entries_mut() {
                entries.push(Entry::new(key, value));
            }
        }
    }
}

/// Returns where the resources may be that a referrer names.
fn scope<'r>(referrer: &'r Resource, node: &Node) -> Result<Scope<'r>> {
    if referrer.id().cluster_scoped {
        return Ok(Scope::Everywhere);
    }
    let accounts = if referrer.kind() == "RoleBinding" { account_namespaces(node)? } else { HashSet::new() };
    Ok(Scope::Namespace { namespace: referrer.id().effective_namespace(), accounts })
}

/// The namespaces of the service accounts that a role binding is for.
fn account_namespaces(binding: &Node) -> Result<HashSet<CompactString>> {
    let mut namespaces = HashSet::new();
    for subject in binding.get("subjects").and_then(Node::items).into_iter().flatten() {
        if !subject.is_mapping() {
            return Err(Error::invalid(format!("a subject must be a mapping, not {}", described(subject)))
                .at(subject.span));
        }
        let (Some(namespace), Some(kind)) = (subject.get("namespace"), subject.get("kind")) else { continue };
        if string(kind, "kind")? == "ServiceAccount" {
            namespaces.insert(string(namespace, "namespace")?.into());
        }
    }
    Ok(namespaces)
}

/// A string in the reading of go-yaml v3.
fn string<'n>(node: &'n Node, field: &str) -> Result<&'n str> {
    match (node.resolved(Dialect::V3), node.text()) {
        (Ok(Resolved::Str), Some(text)) => Ok(text),
        _ => Err(Error::invalid(format!(
            "the `{field}` of a subject must be a string, not {}",
            described(node)
        ))
        .at(node.span)),
    }
}

/// Group and kind of the role that a binding names, when it gives both.
fn role(binding: &Node) -> Option<Gvk> {
    let role = binding.get("roleRef")?;
    let text = |key| role.get(key).map(|node| CompactString::from(node.text().unwrap_or_default()));
    Some(Gvk { group: text("apiGroup")?, kind: text("kind")?, version: CompactString::default() })
}

fn several(old: &str, possible: &[&Resource]) -> Error {
    let names: Vec<String> = possible.iter().take(5).map(|resource| resource.id().described()).collect();
    Error::invalid(format!("`{old}` could mean several resources: {}", names.join(", ")))
        .hint("give them different names, or put them in different namespaces")
}

#[cfg(test)]
mod tests {
    use crate::testing::{built, refused, warned};

    const CONFIG: &str = "{apiVersion: v1, kind: ConfigMap, metadata: {name: conf}}";
    const POD: &str =
        "{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {volumes: [{configMap: {name: conf}}]}}";

    /// The values of a key in what a build prints, in order.
    fn values(yaml: &str, key: &str) -> Vec<String> {
        let lines = yaml.lines().map(|line| line.trim_start_matches([' ', '-']));
        lines.filter_map(|line| line.strip_prefix(key)?.strip_prefix(": ")).map(str::to_owned).collect()
    }

    #[test]
    fn of_equal_names_the_one_with_the_same_prefixes_is_meant() {
        let both = format!("{CONFIG}\n---\n{POD}");
        let yaml = built(&[
            ("kustomization.yaml", "resources: [a, b]\nnamePrefix: top-\n"),
            ("a/kustomization.yaml", "resources: [../base]\nnamePrefix: a-\n"),
            ("b/kustomization.yaml", "resources: [../base]\nnamePrefix: b-\n"),
            ("base/kustomization.yaml", "resources: [both.yaml]\n"),
            ("base/both.yaml", &both),
        ]);
        let names = ["top-a-conf", "top-b-conf", "top-a-web", "top-a-conf", "top-b-web", "top-b-conf"];
        assert_eq!(values(&yaml, "name"), names);
    }

    /// Above a certain number the resources of a name are looked up and no longer looked through.
    #[test]
    fn of_many_equal_names_the_nearest_is_meant_too() {
        let both = format!("{CONFIG}\n---\n{POD}");
        let folders: Vec<String> = (0..40).map(|number| format!("o{number}")).collect();
        let mut files = vec![
            (
                "kustomization.yaml".to_owned(),
                format!("resources: [{}]\nnamePrefix: top-\n", folders.join(", ")),
            ),
            ("base/kustomization.yaml".to_owned(), "resources: [both.yaml]\n".to_owned()),
            ("base/both.yaml".to_owned(), both),
        ];
        for (number, folder) in folders.iter().enumerate() {
            let way = ["namePrefix: p", "nameSuffix: -s", "namespace: n"][number % 3];
            let text = format!("resources: [../base]\n{way}{number}\n");
            files.push((format!("{folder}/kustomization.yaml"), text));
        }
        let files: Vec<(&str, &str)> =
            files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        let yaml = built(&files);
        for number in 0..40 {
            let (name, namespace) = match number % 3 {
                0 => (format!("top-p{number}conf"), None),
                1 => (format!("top-conf-s{number}"), None),
                _ => ("top-conf".to_owned(), Some(format!("namespace: n{number}\n"))),
            };
            let pod = |text: &&str| {
                text.contains("kind: Pod")
                    && text.contains(&format!("      name: {name}\n"))
                    && namespace.as_ref().is_none_or(|namespace| text.contains(namespace))
            };
            assert_eq!(yaml.split("---\n").filter(pod).count(), 1, "{name} {namespace:?}");
        }
    }

    #[test]
    fn an_ambiguous_name_is_left_alone_with_a_warning() {
        let files = [
            ("kustomization.yaml", "resources: [a, b, pod.yaml]\n"),
            ("a/kustomization.yaml", "resources: [../base]\nnamePrefix: a-\n"),
            ("b/kustomization.yaml", "resources: [../base]\nnamePrefix: b-\n"),
            ("base/kustomization.yaml", "resources: [conf.yaml]\n"),
            ("base/conf.yaml", CONFIG),
            ("pod.yaml", POD),
        ];
        assert_eq!(values(&built(&files), "name"), ["a-conf", "b-conf", "web", "conf"]);
        let warning = "KUST-W016 pod.yaml:1:88 `conf` could mean `a-conf` or `b-conf`, and was left as it is";
        assert_eq!(warned(&files), [warning]);
    }

    #[test]
    fn equally_near_resources_of_different_names_are_refused() {
        let error = refused(&[
            ("kustomization.yaml", "resources: [a, b]\n"),
            ("a/kustomization.yaml", "resources: [conf.yaml]\nnamePrefix: a-\n"),
            ("a/conf.yaml", CONFIG),
            ("b/kustomization.yaml", "resources: [pod.yaml, c]\nnamePrefix: a-\n"),
            ("b/pod.yaml", POD),
            ("b/c/kustomization.yaml", "resources: [conf.yaml]\nnamePrefix: a-\n"),
            ("b/c/conf.yaml", CONFIG),
        ]);
        let want =
            "b/pod.yaml:1:88: `conf` could mean several resources: ConfigMap/a-conf, ConfigMap/a-a-conf";
        assert_eq!(error, want);
    }

    fn built_from(resources: &str, kustomization: &str) -> String {
        built(&[("kustomization.yaml", kustomization), ("r.yaml", resources)])
    }

    /// The second subject gets the namespace of the only service account of its name, wherever that is.
    #[test]
    fn subjects_are_found_in_other_namespaces_and_roles_by_their_kind() {
        let yaml = built_from(
            "apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: r, namespace: one}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: b, namespace: one}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: r}
subjects:
- {kind: ServiceAccount, name: sa, namespace: two}
- {kind: ServiceAccount, name: sa}
- {kind: ServiceAccount, name: sa, namespace: three}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: sa, namespace: two}
",
            "resources: [r.yaml]\nnamePrefix: p-\n",
        );
        assert_eq!(values(&yaml, "name"), ["p-sa", "p-r", "p-b", "r", "p-sa", "p-sa", "sa"]);
        assert_eq!(values(&yaml, "namespace"), ["two", "one", "one", "two", "two", "three"]);
    }

    /// A namespace beside a name is the original one or, where no resource was in it, the current one.
    #[test]
    fn a_namespace_beside_the_name_moves_along() {
        let yaml = built(&[
            ("kustomization.yaml", "resources: [a, hook.yaml]\n"),
            ("a/kustomization.yaml", "resources: [s.yaml]\nnamespace: new\nnamePrefix: p-\n"),
            ("a/s.yaml", "{apiVersion: v1, kind: Service, metadata: {name: s, namespace: old}}"),
            (
                "hook.yaml",
                "apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: w}
webhooks:
- {clientConfig: {service: {name: s, namespace: old}}}
- {clientConfig: {service: {name: s, namespace: new}}}
- {clientConfig: {service: {name: s, namespace: other}}}
- {clientConfig: {service: {name: s}}}
",
            ),
        ]);
        assert_eq!(values(&yaml, "name"), ["p-s", "w", "p-s", "p-s", "s", "p-s"]);
        assert_eq!(values(&yaml, "namespace"), ["new", "new", "new", "other", "new"]);
    }

    /// The field is looked at once for each kind that it may name, in the order of the kinds: the name of the
    /// Deployment, once found, is a former name of the StatefulSet.
    #[test]
    fn a_new_name_can_be_taken_for_a_former_one_of_another_kind() {
        let yaml = built(&[
            ("kustomization.yaml", "resources: [r.yaml, a]\nnamePrefix: p-\n"),
            ("a/kustomization.yaml", "resources: [s.yaml]\nnamePrefix: p-\n"),
            ("a/s.yaml", "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: web}}"),
            (
                "r.yaml",
                "apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
---
apiVersion: autoscaling/v1
kind: HorizontalPodAutoscaler
metadata: {name: hpa}
spec: {scaleTargetRef: {kind: Deployment, name: web}}
",
            ),
        ]);
        assert_eq!(values(&yaml, "name"), ["p-web", "p-p-web", "p-hpa", "p-p-web"]);
    }

    /// The new text is read as it is written: a number stays one, a namespace that is added is quoted.
    #[test]
    fn a_rewritten_name_keeps_its_quotes() {
        let yaml = built_from(
            "apiVersion: v1
kind: ConfigMap
metadata: {name: '12'}
---
apiVersion: v1
kind: Pod
metadata: {name: b}
spec: {volumes: [{configMap: {name: '12'}}, {configMap: {name: 12}}]}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: sa}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: b}
subjects: [{kind: ServiceAccount, name: sa}]
roleRef: {}
",
            "resources: [r.yaml]\nnameSuffix: '5'\nnamespace: '123'\n",
        );
        assert_eq!(values(&yaml, "name"), ["sa5", "b5", "sa5", "\"125\"", "b5", "\"125\"", "125"]);
        assert_eq!(values(&yaml, "namespace"), ["\"123\""; 4]);
    }

    /// The annotation that is put in two places is one node: a reference in one of them is followed in both.
    #[test]
    fn a_value_that_stands_in_several_places_is_rewritten_in_all() {
        let references = "nameReference: [{kind: ConfigMap, fieldSpecs: [{path: metadata/annotations/x}]}]\n";
        let yaml = built(&[
            (
                "kustomization.yaml",
                "resources: [r.yaml]
configMapGenerator: [{name: conf, literals: [a=b]}]
commonAnnotations: {x: conf}
configurations: [references.yaml]
",
            ),
            ("references.yaml", references),
            ("r.yaml", "{apiVersion: apps/v1, kind: Deployment, metadata: {name: d}, spec: {template: {}}}"),
        ]);
        let names = values(&yaml, "x");
        assert_eq!(names.len(), 3);
        assert!(names.iter().all(|name| name.starts_with("conf-")), "{names:?}");
    }

    #[test]
    fn malformed_references_are_refused_with_their_place() {
        let refused = |resource: &str| {
            refused(&[("kustomization.yaml", "resources: [r.yaml]\n"), ("r.yaml", resource)])
        };
        let binding = |subjects: &str| {
            let kind = "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: b}\n";
            refused(&format!("{kind}subjects: {subjects}\n"))
        };
        let cases = [
            (
                binding("[{kind: ServiceAccount, name: a, namespace: null}]"),
                "r.yaml:4:55: the `namespace` of a subject must be a string, not null",
            ),
            (
                binding("[{kind: ServiceAccount}]"),
                "r.yaml:4:12: the reference to a ServiceAccount lacks `name`",
            ),
            (binding("[[a]]"), "r.yaml:4:12: a subject must be a mapping, not a list"),
            (binding("[a]"), "r.yaml:4:12: a subject must be a mapping, not the string `a`"),
            (
                refused("{apiVersion: v1, kind: Pod, metadata: {name: b}, spec: {containers: true}}"),
                "r.yaml:1:69: expected a mapping or a list to hold `env`, not the boolean `true`",
            ),
        ];
        for (error, want) in cases {
            assert_eq!(error, want);
        }
    }
}

//! Warns of a generated ConfigMap's or Secret's name that stands where names are not rewritten: in a custom resource,
//! an annotation, an argument. In the cluster that name does not exist, for a hash was appended to it.
//!
//! Few warnings that are right are worth more than all: a text counts only where the key above it speaks of a ConfigMap
//! or Secret, or where it can hardly be anything but a name.

use std::collections::HashMap;

use yamltree::Node;

use crate::context::Context;
use crate::resid::ResId;
use crate::resmap::ResMap;
use crate::resource::Resource;
use crate::warning::{Code, Warning};

/// Warns of generated names that are left as they were before the hash.
pub(crate) fn warn_about_generated_names(map: &ResMap, cx: &Context<'_>) {
    let mut generated: HashMap<&str, Vec<&Resource>> = HashMap::new();
    for resource in map.iter().filter(|resource| resource.needs_hash) {
        let original = resource.original_id().name.as_str();
        if original != resource.name() {
            generated.entry(original).or_default().push(resource);
        }
    }
    if generated.is_empty() {
        return;
    }
    for referrer in map.iter().filter(|resource| !matches!(resource.kind(), "ConfigMap" | "Secret")) {
        Search { generated: &generated, referrer, map, cx }.node(&referrer.node, "");
    }
}

/// The search through one resource.
struct Search<'s> {
    generated: &'s HashMap<&'s str, Vec<&'s Resource>>,
    referrer: &'s Resource,
    map: &'s ResMap,
    cx: &'s Context<'s>,
}

/// The position of a string.
#[derive(Clone, Copy)]
struct Position<'n> {
    key: &'n str,
    /// The key of the mapping that it stands in.
    parent: &'n str,
    /// The `kind` beside it.
    kind: Option<&'n str>,
}

impl Search<'_> {
    fn node(&self, node: &Node, key: &str) {
        if let Some(entries) = node.entries() {
            let kind = node.get("kind").and_then(Node::text);
            for entry in entries {
                let name = entry.key.text().unwrap_or_default();
                if !matches!(name, "labels" | "matchLabels") {
                    self.value(&entry.value, Position { key: name, parent: key, kind });
                }
            }
        }
        for item in node.items().into_iter().flatten() {
            self.value(item, Position { key, parent: "", kind: None });
        }
    }

    fn value(&self, node: &Node, position: Position<'_>) {
        let Some(text) = node.text() else { return self.node(node, position.key) };
        if let Some(found) = self.generated.get(text) {
            self.check(text, found, node, |generated| position.can_name(text, generated));
        } else if let Some((flag, value)) = text.strip_prefix("--").and_then(|flag| flag.split_once('='))
            && let Some(found) = self.generated.get(value)
        {
            self.check(value, found, node, |generated| spoken_of(flag) == Some(generated.kind()));
        }
    }

    fn check(&self, name: &str, found: &[&Resource], node: &Node, can_name: impl Fn(&Resource) -> bool) {
        let meant = found.iter().find(|generated| self.is_reachable(generated) && can_name(generated));
        let Some(generated) = meant.filter(|generated| !self.is_name_of_another(name, generated)) else {
            return;
        };
        let sentence = format!(
            "`{name}` is not rewritten here, but the {} is named `{}`",
            generated.kind(),
            generated.name()
        );
        let warning = Warning::new(Code::UnrewrittenReference, sentence).at(node.span);
        self.cx.push_warning(warning.hint(
            "name the field in `nameReference` of a file in `configurations`, or set `disableNameSuffixHash`",
        ));
    }

    fn is_reachable(&self, generated: &Resource) -> bool {
        let (one, other) = (self.referrer.id(), generated.id());
        one.cluster_scoped || one.effective_namespace() == other.effective_namespace()
    }

    fn is_name_of_another(&self, name: &str, generated: &Resource) -> bool {
        let id = ResId { name: name.into(), ..generated.id().clone() };
        !self.map.with_current_id(&id).is_empty()
    }
}

impl Position<'_> {
    fn can_name(&self, text: &str, generated: &Resource) -> bool {
        let beside = self.kind.filter(|_| self.key == "name");
        let above = spoken_of(self.parent).filter(|_| self.key == "name");
        if let Some(kind) = beside.or(above).or_else(|| spoken_of(self.key)) {
            return kind == generated.kind();
        }
        let holds_texts = self.parent == "annotations" || matches!(self.key, "args" | "command" | "value");
        holds_texts && text.contains(['-', '.'])
    }
}

/// The kind that a key or a flag speaks of: `configMapRef`, `imagePullSecrets`.
fn spoken_of(key: &str) -> Option<&'static str> {
    let letters: String =
        key.chars().filter(char::is_ascii_alphabetic).collect::<String>().to_ascii_lowercase();
    if letters.contains("configmap") {
        Some("ConfigMap")
    } else if letters.contains("secret") {
        Some("Secret")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{built, warned};

    fn warnings(resource: &str) -> Vec<String> {
        let kustomization = "resources: [r.yaml]
configMapGenerator: [{name: app-conf, literals: [a=b]}, {name: plain, literals: [a=b]}]
secretGenerator: [{name: key, literals: [a=b], namespace: other}]
";
        warned(&[("kustomization.yaml", kustomization), ("r.yaml", resource)])
    }

    fn count(resource: &str) -> usize {
        warnings(resource).iter().filter(|warning| warning.starts_with("KUST-W004")).count()
    }

    #[test]
    fn a_custom_resource_that_names_a_generated_one_is_warned_of() {
        let warning = "KUST-W004 r.yaml:1:82 `plain` is not rewritten here, but the ConfigMap is named `plain-bk7c98k2gm`";
        let text =
            "{apiVersion: x.io/v1, kind: Thing, metadata: {name: t}, spec: {configMapRef: {name: plain}}}";
        let hash = built(&[("kustomization.yaml", "configMapGenerator: [{name: plain, literals: [a=b]}]")]);
        let name = hash.lines().find_map(|line| line.strip_prefix("  name: ")).expect("a name");
        let place = text.find("plain").expect("the name") + 1;
        let want = warning.replace("plain-bk7c98k2gm", name).replace(":82 ", &format!(":{place} "));
        assert_eq!(warnings(text), [want]);
    }

    #[test]
    fn what_speaks_of_a_config_map_or_can_only_be_a_name_counts() {
        let thing = |spec: &str| {
            count(&format!("{{apiVersion: x.io/v1, kind: Thing, metadata: {{name: t}}, spec: {spec}}}"))
        };
        assert_eq!(thing("{configMapName: plain}"), 1);
        assert_eq!(thing("{configMaps: [{name: plain}, {name: app-conf}]}"), 2);
        assert_eq!(thing("{ref: {kind: ConfigMap, name: plain}}"), 1);
        assert_eq!(thing("{args: [app-conf, --config-map=plain]}"), 2);
        assert_eq!(thing("{annotations: {x: app-conf}}"), 1);
        // A word like any other, another kind, a label, another namespace.
        assert_eq!(thing("{name: plain, args: [plain], mode: app-conf}"), 0);
        assert_eq!(thing("{secretName: plain}"), 0);
        assert_eq!(thing("{labels: {configMap: plain}}"), 0);
        assert_eq!(thing("{secretName: key}"), 0);
    }

    #[test]
    fn a_reference_that_is_rewritten_is_not_warned_of() {
        let pod =
            "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {volumes: [{configMap: {name: plain}}]}}";
        assert_eq!(count(pod), 0);
    }

    /// The name that stands there is that of a resource which has it to the end.
    #[test]
    fn a_name_that_another_resource_has_is_not_warned_of() {
        let own = "{apiVersion: v1, kind: ConfigMap, metadata: {name: plain, namespace: n}}\n---\n";
        let thing = "{apiVersion: x.io/v1, kind: Thing, metadata: {name: t, namespace: n}, spec: {configMapRef: {name: plain}}}";
        assert_eq!(count(&format!("{own}{thing}")), 0);
    }
}

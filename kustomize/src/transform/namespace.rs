//! `namespace`, and the plugin `NamespaceTransformer`: puts resources into a namespace.
//!
//! In go the resources; what comes out has the namespace where its kind can have one, in the subjects of role
//! bindings as the mode says, and wherever a field specification names it. What a chart made stays as it is. Refused:
//! two resources which have the same id after it.

use diagnostic::{Error, Result};
use yamltree::{Kind, Node, Span, Tag};

use crate::config::FieldSpecs;
use crate::context::Context;
use crate::decode::{self, Object, closest};
use crate::fieldspec::{FieldPath, FieldSpec, Missing};
use crate::resid::Gvk;
use crate::resmap::ResMap;
use crate::resource::{Resource, is_null};
use crate::setter::set_tagged;
use crate::target::Target;

use super::{Builtin, Transformer};

pub(crate) const BUILTIN: Builtin = Builtin { kind: "NamespaceTransformer", from_fields, from_config };

#[derive(Debug)]
struct NamespaceTransformer {
    namespace: String,
    specs: FieldSpecs,
    unset_only: bool,
    subjects: Subjects,
    metadata: FieldPath,
    span: Span,
}

/// Which subjects of a role binding get the namespace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Subjects {
    /// Those named `default`.
    #[default]
    Default,
    /// Every service account.
    AllServiceAccounts,
    None,
}

const MODES: &[(&str, Subjects)] = &[
    ("defaultOnly", Subjects::Default),
    ("allServiceAccounts", Subjects::AllServiceAccounts),
    ("none", Subjects::None),
];

const METADATA_NAMESPACE: &str = "metadata/namespace";
const METADATA_NAME: &str = "metadata/name";
const SUBJECTS_NAMESPACE: &str = "subjects/namespace";

fn from_fields(target: &Target<'_, '_>) -> Result<Vec<Box<dyn Transformer>>> {
    let namespace = target.kustomization.text("namespace")?;
    if namespace.text.is_empty() {
        return Ok(Vec::new());
    }
    Ok(vec![Box::new(NamespaceTransformer {
        namespace: namespace.text,
        specs: target.config.namespace.clone(),
        unset_only: false,
        subjects: Subjects::default(),
        metadata: FieldPath::new(METADATA_NAMESPACE.into()),
        span: namespace.span,
    })])
}

fn from_config(node: &Node, target: &Target<'_, '_>) -> Result<Box<dyn Transformer>> {
    let object = Object::plugin(node, "a NamespaceTransformer")?;
    let namespace = match object.field("metadata") {
        Some(metadata) => Object::read(metadata, "metadata", object.reading())?.text("namespace")?,
        None => String::new(),
    };
    let transformer = NamespaceTransformer {
        namespace,
        specs: FieldSpecs::read(&object, "fieldSpecs", target.cx)?,
        unset_only: object.flag("unsetOnly")?,
        subjects: Subjects::read(&object)?,
        metadata: FieldPath::new(METADATA_NAMESPACE.into()),
        span: node.span,
    };
    object.close(target.cx)?;
    Ok(Box::new(transformer))
}

impl Subjects {
    fn read(object: &Object<'_>) -> Result<Self> {
        let mode = object.text("setRoleBindingSubjects")?;
        if mode.is_empty() {
            return Ok(Self::default());
        }
        if let Some((_, subjects)) = MODES.iter().find(|(name, _)| *name == mode) {
            return Ok(*subjects);
        }
        let names = MODES.iter().map(|(name, _)| *name);
        let span = object.field("setRoleBindingSubjects").map_or(object.span(), |node| node.span);
        let sentence = format!(
            "`setRoleBindingSubjects` must be one of {}, not `{mode}`",
            names.clone().collect::<Vec<_>>().join(", ")
        );
        let error = Error::invalid(sentence).at(span);
        Err(match closest(&mode, names) {
            Some(meant) => error.hint(format!("did you mean `{meant}`?")),
            None => error,
        })
    }

    fn takes(self, subject: &Node) -> Result<bool> {
        let (key, wanted) = match self {
            Self::Default => ("name", "default"),
            Self::AllServiceAccounts => ("kind", "ServiceAccount"),
            Self::None => return Ok(false),
        };
        if is_null(subject) {
            return Ok(false);
        }
        if !subject.is_mapping() {
            return Err(decode::wrong_type("a subject", "a mapping", subject));
        }
        match subject.get(key) {
            None => Ok(false),
            Some(value) if is_null(value) => Ok(false),
            Some(value) if !value.is_scalar() => Err(decode::wrong_type(key, "a string", value)),
            Some(value) => Ok(value.text() == Some(wanted)),
        }
    }
}

/// Puts one resource into a namespace: its own and that of its `default` subjects.
pub(crate) fn put_into_namespace(resource: &mut Resource, namespace: &str) -> Result<()> {
    let transformer = NamespaceTransformer {
        namespace: namespace.to_owned(),
        specs: FieldSpecs::default(),
        unset_only: false,
        subjects: Subjects::default(),
        metadata: FieldPath::new(METADATA_NAMESPACE.into()),
        span: Span::NONE,
    };
    transformer.change(resource)
}

impl Transformer for NamespaceTransformer {
    fn transform(&self, map: &mut ResMap, _: &Context<'_>) -> Result<()> {
        if self.namespace.is_empty() {
            return Ok(());
        }
        map.modify_each(|resource| {
            if is_empty(&resource.node) || resource.helm_generated {
                return Ok(());
            }
            resource.store_previous_id();
            self.change(resource)
        })?;
        self.refuse_conflicts(map)
    }
}

impl NamespaceTransformer {
    fn change(&self, resource: &mut Resource) -> Result<()> {
        if !resource.id().cluster_scoped {
            // A null counts as a value here, since it is a text of its own in Kustomize's tree at this point.
            let set = |node: &mut Node| match node.text() {
                Some(text) if self.unset_only && !text.is_empty() => Ok(()),
                _ => self.put(node),
            };
            self.metadata
                .visit(&mut resource.node, Missing::Scalar(Tag::Implicit), set)
                .map_err(|error| error.at(resource.span()))?;
        }
        let is_binding = matches!(resource.kind(), "RoleBinding" | "ClusterRoleBinding");
        if is_binding {
            self.change_subjects(&mut resource.node)?;
        }
        let gvk = resource.gvk().clone();
        for spec in self.specs.iter().filter(|spec| !is_handled(spec, &gvk, is_binding)) {
            spec.apply(resource, Missing::Scalar(Tag::Str), |node| self.set(node))?;
        }
        Ok(())
    }

    fn change_subjects(&self, root: &mut Node) -> Result<()> {
        let Some(subjects) = root.get_mut("subjects") else { return Ok(()) };
        if self.subjects == Subjects::None || is_null(subjects) {
            return Ok(());
        }
        let Kind::Sequence(items) = &mut subjects.kind else {
            return Err(decode::wrong_type("subjects", "a list", subjects));
        };
        for subject in items {
            if self.subjects.takes(subject)? {
                match subject.get_mut("namespace") {
                    Some(namespace) => self.set(namespace)?,
                    None => subject.set("namespace", Node::string(&self.namespace)),
                }
            }
        }
        Ok(())
    }

    fn set(&self, node: &mut Node) -> Result<()> {
        let is_set = !is_null(node) && node.text().is_some_and(|text| !text.is_empty());
        if self.unset_only && is_set { Ok(()) } else { self.put(node) }
    }

    fn put(&self, node: &mut Node) -> Result<()> {
        set_tagged(node, &self.namespace, Tag::Str)
    }

    fn refuse_conflicts(&self, map: &ResMap) -> Result<()> {
        for resource in map.iter().filter(|resource| !resource.helm_generated) {
            if let &[first, second, ..] = map.with_current_id(resource.id()) {
                let id = resource.id().described();
                let sentence =
                    format!("the namespace `{}` makes two resources into one: {id}", self.namespace);
                return Err(Error::invalid(sentence)
                    .at(map.get(second).span())
                    .via("the other one", map.get(first).span())
                    .via("put into the namespace here", self.span));
            }
        }
        Ok(())
    }
}

/// Returns true if a field is dealt with otherwise, or is none of this resource.
fn is_handled(spec: &FieldSpec, gvk: &Gvk, is_binding: bool) -> bool {
    match spec.path.as_str() {
        METADATA_NAMESPACE => true,
        METADATA_NAME => !(gvk.group.is_empty() && gvk.version == "v1"),
        SUBJECTS_NAMESPACE => {
            is_binding && matches!(spec.gvk.kind.as_str(), "RoleBinding" | "ClusterRoleBinding")
        }
        _ => false,
    }
}

fn is_empty(node: &Node) -> bool {
    is_null(node) || node.entries().is_some_and(Vec::is_empty)
}

#[cfg(test)]
mod tests {
    use crate::testing::{built, refused};

    fn plugin(options: &str) -> String {
        format!(
            "apiVersion: builtin\nkind: NamespaceTransformer\nmetadata: {{name: p, namespace: team}}\n{options}"
        )
    }

    fn with_plugin(options: &str, resource: &str) -> String {
        built(&[
            ("kustomization.yaml", "resources: [r.yaml]\ntransformers: [plugin.yaml]\n"),
            ("plugin.yaml", &plugin(options)),
            ("r.yaml", resource),
        ])
    }

    const CONFIG_MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n";

    #[test]
    fn only_kinds_that_can_have_one_get_a_namespace() {
        let role = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n  name: a\n";
        assert_eq!(with_plugin("", role), role);
        assert_eq!(with_plugin("", CONFIG_MAP), format!("{CONFIG_MAP}  namespace: team\n"));
        let namespace = "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: old\n";
        let renamed =
            built(&[("kustomization.yaml", "resources: [r.yaml]\nnamespace: team\n"), ("r.yaml", namespace)]);
        assert_eq!(renamed, namespace.replace("old", "team"));
    }

    /// Kustomize leaves a null there, which is a value for it at that point.
    #[test]
    fn unset_only_leaves_what_is_set() {
        let with = |namespace: &str| format!("{CONFIG_MAP}  namespace: {namespace}\n");
        assert_eq!(with_plugin("unsetOnly: true\n", CONFIG_MAP), with("team"));
        assert_eq!(with_plugin("unsetOnly: true\n", &with("\"\"")), with("team"));
        assert_eq!(with_plugin("unsetOnly: true\n", &with("own")), with("own"));
        assert_eq!(with_plugin("unsetOnly: true\n", &with("null")), with("null"));
        assert_eq!(with_plugin("", &with("null")), with("team"));
    }

    #[test]
    fn the_mode_decides_which_subjects_get_the_namespace() {
        let binding = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata:\n  name: a\n\
                       subjects:\n- kind: User\n  name: default\n- kind: ServiceAccount\n  name: other\n";
        let default = binding.replace("  name: default\n", "  name: default\n  namespace: team\n");
        let accounts = binding.replace("  name: other\n", "  name: other\n  namespace: team\n");
        let mode = |mode| with_plugin(&format!("setRoleBindingSubjects: {mode}\n"), binding);
        assert_eq!(with_plugin("", binding), default);
        assert_eq!(mode("defaultOnly"), default);
        assert_eq!(mode("allServiceAccounts"), accounts);
        assert_eq!(mode("none"), binding);
    }

    #[test]
    fn an_unknown_mode_is_refused() {
        let message = refused(&[
            ("kustomization.yaml", "resources: []\ntransformers: [plugin.yaml]\n"),
            ("plugin.yaml", &plugin("setRoleBindingSubjects: all\n")),
        ]);
        let sentence =
            "`setRoleBindingSubjects` must be one of defaultOnly, allServiceAccounts, none, not `all`";
        assert_eq!(message, format!("plugin.yaml:4:25: {sentence}"));
    }

    #[test]
    fn two_resources_may_not_become_one() {
        let two = format!("{CONFIG_MAP}  namespace: one\n---\n{CONFIG_MAP}  namespace: two\n");
        let message =
            refused(&[("kustomization.yaml", "resources: [r.yaml]\nnamespace: team\n"), ("r.yaml", &two)]);
        let sentence = "the namespace `team` makes two resources into one: ConfigMap/a in namespace `team`";
        assert_eq!(message, format!("r.yaml:7:1: {sentence}"));
    }
}

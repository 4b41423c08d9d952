//! The parameters: what each is called, what is said of it, what it does, and what its value is so far.
//!
//! A new one is a line of [`PARAMETERS`]. Its announcement, the check of its value and the message about a name that is
//! none are made of the line. Its name is the field's of an Application's source, with the engine's name in front.

use std::collections::BTreeMap;

use diagnostic::{Error, Result};

use super::current::Current;
use super::given::Content;
use super::wanted::{Wanted, all_at, at};

/// A parameter.
#[derive(Debug)]
pub(super) struct Parameter {
    pub(super) name: &'static str,
    /// Its name for people.
    pub(super) title: &'static str,
    /// The description.
    pub(super) tooltip: &'static str,
    pub(super) scope: Scope,
    kind: Kind,
    current: Option<fn(&Current) -> Option<Content>>,
    pub(super) may_be_secret: bool,
}

/// Which sources a parameter is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    Any,
    Helm,
    Kustomize,
    Directory,
}

/// The type of a value and the field that it sets.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Text(fn(&mut Wanted, String)),
    Flag(fn(&mut Wanted, bool)),
    List(fn(&mut Wanted, Vec<String>)),
    Map(fn(&mut Wanted, BTreeMap<String, String>)),
}

use Kind::{Flag, List, Map, Text};
use Scope::{Any, Directory, Helm, Kustomize};

/// All parameters, in the order in which a form shows them.
#[rustfmt::skip]
pub(super) const PARAMETERS: &[Parameter] = &[
    parameter(Any, "engine", "Engine", "helm, kustomize or directory; detected if empty", Text(|to, text| to.engine = text)).now(|now| Some(now.engine())),
    parameter(Helm, "helm-value-files", "Value files", "Values files, later ones win; relative to the chart, or to the repository with a leading /; patterns and $ARGOCD_APP_… are allowed", List(|to, files| to.helm.value_files = all_at(files))),
    parameter(Helm, "helm-values", "Values", "Values as YAML, after the files", Text(|to, text| to.helm.values = at(text))).secret(),
    parameter(Helm, "helm-parameters", "Parameters", "Single values, as --set takes them, after all others", Map(|to, values| to.set(values, false))).secret().now(|now| Some(Content::Map(now.values.clone()))),
    parameter(Helm, "helm-string-parameters", "String parameters", "Single values that are always strings (--set-string)", Map(|to, values| to.set(values, true))).secret(),
    parameter(Helm, "helm-file-parameters", "File parameters", "Single values that are the contents of files (--set-file)", Map(Wanted::set_files)),
    parameter(Helm, "helm-release-name", "Release name", "The name of the release; the Application's, if empty", Text(|to, text| to.helm.release_name = at(text))).now(|now| Some(Content::Text(now.application.clone()))),
    parameter(Helm, "helm-namespace", "Release namespace", "The namespace of the release; the destination's, if empty", Text(|to, text| to.helm.namespace = text)).now(|now| Some(Content::Text(now.namespace.clone()))),
    parameter(Helm, "helm-skip-crds", "Skip CRDs", "Omit the chart's crds directory", Flag(|to, on| to.helm.skip_crds = on)),
    parameter(Helm, "helm-skip-tests", "Skip tests", "Leave out the tests of the chart", Flag(|to, on| to.helm.skip_tests = on)),
    parameter(Helm, "helm-skip-schema-validation", "Skip schema validation", "Do not hold values against the schema of the chart", Flag(|to, on| to.helm.skip_schema_validation = on)),
    parameter(Helm, "helm-ignore-missing-value-files", "Ignore missing value files", "Pass over value files that are not there", Flag(|to, on| to.helm.ignore_missing_value_files = on)),
    parameter(Kustomize, "chain", "Chart of the kustomization", "Directory of a chart whose manifests become a resource of the kustomization; the Helm parameters apply to it", Text(|to, text| to.chain = text)).now(|now| now.chain.clone().map(Content::Text)),
    parameter(Kustomize, "kustomize-images", "Images", "Images to set: name=new:tag, name:tag or name@digest", List(|to, images| to.kustomize.images = all_at(images))).now(|now| Some(Content::List(now.images.clone()))),
    parameter(Kustomize, "kustomize-name-prefix", "Name prefix", "What names begin with", Text(|to, text| to.kustomize.name_prefix = text)).now(|now| now.field("namePrefix")),
    parameter(Kustomize, "kustomize-name-suffix", "Name suffix", "What names end with", Text(|to, text| to.kustomize.name_suffix = text)).now(|now| now.field("nameSuffix")),
    parameter(Kustomize, "kustomize-namespace", "Namespace", "The namespace that all objects get", Text(|to, text| to.kustomize.namespace = text)).now(|now| now.field("namespace")),
    parameter(Kustomize, "kustomize-replicas", "Replicas", "How many replicas workloads have, by name", Map(|to, counts| to.replicas = counts)).now(Current::counts),
    parameter(Kustomize, "kustomize-labels", "Labels", "Labels that all objects get", Map(|to, labels| to.kustomize.common_labels = labels)).now(|now| now.field("commonLabels")),
    parameter(Kustomize, "kustomize-labels-force", "Replace labels", "Replace labels that the kustomization has", Flag(|to, on| to.kustomize.force_common_labels = on)),
    parameter(Kustomize, "kustomize-labels-without-selector", "Labels without selectors", "Do not put the labels into selectors", Flag(|to, on| to.kustomize.label_without_selector = on)),
    parameter(Kustomize, "kustomize-labels-include-templates", "Labels in templates", "Put labels that are in no selector into templates of pods", Flag(|to, on| to.kustomize.label_include_templates = on)),
    parameter(Kustomize, "kustomize-annotations", "Annotations", "Annotations that all objects get", Map(|to, annotations| to.kustomize.common_annotations = annotations)).now(|now| now.field("commonAnnotations")),
    parameter(Kustomize, "kustomize-annotations-force", "Replace annotations", "Replace annotations that the kustomization has", Flag(|to, on| to.kustomize.force_common_annotations = on)),
    parameter(Kustomize, "kustomize-annotations-envsubst", "Variables in annotations", "Put $ARGOCD_APP_… into annotations", Flag(|to, on| to.kustomize.common_annotations_envsubst = on)),
    parameter(Kustomize, "kustomize-patches", "Patches", "Patches as YAML: objects, or mappings with patch or path, and target", List(|to, patches| to.patches = patches)),
    parameter(Kustomize, "kustomize-components", "Components", "Folders of components, patterns too", List(|to, components| to.kustomize.components = all_at(components))).now(|now| now.field("components")),
    parameter(Kustomize, "kustomize-ignore-missing-components", "Ignore missing components", "Pass over components that are not there", Flag(|to, on| to.kustomize.ignore_missing_components = on)),
    parameter(Kustomize, "kustomize-build-options", "Build options", "Flags of kustomize build, such as --enable-helm", List(|to, options| to.build_options = options)),
    parameter(Directory, "directory-recurse", "Recurse", "Include files in subdirectories", Flag(|to, on| to.directory.recurse = on)),
    parameter(Directory, "directory-include", "Include", "A pattern of the files that count", Text(|to, text| to.directory.include = at(text))),
    parameter(Directory, "directory-exclude", "Exclude", "A pattern of the files that do not", Text(|to, text| to.directory.exclude = at(text))),
    parameter(Any, "kube-version", "Kubernetes version", "Kubernetes version for charts; default: the cluster's", Text(|to, text| to.kube_version = text)),
    parameter(Any, "api-versions", "API versions", "API versions for charts; default: the cluster's", List(|to, versions| to.api_versions = versions)),
    parameter(Any, "allow-empty", "Allow empty", "Allow an empty result, for which Argo CD deletes all resources", Flag(|to, on| to.allow_empty = on)),
];

const fn parameter(
    scope: Scope,
    name: &'static str,
    title: &'static str,
    tooltip: &'static str,
    kind: Kind,
) -> Parameter {
    Parameter { name, title, tooltip, scope, kind, current: None, may_be_secret: false }
}

impl Parameter {
    /// Returns what its value is so far.
    const fn now(mut self, current: fn(&Current) -> Option<Content>) -> Self {
        self.current = Some(current);
        self
    }

    /// Its values stay out of messages.
    const fn secret(mut self) -> Self {
        self.may_be_secret = true;
        self
    }

    /// Puts a value where it belongs. A flag that is empty is off.
    pub(super) fn apply(&self, content: Content, wanted: &mut Wanted) -> Result<()> {
        match (self.kind, content) {
            (Text(put), Content::Text(text)) => put(wanted, text),
            (Flag(put), Content::Text(text)) => put(wanted, self.flag(&text)?),
            (List(put), Content::List(items)) => put(wanted, items),
            (Map(put), Content::Map(map)) => put(wanted, map),
            (_, given) => {
                let (name, field, wrong) = (self.name, self.empty().field(), given.field());
                let message = format!("the parameter `{name}` is given as `{wrong}`");
                return Err(Error::invalid(message).hint(format!("write it as `{field}`")));
            }
        }
        Ok(())
    }

    fn flag(&self, text: &str) -> Result<bool> {
        match text {
            "true" => Ok(true),
            "false" | "" => Ok(false),
            _ => Err(Error::invalid(format!(
                "the parameter `{}` must be `true` or `false`, not `{text}`",
                self.name
            ))),
        }
    }

    /// The value so far; an empty one where there is none.
    pub(super) fn value(&self, current: &Current) -> Content {
        self.current.and_then(|of| of(current)).unwrap_or_else(|| self.empty())
    }

    /// Returns what Argo CD calls the type of an item.
    pub(super) fn item_type(&self) -> &'static str {
        if matches!(self.kind, Flag(_)) { "boolean" } else { "string" }
    }

    fn empty(&self) -> Content {
        match self.kind {
            Text(_) | Flag(_) => Content::Text(String::new()),
            List(_) => Content::List(Vec::new()),
            Map(_) => Content::Map(BTreeMap::new()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain_there_once_and_documented() {
        for (at, parameter) in PARAMETERS.iter().enumerate() {
            let name = parameter.name;
            assert!(name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'), "{name}");
            assert!(PARAMETERS[at + 1..].iter().all(|other| other.name != name), "{name}");
            let documented = include_str!("../../../../docs/argocd-plugin.md");
            assert!(documented.contains(&format!("`{name}`")), "{name}");
            assert!(!parameter.title.is_empty() && !parameter.tooltip.ends_with('.'), "{name}");
        }
    }
}

//! The type Application, as far as templates and patches reach it (pkg/apis/application/v1alpha1/types.go).

use super::schema::{Field, Shape, optional, pointer, required};

pub(crate) const API_VERSION: &str = "argoproj.io/v1alpha1";
pub(crate) const KIND: &str = "Application";

/// The finalizer that has the resources of a deleted Application deleted.
pub(crate) const RESOURCES_FINALIZER: &str = "resources-finalizer.argocd.argoproj.io";

/// An Application without its status, which nothing here writes.
pub(crate) const APPLICATION: Shape = Shape::Object(&[
    optional("apiVersion", Shape::Text),
    optional("kind", Shape::Text),
    required("metadata", OBJECT_META),
    required("spec", SPEC),
    pointer("operation", Shape::Any),
]);

/// The type of an ApplicationSet's template.
pub(crate) const TEMPLATE: Shape =
    Shape::Object(&[required("metadata", TEMPLATE_META), required("spec", SPEC)]);

const TEMPLATE_META: Shape = Shape::Object(&[
    optional("annotations", Shape::TEXT_MAP),
    optional("finalizers", Shape::TEXTS),
    optional("labels", Shape::TEXT_MAP),
    optional("name", Shape::Text),
    optional("namespace", Shape::Text),
]);

/// The metadata that a patch can set.
const OBJECT_META: Shape = Shape::Object(&[
    optional("annotations", Shape::TEXT_MAP),
    optional("finalizers", Shape::TEXTS),
    optional("generateName", Shape::Text),
    optional("labels", Shape::TEXT_MAP),
    optional("name", Shape::Text),
    optional("namespace", Shape::Text),
    optional("ownerReferences", Shape::List(&Shape::Any)),
]);

pub(crate) const SPEC: Shape = Shape::Object(&[
    pointer("source", SOURCE),
    required("destination", DESTINATION),
    required("project", Shape::Text),
    pointer("syncPolicy", SYNC_POLICY),
    optional("ignoreDifferences", Shape::List(&IGNORE_DIFFERENCES)),
    optional("info", Shape::List(&NAME_AND_VALUE)),
    pointer("revisionHistoryLimit", Shape::Int),
    optional("sources", Shape::List(&SOURCE)),
    pointer("sourceHydrator", SOURCE_HYDRATOR),
]);

const DESTINATION: Shape = Shape::Object(&[
    optional("server", Shape::Text),
    optional("namespace", Shape::Text),
    optional("name", Shape::Text),
]);

const SOURCE: Shape = Shape::Object(&[
    required("repoURL", Shape::Text),
    optional("path", Shape::Text),
    optional("targetRevision", Shape::Text),
    pointer("helm", HELM),
    pointer("kustomize", KUSTOMIZE),
    pointer("directory", DIRECTORY),
    pointer("plugin", PLUGIN),
    optional("chart", Shape::Text),
    optional("ref", Shape::Text),
    optional("name", Shape::Text),
    optional("tagPrefix", Shape::Text),
]);

const HELM: Shape = Shape::Object(&[
    optional("valueFiles", Shape::TEXTS),
    optional("parameters", Shape::List(&HELM_PARAMETER)),
    optional("releaseName", Shape::Text),
    optional("values", Shape::Text),
    optional("fileParameters", Shape::List(&HELM_FILE_PARAMETER)),
    optional("version", Shape::Text),
    optional("passCredentials", Shape::Bool),
    optional("ignoreMissingValueFiles", Shape::Bool),
    optional("skipCrds", Shape::Bool),
    pointer("valuesObject", Shape::Any),
    optional("namespace", Shape::Text),
    optional("kubeVersion", Shape::Text),
    optional("apiVersions", Shape::TEXTS),
    optional("skipTests", Shape::Bool),
    optional("skipSchemaValidation", Shape::Bool),
]);

const HELM_PARAMETER: Shape = Shape::Object(&[
    optional("name", Shape::Text),
    optional("value", Shape::Text),
    optional("forceString", Shape::Bool),
]);

const HELM_FILE_PARAMETER: Shape =
    Shape::Object(&[optional("name", Shape::Text), optional("path", Shape::Text)]);

const KUSTOMIZE: Shape = Shape::Object(&[
    optional("namePrefix", Shape::Text),
    optional("nameSuffix", Shape::Text),
    optional("images", Shape::TEXTS),
    optional("commonLabels", Shape::TEXT_MAP),
    optional("version", Shape::Text),
    optional("commonAnnotations", Shape::TEXT_MAP),
    optional("forceCommonLabels", Shape::Bool),
    optional("forceCommonAnnotations", Shape::Bool),
    optional("namespace", Shape::Text),
    optional("commonAnnotationsEnvsubst", Shape::Bool),
    optional("replicas", Shape::List(&KUSTOMIZE_REPLICA)),
    optional("patches", Shape::List(&KUSTOMIZE_PATCH)),
    optional("components", Shape::TEXTS),
    optional("ignoreMissingComponents", Shape::Bool),
    optional("labelWithoutSelector", Shape::Bool),
    optional("kubeVersion", Shape::Text),
    optional("apiVersions", Shape::TEXTS),
    optional("labelIncludeTemplates", Shape::Bool),
]);

const KUSTOMIZE_REPLICA: Shape =
    Shape::Object(&[required("name", Shape::Text), required("count", Shape::IntOrText)]);

const KUSTOMIZE_PATCH: Shape = Shape::Object(&[
    optional("path", Shape::Text),
    optional("patch", Shape::Text),
    pointer("target", KUSTOMIZE_SELECTOR),
    optional("options", Shape::Map(&Shape::Bool)),
]);

const KUSTOMIZE_SELECTOR: Shape = Shape::Object(&[
    optional("group", Shape::Text),
    optional("version", Shape::Text),
    optional("kind", Shape::Text),
    optional("name", Shape::Text),
    optional("namespace", Shape::Text),
    optional("annotationSelector", Shape::Text),
    optional("labelSelector", Shape::Text),
]);

const DIRECTORY: Shape = Shape::Object(&[
    optional("recurse", Shape::Bool),
    optional("jsonnet", JSONNET),
    optional("exclude", Shape::Text),
    optional("include", Shape::Text),
    optional("disableExtensionFilter", Shape::Bool),
]);

const JSONNET: Shape = Shape::Object(&[
    optional("extVars", Shape::List(&JSONNET_VARIABLE)),
    optional("tlas", Shape::List(&JSONNET_VARIABLE)),
    optional("libs", Shape::TEXTS),
]);

const JSONNET_VARIABLE: Shape = Shape::Object(&[
    required("name", Shape::Text),
    required("value", Shape::Text),
    optional("code", Shape::Bool),
]);

const PLUGIN: Shape = Shape::Object(&[
    optional("name", Shape::Text),
    optional("env", Shape::List(&NAME_AND_VALUE)),
    optional("parameters", Shape::List(&PLUGIN_PARAMETER)),
]);

// Its own encoder writes a map or list that is set but empty.
const PLUGIN_PARAMETER: Shape = Shape::Object(&[
    required("name", Shape::Text),
    pointer("string", Shape::Text),
    pointer("map", Shape::TEXT_MAP),
    pointer("array", Shape::TEXTS),
]);

const NAME_AND_VALUE: Shape = Shape::Object(&[required("name", Shape::Text), required("value", Shape::Text)]);

const IGNORE_DIFFERENCES: Shape = Shape::Object(&[
    optional("group", Shape::Text),
    required("kind", Shape::Text),
    optional("name", Shape::Text),
    optional("namespace", Shape::Text),
    optional("jsonPointers", Shape::TEXTS),
    optional("jqPathExpressions", Shape::TEXTS),
    optional("managedFieldsManagers", Shape::TEXTS),
]);

const SYNC_POLICY: Shape = Shape::Object(&[
    pointer("automated", AUTOMATED),
    optional("syncOptions", Shape::TEXTS),
    pointer("retry", RETRY),
    pointer("managedNamespaceMetadata", NAMESPACE_METADATA),
]);

const AUTOMATED: Shape = Shape::Object(&[
    pointer("prune", Shape::Bool),
    pointer("selfHeal", Shape::Bool),
    pointer("allowEmpty", Shape::Bool),
    pointer("enabled", Shape::Bool),
]);

const RETRY: Shape = Shape::Object(&[
    optional("limit", Shape::Int),
    pointer("backoff", BACKOFF),
    optional("refresh", Shape::Bool),
]);

const BACKOFF: Shape = Shape::Object(&[
    optional("duration", Shape::Text),
    pointer("factor", Shape::Int),
    optional("maxDuration", Shape::Text),
]);

const NAMESPACE_METADATA: Shape =
    Shape::Object(&[optional("labels", Shape::TEXT_MAP), optional("annotations", Shape::TEXT_MAP)]);

const SOURCE_HYDRATOR: Shape = Shape::Object(&[
    required("drySource", DRY_SOURCE),
    required("syncSource", SYNC_SOURCE),
    pointer("hydrateTo", Shape::Object(HYDRATE_TO)),
]);

const DRY_SOURCE: Shape = Shape::Object(&[
    required("repoURL", Shape::Text),
    required("targetRevision", Shape::Text),
    required("path", Shape::Text),
    pointer("helm", HELM),
    pointer("kustomize", KUSTOMIZE),
    pointer("directory", DIRECTORY),
    pointer("plugin", PLUGIN),
]);

const SYNC_SOURCE: Shape = Shape::Object(&[
    required("targetBranch", Shape::Text),
    required("path", Shape::Text),
    optional("repoURL", Shape::Text),
]);

const HYDRATE_TO: &[Field] = &[required("targetBranch", Shape::Text)];

//! A source of an Application: where manifests are, and what is said to the engine that renders them.
//!
//! In: a mapping, of the Application or merged with what its repository says. Out: typed fields. Refused: fields of
//! another type.

use std::collections::BTreeMap;

use diagnostic::Result;
use yamltree::{Dialect, Node, Resolved, Span};

use super::fields::{At, Fields, Reading, is_null};

/// A source.
#[derive(Clone, Debug)]
pub struct Source {
    /// The repository.
    pub repo_url: At<String>,
    /// The folder in it.
    pub path: At<String>,
    /// The branch, tag or commit, or the version of a chart; `HEAD` where empty.
    pub target_revision: At<String>,
    /// The chart, where the repository is one of charts.
    pub chart: At<String>,
    /// The name by which other sources refer to its files, without `$`.
    pub reference: At<String>,
    /// Its name, for people.
    pub name: String,
    /// The Helm settings.
    pub helm: Option<Helm>,
    /// The Kustomize settings.
    pub kustomize: Option<Kustomize>,
    /// The settings of a directory of manifests.
    pub directory: Option<Directory>,
    /// Which plugin renders it.
    pub plugin: Option<Plugin>,
    /// As it is written, which is what files in the repository are merged into.
    pub(crate) node: Node,
    pub(crate) span: Span,
}

/// The Helm settings of a source.
#[derive(Clone, Debug, Default)]
pub struct Helm {
    /// Files with values, the later ones winning.
    pub value_files: Vec<At<String>>,
    /// Values as text, after the files.
    pub values: At<String>,
    /// Values as a mapping, in place of those as text.
    pub values_object: Option<Node>,
    /// `--set` and `--set-string`
    pub parameters: Vec<HelmParameter>,
    /// `--set-file`
    pub file_parameters: Vec<HelmFileParameter>,
    /// The release's name; the Application's where empty.
    pub release_name: At<String>,
    /// The release's namespace; the destination's where empty.
    pub namespace: String,
    /// The version of Kubernetes; the cluster's where empty.
    pub kube_version: At<String>,
    /// The API versions; the cluster's where empty.
    pub api_versions: Vec<String>,
    /// True if CRDs are left out.
    pub skip_crds: bool,
    /// True if tests are left out.
    pub skip_tests: bool,
    /// True if values are not checked against schemas.
    pub skip_schema_validation: bool,
    /// True if value files that are missing are passed over.
    pub ignore_missing_value_files: bool,
    /// True if credentials go to other hosts too.
    pub pass_credentials: bool,
    /// The generation of Helm.
    pub version: At<String>,
    pub(crate) span: Span,
}

/// `--set name=value`, or `--set-string`.
#[derive(Clone, Debug, Default)]
pub struct HelmParameter {
    /// The path of the value.
    pub name: At<String>,
    /// The value.
    pub value: String,
    /// True if it is text, whatever it looks like.
    pub force_string: bool,
}

/// `--set-file name=path`
#[derive(Clone, Debug, Default)]
pub struct HelmFileParameter {
    /// The path of the value.
    pub name: String,
    /// The file.
    pub path: At<String>,
}

/// The Kustomize settings of a source.
#[derive(Clone, Debug, Default)]
pub struct Kustomize {
    /// `namePrefix`
    pub name_prefix: String,
    /// `nameSuffix`
    pub name_suffix: String,
    /// `images`, as `kustomize edit set image` takes them.
    pub images: Vec<At<String>>,
    /// `replicas`
    pub replicas: Vec<Replica>,
    /// Labels that all objects get.
    pub common_labels: BTreeMap<String, String>,
    /// Annotations that all objects get.
    pub common_annotations: BTreeMap<String, String>,
    /// True if labels that the kustomization has are replaced.
    pub force_common_labels: bool,
    /// True if annotations that the kustomization has are replaced.
    pub force_common_annotations: bool,
    /// True if labels do not go into selectors.
    pub label_without_selector: bool,
    /// True if labels go into templates.
    pub label_include_templates: bool,
    /// True if variables are put into annotations.
    pub common_annotations_envsubst: bool,
    /// `namespace`
    pub namespace: String,
    /// `patches`, as they are written into the kustomization.
    pub patches: Vec<Node>,
    /// `components`
    pub components: Vec<At<String>>,
    /// True if components that are missing are passed over.
    pub ignore_missing_components: bool,
    /// The version of Kubernetes; the cluster's where empty.
    pub kube_version: At<String>,
    /// The API versions; the cluster's where empty.
    pub api_versions: Vec<String>,
    /// The version of Kustomize, as `argocd-cm` names it.
    pub version: At<String>,
    pub(crate) span: Span,
}

/// Number of replicas a workload has.
#[derive(Clone, Debug, Default)]
pub struct Replica {
    /// The workload's name.
    pub name: String,
    /// The number.
    pub count: i64,
}

/// The settings of a directory of manifests.
#[derive(Clone, Debug, Default)]
pub struct Directory {
    /// True if folders in it count too.
    pub recurse: bool,
    /// A pattern of files that count.
    pub include: At<String>,
    /// A pattern of files that do not.
    pub exclude: At<String>,
    /// True if files count whatever their names end in.
    pub disable_extension_filter: bool,
    pub(crate) span: Span,
}

/// Which plugin renders a source.
#[derive(Clone, Debug, Default)]
pub struct Plugin {
    /// Its name; the one that finds the source to be its own where empty.
    pub name: At<String>,
    /// `env`: names and values.
    pub environment: Vec<(String, String)>,
    /// `parameters`, as they are written.
    pub parameters: Vec<Node>,
    pub(crate) span: Span,
}

const SOURCE: &[&str] = &[
    "repoURL",
    "path",
    "targetRevision",
    "helm",
    "kustomize",
    "directory",
    "plugin",
    "chart",
    "ref",
    "name",
    "tagPrefix",
];
const HELM: &[&str] = &[
    "valueFiles",
    "parameters",
    "releaseName",
    "values",
    "fileParameters",
    "version",
    "passCredentials",
    "ignoreMissingValueFiles",
    "skipCrds",
    "valuesObject",
    "namespace",
    "kubeVersion",
    "apiVersions",
    "skipTests",
    "skipSchemaValidation",
];
const KUSTOMIZE: &[&str] = &[
    "namePrefix",
    "nameSuffix",
    "images",
    "commonLabels",
    "version",
    "commonAnnotations",
    "forceCommonLabels",
    "forceCommonAnnotations",
    "namespace",
    "commonAnnotationsEnvsubst",
    "replicas",
    "patches",
    "components",
    "ignoreMissingComponents",
    "labelWithoutSelector",
    "kubeVersion",
    "apiVersions",
    "labelIncludeTemplates",
];
const DIRECTORY: &[&str] = &["recurse", "jsonnet", "exclude", "include", "disableExtensionFilter"];
const PLUGIN: &[&str] = &["name", "env", "parameters"];

impl Source {
    /// A source of which nothing is said yet.
    pub(crate) fn unsaid() -> Self {
        Self {
            repo_url: At::default(),
            path: At::default(),
            target_revision: At::default(),
            chart: At::default(),
            reference: At::default(),
            name: String::new(),
            helm: None,
            kustomize: None,
            directory: None,
            plugin: None,
            node: Node::null(),
            span: Span::default(),
        }
    }

    /// Reads a source; `None` for a null.
    pub(crate) fn read(node: &Node, path: &str, reading: &mut Reading<'_>) -> Result<Option<Self>> {
        let Some(fields) = reading.fields(node, path, SOURCE)? else { return Ok(None) };
        let section = |name: &str| fields.get(name).filter(|node| !is_null(node));
        let helm = section("helm").map(|node| Helm::read(node, &format!("{path}.helm"), reading));
        let helm = helm.transpose()?;
        let kustomize = section("kustomize");
        let kustomize = kustomize.map(|node| Kustomize::read(node, &format!("{path}.kustomize"), reading));
        let kustomize = kustomize.transpose()?;
        let directory = section("directory");
        let directory = directory.map(|node| Directory::read(node, &format!("{path}.directory"), reading));
        let directory = directory.transpose()?;
        let plugin = section("plugin").map(|node| Plugin::read(node, &format!("{path}.plugin"), reading));
        let plugin = plugin.transpose()?;
        Ok(Some(Self {
            repo_url: fields.placed("repoURL", reading)?,
            path: fields.placed("path", reading)?,
            target_revision: fields.placed("targetRevision", reading)?,
            chart: fields.placed("chart", reading)?,
            reference: fields.placed("ref", reading)?,
            name: fields.text("name", reading)?,
            helm,
            kustomize,
            directory,
            plugin,
            node: node.clone(),
            span: node.span,
        }))
    }
}

impl Helm {
    fn read(node: &Node, path: &str, reading: &mut Reading<'_>) -> Result<Self> {
        let Some(fields) = reading.fields(node, path, HELM)? else { return Ok(Self::default()) };
        let parameter = |node: &Node, reading: &mut Reading<'_>| {
            let known = ["name", "value", "forceString"];
            let Some(fields) = reading.fields(node, "helm.parameters", &known)? else {
                return Ok(HelmParameter::default());
            };
            Ok(HelmParameter {
                name: fields.placed("name", reading)?,
                value: fields.text("value", reading)?,
                force_string: fields.flag("forceString", reading)?,
            })
        };
        let file_parameter = |node: &Node, reading: &mut Reading<'_>| {
            let Some(fields) = reading.fields(node, "helm.fileParameters", &["name", "path"])? else {
                return Ok(HelmFileParameter::default());
            };
            Ok(HelmFileParameter {
                name: fields.text("name", reading)?,
                path: fields.placed("path", reading)?,
            })
        };
        let parameters = each(&fields, "parameters", reading, parameter)?;
        let file_parameters = each(&fields, "fileParameters", reading, file_parameter)?;
        Ok(Self {
            value_files: fields.texts("valueFiles", reading)?,
            values: fields.placed("values", reading)?,
            values_object: fields.get("valuesObject").filter(|node| !is_null(node)).cloned(),
            parameters,
            file_parameters,
            release_name: fields.placed("releaseName", reading)?,
            namespace: fields.text("namespace", reading)?,
            kube_version: fields.placed("kubeVersion", reading)?,
            api_versions: fields.words("apiVersions", reading)?,
            skip_crds: fields.flag("skipCrds", reading)?,
            skip_tests: fields.flag("skipTests", reading)?,
            skip_schema_validation: fields.flag("skipSchemaValidation", reading)?,
            ignore_missing_value_files: fields.flag("ignoreMissingValueFiles", reading)?,
            pass_credentials: fields.flag("passCredentials", reading)?,
            version: fields.placed("version", reading)?,
            span: node.span,
        })
    }
}

impl Kustomize {
    fn read(node: &Node, path: &str, reading: &mut Reading<'_>) -> Result<Self> {
        let Some(fields) = reading.fields(node, path, KUSTOMIZE)? else { return Ok(Self::default()) };
        let replicas = each(&fields, "replicas", reading, Replica::read)?;
        let patches = fields.items("patches", reading)?;
        let known = ["path", "patch", "target", "options"];
        for patch in patches {
            reading.fields(patch, "kustomize.patches", &known)?;
        }
        Ok(Self {
            name_prefix: fields.text("namePrefix", reading)?,
            name_suffix: fields.text("nameSuffix", reading)?,
            images: fields.texts("images", reading)?,
            replicas,
            common_labels: fields.map("commonLabels", reading)?,
            common_annotations: fields.map("commonAnnotations", reading)?,
            force_common_labels: fields.flag("forceCommonLabels", reading)?,
            force_common_annotations: fields.flag("forceCommonAnnotations", reading)?,
            label_without_selector: fields.flag("labelWithoutSelector", reading)?,
            label_include_templates: fields.flag("labelIncludeTemplates", reading)?,
            common_annotations_envsubst: fields.flag("commonAnnotationsEnvsubst", reading)?,
            namespace: fields.text("namespace", reading)?,
            patches: patches.to_vec(),
            components: fields.texts("components", reading)?,
            ignore_missing_components: fields.flag("ignoreMissingComponents", reading)?,
            kube_version: fields.placed("kubeVersion", reading)?,
            api_versions: fields.words("apiVersions", reading)?,
            version: fields.placed("version", reading)?,
            span: node.span,
        })
    }
}

impl Replica {
    /// A count is a number, or a text that is one (Kubernetes' `IntOrString`).
    fn read(node: &Node, reading: &mut Reading<'_>) -> Result<Self> {
        let Some(fields) = reading.fields(node, "kustomize.replicas", &["name", "count"])? else {
            return Ok(Self::default());
        };
        let count = match fields.get("count") {
            None => 0,
            Some(count) => match count.resolved(Dialect::V2) {
                Ok(Resolved::Null) => 0,
                Ok(Resolved::Int(count)) => i64::from(i32::try_from(count).map_err(|_| {
                    reading.error("`kustomize.replicas.count` exceeds a 32-bit integer", node.span)
                })?),
                Ok(Resolved::Str) => {
                    let text = count.text().unwrap_or_default();
                    text.parse().map_err(|_| {
                        let message =
                            format!("`kustomize.replicas.count` must be an integer, found `{text}`");
                        reading.error(message, count.span)
                    })?
                }
                _ => {
                    let message = "`kustomize.replicas.count` must be an integer";
                    return Err(reading.error(message, count.span));
                }
            },
        };
        Ok(Self { name: fields.text("name", reading)?, count })
    }
}

impl Directory {
    fn read(node: &Node, path: &str, reading: &mut Reading<'_>) -> Result<Self> {
        let Some(fields) = reading.fields(node, path, DIRECTORY)? else { return Ok(Self::default()) };
        Ok(Self {
            recurse: fields.flag("recurse", reading)?,
            include: fields.placed("include", reading)?,
            exclude: fields.placed("exclude", reading)?,
            disable_extension_filter: fields.flag("disableExtensionFilter", reading)?,
            span: node.span,
        })
    }
}

impl Plugin {
    fn read(node: &Node, path: &str, reading: &mut Reading<'_>) -> Result<Self> {
        let Some(fields) = reading.fields(node, path, PLUGIN)? else { return Ok(Self::default()) };
        let variable = |node: &Node, reading: &mut Reading<'_>| {
            let Some(fields) = reading.fields(node, "plugin.env", &["name", "value"])? else {
                return Ok((String::new(), String::new()));
            };
            Ok((fields.text("name", reading)?, fields.text("value", reading)?))
        };
        let environment = each(&fields, "env", reading, variable)?;
        Ok(Self {
            name: fields.placed("name", reading)?,
            environment,
            parameters: fields.items("parameters", reading)?.to_vec(),
            span: node.span,
        })
    }
}

/// Reads each item of a list.
fn each<T>(
    fields: &Fields<'_>,
    name: &str,
    reading: &mut Reading<'_>,
    read: impl Fn(&Node, &mut Reading<'_>) -> Result<T>,
) -> Result<Vec<T>> {
    fields.items(name, reading)?.iter().map(|node| read(node, reading)).collect()
}

//! The arguments of one chart.

use diagnostic::{Error, Result};
use yamltree::{Node, Span};

use super::through_json;
use crate::context::Context;
use crate::decode::{Located, Object};
use crate::warning::{Code, Warning};

const DEFAULT_HOME: &str = "charts";

/// `helmGlobals`.
#[derive(Clone, Debug)]
pub(super) struct Globals {
    pub(super) chart_home: String,
    pub(super) config_home: String,
}

/// An entry of `helmCharts`. What is not given is empty.
#[derive(Debug)]
pub(super) struct ChartArgs {
    pub(super) name: String,
    pub(super) version: String,
    pub(super) repo: String,
    pub(super) release_name: String,
    pub(super) name_template: String,
    pub(super) namespace: String,
    pub(super) values_file: Option<Located>,
    pub(super) additional_values_files: Vec<Located>,
    pub(super) values_inline: Option<Node>,
    pub(super) values_merge: ValuesMerge,
    pub(super) api_versions: Option<Vec<String>>,
    pub(super) kube_version: String,
    pub(super) include_crds: bool,
    pub(super) skip_hooks: bool,
    pub(super) skip_tests: bool,
    pub(super) debug: bool,
    pub(super) devel: bool,
    pub(super) span: Span,
}

/// The merging of `valuesInline` with the values file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum ValuesMerge {
    /// They win.
    #[default]
    Override,
    /// The file's win.
    Merge,
    /// The file does not count.
    Replace,
}

impl Default for Globals {
    fn default() -> Self {
        Self { chart_home: DEFAULT_HOME.to_owned(), config_home: String::new() }
    }
}

impl Globals {
    pub(super) fn read(node: &Node) -> Result<Self> {
        let object = Object::new(node, "helmGlobals")?;
        let globals = Self::decode(&object)?;
        object.finish()?;
        Ok(globals)
    }

    pub(super) fn decode(object: &Object<'_>) -> Result<Self> {
        let mut globals = Self { config_home: object.text("configHome")?, ..Self::default() };
        globals.set_home(object.text("chartHome")?);
        Ok(globals)
    }

    fn set_home(&mut self, home: String) {
        if !home.is_empty() {
            self.chart_home = home;
        }
    }
}

impl ChartArgs {
    pub(super) fn decode(object: &Object<'_>) -> Result<Self> {
        let texts = |texts: Vec<Located>| texts.into_iter().map(|text| text.text).collect();
        let api_versions = object.strings("apiVersions")?;
        Ok(Self {
            name: object.text("name")?,
            version: object.text("version")?,
            repo: object.text("repo")?,
            release_name: object.text("releaseName")?,
            name_template: object.text("nameTemplate")?,
            namespace: object.text("namespace")?,
            values_file: values_file(object, "valuesFile")?,
            additional_values_files: object.strings("additionalValuesFiles")?,
            values_inline: values_inline(object, "valuesInline")?,
            values_merge: values_merge(object)?,
            api_versions: Some(api_versions).filter(|list| !list.is_empty()).map(texts),
            kube_version: object.text("kubeVersion")?,
            include_crds: object.flag("includeCRDs")?,
            skip_hooks: object.flag("skipHooks")?,
            skip_tests: object.flag("skipTests")?,
            debug: object.flag("debug")?,
            devel: object.flag("devel")?,
            span: object.span(),
        })
    }

    /// An entry of `helmChartInflationGenerator`, the older form, which also says what is global now.
    pub(super) fn decode_deprecated(node: &Node, globals: &mut Globals, cx: &Context<'_>) -> Result<Self> {
        const WITHOUT_EFFECT: [&str; 3] = ["chartRepoName", "helmBin", "releaseNamespace"];
        let object = Object::new(node, "an entry of helmChartInflationGenerator")?;
        globals.set_home(object.text("chartHome")?);
        let config_home = object.text("helmHome")?;
        if !config_home.is_empty() {
            globals.config_home = config_home;
        }
        for field in WITHOUT_EFFECT {
            if !object.text(field)?.is_empty() {
                without_effect(field, &object, cx);
            }
        }
        if !object.strings("extraArgs")?.is_empty() {
            without_effect("extraArgs", &object, cx);
        }
        let args = Self {
            name: object.text("chartName")?,
            version: object.text("chartVersion")?,
            repo: object.text("chartRepoUrl")?,
            release_name: object.text("releaseName")?,
            name_template: String::new(),
            namespace: String::new(),
            values_file: values_file(&object, "values")?,
            additional_values_files: Vec::new(),
            values_inline: values_inline(&object, "valuesLocal")?,
            values_merge: values_merge(&object)?,
            api_versions: None,
            kube_version: String::new(),
            include_crds: false,
            skip_hooks: false,
            skip_tests: false,
            debug: false,
            devel: false,
            span: object.span(),
        };
        object.finish()?;
        Ok(args)
    }

    /// Takes the kustomization's namespace where the chart has none.
    pub(super) fn inherit_namespace(&mut self, namespace: Option<&str>) {
        if let Some(namespace) = namespace.filter(|_| self.namespace.is_empty()) {
            self.namespace = namespace.to_owned();
        }
    }
}

fn without_effect(field: &'static str, object: &Object<'_>, cx: &Context<'_>) {
    let span = object.field(field).map_or(object.span(), |node| node.span);
    cx.push_warning(Warning::new(Code::OptionWithoutEffect, format!("`{field}` is ignored")).at(span));
}

fn values_file(object: &Object<'_>, field: &'static str) -> Result<Option<Located>> {
    let Some(text) = object.string(field)?.filter(|text| !text.is_empty()) else { return Ok(None) };
    let span = object.field(field).map_or(object.span(), |node| node.span);
    Ok(Some(Located { text, span }))
}

/// Empty values count as none.
fn values_inline(object: &Object<'_>, field: &'static str) -> Result<Option<Node>> {
    let Some(node) = object.field(field) else { return Ok(None) };
    match node.entries() {
        Some(entries) if entries.is_empty() => Ok(None),
        Some(_) => {
            through_json(node, object.reading().dialect()).map(Some).map_err(|error| error.at(node.span))
        }
        None => Err(crate::decode::wrong_type(field, "a mapping", node)),
    }
}

fn values_merge(object: &Object<'_>) -> Result<ValuesMerge> {
    let text = object.text("valuesMerge")?;
    Ok(match text.as_str() {
        "" | "override" => ValuesMerge::Override,
        "merge" => ValuesMerge::Merge,
        "replace" => ValuesMerge::Replace,
        other => {
            let span = object.field("valuesMerge").map_or(object.span(), |node| node.span);
            let error = Error::invalid(format!("unknown `valuesMerge` `{other}`")).at(span);
            return Err(error.hint("`valuesMerge` is one of merge, override, replace"));
        }
    })
}

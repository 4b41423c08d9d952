//! From a chart and values to manifests, step by step as `helm template` goes.
//!
//! Input: a chart, a user's values and [`Options`]. Output: [`Rendered`]. Rejected, with Helm's messages: library charts,
//! missing dependencies, invalid release names, values that a schema forbids, templates that fail.

use diagnostic::{Error, Result};
use gotemplate::Map;
use gotemplate::semver::{Constraints, Version};

use crate::capabilities::KubeVersion;
use crate::chart::Chart;
use crate::dependencies::process_dependencies;
use crate::manifest::{self, Manifests};
use crate::options::Options;
use crate::release_name::check_release_name;
use crate::render::render;
use crate::schema::validate_values;
use crate::values::{UserValues, coalesce};
use crate::version::HelmVersion;
use crate::warning::{Code, Warning};

/// A rendered chart.
#[derive(Clone, Debug)]
pub struct Rendered {
    /// Manifests and hooks.
    pub manifests: Manifests,
    /// Path and content of the CRDs of the chart and of its dependencies.
    pub crds: Vec<(String, String)>,
    /// Warnings: of the user's values, of the chart and of the rendering.
    pub warnings: Vec<Warning>,
    /// The error that ended the rendering, if Helm already has a release then: `--debug` prints its manifests.
    pub fault: Option<Error>,
    /// The generation of Helm.
    pub(crate) version: HelmVersion,
}

impl Rendered {
    /// Returns the rendered chart, or the error that ended the rendering.
    ///
    /// # Errors
    /// Returns [`Rendered::fault`].
    pub fn complete(mut self) -> Result<Self> {
        self.fault.take().map_or(Ok(self), Err)
    }
}

impl Chart {
    /// Renders the chart with a user's values.
    ///
    /// # Errors
    /// If the chart or its values are invalid. Errors of templates and manifests are in [`Rendered::fault`].
    pub fn template(mut self, user: &UserValues, options: &Options<'_>) -> Result<Rendered> {
        refuse_library(&self)?;
        let mut warnings = [user.warnings.as_slice(), &self.warnings].concat();
        if self.metadata.deprecated {
            let name = &self.metadata.name;
            warnings.push(Warning::new(Code::DeprecatedChart, format!("the chart `{name}` is deprecated")));
        }
        refuse_missing(&self)?;
        check_release_name(&options.release_name)?;
        process_dependencies(&mut self, user, options.version, &mut warnings)?;
        let values = coalesce(&self, user, options.version, &mut warnings)?;
        if !options.skip_schema_validation && self.has_schema() {
            validate_values(&self, &values.to_table(), user, &mut warnings)?;
        }
        let mut rendered = Rendered {
            manifests: Manifests::default(),
            crds: Vec::new(),
            warnings,
            fault: None,
            version: options.version,
        };
        rendered.fault = rendered.fill(&self, &values.to_map(), user, options).err();
        Ok(rendered)
    }

    /// Returns the names of the dependencies that `Chart.yaml` declares and `charts/` lacks.
    #[must_use]
    pub fn missing_dependencies(&self) -> Vec<&str> {
        let has = |name: &str| self.dependencies.iter().any(|dependency| dependency.metadata.name == name);
        let declared = self.metadata.dependencies.iter().map(|dependency| dependency.name.as_str());
        declared.filter(|name| !has(name)).collect()
    }

    fn has_schema(&self) -> bool {
        self.schema.is_some() || self.dependencies.iter().any(Self::has_schema)
    }
}

impl Rendered {
    /// Executes the templates, sorts what they wrote, and adds the CRDs.
    fn fill(&mut self, chart: &Chart, values: &Map, user: &UserValues, options: &Options<'_>) -> Result<()> {
        refuse_other_cluster(chart, &options.kube_version)?;
        let output = render(chart, values, user, options)?;
        self.warnings.extend(output.warnings);
        let files: Vec<_> = output.files.into_iter().filter(|file| !is_notes(&file.path)).collect();
        match manifest::sort(&files, options.version) {
            Ok(manifests) => self.manifests = manifests,
            Err(error) => {
                self.manifests = manifest::unsorted(files);
                return Err(error);
            }
        }
        self.warnings.extend(self.manifests.unknown_hooks.iter().map(unknown_hook));
        collect_crds(chart, &chart.metadata.name, &mut self.crds);
        Ok(())
    }
}

fn refuse_library(chart: &Chart) -> Result<()> {
    match chart.metadata.kind.as_str() {
        "" | "application" => Ok(()),
        kind => Err(Error::invalid(format!("{kind} charts are not installable"))),
    }
}

/// Refuses a chart that lacks what it declares: Argo CD looks for these words.
fn refuse_missing(chart: &Chart) -> Result<()> {
    let missing = chart.missing_dependencies();
    if missing.is_empty() {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "an error occurred while checking for chart dependencies. You may need to run 'helm dependency build' \
         to fetch missing dependencies: found in Chart.yaml, but missing in charts/ directory: {}",
        missing.join(", ")
    )))
}

/// Refuses a chart that is for other versions of Kubernetes.
fn refuse_other_cluster(chart: &Chart, cluster: &KubeVersion) -> Result<()> {
    let wanted = &chart.metadata.kube_version;
    let fits = || {
        let constraints = Constraints::parse(wanted).ok()?;
        Some(constraints.check(&Version::parse(&cluster.normalized).ok()?))
    };
    if wanted.is_empty() || fits().unwrap_or(false) {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "chart requires kubeVersion: {wanted} which is incompatible with Kubernetes {}",
        cluster.version
    )))
}

fn is_notes(path: &str) -> bool {
    path.ends_with("NOTES.txt")
}

fn unknown_hook((path, words): &(String, String)) -> Warning {
    let message = format!("unknown hook event `{words}`: the document of {path} is left out");
    Warning::new(Code::UnknownHook, message)
}

/// Collects the files below `crds/`, those of a chart before those of its dependencies.
fn collect_crds(chart: &Chart, path: &str, crds: &mut Vec<(String, String)>) {
    let mut files: Vec<_> = chart.files.iter().filter(|file| file.is_crd()).collect();
    files.sort_by(|left, right| left.name.cmp(&right.name));
    crds.extend(files.into_iter().map(|file| (format!("{path}/{}", file.name), file.text())));
    for dependency in &chart.dependencies {
        collect_crds(dependency, &format!("{path}/charts/{}", dependency.metadata.name), crds);
    }
}

//! Renders one chart: the engine with the disk, the clock, randomness and the time zone behind it.
//!
//! In: the path of a chart, values and what is said of the release. Out: what it renders to.

mod given;
pub(crate) mod lint;
pub(crate) mod places;
mod rendered;
pub(crate) mod text;

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use diagnostic::{Error, ErrorKind, Result};
use gotemplate::semver::{Constraints, Version};
use gotemplate::{Limits, Now};
use helm_lite::manifest::{self, Manifests};
use helm_lite::values::{self, Explanation, UserValues, ValuesFile};
use helm_lite::{Chart, Cluster, Code, DEBUG_ADVICE, HelmVersion, KubeVersion, Options, Warning};

pub use self::given::Values;
use self::places::Inputs;
pub(crate) use self::rendered::Rendered;
use crate::charts::ChartLocation;
use crate::stack;

/// A values file is no larger: it is read whole, and etcd takes releases of a megabyte.
const MAX_VALUES_FILE: u64 = 64 << 20;

/// The name of a release that is given none.
pub(crate) const DEFAULT_NAME: &str = "release-name";

/// Reads what `--values` and `--set-file` name.
pub(crate) type ReadValues<'r> = dyn Fn(&str) -> Result<Vec<u8>> + 'r;

/// The settings of the release and its cluster.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Release<'r> {
    /// Its name.
    pub(crate) name: &'r str,
    /// Its namespace, `default` where none is given.
    pub(crate) namespace: Option<&'r str>,
    /// True if it is upgraded.
    pub(crate) is_upgrade: bool,
    /// The cluster's version.
    pub(crate) kube_version: Option<&'r str>,
    /// The API versions of the cluster beside Kubernetes' own.
    pub(crate) api_versions: &'r [String],
    /// The generation of Helm to render as.
    pub(crate) version: HelmVersion,
    /// True if values are checked against the chart's schemas.
    pub(crate) checks_schemas: bool,
    /// True if what was rendered is wanted also where it is no YAML.
    pub(crate) debug: bool,
    /// The objects that `lookup` finds.
    pub(crate) cluster: Option<&'r Arc<Cluster>>,
}

impl Rendered {
    /// Ends with an error, beside what there is so far if it is wanted.
    fn unfinished(mut self, error: Error, release: &Release<'_>) -> Result<Self> {
        if !release.debug {
            return Err(advise_debug(error));
        }
        self.fault = Some(error);
        Ok(self)
    }
}

/// Renders a chart.
///
/// # Errors
/// If the chart or its values are invalid, with Helm's message.
pub(crate) fn render(location: &ChartLocation, given: &Values, release: &Release<'_>) -> Result<Rendered> {
    kube_version(release)?;
    let mut warnings = Vec::new();
    let user = user_values(given, release.version, &mut warnings)?;
    detect(location)?;
    let chart = location.load(release.version, &mut warnings)?;
    render_loaded(chart, &user, release, warnings)
}

/// Helm looks which generation of charts a folder is of before it loads it, and has its own words where it cannot.
fn detect(location: &ChartLocation) -> Result<()> {
    let ChartLocation::Disk(path) = location else { return Ok(()) };
    let file = path.join("Chart.yaml");
    if !path.is_dir() || file.exists() {
        return Ok(());
    }
    let file = std::path::absolute(&file).unwrap_or(file);
    let file = file.display();
    let sentence = format!("unable to detect chart at {file}: open {file}: no such file or directory");
    Err(Error::new(ErrorKind::Invalid, sentence))
}

/// Reads and merges the values that a user gives.
///
/// # Errors
/// If the chart or its values are invalid, with Helm's message.
pub(crate) fn user_values(
    given: &Values,
    version: HelmVersion,
    warnings: &mut Vec<Warning>,
) -> Result<UserValues> {
    user_values_from(&read_values, given, version, warnings)
}

/// The same, where the values' files are not those that a command line names.
///
/// # Errors
/// If the chart or its values are invalid, with Helm's message.
pub(crate) fn user_values_from(
    read: &ReadValues<'_>,
    given: &Values,
    version: HelmVersion,
    warnings: &mut Vec<Warning>,
) -> Result<UserValues> {
    with_options(read, given, |options| values::merge(options, version, warnings))
}

/// Renders a chart that was read, with the values of a user; what reading gave warnings of comes first.
///
/// # Errors
/// If the chart or its values are invalid, with Helm's message.
pub(crate) fn render_loaded(
    mut chart: Chart,
    user: &UserValues,
    release: &Release<'_>,
    mut warnings: Vec<Warning>,
) -> Result<Rendered> {
    let kube_version = kube_version(release)?;
    refuse_library(&chart)?;
    if chart.metadata.deprecated {
        let name = &chart.metadata.name;
        warnings.push(Warning::new(Code::DeprecatedChart, format!("the chart `{name}` is deprecated")));
    }
    refuse_missing(&chart)?;
    helm_lite::check_release_name(release.name)?;
    helm_lite::process_dependencies(&mut chart, user, release.version, &mut warnings)?;
    let coalesced = values::coalesce(&chart, user, release.version, &mut warnings)?;
    if release.checks_schemas && has_schema(&chart) {
        helm_lite::validate_values(&chart, &coalesced.to_table(), user, &mut warnings)?;
    }
    let mut rendered = Rendered {
        manifests: Manifests::default(),
        crds: Vec::new(),
        warnings,
        fault: None,
        version: release.version,
    };
    if let Err(error) = refuse_other_cluster(&chart, &kube_version) {
        return rendered.unfinished(error, release);
    }
    let random = random();
    let zone = std::env::var("TZ").unwrap_or_else(|_| "UTC".to_owned());
    let options = Options {
        release_name: release.name.to_owned(),
        namespace: release.namespace.unwrap_or("default").to_owned(),
        is_upgrade: release.is_upgrade,
        version: release.version,
        kube_version,
        api_versions: release.api_versions.to_vec(),
        now: now(),
        random: Some(&random),
        zone: &zone,
        cluster: release.cluster.cloned(),
        limits: limits(),
        user: Some(user),
        ..Options::default()
    };
    let output = match helm_lite::render(&chart, &coalesced.to_map(), &options) {
        Ok(output) => output,
        Err(error) => return rendered.unfinished(error, release),
    };
    rendered.warnings.extend(output.warnings);
    let files: Vec<_> = output.files.into_iter().filter(|file| !is_notes(&file.path)).collect();
    match manifest::sort(&files, release.version) {
        Ok(manifests) => rendered.manifests = manifests,
        Err(error) => {
            rendered.manifests = manifest::unsorted(files);
            return rendered.unfinished(error, release);
        }
    }
    rendered.warnings.extend(rendered.manifests.unknown_hooks.iter().map(unknown_hook));
    collect_crds(&chart, &chart.metadata.name, &mut rendered.crds);
    Ok(rendered)
}

fn kube_version(release: &Release<'_>) -> Result<KubeVersion> {
    let Some(text) = release.kube_version else { return Ok(KubeVersion::known_to(release.version)) };
    KubeVersion::read(text, release.version)
        .map_err(|error| error.prefix(format_args!("invalid kube version '{text}'")))
}

fn unknown_hook((path, words): &(String, String)) -> Warning {
    let message = format!("unknown hook event `{words}`: the document of {path} is left out");
    Warning::new(Code::UnknownHook, message)
}

/// Explains a value of a chart.
///
/// # Errors
/// If the chart or its values are invalid, with Helm's message.
pub(crate) fn explain(
    location: &ChartLocation,
    given: &Values,
    value: &str,
    version: HelmVersion,
) -> Result<(Explanation, Vec<Warning>)> {
    let mut warnings = Vec::new();
    let chart = location.load(version, &mut warnings)?;
    let explanation = with_options(&read_values, given, |options| {
        values::explain(&chart, options, value, version, &mut warnings)
    })?;
    Ok((explanation, warnings))
}

/// Explains a value of a chart that was rendered.
///
/// # Errors
/// If the path is none.
pub(crate) fn explain_rendered(inputs: &Inputs, value: &str) -> Result<Explanation> {
    let read = |name: &str| {
        let found = inputs.files.0.get(name).cloned();
        found.ok_or_else(|| Error::new(ErrorKind::Invalid, format!("`{name}` was not read")))
    };
    with_options(&read, &inputs.given, |options| {
        values::explain(&inputs.loaded.chart, options, value, inputs.version, &mut Vec::new())
    })
}

/// A release's name from a template, as `--name-template` gives it.
pub(crate) fn release_name(template: &str) -> Result<String> {
    let random = random();
    let options = gotemplate::Options { now: now(), random: Some(&random), ..gotemplate::Options::default() };
    helm_lite::release_name(template, &options)
}

/// Reads the files that the user names and hands on what the user gives.
fn with_options<T>(
    read: &ReadValues<'_>,
    given: &Values,
    run: impl FnOnce(&values::Options<'_>) -> Result<T, Error>,
) -> Result<T> {
    // `--values ""` names no file, as scripts have it for a variable that is not set.
    let names: Vec<&str> = given.files.iter().map(String::as_str).filter(|name| !name.is_empty()).collect();
    let data = names.iter().map(|name| read(name)).collect::<Result<Vec<_>>>()?;
    let files: Vec<ValuesFile<'_>> =
        names.into_iter().zip(&data).map(|(name, data)| ValuesFile { name, data }).collect();
    let read_file = |name: &str| -> Result<Vec<u8>, Error> {
        read(name).map_err(|error| Error::invalid(error.message()))
    };
    let options = values::Options {
        files: &files,
        json: &given.json,
        set: &given.set,
        string: &given.string,
        file: &given.file,
        literal: &given.literal,
        read_file: &read_file,
    };
    run(&options)
}

/// A file that the command line names; `-` is standard input.
pub(crate) fn read_values(name: &str) -> Result<Vec<u8>> {
    use std::io::Read as _;
    let refuse = |error: &std::io::Error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            Error::new(ErrorKind::Invalid, format!("open {name}: no such file or directory"))
        }
        _ => Error::io("read", Path::new(name), error),
    };
    let mut data = Vec::new();
    if name.trim() == "-" {
        std::io::stdin().take(MAX_VALUES_FILE).read_to_end(&mut data).map_err(|error| refuse(&error))?;
        return Ok(data);
    }
    let file = fs::File::open(name).map_err(|error| refuse(&error))?;
    file.take(MAX_VALUES_FILE + 1).read_to_end(&mut data).map_err(|error| refuse(&error))?;
    if data.len() as u64 > MAX_VALUES_FILE {
        return Err(Error::new(ErrorKind::Invalid, format!("`{name}` is too large for a values file")));
    }
    Ok(data)
}

fn refuse_library(chart: &Chart) -> Result<()> {
    match chart.metadata.kind.as_str() {
        "" | "application" => Ok(()),
        kind => Err(Error::new(ErrorKind::Invalid, format!("{kind} charts are not installable"))),
    }
}

/// The names of the charts that a chart declares to depend on and that are not in its `charts/`.
pub(crate) fn missing(chart: &Chart) -> Vec<&str> {
    let is_there = |name: &str| chart.dependencies.iter().any(|dependency| dependency.metadata.name == name);
    let declared = chart.metadata.dependencies.iter().map(|dependency| dependency.name.as_str());
    declared.filter(|name| !is_there(name)).collect()
}

/// Refuses a chart that lacks what it declares: the words are those that Argo CD looks for.
fn refuse_missing(chart: &Chart) -> Result<()> {
    let missing = missing(chart);
    if missing.is_empty() {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::Invalid,
        format!(
            "an error occurred while checking for chart dependencies. You may need to run 'helm dependency build' \
             to fetch missing dependencies: found in Chart.yaml, but missing in charts/ directory: {}",
            missing.join(", ")
        ),
    ))
}

/// Appends the advice that Helm gives for errors in rendered manifests.
fn advise_debug(error: Error) -> Error {
    let message = format!("{}{DEBUG_ADVICE}", error.message());
    error.with_message(message)
}

/// Refuses a chart that is for other versions of Kubernetes.
fn refuse_other_cluster(chart: &Chart, cluster: &KubeVersion) -> Result<(), Error> {
    let wanted = &chart.metadata.kube_version;
    let fits = || {
        let constraints = Constraints::parse(wanted).ok()?;
        Some(constraints.check(&Version::parse(&cluster.normalized).ok()?))
    };
    if wanted.is_empty() || fits().unwrap_or(false) {
        return Ok(());
    }
    let sentence = format!(
        "chart requires kubeVersion: {wanted} which is incompatible with Kubernetes {}",
        cluster.version
    );
    Err(Error::invalid(sentence))
}

fn has_schema(chart: &Chart) -> bool {
    chart.schema.is_some() || chart.dependencies.iter().any(has_schema)
}

fn is_notes(path: &str) -> bool {
    path.ends_with("NOTES.txt")
}

/// The files below `crds/`, those of a chart before those of the charts in it.
fn collect_crds(chart: &Chart, path: &str, crds: &mut Vec<(String, String)>) {
    let mut files: Vec<_> = chart.files.iter().filter(|file| file.is_crd()).collect();
    files.sort_by(|left, right| left.name.cmp(&right.name));
    crds.extend(files.into_iter().map(|file| (format!("{path}/{}", file.name), file.text())));
    for dependency in &chart.dependencies {
        collect_crds(dependency, &format!("{path}/charts/{}", dependency.metadata.name), crds);
    }
}

/// Templates within templates may use most of the stack that the main thread can get.
fn limits() -> Limits {
    let limits = Limits::default();
    if stack::let_main_grow() { Limits { stack: stack::DEEP / 4 * 3, ..limits } } else { limits }
}

/// Fills bytes from the system's source. Without one no chart with secrets may render.
pub(crate) fn random() -> impl Fn(&mut [u8]) {
    |bytes| getrandom::fill(bytes).expect("the system has a source of random bytes")
}

/// The time that it is.
pub(crate) fn now() -> Now {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Now { seconds: i64::try_from(since.as_secs()).unwrap_or(i64::MAX), nanoseconds: since.subsec_nanos() }
}

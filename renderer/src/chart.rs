//! Renders one chart: the engine with the disk, the clock, randomness and the time zone behind it.
//!
//! In: the path of a chart, values and what is said of the release. Out: what it renders to.

mod given;
pub(crate) mod lint;
pub(crate) mod places;

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use diagnostic::{Error, ErrorKind, Result};
use gotemplate::{Limits, Now};
use helm_lite::values::{self, Explanation, UserValues, ValuesFile};
use helm_lite::{Chart, Cluster, HelmVersion, KubeVersion, Options, Rendered};

pub use self::given::Values;
use self::places::Inputs;
use crate::charts::ChartLocation;
use crate::roots;
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
    /// The objects that `lookup` finds.
    pub(crate) cluster: Option<&'r Arc<Cluster>>,
}

/// Renders a chart.
///
/// # Errors
/// If the chart or its values are invalid, with Helm's message.
pub(crate) fn render(location: &ChartLocation, given: &Values, release: &Release<'_>) -> Result<Rendered> {
    kube_version(release)?;
    let user = user_values(given, release.version)?;
    detect(location)?;
    render_loaded(location.load(release.version)?, &user, release)
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
pub(crate) fn user_values(given: &Values, version: HelmVersion) -> Result<UserValues> {
    user_values_from(&read_values, given, version)
}

/// The same, where the values' files are not those that a command line names.
///
/// # Errors
/// If the chart or its values are invalid, with Helm's message.
pub(crate) fn user_values_from(
    read: &ReadValues<'_>,
    given: &Values,
    version: HelmVersion,
) -> Result<UserValues> {
    with_options(read, given, |options| values::merge(options, version))
}

/// Renders a chart that was read, with the values of a user.
///
/// # Errors
/// If the chart or its values are invalid, with Helm's message.
pub(crate) fn render_loaded(chart: Chart, user: &UserValues, release: &Release<'_>) -> Result<Rendered> {
    let random = random();
    let zone = std::env::var("TZ").unwrap_or_else(|_| "UTC".to_owned());
    let options = Options {
        release_name: release.name.to_owned(),
        namespace: release.namespace.unwrap_or("default").to_owned(),
        is_upgrade: release.is_upgrade,
        version: release.version,
        kube_version: kube_version(release)?,
        api_versions: release.api_versions.to_vec(),
        skip_schema_validation: !release.checks_schemas,
        now: now(),
        random: Some(&random),
        zone: &zone,
        cluster: release.cluster.cloned(),
        limits: limits(),
        ..Options::default()
    };
    chart.template(user, &options)
}

fn kube_version(release: &Release<'_>) -> Result<KubeVersion> {
    let Some(text) = release.kube_version else { return Ok(KubeVersion::known_to(release.version)) };
    KubeVersion::read(text, release.version)
        .map_err(|error| error.prefix(format_args!("invalid kube version '{text}'")))
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
) -> Result<Explanation> {
    let chart = location.load(version)?;
    with_options(&read_values, given, |options| values::explain(&chart, options, value, version))
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
        values::explain(&inputs.chart, options, value, inputs.version)
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
    roots::permit_file(Path::new(name)).map_err(|error| refuse(&error))?;
    let file = fs::File::open(name).map_err(|error| refuse(&error))?;
    file.take(MAX_VALUES_FILE + 1).read_to_end(&mut data).map_err(|error| refuse(&error))?;
    if data.len() as u64 > MAX_VALUES_FILE {
        return Err(Error::new(ErrorKind::Invalid, format!("`{name}` is too large for a values file")));
    }
    Ok(data)
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

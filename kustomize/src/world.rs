//! The seams to the outside: files, remote repositories, charts, functions. The engine itself touches none of them.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use diagnostic::Result;
use vfs::Files;
use yamltree::Location;

/// Access to remote resources.
pub trait Remote: Sync {
    /// The files of a repository at a revision, as a folder that [`Files`] can read.
    ///
    /// # Errors
    /// A sentence for the user.
    fn repository(&self, repository: &Repository) -> Result<PathBuf>;

    /// The body behind an `http(s)` address.
    ///
    /// # Errors
    /// A sentence for the user.
    fn file(&self, url: &str) -> Result<Arc<[u8]>>;
}

/// A git repository at a revision, as a resource entry names it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Repository {
    /// The URL for git: `https://github.com/org/repo.git`, `git@host:path`, `file:///srv/repo`.
    pub url: String,
    /// The branch, tag or commit; the remote's HEAD where absent.
    pub revision: Option<String>,
    /// Time one fetch may take.
    pub timeout: Duration,
    /// True if submodules are fetched too.
    pub submodules: bool,
}

impl Repository {
    /// Returns true if it is on this machine's disk.
    #[must_use]
    pub fn is_local(&self) -> bool {
        self.url.starts_with("file://")
    }
}

/// Renders the charts that a kustomization inflates.
pub trait ChartInflator: Sync {
    /// The files of a chart from a repository, as a folder that [`Files`] can read.
    ///
    /// # Errors
    /// A sentence for the user, without secrets.
    fn pull(&self, chart: &RemoteChart<'_>) -> Result<PathBuf>;

    /// The manifests of a chart, as `helm template` prints them.
    ///
    /// # Errors
    /// A sentence for the user.
    fn inflate(&self, chart: &Chart<'_>) -> Result<Inflated>;
}

/// A rendered chart.
#[derive(Clone, Debug)]
pub struct Inflated {
    /// The output of `helm template`.
    pub text: String,
    /// Maps the output to locations in templates, if available.
    pub places: Option<Arc<dyn TextPlaces>>,
}

/// Leads from a text that something made to what it was made of.
pub trait TextPlaces: fmt::Debug + Send + Sync {
    /// Returns where a run of bytes of the text was written.
    fn place(&self, start: u32, end: u32) -> Option<Location>;
}

impl From<String> for Inflated {
    fn from(text: String) -> Self {
        Self { text, places: None }
    }
}

/// A chart in a repository.
#[derive(Clone, Copy, Debug)]
pub struct RemoteChart<'a> {
    /// Its name there.
    pub name: &'a str,
    /// The repository: `https://…`, or `oci://…`.
    pub repo: &'a str,
    /// The version, or a range of versions; the newest where absent.
    pub version: Option<&'a str>,
    /// True if the newest may be a development version.
    pub devel: bool,
    /// The folder with Helm's configuration, from which credentials come.
    pub config_home: Option<&'a Path>,
}

/// One chart to inflate. Each field is a flag of `helm template`.
#[derive(Clone, Copy, Debug)]
pub struct Chart<'a> {
    /// The chart's name, for messages.
    pub name: &'a str,
    /// The folder that holds the chart.
    pub folder: &'a Path,
    /// The repository that the folder is in, where that came from a server: nothing outside of it may be read.
    pub repository: Option<&'a Path>,
    /// The name of the release; Helm's default where absent.
    pub release_name: Option<&'a str>,
    /// `--name-template`: a template for that name.
    pub name_template: Option<&'a str>,
    /// `--namespace`
    pub namespace: Option<&'a str>,
    /// `--values`, the later ones winning.
    pub values: &'a [Values],
    /// `--api-versions`
    pub api_versions: &'a [String],
    /// `--kube-version`
    pub kube_version: Option<&'a str>,
    /// `--include-crds`
    pub include_crds: bool,
    /// `--no-hooks`
    pub skip_hooks: bool,
    /// `--skip-tests`
    pub skip_tests: bool,
    /// `--debug`
    pub debug: bool,
    /// `--devel`
    pub devel: bool,
}

/// The text of a values file.
#[derive(Clone, Debug)]
pub struct Values {
    /// The path as the user would write it.
    pub name: String,
    /// Its YAML.
    pub text: Arc<str>,
}

/// Runs the functions that a kustomization names.
pub trait FunctionRunner: Sync {
    /// Runs a program with an input on its standard input and returns what it prints.
    ///
    /// # Errors
    /// A sentence for the user, with what the program wrote to its standard error.
    fn run(&self, function: &Function<'_>) -> Result<String, String>;
}

/// One run of a function.
#[derive(Clone, Copy, Debug)]
pub struct Function<'a> {
    /// The program.
    pub program: &'a Path,
    /// Its arguments.
    pub arguments: &'a [String],
    /// Variables to add to its environment.
    pub environment: &'a [(String, String)],
    /// The folder it runs in.
    pub directory: &'a Path,
    /// A `ResourceList`.
    pub input: &'a str,
}

/// The environment of a build. A kustomization that requires a missing part is an error.
#[derive(Clone, Copy)]
pub struct World<'a> {
    /// The files.
    pub files: &'a dyn Files,
    /// Remote repositories and files.
    pub remote: Option<&'a dyn Remote>,
    /// Charts.
    pub charts: Option<&'a dyn ChartInflator>,
    /// Functions by exec.
    pub functions: Option<&'a dyn FunctionRunner>,
}

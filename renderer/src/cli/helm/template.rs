//! `renderer helm template`: one chart, with the flags and habits of helm.

use std::fmt::Write as _;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use clap::builder::{OsStringValueParser, TypedValueParser as _};
use diagnostic::{Error, ErrorKind, Result};
use helm_lite::manifest::{self, RenderedFile};
use helm_lite::{HelmVersion, Selection, Text, push_document};
use kustomize::Function;

use super::flags::InertFlags;
use super::source::{AccessFlags, HomeFlags, SourceFlags};
use super::talk;
use super::values::ValueFlags;
use crate::chart::{self, DEFAULT_NAME, Release};
use crate::charts::ChartLocation;
use crate::cluster;
use crate::dependencies::Manager;
use crate::functions::Programs;
use crate::output;
use crate::report::Reporter;

pub(super) const EXAMPLES: &str = "\
Examples:
  # a chart in a folder, as the release `web`
  renderer helm template web charts/web

  # with values
  renderer helm template web charts/web -f envs/prod.yaml --set image.tag=1.2.3

  # a chart in a repository, and one in a registry
  renderer helm template web web --repo https://charts.example.com --version 1.2.3
  renderer helm template web oci://registry.example.com/charts/web --version 1.2.3

  # one template of it
  renderer helm template web charts/web -s templates/deployment.yaml

  # with what a cluster has
  kubectl get secrets,configmaps -A -o yaml > objects.yaml
  renderer helm template web charts/web --lookup-from objects.yaml";

#[derive(Args, Debug)]
#[command(mut_args = super::flags::go_switch)]
pub(in crate::cli) struct Arguments {
    /// The release's name, if given, and the chart: a folder, an archive, or as for `helm pull`
    #[arg(value_name = "[NAME] CHART", required = true, num_args = 1..)]
    names: Vec<String>,

    /// The release's namespace
    #[arg(short, long, value_name = "NAMESPACE")]
    namespace: Option<String>,

    #[command(flatten)]
    values: ValueFlags,

    /// Print the chart's CRDs too
    #[arg(long)]
    include_crds: bool,

    /// No effect: CRDs are printed where `--include-crds` asks for them
    #[arg(long)]
    skip_crds: bool,

    /// Leave hooks out
    #[arg(long)]
    no_hooks: bool,

    /// Leave tests out
    #[arg(long)]
    skip_tests: bool,

    /// Print only what these templates render to; patterns are allowed (repeatable)
    #[arg(short, long, value_name = "TEMPLATE")]
    show_only: Vec<String>,

    /// API versions that the cluster has beside Kubernetes' own (repeatable, or several with commas)
    #[arg(short, long, value_name = "VERSION", value_delimiter = ',')]
    api_versions: Vec<String>,

    /// The cluster's version
    #[arg(long, value_name = "VERSION")]
    kube_version: Option<String>,

    /// Render as an upgrade and not as an installation
    #[arg(long)]
    is_upgrade: bool,

    /// The release's name, as a template
    #[arg(long, value_name = "TEMPLATE")]
    name_template: Option<String>,

    /// Write a file for each template into this folder
    #[arg(long, value_name = "FOLDER", value_parser = OsStringValueParser::new().map(PathBuf::from))]
    output_dir: Option<PathBuf>,

    /// Put the release's name into the paths below `--output-dir`
    #[arg(long)]
    release_name: bool,

    /// Do not check values against the chart's schemas
    #[arg(long)]
    skip_schema_validation: bool,

    /// Take the release's name from `--name-template`, or `release-name`
    #[arg(short, long)]
    generate_name: bool,

    /// Render without a cluster, which is all that there is: `client`
    #[arg(long, value_name = "MODE", num_args = 0..=1, require_equals = true, default_missing_value = "client")]
    dry_run: Option<String>,

    /// Needs a cluster, so it is refused
    #[arg(long, conflicts_with = "dry_run")]
    validate: bool,

    /// Print what was rendered even if it is no YAML
    #[arg(long)]
    debug: bool,

    /// Answer `lookup` from the Kubernetes objects in this file, or in the files of this folder (repeatable)
    #[arg(long, value_name = "PATH")]
    lookup_from: Vec<PathBuf>,

    /// Print what this program makes of the manifests: it reads them on its standard input, hooks too
    #[arg(long, value_name = "PROGRAM", conflicts_with_all = ["output_dir", "show_only"])]
    post_renderer: Option<PathBuf>,

    /// An argument for that program (repeatable)
    #[arg(long, value_name = "ARGUMENT", requires = "post_renderer", allow_hyphen_values = true)]
    post_renderer_args: Vec<String>,

    /// The generation of helm to render as
    #[arg(long, value_name = "3|4", default_value = "4", value_parser = ["3", "4"])]
    helm_version: String,

    /// Get dependencies that are missing, as `helm dependency update` does: it writes `charts/` and the lock
    #[arg(long)]
    dependency_update: bool,

    #[command(flatten)]
    source: SourceFlags,

    #[command(flatten)]
    access: AccessFlags,

    #[command(flatten)]
    home: HomeFlags,

    /// Make warnings errors
    #[arg(long)]
    strict: bool,

    /// Leave out warnings
    #[arg(short, long)]
    quiet: bool,

    #[command(flatten)]
    inert: InertFlags,
}

pub(super) fn run(arguments: &Arguments, reporter: &mut Reporter) -> Result<()> {
    reporter.set_quiet(arguments.quiet);
    arguments.refuse_cluster()?;
    let (name, path) = arguments.name_and_chart()?;
    let cluster = match arguments.lookup_from.as_slice() {
        [] => None,
        paths => Some(Arc::new(cluster::read(paths)?)),
    };
    let release = Release {
        name: &name,
        namespace: arguments.namespace.as_deref(),
        is_upgrade: arguments.is_upgrade,
        kube_version: arguments.kube_version.as_deref().filter(|version| !version.is_empty()),
        api_versions: &arguments.api_versions,
        version: if arguments.helm_version == "3" { HelmVersion::V3 } else { HelmVersion::V4 },
        checks_schemas: !arguments.skip_schema_validation,
        cluster: cluster.as_ref(),
    };
    let chart = arguments.source.locate(path, &arguments.access, &arguments.home, reporter)?;
    arguments.update_dependencies(&chart)?;
    let mut rendered = chart::render(&chart, &arguments.values.given(), &release)?;
    if !arguments.debug {
        rendered = rendered.complete().map_err(advise_debug)?;
    }
    reporter.warnings(&rendered.warnings);
    if arguments.strict && !rendered.warnings.is_empty() {
        return Err(Error::new(ErrorKind::Invalid, "there are warnings, and `--strict` makes them errors"));
    }
    let text = rendered.text(Selection {
        crds: arguments.include_crds,
        hooks: !arguments.no_hooks,
        tests: !arguments.skip_tests,
    });
    let chosen = || {
        if arguments.show_only.is_empty() { Ok(text.whole()) } else { text.only(&arguments.show_only) }
    };
    if let Some(fault) = &rendered.fault {
        output::to_stdout(&chosen().unwrap_or_default())?;
        return Err(fault.clone());
    }
    if let Some(program) = &arguments.post_renderer {
        return output::to_stdout(&post_rendered(&text.whole(), program, &arguments.post_renderer_args)?);
    }
    match arguments.output_dir.as_deref().filter(|folder| !folder.as_os_str().is_empty()) {
        Some(folder) => write_files(text, folder, arguments.release_name.then_some(name.as_str())),
        None => output::to_stdout(&chosen()?),
    }
}

/// Appends the advice that Helm gives if it has a release whose manifests `--debug` prints.
fn advise_debug(error: Error) -> Error {
    let message = format!("{}\n\nUse --debug flag to render out invalid YAML", error.message());
    error.with_message(message)
}

impl Arguments {
    /// Updates dependencies; messages go to standard error, as they are not manifests.
    fn update_dependencies(&self, chart: &ChartLocation) -> Result<()> {
        let ChartLocation::Disk(folder) = chart else { return Ok(()) };
        if !self.dependency_update {
            return Ok(());
        }
        let (sources, access) = (self.home.sources(), self.access.access());
        Manager::new(&sources, folder, &access, true)?.update_missing(&mut talk::aside)
    }

    fn name_and_chart(&self) -> Result<(String, &str)> {
        let refuse = |sentence: String| Err(Error::new(ErrorKind::Usage, sentence));
        let template = self.name_template.as_deref().filter(|template| !template.is_empty());
        match (self.names.as_slice(), template) {
            ([_, _], _) if self.generate_name => {
                refuse("cannot set --generate-name and also specify a name".to_owned())
            }
            ([_, _], Some(_)) => refuse("cannot set --name-template and also specify a name".to_owned()),
            ([name, chart], None) => Ok((name.clone(), chart)),
            ([chart], Some(template)) => Ok((chart::release_name(template)?, chart)),
            ([chart], None) => Ok((DEFAULT_NAME.to_owned(), chart)),
            (names, _) => {
                let others = names.get(2..).unwrap_or_default().join(", ");
                refuse(format!("expected at most two arguments, unexpected arguments: {others}"))
            }
        }
    }

    /// Refuses what would ask a cluster.
    fn refuse_cluster(&self) -> Result<()> {
        let flag = match self.dry_run.as_deref() {
            None | Some("client" | "true" | "unset") if self.validate => "--validate",
            None | Some("client" | "true" | "unset") => return Ok(()),
            Some("server") => "--dry-run=server",
            Some(mode) => {
                let sentence = format!("invalid dry-run value ({mode:?}). Must be \"server\" or \"client\"");
                return Err(Error::new(ErrorKind::Usage, sentence));
            }
        };
        Err(Error::new(ErrorKind::Usage, format!("`{flag}` needs a cluster, and this renders without one")))
    }
}

/// Returns what a program makes of the manifests, which must be manifests too.
fn post_rendered(manifests: &str, program: &Path, arguments: &[String]) -> Result<String> {
    let directory = Path::new(".");
    let run = Function { program, arguments, environment: &[], directory, input: manifests };
    let text = Programs::default()
        .pipe("post-renderer", &run)
        .map_err(|sentence| Error::new(ErrorKind::Invalid, sentence))?;
    let file = RenderedFile::new(program.display().to_string(), text);
    manifest::sort(std::slice::from_ref(&file), HelmVersion::default()).map_err(|error| {
        error.prefix(format_args!("the post-renderer `{}` did not print a manifest", file.path))
    })?;
    Ok(file.text)
}

/// Writes a file for each template below a folder, each whole, and a line for each document.
fn write_files(text: Text<'_>, folder: &Path, release: Option<&str>) -> Result<()> {
    let templates = release.map_or_else(|| folder.to_path_buf(), |name| folder.join(name));
    let crds = text.crds().iter().map(|(path, text)| (folder.join(path), path, text));
    let documents = text.manifests().iter().chain(text.hooks().map(|hook| &hook.manifest));
    let others = documents.map(|document| (templates.join(&document.path), &document.path, &document.text));
    let mut files: Vec<(PathBuf, String)> = Vec::new();
    let mut wrote = String::new();
    for (file, path, text) in crds.chain(others) {
        if Path::new(path).components().any(|part| !matches!(part, Component::Normal(_))) {
            return Err(Error::new(ErrorKind::Invalid, format!("`{path}` leads out of the folder")));
        }
        let _ = writeln!(wrote, "wrote {}", file.display());
        match files.iter_mut().find(|(known, _)| *known == file) {
            Some((_, content)) => push_document(content, path, text),
            None => {
                let mut content = String::new();
                push_document(&mut content, path, text);
                files.push((file, content));
            }
        }
    }
    for (file, content) in &files {
        output::put_below(folder, file, content.as_bytes())?;
    }
    wrote.push('\n');
    output::to_stdout(&wrote)
}

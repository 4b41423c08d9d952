//! `renderer helm template`: one chart, with the flags and habits of helm.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Component, Path, PathBuf};

use clap::Args;
use helm_lite::HelmVersion;

use super::source::{AccessFlags, HomeFlags, SourceFlags};
use super::values::ValueFlags;
use crate::chart::text::{Selection, Text, push_document};
use crate::chart::{self, DEFAULT_NAME, Release};
use crate::error::{Error, ErrorKind, Result};
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
  renderer helm template web charts/web -s templates/deployment.yaml";

#[derive(Args, Debug)]
pub(in crate::cli) struct Arguments {
    /// The release's name, if given, and the chart: a folder, an archive, or as for `helm pull`
    #[arg(value_name = "[NAME] CHART", required = true, num_args = 1..=2)]
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
    #[arg(long, value_name = "FOLDER")]
    output_dir: Option<PathBuf>,

    /// Put the release's name into the paths below `--output-dir`
    #[arg(long)]
    release_name: bool,

    /// Do not check values against the chart's schemas
    #[arg(long)]
    skip_schema_validation: bool,

    /// Needs a cluster, so it is refused
    #[arg(long)]
    validate: bool,

    /// The generation of helm to render as
    #[arg(long, value_name = "3|4", default_value = "4", value_parser = ["3", "4"])]
    helm_version: String,

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
}

pub(super) fn run(arguments: &Arguments, reporter: &mut Reporter) -> Result<()> {
    reporter.set_quiet(arguments.quiet);
    if arguments.validate {
        return Err(Error::new(
            ErrorKind::Usage,
            "`--validate` needs a cluster, and this renders without one",
        ));
    }
    let (name, path) = arguments.name_and_chart()?;
    let release = Release {
        name: &name,
        namespace: arguments.namespace.as_deref(),
        is_upgrade: arguments.is_upgrade,
        kube_version: arguments.kube_version.as_deref(),
        api_versions: &arguments.api_versions,
        version: if arguments.helm_version == "3" { HelmVersion::V3 } else { HelmVersion::V4 },
        checks_schemas: !arguments.skip_schema_validation,
    };
    let chart = arguments.source.locate(path, &arguments.access, &arguments.home, reporter)?;
    let rendered = chart::render(&chart, &arguments.values.given(), &release)?;
    reporter.warnings(&rendered.warnings);
    if arguments.strict && !rendered.warnings.is_empty() {
        return Err(Error::new(ErrorKind::Input, "there are warnings, and `--strict` makes them errors"));
    }
    let text = rendered.text(Selection {
        crds: arguments.include_crds,
        hooks: !arguments.no_hooks,
        tests: !arguments.skip_tests,
    });
    match &arguments.output_dir {
        Some(folder) => write_files(text, folder, arguments.release_name.then_some(name.as_str())),
        None if arguments.show_only.is_empty() => output::to_stdout(&text.whole()),
        None => output::to_stdout(&text.only(&arguments.show_only)?),
    }
}

impl Arguments {
    fn name_and_chart(&self) -> Result<(String, &str)> {
        match (self.names.as_slice(), &self.name_template) {
            ([_, _], Some(_)) => {
                Err(Error::new(ErrorKind::Usage, "cannot set --name-template and also specify a name"))
            }
            ([name, chart], None) => Ok((name.clone(), chart)),
            ([chart], Some(template)) => Ok((chart::release_name(template)?, chart)),
            ([chart], None) => Ok((DEFAULT_NAME.to_owned(), chart)),
            _ => Err(Error::new(ErrorKind::Usage, "name a chart")),
        }
    }
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
            return Err(Error::new(ErrorKind::Input, format!("`{path}` leads out of the folder")));
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
    let folders: BTreeSet<&Path> = files.iter().filter_map(|(file, _)| file.parent()).collect();
    for folder in folders {
        fs::create_dir_all(folder).map_err(|error| Error::io("make", folder, &error))?;
    }
    for (file, content) in &files {
        output::replace(file, content.as_bytes())?;
    }
    wrote.push('\n');
    output::to_stdout(&wrote)
}

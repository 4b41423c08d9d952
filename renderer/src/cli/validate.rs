//! `renderer validate`: manifests held against the schemas of their kinds.

use std::path::PathBuf;

use clap::Args;
use diagnostic::Result;
use findings::Severity;

use super::findings::{FindingFormat, Verdict};
use super::flags::BuildFlags;
use crate::chart_target::ChartOptions;
use crate::config::Config;
use crate::definitions;
use crate::manifests;
use crate::render::Renderer;
use crate::report::Reporter;
use crate::roots;
use crate::validate::{Catalog, Validator};

const EXAMPLES: &str = "\
Examples:
  # what an overlay and a chart render to
  renderer validate overlays/prod charts/web --kube-version 1.34

  # manifests that something else made
  helm template web charts/web | renderer validate -

  # custom resources against the CRDs of an operator, and a catalog of schemas
  renderer validate overlays/prod --crds vendor/operator/crds --schemas schemas/catalog

  # for a pull request
  renderer validate apps/*/overlays/* -o github";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Kustomizations, charts, or files and folders of manifests; `-` is standard input
    #[arg(value_name = "TARGET", required = true)]
    targets: Vec<PathBuf>,

    /// The version of Kubernetes; the newest that is known by default
    #[arg(long, value_name = "VERSION")]
    kube_version: Option<String>,

    /// A file or folder with CustomResourceDefinitions; the repository of the working directory by default
    #[arg(long, value_name = "PATH")]
    crds: Vec<PathBuf>,

    /// A folder of JSON schemas, as {{.Group}}/{{.ResourceKind}}_{{.ResourceAPIVersion}}.json or by a pattern of paths
    #[arg(long, value_name = "FOLDER")]
    schemas: Vec<String>,

    /// Fail where there is no schema for a kind
    #[arg(long)]
    require_schemas: bool,

    /// The format of what is found
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    output: FindingFormat,

    #[command(flatten)]
    flags: BuildFlags,
}

pub(super) fn run(arguments: &Arguments, reporter: &mut Reporter) -> Result<()> {
    let catalogs = arguments.schemas.iter().map(|text| Catalog::new(text)).collect::<Result<Vec<_>>>()?;
    let version = arguments.kube_version.as_deref();
    let mut validator = Validator::new(version, catalogs, arguments.require_schemas)?;
    let charts = ChartOptions {
        kube_version: arguments.kube_version.clone().or_else(|| arguments.flags.helm_kube_version.clone()),
        api_versions: arguments.flags.helm_api_versions.clone(),
        include_crds: true,
        ..ChartOptions::default()
    };
    let named = arguments.targets.iter().chain(&arguments.crds).map(PathBuf::as_path);
    let roots = roots::of_repository(arguments.flags.root.as_deref(), named);
    let config = Config { charts, ..Config::new(&arguments.flags, reporter)? };
    let renderer = Renderer::new(config.confined_to(Some(roots))).with_places();
    let mut verdict = Verdict::default();
    let mut checked = Vec::new();
    for target in &arguments.targets {
        let name = target.display().to_string();
        match manifests::read(target, &renderer) {
            Ok(objects) => {
                objects.iter().for_each(|object| validator.learn(object.node()));
                checked.push((name, objects));
            }
            Err(error) => reporter.error(&error, Some(&name)),
        }
    }
    // What is rendered together comes first: it is what the cluster will have.
    let folders =
        if arguments.crds.is_empty() { definitions::default_folders() } else { arguments.crds.clone() };
    for folder in &folders {
        for object in definitions::find(folder)? {
            validator.learn(object.node());
        }
    }
    for (name, objects) in checked {
        verdict.add(&name, validator.check(&name, &objects)?);
    }
    verdict.print(arguments.output, reporter)?;
    verdict.fail_from(Severity::Error, reporter);
    Ok(())
}

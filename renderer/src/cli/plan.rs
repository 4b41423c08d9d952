//! `renderer plan`: the order in which Argo CD applies manifests.
//!
//! In: manifests that are rendered already. Out: their phases and waves, as JSON for machines and as a table on a
//! terminal, with warnings of what Argo CD would pass over in silence.

use std::collections::BTreeMap;
use std::io::{self, IsTerminal};
use std::path::PathBuf;

use argocd::objects::{Destination, Method, Pipeline, Processed, ResourceFilter, Tracking};
use argocd::sync::{Options, Plan};
use clap::{Args, ValueEnum};
use diagnostic::Result;
use vfs::Disk;

use crate::manifests;
use crate::output;
use crate::report::Reporter;
use crate::roots;

const EXAMPLES: &str = "\
Examples:
  # what a chart's hooks and waves come to
  renderer helm template web charts/web | renderer plan -

  # everything that is in a folder
  renderer plan rendered/prod

  # what a change adds, moves and deletes
  renderer kustomize build overlays/prod | renderer plan - --previous rendered/prod.yaml

  # for a script
  renderer plan rendered/prod.yaml -o json | jq -r '.[] | select(.phase == \"Never\") | .name'";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Files of manifests, or folders whose `.yaml`, `.yml` and `.json` files are read; `-` is standard input
    #[arg(value_name = "FILE", required = true)]
    manifests: Vec<PathBuf>,

    /// The format; a table on a terminal, JSON elsewhere
    #[arg(short, long, value_name = "FORMAT")]
    output: Option<Format>,

    /// The Application's destination namespace, for objects without one
    #[arg(short, long, value_name = "NAMESPACE", default_value = "", hide_default_value = true)]
    namespace: String,

    /// Make the destination namespace, as with `CreateNamespace=true`
    #[arg(long, requires = "namespace")]
    create_namespace: bool,

    /// The manifests that are applied now; what is not among the new ones is deleted
    #[arg(long, value_name = "FILE")]
    previous: Vec<PathBuf>,

    /// Delete after everything else, as with `PruneLast=true`
    #[arg(long, requires = "previous")]
    prune_last: bool,
}

#[derive(ValueEnum, Clone, Copy, Debug)]
enum Format {
    Json,
    Table,
}

pub(super) fn run(arguments: &Arguments, reporter: &mut Reporter) -> Result<()> {
    let new = settled(&arguments.manifests, &arguments.namespace)?;
    let old = settled(&arguments.previous, &arguments.namespace)?;
    reporter.warnings(&new.warnings);
    let options = Options {
        namespace: &arguments.namespace,
        create_namespace: arguments.create_namespace,
        old: &old.objects,
        prune_last: arguments.prune_last,
        excluded: &new.excluded,
    };
    let plan = Plan::new(&new.objects, &options);
    reporter.warnings(&plan.warnings);
    let is_table = match arguments.output {
        Some(format) => matches!(format, Format::Table),
        None => io::stdout().is_terminal(),
    };
    output::to_stdout(&if is_table { plan.to_table() } else { plan.to_json()? })
}

/// The objects of files as the controller would compare them, but without what it writes on them.
fn settled(paths: &[PathBuf], namespace: &str) -> Result<Processed> {
    let disk = Disk::confined(roots::of_repository(None, paths.iter().map(PathBuf::as_path)));
    let mut objects = Vec::new();
    for path in paths {
        objects.extend(manifests::plain(path, &disk)?);
    }
    let pipeline = Pipeline {
        tracking: Tracking::new(&BTreeMap::new(), String::new(), Some(Method::None)),
        destination: Destination { server: String::new(), namespace: namespace.to_owned() },
        filter: ResourceFilter::default(),
    };
    pipeline.run(objects)
}

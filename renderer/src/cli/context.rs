//! `renderer context export`: a context file out of what `kubectl` and `argocd` print.

use std::path::{Path, PathBuf};

use argocd::Repositories;
use argocd::export::{Export, IN_CLUSTER};
use clap::{Args, Subcommand};
use diagnostic::{Error, ErrorKind, Result};
use vfs::{Disk, Files};
use yamlserde::YamlFile;

use crate::argocd::KnownWorld;
use crate::manifests;
use crate::output;
use crate::report::Reporter;

#[derive(Subcommand, Debug)]
pub(super) enum Command {
    /// Make a context file of what kubectl and argocd print of a running Argo CD
    #[command(after_help = EXAMPLES)]
    Export(Arguments),
}

const EXAMPLES: &str = "\
Examples:
  # clusters, repositories, projects and settings
  kubectl -n argocd get secrets,configmap/argocd-cm,appprojects -o yaml | renderer context export - > renderer-context.yaml

  # and what the cluster of kubectl serves
  kubectl version -o json > version.json && kubectl api-resources > resources.txt
  renderer context export argocd.yaml version.json resources.txt > renderer-context.yaml

  # with the rights of an Argo CD user alone
  argocd cluster list -o json > clusters.json && argocd proj list -o json > projects.json
  renderer context export clusters.json projects.json > renderer-context.yaml

No credential is taken over: of Secrets only names, addresses, labels and annotations are read.";

#[derive(Args, Debug)]
pub(super) struct Arguments {
    /// Output of the printed commands, in any order; `-` is standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,

    /// The cluster that `kubectl version`, `api-versions` and `api-resources` speak of
    #[arg(long, value_name = "NAME", default_value = IN_CLUSTER)]
    cluster: String,
}

pub(super) fn run(command: &Command, reporter: &mut Reporter) -> Result<()> {
    let Command::Export(arguments) = command;
    let mut export = Export::default();
    for file in &arguments.files {
        let name = file.display().to_string();
        export.add(&YamlFile::new(&name, &read(file)?))?;
    }
    std::mem::take(&mut export.notices).iter().for_each(|notice| reporter.notice(notice));
    let here = repositories()?;
    let file = export.into_file(&arguments.cluster, |url| here.has(url).then(|| ".".to_owned()));
    output::to_stdout(&file)
}

/// The repository that the working directory is in.
fn repositories() -> Result<Repositories> {
    let disk = Disk::new();
    Ok(KnownWorld::of_checkout(disk.working_directory()).repositories)
}

fn read(path: &Path) -> Result<String> {
    let failed = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            Error::new(ErrorKind::Invalid, format!("the file `{}` does not exist", path.display()))
        }
        _ => Error::io("read", path, &error),
    };
    let bytes = if path == Path::new(manifests::STDIN) {
        manifests::standard_input()?
    } else {
        let disk = Disk::new();
        let (real, _) = disk.resolve(path).map_err(failed)?;
        disk.read(&real).map_err(failed)?.to_vec()
    };
    String::from_utf8(bytes)
        .map_err(|_| Error::new(ErrorKind::Invalid, format!("`{}` is not valid UTF-8", path.display())))
}

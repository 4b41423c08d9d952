//! `renderer helm pull`: charts from repositories and registries, as archives or as folders.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use diagnostic::{Error, ErrorKind, Result};
use helm_lite::{Chart, HelmVersion, archive};

use super::flags::GlobalFlags;
use super::source::{AccessFlags, HomeFlags, SourceFlags, refuse_verification};
use crate::output;
use crate::remote::charts::Pulled;
use crate::report::Reporter;

pub(super) const EXAMPLES: &str = "\
Examples:
  # the newest release of a chart in a repository
  renderer helm pull web --repo https://charts.example.com

  # a version of it from a repository that was added, as a folder
  renderer helm pull example/web --version 1.2.3 --untar

  # from a registry, into another folder
  renderer helm pull oci://registry.example.com/charts/web --version '^1.2' -d archives";

#[derive(Args, Debug)]
#[command(mut_args = super::flags::go_switch)]
pub(in crate::cli) struct Arguments {
    /// `repository/chart`, `https://…/chart.tgz` or `oci://…`; with `--repo` the chart's name
    #[arg(value_name = "CHART", required = true)]
    charts: Vec<String>,

    #[command(flatten)]
    source: SourceFlags,

    /// Directory of archives
    #[arg(short, long, value_name = "FOLDER", default_value = ".")]
    destination: PathBuf,

    /// Unpack each chart into a folder of its name and keep no archive
    #[arg(long)]
    untar: bool,

    /// Directory of unpacked charts, relative to the destination
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    untardir: PathBuf,

    /// Refused: signatures are not verified
    #[arg(long)]
    prov: bool,

    #[command(flatten)]
    access: AccessFlags,

    #[command(flatten)]
    home: HomeFlags,

    #[command(flatten)]
    global: GlobalFlags,
}

pub(super) fn run(arguments: &Arguments, reporter: &mut Reporter) -> Result<()> {
    refuse_verification(arguments.source.verifies())?;
    if arguments.prov {
        return Err(Error::new(
            ErrorKind::Usage,
            "`--prov` is not supported: chart signatures are not verified",
        ));
    }
    let sources = arguments.home.sources();
    let access = arguments.access.access();
    let pull = |reference: &String| arguments.source.pull(&sources, reference, &access);
    let pulled = arguments.charts.iter().map(pull).collect::<Result<Vec<_>>>()?;
    for notice in pulled.iter().filter_map(|pulled| pulled.notice.as_deref()) {
        reporter.notice(notice);
    }
    pulled.iter().try_for_each(|pulled| arguments.write(pulled))?;
    let artifacts = pulled.iter().filter_map(|pulled| pulled.artifact.as_ref());
    let said: String =
        artifacts.map(|(reference, digest)| format!("Pulled: {reference}\nDigest: {digest}\n")).collect();
    output::to_stdout(&said)
}

impl Arguments {
    fn write(&self, pulled: &Pulled) -> Result<()> {
        if self.untar {
            let folder = self.destination.join(&self.untardir);
            return unpack(pulled, &folder.components().collect::<PathBuf>());
        }
        if !self.destination.is_dir() {
            let sentence = format!("the directory `{}` does not exist", self.destination.display());
            return Err(Error::new(ErrorKind::Invalid, sentence).hint("make it, or name another with -d"));
        }
        output::put(&self.destination.join(&pulled.file_name), &pulled.bytes)
    }
}

/// Makes a chart's folder, all of it or nothing.
fn unpack(pulled: &Pulled, parent: &Path) -> Result<()> {
    let refuse =
        |reason| Error::new(ErrorKind::Invalid, format!("cannot unpack `{}`: {reason}", pulled.file_name));
    let files = archive::files(&pulled.bytes).map_err(refuse)?;
    let metadata = files.iter().filter(|file| file.name == "Chart.yaml").cloned().collect();
    let name = Chart::load(metadata, &pulled.file_name, HelmVersion::V4)?.metadata.name;
    let folder = parent.join(&name);
    if fs::symlink_metadata(&folder).is_ok() {
        let sentence =
            format!("failed to untar: a file or directory with the name {} already exists", folder.display());
        return Err(Error::new(ErrorKind::Invalid, sentence));
    }
    let make = |path: &Path| {
        fs::create_dir_all(path).map_err(|error| Error::disk("create the directory", path, &error))
    };
    make(parent)?;
    let staging = tempfile::Builder::new().prefix(".renderer-").tempdir_in(parent);
    let staging = staging.map_err(|error| Error::disk("create a directory in", parent, &error))?;
    let staged = staging.path().join(&name);
    for file in files {
        let path = staged.join(&file.name);
        make(path.parent().unwrap_or(&staged))?;
        fs::write(&path, &file.data).map_err(|error| Error::disk("write", &path, &error))?;
    }
    fs::rename(&staged, &folder).map_err(|error| Error::disk("write", &folder, &error))
}

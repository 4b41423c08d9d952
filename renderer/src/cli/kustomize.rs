//! `renderer kustomize`: the commands of kustomize, with its flags and habits.

mod edit;
mod paths;
mod version;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use diagnostic::Result;

use super::flags::BuildFlags;
use crate::config::Config;
use crate::output::{self, Format};
use crate::render::Renderer;
use crate::report::Reporter;
use crate::roots;

#[derive(Subcommand, Debug)]
#[command(defer = true)]
pub(super) enum Command {
    /// Build a kustomization and print its manifests
    #[command(after_help = EXAMPLES)]
    Build(Box<Arguments>),
    /// Edit the kustomization file in this folder
    #[command(subcommand)]
    Edit(edit::Command),
    /// Print the version of Kustomize that is built as
    #[command(after_help = version::EXAMPLES)]
    Version(version::Arguments),
}

pub(super) fn run(command: Command, reporter: &mut Reporter) -> Result<()> {
    match command {
        Command::Build(arguments) => build(&arguments, reporter),
        Command::Edit(command) => edit::run(&command, reporter),
        Command::Version(arguments) => version::run(&arguments),
    }
}

const EXAMPLES: &str = "\
Examples:
  # the kustomization in this folder
  renderer kustomize build

  # an overlay, straight to the cluster
  renderer kustomize build overlays/prod | kubectl apply -f -

  # an overlay in a repository, at a tag
  renderer kustomize build 'https://example.com/org/repo.git//overlays/prod?ref=v1.2.0'

  # one file for each resource
  mkdir out && renderer kustomize build overlays/prod -o out";

#[derive(Args, Debug)]
pub(super) struct Arguments {
    /// The folder with the kustomization, or the address of one in a git repository
    #[arg(value_name = "DIR", default_value = ".", hide_default_value = true)]
    target: PathBuf,

    /// Write to this file, or one file for each resource into this folder; the words `json` and `yaml` mean a format
    /// instead (write `./json` for a file of that name)
    #[arg(short, long, value_name = "PATH|FORMAT")]
    output: Option<OsString>,

    #[command(flatten)]
    flags: BuildFlags,
}

/// The destination of the manifests.
enum Destination<'a> {
    Stdout(Format),
    Path(&'a Path),
}

impl Arguments {
    fn destination(&self) -> Destination<'_> {
        match self.output.as_deref() {
            None => Destination::Stdout(Format::Yaml),
            // As with kustomize, an empty path is none.
            Some(word) if word.is_empty() || word == "yaml" => Destination::Stdout(Format::Yaml),
            Some(word) if word == "json" => Destination::Stdout(Format::Json),
            Some(path) => Destination::Path(Path::new(path)),
        }
    }
}

fn build(arguments: &Arguments, reporter: &mut Reporter) -> Result<()> {
    let config = Config::new(&arguments.flags, reporter)?;
    let strict = config.strict;
    let roots = roots::of_targets(arguments.flags.root.as_deref(), [arguments.target.as_path()]);
    let renderer = Renderer::new(config.confined_to(roots));
    let built = renderer.render_on_main(&arguments.target)?;
    let warnings = built.warnings();
    warnings.report(reporter);
    if strict {
        warnings.refuse()?;
    }
    match arguments.destination() {
        Destination::Stdout(format) => output::to_stdout(&built.text(format)?)?,
        Destination::Path(path) if path.is_dir() => output::to_folder(path, &built.output)?,
        Destination::Path(path) => output::replace(path, built.output.yaml().as_bytes())?,
    }
    // The process ends here; taking large trees apart node by node would only keep the user waiting.
    std::mem::forget((renderer, built));
    Ok(())
}

//! `renderer kustomize edit remove`.

use clap::{Args, Subcommand};
use diagnostic::{Error, ErrorKind, Result};
use glob::path_match;
use kustomize_edit::{Generator, List};

use super::set::Options;
use super::{PatchFlags, edit, usage};
use crate::cli::helm::flags::go_switch;
use crate::report::Reporter;

const RESOURCE_EXAMPLES: &str = "\
Examples:
  renderer kustomize edit remove resource deployment.yaml 'routes/*.yaml'";

const LABEL_EXAMPLES: &str = "\
Examples:
  renderer kustomize edit remove label app,team";

#[derive(Subcommand, Debug)]
#[command(defer = true)]
pub(in crate::cli) enum Command {
    /// Remove annotations from commonAnnotations
    Annotation(Keys),
    /// Remove options from buildMetadata
    #[command(name = "buildmetadata")]
    BuildMetadata(Options),
    /// Remove generators of ConfigMaps
    #[command(name = "configmap")]
    ConfigMap(Names),
    /// Remove labels from commonLabels
    #[command(after_help = LABEL_EXAMPLES)]
    Label(Keys),
    /// Remove a patch: the one that is just as the flags say
    Patch(Box<PatchFlags>),
    /// Remove resources
    #[command(after_help = RESOURCE_EXAMPLES)]
    Resource(Patterns),
    /// Remove generators of Secrets
    Secret(Names),
    /// Remove files with transformers
    Transformer(Patterns),
}

#[derive(Args, Debug)]
#[command(mut_args = go_switch)]
pub(in crate::cli) struct Keys {
    /// Keys, with commas between them
    #[arg(value_name = "KEY,…")]
    keys: Vec<String>,

    /// Pass over what is not there
    #[arg(short, long)]
    ignore_non_existence: bool,
}

#[derive(Args, Debug)]
#[command(mut_args = go_switch)]
pub(in crate::cli) struct Names {
    /// Names, with commas between them
    #[arg(value_name = "NAME,…")]
    names: Vec<String>,

    /// Their namespace
    #[arg(long, value_name = "NAMESPACE", default_value = "", hide_default_value = true)]
    namespace: String,
}

#[derive(Args, Debug)]
pub(in crate::cli) struct Patterns {
    /// Paths as the kustomization has them, or patterns for them
    #[arg(value_name = "PATH")]
    patterns: Vec<String>,
}

pub(super) fn run(command: &Command, reporter: &mut Reporter) -> Result<()> {
    match command {
        Command::Annotation(arguments) => {
            let keys = arguments.keys()?;
            let ignore = arguments.ignore_non_existence;
            edit(reporter, |kustomization| kustomization.remove_annotations(&keys, ignore))
        }
        Command::BuildMetadata(arguments) => {
            let options = arguments.options()?;
            edit(reporter, |kustomization| kustomization.remove_build_metadata(&options))
        }
        Command::ConfigMap(arguments) => arguments.remove(Generator::ConfigMap, reporter),
        Command::Label(arguments) => {
            let keys = arguments.keys()?;
            let ignore = arguments.ignore_non_existence;
            edit(reporter, |kustomization| kustomization.remove_labels(&keys, ignore))
        }
        Command::Patch(flags) => edit(reporter, |kustomization| kustomization.remove_patch(flags.patch())),
        Command::Resource(arguments) => arguments.remove(List::Resources, reporter),
        Command::Secret(arguments) => arguments.remove(Generator::Secret, reporter),
        Command::Transformer(arguments) => arguments.remove(List::Transformers, reporter),
    }
}

impl Keys {
    /// Kustomize calls annotations labels here.
    fn keys(&self) -> Result<Vec<&str>> {
        let [keys] = self.keys.as_slice() else {
            let is_none = self.keys.is_empty();
            return Err(usage(if is_none {
                "must specify label"
            } else {
                "labels must be comma-separated, with no spaces"
            }));
        };
        let keys: Vec<&str> = keys.split(',').collect();
        if keys.contains(&"") {
            return Err(usage("invalid label: '' (name is empty)"));
        }
        Ok(keys)
    }
}

impl Names {
    fn remove(&self, generator: Generator, reporter: &mut Reporter) -> Result<()> {
        let kind = generator.entry();
        let [names] = self.names.as_slice() else {
            return Err(usage(if self.names.is_empty() {
                format!("at least one {kind} name must be specified")
            } else {
                format!(
                    "too many arguments: [{}]; to provide multiple {kind}s to remove, please separate {kind} names by \
                     commas",
                    self.names.join(" ")
                )
            }));
        };
        let names: Vec<&str> = names.split(',').collect();
        edit(reporter, |kustomization| kustomization.remove_generators(generator, &names, &self.namespace))
    }
}

impl Patterns {
    fn remove(&self, list: List, reporter: &mut Reporter) -> Result<()> {
        if self.patterns.is_empty() {
            return Err(usage(format!("must specify a {} file", list.entry())));
        }
        for pattern in &self.patterns {
            path_match(pattern, "")
                .map_err(|error| Error::new(ErrorKind::Invalid, format!("{error}: `{pattern}`")))?;
        }
        let is_named =
            |path: &str| self.patterns.iter().any(|pattern| path_match(pattern, path).unwrap_or_default());
        edit(reporter, |kustomization| {
            let paths: Vec<String> = kustomization
                .paths(list)
                .into_iter()
                .filter(|path| is_named(path))
                .map(str::to_owned)
                .collect();
            kustomization.remove_paths(list, &paths);
            Ok(())
        })
    }
}

//! `renderer kustomize edit add`.

use std::path::Path;

use clap::{Args, Subcommand};
use diagnostic::{Error, ErrorKind, Result};
use kustomize_edit::{AddLabels, Generator, List, parse_annotations, parse_labels};

use super::set::Options;
use super::{PatchFlags, SourceFlags, edit, find, named, usage};
use crate::cli::helm::flags::go_switch;
use crate::cli::kustomize::paths;
use crate::report::Reporter;

const LABEL_EXAMPLES: &str = "\
Examples:
  renderer kustomize edit add label app:shop team:web

  # on the objects and in templates, and not in selectors
  renderer kustomize edit add label --without-selector --include-templates version:1.2.3";

const RESOURCE_EXAMPLES: &str = "\
Examples:
  renderer kustomize edit add resource deployment.yaml ../base
  renderer kustomize edit add resource '*.yaml'";

const PATCH_EXAMPLES: &str = "\
Examples:
  renderer kustomize edit add patch --path patch.yaml --kind Deployment --name web";

const GENERATOR_EXAMPLES: &str = "\
Examples:
  renderer kustomize edit add configmap settings --from-literal=level=debug --from-file=app.conf
  renderer kustomize edit add configmap settings --from-env-file=settings.env";

#[derive(Subcommand, Debug)]
#[command(defer = true)]
pub(in crate::cli) enum Command {
    /// Add annotations to commonAnnotations
    Annotation(Annotations),
    /// Add folders to resources, with commas between them
    Base(Paths),
    /// Add options to buildMetadata
    #[command(name = "buildmetadata")]
    BuildMetadata(Options),
    /// Add components
    Component(Paths),
    /// Add a ConfigMap's generator, or sources to one
    #[command(name = "configmap", after_help = GENERATOR_EXAMPLES)]
    ConfigMap(ConfigMap),
    /// Add files with generators
    Generator(Paths),
    /// Add labels to commonLabels or labels
    #[command(after_help = LABEL_EXAMPLES)]
    Label(Labels),
    /// Add a patch
    #[command(after_help = PATCH_EXAMPLES)]
    Patch(Box<PatchFlags>),
    /// Add resources
    #[command(after_help = RESOURCE_EXAMPLES)]
    Resource(Resources),
    /// Add a Secret's generator, or sources to one
    Secret(Secret),
    /// Add files with transformers
    Transformer(Paths),
}

#[derive(Args, Debug)]
#[command(mut_args = go_switch)]
pub(in crate::cli) struct Annotations {
    /// Overwrite what is there
    #[arg(short, long)]
    force: bool,

    /// Keys with their values
    #[arg(value_name = "KEY:VALUE")]
    pairs: Vec<String>,
}

#[derive(Args, Debug)]
#[command(mut_args = go_switch)]
pub(in crate::cli) struct Labels {
    /// Overwrite what is there
    #[arg(short, long)]
    force: bool,

    /// Leave selectors alone
    #[arg(long)]
    without_selector: bool,

    /// Label templates too, where selectors are left alone
    #[arg(long)]
    include_templates: bool,

    /// Keys with their values
    #[arg(value_name = "KEY:VALUE")]
    pairs: Vec<String>,
}

#[derive(Args, Debug)]
pub(in crate::cli) struct Paths {
    /// Paths, or patterns for them
    #[arg(value_name = "PATH")]
    paths: Vec<String>,
}

#[derive(Args, Debug)]
#[command(mut_args = go_switch)]
pub(in crate::cli) struct Resources {
    /// Paths, patterns for them, or addresses
    #[arg(value_name = "PATH")]
    paths: Vec<String>,

    /// Take the arguments as they are, without a look at the disk
    #[arg(long)]
    no_verify: bool,
}

#[derive(Args, Debug)]
#[command(mut_args = go_switch)]
pub(in crate::cli) struct ConfigMap {
    #[command(flatten)]
    sources: SourceFlags,

    /// Tells whether it is made (create), or changes one of a base (merge, replace)
    #[arg(long, value_name = "BEHAVIOR", default_value = "", hide_default_value = true)]
    behavior: String,
}

#[derive(Args, Debug)]
#[command(mut_args = go_switch)]
pub(in crate::cli) struct Secret {
    #[command(flatten)]
    sources: SourceFlags,

    /// The Secret's type
    #[arg(long, value_name = "TYPE", default_value = "Opaque")]
    r#type: String,
}

pub(super) fn run(command: &Command, reporter: &mut Reporter) -> Result<()> {
    match command {
        Command::Annotation(arguments) => edit(reporter, |kustomization| {
            kustomization.add_annotations(arguments.force, &parse_annotations(&arguments.pairs)?)
        }),
        Command::Base(arguments) => add_bases(&arguments.paths, reporter),
        Command::BuildMetadata(arguments) => {
            let options = arguments.options()?;
            edit(reporter, |kustomization| kustomization.add_build_metadata(&options))
        }
        Command::Component(arguments) => {
            add_paths(List::Components, &verified(&arguments.paths, List::Components)?, reporter)
        }
        Command::ConfigMap(flags) => {
            let mut sources = flags.sources.sources(reporter)?;
            sources.behavior.clone_from(&flags.behavior);
            edit(reporter, |kustomization| kustomization.add_generator(Generator::ConfigMap, &sources))
        }
        Command::Generator(arguments) => add_files(List::Generators, &arguments.paths, reporter),
        Command::Label(arguments) => {
            let Labels { force, without_selector, include_templates, .. } = *arguments;
            let how = AddLabels { force, without_selector, include_templates };
            edit(reporter, |kustomization| kustomization.add_labels(how, &parse_labels(&arguments.pairs)?))
        }
        Command::Patch(flags) => edit(reporter, |kustomization| kustomization.add_patch(flags.patch())),
        Command::Resource(arguments) => {
            let paths = if arguments.no_verify {
                arguments.paths.clone()
            } else {
                verified(&arguments.paths, List::Resources)?
            };
            add_paths(List::Resources, &paths, reporter)
        }
        Command::Secret(flags) => {
            let mut sources = flags.sources.sources(reporter)?;
            sources.secret_type.clone_from(&flags.r#type);
            edit(reporter, |kustomization| kustomization.add_generator(Generator::Secret, &sources))
        }
        Command::Transformer(arguments) => add_files(List::Transformers, &arguments.paths, reporter),
    }
}

fn add_bases(arguments: &[String], reporter: &mut Reporter) -> Result<()> {
    let [folders] = arguments else { return Err(usage("must specify a base directory")) };
    let folders: Vec<&str> = folders.split(',').collect();
    if let Some(missing) = folders.iter().find(|folder| !Path::new(folder).exists()) {
        return Err(Error::new(ErrorKind::Invalid, format!("{missing} does not exist")));
    }
    edit(reporter, |kustomization| kustomization.add_bases(&folders))
}

/// Adds files by patterns, of which one may name nothing.
fn add_files(list: List, patterns: &[String], reporter: &mut Reporter) -> Result<()> {
    if patterns.is_empty() {
        let entry = list.entry();
        return Err(usage(format!("must specify a yaml file which contains a {entry} plugin resource")));
    }
    let paths = named(patterns, reporter)?;
    if paths.is_empty() {
        return Ok(());
    }
    edit(reporter, |kustomization| {
        kustomization.add_paths(list, &paths);
        Ok(())
    })
}

/// The paths that patterns name, each of which must name one, or be the address of something elsewhere.
fn verified(patterns: &[String], list: List) -> Result<Vec<String>> {
    if patterns.is_empty() {
        return Err(usage(format!("must specify a {} file", list.entry())));
    }
    let mut found = Vec::new();
    for pattern in patterns {
        let paths = paths::named(pattern)?;
        if paths.is_empty() && !paths::is_address(pattern) {
            let absolute = std::path::absolute(pattern).unwrap_or_else(|_| pattern.into());
            let absolute = absolute.display();
            let sentence = format!(
                "{pattern} has no match: must build at directory: not a valid directory: evalsymlink failure on \
                 '{absolute}' : lstat {absolute}: no such file or directory"
            );
            return Err(Error::new(ErrorKind::Invalid, sentence));
        }
        if paths.is_empty() {
            found.push(pattern.clone());
        }
        found.extend(paths);
    }
    Ok(found)
}

/// Adds paths, but for that of the kustomization file itself.
fn add_paths(list: List, paths: &[String], reporter: &mut Reporter) -> Result<()> {
    let own = find()?;
    let paths: Vec<&String> = paths.iter().filter(|path| *path != own).collect();
    edit(reporter, |kustomization| {
        kustomization.add_paths(list, &paths);
        Ok(())
    })
}

//! `renderer kustomize edit set`.

use clap::{Args, Subcommand};
use diagnostic::Result;
use kustomize_edit::{Generator, Sources, parse_annotations, parse_labels};

use super::{edit, usage};
use crate::cli::helm::flags::go_switch;
use crate::report::Reporter;

const IMAGE_EXAMPLES: &str = "\
Examples:
  # another tag, another name, both, and a digest
  renderer kustomize edit set image shop:1.2.3
  renderer kustomize edit set image shop=registry.example.com/shop
  renderer kustomize edit set image shop=registry.example.com/shop:1.2.3 db@sha256:24a0…

  # a part that is * stays as it is
  renderer kustomize edit set image 'shop=*:1.2.4'";

const PREFIX_EXAMPLES: &str = "\
Examples:
  renderer kustomize edit set nameprefix acme-

  # one that begins with a dash
  renderer kustomize edit set nameprefix -- -acme-";

const REPLICAS_EXAMPLES: &str = "\
Examples:
  renderer kustomize edit set replicas web=3 worker=1";

const GENERATOR_EXAMPLES: &str = "\
Examples:
  renderer kustomize edit set configmap settings --from-literal=level=debug
  renderer kustomize edit set configmap settings --namespace=dev --new-namespace=prod";

#[derive(Subcommand, Debug)]
#[command(defer = true)]
pub(in crate::cli) enum Command {
    /// Set annotations in commonAnnotations
    Annotation(Pairs),
    /// Set buildMetadata
    #[command(name = "buildmetadata")]
    BuildMetadata(Options),
    /// Give literals of a ConfigMap's generator other values
    #[command(name = "configmap", after_help = GENERATOR_EXAMPLES)]
    ConfigMap(GeneratorFlags),
    /// Set names, tags and digests of images
    #[command(after_help = IMAGE_EXAMPLES)]
    Image(Images),
    /// Set labels in commonLabels
    Label(Pairs),
    /// Set namePrefix
    #[command(name = "nameprefix", after_help = PREFIX_EXAMPLES)]
    NamePrefix(Value),
    /// Set namespace
    Namespace(Value),
    /// Set nameSuffix
    #[command(name = "namesuffix", after_help = PREFIX_EXAMPLES)]
    NameSuffix(Value),
    /// Set counts of replicas
    #[command(after_help = REPLICAS_EXAMPLES)]
    Replicas(Counts),
    /// Give literals of a Secret's generator other values
    Secret(GeneratorFlags),
}

#[derive(Args, Debug)]
pub(in crate::cli) struct Pairs {
    /// Keys with their values
    #[arg(value_name = "KEY:VALUE")]
    pairs: Vec<String>,
}

#[derive(Args, Debug)]
pub(in crate::cli) struct Options {
    /// originAnnotations, transformerAnnotations and managedByLabel, with commas between them
    #[arg(value_name = "OPTION,…")]
    options: Vec<String>,
}

#[derive(Args, Debug)]
pub(in crate::cli) struct Images {
    /// NAME=NEW:TAG, NAME:TAG, NAME@DIGEST and so on
    #[arg(value_name = "IMAGE")]
    images: Vec<String>,
}

#[derive(Args, Debug)]
pub(in crate::cli) struct Value {
    /// The value
    value: Vec<String>,
}

#[derive(Args, Debug)]
pub(in crate::cli) struct Counts {
    /// Names with their counts
    #[arg(value_name = "NAME=COUNT")]
    counts: Vec<String>,
}

#[derive(Args, Debug)]
#[command(mut_args = go_switch)]
pub(in crate::cli) struct GeneratorFlags {
    /// The name
    name: String,

    /// A key that is there, with its new value
    #[arg(long, value_name = "KEY=VALUE")]
    from_literal: Vec<String>,

    /// The namespace that it has
    #[arg(long, value_name = "NAMESPACE", default_value = "", hide_default_value = true)]
    namespace: String,

    /// The namespace that it gets
    #[arg(long, value_name = "NAMESPACE", default_value = "", hide_default_value = true)]
    new_namespace: String,
}

pub(super) fn run(command: &Command, reporter: &mut Reporter) -> Result<()> {
    match command {
        Command::Annotation(arguments) => edit(reporter, |kustomization| {
            kustomization.set_annotations(&parse_annotations(&arguments.pairs)?)
        }),
        Command::BuildMetadata(arguments) => {
            let options = arguments.options()?;
            edit(reporter, |kustomization| kustomization.set_build_metadata(&options))
        }
        Command::ConfigMap(flags) => flags.run(Generator::ConfigMap, reporter),
        Command::Image(arguments) => {
            edit(reporter, |kustomization| kustomization.set_images(&arguments.images))
        }
        Command::Label(arguments) => {
            edit(reporter, |kustomization| kustomization.set_labels(&parse_labels(&arguments.pairs)?))
        }
        Command::NamePrefix(argument) => {
            let prefix = argument.only("prefix")?;
            edit(reporter, |kustomization| {
                kustomization.set_name_prefix(prefix);
                Ok(())
            })
        }
        Command::Namespace(argument) => {
            let namespace = argument.only("namespace")?;
            edit(reporter, |kustomization| {
                kustomization.set_namespace(namespace);
                Ok(())
            })
        }
        Command::NameSuffix(argument) => {
            let suffix = argument.only("suffix")?;
            edit(reporter, |kustomization| {
                kustomization.set_name_suffix(suffix);
                Ok(())
            })
        }
        Command::Replicas(arguments) => {
            edit(reporter, |kustomization| kustomization.set_replicas(&arguments.counts))
        }
        Command::Secret(flags) => flags.run(Generator::Secret, reporter),
    }
}

impl Value {
    fn only(&self, what: &str) -> Result<&str> {
        match self.value.as_slice() {
            [value] => Ok(value),
            _ => Err(usage(format!("must specify exactly one {what} value"))),
        }
    }
}

impl Options {
    pub(super) fn options(&self) -> Result<Vec<&str>> {
        match self.options.as_slice() {
            [] => Err(usage("must specify a buildMetadata option")),
            [options] => Ok(options.split(',').collect()),
            several => Err(usage(format!(
                "too many arguments: [{}]; to provide multiple buildMetadata options, please separate options by comma",
                several.join(" ")
            ))),
        }
    }
}

impl GeneratorFlags {
    fn run(&self, generator: Generator, reporter: &mut Reporter) -> Result<()> {
        let sources = Sources {
            name: self.name.clone(),
            namespace: self.namespace.clone(),
            literals: self.from_literal.clone(),
            ..Sources::default()
        };
        edit(reporter, |kustomization| kustomization.set_generator(generator, &sources, &self.new_namespace))
    }
}

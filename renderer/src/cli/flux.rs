//! `renderer flux build`: what Flux would apply for a repository, without a cluster.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use argocd::objects::{self, Object};
use clap::{Args, Subcommand};
use diagnostic::{Error, ErrorKind, Result};
use flux::envsubst::Mode;
use vfs::{Disk, FileKind, Files};

use crate::argocd::{KnownWorld, readable};
use crate::config::{Config, default_cache_dir};
use crate::flux::{Discovery, Fleet, FluxRenderer, Member, Settings};
use crate::output;
use crate::render::Renderer;
use crate::report::Reporter;

const EXAMPLES: &str = "\
Examples:
  # everything that Flux would apply for this repository
  renderer flux build

  # one Kustomization, with its variables
  renderer flux build kustomization apps

  # one HelmRelease, with its values and post-renderers
  renderer flux build helmrelease shop/podinfo

  # what a file has, which may be outside of all Kustomizations
  renderer flux build apps/podinfo/release.yaml -o json";

/// The rendered kind, as in `flux`.
#[derive(Subcommand, Debug)]
pub(super) enum Command {
    /// Print what Kustomizations and HelmReleases come to, variables, values and post-renderers included
    Build(Arguments),
}

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Names (`apps`, `flux-system/apps`) or files; `kustomization` (`ks`) or `helmrelease` (`hr`) before them says which
    /// kind is meant. Everything in the repository by default
    #[arg(value_name = "NAME|FILE")]
    names: Vec<String>,

    /// The format of the manifests
    #[arg(short, long, value_name = "FORMAT", default_value = "yaml")]
    output: super::Format,

    /// Fail where a variable without a default is not set
    #[arg(long)]
    strict_substitute: bool,

    /// The context file, which says where other repositories are; `renderer-context.yaml` by default
    #[arg(long, value_name = "FILE")]
    context: Option<PathBuf>,

    /// The version of Kubernetes that charts see
    #[arg(long, value_name = "VERSION")]
    kube_version: Option<String>,

    /// An API version that charts see beside Kubernetes' own (repeatable)
    #[arg(short, long, value_name = "API", value_delimiter = ',')]
    api_versions: Vec<String>,

    /// Number of objects to render at a time [default: number of processors]
    #[arg(short, long, value_name = "N")]
    jobs: Option<NonZeroUsize>,

    /// Take remote charts and bases from the cache only
    #[arg(long)]
    offline: bool,

    /// Cache directory for remote charts and bases [env: RENDERER_CACHE_DIR] [default: ~/.cache/renderer]
    #[arg(long, value_name = "DIR")]
    cache_dir: Option<PathBuf>,

    /// Read no file outside of DIR [default: the git work tree of the working directory]
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,

    /// Fail where there is a warning
    #[arg(long)]
    strict: bool,

    /// Print no warnings
    #[arg(short, long)]
    quiet: bool,
}

impl Command {
    pub(super) fn run(&self, reporter: &mut Reporter) -> Result<()> {
        let Self::Build(arguments) = self;
        build(arguments, reporter)
    }
}

fn build(arguments: &Arguments, reporter: &mut Reporter) -> Result<()> {
    reporter.set_quiet(arguments.quiet);
    let named = arguments.names.iter().map(Path::new);
    let roots = readable(arguments.root.as_deref(), arguments.context.as_deref(), named)?;
    let renderer = Renderer::new(arguments.config().confined_to(Some(roots)));
    let disk = Disk::new();
    let world = KnownWorld::load(arguments.context.as_deref(), disk.working_directory(), renderer.files())?;
    let wanted = Wanted::new(&arguments.names, &disk);
    let mut discovery = Discovery::default();
    discovery.folder(&world.root, renderer.files())?;
    let mut fleet = Fleet::new(discovery, &wanted.files, &world.root);
    let settings = arguments.settings();
    fleet
        .render(&FluxRenderer::new(&renderer, &world, &settings), super::jobs(arguments.jobs, usize::MAX))?;
    let members: Vec<&Member> = fleet.members.iter().filter(|member| wanted.has(member)).collect();
    if members.is_empty() && fleet.errors.is_empty() {
        return Err(wanted.nothing(&fleet));
    }
    fleet.errors.iter().for_each(|error| reporter.error(error, None));
    let mut all: Vec<Object> = Vec::new();
    for member in members {
        let Some(outcome) = &member.outcome else { continue };
        outcome.warnings.report(reporter);
        let name = format!("{} `{}`", member.unit.kind(), member.name);
        match &outcome.rendered {
            Err(error) => reporter.flux_error(error, &name),
            Ok(_) if arguments.strict && outcome.warnings.refuse().is_err() => {
                if let Err(error) = outcome.warnings.refuse() {
                    reporter.flux_error(&error, &name);
                }
            }
            Ok(rendered) => all.extend(rendered.objects.iter().cloned()),
        }
    }
    output::to_stdout(&match arguments.output {
        super::Format::Yaml => objects::to_yaml(&all)?,
        super::Format::Json => objects::to_json(&all)?,
    })
}

impl Arguments {
    fn config(&self) -> Config {
        let cache_dir = self.cache_dir.clone().or_else(default_cache_dir);
        let cache_dir = cache_dir.map(|path| std::path::absolute(&path).unwrap_or(path));
        Config { offline: self.offline, cache_dir, strict: self.strict, ..Config::default() }
    }

    fn settings(&self) -> Settings {
        Settings {
            mode: if self.strict_substitute { Mode::Strict } else { Mode::Lenient },
            kube_version: self.kube_version.clone(),
            api_versions: self.api_versions.clone(),
        }
    }
}

/// The arguments of the command line.
struct Wanted {
    kind: Option<&'static str>,
    names: Vec<String>,
    files: Vec<PathBuf>,
}

impl Wanted {
    fn new(arguments: &[String], disk: &Disk) -> Self {
        let kind = match arguments.first().map(String::as_str) {
            Some("kustomization" | "kustomizations" | "ks") => Some("Kustomization"),
            Some("helmrelease" | "helmreleases" | "hr") => Some("HelmRelease"),
            _ => None,
        };
        let mut wanted = Self { kind, names: Vec::new(), files: Vec::new() };
        for argument in arguments.iter().skip(usize::from(kind.is_some())) {
            match disk.resolve(&disk.working_directory().join(argument)) {
                Ok((real, FileKind::File)) => wanted.files.push(real),
                _ => wanted.names.push(argument.clone()),
            }
        }
        wanted
    }

    fn has(&self, member: &Member) -> bool {
        if self.kind.is_some_and(|kind| kind != member.unit.kind()) {
            return false;
        }
        let (namespace, name) = member.unit.id();
        let is_it = |wanted: &String| {
            *wanted == name || *wanted == format!("{namespace}/{name}") || *wanted == member.name
        };
        self.names.is_empty() || self.names.iter().any(is_it)
    }

    fn nothing(&self, fleet: &Fleet) -> Error {
        let kind = self.kind.unwrap_or("Kustomization or HelmRelease");
        let Some(name) = self.names.first() else {
            return Error::new(ErrorKind::Invalid, format!("no Flux {kind} found in the repository"));
        };
        let error = Error::new(ErrorKind::Invalid, format!("no {kind} `{name}` found in the repository"));
        let known: Vec<String> = fleet.members.iter().map(|member| member.unit.id().1).collect();
        match known.iter().min_by_key(|known| strsim::levenshtein(known, name)) {
            Some(near) if strsim::levenshtein(near, name) <= 3 => {
                error.hint(format!("did you mean `{near}`?"))
            }
            _ => error,
        }
    }
}

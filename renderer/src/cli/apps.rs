//! `renderer apps`: all Applications of a repository, rendered as Argo CD would apply them.

mod generate_paths;
mod plans;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use argocd::application::{Application, Engine, Rendered};
use argocd::objects;
use clap::{Args, ValueEnum};
use diagnostic::{Error, ErrorKind, Result};
use glob::gobwas::Glob;
use serde_json::json;
use vfs::{Disk, FileKind, Files};

use super::argocd_flags::WorldFlags;
use crate::argocd::{ApplicationRenderer, Discovery, Fleet, KnownWorld, Layout, Member};
use crate::config::Config;
use crate::diff;
use crate::output;
use crate::render::Renderer;
use crate::report::Reporter;

const EXAMPLES: &str = "\
Examples:
  # everything that Argo CD would apply for this repository
  renderer apps

  # what there is, and whether it renders
  renderer apps argocd -o table

  # one folder for each Application, in the layout of Argo CD's hydrator; only what changed is written
  renderer apps argocd --output-dir rendered

  # what a branch changes
  renderer apps --affected-by origin/main -o table

  # whether Argo CD is told of all files that each Application reads
  renderer apps --manifest-generate-paths=check

  # the Applications of a team, as data
  renderer apps --project shop -l tier=web,env!=dev -o json";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Folders to look for Applications in, or files with them; this folder by default
    #[arg(value_name = "DIR")]
    places: Vec<PathBuf>,

    /// Write each Application into a folder of OUT, as Argo CD's hydrator does; those that are gone are removed
    #[arg(long, value_name = "OUT", conflicts_with = "output")]
    output_dir: Option<PathBuf>,

    /// Output: manifests, manifests by Application, or a line for each Application
    #[arg(short, long, value_name = "FORMAT", default_value = "yaml")]
    output: Format,

    /// Only Applications that what has changed since this revision affects, by what they really read
    #[arg(long, value_name = "REV")]
    affected_by: Option<String>,

    /// Print in which order the objects of each Application are applied
    #[arg(long, conflicts_with = "output_dir")]
    plan: bool,

    /// Print what the annotation `manifest-generate-paths` of each Application should be, or check that it covers what
    /// they read
    #[arg(
        long,
        value_name = "DO",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "print",
        conflicts_with_all = ["output_dir", "plan"]
    )]
    manifest_generate_paths: Option<GeneratePaths>,

    /// Only Applications of this name; `*` stands for anything (repeatable)
    #[arg(long, value_name = "PATTERN")]
    name: Vec<String>,

    /// Only Applications of this project (repeatable)
    #[arg(long, value_name = "PROJECT")]
    project: Vec<String>,

    /// Only Applications with these labels: `key=value`, `key!=value`, `key`, `!key`
    #[arg(short = 'l', long, value_name = "LABELS", value_delimiter = ',')]
    selector: Vec<String>,

    /// Number of Applications to render at a time [default: number of processors]
    #[arg(short, long, value_name = "N")]
    jobs: Option<NonZeroUsize>,

    #[command(flatten)]
    world: WorldFlags,
}

#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum GeneratePaths {
    Print,
    Check,
}

#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Yaml,
    Json,
    Table,
}

pub(super) fn run(arguments: &Arguments, reporter: &mut Reporter) -> Result<()> {
    let filter = Filter::new(arguments)?;
    let config = arguments.world.config(arguments.places.iter().map(PathBuf::as_path), reporter);
    let strict = config.strict;
    let disk = config.disk();
    let Gathered { mut fleet, mut errors, unaffected } = match &arguments.affected_by {
        None => arguments.gather(&filter, config, reporter)?,
        Some(base) => arguments.gather_affected(base, config, reporter)?,
    };
    errors.append(&mut fleet.errors);
    errors.iter().for_each(|error| reporter.error(error, None));
    reporter.warnings(&fleet.warnings);
    fleet.notices.iter().for_each(|notice| reporter.notice(notice));
    let is_wanted = |member: &&Member| {
        filter.matches(&member.application) && !unaffected.contains(&member.application.instance_name())
    };
    let members: Vec<&Member> = fleet.members.iter().filter(is_wanted).collect();
    if members.is_empty() && errors.is_empty() && unaffected.is_empty() {
        return Err(Error::new(ErrorKind::Invalid, "no such Application")
            .hint("name the folders with Applications, or the charts and kustomizations that make them as Applications"));
    }
    let mut good: Vec<(&Member, &Rendered)> = Vec::with_capacity(members.len());
    for member in &members {
        let Some(outcome) = &member.outcome else { continue };
        outcome.warnings.report(reporter);
        let name = &member.application.name.value;
        match &outcome.rendered {
            Err(error) => reporter.application_error(error, name),
            Ok(_) if strict && outcome.warnings.refuse().is_err() => {
                if let Err(error) = outcome.warnings.refuse() {
                    reporter.application_error(&error, name);
                }
            }
            Ok(rendered) => good.push((member, rendered)),
        }
    }
    let is_everything = filter.is_everything() && arguments.affected_by.is_none();
    match (&arguments.output_dir, arguments.manifest_generate_paths) {
        (Some(folder), _) => write(folder, &members, &good, is_everything, reporter)?,
        (None, Some(what)) => {
            let world = arguments.known_world(&disk)?;
            match what {
                GeneratePaths::Print => {
                    output::to_stdout(&generate_paths::print(&good, &world.repositories, &disk)?)?;
                }
                GeneratePaths::Check => generate_paths::check(&good, &world.repositories, &disk, reporter),
            }
        }
        (None, None) if arguments.plan => {
            output::to_stdout(&plans::of(&good, arguments.output, reporter)?)?;
        }
        (None, None) => output::to_stdout(&match arguments.output {
            Format::Yaml => manifests(&good)?,
            Format::Json => as_json(&members, &good)?,
            Format::Table => table(&members),
        })?,
    }
    // The process ends here; taking large trees apart node by node would only keep the user waiting.
    std::mem::forget(fleet);
    Ok(())
}

/// Applications, rendered.
struct Gathered {
    fleet: Fleet,
    errors: Vec<Error>,
    /// The names of those that a change does not affect.
    unaffected: HashSet<String>,
}

impl Arguments {
    fn known_world(&self, disk: &Disk) -> Result<KnownWorld> {
        KnownWorld::load(self.world.context.as_deref(), disk.working_directory(), disk)
    }

    /// The Applications below the folders.
    fn gather(&self, filter: &Filter, config: Config, reporter: &mut Reporter) -> Result<Gathered> {
        let world = self.known_world(&config.disk())?;
        let renderer = Renderer::new(config.reading(world.checkouts()));
        let discovery = discover(&self.places, renderer.files())?;
        for place in &discovery.fragments {
            reporter.notice(&format!("the Application at {place} lacks a source and is treated as a patch"));
        }
        let (mut found, mut sets) = (discovery.found, discovery.sets);
        if filter.is_of_known_names(found.iter().map(|found| &found.application)) {
            found.retain(|found| filter.matches(&found.application));
            sets.clear();
        }
        let mut fleet = Fleet::of(found, sets);
        let overrides = self.world.overrides(world.is_default);
        let applications = ApplicationRenderer::new(&renderer, &world, &overrides);
        fleet.render(&applications, super::jobs(self.jobs, usize::MAX))?;
        std::mem::forget(renderer);
        Ok(Gathered { fleet, errors: discovery.errors, unaffected: HashSet::new() })
    }

    /// The same, and which of them a change affects.
    fn gather_affected(&self, base: &str, config: Config, reporter: &mut Reporter) -> Result<Gathered> {
        let request = diff::Request {
            paths: &self.places,
            base,
            head: None,
            from_merge_base: false,
            context: self.world.context.as_deref(),
            trust_head: false,
            jobs: super::jobs(self.jobs, usize::MAX),
        };
        let affected = diff::affected(&request, config, &self.world.overrides(false))?;
        affected.notices.iter().for_each(|notice| reporter.notice(notice));
        let diff::Affected { fleet, unaffected, errors, .. } = affected;
        Ok(Gathered { fleet, errors, unaffected })
    }
}

fn discover(places: &[PathBuf], files: &dyn Files) -> Result<Discovery> {
    let mut discovery = Discovery::default();
    let here = [PathBuf::from(".")];
    for place in if places.is_empty() { &here[..] } else { places } {
        // Nobody writes `./a.yaml` for what is in this folder.
        let place = place.strip_prefix(".").unwrap_or(place);
        match files.resolve(place) {
            Ok((_, FileKind::File)) => discovery.file(place, files)?,
            _ => discovery.folder(place, files)?,
        }
    }
    Ok(discovery)
}

/// Writes what was rendered. What failed stays as it was, and with a filter nothing is taken for gone.
fn write(
    folder: &Path,
    members: &[&Member],
    good: &[(&Member, &Rendered)],
    is_everything: bool,
    reporter: &mut Reporter,
) -> Result<()> {
    let mut layout = Layout::new(folder)?;
    let mut paths = BTreeMap::new();
    for member in members {
        match layout.reserve(&member.application) {
            Ok(path) => drop(paths.insert(member.application.instance_name(), path)),
            Err(error) => reporter.error(&error, None),
        }
    }
    for (member, rendered) in good {
        if let Some(path) = paths.get(&member.application.instance_name()) {
            layout.write(path, &member.application, rendered)?;
        }
    }
    let written = layout.finish()?;
    let removed = if is_everything { layout.remove_stale()? } else { Vec::new() };
    let removed = if removed.is_empty() { String::new() } else { format!(", {} removed", removed.len()) };
    let count = match good.len() {
        1 => "1 Application".to_owned(),
        count => format!("{count} Applications"),
    };
    output::to_stderr(&format!("{count}, {written} files written{removed}\n"));
    Ok(())
}

/// All manifests, those of each Application behind its name.
fn manifests(good: &[(&Member, &Rendered)]) -> Result<String> {
    let mut stream = String::new();
    for (member, rendered) in good.iter().filter(|(_, rendered)| !rendered.objects.is_empty()) {
        let _ = writeln!(stream, "---\n# Application: {}", member.application.instance_name());
        stream.push_str(&objects::to_yaml(&rendered.objects)?);
    }
    Ok(stream)
}

fn as_json(members: &[&Member], good: &[(&Member, &Rendered)]) -> Result<String> {
    let known: HashMap<String, &Rendered> =
        good.iter().map(|(member, rendered)| (member.application.instance_name(), *rendered)).collect();
    let mut entries = Vec::with_capacity(members.len());
    for member in members {
        let application = &member.application;
        let rendered = known.get(&application.instance_name()).copied();
        let error = member.outcome.as_ref().and_then(|outcome| outcome.rendered.as_ref().err());
        let sources = rendered.map_or(Vec::new(), |rendered| {
            let source = |source: &argocd::application::RenderedSource| {
                json!({"engine": engine(source.engine), "revision": source.revision})
            };
            rendered.sources.iter().map(source).collect()
        });
        let head = json!({
            "name": application.name.value,
            "namespace": application.namespace,
            "project": application.project.value,
            "destination": {
                "server": application.destination.server,
                "name": application.destination.name,
                "namespace": application.destination.namespace,
            },
            "parent": member.parent,
            "place": application.place(application.name.span).map(|place| place.to_string()),
            "sources": sources,
            "error": error.map(ToString::to_string),
        });
        let objects = match rendered {
            Some(rendered) => objects::to_json(&rendered.objects)?,
            None => "null".to_owned(),
        };
        let head = head.to_string();
        entries.push(format!(
            "{},\"objects\":{}}}",
            head.strip_suffix('}').unwrap_or(&head),
            objects.trim_end()
        ));
    }
    Ok(format!("[\n{}\n]\n", entries.join(",\n")))
}

fn engine(engine: Engine) -> &'static str {
    match engine {
        Engine::Helm => "helm",
        Engine::Kustomize => "kustomize",
        Engine::Directory => "directory",
        Engine::Plugin => "plugin",
    }
}

fn table(members: &[&Member]) -> String {
    let mut rows = vec![["NAME", "PROJECT", "CLUSTER", "NAMESPACE", "SOURCE", "OBJECTS"].map(str::to_owned)];
    for member in members {
        let application = &member.application;
        let rendered = member.outcome.as_ref().and_then(|outcome| outcome.rendered.as_ref().ok());
        let destination = &application.destination;
        let cluster = if destination.name.is_empty() { &destination.server } else { &destination.name };
        let sources = rendered.map_or("-".to_owned(), |rendered| {
            rendered.sources.iter().map(|source| engine(source.engine)).collect::<Vec<_>>().join(",")
        });
        rows.push([
            application.instance_name(),
            application.project.value.clone(),
            cluster.clone(),
            destination.namespace.clone(),
            sources,
            rendered.map_or("failed".to_owned(), |rendered| rendered.objects.len().to_string()),
        ]);
    }
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..6).map(width).collect();
    let mut table = String::new();
    for row in &rows {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        let _ = writeln!(table, "{}", cells.collect::<Vec<_>>().join("  ").trim_end());
    }
    table
}

/// Which Applications are wanted.
struct Filter {
    names: Vec<Glob>,
    plain_names: Option<Vec<String>>,
    projects: Vec<String>,
    labels: Vec<Requirement>,
}

/// A label requirement.
enum Requirement {
    Is(String, String),
    IsNot(String, String),
    Has(String),
    HasNot(String),
}

impl Filter {
    fn new(arguments: &Arguments) -> Result<Self> {
        let glob = |pattern: &String| {
            Glob::new(pattern, "").map_err(|error| Error::new(ErrorKind::Usage, error.message()))
        };
        let is_plain = !arguments.name.is_empty()
            && !arguments.name.iter().any(|name| name.contains(['*', '?', '[', '{', '\\']));
        Ok(Self {
            names: arguments.name.iter().map(glob).collect::<Result<_>>()?,
            plain_names: is_plain.then(|| arguments.name.clone()),
            projects: arguments.project.clone(),
            labels: arguments.selector.iter().map(|text| Requirement::read(text)).collect::<Result<_>>()?,
        })
    }

    fn is_everything(&self) -> bool {
        self.names.is_empty() && self.projects.is_empty() && self.labels.is_empty()
    }

    /// Returns true if all names that are wanted are there, so that nothing else needs to be rendered to find them.
    fn is_of_known_names<'a>(&self, known: impl Iterator<Item = &'a Application>) -> bool {
        let Some(wanted) = &self.plain_names else { return false };
        let known: Vec<&str> = known.map(|application| application.name.value.as_str()).collect();
        wanted.iter().all(|name| known.contains(&name.as_str()))
    }

    fn matches(&self, application: &Application) -> bool {
        let is_named =
            |glob: &Glob| glob.matches(&application.name.value) || glob.matches(&application.instance_name());
        (self.names.is_empty() || self.names.iter().any(is_named))
            && (self.projects.is_empty() || self.projects.contains(&application.project.value))
            && self.labels.iter().all(|requirement| requirement.holds(&application.labels))
    }
}

impl Requirement {
    fn read(text: &str) -> Result<Self> {
        let (key, requirement) = if let Some((key, value)) = text.split_once("!=") {
            (key, Self::IsNot(key.trim().to_owned(), value.trim().to_owned()))
        } else if let Some((key, value)) = text.split_once('=') {
            let value = value.strip_prefix('=').unwrap_or(value);
            (key, Self::Is(key.trim().to_owned(), value.trim().to_owned()))
        } else if let Some(key) = text.trim().strip_prefix('!') {
            (key, Self::HasNot(key.trim().to_owned()))
        } else {
            (text, Self::Has(text.trim().to_owned()))
        };
        if key.trim().is_empty() || key.trim().contains(char::is_whitespace) {
            return Err(Error::new(ErrorKind::Usage, format!("`{text}` says nothing of a label"))
                .hint("there are `key=value`, `key!=value`, `key` and `!key`"));
        }
        Ok(requirement)
    }

    fn holds(&self, labels: &BTreeMap<String, String>) -> bool {
        match self {
            Self::Is(key, value) => labels.get(key) == Some(value),
            Self::IsNot(key, value) => labels.get(key) != Some(value),
            Self::Has(key) => labels.contains_key(key),
            Self::HasNot(key) => !labels.contains_key(key),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_asked_for_as_kubectl_does() {
        let labels: BTreeMap<String, String> = [("env".to_owned(), "prod".to_owned())].into();
        for (text, want) in [
            ("env=prod", true),
            ("env==prod", true),
            ("env = dev", false),
            ("env!=dev", true),
            ("tier!=web", true),
            ("env", true),
            ("!env", false),
            ("! tier", true),
        ] {
            assert_eq!(Requirement::read(text).unwrap().holds(&labels), want, "{text}");
        }
        for text in ["", "=a", "env in (prod)"] {
            assert_eq!(Requirement::read(text).err().unwrap().kind(), ErrorKind::Usage, "{text}");
        }
    }
}

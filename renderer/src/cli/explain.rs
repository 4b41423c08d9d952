//! `renderer explain`: which lines made the fields of an object what they are.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use argocd::application::Overrides;
use argocd::objects::Object;
use clap::{Args, ValueEnum};
use diagnostic::{Error, ErrorKind, Result};
use kustomize::History;
use serde_json::{Value as Json, json};
use vfs::{Disk, FileKind, Files};
use yamltree::Location;

use super::flags::BuildFlags;
use super::helm::values::ValueFlags;
use crate::argocd::{ApplicationRenderer, CompletedCharts, Discovery, Found, KnownWorld, readable};
use crate::chart_target::{ChartOptions, is_archive};
use crate::config::Config;
use crate::explain::path::{Step, shown};
use crate::explain::{Explanation, Field, Link, Subject, had_name, history_of};
use crate::render::Renderer;
use crate::report::Reporter;
use crate::{manifests, output};

const EXAMPLES: &str = "\
Examples:
  # which line says what image a container has: base, patch, images
  renderer explain overlays/prod Deployment/web 'spec.template.spec.containers[name=web].image'

  # the template's line, and the values that went into it
  renderer explain charts/web Deployment/web spec.replicas -f envs/prod.yaml --set replicas=3

  # all fields, each with its line
  renderer explain overlays/prod ConfigMap/settings

  # an object of an Application, for a machine
  renderer explain web-prod Service/web spec.type -o json";

/// A value longer than this is cut.
const MAX_SHOWN: usize = 60;

/// Places of fields stand no further right than this.
const MAX_INDENT: usize = 56;

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// A kustomization, a chart, manifests, a file with an Application, or an Application's name
    target: PathBuf,

    /// The object: `KIND/NAME`, or `NAMESPACE/KIND/NAME`
    #[arg(value_name = "KIND/NAME")]
    object: String,

    /// The field, such as `spec.template.spec.containers[0].image`; all of them by default
    #[arg(value_name = "FIELD.PATH")]
    field: Option<String>,

    /// Output format
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    output: Format,

    /// The context file of Applications
    #[arg(long, value_name = "FILE")]
    context: Option<PathBuf>,

    #[command(flatten)]
    flags: BuildFlags,

    #[command(flatten)]
    charts: ChartFlags,
}

// What is said of a chart that is the target. (A doc comment would be the help text.)
#[derive(Args, Debug)]
#[command(next_help_heading = "A chart that is the target")]
struct ChartFlags {
    #[command(flatten)]
    values: ValueFlags,

    /// The release's name; that of the chart's folder by default
    #[arg(long, value_name = "NAME")]
    release_name: Option<String>,

    /// The release's namespace
    #[arg(short, long, value_name = "NAMESPACE")]
    namespace: Option<String>,
}

#[derive(ValueEnum, Clone, Copy, Debug)]
enum Format {
    Text,
    Json,
}

/// An object as it is asked for.
struct Wanted<'w> {
    namespace: Option<&'w str>,
    kind: &'w str,
    name: &'w str,
}

pub(super) fn run(arguments: &Arguments, reporter: &mut Reporter) -> Result<()> {
    let wanted = Wanted::parse(&arguments.object)?;
    let charts = ChartOptions {
        values: arguments.charts.values.given(),
        release_name: arguments.charts.release_name.clone(),
        namespace: arguments.charts.namespace.clone(),
        include_crds: true,
        kube_version: arguments.flags.helm_kube_version.clone(),
        api_versions: arguments.flags.helm_api_versions.clone(),
        ..ChartOptions::default()
    };
    let config = Config { charts, ..Config::new(&arguments.flags, reporter)? };
    let named = [arguments.target.as_path()];
    let roots = readable(arguments.flags.root.as_deref(), arguments.context.as_deref(), named)?;
    let renderer = Renderer::new(config.confined_to(Some(roots))).watching(wanted.kind);
    let applications = applications(arguments, renderer.files())?;
    let objects = objects(arguments, &applications, &renderer)?;
    let histories = renderer.histories();
    let object = wanted.find(&objects, &histories, &arguments.target)?;
    let applications: Vec<Object> = applications.into_iter().map(|found| found.object).collect();
    let subject = Subject::new(&renderer, object, &applications, history_of(object, &histories));
    let explanation = subject.explain(arguments.field.as_deref())?;
    output::to_stdout(&match (arguments.output, explanation.fields.as_slice()) {
        (Format::Json, _) => json_text(&explanation),
        (Format::Text, [field]) if arguments.field.is_some() => chain(&explanation.object, field),
        (Format::Text, _) => tree(&explanation),
    })
}

/// The Applications that the target is, if it is any.
fn applications(arguments: &Arguments, files: &dyn Files) -> Result<Vec<Found>> {
    let target = &arguments.target;
    Ok(match files.resolve(target) {
        Ok((_, FileKind::File)) if !is_archive(target) => {
            let mut discovery = Discovery::default();
            match discovery.file(target, files) {
                // A file may hold objects of any other kind.
                Err(_) => Vec::new(),
                Ok(()) => match discovery.errors.into_iter().next() {
                    Some(error) => return Err(error),
                    None => discovery.found,
                },
            }
        }
        Err(_) if !target.to_string_lossy().contains("//") && target.as_os_str() != "-" => {
            let world = world(arguments, files)?;
            let name = target.display().to_string();
            super::app::find(&[name], Disk::new().working_directory(), &world, files)?
        }
        _ => Vec::new(),
    })
}

/// The objects of the target.
fn objects(arguments: &Arguments, applications: &[Found], renderer: &Renderer) -> Result<Vec<Object>> {
    if applications.is_empty() {
        return manifests::read(&arguments.target, renderer);
    }
    applied(applications, &world(arguments, renderer.files())?, renderer)
}

fn world(arguments: &Arguments, files: &dyn Files) -> Result<KnownWorld> {
    KnownWorld::load(arguments.context.as_deref(), Disk::new().working_directory(), files)
}

/// Returns what Argo CD would apply for Applications.
fn applied(found: &[Found], world: &KnownWorld, renderer: &Renderer) -> Result<Vec<Object>> {
    let overrides = Overrides { any_cluster: world.is_default, ..Overrides::default() };
    let applications =
        ApplicationRenderer { renderer, world, overrides: &overrides, charts: CompletedCharts::default() };
    let mut objects = Vec::new();
    for found in found {
        objects.extend(applications.render(&found.application).rendered?.objects);
    }
    Ok(objects)
}

impl<'w> Wanted<'w> {
    fn parse(text: &'w str) -> Result<Self> {
        let parts: Vec<&str> = text.split('/').collect();
        let (namespace, kind, name) = match parts.as_slice() {
            [kind, name] => (None, *kind, *name),
            [namespace, kind, name] => (Some(*namespace), *kind, *name),
            _ => (None, "", ""),
        };
        if kind.is_empty() || name.is_empty() {
            let sentence = format!("invalid object `{text}`");
            return Err(Error::new(ErrorKind::Usage, sentence)
                .hint("such as `Deployment/web`, or `NAMESPACE/KIND/NAME`"));
        }
        Ok(Self { namespace, kind, name })
    }

    /// The object by its name, or by one that it had before a kustomization changed it.
    fn find<'o>(&self, objects: &'o [Object], histories: &[History], target: &Path) -> Result<&'o Object> {
        let of_kind: Vec<&Object> = objects
            .iter()
            .filter(|object| object.kind().eq_ignore_ascii_case(self.kind))
            .filter(|object| self.namespace.is_none_or(|namespace| object.namespace() == namespace))
            .collect();
        let had = |object: &&&Object| {
            history_of(object, histories).is_some_and(|history| had_name(history, self.name))
        };
        let mut found: Vec<&Object> =
            of_kind.iter().filter(|object| object.name() == self.name).copied().collect();
        if found.is_empty() {
            found = of_kind.iter().filter(had).copied().collect();
        }
        match found.as_slice() {
            [object] => Ok(object),
            [] => Err(self.missing(objects, target)),
            several => {
                let named = |object: &&Object| match object.namespace() {
                    "" => object.to_string(),
                    namespace => format!("{namespace}/{object}"),
                };
                let names = several.iter().map(named).collect::<Vec<_>>().join(", ");
                let sentence = format!("there is more than one {}/{}", self.kind, self.name);
                Err(Error::new(ErrorKind::Invalid, sentence).hint(format!("say which: {names}")))
            }
        }
    }

    fn missing(&self, objects: &[Object], target: &Path) -> Error {
        let sentence = format!("no {1}/{2} in `{0}`", target.display(), self.kind, self.name);
        let error = Error::new(ErrorKind::Invalid, sentence);
        let of_kind = |object: &&Object| object.kind().eq_ignore_ascii_case(self.kind);
        let mut all: Vec<String> = objects.iter().filter(of_kind).map(ToString::to_string).collect();
        if all.is_empty() {
            all = objects.iter().map(ToString::to_string).collect();
        }
        let most = all.len().min(20);
        let more = if most < all.len() { ", …" } else { "" };
        if all.is_empty() {
            return error.hint("it does not contain any objects");
        }
        error.hint(format!("it has {}{more}", all[..most].join(", ")))
    }
}

/// A line for each link of a field's chain, with the values that went into it.
fn chain(object: &str, field: &Field) -> String {
    let mut text = format!("{object} {}\n", shown(&field.path));
    let width = |of: &dyn Fn(&Link) -> usize| field.chain.iter().map(of).max().unwrap_or_default();
    let places = width(&|link| location(link.place.as_ref()).chars().count());
    let steps = width(&|link| link.step.chars().count());
    for link in &field.chain {
        let place = location(link.place.as_ref());
        let _ = write!(text, "{place:places$}  {:steps$}  {}", link.step, cut(&link.value));
        if let Some(by) = &link.by {
            let _ = write!(text, "  (by {by})");
        }
        text.push('\n');
        let Some(line) = &link.line else { continue };
        let _ = writeln!(text, "    {}", line.text);
        for value in &line.values {
            let _ = write!(text, "    {}", value.expression);
            if let Some(through) = &value.through {
                let _ = write!(text, "  (in {through})");
            }
            text.push('\n');
            if value.changes.is_empty() {
                text.push_str("      nothing gives it\n");
            }
            for change in &value.changes {
                let place = location(change.place.as_ref());
                let _ = writeln!(text, "      {place}  {}  {}", change.effect.as_str(), cut(&change.value));
            }
        }
    }
    text
}

/// The fields as YAML, each value with the place that it comes from.
fn tree(explanation: &Explanation) -> String {
    let mut lines: Vec<(String, Option<String>)> = Vec::new();
    let mut open: Vec<Step> = Vec::new();
    for field in &explanation.fields {
        let common = open.iter().zip(&field.path).take_while(|(left, right)| left == right).count();
        // The dash of an item stands before its first key.
        let mut dashes = String::new();
        for (depth, step) in field.path.iter().enumerate().skip(common) {
            let indent = indent(&field.path[..depth]);
            let is_last = depth + 1 == field.path.len();
            match step {
                Step::Item(..) if is_last => {
                    let line = item(&indent, &mut dashes, &format!("- {}", cut(&field.value)));
                    lines.push((line, Some(note(field))));
                }
                Step::Item(..) => dashes.push_str("- "),
                Step::Key(key) if is_last => {
                    let line = item(&indent, &mut dashes, &format!("{key}: {}", cut(&field.value)));
                    lines.push((line, Some(note(field))));
                }
                Step::Key(key) => lines.push((item(&indent, &mut dashes, &format!("{key}:")), None)),
            }
        }
        open.clone_from(&field.path);
    }
    let width = lines.iter().map(|(line, _)| line.chars().count()).max().unwrap_or_default().min(MAX_INDENT);
    let mut text = String::new();
    for (line, note) in lines {
        match note {
            Some(note) => {
                let _ = writeln!(text, "{line:width$}  # {note}");
            }
            None => {
                let _ = writeln!(text, "{line}");
            }
        }
    }
    text
}

/// Blanks before what is at the end of a path.
fn indent(path: &[Step]) -> String {
    "  ".repeat(path.len())
}

/// A line with the dashes that are still to be written in its indentation.
fn item(indent: &str, dashes: &mut String, text: &str) -> String {
    let blanks = &indent[dashes.len().min(indent.len())..];
    format!("{blanks}{}{text}", std::mem::take(dashes))
}

/// The last link of a field's chain.
fn note(field: &Field) -> String {
    let Some(last) = field.chain.last() else { return "-".to_owned() };
    match &last.place {
        Some(place) if matches!(last.step.as_str(), "file" | "resources" | "template") => place.to_string(),
        Some(place) => format!("{} ({})", place, last.step),
        None => last.step.clone(),
    }
}

fn location(place: Option<&Location>) -> String {
    place.map_or_else(|| "-".to_owned(), ToString::to_string)
}

fn cut(value: &str) -> String {
    match value.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("{}…", &value[..end]),
        None => value.to_owned(),
    }
}

fn json_text(explanation: &Explanation) -> String {
    let fields: Vec<Json> = explanation.fields.iter().map(json_field).collect();
    let all = json!({"object": explanation.object, "fields": fields});
    format!("{all:#}\n")
}

fn json_field(field: &Field) -> Json {
    let chain: Vec<Json> = field.chain.iter().map(json_link).collect();
    json!({"path": shown(&field.path), "value": json_value(&field.value), "chain": chain})
}

fn json_link(link: &Link) -> Json {
    let mut all = json!({"step": link.step, "value": json_value(&link.value)});
    if let Some(place) = &link.place {
        all["place"] = json_place(place);
    }
    if let Some(by) = &link.by {
        all["by"] = json_place(by);
    }
    if let Some(line) = &link.line {
        let values = line.values.iter().map(|value| {
            let changes = value.changes.iter().map(|change| {
                let mut all = json!({"effect": change.effect.as_str(), "value": json_value(&change.value)});
                if let Some(place) = &change.place {
                    all["place"] = json_place(place);
                }
                all
            });
            let mut all = json!({"expression": value.expression, "changes": changes.collect::<Vec<_>>()});
            if let Some(through) = &value.through {
                all["through"] = json_place(through);
            }
            all
        });
        all["line"] = json!({"text": line.text, "values": values.collect::<Vec<_>>()});
    }
    all
}

fn json_place(place: &Location) -> Json {
    let (line, column) = place.source.line_column(place.span.start);
    json!({"file": place.source.name, "line": line, "column": column})
}

fn json_value(text: &str) -> Json {
    serde_json::from_str(text).unwrap_or_else(|_| Json::String(text.to_owned()))
}

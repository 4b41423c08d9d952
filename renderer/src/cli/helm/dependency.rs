//! `renderer helm dependency`: the charts that a chart depends on.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};
use diagnostic::Result;
use yamltree::{Entry, JsonOptions, Node, to_json, to_sigs_yaml};

use super::flags::{GlobalFlags, go_switch};
use super::source::{AccessFlags, HomeFlags, refuse_verification};
use super::table::table;
use super::talk;
use crate::dependencies::{self, Manager, Say, Status};
use crate::output;

const BUILD_EXAMPLES: &str = "\
Examples:
  # what Chart.lock says; without one, as `update`
  renderer helm dependency build charts/web";

const UPDATE_EXAMPLES: &str = "\
Examples:
  # the newest versions that fit, and a Chart.lock that says which
  renderer helm dependency update charts/web";

const LIST_EXAMPLES: &str = "\
Examples:
  renderer helm dependency list charts/web
  renderer helm dependency list charts/web -o json";

#[derive(Subcommand, Debug)]
#[command(defer = true)]
pub(in crate::cli) enum Command {
    /// Get the dependencies that the lock names
    #[command(after_help = BUILD_EXAMPLES)]
    Build(Box<Order>),
    /// List the dependencies and how they stand
    #[command(after_help = LIST_EXAMPLES, visible_alias = "ls")]
    List(List),
    /// Resolve the dependencies anew, get them and lock them
    #[command(after_help = UPDATE_EXAMPLES, visible_alias = "up")]
    Update(Box<Order>),
}

#[derive(Args, Debug)]
#[command(mut_args = go_switch)]
pub(in crate::cli) struct Order {
    /// The chart's folder
    #[arg(default_value = ".")]
    chart: PathBuf,

    /// Take the indexes of repositories as they were last
    #[arg(long)]
    skip_refresh: bool,

    /// Refused: signatures are not verified
    #[arg(long)]
    verify: bool,

    /// No effect: signatures are not verified
    #[arg(long, value_name = "FILE")]
    keyring: Option<PathBuf>,

    #[command(flatten)]
    access: AccessFlags,

    #[command(flatten)]
    home: HomeFlags,

    #[command(flatten)]
    global: GlobalFlags,
}

#[derive(Args, Debug)]
#[command(mut_args = go_switch)]
pub(in crate::cli) struct List {
    /// The chart: a folder or an archive
    #[arg(default_value = ".")]
    chart: PathBuf,

    /// Output format
    #[arg(short, long, value_name = "FORMAT", default_value = "table")]
    output: Format,

    /// Cut the table's cells to so many characters
    #[arg(long, value_name = "COUNT", default_value_t = 80)]
    max_col_width: usize,

    #[command(flatten)]
    global: GlobalFlags,
}

#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Table,
    Json,
    Yaml,
}

pub(super) fn run(command: &Command) -> Result<()> {
    match command {
        Command::Build(order) => order.run(|manager, say| manager.build(say)),
        Command::Update(order) => order.run(|manager, say| manager.update(say)),
        Command::List(arguments) => list(arguments),
    }
}

impl Order {
    fn run(&self, work: impl FnOnce(&Manager<'_>, Say<'_>) -> Result<()>) -> Result<()> {
        refuse_verification(self.verify)?;
        let sources = self.home.sources();
        let access = self.access.access();
        let folder = without_dots(&self.chart);
        let manager = Manager::new(&sources, &folder, &access, !self.skip_refresh)?;
        talk::aloud(|say| work(&manager, say))
    }
}

/// `./charts/web/` is shown as `charts/web`.
fn without_dots(path: &Path) -> PathBuf {
    let clean: PathBuf = path.components().filter(|part| part.as_os_str() != ".").collect();
    if clean.as_os_str().is_empty() { PathBuf::from(".") } else { clean }
}

fn list(arguments: &List) -> Result<()> {
    let path = without_dots(&arguments.chart);
    let listed = dependencies::list(&path)?;
    let text = match (arguments.output, listed) {
        (Format::Table, None) => format!("WARNING: no dependencies at {}\n", path.join("charts").display()),
        (Format::Table, Some((list, warnings))) => {
            let header = ["NAME", "VERSION", "REPOSITORY", "STATUS"].map(str::to_owned);
            let row = |Status { dependency, status }: Status| {
                let repository = diagnostic::redact(&dependency.repository).into_owned();
                [dependency.name, dependency.version, repository, status.to_owned()]
            };
            let rows: Vec<_> = std::iter::once(header).chain(list.into_iter().map(row)).collect();
            let warnings: String = warnings.iter().flat_map(|line| [line.as_str(), "\n"]).collect();
            format!("{}\n\n{warnings}", table(&rows, arguments.max_col_width))
        }
        (format, listed) => document(&listed.map(|(list, _)| list).unwrap_or_default(), format),
    };
    output::to_stdout(&text)
}

fn document(list: &[Status], format: Format) -> String {
    let field = |key, value: &str| Entry::new(key, Node::string(value));
    let item = |Status { dependency, status }: &Status| {
        Node::mapping(vec![
            field("name", &dependency.name),
            field("version", &dependency.version),
            field("repository", &diagnostic::redact(&dependency.repository)),
            field("status", status),
        ])
    };
    let root = Node::sequence(list.iter().map(item).collect());
    let mut text = String::new();
    if format == Format::Json {
        to_json(&root, JsonOptions::SIGS, &mut text).expect("strings have a form in JSON");
        text.push('\n');
    } else {
        to_sigs_yaml(&root, &mut text).expect("strings have a form in YAML");
    }
    text
}

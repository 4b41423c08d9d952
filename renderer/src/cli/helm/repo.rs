//! `renderer helm repo`: the list of repositories that names like `example/web` are looked up in, which is Helm's own.

use std::collections::HashSet;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use diagnostic::{Error, ErrorKind, Result, redact};
use yamltree::{Entry, JsonOptions, Node, to_json, to_sigs_yaml};

use super::flags::{GlobalFlags, go_switch};
use super::source::{AccessFlags, HomeFlags, duration, password_on_stdin};
use super::table::table;
use super::talk;
use crate::output;
use crate::remote::charts::OCI;
use crate::remote::charts::repositories::{self, Repositories, Repository};
use crate::report::Reporter;

const ADD_EXAMPLES: &str = "\
Examples:
  renderer helm repo add example https://charts.example.com

  # a private one
  renderer helm repo add private https://charts.example.com --username me --password-stdin < password";

const UPDATE_EXAMPLES: &str = "\
Examples:
  # the indexes of all repositories
  renderer helm repo update

  # of one
  renderer helm repo update example";

const LIST_EXAMPLES: &str = "\
Examples:
  renderer helm repo list -o json";

const REMOVE_EXAMPLES: &str = "\
Examples:
  renderer helm repo remove example";

/// Repositories that are gone for good, and where their charts are now.
const GONE: [(&str, &str); 2] = [
    ("//kubernetes-charts.storage.googleapis.com", "https://charts.helm.sh/stable"),
    ("//kubernetes-charts-incubator.storage.googleapis.com", "https://charts.helm.sh/incubator"),
];

#[derive(Subcommand, Debug)]
#[command(defer = true)]
pub(in crate::cli) enum Command {
    /// Add a repository under a name
    #[command(after_help = ADD_EXAMPLES)]
    Add(Box<Add>),
    /// List the repositories
    #[command(after_help = LIST_EXAMPLES, visible_alias = "ls")]
    List(List),
    /// Remove repositories
    #[command(after_help = REMOVE_EXAMPLES, visible_alias = "rm")]
    Remove(Remove),
    /// Get the indexes of repositories anew
    #[command(after_help = UPDATE_EXAMPLES, visible_alias = "up")]
    Update(Update),
}

#[derive(Args, Debug)]
#[command(mut_args = go_switch)]
pub(in crate::cli) struct Add {
    /// The name by which charts are found in it
    name: String,

    /// Its address
    url: String,

    #[command(flatten)]
    access: AccessFlags,

    /// Read the password from standard input
    #[arg(long)]
    password_stdin: bool,

    /// Replace what has the name already
    #[arg(long)]
    force_update: bool,

    /// Allow repositories that are known to be gone
    #[arg(long)]
    allow_deprecated_repos: bool,

    /// Time limit for an answer
    #[arg(long, value_name = "TIME", default_value = "2m0s", value_parser = duration)]
    timeout: Duration,

    #[command(flatten)]
    home: HomeFlags,

    #[command(flatten)]
    global: GlobalFlags,
}

#[derive(Args, Debug)]
#[command(mut_args = go_switch)]
pub(in crate::cli) struct List {
    /// Output format
    #[arg(short, long, value_name = "FORMAT", default_value = "table")]
    output: Format,

    /// Leave out the table's first line
    #[arg(long)]
    no_headers: bool,

    #[command(flatten)]
    home: HomeFlags,

    #[command(flatten)]
    global: GlobalFlags,
}

#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Table,
    Json,
    Yaml,
}

#[derive(Args, Debug)]
#[command(mut_args = go_switch)]
pub(in crate::cli) struct Remove {
    /// Their names
    #[arg(required = true)]
    names: Vec<String>,

    #[command(flatten)]
    home: HomeFlags,

    #[command(flatten)]
    global: GlobalFlags,
}

#[derive(Args, Debug)]
#[command(mut_args = go_switch)]
pub(in crate::cli) struct Update {
    /// Their names; all where none is given
    names: Vec<String>,

    /// Time limit for an answer
    #[arg(long, value_name = "TIME", default_value = "2m0s", value_parser = duration)]
    timeout: Duration,

    #[command(flatten)]
    home: HomeFlags,

    #[command(flatten)]
    global: GlobalFlags,
}

pub(super) fn run(command: Command, reporter: &mut Reporter) -> Result<()> {
    match command {
        Command::Add(arguments) => add(*arguments),
        Command::List(arguments) => list(&arguments, reporter),
        Command::Remove(arguments) => remove(&arguments),
        Command::Update(arguments) => update(&arguments),
    }
}

fn add(mut arguments: Add) -> Result<()> {
    arguments.check()?;
    arguments.read_password()?;
    let repository = arguments.repository();
    let name = &arguments.name;
    let sources = arguments.home.sources_within(arguments.timeout);
    let path = &sources.homes().repository_config;
    let _lock = repositories::lock(path)?;
    let mut repositories = Repositories::load(path)?.unwrap_or_default();
    if let Some(known) = repositories.get(name).filter(|_| !arguments.force_update) {
        if *known == repository {
            return output::to_stdout(&format!(
                "{name:?} already exists with the same configuration, skipping\n"
            ));
        }
        return Err(input(format!(
            "repository name ({name}) already exists, please specify a different name"
        ))
        .hint("--force-update replaces it"));
    }
    sources.refresh(&repository).map_err(|error| unreachable_repository(&arguments.url, &error))?;
    repositories.put(repository);
    repositories.store(path)?;
    output::to_stdout(&format!("{name:?} has been added to your repositories\n"))
}

impl Add {
    fn check(&self) -> Result<()> {
        let gone = GONE.iter().find(|(old, _)| self.url.contains(old) && !self.allow_deprecated_repos);
        if let Some((_, new)) = gone {
            return Err(input(format!("repo {:?} is no longer available; try {new:?} instead", self.url)));
        }
        if self.name.contains('/') {
            let name = &self.name;
            return Err(input(format!(
                "repository name ({name}) contains '/', please specify a different name without '/'"
            )));
        }
        Ok(())
    }

    fn read_password(&mut self) -> Result<()> {
        if !self.access.lacks_password() {
            return Ok(());
        }
        if !self.password_stdin {
            let sentence = "`--username` needs a password, and nobody is asked at the terminal";
            return Err(
                Error::new(ErrorKind::Usage, sentence).hint("give it by --password-stdin, or by --password")
            );
        }
        self.access.set_password(password_on_stdin()?);
        Ok(())
    }

    fn repository(&self) -> Repository {
        let access = self.access.access();
        Repository {
            name: self.name.clone(),
            url: self.url.clone(),
            username: self.access.username().to_owned(),
            password: self.access.password().filter(|password| !password.expose().is_empty()).cloned(),
            tls: access.tls,
            pass_credentials: access.pass_credentials,
        }
    }
}

fn unreachable_repository(url: &str, error: &Error) -> Error {
    let sentence = format!(
        "looks like {url:?} is not a valid chart repository or cannot be reached: {}",
        error.message()
    );
    let hint = if url.starts_with(OCI) {
        Some("a registry is not added: name its charts in full, `oci://…`")
    } else {
        error.get_hint()
    };
    let error = input(redact(&sentence));
    match hint {
        Some(hint) => error.hint(hint),
        None => error,
    }
}

fn list(arguments: &List, reporter: &mut Reporter) -> Result<()> {
    // As with helm, a list that cannot be read is an empty one.
    let repositories = Repositories::load(&arguments.home.homes().repository_config);
    let list = repositories.ok().flatten().unwrap_or_default().list;
    if list.is_empty() && arguments.output == Format::Table {
        reporter.notice("no repositories to show");
        return Ok(());
    }
    let text = match arguments.output {
        Format::Table => {
            let header = ["NAME".to_owned(), "URL".to_owned()];
            let rows = list.into_iter().map(|known| [known.name, redact(&known.url).into_owned()]);
            let header = (!arguments.no_headers).then_some(header);
            table(&header.into_iter().chain(rows).collect::<Vec<_>>(), usize::MAX) + "\n"
        }
        format => document(&list, format),
    };
    output::to_stdout(&text)
}

fn document(list: &[Repository], format: Format) -> String {
    let item = |repository: &Repository| {
        Node::mapping(vec![
            Entry::new("name", Node::string(&repository.name)),
            Entry::new("url", Node::string(&redact(&repository.url))),
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

fn remove(arguments: &Remove) -> Result<()> {
    let sources = arguments.home.sources();
    let path = &sources.homes().repository_config;
    let none = || input("no repositories configured");
    if Repositories::load(path)?.is_none() {
        return Err(none());
    }
    let _lock = repositories::lock(path)?;
    let mut repositories =
        Repositories::load(path)?.filter(|known| !known.list.is_empty()).ok_or_else(none)?;
    talk::aloud(|say| {
        for name in &arguments.names {
            if repositories.get(name).is_none() {
                return Err(input(format!("no repo named {name:?} found")));
            }
            repositories.list.retain(|repository| repository.name != *name);
            repositories.store(path)?;
            sources.forget(name)?;
            say(&format!("{name:?} has been removed from your repositories"));
        }
        Ok(())
    })
}

fn update(arguments: &Update) -> Result<()> {
    let sources = arguments.home.sources_within(arguments.timeout);
    let repositories = Repositories::load(&sources.homes().repository_config)?;
    let list = repositories.map(|repositories| repositories.list).filter(|list| !list.is_empty());
    let list = list.ok_or_else(|| input("no repositories found. You must add one before updating"))?;
    let known: HashSet<&str> = list.iter().map(|repository| repository.name.as_str()).collect();
    if let Some(unknown) = arguments.names.iter().find(|name| !known.contains(name.as_str())) {
        return Err(input(format!("no repositories found matching '{unknown}'.  Nothing will be updated")));
    }
    let is_meant =
        |repository: &&Repository| arguments.names.is_empty() || arguments.names.contains(&repository.name);
    let meant: Vec<&Repository> = list.iter().filter(is_meant).collect();
    talk::aloud(|say| {
        say("Hang tight while we grab the latest from your chart repositories...");
        let failed = sources.refresh_all(&meant, say);
        if !failed.is_empty() {
            let failed = failed.join(" ");
            return Err(input(format!("failed to update the following repositories: [{failed}]")));
        }
        say("Update Complete. ⎈Happy Helming!⎈");
        Ok(())
    })
}

fn input(sentence: impl Into<String>) -> Error {
    Error::new(ErrorKind::Invalid, sentence)
}

//! `renderer cmp generate`, `parameters` and `discover`: what argocd-cmp-server runs, in an application's folder.
//!
//! In: the working directory, and the variables of Argo CD. Out: on standard output what the server reads there. What is
//! wrong is one line on standard error, since Argo CD shows that as it is.

use std::collections::BTreeMap;
use std::env;
use std::sync::Arc;

use clap::Args;
use cmp_server::{Announcement, Failure};
use diagnostic::{Error, ErrorKind, Result};
use serde_json::{Map, Value};

use crate::cli::flags::BuildFlags;
use crate::cmp::{Confined, Session, root};
use crate::config::Config;
use crate::output;
use crate::render::{Event, side_by_side};
use crate::report::Reporter;

pub(super) const GENERATE_EXAMPLES: &str = "\
Examples:
  # in plugin.yaml, which argocd-cmp-server reads
  generate:
    command: [/usr/local/bin/renderer, cmp, generate, --enable-helm]

  # by hand, what Argo CD would show
  cd apps/web && ARGOCD_APP_NAME=web ARGOCD_APP_NAMESPACE=shop KUBE_VERSION=1.33.0 \\
    ARGOCD_APP_PARAMETERS='[{\"name\": \"helm-value-files\", \"array\": [\"prod.yaml\"]}]' renderer cmp generate";

pub(super) const PARAMETERS_EXAMPLES: &str = "\
Examples:
  # in plugin.yaml: the form of Argo CD's user interface
  parameters:
    dynamic:
      command: [/usr/local/bin/renderer, cmp, parameters]

  # which there are for a folder, and their values
  cd apps/web && renderer cmp parameters";

pub(super) const DISCOVER_EXAMPLES: &str = "\
Examples:
  # in plugin.yaml; it has Argo CD send the repository once more for every application without a plugin's name
  discover:
    find:
      command: [/usr/local/bin/renderer, cmp, discover]";

#[derive(Args, Debug)]
pub(in crate::cli) struct Arguments {
    #[command(flatten)]
    flags: BuildFlags,
}

/// The requested command.
#[derive(Clone, Copy, Debug)]
pub(super) enum Question {
    Manifests,
    Parameters,
    Support,
}

pub(super) fn run(question: Question, arguments: &Arguments, reporter: &mut Reporter) -> Result<()> {
    let config = Config::new(&arguments.flags, reporter)?;
    let folder = env::current_dir().and_then(|folder| folder.canonicalize());
    let folder = folder.map_err(|error| {
        Error::new(ErrorKind::Environment, format!("the working directory cannot be found: {error}"))
    })?;
    let path = variable("ARGOCD_APP_SOURCE_PATH");
    let root = root(&folder, path.as_deref()).to_owned();
    let repository = Arc::new(Confined::new(root.clone()));
    let session = Session::new(&config, Arc::clone(&repository) as _, &*repository, &root, &folder);
    let mut answer = None;
    // Documents nest deeper than a main thread's stack is.
    side_by_side(
        &[()],
        1,
        |_, ()| ask(question, &session),
        |event| {
            if let Event::Done(_, done) = event {
                answer = Some(done);
            }
        },
    )?;
    match answer {
        Some(Ok((text, warnings))) => {
            for warning in warnings {
                warning.report(reporter);
            }
            output::to_stdout(&text)
        }
        Some(Err(failure)) => {
            reporter.line(kind(&failure), &failure.to_string());
            Ok(())
        }
        None => Ok(()),
    }
}

type Answer = (String, Vec<crate::built::Warnings>);

fn ask(question: Question, session: &Session<'_>) -> Result<Answer, Failure> {
    let mut warnings = Vec::new();
    let text = match question {
        Question::Manifests => {
            let generated = session.generate(&variable, &mut |of_it| warnings.push(of_it))?;
            // JSON is YAML, and needs no second look at what is a text.
            generated.manifests.iter().map(|manifest| format!("---\n{manifest}\n")).collect()
        }
        Question::Parameters => {
            let announced = session.parameters(&variable)?.into_iter().map(json);
            format!("{:#}\n", Value::Array(announced.collect()))
        }
        Question::Support => {
            session.engine().map(|engine| format!("{}\n", engine.name())).unwrap_or_default()
        }
    };
    Ok((text, warnings))
}

/// A variable that is text.
fn variable(name: &str) -> Option<String> {
    env::var(name).ok()
}

fn kind(failure: &Failure) -> ErrorKind {
    if failure.is_transient() { ErrorKind::Environment } else { ErrorKind::Invalid }
}

/// An announcement as argocd-cmp-server reads it (`repository.ParameterAnnouncement`); what is empty is left out.
fn json(announcement: Announcement) -> Value {
    let mut fields = Map::new();
    let mut put = |name: &str, value: Value| drop(fields.insert(name.to_owned(), value));
    for (name, text) in [
        ("name", announcement.name),
        ("title", announcement.title),
        ("tooltip", announcement.tooltip),
        ("itemType", announcement.item_type),
        ("collectionType", announcement.collection_type),
        ("string", announcement.string),
    ] {
        if !text.is_empty() {
            put(name, text.into());
        }
    }
    if announcement.is_required {
        put("required", true.into());
    }
    if !announcement.array.is_empty() {
        put("array", announcement.array.into());
    }
    if !announcement.map.is_empty() {
        let map: BTreeMap<String, String> = announcement.map;
        put("map", Value::Object(map.into_iter().map(|(key, value)| (key, value.into())).collect()));
    }
    Value::Object(fields)
}

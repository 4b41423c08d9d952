//! `renderer kustomize edit`: the kustomization file of the working directory, edited in place.
//!
//! In: kustomize's commands. Out: the file, replaced whole, with every byte as it was that the edit does not concern.
//! Refused is what kustomize refuses, in its words; the file then stays as it is.

mod add;
mod fix;
mod remove;
mod set;

use std::path::Path;
use std::sync::Arc;
use std::{fs, io};

use clap::{Args, Subcommand};
use diagnostic::{Error, ErrorKind, Result};
use kustomize_edit::{FILE_NAMES, Kustomization, Sources};
use yamltree::Source;

use super::paths;
use crate::cli::helm::flags::go_switch;
use crate::output;
use crate::report::Reporter;

/// More than any kustomization has; it is read as a whole.
const MAX_FILE: u64 = 64 << 20;

#[derive(Subcommand, Debug)]
#[command(defer = true)]
pub(in crate::cli) enum Command {
    /// Add something
    #[command(subcommand)]
    Add(add::Command),
    /// Give deprecated fields the form that took their place
    #[command(after_help = fix::EXAMPLES)]
    Fix(fix::Arguments),
    /// Remove something
    #[command(subcommand)]
    Remove(remove::Command),
    /// Set something
    #[command(subcommand)]
    Set(set::Command),
}

pub(super) fn run(command: &Command, reporter: &mut Reporter) -> Result<()> {
    match command {
        Command::Add(command) => add::run(command, reporter),
        Command::Fix(arguments) => fix::run(arguments, reporter),
        Command::Remove(command) => remove::run(command, reporter),
        Command::Set(command) => set::run(command, reporter),
    }
}

/// The result of most of these commands.
type Edited = Result<()>;

/// Edits the kustomization file.
fn edit(reporter: &mut Reporter, work: impl FnOnce(&mut Kustomization<'_>) -> Edited) -> Result<()> {
    let name = find()?;
    let text = read(Path::new(name))?;
    let source = Arc::new(Source { name: name.to_owned(), text: text.as_str().into() });
    let failed = |error: Error| {
        error.located(|span| span.is_some().then(|| yamltree::Location { source: Arc::clone(&source), span }))
    };
    let mut kustomization = Kustomization::parse(&text).map_err(failed)?;
    work(&mut kustomization).map_err(failed)?;
    for note in kustomization.notes() {
        reporter.notice(note);
    }
    let edited = kustomization.finish().map_err(failed)?;
    if edited == text { Ok(()) } else { output::replace(Path::new(name), edited.as_bytes()) }
}

/// Which of its names the file has.
fn find() -> Result<&'static str> {
    let input = |sentence: String| Err(Error::new(ErrorKind::Invalid, sentence));
    let found: Vec<&'static str> = FILE_NAMES.into_iter().filter(|name| Path::new(name).exists()).collect();
    match found.as_slice() {
        [] => input("Missing kustomization file 'kustomization.yaml'.".to_owned()),
        [name] if Path::new(name).is_dir() => input(format!("{name} should be a file")),
        [name] => Ok(name),
        several => input(format!("Found multiple kustomization file: [{}]", several.join(" "))),
    }
}

fn read(path: &Path) -> Result<String> {
    let failed = |error: io::Error| Error::io("read", path, &error);
    if fs::metadata(path).map_err(failed)?.len() > MAX_FILE {
        let sentence = format!("`{}` is larger than {} MiB", path.display(), MAX_FILE >> 20);
        return Err(Error::new(ErrorKind::Invalid, sentence));
    }
    let bytes = fs::read(path).map_err(failed)?;
    String::from_utf8(bytes)
        .map_err(|_| Error::new(ErrorKind::Invalid, format!("`{}` is not valid UTF-8", path.display())))
}

/// A mistake on the command line, in kustomize's words.
fn usage(sentence: impl Into<String>) -> Error {
    Error::new(ErrorKind::Usage, sentence)
}

/// The paths that patterns name; a pattern that names nothing is noted.
fn named(patterns: &[String], reporter: &mut Reporter) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for pattern in patterns {
        let paths = paths::named(pattern)?;
        if paths.is_empty() {
            reporter.notice(&format!("{pattern} has no match"));
        }
        found.extend(paths);
    }
    Ok(found)
}

/// The sources of a generated ConfigMap or Secret.
#[derive(Args, Debug)]
pub(in crate::cli) struct SourceFlags {
    /// The name
    name: String,

    /// A file, as PATH or KEY=PATH; PATH may be a pattern
    #[arg(long, value_name = "[KEY=]PATH", value_delimiter = ',')]
    from_file: Vec<String>,

    /// A key with its value
    #[arg(long, value_name = "KEY=VALUE")]
    from_literal: Vec<String>,

    /// A file with a line KEY=VALUE for each entry
    #[arg(long, value_name = "PATH")]
    from_env_file: Option<String>,

    /// The namespace
    #[arg(long, value_name = "NAMESPACE")]
    namespace: Option<String>,

    /// Leave the hash out of the name
    #[arg(long = "disableNameSuffixHash")]
    disable_name_suffix_hash: bool,
}

impl SourceFlags {
    fn sources(&self, reporter: &mut Reporter) -> Result<Sources> {
        let mut files = Vec::new();
        for file in &self.from_file {
            let (key, pattern) = match file.split('=').collect::<Vec<_>>().as_slice() {
                [key, pattern] => (Some(*key), *pattern),
                [pattern, ..] => (None, *pattern),
                [] => continue,
            };
            let found = named(&[pattern.to_owned()], reporter)?;
            match (key, found.as_slice()) {
                (None, found) => files.extend_from_slice(found),
                (Some(key), [path]) => files.push(format!("{key}={path}")),
                (Some(_), found) => {
                    let caught = found.join(" ");
                    return Err(usage(format!(
                        "failed to expand file source: 'pattern '{file}' catches files [{caught}], should catch only one"
                    )));
                }
            }
        }
        Ok(Sources {
            name: self.name.clone(),
            namespace: self.namespace.clone().unwrap_or_default(),
            literals: self.from_literal.clone(),
            files,
            env_file: self.from_env_file.clone().unwrap_or_default(),
            disable_name_suffix_hash: self.disable_name_suffix_hash,
            ..Sources::default()
        })
    }
}

/// A patch as flags say it.
#[derive(Args, Debug)]
#[command(mut_args = go_switch)]
pub(in crate::cli) struct PatchFlags {
    /// The file of the patch
    #[arg(long, value_name = "PATH", default_value = "", hide_default_value = true)]
    path: String,

    /// The patch itself
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    patch: String,

    /// The group of what it is for
    #[arg(long, value_name = "GROUP", default_value = "", hide_default_value = true)]
    group: String,

    /// The version of its API
    #[arg(long, value_name = "VERSION", default_value = "", hide_default_value = true)]
    version: String,

    /// Its kind
    #[arg(long, value_name = "KIND", default_value = "", hide_default_value = true)]
    kind: String,

    /// Its name
    #[arg(long, value_name = "NAME", default_value = "", hide_default_value = true)]
    name: String,

    /// Its namespace
    #[arg(long, value_name = "NAMESPACE", default_value = "", hide_default_value = true)]
    namespace: String,

    /// A selector of its annotations
    #[arg(long, value_name = "SELECTOR", default_value = "", hide_default_value = true)]
    annotation_selector: String,

    /// A selector of its labels
    #[arg(long, value_name = "SELECTOR", default_value = "", hide_default_value = true)]
    label_selector: String,
}

impl PatchFlags {
    fn patch(&self) -> kustomize_edit::Patch {
        kustomize_edit::Patch {
            path: self.path.clone(),
            patch: self.patch.clone(),
            target: Some(kustomize_edit::Target {
                group: self.group.clone(),
                version: self.version.clone(),
                kind: self.kind.clone(),
                name: self.name.clone(),
                namespace: self.namespace.clone(),
                annotation_selector: self.annotation_selector.clone(),
                label_selector: self.label_selector.clone(),
            }),
            options: Vec::new(),
        }
    }
}

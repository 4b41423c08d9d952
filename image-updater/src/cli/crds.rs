//! `image-updater crds`: the CustomResourceDefinitions of what is looked for in a cluster.

use diagnostic::{Error, ErrorKind, Result};
use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use crate::crds::{self, Definition};
use crate::{disk, output};

const EXAMPLES: &str = "\
Examples:
  # have the API server know all kinds
  image-updater crds | kubectl apply --server-side -f -

  # only those of Flux, each in a file
  image-updater crds --output-dir crds/ ImageRepository ImagePolicy ImageUpdateAutomation";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Kinds, by the names that kubectl knows them by; all where none is named
    #[arg(value_name = "NAME")]
    names: Vec<String>,

    /// Write a file for each to this folder, which is made if need be
    #[arg(long, value_name = "DIR")]
    output_dir: Option<PathBuf>,

    /// Output format
    #[arg(short, long, value_enum, default_value_t, value_name = "FORMAT")]
    output: Format,
}

#[derive(ValueEnum, Clone, Copy, Debug, Default)]
enum Format {
    /// A document for each
    #[default]
    Yaml,
    /// One object, or a list of several
    Json,
}

pub(super) fn run(arguments: &Arguments) -> Result<()> {
    let chosen = choose(&arguments.names)?;
    match &arguments.output_dir {
        Some(folder) => write(&chosen, folder, arguments.output),
        None => output::to_stdout(&print(&chosen, arguments.output)?),
    }
}

/// The kinds that are named, each once, and in the order that they are named in.
fn choose(names: &[String]) -> Result<Vec<&'static Definition>> {
    let all = crds::all();
    if names.is_empty() {
        return Ok(all);
    }
    let mut chosen: Vec<&Definition> = Vec::new();
    for name in names {
        let Some(definition) = all.iter().find(|definition| definition.is_called(name)) else {
            let kinds: Vec<&str> = all.iter().map(|definition| definition.kind).collect();
            let error = Error::new(ErrorKind::Usage, format!("unknown kind `{name}`"));
            return Err(error.hint(format!("the kinds are {}", kinds.join(", "))));
        };
        if !chosen.iter().any(|other| other.kind == definition.kind) {
            chosen.push(definition);
        }
    }
    Ok(chosen)
}

fn print(chosen: &[&Definition], format: Format) -> Result<String> {
    let manifests: Vec<Value> = chosen.iter().map(|definition| definition.manifest()).collect();
    match (format, manifests.as_slice()) {
        (Format::Json, [one]) => output::json(one),
        (Format::Json, _) => output::json(&json!({ "apiVersion": "v1", "kind": "List", "items": manifests })),
        (Format::Yaml, _) => {
            let documents: Result<Vec<String>> = manifests.iter().map(output::yaml).collect();
            Ok(documents?.join("---\n"))
        }
    }
}

/// Writes the files, by the names that the originals have.
fn write(chosen: &[&Definition], folder: &Path, format: Format) -> Result<()> {
    let end = match format {
        Format::Yaml => "yaml",
        Format::Json => "json",
    };
    let failed = |error| Error::io("create the directory", folder, &error);
    fs::create_dir_all(folder).map_err(failed)?;
    for definition in chosen {
        let path = folder.join(format!("{}.{end}", definition.file_stem()));
        disk::replace(&path, &print(&[definition], format)?)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(names: &[&str]) -> Result<Vec<&'static str>> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        Ok(choose(&names)?.into_iter().map(|definition| definition.kind).collect())
    }

    #[test]
    fn kinds_are_chosen_by_name_each_once() {
        let all = ["ImagePolicy", "ImageRepository", "ImageUpdateAutomation", "ImageUpdater"];
        assert_eq!(chosen(&[]).unwrap(), all);
        let names = ["iua", "ImageUpdater", "imageupdaters.argocd-image-updater.argoproj.io"];
        assert_eq!(chosen(&names).unwrap(), ["ImageUpdateAutomation", "ImageUpdater"]);
        let error = chosen(&["imgpol", "pods"]).unwrap_err();
        assert_eq!((error.kind(), error.message()), (ErrorKind::Usage, "unknown kind `pods`"));
        assert!(error.get_hint().is_some_and(|help| help.contains("ImagePolicy")), "{error}");
    }

    /// kubectl takes documents of YAML, and of JSON one object.
    #[test]
    fn several_are_documents_or_a_list() {
        let all = crds::all();
        let text = print(&all, Format::Yaml).unwrap();
        assert_eq!(
            text.split("---\n").filter(|text| text.starts_with("apiVersion: apiext")).count(),
            all.len()
        );
        let list: Value = serde_json::from_str(&print(&all, Format::Json).unwrap()).unwrap();
        assert_eq!(
            (&list["kind"], list["items"].as_array().map(Vec::len)),
            (&json!("List"), Some(all.len()))
        );
        let one: Value = serde_json::from_str(&print(&all[..1], Format::Json).unwrap()).unwrap();
        assert_eq!(one["kind"], "CustomResourceDefinition");
    }

    #[test]
    fn each_is_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let below = folder.path().join("new/crds");
        for format in [Format::Yaml, Format::Json] {
            write(&crds::all()[..2], &below, format).unwrap();
        }
        let files =
            fs::read_dir(&below).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
        let mut files: Vec<String> = files.collect();
        files.sort();
        let wanted =
            ["imagepolicies.json", "imagepolicies.yaml", "imagerepositories.json", "imagerepositories.yaml"];
        assert_eq!(files, wanted.map(|name| format!("image.toolkit.fluxcd.io_{name}")));
        let text = fs::read_to_string(below.join(&files[1])).unwrap();
        assert_eq!(text, print(&crds::all()[..1], Format::Yaml).unwrap());
        let error = write(&crds::all(), &below.join(&files[0]), Format::Yaml).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Environment, "{error}");
    }
}

//! `renderer plan`: the order in which Argo CD applies manifests.
//!
//! In: manifests that are rendered already. Out: their phases and waves, as JSON for machines and as a table on a
//! terminal, with warnings of what Argo CD would pass over in silence.

use std::collections::{BTreeMap, HashSet};
use std::io::{self, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use argocd::objects::{self, Destination, Method, Object, Pipeline, Processed, ResourceFilter, Tracking};
use argocd::sync::{Options, Plan};
use clap::{Args, ValueEnum};
use files::{Disk, FileKind, Files, MAX_FILE};
use yamltree::Source;

use crate::error::{Error, ErrorKind, Result};
use crate::output;
use crate::report::Reporter;

const EXAMPLES: &str = "\
Examples:
  # what a chart's hooks and waves come to
  renderer helm template web charts/web | renderer plan -

  # everything that is in a folder
  renderer plan rendered/prod

  # what a change adds, moves and deletes
  renderer kustomize build overlays/prod | renderer plan - --previous rendered/prod.yaml

  # for a script
  renderer plan rendered/prod.yaml -o json | jq -r '.[] | select(.phase == \"Never\") | .name'";

/// No folder of manifests is deeper.
const MAX_FOLDERS: usize = 64;

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Files of manifests, or folders whose `.yaml`, `.yml` and `.json` files are read; `-` is standard input
    #[arg(value_name = "FILE", required = true)]
    manifests: Vec<PathBuf>,

    /// The format; a table on a terminal, JSON elsewhere
    #[arg(short, long, value_name = "FORMAT")]
    output: Option<Format>,

    /// The Application's destination namespace, for objects without one
    #[arg(short, long, value_name = "NAMESPACE", default_value = "", hide_default_value = true)]
    namespace: String,

    /// Make the destination namespace, as with `CreateNamespace=true`
    #[arg(long, requires = "namespace")]
    create_namespace: bool,

    /// The manifests that are applied now; what is not among the new ones is deleted
    #[arg(long, value_name = "FILE")]
    previous: Vec<PathBuf>,

    /// Delete after everything else, as with `PruneLast=true`
    #[arg(long, requires = "previous")]
    prune_last: bool,
}

#[derive(ValueEnum, Clone, Copy, Debug)]
enum Format {
    Json,
    Table,
}

pub(super) fn run(arguments: &Arguments, reporter: &mut Reporter) -> Result<()> {
    let new = settled(&arguments.manifests, &arguments.namespace)?;
    let old = settled(&arguments.previous, &arguments.namespace)?;
    reporter.warnings(&new.warnings);
    let options = Options {
        namespace: &arguments.namespace,
        create_namespace: arguments.create_namespace,
        old: &old.objects,
        prune_last: arguments.prune_last,
        excluded: &new.excluded,
    };
    let plan = Plan::new(&new.objects, &options);
    reporter.warnings(&plan.warnings);
    let is_table = match arguments.output {
        Some(format) => matches!(format, Format::Table),
        None => io::stdout().is_terminal(),
    };
    output::to_stdout(&if is_table { plan.to_table() } else { plan.to_json()? })
}

/// The objects of files as the controller would compare them, but without what it writes on them.
fn settled(paths: &[PathBuf], namespace: &str) -> Result<Processed> {
    let mut reading = Reading { disk: Disk::new(), folders: HashSet::new(), objects: Vec::new() };
    for path in paths {
        reading.read(path)?;
    }
    let pipeline = Pipeline {
        tracking: Tracking::new(&BTreeMap::new(), String::new(), Some(Method::None)),
        destination: Destination { server: String::new(), namespace: namespace.to_owned() },
        filter: ResourceFilter::default(),
    };
    Ok(pipeline.run(reading.objects)?)
}

/// Files and folders on their way to objects.
struct Reading {
    disk: Disk,
    /// Those that were read: symbolic links may lead back.
    folders: HashSet<PathBuf>,
    objects: Vec<Object>,
}

impl Reading {
    fn read(&mut self, path: &Path) -> Result<()> {
        if path == Path::new("-") {
            let mut bytes = Vec::new();
            // One byte more than is allowed shows that there are more.
            io::stdin().lock().take(MAX_FILE + 1).read_to_end(&mut bytes).map_err(|error| {
                Error::new(ErrorKind::Environment, format!("cannot read standard input: {error}"))
            })?;
            return self.parse("standard input", &bytes);
        }
        let absolute = self.disk.working_directory().join(path);
        match self.disk.resolve(&absolute).map_err(|error| Error::io("read", path, &error))? {
            (real, FileKind::File) => self.file(path, &real),
            (real, FileKind::Directory) => self.folder(path, real, 0),
        }
    }

    fn file(&mut self, shown: &Path, real: &Path) -> Result<()> {
        let bytes = self.disk.read(real).map_err(|error| Error::io("read", shown, &error))?;
        self.parse(&shown.display().to_string(), &bytes)
    }

    /// Reads the manifests of a folder and of those below it, in the order of their names.
    fn folder(&mut self, shown: &Path, folder: PathBuf, depth: usize) -> Result<()> {
        if depth == MAX_FOLDERS {
            let message = format!("`{}` is more than {MAX_FOLDERS} folders deep", shown.display());
            return Err(Error::new(ErrorKind::Input, message));
        }
        let names = self.disk.list(&folder).map_err(|error| Error::io("read", shown, &error))?;
        let paths: Vec<_> = names.iter().map(|name| (shown.join(name), folder.join(name))).collect();
        if !self.folders.insert(folder) {
            return Ok(());
        }
        for (shown, path) in paths {
            match self.disk.resolve(&path) {
                Ok((real, FileKind::Directory)) if !is_hidden(&path) => {
                    self.folder(&shown, real, depth + 1)?;
                }
                Ok((real, FileKind::File)) if is_manifest(&path) => self.file(&shown, &real)?,
                Err(error) if is_manifest(&path) => return Err(Error::io("read", &shown, &error)),
                _ => {}
            }
        }
        Ok(())
    }

    fn parse(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        let text = yamltree::decode(bytes, 0).map_err(|error| {
            Error::new(ErrorKind::Input, format!("`{name}` is no text: {}", error.message()))
        })?;
        let source = Source { name: name.to_owned(), text: text.as_ref().into() };
        self.objects.extend(objects::documents(&Arc::new(source))?);
        Ok(())
    }
}

fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
}

fn is_manifest(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ["yaml", "yml", "json"].iter().any(|it| ending == *it))
}

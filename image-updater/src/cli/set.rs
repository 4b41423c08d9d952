//! `image-updater set`: writes a version that a pipeline has just built.

use std::path::{Path, PathBuf};

use clap::Args;

use super::Format;
use crate::edit::{Outcome, Paths, Policy, Request, Source, TARGETS, Target, Version};
use crate::error::{Error, Result};
use crate::{diff, disk, find, output};

const EXAMPLES: &str = "\
Examples:
  # show what would change, wherever the image stands
  image-updater set registry.example/shop:1.4.2 --in deploy/

  # the tag in a values file
  image-updater set registry.example/shop:1.4.2 --write --target helmvalues:values.yaml --tag-path image.tag

  # an entry of a kustomization, with its digest
  image-updater set registry.example/shop:1.4.2@sha256:… --write --target kustomization:kustomization.yaml

  # what Flux's markers of a policy mark, also in templates
  image-updater set registry.example/shop:1.4.2 --write --target flux:release.yaml --policy flux-system:shop";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// The image with the tag, and the digest to pin it to
    #[arg(value_name = "IMAGE:TAG[@DIGEST]")]
    image: String,
    /// Write the files; without it the change is shown as a diff
    #[arg(long)]
    write: bool,
    /// The place to write to: kustomization, helmvalues, manifest, flux, application or argocd-source, with its file
    #[arg(long, value_name = "KIND:FILE")]
    target: Option<String>,
    /// Find the image's places in these files and folders
    #[arg(long = "in", value_name = "PATH", num_args = 1.., conflicts_with = "target")]
    within: Vec<PathBuf>,
    /// The path of the tag in values, as in `image.tag`, `containers[0].tag` or `a\.b.tag`
    #[arg(long, value_name = "PATH")]
    tag_path: Option<String>,
    /// The path of the name
    #[arg(long, value_name = "PATH")]
    name_path: Option<String>,
    /// The path of the registry, where the name stands without it
    #[arg(long, value_name = "PATH", requires = "name_path")]
    registry_path: Option<String>,
    /// The path of the whole reference
    #[arg(long, value_name = "PATH")]
    spec_path: Option<String>,
    /// The path of the digest; without one it goes behind the tag
    #[arg(long, value_name = "PATH")]
    digest_path: Option<String>,
    /// The ImagePolicy whose markers count
    #[arg(long, value_name = "NAMESPACE:NAME")]
    policy: Option<String>,
    /// How to print what was found
    #[arg(short, long, value_name = "FORMAT", default_value = "table")]
    output: Format,
}

pub(super) fn run(arguments: &Arguments) -> Result<()> {
    let request = request(arguments)?;
    let edits = match &arguments.target {
        Some(target) => vec![named(target, &request)?],
        None if arguments.within.is_empty() => {
            return Err(Error::input("nothing says where the image stands")
                .hint("name a file with `--target KIND:FILE`, or folders to look in with `--in`"));
        }
        None if request.paths.count() > 0 => {
            return Err(Error::input("paths are of one file, and `--in` looks for the places itself")
                .hint("name the file with `--target`"));
        }
        None => find::places(&arguments.within, &request)?,
    };
    // Nothing is written before all of it is known to be right.
    if arguments.write {
        for edit in edits.iter().filter(|edit| edit.is_change()) {
            disk::replace(&edit.file, &edit.new)?;
        }
    }
    output::to_stdout(&match arguments.output {
        Format::Json => json(&edits, arguments.write),
        Format::Table => table(&edits, arguments.write),
    })
}

fn request(arguments: &Arguments) -> Result<Request> {
    let path = |text: &Option<String>| {
        let path = text.as_deref().map(yamledit::Path::parse).transpose();
        path.map_err(|error| {
            let refusal = Error::input(error.message());
            match error.help() {
                Some(hint) => refusal.hint(hint),
                None => refusal,
            }
        })
    };
    let paths = Paths {
        tag: path(&arguments.tag_path)?,
        name: path(&arguments.name_path)?,
        registry: path(&arguments.registry_path)?,
        spec: path(&arguments.spec_path)?,
        digest: path(&arguments.digest_path)?,
    };
    Ok(Request {
        image_name: None,
        version: Version::parse(&arguments.image)?,
        paths,
        policy: arguments.policy.as_deref().map(Policy::parse).transpose()?,
        insists: arguments.target.is_some(),
    })
}

/// The edit of a file that was named.
fn named(target: &str, request: &Request) -> Result<find::Edit> {
    let kinds = || TARGETS.iter().map(|target| target.name).collect::<Vec<_>>().join(", ");
    let Some((kind, path)) = target.split_once(':').filter(|(_, path)| !path.is_empty()) else {
        return Err(Error::input(format!("`{target}` is no target"))
            .hint(format!("write it as KIND:FILE; the kinds are {}", kinds())));
    };
    let Some(target) = TARGETS.iter().find(|target| target.name == kind) else {
        return Err(
            Error::input(format!("there is no target `{kind}`")).hint(format!("the kinds are {}", kinds()))
        );
    };
    request.check(target)?;
    edit(target, path, request)
}

fn edit(target: &'static Target, path: &str, request: &Request) -> Result<find::Edit> {
    let file = disk::locate(Path::new(path), disk::root_of(Path::new(path)))?;
    let old = match disk::read(&file)? {
        Some(text) => text,
        None if target.creates_file => String::new(),
        None => return Err(Error::input(format!("there is no file `{path}`"))),
    };
    let new = match (target.edit)(&Source { path, text: &old }, request)? {
        Outcome::Changed(new) => new,
        Outcome::Right | Outcome::NotThere => old.clone(),
    };
    Ok(find::Edit { path: path.to_owned(), file, kinds: vec![target.name], old, new })
}

fn table(edits: &[find::Edit], is_written: bool) -> String {
    let line = |edit: &find::Edit| match (edit.is_change(), is_written) {
        (false, _) => format!("{}: unchanged ({})\n", edit.path, edit.kinds.join(", ")),
        (true, true) => format!("{}: changed ({})\n", edit.path, edit.kinds.join(", ")),
        (true, false) => diff::unified(&edit.path, &edit.old, &edit.new),
    };
    edits.iter().map(line).collect()
}

fn json(edits: &[find::Edit], is_written: bool) -> String {
    let object = |edit: &find::Edit| {
        let is_change = edit.is_change();
        let diff = is_change.then(|| diff::unified(&edit.path, &edit.old, &edit.new));
        serde_json::json!({
            "file": edit.path,
            "kinds": edit.kinds,
            "changed": is_change,
            "written": is_change && is_written,
            "diff": diff,
        })
    };
    let list: Vec<_> = edits.iter().map(object).collect();
    format!("{}\n", serde_json::Value::Array(list))
}

//! `image-updater set`: writes a version that a pipeline has just built, into files or with a pushed commit.

use diagnostic::{Error, Result};
use std::path::{Path, PathBuf};

use clap::Args;

use super::Format;
use super::question::clock;
use super::reach::Reach;
use crate::checkout::{self, Checkout};
use crate::config::Config;
use crate::edit::{Options, Paths, Policy, Request, TARGETS, Target, Version};
use crate::gate::Gate;
use crate::round::Plan;
use crate::set::{Places, SetPlanner, plan_of};
use crate::work::{Delivery, Files};
use crate::{diff, disk, find, output, report};

const EXAMPLES: &str = "\
Examples:
  # show what would change, wherever the image stands
  image-updater set registry.example/shop:1.4.2 --in deploy/

  # the tag in a values file
  image-updater set registry.example/shop:1.4.2 --write --target helmvalues:values.yaml --tag-path image.tag

  # an entry of a kustomization, with its digest
  image-updater set registry.example/shop:1.4.2@sha256:… --write --target kustomization:kustomization.yaml

  # commit it to the branch that is checked out, on the server, and leave the checkout alone
  image-updater set registry.example/shop:1.4.2 --push --in deploy/

  # open a pull request at the repository that a configuration names
  image-updater set registry.example/shop:1.4.2 --pr --config image-updater.yaml --in apps/shop

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
    /// Write the files and commit them with `git`
    #[arg(long, group = "delivery")]
    commit: bool,
    /// Commit to the branch on the server, and push; the files here stay
    #[arg(long, group = "delivery", conflicts_with = "write")]
    push: bool,
    /// Push to a branch of its own, and open or update a pull request
    #[arg(long, group = "delivery", conflicts_with = "write")]
    pr: bool,
    /// Configuration whose `git` section defines commits and the remote [default: `origin` of this checkout]
    #[arg(long, value_name = "FILE", requires = "delivery")]
    config: Option<PathBuf>,
    /// The place to write to: kustomization, helmvalues, manifest, flux, application, argocd-source or argocd-plugin, with its file
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
    /// Output format
    #[arg(short, long, value_name = "FORMAT", default_value = "table")]
    output: Format,
}

pub(super) fn run(arguments: &Arguments) -> Result<()> {
    let mut request = request(arguments)?;
    let target = arguments.target.as_deref().map(|target| parse_target(target, &request)).transpose()?;
    // A path of values that is typed is meant to be there.
    request.insists &= target.is_none_or(|(target, _)| target.options != Options::Paths);
    if target.is_none() && arguments.within.is_empty() {
        return Err(Error::invalid("no target says where the image is written")
            .hint("name a file with `--target KIND:FILE`, or directories to search with `--in`"));
    }
    if target.is_none() && request.paths.count() > 0 {
        return Err(Error::invalid("paths are of one file, and `--in` looks for the places itself")
            .hint("name the file with `--target`"));
    }
    if arguments.push || arguments.pr {
        return push(arguments, &request, target);
    }
    let edits = match target {
        Some((target, path)) => vec![edit(target, path, &request)?],
        None => find::places(&arguments.within, &request)?,
    };
    let commit = arguments.commit.then(|| commit_of(arguments, &edits, &request)).transpose()?;
    let writes = arguments.write || arguments.commit;
    // Nothing is written before all of it is known to be right.
    if writes {
        for edit in edits.iter().filter(|edit| edit.is_change()) {
            disk::replace(&edit.file, &edit.new)?;
        }
    }
    if let Some((root, plan, delivery)) = commit.filter(|(_, plan, _)| !plan.texts.is_empty()) {
        checkout::commit(&root, &plan, &delivery)?;
    }
    print(arguments, &edits, writes)
}

/// Returns what is to be committed in which work tree, with paths from its root.
fn commit_of(
    arguments: &Arguments,
    edits: &[find::Edit],
    request: &Request,
) -> Result<(PathBuf, Plan, Delivery)> {
    let config = arguments.config.as_deref().map(Config::load).transpose()?;
    let checkout = Checkout::around(Path::new("."))?;
    let mut edits = edits.to_vec();
    for edit in &mut edits {
        edit.path = within_repository(&checkout.prefix, Path::new(&edit.path))?;
    }
    let delivery = config.map(|config| config.batch.delivery).unwrap_or_default();
    Ok((checkout.root, plan_of(&edits, &request.version), delivery))
}

fn print(arguments: &Arguments, edits: &[find::Edit], is_written: bool) -> Result<()> {
    output::to_stdout(&match arguments.output {
        Format::Json => json(edits, is_written),
        Format::Table => table(edits, is_written),
    })
}

/// Commits on the server: of the repository that the configuration names, with paths from its root, or of the one that
/// this is a checkout of, with paths from here.
fn push(arguments: &Arguments, request: &Request, target: Option<(&'static Target, &str)>) -> Result<()> {
    let config = arguments.config.as_deref().map(Config::load).transpose()?;
    let (url, branch, prefix) = match config.as_ref().map(|config| &config.batch.files) {
        Some(Files::Remote { url, branch }) => (url.clone(), branch.clone(), String::new()),
        _ => {
            let checkout = Checkout::around(Path::new("."))?;
            (checkout.origin()?, Some(checkout.branch()?), checkout.prefix)
        }
    };
    let places = match target {
        Some((target, path)) => Places::Target(target, within_repository(&prefix, Path::new(path))?),
        None => {
            let within = arguments.within.iter().map(|path| within_repository(&prefix, path));
            Places::Within(within.collect::<Result<_>>()?)
        }
    };
    let planner = SetPlanner::new(request, places, clock()?);
    let default = Delivery::default();
    let delivery = config.as_ref().map_or(&default, |config| &config.batch.delivery);
    let reach = Reach {
        url: &url,
        branch: branch.as_deref(),
        delivery,
        config: config.as_ref(),
        cluster: None,
        with_request: arguments.pr,
        gate: &Gate::default(),
        now: planner.now,
    };
    let delivered = reach.deliver(&planner).map_err(|failed| failed.error)?;
    let (edits, kept) = planner.finish();
    if let Some(kept) = kept {
        report::note(&format!("kept `{kept}`, which somebody else has set in the meantime"));
    }
    print(arguments, &edits, delivered.pushed.is_some())
}

/// A path of the command line as one from the root of the repository.
fn within_repository(prefix: &str, path: &Path) -> Result<String> {
    let refuse = || Error::invalid(format!("`{}` is not a path in the repository", path.display()));
    let path = path.to_str().filter(|path| !path.starts_with('/')).ok_or_else(refuse)?;
    let mut parts: Vec<&str> = Vec::new();
    for part in prefix.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop().ok_or_else(refuse)?),
            part => parts.push(part),
        }
    }
    Ok(parts.join("/"))
}

fn request(arguments: &Arguments) -> Result<Request> {
    let path = |text: &Option<String>| {
        let path = text.as_deref().map(yamledit::Path::parse).transpose();
        path.map_err(|error| {
            let refusal = Error::invalid(error.message());
            match error.get_hint() {
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

/// The kind and the file of `KIND:FILE`.
fn parse_target<'t>(target: &'t str, request: &Request) -> Result<(&'static Target, &'t str)> {
    let kinds = || TARGETS.iter().map(|target| target.name).collect::<Vec<_>>().join(", ");
    let Some((kind, path)) = target.split_once(':').filter(|(_, path)| !path.is_empty()) else {
        return Err(Error::invalid(format!("invalid target `{target}`"))
            .hint(format!("write it as KIND:FILE; the kinds are {}", kinds())));
    };
    let Some(target) = TARGETS.iter().find(|target| target.name == kind) else {
        return Err(
            Error::invalid(format!("unknown target `{kind}`")).hint(format!("the kinds are {}", kinds()))
        );
    };
    request.check(target)?;
    Ok((target, path))
}

fn edit(target: &'static Target, path: &str, request: &Request) -> Result<find::Edit> {
    let file = disk::locate(Path::new(path), disk::root_of(Path::new(path)))?;
    let old = match disk::read(&file)? {
        Some(text) => text,
        None if target.creates_file => String::new(),
        None => return Err(Error::invalid(format!("the file `{path}` does not exist"))),
    };
    find::edit_named(target, path, file, old, request)
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

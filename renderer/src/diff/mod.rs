//! Compares everything that a repository renders before and after a change, as far as the change affects it.
//!
//! In: two states of the user's repository, or two sets of manifests. Out: [`manifest_diff::Target`]s of both sides. Every target
//! is rendered at the later state, and what it consulted is noted; only where some of that is another at the earlier one is
//! it rendered there too. What is unaffected is counted.

mod applications;
mod flux;
pub(crate) mod folders;
mod plan;
mod side;
mod targets;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use argocd::application::Overrides;
use manifest_diff::{Target, TargetKind};
use vfs::{Disk, Files};

use crate::argocd::Fleet;
use crate::config::Config;
use crate::manifests;
use crate::render::Renderer;
use diagnostic::{Error, ErrorKind, Result};
use side::States;

/// Two states to compare.
#[derive(Debug)]
pub(crate) struct Request<'r> {
    /// The paths to search; empty for the whole repository.
    pub(crate) paths: &'r [PathBuf],
    /// The earlier state.
    pub(crate) base: &'r str,
    /// The later state; the work tree where absent.
    pub(crate) head: Option<&'r str>,
    /// True if the earlier state is where the two lines of work parted.
    pub(crate) from_merge_base: bool,
    /// The context file.
    pub(crate) context: Option<&'r Path>,
    /// True if the context file of the later state counts for that state.
    pub(crate) trust_head: bool,
    /// Number of targets to render at a time.
    pub(crate) jobs: usize,
}

/// Both sides of a change.
#[derive(Debug, Default)]
pub(crate) struct Sides {
    /// The affected targets before the change.
    pub(crate) base: Vec<Target>,
    /// The affected targets after the change.
    pub(crate) head: Vec<Target>,
    /// Number of unaffected targets.
    pub(crate) unaffected: usize,
    /// The names of the two states.
    pub(crate) title: String,
    /// The errors.
    pub(crate) errors: Vec<Error>,
    /// Notices.
    pub(crate) notices: Vec<String>,
}

/// Renders both sides of a change in the repository that the working directory is in.
///
/// # Errors
/// A revision that is not here, a path that is on neither side, a context that cannot be read.
pub(crate) fn of_revisions(request: &Request<'_>, config: Config, overrides: &Overrides) -> Result<Sides> {
    let states = States::new(request, config)?;
    let mut sides = Sides { title: states.title.clone(), ..Sides::default() };
    applications::add(&states, request, overrides, &mut sides)?;
    flux::add(&states, request, overrides, &mut sides)?;
    let has_applications = !sides.base.is_empty() || !sides.head.is_empty() || sides.unaffected > 0;
    folders::add(&states, request, has_applications, &mut sides)?;
    Ok(sides)
}

/// The Applications of a repository that a change affects.
pub(crate) struct Affected {
    /// All Applications, rendered.
    pub(crate) fleet: Fleet,
    /// The names of those that are not affected.
    pub(crate) unaffected: HashSet<String>,
    /// The errors.
    pub(crate) errors: Vec<Error>,
    /// Notices.
    pub(crate) notices: Vec<String>,
}

/// Renders the Applications of a repository, and tells which of them a change affects.
///
/// # Errors
/// As [`of_revisions`].
pub(crate) fn affected(request: &Request<'_>, config: Config, overrides: &Overrides) -> Result<Affected> {
    let states = States::new(request, config)?;
    let mut sides = Sides::default();
    let (fleet, unaffected) = applications::affected(&states, request, overrides, &mut sides)?;
    Ok(Affected { fleet, unaffected, errors: sides.errors, notices: sides.notices })
}

/// Two sets of manifests: files, folders, kustomizations, charts, or standard input.
///
/// # Errors
/// If one of them is invalid.
pub(crate) fn of_manifests(base: &Path, head: &Path, config: Config) -> Result<Sides> {
    if base == head {
        let sentence = format!("`{}` is compared with itself", base.display());
        return Err(Error::new(ErrorKind::Usage, sentence).hint("name two sets of manifests, or a `--base`"));
    }
    let renderer = Renderer::new(config).with_places();
    let disk = Disk::new();
    let name = disk.display(head);
    let side = |path: &Path| -> Result<Vec<Target>> {
        let mut target = Target::rendered(TargetKind::Files, name.clone(), manifests::read(path, &renderer)?);
        target.apply.objects_in_files = path != Path::new("-");
        Ok(vec![target])
    };
    let title = format!("{} → {}", disk.display(base), name);
    Ok(Sides { base: side(base)?, head: side(head)?, title, ..Sides::default() })
}

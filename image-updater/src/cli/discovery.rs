//! Discovers the work that is defined for Flux and Argo CD Image Updater in the repository of a configuration.
//!
//! In: a configuration that says where to look. Out: what was found there: in the branch as the server has it, or in the
//! folder where no repository is named. What a branch says is read again only when it has moved.

use diagnostic::{Error, Result};
use std::path::Path;

use gitremote::ObjectId;
use jiff::Timestamp;

use super::reach::Reach;
use crate::config::Config;
use crate::deliver::tip;
use crate::dialect::{self, Found};
use crate::files::{Files, Folder};
use crate::find::{is_below, is_yaml};
use crate::gate::Gate;
use crate::work;

/// The discovered work.
pub(super) struct Discovered {
    /// The commit of the branch that it was read from.
    pub(super) tip: Option<ObjectId>,
    pub(super) found: Found,
}

/// Returns what there is; nothing where the branch still is at the commit that was read before.
///
/// # Errors
/// If the files cannot be had, or nothing is where it is looked for. What is wrong with single objects is in the
/// result.
pub(super) fn discover(
    config: &Config,
    seen: Option<ObjectId>,
    now: Timestamp,
) -> Result<Option<Discovered>> {
    let (url, branch) = match &config.batch.files {
        work::Files::Folder(folder) => {
            let found = read(config, &Folder::new(folder))?;
            return Ok(Some(Discovered { tip: None, found }));
        }
        work::Files::Remote { url, branch } => (url, branch.as_deref()),
        work::Files::Applications | work::Files::Nowhere => {
            return Err(Error::invalid("no files to search"));
        }
    };
    let (gate, delivery) = (Gate::default(), &config.batch.delivery);
    let reach = Reach {
        url,
        branch,
        delivery,
        config: Some(config),
        cluster: None,
        with_request: false,
        gate: &gate,
        now,
    };
    reach.on_server(|server| {
        let tip = tip(server)?.commit;
        if seen == Some(tip) {
            return Ok(None);
        }
        let found = read(config, &server.mirror.tree(tip)?)?;
        Ok(Some(Discovered { tip: Some(tip), found }))
    })
}

fn read(config: &Config, files: &dyn Files) -> Result<Found> {
    let paths = files.glob("**")?;
    let is_within = |path: &str, folder: &String| path == folder || is_below(path, folder);
    let is_there = |folder: &&String| !paths.iter().any(|path| is_within(path, folder));
    if let Some(missing) = config.discover.iter().find(is_there) {
        return Err(Error::invalid(format!("`discover`: no `{missing}` in the repository")));
    }
    let mut texts = Vec::new();
    for path in paths {
        let is_named = config.discover.contains(&path);
        let is_within = config.discover.iter().any(|folder| is_within(&path, folder));
        let is_wanted = is_named || dialect::tells(&path) || is_within && is_yaml(Path::new(&path));
        if !is_wanted {
            continue;
        }
        let Some(Ok(text)) = files.bytes(&path)?.map(String::from_utf8) else { continue };
        if dialect::concerns(&path, &text) {
            texts.push((path, text));
        }
    }
    let found = dialect::read(&texts, &config.batch.files);
    if found.batches.is_empty() && found.faults.is_empty() {
        let names = dialect::names().collect::<Vec<_>>().join(" or ");
        let within = config.discover.iter().map(|path| format!("`{path}`")).collect::<Vec<_>>().join(", ");
        return Err(Error::invalid(format!("no image found in {within} that {names} updates"))
            .hint("name the directory with the ImageUpdateAutomations, ImageUpdaters or Applications"));
    }
    Ok(found)
}

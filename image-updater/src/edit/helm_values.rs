//! Helm values: the scalars at given paths.
//!
//! A path that is not there is an error, never a new key.

use yamledit::{Edits, Path};

use super::{Options, Outcome, Request, Source, Target, Version};
use crate::error::{Error, Result};

pub(super) const TARGET: Target =
    Target { name: "helmvalues", options: Options::Paths, creates_file: false, edit };

fn edit(source: &Source<'_>, request: &Request) -> Result<Outcome> {
    let file = source.parse()?;
    let mut edits = Edits::new(&file);
    let find = |path: &Path| file.find(path).map_err(|error| at_path(source, &error, path));
    let written = |path: &Path| Ok(find(path)?.text().unwrap_or_default());
    for (path, value) in values(request, written)? {
        edits.set(find(path)?, &value).map_err(|error| at_path(source, &error, path))?;
    }
    edits.apply().map(Outcome::from).map_err(|error| source.error(&error))
}

/// What is to stand at each path, given what stands there.
pub(super) fn values<'f, 'r>(
    request: &'r Request,
    written: impl Fn(&Path) -> Result<&'f str>,
) -> Result<Vec<(&'r Path, String)>> {
    let Request { version, paths, .. } = request;
    let mut values = Vec::new();
    if let Some(path) = &paths.tag {
        let tag = if paths.digest.is_some() { version.tag.clone() } else { version.tag_and_digest() };
        values.push((path, tag));
    }
    if let Some(path) = &paths.digest {
        values.push((path, version.digest_for("`--digest-path`")?.to_owned()));
    }
    if let Some(path) = &paths.spec {
        values.push((path, version.reference(written(path)?)));
    }
    let registry = paths.registry.as_ref().map(&written).transpose()?;
    let name = paths.name.as_ref().map(&written).transpose()?;
    let [registry, name] = name_parts(version, registry, name);
    values.extend(paths.registry.as_ref().zip(registry));
    values.extend(paths.name.as_ref().zip(name));
    Ok(values)
}

/// The registry and the name to write where these stand now. The spelling of the same image stays.
fn name_parts(version: &Version, registry: Option<&str>, name: Option<&str>) -> [Option<String>; 2] {
    let joined = match (registry, name) {
        (Some(registry), Some(name)) => join(registry, name),
        (None, Some(name)) => name.to_owned(),
        _ => String::new(),
    };
    if version.is_of(&joined) {
        [registry.map(str::to_owned), name.map(str::to_owned)]
    } else if registry.is_none() {
        [None, Some(version.name.clone())]
    } else {
        [Some(version.repository.registry().to_owned()), Some(version.repository.name().to_owned())]
    }
}

/// A name of a registry and a repository that stand apart.
pub(super) fn join(registry: &str, name: &str) -> String {
    if registry.is_empty() { name.to_owned() } else { format!("{}/{name}", registry.trim_end_matches('/')) }
}

/// A refusal that names the path.
pub(super) fn at_path(source: &Source<'_>, error: &yamledit::Error, path: &Path) -> Error {
    let refusal = source.error(error);
    let named = Error::input(format!("`{}`: {}", path.as_str(), refusal.message()));
    let named = match refusal.place() {
        Some(place) => named.at(place.clone()),
        None => named,
    };
    match refusal.help() {
        Some(hint) => named.hint(hint),
        None => named,
    }
}

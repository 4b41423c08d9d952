//! Flux: scalars marked with `# {"$imagepolicy": "NAMESPACE:NAME[:tag|:name|:digest|:tag@digest]"}`.
//!
//! A file that is YAML is read as such, so that a marker within a text is a text; any other, such as a template, is
//! read line by line. A marker stands behind its value, or alone on the line above. No marker at all is no fault.

mod lines;
mod marker;
mod tree;

use super::{Options, Outcome, Parts, Request, Source, Target, Version};
use crate::error::{Error, Result};
pub(crate) use marker::{KEY as MARKER_KEY, Policy};
use marker::{Marker, Part};

pub(crate) const TARGET: Target =
    Target { name: "flux", options: Options::Policy, creates_file: false, edit };

fn edit(source: &Source<'_>, request: &Request) -> Result<Outcome> {
    let Some(policy) = &request.policy else { return Ok(Outcome::NotThere) };
    if !source.text.contains(MARKER_KEY) {
        return Ok(Outcome::NotThere);
    }
    match source.parse() {
        Ok(file) => tree::edit(source, &file, &request.version, policy),
        Err(_) => lines::edit(source, &request.version, policy),
    }
}

/// The policies whose markers in a file show that they are of an image: a name or a whole reference is marked.
pub(crate) fn policies_of(source: &Source<'_>, version: &Version) -> Vec<Policy> {
    if !source.text.contains(MARKER_KEY) {
        return Vec::new();
    }
    let marked = match source.parse() {
        Ok(file) => tree::marked(source.text, &file),
        Err(_) => lines::marked(source.text),
    };
    let shows = |(marker, text): &(Marker, String)| {
        matches!(marker.part, Part::Name | Part::Reference) && version.is_of(Parts::split(text).name)
    };
    marked.into_iter().filter(shows).map(|(marker, _)| marker.policy).collect()
}

/// What is to stand where a marker is.
fn wanted(part: Part, version: &Version, written: &str) -> Result<String> {
    Ok(match part {
        Part::Reference => version.reference(written),
        Part::Tag => version.tag.clone(),
        Part::Name if version.is_of(written) => written.to_owned(),
        Part::Name => version.name.clone(),
        Part::Digest => version.digest_for("the marker")?.to_owned(),
        Part::TagAndDigest => {
            version.digest_for("the marker")?;
            version.tag_and_digest()
        }
    })
}

/// An error at the place of a marker.
fn at(source: &Source<'_>, error: &Error, place: usize) -> Error {
    let placed = source.refuse(error.message(), place);
    match error.help() {
        Some(hint) => placed.hint(hint),
        None => placed,
    }
}

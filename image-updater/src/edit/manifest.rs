//! Manifests: `image` of every container of an image, in all documents of a file.
//!
//! A container is an item of a list named `containers`, `initContainers` or `ephemeralContainers`, in whatever kind.

use std::collections::HashSet;

use yamledit::{Anchors, Edits};
use yamltree::{Kind, Node};

use super::{Options, Outcome, Parts, Request, Source, Target, Version};
use crate::error::Result;

pub(super) const TARGET: Target =
    Target { name: "manifest", options: Options::None, creates_file: false, edit };

const CONTAINERS: [&str; 3] = ["containers", "initContainers", "ephemeralContainers"];

/// How many images a message names instead of the one that no container has.
const OFFERED: usize = 6;

fn edit(source: &Source<'_>, request: &Request) -> Result<Outcome> {
    let file = source.parse()?;
    let mut containers = Containers { anchors: file.anchors(), images: Vec::new(), shared: HashSet::new() };
    for document in file.documents() {
        containers.collect(&document.root).map_err(|error| source.error(&error))?;
    }
    let version = &request.version;
    let (matched, others): (Vec<_>, Vec<_>) =
        containers.images.iter().partition(|image| version.is_of(Parts::split(image.text).name));
    if matched.is_empty() {
        return if request.insists { Err(no_match(source, version, &others)) } else { Ok(Outcome::NotThere) };
    }
    let mut edits = Edits::new(&file);
    let edited: HashSet<*const Node> = matched
        .iter()
        .filter(|image| image.alias.is_none())
        .map(|image| std::ptr::from_ref(image.value))
        .collect();
    for image in matched {
        match image.alias {
            None => {
                let text = version.reference(image.text);
                edits.set(image.value, &text).map_err(|error| source.error(&error))?;
            }
            // It follows what it stands for.
            Some(_) if edited.contains(&std::ptr::from_ref(image.value)) => {}
            Some(alias) => {
                let at = alias.span.start as usize;
                let refusal = source.refuse(format!("the image `{}` is shared by an alias", image.text), at);
                return Err(refusal.hint("write it out here, or edit it where the anchor is"));
            }
        }
    }
    edits.apply().map(Outcome::from).map_err(|error| source.error(&error))
}

/// An image of a container.
struct Image<'f> {
    text: &'f str,
    /// The scalar.
    value: &'f Node,
    /// The alias by which the container has it, or the container that merges it in, if it is not its own.
    alias: Option<&'f Node>,
}

/// The images of containers, in the order of the text.
struct Containers<'f> {
    anchors: Anchors<'f>,
    images: Vec<Image<'f>>,
    /// The lists that were looked at by way of an alias.
    shared: HashSet<*const Node>,
}

impl<'f> Containers<'f> {
    fn collect(&mut self, node: &'f Node) -> Result<(), yamledit::Error> {
        match &node.kind {
            Kind::Scalar(_) | Kind::Alias(_) => {}
            Kind::Sequence(items) => items.iter().try_for_each(|item| self.collect(item))?,
            Kind::Mapping(entries) => {
                for entry in entries {
                    if entry.key.text().is_some_and(|key| CONTAINERS.contains(&key)) {
                        self.collect_list(&entry.value)?;
                    }
                    self.collect(&entry.value)?;
                }
            }
        }
        Ok(())
    }

    /// Aliases are looked through, so that a container that has its image by one is not passed over in silence.
    fn collect_list(&mut self, list: &'f Node) -> Result<(), yamledit::Error> {
        let is_alias = |node: &Node| matches!(node.kind, Kind::Alias(_));
        let Some(resolved) = self.anchors.resolve(list) else { return Ok(()) };
        if is_alias(list) && !self.shared.insert(std::ptr::from_ref(resolved)) {
            return Ok(());
        }
        for item in resolved.items().into_iter().flatten() {
            let Some(container) = self.anchors.resolve(item) else { continue };
            let Some(found) = self.anchors.get(container, "image")? else { continue };
            let written = &found.entry.value;
            let Some(value) = self.anchors.resolve(written) else { continue };
            let Some(text) = value.text() else { continue };
            let alias = [list, item, written].into_iter().find(|node| is_alias(node));
            self.images.push(Image { text, value, alias: alias.or(found.is_merged.then_some(item)) });
        }
        Ok(())
    }
}

fn no_match(source: &Source<'_>, version: &Version, images: &[&Image<'_>]) -> crate::error::Error {
    let refusal = source.refuse(format!("no container has the image `{}`", version.name), 0);
    let mut names: Vec<_> =
        images.iter().map(|image| format!("`{}`", Parts::split(image.text).name)).collect();
    names.sort_unstable();
    names.dedup();
    if names.is_empty() {
        return refusal.hint("the file has no containers");
    }
    let more = if names.len() > OFFERED { ", …" } else { "" };
    names.truncate(OFFERED);
    refusal.hint(format!("its images are {}{more}", names.join(", ")))
}

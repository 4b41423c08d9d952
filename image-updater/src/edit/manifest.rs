//! Manifests: `image` of every container of an image, in all documents of a file.
//!
//! A container is an item of a list named `containers`, `initContainers` or `ephemeralContainers`, in whatever kind.

use diagnostic::Result;
use std::collections::HashSet;

use yamledit::{Anchors, Edits, File};
use yamltree::{Kind, Node};

use super::{Options, Outcome, Parts, Request, Source, Target, Version};

pub(super) const TARGET: Target =
    Target { name: "manifest", options: Options::None, renames: false, creates_file: false, edit };

const CONTAINERS: [&str; 3] = ["containers", "initContainers", "ephemeralContainers"];

/// Maximum number of images a message names instead of the one that no container has.
const OFFERED: usize = 6;

fn edit(source: &Source<'_>, request: &Request) -> Result<Outcome> {
    let file = source.parse()?;
    let mut containers = Containers::of(&file);
    for document in file.documents() {
        containers.collect(&document.root, None).map_err(|error| source.error(&error))?;
    }
    let version = &request.version;
    let (matched, others): (Vec<_>, Vec<_>) =
        containers.images.iter().partition(|image| version.is_of(Parts::split(image.text).name));
    if matched.is_empty() {
        return if request.insists { Err(no_match(source, version, &others)) } else { Ok(Outcome::NotThere) };
    }
    let mut edits = Edits::new(&file);
    let own = matched.iter().filter(|image| image.alias.is_none());
    let edited: HashSet<*const Node> = own.map(|image| std::ptr::from_ref(image.value)).collect();
    for image in matched {
        image.check(source, &edited)?;
        if image.alias.is_none() {
            let text = version.reference(image.text);
            edits.set(image.value, &text).map_err(|error| source.error(&error))?;
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
    /// The offset of an enclosing key that is duplicated.
    doubled: Option<u32>,
}

impl Image<'_> {
    /// Refuses an image that would change by way of another place, or not at all.
    fn check(&self, source: &Source<'_>, edited: &HashSet<*const Node>) -> Result<()> {
        if let Some(key) = self.doubled {
            let refusal = source.refuse("a key above the image is there twice", key as usize);
            return Err(refusal.hint("remove the one that is not meant"));
        }
        match self.alias {
            // What it stands for is edited in its own right, and it follows.
            Some(alias) if !edited.contains(&std::ptr::from_ref(self.value)) => {
                let at = alias.span.start as usize;
                let refusal = source.refuse(format!("the image `{}` is shared by an alias", self.text), at);
                Err(refusal.hint("write it out here, or edit it where the anchor is"))
            }
            _ => Ok(()),
        }
    }
}

/// The images of containers, in the order of the text.
struct Containers<'f> {
    anchors: Anchors<'f>,
    images: Vec<Image<'f>>,
    /// The lists that were looked at by way of an alias.
    shared: HashSet<*const Node>,
    /// The offsets of duplicate keys.
    doubled: HashSet<u32>,
}

impl<'f> Containers<'f> {
    fn of(file: &'f File<'_>) -> Self {
        let duplicates = file.documents().iter().flat_map(|document| &document.duplicates);
        let doubled = duplicates.flat_map(|found| [found.first.start, found.again.start]).collect();
        Self { anchors: file.anchors(), images: Vec::new(), shared: HashSet::new(), doubled }
    }

    fn collect(&mut self, node: &'f Node, doubled: Option<u32>) -> Result<(), diagnostic::Error> {
        match &node.kind {
            Kind::Scalar(_) | Kind::Alias(_) => {}
            Kind::Sequence(items) => items.iter().try_for_each(|item| self.collect(item, doubled))?,
            Kind::Mapping(entries) => {
                for entry in entries {
                    let start = entry.key.span.start;
                    let doubled = doubled.or_else(|| self.doubled.contains(&start).then_some(start));
                    if entry.key.text().is_some_and(|key| CONTAINERS.contains(&key)) {
                        self.collect_list(&entry.value, doubled)?;
                    }
                    self.collect(&entry.value, doubled)?;
                }
            }
        }
        Ok(())
    }

    /// Aliases are looked through, so that a container that has its image by one is not passed over in silence.
    fn collect_list(&mut self, list: &'f Node, doubled: Option<u32>) -> Result<(), diagnostic::Error> {
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
            let alias = alias.or(found.is_merged.then_some(item));
            self.images.push(Image { text, value, alias, doubled });
        }
        Ok(())
    }
}

fn no_match(source: &Source<'_>, version: &Version, images: &[&Image<'_>]) -> diagnostic::Error {
    let refusal = source.refuse(format!("no container has the image `{}`", version.name), 0);
    let mut names: Vec<_> =
        images.iter().map(|image| format!("`{}`", Parts::split(image.text).name)).collect();
    names.sort_unstable();
    names.dedup();
    if names.is_empty() {
        return refusal.hint("the file does not contain any containers");
    }
    let more = if names.len() > OFFERED { ", …" } else { "" };
    names.truncate(OFFERED);
    refusal.hint(format!("its images are {}{more}", names.join(", ")))
}

#[cfg(test)]
mod tests {
    use crate::edit::testing::{check, check_refused};

    #[test]
    fn containers_are_found_in_any_kind() {
        check(
            "manifest",
            &[],
            &[
                (
                    "a:v2",
                    "x: {containers: [{image: a}]}\n---\ny: [{initContainers: [{image: 'a:v1@OLD'}]}]\n",
                    "x: {containers: [{image: a:v2}]}\n---\ny: [{initContainers: [{image: 'a:v2'}]}]\n",
                ),
                (
                    "r.test:5000/a:v2@NEW",
                    "containers:\n- image: r.test:5000/a\n- image: r.test/a\n- image: r.test:5000/a/b\n",
                    "containers:\n- image: r.test:5000/a:v2@NEW\n- image: r.test/a\n- image: r.test:5000/a/b\n",
                ),
                (
                    "a:v2",
                    "containers: [{image: a:v1}, {image: }, x, {}]\nimage: a:v1\n",
                    "containers: [{image: a:v2}, {image: }, x, {}]\nimage: a:v1\n",
                ),
                // An alias follows the anchor that is edited in its own right.
                (
                    "a:v2",
                    "containers: [{image: &i a:v1}, {image: *i}]\n",
                    "containers: [{image: &i a:v2}, {image: *i}]\n",
                ),
                (
                    "a:v2",
                    "x: {containers: &c [{image: a:v1}]}\ny: {containers: *c}\n",
                    "x: {containers: &c [{image: a:v2}]}\ny: {containers: *c}\n",
                ),
            ],
        );
    }

    #[test]
    fn what_is_shared_or_absent_is_refused() {
        check_refused(
            "manifest",
            &[],
            &[
                ("a:v2", "x: &i a:v1\ncontainers: [{image: *i}]\n", "shared by an alias"),
                ("a:v2", "x: &c [{image: a:v1}]\ncontainers: *c\n", "shared by an alias"),
                ("a:v2", "x: &c {image: a:v1}\ncontainers: [{<<: *c}]\n", "shared by an alias"),
                ("a:v2", "containers: [{image: a:v1, image: a:v0}]\n", "duplicate key `image`"),
                ("a:v2", "x: {containers: [{image: a:v1}]}\nx: {y: z}\n", "above the image is there twice"),
                ("a:v2", "containers: [{image: b}]\n", "no container has the image `a`"),
                ("a:v2", "containers:\n- image: >-\n    a:v1\n", "block scalar"),
                ("a:v2", "containers: [{image: a:v1}]\n---\n[", "not YAML"),
            ],
        );
    }
}

//! Values by the conventions of charts: `image: NAME:TAG`, and a mapping with `repository`, `tag` and perhaps `registry`
//! and `digest`. Such values are whole files, `spec.values` of a HelmRelease and `valuesObject` of an Application.

use diagnostic::Result;
use yamledit::{Anchors, Edits};
use yamltree::{Kind, Node};

use super::helm_values::join;
use super::{Options, Outcome, Parts, Request, Source, Target, Version};

pub(super) const TARGET: Target =
    Target { name: "helmvalues", options: Options::None, renames: false, creates_file: false, edit };

fn edit(source: &Source<'_>, request: &Request) -> Result<Outcome> {
    let file = source.parse()?;
    let mut values = Values {
        source,
        anchors: file.anchors(),
        edits: Edits::new(&file),
        version: &request.version,
        found: false,
    };
    for document in file.documents() {
        for node in values_in(&document.root) {
            values.visit(node)?;
        }
    }
    if !values.found {
        return Ok(Outcome::NotThere);
    }
    values.edits.apply().map(Outcome::from).map_err(|error| source.error(&error))
}

/// The values in a document, which is itself values unless it is an object of Kubernetes.
fn values_in(root: &Node) -> Vec<&Node> {
    let found = match root.get("kind").and_then(Node::text) {
        None => vec![Some(root)],
        Some(_) if root.get("apiVersion").is_none() => vec![Some(root)],
        Some("HelmRelease") => vec![root.lookup(&["spec", "values"])],
        Some("Application") => {
            let many = root.lookup(&["spec", "sources"]).and_then(Node::items).into_iter().flatten();
            let one = root.lookup(&["spec", "source"]).into_iter();
            one.chain(many).map(|source| source.lookup(&["helm", "valuesObject"])).collect()
        }
        Some(_) => Vec::new(),
    };
    found.into_iter().flatten().collect()
}

struct Values<'f> {
    source: &'f Source<'f>,
    anchors: Anchors<'f>,
    edits: Edits<'f>,
    version: &'f Version,
    found: bool,
}

impl<'f> Values<'f> {
    fn visit(&mut self, node: &'f Node) -> Result<()> {
        match &node.kind {
            Kind::Scalar(_) | Kind::Alias(_) => Ok(()),
            Kind::Sequence(items) => items.iter().try_for_each(|item| self.visit(item)),
            Kind::Mapping(entries) => {
                self.edit_mapping(node)?;
                entries.iter().try_for_each(|entry| self.visit(&entry.value))
            }
        }
    }

    fn edit_mapping(&mut self, node: &'f Node) -> Result<()> {
        if let Some((image, text)) = self.text(node, "image")?
            && Parts::split(text) != (Parts { name: text, tag: "", digest: "" })
            && self.version.is_of(Parts::split(text).name)
        {
            return self.set(image, &self.version.reference(text));
        }
        let Some((tag, _)) = self.text(node, "tag")? else { return Ok(()) };
        let name = match self.merged_text(node, "repository")? {
            Some(name) => Some(name),
            None => self.merged_text(node, "image")?,
        };
        let registry = self.merged_text(node, "registry")?.unwrap_or_default();
        if !name.is_some_and(|name| self.version.is_of(&join(registry, name))) {
            return Ok(());
        }
        match (self.text(node, "digest")?, self.version.digest.as_deref()) {
            (None, _) => self.set(tag, &self.version.tag_and_digest()),
            // A digest that is there would be preferred to the tag.
            (Some((digest, _)), wanted) => {
                self.set(digest, wanted.unwrap_or_default())?;
                self.set(tag, &self.version.tag)
            }
        }
    }

    /// The text of a mapping's own key; what it merges in is edited where it stands.
    fn text(&self, node: &'f Node, key: &str) -> Result<Option<(&'f Node, &'f str)>> {
        let found = self.anchors.get(node, key).map_err(|error| self.source.error(&error))?;
        let value = found.filter(|found| !found.is_merged).map(|found| &found.entry.value);
        Ok(value.and_then(|value| Some((value, self.anchors.resolve(value)?.text()?))))
    }

    fn merged_text(&self, node: &'f Node, key: &str) -> Result<Option<&'f str>> {
        let found = self.anchors.get(node, key).map_err(|error| self.source.error(&error))?;
        Ok(found.and_then(|found| self.anchors.resolve(&found.entry.value)).and_then(Node::text))
    }

    fn set(&mut self, node: &'f Node, text: &str) -> Result<()> {
        self.found = true;
        // Where a digest was never set, none goes.
        if text.is_empty() && node.text().is_some_and(str::is_empty) {
            return Ok(());
        }
        self.edits.set(node, text).map(drop).map_err(|error| self.source.error(&error))
    }
}

#[cfg(test)]
mod tests {
    use super::TARGET;
    use crate::edit::testing::{edit_by, request};

    #[test]
    fn places_are_known_by_what_charts_call_them() {
        for (image, before, after) in [
            ("r.test/a:v2", "image: r.test/a:v1\n", "image: r.test/a:v2\n"),
            ("r.test/a:v2", "i: {repository: r.test/a, tag: v1}\n", "i: {repository: r.test/a, tag: v2}\n"),
            (
                "r.test/a:v2",
                "i: {registry: r.test, repository: a, tag: ''}\n",
                "i: {registry: r.test, repository: a, tag: 'v2'}\n",
            ),
            ("r.test/a:v2", "i: {image: r.test/a, tag: v1}\n", "i: {image: r.test/a, tag: v2}\n"),
            (
                "r.test/a:v2@NEW",
                "i: {repository: r.test/a, tag: v1}\n",
                "i: {repository: r.test/a, tag: v2@NEW}\n",
            ),
            (
                "r.test/a:v2@NEW",
                "i: {repository: r.test/a, tag: v1, digest: ''}\n",
                "i: {repository: r.test/a, tag: v2, digest: 'NEW'}\n",
            ),
            (
                "r.test/a:v2",
                "i: {repository: r.test/a, tag: v1, digest: OLD}\n",
                "i: {repository: r.test/a, tag: v2, digest: \"\"}\n",
            ),
            (
                "r.test/a:v2",
                "x: &x {repository: r.test/a}\ni: {<<: *x, tag: v1}\n",
                "x: &x {repository: r.test/a}\ni: {<<: *x, tag: v2}\n",
            ),
            (
                "r.test/a:v2",
                "kind: HelmRelease\napiVersion: x\nspec: {values: {image: r.test/a:1}}\n",
                "kind: HelmRelease\napiVersion: x\nspec: {values: {image: r.test/a:v2}}\n",
            ),
            // Nothing of these is the image's.
            ("r.test/a:v2", "image: r.test/ab:v1\ntag: v1\n", "image: r.test/ab:v1\ntag: v1\n"),
            ("r.test/a:v2", "i: {repository: r.test/a}\n", "i: {repository: r.test/a}\n"),
            (
                "r.test/a:v2",
                "kind: X\napiVersion: v1\nimage: r.test/a:v1\n",
                "kind: X\napiVersion: v1\nimage: r.test/a:v1\n",
            ),
        ] {
            assert_eq!(edit_by(&TARGET, before, &request(image, &[])).unwrap(), after, "{before}");
        }
        let shared = "x: &x v1\ni: {repository: r.test/a, tag: *x}\n";
        assert!(edit_by(&TARGET, shared, &request("r.test/a:v2", &[])).is_err());
    }
}

//! The source of an Argo CD Application, where images are named in three ways: `kustomize.images`, Helm parameters and
//! `helm.valuesObject`.

use diagnostic::ErrorKind;
use diagnostic::Result;
use yamledit::{Anchors, Content, Edits, File, Path};
use yamltree::{Kind, Node};

use super::helm_values::{at_path, values};
use super::{Outcome, Parts, Request, Source, is_same_name};

/// Edits sources of one file.
pub(super) struct Sources<'f> {
    pub(super) source: &'f Source<'f>,
    pub(super) file: &'f File<'f>,
    pub(super) anchors: Anchors<'f>,
    pub(super) edits: Edits<'f>,
    pub(super) request: &'f Request,
}

impl<'f> Sources<'f> {
    pub(super) fn new(source: &'f Source<'f>, file: &'f File<'f>, request: &'f Request) -> Self {
        Self { source, file, anchors: file.anchors(), edits: Edits::new(file), request }
    }

    pub(super) fn apply(self) -> Result<Outcome> {
        let source = self.source;
        self.edits.apply().map(Outcome::from).map_err(|error| source.error(&error))
    }

    /// The entries of `kustomize.images` of the image. Says whether there are any.
    pub(super) fn edit_images(&mut self, node: &'f Node) -> Result<bool> {
        let mut is_matched = false;
        for item in self.below(node, &["kustomize", "images"])?.and_then(Node::items).into_iter().flatten() {
            let Some(text) = self.anchors.resolve(item).and_then(Node::text) else { continue };
            let Some(wanted) = self.override_of(text) else { continue };
            is_matched = true;
            self.set(item, &wanted)?;
        }
        Ok(is_matched)
    }

    /// Adds the image to `kustomize.images` where that, or `kustomize`, is there.
    pub(super) fn add_image(&mut self, node: &'f Node) -> Result<bool> {
        let Some(kustomize) = self.below(node, &["kustomize"])?.filter(|node| node.is_mapping()) else {
            return Ok(false);
        };
        let image: Content = self.request.image_override().as_str().into();
        match self.below(kustomize, &["images"])? {
            Some(images) => self.edits.push(images, image),
            None => self.edits.insert(kustomize, "images", Content::Sequence(vec![image])),
        }
        .map_err(|error| self.source.error(&error))?;
        Ok(true)
    }

    /// Returns what an entry `[OLD=]NEW[:TAG][@DIGEST]` becomes, if either name is the image's.
    fn override_of(&self, text: &str) -> Option<String> {
        let version = &self.request.version;
        let (old, new) = match text.split_once('=') {
            Some((old, new)) => (Some(old), new),
            None => (None, text),
        };
        let name = Parts::split(new).name;
        if let Some(wanted) = &self.request.image_name {
            let is_called = is_same_name(old.unwrap_or(name), wanted);
            return is_called.then(|| self.request.image_override());
        }
        let is_of = |name: &str| !name.is_empty() && version.is_of(name);
        if !(is_of(name) || old.is_some_and(is_of)) {
            return None;
        }
        let prefix = old.map(|old| format!("{old}=")).unwrap_or_default();
        Some(format!("{prefix}{name}:{}", version.tag_and_digest()))
    }

    /// The values at the request's paths, as Helm parameters or in `valuesObject`. Paths that are in neither are given
    /// back with what should stand there.
    pub(super) fn edit_values(&mut self, node: &'f Node) -> Result<Vec<(&'f Path, String)>> {
        let written = |path: &Path| {
            let found = self.find_value(node, path)?;
            Ok(found.and_then(|found| found.node().text()).unwrap_or_default())
        };
        let mut missing = Vec::new();
        for (path, value) in values(self.request, written)? {
            match self.find_value(node, path)? {
                Some(Found::Parameter { entry, value: node }) => self.set_parameter(entry, node, &value)?,
                Some(Found::Value(node)) => {
                    self.edits.set(node, &value).map_err(|error| at_path(self.source, &error, path))?;
                }
                None => missing.push((path, value)),
            }
        }
        Ok(missing)
    }

    /// The Helm parameters that charts have by convention: the tag beside a repository that is the image. Says whether
    /// there are any.
    pub(super) fn edit_conventional(&mut self, node: &'f Node) -> Result<bool> {
        let mut is_matched = false;
        for entry in self.below(node, &["helm", "parameters"])?.and_then(Node::items).into_iter().flatten() {
            let name = self.below(entry, &["name"])?.and_then(Node::text).unwrap_or_default();
            let image = self.below(entry, &["value"])?.and_then(Node::text).unwrap_or_default();
            let Some(prefix) = name.strip_suffix("repository") else { continue };
            if !self.request.version.is_of(image) {
                continue;
            }
            if let Some(Found::Parameter { entry, value }) = self.parameter(node, &format!("{prefix}tag"))? {
                is_matched = true;
                self.set_parameter(entry, value, &self.request.version.tag_and_digest())?;
            }
        }
        Ok(is_matched)
    }

    fn find_value(&self, node: &'f Node, path: &Path) -> Result<Option<Found<'f>>> {
        if let Some(found) = self.parameter(node, path.as_str())? {
            return Ok(Some(found));
        }
        let Some(values) = self.below(node, &["helm", "valuesObject"])? else { return Ok(None) };
        match self.file.find_below(values, path) {
            Ok(found) => Ok(Some(Found::Value(found))),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(at_path(self.source, &error, path)),
        }
    }

    /// The Helm parameter of a name.
    fn parameter(&self, node: &'f Node, name: &str) -> Result<Option<Found<'f>>> {
        let found = self.named(node, &["helm", "parameters"], "parameter", name)?;
        Ok(found.map(|(entry, value)| Found::Parameter { entry, value }))
    }

    /// The item of a name in a list of names and values, with its value.
    pub(super) fn named(
        &self,
        node: &'f Node,
        list: &[&str],
        what: &str,
        name: &str,
    ) -> Result<Option<(&'f Node, &'f Node)>> {
        let mut found = None;
        for entry in self.below(node, list)?.and_then(Node::items).into_iter().flatten() {
            if self.below(entry, &["name"])?.and_then(Node::text) != Some(name) {
                continue;
            }
            let at = entry.span.start as usize;
            let Some(value) = self.below(entry, &["value"])? else {
                return Err(self.source.refuse(format!("the {what} `{name}` lacks a value"), at));
            };
            if found.replace((entry, value)).is_some() {
                return Err(self.source.refuse(format!("the {what} `{name}` is there twice"), at));
            }
        }
        Ok(found)
    }

    /// Sets a parameter. Helm reads `12` and `true` as no strings, unless it is told to.
    fn set_parameter(&mut self, entry: &'f Node, value: &'f Node, text: &str) -> Result<()> {
        self.set(value, text)?;
        if !is_typed_by_helm(text) {
            return Ok(());
        }
        let Some(force) = self.below(entry, &["forceString"])? else {
            return self
                .edits
                .insert(entry, "forceString", Content::Bool(true))
                .map_err(|error| self.source.error(&error));
        };
        if force.text() == Some("true") {
            return Ok(());
        }
        let at = force.span.start as usize;
        Err(self.source.refuse(format!("without `forceString: true` Helm reads `{text}` as no string"), at))
    }

    pub(super) fn set(&mut self, node: &'f Node, text: &str) -> Result<()> {
        self.edits.set(node, text).map(drop).map_err(|error| self.source.error(&error))
    }

    /// Returns what is below a node by keys, through no alias but that of the node itself.
    pub(super) fn below(&self, node: &'f Node, keys: &[&str]) -> Result<Option<&'f Node>> {
        let mut node = node;
        for key in keys {
            let found = self.anchors.get(node, key).map_err(|error| self.source.error(&error))?;
            let Some(found) = found else { return Ok(None) };
            if found.is_merged || (matches!(found.entry.value.kind, Kind::Alias(_)) && *key != "name") {
                let at = found.entry.key.span.start as usize;
                return Err(self.source.refuse(format!("`{key}` is shared with other places"), at));
            }
            node = &found.entry.value;
        }
        Ok(Some(node))
    }
}

/// A value of a path.
#[derive(Clone, Copy)]
enum Found<'f> {
    Parameter { entry: &'f Node, value: &'f Node },
    Value(&'f Node),
}

impl<'f> Found<'f> {
    fn node(self) -> &'f Node {
        match self {
            Self::Parameter { value, .. } | Self::Value(value) => value,
        }
    }
}

/// Returns true if `helm --set` makes a text something else than a string: a boolean, null, or an integer without leading zeros.
pub(super) fn is_typed_by_helm(text: &str) -> bool {
    let is_integer = text == "0" || (!text.starts_with('0') && text.parse::<i64>().is_ok());
    is_integer || matches!(text.to_ascii_lowercase().as_str(), "true" | "false" | "null")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `strvals` of Helm types the values of `--set`.
    #[test]
    fn helm_types_whole_numbers_and_words() {
        for text in ["0", "12", "3108617", "true", "False", "null", "-1"] {
            assert!(is_typed_by_helm(text), "{text}");
        }
        for text in ["1.20", "012", "1e7", "v1", "yes", "99999999999999999999"] {
            assert!(!is_typed_by_helm(text), "{text}");
        }
    }
}

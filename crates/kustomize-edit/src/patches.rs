//! `edit add|remove patch`: `patches`.

use diagnostic::{Error, Result};
use yamledit::Content;

use crate::fields::{self, Fields};
use crate::kustomization::Kustomization;

/// An entry of `patches`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Patch {
    /// The file that it is in.
    pub path: String,
    /// Its text.
    pub patch: String,
    /// The target.
    pub target: Option<Target>,
    /// `allowNameChange` and `allowKindChange`, those that were said.
    pub options: Vec<(String, bool)>,
}

/// The target of a patch; empty fields match all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Target {
    /// The group of the API.
    pub group: String,
    /// The version of the API.
    pub version: String,
    /// The kind, as an expression.
    pub kind: String,
    /// The name, as an expression.
    pub name: String,
    /// The namespace, as an expression.
    pub namespace: String,
    /// A selector of annotations.
    pub annotation_selector: String,
    /// A selector of labels.
    pub label_selector: String,
}

impl Kustomization<'_> {
    /// Adds a patch. One that is there already is noted.
    ///
    /// # Errors
    /// If it has neither or both of path and text.
    pub fn add_patch(&mut self, mut patch: Patch) -> Result<()> {
        match (patch.path.is_empty(), patch.patch.is_empty()) {
            (false, false) => return Err(Error::invalid("patch and path can't be set at the same time")),
            (true, true) => return Err(Error::invalid("must provide either patch or path")),
            _ => patch.target = patch.target.filter(|target| *target != Target::default()),
        }
        if self.patches().contains(&patch) {
            self.note("the patch is already in kustomization file".to_owned());
        } else {
            self.append_patches(&[patch]);
        }
        Ok(())
    }

    /// Adds patches as they are, behind those that are there.
    pub fn append_patches(&mut self, patches: &[Patch]) {
        if !patches.is_empty() {
            fields::list(&mut self.fields, "patches").extend(patches.iter().map(Patch::content));
        }
    }

    /// Removes the patches that are just so.
    ///
    /// # Errors
    /// If path and text are both given.
    pub fn remove_patch(&mut self, mut patch: Patch) -> Result<()> {
        if !patch.path.is_empty() && !patch.patch.is_empty() {
            return Err(Error::invalid("patch and path can't be set at the same time"));
        }
        patch.target = patch.target.filter(|target| *target != Target::default());
        let stays: Vec<bool> = self.patches().iter().map(|known| *known != patch).collect();
        if stays.iter().all(|stays| *stays) {
            self.note("the patch doesn't exist in kustomization file".to_owned());
            return Ok(());
        }
        let mut stays = stays.into_iter();
        fields::list(&mut self.fields, "patches").retain(|_| stays.next().unwrap_or(true));
        fields::drop_empty(&mut self.fields, "patches");
        Ok(())
    }

    fn patches(&self) -> Vec<Patch> {
        match fields::get(&self.fields, "patches") {
            Some(Content::Sequence(items)) => items.iter().map(Patch::read).collect(),
            _ => Vec::new(),
        }
    }
}

impl Patch {
    fn read(item: &Content) -> Self {
        let entries = fields::entries(item);
        let text = |name| fields::text(entries, name).to_owned();
        let target = fields::get(entries, "target").map(|target| Target::read(fields::entries(target)));
        let options = fields::get(entries, "options").map(fields::entries).unwrap_or_default();
        let option = |(key, value): &(String, Content)| match value {
            Content::Bool(value) => Some((key.clone(), *value)),
            _ => None,
        };
        Self {
            path: text("path"),
            patch: text("patch"),
            target,
            options: options.iter().filter_map(option).collect(),
        }
    }

    fn content(&self) -> Content {
        let mut entries = Fields::new();
        fields::set_text(&mut entries, "path", &self.path);
        fields::set_text(&mut entries, "patch", &self.patch);
        if let Some(target) = self.target.as_ref().filter(|target| **target != Target::default()) {
            entries.push(("target".to_owned(), target.content()));
        }
        if !self.options.is_empty() {
            let options = self.options.iter().map(|(key, value)| (key.clone(), Content::Bool(*value)));
            entries.push(("options".to_owned(), Content::Mapping(options.collect())));
        }
        Content::Mapping(entries)
    }
}

impl Target {
    fn read(entries: &[(String, Content)]) -> Self {
        let text = |name| fields::text(entries, name).to_owned();
        Self {
            group: text("group"),
            version: text("version"),
            kind: text("kind"),
            name: text("name"),
            namespace: text("namespace"),
            annotation_selector: text("annotationSelector"),
            label_selector: text("labelSelector"),
        }
    }

    fn content(&self) -> Content {
        let mut entries = Fields::new();
        for (field, text) in [
            ("group", &self.group),
            ("version", &self.version),
            ("kind", &self.kind),
            ("name", &self.name),
            ("namespace", &self.namespace),
            ("annotationSelector", &self.annotation_selector),
            ("labelSelector", &self.label_selector),
        ] {
            fields::set_text(&mut entries, field, text);
        }
        Content::Mapping(entries)
    }
}

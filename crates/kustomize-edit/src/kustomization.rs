//! A kustomization file between reading and writing.

use diagnostic::Result;
use yamledit::{Content, Edits, File};

use crate::fields::{self, Fields};
use crate::schema;

const API_VERSION: &str = "kustomize.config.k8s.io/v1beta1";
const COMPONENT_API_VERSION: &str = "kustomize.config.k8s.io/v1alpha1";

/// A kustomization file that is being edited.
#[derive(Debug)]
pub struct Kustomization<'t> {
    file: File<'t>,
    /// The new content.
    pub(crate) fields: Fields,
    notes: Vec<String>,
}

impl<'t> Kustomization<'t> {
    /// Reads a file.
    ///
    /// # Errors
    /// If Kustomize would not read it.
    pub fn parse(text: &'t str) -> Result<Self> {
        let file = File::parse(text, 0).map_err(|error| error.prefix("invalid Kustomization: yaml"))?;
        let root = file.documents().first().map(|document| &document.root);
        let content = file.content()?;
        let fields = match (root, content) {
            (None, _) => Vec::new(),
            (Some(_), content) if fields::is_null(&content) => Vec::new(),
            (Some(root), content) => {
                schema::check(root, &content)?;
                match content {
                    Content::Mapping(entries) => entries,
                    _ => Vec::new(),
                }
            }
        };
        let mut kustomization = Self { file, fields, notes: Vec::new() };
        kustomization.bring_up_to_date();
        Ok(kustomization)
    }

    /// The file's new text.
    ///
    /// # Errors
    /// If a place cannot be edited, such as one with an anchor that other places use.
    pub fn finish(self) -> Result<String> {
        let mut edits = Edits::new(&self.file);
        edits.reconcile_to(&Content::Mapping(self.fields))?;
        Ok(edits.apply()?.unwrap_or_else(|| self.file.text().to_owned()))
    }

    /// Returns what there is to say beside: entries that were there already.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    pub(crate) fn note(&mut self, note: String) {
        self.notes.push(note);
    }

    /// As Kustomize's `FixKustomization`, but for `helmChartInflationGenerator`, which means the same where it is.
    fn bring_up_to_date(&mut self) {
        let is_component = fields::text(&self.fields, "kind") == "Component";
        if fields::text(&self.fields, "apiVersion").is_empty() {
            let version = if is_component { COMPONENT_API_VERSION } else { API_VERSION };
            fields::set_text(&mut self.fields, "apiVersion", version);
        }
        if fields::text(&self.fields, "kind").is_empty() {
            fields::set_text(&mut self.fields, "kind", "Kustomization");
        }
        for (old, new) in [("bases", "resources"), ("imageTags", "images")] {
            if let Some(Content::Sequence(items)) = fields::remove(&mut self.fields, old) {
                fields::list(&mut self.fields, new).extend(items);
            }
        }
        for generator in ["configMapGenerator", "secretGenerator"] {
            if fields::get(&self.fields, generator).is_some() {
                fields::list(&mut self.fields, generator).iter_mut().for_each(name_env_files);
            }
        }
    }
}

/// A generator's `env` becomes the last of its `envs`.
fn name_env_files(generator: &mut Content) {
    let Some(entries) = fields::entries_mut(generator) else { return };
    if let Some(env @ Content::String(_)) = fields::get(entries, "env").cloned() {
        fields::remove(entries, "env");
        if env != Content::String(String::new()) {
            fields::list(entries, "envs").push(env);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> (String, Option<u32>) {
        let error = Kustomization::parse(text).unwrap_err();
        (
            error.message().to_owned(),
            Some(error.span()).filter(yamltree::Span::is_some).map(|span| span.start),
        )
    }

    #[test]
    fn what_kustomize_would_not_read_is_refused_with_its_place() {
        let (message, _) = refusal("a: [\n");
        assert!(message.starts_with("invalid Kustomization: yaml: "), "{message}");
        assert_eq!(
            refusal("namespace: a\nnamespce: b\n"),
            ("invalid Kustomization: json: unknown field \"namespce\"".to_owned(), Some(13))
        );
        assert_eq!(refusal("resources:\n- a\n- 1\n").1, Some(17), "the item that is not valid UTF-8");
        assert!(refusal("images: []\nImages: []\n").0.contains("is there twice"));
    }

    #[test]
    fn a_current_file_that_nothing_is_done_to_stays() {
        let text = "kind: Kustomization\napiVersion: kustomize.config.k8s.io/v1beta1 # c\nresources: [ a ]\n";
        assert_eq!(Kustomization::parse(text).unwrap().finish().unwrap(), text);
    }

    #[test]
    fn old_fields_become_new_ones_in_their_places() {
        let text = "bases: # b\n- ../base # c\nconfigMapGenerator:\n- name: a\n  env: x.env\n";
        assert_eq!(
            Kustomization::parse(text).unwrap().finish().unwrap(),
            "resources: # b\n- ../base # c\nconfigMapGenerator:\n- name: a\n  envs:\n  - x.env\n\
             apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"
        );
    }
}

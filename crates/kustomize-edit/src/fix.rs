//! `edit fix`: deprecated fields become those that took their places.

use diagnostic::{Error, Result};
use yamledit::Content;

use crate::fields;
use crate::kustomization::Kustomization;

impl Kustomization<'_> {
    /// Has `patchesJson6902` and `patchesStrategicMerge` be `patches`, and `commonLabels` an entry of `labels`.
    /// `is_file` says of a strategic merge patch whether it is the path of a file.
    ///
    /// # Errors
    /// If a label is in `labels` too.
    pub fn fix(&mut self, is_file: impl Fn(&str) -> bool) -> Result<()> {
        let mut patches = Vec::new();
        if let Some(Content::Sequence(json)) = fields::remove(&mut self.fields, "patchesJson6902") {
            patches.extend(json);
        }
        if let Some(Content::Sequence(merges)) = fields::remove(&mut self.fields, "patchesStrategicMerge") {
            let patch = |merge: Content| {
                let is_path = matches!(&merge, Content::String(text) if is_file(text));
                Content::Mapping(vec![(if is_path { "path" } else { "patch" }.to_owned(), merge)])
            };
            patches.extend(merges.into_iter().map(patch));
        }
        if !patches.is_empty() {
            fields::list(&mut self.fields, "patches").extend(patches);
        }
        self.fix_common_labels()
    }

    fn fix_common_labels(&mut self) -> Result<()> {
        let Some(Content::Mapping(common)) = fields::get(&self.fields, "commonLabels").cloned() else {
            return Ok(());
        };
        fields::remove(&mut self.fields, "commonLabels");
        if common.is_empty() {
            return Ok(());
        }
        let labels = fields::list(&mut self.fields, "labels");
        let pairs = labels.iter().filter_map(|label| fields::get(fields::entries(label), "pairs"));
        let mut keys = pairs.flat_map(fields::entries).map(|(key, _)| key);
        if let Some(key) = keys.find(|key| common.iter().any(|(known, _)| known == *key)) {
            let sentence = format!("label name '{key}' exists in both commonLabels and labels");
            return Err(Error::invalid(sentence));
        }
        labels.push(Content::Mapping(vec![
            ("includeSelectors".to_owned(), Content::Bool(true)),
            ("pairs".to_owned(), Content::Mapping(common)),
        ]));
        Ok(())
    }
}

//! `edit set nameprefix|namesuffix|namespace`: the fields that are one text.

use crate::fields;
use crate::kustomization::Kustomization;

impl Kustomization<'_> {
    /// Sets `namePrefix`; an empty one goes.
    pub fn set_name_prefix(&mut self, prefix: &str) {
        fields::set_text(&mut self.fields, "namePrefix", prefix);
    }

    /// Sets `nameSuffix`; an empty one goes.
    pub fn set_name_suffix(&mut self, suffix: &str) {
        fields::set_text(&mut self.fields, "nameSuffix", suffix);
    }

    /// Sets `namespace`; an empty one goes.
    pub fn set_namespace(&mut self, namespace: &str) {
        fields::set_text(&mut self.fields, "namespace", namespace);
    }
}

//! The field specifications of a build: the built-in ones and those that `configurations` and `crds` add.
//!
//! Kustomize merges them list by list. A specification whose kinds are among those of one that is there already, with
//! the same path, is taken as that one; the two must agree on `create`.

mod builtin;
mod crds;
mod name_references;

use std::collections::HashMap;
use std::ops::Deref;
use std::sync::{Arc, LazyLock};

use compact_str::CompactString;
use diagnostic::{Error, Result};
use yamltree::Node;

use crate::context::Context;
use crate::decode::{Located, Object, Reading};
use crate::fieldspec::{FieldSpec, Missing};
use crate::kustomization::Kustomization;
use crate::loader::Loader;
use crate::resid::Gvk;
use crate::resource::Resource;
use crate::sort;

/// The field specifications in force. A clone shares the lists.
#[derive(Clone, Debug, Default)]
pub(crate) struct TransformerConfig(Arc<Lists>);

/// One list of field specifications for each transformer that works by them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lists {
    pub(crate) name_prefix: FieldSpecs,
    pub(crate) name_suffix: FieldSpecs,
    pub(crate) namespace: FieldSpecs,
    pub(crate) common_labels: FieldSpecs,
    pub(crate) labels: FieldSpecs,
    pub(crate) template_labels: FieldSpecs,
    pub(crate) common_annotations: FieldSpecs,
    pub(crate) var_reference: FieldSpecs,
    pub(crate) images: FieldSpecs,
    pub(crate) replicas: FieldSpecs,
    pub(crate) name_reference: Vec<NameReference>,
}

/// The fields that one transformer works on. A clone shares them.
#[derive(Clone, Debug, Default)]
pub(crate) struct FieldSpecs(Arc<Vec<FieldSpec>>);

/// The fields that hold the name of a resource of some kind.
#[derive(Clone, Debug)]
pub(crate) struct NameReference {
    /// The kind whose resources are referred to.
    pub(crate) gvk: Gvk,
    /// The fields that refer to them.
    pub(crate) referrers: FieldSpecs,
}

/// Adds what a kustomization brings: the built-in specifications, those of its `configurations` and of its `crds`.
pub(crate) fn extend(
    config: &mut TransformerConfig,
    kustomization: &Kustomization,
    loader: &Loader,
    cx: &Context<'_>,
) -> Result<()> {
    let mut configured = TransformerConfig::default();
    for entry in kustomization.strings("configurations")? {
        let read = read(&entry, loader, cx).map_err(|error| error.via("configured here", entry.span))?;
        configured.merge(&read)?;
    }
    let mut whole = TransformerConfig::builtin();
    whole.merge(&configured)?;
    config.merge(&whole)?;
    config.merge(&crds::load(kustomization, loader, cx)?)
}

/// Reads a file that `configurations` names.
fn read(entry: &Located, loader: &Loader, cx: &Context<'_>) -> Result<TransformerConfig> {
    let documents = loader.documents(entry, cx)?;
    let Some(document) = documents.first() else { return Ok(TransformerConfig::default()) };
    if let Some(duplicate) = document.duplicates.first() {
        return Err(Error::invalid("duplicate key")
            .at(duplicate.again)
            .via("first defined here", duplicate.first));
    }
    Lists::read(&document.root, cx).map(|lists| TransformerConfig(Arc::new(lists)))
}

impl TransformerConfig {
    /// The specifications that are built in.
    pub(crate) fn builtin() -> Self {
        static BUILTIN: LazyLock<TransformerConfig> =
            LazyLock::new(|| TransformerConfig(Arc::new(builtin::lists())));
        BUILTIN.clone()
    }

    /// Adds those of a base, or those that a kustomization configures.
    pub(crate) fn merge(&mut self, other: &TransformerConfig) -> Result<()> {
        if other.is_builtin() && (self.is_empty() || self.is_builtin()) {
            // The built-in lists hold nothing twice, so this is what merging them item by item comes to.
            *self = other.clone();
            return Ok(());
        }
        if other.is_empty() {
            return Ok(());
        }
        Arc::make_mut(&mut self.0).merge(other)
    }

    fn is_builtin(&self) -> bool {
        Arc::ptr_eq(&self.0, &Self::builtin().0)
    }

    fn is_empty(&self) -> bool {
        self.lists().iter().all(|(_, list)| list.is_empty()) && self.name_reference.is_empty()
    }
}

impl Deref for TransformerConfig {
    type Target = Lists;

    fn deref(&self) -> &Lists {
        &self.0
    }
}

impl Lists {
    fn read(root: &Node, cx: &Context<'_>) -> Result<Self> {
        let object = Object::read(root, "a transformer configuration", Reading::CONFIGURATION)?;
        let mut lists = Self::default();
        for (name, list) in lists.lists_mut() {
            *list = FieldSpecs::read(&object, name, cx)?;
        }
        for node in object.items("nameReference")? {
            lists.name_reference.push(NameReference::read(node, object.reading(), cx)?);
        }
        object.close(cx)?;
        lists.sort();
        Ok(lists)
    }

    fn merge(&mut self, other: &Lists) -> Result<()> {
        for ((name, mine), (_, theirs)) in self.lists_mut().into_iter().zip(other.lists()) {
            mine.merge(theirs).map_err(|error| error.prefix(format_args!("merging `{name}`")))?;
        }
        for reference in &other.name_reference {
            self.merge_reference(reference).map_err(|error| error.prefix("merging `nameReference`"))?;
        }
        self.sort();
        Ok(())
    }

    fn merge_reference(&mut self, other: &NameReference) -> Result<()> {
        let mut found = false;
        for mine in self.name_reference.iter_mut().filter(|mine| mine.gvk == other.gvk) {
            found = true;
            mine.referrers.merge(&other.referrers)?;
        }
        if !found {
            self.name_reference.push(other.clone());
        }
        Ok(())
    }

    /// Orders the lists by kind. Where several specifications match, the order decides which one counts.
    fn sort(&mut self) {
        for (_, list) in self.lists_mut() {
            Arc::make_mut(&mut list.0).sort_by_cached_key(|item| sort::gvk_key(&item.gvk));
        }
        self.name_reference.sort_by_cached_key(|item| sort::gvk_key(&item.gvk));
    }

    /// The lists by the names that a configuration file gives them.
    fn lists(&self) -> [(&'static str, &FieldSpecs); 10] {
        [
            ("namePrefix", &self.name_prefix),
            ("nameSuffix", &self.name_suffix),
            ("namespace", &self.namespace),
            ("commonLabels", &self.common_labels),
            ("labels", &self.labels),
            ("templateLabels", &self.template_labels),
            ("commonAnnotations", &self.common_annotations),
            ("varReference", &self.var_reference),
            ("images", &self.images),
            ("replicas", &self.replicas),
        ]
    }

    fn lists_mut(&mut self) -> [(&'static str, &mut FieldSpecs); 10] {
        [
            ("namePrefix", &mut self.name_prefix),
            ("nameSuffix", &mut self.name_suffix),
            ("namespace", &mut self.namespace),
            ("commonLabels", &mut self.common_labels),
            ("labels", &mut self.labels),
            ("templateLabels", &mut self.template_labels),
            ("commonAnnotations", &mut self.common_annotations),
            ("varReference", &mut self.var_reference),
            ("images", &mut self.images),
            ("replicas", &mut self.replicas),
        ]
    }
}

impl FieldSpecs {
    pub(crate) fn new(specs: Vec<FieldSpec>) -> Self {
        Self(Arc::new(specs))
    }

    /// Reads the list in a field of an object.
    pub(crate) fn read(object: &Object<'_>, name: &'static str, cx: &Context<'_>) -> Result<Self> {
        let items = object.items(name)?.iter();
        items.map(|item| FieldSpec::read(item, object.reading(), cx)).collect::<Result<_>>().map(Self::new)
    }

    /// Adds the specifications that are not there yet.
    ///
    /// # Errors
    /// If one differs from the one there only in `create`.
    pub(crate) fn merge(&mut self, other: &FieldSpecs) -> Result<()> {
        if other.is_empty() {
            return Ok(());
        }
        let specs = Arc::make_mut(&mut self.0);
        let mut by_path: HashMap<CompactString, Vec<usize>> = HashMap::with_capacity(specs.len());
        for (position, spec) in specs.iter().enumerate() {
            by_path.entry(spec.path.as_str().into()).or_default().push(position);
        }
        for spec in other.iter() {
            let same_path = by_path.entry(spec.path.as_str().into()).or_default();
            match same_path.iter().find(|position| specs[**position].gvk.is_selected(&spec.gvk)) {
                Some(position) if specs[*position].create != spec.create => {
                    return Err(conflict(spec, &specs[*position]));
                }
                Some(_) => {}
                None => {
                    same_path.push(specs.len());
                    specs.push(spec.clone());
                }
            }
        }
        Ok(())
    }

    /// Changes every field that a specification names in a resource.
    pub(crate) fn apply(
        &self,
        resource: &mut Resource,
        missing: Missing,
        mut change: impl FnMut(&mut Node) -> Result<()>,
    ) -> Result<()> {
        self.iter().try_for_each(|spec| spec.apply(resource, missing, &mut change))
    }
}

impl Deref for FieldSpecs {
    type Target = [FieldSpec];

    fn deref(&self) -> &[FieldSpec] {
        &self.0
    }
}

impl NameReference {
    fn read(node: &Node, reading: Reading, cx: &Context<'_>) -> Result<Self> {
        let object = Object::read(node, "a name reference", reading)?;
        let gvk = Gvk::read(&object)?;
        let referrers = FieldSpecs::read(&object, "fieldSpecs", cx)?;
        object.close(cx)?;
        Ok(Self { gvk, referrers })
    }
}

fn conflict(new: &FieldSpec, old: &FieldSpec) -> Error {
    let sentence = format!(
        "two field specifications for `{}` differ in `create`: {} for {}, {} for {}",
        new.path, new.create, new.gvk, old.create, old.gvk
    );
    let error = Error::invalid(sentence).at(if new.span.is_some() { new.span } else { old.span });
    let error = error.hint("a specification for every kind must agree with those for single kinds");
    if new.span.is_some() && old.span.is_some() { error.via("the other is here", old.span) } else { error }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fieldspec::FieldPath;
    use crate::testing::{build_files, built, refused};

    fn spec(kind: &str, path: &str, create: bool) -> FieldSpec {
        let gvk = Gvk { kind: kind.into(), ..Gvk::default() };
        FieldSpec { gvk, path: FieldPath::new(path.into()), create, span: yamltree::Span::NONE }
    }

    /// The numbers are those of the lists that `kustomize build` prints in its message on a conflict.
    #[test]
    fn the_built_in_tables_are_complete() {
        let config = TransformerConfig::builtin();
        let sizes: Vec<usize> = config.lists().iter().map(|(_, list)| list.len()).collect();
        assert_eq!(sizes, [1, 1, 3, 32, 0, 10, 9, 72, 6, 4]);
        let references: Vec<(&str, usize)> = config
            .name_reference
            .iter()
            .map(|reference| (reference.gvk.kind.as_str(), reference.referrers.len()))
            .collect();
        let expected = [
            ("StorageClass", 3),
            ("ServiceAccount", 9),
            ("Role", 1),
            ("ClusterRole", 2),
            ("ConfigMap", 52),
            ("Secret", 70),
            ("Service", 8),
            ("PriorityClass", 7),
            ("PersistentVolume", 2),
            ("PersistentVolumeClaim", 7),
            ("Deployment", 1),
            ("StatefulSet", 1),
            ("ValidatingAdmissionPolicy", 1),
            ("IngressClass", 1),
            ("ReplicaSet", 1),
            ("ReplicationController", 1),
        ];
        assert_eq!(references, expected);
    }

    /// Expected values: what [`TransformerConfig::merge`] takes for granted.
    #[test]
    fn merging_the_built_in_lists_item_by_item_changes_nothing() {
        let builtin = TransformerConfig::builtin();
        for mut lists in [Lists::default(), Lists::clone(&builtin)] {
            lists.merge(&builtin).expect("no conflict");
            for ((_, merged), (_, list)) in lists.lists().iter().zip(builtin.lists()) {
                assert_eq!(merged.len(), list.len());
            }
        }
    }

    /// Kustomize prints no label for a `Bar` when `{kind: Foo, path: metadata/labels, create: true}` is configured.
    #[test]
    fn one_kind_takes_the_place_of_every_kind_once_it_is_merged_first() {
        let mut config = Lists::default();
        let both = [spec("Foo", "metadata/labels", true), spec("", "metadata/labels", true)];
        config.common_labels.merge(&FieldSpecs::new(both.to_vec())).expect("they agree on `create`");
        assert_eq!(config.common_labels.len(), 1);
        assert_eq!(config.common_labels[0].gvk.kind, "Foo");
    }

    #[test]
    fn a_difference_in_create_is_a_conflict() {
        let mut specs = FieldSpecs::new(vec![spec("Foo", "spec/x", true)]);
        let error =
            specs.merge(&FieldSpecs::new(vec![spec("Foo", "spec/x", false)])).expect_err("a conflict");
        assert!(error.message().contains("`spec/x` differ in `create`"), "{error}");
    }

    fn configured(configuration: &str) -> [(&str, &str); 3] {
        [
            ("kustomization.yaml", "resources: [cm.yaml]\nconfigurations: [c.yaml]\ncommonLabels: {a: x}\n"),
            ("cm.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: cm\n"),
            ("c.yaml", configuration),
        ]
    }

    #[test]
    fn a_configuration_adds_to_the_built_in_lists() {
        let output = built(&configured("commonLabels: [{path: spec/x, kind: ConfigMap, create: true}]\n"));
        assert!(output.contains("  labels:\n    a: x\n"), "{output}");
        assert!(output.ends_with("spec:\n  x:\n    a: x\n"), "{output}");
    }

    #[test]
    fn an_unknown_list_is_refused_with_the_one_that_was_meant() {
        let error = build_files(&configured("commonLabel: []\n")).expect_err("unknown");
        assert_eq!(
            error.to_string(),
            "c.yaml:1:1: unknown field `commonLabel` in a transformer configuration"
        );
        assert_eq!(error.get_hint(), Some("did you mean `commonLabels`?"));
    }

    #[test]
    fn a_key_that_stands_twice_is_refused() {
        let message = refused(&configured("images: []\nimages: []\n"));
        assert_eq!(message, "c.yaml:2:1: duplicate key");
    }
}

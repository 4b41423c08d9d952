//! An Application of a cluster as files that a round edits, and what is patched for what it has edited.
//!
//! In: the Application as the cluster has it, and new texts. Out: of each source the lists that may be written, in the
//! shape that `.argocd-source` files have too, and the smallest patch. What is not shown cannot be changed, and a text
//! that has anything else is refused; so is a source that is another one by now.

use diagnostic::{Error, Result};
use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use yamlserde::YamlFile;
use yamltree::ParseOptions;

use super::{LiveSource, SourceField, print_of};
use crate::change::Named;
use crate::files::Files;
use crate::round::Text;

/// The lists of a source that are written.
const LISTS: [(&str, &str); 3] = [("helm", "parameters"), ("kustomize", "images"), ("plugin", "env")];

/// Annotation in which Argo CD records the owner of an object.
const TRACKING: &str = "argocd.argoproj.io/tracking-id";

/// An Application as the cluster has it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Live<'o> {
    pub(super) id: &'o Named,
    pub(super) object: &'o Value,
}

impl Files for Live<'_> {
    fn bytes(&self, path: &str) -> Result<Option<Vec<u8>>> {
        let of_this = LiveSource::parse(path).filter(|source| source.application == *self.id);
        let Some(source) = of_this else { return Ok(None) };
        let shown = self.object.pointer(&self.pointer(&source.field)?).map(shown).transpose()?;
        Ok(Some(shown.unwrap_or_default().into_bytes()))
    }

    fn glob(&self, _: &str) -> Result<Vec<String>> {
        Ok(Vec::new())
    }
}

impl Live<'_> {
    /// Returns what makes the Application what the texts say, and fails where it has changed since it was read.
    ///
    /// # Errors
    /// If a text says something that is not to be written.
    pub(super) fn patch(&self, texts: &BTreeMap<String, Text>) -> Result<Value> {
        let version = self.object.pointer("/metadata/resourceVersion").and_then(Value::as_str);
        let version = version.ok_or_else(|| self.refuse("the cluster did not report its version"))?;
        let mut object = json!({ "spec": self.object.get("spec") });
        for (path, text) in texts {
            let source =
                LiveSource::parse(path).ok_or_else(|| self.refuse(&format!("`{path}` is not a source")))?;
            let node = object.pointer_mut(&self.pointer(&source.field)?);
            let node = node.ok_or_else(|| self.refuse("the source is gone"))?;
            let wanted: Value = YamlFile::new(path, &text.new).read()?;
            take_over(node, &wanted).map_err(|why| self.refuse(&format!("`{path}`: {why}")))?;
        }
        let spec = difference(self.object.get("spec").unwrap_or(&Value::Null), &object["spec"]);
        Ok(json!({ "metadata": { "resourceVersion": version }, "spec": spec.unwrap_or_else(|| json!({})) }))
    }

    /// Returns the other owner that would revert a change of the Application: the Application that deploys it, or the
    /// set that generated it.
    pub(super) fn written_by_others(&self) -> Option<String> {
        let metadata = self.object.get("metadata")?;
        let tracked = metadata.get("annotations").and_then(|all| all.get(TRACKING)).and_then(Value::as_str);
        let owners = metadata.get("ownerReferences").and_then(Value::as_array).into_iter().flatten();
        let mut sets = owners.filter(|owner| owner.get("kind").is_some_and(|kind| kind == "ApplicationSet"));
        if let Some(set) = sets.find_map(|owner| owner.get("name")?.as_str()) {
            return Some(format!(
                "the ApplicationSet `{set}` makes the Application `{}` and sets back what is written into it, unless \
                 its `ignoreApplicationDifferences` says otherwise; method `git` lasts",
                self.id
            ));
        }
        let deployer = tracked.and_then(|tracked| self.deployer(tracked))?;
        Some(format!(
            "the Application `{}` is deployed by the Application `{deployer}`, whose next sync sets back what is written \
             into it; method `git` lasts",
            self.id
        ))
    }

    /// Returns the Application that deploys this one, by Argo CD's annotation
    /// `APP:argoproj.io/Application:NAMESPACE/NAME`. An annotation about another object was copied and is ignored.
    fn deployer<'t>(&self, tracked: &'t str) -> Option<&'t str> {
        let (deployer, object) = tracked.split_once(':')?;
        (object == format!("argoproj.io/Application:{}", self.id)).then_some(deployer)
    }

    /// Returns where the source is.
    fn pointer(&self, field: &SourceField) -> Result<String> {
        let pointer = match field {
            SourceField::Only => "/spec/source".to_owned(),
            SourceField::Dry => "/spec/sourceHydrator/drySource".to_owned(),
            SourceField::OneOf { index, .. } => format!("/spec/sources/{index}"),
        };
        let is_same = |node: &Value| match field {
            SourceField::OneOf { print, .. } => print_of(|key| node.get(key)?.as_str()) == *print,
            SourceField::Only | SourceField::Dry => node.is_object(),
        };
        match self.object.pointer(&pointer).is_some_and(is_same) {
            true => Ok(pointer),
            false => {
                Err(self.refuse("its sources are others than they were").hint("the next round sees them"))
            }
        }
    }

    fn refuse(&self, why: &str) -> Error {
        Error::invalid(format!("the Application `{}` is not written: {why}", self.id))
    }
}

/// The lists of a source that may be written, as YAML; nothing where there are none.
fn shown(source: &Value) -> Result<String> {
    let mut lists = Map::new();
    for (key, list) in LISTS {
        if let Some(items) =
            source.get(key).and_then(|value| value.get(list)).filter(|items| items.is_array())
        {
            lists.insert(key.to_owned(), json!({ list: items }));
        }
    }
    if lists.is_empty() {
        return Ok(String::new());
    }
    // JSON is YAML.
    let text = Value::Object(lists).to_string();
    let unreadable = |error: yamltree::Error| {
        Error::invalid(format!("cannot read a source of the Application: {}", error.message()))
    };
    let document = yamltree::parse_first(&text, 0, &ParseOptions::default());
    let mut yaml = String::new();
    if let Some(document) = document.map_err(unreadable)? {
        yamltree::to_sigs_yaml(&document.root, &mut yaml).map_err(unreadable)?;
    }
    Ok(yaml)
}

/// Gives a source the lists of a text, which has nothing else.
fn take_over(source: &mut Value, wanted: &Value) -> Result<(), String> {
    let is_known = |key: &str| LISTS.iter().find(|(known, _)| *known == key).map(|(_, list)| *list);
    for (key, value) in wanted.as_object().ok_or("it is not a source")? {
        let list = is_known(key).ok_or_else(|| format!("`{key}` is not written"))?;
        let fields = value.as_object().ok_or_else(|| format!("`{key}` would not be a mapping"))?;
        for (field, items) in fields {
            let items = items.as_array().filter(|_| field == list);
            let items = items.ok_or_else(|| format!("`{key}.{field}` is not written"))?;
            let (old, parent) = (source.pointer(&format!("/{key}/{list}")), source.get(key));
            let is_old = |item: &Value| old.and_then(Value::as_array).is_some_and(|old| old.contains(item));
            if let Some(item) = items.iter().find(|item| !is_old(item) && !is_sound(key, item)) {
                return Err(format!("`{key}.{list}` would have the item `{item}`"));
            }
            if !parent.is_some_and(Value::is_object) {
                source[key] = json!({});
            }
            source[key][list] = Value::Array(items.clone());
        }
    }
    Ok(())
}

/// Returns true if an item is one that Argo CD takes.
fn is_sound(key: &str, item: &Value) -> bool {
    let is_text = |field: &str| item.get(field).is_some_and(Value::is_string);
    match key {
        "helm" | "plugin" => is_text("name") && is_text("value"),
        _ => item.is_string(),
    }
}

/// The smallest merge patch (RFC 7386) that makes the old value the new one.
fn difference(old: &Value, new: &Value) -> Option<Value> {
    let (Some(before), Some(after)) = (old.as_object(), new.as_object()) else {
        return (old != new).then(|| new.clone());
    };
    let mut patch = Map::new();
    for (key, value) in after {
        if let Some(changed) = difference(before.get(key).unwrap_or(&Value::Null), value) {
            patch.insert(key.clone(), changed);
        }
    }
    let gone = before.keys().filter(|key| !after.contains_key(*key));
    patch.extend(gone.map(|key| (key.clone(), Value::Null)));
    (!patch.is_empty()).then_some(Value::Object(patch))
}

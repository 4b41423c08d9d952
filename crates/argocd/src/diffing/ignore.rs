//! Fields that are not compared.
//!
//! In: `ignoreDifferences` of an Application and of the settings. Out: objects without the fields that JSON pointers and
//! expressions of jq name. Managers of fields, which want a cluster, are given back as not done.

use std::collections::BTreeMap;

use serde::Deserialize;
use yamlserde::YamlFile;
use yamltree::{Kind, Node};

use super::jq;
use crate::application::IgnoreDifferences;
use crate::objects::Object;
use diagnostic::Result;
use glob::gobwas::Glob;

const CUSTOMIZATIONS: &str = "resource.customizations.ignoreDifferences.";

/// Which fields of which objects are not compared.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    /// None where the pattern is none, which matches nothing.
    group: Option<Glob>,
    kind: Option<Glob>,
    name: String,
    namespace: String,
    pointers: Vec<String>,
    expressions: Vec<String>,
    not_done: Vec<String>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Written {
    json_pointers: Option<Vec<String>>,
    jq_path_expressions: Option<Vec<String>>,
    managed_fields_managers: Option<Vec<String>>,
}

impl Rule {
    pub(super) fn of_application(rule: &IgnoreDifferences) -> Self {
        Self {
            group: Glob::new(&rule.group, "").ok(),
            kind: Glob::new(&rule.kind, "").ok(),
            name: rule.name.clone(),
            namespace: rule.namespace.clone(),
            pointers: rule.json_pointers.clone(),
            expressions: rule.jq_path_expressions.clone(),
            not_done: rule.managed_fields_managers.clone(),
        }
    }

    /// A rule about a field of every object.
    pub(super) fn everywhere(group: &str, kind: &str, pointer: &str) -> Self {
        Self {
            group: Glob::new(group, "").ok(),
            kind: Glob::new(kind, "").ok(),
            name: String::new(),
            namespace: String::new(),
            pointers: vec![pointer.to_owned()],
            expressions: Vec::new(),
            not_done: Vec::new(),
        }
    }

    pub(super) fn matches(&self, object: &Object) -> bool {
        let is = |glob: &Option<Glob>, text: &str| glob.as_ref().is_some_and(|glob| glob.matches(text));
        is(&self.group, object.group())
            && is(&self.kind, object.kind())
            && (self.name.is_empty() || self.name == object.name())
            && (self.namespace.is_empty() || self.namespace == object.namespace())
    }

    /// Returns what cannot be done: what wants a cluster, and what is no expression.
    pub(super) fn not_done(&self) -> impl Iterator<Item = &str> {
        let broken = self.expressions.iter().filter(|expression| jq::check(expression).is_err());
        self.not_done.iter().chain(broken).map(String::as_str)
    }

    pub(super) fn apply(&self, object: &mut Object) {
        for pointer in &self.pointers {
            remove(object.node_mut(), pointer);
        }
        for expression in &self.expressions {
            jq::delete(object.node_mut(), expression);
        }
    }
}

/// The rules of the settings: `resource.customizations.ignoreDifferences.GROUP_KIND`, or `all`.
pub(super) fn of_settings(settings: &BTreeMap<String, String>) -> Result<Vec<Rule>> {
    let mut rules = Vec::new();
    for (key, text) in settings {
        let Some(of) = key.strip_prefix(CUSTOMIZATIONS) else { continue };
        let (group, kind) = if of == "all" { ("*", "*") } else { of.split_once('_').unwrap_or(("", of)) };
        let written: Option<Written> = YamlFile::new(&format!("settings: {key}"), text).read()?;
        let Written { json_pointers, jq_path_expressions, managed_fields_managers } =
            written.unwrap_or_default();
        rules.push(Rule {
            group: Glob::new(group, "").ok(),
            kind: Glob::new(kind, "").ok(),
            name: String::new(),
            namespace: String::new(),
            pointers: json_pointers.unwrap_or_default(),
            expressions: jq_path_expressions.unwrap_or_default(),
            not_done: managed_fields_managers.unwrap_or_default(),
        });
    }
    Ok(rules)
}

/// Takes out what a JSON pointer names; what is not there is no fault.
fn remove(node: &mut Node, pointer: &str) {
    let Some((parents, last)) = pointer.rsplit_once('/') else { return };
    let mut at = node;
    for part in parents.split('/').skip(1) {
        let Some(below) = child(at, &unescaped(part)) else { return };
        at = below;
    }
    let last = unescaped(last);
    match &mut at.kind {
        Kind::Mapping(_) => {
            at.remove(&last);
        }
        Kind::Sequence(items) => {
            if let Some(index) = index(&last, items.len()) {
                items.remove(index);
            }
        }
        Kind::Scalar(_) | Kind::Alias(_) => {}
    }
}

fn child<'n>(node: &'n mut Node, part: &str) -> Option<&'n mut Node> {
    if node.is_mapping() {
        return node.get_mut(part);
    }
    let items = node.items_mut()?;
    index(part, items.len()).and_then(|index| items.get_mut(index))
}

/// An index of a list; a negative one counts from the end.
fn index(part: &str, len: usize) -> Option<usize> {
    let index: i64 = part.parse().ok()?;
    let len = i64::try_from(len).ok()?;
    let index = if index < 0 { index + len } else { index };
    usize::try_from(index).ok().filter(|_| index < len)
}

fn unescaped(part: &str) -> String {
    part.replace("~1", "/").replace("~0", "~")
}

//! Brings the references to a resource's name up to date after the name has changed.
//!
//! In come the resources with their former ids, and the table that says which field of which kind names a resource of
//! which other kind. Each such field that holds a former name gets the current one. A name that several resources had
//! is decided by namespace and by the prefixes and suffixes that both sides got on their way; what stays undecided is
//! left alone, and is refused only where equally near resources have different names now.

mod candidates;
mod generated;

use std::collections::{HashMap, HashSet};

use compact_str::CompactString;
use yamltree::{Dialect, Entry, Kind, Node, Resolved, Style};

pub(crate) use self::generated::warn_about_generated_names;

use self::candidates::{Candidates, Nearness, Place, Scope, Wanted};
use crate::config::TransformerConfig;
use crate::context::Context;
use crate::decode::described;
use crate::error::{Error, Result};
use crate::fieldtree::FieldTree;
use crate::resid::Gvk;
use crate::resmap::ResMap;
use crate::resource::{Resource, is_null};
use crate::warning::{Code, Warning};

/// Rewrites every field that holds the former name of a resource.
pub(crate) fn update_references(
    map: &mut ResMap,
    config: &TransformerConfig,
    cx: &Context<'_>,
) -> Result<()> {
    map.modify_nodes(|resources, nodes| {
        let candidates = Candidates::new(resources);
        let mut fields = HashMap::new();
        for (referrer, node) in resources.iter().zip(nodes) {
            let gvk = &referrer.original_id().gvk;
            let tree = fields.entry(gvk).or_insert_with(|| fields_of(gvk, config));
            let update = Update {
                referrer,
                scope: scope(referrer, node)?,
                role: role(node),
                candidates: &candidates,
                cx,
            };
            tree.visit(node, &mut |field, targets| {
                targets.iter().try_for_each(|target| update.field(field, target))
            })?;
        }
        Ok(())
    })
}

/// What a field may name.
#[derive(Debug)]
struct Target<'c> {
    gvk: &'c Gvk,
    /// Whether the field is the name in a `roleRef`, beside which the kind stands.
    is_role: bool,
}

/// The fields of a kind that name something.
fn fields_of<'c>(gvk: &Gvk, config: &'c TransformerConfig) -> FieldTree<Target<'c>> {
    let mut tree = FieldTree::default();
    for reference in &config.name_reference {
        for field in reference.referrers.iter().filter(|field| gvk.is_selected(&field.gvk)) {
            let is_role = field.path.as_str().ends_with("roleRef/name");
            tree.insert(&field.path, Target { gvk: &reference.gvk, is_role });
        }
    }
    tree
}

/// The update of one resource's references.
struct Update<'u, 'r> {
    referrer: &'r Resource,
    scope: Scope<'r>,
    /// What the referrer's `roleRef` says of kind and group, when it says both.
    role: Option<Gvk>,
    candidates: &'u Candidates<'r>,
    cx: &'u Context<'u>,
}

impl Update<'_, '_> {
    /// A field is a name, a mapping with a name and perhaps a namespace, or a list of either.
    fn field(&self, node: &mut Node, target: &Target<'_>) -> Result<()> {
        match &mut node.kind {
            Kind::Sequence(items) => items.iter_mut().try_for_each(|item| match item.kind {
                Kind::Sequence(_) => {
                    Err(Error::invalid("a name must be a string or a mapping with `name`, not a list")
                        .at(item.span))
                }
                _ => self.name(item, target),
            }),
            _ => self.name(node, target),
        }
    }

    fn name(&self, node: &mut Node, target: &Target<'_>) -> Result<()> {
        if is_null(node) {
            return Ok(());
        }
        if node.is_mapping() { self.mapping(node, target) } else { self.scalar(node, target) }
    }

    fn scalar(&self, node: &mut Node, target: &Target<'_>) -> Result<()> {
        let old = node.text().unwrap_or_default();
        let same = |a: &Resource, b: &Resource| a.name() == b.name();
        if let Some(referral) = self.select(old, None, target, same, node)?
            && referral.name() != old
        {
            set_text(node, referral.name());
        }
        Ok(())
    }

    fn mapping(&self, node: &mut Node, target: &Target<'_>) -> Result<()> {
        let Some(name) = node.get("name") else {
            let kind = &target.gvk.kind;
            return Err(
                Error::invalid(format!("this should refer to a {kind} but has no `name`")).at(node.span)
            );
        };
        let old = name.text().unwrap_or_default();
        let namespace = node.get("namespace").map(|namespace| namespace.text().unwrap_or_default());
        let same = |a: &Resource, b: &Resource| a.name() == b.name() && a.namespace() == b.namespace();
        let Some(referral) = self.select(old, namespace, target, same, name)? else { return Ok(()) };
        if referral.name() != old || !referral.namespace().is_empty() {
            set_field(node, "name", referral.name());
            // None is no statement about the namespace `default`.
            if !referral.namespace().is_empty() {
                set_field(node, "namespace", referral.namespace());
            }
        }
        Ok(())
    }

    /// The resource that a name means: the only one that it can mean, else the only one whose prefixes and suffixes
    /// go with the referrer's.
    fn select(
        &self,
        old: &str,
        namespace: Option<&str>,
        target: &Target<'_>,
        same: impl Fn(&Resource, &Resource) -> bool,
        node: &Node,
    ) -> Result<Option<&Resource>> {
        let Some(namesakes) = self.candidates.once_named(old) else { return Ok(None) };
        let role = self.role.as_ref().filter(|_| target.is_role);
        let place = namespace.map_or(Place::Any, |namespace| self.candidates.place(namespace, &self.scope));
        let wanted = Wanted { gvk: target.gvk, role, place, scope: &self.scope, referrer: self.referrer };
        let possible = namesakes.select(&wanted, Nearness::Any, 2);
        if possible.len() < 2 {
            return Ok(possible.first().copied());
        }
        let near = namesakes.select(&wanted, Nearness::Near, 2);
        if let [one] = *near {
            return Ok(Some(one));
        }
        let nearest =
            if near.is_empty() { near } else { namesakes.select(&wanted, Nearness::Nearest, usize::MAX) };
        match *nearest {
            [] => {
                self.warn_about_ambiguity(old, &possible, target, node);
                Ok(None)
            }
            [first, ref rest @ ..] if rest.iter().all(|other| same(first, other)) => Ok(Some(first)),
            [first, ..] => {
                Err(several(old, &nearest).at(node.span).via("one of them is defined here", first.span()))
            }
        }
    }

    fn warn_about_ambiguity(&self, old: &str, possible: &[&Resource], target: &Target<'_>, node: &Node) {
        if self.candidates.is_current_name(old, target.gvk) {
            return;
        }
        let names: Vec<String> = possible.iter().map(|resource| format!("`{}`", resource.name())).collect();
        let sentence = format!("`{old}` could mean {}, and was left as it is", names.join(" or "));
        let warning = Warning::new(Code::AmbiguousReference, sentence, node.span);
        self.cx.push_warning(warning.hint("write the name that is meant"));
    }
}

/// Puts a name in the place of a scalar; how it is quoted stays.
fn set_text(node: &mut Node, text: &str) {
    let (style, span) = (node.style, node.span);
    *node = Node::plain(text).at(span);
    node.style = style;
}

/// Sets a field of a mapping; a new one is quoted where YAML 1.1 would not read a string.
fn set_field(mapping: &mut Node, key: &str, text: &str) {
    match mapping.get_mut(key) {
        Some(field) if field.is_scalar() => set_text(field, text),
        Some(field) => *field = Node::plain(text).at(field.span),
        None => {
            let mut value = Node::plain(text);
            if !matches!(value.resolved(Dialect::V2), Ok(Resolved::Str)) {
                value.style = Style::DoubleQuoted;
            }
            if let Some(entries) = mapping.entries_mut() {
                entries.push(Entry::new(key, value));
            }
        }
    }
}

/// Where the resources may be that a referrer names.
fn scope<'r>(referrer: &'r Resource, node: &Node) -> Result<Scope<'r>> {
    if referrer.id().cluster_scoped {
        return Ok(Scope::Everywhere);
    }
    let accounts = if referrer.kind() == "RoleBinding" { account_namespaces(node)? } else { HashSet::new() };
    Ok(Scope::Namespace { namespace: referrer.id().effective_namespace(), accounts })
}

/// The namespaces of the service accounts that a role binding is for.
fn account_namespaces(binding: &Node) -> Result<HashSet<CompactString>> {
    let mut namespaces = HashSet::new();
    for subject in binding.get("subjects").and_then(Node::items).into_iter().flatten() {
        if !subject.is_mapping() {
            return Err(Error::invalid(format!("a subject must be a mapping, not {}", described(subject)))
                .at(subject.span));
        }
        let (Some(namespace), Some(kind)) = (subject.get("namespace"), subject.get("kind")) else { continue };
        if string(kind, "kind")? == "ServiceAccount" {
            namespaces.insert(string(namespace, "namespace")?.into());
        }
    }
    Ok(namespaces)
}

/// A string in the reading of go-yaml v3.
fn string<'n>(node: &'n Node, field: &str) -> Result<&'n str> {
    match (node.resolved(Dialect::V3), node.text()) {
        (Ok(Resolved::Str), Some(text)) => Ok(text),
        _ => Err(Error::invalid(format!(
            "the `{field}` of a subject must be a string, not {}",
            described(node)
        ))
        .at(node.span)),
    }
}

/// Group and kind of the role that a binding names, when it gives both.
fn role(binding: &Node) -> Option<Gvk> {
    let role = binding.get("roleRef")?;
    let text = |key| role.get(key).map(|node| CompactString::from(node.text().unwrap_or_default()));
    Some(Gvk { group: text("apiGroup")?, kind: text("kind")?, version: CompactString::default() })
}

fn several(old: &str, possible: &[&Resource]) -> Error {
    let names: Vec<String> = possible.iter().take(5).map(|resource| resource.id().described()).collect();
    Error::invalid(format!("`{old}` could mean several resources: {}", names.join(", ")))
        .hint("give them different names, or put them in different namespaces")
}

//! The arguments of a ConfigMap or Secret generator: name, sources and options.
//!
//! In: an entry of `configMapGenerator` or `secretGenerator`, or the configuration of such a plugin; `generatorOptions`.
//! It refuses what Go's decoder refuses, and a generator without a name.

use std::collections::BTreeMap;

use diagnostic::{Error, Result};
use yamltree::{Entry, Node, Span, Style};

use super::sources::PairSources;
use crate::context::Context;
use crate::decode::{Object, closest};
use crate::resource::{Behavior, Resource, new_style};
use crate::target::Target;
use crate::warning::{Code, Warning};

/// The arguments of a generator.
#[derive(Debug)]
pub(super) struct GeneratorArgs {
    name: String,
    namespace: String,
    behavior: Behavior,
    pub(super) sources: PairSources,
    options: GeneratorOptions,
    /// The span of the generator's configuration.
    pub(super) span: Span,
}

/// `generatorOptions` of a kustomization, or `options` of one generator.
#[derive(Clone, Debug, Default)]
struct GeneratorOptions {
    labels: BTreeMap<String, String>,
    annotations: BTreeMap<String, String>,
    disable_name_suffix_hash: Option<bool>,
    immutable: Option<bool>,
    span: Span,
}

impl GeneratorArgs {
    /// The arguments in an entry of a kustomization's list; `read` takes the fields that only this list has.
    pub(super) fn from_entry<T>(
        entry: &Node,
        what: &'static str,
        target: &Target<'_, '_>,
        read: impl FnOnce(&Object<'_>) -> Result<T>,
    ) -> Result<(Self, T)> {
        let object = Object::new(entry, what)?;
        let mut args = Self::decode(&object, target.cx)?;
        args.sources.use_deprecated_env();
        let own = read(&object)?;
        object.finish()?;
        if let Some(global) = target.kustomization.field("generatorOptions") {
            let global = GeneratorOptions::decode(Object::new(global, "generatorOptions")?, target.cx)?;
            args.options.inherit(&global, target.cx);
        }
        Ok((args, own))
    }

    /// The arguments in a plugin's configuration, whose metadata stands in for a missing name and namespace.
    pub(super) fn from_config<T>(
        config: &Node,
        what: &'static str,
        target: &Target<'_, '_>,
        read: impl FnOnce(&Object<'_>) -> Result<T>,
    ) -> Result<(Self, T)> {
        let object = Object::plugin(config, what)?;
        let mut args = Self::decode(&object, target.cx)?;
        args.sources.warn_about_deprecated_env(target.cx);
        args.take_metadata(&object)?;
        let own = read(&object)?;
        object.close(target.cx)?;
        Ok((args, own))
    }

    fn decode(object: &Object<'_>, cx: &Context<'_>) -> Result<Self> {
        let options = match object.field("options") {
            None => GeneratorOptions::default(),
            Some(options) => {
                let options = Object::read(options, "the options of a generator", object.reading())?;
                GeneratorOptions::decode(options, cx)?
            }
        };
        Ok(Self {
            name: object.text("name")?,
            namespace: object.text("namespace")?,
            behavior: behavior(object, cx)?,
            sources: PairSources::decode(object)?,
            options,
            span: object.span(),
        })
    }

    fn take_metadata(&mut self, object: &Object<'_>) -> Result<()> {
        let Some(metadata) = object.field("metadata") else { return Ok(()) };
        let metadata = Object::read(metadata, "the metadata", object.reading())?;
        for (own, field) in [(&mut self.name, "name"), (&mut self.namespace, "namespace")] {
            let text = metadata.text(field)?;
            if own.is_empty() {
                *own = text;
            }
        }
        metadata.string_map("labels")?;
        metadata.string_map("annotations")?;
        Ok(())
    }

    /// A resource with everything but its data.
    pub(super) fn base(&self, kind: &str) -> Result<Node> {
        if self.name.is_empty() {
            return Err(Error::invalid(format!("the {kind} to generate lacks a name"))
                .at(self.span)
                .hint("give it one: `name: my-config`"));
        }
        let mut metadata = Vec::new();
        for (field, text) in [("name", &self.name), ("namespace", &self.namespace)] {
            if !text.is_empty() {
                let value = Node::string(text).with_style(new_style(text));
                metadata.push(Entry::new(field, value.at(self.span)));
            }
        }
        for (field, texts) in [("labels", &self.options.labels), ("annotations", &self.options.annotations)] {
            if !texts.is_empty() {
                let entries = texts.iter().map(|(key, value)| self.text_entry(key, value)).collect();
                metadata.push(Entry::new(field, Node::mapping(entries)));
            }
        }
        let mut entries = vec![
            Entry::new("apiVersion", Node::string("v1")),
            Entry::new("kind", Node::string(kind)),
            Entry::new("metadata", Node::mapping(metadata)),
        ];
        if self.options.immutable == Some(true) {
            entries.push(Entry::new("immutable", Node::plain("true")));
        }
        Ok(Node::mapping(entries).at(self.span))
    }

    /// The finished resource.
    pub(super) fn resource(&self, node: Node, cx: &Context<'_>) -> Resource {
        let mut resource = Resource::new(node, &cx.schema());
        resource.behavior = self.behavior;
        resource.needs_hash = self.options.disable_name_suffix_hash != Some(true);
        resource
    }

    fn text_entry(&self, key: &str, text: &str) -> Entry {
        entry(key, text, self.span)
    }
}

/// An entry of a map of strings. As in Kustomize its key has no tag: one that reads as a number or a boolean is refused
/// when the resource is printed.
pub(super) fn entry(key: &str, text: &str, span: Span) -> Entry {
    let style = if text.contains('\n') { Style::Literal } else { new_style(text) };
    let value = Node::string(text).with_style(style).at(span);
    Entry { key: Node::plain(key).at(span), value }
}

/// Kustomize takes any other word as if nothing were said.
fn behavior(object: &Object<'_>, cx: &Context<'_>) -> Result<Behavior> {
    const NAMES: [&str; 3] = ["create", "replace", "merge"];
    let Some(text) = object.string("behavior")? else { return Ok(Behavior::Unspecified) };
    Ok(match text.as_str() {
        "create" => Behavior::Create,
        "replace" => Behavior::Replace,
        "merge" => Behavior::Merge,
        other => {
            if !other.is_empty() {
                let span = object.field("behavior").map_or(object.span(), |node| node.span);
                let message = format!("unknown behavior `{other}`; `create` is used");
                let warning = Warning::new(Code::OptionWithoutEffect, message).at(span);
                cx.push_warning(match closest(other, NAMES.into_iter()) {
                    Some(meant) => warning.hint(format!("did you mean `{meant}`?")),
                    None => warning.hint("it is one of create, replace, merge"),
                });
            }
            Behavior::Unspecified
        }
    })
}

impl GeneratorOptions {
    fn decode(object: Object<'_>, cx: &Context<'_>) -> Result<Self> {
        let options = Self {
            labels: object.string_map("labels")?.into_iter().collect(),
            annotations: object.string_map("annotations")?.into_iter().collect(),
            disable_name_suffix_hash: object.boolean("disableNameSuffixHash")?,
            immutable: object.boolean("immutable")?,
            span: object.span(),
        };
        object.close(cx)?;
        Ok(options)
    }

    /// Fills in what the kustomization says for all: a label or annotation where the generator has none of that name,
    /// and a boolean whenever it is true.
    fn inherit(&mut self, global: &GeneratorOptions, cx: &Context<'_>) {
        for (own, global) in
            [(&mut self.labels, &global.labels), (&mut self.annotations, &global.annotations)]
        {
            for (key, value) in global {
                own.entry(key.clone()).or_insert_with(|| value.clone());
            }
        }
        let span = self.span;
        let inherit = |own: &mut Option<bool>, global: Option<bool>, name: &str| {
            if global != Some(true) {
                return;
            }
            if *own == Some(false) {
                let message = format!("`{name}: false` is ignored: `generatorOptions` sets it to true");
                cx.warn(Code::OptionWithoutEffect, message, span);
            }
            *own = global;
        };
        inherit(&mut self.disable_name_suffix_hash, global.disable_name_suffix_hash, "disableNameSuffixHash");
        inherit(&mut self.immutable, global.immutable, "immutable");
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{built, refused, warned};

    fn build(kustomization: &str) -> String {
        built(&[("kustomization.yaml", kustomization)])
    }

    const OPTIONS: &str = "generatorOptions:\n  disableNameSuffixHash: true\n  immutable: true\n  labels: {a: g, b: g}\n\
        configMapGenerator:\n- name: a\n  options: {disableNameSuffixHash: false, labels: {a: l}}\n";

    /// A generator's own false cannot win over a true for all, as Kustomize does not see it.
    #[test]
    fn options_are_inherited() {
        let wanted = "apiVersion: v1\nimmutable: true\nkind: ConfigMap\nmetadata:\n  labels:\n    a: l\n    b: g\n  name: a\n";
        assert_eq!(build(OPTIONS), wanted);
        let warning = "KUST-W010 kustomization.yaml:7:12 `disableNameSuffixHash: false` is ignored: \
            `generatorOptions` sets it to true";
        assert_eq!(warned(&[("kustomization.yaml", OPTIONS)]), [warning]);
    }

    #[test]
    fn a_plugin_takes_its_name_from_its_metadata_and_no_general_options() {
        let plugin = "generatorOptions: {disableNameSuffixHash: true}\ngenerators:\n- |-\n  apiVersion: builtin\n  \
            kind: ConfigMapGenerator\n  metadata: {name: m, namespace: ns}\n";
        let wanted = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: m-6ct58987ht\n  namespace: ns\n";
        assert_eq!(build(plugin), wanted);
    }

    #[test]
    fn an_unknown_behavior_creates() {
        let kustomization = "configMapGenerator: [{name: a, behavior: replaces}]\n";
        assert!(build(kustomization).contains("name: a-6ct58987ht\n"));
        let warning = "KUST-W010 kustomization.yaml:1:42 unknown behavior `replaces`; `create` is used";
        assert_eq!(warned(&[("kustomization.yaml", kustomization)]), [warning]);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place() {
        let refused = |kustomization| refused(&[("kustomization.yaml", kustomization)]);
        assert_eq!(
            refused("configMapGenerator:\n- litterals: [a=b]\n"),
            "kustomization.yaml:2:3: unknown field `litterals` in an entry of configMapGenerator"
        );
        assert_eq!(
            refused("configMapGenerator:\n- literals: [a=b]\n"),
            "kustomization.yaml:2:3: the ConfigMap to generate lacks a name"
        );
        assert_eq!(
            refused("configMapGenerator: [{name: a, literals: [b=1, b=2]}]\n"),
            "kustomization.yaml:1:48: the key `b` comes from two sources"
        );
    }
}

//! Merges a generated resource with the one that it replaces or merges into.
//!
//! It keeps its own kind, type and data, and gets the other's name, namespace and history; labels, annotations and, in
//! a merge, data are joined. Whatever else the other holds is lost, of which a merge warns.

use std::collections::BTreeMap;

use compact_str::CompactString;
use yamltree::{Entry, Node, Span};

use super::args;
use crate::context::Context;
use crate::resource::{Resource, is_null};
use crate::warning::{Code, Warning};

/// `behavior: replace`: only the metadata is joined.
pub(crate) fn replace_generated(new: &mut Resource, old: &Resource) {
    take_over(new, old);
}

/// `behavior: merge`: the data is joined too.
pub(crate) fn merge_generated(new: &mut Resource, old: &Resource, cx: &Context<'_>) {
    warn_about_losses(new, old, cx);
    take_over(new, old);
    for field in ["data", "binaryData"] {
        let mut texts = Texts::default();
        texts.add_values(old.node.get(field));
        texts.add_values(new.node.get(field));
        new.node.remove(field);
        if let Some(joined) = texts.into_node() {
            new.node.set(field, joined);
        }
    }
    if old.origin.is_some() {
        new.origin.clone_from(&old.origin);
    }
}

fn take_over(new: &mut Resource, old: &Resource) {
    for field in ["labels", "annotations"] {
        let mut texts = Texts::default();
        texts.add(old.metadata(field));
        texts.add(new.metadata(field));
        new.remove_metadata(field);
        if let Some(joined) = texts.into_node() {
            new.set_metadata(field, joined);
        }
    }
    new.set_name(old.name());
    if old.namespace().is_empty() {
        new.remove_metadata("namespace");
    } else {
        new.set_namespace(old.namespace());
    }
    new.take_history(old);
    new.needs_hash &= old.needs_hash;
    new.behavior = old.behavior;
    new.helm_generated = old.helm_generated;
    if new.origin.is_none() {
        new.origin.clone_from(&old.origin);
    }
    if new.transformations.is_empty() {
        new.transformations.clone_from(&old.transformations);
    }
}

/// The texts of two maps of strings, the later ones winning.
#[derive(Default)]
struct Texts(BTreeMap<CompactString, (CompactString, Span)>);

impl Texts {
    fn add(&mut self, map: Option<&Node>) {
        for Entry { key, value } in map.and_then(Node::entries).into_iter().flatten() {
            self.insert(key, value.text().unwrap_or(""), value.span);
        }
    }

    /// As [`Texts::add`], but a null counts as an empty text and not as the text `null`.
    fn add_values(&mut self, map: Option<&Node>) {
        for Entry { key, value } in map.and_then(Node::entries).into_iter().flatten() {
            let text = if is_null(value) { "" } else { value.text().unwrap_or("") };
            self.insert(key, text, value.span);
        }
    }

    fn insert(&mut self, key: &Node, text: &str, span: Span) {
        self.0.insert(key.text().unwrap_or("").into(), (text.into(), span));
    }

    fn into_node(self) -> Option<Node> {
        if self.0.is_empty() {
            return None;
        }
        let entry =
            |(key, (text, span)): (CompactString, (CompactString, Span))| args::entry(&key, &text, span);
        Some(Node::mapping(self.0.into_iter().map(entry).collect()))
    }
}

fn warn_about_losses(new: &Resource, old: &Resource, cx: &Context<'_>) {
    const JOINED: [&str; 5] = ["apiVersion", "kind", "metadata", "data", "binaryData"];
    let described = old.id().described();
    for Entry { key, value } in old.node.entries().into_iter().flatten() {
        let Some(field) = key.text().filter(|field| !JOINED.contains(field)) else { continue };
        let (was, is) = (value.text().unwrap_or("…"), new.node.get(field).and_then(Node::text));
        let (message, hint) = match is {
            Some(is) if is == was => continue,
            Some(is) => (
                format!("merging changes `{field}` of {described} from `{was}` to `{is}`"),
                format!("write `{field}: {was}` here too"),
            ),
            None if field == "immutable" && was != "true" => continue,
            None if field == "immutable" => (
                format!("merging drops `immutable: true` from {described}"),
                "write `options: {immutable: true}` here too".to_owned(),
            ),
            None => (
                format!("merging drops `{field}` from {described}"),
                "change the resource with a patch instead".to_owned(),
            ),
        };
        cx.push_warning(Warning::new(Code::Ignored, message).at(new.span()).hint(hint));
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{built, warned};

    fn files<'f>(kustomization: &'f str, resource: &'f str) -> [(&'f str, &'f str); 2] {
        [("kustomization.yaml", kustomization), ("r.yaml", resource)]
    }

    const MERGED_SECRET: &str =
        "resources: [r.yaml]\nsecretGenerator: [{name: a, behavior: merge, literals: [a=b]}]\n";
    const TYPED_SECRET: &str =
        "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\ntype: foo\nstringData: {x: y}\n";

    /// Expected values: what `kustomize build` prints: labels and data become strings, null data becomes empty, the rest is lost.
    #[test]
    fn a_merge_joins_labels_annotations_and_data() {
        let resource = "apiVersion: v1\nkind: ConfigMap\n\
            metadata: {name: a, labels: {n: 1, z: null}, annotations: {b: c}, finalizers: [x]}\n\
            data: {a: 1, b: null, d: 0x1F, f: \"x\\ny\"}\nbinaryData: {b: AAAA}\nimmutable: true\n";
        let generator = "resources: [r.yaml]\nconfigMapGenerator:\n- {name: a, behavior: merge, literals: [a=b], options: {labels: {l: x}}}\n";
        let wanted = "apiVersion: v1\nbinaryData:\n  b: AAAA\ndata:\n  a: b\n  b: \"\"\n  d: \"0x1F\"\n  f: |-\n    x\n    y\n\
            kind: ConfigMap\nmetadata:\n  annotations:\n    b: c\n  labels:\n    l: x\n    \"n\": \"1\"\n    z: \"null\"\n  name: a\n";
        assert_eq!(built(&files(generator, resource)), wanted);
    }

    #[test]
    fn a_merged_secret_has_the_type_of_what_is_merged_in() {
        let wanted = "apiVersion: v1\ndata:\n  a: Yg==\nkind: Secret\nmetadata:\n  name: a\ntype: Opaque\n";
        assert_eq!(built(&files(MERGED_SECRET, TYPED_SECRET)), wanted);
    }

    #[test]
    fn a_merge_warns_of_what_it_loses() {
        let place = "KUST-W017 kustomization.yaml:2:19 merging";
        let wanted = [
            format!("{place} changes `type` of Secret/a from `foo` to `Opaque`"),
            format!("{place} drops `stringData` from Secret/a"),
        ];
        assert_eq!(warned(&files(MERGED_SECRET, TYPED_SECRET)), wanted);
    }

    #[test]
    fn a_replacement_keeps_no_data() {
        let resource = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, labels: {n: 1}}\ndata: {a: b}\n";
        let generator =
            "resources: [r.yaml]\nconfigMapGenerator: [{name: a, behavior: replace, literals: [c=d]}]\n";
        let wanted = "apiVersion: v1\ndata:\n  c: d\nkind: ConfigMap\nmetadata:\n  labels:\n    \"n\": \"1\"\n  name: a\n";
        assert_eq!(built(&files(generator, resource)), wanted);
    }

    /// The hash goes where either side has none; both generated with one keep it.
    #[test]
    fn a_name_that_looks_like_a_number_stays_a_string() {
        let generators = "configMapGenerator:\n- {name: '1', options: {disableNameSuffixHash: true}}\n- {name: '1', behavior: merge}\n";
        let wanted = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: \"1\"\n";
        assert_eq!(built(&[("kustomization.yaml", generators)]), wanted);
    }
}

//! Expected values come from `kustomize build`, except where its output loses data; those tests say so.

use yamltree::{ParseOptions, parse_first, to_sigs_yaml};

use super::*;

fn node(text: &str) -> Node {
    parse_first(text, 0, &ParseOptions::default()).expect("YAML").expect("a document").root
}

fn merged(resource: &str, patch: &str) -> Result<(String, Vec<Code>)> {
    let mut resource = node(resource);
    let merged = apply(&mut resource, &node(patch), &Schema::builtin())?;
    let mut out = String::new();
    if !merged.is_deleted {
        to_sigs_yaml(&resource, &mut out)?;
    }
    Ok((out, merged.warnings.iter().map(|warning| warning.code).collect()))
}

#[track_caller]
fn check_list(field: &str, of: &str, old: &str, patch: &str, wanted: &str, codes: &[Code]) {
    let resource = |list: &str| of.replace("LIST", &format!("{field}: {list}"));
    let (found, warned) = merged(&resource(old), &resource(patch)).expect("merges");
    let mut expected = String::new();
    to_sigs_yaml(&node(&resource(wanted)), &mut expected).expect("printable");
    assert_eq!((found.as_str(), warned.as_slice()), (expected.as_str(), codes), "{old} and {patch}");
}

const POD: &str = "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {LIST}}";
const SERVICE: &str = "{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {LIST}}";
const THING: &str = "{apiVersion: example.com/v1, kind: Thing, metadata: {name: a}, spec: {LIST}}";

fn containers(old: &str, patch: &str, wanted: &str, codes: &[Code]) {
    check_list("containers", POD, old, patch, wanted, codes);
}

fn ports(old: &str, patch: &str, wanted: &str, codes: &[Code]) {
    check_list("ports", SERVICE, old, patch, wanted, codes);
}

#[test]
fn the_order_of_the_patch_wins_where_one_key_counts() {
    containers(
        "[{name: a, x: 1}, {name: b}]",
        "[{name: c}, {name: a, y: 2}]",
        "[{name: c}, {name: a, x: 1, y: 2}, {name: b}]",
        &[],
    );
    containers("[]", "[{name: a}]", "[{name: a}]", &[]);
    containers("[{name: a}]", "[]", "[{name: a}]", &[]);
}

#[test]
fn what_the_resource_has_keeps_its_order_where_two_keys_count() {
    ports(
        "[{port: 80, name: http}, {port: 53, protocol: UDP}]",
        "[{port: 80, name: web}, {port: 53, protocol: TCP}, {port: 8080}]",
        "[{port: 53, protocol: TCP}, {port: 8080}, {port: 80, name: web}, {port: 53, protocol: UDP}]",
        &[],
    );
}

#[test]
fn directives_of_items() {
    containers("[{name: a}, {name: b}]", "[{name: a, $patch: delete}]", "[{name: b}]", &[]);
    containers("[{name: a}]", "[{name: b, $patch: delete}]", "[{name: a}]", &[]);
    containers("[{name: a}]", "[{name: a, $patch: delete}]", "[]", &[]);
    containers("[{name: a, x: 1}]", "[{name: a, y: 2, $patch: merge}]", "[{name: a, x: 1, y: 2}]", &[]);
    containers("[{name: a, x: 1}]", "[{name: b, $patch: replace}]", "[{name: b}, {name: a, x: 1}]", &[]);
    containers(
        "[{name: a, x: 1}]",
        "[{name: a, $patch: replace}]",
        "[{name: a, x: 1}]",
        &[Code::PatchDirective],
    );
}

#[test]
fn directives_of_lists() {
    containers("[{name: a}]", "[{$patch: replace}, {name: b}]", "[{name: b}]", &[]);
    containers("[{name: a}]", "[{$patch: merge}, {name: b}]", "[{name: b}, {name: a}]", &[]);
    containers(
        "[{name: a}, {name: b}]",
        "[{name: a, $patch: delete}, {$patch: replace}, {name: c}]",
        "[{name: c}]",
        &[Code::PatchDirective],
    );
    let (out, _) = merged(
        "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: a}]}}",
        "{spec: {containers: [{$patch: delete}, {name: b}]}}",
    )
    .expect("merges");
    assert!(out.ends_with("spec: {}\n"), "{out}");
}

/// Kustomize prints these directives, or lists that are nothing but one.
#[test]
fn directives_that_kustomize_prints_are_obeyed() {
    containers(
        "[{name: a}]",
        "[{name: a, env: [{$patch: replace}, {name: E}]}]",
        "[{name: a, env: [{name: E}]}]",
        &[Code::PatchDirective],
    );
    check_list(
        "x",
        THING,
        "[{name: a}]",
        "[{$patch: replace}, {name: b}]",
        "[{name: b}]",
        &[Code::PatchDirective],
    );
    let container = |fields: &str| format!("[{{name: a, {fields}}}]");
    for (old, patch, wanted) in [
        ("args: [x, y, z]", "$deleteFromPrimitiveList/args: [x, z]", "args: [y]"),
        ("args: [x, y, z]", "$setElementOrder/args: [z, x]", "args: [y, z, x]"),
        ("s: {type: A, a: {}}", "s: {$retainKeys: [type, b], type: B}", "s: {type: B}"),
        (
            "env: [{name: A}, {name: B}, {name: C}]",
            "$setElementOrder/env: [{name: C}, {name: N}, {name: A}], env: [{name: N}]",
            "env: [{name: B}, {name: C}, {name: N}, {name: A}]",
        ),
    ] {
        containers(&container(old), &container(patch), &container(wanted), &[Code::PatchDirective]);
    }
}

#[test]
fn directives_that_contradict_the_patch_are_refused() {
    for patch in
        ["{$patch: explode}", "{$retainKeys: [a], b: 1}", "{$setElementOrder/x: 1}", "{x: {$patch: [a]}}"]
    {
        assert!(merged("{x: {a: 1}}", patch).is_err(), "{patch}");
    }
}

#[test]
fn items_with_the_same_keys_are_folded() {
    let folded = &[Code::EntriesFolded];
    containers("[{name: a, x: 1}, {name: a, x: 2}]", "[{name: b}]", "[{name: b}, {name: a, x: 2}]", folded);
    containers("[{name: a, x: 1}, {name: a, x: 2}]", "[{name: a, x: 3}]", "[{name: a, x: 2}]", folded);
    containers("[{name: b}]", "[{name: a, x: 1}, {name: a, x: 2}]", "[{name: a, x: 1}, {name: b}]", folded);
    containers(
        "[{name: a}]",
        "[{name: a, env: [{name: C, value: one}, {name: C, value: two}]}]",
        "[{name: a, env: [{name: C, value: two}]}]",
        folded,
    );
}

/// Kustomize empties these lists, or repeats or drops some of their entries.
#[test]
fn no_entry_is_lost_for_want_of_a_key() {
    let kept = &[Code::ListKept];
    containers("[{name: a}]", "[{image: b}]", "[{image: b}, {name: a}]", kept);
    containers("[{name: a}, {image: b}]", "[{name: c}]", "[{name: c}, {name: a}, {image: b}]", kept);
    ports(
        "[{port: 90, name: b}, {name: a}]",
        "[{port: 91}]",
        "[{port: 91}, {port: 90, name: b}, {name: a}]",
        kept,
    );
    ports(
        "[{port: 53, protocol: UDP, name: dns}, {port: 53, name: dns-tcp}]",
        "[{port: 80}]",
        "[{port: 80}, {port: 53, protocol: UDP, name: dns}, {port: 53, name: dns-tcp}]",
        kept,
    );
}

/// A port with a protocol and one without are the same to Kustomize, which then merges neither.
#[test]
fn ports_that_differ_by_a_missing_protocol_are_not_merged() {
    let ignored = &[Code::Ignored];
    ports(
        "[{port: 80, protocol: TCP, name: a}]",
        "[{port: 80, name: x}]",
        "[{port: 80, protocol: TCP, name: a}]",
        ignored,
    );
    ports("[{port: 80, name: a}]", "[{port: 80, protocol: TCP, name: x}]", "[{port: 80, name: a}]", ignored);
    let old = "[{port: 80, name: a}, {port: 90, protocol: TCP, name: b}]";
    ports(old, "[{port: 80, name: x}]", "[{port: 80, name: x}, {port: 90, protocol: TCP, name: b}]", &[]);
    ports(old, "[{port: 80, $patch: delete}]", old, ignored);
}

#[test]
fn scalars_of_a_set_are_added_in_front() {
    let of = "{apiVersion: v1, kind: Pod, metadata: {name: a, LIST}}";
    check_list("finalizers", of, "[b, c]", "[a, b]", "[a, b, c]", &[]);
}

#[test]
fn lists_without_a_type_are_replaced() {
    check_list("containers", THING, "[{name: a}]", "[{name: b}]", "[{name: b}]", &[]);
    check_list("tolerations", POD, "[{key: a}]", "[{key: b, x: null}]", "[{key: b, x: null}]", &[]);
    check_list("containers", THING, "[{name: a}]", "[]", "[]", &[]);
}

/// An object inside another has the type that it names, where the outer one's type says nothing.
#[test]
fn an_object_names_its_own_type() {
    let pod = |list: &str| {
        format!("{{kind: Thing, x: {{apiVersion: v1, kind: Pod, spec: {{containers: {list}}}}}}}")
    };
    let (out, _) = merged(&pod("[{name: a}]"), &pod("[{name: b}]")).expect("merges");
    assert!(out.contains("- name: b\n    - name: a\n"), "{out}");
}

#[test]
fn nulls_delete_and_are_not_added() {
    let (out, _) = merged("{a: 1, b: {c: 1, d: 2}}", "{a: null, b: {c: ~}, e: {f: null, g: {h: null}}}")
        .expect("merges");
    assert_eq!(out, "b:\n  d: 2\ne:\n  g: {}\n");
}

/// Expected values: what a patch passes by loses a null that is written as nothing, and keeps one that is spelled out.
#[test]
fn nulls_of_the_resource() {
    let (out, _) = merged("{a: null, b: ~, c: , d: {e: , f: 1}}", "{x: 1}").expect("merges");
    assert_eq!(out, "a: null\nb: null\nd:\n  f: 1\nx: 1\n");
}

#[test]
fn a_scalar_takes_over_the_quotes_of_the_old_one() {
    for (old, new, wanted) in
        [("\"1\"", "2", "\"2\""), ("1", "\"2\"", "\"2\""), ("1", "2", "2"), ("x", "2", "2")]
    {
        let (out, _) = merged(&format!("a: {old}"), &format!("a: {new}")).expect("merges");
        assert_eq!(out, format!("a: {wanted}\n"), "{old} and {new}");
    }
}

#[test]
fn values_of_other_forms_are_refused_with_both_places() {
    for (old, patch) in [("a: {b: 1}", "a: 1"), ("a: [1]", "a: {b: 1}"), ("a: 1", "a: [1]")] {
        let error = merged(old, patch).expect_err("refused");
        assert_eq!((error.span().start, error.chain().len()), (3, 1));
    }
}

#[test]
fn directives_of_the_whole_resource() {
    let mut resource = node("{kind: A, x: 1}");
    let merged =
        apply(&mut resource, &node("{kind: A, $patch: delete}"), &Schema::builtin()).expect("applies");
    assert!(merged.is_deleted);
    let replaced =
        apply(&mut resource, &node("{kind: A, $patch: replace}"), &Schema::builtin()).expect("applies");
    assert_eq!((replaced.is_deleted, replaced.warnings.len()), (false, 1));
    assert!(resource.get("x").is_some());
}

mod properties {
    use std::collections::BTreeSet;

    use proptest::collection::vec;
    use proptest::prelude::{Just, prop_assert_eq, proptest};
    use proptest::strategy::Strategy as Generate;
    use proptest::test_runner::Config;

    use super::*;

    /// A list that a patch adds to by keys: the resource it is in, the way there, and the keys.
    #[derive(Clone, Debug)]
    struct List {
        api_version: String,
        kind: String,
        path: Vec<String>,
        keys: Vec<String>,
    }

    /// Deeper than any keyed list lies, and than recursive types need be followed.
    const MAX_DEPTH: usize = 10;

    /// Every such list of every built-in type, each type's fields once on a way down.
    fn lists() -> Vec<List> {
        let schema = Schema::builtin();
        let mut lists = Vec::new();
        for (api_version, kind) in schema.resources() {
            let Some(root) = schema.resource(api_version, kind) else { continue };
            let mut open = vec![(root, Vec::new())];
            while let Some((at, path)) = open.pop() {
                for name in at.fields() {
                    let Some(field) = at.field(name) else { continue };
                    let path: Vec<String> = path.iter().cloned().chain([name.to_owned()]).collect();
                    let keys: Vec<String> = field
                        .merge_keys()
                        .into_iter()
                        .flat_map(|keys| keys.iter().map(str::to_owned))
                        .collect();
                    if !keys.is_empty() {
                        lists.push(List {
                            api_version: api_version.to_owned(),
                            kind: kind.to_owned(),
                            path: path.clone(),
                            keys,
                        });
                    }
                    // A schema of schemas has no keyed list in it.
                    if field.items().is_none() && path.len() < MAX_DEPTH && !name.starts_with("openAPI") {
                        open.push((field, path));
                    }
                }
            }
        }
        lists
    }

    /// For each key its value, or none; a value counts as little as any.
    type Item = Vec<Option<u8>>;

    fn items(list: &List, prefix: &str, items: &[Item]) -> Node {
        let item = |(at, item): (usize, &Item)| {
            let mut node = Node::mapping(Vec::new());
            for (key, value) in list.keys.iter().zip(item) {
                if let Some(value) = value {
                    node.set(key, Node::string(&format!("v{value}")));
                }
            }
            node.set("mark", Node::string(&format!("{prefix}{at}")));
            node
        };
        let list_node = Node::sequence(items.iter().enumerate().map(item).collect());
        let inner = list.path.iter().rev().fold(list_node, |value, name| {
            let mut node = Node::mapping(Vec::new());
            node.set(name, value);
            node
        });
        let mut resource = inner;
        resource.set("apiVersion", Node::string(&list.api_version));
        resource.set("kind", Node::string(&list.kind));
        resource
    }

    fn pairs() -> impl Generate<Value = (List, Vec<Item>, Vec<Item>)> {
        let all = lists();
        assert!(all.len() > 100, "the schema has many keyed lists");
        proptest::sample::select(all).prop_flat_map(|list| {
            let item = || vec(proptest::option::weighted(0.7, 0_u8..4), list.keys.len());
            let (old, patch) = (vec(item(), 0..6), vec(item(), 0..6));
            (Just(list), old, patch)
        })
    }

    proptest! {
        #![proptest_config(Config { cases: 10_000, ..Config::default() })]

        /// The marks of all entries of the resource whose keys are no other's and that the patch does not mention are
        /// there afterwards, each once.
        #[test]
        fn no_entry_that_the_patch_does_not_mention_is_lost((list, old, patch) in pairs()) {
            let mut resource = items(&list, "old", &old);
            apply(&mut resource, &items(&list, "new", &patch), &Schema::builtin()).expect("merges");
            let path: Vec<&str> = list.path.iter().map(String::as_str).collect();
            let marks: Vec<&str> = resource
                .lookup(&path)
                .and_then(Node::items)
                .into_iter()
                .flatten()
                .filter_map(|item| item.get("mark")?.text())
                .collect();
            let mentioned: BTreeSet<&Item> = patch.iter().collect();
            for (at, item) in old.iter().enumerate() {
                // Entries without the first key are never the same.
                let is_last = item[0].is_none() || !old[at + 1..].contains(item);
                if is_last && !mentioned.contains(item) {
                    let mark = format!("old{at}");
                    let count = marks.iter().filter(|found| **found == mark).count();
                    prop_assert_eq!(count, 1, "{} in {:?} of {:?}", mark, marks, list);
                }
            }
        }
    }
}

//! The effect of replacements on a build. Expected values are printed by `kustomize build`, unless a test says
//! otherwise.

use crate::testing::{build_files, built, refused, warned};

const SOURCE: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: src}\n\
    data: {s: abc, n: '5', dashed: a-b-c, yaml: 'x: 1'}\n";

/// A kustomization that copies a field of the source to a field of the target.
fn kustomization(from: &str, to: &str, options: &str) -> String {
    format!(
        "resources: [src.yaml, t.yaml]\nreplacements:\n- source: {{kind: ConfigMap, name: src, fieldPath: '{from}'}}\n  \
         targets:\n  - select: {{kind: Foo}}\n    fieldPaths: ['{to}']\n    options: {{{options}}}\n"
    )
}

/// Returns what becomes of the line that the target's file has after its name.
#[track_caller]
fn replaced(from: &str, to: &str, options: &str, spec: &str) -> String {
    let kustomization = kustomization(from, to, options);
    let target = format!("apiVersion: x/v1\nkind: Foo\nmetadata: {{name: t}}\nspec: {spec}\n");
    let files = [("kustomization.yaml", kustomization.as_str()), ("src.yaml", SOURCE), ("t.yaml", &target)];
    let text = built(&files);
    text.split_once("  name: t\nspec:").expect("the target comes last").1.trim_start().to_owned()
}

#[track_caller]
fn refusal(from: &str, to: &str, options: &str, spec: &str) -> String {
    let kustomization = kustomization(from, to, options);
    let target = format!("apiVersion: x/v1\nkind: Foo\nmetadata: {{name: t}}\nspec: {spec}\n");
    refused(&[("kustomization.yaml", kustomization.as_str()), ("src.yaml", SOURCE), ("t.yaml", &target)])
}

#[test]
fn a_scalar_keeps_its_type() {
    assert_eq!(replaced("data.n", "spec.a", "", "{a: x}"), "a: \"5\"\n");
    assert_eq!(replaced("data.n", "spec.a", "", "{a: 1}"), "a: 5\n");
    assert_eq!(
        refusal("data.s", "spec.a", "", "{a: 1}"),
        "kustomization.yaml:6:18: cannot decode !!str `abc` as a !!int"
    );
}

#[test]
fn what_is_made_has_the_type_of_its_text() {
    assert_eq!(replaced("data.n", "spec.b.c", "create: true", "{a: x}"), "a: x\n  b:\n    c: 5\n");
}

#[test]
fn an_empty_text_is_no_null() {
    let kustomization = "resources: [t.yaml]\nreplacements:\n- sourceValue: ''\n  targets:\n  - select: {kind: Foo}\n    \
        fieldPaths: [spec.a, spec.new]\n    options: {create: true}\n";
    let target = "apiVersion: x/v1\nkind: Foo\nmetadata: {name: t}\nspec: {a: {b: c}}\n";
    let text = built(&[("kustomization.yaml", kustomization), ("t.yaml", target)]);
    assert!(text.ends_with("spec:\n  a: \"\"\n  new: \"\"\n"), "{text}");
}

#[test]
fn anything_but_a_scalar_is_replaced_whole() {
    assert_eq!(replaced("data.s", "spec.a", "", "{a: {b: c}}"), "a: abc\n");
    assert_eq!(replaced("metadata", "spec.a", "", "{a: [1]}"), "a:\n    name: src\n");
}

#[test]
fn items_are_selected_by_patterns_that_match_anywhere() {
    let list = "[{name: web, v: 1}, {name: web2, v: 1}, {name: db, v: 1}]";
    let of = |to: &str| replaced("data.n", to, "", list).matches("v: 5").count();
    assert_eq!(of("spec.[name=web].v"), 2);
    assert_eq!(of("spec.[name=^web$].v"), 1);
    assert_eq!(of("spec.*.v"), 3);
    assert_eq!(of("spec.1.v"), 1);
    assert_eq!(replaced("data.s", "spec.[=b]", "", "[a, ab, b]"), "- a\n- abc\n- abc\n");
}

/// go-yaml prints the item with its quotes, and so it is matched.
#[test]
fn a_quoted_item_does_not_match_an_anchored_pattern() {
    assert!(refusal("data.s", "spec.[name=^web$].v", "", "[{name: 'web', v: x}]").contains("unknown field"));
}

#[test]
fn a_missing_item_is_made() {
    let list = "[{name: web}]";
    assert_eq!(
        replaced("data.s", "spec.[name=db].v", "create: true", list),
        "- name: web\n- name: db\n  v: abc\n"
    );
    assert_eq!(replaced("data.s", "spec.1.v", "create: true", list), "- name: web\n- v: abc\n");
    assert!(refusal("data.s", "spec.2.v", "create: true", list).contains("no item 2 in a list of 1"));
}

/// Kustomize makes such an item again and again until its stack is full.
#[test]
fn an_item_that_would_not_match_is_not_made() {
    let refusal = refusal("data.s", "spec.[name=^$x].v", "create: true", "[]");
    assert!(refusal.ends_with("an item made for `[name=^$x]` does not match it"), "{refusal}");
}

#[test]
fn a_part_of_a_text_is_taken_and_put() {
    let options = |index: i64| format!("delimiter: '-', index: {index}");
    let put = |index| replaced("data.s", "spec.a", &options(index), "{a: x-y-z}");
    assert_eq!([put(-1), put(1), put(9)], ["a: abc-x-y-z\n", "a: x-abc-z\n", "a: x-y-z-abc\n"]);
    let from_part = "resources: [src.yaml]\nreplacements:\n- source: {kind: ConfigMap, name: src, fieldPath: data.dashed, \
        options: {delimiter: '-', index: 1}}\n  targets: [{select: {kind: ConfigMap}, fieldPaths: [data.s]}]\n";
    assert!(built(&[("kustomization.yaml", from_part), ("src.yaml", SOURCE)]).contains("\n  s: b\n"));
    assert_eq!(
        refused(&[("kustomization.yaml", &from_part.replace("index: 1", "index: 3")), ("src.yaml", SOURCE)]),
        "kustomization.yaml:3:73: no part 3 in `a-b-c`"
    );
}

#[test]
fn a_field_inside_a_text_is_replaced() {
    let yaml = "{y: \"b:\\n    - k: v\\n    - 'q'\\na: 1\\n\"}";
    assert_eq!(
        replaced("data.s", "spec.y.b.0.k", "", yaml),
        "\"y\": |-\n    b:\n    - k: abc\n    - 'q'\n    a: 1\n"
    );
    assert_eq!(
        replaced("data.s", "spec.j.b", "", "{j: '{\"b\": \"<\", \"a\": 1.0}'}"),
        "j: '{\"a\":1,\"b\":\"abc\"}'\n"
    );
    let indented = "{j: \"{\\n  \\\"b\\\": [],\\n\\\"a\\\": 1}\"}";
    assert_eq!(
        replaced("data.n", "spec.j.a", "", indented),
        "j: |-\n    {\n      \"a\": 5,\n      \"b\": []\n    }\n"
    );
}

/// Kustomize changes a copy of the text where the path selects items on its way, and throws it away.
#[test]
fn a_field_inside_the_text_of_a_selected_item_is_replaced() {
    let list = "[{name: web, conf: '{\"a\": \"x\"}'}]";
    assert_eq!(replaced("data.s", "spec.*.conf.a", "", list), "- conf: '{\"a\":\"abc\"}'\n  name: web\n");
}

/// Kustomize hangs the value below the null, where it is never printed.
#[test]
fn a_null_gives_way_to_what_is_made_below_it() {
    let kustomization = kustomization("data.s", "spec.a", "create: true");
    let target = "apiVersion: x/v1\nkind: Foo\nmetadata: {name: t}\nspec: null\n";
    let files = [("kustomization.yaml", kustomization.as_str()), ("src.yaml", SOURCE), ("t.yaml", target)];
    assert!(built(&files).ends_with("spec:\n  a: abc\n"));
    assert_eq!(
        warned(&files),
        ["KUST-W017 kustomization.yaml:6:18 Kustomize loses a value that is put below a null; it was kept"]
    );
}

#[test]
fn the_source_is_one_field_of_one_resource() {
    let target = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: t}\ndata: {s: x}\n";
    let refused = |source: &str| {
        let kustomization = format!(
            "resources: [src.yaml, t.yaml]\nreplacements:\n- source: {source}\n  targets: [{{select: {{kind: Foo}}}}]\n"
        );
        refused(&[("kustomization.yaml", kustomization.as_str()), ("src.yaml", SOURCE), ("t.yaml", target)])
    };
    assert_eq!(
        refused("{kind: ConfigMap}"),
        "kustomization.yaml:3:11: the source is ambiguous: ConfigMap/src and ConfigMap/t both match"
    );
    assert_eq!(
        refused("{kind: ConfigMap, name: s.c}"),
        "kustomization.yaml:3:11: no resource is the source of the replacement: kind `ConfigMap`, name `s.c`"
    );
    assert_eq!(
        refused("{name: src, fieldPath: data.z}"),
        "kustomization.yaml:3:34: ConfigMap/src has no `data.z`"
    );
    assert_eq!(
        refused("{name: t, fieldPath: 'data.*'}"),
        "kustomization.yaml:3:32: ConfigMap/t has no `data.*`"
    );
}

#[test]
fn a_hint_names_the_field_that_was_meant() {
    let kustomization = kustomization("data.dashd", "spec.a", "");
    let files = [
        ("kustomization.yaml", kustomization.as_str()),
        ("src.yaml", SOURCE),
        ("t.yaml", "apiVersion: x/v1\nkind: Foo\nmetadata: {name: t}\n"),
    ];
    let error = build_files(&files).expect_err("no such field");
    assert_eq!(error.get_hint(), Some("did you mean `dashed`?"));
}

#[test]
fn a_target_without_resources_is_worth_a_warning() {
    let kustomization = kustomization("data.s", "spec.a", "");
    assert_eq!(
        warned(&[("kustomization.yaml", &kustomization.replace(", t.yaml", "")), ("src.yaml", SOURCE)]),
        ["KUST-W002 kustomization.yaml:5:5 the target of the replacement selects no resource"]
    );
}

#[test]
fn entries_must_be_whole() {
    let refused = |entry: &str| {
        refused(&[
            ("kustomization.yaml", &format!("resources: [src.yaml]\nreplacements: [{entry}]\n")),
            ("src.yaml", SOURCE),
        ])
    };
    assert!(refused("{targets: [{select: {}}]}").ends_with(": the replacement lacks a source"));
    assert!(refused("{sourceValue: x}").ends_with(": the replacement lacks targets"));
    assert!(refused("{sourceValue: x, targets: []}").ends_with(": the replacement lacks targets"));
    assert!(
        refused("{sourceValue: x, targets: [{}]}")
            .ends_with(": the target of the replacement selects nothing")
    );
    assert!(refused("{sourceValue: x, source: {}, targets: [{select: {}}]}").contains("exclude each other"));
    assert!(refused("{path: x.yaml, source: {}}").contains("exclude each other"));
}

/// Each replacement doubles the text, so a short file would fill the memory.
#[test]
fn values_cannot_grow_without_end() {
    let entry = "- source: {kind: ConfigMap, name: src, fieldPath: data.s}\n  \
        targets: [{select: {kind: ConfigMap}, fieldPaths: [data.s], options: {delimiter: '|', index: -1}}]\n";
    let kustomization = format!("resources: [src.yaml]\nreplacements:\n{}", entry.repeat(20));
    let source = SOURCE.replace("abc", &"x".repeat(100_000));
    let refused = refused(&[("kustomization.yaml", &kustomization), ("src.yaml", &source)]);
    assert!(refused.ends_with("the replacements write more than 64 MiB"), "{refused}");
}

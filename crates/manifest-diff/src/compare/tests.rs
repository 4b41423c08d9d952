//! Which forms count as equal, and what fields are called.

use super::*;
use crate::objects::testing::objects;
use crate::objects::yaml;

/// The changes, one a line, and both trees where they differ.
fn changes(old: &str, new: &str) -> String {
    let all = objects(&format!("{old}\n---\n{new}\n"));
    let (base, head) = (&all[0], &all[1]);
    let mut definitions = Definitions::default();
    definitions.add(&all[2.min(all.len())..]);
    let compared = compare(base.node(), head.node(), head.kind(), definitions.shape(head));
    let mut text = String::new();
    for change in &compared.changes {
        let value = |node: &Option<Node>| node.as_ref().map_or("∅".to_owned(), crate::json_text::text_of);
        text += &format!("{} {} → {}\n", change.path, value(&change.old), value(&change.new));
    }
    let (base, head) = (compared.base.unwrap(), compared.head.unwrap());
    // The lines show no more and no less than the fields.
    assert_eq!(compared.changes.is_empty(), yaml(&base) == yaml(&head), "{}\n{}", yaml(&base), yaml(&head));
    text
}

fn pod(spec: &str) -> String {
    format!("apiVersion: v1\nkind: Pod\nspec: {spec}")
}

#[test]
fn containers_are_known_by_name() {
    let old = pod("{containers: [{name: a, image: x:1}, {name: b, image: y:1}, {name: c}]}");
    let new = pod("{containers: [{name: b, image: y:2}, {name: a, image: x:1}, {name: d}]}");
    assert_eq!(
        changes(&old, &new),
        "spec.containers[name=b].image \"y:1\" → \"y:2\"\nspec.containers[name=d] ∅ → {\"name\":\"d\"}\nspec.containers[name=c] {\"name\":\"c\"} → ∅\n"
    );
}

#[test]
fn order_matters_where_things_run_one_after_the_other() {
    let spec = |names: &str| pod(&format!("{{initContainers: [{names}], containers: [{{name: a}}]}}"));
    assert_eq!(
        changes(&spec("{name: a}, {name: b}"), &spec("{name: b}, {name: a}")),
        "spec.initContainers [\"name=a\",\"name=b\"] → [\"name=b\",\"name=a\"]\n"
    );
    let args = |args: &str| pod(&format!("{{containers: [{{name: a, args: [{args}]}}]}}"));
    assert_eq!(
        changes(&args("a, b, c"), &args("a, x, c, d")),
        "spec.containers[name=a].args[1] \"b\" → \"x\"\nspec.containers[name=a].args[3] ∅ → \"d\"\n"
    );
}

#[test]
fn forms_that_mean_the_same_are_equal() {
    for (old, new) in [
        (
            "{containers: [{name: a, resources: {limits: {cpu: 0.1, memory: 1024Mi}}}]}",
            "{containers: [{name: a, resources: {limits: {cpu: 100m, memory: 1Gi}}}]}",
        ),
        (
            "{containers: [{name: a, ports: [{containerPort: 80, protocol: TCP}]}]}",
            "{containers: [{name: a, ports: [{containerPort: 80}]}]}",
        ),
        (
            "{containers: [{name: a, image: x, imagePullPolicy: Always}]}",
            "{containers: [{name: a, image: x}]}",
        ),
        (
            "{containers: [{name: a}], securityContext: {}, restartPolicy: Always}",
            "{containers: [{name: a}]}",
        ),
        (
            "{containers: [{name: a, readinessProbe: {httpGet: {port: '80'}}}]}",
            "{containers: [{name: a, readinessProbe: {httpGet: {port: 80, scheme: HTTP}}}]}",
        ),
        ("{a: 1.0, b: null}", "{a: 1}"),
        ("{containers: [{name: b}, {name: a}]}", "{containers: [{name: a}, {name: b}]}"),
    ] {
        assert_eq!(changes(&pod(old), &pod(new)), "", "{old} {new}");
    }
}

#[test]
fn forms_that_differ_are_not() {
    let differ = |old: &str, new: &str| assert_ne!(changes(old, new), "", "{old} {new}");
    differ("kind: ConfigMap\ndata: {a: '1'}", "kind: ConfigMap\ndata: {a: 1}");
    differ("kind: ConfigMap\ndata: {a: '100m'}", "kind: ConfigMap\ndata: {a: '0.1'}");
    // An empty selector is all pods, none is none.
    let policy =
        "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nspec: {ingress: [{from: [{podSelector: {}";
    differ(&format!("{policy}, namespaceSelector: {{}}}}]}}]}}"), &format!("{policy}}}]}}]}}"));
    differ(&pod("{volumes: [{name: a, emptyDir: {}}]}"), &pod("{volumes: [{name: a}]}"));
    differ("kind: Deployment\nspec: {replicas: 1}", "kind: Deployment\nspec: {}");
    differ("kind: A\nspec: [null]", "kind: A\nspec: [a]");
    differ("kind: A\nspec: [null]", "kind: A\nspec: []");
    differ("kind: A\nspec: {a: {b: 1}}", "kind: A\nspec: {a: [1]}");
    differ("kind: A\nspec: {a: 9007199254740993}", "kind: A\nspec: {a: 9007199254740992}");
}

#[test]
fn noise_is_counted_only_where_it_is_noise() {
    let labels = |version: &str| {
        format!(
            "kind: A\nmetadata: {{labels: {{helm.sh/chart: x-{version}, app.kubernetes.io/version: '{version}'}}, annotations: {{checksum/config: '{version}'}}}}"
        )
    };
    assert_eq!(changes(&labels("1"), &labels("2")), "");
    assert_eq!(changes(&labels("1"), "kind: A"), "");
    let claims = |version: &str| {
        format!(
            "kind: StatefulSet\nspec: {{volumeClaimTemplates: [{{metadata: {{name: a, labels: {{helm.sh/chart: x-{version}}}}}}}]}}"
        )
    };
    assert_eq!(
        changes(&claims("1"), &claims("2")),
        "spec.volumeClaimTemplates[metadata.name=a].metadata.labels[\"helm.sh/chart\"] \"x-1\" → \"x-2\"\n"
    );
    let selector = |version: &str| {
        format!("kind: A\nspec: {{selector: {{matchLabels: {{helm.sh/chart: x-{version}}}}}}}")
    };
    assert_ne!(changes(&selector("1"), &selector("2")), "");
}

#[test]
fn crds_say_by_what_items_are_known() {
    let crd = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nspec: {group: e.x, names: {kind: W}, versions: [{name: v1, schema: {openAPIV3Schema: {properties: {spec: {properties: {rules: {x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [host, path], items: {properties: {tags: {x-kubernetes-list-type: set}}}}}}}}}}]}";
    let old = "apiVersion: e.x/v1\nkind: W\nspec: {rules: [{host: a, path: /, m: 1, tags: [x, w]}, {host: b, path: /}]}";
    let new = "apiVersion: e.x/v1\nkind: W\nspec: {rules: [{host: b, path: /}, {host: a, path: /, m: 2, tags: [w, x, z]}]}";
    assert_eq!(
        changes(old, &format!("{new}\n---\n{crd}")),
        "spec.rules[host=a,path=/].m 1 → 2\nspec.rules[host=a,path=/].tags[z] ∅ → \"z\"\n"
    );
}

#[test]
fn unknown_lists_go_by_name_or_by_content() {
    let list = |items: &str| format!("kind: X\nspec: {{a: [{items}]}}");
    assert_eq!(
        changes(&list("{name: a, v: 1}, {name: b}"), &list("{name: a, v: 2}, {name: c}, {name: b}")),
        "spec.a[name=a].v 1 → 2\nspec.a[name=c] ∅ → {\"name\":\"c\"}\n"
    );
    // Nobody knows what their order means.
    assert_eq!(
        changes(&list("{name: a, v: 1}, {name: b}"), &list("{name: b}, {name: a, v: 1}")),
        "spec.a [\"name=a\",\"name=b\"] → [\"name=b\",\"name=a\"]\n"
    );
    assert_eq!(changes(&list("{k: a, v: 1}, {k: b}"), &list("{k: a, v: 2}, {k: b}")), "spec.a[0].v 1 → 2\n");
    assert_eq!(
        changes(&list("{name: a}, {name: a, v: 1}"), &list("{name: a}")),
        "spec.a[1] {\"name\":\"a\",\"v\":1} → ∅\n"
    );
}

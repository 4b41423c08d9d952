//! The dependencies between crates are those of ARCHITECTURE.md: each crate depends only on crates of lower layers.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The layers, lowest first.
const LAYERS: &[&[&str]] = &[
    &["diagnostic", "vfs", "goregex", "gojson", "gostd"],
    &["yamltree", "glob", "gotemplate", "cmp-server", "oci-registry", "gitremote"],
    &["kustomize", "helm-lite", "yamledit", "yamlserde", "kubeschema", "findings", "cosign", "testkit"],
    &["kustomize-edit"],
    &["argocd"],
    &["flux", "manifest-lint", "manifest-diff"],
    &["renderer", "image-updater"],
    &["tests"],
];

/// Crates that must stay pure: they depend on nothing that reaches a network, a cluster or a process.
const ENGINES: &[&str] = &[
    "diagnostic",
    "vfs",
    "goregex",
    "gojson",
    "gostd",
    "yamltree",
    "glob",
    "gotemplate",
    "kustomize",
    "helm-lite",
    "yamledit",
    "yamlserde",
    "kubeschema",
    "findings",
    "kustomize-edit",
    "argocd",
    "flux",
    "manifest-lint",
    "manifest-diff",
];

/// Dependencies that reach a network, a cluster or a process.
const EDGES: &[&str] = &["gix", "hyper", "kube", "reqwest", "rustix", "rustls", "tempfile", "tokio", "tonic"];

fn dependencies() -> BTreeMap<String, Vec<String>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let inner = fs::read_dir(root.join("crates")).expect("the crates exist");
    let inner = inner.map(|entry| entry.expect("an entry").path());
    let outer = ["kustomize", "helm-lite", "renderer", "image-updater", "tests"].map(|name| root.join(name));
    inner.chain(outer).map(|directory| manifest(&directory)).collect()
}

fn manifest(directory: &Path) -> (String, Vec<String>) {
    let text = fs::read_to_string(directory.join("Cargo.toml")).expect("the manifest exists");
    let manifest: toml::Table = toml::from_str(&text).expect("the manifest is TOML");
    let name = manifest["package"]["name"].as_str().expect("a name").to_owned();
    let names = manifest.get("dependencies").and_then(toml::Value::as_table);
    (name, names.map(|table| table.keys().cloned().collect()).unwrap_or_default())
}

fn layer(name: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| layer.contains(&name))
}

#[test]
fn a_crate_depends_only_on_lower_layers() {
    let dependencies = dependencies();
    assert!(dependencies.len() > 20, "all manifests are read");
    for (name, needs) in &dependencies {
        let own = layer(name).unwrap_or_else(|| panic!("add `{name}` to LAYERS and to ARCHITECTURE.md"));
        for need in needs.iter().filter(|need| dependencies.contains_key(*need)) {
            assert!(layer(need).is_some_and(|layer| layer < own), "`{name}` must not depend on `{need}`");
        }
    }
}

#[test]
fn engines_reach_no_network_cluster_or_process() {
    let dependencies = dependencies();
    for name in ENGINES {
        let found = dependencies[*name].iter().find(|need| EDGES.contains(&need.as_str()));
        assert_eq!(found, None, "`{name}`");
    }
}

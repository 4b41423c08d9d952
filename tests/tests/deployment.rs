//! The deployment: `deploy/` as this repository's own renderer renders it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use image_updater::config::Config;

const RENDERER: &str = env!("CARGO_BIN_EXE_renderer-under-test");

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Returns what a command of the renderer prints.
fn rendered(arguments: &[&str]) -> String {
    let output = Command::new(RENDERER).args(arguments).current_dir(root()).output().expect("it can be run");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("it is text")
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
fn the_image_updater_is_rendered_as_kustomize_renders_it() {
    for variant in ["git-only", "namespaced", "cluster-wide", "monitoring"] {
        let printed = rendered(&["kustomize", "build", &format!("deploy/image-updater/{variant}")]);
        // What Kustomize 5.8.1 prints.
        let want = read(&format!("testdata/deploy/image-updater/{variant}.yaml"));
        assert_eq!(printed, want, "{variant}");
    }
}

#[test]
fn its_chart_is_rendered_as_helm_renders_it() {
    for mode in ["git-only", "namespaced", "cluster-wide"] {
        let values = format!("testdata/deploy/chart/{mode}.values.yaml");
        let chart = "deploy/charts/image-updater";
        let printed =
            rendered(&["helm", "template", "prod", chart, "--namespace", "tools", "--values", &values]);
        // What Helm 4.3.1 prints.
        assert_eq!(printed, read(&format!("testdata/deploy/chart/{mode}.yaml")), "{mode}");
    }
}

/// A chart and a kustomization take files from below themselves only.
#[test]
fn the_chart_and_the_kustomization_have_the_same_alerts_and_dashboard() {
    let dashboard = read("deploy/image-updater/monitoring/dashboard.json");
    assert_eq!(dashboard, read("deploy/charts/image-updater/files/dashboard.json"));
    let rules = read("deploy/charts/image-updater/files/rules.yaml");
    let indented: Vec<String> = rules.lines().map(|line| format!("  {line}")).collect();
    let rule = read("deploy/image-updater/monitoring/prometheus-rule.yaml");
    assert!(rule.ends_with(&format!("spec:\n{}\n", indented.join("\n"))));
}

/// Expected values: what a dashboard or an alert asks for is counted, under that name.
#[test]
fn all_numbers_that_are_shown_are_counted() {
    let source = read("image-updater/src/daemon/metrics.rs");
    let shown = read("deploy/charts/image-updater/files/dashboard.json")
        + &read("deploy/charts/image-updater/files/rules.yaml");
    let names = shown.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    let prefixes = ["argocd_image_updater_", "image_updater_"];
    let ours = names.filter_map(|name| prefixes.iter().find_map(|prefix| name.strip_prefix(prefix)));
    let mut count = 0;
    for name in ours {
        let plain = name.strip_suffix("_bucket").unwrap_or(name);
        let is_counted = [plain, plain.strip_suffix("_total").unwrap_or(plain)]
            .iter()
            .any(|name| source.contains(&format!("\"{name}\"")));
        assert!(is_counted, "{name}");
        count += 1;
    }
    assert!(count > 20, "{count}");
}

/// Both kinds of Argo CD's plugin, as components of an installation of Argo CD.
#[test]
fn the_plugins_of_argo_cd_are_rendered_as_kustomize_renders_them() {
    let output = Command::new(RENDERER)
        .args(["kustomize", "build", "testdata/deploy/argocd-plugin"])
        .current_dir(root())
        .output()
        .expect("it can be run");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // What Kustomize 5.8.1 prints.
    let want = fs::read_to_string(root().join("testdata/deploy/argocd-plugin.yaml")).expect("it is there");
    assert_eq!(String::from_utf8_lossy(&output.stdout), want);
    for line in ["runAsUser: 999", "readOnlyRootFilesystem: true", "type: RuntimeDefault", "- --probe"] {
        assert!(want.lines().filter(|known| known.trim() == line).count() >= 2, "{line}");
    }
}

#[test]
fn its_configuration_is_one() {
    let config =
        Config::load(&root().join("deploy/image-updater/git-only/image-updater.yaml")).expect("it is right");
    assert_eq!(config.batch.updates.len(), 1);
}

/// Expected values: what a cluster that is strict about pods asks for, and what the probes rely on.
#[test]
fn its_pod_may_do_little() {
    let deployment = fs::read_to_string(root().join("deploy/image-updater/base/deployment.yaml")).unwrap();
    for line in [
        "runAsNonRoot: true",
        "readOnlyRootFilesystem: true",
        "allowPrivilegeEscalation: false",
        "automountServiceAccountToken: false",
        "drop: [ALL]",
        "type: RuntimeDefault",
        "path: /healthz",
        "path: /readyz",
        "- --listen=0.0.0.0:8080",
        "containerPort: 8080",
    ] {
        assert!(deployment.lines().any(|known| known.trim() == line), "{line}");
    }
}

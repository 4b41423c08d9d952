//! What is deployed: `deploy/` as this repository's own renderer renders it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use image_updater::config::Config;

const RENDERER: &str = env!("CARGO_BIN_EXE_renderer-under-test");

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[test]
fn the_image_updater_is_rendered_as_kustomize_renders_it() {
    let output = Command::new(RENDERER)
        .args(["kustomize", "build", "deploy/image-updater"])
        .current_dir(root())
        .output()
        .expect("it can be run");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // What Kustomize 5.8.1 prints.
    let want = fs::read_to_string(root().join("testdata/deploy/image-updater.yaml")).expect("it is there");
    assert_eq!(String::from_utf8_lossy(&output.stdout), want);
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
    let config = Config::load(&root().join("deploy/image-updater/image-updater.yaml")).expect("it is right");
    assert_eq!(config.batch.updates.len(), 1);
}

/// What a cluster that is strict about pods asks for, and what the probes rely on.
#[test]
fn its_pod_may_do_little() {
    let deployment = fs::read_to_string(root().join("deploy/image-updater/deployment.yaml")).unwrap();
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

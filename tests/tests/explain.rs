//! `renderer explain`: the cases of `testdata/explain`, whose `.out` files were reasoned by hand: each line names the place
//! that a person would change.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const RENDERER: &str = env!("CARGO_BIN_EXE_renderer-under-test");

const IMAGE: &str = "spec.template.spec.containers[0].image";
const WEB_IMAGE: &str = "spec.template.spec.containers[name=web].image";

/// The name of the wanted text, and the command line.
const CASES: &[(&str, &[&str])] = &[
    // The patch puts a container before the base's; the images entry is the one for the name.
    ("overlay-image", &["overlay/prod", "Deployment/web", WEB_IMAGE]),
    // A JSON patch in the kustomization has its place there.
    ("overlay-replicas", &["overlay/prod", "deployment/prod-web", "spec.replicas"]),
    ("overlay", &["overlay/prod", "Deployment/prod-web"]),
    ("overlay-metadata", &["overlay/prod", "Deployment/prod-web", "metadata", "-o", "json"]),
    ("generator", &["generator", "ConfigMap/settings"]),
    ("generator-secret", &["generator", "Secret/login"]),
    (
        "chart-image",
        &["chart/web", "Deployment/web", IMAGE, "-f", "chart/prod.yaml", "--set", "image.tag=2.5"],
    ),
    ("chart-secret", &["chart/web", "Secret/web", "stringData.password", "-f", "chart/prod.yaml"]),
    // What `valuesInline` gives is in the kustomization, although the chart gets it merged with its own values.
    ("inflated-replicas", &["inflated", "Deployment/shop", "spec.replicas", "--enable-helm"]),
    // Nothing of the values is in `valuesInline`, and the chart's own are not told twice.
    ("inflated-image", &["inflated", "Deployment/shop", IMAGE, "--enable-helm"]),
    (
        "application-chart",
        &["application/shop.yaml", "Deployment/shop", IMAGE, "--context", "application/context.yaml"],
    ),
    // Values in the Application, and parameters, have their lines there.
    (
        "application-values",
        &[
            "application/shop.yaml",
            "Deployment/shop",
            "spec.replicas",
            "--context",
            "application/context.yaml",
        ],
    ),
    (
        "application-overlay",
        &["application/shop.yaml", "Deployment/site", IMAGE, "--context", "application/context.yaml"],
    ),
    (
        "application-metadata",
        &["application/shop.yaml", "Deployment/site", "metadata", "--context", "application/context.yaml"],
    ),
    ("manifest", &["overlay/base/deployment.yaml", "Deployment/web", "spec.replicas"]),
];

fn explain(arguments: &[&str]) -> Output {
    let mut command = Command::new(RENDERER);
    command.arg("explain").args(arguments).current_dir(testdata());
    command.output().expect("the program can be run")
}

fn testdata() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/explain")
}

#[test]
fn each_field_leads_to_the_lines_that_made_it() {
    for (name, arguments) in CASES {
        let wanted = fs::read_to_string(testdata().join(format!("{name}.out"))).expect(name);
        let output = explain(arguments);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(String::from_utf8_lossy(&output.stdout), wanted, "{name}: {stderr}");
        assert_eq!(output.status.code(), Some(0), "{name}: {stderr}");
    }
}

#[test]
fn nothing_tells_a_secret() {
    for arguments in [
        &["generator", "Secret/login"][..],
        &["generator", "Secret/login", "data.password"],
        &["chart/web", "Secret/web", "-f", "chart/prod.yaml"],
        &["chart/web", "Secret/web", "stringData.password", "-f", "chart/prod.yaml"],
        &["inflated", "Secret/shop", "stringData", "--enable-helm"],
        &["application/shop.yaml", "Secret/shop", "--context", "application/context.yaml"],
    ] {
        for format in ["text", "json"] {
            let output = explain(&[arguments, &["-o", format]].concat());
            let text = String::from_utf8_lossy(&output.stdout);
            assert!(text.contains("***"), "{arguments:?}: {text}");
            for secret in ["hunter", "aHVudGVy"] {
                assert!(!text.contains(secret), "{arguments:?}: {text}");
            }
        }
    }
}

#[test]
fn what_is_not_there_is_said_with_what_is() {
    for (arguments, code, said, hint) in [
        (
            &["overlay/prod", "Deployment/shop"][..],
            1,
            "no Deployment/shop in `overlay/prod`",
            "it has Deployment/prod-web",
        ),
        (
            &["overlay/prod", "Deployment/web", "spec.replica"],
            1,
            "`spec` of Deployment/prod-web has no field `replica`",
            "it has replicas, template",
        ),
        (&["overlay/prod", "web"], 2, "invalid object `web`", "such as `Deployment/web`"),
        (&["overlay/prod", "Deployment/web", "a..b"], 2, "invalid field path `a..b`", "such as"),
        (&["nothing", "Deployment/web"], 1, "no file `nothing` and no Application", "renderer apps"),
    ] {
        let output = explain(arguments);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{stderr}");
        assert!(output.stdout.is_empty());
        assert!(stderr.contains(said) && stderr.contains(hint), "{stderr}");
    }
}

//! `renderer validate`: the manifests of `testdata/validate`, whose `.out` files say what is wrong with them. What is
//! wrong was reasoned from Kubernetes' API documents; the places are those of the files that a person would mend.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const RENDERER: &str = env!("CARGO_BIN_EXE_renderer-under-test");

/// The name of the wanted text, and the command line.
const CASES: &[(&str, &[&str], i32)] = &[
    ("bad", &["bad.yaml", "--kube-version", "1.34"], 1),
    // Fields of patches are faults of the patches, also where they stand in the kustomization.
    ("overlay", &["overlay", "--kube-version", "1.34"], 1),
    // What a loop of a template writes, and a hook, leads to the template's lines.
    ("chart", &["chart", "--kube-version", "1.34"], 1),
    ("custom", &["custom/widget.yaml", "--crds", "custom/definition.yaml"], 1),
    ("custom-together", &["custom"], 1),
    ("old", &["old.yaml", "--kube-version", "v1.33.4", "--crds", "custom"], 1),
    ("new", &["old.yaml", "--kube-version", "1.34", "--crds", "custom"], 0),
    ("required", &["old.yaml", "--kube-version", "1.34", "--crds", "custom", "--require-schemas"], 1),
];

fn validate(arguments: &[&str]) -> Output {
    let mut command = Command::new(RENDERER);
    command.arg("validate").args(arguments).current_dir(testdata());
    command.output().expect("the program can be run")
}

fn testdata() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/validate")
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    for (name, arguments, code) in CASES {
        let wanted = fs::read_to_string(testdata().join(format!("{name}.out"))).expect(name);
        let output = validate(arguments);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(String::from_utf8_lossy(&output.stdout), wanted, "{name}: {stderr}");
        assert_eq!(output.status.code(), Some(*code), "{name}: {stderr}");
    }
}

#[test]
fn no_format_tells_a_secret() {
    for format in ["text", "json", "sarif", "junit", "github", "gitlab"] {
        let output = validate(&["bad.yaml", "-o", format]);
        let all = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&all);
        assert!(text.contains("not valid base64"), "{format}: {text}");
        assert!(!text.contains("hunter2"), "{format}: {text}");
    }
}

#[test]
fn what_cannot_be_looked_at_fails() {
    for (arguments, code, wanted) in [
        (&["nothing.yaml"][..], 1, "no such file or directory: `nothing.yaml`"),
        (&["bad.yaml", "--kube-version", "1.2"], 2, "no schemas for Kubernetes `1.2`"),
        (&["bad.yaml", "--crds", "nothing"], 1, "no such file or directory: `nothing`"),
        (&["bad.yaml", "--schemas", "nothing"], 1, "the directory `nothing` does not exist"),
    ] {
        let output = validate(arguments);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{stderr}");
        assert!(stderr.contains(wanted), "{stderr}");
    }
}

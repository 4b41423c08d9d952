//! `renderer lint`: the manifests and repositories of `testdata/lint-rules`, a folder for each rule, with what is wrong
//! in them as `.out` beside the folder's files. What is wrong, and what is not, was reasoned from the documentation and
//! the sources of Kubernetes, Argo CD and the operators; see the module of each rule.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const RENDERER: &str = env!("CARGO_BIN_EXE_renderer-under-test");

/// The folder, the name of the wanted text in it, the command line, and the exit code.
const CASES: &[(&str, &str, &[&str], i32)] = &[
    ("replicas-under-autoscaler", "bad", &["bad.yaml", "--disable", "LINT002"], 1),
    ("replicas-under-autoscaler", "good", &["good.yaml"], 0),
    ("replicas-and-applications", "apps", &[], 1),
    ("missing-definition", "undeclared", &["objects.yaml"], 0),
    ("missing-definition", "declared", &["objects.yaml", "--api-versions", "example.com/v1/Declared"], 1),
    ("missing-definition-of-applications", "apps", &[], 1),
    ("hook-typo", "objects", &["objects.yaml"], 1),
    ("literal-secret", "bad", &["bad.yaml"], 1),
    ("literal-secret", "good", &["good.yaml", "--disable", "missing-definition"], 0),
    ("mutable-image", "objects", &["objects.yaml"], 1),
    ("mutable-revision", "apps", &["--disable", "LINT008"], 1),
    ("cascading-applications", "apps", &[], 1),
    ("shared-object", "apps", &[], 1),
    ("missing-reference", "overlay", &["overlay", "--disable", "LINT002"], 1),
    // A chart or a file may be given the rest by others.
    ("missing-reference", "file", &["overlay/web.yaml", "--disable", "LINT002"], 1),
    // Without Applications it is the overlays that nothing builds on.
    ("missing-reference", "found", &["--disable", "LINT002"], 1),
    ("missing-reference", "fine", &["fine"], 0),
    ("old-apis", "1.24", &["objects.yaml", "--kube-version", "1.24"], 1),
    ("old-apis", "1.34", &["objects.yaml", "--kube-version", "v1.34.1"], 1),
    ("project-denial", "apps", &["--disable", "LINT008"], 1),
    ("argocd-namespace", "apps", &[], 1),
    ("suppression", "objects", &["objects.yaml"], 1),
    // What is off is not unused.
    ("suppression", "disabled", &["objects.yaml", "--disable", "LINT004,LINT005,LINT011"], 0),
    ("suppression", "errors", &["objects.yaml", "--fail-on", "error"], 0),
];

fn lint(folder: &str, arguments: &[&str]) -> Output {
    let mut command = Command::new(RENDERER);
    command.arg("lint").args(arguments).current_dir(testdata().join(folder));
    command.output().expect("the program can be run")
}

fn testdata() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/lint-rules")
}

#[test]
fn each_rule_finds_what_is_wrong_and_nothing_else() {
    for (folder, name, arguments, code) in CASES {
        let case = format!("{folder}/{name}");
        let wanted = fs::read_to_string(testdata().join(format!("{case}.out"))).expect(&case);
        let output = lint(folder, arguments);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(String::from_utf8_lossy(&output.stdout), wanted, "{case}: {stderr}");
        assert_eq!(output.status.code(), Some(*code), "{case}: {stderr}");
    }
}

#[test]
fn each_rule_has_a_case() {
    let rules = lint(".", &["--rules"]);
    for line in String::from_utf8_lossy(&rules.stdout).lines() {
        let code = line.split(' ').next().expect("a code");
        let is_found = CASES.iter().any(|(folder, name, ..)| {
            let wanted = testdata().join(folder).join(format!("{name}.out"));
            fs::read_to_string(wanted).is_ok_and(|wanted| wanted.contains(&format!("[{code}]")))
        });
        assert!(is_found, "{code}");
        let explained = lint(".", &["--explain", code]);
        assert!(String::from_utf8_lossy(&explained.stdout).starts_with(code), "{code}");
    }
}

#[test]
fn no_format_tells_a_secret() {
    for format in ["text", "json", "sarif", "junit", "github", "gitlab"] {
        let output = lint("literal-secret", &["bad.yaml", "-o", format]);
        let all = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&all);
        assert!(text.contains("confidential values"), "{format}: {text}");
        for value in ["hunter2", "aHVudGVyMg"] {
            assert!(!text.contains(value), "{format}: {text}");
        }
    }
}

#[test]
fn what_cannot_be_looked_at_fails() {
    for (arguments, code, wanted) in [
        (&["nothing.yaml"][..], 1, "no such file or directory: `nothing.yaml`"),
        (&["objects.yaml", "--disable", "LINT999"], 2, "unknown rule `LINT999`"),
        (&["objects.yaml", "--production", "("], 2, "invalid regular expression in `--production`"),
        (&["--explain", "replicas"], 2, "unknown rule `replicas`"),
        (&[], 1, "no Applications, kustomizations or charts found"),
    ] {
        let output = lint("suppression", arguments);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{stderr}");
        assert!(stderr.contains(wanted), "{stderr}");
        assert!(output.stdout.is_empty() || arguments.contains(&"nothing.yaml"), "{stderr}");
    }
}

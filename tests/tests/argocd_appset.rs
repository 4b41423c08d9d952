//! `renderer appset generate`: the cases of `testdata/argocd/appset-*`, whose Applications are reasoned from the functions
//! of Argo CD that each names.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde::Deserialize;

const RENDERER: &str = env!("CARGO_BIN_EXE_renderer-under-test");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    /// The rule, and where Argo CD has it.
    why: String,
    args: Vec<String>,
    /// Each warning, as it begins.
    #[serde(default)]
    warnings: Vec<String>,
    /// Each error, in their order; then there are no Applications.
    #[serde(default)]
    errors: Vec<String>,
}

fn cases() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/argocd");
    let entries = fs::read_dir(folder).expect("the cases are there");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let is_set =
        |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("appset-"));
    let mut cases: Vec<PathBuf> = paths.filter(is_set).collect();
    cases.sort();
    cases
}

fn generate(folder: &Path, arguments: &[String]) -> Output {
    let mut command = Command::new(RENDERER);
    command.args(["appset", "generate"]).args(arguments).current_dir(folder).stdin(Stdio::null());
    command.output().expect("the program can be run")
}

/// Returns true if the parts are in a text one after the other.
fn has_in_order(text: &str, parts: &[String]) -> bool {
    let mut rest = Some(text);
    for part in parts {
        rest = rest.and_then(|text| text.split_once(part.as_str())).map(|(_, after)| after);
    }
    rest.is_some()
}

#[test]
fn applications_are_those_of_argo_cd() {
    let cases = cases();
    assert!(cases.len() >= 15, "{}", cases.len());
    for path in cases {
        let read = |name: &str| fs::read_to_string(path.join(name)).expect(name);
        let case: Case = toml::from_str(&read("case.toml")).expect("a case");
        let name = format!("{}: {}", path.display(), case.why);
        let output = generate(&path.join("fs"), &case.args);
        let (stdout, stderr) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(case.warnings.iter().all(|warning| stderr.contains(warning)), "{name}\n{stderr}");
        assert_eq!(stderr.matches("warning[").count(), case.warnings.len(), "{name}\n{stderr}");
        if case.errors.is_empty() {
            assert_eq!(output.status.code(), Some(0), "{name}\n{stderr}");
            if path.join("want.txt").exists() {
                assert_eq!(stdout, read("want.txt"), "{name}");
            } else {
                let json = |text: &str| serde_json::from_str::<serde_json::Value>(text).expect("JSON");
                assert_eq!(json(&stdout), json(&read("want.json")), "{name}");
            }
        } else {
            assert_eq!((output.status.code(), &*stdout), (Some(1), ""), "{name}\n{stderr}");
            assert!(has_in_order(&stderr, &case.errors), "{name}\n{stderr}");
            assert!(!stderr.contains("secret"), "{name}\n{stderr}");
        }
    }
}

/// Without a context file the repository itself is known, and no more.
#[test]
fn a_context_is_not_needed_for_what_is_written_down() {
    let folder = tempfile::tempdir().expect("a folder");
    let set = "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: s}\nspec:\n  \
               generators: [{list: {elements: [{a: x}]}}]\n  template:\n    metadata: {name: '{{a}}'}\n    \
               spec: {project: p, source: {repoURL: r}, destination: {name: any}}\n";
    fs::write(folder.path().join("set.yaml"), set).expect("a file");
    let output = generate(folder.path(), &["set.yaml".to_owned()]);
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(
        stdout.starts_with("apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata:\n"),
        "{stdout}"
    );
    assert!(stdout.contains("  name: x\n") && stdout.contains("    name: any\n"), "{stdout}");
}

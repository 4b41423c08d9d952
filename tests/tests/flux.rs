//! `renderer flux build`: the cases of `testdata/flux`, whose manifests are reasoned from the functions of Flux that each
//! names.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde::Deserialize;
use tempfile::TempDir;

const RENDERER: &str = env!("CARGO_BIN_EXE_renderer-under-test");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    /// The rule, and where Flux has it.
    why: String,
    args: Vec<String>,
    /// Expected parts of standard error.
    #[serde(default)]
    warnings: Vec<String>,
    /// Expected errors; there are no others.
    #[serde(default)]
    errors: Vec<String>,
}

fn cases() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/flux");
    let entries = fs::read_dir(folder).expect("the cases are there");
    let mut cases: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    cases.sort();
    cases
}

/// A case's files in a folder that is in no repository, so that it is the root of its own.
fn copied(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copied(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("a copy");
        }
    }
}

fn renderer(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(RENDERER);
    command.args(arguments).current_dir(folder).env("RENDERER_CACHE_DIR", folder.join("no-cache"));
    command.output().expect("the program can be run")
}

#[test]
fn what_flux_rolls_out_is_rendered_without_it() {
    let cases = cases();
    assert!(cases.len() >= 4, "{}", cases.len());
    for path in cases {
        let case = fs::read_to_string(path.join("case.toml")).expect("case.toml");
        let case: Case = toml::from_str(&case).expect("a case");
        let name = format!("{}: {}", path.display(), case.why);
        let folder = TempDir::new().expect("a folder");
        copied(&path.join("fs"), folder.path());
        let arguments: Vec<&str> =
            ["flux", "build"].into_iter().chain(case.args.iter().map(String::as_str)).collect();
        let output = renderer(folder.path(), &arguments);
        let (stdout, stderr) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        let want = fs::read_to_string(path.join("want.yaml")).unwrap_or_default();
        for said in case.errors.iter().chain(&case.warnings) {
            assert!(stderr.contains(said.as_str()), "{name}\n{said}\nis not in\n{stderr}");
        }
        let count = |label: &str| stderr.lines().filter(|line| line.starts_with(label)).count();
        assert_eq!(count("error: "), case.errors.len(), "{name}\n{stderr}");
        assert_eq!(count("warning"), case.warnings.len(), "{name}\n{stderr}");
        assert_eq!(output.status.code(), Some(i32::from(!case.errors.is_empty())), "{name}\n{stderr}");
        assert_eq!(stdout, want, "{name}\n{stderr}");
    }
}

/// A value of a generated ConfigMap changes: what takes it is rendered on both sides, and nothing else is.
#[test]
fn a_change_affects_what_takes_its_values() {
    let folder = TempDir::new().expect("a folder");
    let case = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/flux/repository/fs");
    copied(&case, folder.path());
    let _repository = testkit::GitRepository::with(folder.path(), &[]);
    let path = folder.path().join("infrastructure/kustomization.yaml");
    let text = fs::read_to_string(&path).expect("the file").replace("example.com", "example.org");
    fs::write(path, text).expect("it can be written");
    let output = renderer(folder.path(), &["diff", "-o", "json"]);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let names: Vec<&str> = report["targets"]
        .as_array()
        .expect("targets")
        .iter()
        .filter_map(|target| target["name"].as_str())
        .collect();
    assert_eq!(names, ["flux-system/apps", "flux-system/infrastructure", "shop/podinfo"], "{report}");
}

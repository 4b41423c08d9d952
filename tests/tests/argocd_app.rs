//! `renderer app` and `renderer apps`: the cases of `testdata/argocd/app-*`, whose manifests are reasoned from the functions
//! of Argo CD that each names, and what they write into folders.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde::Deserialize;

const RENDERER: &str = env!("CARGO_BIN_EXE_renderer-under-test");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    /// The rule, and where Argo CD has it.
    why: String,
    args: Vec<String>,
    /// What is said on standard error, among other things.
    #[serde(default)]
    warnings: Vec<String>,
    /// What is wrong; that many errors there are.
    #[serde(default)]
    errors: Vec<String>,
}

fn cases() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/argocd");
    let entries = fs::read_dir(folder).expect("the cases are there");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let is_app =
        |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("app-"));
    let mut cases: Vec<PathBuf> = paths.filter(is_app).collect();
    cases.sort();
    cases
}

fn renderer(folder: &Path, arguments: &[&str]) -> Output {
    let cache = folder.join("no-cache");
    let mut command = Command::new(RENDERER);
    command.args(arguments).current_dir(folder).env("RENDERER_CACHE_DIR", cache);
    command.output().expect("the program can be run")
}

#[test]
fn applications_render_as_argo_cd_renders_them() {
    let cases = cases();
    assert!(cases.len() >= 6, "{}", cases.len());
    for path in cases {
        let case = fs::read_to_string(path.join("case.toml")).expect("case.toml");
        let case: Case = toml::from_str(&case).expect("a case");
        let name = format!("{}: {}", path.display(), case.why);
        let arguments: Vec<&str> = case.args.iter().map(String::as_str).collect();
        let output = renderer(&path.join("fs"), &arguments);
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

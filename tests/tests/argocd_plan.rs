//! `renderer plan`: the cases of `testdata/argocd/plan-*`, whose plans are reasoned from the functions of Argo CD that
//! each names.

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
    /// Expected parts of standard error.
    #[serde(default)]
    warnings: Vec<String>,
    /// The start of standard error if there is no plan.
    error: Option<String>,
}

fn cases() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/argocd");
    let entries = fs::read_dir(folder).expect("the cases are there");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let is_plan =
        |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("plan-"));
    let mut cases: Vec<PathBuf> = paths.filter(is_plan).collect();
    cases.sort();
    cases
}

fn plan(folder: &Path, arguments: &[String]) -> Output {
    let mut command = Command::new(RENDERER);
    command.arg("plan").args(arguments).current_dir(folder).output().expect("the program can be run")
}

#[test]
fn plans_are_those_of_argo_cd() {
    let cases = cases();
    assert!(cases.len() >= 10, "{}", cases.len());
    for path in cases {
        let read = |name: &str| fs::read_to_string(path.join(name)).expect(name);
        let case: Case = toml::from_str(&read("case.toml")).expect("a case");
        let name = format!("{}: {}", path.display(), case.why);
        let output = plan(&path.join("fs"), &case.args);
        let (stdout, stderr) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        match case.error {
            Some(error) => {
                assert!(stderr.starts_with(&error), "{name}\n{stderr}");
                assert_eq!((output.status.code(), &*stdout), (Some(1), ""), "{name}");
            }
            None => {
                assert_eq!(output.status.code(), Some(0), "{name}\n{stderr}");
                assert_eq!(stdout, read("want.json"), "{name}");
                let all = case.warnings.iter().all(|warning| stderr.contains(warning));
                assert!(all, "{name}\n{stderr}");
                let warnings = stderr.matches("warning[").count();
                assert_eq!(warnings, case.warnings.len(), "{name}\n{stderr}");
            }
        }
    }
}

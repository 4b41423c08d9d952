//! `renderer app` and `renderer apps`: the cases of `testdata/argocd/app-*`, whose manifests are reasoned from the functions
//! of Argo CD that each names, and what they write into folders.

use std::collections::BTreeMap;
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
    /// Expected errors; there are no others.
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

/// The files below a folder, by their paths.
fn files(folder: &Path) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(at) = open.pop() {
        for entry in fs::read_dir(at).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path.strip_prefix(folder).expect("below").display().to_string();
                files.insert(name, fs::read_to_string(&path).expect("text"));
            }
        }
    }
    files
}

const APPLICATION: &str = "apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: NAME}
spec:
  project: default
  destination: {server: https://kubernetes.default.svc, namespace: shop}
  source: {repoURL: https://git.example.com/a.git, path: plain}
";

/// commitserver/commit/hydratorhelper.go: manifests as yaml.v3 writes them, with metadata beside that stays while they do.
#[test]
fn the_hydrators_layout_is_kept_up_to_date() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |path: &str, text: &str| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        fs::write(path, text).expect("written");
    };
    write(
        "renderer-context.yaml",
        "apiVersion: renderer/v1alpha1\nkind: Context\nrepositories: [{url: https://git.example.com/a.git, path: .}]\n",
    );
    write(
        "plain/a.yaml",
        "kind: ConfigMap\napiVersion: v1\nmetadata: {name: a}\ndata: {t: \"x\\ny\\n\", k: \"1\"}\n",
    );
    write("argocd/one.yaml", &APPLICATION.replace("NAME", "one"));
    write("argocd/two.yaml", &APPLICATION.replace("NAME", "two"));
    let run = || {
        let output = renderer(folder.path(), &["apps", "argocd", "--output-dir", "out"]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(0), 0), "{said}");
        said
    };
    assert_eq!(run(), "2 Applications, 8 files written\n");
    let out = folder.path().join("out");
    let written = files(&out);
    let names: Vec<&str> = written.keys().map(String::as_str).collect();
    assert_eq!(
        names,
        [
            ".gitattributes",
            "hydrator.metadata",
            "one/README.md",
            "one/hydrator.metadata",
            "one/manifest.yaml",
            "two/README.md",
            "two/hydrator.metadata",
            "two/manifest.yaml"
        ]
    );
    assert_eq!(
        written["one/manifest.yaml"],
        "apiVersion: v1\ndata:\n  k: \"1\"\n  t: |\n    x\n    y\nkind: ConfigMap\nmetadata:\n  name: a\n"
    );
    assert_eq!(written["hydrator.metadata"], "{\n  \"repoURL\": \"https://git.example.com/a.git\"\n}\n");
    assert_eq!(run(), "2 Applications, 0 files written\n");
    // A file of a person's stays, and with it the folder.
    write("out/two/notes.txt", "mine");
    fs::remove_file(folder.path().join("argocd/two.yaml")).expect("removed");
    assert_eq!(run(), "1 Application, 0 files written, 1 removed\n");
    let names: Vec<String> = files(&out).into_keys().filter(|name| name.starts_with("two")).collect();
    assert_eq!(names, ["two/notes.txt"]);
}

//! `renderer diff` and `renderer apps --affected-by`, from outside: a repository with Applications, an ApplicationSet,
//! overlays and a chart, and what changes in it do to what it renders.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

const RENDERER: &str = env!("CARGO_BIN_EXE_renderer-under-test");

const FILES: &[(&str, &str)] = &[
    (
        "argocd/apps.yaml",
        "apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: web, namespace: argocd}
spec:
  project: default
  source: {repoURL: 'https://git.example.com/deploy.git', path: apps/web/prod, targetRevision: main}
  destination: {server: 'https://kubernetes.default.svc', namespace: web}
  syncPolicy: {automated: {prune: true}}
---
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata:
  name: db
  namespace: argocd
  annotations: {argocd.argoproj.io/manifest-generate-paths: .}
spec:
  project: default
  source:
    repoURL: https://git.example.com/deploy.git
    path: charts/db
    targetRevision: main
    helm: {valueFiles: [../../envs/prod.yaml]}
  destination: {server: 'https://kubernetes.default.svc', namespace: db}
",
    ),
    ("apps/web/base/kustomization.yaml", "resources: [web.yaml]\n"),
    (
        "apps/web/base/web.yaml",
        "apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: 'web:1'}]}
---
apiVersion: v1
kind: Secret
metadata: {name: login}
stringData: {password: hunter2}
",
    ),
    ("apps/web/prod/kustomization.yaml", "resources: [../base]\nnamePrefix: prod-\n"),
    ("charts/db/Chart.yaml", "apiVersion: v2\nname: db\nversion: 1.0.0\n"),
    ("charts/db/values.yaml", "size: 1Gi\n"),
    (
        "charts/db/templates/claim.yaml",
        "apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: db}
spec:
  accessModes: [ReadWriteOnce]
  resources: {requests: {storage: {{ .Values.size }}}}
",
    ),
    ("envs/prod.yaml", "size: 5Gi\n"),
    ("README.md", "a\n"),
];

struct Repository(tempfile::TempDir);

impl Repository {
    fn new() -> Self {
        let repository = Self(tempfile::tempdir().expect("a folder"));
        for (path, text) in FILES {
            repository.write(path, text);
        }
        repository.git(&["init", "-q", "-b", "main"]);
        repository.git(&["remote", "add", "origin", "https://git.example.com/deploy.git"]);
        repository.commit("first");
        repository
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("it can be made");
        fs::write(path, text).expect("it can be written");
    }

    fn replace(&self, path: &str, from: &str, to: &str) {
        let text = fs::read_to_string(self.0.path().join(path)).expect(path);
        assert!(text.contains(from), "{path} has no {from}");
        self.write(path, &text.replace(from, to));
    }

    fn git(&self, arguments: &[&str]) {
        let who = ["-c", "user.name=Ann", "-c", "user.email=ann@example.com", "-c", "commit.gpgsign=false"];
        let done = Command::new("git").args(who).args(arguments).current_dir(self.0.path()).output();
        let done = done.expect("git can be run");
        assert!(done.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    }

    fn commit(&self, message: &str) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-qm", message]);
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.run_in("", arguments)
    }

    fn run_in(&self, folder: &str, arguments: &[&str]) -> Output {
        let mut command = Command::new(RENDERER);
        command.args(arguments).current_dir(self.0.path().join(folder));
        command.env("RENDERER_CACHE_DIR", self.0.path().join(".git/cache"));
        command.output().expect("the program can be run")
    }

    /// Returns what a command prints that must succeed.
    fn print(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {stderr}");
        text(&output.stdout)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn what_nothing_reads_changes_nothing() {
    let repository = Repository::new();
    repository.write("README.md", "b\n");
    repository.write("apps/web/base/notes.txt", "nobody names it\n");
    let output = repository.run(&["diff", "--exit-code"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("nothing changes"), "{}", text(&output.stdout));
}

#[test]
fn a_change_of_a_base_is_told_of_the_application_that_has_it() {
    let repository = Repository::new();
    repository.replace("apps/web/base/web.yaml", "web:1", "web:2");
    let output = repository.run(&["diff", "--exit-code"]);
    let stdout = text(&output.stdout);
    assert_eq!(output.status.code(), Some(10), "{stdout}{}", text(&output.stderr));
    assert!(stdout.contains("Application argocd/web"), "{stdout}");
    assert!(stdout.contains("web:1 → web:2"), "{stdout}");
    assert!(!stdout.contains("argocd/db"), "{stdout}");
    // Without `--exit-code` a difference is no failure.
    repository.print(&["diff"]);
    assert_eq!(repository.print(&["apps", "--affected-by", "HEAD", "-o", "table"]).lines().count(), 2);
}

#[test]
fn two_revisions_are_compared_without_a_checkout() {
    let repository = Repository::new();
    repository.git(&["checkout", "-qb", "change"]);
    repository.replace("envs/prod.yaml", "5Gi", "9Gi");
    repository.commit("more room");
    repository.git(&["checkout", "-q", "main"]);
    repository.replace("apps/web/base/web.yaml", "replicas: 1", "replicas: 3");
    repository.commit("more of the web");
    let both = repository.print(&["diff", "--base", "change", "--head", "main", "-o", "unified"]);
    assert!(both.contains("+  replicas: 3") && both.contains("-      storage: 9Gi"), "{both}");
    let parted =
        repository.print(&["diff", "--base", "main", "--head", "change", "--merge-base", "-o", "unified"]);
    assert!(parted.contains("+      storage: 9Gi") && !parted.contains("replicas"), "{parted}");
    // Paths are those of the working directory, also where it is not the root.
    let output = repository.run_in("apps", &["diff", "--base", "HEAD~1", "web/prod", "-o", "unified"]);
    assert!(text(&output.stdout).contains("+  replicas: 3"), "{}", text(&output.stderr));
}

#[test]
fn an_application_that_goes_takes_its_objects_with_it() {
    let repository = Repository::new();
    let apps = FILES[0].1.split("---").nth(1).expect("the second");
    repository.write("argocd/apps.yaml", apps);
    let stdout = repository.print(&["diff", "-o", "json"]);
    let review: serde_json::Value = serde_json::from_str(&stdout).expect("JSON");
    assert_eq!(review["summary"]["targets"]["removed"], 1, "{stdout}");
    assert_eq!(review["summary"]["targets"]["unchanged"], 1, "{stdout}");
}

#[test]
fn no_format_tells_a_secret() {
    let repository = Repository::new();
    repository.replace("apps/web/base/web.yaml", "hunter2", "correct-horse");
    for format in ["terminal", "unified", "json", "markdown"] {
        let stdout = repository.print(&["diff", "-o", format]);
        assert!(stdout.contains("login"), "{format}: {stdout}");
        for secret in ["hunter2", "correct-horse", "aHVudGVyMg", "Y29ycmVjdC1ob3JzZQ"] {
            assert!(!stdout.contains(secret), "{format}: {stdout}");
        }
    }
}

#[test]
fn a_side_that_does_not_render_is_said_so() {
    let repository = Repository::new();
    repository.replace("apps/web/prod/kustomization.yaml", "../base", "../nothing");
    repository.commit("broken");
    repository.replace("apps/web/prod/kustomization.yaml", "../nothing", "../base");
    let mended = repository.run(&["diff"]);
    assert_eq!(mended.status.code(), Some(0), "{}", text(&mended.stderr));
    assert!(text(&mended.stdout).contains("nothing"), "{}", text(&mended.stdout));
    let broken = repository.run(&["diff", "--base", "HEAD~1", "--head", "HEAD"]);
    assert_eq!(broken.status.code(), Some(1));
    assert!(text(&broken.stdout).contains("apps/web/prod/kustomization.yaml:1:"), "{}", text(&broken.stdout));
}

#[test]
fn what_is_wrong_with_the_question_is_one_error() {
    let repository = Repository::new();
    for (arguments, code, wanted) in [
        (&["diff", "--base", "nowhere"][..], 1, "no commit `nowhere` in this repository"),
        (&["diff", "--base", "HEAD", "missing"], 1, "no `missing` before or after"),
        (&["diff", "-o", "poem"], 2, "there are the formats"),
        (&["diff", "-o", "json", "-o", "markdown"], 2, "only one format"),
    ] {
        let output = repository.run(arguments);
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{stderr}");
        assert!(stderr.contains(wanted), "{stderr}");
        assert!(output.stdout.is_empty(), "{}", text(&output.stdout));
    }
}

/// A password that a chart draws is another in each rendering, and no change that anybody made.
#[test]
fn random_values_are_no_change() {
    let repository = Repository::new();
    repository.write(
        "charts/db/templates/config.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: drawn}\ndata: {token: {{ randAlphaNum 20 }}}\n",
    );
    repository.commit("a token");
    repository.replace("envs/prod.yaml", "5Gi", "9Gi");
    let stdout = repository.print(&["diff", "-o", "json"]);
    let review: serde_json::Value = serde_json::from_str(&stdout).expect("JSON");
    assert!(stdout.contains("9Gi"), "{stdout}");
    let objects = review["targets"][0]["objects"].as_array().expect("objects");
    let token = objects.iter().find(|object| object.to_string().contains("drawn"));
    let fields = token.expect("the ConfigMap")["fields"].to_string();
    assert!(fields.contains("\"isVolatile\":true"), "{stdout}");
}

/// The line is that of the base, not one of what it was rendered to.
#[test]
fn annotations_point_at_the_line_that_was_written() {
    let repository = Repository::new();
    repository.replace(
        "apps/web/base/web.yaml",
        "selector: {matchLabels: {app: web}}",
        "selector: {matchLabels: {app: other}}",
    );
    repository.replace("charts/db/templates/claim.yaml", "ReadWriteOnce", "ReadWriteMany");
    let stdout = repository.print(&["diff", "-o", "github"]);
    assert!(stdout.contains("::error file=apps/web/base/web.yaml,line=6,"), "{stdout}");
    assert!(stdout.contains("::error file=charts/db/templates/claim.yaml,line=5,"), "{stdout}");
}

#[test]
fn plain_manifests_are_compared_too() {
    let repository = Repository::new();
    repository.write("old/a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: one}\n");
    repository.write("new/a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: two}\n");
    let stdout = repository.print(&["diff", "old", "new", "-o", "unified"]);
    assert!(stdout.contains("-  k: one") && stdout.contains("+  k: two"), "{stdout}");
}

#[test]
fn reports_go_to_files() {
    let repository = Repository::new();
    repository.replace("apps/web/base/web.yaml", "web:1", "web:2");
    let stdout = repository.print(&["diff", "-o", "markdown=comment.md", "-o", "json=review.json"]);
    assert!(stdout.is_empty(), "{stdout}");
    let comment = fs::read_to_string(repository.path().join("comment.md")).expect("a comment");
    assert!(comment.contains("web:2"), "{comment}");
    assert!(fs::read_to_string(repository.path().join("review.json")).expect("a review").starts_with('{'));
}

/// The chart reads a file of values outside of its folder, which `.` does not cover.
#[test]
fn the_annotation_is_held_against_what_was_read() {
    let repository = Repository::new();
    let stdout = repository.print(&["apps", "--manifest-generate-paths"]);
    let line = |paths: &str| format!("argocd.argoproj.io/manifest-generate-paths: {paths}\n");
    assert!(stdout.contains(&format!("web:\n  {}", line(".;/apps/web/base"))), "{stdout}");
    assert!(stdout.contains(&format!("db:\n  {}", line(".;/envs/prod.yaml"))), "{stdout}");
    let output = repository.run(&["apps", "--manifest-generate-paths=check"]);
    assert_eq!(output.status.code(), Some(1));
    let stderr = text(&output.stderr);
    assert!(stderr.contains("does not cover `envs/prod.yaml`"), "{stderr}");
    assert!(stderr.contains("argocd/apps.yaml:13:9"), "{stderr}");
    repository.replace(
        "argocd/apps.yaml",
        "manifest-generate-paths: .",
        "manifest-generate-paths: .;../../envs",
    );
    repository.print(&["apps", "--manifest-generate-paths=check"]);
}

#[test]
fn plans_are_printed_for_each_application() {
    let repository = Repository::new();
    let stdout = repository.print(&["apps", "--plan", "-o", "json"]);
    let plans: serde_json::Value = serde_json::from_str(&stdout).expect("JSON");
    let names: Vec<&str> =
        plans.as_array().expect("a list").iter().filter_map(|plan| plan["application"].as_str()).collect();
    assert_eq!(names, ["web", "db"]);
    assert_eq!(plans[0]["plan"][0]["kind"], "Secret");
}

//! Repositories that ask for what only the operator grants: the cases of `testdata/confinement`, in every command.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde::Deserialize;

const RENDERER: &str = env!("CARGO_BIN_EXE_renderer-under-test");

const SECRETS: [&str; 3] = ["secret-of-the-environment", "secret-of-git", "secret-of-a-neighbour"];

/// A kustomization with a function that leaves a mark where it runs.
const FUNCTION: &[(&str, &str)] = &[
    ("function/kustomization.yaml", "resources: [c.yaml]\ntransformers: [t.yaml]\n"),
    ("function/c.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n"),
    (
        "function/t.yaml",
        "apiVersion: x/v1
kind: T
metadata:
  name: t
  annotations: {config.kubernetes.io/function: 'exec: {path: ./run.sh}'}
",
    ),
    ("function/run.sh", "#!/bin/sh\ntouch ../ran\ncat\n"),
];

#[derive(Deserialize)]
struct Cases {
    case: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    #[serde(rename = "why")]
    _why: String,
    #[serde(default)]
    files: BTreeMap<String, String>,
    #[serde(default)]
    links: BTreeMap<String, String>,
    #[serde(default)]
    pipes: Vec<String>,
    commands: Vec<String>,
    error: String,
}

struct Repository {
    folder: tempfile::TempDir,
}

impl Repository {
    fn new(case: &Case) -> Self {
        let folder = tempfile::tempdir().expect("a directory");
        let repository = Self { folder };
        fs::create_dir(repository.outside()).expect("a neighbour");
        let secret =
            format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: n}}\ncanary: {}\n", SECRETS[2]);
        fs::write(repository.outside().join("secret.yaml"), secret).expect("its file");
        FUNCTION.iter().for_each(|(path, text)| repository.write(path, text));
        repository.git(&["init", "--quiet"]);
        repository.git(&["remote", "add", "origin", "https://git.example.com/deploy.git"]);
        repository.git(&["config", "http.extraheader", SECRETS[1]]);
        repository.commit();
        for (path, text) in &case.files {
            repository.write(path, &repository.filled(text));
        }
        for (path, target) in &case.links {
            let target = repository.filled(target);
            let path = repository.path(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
            symlink(target, path).expect("a link");
        }
        repository.commit();
        // Git has no pipes: a build step may leave one in the work tree.
        for pipe in &case.pipes {
            assert!(Command::new("mkfifo").arg(repository.path(pipe)).status().expect("mkfifo").success());
        }
        repository
    }

    fn filled(&self, text: &str) -> String {
        text.replace("{outside}", &self.outside().to_string_lossy())
    }

    fn outside(&self) -> PathBuf {
        self.folder.path().join("outside")
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join("repo").join(path)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        fs::write(&path, text).expect("a file");
        if path.extension().is_some_and(|extension| extension == "sh") {
            let mut permissions = fs::metadata(&path).expect("a file").permissions();
            std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o755);
            fs::set_permissions(&path, permissions).expect("a program");
        }
    }

    fn commit(&self) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message", "all", "--allow-empty"]);
    }

    fn git(&self, arguments: &[&str]) {
        let mut command = Command::new("git");
        let identity = ["-c", "user.name=a", "-c", "user.email=a@example.com"];
        command.args(identity).args(arguments).current_dir(self.path(""));
        let output = command.output().expect("git runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    fn run(&self, command: &str) -> Output {
        let mut renderer = Command::new(RENDERER);
        renderer.args(command.split(' ')).current_dir(self.path(""));
        renderer.env("CANARY", SECRETS[0]).env("RENDERER_CACHE_DIR", self.folder.path().join("cache"));
        renderer.output().expect("it runs")
    }
}

fn cases() -> Vec<Case> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/confinement/cases.toml");
    let text = fs::read_to_string(path).expect("the cases are there");
    toml::from_str::<Cases>(&text).expect("the cases are right").case
}

#[test]
fn a_repository_runs_nothing_and_reads_nothing_outside_of_itself() {
    let mut faults = Vec::new();
    for case in cases() {
        let repository = Repository::new(&case);
        for command in &case.commands {
            let output = repository.run(command);
            let stdout = String::from_utf8_lossy(&output.stdout);
            let stderr = String::from_utf8_lossy(&output.stderr);
            let all = format!("{stdout}{stderr}");
            let mut expect = |holds: bool, what: &str| {
                if !holds {
                    faults.push(format!("{}: `{command}`: {what}\n{all}", case.name));
                }
            };
            expect(!output.status.success(), "it succeeds");
            expect(output.status.code().is_some_and(|code| code < 100), "it ends by a signal or a panic");
            expect(all.contains(&case.error), "it lacks the error");
            expect(!SECRETS.iter().any(|secret| all.contains(secret)), "it prints a secret");
            expect(!repository.path("ran").exists(), "it runs a program of the repository");
        }
    }
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
}

const APPLICATION: &str = "apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: a, namespace: argocd}
spec:
  project: default
  destination: {server: 'https://kubernetes.default.svc', namespace: x}
  source: {repoURL: 'https://git.example.com/deploy.git', path: function}
";

fn context(path: &str, flags: &str) -> String {
    format!(
        "apiVersion: renderer/v1alpha1\nkind: Context\n\
         repositories: [{{url: 'https://git.example.com/deploy.git', path: {path}}}]\n\
         settings: {{kustomize.buildOptions: {flags}}}\n"
    )
}

const EXEC: &str = "--enable-alpha-plugins --enable-exec";

fn empty() -> Case {
    Case {
        name: String::new(),
        _why: String::new(),
        files: BTreeMap::new(),
        links: BTreeMap::new(),
        pipes: Vec::new(),
        commands: Vec::new(),
        error: String::new(),
    }
}

#[test]
fn the_operator_grants_by_a_context_file_that_the_command_line_names() {
    let repository = Repository::new(&empty());
    repository.write("apps/a.yaml", APPLICATION);
    fs::write(repository.outside().join("context.yaml"), context("../repo", EXEC)).expect("a context");
    let output = repository.run("app a --context ../outside/context.yaml");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(repository.path("ran").exists());
}

#[test]
fn a_change_does_not_grant_itself_a_capability() {
    let repository = Repository::new(&empty());
    repository.write("apps/a.yaml", APPLICATION);
    repository.write("ci/context.yaml", &context("..", "--enable-helm"));
    repository.commit();
    repository.write("ci/context.yaml", &context("..", EXEC));
    repository.write("function/c.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: d}\n");
    let output = repository.run("diff --context ci/context.yaml");
    assert!(!output.status.success() && !repository.path("ran").exists());
    let output = repository.run("diff --context ci/context.yaml --trust-head");
    assert!(repository.path("ran").exists(), "{}", String::from_utf8_lossy(&output.stdout));
    // What Git does not know is the operator's own.
    fs::remove_file(repository.path("ran")).expect("it ran");
    repository.write("own.yaml", &context(".", EXEC));
    repository.run("diff --context own.yaml");
    assert!(repository.path("ran").exists());
}

#[test]
fn what_the_command_line_names_is_read() {
    let repository = Repository::new(&empty());
    repository.write("chart/Chart.yaml", "apiVersion: v2\nname: c\nversion: 0.1.0\n");
    let template =
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {a: '{{ .Values.canary }}'}\n";
    repository.write("chart/templates/c.yaml", template);
    symlink("../../outside/secret.yaml", repository.path("chart/values.yaml")).expect("a link");
    let text = |command: &str| String::from_utf8_lossy(&repository.run(command).stdout).into_owned();
    assert_eq!(text("build chart"), "");
    assert!(text("build chart --root ..").contains(SECRETS[2]));
    fs::remove_file(repository.path("chart/values.yaml")).expect("a link");
    assert!(text("helm template chart -f ../outside/secret.yaml").contains(SECRETS[2]));
    // Without a work tree the rules of the real tools hold.
    fs::remove_dir_all(repository.path(".git")).expect("a work tree");
    symlink("../../outside/secret.yaml", repository.path("chart/values.yaml")).expect("a link");
    assert!(text("helm template chart").contains(SECRETS[2]));
}

/// A capability as `docs/security.md` names it, and what asks for it from each of the columns of its table: what is written,
/// and the command that has succeeded only if the capability was had.
struct Capability {
    row: &'static str,
    flags: &'static str,
    /// The directory that needs it.
    directory: &'static str,
}

const CAPABILITIES: [Capability; 2] = [
    Capability { row: "run programs", flags: EXEC, directory: "function" },
    Capability {
        row: "read beside a kustomization",
        flags: "--load-restrictor LoadRestrictionsNone",
        directory: "beside",
    },
];

const SOURCES: [&str; 5] = [
    "command line",
    "context file of `--context`",
    "context file found in the repository",
    "Application, plugin parameter",
    "file of the repository",
];

impl Capability {
    /// Returns true if the capability is had from a source.
    fn is_had(&self, source: usize) -> bool {
        let repository = Repository::new(&empty());
        repository.write("beside/kustomization.yaml", "resources: [../function/c.yaml]\n");
        let application = APPLICATION.replace("function", self.directory);
        repository.write("apps/a.yaml", &application);
        let directory = self.directory;
        let command = match source {
            0 => format!("kustomize build {directory} {}", self.flags),
            1 => {
                repository.write("../outside/context.yaml", &context("../repo", self.flags));
                "app a --context ../outside/context.yaml".to_owned()
            }
            2 => {
                repository.write("renderer-context.yaml", &context(".", self.flags));
                "app a".to_owned()
            }
            3 => {
                let flags = self.flags.replace("restrictor ", "restrictor=").replace(' ', ", ");
                let plugin = format!(
                    "path: {directory}, plugin: {{name: renderer, parameters: [{{name: kustomize-build-options, array: [{flags}]}}]}}"
                );
                repository.write("apps/a.yaml", &application.replace(&format!("path: {directory}"), &plugin));
                "app a".to_owned()
            }
            _ => format!("kustomize build {directory}"),
        };
        repository.run(&command).status.success()
    }
}

/// Returns true if a source has files outside of the root read.
fn reads_outside(source: usize) -> bool {
    let repository = Repository::new(&empty());
    repository.write(
        "../outside/app/c.yaml",
        &format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {}}}\n", SECRETS[2]),
    );
    repository.write("link/kustomization.yaml", "resources: [c.yaml]\n");
    symlink("../../outside/app/c.yaml", repository.path("link/c.yaml")).expect("a link");
    let other = APPLICATION.replace("git.example.com", "other.example.com").replace("function", "app");
    repository.write("apps/a.yaml", &other);
    let context = |path: &str| context(path, "--enable-helm").replace("git.example.com", "other.example.com");
    let command = match source {
        0 => "kustomize build link --load-restrictor LoadRestrictionsNone --root ..",
        1 => {
            repository.write("../outside/context.yaml", &context("."));
            "app a --context ../outside/context.yaml"
        }
        2 => {
            repository.write("renderer-context.yaml", &context("../outside"));
            "app a"
        }
        3 => {
            repository.write("apps/a.yaml", &APPLICATION.replace("function", "../outside/app"));
            "app a"
        }
        _ => "kustomize build link --load-restrictor LoadRestrictionsNone",
    };
    let output = repository.run(command);
    output.status.success() && String::from_utf8_lossy(&output.stdout).contains(SECRETS[2])
}

#[test]
fn the_table_of_capabilities_is_what_the_program_does() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/security.md");
    let page = fs::read_to_string(page).expect("the page is there");
    assert!(page.contains(&format!("| capability | {} |", SOURCES.join(" | "))));
    let cells = |row: &str| -> Vec<bool> {
        let start = format!("| {row} ");
        let line = page.lines().find(|line| line.starts_with(&start)).expect(row);
        line.trim_end_matches(" |").split(" | ").skip(1).map(|cell| cell == "yes").collect()
    };
    for capability in CAPABILITIES {
        let had: Vec<bool> = (0..SOURCES.len()).map(|source| capability.is_had(source)).collect();
        assert_eq!(had, cells(capability.row), "{}", capability.row);
    }
    let read: Vec<bool> = (0..SOURCES.len()).map(reads_outside).collect();
    assert_eq!(read, cells("read outside of the root"));
}

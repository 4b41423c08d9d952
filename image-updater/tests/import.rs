//! `image-updater import` as it is typed: what it prints and ends with.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use image_updater::config::Config;

const APP: &str = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata:\n  name: web\n  annotations:\n    \
    argocd-image-updater.argoproj.io/image-list: web=r.example.com/web:1.x\n    \
    argocd-image-updater.argoproj.io/force-update: \"true\"\nspec:\n  source:\n    repoURL: https://git.example.com/a\n    \
    path: deploy/web\n";

fn run(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_image-updater"));
    command.args(arguments).current_dir(folder).output().expect("the program starts")
}

fn import(folder: &Path, arguments: &[&str]) -> Output {
    run(folder, &[&["import"], arguments].concat())
}

/// A repository with files.
fn repository(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir(folder.path().join(".git")).expect("a folder");
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }
    folder
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("a text")
}

#[test]
fn targets_are_named_from_the_root_of_the_repository() {
    let kustomization = ("deploy/web/kustomization.yaml", "resources: []\n");
    let folder = repository(&[("apps/prod/web.yaml", APP), kustomization]);
    let output = import(folder.path(), &[]);
    assert!(output.status.success(), "{output:?}");
    let printed = text(&output.stdout);
    assert!(printed.starts_with("# apps/prod/web.yaml:7:52: `force-update` is ignored"), "{printed}");
    assert!(text(&output.stderr).contains("warning: apps/prod/web.yaml:7:52"), "{output:?}");
    let config = Config::parse(printed, "image-updater.yaml", ".".into()).unwrap();
    assert_eq!(config.batch.updates[0].spots[0].path, "apps/prod/web.yaml");

    // From a folder within, and by a folder: its files alone do not tell what renders the source.
    let output = import(&folder.path().join("apps"), &["prod", "../deploy", "prod/web.yaml"]);
    assert_eq!(text(&output.stdout), printed);
    let output = import(folder.path(), &["apps"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("cannot determine whether Helm or Kustomize"), "{output:?}");
}

#[test]
fn a_fault_prints_nothing() {
    let two = APP.replace("web=r", "web=,a=r");
    let folder = repository(&[("a.yaml", &two), ("b.yaml", &APP.replace("1.x", "=="))]);
    let output = import(folder.path(), &[]);
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(1), ""));
    let said = text(&output.stderr);
    assert!(said.contains("a.yaml:6:50") && said.contains("b.yaml:6:50"), "{said}");
}

#[test]
fn where_there_is_nothing_that_is_said() {
    let folder = repository(&[("a.yaml", "kind: Deployment\n")]);
    let output = import(folder.path(), &[]);
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(1), ""));
    assert!(text(&output.stderr).contains("that Flux or Argo CD Image Updater updates"));
    let output = import(folder.path(), &["missing"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("missing"));
}

#[test]
fn what_is_printed_can_be_worked_off() {
    let app = APP.replace(
        "    path: deploy/web\n",
        "    path: x\n    kustomize: {images: ['r.example.com/web:1.0.0']}\n",
    );
    let folder = repository(&[
        ("web.yaml", &app),
        ("tags.json", "{\"r.example.com/web\": [\"1.0.0\", \"1.1.0\", \"2.0.0\"]}"),
    ]);
    let printed = import(folder.path(), &[]);
    fs::write(folder.path().join("image-updater.yaml"), &printed.stdout).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_image-updater"));
    let update = ["update", "--write", "--tags-from", "tags.json"];
    let output = command.args(update).current_dir(folder.path()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let wanted = app.replace("web:1.0.0", "web:1.1.0");
    assert_eq!(fs::read_to_string(folder.path().join("web.yaml")).unwrap(), wanted);
}

const FLUX: &str = "apiVersion: image.toolkit.fluxcd.io/v1\nkind: ImageRepository\nmetadata: {name: web, namespace: f}\n\
    spec: {image: r.example.com/web, interval: 5m}\n---\napiVersion: image.toolkit.fluxcd.io/v1\nkind: ImagePolicy\n\
    metadata: {name: web, namespace: f}\nspec:\n  imageRepositoryRef: {name: web}\n  policy: {semver: {range: 1.x}}\n---\n\
    apiVersion: image.toolkit.fluxcd.io/v1\nkind: ImageUpdateAutomation\nmetadata: {name: auto, namespace: f}\nspec:\n  \
    sourceRef: {kind: GitRepository, name: f}\n  interval: 30m\n  \
    git: {commit: {author: {name: f, email: f@example.com}}, push: {branch: main}}\n  \
    update: {path: ./deploy, strategy: Setters}\n";

#[test]
fn what_another_tool_has_is_worked_off_as_it_is() {
    let marked = "image: r.example.com/web:1.0.0 # {\"$imagepolicy\": \"f:web\"}\n";
    let tags = r#"{"r.example.com/web": ["1.0.0", "1.2.0", "2.0.0"]}"#;
    let folder = repository(&[("flux/all.yaml", FLUX), ("deploy/web.yaml", marked), ("tags.json", tags)]);
    let check = |arguments: &[&str]| {
        let output = run(folder.path(), &[&["check", "--tags-from", "tags.json"], arguments].concat());
        (output.status.code(), text(&output.stdout).to_owned())
    };
    let (code, direct) = check(&["--in", "flux"]);
    assert_eq!(code, Some(10));
    assert!(direct.contains("1.0.0") && direct.contains("1.2.0"), "{direct}");

    // The same by way of a configuration, in which each document is one.
    let own = "apiVersion: image-updater/v1alpha1\nkind: Config\nupdates: []\n---\n";
    let imported = own.to_owned() + text(&import(folder.path(), &["flux"]).stdout);
    fs::write(folder.path().join("image-updater.yaml"), imported).unwrap();
    assert_eq!(check(&[]), (code, direct));

    // Tags that come by standard input are there for every document.
    let mut command = Command::new(env!("CARGO_BIN_EXE_image-updater"));
    let input = fs::File::open(folder.path().join("tags.json")).unwrap();
    let output = command.args(["check", "--tags-from", "-"]).stdin(input).current_dir(folder.path()).output();
    assert_eq!(output.unwrap().status.code(), Some(10));

    let update = ["update", "--write", "--in", "flux", "--tags-from", "tags.json"];
    assert!(run(folder.path(), &update).status.success());
    let written = fs::read_to_string(folder.path().join("deploy/web.yaml")).unwrap();
    assert_eq!(written, marked.replace("1.0.0", "1.2.0"));
    assert_eq!(check(&["--in", "flux"]).0, Some(0));
    assert_eq!(check(&["--in", "missing"]), (Some(1), String::new()));
}

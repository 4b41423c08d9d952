//! `image-updater set` as it is typed: what it prints, writes and ends with.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Output};

const VALUES: &str = "# ours\nimage:\n  repository: registry.test/shop\n  tag: v1   # bumped\n";

const APP: &str = "kind: Application\napiVersion: argoproj.io/v1alpha1\nspec:\n  source:\n    helm:\n      parameters:\n\
                   \x20     - {name: web.image.repository, value: registry.test/shop}\n\
                   \x20     - {name: web.image.tag, value: v1}\n      - {name: tag, value: v1}\n";

fn set(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_image-updater"));
    command.arg("set").args(arguments).current_dir(folder).output().expect("the program starts")
}

/// A folder with files.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }
    folder
}

fn text(output: &[u8]) -> &str {
    std::str::from_utf8(output).expect("a text")
}

#[track_caller]
fn check_refused(output: &Output, said: &str) {
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert_eq!(text(&output.stdout), "");
    assert!(text(&output.stderr).contains(said), "{}", text(&output.stderr));
}

#[test]
fn without_write_the_change_is_shown() {
    let folder = folder(&[("values.yaml", VALUES)]);
    let typed = ["registry.test/shop:1.20", "--target", "helmvalues:values.yaml", "--tag-path", "image.tag"];
    let output = set(folder.path(), &typed);
    assert!(output.status.success(), "{output:?}");
    let wanted = "--- a/values.yaml\n+++ b/values.yaml\n@@ -1,4 +1,4 @@\n # ours\n image:\n   repository: registry.test/shop\n\
                  -  tag: v1   # bumped\n+  tag: \"1.20\"   # bumped\n";
    assert_eq!(text(&output.stdout), wanted);
    assert_eq!(fs::read_to_string(folder.path().join("values.yaml")).unwrap(), VALUES);
}

#[test]
fn with_write_the_file_is_replaced_and_keeps_its_permissions() {
    let folder = folder(&[("values.yaml", VALUES)]);
    let path = folder.path().join("values.yaml");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    let typed =
        ["registry.test/shop:v2", "--write", "--target", "helmvalues:values.yaml", "--tag-path", "image.tag"];
    assert_eq!(text(&set(folder.path(), &typed).stdout), "values.yaml: changed (helmvalues)\n");
    assert_eq!(fs::read_to_string(&path).unwrap(), VALUES.replace("v1", "v2"));
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(text(&set(folder.path(), &typed).stdout), "values.yaml: unchanged (helmvalues)\n");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn machines_get_json() {
    let folder = folder(&[("values.yaml", VALUES)]);
    let typed = ["registry.test/shop:v2", "--in", ".", "-o", "json"];
    let output = set(folder.path(), &typed);
    let list: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(list[0]["file"], "./values.yaml");
    assert_eq!((&list[0]["changed"], &list[0]["written"]), (&true.into(), &false.into()));
}

#[test]
fn a_fault_leaves_the_file_and_says_where_it_is() {
    let folder = folder(&[("values.yaml", "image:\n  tag: v1\n  tag: v0\n"), ("bad.yaml", "a: [\n")]);
    let at = |target, typed: &[&str]| {
        set(folder.path(), &[&["registry.test/shop:v2", "--write", "--target", target], typed].concat())
    };
    check_refused(&at("helmvalues:values.yaml", &["--tag-path", "image.tag"]), "values.yaml:3:3");
    check_refused(&at("manifest:bad.yaml", &[]), "bad.yaml:2:1");
    check_refused(&at("manifest:none.yaml", &[]), "the file `none.yaml` does not exist");
    check_refused(&at("nothing:values.yaml", &[]), "the kinds are kustomization, helmvalues,");
    check_refused(&at("values.yaml", &[]), "KIND:FILE");
    check_refused(&at("helmvalues:values.yaml", &[]), "needs a path");
    check_refused(&at("flux:values.yaml", &[]), "--policy");
    check_refused(&at("manifest:values.yaml", &["--tag-path", "a"]), "is not for the target");
    check_refused(&at("helmvalues:values.yaml", &["--digest-path", "image.tag"]), "wants a digest");
    check_refused(&set(folder.path(), &["registry.test/shop", "--in", "."]), "names no tag");
    check_refused(&set(folder.path(), &["registry.test/shop:v2"]), "`--target KIND:FILE`");
    check_refused(&set(folder.path(), &["registry.test/shop:v2", "--in", "nowhere"]), "nowhere");
    check_refused(&set(folder.path(), &["registry.test/shop:v2", "--in", ".", "--tag-path", "a"]), "`--in`");
    check_refused(&set(folder.path(), &["registry.test/shop:v2", "--unknown"]), "--unknown");
    assert_eq!(
        fs::read_to_string(folder.path().join("values.yaml")).unwrap(),
        "image:\n  tag: v1\n  tag: v0\n"
    );
}

#[test]
fn links_lead_nowhere_out() {
    let outer = folder(&[("secret.yaml", "image: {tag: v1}\n"), ("repo/real.yaml", "image: {tag: v1}\n")]);
    let repo = outer.path().join("repo");
    symlink("../secret.yaml", repo.join("out.yaml")).unwrap();
    symlink("real.yaml", repo.join("in.yaml")).unwrap();
    let at = |target| set(&repo, &["r.test/a:v2", "--write", "--target", target, "--tag-path", "image.tag"]);
    check_refused(&at("helmvalues:out.yaml"), "is a link out of");
    assert!(at("helmvalues:in.yaml").status.success());
    check_refused(&set(&repo, &["r.test/a:v2", "--in", "out.yaml"]), "is a link out of");
    assert!(fs::symlink_metadata(repo.join("in.yaml")).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(repo.join("real.yaml")).unwrap(), "image: {tag: v2}\n");
    assert_eq!(fs::read_to_string(outer.path().join("secret.yaml")).unwrap(), "image: {tag: v1}\n");
}

#[test]
fn every_place_in_a_folder_is_found() {
    let marker = "# {\"$imagepolicy\": \"ns:shop:tag\"}";
    let named = "# {\"$imagepolicy\": \"ns:shop:name\"}";
    let template =
        format!("{{{{ if x }}}}\nname: registry.test/shop {named}\ntag: v1 {marker}\n{{{{ end }}}}\n");
    let other = format!("tag: v1 {marker}\n");
    let folder = folder(&[
        ("a/kustomization.yaml", "images:\n- name: shop\n  newName: registry.test/shop\n  newTag: v1\n"),
        (
            "a/deploy.yml",
            "kind: Pod\napiVersion: v1\nspec:\n  containers:\n  - image: registry.test/shop:v1\n",
        ),
        ("b/values.yaml", VALUES),
        ("b/templates/x.yaml", &template),
        ("b/templates/y.yaml", "image: registry.test/shop:{{ .x }}-y\na: {{ x }}-y\n"),
        ("c/other.yaml", &other),
        ("c/.argocd-source-x.yaml", "kustomize: {images: [registry.test/shop:v1]}\n"),
        ("c/app.yaml", APP),
        ("c/none.yaml", "image: registry.test/shop-web:v1\n"),
        (".git/config.yaml", VALUES),
    ]);
    let output = set(folder.path(), &["registry.test/shop:v2", "--write", "--in", "a", "b", "c"]);
    let wanted = "a/deploy.yml: changed (manifest)\na/kustomization.yaml: changed (kustomization)\n\
                  b/templates/x.yaml: changed (flux)\nb/values.yaml: changed (helmvalues)\n\
                  c/.argocd-source-x.yaml: changed (argocd-source)\nc/app.yaml: changed (application)\nc/other.yaml: changed (flux)\n";
    assert_eq!(text(&output.stdout), wanted);
    assert!(text(&output.stderr).contains("b/templates/y.yaml"), "{}", text(&output.stderr));
    let read = |path: &str| fs::read_to_string(folder.path().join(path)).unwrap();
    assert_eq!(read("b/templates/x.yaml"), template.replace("v1", "v2"));
    assert_eq!(read("c/app.yaml"), APP.replacen("value: v1}", "value: v2}", 1));
    assert_eq!(read("c/other.yaml"), other.replace("v1", "v2"));
    check_refused(&set(folder.path(), &["registry.test/else:v2", "--in", "."]), "not found in");
}

/// A place that must not be edited keeps all the others as they were.
#[test]
fn one_fault_keeps_all_files() {
    let good = "image: {repository: registry.test/shop, tag: v1}\n";
    let bad = "x: &x v1\nimage: {repository: registry.test/shop, tag: *x}\n";
    let folder = folder(&[("a.yaml", good), ("b.yaml", bad)]);
    check_refused(&set(folder.path(), &["registry.test/shop:v2", "--write", "--in", "."]), "b.yaml:2:");
    assert_eq!(fs::read_to_string(folder.path().join("a.yaml")).unwrap(), good);
}

//! `helm dependency`: what is written into a chart, in which bytes, and what a failure leaves alone.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use helm_lite::{File, pack};
use oci_registry::Digest;
use testkit::{Folder, Habits, Outcome, Server};

const RENDERER: &str = env!("CARGO_BIN_EXE_renderer-under-test");

fn helm(folder: &Folder, arguments: &[&str]) -> Outcome {
    let arguments: Vec<&str> = ["helm"].iter().chain(arguments).copied().collect();
    folder.run_at_home(RENDERER, &arguments, &[])
}

#[track_caller]
fn prints(outcome: &Outcome, stdout: &str) {
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert_eq!(outcome.stdout, stdout);
}

#[track_caller]
fn fails(outcome: &Outcome, message: &str) {
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    assert_eq!(outcome.stdout, "");
    assert!(outcome.stderr.contains(message), "{}", outcome.stderr);
}

fn archive(name: &str, version: &str) -> Vec<u8> {
    let metadata = format!("apiVersion: v2\nname: {name}\nversion: {version}\n");
    pack(name, &[File::new("Chart.yaml", metadata.as_bytes())]).expect("it is written to memory")
}

/// A repository at `files/charts`, and a chart with dependencies at `top`.
fn with_repository(charts: &[(&str, &str)], dependencies: &str) -> (Folder, Server) {
    let folder = Folder::with(&[]);
    let mut entries = String::new();
    for (name, version) in charts {
        let bytes = archive(name, version);
        let file = format!("{name}-{version}.tgz");
        let digest = Digest::of(&bytes);
        entries.push_str(&format!(
            "  {name}:\n  - {{name: {name}, version: {version}, digest: '{digest}', urls: [{file}]}}\n"
        ));
        folder.write_bytes(&format!("files/charts/{file}"), &bytes);
    }
    folder.write("files/charts/index.yaml", &format!("apiVersion: v1\nentries:\n{entries}"));
    let server = Server::start(&folder.path(""), Habits::default());
    declare(&folder, &dependencies.replace("REPO", &server.url("/files/charts")));
    (folder, server)
}

fn declare(folder: &Folder, dependencies: &str) {
    let text = format!("apiVersion: v2\nname: top\nversion: 0.1.0\ndependencies:\n{dependencies}");
    folder.write("top/Chart.yaml", &text);
}

fn copy(from: &Path, folder: &Folder, to: &str) {
    for entry in fs::read_dir(from).expect("it is a folder") {
        let path = entry.expect("it can be read").path();
        let name = path.file_name().expect("it has a name").to_string_lossy();
        let to = format!("{to}{name}");
        if path.is_dir() {
            copy(&path, folder, &format!("{to}/"));
        } else {
            folder.write_bytes(&to, &fs::read(&path).expect("it can be read"));
        }
    }
}

fn without_time(lock: &str) -> Vec<&str> {
    lock.lines().filter(|line| !line.starts_with("generated: ")).collect()
}

/// The files that Helm 4.3.1 writes are beside the charts.
#[test]
fn locks_are_helms() {
    for (case, name) in [("v1", "requirements.lock"), ("v2", "Chart.lock")] {
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/helm-dependencies").join(case);
        let folder = Folder::with(&[]);
        copy(&data.join("in"), &folder, "");
        let outcome = helm(&folder, &["dependency", "update", "web"]);
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
        let lock = folder.read(&format!("web/{name}")).expect("it is written");
        let want = fs::read_to_string(data.join("want.lock")).expect("it is there");
        assert_eq!(without_time(&lock), without_time(&want));
        let time = lock.lines().last().expect("it has lines");
        assert!(time.starts_with("generated: \"20") && time.ends_with("Z\""), "{time}");
        // A lock of Helm's is one for `build`, and the same lock is not written twice.
        folder.write(&format!("web/{name}"), &want);
        assert_eq!(helm(&folder, &["dep", "build", "web"]).code, Some(0));
        assert_eq!(helm(&folder, &["dep", "update", "web"]).code, Some(0));
        assert_eq!(folder.read(&format!("web/{name}")), Some(want));
    }
}

#[test]
fn folders_are_packed_in_the_same_bytes_each_time() {
    let folder = Folder::with(&[
        ("lib/Chart.yaml", "# kept\napiVersion: v2\nname: lib\nversion: 0.3.0\n"),
        ("lib/templates/b.yaml", "b: 1\n"),
        ("lib/templates/a.yaml", "a: 1\n"),
        ("lib/.helmignore", "*.bak\n"),
        ("lib/x.bak", "x"),
    ]);
    declare(&folder, "- {name: lib, version: '>=0', repository: 'file://../lib'}\n");
    let update = ["dependency", "update", "top"];
    prints(&helm(&folder, &update), "Saving 1 charts\nDeleting outdated charts\n");
    let first = fs::read(folder.path("top/charts/lib-0.3.0.tgz")).expect("it is written");
    folder.write("lib/templates/a.yaml", "a: 1\n");
    prints(&helm(&folder, &update), "Saving 1 charts\nDeleting outdated charts\n");
    assert_eq!(fs::read(folder.path("top/charts/lib-0.3.0.tgz")).expect("it is written"), first);
    let files = helm_lite::archive::files(&first).expect("an archive");
    let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
    assert_eq!(names, ["Chart.yaml", ".helmignore", "templates/a.yaml", "templates/b.yaml"]);
    folder.write("lib/Chart.yaml", "apiVersion: v2\nname: lib\nversion: 0.4.0\n");
    fails(&helm(&folder, &["dep", "build", "top"]), "can't get a valid version for dependency lib");
}

#[test]
fn what_is_outdated_goes_and_what_is_unpacked_stays() {
    let (folder, _server) = with_repository(
        &[("web", "1.0.0")],
        "- {name: web, version: ^1, repository: REPO}\n- {name: own, version: 2.x}\n",
    );
    folder.write("top/charts/own/Chart.yaml", "apiVersion: v2\nname: own\nversion: 2.1.0\n");
    folder.write("top/charts/other/Chart.yaml", "apiVersion: v2\nname: other\nversion: 1.0.0\n");
    folder.write_bytes("top/charts/web-0.9.0.tgz", &archive("web", "0.9.0"));
    folder.write_bytes("top/charts/own-2.0.0.tgz", &archive("own", "2.0.0"));
    let listed = "NAME\tVERSION\tREPOSITORY";
    let list = helm(&folder, &["dep", "list", "top"]).stdout;
    assert!(list.starts_with(listed), "{list}");
    assert!(list.contains("web \t^1     \t") && list.contains("wrong version\n"), "{list}");
    assert!(list.ends_with("WARNING: \"top/charts/other\" is not in Chart.yaml.\n"), "{list}");
    let update = helm(&folder, &["dep", "update", "top"]);
    assert_eq!(update.code, Some(0), "{}", update.stderr);
    assert_eq!(
        folder.files("top/charts"),
        ["other/Chart.yaml", "own-2.0.0.tgz", "own/Chart.yaml", "web-1.0.0.tgz"]
    );
    let json = helm(&folder, &["dep", "list", "top", "-o", "json"]).stdout;
    assert!(json.contains(r#""name":"web""#) && json.contains(r#""status":"ok""#), "{json}");
}

#[test]
fn a_failure_changes_nothing() {
    let (folder, server) = with_repository(
        &[("web", "1.0.0"), ("db", "1.0.0")],
        "- {name: web, version: ^1, repository: REPO}\n- {name: db, version: ^1, repository: REPO}\n",
    );
    folder.write_bytes("top/charts/web-0.9.0.tgz", &archive("web", "0.9.0"));
    // The first can be had, the second is not what the index says.
    folder.write_bytes("files/charts/db-1.0.0.tgz", &archive("db", "1.0.1"));
    let unchanged = ["Chart.yaml", "charts/web-0.9.0.tgz"];
    fails(&helm(&folder, &["dep", "update", "top"]), "could not download db from http://localhost");
    assert_eq!(folder.files("top"), unchanged);
    let repo = server.url("/files/charts");
    for (dependencies, message) in [
        (
            format!("- {{name: web, version: ^9, repository: '{repo}'}}\n"),
            "can't get a valid version for 1 subchart(s)",
        ),
        (
            format!("- {{name: nope, version: ^9, repository: '{repo}'}}\n"),
            "nope chart not found in repo http://",
        ),
        (
            format!("- {{name: web, version: a b, repository: '{repo}'}}\n"),
            "has an invalid version/constraint format",
        ),
        ("- {name: web, version: ^1, repository: 'http://localhost:1'}\n".to_owned(), "Connection refused"),
        (
            "- {name: web, version: ^1, repository: '@none'}\n".to_owned(),
            "no repository definition for @none. Please add them",
        ),
        ("- {name: web, version: ^1, repository: none}\n".to_owned(), "no repository definition for none"),
        ("- {name: web, version: ^1, repository: 'file://../none'}\n".to_owned(), "directory none not found"),
        ("- {name: own, version: ^1}\n".to_owned(), "directory top/charts/own not found"),
    ] {
        declare(&folder, &dependencies);
        fails(&helm(&folder, &["dep", "update", "top"]), message);
        assert_eq!(folder.files("top"), unchanged, "{dependencies}");
    }
}

#[test]
fn links_of_a_checkout_lead_nowhere() {
    let folder = Folder::with(&[
        ("lib/Chart.yaml", "apiVersion: v2\nname: lib\nversion: 0.3.0\n"),
        ("precious", "digest: kept\n"),
        ("elsewhere/_x", "kept"),
    ]);
    declare(&folder, "- {name: lib, version: '>=0', repository: 'file://../lib'}\n");
    let update = ["dependency", "update", "top"];
    let link =
        |target: &str, name: &str| symlink(folder.path(target), folder.path(name)).expect("it can be made");
    link("elsewhere", "top/charts");
    fails(&helm(&folder, &update), "`top/charts` is a link");
    fs::remove_file(folder.path("top/charts")).expect("it is there");
    link("precious", "top/Chart.lock");
    fails(&helm(&folder, &update), "the Chart.lock file is a symlink to");
    fs::remove_file(folder.path("top/Chart.lock")).expect("it is there");
    fs::create_dir(folder.path("top/charts")).expect("it can be made");
    // The chart that the link leads to is read, and the link is what is replaced.
    folder.write_bytes("old.tgz", &archive("lib", "0.3.0"));
    link("old.tgz", "top/charts/lib-0.3.0.tgz");
    assert_eq!(helm(&folder, &update).code, Some(0));
    assert_eq!(fs::read(folder.path("old.tgz")).expect("it is there"), archive("lib", "0.3.0"));
    assert_eq!(
        (folder.read("precious").as_deref(), folder.files("elsewhere")),
        (Some("digest: kept\n"), vec!["_x".to_owned()])
    );
}

#[test]
fn build_wants_a_lock_that_fits_and_repositories_that_were_added() {
    let (folder, server) = with_repository(
        &[("web", "1.0.0"), ("web2", "1.0.0")],
        "- {name: web, version: ^1, repository: 'alias:one', alias: front}\n\
         - {name: web, version: 1.x, repository: '@one', alias: side}\n",
    );
    let repo = server.url("/files/charts");
    assert_eq!(helm(&folder, &["repo", "add", "one", &repo]).code, Some(0));
    // Without a lock it does what `update` does.
    let said = format!(
        "Hang tight while we grab the latest from your chart repositories...\n\
         ...Successfully got an update from the \"one\" chart repository\n\
         Update Complete. ⎈Happy Helming!⎈\nSaving 2 charts\nDownloading web from repo {repo}\n\
         Already downloaded web from repo {repo}\nDeleting outdated charts\n"
    );
    prints(&helm(&folder, &["dependency", "build", "top"]), &said);
    prints(&helm(&folder, &["dependency", "build", "top"]), &said);
    prints(
        &helm(&folder, &["dependency", "build", "top", "--skip-refresh"]),
        &format!(
            "Saving 2 charts\nDownloading web from repo {repo}\nAlready downloaded web from repo {repo}\n\
             Deleting outdated charts\n"
        ),
    );
    assert_eq!(helm(&folder, &["repo", "remove", "one"]).code, Some(0));
    fails(&helm(&folder, &["dep", "build", "top"]), "no repository definition for alias:one");
    let in_full = format!(
        "- {{name: web, version: ^1, repository: '{repo}', alias: front}}\n\
         - {{name: web, version: 1.x, repository: '{repo}', alias: side}}\n"
    );
    declare(&folder, &in_full);
    fails(
        &helm(&folder, &["dep", "build", "top"]),
        &format!(
            "no repository definition for {repo}, {repo}. Please add the missing repos via 'helm repo add'"
        ),
    );
    declare(&folder, &format!("- {{name: web, version: ^1, repository: '{repo}', alias: back}}\n"));
    fails(
        &helm(&folder, &["dep", "build", "top"]),
        "the lock file (Chart.lock) is out of sync with the dependencies file (Chart.yaml). Please update the \
         dependencies with 'helm dependency update'",
    );
}

#[test]
fn template_gets_what_is_missing_only_if_it_is_asked_to() {
    let (folder, _server) =
        with_repository(&[("web", "1.0.0")], "- {name: web, version: ^1, repository: REPO}\n");
    folder.write("top/templates/a.yaml", "a: '{{ len .Subcharts }}'\n");
    let template = ["template", "top"];
    fails(&helm(&folder, &template), "found in Chart.yaml, but missing in charts/ directory: web");
    assert_eq!(folder.files("top"), ["Chart.yaml", "templates/a.yaml"]);
    let outcome = helm(&folder, &[&template[..], &["--dependency-update"]].concat());
    prints(&outcome, "---\n# Source: top/templates/a.yaml\na: '1'\n");
    assert!(outcome.stderr.contains("Saving 1 charts\n"), "{}", outcome.stderr);
    assert_eq!(folder.files("top"), ["Chart.lock", "Chart.yaml", "charts/web-1.0.0.tgz", "templates/a.yaml"]);
    // Nothing is missing any more.
    let outcome = helm(&folder, &[&template[..], &["--dependency-update"]].concat());
    assert_eq!(outcome.stderr, "");
}

//! Remote repositories, from a real `git http-backend` and from the disk: what is fetched, how often, and what the cache
//! and `--offline` make of it.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use testkit::{Folder, GitRepository, Habits, Outcome, Server};

const RENDERER: &str = env!("CARGO_BIN_EXE_renderer-under-test");

/// A ConfigMap that says where it came from, as Kustomize prints it.
fn config_map(says: &str) -> String {
    format!("apiVersion: v1\ndata:\n  says: {says}\nkind: ConfigMap\nmetadata:\n  name: settings\n")
}

/// A folder with a repository `git/app` whose folder `base` has one ConfigMap.
fn with_app(says: &str) -> (Folder, GitRepository) {
    let folder = Folder::with(&[]);
    let app = GitRepository::with(
        &folder.path("git/app"),
        &[
            ("base/kustomization.yaml", "resources:\n- settings.yaml\n"),
            ("base/settings.yaml", &config_map(says)),
        ],
    );
    (folder, app)
}

fn change(app: &GitRepository, says: &str) -> String {
    app.commit(&[("base/settings.yaml", &config_map(says))])
}

fn build(folder: &Folder, arguments: &[&str]) -> Outcome {
    let arguments: Vec<&str> = ["kustomize", "build"].iter().chain(arguments).copied().collect();
    folder.run_at_home(RENDERER, &arguments, &[])
}

#[track_caller]
fn gives(outcome: &Outcome, stdout: &str) {
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert_eq!(outcome.stdout, stdout);
    assert_eq!(outcome.stderr, "");
}

#[track_caller]
fn fails(outcome: &Outcome, code: i32, message: &str) {
    assert_eq!(outcome.code, Some(code), "{}", outcome.stderr);
    assert_eq!(outcome.stdout, "");
    assert!(outcome.stderr.contains(message), "{}", outcome.stderr);
}

/// One repository with a commit for each way of naming one.
fn with_revisions() -> (Folder, GitRepository, String) {
    let (folder, app) = with_app("first");
    let first = app.head();
    app.git(&["tag", "light"]);
    change(&app, "tagged");
    app.git(&["tag", "--annotate", "--message=a release", "v1"]);
    app.git(&["checkout", "--quiet", "-b", "feature/x"]);
    change(&app, "branch");
    app.git(&["checkout", "--quiet", "main"]);
    change(&app, "head");
    // A branch named like the tag: git prefers the tag.
    app.git(&["branch", "v1", &first]);
    (folder, app, first)
}

const REVISIONS: &[(&str, &str)] = &[
    ("", "head"),
    ("?ref=main", "head"),
    ("?ref=light", "first"),
    ("?ref=v1", "tagged"),
    ("?version=v1", "tagged"),
    ("?ref=feature/x", "branch"),
    ("?ref=refs/heads/feature/x", "branch"),
    ("?ref=heads/v1", "first"),
    ("?ref=tags/v1", "tagged"),
];

#[test]
fn a_revision_is_a_branch_a_tag_or_a_commit() {
    let (folder, _, first) = with_revisions();
    let server = Server::start(&folder.path(""), Habits::default());
    let on_disk = format!("file://{}", folder.path("git").display());
    for base in [server.url("/git"), on_disk] {
        for (query, says) in REVISIONS {
            gives(&build(&folder, &[&format!("{base}/app//base{query}")]), &config_map(says));
        }
        gives(&build(&folder, &[&format!("{base}/app//base?ref={first}")]), &config_map("first"));
    }
}

#[test]
fn what_is_not_there_is_named() {
    let (folder, app) = with_app("first");
    let server = Server::start(&folder.path(""), Habits::default());
    let short = &app.head()[..10];
    let on_disk = format!("file://{}", folder.path("git").display());
    for base in [server.url("/git"), on_disk] {
        let at = |rest: &str| build(&folder, &[&format!("{base}/{rest}")]);
        fails(&at("app//base?ref=none"), 1, "no branch or tag `none`");
        fails(&at(&format!("app//base?ref={short}")), 1, "a commit id is written in full");
        fails(&at(&format!("app//base?ref={}", "1".repeat(40))), 1, "no commit `1111");
        fails(&at("app//base?ref=a..b"), 1, "is neither a branch or tag name");
        fails(&at("app//none"), 1, "no directory `none` in the repository at `HEAD`");
        fails(&at("none//base"), 1, "cannot fetch");
    }
    let unborn = folder.path("git/unborn");
    assert!(Command::new("git").args(["init", "--quiet"]).arg(&unborn).status().unwrap().success());
    fails(&build(&folder, &[&server.url("/git/unborn//base")]), 1, "the repository is empty");
}

#[test]
fn a_server_with_an_old_git_gives_commits_too() {
    let (folder, _, first) = with_revisions();
    let server = Server::start(&folder.path(""), Habits { old_git: true, ..Habits::default() });
    for (query, says) in REVISIONS {
        gives(&build(&folder, &[&server.url(&format!("/git/app//base{query}"))]), &config_map(says));
    }
    // The tag that points to it is gone: the commit is no branch's and no tag's.
    let (folder, app, _) = with_revisions();
    let inner = change(&app, "inner");
    change(&app, "outer");
    let server = Server::start(&folder.path(""), Habits { old_git: true, ..Habits::default() });
    gives(&build(&folder, &[&server.url(&format!("/git/app//base?ref={inner}"))]), &config_map("inner"));
    fails(&build(&folder, &[&server.url(&format!("/git/app//base?ref={}", "1".repeat(40)))]), 1, "no commit");
    assert_eq!(first.len(), 40);
}

#[test]
fn a_repository_is_fetched_once_however_often_it_is_named() {
    let (folder, _) = with_app("shared");
    let server = Server::start(&folder.path(""), Habits::default());
    let mut arguments = vec!["build".to_owned(), "--output-dir=out".to_owned(), "--jobs=8".to_owned()];
    for number in 0..20 {
        let entry = server.url("/git/app//base?ref=main");
        let kustomization = format!("namePrefix: a{number}-\nresources:\n- {entry}\n");
        folder.write(&format!("apps/{number}/kustomization.yaml"), &kustomization);
        arguments.push(format!("apps/{number}"));
    }
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    gives(&folder.run_at_home(RENDERER, &arguments, &[]), "");
    assert_eq!(folder.files("out").len(), 20);
    let asked: Vec<String> =
        server.requests().into_iter().filter(|request| request.contains("/git/app/")).collect();
    assert_eq!(
        asked,
        [
            "GET /git/app/info/refs",
            "POST /git/app/git-upload-pack ls-refs",
            "POST /git/app/git-upload-pack fetch"
        ]
    );
}

#[test]
fn a_later_build_asks_only_whether_a_branch_has_moved() {
    let (folder, app) = with_app("one");
    let server = Server::start(&folder.path(""), Habits::default());
    let branch = server.url("/git/app//base?ref=main");
    let commit = server.url(&format!("/git/app//base?ref={}", app.head()));
    gives(&build(&folder, &[&branch]), &config_map("one"));
    assert_eq!(server.fetches(), 1);
    gives(&build(&folder, &[&branch]), &config_map("one"));
    assert_eq!(server.requests(), ["GET /git/app/info/refs", "POST /git/app/git-upload-pack ls-refs"]);
    // A commit that came as a branch's is as good as one asked for by its id, and never asked for again.
    gives(&build(&folder, &[&commit]), &config_map("one"));
    assert_eq!(server.requests(), [""; 0]);
    change(&app, "two");
    gives(&build(&folder, &[&branch]), &config_map("two"));
    assert_eq!(server.fetches(), 1);
    gives(&build(&folder, &[&commit]), &config_map("one"));
    assert_eq!(server.requests(), [""; 0]);
}

#[test]
fn what_is_cached_outlives_its_server() {
    let (folder, app) = with_app("one");
    let server = Server::start(&folder.path(""), Habits::default());
    let branch = server.url("/git/app//base?ref=main");
    let other = server.url("/git/app//base?ref=other");
    let commit = server.url(&format!("/git/app//base?ref={}", app.head()));
    gives(&build(&folder, &[&branch]), &config_map("one"));
    drop(server);
    let unreachable = build(&folder, &[&branch]);
    fails(&unreachable, 1, "Connection refused");
    assert!(unreachable.stderr.contains("hint: --offline would take commit"), "{}", unreachable.stderr);
    gives(&build(&folder, &[&branch, "--offline"]), &config_map("one"));
    gives(&build(&folder, &[&commit]), &config_map("one"));
    fails(&build(&folder, &[&other, "--offline"]), 1, "is not in the cache");
}

#[test]
fn offline_asks_no_server() {
    let (folder, _) = with_app("one");
    let server = Server::start(&folder.path(""), Habits::default());
    let branch = server.url("/git/app//base?ref=main");
    gives(&build(&folder, &[&branch]), &config_map("one"));
    let _ = server.requests();
    gives(&build(&folder, &[&branch, "--offline"]), &config_map("one"));
    assert_eq!(server.requests(), [""; 0]);
}

#[test]
fn the_cache_is_where_it_is_told_to_be() {
    let (folder, _) = with_app("one");
    let entry = format!("file://{}//base", folder.path("git/app").display());
    gives(&build(&folder, &[&entry]), &config_map("one"));
    assert!(folder.path("cache/renderer/git").is_dir());
    gives(&build(&folder, &[&entry, "--cache-dir=elsewhere"]), &config_map("one"));
    assert!(folder.path("elsewhere/git").is_dir());
    let arguments = ["kustomize", "build", &entry];
    gives(&folder.run_at_home(RENDERER, &arguments, &[("RENDERER_CACHE_DIR", "third")]), &config_map("one"));
    assert!(folder.path("third/git").is_dir());
    folder.write("file", "");
    fails(&build(&folder, &[&entry, "--cache-dir=file/below"]), 1, "--cache-dir");
}

#[test]
fn nothing_is_written_into_the_users_checkout() {
    let (folder, _) = with_app("one");
    let server = Server::start(&folder.path(""), Habits::default());
    let kustomization = format!("resources:\n- {}\n", server.url("/git/app//base"));
    let checkout =
        GitRepository::with(&folder.path("checkout"), &[("prod/kustomization.yaml", &kustomization)]);
    gives(&build(&folder, &["checkout/prod"]), &config_map("one"));
    assert_eq!(checkout.git(&["status", "--porcelain", "--ignored"]), "");
}

#[test]
fn the_callers_repository_is_none_of_its_business() {
    let (folder, _) = with_app("one");
    let server = Server::start(&folder.path(""), Habits::default());
    let entry = server.url("/git/app//base");
    let other = folder.path("git/app/.git").display().to_string();
    let objects = folder.path("objects").display().to_string();
    // As in a hook.
    let variables =
        [("GIT_DIR", other.as_str()), ("GIT_OBJECT_DIRECTORY", &objects), ("GIT_INDEX_FILE", "index")];
    gives(&folder.run_at_home(RENDERER, &["kustomize", "build", &entry], &variables), &config_map("one"));
    assert!(!folder.path("objects").exists());
}

#[test]
fn processes_share_the_cache() {
    let (folder, _) = with_app("one");
    let server = Server::start(&folder.path(""), Habits::default());
    let entry = server.url("/git/app//base?ref=main");
    thread::scope(|scope| {
        let builds: Vec<_> = (0..6).map(|_| scope.spawn(|| build(&folder, &[&entry]))).collect();
        for build in builds {
            gives(&build.join().unwrap(), &config_map("one"));
        }
    });
    assert_eq!(folder.files("cache/renderer/staging"), [""; 0]);
}

#[test]
fn half_of_an_answer_leaves_nothing_behind() {
    let (folder, _) = with_app("one");
    let server = Server::start(&folder.path(""), Habits::default());
    let broken = build(&folder, &[&server.url("/broken/app//base")]);
    assert_eq!((broken.code, broken.stdout.as_str()), (Some(1), ""), "{}", broken.stderr);
    assert_eq!(folder.files("cache"), [""; 0]);
}

#[test]
fn a_server_that_never_answers_is_given_up() {
    let (folder, _) = with_app("one");
    let server = Server::start(&folder.path(""), Habits::default());
    let started = Instant::now();
    fails(&build(&folder, &[&server.url("/silent/app//base?timeout=1")]), 1, "no answer within 1s");
    assert!(started.elapsed() < Duration::from_secs(10));
    assert_eq!(folder.files("cache"), [""; 0]);
}

#[test]
fn an_unreachable_host_is_named_with_the_place_that_names_it() {
    let folder =
        Folder::with(&[("kustomization.yaml", "resources:\n- https://nowhere.invalid/org/repo.git//base\n")]);
    let outcome = build(&folder, &["."]);
    fails(&outcome, 1, "cannot fetch `https://nowhere.invalid/org/repo.git` at `HEAD`");
    assert!(outcome.stderr.contains("kustomization.yaml:2:3"), "{}", outcome.stderr);
}

#[test]
fn a_moved_repository_is_followed() {
    let (folder, _) = with_app("one");
    let server = Server::start(&folder.path(""), Habits::default());
    gives(&build(&folder, &[&server.url("/moved/git/app//base")]), &config_map("one"));
}

#[test]
fn instead_of_in_gits_configuration_counts() {
    let (folder, _) = with_app("one");
    let server = Server::start(&folder.path(""), Habits::default());
    let configuration =
        format!("[url \"{}\"]\n\tinsteadOf = https://git.example.com/\n", server.url("/git/"));
    folder.write("home/.gitconfig", &configuration);
    gives(&build(&folder, &["https://git.example.com/app//base"]), &config_map("one"));
    let configuration = format!(
        "[url \"file://{}/\"]\n\tinsteadOf = https://git.example.com/\n",
        folder.path("git").display()
    );
    folder.write("home/.gitconfig", &configuration);
    gives(&build(&folder, &["https://git.example.com/app//base"]), &config_map("one"));
}

#[test]
fn the_proxy_in_gits_configuration_counts() {
    let folder = Folder::with(&[]);
    let proxy = Server::start(&folder.path(""), Habits::default());
    folder.write("home/.gitconfig", &format!("[http]\n\tproxy = {}\n", proxy.url("")));
    fails(&build(&folder, &["http://nowhere.invalid/org/repo//base"]), 1, "404");
    assert_eq!(proxy.requests(), ["GET http://nowhere.invalid/org/repo/info/refs"]);
}

/// A repository `git/top` with the submodule `git/app` in `vendor/app`, at its present commit.
fn with_submodule(folder: &Folder, url: &str) -> GitRepository {
    let app = GitRepository::with(
        &folder.path("git/app"),
        &[
            ("base/kustomization.yaml", "resources:\n- settings.yaml\n"),
            ("base/settings.yaml", &config_map("submodule")),
        ],
    );
    let kustomization = "resources:\n- ../vendor/app/base\n";
    let top = GitRepository::with(&folder.path("git/top"), &[("prod/kustomization.yaml", kustomization)]);
    let declaration = format!("[submodule \"app\"]\n\tpath = vendor/app\n\turl = {url}\n");
    folder.write("git/top/.gitmodules", &declaration);
    top.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{},vendor/app", app.head())]);
    top.git(&["add", ".gitmodules"]);
    top.git(&["commit", "--quiet", "--message=submodule"]);
    change(&app, "later");
    top
}

#[test]
fn submodules_come_along() {
    let folder = Folder::with(&[]);
    let _top = with_submodule(&folder, "../app");
    let server = Server::start(&folder.path(""), Habits::default());
    let on_disk = format!("file://{}", folder.path("git").display());
    for base in [server.url("/git"), on_disk] {
        let entry = format!("{base}/top//prod");
        fails(&build(&folder, &[&format!("{entry}?submodules=false")]), 1, "does not exist");
        gives(&build(&folder, &[&entry]), &config_map("submodule"));
        gives(&build(&folder, &[&entry, "--offline"]), &config_map("submodule"));
    }
    // HEAD of the one, a commit of the other.
    assert_eq!(server.fetches(), 2);
}

#[test]
fn submodules_have_submodules() {
    let folder = Folder::with(&[]);
    let top = with_submodule(&folder, "../app");
    let outer = GitRepository::with(
        &folder.path("git/outer"),
        &[("kustomization.yaml", "resources:\n- parts/top/prod\n")],
    );
    folder.write("git/outer/.gitmodules", "[submodule \"x\"]\n\turl = ../top\n\tpath = parts/top/\n");
    outer.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{},parts/top", top.head())]);
    outer.git(&["add", ".gitmodules"]);
    outer.git(&["commit", "--quiet", "--message=submodule"]);
    let server = Server::start(&folder.path(""), Habits::default());
    gives(&build(&folder, &[&server.url("/git/outer")]), &config_map("submodule"));
}

#[test]
fn submodules_nest_only_so_deep() {
    let folder = Folder::with(&[]);
    let mut inner =
        GitRepository::with(&folder.path("git/0"), &[("kustomization.yaml", "namePrefix: a-\n")]).head();
    for level in 1..=18 {
        let path = format!("git/{level}");
        let declaration = format!("[submodule \"s\"]\n\tpath = s\n\turl = ../{}\n", level - 1);
        let outer = GitRepository::with(&folder.path(&path), &[(".gitmodules", &declaration)]);
        outer.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{inner},s")]);
        outer.git(&["commit", "--quiet", "--message=submodule"]);
        inner = outer.head();
    }
    let entry = format!("file://{}", folder.path("git/18").display());
    fails(&build(&folder, &[&entry]), 1, "nest more than 16 deep");
}

#[test]
fn a_place_in_a_remote_file_is_named_by_its_address() {
    let (folder, app) = with_app("one");
    // Homes are behind links now and then.
    fs::create_dir(folder.path("disk")).unwrap();
    symlink("disk", folder.path("cache")).unwrap();
    app.commit(&[("base/kustomization.yaml", "resources:\n- settings.yaml\nnamePrefx: a-\n")]);
    let server = Server::start(&folder.path(""), Habits::default());
    let place = server.url("/git/app//base/kustomization.yaml:3:1");
    fails(&build(&folder, &[&server.url("/git/app//base?ref=main")]), 1, &place);
}

#[test]
fn a_submodule_that_cannot_be_had_is_named() {
    let folder = Folder::with(&[]);
    let _top = with_submodule(&folder, "../none");
    let server = Server::start(&folder.path(""), Habits::default());
    let outcome = build(&folder, &[&server.url("/git/top//prod")]);
    fails(&outcome, 1, "/git/none");
}

//! `image-updater set` in a checkout: what goes to the server, and what stays as it is here.

use testkit::{BareRepository, Folder, GitRepository, Outcome};

use super::{IMAGE_UPDATER, fails};

const MANIFEST: &str = "kind: Pod\nspec:\n  containers:\n  - image: r.test/shop:1.0.0 # ours\n";

/// A server's repository and a checkout of it, with a file that is being worked on.
fn checkout() -> (Folder, BareRepository, GitRepository) {
    let folder = Folder::with(&[]);
    let config = BareRepository::with(
        &folder.path("config.git"),
        &[("deploy/shop.yaml", MANIFEST), ("notes.txt", "1\n")],
    );
    let identity = "[user]\n\tname = Me\n\temail = me@example.com\n";
    folder.write("home/.gitconfig", identity);
    let cloned = folder.run_at_home("git", &["clone", "--quiet", "config.git", "work"], &[]);
    assert_eq!(cloned.code, Some(0), "{}", cloned.stderr);
    folder.write("work/notes.txt", "2\n");
    let work = GitRepository::at(&folder.path("work"));
    (folder, config, work)
}

fn set(folder: &Folder, below: &str, arguments: &[&str]) -> Outcome {
    let below = folder.path(below).display().to_string();
    let script = "cd \"$1\" && shift && exec \"$@\"";
    let start = ["-c", script, "sh", &below, IMAGE_UPDATER, "set"];
    folder.run_at_home("sh", &[&start, arguments].concat(), &[])
}

#[test]
fn push_commits_on_the_server_and_leaves_the_checkout_alone() {
    let (folder, config, work) = checkout();
    let (head, status) = (work.head(), work.git(&["status", "--porcelain"]));
    // From a folder within it, paths are from there.
    let outcome = set(&folder, "work/deploy", &["r.test/shop:1.1.0", "--push", "--in", "."]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert!(outcome.stdout.contains("deploy/shop.yaml: changed"), "{}", outcome.stdout);
    let pushed = config.read("main", "deploy/shop.yaml").unwrap() + "\n";
    assert_eq!(pushed, MANIFEST.replace("1.0.0", "1.1.0"));
    assert_eq!((work.head(), work.git(&["status", "--porcelain"])), (head, status));
    assert_eq!(folder.read("work/deploy/shop.yaml").unwrap(), MANIFEST);
    // It is there already.
    let outcome = set(&folder, "work", &["r.test/shop:1.1.0", "--push", "--in", "deploy"]);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""));
    assert_eq!(config.subjects("main").len(), 2);
}

#[test]
fn commit_takes_what_it_wrote_and_nothing_else() {
    let (folder, config, work) = checkout();
    let arguments = ["r.test/shop:1.1.0", "--commit", "--target", "manifest:deploy/shop.yaml"];
    let outcome = set(&folder, "work", &arguments);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert_eq!(work.git(&["show", "--format=%an", "--name-only", "HEAD"]), "Me\n\ndeploy/shop.yaml");
    assert_eq!(work.git(&["status", "--porcelain"]), "M notes.txt");
    assert_eq!(config.subjects("main").len(), 1);
    // A file that git has not seen before.
    let arguments = ["r.test/shop:1.1.0", "--commit", "--target", "argocd-source:.argocd-source-[new].yaml"];
    let outcome = set(&folder, "work", &arguments);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert_eq!(work.git(&["show", "--format=", "--name-only", "HEAD"]), ".argocd-source-[new].yaml");
}

#[test]
fn trailers_name_files_from_the_root_of_the_repository() {
    let (folder, config, work) = checkout();
    folder.write(
        "work/deploy/image-updater.yaml",
        "apiVersion: image-updater/v1alpha1\nkind: Config\nupdates:\n\
         - images: [{image: r.test/shop}]\n  targets: [{kind: manifest, path: shop.yaml}]\n",
    );
    folder.write("work/tags.json", r#"{"r.test/shop": ["1.0.0", "1.1.0"]}"#);
    let script = "cd work/deploy && exec \"$@\"";
    let start = ["-c", script, "sh", IMAGE_UPDATER, "update", "--commit", "--tags-from", "../tags.json"];
    let outcome = folder.run_at_home("sh", &start, &[]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    let message = work.git(&["show", "--no-patch", "--format=%B", "HEAD"]);
    assert!(message.contains("deploy/shop.yaml"), "{message}");
    assert_eq!(config.subjects("main").len(), 1);
}

#[test]
fn a_file_in_another_encoding_matters_only_where_it_has_the_image() {
    let (folder, config, work) = checkout();
    folder.write_bytes("work/legacy.yaml", b"name: caf\xe9\n");
    let push = |text: &str| {
        work.git(&["add", "legacy.yaml"]);
        work.git(&["-c", "user.name=x", "-c", "user.email=x@x", "commit", "--quiet", "-m", text]);
        work.git(&["push", "--quiet", "origin", "HEAD"]);
        set(&folder, "work", &["r.test/shop:1.1.0", "--push", "--in", "."])
    };
    let outcome = push("legacy");
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert_eq!(config.subjects("main").len(), 3);
    work.git(&["pull", "--quiet", "--rebase=true", "--autostash", "origin", "main"]);
    folder.write_bytes("work/legacy.yaml", b"name: caf\xe9\nimage: r.test/shop:1.0.0\n");
    fails(&push("more"), "line 1 of `legacy.yaml` is not UTF-8");
}

#[test]
fn what_cannot_be_pushed_is_said() {
    let (folder, config, work) = checkout();
    let push =
        |arguments: &[&str]| set(&folder, "work", &[&["r.test/shop:1.1.0", "--push"], arguments].concat());
    fails(&push(&["--in", ".."]), "is not a path in the repository");
    fails(&push(&["--target", "manifest:gone.yaml"]), "no file `gone.yaml` found in the repository");
    fails(&push(&["--in", "notes.txt"]), "`r.test/shop` not found in `notes.txt`");
    fails(&push(&[]), "no target says where the image is written");
    work.git(&["checkout", "--quiet", "--detach"]);
    fails(&push(&["--in", "."]), "no branch is checked out");
    work.git(&["remote", "remove", "origin"]);
    fails(&push(&["--in", "."]), "lacks the remote `origin`");
    fails(&set(&folder, "", &["r.test/shop:1.1.0", "--push", "--in", "."]), "in no work tree of git");
    assert_eq!(config.subjects("main").len(), 1);
}

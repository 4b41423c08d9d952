//! The mirror of a remote, reading from it, and recovery from damage.

use std::fs;

use diagnostic::ErrorKind;
use gitremote::{HEAD, Mirror, Target, Tree};
use testkit::{GitRepository, Habits, Server};

use super::{bump, change, fails, on_disk, publish, pushed, remote};

fn tree_of_head(mirror: &Mirror, remote: &gitremote::Remote) -> Tree {
    let tip = mirror.fetch(remote, &[HEAD]).expect("it can be fetched").remove(0).expect("there is one");
    mirror.tree(tip.commit).expect("it was fetched")
}

#[test]
fn files_are_read_by_path_and_found_by_pattern() {
    let (folder, config, remote) = on_disk();
    config.rival(
        "main",
        &[("apps/a/values.yaml", "a"), ("apps/b/values.yaml", "b"), ("apps/b/x/values.yaml", "c")],
    );
    std::os::unix::fs::symlink("values.yaml", folder.path("git/config.clone/apps/a/link.yaml")).unwrap();
    config.rival("main", &[("apps/a/ü.yaml", "u")]);
    let mirror = Mirror::temporary().unwrap();
    let tree = tree_of_head(&mirror, &remote);
    assert_eq!(tree.read("apps/b/x/values.yaml").unwrap().as_deref(), Some(&b"c"[..]));
    for path in ["none", "apps/none/values.yaml"] {
        assert_eq!(tree.read(path).unwrap(), None, "{path}");
    }
    for (path, message) in [
        ("apps", "`apps` is not a file but a directory"),
        ("apps/a/link.yaml", "is not a file but a symbolic link"),
        ("README.md/x", "is not a file but below a file"),
        ("../x", "expected a file path in the repository"),
        ("/etc/passwd", "expected a file path in the repository"),
    ] {
        let error = tree.read(path).unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
        assert_eq!(error.kind(), ErrorKind::Invalid);
    }
    let glob = |pattern: &str| tree.glob(pattern).unwrap();
    assert_eq!(glob("apps/*/values.yaml"), ["apps/a/values.yaml", "apps/b/values.yaml"]);
    assert_eq!(
        glob("apps/**/values.yaml"),
        ["apps/a/values.yaml", "apps/b/values.yaml", "apps/b/x/values.yaml"]
    );
    assert_eq!(glob("apps/b/x/values.yaml"), ["apps/b/x/values.yaml"]);
    assert_eq!(glob("apps/[ac]/*.yaml"), ["apps/a/values.yaml", "apps/a/ü.yaml"]);
    assert_eq!(glob("none/*"), [""; 0]);
    assert_eq!(glob("*"), ["README.md"]);
}

#[test]
fn links_folders_and_what_leads_out_are_not_overwritten() {
    let (folder, config, remote) = on_disk();
    std::os::unix::fs::symlink("app/values.yaml", folder.path("git/config.clone/link.yaml")).unwrap();
    let script = folder.path("git/config.clone/app/run.sh");
    fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    config.rival("main", &[]);
    let mirror = Mirror::temporary().unwrap();
    for (path, message) in [
        ("link.yaml", "`link.yaml` is not a file but a symbolic link"),
        ("app", "`app` is not a file but a directory"),
        ("README.md/x", "is not a file but below a file"),
        ("../x", "expected a file path in the repository"),
        (".git/config", "expected a file path in the repository"),
    ] {
        let (published, _) =
            publish(&mirror, &remote, &Target::default(), |_| Ok(vec![change(path, "x", "m")]));
        fails(published, ErrorKind::Invalid, message);
    }
    let mut both = change("new", "x", "m");
    both.files.insert("new/x".to_owned(), Vec::new());
    let (published, _) = publish(&mirror, &remote, &Target::default(), |_| Ok(vec![both.clone()]));
    fails(published, ErrorKind::Invalid, "`new/x` is not a file but below the file `new`");
    // What is executable stays so, and new folders come into being.
    let edits = vec![change("app/run.sh", "#!/bin/sh\ntrue\n", "run"), change("new/deep/file", "x", "new")];
    pushed(publish(&mirror, &remote, &Target::default(), |_| Ok(edits.clone())).0);
    assert!(config.git(&["ls-tree", "main", "app/run.sh"]).starts_with("100755"));
    assert!(config.git(&["ls-tree", "main", "new/deep/file"]).starts_with("100644"));
    config.check();
}

#[test]
fn only_what_changed_is_fetched() {
    let (folder, config, remote) = on_disk();
    let noise: String = (0..100_000_u32).map(|n| format!("{:x}", n.wrapping_mul(2_654_435_761))).collect();
    config.rival("main", &[("large", &noise)]);
    let mirror = Mirror::cached(&folder.path("cache"), &remote).unwrap();
    tree_of_head(&mirror, &remote);
    let size = || -> u64 {
        let packs = folder.files("cache").into_iter().filter(|file| file.ends_with(".pack"));
        packs.map(|file| fs::metadata(folder.path("cache").join(file)).unwrap().len()).sum()
    };
    let before = size();
    assert!(before > 100_000, "{before}");
    for number in 0..3 {
        config.rival("main", &[("README.md", &format!("{number}\n"))]);
        assert_eq!(
            tree_of_head(&mirror, &remote).read("README.md").unwrap(),
            Some(format!("{number}\n").into())
        );
    }
    let grown = size() - before;
    assert!(grown < 10_000, "{grown}");
    // What was thrown away on the server in between is sent anew, although the mirror has had it.
    let first = config.git(&["rev-list", "--max-parents=0", "main"]);
    config.git(&["update-ref", "refs/heads/main", &first]);
    config.git(&["gc", "--quiet", "--prune=now"]);
    let changes = |_: &Tree| Ok(vec![change("large", &noise, "large again")]);
    pushed(publish(&mirror, &remote, &Target::default(), changes).0);
    config.check();
}

#[test]
fn what_a_killed_process_left_is_in_nobodys_way() {
    let (folder, config, remote) = on_disk();
    let cache = folder.path("cache");
    let mirror = Mirror::cached(&cache, &remote).unwrap();
    pushed(publish(&mirror, &remote, &Target::default(), |tree| bump(tree, "1.1.0")).0);
    drop(mirror);
    let lock = folder.files("cache").into_iter().find(|file| file.ends_with(".git.lock")).unwrap();
    let place = cache.join(lock.trim_end_matches(".lock"));
    let cached = |version: &str| {
        config.rival("main", &[("README.md", version)]);
        let mirror = Mirror::cached(&cache, &remote).unwrap();
        pushed(publish(&mirror, &remote, &Target::default(), |tree| bump(tree, version)).0);
        config.check();
    };
    fs::write(place.join("shallow.lock"), "").unwrap();
    fs::write(place.join("tip.new"), "123").unwrap();
    fs::write(place.join("objects/pack/.tmpX"), "PACK").unwrap();
    cached("1.2.0");
    assert!(!place.join("objects/pack/.tmpX").exists());
    // Half made.
    fs::remove_file(place.join("HEAD")).unwrap();
    cached("1.3.0");
    // Packs that are lost or broken.
    for pack in fs::read_dir(place.join("objects/pack")).unwrap() {
        fs::remove_file(pack.unwrap().path()).unwrap();
    }
    cached("1.4.0");
    for pack in fs::read_dir(place.join("objects/pack")).unwrap() {
        let path = pack.unwrap().path();
        fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
        fs::write(path, "PACK\0\0\0\x02\0\0\0\x01").unwrap();
    }
    cached("1.5.0");
    fs::remove_dir_all(&place).unwrap();
    fs::write(&place, "").unwrap();
    let error = Mirror::cached(&cache, &remote).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
}

#[test]
fn the_mirror_is_a_repository_that_git_finds_sound() {
    let (folder, config, remote) = on_disk();
    let mirror = Mirror::cached(&folder.path("cache"), &remote).unwrap();
    for number in 1..4 {
        pushed(publish(&mirror, &remote, &Target::default(), |tree| bump(tree, &format!("1.{number}.0"))).0);
        config.rival("main", &[("README.md", &format!("{number}\n"))]);
    }
    tree_of_head(&mirror, &remote);
    let lock = folder.files("cache").into_iter().find(|file| file.ends_with(".git.lock")).unwrap();
    let place = folder.path("cache").join(lock.trim_end_matches(".lock"));
    GitRepository::at(&place).git(&["fsck", "--strict"]);
}

#[test]
fn the_past_of_a_branch_is_read_as_far_as_is_asked() {
    let (folder, config, _) = on_disk();
    for number in 0..3 {
        config.rival("main", &[("README.md", &format!("{number}\n"))]);
    }
    let server = Server::start(&folder.path(""), Habits::default());
    let remote = remote(server.url("/git/config.git"));
    let mirror = Mirror::cached(&folder.path("cache"), &remote).unwrap();
    pushed(publish(&mirror, &remote, &Target::default(), |tree| bump(tree, "1.1.0")).0);
    config.rival("main", &[("app/values.yaml", "image:\n  tag: 1.0.0 # back\n")]);
    let tip = mirror.fetch(&remote, &[HEAD]).unwrap().remove(0).unwrap();
    let _ = server.requests();
    let past = mirror.history(&remote, &tip, 3).unwrap();
    // The mirror has had all three.
    assert_eq!(server.requests(), [""; 0]);
    let said: Vec<_> = past
        .iter()
        .map(|past| (past.committer.name.as_str(), past.message.lines().next().unwrap()))
        .collect();
    assert_eq!(said, [("test", "change"), ("Image Bot", "bump to 1.1.0"), ("test", "change")]);
    assert_eq!(past[1].trailers[0], ("Image-Updater-Set".to_owned(), "app/values.yaml=1.1.0".to_owned()));
    assert_eq!((past[0].commit, past[1].time), (tip.commit, 1_700_000_000));
    assert_eq!(mirror.history(&remote, &tip, 5).unwrap().len(), 5);
    assert_eq!(server.fetches(), 1);
    assert_eq!(mirror.history(&remote, &tip, 5).unwrap().len(), 5);
    assert_eq!(server.fetches(), 0);
    assert_eq!(mirror.history(&remote, &tip, 100).unwrap().len(), 6);
    assert_eq!(mirror.history(&remote, &tip, 0).unwrap(), []);
    pushed(publish(&mirror, &remote, &Target::default(), |tree| bump(tree, "1.2.0")).0);
    config.check();
    let lock = folder.files("cache").into_iter().find(|file| file.ends_with(".git.lock")).unwrap();
    GitRepository::at(&folder.path("cache").join(lock.trim_end_matches(".lock"))).git(&["fsck", "--strict"]);
}

#[test]
fn a_connection_that_breaks_costs_no_mirror() {
    let (folder, config, _) = on_disk();
    let server = Server::start(&folder.path(""), Habits { old_git: true, ..Habits::default() });
    let remote = remote(server.url("/git/config.git"));
    let mirror = Mirror::cached(&folder.path("cache"), &remote).unwrap();
    tree_of_head(&mirror, &remote);
    let tips =
        || folder.files("cache").into_iter().filter(|file| file.contains("/refs/tips/")).collect::<Vec<_>>();
    let before = tips();
    assert_eq!(before.len(), 1);
    config.rival("main", &[("README.md", "rival\n")]);
    let broken = super::remote(server.url("/broken/config.git"));
    let error = mirror.fetch(&broken, &["main"]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    // What was there is still good, and what came in pieces is not taken for whole.
    assert_eq!(tips(), before);
    let tree = tree_of_head(&mirror, &remote);
    assert_eq!(tree.read("README.md").unwrap().as_deref(), Some(&b"rival\n"[..]));
}

#[test]
fn an_old_server_will_do() {
    let (folder, config, _) = on_disk();
    let server = Server::start(&folder.path(""), Habits { old_git: true, ..Habits::default() });
    let remote = remote(server.url("/git/config.git"));
    let mirror = Mirror::cached(&folder.path("cache"), &remote).unwrap();
    for version in ["1.1.0", "1.2.0"] {
        config.rival("main", &[("README.md", version)]);
        pushed(publish(&mirror, &remote, &Target::default(), |tree| bump(tree, version)).0);
    }
    config.check();
    assert_eq!(config.subjects("main").len(), 5);
}

#[test]
fn what_is_not_there_is_named() {
    let (folder, config, remote) = on_disk();
    let mirror = Mirror::temporary().unwrap();
    let to = |base: &str| Target { base: Some(base.to_owned()), ..Target::default() };
    let publish_to = |target: &Target| publish(&mirror, &remote, target, |tree| bump(tree, "1.1.0")).0;
    fails(publish_to(&to("none")), ErrorKind::NotFound, "no branch `none` in the repository");
    fails(publish_to(&to("a..b")), ErrorKind::Invalid, "invalid branch name `a..b`");
    let bad = Target { branch: Some("x.lock".to_owned()), ..Target::default() };
    fails(publish_to(&bad), ErrorKind::Invalid, "invalid branch name `x.lock`");
    config.git(&["update-ref", "--no-deref", "HEAD", "main"]);
    fails(publish_to(&Target::default()), ErrorKind::NotFound, "the server's HEAD is not a branch");
    config.git(&["init", "--quiet", "--bare", &folder.path("git/empty.git").display().to_string()]);
    let empty = super::remote(format!("file://{}", folder.path("git/empty.git").display()));
    let (published, _) = publish(&mirror, &empty, &Target::default(), |tree| bump(tree, "1.1.0"));
    fails(published, ErrorKind::NotFound, "is empty");
    let none = super::remote(format!("file://{}", folder.path("none").display()));
    let (published, _) = publish(&mirror, &none, &Target::default(), |tree| bump(tree, "1.1.0"));
    fails(published, ErrorKind::Unavailable, "does not appear to be a git repository");
}

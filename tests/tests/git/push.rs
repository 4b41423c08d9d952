//! The effects of a push, and races.

use std::time::Duration;

use diagnostic::{Error, ErrorKind};
use gitremote::{Change, Consent, Mirror, Published, Publisher, Target, Tree, Waiting};

use super::{VALUES, authorship, bump, change, fails, on_disk, on_server, publish, pushed};

#[test]
fn a_commit_is_pushed_over_https_and_from_the_disk() {
    let (_folder, config, remote, _server) = on_server();
    let (_other, on_disk, local) = on_disk();
    for (config, remote) in [(config, remote), (on_disk, local)] {
        let mirror = Mirror::temporary().unwrap();
        let target = Target::default();
        let parent = config.git(&["rev-parse", "main"]);
        let (published, pauses) = publish(&mirror, &remote, &target, |tree| bump(tree, "1.1.0"));
        let (branch, commits, tries) = pushed(published);
        assert_eq!((branch.as_str(), commits.len(), tries, pauses.len()), ("main", 1, 1, 0));
        config.check();
        assert_eq!(config.git(&["rev-parse", "main"]), commits[0]);
        assert_eq!(
            config.git(&["diff", "--shortstat", "main~", "main"]),
            "1 file changed, 1 insertion(+), 1 deletion(-)"
        );
        assert_eq!(
            config.read("main", "app/values.yaml").unwrap(),
            VALUES.replace("1.0.0", "1.1.0").trim_end()
        );
        let want = format!(
            "tree {}\nparent {parent}\nauthor Image Bot <bot@example.com> 1700000000 +0000\n\
             committer Image Bot <bot@example.com> 1700000000 +0000\n\nbump to 1.1.0\n\n\
             Image-Updater-Set: app/values.yaml=1.1.0\nSigned-off-by: Image Bot <bot@example.com>",
            config.git(&["rev-parse", "main^{tree}"])
        );
        assert_eq!(config.git(&["cat-file", "commit", "main"]), want);
    }
}

#[test]
fn nothing_to_change_is_no_commit_and_a_second_run_asks_for_no_objects() {
    let (folder, config, remote, server) = on_server();
    let mirror = Mirror::cached(&folder.path("cache"), &remote).unwrap();
    let target = Target::default();
    let (published, _) = publish(&mirror, &remote, &target, |tree| bump(tree, "1.1.0"));
    let (_, commits, _) = pushed(published);
    let posts = server.requests();
    assert_eq!(posts.iter().filter(|request| request.ends_with(" fetch")).count(), 1, "{posts:?}");
    assert_eq!(
        posts.iter().filter(|request| request.starts_with("POST /git/config.git/git-receive-pack")).count(),
        1
    );
    drop(mirror);
    let mirror = Mirror::cached(&folder.path("cache"), &remote).unwrap();
    let (published, _) = publish(&mirror, &remote, &target, |tree| bump(tree, "1.1.0"));
    let Published::Unchanged { tip } = published.unwrap() else { panic!("it is there already") };
    assert_eq!((tip.branch.as_str(), tip.commit.to_string()), ("main", commits[0].clone()));
    let posts = server.requests();
    assert!(
        !posts.iter().any(|request| request.ends_with(" fetch") || request.contains("receive-pack")),
        "{posts:?}"
    );
    assert_eq!(config.subjects("main").len(), 2);
}

#[test]
fn a_hundred_edits_are_one_fetch_and_one_push() {
    let (folder, config, remote, server) = on_server();
    let files: Vec<(String, &str)> =
        (0..100).map(|app| (format!("apps/{app:03}/values.yaml"), VALUES)).collect();
    let named: Vec<(&str, &str)> = files.iter().map(|(path, content)| (path.as_str(), *content)).collect();
    config.rival("main", &named);
    let mirror = Mirror::cached(&folder.path("cache"), &remote).unwrap();
    let edited = VALUES.replace("1.0.0", "2.0.0");
    let one_each = |tree: &Tree| {
        let paths = tree.glob("apps/*/values.yaml")?;
        Ok(paths.iter().map(|path| change(path, &edited, &format!("bump {path}"))).collect())
    };
    let (published, _) = publish(&mirror, &remote, &Target::default(), one_each);
    assert_eq!(pushed(published).1.len(), 100);
    let posts = server.requests();
    let count = |end: &str| {
        posts.iter().filter(|request| request.starts_with("POST") && request.ends_with(end)).count()
    };
    assert_eq!((count(" fetch"), count("git-receive-pack")), (1, 1), "{posts:?}");
    config.check();
    assert_eq!(config.git(&["rev-list", "--count", "main"]), "102");
    // All in one commit is as good.
    let all = |tree: &Tree| {
        let mut all = Change { message: "all".to_owned(), ..Change::default() };
        for path in tree.glob("apps/**")? {
            all.files.insert(path, VALUES.replace("1.0.0", "3.0.0").into_bytes());
        }
        Ok(vec![all])
    };
    let (published, _) = publish(&mirror, &remote, &Target::default(), all);
    assert_eq!(pushed(published).1.len(), 1);
    config.check();
    assert_eq!(
        config.git(&["diff", "--shortstat", "main~", "main"]),
        "100 files changed, 100 insertions(+), 100 deletions(-)"
    );
}

#[test]
fn who_pushes_between_our_fetch_and_our_push_keeps_their_change() {
    let (_folder, config, remote, _server) = on_server();
    let (_other, on_disk, local) = on_disk();
    for (config, remote) in [(config, remote), (on_disk, local)] {
        let mirror = Mirror::temporary().unwrap();
        let mut calls = 0;
        let (published, pauses) = publish(&mirror, &remote, &Target::default(), |tree| {
            calls += 1;
            if calls < 3 {
                config.rival("main", &[("README.md", &format!("rival {calls}\n"))]);
            }
            bump(tree, "1.1.0")
        });
        let (_, commits, tries) = pushed(published);
        assert_eq!((commits.len(), tries, calls), (1, 3, 3));
        assert_eq!(pauses, [Duration::from_millis(100), Duration::from_millis(200)]);
        assert_eq!(config.read("main", "README.md").as_deref(), Some("rival 2"));
        assert!(config.read("main", "app/values.yaml").unwrap().contains("tag: 1.1.0 # ours"));
        assert_eq!(config.subjects("main"), ["bump to 1.1.0", "change", "change", "change"]);
        config.check();
    }
}

/// The rival is faster after the server has shown us where the branch is: only the server itself can tell.
#[test]
fn a_race_that_only_the_server_sees_is_lost_without_harm() {
    let (_folder, config, remote, _server) = on_server();
    let (_other, on_disk, local) = on_disk();
    for (config, remote) in [(config, remote), (on_disk, local)] {
        let rival = config.prepare_rival(&[("README.md", "rival\n")]);
        config.hook("update", &format!("rm -f hooks/update\ngit update-ref refs/heads/main {rival}"));
        let mirror = Mirror::temporary().unwrap();
        let (published, _) = publish(&mirror, &remote, &Target::default(), |tree| bump(tree, "1.1.0"));
        assert_eq!(pushed(published).2, 2);
        assert_eq!(config.read("main", "README.md").as_deref(), Some("rival"));
        assert!(config.read("main", "app/values.yaml").unwrap().contains("tag: 1.1.0 # ours"));
        config.check();
    }
}

#[test]
fn a_newer_choice_of_somebody_else_stays() {
    let (_folder, config, remote) = on_disk();
    let mirror = Mirror::temporary().unwrap();
    let mut calls = 0;
    let (published, _) = publish(&mirror, &remote, &Target::default(), |tree| {
        calls += 1;
        if calls == 1 {
            config.rival("main", &[("app/values.yaml", &VALUES.replace("1.0.0", "1.2.0"))]);
        }
        bump(tree, "1.1.0")
    });
    assert!(matches!(published, Ok(Published::Unchanged { .. })), "{published:?}");
    assert_eq!(calls, 2);
    assert!(config.read("main", "app/values.yaml").unwrap().contains("tag: 1.2.0 # ours"));
    assert_eq!(config.subjects("main").len(), 2);
}

#[test]
fn after_five_lost_races_it_is_given_up() {
    let (_folder, config, remote) = on_disk();
    let mirror = Mirror::temporary().unwrap();
    let mut calls = 0;
    let (published, pauses) = publish(&mirror, &remote, &Target::default(), |tree| {
        calls += 1;
        config.rival("main", &[("README.md", &format!("rival {calls}\n"))]);
        bump(tree, "1.1.0")
    });
    fails(published, ErrorKind::Conflict, "others pushed to `main` each time before we could, 5 times");
    assert_eq!((calls, pauses.len()), (5, 4));
    assert_eq!(config.subjects("main").len(), 6);
}

#[test]
fn a_hook_that_refuses_is_heard() {
    let (_folder, config, remote, _server) = on_server();
    let (_other, on_disk, local) = on_disk();
    for (config, remote) in [(config, remote), (on_disk, local)] {
        let mirror = Mirror::temporary().unwrap();
        let before = config.git(&["rev-parse", "main"]);
        let target = Target::default();
        config.hook("pre-receive", "echo 'no commits on Fridays' >&2; exit 1");
        let (published, _) = publish(&mirror, &remote, &target, |tree| bump(tree, "1.1.0"));
        fails(
            published,
            ErrorKind::Rejected,
            "the server rejected the push to `main`: pre-receive hook declined: no commits on Fridays",
        );
        config.hook("pre-receive", "yes no | head -c 5000000 >&2; exit 1");
        let (published, _) = publish(&mirror, &remote, &target, |tree| bump(tree, "1.1.0"));
        let message = published.expect_err("it is refused").to_string();
        assert!(message.len() < 20_000, "{}", message.len());
        assert_eq!(config.git(&["rev-parse", "main"]), before);
        // It is for this commit only.
        config.hook("pre-receive", "exit 0");
        pushed(publish(&mirror, &remote, &target, |tree| bump(tree, "1.1.0")).0);
        config.check();
    }
}

#[test]
fn a_branch_beside_the_base_is_made_remade_and_left_to_others() {
    let (_folder, config, remote, _server) = on_server();
    let mirror = Mirror::temporary().unwrap();
    let target = Target {
        base: Some("main".to_owned()),
        branch: Some("image-updater/app".to_owned()),
        ..Target::default()
    };
    let update = |to: &str| publish(&mirror, &remote, &target, |tree| bump(tree, to)).0;
    assert_eq!(pushed(update("1.1.0")).0, "image-updater/app");
    assert_eq!(config.subjects("image-updater/app"), ["bump to 1.1.0", "change"]);
    assert_eq!(config.subjects("main"), ["change"]);
    // As it is already, it stays.
    assert!(matches!(update("1.1.0"), Ok(Published::Unchanged { tip }) if tip.branch == "image-updater/app"));
    // A newer version replaces it, on the base as it is now.
    config.rival("main", &[("README.md", "rival\n")]);
    pushed(update("1.2.0"));
    assert_eq!(config.subjects("image-updater/app"), ["bump to 1.2.0", "change", "change"]);
    assert_eq!(config.read("image-updater/app", "README.md").as_deref(), Some("rival"));
    // What somebody else has put on it is not thrown away.
    config.rival("image-updater/app", &[("note.md", "mine\n")]);
    pushed(update("1.3.0"));
    let subjects = ["bump to 1.3.0", "change", "bump to 1.2.0", "change", "change"];
    assert_eq!(config.subjects("image-updater/app"), subjects);
    assert_eq!(config.read("image-updater/app", "note.md").as_deref(), Some("mine"));
    config.check();
}

#[test]
fn who_may_not_push_any_more_sends_nothing() {
    let (_folder, config, remote, server) = on_server();
    let (_other, on_disk, local) = on_disk();
    let consent = Consent::new(|| Err(Error::new(ErrorKind::Unavailable, "another leads")));
    for (config, remote) in [(&config, &remote), (&on_disk, &local)] {
        let mirror = Mirror::temporary().unwrap();
        let before = config.git(&["rev-parse", "main"]);
        let publisher = Publisher {
            mirror: &mirror,
            remote,
            target: &Target::default(),
            authorship: &authorship(),
            signer: None,
            consent: Some(&consent),
        };
        let mut waiting = Waiting { random: &mut || 0, sleep: &mut |_| () };
        let published = publisher.publish(&mut waiting, |tree| bump(tree, "1.1.0"));
        fails(published, ErrorKind::Unavailable, "another leads");
        assert_eq!(config.git(&["rev-parse", "main"]), before);
    }
    let posts = server.requests();
    assert!(
        !posts.iter().any(|request| request.starts_with("POST /git/config.git/git-receive-pack")),
        "{posts:?}"
    );
}

#[test]
fn push_options_reach_the_hooks() {
    let (folder, config, remote) = on_disk();
    let mirror = Mirror::temporary().unwrap();
    let target =
        Target { options: vec!["merge_request.create".to_owned(), "a=b c".to_owned()], ..Target::default() };
    config.git(&["config", "receive.advertisePushOptions", "false"]);
    let (published, _) = publish(&mirror, &remote, &target, |tree| bump(tree, "1.1.0"));
    fails(published, ErrorKind::Invalid, "the server takes no push options");
    config.git(&["config", "receive.advertisePushOptions", "true"]);
    let said = folder.path("said").display().to_string();
    config.hook(
        "pre-receive",
        &format!("echo \"$GIT_PUSH_OPTION_COUNT $GIT_PUSH_OPTION_0 $GIT_PUSH_OPTION_1\" > {said}"),
    );
    pushed(publish(&mirror, &remote, &target, |tree| bump(tree, "1.1.0")).0);
    assert_eq!(folder.read("said").as_deref(), Some("2 merge_request.create a=b c\n"));
    config.hook("post-receive", "echo 'see https://host/merge/1' >&2");
    let (published, _) = publish(&mirror, &remote, &target, |tree| bump(tree, "1.2.0"));
    assert!(matches!(published, Ok(Published::Pushed { said, .. }) if said == "see https://host/merge/1"));
    let target = Target { options: vec!["a\nb".to_owned()], ..Target::default() };
    let (published, _) = publish(&mirror, &remote, &target, |tree| bump(tree, "1.3.0"));
    fails(published, ErrorKind::Invalid, "invalid push option");
}

#[test]
fn what_only_takes_commits_is_pushed_to_by_its_full_name() {
    let (_folder, config, remote) = on_disk();
    let mirror = Mirror::temporary().unwrap();
    let target = Target { branch: Some("refs/for/main".to_owned()), ..Target::default() };
    let (branch, commits, _) = pushed(publish(&mirror, &remote, &target, |tree| bump(tree, "1.1.0")).0);
    assert_eq!(branch, "refs/for/main");
    assert_eq!(config.git(&["rev-parse", "refs/for/main"]), commits[0]);
    assert_eq!(config.subjects("main"), ["change"]);
}

#[test]
fn an_answer_that_is_lost_is_no_lost_push() {
    let (_folder, config, mut remote, server) = on_server();
    remote.url = server.url("/mute/config.git");
    let mirror = Mirror::temporary().unwrap();
    let (published, _) = publish(&mirror, &remote, &Target::default(), |tree| bump(tree, "1.1.0"));
    assert_eq!(pushed(published).2, 1);
    assert_eq!(config.subjects("main"), ["bump to 1.1.0", "change"]);
    // Neither is a refusal of which nobody heard.
    config.hook("pre-receive", "exit 1");
    let (published, _) = publish(&mirror, &remote, &Target::default(), |tree| bump(tree, "1.2.0"));
    assert_eq!(published.expect_err("it was refused").kind(), ErrorKind::Unavailable);
    assert_eq!(config.subjects("main").len(), 2);
}

#[test]
fn a_hook_that_never_ends_is_given_up() {
    let (_folder, config, mut remote) = on_disk();
    let mirror = Mirror::temporary().unwrap();
    remote.access.timeout = Duration::from_secs(2);
    config.hook("pre-receive", "sleep 600");
    let (published, _) = publish(&mirror, &remote, &Target::default(), |tree| bump(tree, "1.1.0"));
    fails(published, ErrorKind::TimedOut, "no answer within 2s");
    config.hook("pre-receive", "exit 0");
    remote.access.timeout = Duration::from_secs(60);
    pushed(publish(&mirror, &remote, &Target::default(), |tree| bump(tree, "1.1.0")).0);
    config.check();
}

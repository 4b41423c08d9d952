//! Pushes, their cost, and their records.

use std::fs;
use std::process::Command;

use testkit::{DockerRegistry, RegistryHabits};

use super::{IMAGE_UPDATER, VALUES, World};

#[test]
fn the_first_run_pushes_and_the_second_has_nothing_to_do() {
    let registry = DockerRegistry::start(RegistryHabits { account: true, ..RegistryHabits::default() });
    for tag in ["1.0.0", "1.1.0", "2.0.0-rc.1"] {
        registry.push_image("team/app", tag, "linux/amd64", "2024-01-01T00:00:00Z");
    }
    let world = World::usual();
    let image = format!("{}/team/app", registry.host());
    world.configure_all("", &[(&image, "app/values.yaml", "")]);
    let text = world.folder.read("image-updater.yaml").unwrap().replace(
        "registries:\n",
        &format!(
            "registries:\n- prefix: {}\n  plainHttp: true\n  credentials: {{env: REGISTRY_LOGIN}}\n",
            registry.host()
        ),
    );
    world.folder.write("image-updater.yaml", &text);
    let (user, password) = DockerRegistry::ACCOUNT;
    let login = format!("{user}:{password}");
    let run = || {
        world.folder.run_at_home(IMAGE_UPDATER, &["update", "--push"], &[("REGISTRY_LOGIN", login.as_str())])
    };
    let first = run();
    assert_eq!(first.code, Some(0), "{}", first.stderr);
    assert!(first.stderr.contains("pushed 1 commit to `main`"), "{}", first.stderr);
    assert_eq!(world.values("main"), VALUES.replace("1.0.0", "1.1.0"));
    assert_eq!(world.exchanges(), (1, 1));
    let second = run();
    assert_eq!((second.code, second.stderr.as_str()), (Some(0), ""));
    assert_eq!(world.exchanges(), (0, 0));
    assert_eq!(world.config.subjects("main"), ["build: automatic update of config", "change"]);
    world.config.check();
}

/// Expected values: what the cache knows of the tag that runs is enough: no answer could change anything.
#[test]
fn platforms_and_ages_cost_nothing_while_nothing_happens() {
    let world = World::usual();
    let policy = "  policy: {platforms: [linux/arm64], minAge: 3d}\n";
    world.configure_all("", &[(&world.registry.image("app"), "app/values.yaml", policy)]);
    world.update(&["--push"]);
    assert_eq!(world.values("main"), VALUES.replace("1.0.0", "1.1.0"));
    let requests = world.registry.stand_in.requests();
    assert_eq!(requests[..2], ["GET /v2/app/tags/list", "GET /v2/app/manifests/1.1.0"]);
    assert!(requests[2].starts_with("GET /v2/app/blobs/sha256:") && requests.len() == 3, "{requests:?}");
    world.update(&["--push"]);
    assert_eq!(world.registry.stand_in.requests(), ["GET /v2/app/tags/list"]);
    assert_eq!(world.registry.unchanged(), 1);
}

#[test]
fn what_two_documents_name_is_listed_once() {
    let world = World::usual();
    let other =
        testkit::BareRepository::with(&world.folder.path("git/other.git"), &[("app/values.yaml", VALUES)]);
    world.configure("");
    let one = world.folder.read("image-updater.yaml").unwrap();
    // The second says nothing of registries: what the first says counts.
    let two = one.replace("/git/config.git", "/git/other.git");
    let (head, rest) = two.split_once("registries:").unwrap();
    let two = format!("{head}{}", &rest[rest.find("git:").unwrap()..]);
    world.folder.write("image-updater.yaml", &format!("{one}---\n{two}"));
    for (arguments, unchanged) in [
        (&["update", "--push"][..], 0),
        (&["update", "--push"], 1),
        (&["run", "--once"], 1),
        (&["update", "--push", "--no-cache"], 0),
    ] {
        let outcome = world.run(arguments);
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
        let requests = world.registry.stand_in.requests();
        assert_eq!(
            (requests.len(), world.registry.unchanged()),
            (1, unchanged),
            "{arguments:?}: {requests:?}"
        );
    }
    for repository in [&world.config, &other] {
        assert_eq!(repository.subjects("main").len(), 2);
        assert_eq!(
            repository.read("main", "app/values.yaml").unwrap() + "\n",
            VALUES.replace("1.0.0", "1.1.0")
        );
    }
}

#[test]
fn a_hundred_applications_are_one_fetch_one_commit_and_one_push() {
    let paths: Vec<String> = (0..100).map(|app| format!("apps/{app:03}/values.yaml")).collect();
    let files: Vec<(&str, &str)> = paths.iter().map(|path| (path.as_str(), VALUES)).collect();
    let world = World::with(&files);
    let images: Vec<String> = (0..100).map(|app| world.registry.image(&format!("app-{app:03}"))).collect();
    for app in 0..100 {
        world.registry.has(&format!("app-{app:03}"), &["1.0.0", "1.1.0", "latest"]);
    }
    let targets: Vec<(&str, &str, &str)> =
        images.iter().zip(&paths).map(|(image, path)| (image.as_str(), path.as_str(), "")).collect();
    world.configure_all("", &targets);
    world.update(&["--push"]);
    assert_eq!(world.exchanges(), (1, 1));
    assert_eq!(world.config.subjects("main").len(), 2);
    assert_eq!(
        world.config.git(&["diff", "--shortstat", "main~", "main"]),
        "100 files changed, 100 insertions(+), 100 deletions(-)"
    );
    assert_eq!((world.registry.stand_in.requests().len(), world.registry.unchanged()), (100, 0));
    // The second run asks once for each, whether its list has changed.
    world.update(&["--push"]);
    assert_eq!(world.exchanges(), (0, 0));
    assert_eq!((world.registry.stand_in.requests().len(), world.registry.unchanged()), (100, 100));
    assert_eq!(world.config.subjects("main").len(), 2);
}

#[test]
fn seven_hundred_tags_are_lists_and_no_manifests() {
    let world = World::usual();
    let tags: Vec<String> = (0..700).map(|patch| format!("1.2.{patch}")).collect();
    world.registry.has("app", &tags.iter().map(String::as_str).collect::<Vec<_>>());
    world.configure("");
    world.update(&["--push"]);
    let requests = world.registry.stand_in.requests();
    assert_eq!(requests.len(), 7, "{requests:?}");
    assert!(requests.iter().all(|request| request.starts_with("GET /v2/app/tags/list")), "{requests:?}");
    assert_eq!(world.values("main"), VALUES.replace("1.0.0", "1.2.699"));
}

#[test]
fn each_application_may_have_its_commit() {
    let world = World::with(&[("a.yaml", VALUES), ("b.yaml", VALUES)]);
    world.registry.has("app", &["1.0.0", "1.1.0"]);
    let image = world.registry.image("app");
    world.configure_all(
        "  commitPerApplication: true\n  message: 'update {{ .AppName }}'\n",
        &[(&image, "a.yaml", "  application: shop\n"), (&image, "b.yaml", "  application: blog\n")],
    );
    world.update(&["--push"]);
    assert_eq!(world.config.subjects("main"), ["update blog", "update shop", "change"]);
    assert_eq!(world.exchanges(), (1, 1));
    let body = world.config.git(&["log", "-1", "--format=%B", "main"]);
    let set = format!("Image-Updater-Set: image={image} old=1.0.0 new=1.1.0 file=b.yaml application=blog");
    assert!(body.ends_with(&set), "{body}");
}

#[test]
fn commits_are_signed_and_git_takes_the_signature_for_good() {
    let world = World::usual();
    let key = world.folder.path("bot").display().to_string();
    let made = Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f", &key]).status();
    assert!(made.unwrap().success());
    world.configure("  signingKey: bot\n  signOff: true\n  author: {name: Bot, email: bot@example.com}\n");
    let text = world.folder.read("image-updater.yaml").unwrap();
    world.folder.write(
        "image-updater.yaml",
        &text.replace("git:\n", "signingKeys: [{name: bot, format: ssh, file: bot}]\ngit:\n"),
    );
    world.update(&["--push"]);
    let public = fs::read_to_string(format!("{key}.pub")).unwrap();
    world.folder.write("trusted", &format!("bot@example.com {public}"));
    let trusted = world.folder.path("trusted").display().to_string();
    world.config.git(&["config", "gpg.ssh.allowedSignersFile", &trusted]);
    world.config.git(&["verify-commit", "main"]);
    let who = world.config.git(&["log", "-1", "--format=%an <%ae>%n%(trailers:key=Signed-off-by)", "main"]);
    assert_eq!(who, "Bot <bot@example.com>\nSigned-off-by: Bot <bot@example.com>");
}

#[test]
fn the_branch_is_named_by_its_template() {
    let world = World::usual();
    world.configure("  pushBranch: 'update/{{ range .Images }}{{ .NewTag }}{{ end }}'\n");
    let outcome = world.update(&["--push"]);
    assert!(outcome.stderr.contains("`update/1.1.0`"), "{}", outcome.stderr);
    assert_eq!(world.values("update/1.1.0"), VALUES.replace("1.0.0", "1.1.0"));
    assert_eq!(world.values("main"), VALUES);
    world.update(&["--push"]);
    assert_eq!(world.config.subjects("update/1.1.0").len(), 2);
}

#[test]
fn what_a_person_set_back_waits_for_another_version() {
    let world = World::usual();
    world.configure("");
    world.update(&["--push"]);
    world.config.rival("main", &[("app/values.yaml", VALUES)]);
    let outcome = world.update(&["--push", "-o", "json"]);
    let reports: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!((&reports[0]["outcome"], &reports[0]["to"]), (&"held".into(), &"1.1.0".into()));
    assert_eq!(world.values("main"), VALUES);
    assert_eq!(world.run(&["check"]).code, Some(0));
    world.registry.has("app", &["1.0.0", "1.1.0", "1.2.0"]);
    world.update(&["--push"]);
    assert_eq!(world.values("main"), VALUES.replace("1.0.0", "1.2.0"));
}

#[test]
fn nothing_is_pushed_by_a_look() {
    let world = World::usual();
    world.configure("");
    let check = world.run(&["check"]);
    assert_eq!(check.code, Some(10), "{}", check.stderr);
    for arguments in [&["--dry-run"][..], &["--push", "--dry-run"], &["--pr", "--dry-run"]] {
        let dry = world.update(arguments);
        assert!(dry.stdout.contains("-  tag: 1.0.0 # ours\n+  tag: 1.1.0 # ours\n"), "{}", dry.stdout);
    }
    assert_eq!(world.config.subjects("main"), ["change"]);
}

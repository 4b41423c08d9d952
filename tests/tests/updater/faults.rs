//! Faults: one error each, the other images are updated all the same, and no secret is shown.

use std::fs;

use testkit::{BareRepository, Folder, SshServer};

use super::{IMAGE_UPDATER, PASSWORD, VALUES, World, fails};

#[test]
fn an_image_that_fails_is_named_and_the_others_are_done() {
    let world = World::with(&[("app/values.yaml", VALUES), ("b.yaml", VALUES)]);
    world.registry.has("app", &["1.0.0", "1.1.0"]);
    let (image, gone) = (world.registry.image("app"), world.registry.image("gone"));
    world.configure_all("", &[(&gone, "b.yaml", ""), (&image, "app/values.yaml", "")]);
    let outcome = world.run(&["update", "--push"]);
    fails(&outcome, &format!("error: {gone}: "));
    assert!(outcome.stderr.contains("--> image-updater.yaml:11:12"), "{}", outcome.stderr);
    assert_eq!(world.values("main"), VALUES.replace("1.0.0", "1.1.0"));
    assert_eq!(world.config.read("main", "b.yaml").unwrap() + "\n", VALUES);
    // Nothing listens there.
    world.configure_all("", &[("localhost:1/app", "b.yaml", ""), (&image, "gone.yaml", "")]);
    let outcome = world.run(&["update", "--push"]);
    assert_eq!(outcome.code, Some(1));
    for message in ["error: localhost:1/app: ", "the file `gone.yaml` does not exist"] {
        assert!(outcome.stderr.contains(message), "{}", outcome.stderr);
    }
    assert_eq!(world.config.subjects("main").len(), 2);
}

#[test]
fn what_is_wrong_with_the_configuration_is_said_before_anything_is_asked() {
    let world = World::usual();
    let image = world.registry.image("app");
    let one = |git: &str, more: &str| {
        world.configure_all(git, &[(&image, "app/values.yaml", more)]);
        world.run(&["update", "--push"])
    };
    fails(&one("  brnch: x\n", ""), "unknown field `brnch`");
    let outcome = one("", "  policy: {semverConstraint: '>>1'}\n");
    fails(&outcome, "invalid version constraint `>>1`");
    assert!(outcome.stderr.contains("--> image-updater.yaml:13:11"), "{}", outcome.stderr);
    let outcome = one("  message: '{{ .Nothing }}'\n", "");
    fails(&outcome, "line 1, column 4");
    assert!(outcome.stderr.contains("--> image-updater.yaml:10:12"), "{}", outcome.stderr);
    assert!(world.server.requests().is_empty() && world.registry.stand_in.requests().is_empty());
}

#[test]
fn a_server_that_cannot_be_used_is_one_error() {
    let world = World::usual();
    world.configure("  branch: gone\n");
    let outcome = world.run(&["update", "--push"]);
    fails(&outcome, "no branch `gone` in the repository");
    assert!(outcome.stderr.contains("hint: push a first commit to it"), "{}", outcome.stderr);
    world.configure("");
    world.config.hook("pre-receive", "echo 'no commits on Fridays' >&2; exit 1");
    fails(&world.run(&["update", "--push"]), "no commits on Fridays");
    world.folder.write("git-login", "bot:wrong-horse\n");
    let outcome = world.run(&["update", "--push"]);
    fails(&outcome, "error: ");
    assert!(!outcome.stderr.contains("wrong-horse"), "{}", outcome.stderr);
    world.folder.write("git-login", "");
    fails(&world.run(&["update", "--push"]), "expected `user:password`");
    assert_eq!(world.config.subjects("main"), ["change"]);
}

#[test]
fn a_tag_that_is_watched_and_not_there_is_an_error() {
    let world = World::usual();
    let image = format!("{}:main", world.registry.image("app"));
    let watched = [(&*image, "app/values.yaml", "  policy: {strategy: digest}\n")];
    world.configure_all("", &watched);
    let outcome = world.run(&["update", "--push"]);
    fails(&outcome, "no tag `main` of");
    assert!(outcome.stderr.contains("--> image-updater.yaml:11:12"), "{}", outcome.stderr);
    assert_eq!(world.values("main"), VALUES);
    world.registry.has("app", &["main"]);
    world.update(&["--push"]);
    assert!(world.values("main").contains("main@sha256:"), "{}", world.values("main"));
}

/// As Argo CD Image Updater has it: `kustomization:overlays/prod`.
#[test]
fn the_folder_of_a_kustomization_is_not_its_file() {
    let kustomization = "images:\n- name: x\n  newTag: 1.0.0\n";
    let world = World::with(&[("overlays/prod/kustomization.yml", kustomization)]);
    world.registry.has("app", &["1.0.0"]);
    let image = world.registry.image("app");
    world.folder.write(
        "image-updater.yaml",
        &(world.head("")
            + &format!(
                "updates:\n- images: [{{image: '{image}', name: x}}]\n  targets: [{{kind: kustomization, path: overlays/prod}}]\n"
            )),
    );
    let outcome = world.run(&["update", "--push"]);
    fails(&outcome, "`overlays/prod`");
    assert!(outcome.stderr.contains("file in it is `overlays/prod/kustomization.yml`"), "{}", outcome.stderr);
}

#[test]
fn images_that_fail_are_named_beside_a_push_that_fails() {
    let world = World::with(&[("app/values.yaml", VALUES), ("b.yaml", VALUES)]);
    world.registry.has("app", &["1.0.0", "1.1.0"]);
    let (image, gone) = (world.registry.image("app"), world.registry.image("gone"));
    world.configure_all("", &[(&gone, "b.yaml", ""), (&image, "app/values.yaml", "")]);
    world.config.hook("pre-receive", "echo 'no commits on Fridays' >&2; exit 1");
    for arguments in [&["update", "--push"][..], &["run", "--once"]] {
        let outcome = world.run(arguments);
        assert_eq!(outcome.code, Some(1));
        for message in ["no commits on Fridays", "gone"] {
            assert!(outcome.stderr.contains(message), "{}", outcome.stderr);
        }
        assert!(!outcome.stdout.contains("changed"), "nothing was pushed: {}", outcome.stdout);
    }
    assert_eq!(world.config.subjects("main"), ["change"]);
}

#[test]
fn no_secret_is_printed_or_in_a_list_of_processes() {
    let world = World::usual();
    world.configure("");
    let seen = world.folder.path("processes").display().to_string();
    world
        .config
        .hook("pre-receive", &format!("cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' ' > {seen}"));
    let outcome = world.update(&["--push"]);
    let processes = fs::read(&seen).unwrap();
    let processes = String::from_utf8_lossy(&processes);
    assert!(processes.contains("--push"), "we are in the list ourselves");
    for text in [&outcome.stdout, &outcome.stderr, &*processes] {
        assert!(!text.contains(PASSWORD), "{text}");
    }
    // Nor is it kept.
    for path in world.folder.files("cache") {
        let content = fs::read(world.folder.path("cache").join(path)).unwrap();
        assert!(!String::from_utf8_lossy(&content).contains(PASSWORD));
    }
}

#[test]
fn over_ssh_the_key_of_the_host_must_be_known() {
    let folder = Folder::with(&[("none", "")]);
    let config = BareRepository::with(&folder.path("config.git"), &[("app/values.yaml", VALUES)]);
    let server = SshServer::start(&folder.path("ssh"));
    let path = |name: &str| folder.path(name).display().to_string();
    folder.write(
        "image-updater.yaml",
        &format!(
            "apiVersion: image-updater/v1alpha1\nkind: Config\ngit: {{url: '{}'}}\nupdates:\n\
             - images: [{{image: r.test/app}}]\n  \
             targets: [{{kind: helmvalues, path: app/values.yaml, tagPath: image.tag}}]\n",
            server.url(&path("config.git"))
        ),
    );
    folder.write("tags.json", r#"{"r.test/app": ["1.0.0", "1.1.0"]}"#);
    let run = |known: &str| {
        let ssh = format!(
            "ssh -F none -o UserKnownHostsFile={} -o IdentitiesOnly=yes -i {}",
            path(known),
            path("ssh/key")
        );
        let arguments = ["update", "--push", "--tags-from", "tags.json"];
        folder.run_at_home(IMAGE_UPDATER, &arguments, &[("GIT_SSH_COMMAND", &ssh)])
    };
    fails(&run("none"), "Host key verification failed");
    assert_eq!(config.subjects("main"), ["change"]);
    let outcome = run("ssh/known_hosts");
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert_eq!(config.subjects("main").len(), 2);
}

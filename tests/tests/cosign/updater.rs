//! `image-updater` with `verify`: what is written, and what is said of the rest.

use oci_registry::Digest;
use serde_json::{Value, json};
use testkit::cosign::{BUNDLE, CosignKey, SimpleSigning};
use testkit::{DockerRegistry, Folder, Outcome, RegistryHabits, StandIn};

use super::{INDEX, Shelf};

const IMAGE_UPDATER: &str = env!("CARGO_BIN_EXE_image-updater-under-test");

/// A configuration that has images of a registry signed, whose tags stand in `values.yaml` by their names.
fn config(host: &str, verify: &str, images: &[(&str, &str)]) -> String {
    let images: String = images
        .iter()
        .map(|(name, more)| {
            format!(
                "  - {{image: {host}/team/{name}, name: {name}{more}, targets: [{{kind: helmvalues, path: values.yaml, \
                 tagPath: {name}.tag, digestPath: {name}.digest}}]}}\n"
            )
        })
        .collect();
    format!(
        "apiVersion: image-updater/v1alpha1\nkind: Config\nregistries:\n\
         - {{prefix: {host}, plainHttp: true, rateLimit: 100000}}\nverify: {verify}\nupdates:\n- images:\n{images}"
    )
}

/// Values with images at 1.0.0 and a digest that is none of theirs.
fn values(names: &[&str]) -> String {
    let digest = Digest::of(b"before");
    names.iter().map(|name| format!("{name}: {{tag: 1.0.0, digest: '{digest}'}}\n")).collect()
}

fn run(folder: &Folder, arguments: &[&str]) -> Outcome {
    folder.run_at_home(IMAGE_UPDATER, &[arguments, &["--config", "iu.yaml"]].concat(), &[])
}

/// Returns what became of an image, as `-o json` has it.
fn line<'o>(lines: &'o Value, name: &str) -> &'o Value {
    lines.as_array().into_iter().flatten().find(|line| line["name"] == name).expect("it is there")
}

#[test]
fn only_what_is_signed_is_written() {
    let registry = DockerRegistry::start(RegistryHabits::default());
    let (key, other) = (CosignKey::new(), CosignKey::new());
    let another = Digest::of(b"another").to_string();
    let sign = |name: &str, digest: &str, signatures: &[SimpleSigning]| {
        let tag = format!("{}.sig", digest.replace(':', "-"));
        registry.push_signatures(&format!("team/{name}"), &tag, signatures);
    };
    let wrong = ["wrongkey", "moved", "unsigned", "malformed", "large", "statement"];
    let good = ["good", "many", "bundle"];
    let names: Vec<&str> = good.into_iter().chain(wrong).collect();
    let mut digests = std::collections::HashMap::new();
    for name in &names {
        registry.push_image(&format!("team/{name}"), "1.0.0", "linux/amd64", "2024-01-01T00:00:00Z");
        let pushed =
            registry.push_image(&format!("team/{name}"), "1.1.0", "linux/amd64", "2024-02-01T00:00:00Z");
        digests.insert(*name, pushed.digest);
    }
    let of = |name: &str| digests[name].as_str();
    sign("good", of("good"), &[key.simple_signing(of("good"))]);
    let mut many: Vec<SimpleSigning> = (0..10).map(|_| other.simple_signing(of("many"))).collect();
    many.push(key.simple_signing(of("many")));
    sign("many", of("many"), &many);
    registry.push_bundles("team/bundle", of("bundle"), &[key.bundle(of("bundle"))]);
    sign("wrongkey", of("wrongkey"), &[other.simple_signing(of("wrongkey"))]);
    sign("moved", of("moved"), &[key.simple_signing(&another)]);
    sign("malformed", of("malformed"), &[key.sign_payload(b"{".to_vec())]);
    sign("large", of("large"), &[key.sign_payload(vec![b' '; 200_000])]);
    let statement = key.state(of("statement"), "https://slsa.dev/provenance/v1");
    registry.push_bundles("team/statement", of("statement"), &[statement]);

    let images: Vec<(&str, &str)> = names.iter().map(|name| (*name, ", pinDigest: true")).collect();
    let text = config(&registry.host(), "{cosignKeys: [{file: keys/cosign.pub}]}", &images);
    let folder = Folder::with(&[
        ("iu.yaml", &text),
        ("values.yaml", &values(&names)),
        ("keys/cosign.pub", &key.public_pem()),
    ]);
    let outcome = run(&folder, &["update", "--write", "-o", "json"]);
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    let lines: Value = serde_json::from_str(&outcome.stdout).expect("it is JSON");
    let before = Digest::of(b"before").to_string();
    let want: String = names
        .iter()
        .map(|name| match good.contains(name) {
            true => format!("{name}: {{tag: 1.1.0, digest: '{}'}}\n", of(name)),
            false => format!("{name}: {{tag: 1.0.0, digest: '{before}'}}\n"),
        })
        .collect();
    assert_eq!(folder.read("values.yaml").unwrap(), want);
    for name in good {
        let reason = line(&lines, name)["reason"].as_str().unwrap_or_default();
        assert!(reason.ends_with("; signed with `keys/cosign.pub`"), "{reason}");
    }
    for (name, reason) in wrong.into_iter().zip([
        "with `keys/cosign.pub`: a signature is with another key",
        "a signature that lies with it is for another digest",
        "no signature refers to it",
        "a signature cannot be read",
        "a signature is too large",
        "`https://slsa.dev/provenance/v1` is not a signature",
    ]) {
        let line = line(&lines, name);
        let said = line["reason"].as_str().unwrap_or_default();
        let image = format!("`{}/team/{name}@{}` is not signed", registry.host(), of(name));
        assert!(line["outcome"] == "failed" && said.contains(&image) && said.contains(reason), "{line}");
        assert!(outcome.stderr.contains(&format!("error: {name}: {image}")), "{}", outcome.stderr);
    }
}

#[test]
fn a_lower_tag_is_not_taken_instead_and_what_stands_is_not_asked_about() {
    let registry = DockerRegistry::start(RegistryHabits::default());
    let key = CosignKey::new();
    let digest =
        |tag: &str| registry.push_image("team/app", tag, "linux/amd64", "2024-01-01T00:00:00Z").digest;
    let (signed, _) = (digest("1.1.0"), digest("1.2.0"));
    let tag = |digest: &str| format!("{}.sig", digest.replace(':', "-"));
    registry.push_signatures("team/app", &tag(&signed), &[key.simple_signing(&signed)]);
    let pem = key.public_pem().replace('\n', "\\n");
    let verify = format!("{{cosignKeys: [{{pem: \"{pem}\"}}]}}");
    let text = config(&registry.host(), &verify, &[("app", ", pinDigest: true")]);
    let folder = Folder::with(&[("iu.yaml", &text), ("values.yaml", &values(&["app"]))]);
    let outcome = run(&folder, &["update", "--write"]);
    assert_eq!(outcome.code, Some(1));
    assert!(outcome.stderr.contains("is not signed"), "{}", outcome.stderr);
    assert_eq!(folder.read("values.yaml").unwrap(), values(&["app"]));
    // The best one that is signed can be asked for, of course; then nothing more is to do, and no key is needed.
    folder.write("iu.yaml", &text.replace("name: app,", "name: app, policy: {semverConstraint: <1.2},"));
    let outcome = run(&folder, &["update", "--write"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert!(outcome.stdout.contains("signed with the key in the configuration"), "{}", outcome.stdout);
    let gone = text.replace(&verify, "{cosignKeys: [{file: gone.pub}]}");
    folder.write("iu.yaml", &gone.replace("name: app,", "name: app, policy: {semverConstraint: <1.2},"));
    let outcome = run(&folder, &["check"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    // A key that cannot be read is no key that does not matter.
    folder.write("iu.yaml", &gone);
    let outcome = run(&folder, &["check"]);
    assert_eq!(outcome.code, Some(1));
    assert!(outcome.stderr.contains("cannot read `gone.pub`"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("--> iu.yaml:8:5"), "{}", outcome.stderr);
}

/// Without `pinDigest` only a tag is written, and the digest that it has now is what has to be signed.
#[test]
fn a_tag_alone_is_verified_by_what_it_is_now() {
    let registry = DockerRegistry::start(RegistryHabits::default());
    let key = CosignKey::new();
    let image = registry.push_image("team/app", "1.1.0", "linux/amd64", "2024-01-01T00:00:00Z");
    let tag = format!("{}.sig", image.digest.replace(':', "-"));
    registry.push_signatures("team/app", &tag, &[key.simple_signing(&image.digest)]);
    let text = config(&registry.host(), "{cosignKeys: [{file: cosign.pub}]}", &[("app", "")]);
    let text = text.replace(", digestPath: app.digest", "");
    let folder = Folder::with(&[
        ("iu.yaml", &text),
        ("values.yaml", "app: {tag: 1.0.0}\n"),
        ("cosign.pub", &key.public_pem()),
    ]);
    registry.push_image("team/app", "1.1.0", "linux/arm64", "2024-02-01T00:00:00Z");
    let outcome = run(&folder, &["update", "--write", "--no-cache"]);
    assert_eq!(outcome.code, Some(1));
    assert!(outcome.stderr.contains("is not signed"), "{}", outcome.stderr);
    registry.push_image("team/app", "1.1.0", "linux/amd64", "2024-01-01T00:00:00Z");
    let outcome = run(&folder, &["update", "--write", "--no-cache"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert_eq!(folder.read("values.yaml").unwrap(), "app: {tag: 1.1.0}\n");
}

#[test]
fn keys_may_be_many_and_an_image_may_do_without() {
    let registry = DockerRegistry::start(RegistryHabits::default());
    let (key, other) = (CosignKey::new(), CosignKey::new());
    for name in ["app", "free"] {
        let image =
            registry.push_image(&format!("team/{name}"), "1.1.0", "linux/amd64", "2024-01-01T00:00:00Z");
        let tag = format!("{}.sig", image.digest.replace(':', "-"));
        let signatures = [key.simple_signing(&image.digest)];
        registry.push_signatures("team/app", &tag, if name == "app" { &signatures } else { &[] });
    }
    let keys = "{cosignKeys: [{file: other.pub}, {file: cosign.pub}]}";
    let images = [("app", ", pinDigest: true"), ("free", ", pinDigest: true, verify: {enabled: false}")];
    let folder = Folder::with(&[
        ("iu.yaml", &config(&registry.host(), keys, &images)),
        ("values.yaml", &values(&["app", "free"])),
        ("cosign.pub", &key.public_pem()),
        ("other.pub", &other.public_pem()),
    ]);
    let outcome = run(&folder, &["update", "--write"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert!(outcome.stdout.contains("signed with `cosign.pub`"), "{}", outcome.stdout);
    // What only a cluster has cannot be had here.
    let secret = "{cosignKeys: [{secret: signing/cosign#cosign.pub}]}";
    folder.write("iu.yaml", &config(&registry.host(), secret, &images));
    folder.write("values.yaml", &values(&["app", "free"]));
    let outcome = run(&folder, &["check"]);
    assert_eq!(outcome.code, Some(1));
    let want = "error: app: the Secret `signing/cosign` cannot be read without a cluster";
    assert!(outcome.stderr.contains(want), "{}", outcome.stderr);
    // Nor does a list of tags tell who has signed.
    let tags = format!(r#"{{"{0}/team/app": ["1.1.0"], "{0}/team/free": ["1.1.0"]}}"#, registry.host());
    let text = config(&registry.host(), keys, &[("app", "")]).replace(", digestPath: app.digest", "");
    folder.write("iu.yaml", &text);
    folder.write("tags.json", &tags);
    let outcome = run(&folder, &["check", "--tags-from", "tags.json"]);
    assert_eq!(outcome.code, Some(1));
    assert!(
        outcome.stderr.contains("must be signed, which a list of tags does not show"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn explain_says_whether_the_chosen_version_is_signed() {
    let registry = DockerRegistry::start(RegistryHabits::default());
    let key = CosignKey::new();
    let image = registry.push_image("team/app", "1.1.0", "linux/amd64", "2024-01-01T00:00:00Z");
    registry.push_bundles("team/app", &image.digest, &[key.bundle(&image.digest)]);
    let folder = Folder::with(&[
        ("iu.yaml", &config(&registry.host(), "{enabled: false}", &[("app", "")])),
        ("cosign.pub", &key.public_pem()),
        ("other.pub", &CosignKey::new().public_pem()),
    ]);
    let name = format!("{}/team/app:1.0.0", registry.host());
    let explain = |more: &[&str]| run(&folder, &[&["explain", &name], more].concat());
    let outcome = explain(&["--cosign-key", "other.pub", "--cosign-key", "cosign.pub"]);
    assert!(outcome.stdout.contains("\nSIGNED   with `cosign.pub`, by a bundle\n"), "{outcome:?}");
    let outcome = explain(&["--cosign-key", "other.pub", "-o", "json"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    let explained: Value = serde_json::from_str(&outcome.stdout).expect("it is JSON");
    let reason = explained["signature"]["reason"].as_str().unwrap_or_default();
    assert!(
        reason.ends_with("with `other.pub`: a signature is with another key, or of other content"),
        "{reason}"
    );
    assert!(!explain(&[]).stdout.contains("SIGNED"));
    assert_eq!(explain(&["--cosign-key", "gone.pub"]).code, Some(1));
}

/// Registries that keep lists of referrers are asked for these.
#[test]
fn bundles_that_refer_to_an_image_count() {
    let key = CosignKey::new();
    for (signer, is_written) in [(&key, true), (&CosignKey::new(), false)] {
        let mut shelf = Shelf::default();
        let index = json!({"schemaVersion": 2, "mediaType": INDEX, "manifests": []}).to_string();
        let digest = Digest::of(index.as_bytes());
        let bundle = shelf.put("blobs", BUNDLE, signer.bundle(digest.as_str()));
        let referrers = vec![shelf.refer(BUNDLE, &[bundle])];
        shelf.0.insert("/v2/team/app/manifests/1.1.0".to_owned(), (INDEX.to_owned(), index.into_bytes()));
        let tags = ("application/json".to_owned(), br#"{"tags": ["1.0.0", "1.1.0"]}"#.to_vec());
        shelf.0.insert("/v2/team/app/tags/list".to_owned(), tags);
        let server: StandIn = shelf.serve(&digest, referrers);
        let text =
            config(&server.host(), "{cosignKeys: [{file: cosign.pub}]}", &[("app", ", pinDigest: true")]);
        let folder = Folder::with(&[
            ("iu.yaml", &text),
            ("values.yaml", &values(&["app"])),
            ("cosign.pub", &key.public_pem()),
        ]);
        let outcome = run(&folder, &["update", "--write"]);
        assert_eq!(outcome.code, Some(if is_written { 0 } else { 1 }), "{}", outcome.stderr);
        let want = match is_written {
            true => format!("app: {{tag: 1.1.0, digest: '{digest}'}}\n"),
            false => values(&["app"]),
        };
        assert_eq!(folder.read("values.yaml").unwrap(), want);
    }
}

/// Whoever may write to the repository cannot have an image updated that the configuration wants signed.
#[test]
fn what_is_found_in_a_repository_has_to_be_signed_too() {
    let registry = DockerRegistry::start(RegistryHabits::default());
    registry.push_image("team/app", "1.1.0", "linux/amd64", "2024-01-01T00:00:00Z");
    let host = registry.host();
    let application = format!(
        "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata:\n  name: app\n  annotations:\n    \
         argocd-image-updater.argoproj.io/image-list: {host}/team/app\n\
         spec:\n  source:\n    repoURL: https://git.example/a.git\n    path: app\n    kustomize:\n      \
         images: ['{host}/team/app:1.0.0']\n"
    );
    let text = config(&host, "{cosignKeys: [{file: cosign.pub}]}", &[]);
    let text = text.split("updates:").next().unwrap_or_default().to_owned() + "discover: [apps]\n";
    let folder = Folder::with(&[
        ("iu.yaml", &text),
        ("apps/app.yaml", &application),
        ("cosign.pub", &CosignKey::new().public_pem()),
    ]);
    let outcome = run(&folder, &["update", "--write"]);
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("is not signed"), "{}", outcome.stderr);
    assert_eq!(folder.read("apps/app.yaml").unwrap(), application);
    folder.write("iu.yaml", &text.replace("{cosignKeys: [{file: cosign.pub}]}", "{enabled: false}"));
    let outcome = run(&folder, &["update", "--write"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert_eq!(folder.read("apps/app.yaml").unwrap(), application.replace("1.0.0", "1.1.0"));
}

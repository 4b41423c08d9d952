//! Git credentials from the Secrets of Argo CD and of Flux: commits arrive over https and ssh, and an unusable Secret
//! is reported without its content.

use std::fs;

use testkit::SshServer;

use super::*;

impl World {
    /// A repository with a kustomization of the image, and a server that asks for an account.
    fn guarded(&self) -> (Server, BareRepository) {
        let account = Some(("bot", PASSWORD));
        let server = Server::start(&self.folder.path(""), Habits { account, tls: true, ..Habits::default() });
        (server, self.repository())
    }

    fn repository(&self) -> BareRepository {
        let text = format!("images:\n- name: {}\n  newTag: 1.0.0\n", self.image());
        BareRepository::with(&self.folder.path("git/config.git"), &[(KUSTOMIZATION, &text)])
    }

    fn secret(&self, name: &str, label: Option<&str>, data: &Value) {
        let labels = label.map(|label| json!({"argocd.argoproj.io/secret-type": label}));
        self.api.put(&json!({
            "apiVersion": "v1", "kind": "Secret", "type": "Opaque", "stringData": data,
            "metadata": {"namespace": ARGO_CD, "name": name, "labels": labels.unwrap_or_else(|| json!({}))},
        }));
    }

    fn config_map(&self, name: &str, data: &Value) {
        self.api.put(&json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"namespace": ARGO_CD, "name": name}, "data": data,
        }));
    }

    /// An Application in a repository, which is written with a method.
    fn writes(&self, url: &str, method: &str) {
        self.api.put(&self.application("shop", url));
        let mut updater = self.updater("all", "shop");
        updater["spec"]["writeBackConfig"] =
            json!({"method": method, "gitConfig": {"branch": "main", "writeBackTarget": "kustomization"}});
        self.api.put(&updater);
    }

    fn is_told(&self, what: &str) -> bool {
        let error = self.condition(UPDATERS, "all", "Error");
        error["status"] == "True" && error["message"].to_string().contains(what)
    }

    fn gives_nothing_away(&self, daemon: &Daemon, secrets: &[&str]) {
        let mut texts = vec![daemon.text(), daemon.get("/metrics").1];
        for resource in [UPDATERS, APPLICATIONS, "events"] {
            texts.extend(self.api.list(resource).iter().map(Value::to_string));
        }
        for (text, secret) in texts.iter().flat_map(|text| secrets.iter().map(move |secret| (text, secret))) {
            assert!(!text.contains(*secret), "{text}");
        }
    }
}

fn has(config: &BareRepository, tag: &str) -> bool {
    config.read("main", KUSTOMIZATION).is_some_and(|text| text.contains(tag))
}

/// The host of an address, as certificates are called by it.
fn host(server: &Server) -> String {
    server.host().split(':').next().unwrap_or_default().to_owned()
}

#[test]
fn each_secret_of_argo_cd_lets_a_commit_through_over_https() {
    let account = json!({"username": "bot", "password": PASSWORD});
    let with = |url: String, more: &Value| {
        let mut data = more.clone();
        data["url"] = json!(url);
        data
    };
    for (label, is_whole, data, method) in [
        (Some("repository"), true, account.clone(), "git"),
        (Some("repository"), true, json!({"bearerToken": PASSWORD}), "git"),
        (Some("repo-creds"), false, account.clone(), "git:repocreds"),
        (None, true, account.clone(), "git:secret:creds"),
    ] {
        let world = World::new();
        let (server, config) = world.guarded();
        // That alone makes the server trusted.
        world.config_map("argocd-tls-certs-cm", &json!({host(&server): server.certificate()}));
        let path = if is_whole { "/git/config" } else { "/git" };
        world.secret("creds", label, &with(server.url(path), &data));
        world.writes(&server.url("/git/config.git"), method);
        world.push("1.1.0");
        let daemon = world.start(&[]);
        daemon.waits(&format!("{label:?} {method} lets a commit through"), || has(&config, "1.1.0"));
        world.gives_nothing_away(&daemon, &[PASSWORD]);
    }
}

#[test]
fn a_secret_that_does_not_do_is_told_and_used_when_it_does() {
    let world = World::new();
    let (server, config) = world.guarded();
    world.config_map("argocd-tls-certs-cm", &json!({host(&server): server.certificate()}));
    world.writes(&server.url("/git/config.git"), "git:secret:creds");
    world.push("1.1.0");
    let daemon = world.start(&[]);
    daemon.waits("it is missed", || {
        world.is_told("the Secret `argocd/creds` with the credentials of the git server does not exist")
    });
    world.secret("creds", None, &json!({"username": "bot", "token": PASSWORD}));
    daemon.waits("a key is missed", || world.is_told("`password` is missing"));
    assert!(!has(&config, "1.1.0"));
    world.api.delete("secrets", ARGO_CD, "creds");
    world.secret("creds", None, &json!({"username": "bot", "password": PASSWORD}));
    daemon.waits("it does", || has(&config, "1.1.0"));
    daemon.waits("all is well", || world.condition(UPDATERS, "all", "Error")["status"] == "False");
    world.gives_nothing_away(&daemon, &[PASSWORD]);
}

#[test]
fn host_keys_are_those_that_argo_cd_knows() {
    let world = World::new();
    let config = world.repository();
    let ssh = SshServer::start(&world.folder.path("ssh"));
    let read = |name: &str| fs::read_to_string(world.folder.path(name)).expect("it was made");
    let key = read("ssh/key");
    let url = ssh.url(&world.folder.path("git/config.git").display().to_string());
    world.secret("creds", Some("repository"), &json!({"url": url, "sshPrivateKey": key}));
    let stranger = read("ssh/other_key.pub");
    let known = read("ssh/known_hosts");
    let other = format!("{} {stranger}", known.split(' ').next().unwrap_or_default());
    world.config_map("argocd-ssh-known-hosts-cm", &json!({"ssh_known_hosts": other}));
    world.writes(&url, "git");
    world.push("1.1.0");
    let daemon = world.start(&[]);
    daemon.waits("another key is refused", || world.is_told("Host key verification failed"));
    assert!(!has(&config, "1.1.0"));
    world.api.delete("configmaps", ARGO_CD, "argocd-ssh-known-hosts-cm");
    world.config_map("argocd-ssh-known-hosts-cm", &json!({"ssh_known_hosts": known}));
    daemon.waits("a commit is pushed over ssh", || has(&config, "1.1.0"));
    let secret = key.lines().nth(2).expect("a key has lines");
    world.gives_nothing_away(&daemon, &[secret]);
}

/// The objects of Flux for the image, with what a GitRepository and its commits have besides.
fn flux(world: &World, url: &str, repository: &Value, commit: &Value) {
    let object = |api: &str, kind: &str, spec: Value| {
        json!({
            "apiVersion": api, "kind": kind, "metadata": {"namespace": ARGO_CD, "name": "shop"}, "spec": spec,
        })
    };
    let merged = |mut value: Value, more: &Value| {
        for (key, field) in more.as_object().expect("it is an object") {
            value[key] = field.clone();
        }
        value
    };
    let image = "image.toolkit.fluxcd.io/v1";
    let git = merged(json!({"url": url, "interval": "1m", "ref": {"branch": "main"}}), repository);
    let commit = merged(json!({"author": {"name": "Bot", "email": "bot@example.com"}}), commit);
    for object in [
        object("source.toolkit.fluxcd.io/v1", "GitRepository", git),
        object(image, "ImageRepository", json!({"image": world.image(), "interval": "1s", "insecure": true})),
        object(
            image,
            "ImagePolicy",
            json!({"imageRepositoryRef": {"name": "shop"}, "policy": {"semver": {"range": "1.x"}}}),
        ),
        object(
            image,
            "ImageUpdateAutomation",
            json!({
                "interval": "1s", "sourceRef": {"kind": "GitRepository", "name": "shop"},
                "git": {"commit": commit}, "update": {"path": "./apps", "strategy": "Setters"},
            }),
        ),
    ] {
        world.api.put(&object);
    }
}

fn marked(world: &World) -> BareRepository {
    let text = format!("image: {}:1.0.0 # {{\"$imagepolicy\": \"argocd:shop\"}}\n", world.image());
    BareRepository::with(&world.folder.path("git/config.git"), &[(KUSTOMIZATION, &text)])
}

#[test]
fn a_secret_of_flux_lets_a_commit_through_over_https() {
    let world = World::new();
    let config = marked(&world);
    let account = Some(("bot", PASSWORD));
    let server = Server::start(&world.folder.path(""), Habits { account, tls: true, ..Habits::default() });
    let data = json!({"username": "bot", "password": PASSWORD, "ca.crt": server.certificate()});
    world.secret("flux", None, &data);
    let reference = json!({"secretRef": {"name": "flux"}});
    flux(&world, &server.url("/git/config.git"), &reference, &json!({}));
    world.push("1.1.0");
    let daemon = world.start(&[]);
    daemon.waits("a commit is pushed", || has(&config, "1.1.0"));
    world.gives_nothing_away(&daemon, &[PASSWORD]);
}

#[test]
fn a_secret_of_flux_lets_a_signed_commit_through_over_ssh() {
    let world = World::new();
    let config = marked(&world);
    let ssh = SshServer::start(&world.folder.path("ssh"));
    let url = ssh.url(&world.folder.path("git/config.git").display().to_string());
    let signing = world.folder.path("signing").display().to_string();
    let outcome =
        world.folder.run("ssh-keygen", &["-q", "-t", "ed25519", "-N", PASSWORD, "-f", &signing], "");
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    let read = |name: &str| fs::read_to_string(world.folder.path(name)).expect("it was made");
    let key = read("ssh/key");
    world.secret("flux", None, &json!({"identity": key, "known_hosts": read("ssh/known_hosts")}));
    world.secret("signing", None, &json!({"identity": read("signing"), "password": PASSWORD}));
    let commit = json!({"signingKey": {"type": "ssh", "secretRef": {"name": "signing"}}});
    flux(&world, &url, &json!({"secretRef": {"name": "flux"}}), &commit);
    world.push("1.1.0");
    let daemon = world.start(&[]);
    daemon.waits("a commit is pushed", || has(&config, "1.1.0"));
    world.folder.write("trusted", &format!("bot@example.com {}", read("signing.pub")));
    let trusted = world.folder.path("trusted").display().to_string();
    config.git(&["config", "gpg.ssh.allowedSignersFile", &trusted]);
    config.git(&["verify-commit", "main"]);
    world.gives_nothing_away(&daemon, &[PASSWORD, key.lines().nth(2).expect("a key has lines")]);
}

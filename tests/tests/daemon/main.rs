//! `image-updater run` against a real registry and a real git server, as it runs in a cluster.

mod documents;
mod holds;
mod leader;
mod rounds;
mod stopping;
mod webhooks;

use std::net::SocketAddr;
use std::thread;
use std::time::Duration;

use testkit::{BareRepository, Daemon, DockerRegistry, Folder, Habits, Outcome, RegistryHabits, Server};

const IMAGE_UPDATER: &str = env!("CARGO_BIN_EXE_image-updater-under-test");

const FILE: &str = "apps/shop/kustomization.yaml";

const CREATED: &str = "2026-01-01T00:00:00Z";

/// A password that must not appear in logs.
const PASSWORD: &str = "t0ps3cret";

/// A registry with an image, a repository with a kustomization of it, and a configuration for both.
struct World {
    folder: Folder,
    registry: DockerRegistry,
    config: BareRepository,
    server: Server,
}

impl World {
    fn new() -> Self {
        Self::telling(None)
    }

    /// One whose registry tells of pushes at an address.
    fn telling(told: Option<SocketAddr>) -> Self {
        let habits = RegistryHabits { account: true, told, ..RegistryHabits::default() };
        let registry = DockerRegistry::start(habits);
        registry.push_image("shop", "1.0.0", "linux/amd64", CREATED);
        let folder = Folder::with(&[]);
        let text = kustomization(&registry, "1.0.0");
        let config = BareRepository::with(&folder.path("git/config.git"), &[(FILE, &text)]);
        let account = Some(("bot", PASSWORD));
        let server = Server::start(&folder.path(""), Habits { account, tls: true, ..Habits::default() });
        folder.write("authority.pem", server.certificate());
        folder.write("git-login", &format!("bot:{PASSWORD}\n"));
        folder.write("registry-login", "ci:s3cret\n");
        let world = Self { folder, registry, config, server };
        world.configure("");
        world
    }

    /// Writes the configuration, with more at its end, in one step.
    fn configure(&self, more: &str) {
        let text = format!(
            "apiVersion: image-updater/v1alpha1\nkind: Config\n\
             registries:\n- prefix: {}\n  plainHttp: true\n  credentials: {{file: registry-login}}\n\
             git:\n  url: {}\n  credentials: {{file: git-login}}\n\
             updates:\n- images: [{{name: web, image: {}}}]\n  targets: [{{kind: kustomization, path: {FILE}}}]\n\
             {more}",
            self.registry.host(),
            self.server.url("/git/config.git"),
            self.image(),
        );
        self.folder.write("next.yaml", &text);
        std::fs::rename(self.folder.path("next.yaml"), self.folder.path("image-updater.yaml"))
            .expect("both are in one folder");
    }

    /// A line of numbers about the repository.
    fn numbered(&self, name: &str, labels: &str, value: usize) -> String {
        format!(
            "image_updater_{name}{{repository=\"{}\"{labels}}} {value}",
            self.server.url("/git/config.git")
        )
    }

    fn image(&self) -> String {
        format!("{}/shop", self.registry.host())
    }

    fn push(&self, tag: &str) {
        self.registry.push_image("shop", tag, "linux/amd64", CREATED);
    }

    /// The file as the server has it.
    fn text(&self) -> String {
        self.config.read("main", FILE).expect("it is there") + "\n"
    }

    fn stands_at(&self, tag: &str) -> bool {
        self.text() == kustomization(&self.registry, tag)
    }

    fn commits(&self) -> usize {
        self.config.subjects("main").len()
    }

    fn run(&self, arguments: &[&str]) -> Outcome {
        self.folder.run_at_home(IMAGE_UPDATER, arguments, &[("SSL_CERT_FILE", "authority.pem")])
    }

    /// Starts the daemon, which looks every second and answers on a port of its own.
    fn start(&self, arguments: &[&str]) -> Daemon {
        self.start_as("log", arguments)
    }

    /// The same, with a log of that name.
    fn start_as(&self, log: &str, arguments: &[&str]) -> Daemon {
        let common = ["run", "--interval", "1s", "--listen", "127.0.0.1:0", "--log-format", "json"];
        let arguments = [&common, arguments].concat();
        let trust = [("SSL_CERT_FILE", "authority.pem")];
        let command = self.folder.at_home(IMAGE_UPDATER, &arguments, &trust);
        Daemon::start(command, &self.folder.path(log))
    }
}

fn kustomization(registry: &DockerRegistry, tag: &str) -> String {
    format!("images:\n- name: {}/shop # ours\n  newTag: {tag}\n", registry.host())
}

/// No file has what is secret.
fn nothing_is_given_away(world: &World) {
    for file in ["log", "audit.jsonl"] {
        let text = world.folder.read(file).unwrap_or_default();
        for secret in [PASSWORD, "s3cret", DockerRegistry::TOKEN] {
            assert!(!text.contains(secret), "{file} tells {secret}");
        }
    }
}

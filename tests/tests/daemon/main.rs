//! `image-updater run` against a real registry and a real git server, as it runs in a cluster.

mod documents;
mod holds;
mod leader;
mod rounds;
mod stopping;
mod webhooks;

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;

use tests::{BareRepository, DockerRegistry, Folder, Habits, Outcome, RegistryHabits, Server};

const IMAGE_UPDATER: &str = env!("CARGO_BIN_EXE_image-updater-under-test");

const FILE: &str = "apps/shop/kustomization.yaml";

const CREATED: &str = "2026-01-01T00:00:00Z";

/// What nobody may read in logs.
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
    fn start(&self, arguments: &[&str]) -> Daemon<'_> {
        self.start_as("log", arguments)
    }

    /// The same, with a log of that name.
    fn start_as(&self, log: &'static str, arguments: &[&str]) -> Daemon<'_> {
        let file = File::create(self.folder.path(log)).expect("it can be made");
        let common = ["run", "--interval", "1s", "--listen", "127.0.0.1:0", "--log-format", "json"];
        let arguments = [&common, arguments].concat();
        let trust = [("SSL_CERT_FILE", "authority.pem")];
        let mut command = self.folder.at_home(IMAGE_UPDATER, &arguments, &trust);
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(file).spawn();
        Daemon { folder: &self.folder, log, child: child.expect("it can be run") }
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

/// A daemon that runs; it is killed when it is dropped.
struct Daemon<'w> {
    folder: &'w Folder,
    /// The file of its log.
    log: &'static str,
    child: Child,
}

impl Daemon<'_> {
    /// The lines that it has logged, as far as they are whole.
    fn log(&self) -> Vec<serde_json::Value> {
        let text = self.folder.read(self.log).unwrap_or_default();
        let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
        whole.lines().map(|line| serde_json::from_str(line).expect(line)).collect()
    }

    /// Waits until it logs something.
    fn says(&self, message: &str) {
        self.waits(message, || self.log().iter().any(|line| line["message"] == message));
    }

    /// Waits for something to come about.
    fn waits(&self, what: &str, is_so: impl Fn() -> bool) {
        for _ in 0..6_000 {
            if is_so() {
                return;
            }
            thread::sleep(Duration::from_millis(10));
        }
        panic!("{what}: {}", self.folder.read(self.log).unwrap_or_default());
    }

    /// What it answers: the status and the body.
    fn get(&self, path: &str) -> (u16, String) {
        let listens = || self.log().into_iter().find_map(|line| Some(line["address"].as_str()?.to_owned()));
        self.waits("it listens", || listens().is_some());
        let mut stream = TcpStream::connect(listens().expect("it says where")).expect("it listens");
        write!(stream, "GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        let (head, body) = answer.split_once("\r\n\r\n").expect("it is HTTP");
        (head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("it is HTTP"), body.to_owned())
    }

    fn counts(&self, line: &str) -> bool {
        self.get("/metrics").1.lines().any(|known| known == line)
    }

    fn signal(&self, name: &str) {
        let kill = format!("kill -{name} {}", self.child.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().expect("there is a shell").success());
    }

    /// Waits for its end.
    fn ends(&mut self) -> ExitStatus {
        for _ in 0..1_000 {
            if let Some(status) = self.child.try_wait().expect("it is a child") {
                return status;
            }
            thread::sleep(Duration::from_millis(10));
        }
        panic!("it goes on: {}", self.folder.read(self.log).unwrap_or_default());
    }
}

impl Drop for Daemon<'_> {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

//! `renderer cmp server` as Argo CD's repo-server and a kubelet see it.

#[path = "../../../crates/cmp-server/tests/server/client.rs"]
#[expect(dead_code, clippy::unwrap_used, reason = "the client of the server's own tests, which ask for more")]
mod client;

mod classic;

use std::fs;
use std::io::Read as _;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use client::{Call, archive, checksum, piece};
use testkit::Folder;

const RENDERER: &str = env!("CARGO_BIN_EXE_renderer-under-test");

const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../testdata/example-repo");

const PEER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/plugin/peer.py");

const CONFIG_MAP: &[u8] = b"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n";

/// A server in a process of its own, killed when it is dropped.
struct Running {
    folder: Folder,
    child: Child,
}

impl Running {
    fn start(arguments: &[&str]) -> Self {
        Self::start_in(Folder::with(&[]), arguments)
    }

    fn start_in(folder: Folder, arguments: &[&str]) -> Self {
        let child = Command::new(RENDERER)
            .args(["cmp", "server", "--offline"])
            .args(arguments)
            .env("ARGOCD_PLUGINSOCKFILEPATH", folder.path(""))
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program can be run");
        let running = Self { folder, child };
        while running.probe() != Some(0) {
            thread::sleep(Duration::from_millis(20));
        }
        running
    }

    fn socket(&self) -> PathBuf {
        self.folder.path("renderer.sock")
    }

    fn probe(&self) -> Option<i32> {
        let folder = self.folder.path("").display().to_string();
        self.folder.run(RENDERER, &["cmp", "server", "--probe", "--socket-dir", &folder], "").code
    }

    fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([name, &self.child.id().to_string()]).status();
        assert!(sent.expect("there is a kill").success());
    }

    /// The exit code, and what it said on standard error.
    fn wait(mut self) -> (Option<i32>, String) {
        let mut said = String::new();
        let mut stderr = self.child.stderr.take().expect("it is piped");
        stderr.read_to_string(&mut said).expect("messages are text");
        (self.child.wait().expect("it ends").code(), said)
    }

    /// The most memory that it ever had, in bytes.
    fn peak_memory(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).expect("it runs");
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("Linux says it");
        let kibibytes: u64 = line.trim().trim_end_matches(" kB").parse().expect("it is a number");
        kibibytes << 10
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Needs grpcio from PyPI, which CI installs.
#[test]
fn a_peer_of_another_make_is_served() {
    let server = Running::start(&[]);
    let socket = server.socket().display().to_string();
    let overlay = "apps/guestbook/overlays/prod";
    let peer = |method: &str| {
        let arguments =
            [PEER, &socket, method, EXAMPLE, overlay, "ARGOCD_APP_NAME=guestbook", "KUBE_VERSION=1.33.0"];
        let outcome = server.folder.run("python3", &arguments, "");
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
        outcome.stdout
    };
    let folder = format!("{EXAMPLE}/{overlay}");
    let built = server.folder.run(RENDERER, &["build", "-o", "json", &folder], "").stdout;
    let want: Vec<&str> =
        built.lines().map(|line| line.trim_end_matches(',')).filter(|line| line.len() > 1).collect();
    let manifests = peer("GenerateManifest");
    let got: Vec<&str> = manifests.lines().filter_map(|line| line.strip_prefix("1 ")).collect();
    assert_eq!(got, want);
    assert!(manifests.ends_with("\n2 Kustomize\n"));
    assert_eq!(peer("MatchRepository"), "1 1\n");
    assert!(peer("GetParametersAnnouncement").contains("kustomize-images"));
}

#[tokio::test]
async fn each_kind_of_source_is_rendered() {
    let server = Running::start(&[]);
    let archive = archive(&[
        ("chart/Chart.yaml", b"apiVersion: v2\nname: web\nversion: 1.0.0\n"),
        (
            "chart/templates/a.yaml",
            b"kind: A\nname: {{ .Release.Name }}/{{ .Release.Namespace }}\nkube: {{ .Capabilities.KubeVersion }}\n\
            api: {{ .Capabilities.APIVersions.Has \"example.com/v1/Thing\" }}\n",
        ),
        ("plain/a.yaml", b"kind: A\n---\n# nothing\n---\nkind: B\n"),
        ("plain/b.json", b"{\"kind\": \"C\"}"),
        ("plain/README.md", b"kind: D\n"),
        ("overlay/Chart.yaml", b"wrong: it is a kustomization\n"),
        ("overlay/kustomization.yaml", b"resources:\n- ../base/a.yaml\n"),
        ("base/kustomization.yaml", b"resources:\n- a.yaml\n"),
        ("base/a.yaml", CONFIG_MAP),
        ("wrong/kustomization.yaml", b"resources:\n- ../base\nnamePrefx: a-\n"),
    ]);
    let call = |app: &str| {
        Call::generate(app)
            .with("ARGOCD_APP_NAME", "shop")
            .with("ARGOCD_APP_NAMESPACE", "prod")
            .with("KUBE_VERSION", "1.31.2")
            .with("KUBE_API_VERSIONS", "v1,example.com/v1/Thing")
    };
    let reply = call("chart").send(&server.socket(), &archive).await;
    assert_eq!(reply.manifests(), [r#"{"api":true,"kind":"A","kube":"v1.31.2","name":"shop/prod"}"#]);
    let reply = call("plain").send(&server.socket(), &archive).await;
    assert_eq!(reply.manifests(), [r#"{"kind":"A"}"#, r#"{"kind":"B"}"#, r#"{"kind":"C"}"#]);
    // A file beside the base is out of the kustomization's root, so that this is an error of Kustomize.
    let reply = call("overlay").send(&server.socket(), &archive).await;
    assert_eq!(reply.code, Some(3));
    let reply = call("wrong").send(&server.socket(), &archive).await;
    assert!(reply.message.starts_with("wrong/kustomization.yaml:3:1: "), "{}", reply.message);
}

#[tokio::test]
async fn memory_has_an_end_that_many_repositories_do_not_reach() {
    const MAX: u64 = 16 << 20;
    // Code, threads, windows of streams: what is there without any tree.
    const BASE: u64 = 96 << 20;
    let server = Running::start(&["--max-memory", "16Mi"]);
    let calls: Vec<_> = (0..64_u8)
        .map(|number| {
            let socket = server.socket();
            tokio::spawn(async move {
                let mut large = vec![b'x'; 2 << 20];
                large[0] = number;
                let archive = archive(&[("app/a.yaml", CONFIG_MAP), ("large", &large)]);
                Call::generate("app").send(&socket, &archive).await
            })
        })
        .collect();
    for call in calls {
        assert_eq!(call.await.expect("a client has no fault").manifests().len(), 1);
    }
    let peak = server.peak_memory();
    assert!(peak < MAX + BASE, "{} MiB", peak >> 20);
}

#[tokio::test]
async fn a_request_that_has_begun_is_ended_at_sigterm() {
    let server = Running::start(&[]);
    let archive = archive(&[("app/a.yaml", CONFIG_MAP)]);
    let call = Call::generate("app").with("ARGOCD_ENV_TOKEN", "hunter2");
    let mut open = call.open(&server.socket()).await;
    assert!(open.send(call.metadata(&checksum(&archive), archive.len())).await);
    assert!(open.is_silent().await);
    server.signal("-TERM");
    while server.socket().exists() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(server.probe(), Some(3));
    assert!(open.send(piece(&archive)).await);
    assert_eq!(open.end().await.manifests().len(), 1);
    let (code, said) = server.wait();
    assert_eq!(code, Some(0), "{said}");
    let lines: Vec<&str> = said.lines().filter(|line| line.starts_with("method=")).collect();
    assert_eq!(lines.len(), 1, "{said}");
    assert!(
        lines[0].starts_with("method=GenerateManifest application=\"\" path=app code=Ok tree=miss"),
        "{said}"
    );
    assert!(!said.contains("hunter2"), "{said}");
}

#[test]
fn a_socket_is_taken_over_only_from_nobody() {
    let folder = Folder::with(&[("other.sock", "precious")]);
    drop(UnixListener::bind(folder.path("renderer.sock")).expect("it can be bound"));
    let server = Running::start_in(folder, &["--log-format", "json"]);
    for (name, code, message) in [
        ("renderer", 3, "another server answers"),
        ("other", 3, "exists and is not a socket"),
        ("../up", 2, "a name has letters"),
    ] {
        let folder = server.folder.path("").display().to_string();
        let arguments = ["cmp", "server", "--name", name, "--socket-dir", &folder];
        let outcome = server.folder.run(RENDERER, &arguments, "");
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(code), ""), "{}", outcome.stderr);
        assert!(outcome.stderr.contains(message), "{}", outcome.stderr);
    }
    assert_eq!(server.folder.read("other.sock").as_deref(), Some("precious"));
    let nowhere = server.folder.run(RENDERER, &["cmp", "server", "--socket-dir", "none"], "");
    assert_eq!(nowhere.code, Some(3));
    assert!(nowhere.stderr.contains("hint: the directory must exist"), "{}", nowhere.stderr);
}

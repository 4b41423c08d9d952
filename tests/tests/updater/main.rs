//! `image-updater` from registry tags to pushed commits, against a real registry and real git servers.

mod app;
mod faults;
mod push;
mod request;
mod rivals;
mod set;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use testkit::{BareRepository, Folder, Habits, Outcome, Reply, Request, Server, StandIn};

const IMAGE_UPDATER: &str = env!("CARGO_BIN_EXE_image-updater-under-test");

/// A password that nothing else on this machine has.
const PASSWORD: &str = "correct-horse-9d41c7";

const VALUES: &str = "image:\n  tag: 1.0.0 # ours\nreplicas: 1\n";

/// A git server that wants TLS and an account, a repository on it, and a registry that counts what it is asked.
struct World {
    folder: Folder,
    config: BareRepository,
    server: Server,
    registry: TagServer,
}

/// A registry's lists of tags, which have validators and come in pages of a hundred, and its images.
struct TagServer {
    stand_in: StandIn,
    tags: Arc<Mutex<BTreeMap<String, Vec<String>>>>,
    unchanged: Arc<AtomicUsize>,
}

impl TagServer {
    fn start() -> Self {
        let tags: Arc<Mutex<BTreeMap<String, Vec<String>>>> = Arc::default();
        let unchanged = Arc::new(AtomicUsize::new(0));
        let (known, count) = (Arc::clone(&tags), Arc::clone(&unchanged));
        let stand_in =
            StandIn::start(move |request| answer(request, &known.lock().expect("no answer panics"), &count));
        Self { stand_in, tags, unchanged }
    }

    fn image(&self, name: &str) -> String {
        format!("{}/{name}", self.stand_in.host())
    }

    fn has(&self, name: &str, tags: &[&str]) {
        self.tags
            .lock()
            .expect("no answer panics")
            .insert(name.to_owned(), tags.iter().map(|tag| (*tag).to_owned()).collect());
    }

    /// Returns how many lists it found unchanged since it was last asked this.
    fn unchanged(&self) -> usize {
        self.unchanged.swap(0, Ordering::Relaxed)
    }
}

fn answer(request: &Request, tags: &BTreeMap<String, Vec<String>>, unchanged: &AtomicUsize) -> Reply {
    const PAGE: usize = 100;
    if let Some((_, tag)) = request.path.split_once("/manifests/") {
        let is_there = tags.values().flatten().any(|known| known == tag);
        return if is_there { manifest(tag) } else { Reply::new(404) };
    }
    if let Some((_, digest)) = request.path.split_once("/blobs/") {
        return blob(digest, tags.values().flatten().cloned());
    }
    let name = request.path.strip_prefix("/v2/").and_then(|path| path.strip_suffix("/tags/list"));
    let Some((name, all)) = name.and_then(|name| Some((name, tags.get(name)?))) else {
        return Reply::new(404).body(r#"{"errors":[{"code":"NAME_UNKNOWN"}]}"#);
    };
    let last = request.query.split('&').find_map(|pair| pair.strip_prefix("last="));
    let start = last.map_or(0, |last| all.iter().position(|tag| tag == last).expect("we named it") + 1);
    let page = &all[start..all.len().min(start + PAGE)];
    let tag = format!("\"{}\"", page.join(","));
    if request.header("if-none-match") == Some(&tag) {
        unchanged.fetch_add(1, Ordering::Relaxed);
        return Reply::new(304);
    }
    let reply = Reply::new(200).header(format!("ETag: {tag}"));
    let reply = match page.last().filter(|_| start + PAGE < all.len()) {
        Some(last) => reply.header(format!("Link: </v2/{name}/tags/list?last={last}>; rel=\"next\"")),
        None => reply,
    };
    reply.body(serde_json::json!({"name": name, "tags": page}).to_string())
}

/// An image for one platform, old enough for everybody, that says where it comes from.
fn configuration(tag: &str) -> String {
    serde_json::json!({
        "os": "linux", "architecture": "arm64", "created": "2024-01-01T00:00:00Z",
        "config": {"Labels": {
            "org.opencontainers.image.source": "https://github.com/acme/app",
            "org.opencontainers.image.revision": format!("of-{tag}"),
        }},
    })
    .to_string()
}

fn manifest(tag: &str) -> Reply {
    let configuration = configuration(tag);
    let media_type = "application/vnd.oci.image.manifest.v1+json";
    let manifest = serde_json::json!({
        "schemaVersion": 2,
        "mediaType": media_type,
        "config": {
            "mediaType": "application/vnd.oci.image.config.v1+json",
            "digest": oci_registry::Digest::of(configuration.as_bytes()).as_str(),
            "size": configuration.len(),
        },
        "layers": [],
    });
    Reply::new(200).header(format!("Content-Type: {media_type}")).body(manifest.to_string())
}

fn blob(digest: &str, mut tags: impl Iterator<Item = String>) -> Reply {
    let is_it = |tag: &String| oci_registry::Digest::of(configuration(tag).as_bytes()).as_str() == digest;
    tags.find(is_it).map_or_else(|| Reply::new(404), |tag| Reply::new(200).body(configuration(&tag)))
}

impl World {
    fn with(files: &[(&str, &str)]) -> Self {
        let folder = Folder::with(&[("git-login", &format!("bot:{PASSWORD}\n"))]);
        let config = BareRepository::with(&folder.path("git/config.git"), files);
        let habits = Habits { account: Some(("bot", PASSWORD)), tls: true, ..Habits::default() };
        let server = Server::start(&folder.path(""), habits);
        folder.write("authority.pem", server.certificate());
        Self { folder, config, server, registry: TagServer::start() }
    }

    /// The usual repository, an image in it, and the tags `1.0.0` and `1.1.0`.
    fn usual() -> Self {
        let world = Self::with(&[("app/values.yaml", VALUES), ("README.md", "hello\n")]);
        world.registry.has("app", &["1.0.0", "1.1.0"]);
        world
    }

    fn head(&self, git: &str) -> String {
        format!(
            "apiVersion: image-updater/v1alpha1\nkind: Config\n\
             registries:\n- prefix: {}\n  plainHttp: true\n\
             git:\n  url: {}\n  caFile: authority.pem\n  credentials: {{file: git-login}}\n{git}",
            self.registry.stand_in.host(),
            self.server.url("/git/config.git"),
        )
    }

    /// Configures the usual image; `git` is more about the repository.
    fn configure(&self, git: &str) {
        let image = self.registry.image("app");
        self.configure_all(git, &[(&image, "app/values.yaml", "")]);
    }

    /// Configures images with the file that each is in, and more about each.
    fn configure_all(&self, git: &str, images: &[(&str, &str, &str)]) {
        let mut text = self.head(git) + "updates:\n";
        for (image, path, more) in images {
            text.push_str(&format!(
                "- images: [{{image: '{image}'}}]\n  targets: [{{kind: helmvalues, path: {path}, tagPath: image.tag}}]\n{more}"
            ));
        }
        self.folder.write("image-updater.yaml", &text);
    }

    fn run(&self, arguments: &[&str]) -> Outcome {
        self.folder.run_at_home(IMAGE_UPDATER, arguments, &[])
    }

    #[track_caller]
    fn update(&self, arguments: &[&str]) -> Outcome {
        let outcome = self.run(&[&["update"], arguments].concat());
        assert_eq!(outcome.code, Some(0), "{}{}", outcome.stdout, outcome.stderr);
        outcome
    }

    fn values(&self, branch: &str) -> String {
        self.config.read(branch, "app/values.yaml").expect("it is there") + "\n"
    }

    /// Returns how often git's server was asked for objects, and how often it was given some.
    fn exchanges(&self) -> (usize, usize) {
        let requests = self.server.requests();
        let count = |end: &str| {
            requests.iter().filter(|request| request.starts_with("POST") && request.ends_with(end)).count()
        };
        (count(" fetch"), count("git-receive-pack"))
    }
}

#[track_caller]
fn fails(outcome: &Outcome, message: &str) {
    assert_eq!(outcome.code, Some(1), "{}{}", outcome.stdout, outcome.stderr);
    assert!(outcome.stderr.contains(message), "{}", outcome.stderr);
    let errors = outcome.stderr.lines().filter(|line| line.starts_with("error: ")).count();
    assert_eq!(errors, 1, "{}", outcome.stderr);
}

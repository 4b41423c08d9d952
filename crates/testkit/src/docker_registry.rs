//! A real registry on loopback: Debian's `docker-registry`, with an account, TLS and certificates where a test wants
//! them. What it holds is pushed by hand.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::fs;
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use oci_registry::Digest;
use reqwest::blocking::{Client, RequestBuilder};
use reqwest::{Certificate, Identity, Method};
use serde_json::{Value, json};

use crate::Folder;
use crate::certificate::Authority;
use crate::cosign::{self, SimpleSigning};

/// Path of Debian's program.
const PROGRAM: &str = "/usr/bin/docker-registry";

/// `s3cret` as bcrypt writes it, which is all that this registry knows.
const HTPASSWD: &str = "ci:$2b$05$XJeBnFhGixMwl75K9U9Rru86CSTJow9ZffxpLlGuxZW5kZCK/dBjq\n";

const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";

const INDEX: &str = "application/vnd.oci.image.index.v1+json";

/// Settings that differ from a plain registry.
#[derive(Clone, Copy, Debug, Default)]
pub struct RegistryHabits {
    /// It asks for [`DockerRegistry::ACCOUNT`].
    pub account: bool,
    /// It speaks TLS.
    pub tls: bool,
    /// It asks for a certificate of its own authority.
    pub client_certificate: bool,
    /// It tells of what happens here, with [`DockerRegistry::TOKEN`].
    pub told: Option<SocketAddr>,
}

/// A running registry; it stops when it is dropped.
#[derive(Debug)]
pub struct DockerRegistry {
    folder: Folder,
    habits: RegistryHabits,
    authority: Authority,
    port: u16,
    daemon: Child,
}

/// Something that was pushed.
#[derive(Clone, Debug)]
pub struct Pushed {
    /// By which it is known.
    pub digest: String,
    /// The length of its manifest.
    pub size: usize,
}

impl DockerRegistry {
    /// The user and password if an account is required.
    pub const ACCOUNT: (&str, &str) = ("ci", "s3cret");

    /// By what those who are told know it.
    pub const TOKEN: &str = "n0tify";

    /// Starts an empty one.
    ///
    /// # Panics
    /// If there is no `docker-registry`; `.ci/run` installs it.
    #[must_use]
    pub fn start(habits: RegistryHabits) -> Self {
        assert!(
            fs::exists(PROGRAM).unwrap_or(false),
            "{PROGRAM} is missing: install the package docker-registry"
        );
        let authority = Authority::new();
        let certified = authority.certify("localhost");
        let folder = Folder::with(&[
            ("htpasswd", HTPASSWD),
            ("authority.pem", authority.pem()),
            ("server.pem", &certified.pem()),
            ("server.key", &certified.key_pem()),
        ]);
        let path = |name: &str| folder.path(name);
        let mut http = json!({"addr": "127.0.0.1:0"});
        if habits.tls {
            http["tls"] = json!({"certificate": path("server.pem"), "key": path("server.key")});
        }
        if habits.client_certificate {
            http["tls"]["clientcas"] = json!([path("authority.pem")]);
        }
        let mut configuration = json!({
            "version": "0.1",
            "log": {"level": "info", "formatter": "json"},
            "storage": {"filesystem": {"rootdirectory": path("storage")}, "delete": {"enabled": true}},
            "http": http,
        });
        if habits.account {
            configuration["auth"] =
                json!({"htpasswd": {"realm": "test, \"realm\"", "path": path("htpasswd")}});
        }
        if let Some(told) = habits.told {
            configuration["notifications"] = json!({"endpoints": [{
                "name": "test", "url": format!("http://{told}/webhook?type=docker-registry"),
                "headers": {"Authorization": [format!("Bearer {}", Self::TOKEN)]},
                "timeout": "5s", "threshold": 3, "backoff": "100ms",
            }]});
        }
        folder.write("config.json", &configuration.to_string());
        let log = fs::File::create(path("log")).expect("it can be made");
        let daemon = Command::new(PROGRAM)
            .arg("serve")
            .arg(path("config.json"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .expect("docker-registry can be run");
        let mut registry = Self { folder, habits, authority, port: 0, daemon };
        registry.port = registry.wait();
        registry
    }

    /// The port, which it says once it listens.
    fn wait(&mut self) -> u16 {
        for _ in 0..1000 {
            let log = self.folder.read("log").unwrap_or_default();
            let said = log.split_once("listening on 127.0.0.1:").and_then(|(_, rest)| rest.split_once('"'));
            if let Some((port, _)) = said {
                return port.trim_end_matches(", tls").parse().expect("it is a port");
            }
            if self.daemon.try_wait().expect("it is a child").is_some() {
                break;
            }
            thread::sleep(Duration::from_millis(10));
        }
        panic!("docker-registry does not listen: {}", self.folder.read("log").unwrap_or_default());
    }

    /// Its host and port.
    #[must_use]
    pub fn host(&self) -> String {
        format!("localhost:{}", self.port)
    }

    /// Returns what it was asked since it was started, and has answered: method and path.
    #[must_use]
    pub fn requests(&self) -> Vec<String> {
        let log = self.folder.read("log").unwrap_or_default();
        let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let answered = lines.filter(|line| {
            line["msg"].as_str().is_some_and(|message| message.starts_with("response completed"))
        });
        let text = |line: &Value, field: &str| line[field].as_str().unwrap_or_default().to_owned();
        let asked = |line: Value| {
            let path = text(&line, "http.request.uri");
            let path = path.split_once('?').map_or(path.as_str(), |(path, _)| path);
            format!("{} {path}", text(&line, "http.request.method"))
        };
        answered.map(asked).collect()
    }

    /// The authority behind its certificate.
    #[must_use]
    pub fn authority(&self) -> &Authority {
        &self.authority
    }

    /// A configuration of Docker's with its account.
    #[must_use]
    pub fn docker_config(&self) -> String {
        let (user, password) = Self::ACCOUNT;
        let auth = STANDARD.encode(format!("{user}:{password}").as_bytes());
        json!({"auths": {self.host(): {"auth": auth}}}).to_string()
    }

    /// Pushes an artifact: media type and content of its configuration and of each layer.
    ///
    /// # Panics
    /// If the registry refuses it.
    pub fn push(&self, name: &str, tag: &str, config: (&str, &[u8]), layers: &[(&str, &[u8])]) -> Pushed {
        let config = self.push_blob(name, config);
        let layers: Vec<Value> = layers.iter().map(|layer| self.push_blob(name, *layer)).collect();
        let manifest = json!({"schemaVersion": 2, "mediaType": MANIFEST, "config": config, "layers": layers});
        self.push_manifest(name, tag, MANIFEST, &manifest)
    }

    /// Pushes an image that was made at a time for a platform.
    ///
    /// # Panics
    /// If the registry refuses it.
    pub fn push_image(&self, name: &str, tag: &str, platform: &str, created: &str) -> Pushed {
        let (os, architecture) = platform.split_once('/').expect("it is a platform");
        let config = json!({
            "created": created, "os": os, "architecture": architecture,
            "config": {"Labels": {"org.opencontainers.image.version": tag}},
            "rootfs": {"type": "layers", "diff_ids": []},
        });
        let config = config.to_string();
        let layer = format!("layer of {name}:{tag}");
        self.push(
            name,
            tag,
            ("application/vnd.oci.image.config.v1+json", config.as_bytes()),
            &[("application/vnd.oci.image.layer.v1.tar", layer.as_bytes())],
        )
    }

    /// Pushes an index of images that were pushed.
    ///
    /// # Panics
    /// If the registry refuses it.
    pub fn push_index(&self, name: &str, tag: &str, images: &[(&str, &Pushed)]) -> Pushed {
        let manifests: Vec<Value> = images
            .iter()
            .map(|(platform, image)| {
                let (os, architecture) = platform.split_once('/').expect("it is a platform");
                json!({"mediaType": MANIFEST, "digest": image.digest, "size": image.size,
                    "platform": {"os": os, "architecture": architecture}})
            })
            .collect();
        self.push_manifest(
            name,
            tag,
            INDEX,
            &json!({"schemaVersion": 2, "mediaType": INDEX, "manifests": manifests}),
        )
    }

    /// Pushes what [`crate::cosign`] signed in the older form, a layer for each signature.
    ///
    /// # Panics
    /// If the registry refuses it.
    pub fn push_signatures(&self, name: &str, tag: &str, signatures: &[SimpleSigning]) -> Pushed {
        let layers: Vec<Value> = signatures
            .iter()
            .map(|signature| {
                let mut layer = self.push_blob(name, (cosign::SIMPLE_SIGNING, &signature.payload));
                layer["annotations"] = signature.annotations.clone();
                layer
            })
            .collect();
        let config = self.push_blob(name, ("application/vnd.oci.image.config.v1+json", b"{}"));
        let manifest = json!({"schemaVersion": 2, "mediaType": MANIFEST, "config": config, "layers": layers});
        self.push_manifest(name, tag, MANIFEST, &manifest)
    }

    /// Pushes bundles, and notes them under the tag for what refers to a digest, as clients of registries do that keep no
    /// such lists.
    ///
    /// # Panics
    /// If the registry refuses it.
    pub fn push_bundles(&self, name: &str, digest: &str, bundles: &[Vec<u8>]) -> Pushed {
        let config = self.push_blob(name, ("application/vnd.oci.empty.v1+json", b"{}"));
        let mut noted = Vec::new();
        for bundle in bundles {
            let layer = self.push_blob(name, (cosign::BUNDLE, bundle));
            let manifest = json!({"schemaVersion": 2, "mediaType": MANIFEST, "artifactType": cosign::BUNDLE,
                "config": config, "layers": [layer]});
            let digest = Digest::of(manifest.to_string().as_bytes()).to_string();
            let pushed = self.push_manifest(name, &digest, MANIFEST, &manifest);
            noted
                .push(json!({"mediaType": MANIFEST, "artifactType": cosign::BUNDLE, "digest": pushed.digest,
                "size": pushed.size}));
        }
        let index = json!({"schemaVersion": 2, "mediaType": INDEX, "manifests": noted});
        self.push_manifest(name, &digest.replace(':', "-"), INDEX, &index)
    }

    fn push_blob(&self, name: &str, (media_type, content): (&str, &[u8])) -> Value {
        let digest = Digest::of(content).to_string();
        let started = self.request(Method::POST, &self.url(&format!("{name}/blobs/uploads/")));
        let started = started.send().expect("the registry answers");
        let location =
            started.headers().get("location").expect("it says where to").to_str().expect("it is text");
        let finished =
            self.request(Method::PUT, &format!("{location}&digest={digest}")).body(content.to_vec());
        assert_eq!(finished.send().expect("the registry answers").status(), 201);
        json!({"mediaType": media_type, "digest": digest, "size": content.len()})
    }

    fn push_manifest(&self, name: &str, tag: &str, media_type: &str, manifest: &Value) -> Pushed {
        let text = manifest.to_string();
        let pushed = Pushed { digest: Digest::of(text.as_bytes()).to_string(), size: text.len() };
        let request = self.request(Method::PUT, &self.url(&format!("{name}/manifests/{tag}")));
        let answer =
            request.header("Content-Type", media_type).body(text).send().expect("the registry answers");
        assert_eq!(answer.status(), 201);
        assert_eq!(answer.headers()["docker-content-digest"], pushed.digest.as_str());
        pushed
    }

    fn url(&self, path: &str) -> String {
        format!("{}://{}/v2/{path}", if self.habits.tls { "https" } else { "http" }, self.host())
    }

    fn request(&self, method: Method, url: &str) -> RequestBuilder {
        // Another one may have been chosen already.
        drop(rustls::crypto::ring::default_provider().install_default());
        let authority = Certificate::from_pem(self.authority.pem().as_bytes()).expect("it is PEM");
        let mut client = Client::builder().no_proxy().tls_certs_only([authority]);
        if self.habits.client_certificate {
            let own = self.authority.certify("pusher");
            let pem = format!("{}{}", own.pem(), own.key_pem());
            client = client.identity(Identity::from_pem(pem.as_bytes()).expect("they fit"));
        }
        let request = client.build().expect("it can be made").request(method, url);
        let (user, password) = Self::ACCOUNT;
        if self.habits.account { request.basic_auth(user, Some(password)) } else { request }
    }
}

impl Drop for DockerRegistry {
    fn drop(&mut self) {
        let _ = self.daemon.kill();
        let _ = self.daemon.wait();
    }
}

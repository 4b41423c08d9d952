//! `image-updater run --cluster` against an API server, a real registry and a real git server, as it runs in a cluster.

mod applications;
mod away;
mod cosign;
mod definitions;
mod faults;
mod flux;
mod git_secrets;
mod import;
mod leader;
mod objects;
mod scale;
mod secrets;
mod tenants;
mod webhook;

use std::process::Command;

use serde_json::{Value, json};
use testkit::apiserver::{self, ApiServer};
use testkit::{BareRepository, Daemon, DockerRegistry, Folder, Habits, RegistryHabits, Server};

const IMAGE_UPDATER: &str = env!("CARGO_BIN_EXE_image-updater-under-test");

const CREATED: &str = "2026-01-01T00:00:00Z";

const APPLICATIONS: &str = "applications.argoproj.io";
const UPDATERS: &str = "imageupdaters.argocd-image-updater.argoproj.io";

const KUSTOMIZATION: &str = "apps/shop/kustomization.yaml";

/// Of the git server; nobody may read it anywhere.
const PASSWORD: &str = "t0ps3cret";

/// The namespace of Argo CD and of all objects.
const ARGO_CD: &str = "argocd";

/// A cluster with Argo CD's and Flux' kinds, and a registry with an image.
struct World {
    api: ApiServer,
    registry: DockerRegistry,
    folder: Folder,
}

impl World {
    /// With a registry that lets everybody in.
    fn new() -> Self {
        Self::with(RegistryHabits::default())
    }

    fn with(habits: RegistryHabits) -> Self {
        let registry = DockerRegistry::start(habits);
        registry.push_image("shop", "1.0.0", "linux/amd64", CREATED);
        let folder = Folder::with(&[]);
        let conf =
            format!("registries:\n- name: local\n  prefix: {0}\n  api_url: http://{0}\n", registry.host());
        folder.write("registries.conf", &conf);
        let api = ApiServer::start();
        api.define(&apiserver::applications());
        api.define(&apiserver::git_repositories());
        for definition in definitions(&folder) {
            api.put(&definition);
        }
        api.put(&json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": ARGO_CD}}));
        folder.write("kubeconfig", &api.kubeconfig(""));
        Self { api, registry, folder }
    }

    fn image(&self) -> String {
        format!("{}/shop", self.registry.host())
    }

    fn push(&self, tag: &str) {
        self.registry.push_image("shop", tag, "linux/amd64", CREATED);
    }

    /// An Application of a kustomization, which runs the image.
    fn application(&self, name: &str, repository: &str) -> Value {
        json!({
            "apiVersion": "argoproj.io/v1alpha1", "kind": "Application",
            "metadata": {"namespace": ARGO_CD, "name": name},
            "spec": {
                "project": "default", "destination": {"namespace": name, "server": "https://kubernetes.default.svc"},
                "source": {"repoURL": repository, "path": "apps/shop", "targetRevision": "main"},
            },
            "status": {"sourceType": "Kustomize", "summary": {"images": [format!("{}:1.0.0", self.image())]}},
        })
    }

    /// Puts an Application that is written to itself.
    fn deploy(&self, name: &str) {
        self.api.put(&self.application(name, "https://git.example.com/config.git"));
    }

    /// An ImageUpdater for the Applications of a name, by method `argocd`.
    fn updater(&self, name: &str, applications: &str) -> Value {
        json!({
            "apiVersion": "argocd-image-updater.argoproj.io/v1alpha1", "kind": "ImageUpdater",
            "metadata": {"namespace": ARGO_CD, "name": name},
            "spec": {"applicationRefs": [{
                "namePattern": applications, "images": [{"alias": "web", "imageName": self.image()}],
            }]},
        })
    }

    /// Which images an Application is told to run.
    fn images(&self, application: &str) -> Value {
        let application = self.api.get(APPLICATIONS, ARGO_CD, application).expect("it is there");
        application["spec"]["source"]["kustomize"]["images"].clone()
    }

    /// Waits until an Application is told to run a version.
    fn runs(&self, daemon: &Daemon, application: &str, tag: &str) {
        let wanted = json!([format!("{}:{tag}", self.image())]);
        daemon.waits(&format!("{application} runs {tag}"), || self.images(application) == wanted);
    }

    /// Waits until a replica watches Applications and what names them.
    fn is_watched(&self, daemon: &Daemon) {
        for resource in ["applications", "imageupdaters"] {
            daemon.waits("it watches", || {
                self.api.requests().iter().any(|asked| asked.verb == "watch" && asked.resource == resource)
            });
        }
    }

    /// Starts a replica, which looks every second.
    fn start(&self, arguments: &[&str]) -> Daemon {
        self.start_as("log", arguments)
    }

    /// Starts a replica that logs to a file of its own.
    fn start_as(&self, log: &str, arguments: &[&str]) -> Daemon {
        Daemon::start(self.command(arguments), &self.folder.path(log))
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let common = [
            "run",
            "--cluster",
            "--kubeconfig",
            "kubeconfig",
            "--watch-namespaces",
            ARGO_CD,
            "--argocd-namespace",
            ARGO_CD,
            "--leader-election-namespace",
            ARGO_CD,
            "--registries-conf-path",
            "registries.conf",
            "--interval",
            "1s",
            "--listen",
            "127.0.0.1:0",
            "--log-format",
            "json",
        ];
        // Whose git server is trusted, where there is one.
        let variables: &[_] = match self.folder.read("authority.pem") {
            Some(_) => &[("SSL_CERT_FILE", "authority.pem")],
            None => &[],
        };
        self.folder.at_home(IMAGE_UPDATER, &[&common, arguments].concat(), variables)
    }

    /// A git server with a kustomization of the image at `/git/config.git`, for which Argo CD has the credentials.
    fn git(&self) -> (Server, BareRepository) {
        let text = format!("images:\n- name: {}\n  newTag: 1.0.0\n", self.image());
        let path = self.folder.path("git/config.git");
        let config = BareRepository::with(&path, &[(KUSTOMIZATION, &text)]);
        let habits = Habits { account: Some(("bot", PASSWORD)), tls: true, ..Habits::default() };
        let server = Server::start(&self.folder.path(""), habits);
        self.folder.write("authority.pem", server.certificate());
        self.api.put(&json!({
            "apiVersion": "v1", "kind": "Secret",
            "metadata": {
                "namespace": ARGO_CD, "name": "config",
                "labels": {"argocd.argoproj.io/secret-type": "repository"},
            },
            "stringData": {"url": server.url("/git/config.git"), "username": "bot", "password": PASSWORD},
        }));
        (server, config)
    }

    /// An Application in a repository, and an ImageUpdater that writes there.
    fn deploy_by_git(&self) -> (Server, BareRepository) {
        let (server, config) = self.git();
        self.api.put(&self.application("shop", &server.url("/git/config.git")));
        let mut updater = self.updater("all", "shop");
        updater["spec"]["writeBackConfig"] =
            json!({"method": "git", "gitConfig": {"writeBackTarget": "kustomization"}});
        self.api.put(&updater);
        (server, config)
    }

    /// The condition of a type that an object has.
    fn condition(&self, resource: &str, name: &str, kind: &str) -> Value {
        let object = self.api.get(resource, ARGO_CD, name).expect("it is there");
        let conditions = object["status"]["conditions"].as_array().cloned().unwrap_or_default();
        conditions.into_iter().find(|one| one["type"] == kind).unwrap_or_default()
    }
}

/// Returns true if a repository has the image at a version.
fn stands_at(config: &BareRepository, tag: &str) -> bool {
    let text = config.read("main", KUSTOMIZATION).unwrap_or_default();
    text.contains(&format!("newTag: {tag}"))
}

/// The definitions that the image updater has of its kinds.
fn definitions(folder: &Folder) -> Vec<Value> {
    let outcome = folder.run(IMAGE_UPDATER, &["crds", "-o", "json"], "");
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    let list: Value = serde_json::from_str(&outcome.stdout).expect("it is JSON");
    list["items"].as_array().cloned().expect("it is a list")
}

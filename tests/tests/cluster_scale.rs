//! A cluster of 5,000 Applications: all are seen, worked off and told of, in little memory.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tests::apiserver::{self, ApiServer, CustomResource};
use tests::{BareRepository, Folder};

const APPLICATIONS: usize = 5_000;

/// What the process may have at most.
const MIB: u64 = 250;

/// As Argo CD has it: a hundred lines for what the Application deploys, of which nothing is wanted here.
fn application(index: usize, url: &str) -> Value {
    let resources: Vec<Value> = (0..40)
        .map(|part| {
            json!({"group": "apps", "version": "v1", "kind": "Deployment", "namespace": format!("team-{index}"),
                   "name": format!("component-{part}"), "status": "Synced", "health": {"status": "Healthy"}})
        })
        .collect();
    json!({
        "apiVersion": "argoproj.io/v1alpha1", "kind": "Application",
        "metadata": {"namespace": "argocd", "name": format!("app-{index:04}"), "labels": {"team": format!("t{}", index % 50)}},
        "spec": {"project": "default", "destination": {"server": "https://kubernetes.default.svc", "namespace": format!("team-{index}")},
                 "source": {"repoURL": url, "path": format!("apps/{index}"), "targetRevision": "main"}},
        "status": {"sourceType": "Kustomize", "summary": {"images": ["r.test/shop:1.0.0"]}, "resources": resources},
    })
}

struct Daemon(Child);

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The most that a process has had, in MiB.
fn peak(process: &Child) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", process.id())).expect("it runs");
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).expect("it is there");
    line.split_whitespace().nth(1).and_then(|number| number.parse::<u64>().ok()).expect("it is a number")
        / 1024
}

#[test]
fn five_thousand_applications_fit_into_little_memory() {
    let folder = Folder::with(&[]);
    let config = BareRepository::with(&folder.path("config.git"), &[("README.md", "many\n")]);
    let url = format!("file://{}", folder.path("config.git").display());
    folder.write("tags.json", r#"{"r.test/shop": ["1.0.0", "1.1.0"]}"#);
    let server = ApiServer::start();
    server.define(&apiserver::applications());
    server.define(
        &CustomResource::new("argocd-image-updater.argoproj.io", "v1alpha1", "ImageUpdater", "imageupdaters")
            .with_status(),
    );
    server.put(&json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "argocd"}}));
    server.put(&json!({
        "apiVersion": "argocd-image-updater.argoproj.io/v1alpha1", "kind": "ImageUpdater",
        "metadata": {"namespace": "argocd", "name": "all"},
        "spec": {"writeBackConfig": {"method": "git"},
                 "applicationRefs": [{"namePattern": "app-*", "images": [{"alias": "shop", "imageName": "r.test/shop:1.x"}]}]},
    }));
    for index in 0..APPLICATIONS {
        server.put(&application(index, &url));
    }
    folder.write("kubeconfig", &server.kubeconfig(""));
    let log = fs::File::create(folder.path("log")).expect("it can be written");
    let started = Instant::now();
    let daemon = Command::new(env!("CARGO_BIN_EXE_image-updater-under-test"))
        .args([
            "run",
            "--cluster",
            "--watch-namespaces=argocd",
            "--argocd-namespace=argocd",
            "--leader-election=false",
        ])
        .args(["--kubeconfig", "kubeconfig", "--tags-from", "tags.json", "--disable-kube-events"])
        .current_dir(folder.path(""))
        .env("HOME", folder.path(""))
        .env("XDG_CACHE_HOME", folder.path("cache"))
        .stdout(Stdio::null())
        .stderr(log)
        .spawn()
        .expect("it can be run");
    let daemon = Daemon(daemon);
    let is_written = || config.read("main", "apps/4999/.argocd-source-app-4999.yaml");
    let deadline = Instant::now() + Duration::from_secs(240);
    while is_written().is_none() {
        assert!(Instant::now() < deadline, "{}", folder.read("log").unwrap_or_default());
        std::thread::sleep(Duration::from_millis(200));
    }
    eprintln!("written after {:?}", started.elapsed());
    assert!(is_written().expect("it is there").contains("r.test/shop:1.1.0"));
    let all = server.wait_for("imageupdaters.argocd-image-updater.argoproj.io", "argocd", "all", |object| {
        object["status"]["applicationsMatched"] == APPLICATIONS
            && object["status"]["imagesManaged"] == APPLICATIONS
    });
    eprintln!("told after {:?}: {:#}", started.elapsed(), all["status"]["conditions"]);
    let peak = peak(&daemon.0);
    eprintln!("{peak} MiB");
    assert!(peak < MIB, "{peak} MiB");
}

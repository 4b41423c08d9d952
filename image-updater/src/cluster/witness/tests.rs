//! Writing, against a stand-in for the API server that keeps objects, their versions, and what was asked.

use diagnostic::Error;
use std::collections::BTreeMap;
use std::time::Duration;

use hyper::{Method, Request, Response};
use kube::client::Body;
use serde_json::{Value, json};
use tower::service_fn;

use super::*;
use crate::change::Named;
use crate::cluster::status::Fault;
use crate::gate::Hold;
use crate::work::OwnerKind;

const GROUP: &str = "/apis/argocd-image-updater.argoproj.io/v1alpha1/namespaces/argocd/imageupdaters";

/// The objects of the stand-in.
#[derive(Default)]
struct Store {
    /// By their paths.
    objects: BTreeMap<String, Value>,
    asked: Vec<String>,
    events: Vec<Value>,
    /// Answers of this kind come before all others.
    refusals: Vec<u16>,
}

#[derive(Clone, Default)]
struct Server(Arc<Mutex<Store>>);

impl Server {
    fn client(&self) -> kube::Client {
        let store = Arc::clone(&self.0);
        let service = service_fn(move |request: Request<Body>| {
            let store = Arc::clone(&store);
            async move {
                let (head, body) = request.into_parts();
                let body = body.collect_bytes().await?;
                let (status, answer) = lock(&store).answer(&head.method, head.uri.path(), &body);
                let answer =
                    Response::builder().status(status).body(Body::from(answer.to_string().into_bytes()));
                Ok::<_, Box<dyn std::error::Error + Send + Sync>>(answer?)
            }
        });
        kube::Client::new(service, "argocd")
    }

    fn put(&self, name: &str, finalizers: &[&str]) {
        let object = json!({
            "apiVersion": "argocd-image-updater.argoproj.io/v1alpha1", "kind": "ImageUpdater",
            "metadata": {
                "name": name, "namespace": "argocd", "uid": "u", "resourceVersion": "1", "generation": 1,
                "finalizers": finalizers,
            },
            "spec": {"applicationRefs": []},
        });
        lock(&self.0).objects.insert(format!("{GROUP}/{name}"), object);
    }

    fn get(&self, name: &str) -> Value {
        lock(&self.0).objects[&format!("{GROUP}/{name}")].clone()
    }

    /// Has somebody else change an object.
    fn touch(&self, name: &str, change: impl FnOnce(&mut Value)) {
        let mut store = lock(&self.0);
        let object = store.objects.get_mut(&format!("{GROUP}/{name}")).unwrap();
        change(object);
        bump(object);
    }
}

impl Store {
    fn answer(&mut self, method: &Method, path: &str, body: &[u8]) -> (u16, Value) {
        self.asked.push(format!("{method} {}", path.trim_start_matches(GROUP)));
        if let Some(code) = self.refusals.pop() {
            return refusal(code);
        }
        if method == Method::POST {
            self.events.push(serde_json::from_slice(body).unwrap());
            return (201, self.events.last().unwrap().clone());
        }
        let (path, is_status) = path.strip_suffix("/status").map_or((path, false), |path| (path, true));
        let Some(object) = self.objects.get_mut(path) else { return refusal(404) };
        if method == Method::PATCH {
            let patch: Value = serde_json::from_slice(body).unwrap();
            if patch["metadata"]["resourceVersion"] != object["metadata"]["resourceVersion"] {
                return refusal(409);
            }
            match is_status {
                true => merge(&mut object["status"], &patch["status"]),
                false => object["metadata"]["finalizers"] = patch["metadata"]["finalizers"].clone(),
            }
            bump(object);
        }
        (200, object.clone())
    }
}

fn refusal(code: u16) -> (u16, Value) {
    let status =
        json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "message": "no"});
    (code, status)
}

fn bump(object: &mut Value) {
    let version: u64 = object["metadata"]["resourceVersion"].as_str().unwrap().parse().unwrap();
    object["metadata"]["resourceVersion"] = json!((version + 1).to_string());
}

/// RFC 7396.
fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(fields) = patch else {
        *target = patch.clone();
        return;
    };
    for (name, value) in fields {
        match value {
            Value::Null => _ = target.as_object_mut().and_then(|target| target.remove(name)),
            value => merge(&mut target[name], value),
        }
    }
}

fn subject(name: &str) -> Subject {
    let id = Named { namespace: "argocd".to_owned(), name: name.to_owned() };
    Subject {
        owner: Owner { kind: OwnerKind::ImageUpdater, id },
        api: "argocd-image-updater.argoproj.io/v1alpha1".to_owned(),
        generation: 1,
        requested_at: None,
        is_suspended: false,
        is_going: false,
        faults: Vec::new(),
    }
}

fn faulty(name: &str, message: &str) -> Subject {
    let fault = Fault { field: Some("spec.x".to_owned()), error: Error::invalid(message) };
    Subject { faults: vec![fault], ..subject(name) }
}

/// A reporter at work until something has come about.
struct Scene {
    server: Server,
    gate: Gate,
    reporter: Reporter,
}

impl Scene {
    fn new() -> Self {
        let gate = Gate::default();
        let reporter = Reporter::new(&gate, Arc::new(Metrics::new()), true);
        Self { server: Server::default(), gate, reporter }
    }

    fn resolved(&self, subjects: &[Subject]) {
        self.reporter.resolved(subjects.to_vec(), [].iter());
    }

    async fn until(&self, is_so: impl Fn(&Store) -> bool) {
        let work = self.reporter.clone().run(self.server.client());
        let watch = async {
            while !is_so(&lock(&self.server.0)) {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        let both = futures::future::select(Box::pin(work), Box::pin(watch));
        tokio::time::timeout(Duration::from_secs(60), both).await.expect("it comes about");
    }

    fn run(&self, is_so: impl Fn(&Store) -> bool) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(self.until(is_so));
    }

    fn ready(&self, name: &str) -> Value {
        let object = self.server.get(name);
        let conditions = object["status"]["conditions"].as_array().cloned().unwrap_or_default();
        let ready = conditions.into_iter().find(|condition| condition["type"] == "Ready");
        ready.map(|ready| ready["reason"].clone()).unwrap_or_default()
    }
}

fn has_status(store: &Store, name: &str) -> bool {
    store.objects[&format!("{GROUP}/{name}")].get("status").is_some()
}

const FINALIZER: &str = "resources-finalizer.argocd-image-updater.argoproj.io";

#[test]
fn an_object_gets_its_finalizer_and_its_status_and_what_is_wrong_is_an_event() {
    let scene = Scene::new();
    scene.server.put("all", &["other/finalizer"]);
    scene.resolved(&[faulty("all", "no such thing")]);
    scene.run(|store| has_status(store, "all") && !store.events.is_empty());
    let object = scene.server.get("all");
    assert_eq!(object["metadata"]["finalizers"], json!(["other/finalizer", FINALIZER]));
    assert_eq!(scene.ready("all"), "ReconcileFailed");
    let store = lock(&scene.server.0);
    let event = &store.events[0];
    let said = ["type", "reason", "message"].map(|field| event[field].as_str().unwrap());
    assert_eq!(said, ["Warning", "ReconcileError", "spec.x: no such thing"]);
    assert_eq!(event["involvedObject"]["uid"], "u");
    assert_eq!((&event["source"]["component"], &event["count"]), (&json!("ArgocdImageUpdater"), &json!(1)));
    assert!(event["metadata"]["name"].as_str().unwrap().starts_with("all."));
}

#[test]
fn what_it_says_already_is_not_written_again() {
    let scene = Scene::new();
    scene.server.put("all", &[FINALIZER]);
    scene.server.put("other", &[FINALIZER]);
    scene.resolved(&[subject("all")]);
    scene.run(|store| has_status(store, "all"));
    // Another process, which knows nothing of what this one has written.
    let again = Scene { server: scene.server.clone(), ..Scene::new() };
    lock(&again.server.0).asked.clear();
    again.resolved(&[subject("all"), subject("other")]);
    again.run(|store| has_status(store, "other"));
    let asked = lock(&again.server.0).asked.clone();
    assert_eq!(asked, ["GET /all", "GET /other", "PATCH /other/status"]);
}

#[test]
fn who_was_written_to_meanwhile_is_read_again() {
    let scene = Scene::new();
    scene.server.put("all", &[FINALIZER]);
    scene.resolved(&[subject("all")]);
    scene.run(|store| has_status(store, "all"));
    scene.server.touch("all", |object| object["metadata"]["labels"] = json!({"a": "b"}));
    scene.resolved(&[faulty("all", "no such thing")]);
    scene.run(|store| {
        let object = &store.objects[&format!("{GROUP}/all")];
        object["status"]["conditions"].to_string().contains("no such thing")
    });
    assert_eq!(scene.server.get("all")["metadata"]["labels"], json!({"a": "b"}));
}

#[test]
fn a_server_that_is_busy_or_away_is_asked_again_later() {
    let scene = Scene::new();
    scene.server.put("all", &[FINALIZER]);
    lock(&scene.server.0).refusals = vec![500, 409];
    scene.resolved(&[subject("all")]);
    scene.run(|store| has_status(store, "all"));
    assert_eq!(scene.ready("all"), "ReconcileSucceeded");
}

#[test]
fn who_is_gone_is_let_go_of_and_who_goes_is_let_go() {
    let scene = Scene::new();
    scene.server.put("going", &["other/finalizer", FINALIZER]);
    scene.server.touch("going", |object| {
        object["metadata"]["deletionTimestamp"] = json!("2026-11-30T18:00:00Z");
    });
    scene.server.put("well", &[FINALIZER]);
    scene.resolved(&[subject("absent"), Subject { is_going: true, ..subject("going") }, subject("well")]);
    scene.run(|store| has_status(store, "well"));
    let going = scene.server.get("going");
    assert_eq!(going["metadata"]["finalizers"], json!(["other/finalizer"]));
    assert!(going.get("status").is_none());
    let asked = lock(&scene.server.0).asked.clone();
    assert_eq!(asked[..3], ["GET /absent", "GET /going", "PATCH /going"]);
}

#[test]
fn as_long_as_another_replica_leads_nothing_is_asked() {
    let scene = Scene::new();
    scene.server.put("all", &[]);
    scene.gate.hold(Hold::Standby);
    scene.resolved(&[faulty("all", "no such thing")]);
    thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(Duration::from_millis(200));
            assert!(lock(&scene.server.0).asked.is_empty());
            scene.gate.open(Hold::Standby);
        });
        scene.run(|store| has_status(store, "all"));
    });
}

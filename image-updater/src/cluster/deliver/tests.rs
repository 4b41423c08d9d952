//! Applications in an API server that has nothing else, written for what a dialect reads of them.

use std::collections::{BTreeMap, HashMap};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::MutexGuard;
use std::thread;

use jiff::Timestamp;
use serde_json::json;

use super::*;
use crate::dialect;
use crate::look::Look;
use crate::round::Round;
use crate::tags::from_json;

/// A change that somebody makes just before a patch is checked.
type Meanwhile = Box<dyn FnMut(&mut BTreeMap<String, Value>) + Send>;

#[derive(Default)]
struct Shared {
    objects: BTreeMap<String, Value>,
    patches: Vec<Value>,
    meanwhile: Option<Meanwhile>,
    is_away: bool,
}

struct Server {
    shared: Arc<Mutex<Shared>>,
    runtime: tokio::runtime::Runtime,
    applications: LiveApplications,
    /// An ImageUpdater, besides the annotations.
    resource: Option<String>,
}

/// Applications as they were at one time.
#[derive(Debug, Default)]
struct Remembered(BTreeMap<Named, Value>);

impl Known for Remembered {
    fn application(&self, id: &Named) -> Option<Value> {
        self.0.get(id).cloned()
    }
}

impl Server {
    fn with(objects: &[&Value]) -> Self {
        Self::knowing(objects, Remembered::default())
    }

    fn knowing(objects: &[&Value], known: Remembered) -> Self {
        let name = |object: &Value| object["metadata"]["name"].as_str().unwrap().to_owned();
        let objects = objects.iter().map(|object| (name(object), (*object).clone())).collect();
        let shared = Arc::new(Mutex::new(Shared { objects, ..Shared::default() }));
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let served = Arc::clone(&shared);
        thread::spawn(move || {
            for connection in listener.incoming() {
                // A client that hangs up is no fault of the server's.
                let _ = connection.and_then(|connection| serve(&connection, &served));
            }
        });
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let client = {
            let _entered = runtime.enter();
            let mut config = kube::Config::new(url.parse().unwrap());
            // Whoever is away is away.
            config.default_retry = false;
            kube::Client::try_from(config).unwrap()
        };
        let applications = LiveApplications::new(runtime.handle().clone(), client, Arc::new(known));
        Self { shared, runtime, applications, resource: None }
    }

    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap()
    }

    /// A round over what the objects ask for.
    fn round(&self, gate: &Gate, is_dry: bool) -> Result<Delivered, Failed> {
        let text = |object: &Value| {
            let id = (&object["metadata"]["namespace"], &object["metadata"]["name"]);
            let path = format!("Application/{}/{}", id.0.as_str().unwrap(), id.1.as_str().unwrap());
            (path, object.to_string())
        };
        let mut objects: Vec<(String, String)> = self.shared().objects.values().map(text).collect();
        objects.extend(self.resource.clone().map(|text| ("ImageUpdater/argocd/all".to_owned(), text)));
        let found = dialect::read_live(&objects, "argocd");
        assert!(found.faults.is_empty(), "{:?}", found.faults);
        let list = from_json(r#"["1.0.0", "2.0.0"]"#, "tags.json").unwrap();
        let look = Look::recorded(HashMap::from([("r.test/shop".parse().unwrap(), list)]));
        let round = Round { look: &look, now: Timestamp::UNIX_EPOCH, with_labels: false };
        let batch = found.batches.first().unwrap();
        self.applications.deliver(&BatchPlanner { batch, round: &round }, gate, is_dry)
    }

    fn delivered(&self) -> Delivered {
        self.round(&Gate::default(), false).unwrap()
    }

    fn spec(&self, name: &str) -> Value {
        self.shared().objects[name]["spec"].clone()
    }
}

fn serve(mut connection: &TcpStream, shared: &Mutex<Shared>) -> std::io::Result<()> {
    let mut reader = BufReader::new(connection);
    let (mut line, mut length) = (String::new(), 0);
    reader.read_line(&mut line)?;
    let mut words = line.split(' ').map(str::to_owned);
    let (method, path) = (words.next().unwrap(), words.next().unwrap());
    loop {
        let mut header = String::new();
        reader.read_line(&mut header)?;
        let Some((key, value)) = header.trim_end().split_once(": ") else { break };
        match key.to_ascii_lowercase().as_str() {
            "content-length" => length = value.parse().unwrap(),
            "content-type" => assert_eq!((method.as_str(), value), ("PATCH", "application/merge-patch+json")),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let path = path.split('?').next().unwrap();
    let name = path.strip_prefix("/apis/argoproj.io/v1alpha1/namespaces/argocd/applications/").unwrap();
    let (code, answer) = answer(&mut shared.lock().unwrap(), &method, name, &body);
    let answer = answer.to_string();
    let head = format!("HTTP/1.1 {code} X\r\nContent-Type: application/json\r\nConnection: close\r\n");
    write!(connection, "{head}Content-Length: {}\r\n\r\n{answer}", answer.len())
}

fn answer(shared: &mut Shared, method: &str, name: &str, body: &[u8]) -> (u16, Value) {
    let failure = |code: u16, message: &str| {
        let status = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "message": message});
        (code, status)
    };
    if shared.is_away {
        return failure(503, "etcd is away");
    }
    if method == "PATCH" {
        let patch: Value = serde_json::from_slice(body).unwrap();
        if let Some(mut meanwhile) = shared.meanwhile.take() {
            meanwhile(&mut shared.objects);
            shared.meanwhile = Some(meanwhile);
        }
        shared.patches.push(patch.clone());
        let Some(object) = shared.objects.get_mut(name) else { return failure(404, "not found") };
        if patch["metadata"]["resourceVersion"] != object["metadata"]["resourceVersion"] {
            return failure(409, "the object has been modified");
        }
        merge(object, &patch);
        touch(object);
    }
    match shared.objects.get(name) {
        Some(object) => (200, object.clone()),
        None => failure(404, &format!("applications.argoproj.io \"{name}\" not found")),
    }
}

/// As RFC 7386 has it.
fn merge(object: &mut Value, patch: &Value) {
    let Some(fields) = patch.as_object() else {
        *object = patch.clone();
        return;
    };
    if !object.is_object() {
        *object = json!({});
    }
    for (key, value) in fields {
        match value {
            Value::Null => drop(object.as_object_mut().unwrap().remove(key)),
            value => merge(&mut object[key], value),
        }
    }
}

fn touch(object: &mut Value) {
    let version: u64 = object["metadata"]["resourceVersion"].as_str().unwrap().parse().unwrap();
    object["metadata"]["resourceVersion"] = json!((version + 1).to_string());
}

fn application(name: &str, spec: &Value) -> Value {
    let prefix = "argocd-image-updater.argoproj.io";
    json!({
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Application",
        "metadata": {
            "name": name,
            "namespace": "argocd",
            "resourceVersion": "7",
            "annotations": {format!("{prefix}/image-list"): "r.test/shop", format!("{prefix}/force-update"): "true"},
        },
        "spec": spec,
    })
}

/// Returns what Helm is given for version 2.0.0.
fn parameters() -> Value {
    json!([
        {"name": "image.tag", "value": "2.0.0", "forceString": true},
        {"name": "image.name", "value": "r.test/shop", "forceString": true},
    ])
}

fn helm(name: &str) -> Value {
    application(name, &json!({"project": "p", "source": {"repoURL": "https://git.test/a", "chart": "shop"}}))
}

#[test]
fn only_the_list_that_changes_is_patched() {
    let other = json!({"name": "replicas", "value": "2"});
    let values = json!({"image": {"name": "r.test/shop", "tag": "1.0.0"}});
    let chart = json!({"repoURL": "https://charts.test", "chart": "shop"});
    let values_source = json!({"repoURL": "https://git.test/a", "ref": "values"});
    let mut all: Vec<Value> = parameters().as_array().unwrap().clone();
    all.insert(0, other.clone());
    let mut changed = chart.clone();
    changed["helm"] = json!({"valueFiles": ["$values/a.yaml"], "parameters": parameters()});
    let mut before = chart.clone();
    before["helm"] = json!({"valueFiles": ["$values/a.yaml"]});
    let folder = |more: Value| {
        let mut source = json!({"repoURL": "https://git.test/a", "path": "web"});
        merge(&mut source, &more);
        source
    };
    for (spec, patch) in [
        (json!({"source": chart}), json!({"source": {"helm": {"parameters": parameters()}}})),
        (
            json!({"source": folder(json!({"helm": {"parameters": [other], "valuesObject": values}}))}),
            json!({"source": {"helm": {"parameters": all}}}),
        ),
        (
            json!({"source": folder(json!({"kustomize": {"namePrefix": "a-"}}))}),
            json!({"source": {"kustomize": {"images": ["r.test/shop:2.0.0"]}}}),
        ),
        (
            json!({"source": folder(json!({"kustomize": {"images": ["b:1", "web=r.test/shop:1.0.0"]}}))}),
            json!({"source": {"kustomize": {"images": ["b:1", "web=r.test/shop:2.0.0"]}}}),
        ),
        (json!({"sources": [values_source, before]}), json!({"sources": [values_source, changed]})),
        (
            json!({"sourceHydrator": {"drySource": folder(json!({"helm": {}})), "syncSource": {"path": "x"}}}),
            json!({"sourceHydrator": {"drySource": {"helm": {"parameters": parameters()}}}}),
        ),
    ] {
        let server = Server::with(&[&application("web", &spec)]);
        let delivered = server.delivered();
        assert_eq!(server.shared().patches, [json!({"metadata": {"resourceVersion": "7"}, "spec": patch})]);
        let mut expected = spec.clone();
        merge(&mut expected, &patch);
        assert_eq!(server.spec("web"), expected);
        assert_eq!(delivered.written.len(), 1);
        assert_eq!((delivered.written[0].commit, delivered.pushed), (None, None));
        // The second time nothing is left to do.
        assert!(server.delivered().written.is_empty());
        assert_eq!(server.shared().patches.len(), 1);
    }
}

#[test]
fn variables_of_a_plugin_are_patched() {
    let env = |tag: &str| json!([{"name": "A", "value": "b"}, {"name": "TAG", "value": tag}]);
    let source = |tag: &str| json!({"source": {"repoURL": "https://git.test/a", "path": "web", "plugin": {"name": "p", "env": env(tag)}}});
    let mut server = Server::with(&[&application("web", &source("1.0.0"))]);
    let image = json!({
        "alias": "web", "imageName": "r.test/shop", "commonUpdateSettings": {"forceUpdate": true},
        "manifestTargets": {"plugin": {"name": "IMAGE", "tag": "TAG"}},
    });
    server.resource = Some(
        json!({
            "apiVersion": "argocd-image-updater.argoproj.io/v1alpha1", "kind": "ImageUpdater",
            "metadata": {"name": "all", "namespace": "argocd"},
            "spec": {"applicationRefs": [{"namePattern": "web", "images": [image]}]},
        })
        .to_string(),
    );
    assert_eq!(server.delivered().written.len(), 1);
    let mut wanted = env("2.0.0");
    wanted.as_array_mut().unwrap().push(json!({"name": "IMAGE", "value": "r.test/shop"}));
    let patch = json!({"source": {"plugin": {"env": wanted}}});
    assert_eq!(server.shared().patches, [json!({"metadata": {"resourceVersion": "7"}, "spec": patch})]);
}

#[test]
fn what_others_change_meanwhile_is_kept() {
    let server = Server::with(&[&helm("web")]);
    let mut times = 0;
    server.shared().meanwhile = Some(Box::new(move |objects| {
        times += 1;
        if times == 1 {
            let object = objects.get_mut("web").unwrap();
            object["spec"]["project"] = json!("q");
            object["spec"]["source"]["helm"] = json!({"parameters": [{"name": "replicas", "value": "3"}]});
            touch(object);
        }
    }));
    assert_eq!(server.delivered().written.len(), 1);
    let mut all = parameters().as_array().unwrap().clone();
    all.insert(0, json!({"name": "replicas", "value": "3"}));
    let spec = server.spec("web");
    assert_eq!((&spec["project"], &spec["source"]["helm"]["parameters"]), (&json!("q"), &json!(all)));
    assert_eq!(server.shared().patches.len(), 2);
}

#[test]
fn what_somebody_else_has_written_is_not_written_again() {
    let server = Server::with(&[&helm("web")]);
    server.shared().meanwhile = Some(Box::new(|objects| {
        let object = objects.get_mut("web").unwrap();
        object["spec"]["source"]["helm"] = json!({"parameters": parameters()});
        touch(object);
    }));
    let delivered = server.delivered();
    assert!(delivered.written.is_empty());
    assert!(matches!(delivered.plan.reports[0].outcome, Outcome::Current(_)), "{:?}", delivered.plan.reports);
    assert_eq!(server.shared().patches.len(), 1);
}

#[test]
fn what_is_known_is_of_use_until_it_is_old() {
    let (web, blog) = (helm("web"), helm("blog"));
    let id = |name: &str| Named { namespace: "argocd".to_owned(), name: name.to_owned() };
    let mut new = web.clone();
    touch(&mut new);
    let known = Remembered(BTreeMap::from([(id("web"), web), (id("blog"), blog.clone())]));
    let server = Server::knowing(&[&new, &blog], known);
    assert_eq!(server.delivered().written.len(), 2);
    // One patch too many, for the one of which an older state was known.
    assert_eq!(server.shared().patches.len(), 3);
}

#[test]
fn one_that_cannot_be_written_stops_no_other() {
    let server = Server::with(&[&helm("busy"), &helm("gone"), &helm("web")]);
    server.shared().meanwhile = Some(Box::new(|objects| {
        objects.remove("gone");
        touch(objects.get_mut("busy").unwrap());
    }));
    let delivered = server.delivered();
    let written: Vec<_> =
        delivered.written.iter().map(|written| written.change.application.clone()).collect();
    assert_eq!(written.len(), 1);
    assert_eq!(written[0].as_ref().unwrap().name, "web");
    let failures = delivered.plan.reports.iter().filter_map(|report| match &report.outcome {
        Outcome::Failed(error) => Some(error.message().to_owned()),
        _ => None,
    });
    let failures: Vec<String> = failures.collect();
    assert_eq!(failures.len(), 2, "{failures:?}");
    assert!(failures[0].contains("others changed the Application `argocd/busy` each time"), "{failures:?}");
    assert!(failures[1].contains("`argocd/gone`"), "{failures:?}");
    // What failed is nowhere said to be written.
    assert_eq!(delivered.plan.texts.len(), 1);
}

#[test]
fn while_the_cluster_is_away_nothing_is_written() {
    let server = Server::with(&[&helm("web")]);
    // The round is prepared while it is there.
    server.shared().is_away = true;
    let failed = server.round(&Gate::default(), false).unwrap_err();
    assert!(failed.error.message().contains("etcd is away"), "{}", failed.error);
    assert!(failed.before.written.is_empty());
}

#[test]
fn nobody_writes_who_does_not_lead() {
    let server = Server::with(&[&helm("web")]);
    let gate = Gate::default();
    gate.hold(crate::gate::Hold::Standby);
    let failed = server.round(&gate, false).unwrap_err();
    assert!(failed.error.message().contains("another replica leads"), "{}", failed.error);
    gate.open(crate::gate::Hold::Standby);
    let planned = server.round(&gate, true).unwrap();
    assert_eq!(planned.plan.changes().count(), 1);
    assert!(planned.written.is_empty());
    assert!(server.shared().patches.is_empty());
    drop(server.runtime);
}

#[test]
fn a_source_that_is_another_by_now_is_left_alone() {
    let (one, two) = (
        json!({"repoURL": "https://a.test", "chart": "a", "helm": {}}),
        json!({"repoURL": "https://b.test", "chart": "b"}),
    );
    let known = application("web", &json!({"sources": [one, two]}));
    let mut swapped = application("web", &json!({"sources": [two, one]}));
    touch(&mut swapped);
    let server = Server::knowing(&[&swapped], Remembered::default());
    // What is to be done was read before.
    server.shared().objects.insert("web".to_owned(), known);
    let found = {
        let objects = [("Application/argocd/web".to_owned(), server.shared().objects["web"].to_string())];
        dialect::read_live(&objects, "argocd")
    };
    server.shared().objects.insert("web".to_owned(), swapped);
    let list = from_json(r#"["2.0.0"]"#, "tags.json").unwrap();
    let look = Look::recorded(HashMap::from([("r.test/shop".parse().unwrap(), list)]));
    let round = Round { look: &look, now: Timestamp::UNIX_EPOCH, with_labels: false };
    let planner = BatchPlanner { batch: &found.batches[0], round: &round };
    let delivered = server.applications.deliver(&planner, &Gate::default(), false).unwrap();
    let Outcome::Failed(error) = &delivered.plan.reports[0].outcome else { panic!("{delivered:?}") };
    assert!(error.message().contains("others than they were"), "{error}");
    assert!(server.shared().patches.is_empty());
}

#[test]
fn who_else_writes_an_application_is_said_once() {
    let mut deployed = helm("web");
    let tracking = "argocd.argoproj.io/tracking-id";
    deployed["metadata"]["annotations"][tracking] = json!("apps:argoproj.io/Application:argocd/web");
    let mut copied = helm("web");
    copied["metadata"]["annotations"][tracking] = json!("apps:argoproj.io/Application:argocd/other");
    let mut of_set = helm("web");
    of_set["metadata"]["ownerReferences"] = json!([{"kind": "ApplicationSet", "name": "all"}]);
    for (object, who) in [(deployed, Some("the Application `apps`")), (copied, None), (of_set, Some("`all`"))]
    {
        let server = Server::with(&[&object]);
        let warnings = |delivered: Delivered| delivered.plan.reports[0].warnings.join("\n");
        let first = warnings(server.delivered());
        assert_eq!(who.is_some(), who.is_some_and(|who| first.contains(who)), "{first}");
        assert_eq!(who.is_none(), first.is_empty(), "{first}");
        server.shared().objects.get_mut("web").unwrap()["spec"] = object["spec"].clone();
        assert_eq!(warnings(server.delivered()), "");
    }
}

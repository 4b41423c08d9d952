//! The server as the crate `kube` sees it, which is the client of the image updater.

use std::time::Duration;

use futures::{StreamExt as _, TryStreamExt as _};
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{ConfigMap, Secret, ServiceAccount};
use kube::api::{
    ApiResource, DeleteParams, DynamicObject, GroupVersionKind, ListParams, ObjectMeta, Patch, PatchParams,
    PostParams,
};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::core::PartialObjectMeta;
use kube::runtime::events::{Event, EventType, Recorder, Reporter};
use kube::runtime::{WatchStreamExt as _, reflector, watcher};
use kube::{Api, Client, Config, Resource as _, ResourceExt as _};
use serde_json::json;
use testkit::apiserver::{ApiServer, Rule, Settings, applications};

async fn client(server: &ApiServer, token: &str) -> Client {
    // Refused where another test of this process was first.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let kubeconfig = Kubeconfig::from_yaml(&server.kubeconfig(token)).expect("it is one");
    let config =
        Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.expect("it is whole");
    Client::try_from(config).expect("it is valid")
}

fn applications_of(client: &Client, namespace: &str) -> Api<DynamicObject> {
    let kind = GroupVersionKind::gvk("argoproj.io", "v1alpha1", "Application");
    Api::namespaced_with(client.clone(), namespace, &ApiResource::from_gvk(&kind))
}

fn application(name: &str) -> serde_json::Value {
    json!({
        "apiVersion": "argoproj.io/v1alpha1", "kind": "Application",
        "metadata": {"namespace": "argocd", "name": name}, "spec": {"project": "default", "destination": {}},
    })
}

fn code(error: &kube::Error) -> u16 {
    match error {
        kube::Error::Api(status) => status.code,
        other => panic!("{other}"),
    }
}

async fn soon<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(30), what).await.expect("it comes about")
}

#[tokio::test]
async fn it_speaks_tls_and_knows_its_users() {
    let server = ApiServer::with(&Settings { tls: true, ..Settings::default() });
    server.admit("bot", "s3cret", &[Rule::new("", &["secrets"], &["get"]).in_namespace("default")]);
    assert_eq!(client(&server, "s3cret").await.apiserver_version().await.unwrap().minor, "33");
    let secrets: Api<Secret> = Api::namespaced(client(&server, "s3cret").await, "default");
    assert_eq!(code(&secrets.get("x").await.unwrap_err()), 404);
    assert_eq!(code(&secrets.list(&ListParams::default()).await.unwrap_err()), 403);
    let secrets: Api<Secret> = Api::namespaced(client(&server, "wrong").await, "default");
    assert_eq!(code(&secrets.get("x").await.unwrap_err()), 401);
}

#[tokio::test]
async fn a_reflector_keeps_up_through_all_that_may_happen() {
    let server = ApiServer::start();
    server.define(&applications());
    server.put(&application("a"));
    let client = client(&server, "").await;
    let api = applications_of(&client, "argocd");
    let kind = ApiResource::from_gvk(&GroupVersionKind::gvk("argoproj.io", "v1alpha1", "Application"));
    let writer = reflector::store::Writer::new(kind);
    let reader = writer.as_reader();
    let stream = watcher(api, watcher::Config::default().page_size(1)).default_backoff().reflect(writer);
    let task = tokio::spawn(async move { stream.for_each(|_| async {}).await });
    soon(reader.wait_until_ready()).await.unwrap();
    let names = || {
        let mut names: Vec<String> = reader.state().iter().map(|one| one.name_any()).collect();
        names.sort();
        names.join(" ")
    };
    let becomes = async |want: &str| {
        soon(async {
            while names() != want {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        })
        .await;
    };
    becomes("a").await;
    server.put(&application("b"));
    becomes("a b").await;
    // It goes on where it was.
    server.cut_watches();
    server.put(&application("c"));
    becomes("a b c").await;
    // It cannot go on, and begins anew.
    server.refuse();
    server.delete("applications.argoproj.io", "argocd", "a");
    server.compact();
    server.resume();
    becomes("b c").await;
    let lists = server.requests().iter().filter(|asked| asked.verb == "list").count();
    assert!(lists > 1, "after 410 it lists again");
    task.abort();
}

#[tokio::test]
async fn metadata_alone_can_be_watched() {
    let server = ApiServer::start();
    server.put(&json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"namespace": "default", "name": "x"}, "stringData": {"a": "b"}}));
    let secrets: Api<PartialObjectMeta<Secret>> = Api::all(client(&server, "").await);
    let mut stream = std::pin::pin!(watcher(secrets, watcher::Config::default()).applied_objects());
    assert_eq!(soon(stream.try_next()).await.unwrap().unwrap().name_any(), "x");
    server.change("secrets", "default", "x", |secret| secret["metadata"]["labels"] = json!({"l": "v"}));
    let changed = soon(stream.try_next()).await.unwrap().unwrap();
    assert_eq!(changed.labels()["l"], "v");
}

#[tokio::test]
async fn streaming_lists_work_where_they_are_turned_on() {
    let server = ApiServer::with(&Settings { streaming_lists: true, ..Settings::default() });
    server.put(
        &json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"namespace": "default", "name": "x"}}),
    );
    let maps: Api<ConfigMap> = Api::all(client(&server, "").await);
    let mut stream =
        std::pin::pin!(watcher(maps, watcher::Config::default().streaming_lists()).applied_objects());
    assert_eq!(soon(stream.try_next()).await.unwrap().unwrap().name_any(), "x");
    assert!(server.requests().iter().all(|asked| asked.verb != "list"));
}

#[tokio::test]
async fn objects_are_written_with_care() {
    let server = ApiServer::start();
    server.define(&applications());
    server.put(&application("web"));
    let api = applications_of(&client(&server, "").await, "argocd");
    let seen = api.get("web").await.unwrap();
    let careful = json!({"metadata": {"resourceVersion": seen.resource_version()}, "spec": {"source": {"targetRevision": "1"}}});
    api.patch("web", &PatchParams::default(), &Patch::Merge(&careful)).await.unwrap();
    let error = api.patch("web", &PatchParams::default(), &Patch::Merge(&careful)).await.unwrap_err();
    assert_eq!(code(&error), 409);
    let error = api.replace("web", &PostParams::default(), &seen).await.unwrap_err();
    assert_eq!(code(&error), 409);
    let error = api
        .patch_status("web", &PatchParams::default(), &Patch::Merge(json!({"status": {}})))
        .await
        .unwrap_err();
    assert_eq!(code(&error), 404);
    let error = api.patch("web", &PatchParams::default(), &Patch::Strategic(json!({}))).await.unwrap_err();
    assert_eq!(code(&error), 415);
    let applied = json!({"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "spec": {"source": {"targetRevision": "2"}}});
    let error = api.patch("web", &PatchParams::apply("bot"), &Patch::Apply(&applied)).await.unwrap_err();
    assert_eq!(code(&error), 409);
    let forced = api.patch("web", &PatchParams::apply("bot").force(), &Patch::Apply(&applied)).await.unwrap();
    assert_eq!(forced.data["spec"]["source"]["targetRevision"], "2");
    assert!(api.delete("web", &DeleteParams::default()).await.unwrap().is_right());
}

#[tokio::test]
async fn two_candidates_for_a_lease_are_told_apart() {
    let server = ApiServer::start();
    let leases: Api<Lease> = Api::namespaced(client(&server, "").await, "default");
    let lease = Lease {
        metadata: ObjectMeta { name: Some("x".to_owned()), ..ObjectMeta::default() },
        ..Lease::default()
    };
    let made = leases.create(&PostParams::default(), &lease).await.unwrap();
    assert_eq!(code(&leases.create(&PostParams::default(), &lease).await.unwrap_err()), 409);
    let take = async |holder: &str| {
        let mut taken = made.clone();
        taken.spec.get_or_insert_default().holder_identity = Some(holder.to_owned());
        leases.replace("x", &PostParams::default(), &taken).await
    };
    assert!(take("one").await.is_ok());
    assert_eq!(code(&take("two").await.unwrap_err()), 409);
}

#[tokio::test]
async fn events_are_recorded_and_counted() {
    let server = ApiServer::start();
    let client = client(&server, "").await;
    let map = server.put(
        &json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"namespace": "default", "name": "x"}}),
    );
    let map: ConfigMap = serde_json::from_value(map).unwrap();
    let reporter = Reporter { controller: "image-updater".to_owned(), instance: Some("pod-0".to_owned()) };
    let recorder = Recorder::new(client, reporter);
    let event = Event {
        type_: EventType::Normal,
        reason: "Updated".to_owned(),
        note: Some("1.0 is 1.1 now".to_owned()),
        action: "Update".to_owned(),
        secondary: None,
    };
    for _ in 0..3 {
        recorder.publish(&event, &map.object_ref(&())).await.unwrap();
    }
    let events = server.list("events");
    assert_eq!(events.len(), 1);
    assert_eq!(events[0]["message"], "1.0 is 1.1 now");
    assert_eq!(events[0]["series"]["count"], 3);
}

#[tokio::test]
async fn tokens_of_service_accounts_are_asked_for() {
    use k8s_openapi::api::authentication::v1::{TokenRequest, TokenRequestSpec};

    let server = ApiServer::start();
    server.put(&json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"namespace": "default", "name": "bot"}}));
    let accounts: Api<ServiceAccount> = Api::namespaced(client(&server, "").await, "default");
    let spec =
        TokenRequestSpec { audiences: vec!["sts.amazonaws.com".to_owned()], ..TokenRequestSpec::default() };
    let request = TokenRequest { spec, ..TokenRequest::default() };
    let made = accounts.create_token_request("bot", &PostParams::default(), &request).await.unwrap();
    assert!(made.status.is_some_and(|status| status.token.split('.').count() == 3));
}

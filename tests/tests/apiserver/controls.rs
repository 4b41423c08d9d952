//! The controls of the server for tests.

use std::net::TcpStream;
use std::time::Duration;

use serde_json::json;
use testkit::apiserver::{ApiServer, Rule, Settings, applications};

use super::{CONFIG_MAPS, Raw, builder, config_map, impatient, patient, said};

#[test]
fn watches_are_cut_off() {
    let server = ApiServer::start();
    let raw = Raw(&server);
    raw.post(CONFIG_MAPS, &config_map("x", &json!({})));
    let mut watching = raw.watch(CONFIG_MAPS, "");
    assert_eq!(watching.brief(), "ADDED x");
    server.cut_watches();
    assert_eq!(watching.next(), None);
    assert_eq!(raw.watch(CONFIG_MAPS, "").brief(), "ADDED x", "others are taken");
}

#[test]
fn the_server_goes_and_comes_back_where_it_was() {
    let server = ApiServer::start();
    let raw = Raw(&server);
    raw.post(CONFIG_MAPS, &config_map("x", &json!({})));
    let mut watching = raw.watch(CONFIG_MAPS, "");
    assert_eq!(watching.brief(), "ADDED x");
    let address = server.url().replace("http://localhost", "127.0.0.1");
    server.refuse();
    assert!(TcpStream::connect(&address).is_err());
    assert_eq!(watching.next(), None);
    server.resume();
    assert_eq!(raw.get(&format!("{CONFIG_MAPS}/x")).0, 200, "nothing is lost");
}

#[test]
fn the_server_falls_silent() {
    let server = ApiServer::start();
    let raw = Raw(&server);
    let mut watching = raw.watch(CONFIG_MAPS, "");
    server.fall_silent();
    server.put(
        &json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"namespace": "default", "name": "x"}}),
    );
    assert!(impatient().get(format!("{}/version", server.url())).send().unwrap_err().is_timeout());
    server.resume();
    assert_eq!(watching.brief(), "ADDED x");
    assert_eq!(raw.get("/version").0, 200);
}

#[test]
fn chosen_requests_fail_as_often_as_they_are_to() {
    let server = ApiServer::start();
    let raw = Raw(&server);
    server.fail(2, 503, |asked| asked.verb == "create" && asked.resource == "configmaps");
    let make = || raw.post(CONFIG_MAPS, &config_map("x", &json!({}))).0;
    assert_eq!([make(), raw.get(CONFIG_MAPS).0, make(), make()], [503, 200, 503, 201]);
    server.fail(1, 429, |_| true);
    let response = patient().get(format!("{}/version", server.url())).send().unwrap();
    assert_eq!(
        (response.status().as_u16(), &response.headers()["retry-after"]),
        (429, &"1".parse().unwrap())
    );
    server.delay(Duration::from_millis(300));
    assert!(impatient().get(format!("{}/version", server.url())).send().unwrap_err().is_timeout());
}

#[test]
fn requests_are_noted() {
    let server = ApiServer::start();
    let raw = Raw(&server);
    raw.get("/version");
    server.forget_requests();
    raw.patch("merge", &format!("{CONFIG_MAPS}/x/status?fieldManager=m"), &json!({}));
    let requests = server.requests();
    assert_eq!(requests.len(), 1);
    let asked = &requests[0];
    assert_eq!((asked.verb.as_str(), asked.resource.as_str()), ("patch", "configmaps/status"));
    assert_eq!((asked.namespace.as_str(), asked.name.as_str()), ("default", "x"));
    assert_eq!((asked.query.as_str(), asked.user_agent.as_str()), ("fieldManager=m", "raw/1.0"));
    assert!(asked.is_write());
}

#[test]
fn users_may_do_what_their_rules_say() {
    let server = ApiServer::with(&Settings { tls: true, ..Settings::default() });
    server.define(&applications());
    let rules = [
        Rule::new("", &["configmaps"], &["get", "list", "patch"]).in_namespace("default"),
        Rule::new("argoproj.io", &["applications"], &["*"]),
    ];
    server.admit("bot", "s3cret", &rules);
    let certificate = reqwest::Certificate::from_pem(server.certificate().as_bytes()).unwrap();
    let client = builder().tls_certs_only([certificate]).build().unwrap();
    let ask = |method: &str, path: &str, token: &str, kind: &str| {
        let mut request = client.request(method.parse().unwrap(), format!("{}{path}", server.url()));
        if !token.is_empty() {
            request = request.bearer_auth(token);
        }
        request = request.header("content-type", kind).body(config_map("x", &json!({})).to_string());
        said(request.send().unwrap())
    };
    assert_eq!(ask("GET", CONFIG_MAPS, "s3cret", "").0, 200);
    assert_eq!(ask("GET", CONFIG_MAPS, "wrong", "").0, 401);
    let (code, status) = ask("GET", "/api/v1/configmaps", "s3cret", "");
    assert_eq!(code, 403);
    assert_eq!(
        status["message"],
        "configmaps is forbidden: User \"bot\" cannot list resource \"configmaps\" in API group \"\" at the cluster scope"
    );
    assert_eq!(status["details"], json!({"kind": "configmaps"}));
    assert_eq!(
        ask("GET", CONFIG_MAPS, "", "").1["message"].as_str().map(|text| text.contains("system:anonymous")),
        Some(true)
    );
    // To apply what is not there takes leave to make it.
    let path = format!("{CONFIG_MAPS}/x?fieldManager=m");
    assert_eq!(ask("PATCH", &path, "s3cret", "application/apply-patch+yaml").0, 403);
    server.put(
        &json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"namespace": "default", "name": "x"}}),
    );
    assert_eq!(ask("PATCH", &path, "s3cret", "application/apply-patch+yaml").0, 200);
    // A discovery is everybody's who is somebody.
    assert_eq!(ask("GET", "/apis", "s3cret", "").0, 200);
    assert_eq!(ask("GET", "/apis", "", "").0, 403);
    server.admit("bot", "s3cret", &[]);
    assert_eq!(ask("GET", CONFIG_MAPS, "s3cret", "").0, 403);
}

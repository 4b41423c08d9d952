//! `renderer cmp generate`, `parameters` and `discover` in the folders and with the variables that argocd-cmp-server has
//! for them, held against what the server of our own answers.

use serde_json::{Value, json};
use testkit::{Folder, Outcome};

use super::{Call, PEER, RENDERER, Running, archive};

const FILES: [(&str, &str); 14] = [
    ("charts/web/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n"),
    ("charts/web/values.yaml", "image: {tag: '1.0'}\nreplicas: 1\n"),
    ("charts/web/crds/a.yaml", "kind: CustomResourceDefinition\nmetadata: {name: a}\n"),
    (
        "charts/web/templates/a.yaml",
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {{ .Release.Name }}\n  namespace: {{ .Release.Namespace }}\nspec:\n  replicas: {{ .Values.replicas }}\n  template:\n    spec:\n      containers:\n      - {name: web, image: \"web:{{ .Values.image.tag }}\"}\n---\nkind: ConfigMap\nmetadata: {name: kube}\ndata: {kube: \"{{ .Capabilities.KubeVersion }}\", region: \"{{ .Values.region }}\"}\n",
    ),
    ("envs/eu/values.yaml", "region: eu\nimage: {tag: '2.0'}\n"),
    ("overlay/kustomization.yaml", "resources:\n- a.yaml\n"),
    (
        "overlay/a.yaml",
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {template: {spec: {containers: [{name: web, image: 'nginx:1'}]}}}\n",
    ),
    ("chained/Chart.yaml", "apiVersion: v2\nname: chained\nversion: 1.0.0\n"),
    (
        "chained/templates/a.yaml",
        "kind: ConfigMap\nmetadata: {name: of-chart}\ndata: {a: \"{{ .Values.a }}\"}\n",
    ),
    ("chained/kustomization.yaml", "resources:\n- Chart.yaml\nnamePrefix: chained-\n"),
    ("plain/a.yaml", "kind: A\n---\nkind: List\nitems: [{kind: B}]\n"),
    ("broken/kustomization.yaml", "resources:\n- ../overlay\nnamePrefx: a-\n"),
    ("escaping/kustomization.yaml", "resources:\n- ../../../outside\n"),
    ("empty/README.md", "nothing\n"),
];

/// A checkout where argocd-cmp-server puts one, beside something that is none of its business.
fn checkout() -> Folder {
    let folder = Folder::with(&[]);
    for (path, text) in FILES {
        folder.write(&format!("_cmp_server/5d1c/{path}"), text);
    }
    folder.write("outside/kustomization.yaml", "resources: [secret.yaml]\n");
    folder.write("outside/secret.yaml", "kind: Secret\nmetadata: {name: s}\nstringData: {a: hunter2}\n");
    folder
}

fn variables(parameters: &Value) -> [(&'static str, String); 7] {
    [
        ("ARGOCD_APP_NAME", "team_shop".to_owned()),
        ("ARGOCD_APP_NAMESPACE", "prod".to_owned()),
        ("ARGOCD_APP_REVISION", "0123456789abcdef".to_owned()),
        ("ARGOCD_ENV_REGION", "eu".to_owned()),
        ("KUBE_VERSION", "1.33.2".to_owned()),
        ("KUBE_API_VERSIONS", "v1,apps/v1".to_owned()),
        ("ARGOCD_APP_PARAMETERS", parameters.to_string()),
    ]
}

/// Runs a command as argocd-cmp-server does.
fn run(folder: &Folder, command: &str, app: &str, parameters: &Value) -> Outcome {
    let variables = variables(parameters);
    let mut variables: Vec<_> = variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
    variables.push(("ARGOCD_APP_SOURCE_PATH", app));
    let mut process = folder.at_home(RENDERER, &["cmp", command, "--offline"], &variables);
    let output = process.current_dir(folder.path(&format!("_cmp_server/5d1c/{app}"))).output();
    let output = output.expect("the program can be run");
    Outcome {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).expect("manifests are text"),
        stderr: String::from_utf8(output.stderr).expect("messages are text"),
    }
}

fn objects(stream: &str) -> Vec<Value> {
    let documents = stream.split("---\n").filter(|document| !document.is_empty());
    documents.map(|document| serde_json::from_str(document).expect("an object is JSON")).collect()
}

fn list(name: &str, items: &[&str]) -> Value {
    json!({"name": name, "array": items})
}

fn text(name: &str, text: &str) -> Value {
    json!({"name": name, "string": text})
}

/// Returns what is asked for: an application, and its parameters.
fn cases() -> Vec<(&'static str, Value)> {
    vec![
        ("charts/web", Value::Null),
        (
            "charts/web",
            json!([
                list("helm-value-files", &["/envs/$ARGOCD_ENV_REGION/values.yaml"]),
                {"name": "helm-parameters", "map": {"replicas": "3"}},
                {"name": "helm-string-parameters", "map": {"image.tag": "$ARGOCD_APP_REVISION"}},
                text("helm-skip-crds", "true"),
            ]),
        ),
        ("overlay", json!([])),
        (
            "overlay",
            json!([
                list("kustomize-images", &["nginx:2"]),
                text("kustomize-name-prefix", "a-"),
                {"name": "kustomize-replicas", "map": {"web": "4"}},
                list("kustomize-patches", &["kind: Deployment\nmetadata: {name: web, labels: {x: y}}\napiVersion: apps/v1\n"]),
            ]),
        ),
        ("overlay", json!([text("chain", "../charts/web"), text("kustomize-namespace", "chain")])),
        ("chained", json!([text("helm-values", "a: from-values")])),
        ("plain", Value::Null),
        ("empty", json!([text("allow-empty", "true")])),
    ]
}

#[tokio::test]
async fn both_ways_give_the_same() {
    let folder = checkout();
    let server = Running::start(&[]);
    let files: Vec<(&str, &[u8])> = FILES.iter().map(|(path, text)| (*path, text.as_bytes())).collect();
    let archive = archive(&files);
    for (app, parameters) in cases() {
        let mut call = Call::generate(app);
        let variables = variables(&parameters);
        for (name, value) in &variables {
            call = call.with(name, value);
        }
        let reply = call.send(&server.socket(), &archive).await;
        let outcome = run(&folder, "generate", app, &parameters);
        assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""), "{app} {parameters}");
        let manifests = reply.manifests();
        let want: Vec<Value> =
            manifests.iter().map(|text| serde_json::from_str(text).expect("an object is JSON")).collect();
        assert_eq!(objects(&outcome.stdout), want, "{app} {parameters}");
    }
}

#[test]
fn parameters_reach_what_is_rendered() {
    let folder = checkout();
    let rendered = |number: usize| {
        let (app, parameters) = cases().swap_remove(number);
        objects(&run(&folder, "generate", app, &parameters).stdout)
    };
    let [config, deployment] = &rendered(1)[..] else { panic!("a CRD is left out") };
    assert_eq!(deployment["metadata"], json!({"name": "shop", "namespace": "prod"}));
    assert_eq!(deployment["spec"]["replicas"], 3);
    let image = &deployment["spec"]["template"]["spec"]["containers"][0]["image"];
    assert_eq!(image, "web:0123456789abcdef");
    assert_eq!(config["data"], json!({"kube": "v1.33.2", "region": "eu"}));
    let [deployment] = &rendered(3)[..] else { panic!("there is one") };
    assert_eq!(deployment["metadata"], json!({"name": "a-web", "labels": {"x": "y"}}));
    assert_eq!(deployment["spec"]["template"]["spec"]["containers"][0]["image"], "nginx:2");
    assert_eq!(deployment["spec"]["replicas"], 4);
    // The overlay's own object, and three of the chart.
    let all = rendered(4);
    assert_eq!(all.len(), 4);
    assert!(
        all.iter()
            .filter(|object| object["kind"] != "CustomResourceDefinition")
            .all(|object| object["metadata"]["namespace"] == "chain")
    );
    let [config] = &rendered(5)[..] else { panic!("there is one") };
    assert_eq!(
        (&config["metadata"]["name"], &config["data"]["a"]),
        (&json!("chained-of-chart"), &json!("from-values"))
    );
}

#[test]
fn what_is_wrong_is_one_line() {
    let folder = checkout();
    for (app, parameters, want) in [
        ("broken", json!([]), "broken/kustomization.yaml:3:1: "),
        (
            "empty",
            json!([]),
            "empty: the source renders no manifests, and Argo CD would delete all resources of the Application (set ALLOW_EMPTY",
        ),
        ("escaping", json!([]), "escaping/kustomization.yaml:2:3: "),
        (
            "overlay",
            json!([text("image", "x")]),
            "overlay: unknown parameter `image` (did you mean `kustomize-images`? There are: ",
        ),
        (
            "charts/web",
            json!([list("helm-value-files", &["../../../../outside/secret.yaml"])]),
            "charts/web: `../../../../outside/secret.yaml` is outside of the repository",
        ),
        (
            "overlay",
            json!([list("kustomize-build-options", &["--enable-alpha-plugins", "--enable-exec"])]),
            "overlay: `--enable-exec` lets files of the repository run programs, and only the operator can grant it",
        ),
        ("charts/web", json!([text("helm-values", "a: [hunter22")]), ""),
    ] {
        let outcome = run(&folder, "generate", app, &parameters);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(1), ""), "{app}: {}", outcome.stderr);
        assert!(outcome.stderr.starts_with(want), "{}", outcome.stderr);
        assert_eq!(outcome.stderr.lines().count(), 1, "{}", outcome.stderr);
        assert!(!outcome.stderr.contains("hunter2"), "{}", outcome.stderr);
    }
}

#[test]
fn a_form_and_a_discovery_are_answered() {
    let folder = checkout();
    let discovered = |app: &str| run(&folder, "discover", app, &Value::Null).stdout;
    assert_eq!(
        [discovered("charts/web"), discovered("overlay"), discovered("plain")],
        ["Helm\n", "Kustomize\n", ""]
    );
    let announced = |app: &str, name: &str| {
        let outcome = run(&folder, "parameters", app, &Value::Null);
        let all: Vec<Value> = serde_json::from_str(&outcome.stdout).expect("it is JSON");
        all.into_iter().find(|parameter| parameter["name"] == name)
    };
    let parameters = announced("charts/web", "helm-parameters").expect("it is announced");
    assert_eq!(parameters["collectionType"], "map");
    assert_eq!(parameters["map"], json!({"image.tag": "1.0", "replicas": "1"}));
    let images = announced("overlay", "kustomize-images").expect("it is announced");
    assert_eq!((&images["collectionType"], &images["array"]), (&json!("array"), &json!(["nginx:1"])));
    assert!(announced("overlay", "helm-parameters").is_none());
}

/// Needs grpcio from PyPI, which CI installs.
#[test]
fn a_peer_of_another_make_passes_parameters() {
    let folder = checkout();
    let server = Running::start(&[]);
    let (socket, root) =
        (server.socket().display().to_string(), folder.path("_cmp_server/5d1c").display().to_string());
    let peer = |method: &str, parameters: &Value| {
        let parameters = format!("ARGOCD_APP_PARAMETERS={parameters}");
        let outcome = folder.run("python3", &[PEER, &socket, method, &root, "overlay", &parameters], "");
        (outcome.code, outcome.stdout, outcome.stderr)
    };
    let (code, manifests, stderr) =
        peer("GenerateManifest", &json!([list("kustomize-images", &["nginx:7"])]));
    assert_eq!(code, Some(0), "{stderr}");
    assert!(manifests.contains(r#""image":"nginx:7""#), "{manifests}");
    assert_eq!(peer("MatchRepository", &Value::Null).1, "1 1\n");
    let (_, announced, _) = peer("GetParametersAnnouncement", &Value::Null);
    assert!(announced.contains("kustomize-images") && announced.contains("nginx:1"), "{announced}");
    let (code, _, stderr) = peer("GenerateManifest", &json!([text("chains", "")]));
    assert_ne!(code, Some(0));
    assert!(stderr.contains("overlay: unknown parameter `chains` (did you mean `chain`?"), "{stderr}");
}

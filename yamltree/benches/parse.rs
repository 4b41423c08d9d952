//! How fast text becomes trees: `cargo bench -p yamltree --profile quick`.
//!
//! Reads about 10 MB of manifests such as config repos hold, several times, and prints the best run of each kind in
//! MB/s, with the memory that the trees take.
#![expect(clippy::print_stdout, reason = "the numbers are what a benchmark is for")]

use std::fmt::Write as _;
use std::time::Instant;

use yamltree::{Document, Kind, Node, ParseOptions, parse};

const RUNS: usize = 9;
const TEXT_LEN: usize = 10_000_000;

fn main() {
    let manifests = repeat(&[deployment, service, config_map, role]);
    report("manifests", &manifests);
    report("deployments", &repeat(&[deployment]));
    report("config maps", &repeat(&[config_map]));
    report("one line of JSON", &repeat(&[json]));
}

fn repeat(kinds: &[fn(usize) -> String]) -> String {
    let mut text = String::new();
    for (number, kind) in (0..).zip(kinds.iter().cycle()) {
        if text.len() > TEXT_LEN {
            break;
        }
        text.push_str("---\n");
        text.push_str(&kind(number));
    }
    text
}

fn report(name: &str, text: &str) {
    let mut best = f64::INFINITY;
    let mut bytes = 0;
    for _ in 0..RUNS {
        let start = Instant::now();
        let documents = parse(text, 0, &ParseOptions::default()).expect("the text is valid");
        best = best.min(start.elapsed().as_secs_f64());
        bytes = documents.iter().map(|Document { root, .. }| size_of::<Document>() + heap_of(root)).sum();
    }
    let megabytes = text.len() as f64 / 1e6;
    println!(
        "{name:17} {:6.1} MB/s, trees of {:.1} times the text",
        megabytes / best,
        bytes as f64 / 1e6 / megabytes
    );
}

/// The memory that a node owns besides itself.
fn heap_of(node: &Node) -> usize {
    match &node.kind {
        Kind::Scalar(text) | Kind::Alias(text) => {
            if text.is_heap_allocated() {
                text.capacity()
            } else {
                0
            }
        }
        Kind::Sequence(items) => items.iter().map(|item| size_of::<Node>() + heap_of(item)).sum(),
        Kind::Mapping(entries) => entries
            .iter()
            .map(|entry| 2 * size_of::<Node>() + heap_of(&entry.key) + heap_of(&entry.value))
            .sum(),
    }
}

fn deployment(number: usize) -> String {
    format!(
        "apiVersion: apps/v1
kind: Deployment
metadata:
  name: guestbook-ui-{number}
  namespace: team-{team}
  labels:
    app.kubernetes.io/name: guestbook-ui
    app.kubernetes.io/instance: guestbook-ui-{number}
    app.kubernetes.io/part-of: guestbook
  annotations:
    example.com/owner: \"platform team\"
spec:
  replicas: {replicas}
  selector:
    matchLabels: {{app: guestbook-ui-{number}}}
  strategy:
    type: RollingUpdate
    rollingUpdate:
      maxSurge: 25%
      maxUnavailable: 0
  template:
    metadata:
      labels:
        app: guestbook-ui-{number}
    spec:
      serviceAccountName: guestbook
      securityContext:
        runAsNonRoot: true
      containers:
      - name: app
        image: registry.example.com/guestbook/ui:v1.{replicas}.{number}  # kept by the updater
        args: [\"--listen=:8080\", '--log-level=info']
        ports:
        - name: http
          containerPort: 8080
          protocol: TCP
        env:
        - name: REDIS_HOST
          value: redis-leader.team-{team}.svc.cluster.local
        - name: PASSWORD
          valueFrom:
            secretKeyRef:
              name: guestbook-secrets
              key: password
        # Measured under load.
        resources:
          requests:
            cpu: 100m
            memory: 128Mi
          limits:
            memory: 256Mi
        readinessProbe:
          httpGet:
            path: /healthz
            port: http
          initialDelaySeconds: 5
        volumeMounts:
        - name: config
          mountPath: /etc/guestbook
      volumes:
      - name: config
        configMap:
          name: guestbook-config-{number}
",
        team = number % 17,
        replicas = number % 5 + 1,
    )
}

fn service(number: usize) -> String {
    format!(
        "apiVersion: v1
kind: Service
metadata:
  name: guestbook-ui-{number}
spec:
  type: ClusterIP
  selector:
    app: guestbook-ui-{number}
  ports:
  - name: http
    port: 80
    targetPort: http
"
    )
}

fn config_map(number: usize) -> String {
    let mut text =
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: guestbook-config-{number}\ndata:\n");
    text.push_str("  nginx.conf: |\n    server {\n      listen 8080;\n");
    for upstream in 0..number % 13 {
        let _ =
            writeln!(text, "      location /api/{upstream} {{ proxy_pass http://backend-{upstream}:8080; }}");
    }
    text.push_str("    }\n  motd: >-\n    Welcome to the guestbook,\n    please sign here.\n");
    text.push_str("  greeting: \"hello\\tworld\"\n  schön: 'ja, it''s'\n");
    text
}

fn role(number: usize) -> String {
    format!(
        "apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: reader-{number}
rules:
- apiGroups: [\"\"]
  resources: [\"pods\", \"pods/log\", \"configmaps\"]
  verbs: [\"get\", \"list\", \"watch\"]
- apiGroups: [apps]
  resources: [deployments]
  verbs: [get]
"
    )
}

fn json(number: usize) -> String {
    format!(
        "{{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{{\"name\":\"c{number}\",\"labels\":{{\"a\":\"b\"}}}},\
         \"data\":{{\"key\":\"value {number}\",\"list\":\"[1, 2, 3]\"}}}}\n"
    )
}

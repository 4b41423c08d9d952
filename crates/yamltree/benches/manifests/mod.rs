//! Manifests such as config repos hold, for the benchmarks to read and write.

use std::fmt::Write as _;

/// The least that a text is long.
const TEXT_LEN: usize = 10_000_000;

/// A stream of documents of each kind in turn.
pub(crate) fn repeat(kinds: &[fn(usize) -> String]) -> String {
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

/// One of each kind in turn.
pub(crate) fn of_all_kinds() -> String {
    repeat(&[deployment, service, config_map, role])
}

pub(crate) fn deployment(number: usize) -> String {
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

pub(crate) fn service(number: usize) -> String {
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

pub(crate) fn config_map(number: usize) -> String {
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

pub(crate) fn role(number: usize) -> String {
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

pub(crate) fn json(number: usize) -> String {
    format!(
        "{{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{{\"name\":\"c{number}\",\"labels\":{{\"a\":\"b\"}}}},\
         \"data\":{{\"key\":\"value {number}\",\"list\":\"[1, 2, 3]\"}}}}\n"
    )
}

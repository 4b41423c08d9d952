//! A Kubernetes API server for tests: in memory, on loopback, over HTTP.
//!
//! A test starts an [`ApiServer`], gives a program the address or a kubeconfig, puts objects into it and looks at what
//! becomes of them. The server has the resources that the image updater meets: namespaces, Secrets, ConfigMaps, service
//! accounts with their tokens, events (by both of their APIs), Leases, and what CRDs define; [`CustomResource`] makes
//! CRDs of foreign kinds, [`applications`] and [`git_repositories`] are known.
//!
//! Behaves like the real server wherever a controller depends on it, and rejects what that rejects: resource versions
//! and conflicts, watches with bookmarks and their end, the `status` subresource, generations, finalizers, the
//! schemas of CRDs (but not their CEL rules), server-side apply.
//!
//! Not implemented: controllers other than that of namespaces, so no garbage collection and no expiry of events;
//! admission, quota, tables, protobuf, aggregated discovery.
//!
//! ```no_run
//! use serde_json::json;
//! use testkit::apiserver::{self, ApiServer};
//!
//! let server = ApiServer::start();
//! server.define(&apiserver::applications());
//! server.put(&json!({
//!     "apiVersion": "argoproj.io/v1alpha1", "kind": "Application",
//!     "metadata": {"namespace": "argocd", "name": "web"},
//!     "spec": {"project": "default", "destination": {}},
//! }));
//! let kubeconfig = server.kubeconfig("");
//! // … a program runs with it …
//! let patched = server.wait_for("applications.argoproj.io", "argocd", "web", |app| app["metadata"]["generation"] == 2);
//! ```

mod access;
mod call;
mod cluster;
mod definition;
mod delete;
mod discovery;
mod failure;
mod fields;
mod http;
mod managed;
mod metadata;
mod objects;
mod patch;
mod read;
mod resource;
mod rules;
mod schema;
mod selector;
mod shared;
mod store;
mod strategic;
mod token;
mod view;
mod watch;
mod write;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustls::ServerConfig;
use serde_json::json;
use tokio::runtime::{Builder, Runtime};
use tokio_rustls::TlsAcceptor;

use self::access::User;
use self::call::{Query, ResourcePath, Verb};
use self::cluster::Cluster;
use self::http::Listening;
use self::shared::{Request, Shared};
use crate::certificate::Authority;

pub use self::access::Rule;
pub use self::resource::{CustomResource, applications, git_repositories};

/// The settings of a server.
#[derive(Clone, Debug)]
pub struct Settings {
    /// It speaks TLS, with a certificate that its kubeconfig trusts.
    pub tls: bool,
    /// A watch may begin with what there is (`sendInitialEvents`). Version 1.33, the oldest that we promise to run on,
    /// refuses that with 422 where nobody has turned it on.
    pub streaming_lists: bool,
    /// Interval of bookmarks. The real server's minute is long for a test.
    pub bookmark_interval: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self { tls: false, streaming_lists: false, bookmark_interval: Duration::from_secs(60) }
    }
}

/// A running server; it stops when it is dropped.
#[derive(Debug)]
pub struct ApiServer {
    shared: Arc<Shared>,
    port: u16,
    tls: Option<Arc<ServerConfig>>,
    authority: Authority,
    listening: Mutex<Option<Listening>>,
    /// Only none while it is dropped.
    runtime: Option<Runtime>,
}

/// A request that the server has got.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    /// `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`; of a path that is no resource,
    /// the method.
    pub verb: String,
    /// Empty for the core.
    pub group: String,
    /// The plural, with its subresource: `applications/status`. Empty where the path is no resource.
    pub resource: String,
    /// Empty for all.
    pub namespace: String,
    /// Empty for collections.
    pub name: String,
    /// Without the query.
    pub path: String,
    /// Behind the question mark.
    pub query: String,
    /// The user agent of the client.
    pub user_agent: String,
}

impl ApiServer {
    /// A server where everybody may do everything.
    #[must_use]
    pub fn start() -> Self {
        Self::with(&Settings::default())
    }

    /// A server that is set up in another way.
    ///
    /// # Panics
    /// If no port is free.
    #[must_use]
    pub fn with(settings: &Settings) -> Self {
        let shared =
            Arc::new(Shared::new(Cluster::new(settings.streaming_lists), settings.bookmark_interval));
        let authority = Authority::new();
        let tls = settings.tls.then(|| authority.certify("localhost").server_config());
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build();
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port is free");
        let server = Self {
            shared,
            port: listener.local_addr().expect("it is bound").port(),
            tls,
            authority,
            listening: Mutex::new(None),
            runtime: Some(runtime.expect("threads can be started")),
        };
        server.listen(listener);
        server
    }

    fn listen(&self, listener: TcpListener) {
        let runtime = self.runtime.as_ref().expect("it is not dropped");
        let tls = self.tls.clone().map(TlsAcceptor::from);
        let listening = Listening::start(runtime.handle(), listener, tls, Arc::clone(&self.shared));
        *self.listening.lock().expect("no thread panics") = Some(listening);
    }

    /// Its address.
    #[must_use]
    pub fn url(&self) -> String {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://localhost:{}", self.port)
    }

    /// The certificate by which it is trusted.
    #[must_use]
    pub fn certificate(&self) -> &str {
        self.authority.pem()
    }

    /// A kubeconfig for it, with a bearer token or an empty text.
    #[must_use]
    pub fn kubeconfig(&self, token: &str) -> String {
        let mut cluster = json!({"server": self.url()});
        if self.tls.is_some() {
            cluster["certificate-authority-data"] = STANDARD.encode(self.certificate().as_bytes()).into();
        }
        let user = if token.is_empty() { json!({}) } else { json!({"token": token}) };
        // JSON is YAML.
        json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "test",
            "clusters": [{"name": "test", "cluster": cluster}],
            "users": [{"name": "test", "user": user}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test", "namespace": "default"}}],
        })
        .to_string()
    }

    /// Lets the holder of a token in, as a user who may do what the rules say. From the first one on, everybody must
    /// show a token. The rules of a token that is known are replaced.
    pub fn admit(&self, user: &str, token: &str, rules: &[Rule]) {
        let (name, token) = (user.to_owned(), token.to_owned());
        self.shared.admit(User { name, token, rules: rules.to_vec() });
    }

    /// Forgets the changes so far: every older `resourceVersion` is too old.
    pub fn compact(&self) {
        self.shared.with(|cluster| cluster.store.compact());
    }

    /// Hangs up on all watches, in the middle.
    pub fn cut_watches(&self) {
        self.shared.cuts.send_modify(|count| *count += 1);
    }

    /// Closes its port and all connections; who comes is refused until [`Self::resume`].
    pub fn refuse(&self) {
        // Closed when this returns.
        drop(self.listening.lock().expect("no thread panics").take());
    }

    /// Takes requests, and leaves them and all watches without a word until [`Self::resume`].
    pub fn fall_silent(&self) {
        self.shared.set_silent(true);
    }

    /// Answers again, on the same port.
    ///
    /// # Panics
    /// If somebody else has taken the port.
    pub fn resume(&self) {
        self.shared.set_silent(false);
        if self.listening.lock().expect("no thread panics").is_none() {
            self.listen(TcpListener::bind(("127.0.0.1", self.port)).expect("the port is still ours"));
        }
    }

    /// Takes this long for each answer.
    pub fn delay(&self, delay: Duration) {
        self.shared.set_delay(delay);
    }

    /// Refuses the next requests that match with a status, whatever they ask.
    pub fn fail(&self, times: usize, code: u16, matches: impl Fn(&Asked) -> bool + Send + 'static) {
        self.shared.fail(times, code, Box::new(matches));
    }

    /// Returns what it was asked so far, in order.
    #[must_use]
    pub fn requests(&self) -> Vec<Asked> {
        self.shared.log()
    }

    /// Forgets what it was asked.
    pub fn forget_requests(&self) {
        self.shared.forget_log();
    }
}

impl Drop for ApiServer {
    fn drop(&mut self) {
        self.shared.set_silent(false);
        self.refuse();
        if let Some(runtime) = self.runtime.take() {
            // A test may be a task itself, which must not wait for others.
            runtime.shutdown_background();
        }
    }
}

impl Asked {
    fn of(request: &Request) -> Self {
        let query = Query::read(&request.query);
        let path = ResourcePath::read(&request.path);
        let verb = path.as_ref().and_then(|path| {
            Verb::of(&request.method, path.name.is_empty() || path.subresource == "token", &query)
        });
        let verb = verb.map_or_else(|| request.method.to_lowercase(), |verb| verb.text().to_owned());
        let mut asked = Self {
            verb,
            group: String::new(),
            resource: String::new(),
            namespace: String::new(),
            name: String::new(),
            path: request.path.clone(),
            query: request.query.clone(),
            user_agent: request.agent.clone(),
        };
        if let Some(path) = path {
            let subresource = if path.subresource.is_empty() { "" } else { "/" };
            asked.resource = format!("{}{subresource}{}", path.plural, path.subresource);
            asked.group = path.group;
            asked.namespace = path.namespace;
            asked.name = path.name;
        }
        asked
    }

    /// Returns true if it would change something.
    #[must_use]
    pub fn is_write(&self) -> bool {
        !["get", "list", "watch"].contains(&self.verb.as_str())
    }
}

//! Connects to the API server: as kubectl does, or with the service account of the pod.
//!
//! In: what the command line says. Out: a client, and the namespace that we are in. Refused: to wait without end for a
//! connection or an answer; only watches may take as long as they like.

use diagnostic::{Error, ErrorKind, Result};
use std::fs;
use std::future::Future;
use std::path::Path;
use std::time::Duration;

use hyper::header::{HeaderValue, USER_AGENT};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};

use super::settings::Access;

/// Time it may take to connect.
const CONNECT: Duration = Duration::from_secs(10);

/// Time an answer may take that is no watch: as long as the API server itself tries, and not much longer.
const ANSWER: Duration = Duration::from_secs(70);

const OURS: &str = concat!("image-updater/", env!("CARGO_PKG_VERSION"));

/// A cluster that can be asked.
#[derive(Clone)]
pub(crate) struct Connection {
    pub(crate) client: Client,
    /// The namespace that we are in.
    pub(crate) namespace: String,
}

/// Prepares to ask a cluster. Nothing is asked yet; to be called within a runtime.
///
/// # Errors
/// If it is not said where there is one, or something of that is wrong.
pub(crate) async fn connect(access: &Access) -> Result<Connection> {
    let mut config = configuration(access).await.map_err(|why| {
        Error::new(ErrorKind::Environment, format!("no cluster can be asked: {why}"))
            .hint("name a kubeconfig with `--kubeconfig`, or run in a pod with a service account's token")
    })?;
    config.connect_timeout = Some(CONNECT);
    config.write_timeout = Some(ANSWER);
    config.headers.push((USER_AGENT, HeaderValue::from_static(OURS)));
    let namespace = variable("POD_NAMESPACE").unwrap_or_else(|| config.default_namespace.clone());
    let client = Client::try_from(config).map_err(|error| {
        Error::new(ErrorKind::Environment, format!("no cluster can be asked: {}", explain(&error)))
    })?;
    Ok(Connection { client, namespace })
}

/// As Kubernetes' own controllers look for it: what is named, what the variable names, the service account, and the home.
async fn configuration(access: &Access) -> Result<Config, String> {
    let options = KubeConfigOptions { context: access.context.clone(), ..KubeConfigOptions::default() };
    if let Some(path) = &access.kubeconfig {
        let file = Kubeconfig::read_from(path)
            .map_err(|error| format!("`{}`: {}", path.display(), gitremote::innermost(&error)))?;
        return Config::from_custom_kubeconfig(file, &options)
            .await
            .map_err(|error| gitremote::innermost(&error));
    }
    let is_pod = variable("KUBERNETES_SERVICE_HOST").is_some();
    if is_pod && access.context.is_none() && variable("KUBECONFIG").is_none() {
        return Config::incluster().map_err(|error| gitremote::innermost(&error));
    }
    Config::from_kubeconfig(&options).await.map_err(|error| gitremote::innermost(&error))
}

/// Waits for an answer, but not without end.
///
/// # Errors
/// If there is none in time, or it is a refusal.
pub(crate) async fn answer<T>(asked: impl Future<Output = kube::Result<T>>) -> Result<T> {
    let failed = |why: String| Error::new(ErrorKind::Environment, format!("the API server: {why}"));
    match tokio::time::timeout(ANSWER, asked).await {
        Ok(answer) => answer.map_err(|error| failed(explain(&error))),
        Err(_) => Err(failed(format!("no answer within {} s", ANSWER.as_secs()))),
    }
}

/// Returns what went wrong, in the API server's own words where it has some.
pub(crate) fn explain(error: &kube::Error) -> String {
    match error {
        kube::Error::Api(status) if !status.message.is_empty() => status.message.clone(),
        kube::Error::Api(status) => format!("{} {}", status.code, status.reason),
        other => gitremote::innermost(other),
    }
}

/// Returns what tells this replica from all others: its pod, or else its machine, and chance, as one may be started anew.
pub(crate) fn identity(random: fn() -> u64) -> String {
    let machine = || fs::read_to_string(Path::new("/proc/sys/kernel/hostname")).ok();
    let name = variable("POD_NAME").or_else(|| variable("HOSTNAME")).or_else(machine);
    let name = name.as_deref().map(str::trim).filter(|name| !name.is_empty()).unwrap_or("image-updater");
    format!("{name}_{:016x}", random())
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

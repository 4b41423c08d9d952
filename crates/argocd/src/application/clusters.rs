//! The cluster that an Application is for.
//!
//! In: a destination and the clusters of the context. Out: the cluster. Refused: clusters that the context does not have,
//! and destinations that name none, or one twice.

use diagnostic::{Error, Result};

use super::model::{Application, Destination};
use crate::context::{Cluster, Context};

/// The cluster that Argo CD runs in.
pub const IN_CLUSTER_SERVER: &str = "https://kubernetes.default.svc";
/// Its name.
pub const IN_CLUSTER_NAME: &str = "in-cluster";

/// Finds the cluster of an Application (argo.go `GetDestinationCluster`).
pub(crate) fn of(application: &Application, context: &Context) -> Result<Cluster> {
    let Destination { server, name, span, .. } = &application.destination;
    let refuse = |message: String| Err(application.error(message, *span));
    match (server.trim_end_matches('/'), name.as_str()) {
        ("", "") => refuse("`spec.destination` lacks `server` or `name`".to_owned()),
        ("", name) => {
            let found: Vec<&Cluster> = context
                .clusters
                .iter()
                .map(|cluster| &cluster.value)
                .filter(|cluster| cluster.name == name)
                .collect();
            match found.as_slice() {
                [cluster] => Ok((*cluster).clone()),
                [] if name == IN_CLUSTER_NAME => Ok(in_cluster()),
                [] => Err(unknown(application, name)),
                several => refuse(format!("the context has {} clusters `{name}`", several.len())),
            }
        }
        (server, "") => {
            let is_it = |cluster: &&Cluster| cluster.server.trim_end_matches('/') == server;
            match context.clusters.iter().map(|cluster| &cluster.value).find(is_it) {
                Some(cluster) => Ok(cluster.clone()),
                None if server == IN_CLUSTER_SERVER => Ok(in_cluster()),
                None => Err(unknown(application, server)),
            }
        }
        _ => refuse("`spec.destination` has both `server` and `name`: only one may be there".to_owned()),
    }
}

fn unknown(application: &Application, cluster: &str) -> Error {
    application
        .error(format!("unknown cluster `{cluster}`"), application.destination.span)
        .hint("add it under `clusters` of the context file: `{name: …, server: …}`")
}

fn in_cluster() -> Cluster {
    Cluster {
        name: IN_CLUSTER_NAME.to_owned(),
        server: IN_CLUSTER_SERVER.to_owned(),
        project: String::new(),
        labels: std::collections::BTreeMap::new(),
        annotations: std::collections::BTreeMap::new(),
        kube_version: String::new(),
        api_versions: Vec::new(),
    }
}

//! `clusters`: the clusters of the context, and the one that Argo CD runs in (applicationset/generators/cluster.go).
//!
//! Argo CD lists clusters in no order; here they come by name, and its own cluster last.

use std::collections::BTreeMap;

use diagnostic::{Error, Result};
use gotemplate::{List, Map, Type, Value};

use super::{Depth, Run, TEMPLATE, VALUES};
use crate::appset::params::Params;
use crate::appset::schema::{Shape, optional};
use crate::appset::selector::{self, Selector, ValuesOf};
use crate::appset::slug::normalize;
use crate::appset::tree::Tree;
use crate::context::Cluster;

/// The name of the cluster that Argo CD runs in.
pub(crate) const IN_CLUSTER: &str = "in-cluster";
/// Its address.
pub(crate) const IN_CLUSTER_SERVER: &str = "https://kubernetes.default.svc";

/// The label by which Argo CD knows the Secrets of clusters: all have it, so that a context need not say it.
const SECRET_TYPE: (&str, &str) = ("argocd.argoproj.io/secret-type", "cluster");

pub(super) fn shape(_: Depth) -> Option<Shape> {
    const SHAPE: Shape = Shape::Object(&[
        optional("selector", selector::SHAPE),
        TEMPLATE,
        VALUES,
        optional("flatList", Shape::Bool),
    ]);
    Some(SHAPE)
}

pub(super) fn generate(run: &Run<'_>, config: &Tree, _: Depth) -> Result<Vec<Params>> {
    let none = Tree::default();
    let selector = Selector::read(config.get("selector").unwrap_or(&none), ValuesOf::Objects)
        .map_err(|(message, span)| Error::invalid(message).at(run.place(span)))?;
    let mut chosen: Vec<&Cluster> = run
        .world
        .context
        .clusters
        .iter()
        .map(|cluster| &cluster.value)
        .filter(|it| is_chosen(&selector, it))
        .collect();
    chosen.sort_by(|one, other| one.name.cmp(&other.name));
    let mut sets = Vec::new();
    for cluster in &chosen {
        sets.push(parameters(run, config, cluster)?);
    }
    // It has no Secret, and so no label to choose it by.
    if selector.is_empty() && !chosen.iter().any(|cluster| cluster.server == IN_CLUSTER_SERVER) {
        let params = named(IN_CLUSTER, IN_CLUSTER_SERVER, "");
        run.add_values(config, &params)?;
        sets.push(params);
    }
    Ok(if config.is_set("flatList") { vec![consolidated(&sets)] } else { sets })
}

fn is_chosen(selector: &Selector, cluster: &Cluster) -> bool {
    let mut labels = cluster.labels.clone();
    labels.insert(SECRET_TYPE.0.to_owned(), SECRET_TYPE.1.to_owned());
    selector.matches(&labels)
}

fn named(name: &str, server: &str, project: &str) -> Params {
    let params = Params::default();
    params.insert("name", name.into());
    params.insert("nameNormalized", normalize(name).into());
    params.insert("server", server.into());
    params.insert("project", project.into());
    params
}

fn parameters(run: &Run<'_>, config: &Tree, cluster: &Cluster) -> Result<Params> {
    let params = named(&cluster.name, &cluster.server, &cluster.project);
    let metadata = [("annotations", &cluster.annotations), ("labels", &cluster.labels)];
    if run.language.is_go() {
        let set = metadata.iter().filter(|(_, values)| !values.is_empty());
        params.insert("metadata", Value::map(set.map(|(name, values)| (*name, text_map(values).into()))));
    } else {
        for (kind, values) in metadata {
            for (key, value) in values {
                params.insert(format!("metadata.{kind}.{key}"), value.as_str().into());
            }
        }
    }
    run.add_values(config, &params)?;
    Ok(params)
}

fn text_map(values: &BTreeMap<String, String>) -> Map {
    let entries = values.iter().map(|(key, value)| (key.as_str().into(), value.as_str().into()));
    Map::typed(Type::STRING_MAP, entries.collect())
}

/// One set that has all of them.
fn consolidated(sets: &[Params]) -> Params {
    let items = sets.iter().map(|set| set.map().clone().into()).collect();
    let params = Params::default();
    params.insert("clusters", List::typed(Type::Slice(&Type::MAP), items).into());
    params
}

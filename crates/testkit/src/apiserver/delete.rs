//! Deletes objects: at once, or when the last finalizer is gone.

use std::sync::Arc;

use serde_json::{Value, json};

use super::call::Call;
use super::cluster::{Cluster, Reply};
use super::failure::Failure;
use super::resource::Resource;
use super::view::View;
use super::{definition, metadata, read};

/// `DELETE` of an object. Whatever the propagation policy, nothing follows its owner: that is not the API server's.
pub(super) fn delete(cluster: &mut Cluster, call: &Call) -> Result<Reply, Failure> {
    let key = call.key(&call.name);
    let Some(object) = cluster.store.get(&call.resource.table, &key).cloned() else {
        return Err(call.resource.not_found(&call.name));
    };
    check_preconditions(call, &object)?;
    if call.is_dry_run()? {
        return Ok(Reply::ok(call.resource.shown(&call.version.name, &object)));
    }
    match begin(cluster, &call.resource, &key, &object) {
        Some(going) => Ok(Reply::ok(call.resource.shown(&call.version.name, &going))),
        None => Ok(Reply::ok(success(call, &object))),
    }
}

/// `DELETE` of a collection: what was deleted comes as a list.
pub(super) fn delete_collection(cluster: &mut Cluster, call: &Call, view: View) -> Result<Reply, Failure> {
    let list = read::list(cluster, call, view)?;
    if call.is_dry_run()? {
        return Ok(list);
    }
    for (key, object) in read::matching(cluster, call)? {
        begin(cluster, &call.resource, &key, &object);
    }
    Ok(list)
}

fn check_preconditions(call: &Call, object: &Value) -> Result<(), Failure> {
    if call.body.is_empty() {
        return Ok(());
    }
    let options: Value = serde_json::from_slice(&call.body).map_err(|error| {
        Failure::bad_request(format!("couldn't get version/kind; json parse error: {error}"))
    })?;
    for (field, shown) in [("uid", "UID"), ("resourceVersion", "ResourceVersion")] {
        let Some(wanted) = options["preconditions"][field].as_str() else { continue };
        let found = metadata::text(object, field);
        if wanted != found {
            let why = format!(
                "the {shown} in the precondition ({wanted}) does not match the {shown} in record ({found}). The \
                 object might have been deleted and then recreated"
            );
            return Err(call.resource.conflict(&call.name, &why));
        }
    }
    Ok(())
}

fn success(call: &Call, object: &Value) -> Value {
    let mut details =
        json!({"name": call.name, "kind": call.resource.plural, "uid": object["metadata"]["uid"]});
    if !call.resource.group.is_empty() {
        details["group"] = call.resource.group.as_str().into();
    }
    json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details})
}

/// Removes an object that has no finalizers; of one that has, it says since when it goes, and gives it.
fn begin(cluster: &mut Cluster, resource: &Resource, key: &str, object: &Arc<Value>) -> Option<Arc<Value>> {
    let holds = !metadata::finalizers(object).is_empty();
    if !holds && resource.table != "namespaces" {
        remove(cluster, resource, key);
        return None;
    }
    if metadata::is_going(object) {
        return Some(Arc::clone(object));
    }
    let mut going = Value::clone(object);
    let generation = going["metadata"]["generation"].as_i64();
    let fields = metadata::of(&mut going);
    fields.insert("deletionTimestamp".to_owned(), metadata::now().into());
    fields.insert("deletionGracePeriodSeconds".to_owned(), 0.into());
    if let Some(generation) = generation {
        fields.insert("generation".to_owned(), (generation + 1).into());
    }
    if resource.table == "namespaces" {
        going["status"]["phase"] = "Terminating".into();
    }
    let going = cluster.store.put(&resource.table, key, going);
    if resource.table == "namespaces" {
        empty(cluster, key);
        // It may be gone by now.
        return cluster.store.get(&resource.table, key).cloned();
    }
    Some(going)
}

/// Deletes all that is in a namespace, as its controller would, and then the namespace.
fn empty(cluster: &mut Cluster, namespace: &str) {
    for resource in cluster.resources.clone().iter().filter(|resource| resource.namespaced) {
        for (key, object) in cluster.store.table(&resource.table) {
            if metadata::text(&object, "namespace") == namespace {
                begin(cluster, resource, &key, &object);
            }
        }
    }
    forget_empty(cluster, namespace);
}

fn forget_empty(cluster: &mut Cluster, namespace: &str) {
    let is_going =
        cluster.store.get("namespaces", namespace).is_some_and(|object| metadata::is_going(object));
    let start = format!("{namespace}/");
    let holds = |resource: &Arc<Resource>| {
        resource.namespaced && cluster.store.table(&resource.table).keys().any(|key| key.starts_with(&start))
    };
    if is_going && !cluster.resources.iter().any(holds) {
        cluster.store.remove("namespaces", namespace);
    }
}

/// Removes an object, and what goes with it.
pub(super) fn remove(cluster: &mut Cluster, resource: &Resource, key: &str) {
    let object = cluster.store.get(&resource.table, key).cloned();
    cluster.store.remove(&resource.table, key);
    let Some(object) = object else { return };
    if resource.table == definition::TABLE {
        for instance in cluster.store.table(key).keys() {
            cluster.store.remove(key, instance);
        }
        let text = |pointer| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        cluster.unregister(text("/spec/group"), text("/spec/names/plural"));
    }
    let namespace = metadata::text(&object, "namespace");
    if !namespace.is_empty() {
        forget_empty(cluster, namespace);
    }
}

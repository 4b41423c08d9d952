//! Gets, lists and begins watches.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use super::call::{Call, Query};
use super::cluster::{Cluster, Reply};
use super::failure::{Cause, Failure};
use super::selector::Selector;
use super::store::Table;
use super::view::View;
use super::watch::{Start, Watch};

/// `GET` of an object.
pub(super) fn get(cluster: &Cluster, call: &Call) -> Result<Reply, Failure> {
    not_before(cluster, &call.query)?;
    match cluster.store.get(&call.resource.table, &call.key(&call.name)) {
        Some(object) => Ok(Reply::ok(call.resource.shown(&call.version.name, object))),
        None => Err(call.resource.not_found(&call.name)),
    }
}

/// The `resourceVersion` that a request names, which must have been.
fn not_before(cluster: &Cluster, query: &Query) -> Result<Option<u64>, Failure> {
    let asked = query.number("resourceVersion")?;
    match asked {
        Some(asked) if asked > cluster.store.revision() => {
            Err(Failure::too_early(asked, cluster.store.revision()))
        }
        asked => Ok(asked),
    }
}

/// `GET` of a collection.
pub(super) fn list(cluster: &Cluster, call: &Call, view: View) -> Result<Reply, Failure> {
    check_list_options(&call.query)?;
    let selector = selector(call)?;
    let asked = not_before(cluster, &call.query)?;
    let is_exact = call.query.text("resourceVersionMatch") == "Exact";
    let (revision, after) = match call.query.text("continue") {
        "" if is_exact => (asked.unwrap_or_default(), String::new()),
        "" => (cluster.store.revision(), String::new()),
        token => continued(cluster, token, asked)?,
    };
    if revision < cluster.store.oldest() {
        return Err(if after.is_empty() {
            Failure::expired(revision, cluster.store.oldest())
        } else {
            Failure::list_expired(token(cluster.store.revision(), &after))
        });
    }
    let all = in_namespace(call, cluster.store.table_at(&call.resource.table, revision));
    let limit = match call.query.number("limit")? {
        // What is served from memory is served whole.
        Some(limit) if limit > 0 && asked != Some(0) => usize::try_from(limit).unwrap_or(usize::MAX),
        _ => usize::MAX,
    };
    let mut left = all.into_iter().filter(|(key, _)| *key > after);
    let mut items = Vec::new();
    let mut last = String::new();
    for (key, object) in left.by_ref() {
        let shown = call.resource.shown(&call.version.name, &object);
        if !selector.matches(&shown) {
            continue;
        }
        items.push(item(call, shown));
        last = key;
        if items.len() == limit {
            break;
        }
    }
    let rest =
        left.filter(|(_, object)| selector.matches(&call.resource.shown(&call.version.name, object))).count();
    let mut metadata = json!({"resourceVersion": revision.to_string()});
    if rest > 0 {
        metadata["continue"] = token(revision, &last).into();
        // It is only counted where nothing has to be looked at.
        if selector.is_empty() {
            metadata["remainingItemCount"] = rest.into();
        }
    }
    let list = json!({
        "kind": call.resource.list_kind, "apiVersion": call.api_version(), "metadata": metadata, "items": items,
    });
    Ok(Reply::ok(view.of_list(list)?))
}

/// An object in a list. Those of built-in kinds do not say what they are there, as Go does not write the types of
/// items that are all of one.
fn item(call: &Call, mut object: Value) -> Value {
    if !call.resource.habits.custom
        && let Some(fields) = object.as_object_mut()
    {
        fields.remove("apiVersion");
        fields.remove("kind");
    }
    object
}

fn check_list_options(query: &Query) -> Result<(), Failure> {
    let how = query.text("resourceVersionMatch");
    let mut causes = Vec::new();
    let field = "resourceVersionMatch";
    if !how.is_empty() {
        if query.text("resourceVersion").is_empty() {
            let why = "resourceVersionMatch is forbidden unless resourceVersion is provided";
            causes.push(Cause::forbidden(field, why));
        }
        if !query.text("continue").is_empty() {
            causes
                .push(Cause::forbidden(field, "resourceVersionMatch is forbidden when continue is provided"));
        }
        if !["Exact", "NotOlderThan"].contains(&how) {
            let supported = [json!("Exact"), json!("NotOlderThan"), json!("")];
            causes.push(Cause::unsupported(field, &json!(how), &supported));
        }
        if how == "Exact" && query.text("resourceVersion") == "0" {
            let why = "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"";
            causes.push(Cause::forbidden(field, why));
        }
    }
    if query.is("sendInitialEvents") {
        causes.push(Cause::forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"));
    }
    invalid_options(&causes)
}

fn invalid_options(causes: &[Cause]) -> Result<(), Failure> {
    if causes.is_empty() { Ok(()) } else { Err(Failure::invalid("meta.k8s.io", "ListOptions", "", causes)) }
}

fn selector(call: &Call) -> Result<Selector, Failure> {
    let selectable = call.version.selectable(call.resource.namespaced);
    Selector::read(call.query.text("labelSelector"), call.query.text("fieldSelector"), &selectable)
}

/// Returns what all objects of the collection that a request is for are, and match it.
pub(super) fn matching(cluster: &Cluster, call: &Call) -> Result<Vec<(String, Arc<Value>)>, Failure> {
    let selector = selector(call)?;
    let all = in_namespace(call, cluster.store.table(&call.resource.table));
    let matches = |object: &Value| selector.matches(&call.resource.shown(&call.version.name, object));
    Ok(all.into_iter().filter(|(_, object)| matches(object)).collect())
}

fn in_namespace(call: &Call, mut table: Table) -> Table {
    if !call.namespace.is_empty() {
        let start = format!("{}/", call.namespace);
        table.retain(|key, _| key.starts_with(&start));
    }
    table
}

/// Returns where a list goes on: at the revision where it began, behind the last key.
fn token(revision: u64, last: &str) -> String {
    URL_SAFE_NO_PAD.encode(json!({"v": "meta.k8s.io/v1", "rv": revision, "start": last}).to_string())
}

fn continued(cluster: &Cluster, token: &str, asked: Option<u64>) -> Result<(u64, String), Failure> {
    if asked.is_some_and(|asked| asked != 0) {
        return Err(Failure::bad_request("specifying resource version is not allowed when using continue"));
    }
    let bytes = URL_SAFE_NO_PAD.decode(token).unwrap_or_default();
    let read: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    match (read["rv"].as_u64(), read["start"].as_str()) {
        (Some(revision), Some(last)) if revision <= cluster.store.revision() => {
            Ok((revision, last.to_owned()))
        }
        _ => Err(Failure::bad_request("continue key is not valid")),
    }
}

/// `GET` of a collection with `watch`.
pub(super) fn watch(cluster: &Cluster, call: &Call, view: View) -> Result<Watch, Failure> {
    check_watch_options(cluster, &call.query)?;
    if view == View::MetadataList {
        let why = "you requested PartialObjectMetadataList, but the requested object is not a list";
        return Err(Failure::not_acceptable(why));
    }
    let asked = call.query.number("resourceVersion")?.unwrap_or_default();
    let streams_list = call.query.is("sendInitialEvents");
    if streams_list {
        not_before(cluster, &call.query)?;
    }
    let opted_out = !streams_list && !call.query.text("sendInitialEvents").is_empty();
    let start = if streams_list || asked == 0 && !opted_out {
        Start::WithWhatIs
    } else if asked == 0 {
        Start::After(cluster.store.revision())
    } else {
        Start::After(asked)
    };
    Ok(Watch {
        resource: Arc::clone(&call.resource),
        version: call.version.name.clone(),
        namespace: call.namespace.clone(),
        selector: selector(call)?,
        start,
        announces_end_of_list: streams_list,
        bookmarks: call.query.is("allowWatchBookmarks"),
        timeout: call.query.number("timeoutSeconds")?,
        view,
    })
}

/// As `validateWatchOptions` in apimachinery's `internalversion/validation` has it since streaming lists are there.
fn check_watch_options(cluster: &Cluster, query: &Query) -> Result<(), Failure> {
    let how = query.text("resourceVersionMatch");
    let has_choice = !query.text("sendInitialEvents").is_empty();
    let mut causes = Vec::new();
    if has_choice && !cluster.streaming_lists {
        let why = "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled";
        causes.push(Cause::forbidden("sendInitialEvents", why));
    } else if has_choice {
        if how != "NotOlderThan" {
            let why = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
            causes.push(Cause::forbidden("resourceVersionMatch", why));
        }
        if query.is("sendInitialEvents") && !query.is("allowWatchBookmarks") {
            let why = "sendInitialEvents requires setting allowWatchBookmarks to true";
            causes.push(Cause::forbidden("allowWatchBookmarks", why));
        }
    } else if !how.is_empty() {
        let why = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided";
        causes.push(Cause::forbidden("resourceVersionMatch", why));
    }
    invalid_options(&causes)
}

//! Makes and changes objects. A body goes in; what comes out is the object as it is kept then, or why it is not.

use std::sync::Arc;

use serde_json::Value;

use super::call::Call;
use super::cluster::{Cluster, Reply};
use super::failure::{Cause, Failure};
use super::managed::{self, Author};
use super::{definition, metadata, rules, schema};

/// `POST` to a collection.
pub(super) fn create(cluster: &mut Cluster, call: &Call) -> Result<Reply, Failure> {
    let mut object = read_body(call)?;
    let warnings = normalize(cluster, call, &mut object)?;
    if !metadata::text(&object, "resourceVersion").is_empty() {
        return Err(Failure::internal("resourceVersion should not be set on objects to be created"));
    }
    metadata::of(&mut object).remove("managedFields");
    let object = insert(cluster, call, object, Some(&author(call)))?;
    Ok(Reply { code: 201, value: object, warnings })
}

/// `PUT` of an object.
pub(super) fn update(cluster: &mut Cluster, call: &Call) -> Result<Reply, Failure> {
    let mut object = read_body(call)?;
    let warnings = normalize(cluster, call, &mut object)?;
    check_addressed(call, &object)?;
    let before = cluster.store.get(&call.resource.table, &call.key(&call.name)).cloned();
    let Some(before) = before else {
        if !call.resource.habits.create_on_update {
            return Err(call.resource.not_found(&call.name));
        }
        let object = insert(cluster, call, object, Some(&author(call)))?;
        return Ok(Reply { code: 201, value: object, warnings });
    };
    let value = replace(cluster, call, &before, object, Some(&author(call)))?;
    Ok(Reply { code: 200, value, warnings })
}

/// Returns the author of a request's changes.
pub(super) fn author(call: &Call) -> Author {
    Author {
        manager: call.manager(),
        api_version: call.api_version(),
        subresource: if call.is_status() { "status" } else { "" },
    }
}

/// The object that a body holds, of the kind that its path is of.
fn read_body(call: &Call) -> Result<Value, Failure> {
    let media_type = call.content_type.split(';').next().unwrap_or_default().trim();
    if !["", "application/json"].contains(&media_type) {
        return Err(Failure::unsupported_media_type(&["application/json"]));
    }
    let object: Value = serde_json::from_slice(&call.body).map_err(|error| {
        Failure::bad_request(format!("couldn't get version/kind; json parse error: {error}"))
    })?;
    checked_type(call, object)
}

/// Holds the type of an object against that of its path.
pub(super) fn checked_type(call: &Call, mut object: Value) -> Result<Value, Failure> {
    if !object.is_object() {
        return Err(Failure::bad_request("couldn't get version/kind; json parse error: it is no object"));
    }
    let wanted = [("apiVersion", call.api_version()), ("kind", call.resource.kind.clone())];
    for (field, wanted) in wanted {
        match object[field].as_str() {
            // The types of built-in kinds are known where they are read.
            None | Some("") if !call.resource.habits.custom => object[field] = wanted.into(),
            None | Some("") => {
                return Err(Failure::bad_request(format!("Object '{field}' is missing in '{object}'")));
            }
            Some(found) if found == wanted => {}
            Some(found) if field == "apiVersion" => {
                return Err(Failure::bad_request(format!(
                    "the API version in the data ({found}) does not match the expected API version ({wanted})"
                )));
            }
            Some(found) => {
                let version = &call.version.name;
                return Err(Failure::bad_request(format!(
                    "{found} in version {version:?} cannot be handled as a {wanted}"
                )));
            }
        }
    }
    Ok(object)
}

/// Removes what the kind does not know, fills in defaults, and refuses what Go could not decode. Gives warnings.
pub(super) fn normalize(cluster: &Cluster, call: &Call, object: &mut Value) -> Result<Vec<String>, Failure> {
    let kind = &call.resource.kind;
    let undecodable = |causes: &[Cause]| {
        let cause = &causes[0];
        Failure::bad_request(format!(
            "{kind} in version {:?} cannot be handled as a {kind}: {}: {}",
            call.version.name, cause.field, cause.message
        ))
    };
    let mut own = std::mem::take(metadata::of(object));
    let mut dropped: Vec<String> = {
        own.retain(|_, value| !value.is_null());
        let mut value = Value::Object(own);
        let dropped = schema::prune(&cluster.metadata_schema, &mut value);
        let causes = schema::check(&cluster.metadata_schema, &value);
        if !causes.is_empty() {
            return Err(undecodable(&causes));
        }
        object["metadata"] = value;
        dropped.into_iter().map(|field| format!("metadata.{field}")).collect()
    };
    if !call.resource.habits.custom {
        without_nulls(object);
    }
    dropped.extend(schema::prune(&call.version.schema, object));
    if call.resource.habits.custom {
        schema::default(&call.version.schema, object);
    } else {
        let causes = schema::check(&call.version.schema, object);
        if !causes.is_empty() {
            return Err(undecodable(&causes));
        }
    }
    if call.resource.table == definition::TABLE {
        dropped.extend(definition::complete(object));
    }
    let texts = dropped.iter().map(|field| format!("unknown field {field:?}"));
    match call.query.text("fieldValidation") {
        "Strict" if !dropped.is_empty() => Err(Failure::bad_request(format!(
            "{kind} in version {:?} cannot be handled as a {kind}: strict decoding error: {}",
            call.version.name,
            texts.collect::<Vec<_>>().join(", ")
        ))),
        "Ignore" => Ok(Vec::new()),
        "" | "Warn" | "Strict" => Ok(texts.collect()),
        other => Err(Failure::bad_request(format!("fieldValidation: Unsupported value: {other:?}"))),
    }
}

/// Removes what Go's types omit when they are written.
fn without_nulls(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|_, value| !value.is_null());
            fields.values_mut().for_each(without_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(without_nulls),
        _ => {}
    }
}

/// The object must be the one that the path names.
pub(super) fn check_addressed(call: &Call, object: &Value) -> Result<(), Failure> {
    let (name, namespace) = (metadata::text(object, "name"), metadata::text(object, "namespace"));
    if !name.is_empty() && name != call.name {
        return Err(Failure::bad_request(format!(
            "the name of the object ({name}) does not match the name on the URL ({})",
            call.name
        )));
    }
    check_namespace(call, namespace)
}

fn check_namespace(call: &Call, namespace: &str) -> Result<(), Failure> {
    if !namespace.is_empty() && namespace != call.namespace {
        return Err(Failure::bad_request(
            "the namespace of the provided object does not match the namespace sent on the request",
        ));
    }
    Ok(())
}

/// Keeps a new object. Without an author its managers are noted already.
pub(super) fn insert(
    cluster: &mut Cluster,
    call: &Call,
    mut object: Value,
    author: Option<&Author>,
) -> Result<Value, Failure> {
    let resource = &call.resource;
    check_namespace(call, metadata::text(&object, "namespace"))?;
    if resource.namespaced {
        metadata::of(&mut object).insert("namespace".to_owned(), call.namespace.clone().into());
    }
    metadata::generate_name(&mut object);
    if !call.name.is_empty() {
        metadata::of(&mut object).insert("name".to_owned(), call.name.clone().into());
    }
    metadata::begin(&mut object);
    if resource.habits.generation {
        metadata::of(&mut object).insert("generation".to_owned(), 1.into());
    }
    if call.version.status {
        object.as_object_mut().expect("it is one").remove("status");
    }
    let name = metadata::text(&object, "name").to_owned();
    check_namespace_takes(cluster, call, &name)?;
    let mut object = resource.stored(object);
    rules::complete(resource, &mut object);
    check(cluster, call, None, &object)?;
    let key = call.key(&name);
    if let Some(known) = cluster.store.get(&resource.table, &key) {
        let mut failure = Failure::already_exists(&resource.group, &resource.plural, &name);
        if metadata::is_going(known) {
            failure.message.insert_str(0, "object is being deleted: ");
        }
        return Err(failure);
    }
    if let Some(author) = author {
        managed::note_update(&call.version.schema, &Value::Null, &mut object, author);
    }
    keep(cluster, call, &key, object)
}

/// A namespace must be there, and not on its way out.
fn check_namespace_takes(cluster: &Cluster, call: &Call, name: &str) -> Result<(), Failure> {
    if !call.resource.namespaced {
        return Ok(());
    }
    let resource = &call.resource;
    match cluster.store.get("namespaces", &call.namespace) {
        None => Err(Failure::not_found("", "namespaces", &call.namespace)),
        Some(namespace) if metadata::is_going(namespace) => {
            Err(Failure::terminating(&resource.group, &resource.plural, name, &call.namespace))
        }
        Some(_) => Ok(()),
    }
}

/// Puts an object in the place of another, as far as the part of the API lets it. Without an author its managers are
/// noted already.
pub(super) fn replace(
    cluster: &mut Cluster,
    call: &Call,
    before: &Arc<Value>,
    object: Value,
    author: Option<&Author>,
) -> Result<Value, Failure> {
    let resource = &call.resource;
    check_version(call, before, &object)?;
    let mut object = resource.stored(object);
    if call.is_status() {
        object = with_status_of(before, &object);
    } else if call.version.status {
        set(&mut object, "status", before.get("status"));
    }
    let mut causes = metadata::carry_over(before, &mut object);
    metadata::of(&mut object).insert("name".to_owned(), call.name.clone().into());
    if resource.namespaced {
        metadata::of(&mut object).insert("namespace".to_owned(), call.namespace.clone().into());
    }
    rules::complete(resource, &mut object);
    if resource.habits.generation && !call.is_status() && is_new_generation(before, &object) {
        let next = before["metadata"]["generation"].as_i64().unwrap_or_default() + 1;
        metadata::of(&mut object).insert("generation".to_owned(), next.into());
    }
    if causes.is_empty() {
        check(cluster, call, Some(before), &object)?;
    } else {
        causes.dedup();
        return Err(Failure::invalid(&resource.group, &resource.kind, &call.name, &causes));
    }
    if let Some(author) = author {
        managed::note_update(&call.version.schema, before, &mut object, author);
    }
    let revision = before["metadata"]["resourceVersion"].clone();
    metadata::of(&mut object).insert("resourceVersion".to_owned(), revision);
    // Of a CRD's versions the one that the object was written by last is kept; that alone is no change.
    object["apiVersion"] = before["apiVersion"].clone();
    if object == **before {
        return Ok(resource.shown(&call.version.name, before));
    }
    let key = call.key(&call.name);
    if metadata::is_going(before) && metadata::finalizers(&object).is_empty() && !call.is_dry_run()? {
        super::delete::remove(cluster, resource, &key);
        return Ok(resource.shown(&call.version.name, &object));
    }
    keep(cluster, call, &key, object)
}

/// Returns whether the change is of the object that the writer has seen.
fn check_version(call: &Call, before: &Value, object: &Value) -> Result<(), Failure> {
    let resource = &call.resource;
    let version = metadata::text(object, "resourceVersion");
    if version.is_empty() && !resource.habits.unconditional_update {
        let why = "must be specified for an update";
        let cause = Cause::invalid("metadata.resourceVersion", &0.into(), why);
        // The real server names the resource here, not the kind.
        return Err(Failure::invalid(&resource.group, &resource.plural, &call.name, &[cause]));
    }
    let uid = metadata::text(object, "uid");
    let known = metadata::text(before, "uid");
    if !uid.is_empty() && uid != known {
        let why = format!("Precondition failed: UID in precondition: {uid}, UID in object meta: {known}");
        return Err(resource.conflict(&call.name, &why));
    }
    if !version.is_empty() && version != metadata::text(before, "resourceVersion") {
        return Err(resource.modified(&call.name));
    }
    Ok(())
}

/// The object before with the status of another, and nothing else of it.
fn with_status_of(before: &Value, object: &Value) -> Value {
    let mut kept = before.clone();
    set(&mut kept, "status", object.get("status"));
    if let Some(managers) = object["metadata"].get("managedFields") {
        metadata::of(&mut kept).insert("managedFields".to_owned(), managers.clone());
    }
    kept
}

fn set(object: &mut Value, field: &str, value: Option<&Value>) {
    let fields = object.as_object_mut().expect("it is one");
    match value {
        Some(value) => fields.insert(field.to_owned(), value.clone()),
        None => fields.remove(field),
    };
}

/// All but the metadata counts: without a status subresource also the status.
fn is_new_generation(before: &Value, after: &Value) -> bool {
    let fields = |object: &Value| {
        let fields = object.as_object().cloned().unwrap_or_default();
        let counts = |name: &str| !["apiVersion", "kind", "metadata"].contains(&name);
        fields.into_iter().filter(|(name, _)| counts(name)).collect::<Vec<_>>()
    };
    fields(before) != fields(after)
}

fn check(cluster: &Cluster, call: &Call, before: Option<&Value>, object: &Value) -> Result<(), Failure> {
    let resource = &call.resource;
    let mut causes = metadata::check(object, resource.habits.naming);
    if resource.table == definition::TABLE {
        causes.extend(definition::check(before, object));
    } else if resource.habits.custom {
        causes.extend(schema::check(&call.version.schema, object));
    } else {
        causes.extend(rules::check(resource, before, object));
    }
    if !causes.is_empty() {
        let name = metadata::text(object, "name");
        return Err(Failure::invalid(&resource.group, &resource.kind, name, &causes));
    }
    if resource.table == definition::TABLE {
        definition::resource(object, &cluster.resources)?;
    }
    Ok(())
}

/// Writes an object, unless the request is only for show.
fn keep(cluster: &mut Cluster, call: &Call, key: &str, mut object: Value) -> Result<Value, Failure> {
    let resource = &call.resource;
    if call.is_dry_run()? {
        return Ok(resource.shown(&call.version.name, &object));
    }
    if resource.table == definition::TABLE {
        definition::establish(&mut object);
        let defined = definition::resource(&object, &cluster.resources)?;
        cluster.register(defined);
    }
    let object = cluster.store.put(&resource.table, key, object);
    Ok(resource.shown(&call.version.name, &object))
}

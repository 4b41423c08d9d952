//! Errors: a `Status` with the code, reason, message and causes of the real server.

use serde_json::{Map, Value, json};

/// A request that was not granted.
#[derive(Clone, Debug)]
pub(super) struct Failure {
    pub(super) code: u16,
    pub(super) reason: &'static str,
    pub(super) message: String,
    details: Map<String, Value>,
    /// In the `metadata` of the `Status`: how a list that came too late can go on.
    next: Option<String>,
    /// Said as text, as by the part of the server that knows no objects.
    pub(super) plain: bool,
}

/// One thing that is wrong with an object.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cause {
    pub(super) reason: &'static str,
    pub(super) field: String,
    pub(super) message: String,
}

impl Failure {
    fn new(code: u16, reason: &'static str, message: impl Into<String>) -> Self {
        Self { code, reason, message: message.into(), details: Map::new(), next: None, plain: false }
    }

    fn about(mut self, group: &str, kind: &str, name: &str) -> Self {
        for (field, text) in [("group", group), ("kind", kind), ("name", name)] {
            if !text.is_empty() {
                self.details.insert(field.to_owned(), text.into());
            }
        }
        self
    }

    /// No path of the server.
    pub(super) fn no_such_path() -> Self {
        let mut failure = Self::new(404, "NotFound", "404 page not found");
        failure.plain = true;
        failure
    }

    pub(super) fn not_found(group: &str, plural: &str, name: &str) -> Self {
        let message = format!("{} {name:?} not found", qualified(group, plural));
        Self::new(404, "NotFound", message).about(group, plural, name)
    }

    pub(super) fn already_exists(group: &str, plural: &str, name: &str) -> Self {
        let message = format!("{} {name:?} already exists", qualified(group, plural));
        Self::new(409, "AlreadyExists", message).about(group, plural, name)
    }

    pub(super) fn conflict(group: &str, plural: &str, name: &str, why: &str) -> Self {
        let message =
            format!("Operation cannot be fulfilled on {} {name:?}: {why}", qualified(group, plural));
        Self::new(409, "Conflict", message).about(group, plural, name)
    }

    /// A `resourceVersion` that is not that of the object any more.
    pub(super) fn modified(group: &str, plural: &str, name: &str) -> Self {
        let why =
            "the object has been modified; please apply your changes to the latest version and try again";
        Self::conflict(group, plural, name, why)
    }

    /// Fields that other managers have.
    pub(super) fn owned_by_others(conflicts: &[(String, String)]) -> Self {
        let count = conflicts.len();
        let head = if count == 1 { "conflict".to_owned() } else { "conflicts".to_owned() };
        let texts: Vec<String> =
            conflicts.iter().map(|(manager, field)| format!("conflict with {manager}: {field}")).collect();
        let message = format!("Apply failed with {count} {head}: {}", texts.join("\n"));
        let causes: Vec<Value> = conflicts
            .iter()
            .map(|(manager, field)| {
                let message = format!("conflict with {manager}");
                json!({"reason": "FieldManagerConflict", "message": message, "field": field})
            })
            .collect();
        let mut failure = Self::new(409, "Conflict", message);
        failure.details.insert("causes".to_owned(), causes.into());
        failure
    }

    /// `kind` is the object's kind, except where the real server names its resource.
    pub(super) fn invalid(group: &str, kind: &str, name: &str, causes: &[Cause]) -> Self {
        let texts: Vec<String> =
            causes.iter().map(|cause| format!("{}: {}", cause.field, cause.message)).collect();
        let all = if texts.len() == 1 { texts[0].clone() } else { format!("[{}]", texts.join(", ")) };
        let message = format!("{} {name:?} is invalid: {all}", qualified(group, kind));
        let mut failure = Self::new(422, "Invalid", message).about(group, kind, name);
        let causes: Vec<Value> = causes
            .iter()
            .map(|cause| json!({"reason": cause.reason, "message": cause.message, "field": cause.field}))
            .collect();
        failure.details.insert("causes".to_owned(), causes.into());
        failure
    }

    /// A patch that cannot be applied to the object.
    pub(super) fn inapplicable(why: &str) -> Self {
        let message = "the server rejected our request due to an error in our request";
        let mut failure = Self::new(422, "Invalid", message);
        let cause = json!({"reason": "UnexpectedServerResponse", "message": why});
        failure.details.insert("causes".to_owned(), json!([cause]));
        failure
    }

    pub(super) fn forbidden(group: &str, plural: &str, name: &str, why: &str) -> Self {
        let named = if name.is_empty() { String::new() } else { format!(" {name:?}") };
        let message = format!("{}{named} is forbidden: {why}", qualified(group, plural));
        Self::new(403, "Forbidden", message).about(group, plural, name)
    }

    /// A namespace that is going takes nothing new.
    pub(super) fn terminating(group: &str, plural: &str, name: &str, namespace: &str) -> Self {
        let why =
            format!("unable to create new content in namespace {namespace} because it is being terminated");
        let mut failure = Self::forbidden(group, plural, name, &why);
        let message = format!("namespace {namespace} is being terminated");
        let cause =
            json!({"reason": "NamespaceTerminating", "message": message, "field": "metadata.namespace"});
        failure.details.insert("causes".to_owned(), json!([cause]));
        failure
    }

    pub(super) fn unauthorized() -> Self {
        Self::new(401, "Unauthorized", "Unauthorized")
    }

    pub(super) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(400, "BadRequest", message)
    }

    pub(super) fn method_not_allowed() -> Self {
        let message = "the server does not allow this method on the requested resource";
        Self::new(405, "MethodNotAllowed", message)
    }

    pub(super) fn not_acceptable(message: impl Into<String>) -> Self {
        Self::new(406, "NotAcceptable", message)
    }

    pub(super) fn unsupported_media_type(accepted: &[&str]) -> Self {
        let message = format!(
            "the body of the request was in an unknown format - accepted media types include: {}",
            accepted.join(", ")
        );
        Self::new(415, "UnsupportedMediaType", message)
    }

    pub(super) fn too_large(message: impl Into<String>) -> Self {
        Self::new(413, "RequestEntityTooLarge", message)
    }

    pub(super) fn internal(message: impl Into<String>) -> Self {
        Self::new(500, "InternalError", message)
    }

    /// A `resourceVersion` that has not been yet.
    pub(super) fn too_early(asked: u64, current: u64) -> Self {
        let what = format!("Too large resource version: {asked}, current: {current}");
        let mut failure = Self::new(504, "Timeout", what);
        let cause = json!({"reason": "ResourceVersionTooLarge", "message": "Too large resource version"});
        failure.details.insert("causes".to_owned(), json!([cause]));
        failure.retry_after(1)
    }

    /// A `resourceVersion` that nothing is known of any more.
    pub(super) fn expired(asked: u64, oldest: u64) -> Self {
        Self::new(410, "Expired", format!("too old resource version: {asked} ({oldest})"))
    }

    /// A list that was begun too long ago; it may go on with what there is now.
    pub(super) fn list_expired(next: String) -> Self {
        let message = "The provided continue parameter is too old to display a consistent list result. You can start \
                       a new list without the continue parameter, or use the continue token in this response to \
                       retrieve the remainder of the results. Continuing with the provided token results in an \
                       inconsistent list.";
        let mut failure = Self::new(410, "Expired", message);
        failure.next = Some(next);
        failure
    }

    /// Returns what the server says when a test has it fail.
    pub(super) fn by_code(code: u16) -> Self {
        match code {
            401 => Self::unauthorized(),
            403 => Self::new(403, "Forbidden", "forbidden: the test says so"),
            404 => Self::new(404, "NotFound", "the server could not find the requested resource"),
            409 => Self::new(409, "Conflict", "Operation cannot be fulfilled: the test says so"),
            410 => Self::new(410, "Expired", "too old resource version"),
            429 => {
                Self::new(429, "TooManyRequests", "Too many requests, please try again later.").retry_after(1)
            }
            500 => Self::internal("Internal error occurred: the test says so"),
            503 => {
                Self::new(503, "ServiceUnavailable", "the server is currently unable to handle the request")
            }
            504 => {
                Self::new(504, "Timeout", "the server was unable to return a response in the time allotted")
            }
            _ => Self::new(code, "", "the test says so"),
        }
    }

    fn retry_after(mut self, seconds: u32) -> Self {
        self.details.insert("retryAfterSeconds".to_owned(), seconds.into());
        self
    }

    /// For the header of this name.
    pub(super) fn seconds_to_wait(&self) -> Option<u64> {
        self.details.get("retryAfterSeconds").and_then(Value::as_u64)
    }

    /// The object that says so.
    pub(super) fn status(&self) -> Value {
        let mut status = json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": self.message, "code": self.code,
        });
        if !self.reason.is_empty() {
            status["reason"] = self.reason.into();
        }
        if !self.details.is_empty() {
            status["details"] = Value::Object(self.details.clone());
        }
        if let Some(next) = &self.next {
            status["metadata"]["continue"] = next.as_str().into();
        }
        status
    }
}

impl Cause {
    fn new(reason: &'static str, field: impl Into<String>, message: impl Into<String>) -> Self {
        Self { reason, field: field.into(), message: message.into() }
    }

    pub(super) fn required(field: impl Into<String>, why: &str) -> Self {
        let message =
            if why.is_empty() { "Required value".to_owned() } else { format!("Required value: {why}") };
        Self::new("FieldValueRequired", field, message)
    }

    pub(super) fn invalid(field: impl Into<String>, value: &Value, why: &str) -> Self {
        Self::new("FieldValueInvalid", field, format!("Invalid value: {value}: {why}"))
    }

    pub(super) fn wrong_type(field: impl Into<String>, found: &str, wanted: &str) -> Self {
        let field = field.into();
        let why = format!("{field} in body must be of type {wanted}: {found:?}");
        Self::new("FieldValueTypeInvalid", field, format!("Invalid value: {found:?}: {why}"))
    }

    pub(super) fn unsupported(field: impl Into<String>, value: &Value, supported: &[Value]) -> Self {
        let supported: Vec<String> = supported.iter().map(Value::to_string).collect();
        let message = format!("Unsupported value: {value}: supported values: {}", supported.join(", "));
        Self::new("FieldValueNotSupported", field, message)
    }

    pub(super) fn forbidden(field: impl Into<String>, why: &str) -> Self {
        Self::new("FieldValueForbidden", field, format!("Forbidden: {why}"))
    }

    pub(super) fn duplicate(field: impl Into<String>, value: &Value) -> Self {
        Self::new("FieldValueDuplicate", field, format!("Duplicate value: {value}"))
    }

    pub(super) fn too_long(field: impl Into<String>, most: u64) -> Self {
        Self::new("FieldValueTooLong", field, format!("Too long: may not be more than {most} bytes"))
    }

    pub(super) fn too_many(field: impl Into<String>, count: usize, most: u64) -> Self {
        let message = format!("Too many: {count}: must have at most {most} items");
        Self::new("FieldValueTooMany", field, message)
    }

    /// Returns what may not change once it is there.
    pub(super) fn immutable(field: impl Into<String>, value: &Value) -> Self {
        Self::invalid(field, value, "field is immutable")
    }
}

/// `secrets`, `leases.coordination.k8s.io`.
fn qualified(group: &str, name: &str) -> String {
    if group.is_empty() { name.to_owned() } else { format!("{name}.{group}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The texts are those of `k8s.io/apimachinery/pkg/api/errors`, which clients show to people.
    #[test]
    fn statuses_read_as_the_real_servers() {
        let gone = Failure::not_found("argoproj.io", "applications", "web").status();
        assert_eq!(gone["message"], "applications.argoproj.io \"web\" not found");
        let details = json!({"name": "web", "group": "argoproj.io", "kind": "applications"});
        assert_eq!(gone["details"], details);

        let causes = [Cause::required("spec.image", ""), Cause::invalid("spec.n", &json!(0), "too small")];
        let one = Failure::invalid("", "Secret", "x", &causes[..1]);
        assert_eq!(one.message, "Secret \"x\" is invalid: spec.image: Required value");
        let two = Failure::invalid("a.io", "Thing", "x", &causes);
        let want =
            "Thing.a.io \"x\" is invalid: [spec.image: Required value, spec.n: Invalid value: 0: too small]";
        assert_eq!(two.message, want);
        assert_eq!(two.status()["details"]["causes"][1]["field"], "spec.n");
    }
}

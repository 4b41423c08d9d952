//! A request as the API server understands it: its path and query are read, and what it asks for is known to exist.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::failure::Failure;
use super::resource::{Resource, Version};

/// A request for a resource.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) verb: Verb,
    pub(super) resource: Arc<Resource>,
    pub(super) version: Version,
    /// Empty for all of them, and for resources in none.
    pub(super) namespace: String,
    /// Empty for collections.
    pub(super) name: String,
    pub(super) subresource: Option<Subresource>,
    pub(super) query: Query,
    pub(super) content_type: String,
    /// The field manager, if the query does not name one.
    pub(super) agent: String,
    pub(super) body: Vec<u8>,
}

/// The verbs of RBAC.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Verb {
    Get,
    List,
    Watch,
    Create,
    Update,
    Patch,
    Delete,
    DeleteCollection,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Subresource {
    Status,
    /// Of service accounts.
    Token,
}

/// The query string.
#[derive(Clone, Debug, Default)]
pub(super) struct Query(BTreeMap<String, String>);

/// A path below `/api` or `/apis`, in its parts.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ResourcePath {
    pub(super) group: String,
    pub(super) version: String,
    pub(super) namespace: String,
    pub(super) plural: String,
    pub(super) name: String,
    pub(super) subresource: String,
}

impl Verb {
    pub(super) fn text(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::List => "list",
            Self::Watch => "watch",
            Self::Create => "create",
            Self::Update => "update",
            Self::Patch => "patch",
            Self::Delete => "delete",
            Self::DeleteCollection => "deletecollection",
        }
    }

    /// Returns what a method asks of an object, or of a collection.
    pub(super) fn of(method: &str, is_collection: bool, query: &Query) -> Option<Self> {
        Some(match (method, is_collection) {
            ("GET", true) if query.is("watch") => Self::Watch,
            ("GET", true) => Self::List,
            ("POST", true) => Self::Create,
            ("DELETE", true) => Self::DeleteCollection,
            ("GET", false) => Self::Get,
            ("PUT", false) => Self::Update,
            ("PATCH", false) => Self::Patch,
            ("DELETE", false) => Self::Delete,
            _ => return None,
        })
    }
}

impl Query {
    pub(super) fn read(text: &str) -> Self {
        let pairs = text.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            (unescape(key), unescape(value))
        });
        Self(pairs.collect())
    }

    pub(super) fn text(&self, name: &str) -> &str {
        self.0.get(name).map_or("", String::as_str)
    }

    /// `1`, `true`, or there without a value: what Go's `ParseBool` makes of it.
    pub(super) fn is(&self, name: &str) -> bool {
        self.0
            .get(name)
            .is_some_and(|value| !["0", "f", "F", "false", "False", "FALSE"].contains(&value.as_str()))
    }

    /// A number; nothing where it is not given.
    pub(super) fn number(&self, name: &str) -> Result<Option<u64>, Failure> {
        match self.text(name) {
            "" => Ok(None),
            text => text.parse().map(Some).map_err(|_| {
                Failure::bad_request(format!(
                    "Invalid value: {text:?}: {name}: strconv.ParseUint: invalid syntax"
                ))
            }),
        }
    }
}

/// Undoes the escapes of a query, in which a plus is a space.
fn unescape(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let escaped = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        rest = match (first, escaped) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                &after[2..]
            }
            (b'+', _) => {
                bytes.push(b' ');
                after
            }
            _ => {
                bytes.push(*first);
                after
            }
        };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

impl ResourcePath {
    /// Reads a path of an object or a collection; nothing where it is no such path.
    pub(super) fn read(path: &str) -> Option<Self> {
        let mut parts = path.trim_matches('/').split('/').map(unescape);
        let group = match parts.next()?.as_str() {
            "api" => String::new(),
            "apis" => parts.next()?,
            _ => return None,
        };
        let version = parts.next()?;
        let rest: Vec<String> = parts.collect();
        let rest: Vec<&str> = rest.iter().map(String::as_str).collect();
        let (namespace, rest) = match rest.as_slice() {
            // The subresource of a namespace itself.
            ["namespaces", _, "status"] => ("", rest.as_slice()),
            ["namespaces", namespace, rest @ ..] if !rest.is_empty() => (*namespace, rest),
            rest => ("", rest),
        };
        let (plural, name, subresource) = match rest {
            [plural] => (*plural, "", ""),
            [plural, name] => (*plural, *name, ""),
            [plural, name, subresource] => (*plural, *name, *subresource),
            _ => return None,
        };
        let owned = str::to_owned;
        Some(Self {
            group,
            version,
            namespace: owned(namespace),
            plural: owned(plural),
            name: owned(name),
            subresource: owned(subresource),
        })
    }
}

impl Call {
    /// The key of an object in the store.
    pub(super) fn key(&self, name: &str) -> String {
        if self.resource.namespaced { format!("{}/{name}", self.namespace) } else { name.to_owned() }
    }

    /// Returns the field manager.
    pub(super) fn manager(&self) -> String {
        match self.query.text("fieldManager") {
            "" => self.agent.split('/').next().unwrap_or_default().to_owned(),
            named => named.to_owned(),
        }
    }

    pub(super) fn api_version(&self) -> String {
        self.resource.api_version(&self.version.name)
    }

    /// Returns whether nothing is to be kept.
    pub(super) fn is_dry_run(&self) -> Result<bool, Failure> {
        match self.query.text("dryRun") {
            "" => Ok(false),
            "All" => Ok(true),
            other => {
                Err(Failure::bad_request(format!("Invalid value: {other:?}: supported values: \"All\"")))
            }
        }
    }

    pub(super) fn is_status(&self) -> bool {
        self.subresource == Some(Subresource::Status)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_read_in_their_parts() {
        let cases = [
            ("/api/v1/namespaces", ["", "v1", "", "namespaces", "", ""]),
            ("/api/v1/namespaces/a", ["", "v1", "", "namespaces", "a", ""]),
            ("/api/v1/namespaces/a/status", ["", "v1", "", "namespaces", "a", "status"]),
            ("/api/v1/namespaces/a/secrets", ["", "v1", "a", "secrets", "", ""]),
            (
                "/apis/argoproj.io/v1alpha1/applications",
                ["argoproj.io", "v1alpha1", "", "applications", "", ""],
            ),
            ("/apis/g/v1/namespaces/a/things/x/status", ["g", "v1", "a", "things", "x", "status"]),
        ];
        for (path, [group, version, namespace, plural, name, subresource]) in cases {
            let read = ResourcePath::read(path).expect(path);
            assert_eq!(
                (read.group.as_str(), read.version.as_str(), read.namespace.as_str()),
                (group, version, namespace)
            );
            assert_eq!(
                (read.plural.as_str(), read.name.as_str(), read.subresource.as_str()),
                (plural, name, subresource)
            );
        }
        assert_eq!(ResourcePath::read("/metrics"), None);
        assert_eq!(ResourcePath::read("/api/v1/a/b/c/d"), None);
    }

    #[test]
    fn queries_are_unescaped() {
        let query = Query::read("labelSelector=app%3Dweb%2Ctier+in+%28a%29&watch&x=0");
        assert_eq!(query.text("labelSelector"), "app=web,tier in (a)");
        assert!(query.is("watch"));
        assert!(!query.is("x"));
    }
}

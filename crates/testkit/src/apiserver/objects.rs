//! Access to the objects of the server for tests, without HTTP but through the same code, so that a test cannot
//! create what a client could not. A rejected request is a mistake of the test and panics.

use std::time::Duration;

use serde_json::{Value, json};

use super::ApiServer;
use super::access::Requester;
use super::cluster::Answer;
use super::failure::Failure;
use super::metadata;
use super::resource::CustomResource;
use super::shared::Request;

/// The field manager of the tests' changes.
const AGENT: &str = "test";

/// Time something may take that is to come about.
const PATIENCE: Duration = Duration::from_secs(30);

/// The table of a resource's objects.
struct Place {
    /// Up to the namespace.
    base: String,
    plural: String,
    namespaced: bool,
    has_status: bool,
}

impl Place {
    fn path(&self, namespace: &str, name: &str) -> String {
        let namespace = if self.namespaced && !namespace.is_empty() {
            format!("/namespaces/{namespace}")
        } else {
            String::new()
        };
        let name = if name.is_empty() { String::new() } else { format!("/{name}") };
        format!("{}{namespace}/{}{name}", self.base, self.plural)
    }
}

impl ApiServer {
    /// Makes a custom resource known.
    ///
    /// # Panics
    /// If it is not valid.
    pub fn define(&self, resource: &CustomResource) {
        self.put(&resource.definition());
    }

    /// Makes an object, or puts it in the place of the one that is there, its status too. Its namespace is made where
    /// there is none.
    ///
    /// # Panics
    /// If the server refuses it.
    pub fn put(&self, object: &Value) -> Value {
        let (namespace, name) = (metadata::text(object, "namespace"), metadata::text(object, "name"));
        let (api_version, kind) = (&object["apiVersion"], &object["kind"]);
        let place = self.place(|known| known[0] == *api_version && known[1] == *kind);
        let place = place.unwrap_or_else(|| panic!("no resource is a {kind} of {api_version}"));
        if place.namespaced && self.get("namespaces", "", namespace).is_none() {
            self.put(&json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}));
        }
        let path = place.path(namespace, name);
        let known = self.ask("GET", &path, None).ok();
        let written = match &known {
            None => self.must("POST", &place.path(namespace, ""), object),
            Some(known) => self.must("PUT", &path, &at_version_of(known, object)),
        };
        if place.has_status && object["status"].is_object() {
            return self.must("PUT", &format!("{path}/status"), &at_version_of(&written, object));
        }
        written
    }

    /// An object of a resource, which is named by its plural and, behind a dot, its group: `secrets`,
    /// `applications.argoproj.io`.
    ///
    /// # Panics
    /// If there is no such resource.
    #[must_use]
    pub fn get(&self, resource: &str, namespace: &str, name: &str) -> Option<Value> {
        self.ask("GET", &self.named(resource).path(namespace, name), None).ok()
    }

    /// All objects of a resource, in the order of their namespaces and names.
    ///
    /// # Panics
    /// If there is no such resource.
    #[must_use]
    pub fn list(&self, resource: &str) -> Vec<Value> {
        let list =
            self.ask("GET", &self.named(resource).path("", ""), None).expect("a collection can be listed");
        list["items"].as_array().cloned().unwrap_or_default()
    }

    /// Changes an object, its status too, as somebody would who saw its newest state.
    ///
    /// # Panics
    /// If there is none, or the server refuses the change.
    pub fn change(
        &self,
        resource: &str,
        namespace: &str,
        name: &str,
        change: impl FnOnce(&mut Value),
    ) -> Value {
        let path = self.named(resource).path(namespace, name);
        let mut object = self.ask("GET", &path, None).unwrap_or_else(|failure| panic!("{}", failure.message));
        change(&mut object);
        self.put(&object)
    }

    /// Deletes an object.
    ///
    /// # Panics
    /// If there is none.
    pub fn delete(&self, resource: &str, namespace: &str, name: &str) {
        self.must("DELETE", &self.named(resource).path(namespace, name), &json!({}));
    }

    /// Looks whenever an object has changed or a request has come, until there is something to see; nothing where the
    /// time is up before.
    pub fn wait_until<T>(&self, timeout: Duration, look: impl Fn(&Self) -> Option<T>) -> Option<T> {
        self.shared.wait_until(timeout, || look(self))
    }

    /// Waits until an object is as it is to be.
    ///
    /// # Panics
    /// If it does not become so within half a minute.
    pub fn wait_for(
        &self,
        resource: &str,
        namespace: &str,
        name: &str,
        is_so: impl Fn(&Value) -> bool,
    ) -> Value {
        let look = |server: &Self| server.get(resource, namespace, name).filter(&is_so);
        self.wait_until(PATIENCE, look).unwrap_or_else(|| {
            panic!(
                "{resource} {namespace}/{name} stays {:#}",
                self.get(resource, namespace, name).unwrap_or_default()
            )
        })
    }

    fn must(&self, method: &str, path: &str, body: &Value) -> Value {
        self.ask(method, path, Some(body))
            .unwrap_or_else(|failure| panic!("{method} {path}: {}", failure.message))
    }

    fn ask(&self, method: &str, path: &str, body: Option<&Value>) -> Result<Value, Failure> {
        let request = Request {
            method: method.to_owned(),
            path: path.to_owned(),
            agent: AGENT.to_owned(),
            body: body.map(|body| body.to_string().into_bytes()).unwrap_or_default(),
            ..Request::default()
        };
        match self.shared.answer_to(&Requester::admin(), &request)? {
            Answer::Object(reply) => Ok(reply.value),
            Answer::Watch(_) => panic!("{path} is not asked to be watched"),
        }
    }

    fn named(&self, resource: &str) -> Place {
        let place = self.place(|known| known[2] == resource);
        place.unwrap_or_else(|| panic!("there is no resource {resource}"))
    }

    /// The place of the first resource whose API version, kind, and plural with group suit.
    fn place(&self, suits: impl Fn(&[String; 3]) -> bool) -> Option<Place> {
        self.shared.with(|cluster| {
            cluster.resources.iter().find_map(|resource| {
                let plural = &resource.plural;
                let qualified = if resource.group.is_empty() {
                    plural.clone()
                } else {
                    format!("{plural}.{}", resource.group)
                };
                resource.versions.iter().filter(|version| version.served).find_map(|version| {
                    let api_version = resource.api_version(&version.name);
                    let known = [api_version.clone(), resource.kind.clone(), qualified.clone()];
                    suits(&known).then(|| Place {
                        base: format!(
                            "{}/{api_version}",
                            if resource.group.is_empty() { "/api" } else { "/apis" }
                        ),
                        plural: plural.clone(),
                        namespaced: resource.namespaced,
                        has_status: version.status,
                    })
                })
            })
        })
    }
}

/// An object as the next state of one that is known.
fn at_version_of(known: &Value, object: &Value) -> Value {
    let mut object = object.clone();
    let fields = metadata::of(&mut object);
    fields.insert("resourceVersion".to_owned(), known["metadata"]["resourceVersion"].clone());
    fields.remove("uid");
    object
}

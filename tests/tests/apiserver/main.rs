//! The API server for tests is held against the API conventions and what the real server is known to say, over plain
//! HTTP and by the client that the image updater uses.

mod apply;
mod controls;
mod definitions;
mod kinds;
mod listing;
mod objects;
mod through_kube;
mod watching;

use std::io::{BufRead as _, BufReader};
use std::time::Duration;

use reqwest::blocking::{Client, ClientBuilder, Response};
use serde_json::{Value, json};
use testkit::apiserver::ApiServer;

/// An answer: its status, and the object in it.
type Said = (u16, Value);

/// Returns what builds clients.
fn builder() -> ClientBuilder {
    // Refused where another test of this process was first.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder().no_proxy()
}

/// A client that waits as long as it takes.
fn patient() -> Client {
    builder().timeout(None).build().expect("it can be built")
}

/// A client that does not wait long.
fn impatient() -> Client {
    builder().timeout(Duration::from_millis(200)).build().expect("it can be built")
}

/// Reads an answer; what is no object is null.
fn said(response: Response) -> Said {
    let code = response.status().as_u16();
    (code, serde_json::from_slice(&response.bytes().expect("it ends")).unwrap_or_default())
}

/// A client without a memory.
struct Raw<'s>(&'s ApiServer);

impl Raw<'_> {
    fn get(&self, path: &str) -> Said {
        self.send("GET", path, "", "")
    }

    fn post(&self, path: &str, body: &Value) -> Said {
        self.send("POST", path, "application/json", &body.to_string())
    }

    fn put(&self, path: &str, body: &Value) -> Said {
        self.send("PUT", path, "application/json", &body.to_string())
    }

    fn delete(&self, path: &str) -> Said {
        self.send("DELETE", path, "", "")
    }

    /// With the part of the media type before `-patch`.
    fn patch(&self, kind: &str, path: &str, body: &Value) -> Said {
        let suffix = if kind == "apply" { "yaml" } else { "json" };
        self.send("PATCH", path, &format!("application/{kind}-patch+{suffix}"), &body.to_string())
    }

    fn send(&self, method: &str, path: &str, content_type: &str, body: &str) -> Said {
        let method = method.parse().expect("it is a method");
        let mut request = patient().request(method, format!("{}{path}", self.0.url()));
        request = request.header("user-agent", "raw/1.0");
        if !content_type.is_empty() {
            request = request.header("content-type", content_type).body(body.to_owned());
        }
        let response = request.send().expect("it answers");
        said(response)
    }

    /// Begins a watch of a collection.
    fn watch(&self, path: &str, query: &str) -> Watching {
        let url = format!("{}{path}?watch=1&{query}", self.0.url());
        let response = patient().get(url).send();
        Watching(BufReader::new(response.expect("it answers")))
    }
}

/// A watch that goes on.
struct Watching(BufReader<Response>);

impl Watching {
    /// The next line; nothing at its end, in whatever way it came.
    fn next(&mut self) -> Option<Value> {
        let mut line = String::new();
        match self.0.read_line(&mut line) {
            Ok(length) if length > 0 => Some(serde_json::from_str(&line).expect("a line is JSON")),
            _ => None,
        }
    }

    /// The next line in short: `ADDED web`.
    fn brief(&mut self) -> String {
        self.next().map_or_else(String::new, |line| {
            let name = line["object"]["metadata"]["name"].as_str().unwrap_or_default().to_owned();
            format!("{} {name}", line["type"].as_str().unwrap_or_default()).trim_end().to_owned()
        })
    }
}

const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";

fn config_map(name: &str, data: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data})
}

/// The `resourceVersion` of an object or a list.
fn version(object: &Value) -> &str {
    object["metadata"]["resourceVersion"].as_str().unwrap_or_default()
}

//! The state behind the server, and the way of a request through it: one at a time, so that each sees whole changes.

use std::sync::Arc;

use serde_json::{Value, json};

use super::call::{Call, Subresource, Verb};
use super::failure::Failure;
use super::read;
use super::resource::{self, Resource};
use super::store::Store;
use super::token;
use super::view::View;
use super::watch::Watch;
use super::{delete, metadata, patch, write};

/// All that the server knows.
#[derive(Debug)]
pub(super) struct Cluster {
    pub(super) store: Store,
    pub(super) resources: Vec<Arc<Resource>>,
    pub(super) metadata_schema: Value,
    /// True if a watch may ask for what there is before what comes.
    pub(super) streaming_lists: bool,
}

/// The answer to a request.
#[derive(Debug)]
pub(super) enum Answer {
    Object(Reply),
    Watch(Box<Watch>),
}

/// An object, and how it is said.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) code: u16,
    pub(super) value: Value,
    /// For headers of this name.
    pub(super) warnings: Vec<String>,
}

impl Cluster {
    /// A new cluster, with the namespaces that each has.
    pub(super) fn new(streaming_lists: bool) -> Self {
        let resources = resource::built_in().into_iter().map(Arc::new).collect();
        let metadata_schema = resource::metadata_schema();
        let mut cluster = Self { store: Store::new(), resources, metadata_schema, streaming_lists };
        for name in ["default", "kube-node-lease", "kube-public", "kube-system"] {
            let mut namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
            metadata::begin(&mut namespace);
            let resource = cluster.resource("", "namespaces").expect("it is built in");
            super::rules::complete(&resource, &mut namespace);
            cluster.store.put(&resource.table, name, namespace);
        }
        cluster
    }

    pub(super) fn resource(&self, group: &str, plural: &str) -> Option<Arc<Resource>> {
        let is_it = |one: &&Arc<Resource>| one.group == group && one.plural == plural;
        self.resources.iter().find(is_it).cloned()
    }

    /// Puts a resource in the place of the one of its name.
    pub(super) fn register(&mut self, resource: Resource) {
        self.unregister(&resource.group, &resource.plural);
        self.resources.push(Arc::new(resource));
    }

    pub(super) fn unregister(&mut self, group: &str, plural: &str) {
        self.resources.retain(|one| one.group != group || one.plural != plural);
    }

    /// Answers a request that may be made.
    pub(super) fn answer(&mut self, call: &Call, view: View) -> Result<Answer, Failure> {
        if call.subresource == Some(Subresource::Token) {
            return token::create(self, call).map(Answer::Object);
        }
        let reply = match call.verb {
            Verb::Watch => return read::watch(self, call, view).map(|watch| Answer::Watch(Box::new(watch))),
            Verb::Get => read::get(self, call)?,
            Verb::List => return read::list(self, call, view).map(Answer::Object),
            Verb::Create => write::create(self, call)?,
            Verb::Update => write::update(self, call)?,
            Verb::Patch => patch::patch(self, call)?,
            Verb::Delete => delete::delete(self, call)?,
            Verb::DeleteCollection => return delete::delete_collection(self, call, view).map(Answer::Object),
        };
        let value = view.of_object(reply.value)?;
        Ok(Answer::Object(Reply { value, ..reply }))
    }
}

impl Reply {
    pub(super) fn ok(value: Value) -> Self {
        Self { code: 200, value, warnings: Vec::new() }
    }
}

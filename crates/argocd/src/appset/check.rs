//! Argo CD's checks of generated Applications (applicationset_controller.go `validateGeneratedApplications`).
//!
//! In: Applications one by one. Out: those that it takes. Refused: a name that is empty or there already, a project that
//! does not exist, and a destination that is no cluster of the context.

use std::cell::RefCell;
use std::collections::HashSet;

use diagnostic::{Error, Result};
use yamltree::Location;

use super::generators::{IN_CLUSTER, IN_CLUSTER_SERVER};
use super::tree::Tree;
use crate::context::Context;
use crate::warning::{Code, Warning};

/// Longest name of an object.
const MAX_NAME: usize = 253;

/// The names of a set's Applications that were checked.
pub(crate) struct Checks<'c> {
    context: &'c Context,
    any_cluster: bool,
    names: HashSet<String>,
}

impl<'c> Checks<'c> {
    pub(crate) fn new(context: &'c Context, any_cluster: bool) -> Self {
        Self { context, any_cluster, names: HashSet::new() }
    }

    pub(crate) fn pass(
        &mut self,
        application: Tree,
        place: Option<&Location>,
        warnings: &RefCell<Vec<Warning>>,
    ) -> Result<Tree> {
        let name = application.get("metadata").map_or("", |metadata| metadata.text_of("name"));
        if name.is_empty() {
            return Err(Error::invalid("an Application without a name is generated")
                .hint("set `template.metadata.name`"));
        }
        if !self.names.insert(name.to_owned()) {
            return Err(Error::invalid(format!("two Applications `{name}` are generated"))
                .hint("use the parameters that differ in the name"));
        }
        if !is_name(name) {
            let message = format!("invalid object name `{name}`: the API server rejects this Application");
            let hint = "names are of lower-case letters, digits, `-` and `.`: `normalize` and the parameters that end in `Normalized` make such";
            warnings
                .borrow_mut()
                .push(Warning::new(Code::InvalidName, message).hint(hint).at(place.cloned()));
        }
        let empty = Tree::default();
        let spec = application.get("spec").unwrap_or(&empty);
        project(spec.text_of("project"), self.context)
            .and_then(|()| self.destination(spec.get("destination").unwrap_or(&empty)))
            .map_err(|error| {
                let wrapped = Error::invalid(format!("the Application `{name}`: {}", error.message()));
                error.get_hint().map_or(wrapped.clone(), |hint| wrapped.hint(hint))
            })?;
        Ok(application)
    }

    /// Returns whether a destination is one cluster (util/argo `GetDestinationServer`).
    fn destination(&self, destination: &Tree) -> Result<()> {
        let (server, name) = (destination.text_of("server"), destination.text_of("name"));
        let mut clusters = self.context.clusters.iter().map(|cluster| &cluster.value);
        let is_known = match (server, name) {
            ("", "") => return Err(Error::invalid("a destination has `server` or `name`")),
            (_, "") => {
                let server = server.trim_end_matches('/');
                server == IN_CLUSTER_SERVER
                    || clusters.any(|cluster| cluster.server.trim_end_matches('/') == server)
            }
            ("", _) => name == IN_CLUSTER || clusters.any(|cluster| cluster.name == name),
            _ => return Err(Error::invalid("a destination cannot have both `server` and `name`")),
        };
        if is_known || self.any_cluster {
            return Ok(());
        }
        let cluster = if server.is_empty() { name } else { server };
        Err(Error::invalid(format!("unknown cluster `{cluster}`"))
            .hint("add it under `clusters` of the context file"))
    }
}

/// Returns whether a project exists. A context without projects says nothing of them.
pub(crate) fn project(name: &str, context: &Context) -> Result<()> {
    let is_it = |project: &serde_json::Value| project["metadata"]["name"] == name;
    if context.projects.is_empty() || context.projects.iter().any(|project| is_it(&project.value)) {
        return Ok(());
    }
    Err(Error::invalid(format!("unknown project `{name}`"))
        .hint("add the AppProject under `projects` of the context file"))
}

fn is_name(name: &str) -> bool {
    let is_end = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let is_part = |part: &str| {
        part.bytes().next().is_some_and(is_end)
            && part.bytes().last().is_some_and(is_end)
            && part.bytes().all(|byte| is_end(byte) || byte == b'-')
    };
    name.len() <= MAX_NAME && name.split('.').all(is_part)
}

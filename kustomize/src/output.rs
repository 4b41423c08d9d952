//! The result of a build: the resources in their final order, and their text.

use std::ops::Range;

use diagnostic::{Error, Result};
use yamltree::Node;

use crate::resource::Resource;
use crate::warning::Warning;

/// The result of a build.
#[derive(Debug)]
pub struct Output {
    objects: Vec<Object>,
    yaml: String,
    warnings: Vec<Warning>,
}

/// One resource of the output.
#[derive(Debug)]
pub struct Object {
    /// `apps`; empty for the core group.
    pub group: String,
    /// `v1`
    pub version: String,
    /// `Deployment`
    pub kind: String,
    /// `metadata.name`
    pub name: String,
    /// The namespace by which it is told apart: `default` where it has none, nothing where it cannot have one.
    pub namespace: Option<String>,
    /// The resource itself.
    pub node: Node,
    text: Range<usize>,
}

impl Output {
    pub(crate) fn new(resources: Vec<Resource>, warnings: Vec<Warning>) -> Result<Self> {
        let mut yaml = String::new();
        let mut objects = Vec::with_capacity(resources.len());
        for resource in resources {
            if !yaml.is_empty() {
                yaml.push_str("---\n");
            }
            let start = yaml.len();
            yamltree::to_sigs_yaml(&resource.node, &mut yaml).map_err(|error| {
                Error::from(error)
                    .at(resource.span())
                    .via(format!("in {}", resource.id().described()), resource.span())
            })?;
            objects.push(Object::new(resource, start..yaml.len()));
        }
        Ok(Self { objects, yaml, warnings })
    }

    /// The whole output, as Kustomize prints it.
    #[must_use]
    pub fn yaml(&self) -> &str {
        &self.yaml
    }

    /// The resources.
    #[must_use]
    pub fn objects(&self) -> &[Object] {
        &self.objects
    }

    /// The text of one resource.
    #[must_use]
    pub fn text(&self, object: &Object) -> &str {
        &self.yaml[object.text.clone()]
    }

    /// Returns what is not wrong but surely not meant.
    #[must_use]
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }
}

impl Object {
    fn new(resource: Resource, text: Range<usize>) -> Self {
        let id = resource.id().clone();
        Self {
            namespace: (!id.cluster_scoped).then(|| id.effective_namespace().to_owned()),
            group: id.gvk.group.into(),
            version: id.gvk.version.into(),
            kind: id.gvk.kind.into(),
            name: id.name.into(),
            node: resource.node,
            text,
        }
    }
}

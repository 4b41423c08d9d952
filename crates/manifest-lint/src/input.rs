//! The input of the linter.

use argocd::application::Application;
use argocd::context::Cluster;
use argocd::diffing::Normalizer;
use argocd::objects::Object;
use argocd::project::Projects;
use goregex::Regex;

/// The targets that are checked together: objects of one target may refer to those of another.
#[derive(Debug)]
pub struct Manifests {
    /// The rendered targets.
    pub targets: Vec<Target>,
    /// The projects of Applications, where any are known.
    pub projects: Option<Projects>,
    /// True if `projects` is complete.
    pub knows_all_projects: bool,
    /// CustomResourceDefinitions that are known beside, as those of an operator.
    pub definitions: Vec<Object>,
    /// The options.
    pub options: Options,
}

/// One thing that was rendered.
#[derive(Debug)]
pub struct Target {
    /// The name for users: a directory, a file, an Application.
    pub name: String,
    /// The rendered objects.
    pub objects: Vec<Object>,
    /// The Application that it is.
    pub deployment: Option<Box<Deployment>>,
    /// True if the target is a complete application, as an overlay is. A chart may depend on objects from elsewhere.
    pub is_complete: bool,
    /// Names of Secrets whose values come out different each time, and so are in no file.
    pub generated_secrets: Vec<String>,
}

/// An Application, and what is known of where it goes.
#[derive(Debug)]
pub struct Deployment {
    /// The Application.
    pub application: Application,
    /// It as an object.
    pub object: Object,
    /// Its cluster.
    pub cluster: Cluster,
    /// The normalizer with the differences that it and the settings ignore.
    pub ignored: Normalizer,
}

/// The options of the linter.
#[derive(Debug)]
pub struct Options {
    /// The Kubernetes version for clusters without one; defaults to the newest known.
    pub kube_version: Option<String>,
    /// API versions that clusters have, as `GROUP/VERSION` or `GROUP/VERSION/KIND`.
    pub api_versions: Vec<String>,
    /// Matches the names of production projects.
    pub production: Regex,
}

impl Options {
    /// Default pattern of the names of production projects: the word in the name.
    pub const PRODUCTION: &str = "(?i)(^|[^a-z0-9])(prod|prd|production)([^a-z0-9]|$)";
}

impl Target {
    /// Returns the destination cluster; empty for a target that is not an Application.
    pub(crate) fn cluster(&self) -> &str {
        match &self.deployment {
            Some(deployment) if deployment.cluster.server.is_empty() => &deployment.cluster.name,
            Some(deployment) => &deployment.cluster.server,
            None => "",
        }
    }
}

//! The inputs of rendering Applications, which all steps share.

use vfs::Files;

use super::model::Application;
use super::value_files::References;
use crate::context::{Cluster, Context};
use crate::objects;
use crate::project::Projects;
use crate::repositories::Repositories;

/// The inputs of rendering an Application.
pub struct World<'w, E> {
    /// The known clusters, projects and settings.
    pub context: &'w Context,
    /// The known repositories.
    pub repositories: &'w Repositories,
    /// The projects; without any nothing is forbidden.
    pub projects: Option<&'w Projects>,
    /// The files.
    pub files: &'w dyn Files,
    /// The engines for charts and kustomizations.
    pub engines: &'w E,
    /// The settings of the command line.
    pub overrides: &'w Overrides,
}

/// Settings that override those of the context.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    /// The tracking method of objects.
    pub tracking: Option<objects::Method>,
    /// The version of Kubernetes of every cluster.
    pub kube_version: Option<String>,
    /// The API versions of every cluster.
    pub api_versions: Option<Vec<String>>,
    /// True if clusters that the context does not have are taken as they are: there is no context.
    pub any_cluster: bool,
}

/// One Application being rendered.
pub(crate) struct Run<'r, E> {
    pub(crate) application: &'r Application,
    pub(crate) world: &'r World<'r, E>,
    pub(crate) cluster: &'r Cluster,
    pub(crate) references: &'r References<'r>,
}

/// A command line as Argo CD shows it.
pub(crate) fn shown<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let quoted = |word: &str| match word {
        "" => "\"\"".to_owned(),
        word if word.contains(char::is_whitespace) => format!("{word:?}"),
        word => word.to_owned(),
    };
    words.into_iter().map(quoted).collect::<Vec<_>>().join(" ")
}

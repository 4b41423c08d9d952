//! The context file: what rendering needs to know of the world.
//!
//! In: the text of a file. Out: repositories, clusters, projects, settings and what generators that need a network would
//! find. Refused, with line and column: unknown fields, other versions, and two clusters or repositories that are one.

use std::collections::{BTreeMap, HashSet};

use diagnostic::Result;
use serde::Deserialize;
use serde_json::Value;
use yamlserde::{Spanned, YamlFile};

const API_VERSION: &str = "renderer/v1alpha1";
const KIND: &str = "Context";

/// The known clusters, projects, repositories and settings that rendering depends on.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Context {
    #[serde(rename = "apiVersion")]
    api_version: Option<Spanned<String>>,
    kind: Option<Spanned<String>>,
    /// The directories of repositories.
    #[serde(default)]
    pub repositories: Vec<Spanned<Repository>>,
    /// The clusters that Argo CD knows.
    #[serde(default)]
    pub clusters: Vec<Spanned<Cluster>>,
    /// AppProjects, as they are in the cluster.
    #[serde(default)]
    pub projects: Vec<Spanned<Value>>,
    /// The keys of the ConfigMap `argocd-cm`.
    #[serde(default)]
    pub settings: BTreeMap<String, String>,
    /// Recorded results of generators that require a network.
    #[serde(default)]
    pub fixtures: Fixtures,
}

/// A repository that is on disk.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Repository {
    /// The `repoURL` that sources name it by.
    pub url: String,
    /// Its folder, relative to the context file.
    pub path: String,
    /// The revision that the folder stands for.
    pub revision: Option<String>,
}

/// A cluster, as its Secret in Argo CD's namespace describes it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Cluster {
    /// Its name.
    pub name: String,
    /// The address of its API server.
    pub server: String,
    /// The project that it is for.
    #[serde(default)]
    pub project: String,
    /// The labels of the Secret.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    /// The annotations of the Secret.
    #[serde(default)]
    pub annotations: BTreeMap<String, String>,
    /// The version of Kubernetes.
    #[serde(default)]
    pub kube_version: String,
    /// The API versions beside Kubernetes' own.
    #[serde(default)]
    pub api_versions: Vec<String>,
}

/// Recorded answers of providers, before generators turn them into parameters.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Fixtures {
    /// Branches of repositories; none at all is another thing than no answer.
    pub scm_provider: Option<Vec<ScmRepository>>,
    /// Open pull requests.
    pub pull_request: Option<Vec<PullRequest>>,
    /// The parameter objects of plugins.
    pub plugin: Option<Vec<Value>>,
}

/// A branch of a repository at a source code provider.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct ScmRepository {
    /// The owner.
    pub organization: String,
    /// The repository's name.
    pub repository: String,
    /// The repository's number or id.
    pub repository_id: Value,
    /// The address to clone from.
    pub url: String,
    /// The branch.
    pub branch: String,
    /// The branch's commit.
    pub sha: String,
    /// The repository's topics.
    pub labels: Vec<String>,
}

/// An open pull request.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PullRequest {
    /// Its number.
    pub number: i64,
    /// Its title.
    pub title: String,
    /// The branch that it would merge.
    pub branch: String,
    /// The branch that it would merge into.
    #[serde(rename = "targetBranch")]
    pub target_branch: String,
    /// The branch's commit.
    #[serde(rename = "headSHA")]
    pub head_sha: String,
    /// The author.
    pub author: String,
    /// Its labels.
    pub labels: Vec<String>,
}

impl Context {
    /// Reads a context file.
    ///
    /// # Errors
    /// If it is no YAML, or anything in it is wrong.
    pub fn read(text: &YamlFile) -> Result<Self> {
        let context: Self = text.read()?;
        context.check(text)?;
        Ok(context)
    }

    fn check(&self, text: &YamlFile) -> Result<()> {
        let refuse = |start: u32, message: String| {
            let span = yamltree::Span { source: 0, start, end: start };
            Err(text.error(message, span))
        };
        for (field, given, wanted) in
            [("apiVersion", &self.api_version, API_VERSION), ("kind", &self.kind, KIND)]
        {
            match given {
                Some(given) if given.value == wanted => {}
                Some(given) => {
                    return refuse(given.start, format!("`{field}` is `{wanted}` in a context file"));
                }
                None => return refuse(0, format!("a context file has `{field}: {wanted}`")),
            }
        }
        let mut names = HashSet::new();
        for cluster in &self.clusters {
            if !names.insert(&cluster.value.name) {
                return refuse(cluster.start, format!("there are two clusters `{}`", cluster.value.name));
            }
        }
        let mut addresses = HashSet::new();
        for repository in &self.repositories {
            if !addresses.insert((&repository.value.url, &repository.value.revision)) {
                return refuse(repository.start, format!("`{}` is there twice", repository.value.url));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Context> {
        Context::read(&YamlFile::new("context.yaml", text))
    }

    #[test]
    fn a_context_has_what_the_command_line_promises() {
        let text = "apiVersion: renderer/v1alpha1
kind: Context
repositories:
- {url: https://git.example.com/deploy.git, path: ., revision: main}
clusters:
- name: prod
  server: https://prod.example.com
  labels: {env: prod}
  kubeVersion: 1.34
  apiVersions: [monitoring.coreos.com/v1/ServiceMonitor]
projects: []
settings: {kustomize.buildOptions: --enable-helm}
fixtures:
  scmProvider: [{organization: o, repository: r, repositoryId: 7, url: u, branch: b, sha: s, labels: [l]}]
  pullRequest: [{number: 1, title: t, branch: b, targetBranch: m, headSHA: s, author: a, labels: []}]
  plugin: [{key: value}]
";
        let context = read(text).unwrap();
        assert_eq!(context.repositories[0].value.revision.as_deref(), Some("main"));
        assert_eq!(context.clusters[0].value.kube_version, "1.34");
        assert_eq!(context.fixtures.pull_request.unwrap()[0].head_sha, "s");
        assert_eq!(context.settings["kustomize.buildOptions"], "--enable-helm");
    }

    #[test]
    fn what_is_wrong_has_its_place() {
        let head = "apiVersion: renderer/v1alpha1\nkind: Context\n";
        for (text, want) in [
            (
                "kind: Context\n".to_owned(),
                "context.yaml:1:1: a context file has `apiVersion: renderer/v1alpha1`",
            ),
            ("apiVersion: v1\nkind: Context\n".to_owned(), "context.yaml:1:13: `apiVersion` is"),
            (format!("{head}cluster: []\n"), "context.yaml:3:1: unknown field `cluster`"),
            (
                format!("{head}clusters:\n- {{name: a, server: b}}\n- {{name: a, server: c}}\n"),
                "context.yaml:5:3: there are two clusters `a`",
            ),
        ] {
            let error = read(&text).unwrap_err().to_string();
            assert!(error.starts_with(want), "{error}");
        }
    }
}

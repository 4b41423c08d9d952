//! Makes a context file of what `kubectl` and `argocd` print of a running Argo CD.
//!
//! In: the text of `kubectl get … -o yaml|json`, `kubectl version -o json`, `kubectl api-versions`, `kubectl api-resources`,
//! `argocd cluster list -o json` and so on, in any order. Out: a context file. No credential is taken over: of Secrets only
//! names, addresses, labels and annotations are read, and of settings only those that rendering depends on.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use diagnostic::{Error, Result};
use gostd::base64;
use yamlserde::YamlFile;
use yamltree::{Entry, Node};

/// The cluster that Argo CD itself runs in.
pub const IN_CLUSTER: &str = "in-cluster";
const IN_CLUSTER_SERVER: &str = "https://kubernetes.default.svc";

const SECRET_TYPE: &str = "argocd.argoproj.io/secret-type";

/// The annotation in which kubectl keeps the applied object, Secrets included.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Settings that rendering depends on: these, and those that begin with one of [`SETTING_FAMILIES`].
const SETTINGS: [&str; 6] = [
    "application.instanceLabelKey",
    "application.resourceTrackingMethod",
    "globalProjects",
    "installationID",
    "resource.exclusions",
    "resource.inclusions",
];
const SETTING_FAMILIES: [&str; 5] =
    ["kustomize.", "helm.", "jsonnet.", "resource.customizations", "resource.compareoptions"];

/// The objects found so far.
#[derive(Debug, Default)]
pub struct Export {
    clusters: BTreeMap<String, Cluster>,
    projects: BTreeMap<String, Node>,
    settings: BTreeMap<String, String>,
    repositories: BTreeSet<String>,
    kube_version: Option<String>,
    api_versions: BTreeSet<String>,
    /// Notices about ignored objects.
    pub notices: Vec<String>,
}

#[derive(Debug, Default)]
struct Cluster {
    server: String,
    project: String,
    labels: BTreeMap<String, String>,
    annotations: BTreeMap<String, String>,
    kube_version: String,
    api_versions: BTreeSet<String>,
}

impl Export {
    /// Takes in what a command printed.
    ///
    /// # Errors
    /// If it is nothing that is known here.
    pub fn add(&mut self, text: &YamlFile) -> Result<()> {
        if self.take_lines(&text.source().text) {
            return Ok(());
        }
        for document in text.documents()? {
            let place = || yamltree::Location { source: text.source().clone(), span: document.span };
            for item in items(&document) {
                self.take(item).map_err(|error| error.at(Some(place())))?;
            }
        }
        Ok(())
    }

    /// The lists of `kubectl api-versions` and `kubectl api-resources`.
    fn take_lines(&mut self, text: &str) -> bool {
        let lines: Vec<Vec<&str>> = text
            .lines()
            .map(|line| line.split_whitespace().collect())
            .filter(|words: &Vec<&str>| !words.is_empty() && words[0] != "NAME")
            .collect();
        let found: Option<Vec<Vec<String>>> = lines.iter().map(|words| api_versions(words)).collect();
        match found {
            Some(found) if !found.is_empty() => {
                self.api_versions.extend(found.into_iter().flatten());
                true
            }
            _ => false,
        }
    }

    fn take(&mut self, item: &Node) -> Result<()> {
        let text = |path: &[&str]| text_at(item, path);
        match text(&["kind"]) {
            "Secret" => self.take_secret(item),
            "AppProject" => {
                self.projects.insert(text(&["metadata", "name"]).to_owned(), project(item));
                Ok(())
            }
            "ConfigMap" => {
                self.take_settings(item);
                Ok(())
            }
            "" => self.take_of_tool(item),
            kind => {
                let name = text(&["metadata", "name"]);
                self.notices.push(format!("{kind} {name} is not part of a context; ignored"));
                Ok(())
            }
        }
    }

    /// A Secret of Argo CD: a cluster or a repository.
    fn take_secret(&mut self, secret: &Node) -> Result<()> {
        let name = text_at(secret, &["metadata", "name"]);
        let data = |key: &str| -> Result<String> {
            if let Some(plain) = secret.lookup(&["stringData", key]).and_then(Node::text) {
                return Ok(plain.to_owned());
            }
            let encoded = text_at(secret, &["data", key]);
            let bytes =
                base64::decode(encoded.as_bytes()).ok().and_then(|bytes| String::from_utf8(bytes).ok());
            bytes.ok_or_else(|| Error::invalid(format!("the Secret `{name}` lacks a readable `{key}`")))
        };
        let labels = map_at(secret, &["metadata", "labels"]);
        match labels.get(SECRET_TYPE).map(String::as_str) {
            Some("cluster") => {
                let server = data("server")?;
                let known = data("name")?;
                let cluster = self.cluster(if known.is_empty() { &server } else { &known });
                cluster.server = server;
                cluster.project = data("project")?;
                cluster.labels = labels;
                cluster.annotations = map_at(secret, &["metadata", "annotations"]);
                Ok(())
            }
            Some("repository") => {
                self.repositories.insert(data("url")?);
                Ok(())
            }
            _ => {
                self.notices
                    .push(format!("the Secret {name} is neither a cluster nor a repository; ignored"));
                Ok(())
            }
        }
    }

    fn take_settings(&mut self, map: &Node) {
        let is_read = |key: &str| {
            SETTINGS.contains(&key) || SETTING_FAMILIES.iter().any(|family| key.starts_with(family))
        };
        let settings = map_at(map, &["data"]);
        self.settings.extend(settings.into_iter().filter(|(key, _)| is_read(key)));
    }

    /// Returns what `argocd … list -o json` and `kubectl version -o json` print: objects without a kind.
    fn take_of_tool(&mut self, item: &Node) -> Result<()> {
        if let Some(version) = item.lookup(&["serverVersion", "gitVersion"]).and_then(Node::text) {
            self.kube_version = Some(version.to_owned());
            return Ok(());
        }
        if item.get("clientVersion").is_some() {
            self.notices.push("`kubectl version` did not reach a server: its version is left out".to_owned());
            return Ok(());
        }
        if let Some(repository) = item.get("repo").and_then(Node::text) {
            self.repositories.insert(repository.to_owned());
            return Ok(());
        }
        let (server, name) = (text_at(item, &["server"]), text_at(item, &["name"]));
        if server.is_empty() {
            return Err(Error::invalid("this object is not part of a context").hint(
                "give it the output of `kubectl get … -o yaml`, `kubectl version -o json`, `kubectl api-resources` or \
                 `argocd cluster list -o json`",
            ));
        }
        let cluster = self.cluster(if name.is_empty() { server } else { name });
        cluster.server = server.to_owned();
        cluster.project = text_at(item, &["project"]).to_owned();
        cluster.labels.extend(map_at(item, &["labels"]));
        cluster.annotations.extend(map_at(item, &["annotations"]));
        let version = [&["info", "serverVersion"][..], &["serverVersion"]].map(|path| text_at(item, path));
        cluster.kube_version =
            version.into_iter().find(|text| !text.is_empty()).unwrap_or_default().to_owned();
        let versions = item.lookup(&["info", "apiVersions"]).and_then(Node::items);
        cluster
            .api_versions
            .extend(versions.into_iter().flatten().filter_map(|version| version.text().map(str::to_owned)));
        Ok(())
    }

    fn cluster(&mut self, name: &str) -> &mut Cluster {
        self.clusters.entry(name.to_owned()).or_default()
    }

    /// The context file. What `kubectl` says of its cluster goes to the cluster of a name; `folder_of` says where the
    /// repository at an address is.
    #[must_use]
    pub fn into_file(mut self, kubectl_cluster: &str, folder_of: impl Fn(&str) -> Option<String>) -> String {
        let (version, versions) = (self.kube_version.take(), std::mem::take(&mut self.api_versions));
        if version.is_some() || !versions.is_empty() {
            let cluster = self.cluster(kubectl_cluster);
            if cluster.server.is_empty() {
                IN_CLUSTER_SERVER.clone_into(&mut cluster.server);
            }
            if let Some(version) = version {
                cluster.kube_version = version;
            }
            cluster.api_versions.extend(versions);
        }
        let mut file = "apiVersion: renderer/v1alpha1\nkind: Context\n".to_owned();
        let (known, unknown): (Vec<_>, Vec<_>) = self
            .repositories
            .iter()
            .map(|url| (url, folder_of(url)))
            .partition(|(_, folder)| folder.is_some());
        let repository = |(url, folder): (&String, Option<String>)| {
            mapping(&[("url", url), ("path", &folder.unwrap_or_default())])
        };
        push(&mut file, "repositories", known.into_iter().map(repository).collect());
        if !unknown.is_empty() {
            file.push_str(
                "# The location of these repositories is not known. Move them above, with the directory of a clone:\n",
            );
            for (url, _) in unknown {
                let _ = writeln!(file, "# - url: {url}\n#   path: ");
            }
        }
        push(&mut file, "clusters", self.clusters.iter().map(|(name, cluster)| cluster.node(name)).collect());
        push(&mut file, "projects", self.projects.into_values().collect());
        if !self.settings.is_empty() {
            push_section(&mut file, "settings", texts(&self.settings));
        }
        file
    }
}

impl Cluster {
    fn node(&self, name: &str) -> Node {
        let mut node = mapping(&[("name", name), ("server", &self.server)]);
        for (field, text) in [("project", &self.project), ("kubeVersion", &self.kube_version)] {
            if !text.is_empty() {
                node.set(field, Node::string(text));
            }
        }
        for (field, map) in [("labels", &self.labels), ("annotations", &self.annotations)] {
            if !map.is_empty() {
                node.set(field, texts(map));
            }
        }
        if !self.api_versions.is_empty() {
            let versions = self.api_versions.iter().map(|version| Node::string(version)).collect();
            node.set("apiVersions", Node::sequence(versions));
        }
        node
    }
}

/// The objects of a document: one, those of a list, or those of an array.
fn items(document: &Node) -> Vec<&Node> {
    let list = document.get("items").and_then(Node::items).or_else(|| document.items());
    list.map_or_else(|| vec![document], |items| items.iter().collect())
}

/// The versions that a line of `kubectl api-versions` or `kubectl api-resources` says.
fn api_versions(words: &[&str]) -> Option<Vec<String>> {
    let is_version = |word: &str| {
        let version = word.rsplit('/').next().unwrap_or_default();
        let is_numbered =
            version.strip_prefix('v').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        is_numbered
            && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'/'))
    };
    match words {
        [version] if is_version(version) => Some(vec![(*version).to_owned()]),
        [_, .., version, "true" | "false", kind] if is_version(version) => {
            Some(vec![(*version).to_owned(), format!("{version}/{kind}")])
        }
        _ => None,
    }
}

/// A project without what the cluster adds, and without its roles, which have tokens.
fn project(item: &Node) -> Node {
    let mut metadata = mapping(&[("name", text_at(item, &["metadata", "name"]))]);
    let labels = map_at(item, &["metadata", "labels"]);
    if !labels.is_empty() {
        metadata.set("labels", texts(&labels));
    }
    let mut spec = item.get("spec").cloned().unwrap_or_else(|| Node::mapping(Vec::new()));
    spec.remove("roles");
    let mut project = mapping(&[("apiVersion", "argoproj.io/v1alpha1"), ("kind", "AppProject")]);
    project.set("metadata", metadata);
    project.set("spec", spec);
    project
}

fn text_at<'n>(node: &'n Node, path: &[&str]) -> &'n str {
    node.lookup(path).and_then(Node::text).unwrap_or_default()
}

/// Labels, annotations or data, without what holds other things.
fn map_at(node: &Node, path: &[&str]) -> BTreeMap<String, String> {
    let entries = node.lookup(path).and_then(Node::entries).into_iter().flatten();
    let pair = |entry: &Entry| Some((entry.key.text()?.to_owned(), entry.value.text()?.to_owned()));
    entries.filter_map(pair).filter(|(key, _)| key != LAST_APPLIED).collect()
}

fn mapping(fields: &[(&str, &str)]) -> Node {
    Node::mapping(fields.iter().map(|(key, text)| Entry::new(key, Node::string(text))).collect())
}

fn texts(map: &BTreeMap<String, String>) -> Node {
    Node::mapping(map.iter().map(|(key, text)| Entry::new(key, Node::string(text))).collect())
}

fn push(file: &mut String, name: &str, items: Vec<Node>) {
    if !items.is_empty() {
        push_section(file, name, Node::sequence(items));
    }
}

fn push_section(file: &mut String, name: &str, node: Node) {
    // Strings, lists and maps of strings are always YAML; what projects have was YAML before.
    let _ = yamltree::to_sigs_yaml(&Node::mapping(vec![Entry::new(name, node)]), file);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Context;

    fn exported(texts: &[&str]) -> String {
        let mut export = Export::default();
        for text in texts {
            export.add(&YamlFile::new("-", text)).unwrap();
        }
        let folder = |url: &str| url.contains("deploy").then(|| ".".to_owned());
        export.into_file(IN_CLUSTER, folder)
    }

    const SECRETS: &str = "apiVersion: v1
kind: List
items:
- kind: Secret
  metadata:
    name: prod
    labels: {argocd.argoproj.io/secret-type: cluster, env: prod}
    annotations:
      team: shop
      kubectl.kubernetes.io/last-applied-configuration: '{\"stringData\":{\"config\":\"hunter2\"}}'
  data:
    name: cHJvZA==
    server: aHR0cHM6Ly9wcm9kLmV4YW1wbGUuY29t
    config: aHVudGVyMg==
- kind: Secret
  metadata: {name: repo, labels: {argocd.argoproj.io/secret-type: repository}}
  stringData: {url: 'https://git.example.com/deploy.git', password: hunter2}
- kind: Secret
  metadata: {name: other, labels: {argocd.argoproj.io/secret-type: repository}}
  stringData: {url: 'https://git.example.com/other.git', password: hunter2}
";

    #[test]
    fn secrets_become_clusters_and_repositories_without_credentials() {
        let file = exported(&[SECRETS]);
        assert!(!file.contains("hunter2") && !file.contains("aHVudGVyMg"), "{file}");
        let context = Context::read(&YamlFile::new("context.yaml", &file)).unwrap();
        let cluster = &context.clusters[0].value;
        assert_eq!((cluster.name.as_str(), cluster.server.as_str()), ("prod", "https://prod.example.com"));
        assert_eq!(cluster.labels["env"], "prod");
        assert_eq!(cluster.annotations.keys().collect::<Vec<_>>(), ["team"]);
        assert_eq!(context.repositories.len(), 1);
        assert_eq!(context.repositories[0].value.path, ".");
        assert!(file.contains("# - url: https://git.example.com/other.git\n"), "{file}");
    }

    #[test]
    fn settings_and_projects_are_taken_as_far_as_rendering_needs_them() {
        let settings = "kind: ConfigMap\nmetadata: {name: argocd-cm}\ndata:\n  kustomize.buildOptions: --enable-helm\n  \
                        oidc.config: 'clientSecret: hunter2'\n  url: https://argocd.example.com\n";
        let project = "kind: AppProject\nmetadata: {name: shop, uid: x}\nspec:\n  sourceRepos: ['*']\n  roles:\n  - \
                       {name: ci, jwtTokens: [{iat: 1}]}\nstatus: {}\n";
        let file = exported(&[settings, project]);
        let context = Context::read(&YamlFile::new("context.yaml", &file)).unwrap();
        assert_eq!(context.settings.keys().collect::<Vec<_>>(), ["kustomize.buildOptions"]);
        assert_eq!(context.projects.len(), 1);
        for secret in ["hunter2", "jwtTokens", "uid", "status"] {
            assert!(!file.contains(secret), "{secret}: {file}");
        }
    }

    #[test]
    fn what_tools_print_of_clusters_comes_together() {
        let clusters = r#"[{"server": "https://prod.example.com", "name": "prod", "labels": {"env": "prod"},
            "config": {"bearerToken": "hunter2"}, "info": {"serverVersion": "1.34", "apiVersions": ["apps/v1"]}}]"#;
        let version =
            r#"{"clientVersion": {"gitVersion": "v1.33.0"}, "serverVersion": {"gitVersion": "v1.34.2"}}"#;
        let resources = "NAME        SHORTNAMES APIVERSION NAMESPACED KIND\npods        po         v1         true       Pod\n\
                         widgets                example.com/v1 false  Widget\n";
        let file = exported(&[clusters, version, resources, "apps/v1\nbatch/v1\nv1\n"]);
        assert!(!file.contains("hunter2"), "{file}");
        let context = Context::read(&YamlFile::new("context.yaml", &file)).unwrap();
        let here = &context.clusters[0].value;
        assert_eq!((here.name.as_str(), here.kube_version.as_str()), (IN_CLUSTER, "v1.34.2"));
        assert_eq!(
            here.api_versions,
            ["apps/v1", "batch/v1", "example.com/v1", "example.com/v1/Widget", "v1", "v1/Pod"]
        );
        assert_eq!(context.clusters[1].value.api_versions, ["apps/v1"]);
    }

    #[test]
    fn what_is_nothing_of_these_is_refused() {
        let error = Export::default().add(&YamlFile::new("-", "a: 1\n")).unwrap_err();
        assert!(error.to_string().starts_with("-:1:1: this object is not part of a context"), "{error}");
    }
}

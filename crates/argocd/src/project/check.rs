//! The rules of a project that an Application or object violates.
//!
//! In: what an Application says, and its objects. Out: an error for each thing that Argo CD would refuse, at the place
//! that says it, with what the project permits.

use diagnostic::Error;
use glob::path_match;
use goregex::Regex;
use yamltree::Location;

use super::pattern::{Pattern, normalized};
use super::{KindPattern, Lists, Project};
use crate::context::Cluster;
use crate::objects::{ARGOCD_NAMESPACE, Object, Scopes};

/// So many patterns are shown where none of them permits something.
const MAX_SHOWN: usize = 5;

/// The fields of an Application that a project restricts.
#[derive(Clone, Debug)]
pub struct Application<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its namespace; empty or Argo CD's own for most.
    pub namespace: &'a str,
    /// The location of the object.
    pub place: Option<Location>,
    /// Its sources.
    pub sources: Vec<Source<'a>>,
    /// The cluster that it goes to.
    pub cluster: &'a Cluster,
    /// The namespace that it goes to.
    pub destination_namespace: &'a str,
    /// The location of its destination.
    pub destination_place: Option<Location>,
}

/// A source of an Application.
#[derive(Clone, Debug)]
pub struct Source<'a> {
    /// Its repository.
    pub url: &'a str,
    /// The location of the field.
    pub place: Option<Location>,
}

impl Project {
    /// Returns what the project does not permit of an Application itself (util/argo/argo.go `ValidatePermissions`).
    #[must_use]
    pub fn check_application(&self, application: &Application<'_>) -> Vec<Error> {
        let Application { name, namespace, sources, cluster, destination_namespace, .. } = application;
        let mut errors = Vec::new();
        if !self.permits_applications_in(namespace) {
            let message = format!(
                "the project `{}` does not permit Applications in the namespace `{namespace}`, where `{name}` is",
                self.name
            );
            let error = Error::invalid(message).at(application.place.clone());
            errors.push(error.hint("add the namespace to `sourceNamespaces` of the project"));
        }
        for source in sources.iter().filter(|source| !self.permits_source(source.url)) {
            let shown = crate::repositories::shown(source.url);
            let message = format!("the project `{}` does not permit the repository `{shown}`", self.name);
            let error =
                Error::invalid(message).at(source.place.clone().or_else(|| application.place.clone()));
            let permitted = self.repositories.iter().map(Pattern::text).map(crate::repositories::shown);
            errors.push(error.hint(listed("`sourceRepos`", permitted)));
        }
        if !self.permits_destination(cluster, destination_namespace) {
            let message = format!(
                "the project `{}` does not permit the namespace `{destination_namespace}` on the cluster `{}`",
                self.name, cluster.name
            );
            let place = application.destination_place.clone().or_else(|| application.place.clone());
            errors.push(Error::invalid(message).at(place).hint(self.shown_destinations()));
        }
        errors
    }

    /// Returns what the project does not permit of an object as it would be applied (controller/sync.go
    /// `validateSyncPermissions`).
    ///
    /// # Errors
    /// The one thing that Argo CD would say first.
    pub fn check_object(&self, object: &Object, cluster: &Cluster, scopes: &Scopes) -> Result<(), Error> {
        let is_namespaced = scopes.is_namespaced(object.group(), object.kind());
        let lists = if is_namespaced { &self.namespaced_kinds } else { &self.cluster_kinds };
        if !lists.permit(object.group(), object.kind(), object.name(), !is_namespaced) {
            let kind = if object.group().is_empty() {
                object.kind().to_owned()
            } else {
                format!("{}/{}", object.group(), object.kind())
            };
            let message = format!("the project `{}` does not permit {object}, of the kind {kind}", self.name);
            let hint = if is_namespaced {
                "see `namespaceResourceWhitelist` and `namespaceResourceBlacklist` of the project"
            } else {
                "see `clusterResourceWhitelist` and `clusterResourceBlacklist` of the project"
            };
            return Err(Error::invalid(message).at(object.place()).hint(hint));
        }
        if is_namespaced && !self.permits_destination(cluster, object.namespace()) {
            let message = format!(
                "the project `{}` does not permit {object} in the namespace `{}` on the cluster `{}`",
                self.name,
                object.namespace(),
                cluster.name
            );
            return Err(Error::invalid(message).at(object.place()).hint(self.shown_destinations()));
        }
        Ok(())
    }

    /// Returns true if an Application may be in a namespace; those in Argo CD's own always may.
    #[must_use]
    pub fn permits_applications_in(&self, namespace: &str) -> bool {
        namespace.is_empty()
            || namespace == ARGOCD_NAMESPACE
            || self.source_namespaces.iter().any(|pattern| matches_namespace(pattern, namespace))
    }

    /// Returns true if a repository is permitted by one pattern and denied by none.
    fn permits_source(&self, url: &str) -> bool {
        let url = normalized(url);
        let passes = |pattern: &Pattern| pattern.passes(&url);
        self.repositories.iter().all(|pattern| !pattern.denies() || passes(pattern))
            && self.repositories.iter().any(passes)
    }

    fn permits_destination(&self, cluster: &Cluster, namespace: &str) -> bool {
        let is_own = !cluster.project.is_empty() && cluster.project == self.name;
        self.matches_destination(cluster, namespace) && (!self.is_for_own_clusters || is_own)
    }

    /// Returns true if a destination is matched by one entry and denied by none. What denies a name counts for every namespace,
    /// what denies a server for the namespaces of the entry, what denies a namespace for its servers.
    fn matches_destination(&self, cluster: &Cluster, namespace: &str) -> bool {
        let mut is_matched = false;
        for entry in &self.destinations {
            let name = !cluster.name.is_empty() && entry.name.passes(&cluster.name);
            let server = !cluster.server.is_empty() && entry.server.passes(&cluster.server);
            let within = entry.namespace.passes(namespace);
            if (server || name) && within {
                is_matched = true;
                continue;
            }
            let is_denied = (!name && entry.name.denies())
                || (!server && entry.server.denies() && within)
                || (!within && entry.namespace.denies() && server);
            if is_denied {
                return false;
            }
        }
        is_matched
    }

    fn shown_destinations(&self) -> String {
        if self.is_for_own_clusters {
            return "the project is for its own clusters only (`permitOnlyProjectScopedClusters`)".to_owned();
        }
        let shown = self.destinations.iter().map(|entry| {
            let cluster = if entry.server.text().is_empty() { &entry.name } else { &entry.server };
            format!("{} on {}", entry.namespace.text(), cluster.text())
        });
        listed("`destinations`", shown)
    }
}

impl Lists {
    fn permit(&self, group: &str, kind: &str, name: &str, is_named: bool) -> bool {
        let any =
            |list: &[KindPattern]| list.iter().any(|it| it.matches(group, kind, is_named.then_some(name)));
        self.permitted.as_deref().is_none_or(any) && !any(&self.denied)
    }
}

impl KindPattern {
    fn matches(&self, group: &str, kind: &str, name: Option<&str>) -> bool {
        let is = |pattern: &str, text: &str| path_match(pattern, text).unwrap_or(false);
        is(&self.kind, kind)
            && is(&self.group, group)
            && name.is_none_or(|name| self.name.is_empty() || is(&self.name, name))
    }
}

/// Returns true if a namespace matches an expression between slashes, or a pattern.
fn matches_namespace(pattern: &str, namespace: &str) -> bool {
    let expression = pattern.strip_prefix('/').and_then(|rest| rest.strip_suffix('/'));
    expression.is_some_and(|it| Regex::new(it).is_ok_and(|regex| regex.is_match(namespace)))
        || glob::gobwas::Glob::new(pattern, "").is_ok_and(|glob| glob.matches(namespace))
}

fn listed(field: &str, patterns: impl Iterator<Item = String>) -> String {
    let patterns: Vec<String> = patterns.map(|pattern| format!("`{pattern}`")).collect();
    match patterns.len() {
        0 => format!("{field} of the project is empty"),
        count if count > MAX_SHOWN => {
            format!(
                "{field} of the project: {} and {} more",
                patterns[..MAX_SHOWN].join(", "),
                count - MAX_SHOWN
            )
        }
        _ => format!("{field} of the project: {}", patterns.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use yamlserde::YamlFile;

    use super::super::Projects;
    use super::*;
    use crate::context::Context;
    use crate::objects::read;

    fn projects(spec: &str) -> Projects {
        let text = format!(
            "apiVersion: renderer/v1alpha1\nkind: Context\nprojects:\n- {{apiVersion: argoproj.io/v1alpha1, kind: AppProject, metadata: {{name: team, labels: {{tier: low}}}}, spec: {{{spec}}}}}\n"
        );
        let text = YamlFile::new("context.yaml", &text);
        Projects::new(&Context::read(&text).unwrap(), &text).unwrap()
    }

    fn project(spec: &str) -> Project {
        projects(spec).get("team").unwrap()
    }

    fn cluster(name: &str, server: &str) -> Cluster {
        serde_json::from_value(serde_json::json!({"name": name, "server": server})).unwrap()
    }

    /// pkg/apis/application/v1alpha1/app_project_types.go `IsSourcePermitted`
    #[test]
    fn repositories_are_permitted_by_one_and_denied_by_none() {
        for (patterns, url, want) in [
            ("'*'", "https://git.example.com/a/b.git", true),
            ("", "https://git.example.com/a", false),
            ("https://git.example.com/org/*", "https://GIT.example.com/org/app.git", true),
            ("https://git.example.com/*", "https://git.example.com/org/app", false),
            ("https://git.example.com/**", "https://git.example.com/org/app", true),
            ("git@git.example.com:org/*", "ssh://git@git.example.com/org/app.git", true),
            ("'*', '!https://git.example.com/secret/**'", "https://git.example.com/secret/a/b", false),
            ("'*', '!https://git.example.com/secret/**'", "https://git.example.com/open/a", true),
            // A denial alone permits all that it does not deny.
            ("'!https://git.example.com/secret'", "https://git.example.com/open", true),
        ] {
            assert_eq!(
                project(&format!("sourceRepos: [{patterns}]")).permits_source(url),
                want,
                "{patterns} {url}"
            );
        }
    }

    /// `isDestinationMatched`
    #[test]
    fn destinations_are_matched_by_server_or_name() {
        let (prod, dev) = (cluster("prod", "https://prod"), cluster("dev", "https://dev"));
        for (entries, on, namespace, want) in [
            ("{server: https://prod, namespace: shop}", &prod, "shop", true),
            ("{server: https://prod, namespace: shop}", &prod, "other", false),
            ("{server: https://prod, namespace: shop}", &dev, "shop", false),
            ("{name: 'p*', namespace: '*'}", &prod, "x", true),
            ("{server: '*', namespace: 'shop-*'}", &dev, "shop-1", true),
            (
                "{server: '*', namespace: '*'}, {server: '*', namespace: '!kube-system'}",
                &dev,
                "kube-system",
                false,
            ),
            (
                "{server: '*', namespace: '*'}, {server: '!https://prod', namespace: shop}",
                &prod,
                "shop",
                false,
            ),
            ("{server: '*', namespace: '*'}, {server: '!https://prod', namespace: shop}", &prod, "x", true),
            ("{server: '*', namespace: '*'}, {name: '!prod', namespace: shop}", &prod, "x", false),
            ("", &prod, "shop", false),
        ] {
            let project = project(&format!("destinations: [{entries}]"));
            assert_eq!(project.permits_destination(on, namespace), want, "{entries} {namespace}");
        }
        let own =
            project("destinations: [{server: '*', namespace: '*'}], permitOnlyProjectScopedClusters: true");
        assert!(!own.permits_destination(&prod, "shop"));
        let mine = Cluster { project: "team".to_owned(), ..prod };
        assert!(own.permits_destination(&mine, "shop"));
    }

    fn permits(spec: &str, manifest: &str) -> Result<(), String> {
        let source = yamltree::Source { name: "a.yaml".to_owned(), text: manifest.into() };
        let objects = read(&Arc::new(source)).unwrap();
        let spec = format!("destinations: [{{server: '*', namespace: shop}}], {spec}");
        let on = cluster("prod", "https://prod");
        let checked = project(&spec).check_object(&objects[0], &on, &Scopes::of(&objects));
        checked.map_err(|error| error.to_string())
    }

    /// `IsGroupKindNamePermitted`
    #[test]
    fn kinds_are_permitted_by_scope() {
        let role = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: reader}\n";
        let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: shop}\n";
        for (spec, manifest, want) in [
            ("", role, false),
            ("clusterResourceWhitelist: [{group: '*', kind: '*'}]", role, true),
            ("clusterResourceWhitelist: [{group: 'rbac.*', kind: 'Cluster*', name: 'read*'}]", role, true),
            ("clusterResourceWhitelist: [{group: '*', kind: '*', name: other}]", role, false),
            (
                "clusterResourceWhitelist: [{group: '*', kind: '*'}], clusterResourceBlacklist: [{group: '*', kind: ClusterRole}]",
                role,
                false,
            ),
            ("", pod, true),
            ("namespaceResourceWhitelist: []", pod, false),
            ("namespaceResourceWhitelist: null", pod, true),
            ("namespaceResourceWhitelist: [{group: '', kind: Pod}]", pod, true),
            ("namespaceResourceWhitelist: [{group: '[', kind: Pod}]", pod, false),
            ("namespaceResourceBlacklist: [{group: '', kind: 'P?d'}]", pod, false),
        ] {
            assert_eq!(permits(spec, manifest).is_ok(), want, "{spec}");
        }
        assert_eq!(
            permits("", role).unwrap_err(),
            "a.yaml:1:1: the project `team` does not permit ClusterRole/reader, of the kind rbac.authorization.k8s.io/ClusterRole"
        );
        assert_eq!(
            permits("", "kind: Pod\nmetadata: {name: p, namespace: other}\n").unwrap_err(),
            "a.yaml:1:1: the project `team` does not permit Pod/p in the namespace `other` on the cluster `prod`"
        );
    }

    fn faults(project: &Project, namespace: &str, url: &str) -> Vec<String> {
        let on = cluster("prod", "https://prod");
        let source = Arc::new(yamltree::Source { name: "app.yaml".to_owned(), text: "a: b".into() });
        let place = |start| {
            Some(Location { source: source.clone(), span: yamltree::Span { source: 0, start, end: 4 } })
        };
        let application = Application {
            name: "web",
            namespace,
            place: place(0),
            sources: vec![Source { url, place: place(3) }],
            cluster: &on,
            destination_namespace: "shop",
            destination_place: None,
        };
        let errors = project.check_application(&application);
        errors.iter().map(|error| format!("{error} ({})", error.get_hint().unwrap_or_default())).collect()
    }

    #[test]
    fn an_application_is_told_all_at_once() {
        let project = project("sourceRepos: ['https://h/*'], sourceNamespaces: [team-*, '/^x-[0-9]$/']");
        assert_eq!(
            faults(&project, "other", "https://token@h/a/b"),
            [
                "app.yaml:1:1: the project `team` does not permit Applications in the namespace `other`, where `web` is (add the namespace to `sourceNamespaces` of the project)",
                "app.yaml:1:4: the project `team` does not permit the repository `https://h/a/b` (`sourceRepos` of the project: `https://h/*`)",
                "app.yaml:1:1: the project `team` does not permit the namespace `shop` on the cluster `prod` (`destinations` of the project is empty)",
            ]
        );
        for (namespace, count) in [("", 1), ("argocd", 1), ("team-a", 1), ("x-1", 1), ("x-10", 2)] {
            assert_eq!(faults(&project, namespace, "https://h/a").len(), count, "{namespace}");
        }
    }

    #[test]
    fn the_default_project_permits_all() {
        let projects = projects("");
        assert!(faults(&projects.get("").unwrap(), "argocd", "https://h/a/b").is_empty());
        let error = projects.get("taem").unwrap_err();
        assert_eq!(
            (error.message(), error.get_hint()),
            ("unknown project `taem`", Some("did you mean `team`?"))
        );
    }

    #[test]
    fn manifests_replace_what_the_context_has() {
        let mut projects = projects("sourceRepos: ['*']");
        let text = "apiVersion: argoproj.io/v1alpha1\nkind: AppProject\nmetadata: {name: team}\nspec: {sourceRepos: [https://h/a]}\n";
        let source = Arc::new(yamltree::Source { name: "team.yaml".to_owned(), text: text.into() });
        projects.take_from(&read(&source).unwrap()).unwrap();
        let project = projects.get("team").unwrap();
        assert!(!project.permits_source("https://h/b") && project.permits_source("https://h/a.git"));
        assert_eq!(project.place().unwrap().to_string(), "team.yaml:1:1");
        let wrong = Arc::new(yamltree::Source {
            name: "wrong.yaml".to_owned(),
            text: text.replace("[https://h/a]", "x").into(),
        });
        let error = projects.take_from(&read(&wrong).unwrap()).unwrap_err().to_string();
        assert!(error.starts_with("wrong.yaml:1:1: invalid AppProject: "), "{error}");
    }

    #[test]
    fn global_projects_add_their_rules() {
        let text = "apiVersion: renderer/v1alpha1
kind: Context
settings: {globalProjects: '[{projectName: all, labelSelector: {matchLabels: {tier: low}}}]'}
projects:
- {kind: AppProject, metadata: {name: all}, spec: {namespaceResourceWhitelist: [{group: '', kind: Pod}], sourceRepos: [https://h/a]}}
- {kind: AppProject, metadata: {name: team, labels: {tier: low}}}
- {kind: AppProject, metadata: {name: other}}
";
        let text = YamlFile::new("context.yaml", text);
        let projects = Projects::new(&Context::read(&text).unwrap(), &text).unwrap();
        let (team, other) = (projects.get("team").unwrap(), projects.get("other").unwrap());
        assert!(team.permits_source("https://h/a") && !other.permits_source("https://h/a"));
        assert!(!team.namespaced_kinds.permit("", "Service", "s", false));
        assert!(other.namespaced_kinds.permit("", "Service", "s", false));
    }

    #[test]
    fn what_is_no_project_is_refused() {
        for (entry, want) in [
            ("{kind: Pod}", "context.yaml:4:3: a project is an `AppProject`, and this is `Pod`"),
            ("{kind: AppProject}", "context.yaml:4:3: invalid AppProject: missing field `metadata`"),
        ] {
            let text = format!("apiVersion: renderer/v1alpha1\nkind: Context\nprojects:\n- {entry}\n");
            let text = YamlFile::new("context.yaml", &text);
            let error = Projects::new(&Context::read(&text).unwrap(), &text).unwrap_err();
            assert_eq!(error.to_string(), want);
        }
    }
}

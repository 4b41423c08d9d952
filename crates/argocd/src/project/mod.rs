//! AppProjects: what Applications may deploy from where to where.
//!
//! In: the projects of the context and those that are manifests ([`Projects`]). Out: for an Application and for each of
//! its objects what its project does not permit, as Argo CD's API and controller find it ([`Project::check_application`],
//! [`Project::check_object`]). Refused: manifests that are no AppProjects, and names of projects that nobody knows.

mod check;
mod global;
mod pattern;

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use yamlserde::YamlFile;
use yamltree::{Location, Span};

use crate::context::Context;
use crate::objects::Object;
use crate::suggestion::closest;

pub use check::{Application, Source};
use diagnostic::{Error, Result};
use global::GlobalProject;
use pattern::{Pattern, repository_pattern};

/// The project of Applications that name none; Argo CD makes it, and it permits all.
pub const DEFAULT: &str = "default";

/// The kind and the API group of projects.
const KIND: &str = "AppProject";
const GROUP: &str = "argoproj.io";

/// All projects by their names.
#[derive(Clone, Debug)]
pub struct Projects {
    by_name: BTreeMap<String, Project>,
    global: Vec<GlobalProject>,
}

/// One project.
#[derive(Clone, Debug)]
pub struct Project {
    name: String,
    labels: BTreeMap<String, String>,
    place: Option<Location>,
    /// Their addresses, in the form in which addresses are compared.
    repositories: Vec<Pattern>,
    destinations: Vec<Destination>,
    cluster_kinds: Lists,
    namespaced_kinds: Lists,
    /// Patterns and, between slashes, expressions.
    source_namespaces: Vec<String>,
    is_for_own_clusters: bool,
}

/// An allowed destination.
#[derive(Clone, Debug)]
struct Destination {
    server: Pattern,
    name: Pattern,
    namespace: Pattern,
}

/// The kinds that are permitted, unless they are denied.
#[derive(Clone, Debug, Default)]
struct Lists {
    permitted: Option<Vec<KindPattern>>,
    denied: Vec<KindPattern>,
}

/// Kinds as Go's `filepath.Match` matches them, and perhaps only objects of a name.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct KindPattern {
    group: String,
    kind: String,
    name: String,
}

#[derive(Deserialize)]
struct Written {
    metadata: Metadata,
    #[serde(default)]
    spec: Option<Spec>,
}

#[derive(Deserialize)]
struct Metadata {
    name: String,
    labels: Option<BTreeMap<String, String>>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Spec {
    source_repos: Option<Vec<String>>,
    destinations: Option<Vec<WrittenDestination>>,
    cluster_resource_whitelist: Option<Vec<KindPattern>>,
    cluster_resource_blacklist: Option<Vec<KindPattern>>,
    namespace_resource_whitelist: Option<Vec<KindPattern>>,
    namespace_resource_blacklist: Option<Vec<KindPattern>>,
    source_namespaces: Option<Vec<String>>,
    permit_only_project_scoped_clusters: bool,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct WrittenDestination {
    server: String,
    name: String,
    namespace: String,
}

impl Projects {
    /// The projects of a context, whose text says where they are, and the one that is always there.
    ///
    /// # Errors
    /// If one of them is no AppProject, or is there twice, or `globalProjects` of the settings is no list of rules.
    pub fn new(context: &Context, text: &YamlFile) -> Result<Self> {
        let mut projects = Self { by_name: BTreeMap::new(), global: global::read(&context.settings)? };
        for written in &context.projects {
            let start = written.start;
            let span = Span { source: 0, start, end: start };
            let place = Location { source: text.source().clone(), span };
            let project = Project::read(&written.value, Some(place.clone()))?;
            if let Some(twice) = projects.by_name.insert(project.name.clone(), project) {
                return Err(
                    Error::invalid(format!("there are two projects `{}`", twice.name)).at(Some(place))
                );
            }
        }
        projects.by_name.entry(DEFAULT.to_owned()).or_insert_with(Project::unrestricted);
        Ok(projects)
    }

    /// Takes those of rendered objects that are projects in the place of the ones that are known.
    ///
    /// # Errors
    /// If one of them is none.
    pub fn take_from(&mut self, objects: &[Object]) -> Result<()> {
        for object in objects.iter().filter(|it| it.kind() == KIND && it.group() == GROUP) {
            let value: Value = serde_json::from_str(&object.to_json()?).map_err(|error| {
                Error::invalid(format!("{object} cannot be read: {error}")).at(object.place())
            })?;
            let project = Project::read(&value, object.place())?;
            self.by_name.insert(project.name.clone(), project);
        }
        Ok(())
    }

    /// The project of a name, with what global projects add to it; an empty name is that of the default.
    ///
    /// # Errors
    /// If there is no such project.
    pub fn get(&self, name: &str) -> Result<Project> {
        let name = if name.is_empty() { DEFAULT } else { name };
        let Some(project) = self.by_name.get(name) else {
            let error = Error::invalid(format!("unknown project `{name}`"));
            return Err(match closest(name, self.by_name.keys().map(String::as_str)) {
                Some(meant) => error.hint(format!("did you mean `{meant}`?")),
                None => error.hint("add the AppProject to `projects` of the context file"),
            });
        };
        let mut project = project.clone();
        for rule in &self.global {
            let global = self.by_name.get(&rule.project_name);
            if let Some(global) = global.filter(|it| it.name != name && rule.selects(&project.labels)) {
                project.add(global);
            }
        }
        Ok(project)
    }
}

impl Project {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns where it is written, when that is in a file.
    #[must_use]
    pub fn place(&self) -> Option<&Location> {
        self.place.as_ref()
    }

    fn read(value: &Value, place: Option<Location>) -> Result<Self> {
        let kind = value.get("kind").and_then(Value::as_str).unwrap_or_default();
        if kind != KIND {
            let message = format!("a project is an `{KIND}`, and this is `{kind}`");
            return Err(Error::invalid(message).at(place));
        }
        let written = Written::deserialize(value)
            .map_err(|error| Error::invalid(format!("invalid {KIND}: {error}")).at(place.clone()))?;
        let spec = written.spec.unwrap_or_default();
        let destinations = spec.destinations.unwrap_or_default();
        Ok(Self {
            name: written.metadata.name,
            labels: written.metadata.labels.unwrap_or_default(),
            place,
            repositories: spec
                .source_repos
                .unwrap_or_default()
                .iter()
                .map(|it| repository_pattern(it))
                .collect(),
            destinations: destinations.iter().map(Destination::of).collect(),
            cluster_kinds: Lists {
                permitted: Some(spec.cluster_resource_whitelist.unwrap_or_default()),
                denied: spec.cluster_resource_blacklist.unwrap_or_default(),
            },
            namespaced_kinds: Lists {
                permitted: spec.namespace_resource_whitelist,
                denied: spec.namespace_resource_blacklist.unwrap_or_default(),
            },
            source_namespaces: spec.source_namespaces.unwrap_or_default(),
            is_for_own_clusters: spec.permit_only_project_scoped_clusters,
        })
    }

    /// The project that Argo CD makes of the name `default`.
    fn unrestricted() -> Self {
        let any = || Pattern::new("*", "");
        let every_kind = KindPattern { group: "*".to_owned(), kind: "*".to_owned(), name: String::new() };
        Self {
            name: DEFAULT.to_owned(),
            labels: BTreeMap::new(),
            place: None,
            repositories: vec![any()],
            destinations: vec![Destination { server: any(), name: Pattern::new("", ""), namespace: any() }],
            cluster_kinds: Lists { permitted: Some(vec![every_kind]), denied: Vec::new() },
            namespaced_kinds: Lists::default(),
            source_namespaces: Vec::new(),
            is_for_own_clusters: false,
        }
    }

    /// Adds what a global project says.
    fn add(&mut self, global: &Project) {
        self.repositories.extend(global.repositories.iter().cloned());
        self.destinations.extend(global.destinations.iter().cloned());
        self.cluster_kinds.add(&global.cluster_kinds);
        self.namespaced_kinds.add(&global.namespaced_kinds);
    }
}

impl Lists {
    fn add(&mut self, global: &Lists) {
        // No list permits all, and an empty one nothing; what is added to none makes a list.
        if let Some(permitted) = global.permitted.as_ref().filter(|permitted| !permitted.is_empty()) {
            self.permitted.get_or_insert_default().extend(permitted.iter().cloned());
        }
        self.denied.extend(global.denied.iter().cloned());
    }
}

impl Destination {
    fn of(written: &WrittenDestination) -> Self {
        Self {
            server: Pattern::new(&written.server, ""),
            name: Pattern::new(&written.name, ""),
            namespace: Pattern::new(&written.namespace, ""),
        }
    }
}

//! Renders an Application: its sources one after the other, then what Argo CD does to their objects.
//!
//! In: an [`Application`] and the [`World`]. Out: the objects that Argo CD would apply. Refused: what is said of each step.

use std::sync::Arc;

use diagnostic::{Error, Result};
use yamltree::Node;

use super::clusters;
use super::context::{Overrides, Run, World};
use super::detect::Engine;
use super::directory;
use super::engines::{ChartOutput, Engines, KustomizationRequest, Manifests};
use super::environment::{Environment, Identity};
use super::fields::place_of;
use super::helm::{self, Release};
use super::kustomize::{self, Edited, Editing};
use super::located::{Place, references};
use super::model::Application;
use super::overrides;
use super::settings::Settings;
use super::source::Source;
use super::value_files::Resolver;
use crate::context::{Cluster, Context};
use crate::objects::{self, Object, Pipeline, ResourceFilter, Scopes, Tracking};
use crate::plugin;
use crate::project::{self, Project};
use crate::warning::{Code, Warning};

/// The rendered Application.
#[derive(Debug, Default)]
pub struct Rendered {
    /// The objects as they would be applied.
    pub objects: Vec<Object>,
    /// The rendered sources.
    pub sources: Vec<RenderedSource>,
    /// Warnings.
    pub warnings: Vec<Warning>,
}

/// A rendered source.
#[derive(Debug)]
pub struct RenderedSource {
    /// The engine that rendered it.
    pub engine: Engine,
    /// Its objects, lists taken apart, with nothing done to them.
    pub objects: Vec<Object>,
    /// The commands that Argo CD would run.
    pub commands: Vec<String>,
    /// The revision, where it is known.
    pub revision: String,
}

/// Renders an Application.
///
/// # Errors
/// If it, one of its sources or what they render to is invalid.
pub fn render<E: Engines>(application: &Application, world: &World<'_, E>) -> Result<Rendered, E::Error> {
    let mut warnings = application.warnings.clone();
    check_sources(application)?;
    let cluster = cluster(application, world.context, world.overrides)?;
    let project = project(application, &cluster, world, &mut warnings)?;
    let filter = ResourceFilter::new(&world.context.settings)?;
    let references = references(application, world)?;
    let run = Run { application, world, cluster: &cluster, references: &references };
    let mut sources = Vec::with_capacity(application.sources.len());
    let mut rendered = Vec::new();
    for source in &application.sources {
        let Some(source) = run.source(source, &mut warnings)? else { continue };
        rendered.extend(source.objects.iter().cloned());
        sources.push(source);
    }
    let settings = &world.context.settings;
    let pipeline = Pipeline {
        tracking: Tracking::new(settings, application.instance_name(), world.overrides.tracking),
        destination: objects::Destination {
            server: cluster.server.clone(),
            namespace: application.destination.namespace.clone(),
        },
        filter,
    };
    let processed = pipeline.run(rendered).map_err(|error| error.at(application.place(application.span)))?;
    warnings.extend(processed.warnings);
    if let Some(project) = project {
        let scopes = Scopes::of(&processed.objects);
        for object in &processed.objects {
            project.check_object(object, &cluster, &scopes)?;
        }
    }
    Ok(Rendered { objects: processed.objects, sources, warnings })
}

/// Returns what Argo CD checks before it asks the repo-server (argo.go `validateSourcePermissions`).
fn check_sources(application: &Application) -> Result<()> {
    for source in &application.sources {
        let has_place = !source.path.value.is_empty() || !source.chart.value.is_empty();
        let is_reference = application.has_multiple_sources && !source.reference.value.is_empty();
        if source.repo_url.value.is_empty() {
            return Err(application.error("the source lacks `repoURL`", source.span));
        }
        if !has_place && !is_reference {
            let message = "the source has neither a `path` nor a `chart`";
            return Err(application.error(message, source.span).hint("`path: .` is the whole repository"));
        }
        if !source.chart.value.is_empty() && source.target_revision.value.is_empty() {
            let message = format!("the chart `{}` lacks a version", source.chart.value);
            return Err(application.error(message, source.chart.span).hint("set `targetRevision`"));
        }
    }
    Ok(())
}

/// The cluster that an Application goes to.
///
/// # Errors
/// If the context does not have it, or the Application names none.
pub fn cluster(application: &Application, context: &Context, overrides: &Overrides) -> Result<Cluster> {
    let found = clusters::of(application, context);
    let destination = &application.destination;
    let mut cluster = match found {
        Err(_) if overrides.any_cluster && destination.server.is_empty() != destination.name.is_empty() => {
            Cluster {
                name: destination.name.clone(),
                server: destination.server.clone(),
                ..Cluster::default()
            }
        }
        found => found?,
    };
    if let Some(version) = &overrides.kube_version {
        cluster.kube_version.clone_from(version);
    }
    if let Some(versions) = &overrides.api_versions {
        cluster.api_versions.clone_from(versions);
    }
    Ok(cluster)
}

/// The project of an Application, which permits it.
fn project<E>(
    application: &Application,
    cluster: &Cluster,
    world: &World<'_, E>,
    warnings: &mut Vec<Warning>,
) -> Result<Option<Project>> {
    let Some(projects) = world.projects else { return Ok(None) };
    let at = |error: Error| error.at(application.place(application.project.span));
    let project = projects.get(&application.project.value).map_err(at)?;
    let mut sources: Vec<project::Source<'_>> = application
        .sources
        .iter()
        .map(|source| project::Source {
            url: &source.repo_url.value,
            place: application.place(source.repo_url.span),
        })
        .collect();
    if let Some(sync) = application.hydrator.as_ref().filter(|sync| !sync.repo_url.is_empty()) {
        sources.push(project::Source { url: &sync.repo_url, place: application.place(sync.path.span) });
    }
    // Whether Argo CD looks at the Application at all does not change what it renders to.
    if !project.permits_applications_in(&application.namespace) {
        let (name, namespace) = (project.name(), &application.namespace);
        let message =
            format!("the project `{name}` does not permit Applications in the namespace `{namespace}`");
        warnings.push(
            Warning::new(Code::ForeignNamespace, message)
                .at(application.place(application.name.span))
                .hint("add the namespace to `sourceNamespaces` of the project"),
        );
    }
    let asked = project::Application {
        name: &application.name.value,
        namespace: "",
        place: application.place(application.name.span),
        sources,
        cluster,
        destination_namespace: &application.destination.namespace,
        destination_place: application.place(application.destination.span),
    };
    match project.check_application(&asked).into_iter().next() {
        Some(error) => Err(error),
        None => Ok(Some(project)),
    }
}

impl<E: Engines> Run<'_, E> {
    fn source(
        &self,
        source: &Source,
        warnings: &mut Vec<Warning>,
    ) -> Result<Option<RenderedSource>, E::Error> {
        let application = self.application;
        if application.has_multiple_sources && source.path.value.is_empty() && source.chart.value.is_empty() {
            return Ok(None);
        }
        self.check_references(source)?;
        let place = if source.chart.value.is_empty() { self.folder(source)? } else { self.chart(source)? };
        let files = self.world.files;
        let instance = application.instance_name();
        let overridden = overrides::apply(source, &application.texts, &place.folder, &instance, files)?;
        warnings.extend(overridden.warnings);
        let (source, texts) = (&overridden.source, &overridden.texts);
        let settings = Settings(&self.world.context.settings);
        let engine = Engine::of(source, texts, &place.folder, files, settings)
            .map_err(|error| error.at(application.place(source.span)))?;
        let environment = Environment::of(&Identity {
            application: &instance,
            namespace: &application.destination.namespace,
            project: &application.project.value,
            revision: &place.revision,
            repo_url: &source.repo_url.value,
            path: &source.path.value,
            target_revision: &source.target_revision.value,
        });
        if place.revision.is_empty() {
            warn_of_revision(source, texts, warnings);
        }
        let resolver = Resolver {
            checkout: &place.checkout,
            folder: &place.folder,
            references: self.references,
            environment: &environment,
            schemes: settings.value_file_schemes(),
            texts,
        };
        let (objects, commands) = match engine {
            Engine::Helm => self.helm(source, &place, &resolver, warnings)?,
            Engine::Kustomize => self.kustomize(source, &place, &resolver, None)?,
            Engine::Directory => {
                let settings = settings.is_enabled("jsonnet.enable");
                let directory = source.directory.clone().unwrap_or_default();
                let folder =
                    place.checkout.real(&place.folder).map_or(place.folder.clone(), |(real, _)| real);
                let objects =
                    directory::render(&folder, &directory, &place.checkout, texts, settings, warnings)
                        .map_err(|error| error.at(application.place(source.path.span)))?;
                (objects, Vec::new())
            }
            Engine::Plugin => self.plugin(source, &place, &resolver, warnings)?,
        };
        let objects = objects::flatten(objects)?;
        Ok(Some(RenderedSource { engine, objects, commands, revision: place.revision }))
    }

    pub(crate) fn helm(
        &self,
        source: &Source,
        place: &Place<'_>,
        resolver: &Resolver<'_>,
        warnings: &mut Vec<Warning>,
    ) -> Result<(Vec<Object>, Vec<String>), E::Error> {
        let (manifests, command) = self.chart_manifests(source, place, resolver, warnings)?;
        Ok((self.read(manifests, place)?, vec![command]))
    }

    /// Returns what `helm template` gives of a source's chart, and the command.
    pub(crate) fn chart_manifests(
        &self,
        source: &Source,
        place: &Place<'_>,
        resolver: &Resolver<'_>,
        warnings: &mut Vec<Warning>,
    ) -> Result<(Manifests, String), E::Error> {
        let (kube_version, api_versions) = self.capabilities(source, resolver)?;
        let release = Release {
            application: &self.application.name.value,
            namespace: &self.application.destination.namespace,
            kube_version,
            api_versions,
        };
        let request = helm::request(&place.folder, source.helm.as_ref(), release, resolver, warnings)?;
        let manifests = self.world.engines.chart(&request)?;
        Ok((manifests, helm::command(&request, place.checkout.root())))
    }

    /// Builds a source's kustomization; what a chart renders to can be a resource of it.
    pub(crate) fn kustomize(
        &self,
        source: &Source,
        place: &Place<'_>,
        resolver: &Resolver<'_>,
        chart: Option<ChartOutput>,
    ) -> Result<(Vec<Object>, Vec<String>), E::Error> {
        let settings = Settings(&self.world.context.settings);
        let (kube_version, api_versions) = self.capabilities(source, resolver)?;
        let edited = match &source.kustomize {
            Some(section) => {
                kustomize::check_version(section, settings, resolver.texts)?;
                let editing = Editing {
                    folder: &place.folder,
                    checkout: &place.checkout,
                    environment: resolver.environment,
                    texts: resolver.texts,
                    chart: chart.as_ref(),
                };
                editing.edit(section)?
            }
            None => Edited::default(),
        };
        let version = source.kustomize.as_ref().map_or("", |section| section.version.value.as_str());
        let request = KustomizationRequest {
            folder: place.folder.clone(),
            repository: place.checkout.root().to_owned(),
            edited: edited.kustomization,
            chart,
            options: settings.build_options(version),
            kube_version,
            api_versions,
        };
        let manifests = self.world.engines.kustomization(&request)?;
        let mut commands = edited.commands;
        commands.push(kustomize::build_command(&request));
        Ok((self.read(manifests, place)?, commands))
    }

    /// Returns what our own plugin gives, asked as the repo-server asks one (repository.go `getPluginEnvs`).
    fn plugin(
        &self,
        source: &Source,
        place: &Place<'_>,
        resolver: &Resolver<'_>,
        warnings: &mut Vec<Warning>,
    ) -> Result<(Vec<Object>, Vec<String>), E::Error> {
        let texts = resolver.texts;
        let Some(section) = source.plugin.as_ref().filter(|section| plugin::is_ours(&section.name.value))
        else {
            return Err(foreign_plugin(source, texts).into());
        };
        let (kube_version, api_versions) = self.capabilities(source, resolver)?;
        let mut parameters = String::new();
        let node = Node::sequence(section.parameters.clone());
        yamltree::to_json(&node, yamltree::JsonOptions::SIGS, &mut parameters)
            .map_err(|error| Error::invalid(error.message()).at(place_of(texts, error.span())))?;
        let variable = |name: &str| match name {
            "ARGOCD_APP_PARAMETERS" => Some(parameters.clone()),
            "KUBE_VERSION" => kube_version.clone(),
            "KUBE_API_VERSIONS" => Some(api_versions.join(",")),
            name => match name.strip_prefix("ARGOCD_ENV_") {
                Some(name) => {
                    let given = section.environment.iter().rev().find(|(known, _)| known == name);
                    given.map(|(_, value)| resolver.environment.expand(value))
                }
                None => resolver.environment.get(name).map(str::to_owned),
            },
        };
        let invocation = plugin::Invocation::read(&variable);
        let invocation = invocation.map_err(|error| error.at(place_of(texts, section.span)))?;
        let checkout =
            plugin::Checkout { files: self.world.files, root: place.checkout.root(), folder: &place.folder };
        let rendered = plugin::render(&invocation, &checkout, self.world.engines)?;
        warnings.extend(rendered.warnings);
        Ok((rendered.objects, vec!["renderer cmp generate".to_owned()]))
    }

    /// The versions that templates are told: the source's own before those of the cluster.
    fn capabilities(
        &self,
        source: &Source,
        resolver: &Resolver<'_>,
    ) -> Result<(Option<String>, Vec<String>)> {
        let sections = [
            source.helm.as_ref().map(|helm| (&helm.kube_version, &helm.api_versions)),
            source.kustomize.as_ref().map(|kustomize| (&kustomize.kube_version, &kustomize.api_versions)),
        ];
        let of_source = sections.iter().flatten().find(|(version, _)| !version.value.is_empty());
        // Hydrated manifests are rendered for no cluster (hydrator_dependencies.go `GetRepoObjs`).
        let is_hydrated = self.application.hydrator.is_some();
        let version = match of_source {
            Some((version, _)) => {
                let place = place_of(resolver.texts, version.span);
                Some(
                    helm::kube_version(&version.value)
                        .map_err(|message| Error::invalid(message).at(place))?,
                )
            }
            None if self.cluster.kube_version.is_empty() || is_hydrated => None,
            None => Some(helm::kube_version(&self.cluster.kube_version).map_err(|message| {
                Error::invalid(format!("the cluster `{}`: {message}", self.cluster.name))
                    .at(self.application.place(self.application.destination.span))
            })?),
        };
        let given = sections.iter().flatten().find(|(_, versions)| !versions.is_empty());
        let versions = match given {
            Some((_, versions)) => (*versions).clone(),
            None if is_hydrated => Vec::new(),
            None => self.cluster.api_versions.clone(),
        };
        Ok((version, versions))
    }

    /// The objects in what an engine gives.
    fn read(&self, manifests: Manifests, place: &Place<'_>) -> Result<Vec<Object>> {
        let Manifests { text, objects: None } = manifests else {
            return Ok(manifests.objects.unwrap_or_default());
        };
        let name = format!("{} (rendered)", self.world.files.display(&place.folder));
        objects::documents(&Arc::new(yamltree::Source { name, text: Arc::from(text) }))
    }
}

/// A plugin is a program of its own.
fn foreign_plugin(source: &Source, texts: &objects::Sources) -> Error {
    let plugin = source.plugin.as_ref();
    let (name, span) = plugin.map_or(("", source.span), |plugin| (plugin.name.value.as_str(), plugin.span));
    let message = if name.is_empty() {
        "the source is a plugin's, and plugins are not run here".to_owned()
    } else {
        format!("the source is for the plugin `{name}`, and plugins are not run here")
    };
    Error::invalid(message)
        .at(place_of(texts, span))
        .hint("nothing of the Application is rendered without it")
}

/// Variables that stand for a commit are empty where it is not known.
fn warn_of_revision(source: &Source, texts: &objects::Sources, warnings: &mut Vec<Warning>) {
    let mut open: Vec<&Node> = vec![&source.node];
    while let Some(node) = open.pop() {
        open.extend(node.items().into_iter().flatten());
        open.extend(node.entries().into_iter().flatten().map(|entry| &entry.value));
        if node.text().is_some_and(|text| text.contains("ARGOCD_APP_REVISION")) {
            let message = "the commit is not known, and `$ARGOCD_APP_REVISION` is empty";
            warnings.push(
                Warning::new(Code::UnknownVariable, message)
                    .at(place_of(texts, node.span))
                    .hint("set `revision` of the repository in the context file"),
            );
            return;
        }
    }
}

//! A build from top to bottom: load the kustomization, accumulate resources through bases and components, run
//! generators and transformers, then once at the end hash suffixes, references, vars, order, labels.

use std::path::Path;
use std::sync::Arc;

use diagnostic::{Error, Result};
use yamltree::{Location, Source, Span};

use crate::config::{self, TransformerConfig};
use crate::context::Context;
use crate::decode::Located;
use crate::finish;
use crate::generate::{self, Generator};
use crate::hash;
use crate::history::{History, Recorder, Step as BuildStep};
use crate::kustomization::{Kind, Kustomization};
use crate::loader::{self, Cache, Loader};
use crate::nameref;
use crate::options::Options;
use crate::origin::{ConfiguredBy, Origin};
use crate::output::Output;
use crate::plugin;
use crate::repository;
use crate::resmap::ResMap;
use crate::resource::Resource;
use crate::schema;
use crate::sources::Sources;
use crate::target::Target;
use crate::transform::{self, Transformer};
use crate::vars::{self, VarSet};
use crate::world::World;

/// No repo nests its bases deeper; each level costs stack.
const MAX_NESTING: usize = 200;

/// The state that builds share: the files read, for messages, and their parsed content.
#[derive(Debug, Default)]
pub struct Shared {
    sources: Sources,
    cache: Cache,
}

impl Shared {
    /// The texts that were read, by the numbers that spans have.
    #[must_use]
    pub fn sources(&self) -> Vec<Arc<Source>> {
        self.sources.all()
    }

    /// Returns where a span is written, in the file also for what stands in a text inside a file; `None` for what no file holds.
    #[must_use]
    pub fn place(&self, span: Span) -> Option<Location> {
        self.sources.place(span)
    }
}

/// Builds the kustomization in a folder, or in a repository that an address names.
///
/// # Errors
/// The first thing that is wrong, with its place.
pub fn build(path: &Path, world: World<'_>, options: &Options, shared: &Shared) -> Result<Output> {
    let cx = Context::new(world, options, &shared.sources, &shared.cache);
    let resources = run(path, &cx).map_err(|error| error.located(|span| shared.sources.place(span)))?;
    Output::new(resources, cx.take_warnings())
        .map_err(|error| error.located(|span| shared.sources.place(span)))
}

/// Builds the same, and notes how the resources of a kind became what they are: a history for each object of the output,
/// empty for those of other kinds.
///
/// # Errors
/// As those of [`build`].
pub fn build_watched(
    path: &Path,
    world: World<'_>,
    options: &Options,
    shared: &Shared,
    kind: &str,
) -> Result<(Output, Vec<History>)> {
    let mut cx = Context::new(world, options, &shared.sources, &shared.cache);
    cx.recorder = Some(Recorder::new(kind));
    let resources = run(path, &cx).map_err(|error| error.located(|span| shared.sources.place(span)))?;
    let histories = cx.recorder.as_ref().map(|recorder| recorder.histories(&resources)).unwrap_or_default();
    let output = Output::new(resources, cx.take_warnings());
    Ok((output.map_err(|error| error.located(|span| shared.sources.place(span)))?, histories))
}

fn run(path: &Path, cx: &Context<'_>) -> Result<Vec<Resource>> {
    let loader = Arc::new(Loader::new(path, cx)?);
    let kustomization = Kustomization::load(&loader, cx)?;
    schema::select(&kustomization, &loader, true, cx)?;
    let origin = (!kustomization.build_metadata.is_empty()).then(Origin::default);
    let frame =
        Frame { kustomization: &kustomization, loader: &loader, origin, helm_namespace: None, depth: 0 };
    let mut all = frame.accumulate(Accumulator::new(cx), cx)?;

    hash::append_hashes(&mut all.map)?;
    cx.note(&all.map, || BuildStep::named("the hash of the content", Span::NONE));
    nameref::update_references(&mut all.map, &all.config, cx)?;
    cx.note(&all.map, || BuildStep::named("the names of what is referred to", Span::NONE));
    vars::resolve(&mut all.map, &all.vars, &all.config, cx)?;
    cx.note(&all.map, || BuildStep::named("vars", Span::NONE));
    finish::drop_local_config(&mut all.map)?;
    finish::sort(&mut all.map, &kustomization, cx)?;
    finish::label_as_managed(&mut all.map, &kustomization, cx)?;
    cx.note(&all.map, || BuildStep::named("the label of what is managed by kustomize", Span::NONE));
    finish::write_annotations(&mut all.map, &kustomization)?;
    cx.note(&all.map, || BuildStep::named("buildMetadata", Span::NONE));
    nameref::warn_about_generated_names(&all.map, cx);
    Ok(all.map.into_resources())
}

/// The state of accumulation: the resources, and the rules applied at the end.
struct Accumulator {
    map: ResMap,
    config: TransformerConfig,
    vars: VarSet,
}

impl Accumulator {
    fn new(cx: &Context<'_>) -> Self {
        Self { map: ResMap::new(cx.schema()), config: TransformerConfig::default(), vars: VarSet::default() }
    }

    fn merge(&mut self, other: Accumulator, cx: &Context<'_>) -> Result<()> {
        self.map.set_schema(cx.schema());
        self.map.append_all(other.map.into_resources())?;
        self.config.merge(&other.config)?;
        self.vars.merge(other.vars)
    }
}

/// One kustomization in the recursion through bases and components.
struct Frame<'f> {
    kustomization: &'f Kustomization,
    loader: &'f Arc<Loader>,
    origin: Option<Origin>,
    helm_namespace: Option<String>,
    depth: usize,
}

/// A transformer or generator with what `buildMetadata` notes of it.
struct Step<T: ?Sized> {
    run: Box<T>,
    origin: Option<Origin>,
    configured: Configured,
}

/// The configuration of a step.
enum Configured {
    /// Fields of the kustomization: the kind, the number among those that they ask for, and how many those are.
    ByFields(&'static str, usize, usize),
    /// A resource, by its number among those of the field.
    ByResource(usize),
}

/// The kind of an entry of `resources`.
enum Found {
    Resources(Vec<Resource>),
    Folder(Arc<Loader>),
}

/// The second reading of an address, where its server has answered that the first is not what it has.
fn otherwise(error: Error, read: impl FnOnce() -> Result<Found>) -> Result<Found> {
    if error.kind() == diagnostic::ErrorKind::Unavailable {
        return Err(error);
    }
    read().map_err(|_| error)
}

impl Frame<'_> {
    /// The steps of a kustomization, in Kustomize's order.
    fn accumulate(&self, mut all: Accumulator, cx: &Context<'_>) -> Result<Accumulator> {
        all.map.set_schema(cx.schema());
        self.accumulate_resources(&mut all, &self.resource_entries()?, cx)?;
        config::extend(&mut all.config, self.kustomization, self.loader, cx)?;
        self.run_generators(&mut all, cx)?;
        let mut all = self.accumulate_components(all, cx)?;
        self.run_transformers(&mut all, cx)?;
        self.run_validators(&mut all, cx)?;
        all.vars.add(self.kustomization, &mut all.map)?;
        Ok(all)
    }

    fn resource_entries(&self) -> Result<Vec<Located>> {
        let mut entries = self.kustomization.strings("resources")?;
        entries.extend(self.kustomization.strings("bases")?);
        Ok(entries)
    }

    fn accumulate_resources(
        &self,
        all: &mut Accumulator,
        entries: &[Located],
        cx: &Context<'_>,
    ) -> Result<()> {
        for entry in entries {
            let via = |error: Error| error.via("included here", entry.span);
            match self.find(entry, cx)? {
                Found::Resources(resources) => {
                    all.map.append_all(resources).map_err(via)?;
                    cx.note(&all.map, || BuildStep::named("resources", entry.span));
                }
                Found::Folder(loader) => {
                    let base = self.enter(&loader, entry, Accumulator::new(cx), Kind::Kustomization, cx)?;
                    all.merge(base, cx).map_err(via)?;
                }
            }
        }
        Ok(())
    }

    /// An entry is a file, or the address of one, or else a folder or the address of a repository.
    fn find(&self, entry: &Located, cx: &Context<'_>) -> Result<Found> {
        let via = |error: Error| error.via("included here", entry.span);
        let file = || self.load_file(entry, cx).map(Found::Resources).map_err(via);
        let folder = || self.loader.enter(entry, cx).map(Found::Folder);
        if self.loader.is_file(entry, cx) {
            return file();
        }
        if !loader::is_remote_file(&entry.text) {
            return folder();
        }
        if matches!(repository::parse(&entry.text), Ok(None)) {
            return file();
        }
        // Kustomize asks for a file first, always. Where that is unlikely it costs a request, or a timeout.
        if loader::has_file_extension(&entry.text) {
            file().or_else(|error| otherwise(error, folder))
        } else {
            folder().or_else(|error| otherwise(error, file))
        }
    }

    fn load_file(&self, entry: &Located, cx: &Context<'_>) -> Result<Vec<Resource>> {
        let kept = self.loader.resources(entry, cx)?;
        let schema = cx.schema();
        let origin = self.origin.as_ref().map(|origin| Box::new(origin.join(&entry.text)));
        let resource = |node: &yamltree::Node| {
            let mut resource = Resource::new(node.clone(), &schema);
            resource.origin.clone_from(&origin);
            resource
        };
        Ok(kept.nodes.iter().map(resource).collect())
    }

    /// A component works on what its parent has accumulated so far.
    fn accumulate_components(&self, mut all: Accumulator, cx: &Context<'_>) -> Result<Accumulator> {
        for entry in self.kustomization.strings("components")? {
            let loader = self.loader.enter(&entry, cx)?;
            all = self.enter(&loader, &entry, all, Kind::Component, cx)?;
        }
        Ok(all)
    }

    fn enter(
        &self,
        loader: &Arc<Loader>,
        entry: &Located,
        into: Accumulator,
        wanted: Kind,
        cx: &Context<'_>,
    ) -> Result<Accumulator> {
        let role = if wanted == Kind::Component { "component" } else { "base" };
        let via = |error: Error| error.via(format!("in the {role} `{}`", entry.text), entry.span);
        if self.depth >= MAX_NESTING {
            return Err(Error::new(
                diagnostic::ErrorKind::Limit,
                format!("bases are nested more than {MAX_NESTING} deep"),
            )
            .at(entry.span));
        }
        cx.growth.visit().map_err(|error| error.at(entry.span))?;
        let mut kustomization = Kustomization::load(loader, cx).map_err(via)?;
        kustomization.build_metadata = Arc::clone(&self.kustomization.build_metadata);
        schema::select(&kustomization, loader, false, cx).map_err(via)?;
        if kustomization.kind != wanted {
            return Err(wrong_kind(wanted, entry));
        }
        let namespace = self.kustomization.text("namespace")?.text;
        let frame = Frame {
            kustomization: &kustomization,
            loader,
            origin: self.origin.as_ref().map(|origin| origin.join(&entry.text)),
            helm_namespace: if namespace.is_empty() { self.helm_namespace.clone() } else { Some(namespace) },
            depth: self.depth + 1,
        };
        frame.accumulate(into, cx).map_err(via)
    }

    fn run_generators(&self, all: &mut Accumulator, cx: &Context<'_>) -> Result<()> {
        let target = self.target(&all.config, cx);
        let mut steps: Vec<Step<dyn Generator>> = Vec::new();
        for builtin in generate::BUILTINS {
            let made = (builtin.from_fields)(&target)?;
            steps.extend(self.builtin_steps(builtin.kind, made));
        }
        let configured = self.plugin_configurations("generators", cx)?;
        for (number, configuration) in configured.iter().enumerate() {
            let run = plugin::generator(configuration, &target)?;
            steps.push(Step {
                run,
                origin: configuration.origin.as_ref().map(|_| plugin_origin(configuration)),
                configured: Configured::ByResource(number),
            });
        }
        for step in steps {
            for mut resource in step.run.generate(cx)? {
                if resource.origin.is_none() {
                    resource.origin = step.origin.clone().map(Box::new);
                }
                all.map.absorb(resource, cx)?;
            }
            cx.note(&all.map, || self.step(&step.configured, &configured));
        }
        Ok(())
    }

    fn run_transformers(&self, all: &mut Accumulator, cx: &Context<'_>) -> Result<()> {
        let target = self.target(&all.config, cx);
        let mut steps: Vec<Step<dyn Transformer>> = Vec::new();
        for builtin in transform::BUILTINS {
            let made = (builtin.from_fields)(&target)?;
            steps.extend(self.builtin_steps(builtin.kind, made));
        }
        let configured = self.plugin_configurations("transformers", cx)?;
        for (number, configuration) in configured.iter().enumerate() {
            let run = plugin::transformer(configuration, &target)?;
            steps.push(Step {
                run,
                origin: configuration.origin.as_ref().map(|_| plugin_origin(configuration)),
                configured: Configured::ByResource(number),
            });
        }
        for step in steps {
            step.run.transform(&mut all.map, cx)?;
            cx.note(&all.map, || self.step(&step.configured, &configured));
            if let Some(origin) = &step.origin {
                all.map.modify_each(|resource| {
                    (0..step.run.steps()).for_each(|_| note_transformation(resource, origin));
                    Ok(())
                })?;
            }
        }
        Ok(())
    }

    fn run_validators(&self, all: &mut Accumulator, cx: &Context<'_>) -> Result<()> {
        for configuration in self.plugin_configurations("validators", cx)? {
            let target = self.target(&all.config, cx);
            let validator = plugin::transformer(&configuration, &target)?;
            plugin::validate(&*validator, &mut all.map, cx)
                .map_err(|error| error.at(configuration.span()))?;
        }
        Ok(())
    }

    /// The resources by which a field configures plugins: written in place, or in files and folders.
    fn plugin_configurations(&self, field: &'static str, cx: &Context<'_>) -> Result<Vec<Resource>> {
        let mut all = Accumulator::new(cx);
        let mut paths = Vec::new();
        for entry in self.kustomization.items(field)? {
            match plugin::inline(entry, cx) {
                Some(resources) => {
                    let origin = self
                        .origin
                        .as_ref()
                        .map(|origin| Box::new(origin.join(self.kustomization.file_name)));
                    for mut resource in resources? {
                        resource.origin.clone_from(&origin);
                        all.map.append(resource)?;
                    }
                }
                None => paths.push(Located::of(entry, field)?),
            }
        }
        self.accumulate_resources(&mut all, &paths, cx)?;
        Ok(all.map.into_resources())
    }

    fn target<'t, 'cx>(&'t self, config: &'t TransformerConfig, cx: &'t Context<'cx>) -> Target<'t, 'cx> {
        Target {
            kustomization: self.kustomization,
            loader: self.loader,
            config,
            helm_namespace: self.helm_namespace.as_deref(),
            cx,
        }
    }

    /// The steps of a built-in kind.
    fn builtin_steps<T: ?Sized>(
        &self,
        kind: &'static str,
        made: Vec<Box<T>>,
    ) -> impl Iterator<Item = Step<T>> {
        let count = made.len();
        made.into_iter().enumerate().map(move |(number, run)| Step {
            run,
            origin: self.builtin_origin(kind),
            configured: Configured::ByFields(kind, number, count),
        })
    }

    /// A step as it is told to who watches.
    fn step(&self, configured: &Configured, resources: &[Resource]) -> BuildStep {
        match configured {
            Configured::ByFields(kind, number, count) => {
                BuildStep::of_fields(kind, *number, *count, self.kustomization)
            }
            Configured::ByResource(number) => BuildStep::of_plugin(&resources[*number]),
        }
    }

    fn builtin_origin(&self, kind: &str) -> Option<Origin> {
        let origin = self.origin.as_ref()?;
        Some(Origin {
            path: String::new(),
            configured_in: origin.join(self.kustomization.file_name).path,
            configured_by: Some(ConfiguredBy {
                api_version: "builtin".to_owned(),
                kind: kind.to_owned(),
                ..ConfiguredBy::default()
            }),
            ..origin.clone()
        })
    }
}

/// Returns what `buildMetadata` notes of a plugin that a resource configures.
fn plugin_origin(configuration: &Resource) -> Origin {
    let origin = configuration.origin.as_deref().cloned().unwrap_or_default();
    Origin {
        configured_in: origin.path,
        configured_by: Some(ConfiguredBy {
            api_version: configuration.gvk().api_version().into(),
            kind: configuration.kind().to_owned(),
            name: configuration.name().to_owned(),
            namespace: configuration.namespace().to_owned(),
        }),
        path: String::new(),
        ..origin
    }
}

/// A resource without an origin was made by the step; one with an origin was changed by it.
fn note_transformation(resource: &mut Resource, origin: &Origin) {
    resource.unshare_annotations();
    if resource.origin.is_some() {
        resource.transformations.push(origin.clone());
    } else {
        resource.origin = Some(Box::new(origin.clone()));
    }
}

fn wrong_kind(wanted: Kind, entry: &Located) -> Error {
    let (sentence, hint) = match wanted {
        Kind::Component => (
            format!("`{}` is not a Component, so it cannot be listed in `components`", entry.text),
            "name it in `resources`, or give it `kind: Component`",
        ),
        Kind::Kustomization => (
            format!("`{}` is a Component, so it cannot be listed in `resources`", entry.text),
            "name it in `components`",
        ),
    };
    Error::invalid(sentence).at(entry.span).hint(hint)
}

//! ApplicationSets: the Applications that a set generates (applicationset/controllers/template/template.go).
//!
//! In: an ApplicationSet, and the [`World`]. Out: Applications in the order of the generators, with what is
//! wrong and what is surely not meant. A fault of one generator or set of parameters leaves the others as they are.
//!
//! [`generate`] reads top to bottom: read the set, ask each generator, render and patch each set of parameters, check
//! what came out.

mod application;
mod check;
mod faults;
mod filters;
mod functions;
mod generators;
mod language;
mod params;
mod patch;
mod render;
mod schema;
mod selector;
mod set;
mod slug;
mod template;
mod tree;

use std::cell::{Cell, RefCell};
use std::collections::HashSet;

use diagnostic::{Error, Result};
use vfs::Files;
use yamltree::{Entry, Location, Node, Span};

use self::application::{API_VERSION, APPLICATION, KIND, RESOURCES_FINALIZER, TEMPLATE};
use self::generators::{Depth, Run};
use self::language::Language;
use self::params::Params;
use self::set::Set;
use self::tree::Tree;
use crate::context::Context;
use crate::objects::{self, Object};
use crate::repositories::Repositories;
use crate::warning::{Code, Warning};

pub use self::set::is_application_set;

/// Returns the location of a span, if known.
type Places<'p> = dyn Fn(Span) -> Option<Location> + 'p;

/// The inputs of generators and templates.
#[derive(Clone, Copy)]
pub struct World<'w> {
    /// Clusters, projects and fixtures.
    pub context: &'w Context,
    /// The known repositories.
    pub repositories: &'w Repositories,
    /// The files of the repositories.
    pub files: &'w dyn Files,
    /// True if the context does not say which clusters there are, so that any may be a destination.
    pub any_cluster: bool,
    /// The time, randomness and limits of Go templates; what is missing is for the set to say.
    pub templates: gotemplate::Options<'w>,
}

/// The result of generating a set.
#[derive(Clone, Debug, Default)]
pub struct Generated {
    /// The Applications without a fault, in the order of the generators. Their values have the places of the templates
    /// that they come from.
    pub applications: Vec<Object>,
    /// Each fault once.
    pub errors: Vec<Error>,
    /// Warnings.
    pub warnings: Vec<Warning>,
}

/// The Applications of an ApplicationSet.
#[must_use]
pub fn generate(object: &Object, world: &World<'_>) -> Generated {
    let warnings = RefCell::default();
    let places: &Places<'_> = &|span| objects::place_of(object.sources(), span).or_else(|| object.place());
    let mut generated = match Set::read(object, places, &warnings) {
        Ok(set) => Generator { set: &set, object, world, places, warnings: &warnings }.run(),
        Err(error) => Generated { errors: vec![error], ..Generated::default() },
    };
    let mut said = HashSet::new();
    generated.errors.retain(|error| said.insert(error.to_string()));
    generated.warnings = warnings.into_inner();
    generated.warnings.retain(|warning| {
        let place = warning.location.as_ref().map(ToString::to_string).unwrap_or_default();
        said.insert(format!("{place}: {}", warning.message))
    });
    generated
}

struct Generator<'g> {
    set: &'g Set,
    object: &'g Object,
    world: &'g World<'g>,
    places: &'g Places<'g>,
    warnings: &'g RefCell<Vec<Warning>>,
}

impl Generator<'_> {
    fn run(&self) -> Generated {
        let mut generated = Generated::default();
        let language = match self.language() {
            Ok(language) => language,
            Err(error) => {
                generated.errors.push(error);
                return generated;
            }
        };
        generated.errors.extend(self.refusals());
        if !generated.errors.is_empty() {
            return generated;
        }
        let run = Run {
            world: self.world,
            language: &language,
            places: self.places,
            warnings: self.warnings,
            sets: Cell::new(0),
        };
        let mut checks = check::Checks::new(self.world.context, self.world.any_cluster);
        for entry in self.set.generators() {
            match generators::transform(&run, entry, Depth::Top, None) {
                Ok(all) => all.iter().for_each(|made| self.add(&run, made, &mut checks, &mut generated)),
                Err(error) => generated.errors.push(error),
            }
        }
        generated
    }

    fn language(&self) -> Result<Language<'_>> {
        if !self.set.is_go_template() {
            return Ok(Language::Flat);
        }
        let options = self.set.template_options();
        let texts: Vec<&str> = options.iter().filter_map(Tree::text).collect();
        Language::go(self.world.templates, &texts).map_err(|at| {
            Error::invalid(format!("unknown Go template option `{}`", texts[at]))
                .hint("the options are missingkey=default, missingkey=zero and missingkey=error")
                .at((self.places)(options[at].span))
        })
    }

    /// Why Argo CD does not take the set at all (server/applicationset's `validateAppSet`).
    fn refusals(&self) -> Vec<Error> {
        let is_unknown = |entry: &&Tree| entry.entries().is_none_or(std::collections::BTreeMap::is_empty);
        let unknown = self.set.generators().iter().filter(is_unknown);
        let unknown = unknown.map(|entry| generators::unknown(entry).at((self.places)(entry.span)));
        let project = self.set.project();
        let project = check::project(project, self.world.context)
            .map_err(|error| error.at((self.places)(self.set.project_span())));
        // A project that is a template is known once it is rendered.
        let project = project.err().filter(|_| !self.set.project().contains("{{"));
        unknown.chain(project).collect()
    }

    /// Adds the Applications of a generator.
    fn add(
        &self,
        run: &Run<'_>,
        made: &generators::Made,
        checks: &mut check::Checks<'_>,
        generated: &mut Generated,
    ) {
        let base = self.set.template();
        let template = match &made.template {
            Some(own) => template::fill(own.clone(), base, TEMPLATE),
            None => base.clone(),
        };
        let place = set::name_span(&template);
        let place = (self.places)(if place.is_some() { place } else { base.span });
        for params in &made.sets {
            let application = self.application(run, &template, params).and_then(|tree| {
                checks.pass(tree, place.as_ref(), self.warnings).map_err(|error| error.at(place.clone()))
            });
            match application.and_then(|tree| self.finished(&tree)) {
                Ok(application) => generated.applications.push(application),
                Err(error) => generated.errors.push(error),
            }
        }
    }

    /// The Application of a set of parameters. Without any parameter the template is none (utils.go
    /// `RenderTemplateParams`), and a patch is one all the same.
    fn application(&self, run: &Run<'_>, template: &Tree, params: &Params) -> Result<Tree> {
        let mut application = if params.is_empty() {
            template.clone()
        } else {
            let rendered = render::render(template, TEMPLATE, run.language, params)
                .map_err(|(fault, span)| run.template_error(&fault, span))?;
            with_finalizer(rendered, self.set.preserves_resources())
        };
        if let Some(patch) = self.set.patch() {
            let text = run
                .language
                .render(patch.text().unwrap_or_default(), params)
                .map_err(|fault| run.template_error(&fault, patch.span))?;
            let (patched, unknown) = patch::apply(application, &text, patch.span).map_err(|message| {
                Error::invalid(format!("the templatePatch cannot be applied: {message}"))
                    .at(run.place(patch.span))
            })?;
            application = patched;
            let warn = |field: &String| {
                Warning::new(
                    Code::UnknownField,
                    format!("unknown Application field `{field}` in `templatePatch`"),
                )
                .at(run.place(patch.span))
            };
            self.warnings.borrow_mut().extend(unknown.iter().map(warn));
        }
        Ok(application)
    }

    /// The whole object, in the namespace of the set.
    fn finished(&self, tree: &Tree) -> Result<Object> {
        let mut node = schema::encode(tree, APPLICATION).to_node();
        if let Some(entries) = node.entries_mut() {
            let typed = [("apiVersion", API_VERSION), ("kind", KIND)];
            entries.retain(|entry| typed.iter().all(|(key, _)| entry.key.text() != Some(key)));
            entries.splice(0..0, typed.map(|(key, text)| Entry::new(key, Node::string(text))));
        }
        let mut application = Object::new(&node, self.object.sources())?;
        application.set_namespace(self.set.namespace().unwrap_or_default());
        Ok(application)
    }
}

/// The finalizer that Argo CD adds where there is none and resources are not to be preserved.
fn with_finalizer(mut application: Tree, preserves: bool) -> Tree {
    let finalizers = application.get("metadata").map_or(&[][..], |metadata| metadata.items_of("finalizers"));
    if preserves || !finalizers.is_empty() {
        return application;
    }
    if let Some(entries) = application.entries_mut() {
        let metadata = entries
            .entry("metadata".to_owned())
            .or_insert_with(|| Tree { kind: tree::Kind::Map(tree::Entries::new()), ..Tree::default() });
        if let Some(metadata) = metadata.entries_mut() {
            let finalizer = Tree::of_text(RESOURCES_FINALIZER);
            metadata.insert(
                "finalizers".to_owned(),
                Tree { kind: tree::Kind::List(vec![finalizer]), ..Tree::default() },
            );
        }
    }
    application
}

//! The generators, and what becomes of an entry of `generators` (generator_spec_processor.go `Transform`).
//!
//! In: an entry, and the parameters of the generator around it. Out: sets of parameters, chosen by the entry's selector.
//! A generator is a file here and a line of [`GENERATORS`].

mod cluster_decision_resource;
mod clusters;
mod git;
mod git_directories;
mod git_files;
mod git_tree;
mod list;
mod matrix;
mod merge;
mod plugin;
mod pull_request;
mod scm_provider;

use std::cell::{Cell, RefCell};

use gotemplate::{Map, Type, Value};
use yamltree::{Location, Span};

use super::language::{Fault, Language};
use super::params::Params;
use super::render;
use super::schema::{Field, Shape, optional, required};
use super::selector::{Selector, ValuesOf};
use super::tree::Tree;
use super::{Places, World, faults};
use crate::warning::{Code, Warning};

pub(crate) use clusters::{IN_CLUSTER, IN_CLUSTER_SERVER};
use diagnostic::{Error, Result};

/// A set has as many parameters as the largest fleets have Applications, many times over.
const MOST_SETS: usize = 200_000;

/// The generators, in the order in which an entry that has several runs them.
pub(crate) const GENERATORS: &[Generator] = &[
    Generator { name: "list", shape: list::shape, generate: list::generate },
    Generator { name: "clusters", shape: clusters::shape, generate: clusters::generate },
    Generator { name: "git", shape: git::shape, generate: git::generate },
    Generator { name: "scmProvider", shape: scm_provider::shape, generate: scm_provider::generate },
    Generator {
        name: "clusterDecisionResource",
        shape: cluster_decision_resource::shape,
        generate: cluster_decision_resource::generate,
    },
    Generator { name: "pullRequest", shape: pull_request::shape, generate: pull_request::generate },
    Generator { name: "matrix", shape: matrix::shape, generate: matrix::generate },
    Generator { name: "merge", shape: merge::shape, generate: merge::generate },
    Generator { name: "plugin", shape: plugin::shape, generate: plugin::generate },
];

/// A kind of generator.
pub(crate) struct Generator {
    /// Its field in an entry.
    pub(crate) name: &'static str,
    /// The type of its field, where the generator is allowed.
    pub(crate) shape: fn(Depth) -> Option<Shape>,
    /// The sets that it makes.
    pub(crate) generate: fn(&Run<'_>, &Tree, Depth) -> Result<Vec<Params>>,
}

/// The nesting of an entry: Argo CD's types end at two generators around another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Depth {
    Top,
    Nested,
    Terminal,
}

impl Depth {
    /// Returns where the entries within an entry stand.
    fn below(self) -> Self {
        if self == Self::Top { Self::Nested } else { Self::Terminal }
    }
}

/// The state that generators share.
pub(crate) struct Run<'r> {
    pub(crate) world: &'r World<'r>,
    pub(crate) language: &'r Language<'r>,
    pub(crate) places: &'r Places<'r>,
    pub(crate) warnings: &'r RefCell<Vec<Warning>>,
    /// Number of sets there have been.
    pub(crate) sets: Cell<usize>,
}

/// The parameters of a generator, and its own template.
pub(crate) struct Made {
    pub(crate) sets: Vec<Params>,
    pub(crate) template: Option<Tree>,
}

/// Returns what the generators of an entry make, within a generator that has made `params`.
pub(crate) fn transform(
    run: &Run<'_>,
    entry: &Tree,
    depth: Depth,
    params: Option<&Params>,
) -> Result<Vec<Made>> {
    let selector = entry.get("selector").map(|selector| {
        Selector::read(selector, ValuesOf::Parameters)
            .map_err(|(message, span)| Error::invalid(message).at(run.place(span)))
    });
    let selector = selector.transpose()?;
    let rendered = params.filter(|params| !params.is_empty()).map(|params| {
        render::render(entry, Shape::Generator(depth), run.language, params)
            .map_err(|(fault, span)| run.template_error(&fault, span))
    });
    let rendered = rendered.transpose()?;
    let entry = rendered.as_ref().unwrap_or(entry);
    let mut all = Vec::new();
    for generator in GENERATORS {
        let Some(config) = entry.get(generator.name) else { continue };
        let mut sets =
            (generator.generate)(run, config, depth).map_err(|error| error.at(run.place(config.key)))?;
        run.count(sets.len()).map_err(|error| error.at(run.place(config.key)))?;
        if let Some(selector) = &selector {
            sets.retain(|set| selector.matches(&set.labels()));
        }
        all.push(Made { sets, template: config.get("template").cloned() });
    }
    Ok(all)
}

/// Returns what the only generator of an entry within another makes.
fn transform_only(run: &Run<'_>, entry: &Tree, depth: Depth, params: Option<&Params>) -> Result<Vec<Params>> {
    let place = || run.place(entry.span);
    let mut made = transform(run, entry, depth, params)?.into_iter();
    match (made.next(), made.next()) {
        (Some(made), None) => Ok(made.sets),
        (None, _) if depth == Depth::Terminal => {
            Err(Error::invalid("expected a generator that may be nested in two others")
                .hint("a matrix or merge can hold another, and that one only other generators")
                .at(place()))
        }
        (None, _) => Err(unknown(entry).at(place())),
        (Some(_), Some(_)) => {
            Err(Error::invalid("an entry within another generator has one generator").at(place()))
        }
    }
}

/// Returns what is wrong with an entry without a generator.
pub(crate) fn unknown(entry: &Tree) -> Error {
    let known: Vec<&str> = GENERATORS.iter().map(|generator| generator.name).collect();
    let has_selector = entry.get("selector").is_some();
    Error::invalid(if has_selector { "this entry has only a selector" } else { "unknown generator" })
        .hint(format!("the generators are {}", known.join(", ")))
}

impl<'r> Run<'r> {
    pub(crate) fn place(&self, span: Span) -> Option<Location> {
        (self.places)(span)
    }

    pub(crate) fn template_error(&self, fault: &Fault, span: Span) -> Error {
        faults::template_error(fault, span, self.places)
    }

    fn warn(&self, code: Code, message: impl Into<String>, hint: &str, span: Span) {
        let warning = Warning::new(code, message).hint(hint).at(self.place(span));
        self.warnings.borrow_mut().push(warning);
    }

    /// Counts sets, of which a matrix of matrices makes more than memory has.
    fn count(&self, sets: usize) -> Result<()> {
        self.sets.set(self.sets.get().saturating_add(sets));
        if self.sets.get() > MOST_SETS {
            return Err(Error::invalid(format!(
                "the generators make more than {MOST_SETS} sets of parameters"
            )));
        }
        Ok(())
    }

    /// Adds the `values` of a generator, which see its other parameters and not each other (value_interpolation.go).
    fn add_values(&self, config: &Tree, params: &Params) -> Result<()> {
        let mut values = Vec::new();
        for (key, value) in config.entries_of("values") {
            let text = self.language.render(value.text().unwrap_or_default(), params);
            let text = text.map_err(|fault| self.template_error(&fault, value.span))?;
            values.push((key.as_str(), Value::from(text)));
        }
        if !self.language.is_go() {
            values.into_iter().for_each(|(key, value)| params.insert(format!("values.{key}"), value));
        } else if !values.is_empty() {
            let entries = values.into_iter().map(|(key, value)| (key.into(), value)).collect();
            params.insert("values", Map::typed(Type::STRING_MAP, entries).into());
        }
        Ok(())
    }
}

/// The fields that most generators have.
const TEMPLATE: Field = optional("template", super::application::TEMPLATE);
const VALUES: Field = optional("values", Shape::Values);
const REQUEUE: Field = super::schema::pointer("requeueAfterSeconds", Shape::Int);

/// The fields of a generator that holds others.
const fn holding(entries: &'static Shape) -> Field {
    required("generators", Shape::List(entries))
}

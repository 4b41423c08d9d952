//! All Applications of a repository: those in its files, those that ApplicationSets generate, and those that Applications
//! render to.
//!
//! In: what was found. Out: each of them rendered once, those that others render to behind them, level by
//! level. Refused: two files with one Application; a chain of Applications that does not end.

use std::collections::{HashMap, HashSet};

use argocd::application::{Application, is_application};
use argocd::appset::is_application_set;
use argocd::objects::{Object, instance_name};
use diagnostic::{Error, ErrorKind, Result};

use super::discovery::Found;
use super::{ApplicationRenderer, Outcome};
use crate::progress::Progress;
use crate::render::{Event, side_by_side};

/// Applications that make Applications nest no deeper.
const MAX_LEVELS: usize = 16;

/// Applications, each with what has become of it.
#[derive(Default)]
pub(crate) struct Fleet {
    pub(crate) members: Vec<Member>,
    /// Errors of Applications that cannot be read or are duplicated.
    pub(crate) errors: Vec<Error>,
    /// Notices.
    pub(crate) notices: Vec<String>,
    known: HashMap<String, usize>,
    /// ApplicationSets that are to be generated, each with what renders to it.
    sets: Vec<(Object, Option<String>)>,
    known_sets: HashSet<String>,
    /// Warnings of generators.
    pub(crate) warnings: Vec<argocd::Warning>,
}

/// An Application of a fleet.
pub(crate) struct Member {
    pub(crate) application: Application,
    object: Object,
    /// The Application that renders to it.
    pub(crate) parent: Option<String>,
    pub(crate) outcome: Option<Outcome>,
}

impl Fleet {
    /// Takes in the Applications and ApplicationSets of files.
    pub(crate) fn of(found: Vec<Found>, sets: Vec<Object>) -> Self {
        let mut fleet = Self::default();
        sets.into_iter().for_each(|set| fleet.add_set(set, None));
        for Found { application, object } in found {
            let name = application.instance_name();
            if let Some(at) = fleet.known.get(&name) {
                let error = fleet.members[*at].twin(&application);
                fleet.errors.push(error);
            } else {
                fleet.add(name, Member { application, object, parent: None, outcome: None });
            }
        }
        fleet
    }

    /// Renders all of them, and what they render to.
    ///
    /// # Errors
    /// A thread that cannot be started.
    pub(crate) fn render(&mut self, renderer: &ApplicationRenderer<'_>, jobs: usize) -> Result<()> {
        self.render_unless(renderer, jobs, |_| None)
    }

    /// Renders those of which it is not known already what they render to: of the others `known` gives the Applications
    /// among their objects.
    ///
    /// # Errors
    /// A thread that cannot be started.
    pub(crate) fn render_unless(
        &mut self,
        renderer: &ApplicationRenderer<'_>,
        jobs: usize,
        known: impl Fn(&Member) -> Option<Vec<Object>> + Sync,
    ) -> Result<()> {
        let mut begin = 0;
        for level in 0.. {
            self.generate(renderer);
            let end = self.members.len();
            if begin == end {
                return Ok(());
            }
            if level == MAX_LEVELS {
                let name = &self.members[begin].application.name.value;
                let message =
                    format!("Applications that make Applications nest deeper than {MAX_LEVELS}, at `{name}`");
                self.errors.push(Error::new(ErrorKind::Invalid, message));
                self.members.truncate(begin);
                return Ok(());
            }
            let mut progress = Progress::new(end - begin);
            let mut outcomes: Vec<Option<Result<Outcome, Vec<Object>>>> =
                (begin..end).map(|_| None).collect();
            let work = |_: usize, member: &Member| match known(member) {
                Some(children) => Err(children),
                None => Ok(renderer.render(&member.application)),
            };
            side_by_side(&self.members[begin..end], jobs, work, |event| match event {
                Event::Tick => progress.show(),
                Event::Done(number, outcome) => {
                    progress.advance();
                    outcomes[number] = Some(outcome);
                }
            })?;
            progress.clear();
            for (at, outcome) in outcomes.into_iter().enumerate() {
                match outcome {
                    Some(Ok(outcome)) => {
                        let children = outcome.makers();
                        self.members[begin + at].outcome = Some(outcome);
                        self.descend(begin + at, children);
                    }
                    Some(Err(children)) => self.descend(begin + at, children),
                    None => {}
                }
            }
            begin = end;
        }
        Ok(())
    }

    /// Takes in the Applications that one renders to.
    fn descend(&mut self, at: usize, children: Vec<Object>) {
        let parent = self.members[at].application.instance_name();
        for object in children {
            if is_application_set(&object) {
                self.add_set(object, Some(parent.clone()));
                continue;
            }
            match Application::read(&object) {
                Ok(application) => self.child(application, object, &parent),
                Err(error) => self.errors.push(error),
            }
        }
    }

    /// Takes in what the ApplicationSets generate that are waiting.
    fn generate(&mut self, renderer: &ApplicationRenderer<'_>) {
        for (set, parent) in std::mem::take(&mut self.sets) {
            let generated = renderer.generate(&set);
            let name = format!("the ApplicationSet {}", set.name());
            self.errors.extend(generated.errors.into_iter().map(|error| error.context(format!("in {name}"))));
            self.warnings.extend(generated.warnings);
            let parent = parent.map_or_else(|| name.clone(), |parent| format!("{name} of {parent}"));
            for object in generated.applications {
                match Application::read(&object) {
                    Ok(application) => self.child(application, object, &parent),
                    Err(error) => self.errors.push(error),
                }
            }
        }
    }

    fn add_set(&mut self, set: Object, parent: Option<String>) {
        if self.known_sets.insert(instance_name(set.namespace(), set.name())) {
            self.sets.push((set, parent));
        } else if parent.is_none() {
            let message = format!("there are two ApplicationSets `{}`", set.name());
            self.errors.push(Error::new(ErrorKind::Invalid, message).at(set.place()));
        }
    }

    /// One that is known already is the same, whether a file or another Application has it: it is rendered once.
    fn child(&mut self, application: Application, object: Object, parent: &str) {
        let name = application.instance_name();
        let Some(at) = self.known.get(&name) else {
            let member = Member { application, object, parent: Some(parent.to_owned()), outcome: None };
            self.add(name, member);
            return;
        };
        let first = &self.members[*at];
        if first.specification() != specification(&object) {
            let from = match (&first.parent, first.object.place()) {
                (Some(parent), _) => format!("`{parent}` renders to"),
                (None, Some(place)) => format!("{place} has"),
                (None, None) => "another file has".to_owned(),
            };
            self.notices.push(format!(
                "`{parent}` renders to another Application `{name}` than {from}: the latter is rendered"
            ));
        }
    }

    fn add(&mut self, name: String, member: Member) {
        self.known.insert(name, self.members.len());
        self.members.push(member);
    }
}

impl Outcome {
    /// The Applications and ApplicationSets among the objects.
    pub(crate) fn makers(&self) -> Vec<Object> {
        let objects = self.rendered.as_ref().map_or(&[][..], |rendered| &rendered.objects);
        objects.iter().filter(|object| is_maker(object)).cloned().collect()
    }
}

impl Member {
    /// The Application as it is written.
    pub(crate) fn object(&self) -> &Object {
        &self.object
    }

    fn specification(&self) -> Option<String> {
        specification(&self.object)
    }

    fn twin(&self, other: &Application) -> Error {
        let name = &other.name;
        let error = Error::new(ErrorKind::Invalid, format!("there are two Applications `{}`", name.value))
            .at(other.place(name.span));
        match self.application.place(self.application.name.span) {
            Some(place) => {
                let place = place.to_string();
                error.hint(format!("the other is at {place}: remove one, or give it another name"))
            }
            None => error.hint("give one of them another name"),
        }
    }
}

/// Returns true if an object is an Application or makes some.
fn is_maker(object: &Object) -> bool {
    is_application(object) || is_application_set(object)
}

/// Returns what an Application says, without what is written on it.
fn specification(object: &Object) -> Option<String> {
    let mut json = String::new();
    yamltree::to_json(object.node().get("spec")?, yamltree::JsonOptions::SIGS, &mut json).ok()?;
    Some(json)
}

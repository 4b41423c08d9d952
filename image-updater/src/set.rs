//! A version that a pipeline has just built, written into a repository on a server.
//!
//! In: the version, where it stands, and the files as they are on each try. Out: one commit. Where somebody else has set
//! the same places since the first try, the higher version stays; of two that have no order neither is written over the
//! other, and the error says so.

use diagnostic::{Error, Result};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::PathBuf;

use jiff::Timestamp;

use crate::change::{self, Change};
use crate::choose::{Question, Rules};
use crate::criteria::Criteria;
use crate::decision;
use crate::deliver::{Part, Planner};
use crate::edit::{Request, Standing, Target, Version};
use crate::files::Files;
use crate::find::{self, Edit, places_of};
use crate::round::{Outcome, Plan, Report, Text};
use crate::tags::Tag;

/// The places of an image in a repository. Paths are relative to its root.
#[derive(Debug)]
pub(crate) enum Places {
    /// In one file, in this kind of place.
    Target(&'static Target, String),
    /// Anywhere in these files and folders.
    Within(Vec<String>),
}

/// Sets one version.
pub(crate) struct SetPlanner<'r> {
    request: &'r Request,
    places: Places,
    pub(crate) now: Timestamp,
    /// The versions found at the first attempt.
    first: RefCell<Option<Vec<Standing>>>,
    /// The edits of the last attempt.
    edits: RefCell<Vec<Edit>>,
    /// The version of somebody else that stays.
    kept: RefCell<Option<String>>,
}

impl<'r> SetPlanner<'r> {
    pub(crate) fn new(request: &'r Request, places: Places, now: Timestamp) -> Self {
        let (first, edits, kept) = (RefCell::default(), RefCell::default(), RefCell::default());
        Self { request, places, now, first, edits, kept }
    }

    /// Returns what became of the files, and the version of somebody else that stayed.
    pub(crate) fn finish(self) -> (Vec<Edit>, Option<String>) {
        (self.edits.into_inner(), self.kept.into_inner())
    }

    fn edit(&self, files: &dyn Files) -> Result<Vec<Edit>> {
        let (target, path) = match &self.places {
            Places::Within(within) => return places_of(files, within, self.request),
            Places::Target(target, path) => (*target, path),
        };
        let old = match files.read(path)? {
            Some(text) => text,
            None if target.creates_file => String::new(),
            None => return Err(Error::invalid(format!("no file `{path}` found in the repository"))),
        };
        Ok(vec![find::edit_named(target, path, PathBuf::from(path), old, self.request)?])
    }

    /// Returns what somebody else has set since the first try and is to stay.
    fn newer(&self, edits: &[Edit]) -> Result<Option<String>> {
        let mut standing: Vec<Standing> = edits.iter().flat_map(|edit| edit.standing.clone()).collect();
        let ours = self.request.version.standing();
        standing.retain(|standing| *standing != ours);
        let mut first = self.first.borrow_mut();
        let Some(first) = &*first else {
            *first = Some(standing);
            return Ok(None);
        };
        for theirs in standing.iter().filter(|standing| !first.contains(standing)) {
            if !self.is_higher(&theirs.tag)? {
                return Ok(Some(theirs.full()));
            }
        }
        Ok(None)
    }

    /// Returns whether ours is above another tag, as versions are.
    fn is_higher(&self, theirs: &str) -> Result<bool> {
        let ours = self.request.version.standing().tag;
        let criteria = Criteria { prerelease: true, ..Criteria::default() };
        let image = &self.request.version.name;
        let question = Question { image, tag: None, current: Some(theirs), now: self.now };
        let tags = [Tag::named(theirs), Tag::named(&ours)];
        let chosen = match Rules::new(&criteria)?.choose(&question, &tags)? {
            decision::Outcome::Decided(decision) => decision.chosen,
            decision::Outcome::Incomplete(_) => None,
        };
        match chosen {
            Some(tag) if tag == ours => Ok(true),
            Some(_) => Ok(false),
            None => Err(Error::invalid(format!(
                "somebody else has set `{image}` to `{theirs}` in the meantime, and which of the two is newer is not clear"
            ))
            .hint(format!("look at it, and set `{ours}` again if it is the newer one"))),
        }
    }
}

impl Planner for SetPlanner<'_> {
    fn plan(&self, files: &dyn Files, _: &dyn Fn(&Change) -> bool) -> Result<Vec<Part>> {
        let mut edits = self.edit(files)?;
        let kept = self.newer(&edits)?;
        if kept.is_some() {
            for edit in &mut edits {
                edit.new.clone_from(&edit.old);
            }
        }
        let plan = plan_of(&edits, &self.request.version);
        self.kept.replace(kept);
        self.edits.replace(edits);
        Ok(vec![Part { plan, application: None }])
    }
}

/// The plan that edits are.
pub(crate) fn plan_of(edits: &[Edit], version: &Version) -> Plan {
    let new = version.standing();
    let texts = edits
        .iter()
        .filter(|edit| edit.is_change())
        .map(|edit| (edit.path.clone(), Text { old: edit.old.clone(), new: edit.new.clone() }));
    let texts: BTreeMap<String, Text> = texts.collect();
    let old = edits.iter().filter(|edit| edit.is_change()).flat_map(|edit| &edit.standing).next();
    let some = |text: String| (!text.is_empty()).then_some(text);
    let of = |standing: Standing| change::Version {
        tag: some(standing.tag),
        digest: some(standing.digest),
        ..change::Version::default()
    };
    let written =
        |path: &String| change::Edit { file: path.clone(), new: new.full(), ..change::Edit::default() };
    let outcome = if texts.is_empty() {
        Outcome::Current(new.full())
    } else {
        Outcome::Changed(Box::new(Change {
            image: version.repository().to_string(),
            old: of(old.cloned().unwrap_or_default()),
            new: of(new.clone()),
            edits: texts.keys().map(written).collect(),
            reason: "it was set by hand".to_owned(),
            ..Change::default()
        }))
    };
    let name = version.name.clone();
    let image = name.clone();
    let report = Report {
        name,
        image,
        application: None,
        outcome,
        warnings: Vec::new(),
        owners: Vec::new(),
        decided: None,
        scan: None,
    };
    Plan { reports: vec![report], texts }
}

//! The input of `renderer lint`.
//!
//! In: the paths of a command line, or none for this folder. Out: a set for the linter, and what could not be rendered.
//! With Applications, these are checked, as they define what is deployed and where; else the kustomizations and
//! charts that nothing builds on.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use argocd::application::{Application, Overrides, cluster};
use argocd::diffing::Normalizer;
use argocd::objects::Object;
use argocd::project::Projects;
use diagnostic::{Error, ErrorKind, Result};
use findings::Finding;
use manifest_lint::{Deployment, Manifests, Options, Target};
use vfs::{Disk, FileKind};
use yamlserde::YamlFile;
use yamltree::Location;

use crate::argocd::{ApplicationRenderer, CompletedCharts, Discovery, Fleet, KnownWorld, Member};
use crate::chart_target::{is_chart, is_overlay};
use crate::definitions;
use crate::diff::folders;
use crate::manifests;
use crate::render::Renderer;

/// Suffix of the names of rendered Applications.
const RENDERED: &str = " (rendered)";

/// The input and its context.
#[derive(Debug)]
pub(crate) struct Linting<'l> {
    pub(crate) renderer: &'l Renderer,
    pub(crate) world: KnownWorld,
    pub(crate) overrides: Overrides,
    pub(crate) jobs: NonZeroUsize,
}

/// The targets to check.
#[derive(Debug)]
pub(crate) struct Gathered {
    pub(crate) set: Manifests,
    /// Errors of targets that cannot be rendered, with their names.
    pub(crate) errors: Vec<(Error, String)>,
    /// Notices.
    pub(crate) notices: Vec<String>,
    /// The locations of Applications, by name.
    places: HashMap<String, Location>,
}

impl Linting<'_> {
    /// Renders what paths name; without any, what is in this folder.
    ///
    /// # Errors
    /// If there is nothing to look at, and a definition that cannot be read.
    pub(crate) fn gather(
        mut self,
        paths: &[PathBuf],
        crds: &[PathBuf],
        options: Options,
    ) -> Result<Gathered> {
        // What a project does not permit is found by a rule, and stops no rendering.
        let projects = self.world.projects.take();
        let mut gathered = Gathered {
            set: Manifests {
                targets: Vec::new(),
                knows_all_projects: projects.is_some(),
                projects,
                definitions: Vec::new(),
                options,
            },
            errors: Vec::new(),
            notices: Vec::new(),
            places: HashMap::new(),
        };
        for folder in crds {
            gathered.set.definitions.extend(definitions::find(folder)?);
        }
        let mut discovery = Discovery::default();
        let mut projects = Vec::new();
        let here = [Disk::new().working_directory().to_owned()];
        for path in if paths.is_empty() { &here[..] } else { paths } {
            let is_searched = paths.is_empty() || !self.is_target(path);
            if is_searched && self.has_applications(path, &mut discovery)? {
                projects.extend(definitions::find_projects(path)?);
                continue;
            }
            let roots = if is_searched { self.roots(path) } else { Vec::new() };
            if paths.is_empty() && roots.is_empty() {
                let message = "no Applications, kustomizations or charts found";
                return Err(
                    Error::new(ErrorKind::Invalid, message).hint("name files and folders of manifests")
                );
            }
            if roots.is_empty() {
                match self.plain(path) {
                    Ok(target) => gathered.set.targets.push(target),
                    Err(error) => gathered.errors.push((error, path.display().to_string())),
                }
            }
            roots.iter().for_each(|root| self.root(root, &mut gathered));
        }
        let errors = std::mem::take(&mut discovery.errors).into_iter();
        gathered.errors.extend(errors.map(|error| (error, "the repository".to_owned())));
        self.applications(discovery, &mut gathered)?;
        self.projects(&projects, &mut gathered.set)?;
        Ok(gathered)
    }

    /// Returns true if a path is rendered as it is named.
    fn is_target(&self, path: &Path) -> bool {
        let files = self.renderer.files();
        is_overlay(path, files) || is_chart(path, files) || files.resolve(path).is_err()
    }

    fn has_applications(&self, path: &Path, discovery: &mut Discovery) -> Result<bool> {
        let count = |it: &Discovery| it.found.len() + it.sets.len() + it.errors.len();
        let (files, before) = (self.renderer.files(), count(discovery));
        match files.resolve(path) {
            // A file without Applications is one of manifests.
            Ok((_, FileKind::File)) => drop(discovery.file(path, files)),
            Ok((_, FileKind::Directory)) => discovery.folder(path, files)?,
            Err(_) => {}
        }
        Ok(count(discovery) > before)
    }

    /// The kustomizations and charts below a folder that nothing else builds on.
    fn roots(&self, path: &Path) -> Vec<PathBuf> {
        match self.renderer.files().resolve(path) {
            Ok((_, FileKind::Directory)) => {
                folders::found(&[path.to_owned()], self.renderer.files()).into_iter().collect()
            }
            _ => Vec::new(),
        }
    }

    /// A target that nobody has named: a chart that wants values is left out.
    fn root(&self, path: &Path, gathered: &mut Gathered) {
        let name = self.renderer.files().display(path);
        match self.plain(path) {
            Ok(target) => gathered.set.targets.push(Target { name, ..target }),
            Err(error) if is_chart(path, self.renderer.files()) => {
                gathered.notices.push(format!("the chart `{name}` is left out: {error}"));
            }
            Err(error) => gathered.errors.push((error, name)),
        }
    }

    /// A target that is no Application.
    fn plain(&self, path: &Path) -> Result<Target> {
        let (renderer, name) = (self.renderer, path.display().to_string());
        let is_overlay = is_overlay(path, renderer.files());
        if !is_overlay && !is_chart(path, renderer.files()) {
            let objects = manifests::read(path, renderer)?;
            let is_folder = matches!(renderer.files().resolve(path), Ok((_, FileKind::Directory)));
            let generated_secrets = Vec::new();
            return Ok(Target { name, objects, deployment: None, is_complete: is_folder, generated_secrets });
        }
        let built = renderer.render(path)?;
        let objects = manifests::rendered(&name, &built, renderer)?;
        let mut generated_secrets = Vec::new();
        if built.warnings().is_unstable() {
            let again = manifests::rendered(&name, &renderer.render(path)?, renderer)?;
            generated_secrets = differing_secrets(&objects, &again);
        }
        Ok(Target { name, objects, deployment: None, is_complete: is_overlay, generated_secrets })
    }

    fn applications(&self, discovery: Discovery, gathered: &mut Gathered) -> Result<()> {
        let applications = ApplicationRenderer {
            renderer: self.renderer,
            world: &self.world,
            overrides: &self.overrides,
            charts: CompletedCharts::default(),
        };
        let mut fleet = Fleet::of(discovery.found, discovery.sets);
        fleet.render(&applications, self.jobs.get())?;
        let errors = std::mem::take(&mut fleet.errors).into_iter();
        gathered.errors.extend(errors.map(|error| (error, "the repository".to_owned())));
        gathered.notices.append(&mut fleet.notices);
        for member in &fleet.members {
            let name = member.application.instance_name();
            match self.target(&name, member, &applications) {
                Ok((target, error)) => {
                    gathered.set.targets.push(target);
                    gathered.errors.extend(error.map(|error| (error, name.clone())));
                }
                Err(error) => gathered.errors.push((error, name.clone())),
            }
            let place = member.application.place(member.application.name.span);
            gathered.places.extend(place.map(|place| (name, place)));
        }
        Ok(())
    }

    /// An Application as a target, and why it has no objects if it has not.
    fn target(
        &self,
        name: &str,
        member: &Member,
        applications: &ApplicationRenderer<'_>,
    ) -> Result<(Target, Option<Error>)> {
        let application = &member.application;
        let (objects, error) = match member.outcome.as_ref().map(|outcome| &outcome.rendered) {
            Some(Ok(rendered)) => (rendered.objects.clone(), None),
            Some(Err(error)) => (Vec::new(), Some(error.clone())),
            None => (Vec::new(), None),
        };
        let is_unstable = member.outcome.as_ref().is_some_and(|outcome| outcome.warnings.is_unstable());
        let generated_secrets = match is_unstable.then(|| applications.render(application).rendered) {
            Some(Ok(again)) => differing_secrets(&objects, &again.objects),
            _ => Vec::new(),
        };
        let deployment = Deployment {
            application: Application::clone(application),
            object: member.object().clone(),
            cluster: cluster(application, &self.world.context, &self.overrides)?,
            ignored: Normalizer::new(&application.ignore_differences, &self.world.context.settings)?,
        };
        let deployment = Some(Box::new(deployment));
        Ok((
            Target { name: name.to_owned(), objects, deployment, is_complete: true, generated_secrets },
            error,
        ))
    }

    /// Takes in the projects that are manifests: in files, and of Applications.
    fn projects(&self, of_files: &[Object], set: &mut Manifests) -> Result<()> {
        let is_project = |object: &&Object| object.kind() == "AppProject" && object.group() == "argoproj.io";
        let rendered = set.targets.iter().flat_map(|target| &target.objects).filter(is_project).cloned();
        let all: Vec<Object> = rendered.chain(of_files.iter().cloned()).collect();
        if all.is_empty() {
            return Ok(());
        }
        if set.projects.is_none() {
            set.projects = Some(Projects::new(&self.world.context, &YamlFile::new("", ""))?);
        }
        if let Some(projects) = &mut set.projects {
            projects.take_from(&all)?;
        }
        Ok(())
    }
}

impl Gathered {
    /// Leads findings in what an Application renders to, which is in no file, to the Application.
    pub(crate) fn place(&self, findings: &mut [Finding]) {
        for finding in findings {
            let is_rendered =
                finding.location.as_ref().is_some_and(|place| place.source.name.ends_with(RENDERED));
            if is_rendered {
                finding.location = self.places.get(&finding.target).cloned();
            }
        }
    }
}

/// The Secrets that come out different in a second rendering.
fn differing_secrets(first: &[Object], second: &[Object]) -> Vec<String> {
    let is_secret = |object: &&Object| object.kind() == "Secret" && object.group().is_empty();
    let others: HashMap<_, _> =
        second.iter().filter(is_secret).map(|object| (object.key(), object.to_json().ok())).collect();
    let differs = |object: &&Object| others.get(&object.key()) != Some(&object.to_json().ok());
    first.iter().filter(is_secret).filter(differs).map(|object| object.name().to_owned()).collect()
}

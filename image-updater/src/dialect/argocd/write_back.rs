//! Determines where the images of an Application are written, and how that is delivered.

use super::super::Found;
use super::super::objects::Object;
use super::super::{literal, within};
use super::application::{KUSTOMIZATIONS, Paths, Renderer, Source};
use super::claim::Claim;
use super::types::{ManifestTarget, Parts, PluginTarget, PullRequest};
use crate::change::{Named, Version};
use crate::cluster::{LiveSource, SourceField, print_of};
use crate::message::BranchTemplate;
use crate::work::{self, Delivery, Files, GitAccount, Running, Spot, SpotPaths};
use diagnostic::{Error, ErrorKind, Result};
use oci_registry::Reference;
use yamlserde::Spanned;
use yamltree::Node;

/// A method that names credentials has these characters at most.
const METHOD: &str = "-._/:";

/// The most that the resource takes.
const MAX_LABELS: usize = 100;
const MAX_LABEL_LEN: usize = 255;

/// An Application whose images are written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Destination<'o> {
    pub(super) application: &'o Object,
    pub(super) source: Source<'o>,
    pub(super) paths: &'o Paths<'o>,
    /// The repository of the manifests.
    pub(super) home: &'o Files,
    /// True if the Application is alone in its file.
    pub(super) is_alone: bool,
}

/// The write-back target.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Target {
    /// The Application's own manifest.
    Application,
    /// A file that overrides parts of its source.
    Override(String),
    Kustomization(String),
    HelmValues(String),
}

impl Destination<'_> {
    /// Returns where a claim's image is written, and how that is delivered.
    ///
    /// # Errors
    /// If what it says is wrong, or cannot be done without a cluster.
    pub(super) fn of(&self, claim: &Claim<'_>, found: &mut Found) -> Result<(Files, Delivery, Spot)> {
        let method = claim.write_back.method.as_ref();
        match method.map(|method| method.value.trim()) {
            None | Some("argocd") => {
                // A resource may say for all what does not count for one of its Applications.
                if method.is_none() || std::ptr::eq(claim.said, self.application) {
                    warn_of_git(claim, found);
                }
                let spot = self.spot(claim, &Target::Application, found)?;
                Ok((self.home.clone(), Delivery::default(), spot))
            }
            Some(text) => {
                let start = method.map_or(claim.start, |method| method.start);
                let secret = check_method(claim.said, text, start, found)?;
                let (files, mut delivery) = self.git(claim, found)?;
                delivery.account = self.account(claim, secret, start, found)?;
                let spot = self.spot(claim, &self.target(claim, found)?, found)?;
                Ok((files, delivery, spot))
            }
        }
    }

    /// Returns where the cluster keeps what the server is shown, if there is a cluster.
    fn account(
        &self,
        claim: &Claim<'_>,
        secret: Option<&str>,
        start: u32,
        found: &Found,
    ) -> Result<Option<GitAccount>> {
        let Some(argocd) = &found.live else { return Ok(None) };
        let Named { namespace: own, .. } = &self.application.id;
        let Some(secret) = secret else {
            let project = self.application.get(&["spec", "project"]).and_then(Node::text);
            let project = project.unwrap_or_default().to_owned();
            return Ok(Some(GitAccount::ArgoCd { namespace: argocd.clone(), project }));
        };
        let (namespace, name) = secret.split_once('/').unwrap_or((own, secret));
        if namespace != own {
            let message =
                format!("the Secret is in `{namespace}`, and {} is in `{own}`", self.application.title());
            let error = claim.said.refuse(start, message);
            return Err(error.hint("keep the Secret in the namespace of the Application"));
        }
        let secret = Named { namespace: namespace.to_owned(), name: name.to_owned() };
        Ok(Some(GitAccount::Secret { secret, argocd: argocd.clone() }))
    }

    /// Returns what Argo CD says that runs of a claim's image. Where the image is to be written in any case that does not count.
    pub(super) fn running(&self, claim: &Claim<'_>) -> Running {
        if claim.settings.force_update.as_ref().is_some_and(|force| force.value) {
            return Running::Any;
        }
        let Ok(repository) = claim.repository() else { return Running::Any };
        let images = self.application.get(&["status", "summary", "images"]).and_then(Node::items);
        let images = images.into_iter().flatten().filter_map(Node::text);
        let mut versions = images.filter_map(|image| image.parse::<Reference>().ok());
        match versions.find(|image| *image.repository() == repository) {
            None => Running::Nothing,
            Some(image) => Running::At(Version {
                tag: image.tag().map(str::to_owned),
                digest: image.digest().map(ToString::to_string),
                ..Version::default()
            }),
        }
    }

    /// In a cluster, who writes objects of another namespace than Argo CD's has Argo CD's credentials for the repositories of
    /// their Applications, and for no others.
    fn check_repository(&self, claim: &Claim<'_>, repository: &Spanned<String>, found: &Found) -> Result<()> {
        let namespace = &self.application.id.namespace;
        let is_trusted = found.live.as_ref().is_none_or(|argocd| argocd == namespace);
        if is_trusted || self.source.repository() == Some(repository.value.trim()) {
            return Ok(());
        }
        let message = format!("`{}` is not the repository of the Application", repository.value.trim());
        let error = claim.said.refuse(repository.start, message).with_kind(ErrorKind::Denied);
        Err(error.hint("outside of Argo CD's namespace the credentials of other repositories are not used"))
    }

    /// The repository, what is read of it, and what is pushed.
    fn git(&self, claim: &Claim<'_>, found: &Found) -> Result<(Files, Delivery)> {
        let config = &claim.write_back.git_config;
        let url =
            match &config.repository {
                Some(repository) => {
                    self.check_repository(claim, repository, found)?;
                    repository.value.trim().to_owned()
                }
                None if self.source.is_chart() => {
                    let error = self.application.refuse(
                        self.source.start,
                        "the source is a chart from a repository of charts, where nothing can be committed",
                    );
                    return Err(error.hint("name the repository with `git-repository`"));
                }
                None => self.source.repository().map(str::to_owned).ok_or_else(|| {
                    self.application.refuse(self.source.start, "the source lacks `repoURL`")
                })?,
            };
        let (base, pushed) = match &config.branch {
            Some(branch) => branches(claim, branch)?,
            None => (None, None),
        };
        let branch = base.or_else(|| self.source.revision().map(str::to_owned));
        let pull_request = match &config.pull_request {
            Some(request) => Some(pull_request(claim, request, config.branch.as_ref())?),
            None => None,
        };
        Ok((Files::Remote { url, branch }, Delivery { branch: pushed, pull_request, ..Delivery::default() }))
    }

    fn target(&self, claim: &Claim<'_>, found: &Found) -> Result<Target> {
        let folder = self.source.folder();
        let name = &self.application.id;
        let Some(target) = &claim.write_back.git_config.write_back_target else {
            if self.source.is_one_of_many {
                let error = self.application.refuse(
                    self.source.start,
                    "Argo CD reads no `.argocd-source` file for an Application of several sources",
                );
                return Err(
                    error.hint("name a `write-back-target`: `helmvalues:PATH` or `kustomization:PATH`")
                );
            }
            let own = match &found.live {
                Some(argocd) if *argocd != name.namespace => format!("{}_{}", name.namespace, name.name),
                _ => name.name.clone(),
            };
            let path = within(folder, &format!(".argocd-source-{own}.yaml"));
            return path.map(Target::Override).ok_or_else(|| self.leads_out(claim, claim.start, folder));
        };
        let start = target.start;
        let text = target.value.trim();
        let inside = |path: &str| within(folder, path).ok_or_else(|| self.leads_out(claim, start, path));
        match text.split_once(':').unwrap_or((text, "")) {
            ("kustomization", path) => {
                let path = inside(path)?;
                if KUSTOMIZATIONS.contains(&file_name(&path)) {
                    return Ok(Target::Kustomization(path));
                }
                let file = self.paths.first(&path, &KUSTOMIZATIONS);
                let file = file.or_else(|| within(&path, KUSTOMIZATIONS[0]));
                file.map(Target::Kustomization).ok_or_else(|| self.leads_out(claim, start, &path))
            }
            ("helmvalues", "") => inside("values.yaml").map(Target::HelmValues),
            ("helmvalues", path) => inside(path).map(Target::HelmValues),
            _ if KUSTOMIZATIONS.contains(&file_name(text)) => {
                let error = claim.said.refuse(start, format!("`{text}` is a kustomization, not an override"));
                Err(error.hint("write `kustomization:` and its directory"))
            }
            _ => within("", text)
                .filter(|path| !path.is_empty())
                .map(Target::Override)
                .ok_or_else(|| self.leads_out(claim, start, text)),
        }
    }

    fn leads_out(&self, claim: &Claim<'_>, start: u32, path: &str) -> Error {
        claim.said.refuse(start, format!("`{path}` leads out of the repository"))
    }

    fn spot(&self, claim: &Claim<'_>, target: &Target, found: &mut Found) -> Result<Spot> {
        if *target == Target::Application && !self.is_alone {
            let message = format!("{} is not alone in its file", self.application.title());
            let error = Error::invalid(message).at(self.application.place());
            return Err(error.hint("give each Application its own file"));
        }
        let own = claim.target.as_ref().map(|target| target.value.clone()).unwrap_or_default();
        let live = self.live_source().to_string();
        let (kind, path, creates) = match target {
            // Of an Application in a cluster only its source is seen, which looks like what overrides one.
            Target::Application if found.is_live() => ("argocd-source", live.as_str(), true),
            Target::Application => ("application", &*self.application.path, true),
            Target::Override(path) => ("argocd-source", path.as_str(), true),
            Target::Kustomization(path) => ("kustomization", path.as_str(), true),
            Target::HelmValues(path) => ("helmvalues", path.as_str(), false),
        };
        let mut spot = Spot {
            path: literal(path),
            kind: kind.to_owned(),
            paths: SpotPaths::default(),
            policy: None,
            image_name: None,
            creates,
        };
        match self.renderer(claim, target, &own, found.is_live())? {
            Renderer::Kustomize => {
                self.warn_of_other(claim, own.helm.is_some(), "Kustomize", found);
                spot.image_name = own.kustomize.map(|target| target.name.trim().to_owned());
            }
            Renderer::Plugin => {
                spot.kind = "argocd-plugin".to_owned();
                spot.paths = plugin_paths(claim, own.plugin.as_ref().map(|plugin| &plugin.value))?;
            }
            _ => {
                self.warn_of_other(claim, own.kustomize.is_some(), "Helm", found);
                spot.paths = helm_paths(claim, own.helm.as_ref())?;
            }
        }
        Ok(spot)
    }

    /// The source, where the Application is in a cluster.
    fn live_source(&self) -> LiveSource {
        let many = self.application.get(&["spec", "sources"]).and_then(Node::items).into_iter().flatten();
        let mut many = many.enumerate().filter(|(_, node)| node.span.start == self.source.start);
        let field = match many.next() {
            Some((index, node)) => {
                let print = print_of(|key| node.get(key).and_then(Node::text));
                SourceField::OneOf { index, print }
            }
            None if self.application.get(&["spec", "sourceHydrator"]).is_some() => SourceField::Dry,
            None => SourceField::Only,
        };
        LiveSource { application: self.application.id.clone(), field }
    }

    /// Returns the renderer that reads the target: by the target, the image's settings, or the source.
    fn renderer(
        &self,
        claim: &Claim<'_>,
        target: &Target,
        own: &ManifestTarget,
        is_live: bool,
    ) -> Result<Renderer> {
        if own.plugin.is_some() {
            let has_variables = match target {
                Target::Override(_) => true,
                Target::Application => is_live,
                Target::Kustomization(_) | Target::HelmValues(_) => false,
            };
            let start = claim.target.as_ref().map_or(claim.start, |target| target.start);
            return match has_variables {
                true => Ok(Renderer::Plugin),
                false => Err(claim.said.refuse(start, "variables of plugins are not written there")),
            };
        }
        match target {
            Target::Kustomization(_) => return Ok(Renderer::Kustomize),
            Target::HelmValues(_) => return Ok(Renderer::Helm),
            _ if own.helm.is_some() => return Ok(Renderer::Helm),
            _ if own.kustomize.is_some() => return Ok(Renderer::Kustomize),
            _ => {}
        }
        let refuse = |message: &str| {
            self.application.refuse(self.source.start, message).hint(
                "set where the image is written: `ALIAS.helm.image-tag` or `ALIAS.kustomize.image-name`",
            )
        };
        match self.source.renderer(self.paths) {
            Renderer::Unknown => Err(refuse("cannot determine whether Helm or Kustomize renders the source")),
            Renderer::Plugin => Err(self
                .application
                .refuse(self.source.start, "a plugin renders the source: set the variables that it reads")
                .hint("name them with `manifestTargets.plugin`, or with `ALIAS.helm.image-tag` its parameters of Helm")),
            renderer => Ok(renderer),
        }
    }

    fn warn_of_other(&self, claim: &Claim<'_>, is_there: bool, used: &str, found: &mut Found) {
        if let Some(target) = claim.target.as_ref().filter(|_| is_there) {
            let message = format!("the target uses {used}: set it");
            found.warn_once(claim.said.refuse(target.start, message));
        }
    }
}

/// The paths of the parts. A path that is not named is not written, unless none is.
fn helm_paths(claim: &Claim<'_>, helm: Option<&Parts>) -> Result<SpotPaths> {
    let trimmed = |text: &Option<String>| text.as_deref().map(|text| text.trim().to_owned());
    let paths = match helm {
        Some(Parts { spec: Some(spec), .. }) => {
            SpotPaths { spec: Some(spec.trim().to_owned()), ..SpotPaths::default() }
        }
        Some(Parts { name, tag, .. }) if name.is_some() || tag.is_some() => SpotPaths {
            name: trimmed(name),
            // Only a name would say of no version.
            tag: trimmed(tag).or_else(|| Some("image.tag".to_owned())),
            ..SpotPaths::default()
        },
        _ => SpotPaths {
            name: Some("image.name".to_owned()),
            tag: Some("image.tag".to_owned()),
            ..SpotPaths::default()
        },
    };
    parsed(claim, paths)
}

fn parsed(claim: &Claim<'_>, paths: SpotPaths) -> Result<SpotPaths> {
    let start = claim.target.as_ref().map_or(claim.start, |target| target.start);
    for path in [&paths.name, &paths.tag, &paths.spec].into_iter().flatten() {
        yamledit::Path::parse(path).map_err(|error| claim.said.refuse(start, error.message()))?;
    }
    Ok(paths)
}

/// The variables of the parts, of which those that are not named are not written.
fn plugin_paths(claim: &Claim<'_>, plugin: Option<&PluginTarget>) -> Result<SpotPaths> {
    let Some(PluginTarget { name, tag, spec }) = plugin else { return Ok(SpotPaths::default()) };
    let trimmed = |text: &Option<Spanned<String>>| text.as_ref().map(|text| text.value.trim().to_owned());
    let paths = match trimmed(spec) {
        Some(spec) => SpotPaths { spec: Some(spec), ..SpotPaths::default() },
        None => SpotPaths { name: trimmed(name), tag: trimmed(tag), ..SpotPaths::default() },
    };
    parsed(claim, paths)
}

/// Warns about git settings that the method ignores.
fn warn_of_git(claim: &Claim<'_>, found: &mut Found) {
    let config = &claim.write_back.git_config;
    let texts = [&config.repository, &config.branch, &config.write_back_target];
    let starts = texts.into_iter().flatten().map(|text| text.start);
    let request = config.pull_request.as_ref().map(|request| request.start);
    if let Some(start) = starts.chain(request).min() {
        let message = "the git settings are ignored: the write-back method is `argocd`";
        found.warn_once(claim.said.refuse(start, message));
    }
}

/// Checks that a method is one of git's, and gives the Secret that it names. Without a cluster that is not carried over.
fn check_method<'t>(said: &Object, text: &'t str, start: u32, found: &mut Found) -> Result<Option<&'t str>> {
    let credentials = match text.split_once(':') {
        None if text == "git" => return Ok(None),
        Some(("git", "repocreds")) => return Ok(None),
        Some(("git", credentials)) => credentials,
        _ => "",
    };
    let is_known = credentials.starts_with(|first: char| first.is_ascii_alphanumeric())
        && credentials.chars().all(|it| it.is_ascii_alphanumeric() || METHOD.contains(it));
    let Some(secret) = credentials.strip_prefix("secret:").filter(|_| is_known) else {
        let error = said.refuse(start, format!("unknown write-back method `{text}`"));
        return Err(
            error.hint("the methods are `argocd`, `git`, `git:repocreds` and `git:secret:NAMESPACE/NAME`")
        );
    };
    if !found.is_live() {
        let message = format!("`{credentials}` is not carried over: no Secret is read");
        found.warn_once(said.refuse(start, message).hint("give `git` its `credentials`"));
    }
    Ok(Some(secret))
}

/// `BASE`, `BASE:PUSHED` or `:PUSHED`, of which the last is a template.
fn branches(claim: &Claim<'_>, branch: &Spanned<String>) -> Result<(Option<String>, Option<String>)> {
    let refuse = |message: String| claim.said.refuse(branch.start, message);
    let text = branch.value.trim();
    let (base, pushed) = text.split_once(':').unwrap_or((text, ""));
    // Within a template a colon may stand in quotes; the controller does not look.
    if pushed.contains(':') {
        return Err(refuse(format!("`{text}` has more than one colon")).hint("write `BASE:PUSHED`"));
    }
    let pushed = Some(pushed).filter(|pushed| !pushed.is_empty() && *pushed != base);
    if let Some(pushed) = pushed {
        BranchTemplate::parse("git-branch", pushed)
            .map_err(|error| error.moved_to(claim.said.at(branch.start)))?;
    }
    let base = Some(base.to_owned()).filter(|base| !base.is_empty() && base != "HEAD");
    Ok((base, pushed.map(str::to_owned)))
}

fn pull_request(
    claim: &Claim<'_>,
    request: &Spanned<PullRequest>,
    branch: Option<&Spanned<String>>,
) -> Result<work::PullRequest> {
    let Spanned { value, start } = request;
    let refuse = |start: u32, message: &str| Err(claim.said.refuse(start, message));
    let forge = match (&value.github, &value.gitlab) {
        (Some(_), None) => "github",
        (None, Some(_)) => "gitlab",
        _ => return refuse(*start, "expected exactly one of `github` and `gitlab`"),
    };
    if let Some(branch) = branch.filter(|branch| branch.value.contains(':')) {
        let message = "with `pullRequest` the branch must be the base branch only, without a colon";
        return refuse(branch.start, message);
    }
    if value.labels.len() > MAX_LABELS {
        return refuse(*start, "there are at most 100 labels");
    }
    let mut labels: Vec<String> = Vec::new();
    for label in &value.labels {
        if !(1..=MAX_LABEL_LEN).contains(&label.value.chars().count()) {
            return refuse(label.start, "a label has 1 to 255 characters");
        }
        let label = label.value.trim();
        if !label.is_empty() && !labels.iter().any(|other| other == label) {
            labels.push(label.to_owned());
        }
    }
    Ok(work::PullRequest { forge: Some(forge.to_owned()), labels, ..work::PullRequest::default() })
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

//! What there is to do: which images, how a tag is chosen for each, and where it is written.
//!
//! Configuration files make it, our own and those of the dialects, and a round works it off. It holds
//! no credentials and no text of files, so that it may be compared, printed and kept.

use diagnostic::Location;
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use crate::change::{Named, Version};
use crate::config::SignatureFormat;
use crate::criteria::Criteria;
use crate::forge::MergeMethod;

/// Images that are written to one branch of one repository, in one commit and one push.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    /// Where the files are.
    pub files: Files,
    /// How changes are committed and handed over.
    pub delivery: Delivery,
    /// The images, in the order of the configuration.
    pub updates: Vec<Update>,
}

/// Where the files are that are changed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Files {
    /// The folder that the configuration is in, or that was named.
    Folder(PathBuf),
    /// The Applications of the cluster themselves, each a file by the name `Application/NAMESPACE/NAME`.
    Applications,
    /// None: it is only said which version would be chosen.
    Nowhere,
    /// A branch of a repository on a server; its own choice where none is named.
    Remote {
        /// The repository.
        url: String,
        /// The branch whose files are read.
        branch: Option<String>,
    },
}

impl fmt::Display for Files {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(folder) => folder.display().fmt(f),
            Self::Applications => f.write_str("the Applications of the cluster"),
            Self::Nowhere => f.write_str("no repository"),
            Self::Remote { url, .. } => f.write_str(&diagnostic::redact(url)),
        }
    }
}

/// How changes are committed and handed over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Delivery {
    /// The branch that is pushed, as a template; the one that is read where absent.
    pub branch: Option<String>,
    /// The message, as a template.
    pub message: Option<String>,
    /// In whose words the templates are.
    pub words: Words,
    /// What templates find as `.Values`.
    pub values: BTreeMap<String, String>,
    /// The ImageUpdateAutomation that templates find as `.AutomationObject`.
    pub automation: Option<Named>,
    /// Who commits: a name and an address.
    pub author: Option<(String, String)>,
    /// Whether the committer signs off.
    pub sign_off: bool,
    /// The name of the configuration's signing key.
    pub signing_key: Option<String>,
    /// The key in a cluster that commits are signed with.
    pub signing_secret: Option<SigningSecret>,
    /// Where a cluster keeps what the server is shown.
    pub account: Option<GitAccount>,
    /// Push options.
    pub options: Vec<String>,
    /// One commit for each application instead of one for all.
    pub commit_per_application: bool,
    /// What is asked of the forge.
    pub pull_request: Option<PullRequest>,
}

impl Delivery {
    /// Whether the message has something to say of the images' labels.
    pub(crate) fn names_labels(&self) -> bool {
        self.message.as_deref().is_some_and(|message| message.contains("Labels"))
    }

    /// Takes over what another says and this does not. Templates go with the words that they are in.
    pub(crate) fn fill_from(&mut self, other: &Self) {
        if self.message.is_none() && self.branch.is_none() && self.words == Words::default() {
            self.message.clone_from(&other.message);
            self.branch.clone_from(&other.branch);
            self.words = other.words;
            self.values.clone_from(&other.values);
        }
        self.author = self.author.take().or_else(|| other.author.clone());
        self.signing_key = self.signing_key.take().or_else(|| other.signing_key.clone());
        self.pull_request = self.pull_request.take().or_else(|| other.pull_request.clone());
        self.sign_off |= other.sign_off;
        self.commit_per_application |= other.commit_per_application;
        if self.options.is_empty() {
            self.options.clone_from(&other.options);
        }
    }
}

/// Where a cluster keeps what a git server is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GitAccount {
    /// In the Secrets by which Argo CD reads repositories.
    ArgoCd {
        /// Where Argo CD is.
        namespace: String,
        /// The project of the Application.
        project: String,
    },
    /// In a Secret with the keys of Argo CD's.
    Secret {
        /// The Secret.
        secret: Named,
        /// Where Argo CD is, which knows host keys and authorities.
        argocd: String,
    },
    /// In the Secrets that a GitRepository of Flux names.
    Flux {
        /// What the server is shown.
        secret: Option<Named>,
        /// The proxy on the way to it.
        proxy: Option<Named>,
        /// Whether it is of a GitHub App.
        is_app: bool,
    },
}

/// A key in a cluster that commits are signed with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SigningSecret {
    /// The Secret that has it.
    pub secret: Named,
    /// What kind of signature it makes.
    pub format: SignatureFormat,
}

/// Whose variables and functions a template uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Words {
    /// Argo CD Image Updater's, which are ours too.
    #[default]
    ArgoCd,
    /// Flux's.
    Flux,
}

/// A pull request for the pushed branch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PullRequest {
    /// The name of the forge, where the address does not tell: `github`, `gitlab`, `gitea`.
    pub forge: Option<String>,
    /// The address of the forge's API, where that is not as usual.
    pub api: Option<String>,
    /// Its title, as a template; the first line of the message where absent.
    pub title: Option<String>,
    /// The template of its text; our own where absent.
    pub body: Option<String>,
    /// Labels.
    pub labels: Vec<String>,
    /// Who is asked to review.
    pub reviewers: Vec<String>,
    /// Whether it is a draft.
    pub draft: bool,
    /// How it is merged as soon as its checks allow it.
    pub auto_merge: Option<MergeMethod>,
}

/// One image, and where it is written.
#[derive(Clone, Debug, PartialEq)]
pub struct Update {
    /// What reports call it: an alias, or the image.
    pub name: String,
    /// The image without tag and digest, as its author spells it.
    pub image: String,
    /// The tag that the digest policy watches.
    pub watched: Option<String>,
    /// How a tag is chosen.
    pub criteria: Criteria,
    /// Whether its digest is written behind the tag.
    pub pins_digest: bool,
    /// Whether a digest that stands there stays as long as its tag does.
    pub keeps_digest: bool,
    /// Where it is written.
    pub spots: Vec<Spot>,
    /// Whose image it is, where the configuration knows applications.
    pub application: Option<Named>,
    /// How often it is looked at.
    pub interval: Option<Duration>,
    /// Whether it is left alone for now.
    pub suspended: bool,
    /// What has to have signed a version before it is written.
    pub verification: Option<Verification>,
    /// What runs of it, for who writes only what runs.
    pub running: Running,
    /// When somebody asked for it to be looked at at once; another time is another request.
    pub requested: Option<String>,
    /// The objects of a cluster that it is worked off for, which are told what becomes of it.
    pub owners: Vec<Owner>,
    /// Where it is configured, for what is said of it.
    pub place: Location,
}

/// What runs of an image.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Running {
    /// That does not matter: it is written wherever it is to be.
    #[default]
    Any,
    /// Nothing: it is written only where it stands already.
    Nothing,
    /// This version: where none stands, another is written, and this one is not.
    At(Version),
}

impl Update {
    /// The ImageUpdater that asks for it, where one does.
    pub(crate) fn image_updater(&self) -> Option<&Named> {
        image_updater(&self.owners)
    }
}

/// The ImageUpdater among objects.
pub(crate) fn image_updater(owners: &[Owner]) -> Option<&Named> {
    owners.iter().find(|owner| owner.kind == OwnerKind::ImageUpdater).map(|owner| &owner.id)
}

/// Who has to have signed a version: whoever has one of these keys.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Verification {
    /// Public keys of Cosign.
    pub keys: Vec<KeyPlace>,
}

/// Where a public key is kept.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum KeyPlace {
    /// In the configuration itself, in PEM.
    Text(String),
    /// In a file.
    File(PathBuf),
    /// In a Secret of the cluster.
    Secret {
        /// The Secret.
        secret: Named,
        /// Which of its data.
        key: String,
    },
}

/// An object of a cluster.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Owner {
    /// What kind of object.
    pub kind: OwnerKind,
    /// Which one.
    pub id: Named,
}

/// The kinds of objects that are told what becomes of images.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum OwnerKind {
    /// Argo CD's.
    Application,
    /// Argo CD Image Updater's.
    ImageUpdater,
    /// Flux's.
    ImageRepository,
    /// Flux's.
    ImagePolicy,
    /// Flux's.
    ImageUpdateAutomation,
}

/// A place that versions are written to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    /// The files, from the root of the repository, as a path or a glob.
    pub path: String,
    /// The kind of target, as `set --target` names it.
    pub kind: String,
    /// For values: where the parts stand.
    pub paths: SpotPaths,
    /// For Flux: whose markers count, `namespace:name`.
    pub policy: Option<String>,
    /// For the images of Kustomize: what manifests call the image, where that is another name.
    pub image_name: Option<String>,
    /// Whether a file without a place for the image gets one.
    pub creates: bool,
}

/// Where a version's parts stand in values, as paths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpotPaths {
    /// The tag.
    pub tag: Option<String>,
    /// The name.
    pub name: Option<String>,
    /// The registry, where the name stands without it.
    pub registry: Option<String>,
    /// The whole reference.
    pub spec: Option<String>,
    /// The digest.
    pub digest: Option<String>,
}

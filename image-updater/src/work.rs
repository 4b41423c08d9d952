//! The work: which images, their policies, and their targets.
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
    /// The location of the files.
    pub files: Files,
    /// The delivery of changes.
    pub delivery: Delivery,
    /// The images, in the order of the configuration.
    pub updates: Vec<Update>,
}

/// The location of the changed files.
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

/// The delivery of changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Delivery {
    /// The branch that is pushed, as a template; the one that is read where absent.
    pub branch: Option<String>,
    /// The message, as a template.
    pub message: Option<String>,
    /// In whose words the templates are.
    pub words: Words,
    /// The value of `.Values` in templates.
    pub values: BTreeMap<String, String>,
    /// The ImageUpdateAutomation that templates find as `.AutomationObject`.
    pub automation: Option<Named>,
    /// The author of commits: name and address.
    pub author: Option<(String, String)>,
    /// True if the committer signs off.
    pub sign_off: bool,
    /// The name of the configuration's signing key.
    pub signing_key: Option<String>,
    /// The key in a cluster that commits are signed with.
    pub signing_secret: Option<SigningSecret>,
    /// The source of the server's credentials in a cluster.
    pub account: Option<GitAccount>,
    /// Push options.
    pub options: Vec<String>,
    /// One commit for each application instead of one for all.
    pub commit_per_application: bool,
    /// The pull request settings.
    pub pull_request: Option<PullRequest>,
}

impl Delivery {
    /// Returns true if the message has something to say of the images' labels.
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

/// The source of git credentials in a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GitAccount {
    /// In the Secrets by which Argo CD reads repositories.
    ArgoCd {
        /// The namespace of Argo CD.
        namespace: String,
        /// The project of the Application.
        project: String,
    },
    /// In a Secret with the keys of Argo CD's.
    Secret {
        /// The Secret.
        secret: Named,
        /// The namespace of Argo CD, which has host keys and certificates.
        argocd: String,
    },
    /// In the Secrets that a GitRepository of Flux names.
    Flux {
        /// The Secret with the credentials.
        secret: Option<Named>,
        /// The proxy on the way to it.
        proxy: Option<Named>,
        /// True if it is of a GitHub App.
        is_app: bool,
    },
}

/// A key in a cluster that commits are signed with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SigningSecret {
    /// The Secret that has it.
    pub secret: Named,
    /// The signature format.
    pub format: SignatureFormat,
}

/// The flavour of templates: variables and functions.
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
    /// The reviewers.
    pub reviewers: Vec<String>,
    /// True if it is a draft.
    pub draft: bool,
    /// The merge method, if it is merged when its checks pass.
    pub auto_merge: Option<MergeMethod>,
}

/// One image, and where it is written.
#[derive(Clone, Debug, PartialEq)]
pub struct Update {
    /// The name in reports: an alias, or the image.
    pub name: String,
    /// The image without tag and digest, as its author spells it.
    pub image: String,
    /// The tag that the digest policy watches.
    pub watched: Option<String>,
    /// The policy.
    pub criteria: Criteria,
    /// True if its digest is written behind the tag.
    pub pins_digest: bool,
    /// True if a digest that stands there stays as long as its tag does.
    pub keeps_digest: bool,
    /// The targets.
    pub spots: Vec<Spot>,
    /// The Application of the image, if known.
    pub application: Option<Named>,
    /// Polling interval.
    pub interval: Option<Duration>,
    /// True if it is left alone for now.
    pub suspended: bool,
    /// The signature verification.
    pub verification: Option<Verification>,
    /// The running versions, for policies that depend on them.
    pub running: Running,
    /// When somebody asked for it to be looked at at once; another time is another request.
    pub requested: Option<String>,
    /// The objects of a cluster that it is worked off for, which are told what becomes of it.
    pub owners: Vec<Owner>,
    /// The location of its configuration.
    pub place: Location,
}

/// The running versions of an image.
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

/// Signature verification: one of these keys must have signed a version.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Verification {
    /// Public keys of Cosign.
    pub keys: Vec<KeyPlace>,
}

/// The source of a public key.
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
    /// The kind of object.
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
    /// True if a file without a place for the image gets one.
    pub creates: bool,
}

/// The paths of a version's parts in values.
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

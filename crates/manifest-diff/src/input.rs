//! The input of a review: targets with their objects on both sides of a change.

use std::fmt;

use argocd::diffing::Normalizer;
use argocd::objects::{Key, Object};

use yamltree::Location;

use crate::model::{Plan, TargetKind};

/// Something that a repository renders.
#[derive(Clone, Debug)]
pub struct Target {
    /// The kind of target.
    pub kind: TargetKind,
    /// The name: `argocd/web` for an Application, the path for a directory. Kind and name pair both sides.
    pub name: String,
    /// The location of its definition.
    pub origin: Option<Location>,
    /// The result of rendering.
    pub outcome: RenderOutcome,
    /// The warnings from rendering.
    pub warnings: Vec<String>,
    /// The way in which it is applied.
    pub apply: ApplyOptions,
    /// Fields that are different on every render.
    pub volatile: Vec<VolatileField>,
    /// The order in which its objects are applied, to be shown.
    pub plan: Option<Plan>,
}

/// The result of rendering.
#[derive(Clone, Debug)]
pub enum RenderOutcome {
    /// The objects.
    Rendered(Vec<Object>),
    /// The error of rendering.
    Failed(String),
}

/// The deployment settings of a target.
#[derive(Clone, Debug, Default)]
pub struct ApplyOptions {
    /// True if objects that leave the target are deleted (pruned).
    pub prune: bool,
    /// True if its objects are deleted when the target itself is: a finalizer of Argo CD, Flux' prune.
    pub cascade: bool,
    /// Normalizes objects for comparison as Argo CD does, without the fields that its Application ignores.
    pub normalizer: Option<Normalizer>,
    /// True if the objects' places are in files of the repository, so that a report can point at them.
    pub objects_in_files: bool,
}

/// A field whose value is another one on every render.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VolatileField {
    /// The object.
    pub object: Key,
    /// The field, as a JSON pointer; what is below it counts too.
    pub pointer: String,
}

/// The key of the tags that replace values of Secrets. It is random for each run, so that nobody can find a
/// value by trying.
#[derive(Clone)]
pub struct SecretKey(pub(crate) [u8; 32]);

impl SecretKey {
    /// Takes 32 random bytes.
    #[must_use]
    pub fn new(random: [u8; 32]) -> Self {
        Self(random)
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretKey(…)")
    }
}

impl Target {
    /// A target that renders to these objects.
    #[must_use]
    pub fn rendered(kind: TargetKind, name: impl Into<String>, objects: Vec<Object>) -> Self {
        Self::new(kind, name.into(), RenderOutcome::Rendered(objects))
    }

    /// A target that does not render.
    #[must_use]
    pub fn failed(kind: TargetKind, name: impl Into<String>, error: impl Into<String>) -> Self {
        Self::new(kind, name.into(), RenderOutcome::Failed(error.into()))
    }

    fn new(kind: TargetKind, name: String, outcome: RenderOutcome) -> Self {
        Self {
            kind,
            name,
            origin: None,
            outcome,
            warnings: Vec::new(),
            apply: ApplyOptions::default(),
            volatile: Vec::new(),
            plan: None,
        }
    }

    pub(crate) fn objects(&self) -> &[Object] {
        match &self.outcome {
            RenderOutcome::Rendered(objects) => objects,
            RenderOutcome::Failed(_) => &[],
        }
    }

    pub(crate) fn error(&self) -> Option<&str> {
        match &self.outcome {
            RenderOutcome::Rendered(_) => None,
            RenderOutcome::Failed(error) => Some(error),
        }
    }
}

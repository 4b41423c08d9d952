//! A Kustomization from its source to what is applied (kustomize-controller, `reconcile`); reads top to bottom.
//!
//! In: a Kustomization, and what is known of its cluster. Out: objects as they are applied: substituted, with the labels by
//! which Flux knows its own, and what is common to all. Refused: what Flux refuses.

use std::path::Path;

use argocd::objects::Object;
use diagnostic::Error;
use vfs::Files;

use crate::artifact::Artifact;
use crate::data;
use crate::engines::Engines;
use crate::envsubst::Mode;
use crate::generate;
use crate::known::Lookup;
use crate::kustomization::{GROUP, Kustomization};
use crate::metadata;
use crate::source::Places;
use crate::substitution;
use crate::warning::{Code, Warning};

/// The inputs of rendering Kustomizations and HelmReleases.
pub struct World<'w, E> {
    /// All files.
    pub files: &'w dyn Files,
    /// The known repositories.
    pub places: Places<'w>,
    /// The known objects of the cluster.
    pub known: &'w Lookup<'w>,
    /// The engines that build and render.
    pub engines: &'w E,
    /// The handling of variables that are not set.
    pub mode: Mode,
    /// The directory of remote bases.
    pub fetched: Option<&'w Path>,
}

/// The result of rendering a Kustomization or HelmRelease.
#[derive(Clone, Debug, Default)]
pub struct Rendered {
    /// The objects to apply.
    pub objects: Vec<Object>,
    /// Warnings.
    pub warnings: Vec<Warning>,
}

/// Builds a Kustomization.
///
/// # Errors
/// If it or what it builds is invalid.
pub fn build<E: Engines>(kustomization: &Kustomization, world: &World<'_, E>) -> Result<Rendered, E::Error> {
    let mut warnings = Vec::new();
    let Kustomization { name, namespace, place, .. } = kustomization;
    if kustomization.suspend {
        let message =
            format!("the Kustomization `{namespace}/{name}` is suspended: nothing of it is rolled out");
        warnings.push(Warning::new(Code::Suspended, message).at(place.clone()));
    }
    let source = kustomization.source.folder(world.known, world.places)?;
    warnings.extend(source.warnings);
    let artifact =
        Artifact::new(world.files, &source.path, &source.ignored, world.fetched).map_err(|error| {
            let shown = world.files.display(&source.path);
            Error::invalid(format!("cannot read the repository in `{shown}`: {error}")).at(place.clone())
        })?;
    let folder = artifact.join(&kustomization.path);
    if artifact.resolve(&folder).is_err() {
        let message = format!("the path `{}` does not exist in the source", kustomization.path);
        return Err(Error::invalid(message).at(place.clone()).into());
    }
    let edited = generate::kustomization(&kustomization.edits, &folder, &artifact)
        .map_err(|error| error.at(place.clone()))?;
    let mut objects = world.engines.folder(&artifact, folder, edited)?;
    check(&objects, kustomization, &mut warnings)?;
    if let Some(post_build) = &kustomization.post_build {
        let variables = substitution::variables(post_build, namespace, world.known, &mut warnings)?;
        if !variables.values.is_empty() || variables.has_unknown || post_build.always {
            let each = |object| substitution::substituted(object, &variables, world.mode);
            objects = objects.into_iter().map(each).collect::<Result<_, _>>()?;
        }
    }
    for object in &mut objects {
        mark(object, kustomization);
    }
    Ok(Rendered { objects, warnings })
}

/// Refuses what is no object of Kubernetes, and Secrets that nobody could read.
fn check(
    objects: &[Object],
    kustomization: &Kustomization,
    warnings: &mut Vec<Warning>,
) -> Result<(), Error> {
    for object in objects {
        if object.name().is_empty() || object.kind().is_empty() || object.api_version().is_empty() {
            let message =
                "an object has an `apiVersion`, a `kind` and a `metadata.name`, and this one has not";
            return Err(Error::invalid(message).at(object.place()));
        }
        if !data::is_encrypted(object) {
            continue;
        }
        if !kustomization.decrypts {
            let message =
                format!("{object} is encrypted with SOPS, but the Kustomization lacks `decryption`");
            return Err(Error::invalid(message)
                .at(object.place())
                .hint("say `decryption: {provider: sops}`"));
        }
        let message = format!("{object} is encrypted with SOPS, and is shown as it is");
        warnings.push(Warning::new(Code::Encrypted, message).at(object.place()));
    }
    Ok(())
}

/// Writes whose it is, and what is common to all.
fn mark(object: &mut Object, kustomization: &Kustomization) {
    metadata::set(object, "labels", &format!("{GROUP}/name"), &kustomization.name);
    metadata::set(object, "labels", &format!("{GROUP}/namespace"), &kustomization.namespace);
    for (field, pairs) in [("labels", &kustomization.labels), ("annotations", &kustomization.annotations)] {
        for (key, value) in pairs {
            metadata::set(object, field, key, value);
        }
    }
}

//! Finds the signatures of an image. Input: a registry and a digest. Output: each possible signature, or why it is
//! none, newest first, until the caller stops.
//!
//! ```text
//! referrers      bundles, and simple signing that refers to the image
//! sha256-….sig   simple signing, a layer for each signature
//! ```
//!
//! Nothing of where a signature lies is proof of anything: whoever may push can put it there. What is not read is no
//! signature; how much is read has an end.

use diagnostic::{Error, ErrorKind};
use oci_registry::{Client, Content, Descriptor, Digest, Manifest, Reference, Repository};

use crate::bundle::{self, Bundle};
use crate::claim::Fault;
use crate::signature::{Signature, Signed};
use crate::simple_signing;
use crate::statement;

/// Maximum number of manifests and layers that are looked at for one image. Who signs each night has fewer in half a year.
const MAX_LOOKS: usize = 256;

/// Artifact type of a simple signing signature that refers to an image.
const SIGNATURE_ARTIFACT: &str = "application/vnd.dev.cosign.artifact.sig.v1+json";

/// Artifact type that registries show for unknown types.
const EMPTY: &str = "application/vnd.oci.empty.v1+json";

/// Annotation in which cosign keeps the predicate type of a bundle.
const PREDICATE_TYPE: &str = "dev.sigstore.bundle.predicateType";

/// Looks for the signatures of one image.
pub(crate) struct Search<'s> {
    client: &'s Client,
    repository: &'s Repository,
    digest: &'s Digest,
    looks: usize,
    /// Signatures with several keys are of the same payload, one after the other.
    last: Option<(Digest, Vec<u8>)>,
}

/// Called with each signature or the reason why it cannot be read; returns a value to stop.
type Visit<'v, T> = &'v mut dyn FnMut(Result<Signature, Fault>) -> Option<T>;

impl<'s> Search<'s> {
    pub(crate) fn new(client: &'s Client, repository: &'s Repository, digest: &'s Digest) -> Self {
        Self { client, repository, digest, looks: 0, last: None }
    }

    /// The first signature that comes to something.
    pub(crate) fn find<T>(&mut self, visit: Visit<'_, T>) -> Option<T> {
        if let found @ Some(_) = self.referring(visit) {
            return found;
        }
        self.tagged(visit)
    }

    /// Among what refers to the image.
    fn referring<T>(&mut self, visit: Visit<'_, T>) -> Option<T> {
        match self.client.referrers(self.repository, self.digest) {
            Ok(referrers) => self.entries(&referrers, visit),
            Err(error) => visit(Err(fault(error))),
        }
    }

    /// Under the tag that is made of the digest. One of SHA-512 is longer than a tag may be, so there is none of it.
    fn tagged<T>(&mut self, visit: Visit<'_, T>) -> Option<T> {
        let reference = self.repository.with_tag(&tag(self.digest)).ok()?;
        match self.client.manifest(&reference) {
            Ok(manifest) => match manifest.content() {
                // Some keep several manifests there.
                Ok(Content::Index(index)) => self.entries(&index.manifests, visit),
                Ok(Content::Image(image)) => self.layers(&image.layers, visit),
                Err(error) => visit(Err(Fault::Malformed(error.message().to_owned()))),
            },
            Err(error) if error.kind() == ErrorKind::ManifestUnknown => None,
            Err(error) => visit(Err(fault(error))),
        }
    }

    fn entries<T>(&mut self, entries: &[Descriptor], visit: Visit<'_, T>) -> Option<T> {
        for entry in entries.iter().rev().filter(|entry| may_be_signature(entry)) {
            let found = match entry.annotations.get(PREDICATE_TYPE) {
                Some(kind) if kind != statement::SIGNATURE => visit(Err(Fault::Attestation(kind.clone()))),
                _ => match self.manifest(entry) {
                    Ok(layers) => self.layers(&layers, visit),
                    Err(fault) => visit(Err(fault)),
                },
            };
            if found.is_some() || self.is_tired() {
                return found;
            }
        }
        None
    }

    /// The layers of a manifest that is listed somewhere.
    fn manifest(&mut self, entry: &Descriptor) -> Result<Vec<Descriptor>, Fault> {
        self.look()?;
        let reference = self.repository.with_digest(entry.digest.clone());
        let manifest = self.client.manifest(&reference).map_err(fault)?;
        match manifest.content() {
            Ok(Content::Image(image)) => Ok(image.layers),
            Ok(Content::Index(_)) => Err(Fault::Malformed(format!("`{reference}` is an index"))),
            Err(error) => Err(Fault::Malformed(error.message().to_owned())),
        }
    }

    fn layers<T>(&mut self, layers: &[Descriptor], visit: Visit<'_, T>) -> Option<T> {
        for layer in layers.iter().rev() {
            let signature = match layer.media_type.as_str() {
                simple_signing::LAYER => self.simple_signing(layer),
                kind if kind.starts_with(bundle::PREFIX) => self.bundle(layer),
                _ => continue,
            };
            let found = visit(signature);
            if found.is_some() || self.is_tired() {
                return found;
            }
        }
        None
    }

    fn simple_signing(&mut self, layer: &Descriptor) -> Result<Signature, Fault> {
        self.look()?;
        let Some(written) = layer.annotations.get(simple_signing::SIGNATURE) else {
            return Err(Fault::Malformed("its layer lacks a signature".to_owned()));
        };
        let bytes = simple_signing::decode(written)?;
        let payload = match self.last.take() {
            Some((digest, payload)) if digest == layer.digest => payload,
            _ => self.content(layer, simple_signing::MAX_PAYLOAD)?,
        };
        self.last = Some((layer.digest.clone(), payload.clone()));
        let has_certificate = simple_signing::has_certificate(&layer.annotations);
        Ok(Signature { bytes, signed: Signed::SimpleSigning(payload), has_certificate })
    }

    fn bundle(&mut self, layer: &Descriptor) -> Result<Signature, Fault> {
        self.look()?;
        let Bundle { signature, content, has_certificate } =
            Bundle::read(&self.content(layer, bundle::MAX_BUNDLE)?)?;
        let signed = match content {
            bundle::Content::Statement(payload) => Signed::Statement(payload),
            bundle::Content::Message(digest) => Signed::Manifest(self.message(&digest)?.bytes),
        };
        Ok(Signature { bytes: signature, signed, has_certificate })
    }

    /// The manifest of the image, where that is the message whose digest a bundle names.
    fn message(&self, digest: &[u8]) -> Result<Manifest, Fault> {
        if !bundle::is_of(digest, self.digest) {
            return Err(Fault::Malformed("its message is not this image".to_owned()));
        }
        self.client.manifest(&self.image()).map_err(fault)
    }

    fn content(&self, layer: &Descriptor, limit: u64) -> Result<Vec<u8>, Fault> {
        let too_large = |size: u64| {
            Fault::TooLarge(format!("`{}` has {size} bytes, and at most {limit} are read", layer.digest))
        };
        if layer.size > limit {
            return Err(too_large(layer.size));
        }
        let bytes = self.client.content(self.repository, layer, limit).map_err(fault)?;
        // From a cache it comes whatever its size.
        let size = bytes.len() as u64;
        if size > limit { Err(too_large(size)) } else { Ok(bytes) }
    }

    fn image(&self) -> Reference {
        self.repository.with_digest(self.digest.clone())
    }

    fn look(&mut self) -> Result<(), Fault> {
        self.looks += 1;
        if self.is_tired() {
            return Err(Fault::TooLarge(format!(
                "only the newest {MAX_LOOKS} of what lies with it are looked at"
            )));
        }
        Ok(())
    }

    fn is_tired(&self) -> bool {
        self.looks > MAX_LOOKS
    }
}

/// The tag that cosign keeps the signatures of a digest under.
pub(crate) fn tag(digest: &Digest) -> String {
    format!("{}-{}.sig", digest.algorithm(), digest.hex())
}

/// Returns true if what is listed may be a signature, by what whoever listed it says.
fn may_be_signature(entry: &Descriptor) -> bool {
    let kind = entry.artifact_type.as_str();
    kind.starts_with(bundle::PREFIX) || [SIGNATURE_ARTIFACT, EMPTY, ""].contains(&kind)
}

/// Returns what an error of the registry's says of a signature. What is listed and not there is not had by asking again.
fn fault(error: Error) -> Fault {
    match error.kind() {
        ErrorKind::Limit => Fault::TooLarge(error.message().to_owned()),
        ErrorKind::ManifestUnknown | ErrorKind::BlobUnknown | ErrorKind::DigestMismatch => {
            Fault::Malformed(error.message().to_owned())
        }
        _ => Fault::Registry(error),
    }
}

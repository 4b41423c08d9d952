//! A Kustomization of Flux.
//!
//! In: an object of `kustomize.toolkit.fluxcd.io`, v1 and before. Out: its fields. Refused: fields of another type than
//! Flux'.

use std::collections::BTreeMap;

use argocd::objects::Object;
use diagnostic::Result;
use yamltree::{Location, Node};

use crate::section::Section;
use crate::source::SourceRef;

/// The group of Kustomizations.
pub const GROUP: &str = "kustomize.toolkit.fluxcd.io";

/// The namespace of Flux and of its objects that do not set one.
pub const FLUX_NAMESPACE: &str = "flux-system";

/// A Kustomization of Flux.
#[derive(Clone, Debug)]
pub struct Kustomization {
    /// Its name.
    pub name: String,
    /// Its namespace.
    pub namespace: String,
    /// The folder in its source.
    pub path: String,
    /// Its source.
    pub source: SourceRef,
    /// Kustomizations that are applied before it, by namespace and name.
    pub depends_on: Vec<(String, String)>,
    /// True if it is left alone.
    pub suspend: bool,
    /// True if objects go that are no longer rendered.
    pub prune: bool,
    /// True if it can read what SOPS has encrypted.
    pub decrypts: bool,
    /// The location of the Kustomization.
    pub place: Option<Location>,
    pub(crate) edits: Edits,
    pub(crate) post_build: Option<PostBuild>,
    pub(crate) labels: BTreeMap<String, String>,
    pub(crate) annotations: BTreeMap<String, String>,
}

/// The edits of the kustomization in its directory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Edits {
    pub(crate) namespace: String,
    pub(crate) name_prefix: String,
    pub(crate) name_suffix: String,
    pub(crate) patches: Vec<Node>,
    pub(crate) patches_strategic_merge: Vec<Node>,
    pub(crate) patches_json6902: Vec<Node>,
    pub(crate) components: Vec<String>,
    pub(crate) ignores_missing_components: bool,
    pub(crate) components_place: Option<Location>,
    pub(crate) images: Vec<Image>,
    pub(crate) build_metadata: Vec<String>,
}

/// A new name, tag or digest for an image.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Image {
    pub(crate) name: String,
    pub(crate) new_name: String,
    pub(crate) new_tag: String,
    pub(crate) digest: String,
}

/// Variables that are put in after the build.
#[derive(Clone, Debug, Default)]
pub(crate) struct PostBuild {
    /// Also where there is no variable at all.
    pub(crate) always: bool,
    pub(crate) variables: BTreeMap<String, String>,
    pub(crate) from: Vec<Reference>,
    pub(crate) place: Option<Location>,
}

/// A ConfigMap or Secret whose data is wanted.
#[derive(Clone, Debug)]
pub(crate) struct Reference {
    pub(crate) kind: String,
    pub(crate) name: String,
    pub(crate) optional: bool,
    pub(crate) place: Option<Location>,
}

/// Returns true if an object is a Kustomization of Flux, and not the file of that name.
#[must_use]
pub fn is_kustomization(object: &Object) -> bool {
    object.group() == GROUP && object.kind() == "Kustomization"
}

impl Kustomization {
    /// Reads a Kustomization.
    ///
    /// # Errors
    /// If it is invalid.
    pub fn read(object: &Object) -> Result<Self> {
        let metadata = Section::of(object, "metadata")?;
        let spec = Section::of(object, "spec")?;
        let name = metadata.required("name")?;
        let namespace = match metadata.text("namespace")? {
            none if none.is_empty() => FLUX_NAMESPACE.to_owned(),
            namespace => namespace,
        };
        let common = spec.section("commonMetadata")?;
        let depends_on = spec.sections("dependsOn")?.into_iter().map(|on| {
            let of = on.text("namespace")?;
            Ok((if of.is_empty() { namespace.clone() } else { of }, on.required("name")?))
        });
        Ok(Self {
            path: spec.text("path")?,
            source: SourceRef::read(&spec.section("sourceRef")?, &namespace)?,
            depends_on: depends_on.collect::<Result<_>>()?,
            suspend: spec.flag("suspend")?,
            prune: spec.flag("prune")?,
            decrypts: spec.section("decryption")?.exists(),
            place: metadata.place("name"),
            edits: Edits::read(&spec)?,
            post_build: PostBuild::read(&spec.section("postBuild")?)?,
            labels: common.map("labels")?,
            annotations: common.map("annotations")?,
            name,
            namespace,
        })
    }

    /// Its namespace and name.
    #[must_use]
    pub fn id(&self) -> (String, String) {
        (self.namespace.clone(), self.name.clone())
    }
}

impl Edits {
    fn read(spec: &Section<'_>) -> Result<Self> {
        Ok(Self {
            namespace: spec.text("targetNamespace")?,
            name_prefix: spec.text("namePrefix")?,
            name_suffix: spec.text("nameSuffix")?,
            patches: patches(spec)?,
            patches_strategic_merge: spec.items("patchesStrategicMerge")?.to_vec(),
            patches_json6902: spec.items("patchesJson6902")?.to_vec(),
            components: spec.texts("components")?,
            ignores_missing_components: spec.flag("ignoreMissingComponents")?,
            components_place: spec.place("components"),
            images: images(spec)?,
            build_metadata: spec.texts("buildMetadata")?,
        })
    }
}

/// Patches with what Flux' type has of them: a text and a target.
pub(crate) fn patches(section: &Section<'_>) -> Result<Vec<Node>> {
    let patch = |patch: Section<'_>| {
        let mut node = Node::mapping(Vec::new());
        node.set("patch", Node::string(&patch.text("patch")?));
        let target = patch.section("target")?;
        if target.exists() {
            let mut selector = Node::mapping(Vec::new());
            for field in
                ["group", "version", "kind", "name", "namespace", "annotationSelector", "labelSelector"]
            {
                let text = target.text(field)?;
                if !text.is_empty() {
                    selector.set(field, Node::string(&text));
                }
            }
            node.set("target", selector);
        }
        Ok(node)
    };
    section.sections("patches")?.into_iter().map(patch).collect()
}

/// Images as Flux' type has them.
pub(crate) fn images(section: &Section<'_>) -> Result<Vec<Image>> {
    let image = |image: Section<'_>| {
        Ok(Image {
            name: image.required("name")?,
            new_name: image.text("newName")?,
            new_tag: image.text("newTag")?,
            digest: image.text("digest")?,
        })
    };
    section.sections("images")?.into_iter().map(image).collect()
}

impl Image {
    /// The image as a kustomization has it.
    pub(crate) fn node(&self) -> Node {
        let mut node = Node::mapping(Vec::new());
        let Self { name, new_name, new_tag, digest } = self;
        for (field, text) in [("name", name), ("newName", new_name), ("newTag", new_tag), ("digest", digest)]
        {
            if !text.is_empty() {
                node.set(field, Node::string(text));
            }
        }
        node
    }
}

impl PostBuild {
    fn read(section: &Section<'_>) -> Result<Option<Self>> {
        if !section.exists() {
            return Ok(None);
        }
        let from = section.sections("substituteFrom")?.into_iter().map(|from| Reference::read(&from));
        Ok(Some(Self {
            always: section.text("substituteStrategy")? == "Always",
            variables: section.map("substitute")?,
            from: from.collect::<Result<_>>()?,
            place: section.place("substitute"),
        }))
    }
}

impl Reference {
    pub(crate) fn read(section: &Section<'_>) -> Result<Self> {
        Ok(Self {
            kind: section.required("kind")?,
            name: section.required("name")?,
            optional: section.flag("optional")?,
            place: section.place("name"),
        })
    }
}

//! `images` and the deprecated `imageTags`, and the plugin `ImageTagTransformer`: renames images and sets their tags.
//!
//! Two passes run for each entry, as in Kustomize: one over every list named `containers` or `initContainers` at any
//! depth, one over the field specifications. So a tag suffix is appended twice to the images of a pod template.

use compact_str::CompactString;
use diagnostic::Result;
use yamltree::{Kind, Node, Span};

use crate::config::FieldSpecs;
use crate::context::Context;
use crate::decode::{self, Object};
use crate::fieldspec::Missing;
use crate::image::{ImagePattern, ImageReference};
use crate::resmap::ResMap;
use crate::resource::{Resource, is_null};
use crate::setter::{expect_scalar, set_scalar};
use crate::target::Target;
use crate::warning::{Code, Warning};

use super::{Builtin, Transformer};

pub(crate) const BUILTIN: Builtin = Builtin { kind: "ImageTagTransformer", from_fields, from_config };

/// All entries of a kustomization at once, so that resources are searched for images once and not for each.
#[derive(Debug)]
struct ImageTagTransformer {
    images: Vec<ImageEntry>,
    specs: FieldSpecs,
}

/// An entry of `images`. What is empty changes nothing.
#[derive(Debug)]
struct ImageEntry {
    name: String,
    pattern: ImagePattern,
    new_name: String,
    new_tag: String,
    digest: String,
    tag_suffix: String,
    span: Span,
}

/// The effects of an entry that cause a warning.
#[derive(Clone, Debug, Default)]
struct Outcome {
    is_matched: bool,
    /// An image to which the tag suffix was appended more than once.
    doubled: Option<CompactString>,
}

/// Which of the two passes finds an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pass {
    Containers,
    FieldSpecs,
}

fn from_fields(target: &Target<'_, '_>) -> Result<Vec<Box<dyn Transformer>>> {
    let mut images = Vec::new();
    for field in ["images", "imageTags"] {
        for node in target.kustomization.items(field)? {
            images.push(ImageEntry::read(Object::new(node, "an entry of images")?, target.cx)?);
        }
    }
    if images.is_empty() {
        return Ok(Vec::new());
    }
    Ok(vec![Box::new(ImageTagTransformer { images, specs: target.config.images.clone() })])
}

fn from_config(node: &Node, target: &Target<'_, '_>) -> Result<Box<dyn Transformer>> {
    let object = Object::plugin(node, "an ImageTagTransformer")?;
    let nothing = Node::null();
    let image = object.field("imageTag").unwrap_or(&nothing);
    let image = ImageEntry::read(Object::read(image, "imageTag", object.reading())?, target.cx)?;
    let specs = FieldSpecs::read(&object, "fieldSpecs", target.cx)?;
    object.close(target.cx)?;
    Ok(Box::new(ImageTagTransformer { images: vec![image], specs }))
}

impl ImageEntry {
    fn read(object: Object<'_>, cx: &Context<'_>) -> Result<Self> {
        let name = object.text("name")?;
        let name_span = object.field("name").map_or(object.span(), |node| node.span);
        let entry = Self {
            pattern: ImagePattern::new(&name).map_err(|error| error.at(name_span))?,
            name,
            new_name: object.text("newName")?,
            new_tag: object.text("newTag")?,
            digest: object.text("digest")?,
            tag_suffix: object.text("tagSuffix")?,
            span: object.span(),
        };
        if !entry.tag_suffix.is_empty() && !entry.appends_suffix() {
            let span = object.field("tagSuffix").map_or(entry.span, |node| node.span);
            cx.warn(Code::Ignored, "`tagSuffix` is ignored beside `newTag` or `digest`", span);
        }
        object.close(cx)?;
        Ok(entry)
    }

    fn appends_suffix(&self) -> bool {
        !self.tag_suffix.is_empty() && self.new_tag.is_empty() && self.digest.is_empty()
    }

    /// Returns what becomes of an image that matches: a new tag or digest replaces both.
    fn changed(&self, image: &str) -> String {
        let mut image = ImageReference::split(image);
        if !self.new_name.is_empty() {
            image.name = &self.new_name;
        }
        let suffixed = format!("{}{}", image.tag, self.tag_suffix);
        if !self.new_tag.is_empty() || !self.digest.is_empty() {
            (image.tag, image.digest) = (&self.new_tag, &self.digest);
        } else if !self.tag_suffix.is_empty() {
            (image.tag, image.digest) = (&suffixed, "");
        }
        image.to_string()
    }

    /// Changes the images of a resource that match.
    fn change(&self, resource: &mut Resource, specs: &FieldSpecs, outcome: &mut Outcome) -> Result<()> {
        let mut written: Vec<String> = Vec::new();
        for_each_image(resource, specs, |pass, node| {
            let old = node.text().unwrap_or_default();
            if !self.pattern.matches(old) {
                return Ok(());
            }
            let again = pass == Pass::FieldSpecs && written.iter().any(|text| text == old);
            let new = self.changed(old);
            if again && self.appends_suffix() {
                outcome.doubled.get_or_insert_with(|| CompactString::from(&new));
            }
            set_scalar(node, &new)?;
            written.push(new);
            Ok(())
        })
    }

    fn warn(&self, outcome: &Outcome, cx: &Context<'_>) {
        if !outcome.is_matched {
            let sentence = format!("no image is named `{}`", self.name);
            cx.push_warning(
                Warning::new(Code::ImageWithoutMatch, sentence)
                    .at(self.span)
                    .hint("the name is everything before the tag, registry and all"),
            );
        }
        if let Some(image) = &outcome.doubled {
            let sentence = format!("the suffix `{}` is appended more than once: `{image}`", self.tag_suffix);
            cx.push_warning(
                Warning::new(Code::TagSuffixTwice, sentence)
                    .at(self.span)
                    .hint("Kustomize does so too; `newTag` sets a tag once"),
            );
        }
    }
}

impl Transformer for ImageTagTransformer {
    fn transform(&self, map: &mut ResMap, cx: &Context<'_>) -> Result<()> {
        let mut outcomes = vec![Outcome::default(); self.images.len()];
        map.modify_each(|resource| self.change(resource, &mut outcomes))?;
        for (image, outcome) in self.images.iter().zip(&outcomes) {
            image.warn(outcome, cx);
        }
        Ok(())
    }

    fn steps(&self) -> usize {
        self.images.len()
    }
}

impl ImageTagTransformer {
    /// Runs the entries in their order; each sees what the ones before it have made.
    fn change(&self, resource: &mut Resource, outcomes: &mut [Outcome]) -> Result<()> {
        let mut present = images(resource, &self.specs)?;
        for (image, outcome) in self.images.iter().zip(outcomes) {
            if present.iter().any(|text| image.pattern.matches(text)) {
                outcome.is_matched = true;
                image.change(resource, &self.specs, outcome)?;
                present = images(resource, &self.specs)?;
            }
        }
        Ok(())
    }
}

/// The images in a resource.
fn images(resource: &mut Resource, specs: &FieldSpecs) -> Result<Vec<CompactString>> {
    let mut images = Vec::new();
    for_each_image(resource, specs, |_, node| {
        images.extend(node.text().map(CompactString::from));
        Ok(())
    })?;
    Ok(images)
}

/// Visits every image of a resource, in both passes. The schema in a CustomResourceDefinition only looks as if it had
/// some.
fn for_each_image(
    resource: &mut Resource,
    specs: &FieldSpecs,
    mut visit: impl FnMut(Pass, &mut Node) -> Result<()>,
) -> Result<()> {
    if resource.kind() == "CustomResourceDefinition" {
        return Ok(());
    }
    for_each_container(&mut resource.node, &mut |node| visit(Pass::Containers, node))
        .map_err(|error| error.at(resource.span()))?;
    specs.apply(resource, Missing::Stays, |node| {
        expect_scalar(node)?;
        visit(Pass::FieldSpecs, node)
    })
}

/// Visits the images of all that looks like a list of containers.
fn for_each_container(node: &mut Node, visit: &mut impl FnMut(&mut Node) -> Result<()>) -> Result<()> {
    match &mut node.kind {
        Kind::Mapping(entries) => entries.iter_mut().try_for_each(|entry| {
            for_each_container(&mut entry.value, visit)?;
            match (entry.key.text(), &mut entry.value.kind) {
                (Some("containers" | "initContainers"), Kind::Sequence(items)) => {
                    items.iter_mut().try_for_each(|item| visit_container(item, visit))
                }
                _ => Ok(()),
            }
        }),
        Kind::Sequence(items) => items.iter_mut().try_for_each(|item| for_each_container(item, visit)),
        Kind::Scalar(_) | Kind::Alias(_) => Ok(()),
    }
}

fn visit_container(container: &mut Node, visit: &mut impl FnMut(&mut Node) -> Result<()>) -> Result<()> {
    if is_null(container) {
        return Ok(());
    }
    if !container.is_mapping() {
        return Err(decode::wrong_type("a container", "a mapping", container));
    }
    let Some(image) = container.get_mut("image") else { return Ok(()) };
    expect_scalar(image)?;
    visit(image)
}

#[cfg(test)]
mod tests {
    use crate::testing::{built, refused, warned};

    const DEPLOYMENT: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  template:\n    \
                              spec:\n      containers:\n      - image: nginx:1.25\n        name: a\n";

    /// The entries stand in a component, so that a warning's place is not that of the build's start.
    fn files<'f>(images: &'f str, resource: &'f str) -> [(&'f str, &'f str); 3] {
        [
            ("kustomization.yaml", "resources: [r.yaml]\ncomponents: [images]\n"),
            ("r.yaml", resource),
            ("images/kustomization.yaml", images),
        ]
    }

    fn component(images: &str) -> String {
        format!("kind: Component\nimages:\n{images}")
    }

    fn with_images(images: &str, resource: &str) -> String {
        built(&files(&component(images), resource))
    }

    #[test]
    fn entries_run_in_order_on_what_the_former_made() {
        let images = "- {name: nginx, newName: reg/web}\n- {name: reg/web, newTag: \"2\"}\n";
        assert_eq!(with_images(images, DEPLOYMENT), DEPLOYMENT.replace("nginx:1.25", "reg/web:2"));
    }

    #[test]
    fn a_digest_takes_the_place_of_a_tag_and_a_tag_that_of_a_digest() {
        let images = "- {name: nginx, digest: sha256:ab}\n";
        let digested = DEPLOYMENT.replace("nginx:1.25", "nginx@sha256:ab");
        assert_eq!(with_images(images, DEPLOYMENT), digested);
        assert_eq!(with_images("- {name: nginx, newTag: v1}\n", &digested), DEPLOYMENT.replace("1.25", "v1"));
        let both = "- {name: nginx, newTag: v1, digest: sha256:cd}\n";
        assert_eq!(with_images(both, &digested), DEPLOYMENT.replace("1.25", "v1@sha256:cd"));
    }

    /// Both passes find the image of a pod template, only the first one that of a list elsewhere.
    #[test]
    fn a_suffix_is_appended_by_each_pass() {
        let images = component("- {name: nginx, tagSuffix: -alpine}\n");
        let output = built(&files(&images, DEPLOYMENT));
        assert_eq!(output, DEPLOYMENT.replace("1.25", "1.25-alpine-alpine"));
        let place = "KUST-W013 images/kustomization.yaml:3:3";
        let sentence = "the suffix `-alpine` is appended more than once: `nginx:1.25-alpine-alpine`";
        assert_eq!(warned(&files(&images, DEPLOYMENT)), [format!("{place} {sentence}")]);

        let elsewhere = "apiVersion: example.com/v1\nkind: Job\nmetadata:\n  name: a\nspec:\n  deep:\n  - containers:\n    \
                         - image: nginx:1\n";
        assert_eq!(built(&files(&images, elsewhere)), elsewhere.replace("nginx:1", "nginx:1-alpine"));
    }

    #[test]
    fn what_matches_nothing_or_has_no_effect_is_worth_a_warning() {
        let images = component("- {name: postgres, newTag: \"1\", tagSuffix: -x}\n");
        let ignored =
            "KUST-W017 images/kustomization.yaml:3:44 `tagSuffix` is ignored beside `newTag` or `digest`";
        let unmatched = "KUST-W011 images/kustomization.yaml:3:3 no image is named `postgres`";
        assert_eq!(warned(&files(&images, DEPLOYMENT)), [ignored, unmatched]);
    }

    #[test]
    fn a_custom_resource_definition_has_no_images() {
        let definition = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: a\n\
                          spec:\n  containers:\n  - image: nginx\n";
        assert_eq!(with_images("- {name: nginx, newTag: v1}\n", definition), definition);
    }

    /// `wrong node kind: expected MappingNode but got ScalarNode`, even where the entry matches nothing.
    #[test]
    fn a_container_must_be_a_mapping() {
        let list = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ncontainers: [b]\n";
        let message = refused(&files(&component("- {name: nginx}\n"), list));
        assert_eq!(message, "r.yaml:5:14: `a container` must be a mapping, not the string `b`");
    }
}

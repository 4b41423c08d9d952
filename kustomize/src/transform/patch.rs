//! `patches`, and the plugin `PatchTransformer`: changes resources by strategic merge patches and JSON patches.
//!
//! A patch is written in place or in a file. Which of the two kinds it is shows in its form. Refused: a patch that is
//! neither, a JSON patch without a target, several strategic merge patches with one.

use diagnostic::{Error, Result};
use yamltree::{Kind, Node, Span};

use crate::context::Context;
use crate::decode::{Located, Object};
use crate::loader::File;
use crate::merge::json6902::JsonPatch;
use crate::read;
use crate::resmap::ResMap;
use crate::selector::Selector;
use crate::target::Target;
use crate::warning::Code;

use super::patched::{Patched, StrategicPatch};
use super::{Builtin, Transformer};

pub(crate) const BUILTIN: Builtin = Builtin { kind: "PatchTransformer", from_fields, from_config };

/// The entries of `patches`, each of which is a step to Kustomize.
struct PatchTransformer {
    entries: Vec<Entry>,
}

struct Entry {
    patch: Patch,
    target: Option<Selector>,
    span: Span,
}

enum Patch {
    /// One for each document.
    Strategic(Vec<StrategicPatch>),
    Json(JsonPatch),
    /// Nothing is written in it.
    Empty,
}

fn from_fields(target: &Target<'_, '_>) -> Result<Vec<Box<dyn Transformer>>> {
    let items = target.kustomization.items("patches")?;
    if items.is_empty() {
        return Ok(Vec::new());
    }
    let entry = |node| Entry::read(Object::new(node, "an entry of patches")?, target);
    let entries = items.iter().map(entry).collect::<Result<_>>()?;
    Ok(vec![Box::new(PatchTransformer { entries })])
}

fn from_config(node: &Node, target: &Target<'_, '_>) -> Result<Box<dyn Transformer>> {
    let entry = Entry::read(Object::plugin(node, "a PatchTransformer")?, target)?;
    Ok(Box::new(PatchTransformer { entries: vec![entry] }))
}

impl Entry {
    fn read(object: Object<'_>, target: &Target<'_, '_>) -> Result<Self> {
        let (cx, span) = (target.cx, object.span());
        let written = source(&object, "patch", target)?;
        let selector = selector(&object, cx)?;
        let options = Options::read(&object, cx)?;
        object.close(cx)?;
        let mut patch = Patch::read(&written, target)?;
        match &mut patch {
            Patch::Strategic(patches) => {
                if let (Some(_), [_, second, ..]) = (&selector, patches.as_slice()) {
                    return Err(Error::invalid("a patch with a `target` can have only one document")
                        .at(second.span())
                        .via("the target is set here", span));
                }
                patches.iter_mut().for_each(|patch| options.prepare(patch, selector.is_some(), cx));
            }
            Patch::Json(_) if options.is_set() => {
                cx.warn(Code::OptionWithoutEffect, "`options` is ignored for a JSON patch", options.span);
            }
            Patch::Json(_) | Patch::Empty => {}
        }
        Ok(Self { patch, target: selector, span })
    }

    fn apply(&self, resources: &mut Patched<'_>, cx: &Context<'_>) -> Result<()> {
        match (&self.patch, &self.target) {
            (Patch::Empty, _) => Ok(()),
            (Patch::Strategic(patches), None) => patches.iter().try_for_each(|patch| {
                let position = resources.target(patch)?;
                resources.merge(position, patch, cx)
            }),
            (Patch::Strategic(patches), Some(target)) => {
                let selected = resources.select(target, cx)?;
                for patch in patches {
                    selected.iter().try_for_each(|position| resources.merge(*position, patch, cx))?;
                }
                resources.refuse_duplicates()
            }
            (Patch::Json(patch), Some(target)) => {
                let selected = resources.select(target, cx)?;
                selected.into_iter().try_for_each(|position| resources.change(position, patch, true, cx))
            }
            (Patch::Json(_), None) => Err(Error::invalid("a JSON patch needs a `target`")
                .at(self.span)
                .hint("say what it is for: `target: {kind: Deployment, name: web}`")),
        }
    }
}

impl Transformer for PatchTransformer {
    fn transform(&self, map: &mut ResMap, cx: &Context<'_>) -> Result<()> {
        let mut resources = Patched::new(map);
        for entry in &self.entries {
            entry.apply(&mut resources, cx).map_err(|error| error.via("patched here", entry.span))?;
        }
        resources.finish();
        Ok(())
    }

    fn steps(&self) -> usize {
        self.entries.len()
    }
}

/// The source of a patch.
pub(super) enum Source {
    Inline(File),
    Path(Located),
}

/// Returns what an object says of where its patch is: in `path`, or in place.
pub(super) fn source(object: &Object<'_>, field: &'static str, target: &Target<'_, '_>) -> Result<Source> {
    let path = object.text("path")?;
    let inline = object.text(field)?;
    let node = object.field(field).filter(|_| !inline.trim().is_empty());
    match (path.is_empty(), node) {
        (true, Some(node)) => Ok(Source::Inline(trimmed(node, &inline, target.cx))),
        (false, None) => {
            let span = object.field("path").map_or(object.span(), |node| node.span);
            Ok(Source::Path(Located { text: path, span }))
        }
        (true, None) => {
            let sentence = format!("a patch needs a `path` or a `{field}`");
            Err(Error::invalid(sentence).at(object.span()))
        }
        (false, Some(node)) => {
            let sentence = format!("a patch has a `path` or a `{field}`, not both");
            Err(Error::invalid(sentence).at(node.span))
        }
    }
}

/// A text in place, without the white space around it.
fn trimmed(node: &Node, text: &str, cx: &Context<'_>) -> File {
    let mut scalar = node.clone();
    scalar.kind = Kind::Scalar(text.trim().into());
    let nowhere = || File { source: Span::NONE.source, text: text.trim().into() };
    cx.inline(&scalar).unwrap_or_else(nowhere)
}

/// The target of a patch, when it has one.
pub(super) fn selector(object: &Object<'_>, cx: &Context<'_>) -> Result<Option<Selector>> {
    let read = |node| Selector::read(node, "the target of a patch", object.reading(), cx);
    object.field("target").map(read).transpose()
}

impl Patch {
    fn read(written: &Source, target: &Target<'_, '_>) -> Result<Self> {
        let cx = target.cx;
        let (file, documents) = match written {
            Source::Inline(file) => (file.clone(), read::resources(&file.text, file.source)),
            Source::Path(path) => {
                let file = target.loader.text(path, cx)?;
                (file, target.loader.resources(path, cx).map(|kept| (*kept).clone()))
            }
        };
        let strategic = match documents {
            Ok(kept) if kept.nodes.is_empty() => return Ok(Self::Empty),
            Ok(kept) => {
                let schema = cx.schema();
                let patches = kept.nodes.iter().map(|node| StrategicPatch::new(node, &schema)).collect();
                return Ok(Self::Strategic(patches));
            }
            Err(error) => error,
        };
        match JsonPatch::parse(&file) {
            Ok(patch) => Ok(Self::Json(patch)),
            Err(error) => {
                let is_list = file.text.trim_start().starts_with(['[', '-']);
                let wanted =
                    "a patch must be resources with the fields to change, or a list of JSON patch operations";
                Err(if is_list { error } else { strategic }.hint(wanted))
            }
        }
    }
}

/// The parts of a resource's identity that a strategic merge patch may change.
struct Options {
    may_rename: bool,
    may_change_kind: bool,
    span: Span,
}

impl Options {
    fn read(object: &Object<'_>, cx: &Context<'_>) -> Result<Self> {
        let Some(node) = object.field("options") else {
            return Ok(Self { may_rename: false, may_change_kind: false, span: Span::NONE });
        };
        let options = Object::read(node, "the options of a patch", object.reading())?;
        let read = Self {
            may_rename: options.flag("allowNameChange")?,
            may_change_kind: options.flag("allowKindChange")?,
            span: options.span(),
        };
        options.close(cx)?;
        Ok(read)
    }

    fn is_set(&self) -> bool {
        self.may_rename || self.may_change_kind
    }

    fn prepare(&self, patch: &mut StrategicPatch, has_target: bool, cx: &Context<'_>) {
        (patch.may_rename, patch.may_change_kind) = (self.may_rename, self.may_change_kind);
        if has_target {
            patch.stringify("labels", cx);
        }
        if has_target || self.is_set() {
            patch.stringify("annotations", cx);
        }
    }
}

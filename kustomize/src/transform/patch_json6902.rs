//! `patchesJson6902`, and the plugin `PatchJson6902Transformer`: JSON patches for the resources that a target selects.
//!
//! Refused: an entry without a target or without its name, and a patch without operations.

use diagnostic::{Error, Result};
use yamltree::{Node, Span};

use crate::context::Context;
use crate::decode::Object;
use crate::merge::json6902::JsonPatch;
use crate::resmap::ResMap;
use crate::selector::Selector;
use crate::target::Target;

use super::patch::{Source, selector, source};
use super::patched::Patched;
use super::{Builtin, Transformer};

pub(crate) const BUILTIN: Builtin = Builtin { kind: "PatchJson6902Transformer", from_fields, from_config };

struct PatchJson6902Transformer {
    patch: JsonPatch,
    target: Selector,
    span: Span,
}

fn from_fields(target: &Target<'_, '_>) -> Result<Vec<Box<dyn Transformer>>> {
    let mut transformers: Vec<Box<dyn Transformer>> = Vec::new();
    for node in target.kustomization.items("patchesJson6902")? {
        let object = Object::new(node, "an entry of patchesJson6902")?;
        // An entry is read as one of `patches`, whose options have no meaning here.
        object.field("options");
        transformers.push(Box::new(read(object, "patch", target)?));
    }
    Ok(transformers)
}

fn from_config(node: &Node, target: &Target<'_, '_>) -> Result<Box<dyn Transformer>> {
    Ok(Box::new(read(Object::plugin(node, "a PatchJson6902Transformer")?, "jsonOp", target)?))
}

fn read(
    object: Object<'_>,
    field: &'static str,
    target: &Target<'_, '_>,
) -> Result<PatchJson6902Transformer> {
    let span = object.span();
    let Some(selector) = selector(&object, target.cx)? else {
        return Err(Error::invalid("a JSON patch needs a `target`").at(span));
    };
    if !selector.has_name() {
        return Err(Error::invalid("the target of a JSON patch needs a `name` here")
            .at(selector.span())
            .hint("`patches` takes any target"));
    }
    let file = match source(&object, field, target)? {
        Source::Inline(file) => file,
        Source::Path(path) => target.loader.text(&path, target.cx)?,
    };
    object.close(target.cx)?;
    let patch = JsonPatch::parse(&file)?;
    if patch.is_empty() {
        return Err(Error::invalid("the patch is empty").at(span));
    }
    Ok(PatchJson6902Transformer { patch, target: selector, span })
}

impl Transformer for PatchJson6902Transformer {
    fn transform(&self, map: &mut ResMap, cx: &Context<'_>) -> Result<()> {
        let mut resources = Patched::new(map);
        let via = |error: Error| error.via("patched here", self.span);
        let selected = resources.select(&self.target, cx).map_err(via)?;
        selected
            .into_iter()
            .try_for_each(|position| resources.change(position, &self.patch, false, cx))
            .map_err(via)
    }
}

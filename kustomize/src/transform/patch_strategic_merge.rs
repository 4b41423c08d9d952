//! `patchesStrategicMerge`, and the plugin `PatchStrategicMergeTransformer`: strategic merge patches, each for the
//! resource that has its id.
//!
//! An entry is the path of a file or, as ever, the patch itself. Refused: patches without content, and one for a
//! resource that does not exist.

use diagnostic::{Error, Result};
use yamltree::{Node, Span};

use crate::context::Context;
use crate::decode::{Located, Object};
use crate::read;
use crate::resmap::ResMap;
use crate::target::Target;

use super::patched::{Patched, StrategicPatch};
use super::{Builtin, Transformer};

pub(crate) const BUILTIN: Builtin =
    Builtin { kind: "PatchStrategicMergeTransformer", from_fields, from_config };

struct PatchStrategicMergeTransformer {
    patches: Vec<StrategicPatch>,
}

fn from_fields(target: &Target<'_, '_>) -> Result<Vec<Box<dyn Transformer>>> {
    let entries = target.kustomization.items("patchesStrategicMerge")?;
    let Some(first) = entries.first() else { return Ok(Vec::new()) };
    let mut transformer = PatchStrategicMergeTransformer { patches: Vec::new() };
    for entry in entries {
        let path = Located::of(entry, "patchesStrategicMerge")?;
        transformer.add(entry, &path, target)?;
    }
    transformer.refuse_empty(first.span)?;
    Ok(vec![Box::new(transformer)])
}

fn from_config(node: &Node, target: &Target<'_, '_>) -> Result<Box<dyn Transformer>> {
    let object = Object::plugin(node, "a PatchStrategicMergeTransformer")?;
    let mut transformer = PatchStrategicMergeTransformer { patches: Vec::new() };
    let paths = object.strings("paths")?;
    for (entry, path) in object.items("paths")?.iter().zip(&paths) {
        transformer.add(entry, path, target)?;
    }
    let inline = object.text("patches")?;
    if let Some(node) = object.field("patches").filter(|_| !inline.is_empty()) {
        transformer.add_inline(node, target).transpose()?;
    } else if paths.is_empty() {
        return Err(
            Error::invalid("a PatchStrategicMergeTransformer needs `paths` or `patches`").at(object.span())
        );
    }
    transformer.refuse_empty(object.span())?;
    object.close(target.cx)?;
    Ok(Box::new(transformer))
}

impl PatchStrategicMergeTransformer {
    /// Adds the patches that an entry holds, or that are in the file that it names.
    fn add(&mut self, entry: &Node, path: &Located, target: &Target<'_, '_>) -> Result<()> {
        if let Some(Ok(())) = self.add_inline(entry, target) {
            return Ok(());
        }
        if path.text.trim_end().contains('\n')
            && let Some(Err(error)) = self.add_inline(entry, target)
        {
            return Err(error);
        }
        let kept =
            target.loader.resources(path, target.cx).map_err(|error| error.via("named here", path.span))?;
        self.take(&kept.nodes, target.cx);
        Ok(())
    }

    /// Adds the patches in a text. `None` where the entry is no text.
    fn add_inline(&mut self, entry: &Node, target: &Target<'_, '_>) -> Option<Result<()>> {
        let file = target.cx.inline(entry)?;
        Some(read::resources(&file.text, file.source).map(|kept| self.take(&kept.nodes, target.cx)))
    }

    fn take(&mut self, nodes: &[Node], cx: &Context<'_>) {
        let schema = cx.schema();
        for node in nodes {
            let mut patch = StrategicPatch::new(node, &schema);
            patch.stringify("labels", cx);
            patch.stringify("annotations", cx);
            self.patches.push(patch);
        }
    }

    fn refuse_empty(&self, span: Span) -> Result<()> {
        if self.patches.is_empty() { Err(Error::invalid("the patches are empty").at(span)) } else { Ok(()) }
    }
}

impl Transformer for PatchStrategicMergeTransformer {
    fn transform(&self, map: &mut ResMap, cx: &Context<'_>) -> Result<()> {
        let mut resources = Patched::new(map);
        for patch in &self.patches {
            let position = resources.target(patch)?;
            resources.merge(position, patch, cx)?;
            resources.refuse_duplicates()?;
        }
        resources.finish();
        Ok(())
    }
}

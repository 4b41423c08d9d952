//! `configMapGenerator`: ConfigMaps from literals, files and environment files.

use std::sync::Arc;

use diagnostic::Result;
use yamltree::{Entry, Node};

use super::args::{self, GeneratorArgs};
use super::base64;
use super::{Builtin, Generator};
use crate::context::Context;
use crate::loader::Loader;
use crate::resource::Resource;
use crate::target::Target;

pub(crate) const BUILTIN: Builtin = Builtin { kind: "ConfigMapGenerator", from_fields, from_config };

struct ConfigMapGenerator {
    args: GeneratorArgs,
    loader: Arc<Loader>,
}

fn from_fields(target: &Target<'_, '_>) -> Result<Vec<Box<dyn Generator>>> {
    let entries = target.kustomization.items("configMapGenerator")?;
    let generator = |entry| {
        let (args, ()) =
            GeneratorArgs::from_entry(entry, "an entry of configMapGenerator", target, |_| Ok(()))?;
        Ok(boxed(args, target))
    };
    entries.iter().map(generator).collect()
}

fn from_config(config: &Node, target: &Target<'_, '_>) -> Result<Box<dyn Generator>> {
    let (args, ()) = GeneratorArgs::from_config(config, "a ConfigMapGenerator", target, |_| Ok(()))?;
    Ok(boxed(args, target))
}

fn boxed(args: GeneratorArgs, target: &Target<'_, '_>) -> Box<dyn Generator> {
    Box::new(ConfigMapGenerator { args, loader: Arc::clone(target.loader) })
}

impl Generator for ConfigMapGenerator {
    fn generate(&self, cx: &Context<'_>) -> Result<Vec<Resource>> {
        let mut node = self.args.base("ConfigMap")?;
        let (mut data, mut binary_data) = (Vec::new(), Vec::new());
        for (key, value) in self.args.sources.load(&self.loader, cx)? {
            match std::str::from_utf8(&value.bytes) {
                Ok(text) => data.push(args::entry(&key, text, value.span)),
                Err(_) => binary_data.push(args::entry(&key, &base64::encode(&value.bytes), value.span)),
            }
        }
        set(&mut node, "data", data);
        set(&mut node, "binaryData", binary_data);
        Ok(vec![self.args.resource(node, cx)])
    }
}

fn set(node: &mut Node, field: &str, entries: Vec<Entry>) {
    if !entries.is_empty() {
        node.set(field, Node::mapping(entries));
    }
}

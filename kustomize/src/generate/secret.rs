//! `secretGenerator`: Secrets from literals, files and environment files, all of it in base64.

use std::sync::Arc;

use diagnostic::Result;
use yamltree::Node;

use super::args::{self, GeneratorArgs};
use super::base64;
use super::{Builtin, Generator};
use crate::context::Context;
use crate::decode::Object;
use crate::loader::Loader;
use crate::resource::Resource;
use crate::target::Target;

pub(crate) const BUILTIN: Builtin = Builtin { kind: "SecretGenerator", from_fields, from_config };

struct SecretGenerator {
    args: GeneratorArgs,
    secret_type: String,
    loader: Arc<Loader>,
}

fn from_fields(target: &Target<'_, '_>) -> Result<Vec<Box<dyn Generator>>> {
    let entries = target.kustomization.items("secretGenerator")?;
    let generator = |entry| {
        let read = GeneratorArgs::from_entry(entry, "an entry of secretGenerator", target, secret_type)?;
        Ok(boxed(read, target))
    };
    entries.iter().map(generator).collect()
}

fn from_config(config: &Node, target: &Target<'_, '_>) -> Result<Box<dyn Generator>> {
    let read = GeneratorArgs::from_config(config, "a SecretGenerator", target, secret_type)?;
    Ok(boxed(read, target))
}

fn secret_type(object: &Object<'_>) -> Result<String> {
    object.text("type")
}

fn boxed((args, secret_type): (GeneratorArgs, String), target: &Target<'_, '_>) -> Box<dyn Generator> {
    Box::new(SecretGenerator { args, secret_type, loader: Arc::clone(target.loader) })
}

impl Generator for SecretGenerator {
    fn generate(&self, cx: &Context<'_>) -> Result<Vec<Resource>> {
        let mut node = self.args.base("Secret")?;
        let secret_type = if self.secret_type.is_empty() { "Opaque" } else { &self.secret_type };
        node.set("type", Node::string(secret_type).at(self.args.span));
        let data = self.args.sources.load(&self.loader, cx)?;
        let entry = |(key, value): (String, super::sources::Value)| {
            args::entry(&key, &base64::encode(&value.bytes), value.span)
        };
        // Unlike a ConfigMap's, a Secret's data is there even when it is empty.
        node.set("data", Node::mapping(data.into_iter().map(entry).collect()));
        Ok(vec![self.args.resource(node, cx)])
    }
}

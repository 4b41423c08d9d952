//! Generators, transformers and validators that a kustomization configures by resources: built in by kind, functions
//! by their annotation.

use diagnostic::{Error, ErrorKind, Result};
use yamltree::Node;

use crate::context::Context;
use crate::decode::closest;
use crate::function::{self, FunctionPlugin};
use crate::generate::{self, Generator};
use crate::read;
use crate::resmap::ResMap;
use crate::resource::Resource;
use crate::target::Target;
use crate::transform::{self, Transformer};

/// The apiVersion by which a configuration names what is built in.
const BUILTIN: &str = "builtin";
/// A validator may leave this label; it does not count as a change.
const VALIDATED_BY: &str = "validated-by";

/// The resources that an entry holds in place; `None` where it is a path.
pub(crate) fn inline(entry: &Node, cx: &Context<'_>) -> Option<Result<Vec<Resource>>> {
    let text = entry.text()?;
    // A path is one line and no mapping. What spans lines is meant as content, so its faults are reported as such.
    let is_content = text.trim_end().contains('\n') || text.trim_start().starts_with('{');
    if !is_content && !text.contains(": ") {
        return None;
    }
    let file = cx.inline(entry)?;
    let schema = cx.schema();
    let resources = read::resources(&file.text, file.source)
        .map(|kept| kept.nodes.into_iter().map(|node| Resource::new(node, &schema)).collect());
    Some(resources)
}

/// The generator that a resource configures.
pub(crate) fn generator(configuration: &Resource, target: &Target<'_, '_>) -> Result<Box<dyn Generator>> {
    if is_builtin(configuration) {
        let known = generate::BUILTINS.iter().find(|builtin| builtin.kind == configuration.kind());
        return match known {
            Some(builtin) => (builtin.from_config)(&configuration.node, target),
            None => Err(unknown(
                configuration,
                "generator",
                generate::BUILTINS.iter().map(|builtin| builtin.kind),
            )),
        };
    }
    Ok(Box::new(external(configuration, target)?))
}

/// The transformer or validator that a resource configures.
pub(crate) fn transformer(configuration: &Resource, target: &Target<'_, '_>) -> Result<Box<dyn Transformer>> {
    if is_builtin(configuration) {
        let known = transform::BUILTINS.iter().find(|builtin| builtin.kind == configuration.kind());
        return match known {
            Some(builtin) => (builtin.from_config)(&configuration.node, target),
            None => Err(unknown(
                configuration,
                "transformer",
                transform::BUILTINS.iter().map(|builtin| builtin.kind),
            )),
        };
    }
    Ok(Box::new(external(configuration, target)?))
}

/// Runs a validator, which must leave the resources as they are.
pub(crate) fn validate(validator: &dyn Transformer, map: &mut ResMap, cx: &Context<'_>) -> Result<()> {
    let before = comparable(map);
    validator.transform(map, cx)?;
    if comparable(map) == before {
        return Ok(());
    }
    Err(Error::invalid("the validator changed the resources").hint("a validator may only read them"))
}

/// The resources' texts, without the label that a validator may leave, in an order of their own.
fn comparable(map: &ResMap) -> Vec<String> {
    let text = |resource: &Resource| {
        let mut node = resource.node.clone();
        if let Some(labels) = node.get_mut("metadata").and_then(|metadata| metadata.get_mut("labels"))
            && labels.remove(VALIDATED_BY).is_some()
            && labels.entries().is_some_and(Vec::is_empty)
            && let Some(metadata) = node.get_mut("metadata")
        {
            metadata.remove("labels");
        }
        let mut text = String::new();
        match yamltree::to_sigs_yaml(&node, &mut text) {
            Ok(()) => text,
            Err(error) => error.to_string(),
        }
    };
    let mut texts: Vec<String> = map.iter().map(text).collect();
    texts.sort_unstable();
    texts
}

fn is_builtin(configuration: &Resource) -> bool {
    configuration.gvk().group.is_empty() && configuration.gvk().version == BUILTIN
}

/// A plugin that is not built in, which the command line must allow.
fn external(configuration: &Resource, target: &Target<'_, '_>) -> Result<FunctionPlugin> {
    let span = configuration.span();
    if !target.cx.options.enable_alpha_plugins {
        let sentence =
            format!("{} is an external plugin, which is not enabled", configuration.id().described());
        return Err(Error::new(ErrorKind::Denied, sentence).at(span).hint("pass --enable-alpha-plugins"));
    }
    match function::specification(configuration)? {
        Some(specification) => FunctionPlugin::new(specification, configuration, target),
        None => {
            let sentence = format!("no plugin is known for {}", configuration.id().described());
            Err(Error::new(ErrorKind::Unsupported, sentence).at(span).hint(
                "name the program in the annotation `config.kubernetes.io/function` (`exec: {path: …}`); \
                 plugins from a plugin folder are not supported",
            ))
        }
    }
}

fn unknown<'a>(configuration: &Resource, role: &str, kinds: impl Iterator<Item = &'a str>) -> Error {
    let kind = configuration.kind();
    let span = configuration.node.get("kind").map_or(configuration.span(), |node| node.span);
    let error = Error::invalid(format!("unknown built-in {role} `{kind}`")).at(span);
    match closest(kind, kinds) {
        Some(meant) => error.hint(format!("did you mean `{meant}`?")),
        None => error,
    }
}

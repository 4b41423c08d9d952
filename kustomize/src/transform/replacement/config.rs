//! The configuration of replacements: the entries of `replacements` in a kustomization, a file or a plugin's
//! configuration.
//!
//! It refuses what Go's decoder refuses, entries without a source or a target, patterns that are no patterns, and paths
//! with too many parts.

use diagnostic::{Error, Result};
use yamltree::{Node, Span};

use super::path::FieldPath;
use super::select::SourceId;
use crate::context::Context;
use crate::decode::{Located, Object, Reading, wrong_type};
use crate::selector::Selector;
use crate::target::Target;
use crate::warning::{Code, Warning};

/// The field that is meant where none is named.
const DEFAULT_PATH: &str = "metadata.name";

/// One value and the places that it goes to.
pub(super) struct Replacement {
    pub(super) source: Source,
    pub(super) targets: Vec<TargetSelector>,
}

/// The source of the value.
pub(super) enum Source {
    /// It stands in the configuration.
    Value(Located),
    /// It is a field of a resource.
    Field(SourceField),
}

/// A field of a resource, or a part of it.
pub(super) struct SourceField {
    pub(super) id: SourceId,
    pub(super) path: Located,
    pub(super) options: FieldOptions,
    pub(super) span: Span,
}

/// Fields of resources.
pub(super) struct TargetSelector {
    pub(super) select: Selector,
    pub(super) reject: Vec<Selector>,
    pub(super) paths: Vec<FieldPath>,
    pub(super) options: FieldOptions,
    pub(super) span: Span,
}

/// The options of a field.
#[derive(Clone, Debug, Default)]
pub(super) struct FieldOptions {
    /// The delimiter, if only a part of the string is used; else empty.
    pub(super) delimiter: String,
    /// Which part.
    pub(super) index: i64,
    /// True if a missing field is made.
    pub(super) create: bool,
    pub(super) span: Span,
}

/// The replacements that a kustomization's field asks for.
pub(super) fn from_entries(
    entries: &[Node],
    reading: Reading,
    target: &Target<'_, '_>,
) -> Result<Vec<Replacement>> {
    let mut replacements = Vec::with_capacity(entries.len());
    for entry in entries {
        let object = Object::read(entry, "a replacement", reading)?;
        let path = object.string("path")?.filter(|path| !path.is_empty());
        let Some(path) = path else {
            replacements.push(replacement(object, target.cx)?);
            continue;
        };
        for field in ["source", "targets"] {
            if let Some(node) =
                object.field(field).filter(|node| node.items().is_none_or(|items| !items.is_empty()))
            {
                let sentence = format!("`path` and `{field}` exclude each other in a replacement");
                return Err(Error::invalid(sentence).at(node.span));
            }
        }
        if let Some(value) = object.field("sourceValue") {
            target.cx.warn(Code::Ignored, "`sourceValue` is ignored beside `path`", value.span);
        }
        let span = object.field("path").map_or(entry.span, |node| node.span);
        object.close(target.cx)?;
        replacements.extend(from_file(&Located { text: path, span }, target)?);
    }
    Ok(replacements)
}

/// The replacements in a file, which holds one or a list.
fn from_file(path: &Located, target: &Target<'_, '_>) -> Result<Vec<Replacement>> {
    let documents = target.loader.documents(path, target.cx)?;
    let via = |error: Error| error.via("included here", path.span);
    let Some(root) = documents.first().map(|document| &document.root) else {
        return Err(Error::invalid(format!("`{}` holds no replacement", path.text)).at(path.span));
    };
    let read = |node| {
        let object = Object::read(node, "a replacement", Reading::LENIENT)?;
        replacement(object, target.cx)
    };
    match root.items() {
        Some(items) => items.iter().map(read).collect::<Result<_>>().map_err(via),
        None if root.is_mapping() => Ok(vec![read(root).map_err(via)?]),
        None => Err(via(wrong_type("a file of replacements", "a list or a mapping", root))),
    }
}

fn replacement(object: Object<'_>, cx: &Context<'_>) -> Result<Replacement> {
    let span = object.span();
    let reading = object.reading();
    let value = object.string("sourceValue")?;
    let source = match (object.field("source"), value) {
        (Some(source), None) => Source::Field(source_field(source, reading, cx)?),
        (None, Some(text)) => {
            let span = object.field("sourceValue").map_or(span, |node| node.span);
            Source::Value(Located { text, span })
        }
        (Some(source), Some(_)) => {
            let sentence = "`source` and `sourceValue` exclude each other in a replacement";
            return Err(Error::invalid(sentence).at(source.span));
        }
        (None, None) => {
            let error = Error::invalid("the replacement lacks a source").at(span);
            return Err(error.hint("add `source` or `sourceValue`"));
        }
    };
    let targets = object.items("targets")?;
    // An empty list passes where it is not written in a kustomization, as Kustomize drops it there.
    if object.field("targets").is_none() || (targets.is_empty() && reading == Reading::KUSTOMIZATION) {
        return Err(Error::invalid("the replacement lacks targets").at(span).hint("add `targets`"));
    }
    let targets = targets.iter().map(|node| target_selector(node, reading, cx)).collect::<Result<_>>()?;
    object.close(cx)?;
    Ok(Replacement { source, targets })
}

fn source_field(node: &Node, reading: Reading, cx: &Context<'_>) -> Result<SourceField> {
    let object = Object::read(node, "the source of a replacement", reading)?;
    let source = SourceField {
        id: SourceId::decode(&object)?,
        path: path_of(&object)?,
        options: field_options(&object, cx)?,
        span: node.span,
    };
    if source.options.create {
        ineffective("create", "the source of a replacement", source.options.span, cx);
    }
    object.close(cx)?;
    Ok(source)
}

fn path_of(object: &Object<'_>) -> Result<Located> {
    let text = object.text("fieldPath")?;
    let span = object.field("fieldPath").map_or(object.span(), |node| node.span);
    Ok(Located { text: if text.is_empty() { DEFAULT_PATH.to_owned() } else { text }, span })
}

fn target_selector(node: &Node, reading: Reading, cx: &Context<'_>) -> Result<TargetSelector> {
    let object = Object::read(node, "a target of a replacement", reading)?;
    let Some(select) = object.field("select") else {
        let error = Error::invalid("the target of the replacement selects nothing").at(node.span);
        return Err(error.hint("add `select`: `select: {kind: Deployment, name: web}`"));
    };
    let selector = |node| Selector::read(node, "a selector", reading, cx);
    let select = selector(select)?;
    let reject = object.items("reject")?.iter().map(selector).collect::<Result<_>>()?;
    let mut paths = object.strings("fieldPaths")?;
    if paths.is_empty() {
        paths.push(Located { text: DEFAULT_PATH.to_owned(), span: node.span });
    }
    let target = TargetSelector {
        select,
        reject,
        paths: paths.iter().map(FieldPath::new).collect::<Result<_>>()?,
        options: field_options(&object, cx)?,
        span: node.span,
    };
    object.close(cx)?;
    Ok(target)
}

fn field_options(object: &Object<'_>, cx: &Context<'_>) -> Result<FieldOptions> {
    let Some(node) = object.field("options") else { return Ok(FieldOptions::default()) };
    let object = Object::read(node, "the options of a replacement", object.reading())?;
    let options = FieldOptions {
        delimiter: object.text("delimiter")?,
        index: object.integer("index")?.unwrap_or_default(),
        create: object.flag("create")?,
        span: node.span,
    };
    if !object.text("encoding")?.is_empty() {
        ineffective("encoding", "a replacement", node.span, cx);
    }
    if options.index != 0 && options.delimiter.is_empty() {
        ineffective("index", "a replacement without a `delimiter`", node.span, cx);
    }
    object.close(cx)?;
    Ok(options)
}

fn ineffective(option: &str, of: &str, span: Span, cx: &Context<'_>) {
    let message = format!("the option `{option}` of {of} is ignored");
    cx.push_warning(Warning::new(Code::OptionWithoutEffect, message).at(span));
}

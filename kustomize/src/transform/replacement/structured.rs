//! A field inside a text that is YAML or JSON itself: the text is read, changed and written back as Kustomize does,
//! YAML as kyaml prints it and JSON with sorted keys, indented when the old text was.

use diagnostic::{Error, Result};
use yamltree::{
    Dialect, Document, EmitOptions, JsonOptions, Node, ParseOptions, parse_first, to_json, to_kyaml,
};

use super::comments::{self, OLD_TEXT};
use super::path::{FieldPath, Part, Walk};
use crate::dotted;
use crate::resource::is_null;

/// Follows a path that leads through one text; returns how many fields were changed, none where there is no such text
/// or no such field in it.
pub(super) fn replace(root: &mut Node, path: &FieldPath, walk: &mut Walk<'_>) -> usize {
    for split in 1..path.names.len() {
        let Some(scalar) = dotted::lookup_mut(root, &path.names[..split]) else { return 0 };
        if scalar.is_scalar() {
            return if is_null(scalar) { 0 } else { edit(scalar, &path.parts[split..], walk).unwrap_or(0) };
        }
    }
    0
}

/// Follows a path on into a scalar's text and writes the text anew; returns how many fields were changed.
pub(super) fn edit(scalar: &mut Node, parts: &[Part], walk: &mut Walk<'_>) -> Result<usize> {
    let text = scalar.text().unwrap_or_default();
    let options = ParseOptions { dialect: Dialect::V3, comments: true, ..ParseOptions::default() };
    let document =
        parse_first(text, OLD_TEXT, &options).map_err(|error| Error::from(error).moved_to(scalar.span))?;
    let Some(mut document) = document else {
        return Err(Error::invalid("the string is empty, so it has no fields"));
    };
    let found = walk.follow(&mut document.root, parts)?;
    if found > 0 {
        match written(&document, text) {
            Ok((written, lost)) => {
                if lost > 0 {
                    walk.notes.push(format!("{lost} comments inside brackets are lost from the text"));
                }
                *scalar = Node::string(&written).at(scalar.span);
            }
            // Kustomize notices as well, and then changes a copy that it throws away.
            Err(error) => {
                walk.notes.push(format!("the text that holds the field stays as it is: {}", error.message()));
            }
        }
    }
    Ok(found)
}

/// The changed text in the form of the old one, and how many comments it lost.
fn written(document: &Document, old: &str) -> Result<(String, usize)> {
    let mut text = String::new();
    if old.trim_start().starts_with(['{', '[']) {
        let indent = (old.contains('\n') && old.contains("  ")).then_some(2);
        to_json(&document.root, JsonOptions { indent, ..JsonOptions::KYAML }, &mut text)?;
        return Ok((text, 0));
    }
    to_kyaml(&document.root, EmitOptions::KYAML, &mut text);
    let (text, lost) = comments::restored(old, &document.comments, &document.root, &text);
    Ok((text.trim().to_owned(), lost))
}

//! Failures of templates in Helm's layout, with the places that Helm leaves to be guessed.

use std::fmt::Write as _;

use diagnostic::{Error, ErrorKind};
use gotemplate::Error as GoError;
use yamltree::Location;

use super::{Plan, missing};
use crate::funcs::FAILURE;
use crate::options::Options;
use crate::version::HelmVersion;

/// A file that is no template.
pub(super) fn parse(error: &GoError, plan: &Plan<'_>) -> Error {
    let text = error.to_string();
    let parts: Vec<&str> = text.split(": ").collect();
    let message = match parts[..] {
        [_, location, .., reason] => format!("parse error at ({location}): {reason}"),
        [_, reason] => format!("parse error at ({reason}): {reason}"),
        _ => text,
    };
    located(Error::invalid(message), error, plan)
}

/// A template that failed.
pub(super) fn execute(error: &GoError, plan: &Plan<'_>, options: &Options<'_>) -> Error {
    let kind = match error.kind() {
        gotemplate::ErrorKind::Limit => ErrorKind::Limit,
        _ => ErrorKind::Invalid,
    };
    // Helm 3 knows no blocks.
    let blocks = || if options.version == HelmVersion::V3 { None } else { tree(error) };
    let message = author(error).or_else(blocks).unwrap_or_else(|| error.to_string());
    let located = located(Error::new(kind, message), error, plan);
    match missing::explain(error, plan) {
        Some(hint) => located.hint(hint),
        None => located,
    }
}

/// Returns what the chart's author has to say, at the place of the outermost template.
fn author(error: &GoError) -> Option<String> {
    if error.mark() != Some(FAILURE) {
        return None;
    }
    let text = chain(error).last()?.function_error()?.text();
    let place = error.place()?;
    Some(format!("execution error at ({}): {text}", location(place)))
}

fn location(place: &gotemplate::Place) -> String {
    let mut text = format!("{}:{}", place.file, place.line);
    if let Some(column) = place.column {
        let _ = write!(text, ":{column}");
    }
    text
}

/// The errors from the outermost template to the innermost.
fn chain(error: &GoError) -> impl Iterator<Item = &GoError> {
    std::iter::successors(Some(error), |error| error.function_error()?.template_error())
}

/// A block for each template in the chain. There is none where a function said something else: Helm takes the blocks
/// from the text of each error, and a text that is no template's makes it print the whole chain on one line.
fn tree(error: &GoError) -> Option<String> {
    let mut blocks: Vec<Block> = Vec::new();
    for error in chain(error) {
        let block = Block::of(&own_text(error))?;
        if blocks.last() != Some(&block) {
            blocks.push(block);
        }
        if let Some(called) = error.function_error() {
            let words = called.text();
            if called.template_error().is_none() {
                blocks.push(Block::of(words)?);
            } else if !words.is_empty() {
                return None;
            }
        }
    }
    let text: String = blocks.iter().map(Block::to_string).collect();
    Some(text.trim().to_owned())
}

/// The text of an error, with no more of those within it than their first word: that is as far as Helm looks.
fn own_text(error: &GoError) -> String {
    let mut text = String::new();
    if let Some(place) = error.place() {
        let _ = write!(text, "template: {place}: ");
    }
    text.push_str(error.reason());
    if let Some(called) = error.function_error() {
        let _ = write!(text, ": {}", called.text());
        if called.template_error().is_some() {
            text.push_str("template: ");
        }
    }
    text
}

/// A block of one error's text.
#[derive(Debug, Default, PartialEq, Eq)]
struct Block {
    location: String,
    executing: String,
    message: String,
}

impl Block {
    fn of(text: &str) -> Option<Self> {
        let rest = text.strip_prefix("template: ")?;
        if rest.starts_with("no template ") {
            return Some(Self { message: text.to_owned(), ..Self::default() });
        }
        if let Some(block) = Self::executing(rest) {
            return Some(block);
        }
        let (location, message) = rest.rsplit_once(": ")?;
        Some(Self { location: location.to_owned(), message: before_next(message), ..Self::default() })
    }

    fn executing(rest: &str) -> Option<Self> {
        let (location, after) = rest.split_once(": executing ")?;
        let (name, after) = after.strip_prefix('"')?.split_once('"')?;
        let (context, message) = after.strip_prefix(" at <")?.split_once(">: ")?;
        Some(Self {
            location: location.to_owned(),
            executing: format!("executing \"{name}\" at <{context}>:"),
            message: before_next(message),
        })
    }
}

/// A message without that of the template within.
fn before_next(message: &str) -> String {
    message.split_once(" template:").map_or(message, |(own, _)| own).to_owned()
}

impl std::fmt::Display for Block {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (text, end) in [(&self.location, "\n  "), (&self.executing, "\n    "), (&self.message, "\n")] {
            if !text.is_empty() {
                write!(f, "{text}{end}")?;
            }
        }
        Ok(())
    }
}

/// Says where it is: the innermost place that is in a file, and on the way out of it those that led there.
fn located(error: Error, cause: &GoError, plan: &Plan<'_>) -> Error {
    let places: Vec<Location> = chain(cause).filter_map(|cause| place(cause, plan)).collect();
    let mut places = places.into_iter().rev();
    let error = error.at(places.next());
    places.take(MOST_STEPS).fold(error, |error, place| error.via("called here", Some(place)))
}

/// Maximum number of calls that are told of a template that calls itself.
const MOST_STEPS: usize = 16;

fn place(cause: &GoError, plan: &Plan<'_>) -> Option<Location> {
    let place = cause.place()?;
    let context = place.executing.as_ref().map_or("", |executing| executing.context.as_str());
    let start = plan.start_of(&place.file, place.offset, context).unwrap_or(place.offset);
    plan.place(&place.file, start, context.len().max(1))
}

//! Which values of a chart a line of its templates uses, and where each was set.
//!
//! In: a place in a template, and what the chart was rendered with. Out: the line, and the `.Values…` in it and in the
//! named templates that it includes. What a template computes of values is not followed: it is the line that is told.

use std::sync::Arc;

use argocd::objects::Object;
use helm_lite::Chart;
use helm_lite::values::Change;
use yamltree::{Location, Node, Source, Span};

use super::application;
use crate::chart;
use crate::chart::places::Inputs;

/// Named templates are followed so deep.
const MAX_DEPTH: usize = 4;

/// A line tells of no more values.
const MAX_VALUES: usize = 32;

/// A line of a template.
#[derive(Debug)]
pub(crate) struct Line {
    /// The line, without blanks around.
    pub(crate) text: String,
    /// The values that are used.
    pub(crate) values: Vec<Value>,
}

/// A value that a template uses.
#[derive(Debug)]
pub(crate) struct Value {
    /// As in the template: `.Values.image.tag`.
    pub(crate) expression: String,
    /// The named template that uses it, where it is not the line itself.
    pub(crate) through: Option<Location>,
    /// The places that gave it, the one that counts last.
    pub(crate) changes: Vec<Change>,
}

/// The entry of a kustomization that inflates a chart.
pub(super) struct Inflation<'i> {
    /// The entry of `helmCharts`.
    pub(super) entry: &'i Node,
    /// The directory of the kustomization as the user would write it; empty for the working directory.
    pub(super) folder: &'i str,
    /// Locates its spans.
    pub(super) place: &'i dyn Fn(Span) -> Option<Location>,
}

/// Returns what is known of the line at a place in a template.
pub(super) fn line(
    place: &Location,
    inputs: &Inputs,
    inflation: Option<&Inflation<'_>>,
    applications: &[Object],
) -> Line {
    let text = line_at(&place.source.text, place.span.start as usize);
    let mut uses = Uses { chart: &inputs.chart, root: &inputs.root.name, found: Vec::new() };
    uses.add(text, None, 0);
    uses.found.truncate(MAX_VALUES);
    let way = way(&place.source.name, &inputs.root.name);
    let value = |(path, through): (String, Option<Location>)| {
        let asked = way.iter().map(|name| format!("{name}.")).chain([path.clone()]).collect::<String>();
        let explained = chart::explain_rendered(inputs, &asked);
        let mut changes = explained.map(|explanation| explanation.changes).unwrap_or_default();
        settle(&mut changes, &asked, inputs, inflation);
        for change in &mut changes {
            let path = change.path.as_deref().unwrap_or(&asked);
            let given_in = change.place.as_ref().map_or("", |place| place.source.name.as_str());
            if let Some(place) = application::place(applications, given_in, path) {
                change.place = Some(place);
            }
        }
        Value { expression: format!(".Values.{path}"), through, changes }
    };
    Line {
        text: text.trim().to_owned(),
        values: std::mem::take(&mut uses.found).into_iter().map(value).collect(),
    }
}

/// The line around an offset.
fn line_at(text: &str, offset: usize) -> &str {
    let start = text[..offset.min(text.len())].rfind('\n').map_or(0, |at| at + 1);
    text[start..].lines().next().unwrap_or_default()
}

/// The names of the charts in charts that lead to a template.
fn way<'n>(template: &'n str, root: &str) -> Vec<&'n str> {
    let mut rest = template.strip_prefix(root).map_or(template, |rest| rest.trim_start_matches('/'));
    let mut way = Vec::new();
    while let Some((name, inner)) = rest.strip_prefix("charts/").and_then(|rest| rest.split_once('/')) {
        way.push(name);
        rest = inner;
    }
    way
}

/// Brings the places of values into the form in which a person finds them.
fn settle(changes: &mut Vec<Change>, asked: &str, inputs: &Inputs, inflation: Option<&Inflation<'_>>) {
    // A kustomization hands the chart's own values over once more.
    let mut own: Option<(Arc<str>, u32)> = None;
    changes.retain(|change| {
        let found = change.place.as_ref().map(|place| (Arc::clone(&place.source.text), place.span.start));
        let is_again = inflation.is_some() && found.is_some() && found == own;
        own = found;
        !is_again
    });
    let mut before: Option<String> = None;
    changes.retain_mut(|change| {
        let is_kept = match inflation {
            Some(inflation) => inflation.settle(change, asked, inputs, before.as_deref()),
            None => true,
        };
        rename(change, inputs);
        before = Some(change.value.clone());
        is_kept
    });
}

impl Inflation<'_> {
    /// The values of an entry are merged with a file's before the chart gets them, and then have no lines of their own.
    /// Gives back whether there is something to say of the place.
    fn settle(&self, change: &mut Change, asked: &str, inputs: &Inputs, before: Option<&str>) -> bool {
        let Some(place) = &mut change.place else { return true };
        let name = &place.source.name;
        if !inputs.given.files.contains(name) {
            return true;
        }
        if let (Some(inline), true) =
            (self.entry.get("valuesInline"), inputs.given.files.first() == Some(name))
        {
            let path = change.path.as_deref().unwrap_or(asked);
            let found = path.split('.').try_fold(inline, |node, key| node.get(key));
            change.place = found.and_then(|node| (self.place)(node.span));
            return change.place.is_some() || before != Some(change.value.as_str());
        }
        if !self.folder.is_empty() {
            let name = format!("{}/{name}", self.folder);
            place.source = Arc::new(Source { name, text: Arc::clone(&place.source.text) });
        }
        true
    }
}

/// The engine names a chart's files after the chart or by its whole path, a person by the path from where they are.
fn rename(change: &mut Change, inputs: &Inputs) {
    let Some(place) = &mut change.place else { return };
    let name = &place.source.name;
    if inputs.given.files.contains(name) {
        return;
    }
    let path = inputs.root.path.to_string_lossy();
    let within = |folder: &str| name.strip_prefix(folder)?.strip_prefix('/');
    if let Some(inner) = within(&path).or_else(|| within(&inputs.chart.metadata.name)) {
        let name = format!("{}/{inner}", inputs.root.name);
        place.source = Arc::new(Source { name, text: Arc::clone(&place.source.text) });
    }
}

/// The values that are used, with the named template that uses them.
struct Uses<'c> {
    chart: &'c Chart,
    root: &'c str,
    found: Vec<(String, Option<Location>)>,
}

impl Uses<'_> {
    fn add(&mut self, text: &str, through: Option<&Location>, depth: usize) {
        for path in value_paths(text) {
            if self.found.len() < MAX_VALUES && !self.found.iter().any(|(known, _)| *known == path) {
                self.found.push((path, through.cloned()));
            }
        }
        if depth == MAX_DEPTH {
            return;
        }
        for name in included(text) {
            if let Some((body, place)) = defined(self.chart, self.root, name) {
                self.add(&body, Some(&place), depth + 1);
            }
        }
    }
}

/// The paths behind `.Values` in a text.
fn value_paths(text: &str) -> Vec<String> {
    let is_of_name = |char: char| char.is_alphanumeric() || char == '_';
    let mut paths = Vec::new();
    for (at, start) in text.match_indices(".Values.") {
        let rest = &text[at + start.len()..];
        let end = rest.find(|char| !is_of_name(char) && char != '.').unwrap_or(rest.len());
        let path = rest[..end].trim_end_matches('.');
        if !path.is_empty() && !paths.iter().any(|known| known == path) {
            paths.push(path.to_owned());
        }
    }
    paths
}

/// The names of the templates that a text includes.
fn included(text: &str) -> Vec<&str> {
    let named = |word: &str| {
        text.match_indices(word)
            .filter_map(|(at, _)| {
                let name = text[at + word.len()..].trim_start().strip_prefix('"')?;
                Some(&name[..name.find('"')?])
            })
            .collect::<Vec<&str>>()
    };
    [named("include"), named("template")].concat()
}

/// The body of a named template, and where it is defined.
fn defined(chart: &Chart, root: &str, name: &str) -> Option<(String, Location)> {
    let start = format!("define \"{name}\"");
    for file in &chart.templates {
        let Ok(text) = std::str::from_utf8(&file.data) else { continue };
        let Some(at) = text.find(&start) else { continue };
        let body = &text[at + start.len()..];
        let body = &body[..body.find("define \"").unwrap_or(body.len())];
        let source = Arc::new(Source { name: format!("{root}/{}", file.name), text: text.into() });
        let offset = u32::try_from(at).ok()?;
        let span = Span { source: 0, start: offset, end: offset };
        return Some((body.to_owned(), Location { source, span }));
    }
    let inner = |child: &Chart| defined(child, &format!("{root}/charts/{}", child.metadata.name), name);
    chart.dependencies.iter().find_map(inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_and_named_templates_are_found_in_a_line() {
        let line = r#"image: "{{ .Values.image.repository }}:{{ $.Values.image.tag | default .Chart.AppVersion }}" {{- .Values.a.}}"#;
        assert_eq!(value_paths(line), ["image.repository", "image.tag", "a"]);
        assert_eq!(
            included(r#"{{ include "web.name" . }} {{ template  "x" }} {{ include .name . }}"#),
            ["web.name", "x"]
        );
        assert!(value_paths("{{ .Values }}").is_empty());
    }

    #[test]
    fn charts_in_charts_lead_to_their_part_of_the_values() {
        assert_eq!(way("c/web/charts/db/charts/x/templates/a.yaml", "c/web"), ["db", "x"]);
        assert!(way("c/web/templates/charts/a.yaml", "c/web").is_empty());
    }
}

//! `values.schema.json`: whether a chart's values, and those of the charts in it, are what their schemas ask for.
//!
//! In: a chart and its coalesced values. Out: nothing, or Helm's message, with the places where the values were set.
//! JSON Schema from draft 4 to 2020-12, as Go's `santhosh-tekuri/jsonschema` has it, whose words are kept. Nothing is
//! fetched: schemas that refer to others elsewhere are refused.

mod check;
mod compile;
mod draft;
mod equal;
mod format;
mod registry;
#[cfg(test)]
mod tests;
mod url;
mod validate;
mod violation;

use std::fmt::Write as _;

use diagnostic::{Error, ErrorKind, Result};
use yamltree::{Location, Span};

use self::compile::compile;
use self::registry::{Fault, Registry};
use self::violation::Violation;
use crate::chart::Chart;
use crate::json::NodeId;
use crate::sources::Sources;
use crate::values::{Data, Item, Table, UserValues, sources};
use crate::warning::{Code, Warning};

/// The address under which Helm knows a chart's schema.
const URL: &str = "file:///values.schema.json";

/// Validates values against the schemas of a chart and of the charts in it.
///
/// # Errors
/// In Helm's words, when a value violates a schema or a schema is none.
pub(crate) fn validate_values(
    chart: &Chart,
    values: &Table,
    user: &UserValues,
    warnings: &mut Vec<Warning>,
) -> Result<()> {
    let mut report = Report { text: String::new(), kind: ErrorKind::Invalid, found: Vec::new() };
    report.chart(chart, values, warnings);
    if report.text.is_empty() { Ok(()) } else { Err(report.error(chart, user)) }
}

/// Returns what is wrong with values by one schema, in Helm's words.
pub(crate) fn violations(schema: &[u8], values: &Table) -> Option<String> {
    match validate_one(schema, values, &mut Vec::new()) {
        Ok(()) => None,
        Err(Refusal::Schema(fault, _)) => Some(fault),
        Err(Refusal::TooMuch) => Some("validation takes too many steps or leads too deep".to_owned()),
        Err(Refusal::Values(violations)) => {
            Some(format!("{}\n", violation::list(&violations).trim_start_matches('\n')))
        }
    }
}

/// The violations in the values of charts.
struct Report {
    text: String,
    kind: ErrorKind,
    found: Vec<(String, Where)>,
}

/// The location of a violation.
enum Where {
    /// With a value.
    Value(Span),
    /// In a schema.
    Schema(Option<Location>),
}

impl Report {
    fn chart(&mut self, chart: &Chart, values: &Table, warnings: &mut Vec<Warning>) {
        let name = &chart.metadata.name;
        if let Some(schema) = &chart.schema {
            match validate_one(schema, values, warnings) {
                Ok(()) => {}
                Err(Refusal::Schema(fault, place)) => {
                    let _ = write!(self.text, "{name}:\n{fault}");
                    self.found.push((fault, Where::Schema(place)));
                }
                Err(Refusal::TooMuch) => {
                    self.kind = ErrorKind::Limit;
                    let fault = "validation takes too many steps or leads too deep";
                    let _ = writeln!(self.text, "{name}:\n{fault}");
                    self.found.push((fault.to_owned(), Where::Schema(None)));
                }
                Err(Refusal::Values(violations)) => {
                    let _ = writeln!(self.text, "{name}:{}", violation::list(&violations));
                    self.add_values(values, &violations);
                }
            }
        }
        for child in &chart.dependencies {
            let child_name = &child.metadata.name;
            match values.get(child_name).map(|item| &item.data) {
                None | Some(Data::Null) => {}
                Some(Data::Table(section)) => self.chart(child, section, warnings),
                Some(other) => {
                    let ty = other.type_name();
                    let fault = format!("invalid type for values: expected object (map), got {ty}");
                    let _ = writeln!(self.text, "{child_name}:\n{fault}");
                }
            }
        }
    }

    fn add_values(&mut self, values: &Table, violations: &[Violation]) {
        let mut leaves = Vec::new();
        violations.iter().for_each(|violation| violation.leaves(&mut leaves));
        let items = leaves.into_iter().map(|leaf| (leaf.sentence(), Where::Value(span(values, &leaf.path))));
        self.found.extend(items);
    }

    /// The error, at the first value that is wrong, with the others behind it.
    fn error(self, chart: &Chart, user: &UserValues) -> Error {
        let header = "values don't meet the specifications of the schema(s) in the following chart(s):";
        let sources = sources(chart, user);
        let place = |place: Where, sources: &Sources| match place {
            Where::Value(span) => sources.place(span),
            Where::Schema(place) => place,
        };
        let placed = self.found.into_iter().map(|(text, at)| (text, place(at, &sources)));
        let mut placed = placed.filter(|(_, place)| place.is_some());
        let mut error = Error::new(self.kind, format!("{header}\n{}", self.text));
        error = error.at(placed.next().and_then(|(_, place)| place));
        placed.fold(error, |error, (text, place)| error.via(text, place))
    }
}

/// Returns where the value at a path was set, or the innermost one around it that was.
fn span(values: &Table, path: &[String]) -> Span {
    let mut found = Span::NONE;
    let mut at = Some(Data::Table(values.clone()));
    for token in path {
        let item: Option<Item> = match at {
            Some(Data::Table(table)) => table.get(token).cloned(),
            Some(Data::List(items)) => {
                token.parse::<usize>().ok().and_then(|index| items.get(index).cloned())
            }
            _ => None,
        };
        if let Some(item) = item.as_ref().filter(|item| item.span.is_some()) {
            found = item.span;
        }
        at = item.map(|item| item.data);
    }
    found
}

/// Why values were not found to be good.
enum Refusal {
    Values(Vec<Violation>),
    /// The schema is none: why, and where.
    Schema(String, Option<Location>),
    TooMuch,
}

fn validate_one(schema: &[u8], values: &Table, warnings: &mut Vec<Warning>) -> Result<(), Refusal> {
    let text = String::from_utf8_lossy(schema);
    let mut registry = Registry::default();
    let Some(root) = registry.json.read_all(&text) else {
        return Err(Refusal::Schema(json_fault(&text), None));
    };
    let refusal = |fault: Fault, registry: &Registry<'_>| {
        let place = fault.node.map(|node| place(&text, registry, node));
        Refusal::Schema(fault.message, place)
    };
    if let Err(fault) = registry.add(URL, root) {
        return Err(refusal(fault, &registry));
    }
    check_doubtful(&registry, root).map_err(|fault| refusal(fault, &registry))?;
    let schemas = match compile(&mut registry, root, false) {
        Ok(schemas) => schemas,
        Err(fault) => return Err(refusal(fault, &registry)),
    };
    for urn in &registry.unresolved {
        let message =
            format!("the schema refers to `{urn}`, of which nothing is known; it allows everything");
        warnings.push(Warning::new(Code::Ignored, message));
    }
    validate::validate(&registry, &schemas, &Data::Table(values.clone())).map_err(|violations| {
        if violations.is_empty() { Refusal::TooMuch } else { Refusal::Values(violations) }
    })
}

/// Validates the schema itself where there is a doubt about it.
fn check_doubtful(registry: &Registry<'_>, root: NodeId) -> Result<(), Fault> {
    let Some(doubtful) = registry.doubtful.first() else { return Ok(()) };
    let draft = registry.resource(root).draft;
    let meta = draft.url();
    let mut registry_of_meta = Registry::default();
    let meta_root = registry_of_meta.load(meta)?;
    let schemas = compile(&mut registry_of_meta, meta_root, true)?;
    let Some(item) = Item::from_json(&registry.json, root, 0) else { return Ok(()) };
    let Err(violations) = validate::validate(&registry_of_meta, &schemas, &item.data) else { return Ok(()) };
    let message = format!(
        "\"{URL}#\" is not valid against metaschema: jsonschema validation failed with '{meta}#'{}",
        violation::list(&violations)
    );
    Err(Fault { message, node: Some(*doubtful) })
}

/// Returns what Go says of a text that is no JSON.
fn json_fault(text: &str) -> String {
    match gotemplate::json::decode(text.as_bytes()) {
        _ if text.trim_ascii().is_empty() => "EOF".to_owned(),
        Ok(_) => "the schema is nested too deeply".to_owned(),
        Err(error) if error == "unexpected end of JSON input" => "unexpected EOF".to_owned(),
        Err(error) if error.ends_with(" after top-level value") => {
            "invalid character after top-level value".to_owned()
        }
        Err(error) => error,
    }
}

fn place(text: &str, registry: &Registry<'_>, node: NodeId) -> Location {
    let mut sources = Sources::default();
    let source = sources.add("values.schema.json", text);
    let place = registry.json.place(node);
    let span = Span { source, start: place.start, end: place.end };
    sources.place(span).unwrap_or_else(|| unreachable!("it was just added"))
}

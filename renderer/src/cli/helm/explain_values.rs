//! `renderer helm explain-values`: every place that set, replaced or erased a value, the one that counts last.

use std::fmt::Write as _;

use clap::{Args, ValueEnum};
use diagnostic::{Error, ErrorKind, Result};
use helm_lite::HelmVersion;
use helm_lite::values::{Change, Explanation};
use yamltree::push_json_string;

use super::source::{AccessFlags, HomeFlags, SourceFlags};
use super::values::ValueFlags;
use crate::chart;
use crate::output;
use crate::report::Reporter;

pub(super) const EXAMPLES: &str = "\
Examples:
  # where the image's tag comes from
  renderer helm explain-values charts/web image.tag -f envs/prod.yaml

  # a value of a sub-chart, and an item of a list
  renderer helm explain-values charts/web db.auth.users[0]

  # of a chart in a registry
  renderer helm explain-values oci://registry.example.com/charts/web image.tag

  # for a machine
  renderer helm explain-values charts/web image.tag -o json";

/// A value longer than this is cut.
const MAX_SHOWN: usize = 60;

#[derive(Args, Debug)]
#[command(mut_args = super::flags::go_switch)]
pub(in crate::cli) struct Arguments {
    /// The chart: a folder, an archive, or as for `helm pull`
    chart: String,

    /// The value, as for `--set`: `image.tag`
    path: String,

    #[command(flatten)]
    values: ValueFlags,

    #[command(flatten)]
    source: SourceFlags,

    #[command(flatten)]
    access: AccessFlags,

    #[command(flatten)]
    home: HomeFlags,

    /// The generation of helm whose rules count
    #[arg(long, value_name = "3|4", default_value = "4", value_parser = ["3", "4"])]
    helm_version: String,

    /// Output format
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    output: Format,

    /// Leave out warnings
    #[arg(short, long)]
    quiet: bool,
}

#[derive(ValueEnum, Clone, Copy, Debug)]
enum Format {
    Text,
    Json,
}

pub(super) fn run(arguments: &Arguments, reporter: &mut Reporter) -> Result<()> {
    reporter.set_quiet(arguments.quiet);
    let version = if arguments.helm_version == "3" { HelmVersion::V3 } else { HelmVersion::V4 };
    let Arguments { chart, source, access, home, .. } = arguments;
    let chart = source.locate(chart, access, home, reporter)?;
    let explanation = chart::explain(&chart, &arguments.values.given(), &arguments.path, version)?;
    reporter.warnings(&explanation.warnings);
    if explanation.changes.is_empty() {
        let path = &arguments.path;
        return Err(Error::new(ErrorKind::Invalid, format!("nothing gives the value `{path}`")));
    }
    output::to_stdout(&match arguments.output {
        Format::Text => text(&explanation),
        Format::Json => json(&explanation),
    })
}

/// A line for each place: where it is, what it does and what it gives.
fn text(explanation: &Explanation) -> String {
    let places: Vec<String> = explanation.changes.iter().map(place).collect();
    let width = places.iter().map(|place| place.chars().count()).max().unwrap_or_default();
    let mut text = String::new();
    for (change, place) in explanation.changes.iter().zip(&places) {
        let effect = change.effect.as_str();
        let _ = write!(text, "{place:width$}  {effect:8}  {}", shown(&change.value));
        if let Some(path) = &change.path {
            let _ = write!(text, "  (at {path})");
        }
        text.push('\n');
    }
    text
}

/// An object with the value in the end and what each place does.
fn json(explanation: &Explanation) -> String {
    let mut text =
        format!("{{\n  \"value\": {},\n  \"changes\": [", explanation.value.as_deref().unwrap_or("null"));
    for (index, change) in explanation.changes.iter().enumerate() {
        text.push_str(if index == 0 { "\n    {" } else { ",\n    {" });
        let place = change.place.as_ref().map(|place| (place, place.source.line_column(place.span.start)));
        if let Some((place, (line, column))) = place {
            text.push_str("\"file\": ");
            push_json_string(&mut text, &place.source.name, false);
            let _ = write!(text, ", \"line\": {line}, \"column\": {column}, ");
        }
        let _ = write!(text, "\"effect\": \"{}\", \"value\": {}", change.effect.as_str(), change.value);
        if let Some(path) = &change.path {
            text.push_str(", \"path\": ");
            push_json_string(&mut text, path, false);
        }
        text.push('}');
    }
    text.push_str("\n  ]\n}\n");
    text
}

fn place(change: &Change) -> String {
    change.place.as_ref().map_or_else(
        || "-".to_owned(),
        |place| format!("{}:{}", place.source.name, place.source.line_column(place.span.start).0),
    )
}

fn shown(value: &str) -> String {
    match value.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("{}…", &value[..end]),
        None => value.to_owned(),
    }
}

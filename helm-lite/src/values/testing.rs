//! Values as one line of JSON, for tests.

use yamltree::{JsonOptions, JsonWriter, Scalar, Sink, Span};

use super::merge::{Options, UserValues, ValuesFile, merge};
use super::table::{Data, Table};
use crate::chart::Chart;
use crate::sources::Sources;
use crate::version::HelmVersion;

pub(crate) fn json(data: &Data) -> String {
    let mut out = String::new();
    write(data, &mut JsonWriter::new(&mut out, JsonOptions { escape_html: false, ..JsonOptions::SIGS }));
    out
}

pub(crate) fn table_json(table: &Table) -> String {
    json(&Data::Table(table.clone()))
}

/// A chart with values and charts in it.
pub(crate) fn chart(name: &str, values: &str, dependencies: Vec<Chart>) -> Chart {
    let mut chart = Chart { dependencies, ..Chart::default() };
    chart.metadata.name = name.to_owned();
    chart.metadata.version = "0.1.0".to_owned();
    let file = format!("{name}/values.yaml");
    let loaded = super::load(values.as_bytes(), &file, HelmVersion::V4, &mut chart.sources, &mut Vec::new());
    chart.values = loaded.expect("values");
    chart
}

/// Returns what a user gives in a file.
pub(crate) fn user(values: &str) -> UserValues {
    let files = [ValuesFile { name: "user.yaml", data: values.as_bytes() }];
    let options = Options { files: &files, ..Options::default() };
    merge(&options, HelmVersion::V4).expect("values")
}

/// The values of a file.
pub(crate) fn parsed(text: &str) -> Table {
    super::load(text.as_bytes(), "values.yaml", HelmVersion::V4, &mut Sources::default(), &mut Vec::new())
        .expect("values")
}

fn write(data: &Data, writer: &mut JsonWriter<'_>) {
    let scalar = match data {
        Data::Table(table) => {
            writer.mapping_start(table.is_empty());
            for (key, item) in table.iter() {
                writer.key(key, Span::NONE).expect("a key");
                write(&item.data, writer);
            }
            return writer.mapping_end();
        }
        Data::List(items) => {
            writer.sequence_start(items.is_empty());
            items.iter().for_each(|item| write(&item.data, writer));
            return writer.sequence_end();
        }
        Data::Null => Scalar::Null,
        Data::Bool(value) => Scalar::Bool(*value),
        Data::Int(value) => Scalar::Int(*value),
        Data::Float(value) => Scalar::Float(*value),
        Data::Str(text) => Scalar::Str(text.as_str().into()),
        Data::Bytes(bytes) => Scalar::Str(String::from_utf8_lossy(bytes)),
    };
    writer.value(&scalar, Span::NONE).expect("a value");
}

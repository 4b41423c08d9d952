//! Values as one line of JSON, for tests.

use yamltree::{JsonOptions, JsonWriter, Scalar, Sink, Span};

use super::table::Data;

pub(crate) fn json(data: &Data) -> String {
    let mut out = String::new();
    write(data, &mut JsonWriter::new(&mut out, JsonOptions { escape_html: false, ..JsonOptions::SIGS }));
    out
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

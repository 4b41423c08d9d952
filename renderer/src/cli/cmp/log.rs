//! One line for each request, on standard error: for people, or as JSON.

use std::time::Duration;

use clap::ValueEnum;
use cmp::{Cached, Record};
use gitremote::redact;
use serde_json::{Map, Value};

/// How requests are logged.
#[derive(ValueEnum, Clone, Copy, Debug)]
pub(super) enum LogFormat {
    Text,
    Json,
}

/// A field of a line, and what it says.
type Field = (&'static str, Value);

/// The line of a request.
pub(super) fn line(record: &Record, format: LogFormat) -> String {
    match format {
        LogFormat::Text => text(record),
        LogFormat::Json => {
            let fields = fields(record).into_iter().map(|(name, value)| (name.to_owned(), value));
            format!("{}\n", Value::Object(fields.collect::<Map<_, _>>()))
        }
    }
}

fn text(record: &Record) -> String {
    let mut line = String::new();
    for (name, value) in fields(record) {
        if !line.is_empty() {
            line.push(' ');
        }
        let value = match &value {
            // What has a blank or a line break in it is quoted.
            Value::String(text) if !text.is_empty() && text.chars().all(is_plain) => text.clone(),
            value => value.to_string(),
        };
        line.push_str(&format!("{name}={value}"));
    }
    line.push('\n');
    line
}

fn is_plain(character: char) -> bool {
    !character.is_whitespace() && !character.is_control() && !matches!(character, '"' | '=')
}

fn fields(record: &Record) -> Vec<Field> {
    let milliseconds = |time: Duration| Value::from((time.as_secs_f64() * 1e5).round() / 100.0);
    let cached = |cached: Option<Cached>| cached.map_or("none", Cached::as_str).into();
    let mut fields = vec![
        ("method", record.method.into()),
        ("application", record.application.clone().unwrap_or_default().into()),
        ("path", record.path.clone().into()),
        ("code", format!("{:?}", record.code).into()),
        ("tree", cached(record.tree)),
        ("result", cached(record.result)),
        ("received", record.received_bytes.into()),
        ("files", record.files.into()),
        ("manifests", record.manifests.into()),
        ("sent", record.sent_bytes.into()),
        ("receiving_ms", milliseconds(record.receiving)),
        ("serving_ms", milliseconds(record.serving)),
        ("checksum", record.checksum.chars().take(12).collect::<String>().into()),
    ];
    fields.extend(record.message.as_deref().map(|message| ("message", redact(message).into_owned().into())));
    fields
}

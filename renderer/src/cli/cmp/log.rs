//! One line for each request, on standard error: for people, or as JSON.

use std::time::Duration;

use clap::ValueEnum;
use cmp_server::{Cached, Record};
use diagnostic::redact;
use serde_json::{Map, Value};

/// The log format.
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

#[cfg(test)]
mod tests {
    use cmp_server::Code;

    use super::*;

    fn record() -> Record {
        Record {
            method: "GenerateManifest",
            application: Some("web".to_owned()),
            path: "apps/my web".to_owned(),
            checksum: "0123456789abcdef".to_owned(),
            tree: Some(Cached::Hit),
            result: None,
            received_bytes: 10,
            files: 2,
            manifests: 0,
            sent_bytes: 0,
            receiving: Duration::from_micros(1234),
            serving: Duration::from_millis(20),
            code: Code::InvalidArgument,
            message: Some("a.yaml:1:1: cannot fetch `https://me:hunter2@host/r`\nforged=line".to_owned()),
        }
    }

    #[test]
    fn a_request_is_one_line_without_secrets() {
        let want = "method=GenerateManifest application=web path=\"apps/my web\" code=InvalidArgument tree=hit result=none \
                    received=10 files=2 manifests=0 sent=0 receiving_ms=1.23 serving_ms=20.0 checksum=0123456789ab \
                    message=\"a.yaml:1:1: cannot fetch `https://";
        let line = line(&record(), LogFormat::Text);
        assert!(line.starts_with(want), "{line}");
        assert!(line.ends_with("\\nforged=line\"\n") && line.lines().count() == 1, "{line}");
        assert!(!line.contains("hunter2"), "{line}");
    }

    #[test]
    fn a_request_is_an_object_of_json() {
        let line = line(&record(), LogFormat::Json);
        let read: Value = serde_json::from_str(&line).unwrap();
        assert_eq!((&read["path"], &read["receiving_ms"]), (&"apps/my web".into(), &1.23.into()));
        assert_eq!(line.lines().count(), 1);
    }
}

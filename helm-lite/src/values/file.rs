//! A values file: bytes to a table.
//!
//! Read as `sigs.k8s.io/yaml` does: by YAML 1.1, through JSON, so that every key is a string and every number a float.
//! Helm 4 merges all documents of a file, Helm 3 sees the first. Refused is what the real one refuses, in its words.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use compact_str::CompactString;
use diagnostic::{Error, ErrorKind, Result};
use yamltree::{
    Dialect, Document, DuplicateKeys, Expansion, ParseOptions, Scalar, Sink, SourceId, Span, decode,
    parse_first, send_values,
};

use super::merge::merge_tables;
use super::table::{Data, Entry, Item, Table};
use crate::sources::Sources;
use crate::version::HelmVersion;
use crate::warning::{Code, Warning};

/// Reads a values file. The caller says in front of an error which file it is, as Helm does.
///
/// # Errors
/// If it is no YAML, or no mapping.
pub fn load(
    data: &[u8],
    name: &str,
    version: HelmVersion,
    sources: &mut Sources,
    warnings: &mut Vec<Warning>,
) -> Result<Table> {
    let documents = documents(data, name, version, sources, warnings)?;
    Ok(documents.into_iter().reduce(|base, over| merge_tables(&base, &over)).unwrap_or_default())
}

/// The tables of a values file's documents.
pub(super) fn documents(
    data: &[u8],
    name: &str,
    version: HelmVersion,
    sources: &mut Sources,
    warnings: &mut Vec<Warning>,
) -> Result<Vec<Table>> {
    let text = decode(data, 0).unwrap_or_else(|_| String::from_utf8_lossy(data));
    let source = sources.add(name, text);
    let mut reader = Reader { source, sources, warnings };
    match version {
        HelmVersion::V3 => Ok(vec![reader.document(data, 0)?]),
        HelmVersion::V4 => {
            let (chunks, fault) = split(data);
            if let Some((message, at)) = fault {
                let start = u32::try_from(at).unwrap_or(u32::MAX);
                let place = reader.sources.place(Span { source, start, end: start.saturating_add(3) });
                return Err(Error::invalid(message).prefix("error reading yaml document").at(place));
            }
            let read = |chunk: Range<usize>| {
                let start = chunk.start;
                let mut bytes = Cow::Borrowed(&data[chunk]);
                if !bytes.ends_with(b"\n") {
                    bytes.to_mut().push(b'\n');
                }
                reader.document(&bytes, start).map_err(|error| error.prefix("cannot unmarshal yaml document"))
            };
            chunks.into_iter().map(read).collect()
        }
    }
}

/// The documents of a file as Kubernetes' reader of lines finds them: a line that begins with `---` ends one unless it
/// is the first, when it is a part of it. After them, what is wrong with the next one and where.
pub(crate) fn split(data: &[u8]) -> (Vec<Range<usize>>, Option<(String, usize)>) {
    let mut chunks = Vec::new();
    let (mut start, mut at) = (0, 0);
    for line in data.split_inclusive(|byte| *byte == b'\n') {
        let line_start = at;
        at += line.len();
        let Some(rest) = line.strip_prefix(b"---") else { continue };
        let rest = String::from_utf8_lossy(rest);
        let rest = rest.trim();
        if !rest.is_empty() && !rest.starts_with('#') {
            return (chunks, Some((format!("invalid Yaml document separator: {rest}"), line_start)));
        }
        if line_start > start {
            chunks.push(start..line_start);
            start = at;
        }
    }
    if at > start {
        chunks.push(start..at);
    }
    (chunks, None)
}

struct Reader<'r> {
    source: SourceId,
    sources: &'r Sources,
    warnings: &'r mut Vec<Warning>,
}

impl Reader<'_> {
    /// Reads one document, which begins at `offset` in its file.
    fn document(&mut self, data: &[u8], offset: usize) -> Result<Table> {
        let offset = u32::try_from(offset).unwrap_or(u32::MAX);
        let text = decode(data, self.source).map_err(|error| self.refusal(&error, offset))?;
        let options = ParseOptions {
            dialect: Dialect::V2,
            duplicate_keys: DuplicateKeys::KeepLast,
            offset,
            ..ParseOptions::default()
        };
        let parsed = parse_first(&text, self.source, &options).map_err(|error| self.refusal(&error, 0))?;
        let Some(mut document) = parsed else { return Ok(Table::default()) };
        self.warn_of_duplicates(&document);
        let mut builder = Builder::default();
        document
            .root
            .expand_aliases(Expansion::Decoded(Dialect::V2))
            .and_then(|()| send_values(&document.root, Dialect::V2, &mut builder))
            .map_err(|error| self.refusal(&error, 0))?;
        for (key, span) in &builder.keys {
            self.warn_of_boolean(key, *span);
        }
        for span in &builder.inexact {
            let message = "an integer of this size loses digits: values are floats";
            let warning = Warning::new(Code::PrecisionLost, message).at(self.sources.place(*span));
            self.warnings.push(warning.hint("quote it"));
        }
        self.root(builder.done)
    }

    fn root(&self, item: Option<Item>) -> Result<Table> {
        let Some(Item { data, span }) = item else { return Ok(Table::default()) };
        let found = match data {
            Data::Table(table) => return Ok(table),
            Data::Null => return Ok(Table::default()),
            Data::List(_) => "array",
            Data::Str(_) | Data::Bytes(_) => "string",
            Data::Bool(_) => "bool",
            Data::Int(_) | Data::Float(_) => "number",
        };
        let message =
            format!("json: cannot unmarshal {found} into Go value of type map[string]interface {{}}");
        let error = Error::invalid(message).prefix("error unmarshaling JSON: while decoding JSON");
        Err(error.at(self.sources.place(span)).hint("values are a mapping of names to values"))
    }

    /// An error of YAML's. A fault of the encoding has its place in the document, not in the file.
    fn refusal(&self, error: &yamltree::Error, offset: u32) -> Error {
        let kind = match error.kind() {
            yamltree::ErrorKind::Invalid => ErrorKind::Invalid,
            yamltree::ErrorKind::Limit => ErrorKind::Limit,
        };
        let Span { source, start, end } = error.span();
        let span = Span { source, start: start.saturating_add(offset), end: end.saturating_add(offset) };
        let error = Error::new(kind, error.go_text()).prefix("error converting YAML to JSON");
        error.at(self.sources.place(span))
    }

    fn warn_of_duplicates(&mut self, document: &Document) {
        for duplicate in &document.duplicates {
            let key = self.written(duplicate.again).unwrap_or_default();
            let first = self.sources.place(duplicate.first);
            let first = first.map_or(0, |place| place.source.line_column(place.span.start).0);
            let message = format!("duplicate key `{key}`; the value in line {first} is ignored");
            self.warnings
                .push(Warning::new(Code::DuplicateKey, message).at(self.sources.place(duplicate.again)));
        }
    }

    /// Warns where a key became a boolean that is not spelled like one.
    fn warn_of_boolean(&mut self, key: &str, span: Span) {
        let Some(written) = self.written(span) else { return };
        if written.starts_with(['"', '\'', '!', '&']) || written.eq_ignore_ascii_case(key) {
            return;
        }
        let message = format!("the key `{written}` is a boolean in YAML 1.1 and becomes `{key}`");
        let hint = format!("write `\"{written}\"`");
        let warning = Warning::new(Code::BooleanKey, message).at(self.sources.place(span));
        self.warnings.push(warning.hint(hint));
    }

    /// Returns what is written at a span.
    fn written(&self, span: Span) -> Option<String> {
        let place = self.sources.place(span)?;
        place.source.text.get(span.start as usize..span.end as usize).map(str::to_owned)
    }
}

/// Builds the table from the values that Go decodes.
#[derive(Default)]
struct Builder {
    done: Option<Item>,
    open: Vec<Open>,
    /// The span of the current node.
    span: Span,
    /// The keys that read `true` or `false`.
    keys: Vec<(CompactString, Span)>,
    /// The whole numbers that a float cannot hold.
    inexact: Vec<Span>,
}

/// An open collection.
enum Open {
    Table { entries: Vec<Entry>, key: CompactString, key_span: Span, span: Span },
    List { items: Vec<Item>, span: Span },
}

impl Builder {
    fn add(&mut self, data: Data, span: Span) {
        match self.open.last_mut() {
            None => self.done = Some(Item { data, span }),
            Some(Open::List { items, .. }) => items.push(Item { data, span }),
            Some(Open::Table { entries, key, key_span, .. }) => {
                let span = entry_span(*key_span, &data, span);
                entries.push((std::mem::take(key), Item { data, span }));
            }
        }
    }

    fn close(&mut self) {
        match self.open.pop() {
            None => {}
            Some(Open::Table { entries, span, .. }) => {
                self.add(Data::Table(Table::from_sorted(entries)), span);
            }
            Some(Open::List { items, span }) => self.add(Data::List(Arc::new(items)), span),
        }
    }
}

/// An entry's place: its key, and its value too if that is a scalar behind it. An alias brings in values from before.
fn entry_span(key: Span, data: &Data, value: Span) -> Span {
    let is_collection = matches!(data, Data::Table(_) | Data::List(_));
    let end = if is_collection || value.start < key.end { key.end } else { value.end };
    Span { end, ..key }
}

impl Sink for Builder {
    fn enter(&mut self, span: Span) {
        self.span = span;
    }

    fn mapping_start(&mut self, _empty: bool) {
        let key = CompactString::default();
        self.open.push(Open::Table { entries: Vec::new(), key, key_span: Span::NONE, span: self.span });
    }

    fn mapping_end(&mut self) {
        self.close();
    }

    fn sequence_start(&mut self, _empty: bool) {
        self.open.push(Open::List { items: Vec::new(), span: self.span });
    }

    fn sequence_end(&mut self) {
        self.close();
    }

    fn key(&mut self, text: &str, place: Span) -> Result<(), yamltree::Error> {
        if let Some(Open::Table { key, key_span, .. }) = self.open.last_mut() {
            *key = CompactString::new(text);
            *key_span = place;
            if matches!(text, "true" | "false") {
                self.keys.push((key.clone(), place));
            }
        }
        Ok(())
    }

    fn value(&mut self, value: &Scalar<'_>, span: Span) -> Result<(), yamltree::Error> {
        #[expect(clippy::cast_precision_loss, reason = "every number of a values file becomes a float64")]
        let data = match value {
            Scalar::Null => Data::Null,
            Scalar::Bool(value) => Data::Bool(*value),
            Scalar::Int(int) => self.number(*int as f64, i128::from(*int), span),
            Scalar::Uint(uint) => self.number(*uint as f64, i128::from(*uint), span),
            Scalar::Float(float) => Data::Float(*float),
            Scalar::Timestamp(timestamp) => Data::Str(CompactString::new(timestamp.to_string())),
            Scalar::Str(text) => Data::Str(CompactString::new(text)),
        };
        self.add(data, span);
        Ok(())
    }
}

impl Builder {
    fn number(&mut self, float: f64, whole: i128, span: Span) -> Data {
        #[expect(clippy::cast_possible_truncation, reason = "only compared")]
        if float as i128 != whole {
            self.inexact.push(span);
        }
        Data::Float(float)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::testing::table_json;

    fn read(data: &[u8], version: HelmVersion) -> Result<String, String> {
        load(data, "values.yaml", version, &mut Sources::default(), &mut Vec::new())
            .map(|table| table_json(&table))
            .map_err(|error| error.message().to_owned())
    }

    #[track_caller]
    fn reads(text: &str, wanted: &str) {
        assert_eq!(read(text.as_bytes(), HelmVersion::V4).as_deref(), Ok(wanted), "{text}");
    }

    #[track_caller]
    fn refuses(text: &str, wanted: &str) {
        assert_eq!(read(text.as_bytes(), HelmVersion::V4), Err(wanted.to_owned()), "{text}");
    }

    // The answers are those of `helm template -f` 4.3.1.

    #[test]
    fn values_have_the_types_of_yaml_1_1() {
        reads(
            "a: 010\nb: 0o17\nc: 1_000\nd: 1:30\ne: 2020-01-01\nf: yes\ng: 12345678901234567890\nh: ~\n",
            r#"{"a":8,"b":15,"c":1000,"d":"1:30","e":"2020-01-01","f":true,"g":12345678901234567000,"h":null}"#,
        );
        reads(
            "a: !!binary aGk=\nb: !foo x\nc: !!int \"3\"\nd: !!str 3\n",
            r#"{"a":"hi","b":"x","c":3,"d":"3"}"#,
        );
        reads(
            "1.5: a\n2020-01-01: b\n0x10: c\non: x\n",
            r#"{"1.5":"a","16":"c","2020-01-01":"b","true":"x"}"#,
        );
        reads("x: &x {p: 1}\nw: {<<: *x, q: 2}\nz: *x\n", r#"{"w":{"p":1,"q":2},"x":{"p":1},"z":{"p":1}}"#);
    }

    #[test]
    fn documents_are_merged() {
        reads(
            "a: 1\nb: {x: 1, z: 2}\n---\nb: {x: null, w: 3}\na: {q: 1}\n",
            r#"{"a":{"q":1},"b":{"w":3,"x":null,"z":2}}"#,
        );
        reads("--- # c\na: 1\n", r#"{"a":1}"#);
        reads("---\n---\na: 1\n---\r\nb: 2\n---", r#"{"a":1,"b":2}"#);
        // Within what the reader of lines takes for a document only the first counts.
        reads("a: 1\n...\nb: 2\n", r#"{"a":1}"#);
        reads("a: |\n  x\n---\nb: |\n  ---\n  c\n", r#"{"a":"x\n","b":"---\nc\n"}"#);
        assert_eq!(read(b"a: 1\n---\nb: 2\n", HelmVersion::V3).as_deref(), Ok(r#"{"a":1}"#));
    }

    /// The reader of lines ends every one of them.
    #[test]
    fn the_last_line_always_ends() {
        reads("a: |\n  x", r#"{"a":"x\n"}"#);
        assert_eq!(read(b"a: |\n  x", HelmVersion::V3).as_deref(), Ok(r#"{"a":"x"}"#));
    }

    #[test]
    fn nothing_is_no_values() {
        for text in ["", "null\n", "---", "# c\n", "{}\n---\n"] {
            reads(text, "{}");
        }
    }

    #[test]
    fn what_is_no_mapping_is_refused() {
        for (text, found) in [("- 1\n", "array"), ("foo\n", "string"), ("3\n", "number"), ("true\n", "bool")]
        {
            let message = format!(
                "cannot unmarshal yaml document: error unmarshaling JSON: while decoding JSON: \
                 json: cannot unmarshal {found} into Go value of type map[string]interface {{}}"
            );
            refuses(text, &message);
        }
    }

    #[test]
    fn faults_are_told_in_go_s_words() {
        let yaml = "cannot unmarshal yaml document: error converting YAML to JSON";
        refuses("a: 1\n---\nb: [1\n", &format!("{yaml}: yaml: line 1: did not find expected ',' or ']'"));
        refuses("---\nb: [1\n", &format!("{yaml}: yaml: line 2: did not find expected ',' or ']'"));
        refuses("a: .inf\n", &format!("{yaml}: json: unsupported value: +Inf"));
        refuses("~: 1\n", &format!("{yaml}: unsupported map key of type: %!s(<nil>), key: <nil>, value: 1"));
        refuses("a: &x [*x]\n", &format!("{yaml}: yaml: anchor 'x' value contains itself"));
        refuses(
            "a: 1\n---  foo\nb: 2\n",
            "error reading yaml document: invalid Yaml document separator: foo",
        );
        let encoding = read(b"a: \xff\n", HelmVersion::V4);
        assert_eq!(encoding, Err(format!("{yaml}: yaml: invalid leading UTF-8 octet")));
        let old = read(b"a: [", HelmVersion::V3);
        assert!(old.is_err_and(|message| message.starts_with("error converting YAML to JSON: yaml: ")));
    }

    fn place(text: &[u8]) -> Option<String> {
        let mut sources = Sources::default();
        let error = load(text, "v.yaml", HelmVersion::V4, &mut sources, &mut Vec::new()).unwrap_err();
        error.location().map(ToString::to_string)
    }

    #[test]
    fn faults_have_places_in_the_file() {
        assert_eq!(place(b"a: 1\n---\nb: @\n").as_deref(), Some("v.yaml:3:4"));
        assert_eq!(place(b"a: 1\n---\nb: \xff\n").as_deref(), Some("v.yaml:3:4"));
        assert_eq!(place(b"a: 1\n--- x\n").as_deref(), Some("v.yaml:2:1"));
        assert_eq!(place(b"a: 1\n---\n- b\n").as_deref(), Some("v.yaml:3:1"));
    }

    #[test]
    fn values_know_where_they_are_written() {
        let text = "a: &x\n  b: 'c d'\n---\ne: [1, {f: *x}]\ng: *x\n";
        let text = text.replace("---\n", "");
        let mut sources = Sources::default();
        let table =
            load(text.as_bytes(), "v.yaml", HelmVersion::V4, &mut sources, &mut Vec::new()).expect("values");
        let written = |item: &Item| &text[item.span.start as usize..item.span.end as usize];
        let at = |path: &[&str]| table.lookup(path).map(written);
        assert_eq!(at(&["a"]), Some("a"));
        assert_eq!(at(&["a", "b"]), Some("b: 'c d'"));
        // What an alias brings in is written where its anchor is.
        assert_eq!(at(&["g"]), Some("g"));
        assert_eq!(at(&["g", "b"]), Some("b: 'c d'"));
        let Some(Data::List(items)) = table.get("e").map(|item| &item.data) else { panic!("a list") };
        assert_eq!(items.iter().map(written).collect::<Vec<_>>(), ["1", "{f: *x}"]);
    }

    #[test]
    fn what_is_not_meant_is_warned_of() {
        let text =
            "a: 1\non: x\nb: {c: 1, c: 2}\n\"on\": y\ntrue: z\nTrue: w\nd: 9007199254740993\n---\ny: 1\n";
        let (mut sources, mut warnings) = (Sources::default(), Vec::new());
        load(text.as_bytes(), "v.yaml", HelmVersion::V4, &mut sources, &mut warnings).expect("values");
        let found: Vec<_> = warnings
            .iter()
            .map(|warning| {
                let place = warning.location.as_ref().map(ToString::to_string).unwrap_or_default();
                format!("{} {place} {}", warning.code.as_str(), warning.message)
            })
            .collect();
        assert_eq!(
            found,
            [
                "HELM-W004 v.yaml:3:11 duplicate key `c`; the value in line 3 is ignored",
                "HELM-W004 v.yaml:5:1 duplicate key `true`; the value in line 2 is ignored",
                "HELM-W004 v.yaml:6:1 duplicate key `True`; the value in line 2 is ignored",
                "HELM-W014 v.yaml:7:4 an integer of this size loses digits: values are floats",
                "HELM-W005 v.yaml:9:1 the key `y` is a boolean in YAML 1.1 and becomes `true`",
            ]
        );
    }
}

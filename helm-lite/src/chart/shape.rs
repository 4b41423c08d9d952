//! The types of a chart file's fields: Go decodes them into structs, by way of JSON.
//!
//! In: a document and the struct it is for. Out: the same document with the fields under their own names and strings
//! where a number or boolean stands for one. Refused, in Go's words: a value of another type.

use gotemplate::fmt::format_float;
use gotemplate::time::{Time, Zone};
use yamltree::{Dialect, Entry, Node, Resolved, Span};

/// The layout of times in JSON.
const RFC3339: &[u8] = b"2006-01-02T15:04:05Z07:00";

/// The type of a value.
#[derive(Debug)]
pub(crate) enum Shape {
    /// `string`
    Text,
    /// `bool`
    Bool,
    /// `time.Time`
    Time,
    /// `[]interface {}`
    Values,
    /// `[]string`
    Texts,
    /// `map[string]string`
    TextMap,
    /// A struct: its type and its fields.
    Struct(&'static str, &'static [(&'static str, Shape)]),
    /// A list of pointers to such a struct.
    Structs(&'static str, &'static [(&'static str, Shape)]),
}

/// `Chart.yaml`, and `requirements.yaml` under the other name that Go has for it.
pub(crate) const CHART: Shape = Shape::Struct("loader.chartBase", METADATA);
pub(crate) const REQUIREMENTS: Shape = Shape::Struct("v2.Metadata", METADATA);
/// `Chart.lock` and `requirements.lock`.
pub(crate) const LOCK: Shape = Shape::Struct(
    "v2.Lock",
    &[
        ("generated", Shape::Time),
        ("digest", Shape::Text),
        ("dependencies", Shape::Structs("v2.Dependency", DEPENDENCY)),
    ],
);

const METADATA: &[(&str, Shape)] = &[
    ("name", Shape::Text),
    ("home", Shape::Text),
    ("sources", Shape::Texts),
    ("version", Shape::Text),
    ("description", Shape::Text),
    ("keywords", Shape::Texts),
    ("maintainers", Shape::Structs("v2.Maintainer", MAINTAINER)),
    ("icon", Shape::Text),
    ("apiVersion", Shape::Text),
    ("condition", Shape::Text),
    ("tags", Shape::Text),
    ("appVersion", Shape::Text),
    ("deprecated", Shape::Bool),
    ("annotations", Shape::TextMap),
    ("kubeVersion", Shape::Text),
    ("dependencies", Shape::Structs("v2.Dependency", DEPENDENCY)),
    ("type", Shape::Text),
];

const MAINTAINER: &[(&str, Shape)] = &[("name", Shape::Text), ("email", Shape::Text), ("url", Shape::Text)];

const DEPENDENCY: &[(&str, Shape)] = &[
    ("name", Shape::Text),
    ("version", Shape::Text),
    ("repository", Shape::Text),
    ("condition", Shape::Text),
    ("tags", Shape::Texts),
    ("enabled", Shape::Bool),
    ("import-values", Shape::Values),
    ("alias", Shape::Text),
];

/// A value that is not what it must be: Go's words, and where it stands.
#[derive(Debug)]
pub(crate) struct Misfit {
    pub(crate) message: String,
    pub(crate) span: Span,
}

/// Brings a document into the shape of a struct.
///
/// # Errors
/// The first value that does not fit, in the order of the keys' bytes.
pub(crate) fn fit(root: &mut Node, shape: &Shape) -> Result<(), Misfit> {
    shape.fit(root, &mut Path { text: String::new(), is_item: false })
}

/// The first field, in the order in which JSON has them, that a struct does not know.
pub(crate) fn unknown(root: &Node, shape: &Shape) -> Option<String> {
    let within = |node: &Node, known: &'static [(&'static str, Shape)]| {
        node.entries()?.iter().find_map(|Entry { key, value }| {
            let name = key.text().unwrap_or_default();
            match known.iter().find(|(known, _)| *known == name) {
                Some((_, shape)) => unknown(value, shape),
                None => Some(name.to_owned()),
            }
        })
    };
    match shape {
        Shape::Struct(_, known) => within(root, known),
        Shape::Structs(_, known) => root.items()?.iter().find_map(|item| within(item, known)),
        _ => None,
    }
}

/// The way to a value, as Go prints it: `.dependencies.0.name`.
struct Path {
    text: String,
    /// True if it ends in an item of a list, of which Go does not say that it is a field.
    is_item: bool,
}

impl Path {
    /// Goes one step further, and back again.
    fn enter<T>(&mut self, step: &str, is_item: bool, run: impl FnOnce(&mut Self) -> T) -> T {
        let (length, was_item) = (self.text.len(), self.is_item);
        self.text.push('.');
        self.text.push_str(step);
        self.is_item = is_item;
        let done = run(self);
        self.text.truncate(length);
        self.is_item = was_item;
        done
    }

    fn misfit(&self, node: &Node, found: &str, shape: &Shape) -> Misfit {
        let path = &self.text;
        let target = match (path.as_str(), self.is_item) {
            ("", _) => "Go value".to_owned(),
            (_, true) => path.clone(),
            (_, false) => format!("Go struct field {path}"),
        };
        let ty = shape.go_type();
        Misfit {
            message: format!("json: cannot unmarshal {found} into {target} of type {ty}"),
            span: node.span,
        }
    }
}

impl Shape {
    fn go_type(&self) -> String {
        match self {
            Self::Text => "string".to_owned(),
            Self::Bool => "bool".to_owned(),
            Self::Time => "time.Time".to_owned(),
            Self::Values => "[]interface {}".to_owned(),
            Self::Texts => "[]string".to_owned(),
            Self::TextMap => "map[string]string".to_owned(),
            Self::Struct(name, _) => (*name).to_owned(),
            Self::Structs(name, _) => format!("[]*{name}"),
        }
    }

    fn fit(&self, node: &mut Node, path: &mut Path) -> Result<(), Misfit> {
        let found = json_type(node);
        match (self, found) {
            (Self::Text, "null") => *node = Node::string("").at(node.span),
            (Self::Text, "string" | "number" | "bool") => *node = Node::string(&text(node)).at(node.span),
            (_, "null") | (Self::Bool, "bool") | (Self::Values, "array") => {}
            (Self::Time, "string") => refuse_no_time(node)?,
            (Self::Texts, "array") => items(node, &Self::Text, path)?,
            (Self::Structs(name, fields), "array") => items(node, &Self::Struct(name, fields), path)?,
            (Self::TextMap, "object") => texts(node, path)?,
            (Self::Struct(_, known), "object") => fields(node, known, path)?,
            _ => return Err(path.misfit(node, found, self)),
        }
        Ok(())
    }
}

fn refuse_no_time(node: &Node) -> Result<(), Misfit> {
    let text = node.text().unwrap_or_default().as_bytes();
    match Time::parse(RFC3339, text, Zone::Utc) {
        Ok(_) => Ok(()),
        Err(message) => Err(Misfit { message, span: node.span }),
    }
}

fn items(node: &mut Node, shape: &Shape, path: &mut Path) -> Result<(), Misfit> {
    for (index, item) in node.items_mut().into_iter().flatten().enumerate() {
        path.enter(&index.to_string(), true, |path| shape.fit(item, path))?;
    }
    Ok(())
}

/// The keys of a map and its values, all of which are strings.
fn texts(node: &mut Node, path: &mut Path) -> Result<(), Misfit> {
    let Some(entries) = node.entries_mut() else { return Ok(()) };
    for entry in entries.iter_mut() {
        entry.key = Node::string(&text(&entry.key)).at(entry.key.span);
    }
    sort(entries);
    for Entry { key, value } in entries {
        let key = key.text().unwrap_or_default().to_owned();
        path.enter(&key, false, |path| Shape::Text.fit(value, path))?;
    }
    Ok(())
}

/// The fields of a struct, whose names Go knows in capitals too: of several spellings the last one counts. Others are
/// left as they are.
fn fields(node: &mut Node, known: &'static [(&'static str, Shape)], path: &mut Path) -> Result<(), Misfit> {
    let Some(entries) = node.entries_mut() else { return Ok(()) };
    sort(entries);
    for Entry { key, value } in &mut *entries {
        let written = key.text().unwrap_or_default();
        let Some((name, shape)) = known.iter().find(|(name, _)| name.eq_ignore_ascii_case(written)) else {
            continue;
        };
        path.enter(name, false, |path| shape.fit(value, path))?;
        if written != *name {
            *key = Node::string(name).at(key.span);
        }
    }
    let mut seen = Vec::new();
    entries.reverse();
    entries.retain(|entry| {
        let name = entry.key.text().unwrap_or_default().to_owned();
        let is_new = !seen.contains(&name);
        seen.push(name);
        is_new
    });
    entries.reverse();
    Ok(())
}

/// On its way through JSON a mapping is sorted.
fn sort(entries: &mut [Entry]) {
    entries
        .sort_by(|left, right| left.key.text().unwrap_or_default().cmp(right.key.text().unwrap_or_default()));
}

/// Returns what Go's decoder calls the JSON that a node becomes.
pub(crate) fn json_type(node: &Node) -> &'static str {
    if node.is_mapping() {
        return "object";
    }
    if node.is_sequence() {
        return "array";
    }
    match node.resolved(Dialect::V2) {
        Ok(Resolved::Null) => "null",
        Ok(Resolved::Bool(_)) => "bool",
        Ok(Resolved::Int(_) | Resolved::Uint(_) | Resolved::Float(_)) => "number",
        _ => "string",
    }
}

/// A scalar as the string that stands for it: `1.10` is `1.1`, and a fraction has the digits of a float32.
fn text(node: &Node) -> String {
    match node.resolved(Dialect::V2) {
        Ok(Resolved::Bool(value)) => value.to_string(),
        Ok(Resolved::Int(number)) => number.to_string(),
        Ok(Resolved::Uint(number)) => number.to_string(),
        #[expect(clippy::cast_possible_truncation, reason = "sigs.k8s.io/yaml does the same (yaml.go:344)")]
        Ok(Resolved::Float(number)) => {
            let short = (number as f32).to_string();
            format_float(short.parse().unwrap_or(number), b'g', None)
        }
        _ => node.text().unwrap_or_default().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use yamltree::{ParseOptions, parse_first};

    use super::*;

    fn document(text: &str) -> Node {
        let options = ParseOptions { dialect: Dialect::V2, ..ParseOptions::default() };
        parse_first(text, 0, &options).expect("it is YAML").expect("a document").root
    }

    /// As `helm template` prints `.Chart.AppVersion`.
    #[test]
    fn a_number_for_a_string_is_written_as_go_writes_it() {
        for (written, wanted) in [
            ("1.10", "1.1"),
            ("1.0", "1"),
            ("1e3", "1000"),
            ("0x10", "16"),
            ("010", "8"),
            ("yes", "true"),
            ("~", ""),
            ("1e-7", "1e-07"),
            ("1e300", "+Inf"),
            ("123456789012345678901234", "1.2345679e+23"),
            ("2024-01-01", "2024-01-01"),
            ("'1.10'", "1.10"),
        ] {
            let mut node = document(&format!("AppVersion: {written}\nappversion: {written}\n"));
            fit(&mut node, &CHART).expect("it fits");
            assert_eq!(node.get("appVersion").and_then(Node::text), Some(wanted), "{written}");
            assert_eq!(node.entries().map(Vec::len), Some(1));
        }
    }

    /// As `helm template` says of a lock file.
    #[test]
    fn a_time_is_that_of_a_lock() {
        for (text, wanted) in [
            ("generated: \"2024-01-01T00:00:00.5+01:00\"", None),
            (
                "generated: 5",
                Some("json: cannot unmarshal number into Go struct field .generated of type time.Time"),
            ),
            (
                "generated: 2024-01-01",
                Some(
                    "parsing time \"2024-01-01\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"\" as \"T\"",
                ),
            ),
        ] {
            let misfit = fit(&mut document(text), &LOCK).err().map(|misfit| misfit.message);
            assert_eq!(misfit.as_deref(), wanted);
        }
    }

    /// As `helm template` says it.
    #[test]
    fn what_does_not_fit_is_refused_in_the_words_of_go() {
        for (text, wanted) in [
            ("[]", "array into Go value of type loader.chartBase"),
            ("name: [1]", "array into Go struct field .name of type string"),
            ("version: [1]\nName: {}", "object into Go struct field .name of type string"),
            ("deprecated: x", "string into Go struct field .deprecated of type bool"),
            ("keywords: x", "string into Go struct field .keywords of type []string"),
            ("keywords: [{}]", "object into .keywords.0 of type string"),
            ("annotations: {a: []}", "array into Go struct field .annotations.a of type string"),
            ("dependencies: x", "string into Go struct field .dependencies of type []*v2.Dependency"),
            ("dependencies: [x]", "string into .dependencies.0 of type v2.Dependency"),
            (
                "dependencies: [{version: []}]",
                "array into Go struct field .dependencies.0.version of type string",
            ),
            ("dependencies: [{tags: [[]]}]", "array into .dependencies.0.tags.0 of type string"),
            (
                "dependencies: [{import-values: x}]",
                "string into Go struct field .dependencies.0.import-values of type []interface {}",
            ),
        ] {
            let misfit = fit(&mut document(text), &CHART).expect_err(text);
            assert_eq!(misfit.message, format!("json: cannot unmarshal {wanted}"));
        }
    }
}

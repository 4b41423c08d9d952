//! The user's values: values files and flags, merged in Helm's order.
//!
//! In: files that are read already and the texts of flags. Out: one table and the texts behind its places. Refuses
//! files that are no values and flags that are not well formed, in Helm's words.

use diagnostic::{Error, Result};
use yamltree::{SourceId, Span};

use super::draft::{self, Fields};
use super::file;
use super::set::{Mode, parse};
use super::table::{Data, Item, Table};
use crate::json::Json;
use crate::sources::Sources;
use crate::version::HelmVersion;
use crate::warning::Warning;

/// A values file that was read.
#[derive(Clone, Copy, Debug)]
pub struct ValuesFile<'v> {
    /// Its name as the user gave it.
    pub name: &'v str,
    /// Its content.
    pub data: &'v [u8],
}

/// The user's values. The kinds of flags apply in the order of these fields, whatever their order on the command
/// line: later ones win.
#[derive(Clone, Copy)]
pub struct Options<'v> {
    /// `--values`
    pub files: &'v [ValuesFile<'v>],
    /// `--set-json`
    pub json: &'v [String],
    /// `--set`
    pub set: &'v [String],
    /// `--set-string`
    pub string: &'v [String],
    /// `--set-file`
    pub file: &'v [String],
    /// `--set-literal`
    pub literal: &'v [String],
    /// Reads a file that `--set-file` names.
    pub read_file: &'v dyn Fn(&str) -> Result<Vec<u8>, Error>,
}

/// The values that a user gives.
#[derive(Clone, Debug, Default)]
pub struct UserValues {
    /// The values.
    pub table: Table,
    /// The texts behind their places: files under their names, flags under theirs, such as `--set`.
    pub sources: Sources,
    /// The warnings of reading them.
    pub warnings: Vec<Warning>,
}

impl Default for Options<'_> {
    fn default() -> Self {
        let none: &[String] = &[];
        let read_file = &|name: &str| Err(Error::invalid(format!("open {name}: no such file or directory")));
        Self { files: &[], json: none, set: none, string: none, file: none, literal: none, read_file }
    }
}

/// Merges what the user gives.
///
/// # Errors
/// If a file or flag is not well formed.
pub fn merge(options: &Options<'_>, version: HelmVersion) -> Result<UserValues> {
    merge_observed(options, version, &mut |_| {})
}

/// The same, showing to `observe` the values after each document and each flag.
pub(super) fn merge_observed(
    options: &Options<'_>,
    version: HelmVersion,
    observe: &mut dyn FnMut(&dyn Fn() -> Table),
) -> Result<UserValues> {
    let (mut sources, mut warnings) = (Sources::default(), Vec::new());
    let mut table = Table::default();
    for ValuesFile { name, data } in options.files {
        let documents = file::documents(data, name, version, &mut sources, &mut warnings)
            .map_err(|error| error.prefix(format_args!("failed to parse {name}")))?;
        for document in documents {
            table = merge_tables(&table, &document);
            observe(&|| table.clone());
        }
    }
    let mut flags = Flags { options, version, sources, fields: draft::fields(&table), observe };
    flags.json()?;
    flags.apply("--set", options.set, &Mode::Typed)?;
    flags.apply("--set-string", options.string, &Mode::String)?;
    flags.apply("--set-file", options.file, &Mode::File(options.read_file))?;
    flags.apply("--set-literal", options.literal, &Mode::Literal)?;
    let Flags { sources, fields, .. } = flags;
    Ok(UserValues { table: draft::freeze(fields), sources, warnings })
}

struct Flags<'f, 'v> {
    options: &'f Options<'v>,
    version: HelmVersion,
    sources: Sources,
    fields: Fields,
    observe: &'f mut dyn FnMut(&dyn Fn() -> Table),
}

impl Flags<'_, '_> {
    /// `--set-json`, which Helm 4 also takes as a whole object.
    fn json(&mut self) -> Result<()> {
        for text in self.options.json {
            let trimmed = text.trim();
            if self.version == HelmVersion::V3 || !trimmed.starts_with('{') {
                self.set("--set-json", text, &Mode::Json).map_err(|error| {
                    Error::invalid(format!("failed parsing --set-json data {text}"))
                        .at(error.location().cloned())
                })?;
                continue;
            }
            let source = self.sources.add("--set-json", trimmed);
            let object = object(trimmed, source)
                .ok_or_else(|| Error::invalid(format!("failed parsing --set-json data JSON: {text}")))?;
            let base = draft::freeze(std::mem::take(&mut self.fields));
            self.fields = draft::fields(&merge_tables(&base, &object));
            self.observed();
        }
        Ok(())
    }

    fn apply(&mut self, flag: &str, texts: &[String], mode: &Mode<'_>) -> Result<()> {
        for text in texts {
            self.set(flag, text, mode)
                .map_err(|error| error.prefix(format_args!("failed parsing {flag} data")))?;
        }
        Ok(())
    }

    fn set(&mut self, flag: &str, text: &str, mode: &Mode<'_>) -> Result<()> {
        let source = self.sources.add(flag, text);
        parse(text, source, mode, self.version, &mut self.fields)
            .map_err(|error| error.at(self.sources.place(Span { source, start: 0, end: 0 })))?;
        self.observed();
        Ok(())
    }

    fn observed(&mut self) {
        let fields = &self.fields;
        (self.observe)(&|| draft::freeze(fields.clone()));
    }
}

/// A text that is one JSON object.
fn object(text: &str, source: SourceId) -> Option<Table> {
    let mut json = Json::default();
    let root = json.read_all(text)?;
    Item::from_json(&json, root, source)?.data.as_table().cloned()
}

/// Merges two tables into one: of two values the second wins, of two tables all entries stay.
pub(crate) fn merge_tables(base: &Table, over: &Table) -> Table {
    if base.is_empty() {
        return over.clone();
    }
    let (mut left, mut right) = (base.entries().iter().peekable(), over.entries().iter().peekable());
    let mut merged = Vec::with_capacity(base.len() + over.len());
    loop {
        let entry = match (left.peek(), right.peek()) {
            (None, None) => return Table::from_sorted(merged),
            (Some(_), None) => left.next(),
            (None, Some(_)) => right.next(),
            (Some((base_key, _)), Some((over_key, _))) if base_key != over_key => {
                if base_key < over_key {
                    left.next()
                } else {
                    right.next()
                }
            }
            (Some((_, base)), Some((_, over))) => {
                if let (Data::Table(base), Data::Table(over_table)) = (&base.data, &over.data) {
                    let data = Data::Table(merge_tables(base, over_table));
                    merged.push((
                        right.peek().map(|(key, _)| key.clone()).unwrap_or_default(),
                        Item { data, span: over.span },
                    ));
                    left.next();
                    right.next();
                    continue;
                }
                left.next();
                right.next()
            }
        };
        merged.extend(entry.cloned());
    }
}

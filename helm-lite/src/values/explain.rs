//! Explains a value: every place that set, replaced or erased it.
//!
//! In: a chart as it was read, what the user gives, and a path of keys. Out: the places in the order of their rank,
//! the one that counts last. A place that outranks the one that counts, as a null of a parent chart does in Helm 4, is
//! said to be ignored.

use std::fmt::Write as _;

use diagnostic::{Error, Result};
use yamltree::{Location, Span};

use super::coalesce::{GLOBAL, coalesce, sources};
use super::merge::{Options, merge_observed};
use super::table::{Data, Item, Table};
use crate::chart::Chart;
use crate::dependencies::{Import, process_dependencies};
use crate::sources::Sources;
use crate::version::HelmVersion;
use crate::warning::Warning;

/// The explanation of a value.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// The places that have to do with it, the one that counts last.
    pub changes: Vec<Change>,
    /// The final value as JSON; `None` if it does not exist.
    pub value: Option<String>,
    /// The warnings of the chart, of the user's values and of merging them.
    pub warnings: Vec<Warning>,
}

/// A place that has to do with a value.
#[derive(Clone, Debug)]
pub struct Change {
    /// The effect.
    pub effect: Effect,
    /// The location, if it is in a file or flag.
    pub place: Option<Location>,
    /// The value that it sets, as JSON.
    pub value: String,
    /// The path at which it sets the value, if not the requested one: `image` for `image.tag`, `global.a` for
    /// `db.global.a`.
    pub path: Option<String>,
}

/// The effect of a place on a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It is the first to give it.
    Set,
    /// It gives another one.
    Replaced,
    /// It adds to a mapping.
    Merged,
    /// It takes it away with a null.
    Erased,
    /// Nothing, although it outranks what counts.
    Ignored,
}

impl Effect {
    /// `set`, `replaced`, …
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Set => "set",
            Self::Replaced => "replaced",
            Self::Merged => "merged",
            Self::Erased => "erased",
            Self::Ignored => "ignored",
        }
    }
}

/// Explains the value at a path, which is written as for `--set`: `a.b[0].c`, with a backslash before a dot in a key.
///
/// # Errors
/// If the path is none, or the chart and its values do not fit together.
pub fn explain(
    chart: &Chart,
    options: &Options<'_>,
    path: &str,
    version: HelmVersion,
) -> Result<Explanation> {
    let path = parse_path(path)?;
    let path: Vec<&str> = path.iter().map(String::as_str).collect();
    let mut snapshots = Vec::new();
    let user = merge_observed(options, version, &mut |table| snapshots.push(table()))?;
    let mut warnings = [chart.warnings.as_slice(), &user.warnings].concat();
    let mut enabled = chart.clone();
    process_dependencies(&mut enabled, &user, version, &mut warnings)?;
    let values = coalesce(&enabled, &user, version, &mut warnings)?.to_table();
    let mut layers = Layers { snapshots: &snapshots, meetings: Vec::new() };
    for path in ranked_paths(&enabled, &path) {
        layers.charts(&enabled, chart, &path, &path);
        layers.user(&path);
    }
    let sources = sources(chart, &user);
    let found = lookup(&values, &path);
    let mut changes = changes(&layers.meetings, &path, &sources);
    let Found::Here(item) = found else { return Ok(Explanation { changes, value: None, warnings }) };
    crown(&mut changes, &item, &sources);
    Ok(Explanation { changes, value: Some(json(&item.data)), warnings })
}

/// The keys of a path.
fn parse_path(path: &str) -> Result<Vec<String>> {
    let (mut keys, mut key) = (Vec::new(), String::new());
    let mut chars = path.chars();
    while let Some(char) = chars.next() {
        match char {
            '\\' => key.extend(chars.next()),
            '.' | '[' => keys.push(std::mem::take(&mut key)),
            ']' if chars.as_str().is_empty() || chars.as_str().starts_with(['.', '[']) => {}
            char => key.push(char),
        }
    }
    keys.push(key);
    // An index ends one key and begins the next, where a dot or another index may follow.
    keys.retain(|key| !key.is_empty());
    if keys.is_empty() {
        return Err(Error::invalid(format!("invalid values path `{path}`")).hint("such as `image.tag`"));
    }
    Ok(keys)
}

/// The paths at which the value is looked for, the lowest in rank first: globals of a chart rank above those of the
/// charts in it.
fn ranked_paths<'p>(chart: &Chart, path: &[&'p str]) -> Vec<Vec<&'p str>> {
    let mut paths = vec![path.to_vec()];
    let Some(global) = path.iter().position(|key| *key == GLOBAL) else { return paths };
    let mut at = chart;
    for key in &path[..global] {
        match at.dependencies.iter().find(|child| child.metadata.name == *key) {
            Some(child) => at = child,
            None => return paths,
        }
    }
    let outer = (0..global).rev().map(|depth| [&path[..depth], &path[global..]].concat());
    paths.extend(outer);
    paths
}

/// The content of a table at a path.
#[derive(Clone, Debug)]
enum Found {
    Absent,
    /// The value.
    Here(Item),
    /// Something else that stands around it, so many keys in.
    Around(Item, usize),
}

impl Found {
    fn span(&self) -> Option<Span> {
        match self {
            Self::Absent => None,
            Self::Here(item) | Self::Around(item, _) => Some(item.span),
        }
    }
}

fn lookup(table: &Table, path: &[&str]) -> Found {
    let mut item = Item { data: Data::Table(table.clone()), span: Span::NONE };
    for (depth, key) in path.iter().enumerate() {
        let next = match &item.data {
            Data::Table(table) => match table.get(key) {
                Some(next) => next.clone(),
                None => return Found::Absent,
            },
            Data::List(items) => match key.parse::<usize>().ok().and_then(|index| items.get(index)) {
                Some(next) => next.clone(),
                // The list stands instead of one that may have had the item.
                None => return Found::Around(item, depth),
            },
            _ => return Found::Around(item, depth),
        };
        item = next;
    }
    Found::Here(item)
}

/// The tables of all ranks, from the lowest up.
struct Layers<'l> {
    snapshots: &'l [Table],
    meetings: Vec<Meeting>,
}

/// Something that was found, and the path in all values that led to it.
struct Meeting {
    found: Found,
    path: Vec<String>,
}

impl Layers<'_> {
    /// The values of the charts that a path leads into and of those around them. `enabled` is the chart as it takes
    /// part, `original` as it was read, `path` the path in it and `whole` that in all values.
    fn charts(&mut self, enabled: &Chart, original: &Chart, path: &[&str], whole: &[&str]) {
        let Some((first, rest)) = path.split_first() else { return };
        let children = enabled.dependencies.iter().filter(|child| child.metadata.name == *first);
        for child in children {
            if let Some(original) = as_read(original, child) {
                self.charts(child, original, rest, whole);
            }
        }
        self.imports(enabled, original, path, whole);
        self.meet(&original.values, path, whole);
    }

    /// Adds the values that a chart imports from its subcharts.
    fn imports(&mut self, enabled: &Chart, original: &Chart, path: &[&str], whole: &[&str]) {
        for dependency in &enabled.metadata.dependencies {
            let mut children = enabled.dependencies.iter();
            let child = children.find(|child| child.metadata.name == dependency.name);
            let Some(child) = child.and_then(|child| as_read(original, child)) else { continue };
            for import in dependency.import_values.iter().filter_map(Import::read) {
                let parent = import.parent.split('.').filter(|_| import.parent != ".");
                if let Some(rest) = path.strip_prefix(parent.collect::<Vec<_>>().as_slice()) {
                    let inner: Vec<&str> = import.child.split('.').chain(rest.iter().copied()).collect();
                    self.meet(&child.values, &inner, whole);
                }
            }
        }
    }

    /// Adds the user's values, step by step.
    fn user(&mut self, path: &[&str]) {
        let mut before = None;
        for snapshot in self.snapshots {
            let found = lookup(snapshot, path);
            if found.span() != before {
                before = found.span();
                self.add(found, path);
            }
        }
    }

    fn meet(&mut self, table: &Table, path: &[&str], whole: &[&str]) {
        self.add(lookup(table, path), whole);
    }

    fn add(&mut self, found: Found, whole: &[&str]) {
        let path = match &found {
            Found::Absent => return,
            Found::Here(_) => whole,
            // Of an import the keys around may be others; then the whole path is the nearest thing to say.
            Found::Around(_, depth) => whole.get(..*depth).unwrap_or(whole),
        };
        self.meetings.push(Meeting { path: path.iter().map(|key| (*key).to_owned()).collect(), found });
    }
}

/// The chart in another as it was read, before values were imported into it.
fn as_read<'c>(parent: &'c Chart, child: &Chart) -> Option<&'c Chart> {
    let name = &child.metadata.name;
    let declared = parent.metadata.dependencies.iter().find(|dependency| dependency.local_name() == name);
    let original = declared.map_or(name, |dependency| &dependency.name);
    parent
        .dependencies
        .iter()
        .find(|found| found.metadata.name == *original && found.metadata.version == child.metadata.version)
}

/// Returns what each place does to the value that those before it leave.
fn changes(meetings: &[Meeting], asked: &[&str], sources: &Sources) -> Vec<Change> {
    let (mut changes, mut standing): (Vec<Change>, Option<bool>) = (Vec::new(), None);
    for Meeting { found, path } in meetings {
        let (item, is_around) = match found {
            Found::Absent => continue,
            Found::Here(item) => (item, false),
            Found::Around(item, _) => (item, true),
        };
        let is_table = item.data.as_table().is_some();
        let effect = match standing {
            // What stands around a value that is not there changes nothing.
            None if is_around => continue,
            None => Effect::Set,
            Some(_) if item.data.is_null() => Effect::Erased,
            Some(true) if is_table => Effect::Merged,
            Some(_) => Effect::Replaced,
        };
        standing = (!is_around && effect != Effect::Erased).then_some(is_table);
        changes.push(Change {
            effect,
            place: sources.place(item.span),
            value: json(&item.data),
            path: (path != asked).then(|| path.join(".")),
        });
    }
    changes
}

/// Moves the place that counts to the end. Those that outrank it are without effect.
fn crown(changes: &mut Vec<Change>, item: &Item, sources: &Sources) {
    let place = sources.place(item.span);
    if item.data.as_table().is_some() || place.is_none() {
        return;
    }
    let is_it = |change: &Change| {
        let found = change.place.as_ref();
        found.map(|place| place.span) == place.as_ref().map(|place| place.span)
            && !matches!(change.effect, Effect::Erased)
    };
    match changes.iter().rposition(is_it) {
        Some(at) => {
            changes[at + 1..].iter_mut().for_each(|change| change.effect = Effect::Ignored);
            changes[at..].rotate_left(1);
        }
        // A sub-chart's default deep in its globals is seen by all charts.
        None => {
            let effect = if changes.is_empty() { Effect::Set } else { Effect::Replaced };
            changes.push(Change { effect, place, value: json(&item.data), path: None });
        }
    }
}

/// A value as JSON on one line.
fn json(data: &Data) -> String {
    let mut out = String::new();
    write_json(data, &mut out);
    out
}

fn write_json(data: &Data, out: &mut String) {
    let _ = match data {
        Data::Null => write!(out, "null"),
        Data::Bool(value) => write!(out, "{value}"),
        Data::Int(int) => write!(out, "{int}"),
        Data::Float(float) => write!(out, "{float}"),
        Data::Str(text) => {
            yamltree::push_json_string(out, text, false);
            Ok(())
        }
        Data::Bytes(bytes) => {
            yamltree::push_json_string(out, &String::from_utf8_lossy(bytes), false);
            Ok(())
        }
        Data::List(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                out.push_str(if index == 0 { "" } else { "," });
                write_json(&item.data, out);
            }
            write!(out, "]")
        }
        Data::Table(table) => {
            out.push('{');
            for (index, (key, item)) in table.iter().enumerate() {
                out.push_str(if index == 0 { "" } else { "," });
                yamltree::push_json_string(out, key, false);
                out.push(':');
                write_json(&item.data, out);
            }
            write!(out, "}}")
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::ValuesFile;
    use crate::values::testing::chart;

    fn explained(chart: &Chart, files: &[(&str, &str)], set: &[&str], path: &str) -> Vec<String> {
        let files: Vec<ValuesFile<'_>> =
            files.iter().map(|(name, data)| ValuesFile { name, data: data.as_bytes() }).collect();
        let set: Vec<String> = set.iter().map(|text| (*text).to_owned()).collect();
        let options = Options { files: &files, set: &set, ..Options::default() };
        let explanation = explain(chart, &options, path, HelmVersion::V4).expect("an explanation");
        let line = |change: &Change| {
            let place = change.place.as_ref().map_or_else(String::new, |place| {
                format!("{}:{}", place.source.name, place.source.line_column(place.span.start).0)
            });
            let path = change.path.as_ref().map_or_else(String::new, |path| format!(" at {path}"));
            format!("{place} {} {}{path}", change.effect.as_str(), change.value)
        };
        let changes = explanation.changes.iter().map(line);
        changes.chain([explanation.value.unwrap_or_else(|| "none".to_owned())]).collect()
    }

    #[test]
    fn each_place_is_listed_with_the_one_that_counts_last() {
        let root = chart("c", "image:\n  tag: '1'\n  name: x\n", vec![]);
        let files = [("a.yaml", "image:\n  tag: '2'\n---\nimage: {tag: '3'}\n"), ("b.yaml", "other: 1\n")];
        assert_eq!(
            explained(&root, &files, &["image.name=y", "image.tag=v4"], "image.tag"),
            [
                "c/values.yaml:2 set \"1\"",
                "a.yaml:2 replaced \"2\"",
                "a.yaml:4 replaced \"3\"",
                "--set:1 replaced \"v4\"",
                "\"v4\"",
            ]
        );
        assert_eq!(
            explained(&root, &[], &["image.name=y"], "image"),
            [
                "c/values.yaml:1 set {\"name\":\"x\",\"tag\":\"1\"}",
                "--set:1 merged {\"name\":\"y\"}",
                "{\"name\":\"y\",\"tag\":\"1\"}",
            ]
        );
    }

    #[test]
    fn what_erases_or_covers_a_value_is_listed() {
        let root = chart("c", "a:\n  b:\n    c: 1\nl: [{x: 1}, {x: 2}]\n", vec![]);
        assert_eq!(
            explained(&root, &[("u.yaml", "a:\n  b: null\n")], &[], "a.b.c"),
            ["c/values.yaml:3 set 1", "u.yaml:2 erased null at a.b", "none"]
        );
        assert_eq!(
            explained(&root, &[("u.yaml", "a: 5\n")], &["a=null"], "a.b.c"),
            ["c/values.yaml:3 set 1", "u.yaml:1 replaced 5 at a", "none"]
        );
        assert_eq!(
            explained(&root, &[("u.yaml", "l: [{x: 3}]\n")], &[], "l[1].x"),
            ["c/values.yaml:4 set 2", "u.yaml:1 replaced [{\"x\":3}] at l", "none"]
        );
        assert_eq!(explained(&root, &[], &[], "nothing.here"), ["none"]);
    }

    #[test]
    fn sub_charts_rank_below_their_parents() {
        let root = chart("c", "kid:\n  a: 2\n", vec![chart("kid", "a: 1\nb: 1\n", vec![])]);
        assert_eq!(
            explained(&root, &[], &["kid.a=3"], "kid.a"),
            ["kid/values.yaml:1 set 1", "c/values.yaml:2 replaced 2", "--set:1 replaced 3", "3"]
        );
        // In Helm 4 a null of a parent's defaults does not erase.
        let root = chart("c", "kid:\n  a: null\n", vec![chart("kid", "a: 1\n", vec![])]);
        assert_eq!(
            explained(&root, &[], &[], "kid.a"),
            ["c/values.yaml:2 ignored null", "kid/values.yaml:1 set 1", "1"]
        );
    }

    #[test]
    fn globals_of_outer_charts_rank_above() {
        let root = chart(
            "c",
            "global:\n  a: 3\nkid:\n  global:\n    a: 2\n",
            vec![chart("kid", "global:\n  a: 1\n", vec![])],
        );
        assert_eq!(
            explained(&root, &[], &["global.a=4"], "kid.global.a"),
            [
                "kid/values.yaml:2 set 1",
                "c/values.yaml:5 replaced 2",
                "c/values.yaml:2 replaced 3 at global.a",
                "--set:1 replaced 4 at global.a",
                "4",
            ]
        );
        assert_eq!(explained(&root, &[], &[], "global.a"), ["c/values.yaml:2 set 3", "3"]);
    }

    #[test]
    fn paths_are_written_as_for_set() {
        let keys = |path| parse_path(path).expect("a path");
        assert_eq!(keys("a.b\\.c[0][1].d"), ["a", "b.c", "0", "1", "d"]);
        assert!(parse_path("").is_err());
    }
}

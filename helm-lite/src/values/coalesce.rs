//! A chart's values and those of the charts in it, below what the user gives.
//!
//! In: a chart and the values that rank above its own. Out: the values that its templates see, those of its
//! sub-charts under their names. Refuses a sub-chart's section that is no mapping. As Helm's
//! `pkg/chart/common/util/coalesce.go`.

use compact_str::CompactString;
use diagnostic::{Error, Result};
use gotemplate::{Map, fmt::sprintf};
use yamltree::Span;

use super::conflict::Conflicts;
use super::live::{Live, Slot, entries};
use super::merge::UserValues;
use super::table::{Data, Item, Table};
use super::unknown;
use crate::chart::Chart;
use crate::sources::Sources;
use crate::version::HelmVersion;
use crate::warning::Warning;

/// The key of the values that a chart shares with the charts in it.
pub(crate) const GLOBAL: &str = "global";

/// The values that a chart and the charts in it are rendered with.
#[derive(Clone, Debug)]
pub struct Coalesced(Live);

impl Coalesced {
    /// The values for templates. What Helm holds once, such as a table of globals, is one map.
    #[must_use]
    pub fn to_map(&self) -> Map {
        self.0.to_map()
    }

    /// The values as they are.
    #[must_use]
    pub fn to_table(&self) -> Table {
        self.0.freeze()
    }
}

/// The handling of nulls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nulls {
    /// They erase what ranks below them, and themselves: Helm's `CoalesceValues`.
    Erase,
    /// They stay, for a later pass: Helm's `MergeValues`.
    Keep,
}

/// Puts a chart's values, and those of the charts in it, below what a user gives.
///
/// # Errors
/// If the section of a sub-chart is no mapping.
pub fn coalesce(
    chart: &Chart,
    user: &UserValues,
    version: HelmVersion,
    warnings: &mut Vec<Warning>,
) -> Result<Coalesced> {
    let mut conflicts = Conflicts::default();
    let live = coalesce_live(chart, &user.table, Nulls::Erase, version, &mut conflicts)
        .map_err(|refusal| refusal.located(chart, user))?;
    conflicts.warn(chart, user, warnings);
    unknown::warn(chart, user, warnings);
    Ok(Coalesced(live))
}

/// Puts a chart's values, and those of the charts in it, below others, for the passes before the last.
pub(crate) fn coalesce_live(
    chart: &Chart,
    values: &Table,
    nulls: Nulls,
    version: HelmVersion,
    conflicts: &mut Conflicts,
) -> Result<Live, Refusal> {
    let live = Live::new(values);
    let mut pass = Pass { nulls, version, conflicts };
    pass.chart(chart, &live, &Path::ROOT)?;
    Ok(live)
}

/// The section of a sub-chart that is no mapping.
#[derive(Clone, Debug)]
pub(crate) struct Refusal {
    name: String,
    item: Item,
}

impl Refusal {
    /// The error. Helm formats the section with a verb that is none for it.
    pub(crate) fn located(&self, chart: &Chart, user: &UserValues) -> Error {
        let Self { name, item } = self;
        let shown = sprintf(b"%t", &[item.data.to_value()], usize::MAX).unwrap_or_default();
        Error::invalid(format!("type mismatch on {name}: {}", String::from_utf8_lossy(&shown)))
            .at(sources(chart, user).place(item.span))
            .hint(format!("`{name}` is a sub-chart, so its values must be a mapping"))
    }
}

/// The texts behind all places in a chart's and a user's values.
pub(crate) fn sources(chart: &Chart, user: &UserValues) -> Sources {
    let mut sources = user.sources.clone();
    let mut pending = vec![chart];
    while let Some(chart) = pending.pop() {
        sources.extend(&chart.sources);
        pending.extend(&chart.dependencies);
    }
    sources
}

/// Puts the entries of one table below another, and returns that.
pub(crate) fn coalesce_tables(
    over: &Live,
    below: Vec<(CompactString, Slot)>,
    nulls: Nulls,
    version: HelmVersion,
) {
    Pass { nulls, version, conflicts: &mut Conflicts::default() }.tables(over, below, &Path::ROOT);
}

/// The keys that lead to a table, innermost first.
pub(super) struct Path<'p> {
    outer: Option<&'p Path<'p>>,
    key: &'p str,
}

impl Path<'_> {
    const ROOT: Path<'static> = Path { outer: None, key: "" };

    fn join<'p>(&'p self, key: &'p str) -> Path<'p> {
        Path { outer: Some(self), key }
    }

    /// `a.b.c`
    pub(super) fn text(&self) -> String {
        match self.outer {
            None => String::new(),
            Some(outer) if outer.outer.is_none() => self.key.to_owned(),
            Some(outer) => format!("{}.{}", outer.text(), self.key),
        }
    }
}

struct Pass<'c> {
    nulls: Nulls,
    version: HelmVersion,
    conflicts: &'c mut Conflicts,
}

impl Pass<'_> {
    fn chart(&mut self, chart: &Chart, values: &Live, path: &Path<'_>) -> Result<(), Refusal> {
        self.defaults(chart, values, path);
        chart.dependencies.iter().try_for_each(|child| self.child(child, values, path))
    }

    fn child(&mut self, child: &Chart, values: &Live, path: &Path<'_>) -> Result<(), Refusal> {
        let name = child.metadata.name.as_str();
        match values.get(name) {
            None => values.insert(name.into(), Slot::empty(Span::NONE)),
            Some(Slot::Item(item)) if item.data.as_table().is_none() => {
                return Err(Refusal { name: name.to_owned(), item });
            }
            Some(_) => {}
        }
        let Some(section) = values.table(name) else { return Ok(()) };
        let path = path.join(name);
        self.globals(&section, values, &path);
        self.chart(child, &section, &path)
    }

    /// Puts a chart's own values below those that are given.
    fn defaults(&mut self, chart: &Chart, values: &Live, path: &Path<'_>) {
        for (key, item) in chart.values.entries() {
            let path = path.join(key);
            match values.get(key) {
                None => self.add_default(key, item, values),
                Some(slot) if slot.is_null() => {
                    if self.nulls == Nulls::Erase {
                        values.remove(key);
                    }
                }
                Some(slot) => match &item.data {
                    Data::Table(table) => match values.table(key) {
                        Some(over) => self.default_table(chart, key, &over, table, &path),
                        None => self.conflicts.mapping_replaced(&path, slot.span(), item.span),
                    },
                    data if slot.is_table() && !data.is_null() => {
                        self.conflicts.value_ignored(&path, slot.span(), item.span);
                    }
                    _ => {}
                },
            }
        }
    }

    /// A default that nothing stands above.
    fn add_default(&self, key: &CompactString, item: &Item, values: &Live) {
        let mut item = item.clone();
        if self.cleans(self.nulls) {
            match &item.data {
                Data::Null => return,
                Data::Table(table) => item.data = Data::Table(table.without_nulls()),
                _ => {}
            }
        }
        values.insert(key.clone(), Slot::Item(item));
    }

    fn default_table(&mut self, chart: &Chart, key: &str, over: &Live, table: &Table, path: &Path<'_>) {
        let is_child = chart.dependencies.iter().any(|child| child.metadata.name == key);
        // The nulls of a sub-chart's section are for the pass over the sub-chart itself.
        let nulls = if is_child { Nulls::Keep } else { self.nulls };
        let below = if self.cleans(nulls) { entries(&table.without_nulls()) } else { entries(table) };
        let before = std::mem::replace(&mut self.nulls, nulls);
        self.tables(over, below, path);
        self.nulls = before;
    }

    /// Returns true if nulls of a chart's own values are dropped, as only Helm 4 does.
    fn cleans(&self, nulls: Nulls) -> bool {
        nulls == Nulls::Erase && self.version == HelmVersion::V4
    }

    /// Puts the entries of one table below another.
    fn tables(&mut self, over: &Live, below: Vec<(CompactString, Slot)>, path: &Path<'_>) {
        for (key, slot) in below {
            let Some(above) = over.get(&key) else {
                over.insert(key, slot);
                continue;
            };
            let path = path.join(&key);
            if above.is_null() {
                // Helm 4 keeps a null that has nothing to erase.
                if self.nulls == Nulls::Erase && (self.version == HelmVersion::V3 || !slot.is_null()) {
                    over.remove(&key);
                }
            } else if let Some(below) = slot.entries() {
                match over.table(&key) {
                    Some(over) => self.tables(&over, below, &path),
                    None => self.conflicts.mapping_replaced(&path, above.span(), slot.span()),
                }
            } else if above.is_table() && !slot.is_null() {
                self.conflicts.value_ignored(&path, above.span(), slot.span());
            }
        }
    }

    /// Puts a chart's globals above those in the section of one of its sub-charts.
    fn globals(&mut self, section: &Live, values: &Live, path: &Path<'_>) {
        let path = path.join(GLOBAL);
        let Some(found) = section.get(GLOBAL).map_or(Some(Live::default()), |_| section.table(GLOBAL)) else {
            return;
        };
        let Some(given) = values.get(GLOBAL).map_or(Some(Live::default()), |_| values.table(GLOBAL)) else {
            return;
        };
        for (key, slot) in given.entries() {
            let path = path.join(&key);
            let own = found.get(&key);
            let Some(table) = given.table(&key) else {
                if !own.is_some_and(|own| own.is_table()) {
                    found.insert(key, slot);
                }
                continue;
            };
            let copy = table.shallow_copy();
            if let Some(own) = own {
                let Some(below) = own.entries() else {
                    self.conflicts.value_ignored(&path, slot.span(), own.span());
                    continue;
                };
                // Nulls stay until the sub-chart's own values are put below.
                let before = std::mem::replace(&mut self.nulls, Nulls::Keep);
                self.tables(&copy, below, &path);
                self.nulls = before;
            }
            found.insert(key, Slot::Live(copy, slot.span()));
        }
        let span = section.get(GLOBAL).map_or(Span::NONE, |slot| slot.span());
        section.insert(GLOBAL.into(), Slot::Live(found, span));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::testing::{chart, table_json, user};
    use crate::warning::Code;

    fn coalesced(chart: &Chart, values: &str, version: HelmVersion) -> Result<String, String> {
        coalesce(chart, &user(values), version, &mut Vec::new())
            .map(|values| table_json(&values.to_table()))
            .map_err(|error| error.message().to_owned())
    }

    #[track_caller]
    fn check(root: &str, kid: Option<&str>, values: &str, wanted: &str) {
        let kids = kid.map(|kid| chart("kid", kid, vec![])).into_iter().collect();
        let found = coalesced(&chart("c", root, kids), values, HelmVersion::V4);
        assert_eq!(found.as_deref(), Ok(wanted), "{root} {kid:?} {values}");
    }

    // The answers are those of `helm template` 4.3.1 for a template that prints `.Values`.

    #[test]
    fn user_values_rank_above_defaults() {
        check(
            "a: 1\nb: {c: 1, d: {e: 1}}\nl: [1, null]\n",
            None,
            "a: null\nb: {d: {e: null, f: 2}}\nl: [3]\nnew: null\n",
            r#"{"b":{"c":1,"d":{"f":2}},"l":[3],"new":null}"#,
        );
        check(
            "a: {b: 1}\nc: 1\nd: null\n",
            None,
            "a: x\nc: {d: 1}\nd: {e: 1}\n",
            r#"{"a":"x","c":{"d":1},"d":{"e":1}}"#,
        );
        check("t: {a: {b: 1}, c: 1}\n", None, "t: {a: x, c: {d: 1}}\n", r#"{"t":{"a":"x","c":{"d":1}}}"#);
    }

    #[test]
    fn nulls_among_defaults_vanish() {
        let root = "a: null\nb: {c: null, d: {e: null, f: 1}}\nl: [null]\n";
        check(root, None, "{}", r#"{"b":{"d":{"f":1}},"l":[null]}"#);
        check(
            root,
            None,
            "b: {g: 1, h: null, d: {q: null}}\na: null\n",
            r#"{"b":{"d":{"f":1,"q":null},"g":1,"h":null},"l":[null]}"#,
        );
    }

    #[test]
    fn sub_charts_have_sections() {
        let kid = "a: 1\nb: {c: 1, d: 2}\n";
        // A null in the parent's defaults does not erase what the sub-chart has.
        check(
            "kid: {a: null, b: {c: null}}\n",
            Some(kid),
            "{}",
            r#"{"kid":{"a":1,"b":{"c":1,"d":2},"global":{}}}"#,
        );
        check(
            "{}",
            Some(kid),
            "kid: {a: null, b: {c: null}, u: null}\n",
            r#"{"kid":{"b":{"d":2},"global":{},"u":null}}"#,
        );
        check("kid: null\n", Some("a: 1\n"), "{}", r#"{"kid":{"a":1,"global":{}}}"#);
    }

    #[test]
    fn globals_of_the_parent_rank_above() {
        check(
            "global: {a: 1, t: {x: 1, n: null}, s: {q: 1}}\n",
            Some("global: {a: 2, b: 3, t: {x: 2, z: 2, n: 3}, s: 5}\n"),
            "{}",
            r#"{"global":{"a":1,"s":{"q":1},"t":{"x":1}},"kid":{"global":{"a":1,"b":3,"s":{"q":1},"t":{"false":3,"x":1,"z":2}}}}"#,
        );
        check(
            "global: {a: 1}\nkid: {global: {a: 5, t: {x: 1}}}\n",
            Some("global: {t: {w: 2}}\n"),
            "global: {t: {z: 1}, a: null}\n",
            r#"{"global":{"t":{"z":1}},"kid":{"global":{"a":5,"t":{"w":2,"x":1,"z":1}}}}"#,
        );
        check("global: x\n", Some("global: {a: 1}\n"), "{}", r#"{"global":"x","kid":{"global":{"a":1}}}"#);
        check(
            "global: {a: 1}\n",
            Some("global: x\n"),
            "{}",
            r#"{"global":{"a":1},"kid":{"global":{"a":1}}}"#,
        );
        check(
            "global: {a: {b: 1}}\nkid: {global: x}\n",
            Some("{}"),
            "{}",
            r#"{"global":{"a":{"b":1}},"kid":{"global":"x"}}"#,
        );
    }

    /// Helm copies globals one level deep, so that below it all charts share them.
    #[test]
    fn deep_globals_are_shared() {
        let kids = vec![
            chart("k1", "global: {a: {b: {z: 2}, c: 1}, d: {e: 1}}\n", vec![]),
            chart("k2", "global: {a: {b: {z: 3, w: 2}}}\n", vec![]),
        ];
        let root = chart("c", "global: {a: {b: {x: 1}}}\n", kids);
        let values = coalesce(&root, &user("{}"), HelmVersion::V4, &mut Vec::new()).expect("values");
        assert_eq!(
            table_json(&values.to_table()),
            r#"{"global":{"a":{"b":{"w":2,"x":1,"z":2}}},"k1":{"global":{"a":{"b":{"w":2,"x":1,"z":2},"c":1},"d":{"e":1}}},"k2":{"global":{"a":{"b":{"w":2,"x":1,"z":2}}}}}"#
        );
        let map = values.to_map();
        let at = |path: &[&str]| {
            let map = path.iter().try_fold(map.clone(), |map, key| map.get(key)?.as_map().cloned());
            map.expect("a map")
        };
        assert!(at(&["global", "a", "b"]).same(&at(&["k2", "global", "a", "b"])));
        assert!(!at(&["global", "a"]).same(&at(&["k2", "global", "a"])));
    }

    #[test]
    fn a_section_that_is_no_mapping_is_refused() {
        for (value, shown) in [
            ("5", "%!t(float64=5)"),
            ("x", "%!t(string=x)"),
            ("true", "true"),
            ("[1, a]", "[%!t(float64=1) %!t(string=a)]"),
        ] {
            let root = chart("c", &format!("other: 1\nkid: {value}\n"), vec![chart("kid", "a: 1\n", vec![])]);
            let error = coalesce(&root, &user("{}"), HelmVersion::V4, &mut Vec::new()).unwrap_err();
            assert_eq!(error.message(), format!("type mismatch on kid: {shown}"));
            assert_eq!(error.location().map(ToString::to_string).as_deref(), Some("c/values.yaml:2:1"));
        }
        let error =
            coalesced(&chart("c", "{}", vec![chart("kid", "", vec![])]), "kid: null", HelmVersion::V4);
        assert_eq!(error, Err("type mismatch on kid: %!t(<nil>)".to_owned()));
    }

    /// As the source of Helm 3.17 has it: nulls of defaults stay, and any null that meets a key is gone.
    #[test]
    fn helm_3_keeps_nulls_of_defaults() {
        let kid = chart("kid", "a: 1\nb: {c: 1, d: 2}\n", vec![]);
        let root =
            chart("c", "z: null\nt: {z: null, m: {o: null}}\nkid: {a: null, b: {c: null}}\n", vec![kid]);
        assert_eq!(
            coalesced(&root, "t: {z: null}", HelmVersion::V3).as_deref(),
            Ok(r#"{"kid":{"b":{"d":2},"global":{}},"t":{"m":{"o":null}},"z":null}"#)
        );
    }

    #[test]
    fn conflicts_are_warned_of_once() {
        let root = chart("c", "a: {b: 1}\nc: 1\nkid: {t: 1}\n", vec![chart("kid", "t: {x: 1}\n", vec![])]);
        let mut warnings = Vec::new();
        coalesce(&root, &user("\na: x\nc: {d: 1}\n"), HelmVersion::V4, &mut warnings).expect("values");
        let found: Vec<_> = warnings
            .iter()
            .map(|warning| {
                let place = warning.location.as_ref().map(ToString::to_string).unwrap_or_default();
                (warning.code, warning.message.as_str(), place)
            })
            .collect();
        let wanted = [
            (
                Code::MapReplaced,
                "`a` is a mapping in the chart (c/values.yaml:1) and is replaced by a value that is not a mapping",
                "user.yaml:2:1",
            ),
            (
                Code::ValueIgnored,
                "`c` of the chart (c/values.yaml:2) is ignored because it is given as a mapping",
                "user.yaml:3:1",
            ),
            (
                Code::MapReplaced,
                "`kid.t` is a mapping in the chart (kid/values.yaml:1) and is replaced by a value that is not a mapping",
                "c/values.yaml:3:7",
            ),
        ];
        assert_eq!(found, wanted.map(|(code, message, place)| (code, message, place.to_owned())));
    }
}

//! Which of the charts in a chart take part, under which names, and which of their values the chart imports.
//!
//! In: a chart as it was read and the user's values. Out: the chart with those that its `dependencies` enable, and
//! with values that hold what they export. Refuses sections of sub-charts that are no mappings. As Helm's
//! `pkg/chart/v2/util/dependencies.go`.

use std::collections::HashSet;

use diagnostic::{Error, ErrorKind, Result};
use gotemplate::semver::{Constraints, Version};
use yamltree::{Dialect, Entry, MAX_DEPTH, Node, Resolved, Span};

use crate::chart::{Chart, Dependency};
use crate::sources::Sources;
use crate::values::{
    Conflicts, Data, Item, Live, Nulls, Slot, Table, UserValues, coalesce_live, coalesce_tables, sources,
};
use crate::version::HelmVersion;
use crate::warning::{Code, Warning};

/// Processes the dependencies of a chart and of the charts in it.
///
/// # Errors
/// If the section of a sub-chart is no mapping.
pub(crate) fn process_dependencies(
    chart: &mut Chart,
    user: &UserValues,
    version: HelmVersion,
    warnings: &mut Vec<Warning>,
) -> Result<()> {
    let mut processing = Processing { user, version, sources: sources(chart, user), warnings };
    processing
        .enable(chart, &user.table, "")
        .and_then(|()| processing.import_all(chart))
        .map_err(|error| error.prefix("chart dependencies processing failed"))
}

struct Processing<'p> {
    user: &'p UserValues,
    version: HelmVersion,
    sources: Sources,
    warnings: &'p mut Vec<Warning>,
}

impl Processing<'_> {
    /// Keeps the charts that are enabled by `values`, which are the root chart's. `path` leads to this chart's section
    /// and ends in a dot, unless it is empty.
    fn enable(&mut self, chart: &mut Chart, values: &Table, path: &str) -> Result<()> {
        if !declares_dependencies(chart) {
            return Ok(());
        }
        choose(chart);
        // Helm coalesces the chart at the root of the values wherever the chart stands, which adds its tags to them.
        let coalesced = coalesce_live(chart, values, Nulls::Erase, self.version, &mut Conflicts::default())
            .map_err(|refusal| refusal.located(chart, self.user))?;
        for dependency in &mut chart.metadata.dependencies {
            dependency.enabled = self
                .by_condition(dependency, &coalesced, path)
                .unwrap_or_else(|| self.by_tags(dependency, &coalesced));
        }
        let disabled: HashSet<_> = chart
            .metadata
            .dependencies
            .extract_if(.., |dependency| !dependency.enabled)
            .map(|dependency| dependency.name)
            .collect();
        chart.dependencies.retain(|child| !disabled.contains(&child.metadata.name));
        if chart.dependencies.iter().any(declares_dependencies) {
            let values = coalesced.freeze();
            for child in &mut chart.dependencies {
                let path = format!("{path}{}.", child.metadata.name);
                self.enable(child, &values, &path)?;
            }
        }
        Ok(())
    }

    /// Returns what the first of a dependency's conditions that is a boolean says.
    fn by_condition(&mut self, dependency: &Dependency, values: &Live, path: &str) -> Option<bool> {
        for condition in dependency.condition.trim().split(',').filter(|condition| !condition.is_empty()) {
            let path = format!("{path}{condition}");
            let keys: Vec<&str> = path.split('.').collect();
            match values.lookup(&keys) {
                Some(Slot::Item(Item { data: Data::Bool(value), .. })) => return Some(value),
                Some(slot) if !slot.is_table() => {
                    let message =
                        format!("the condition `{condition}` of `{}` is not a boolean", dependency.name);
                    self.warn(Code::NotBoolean, message, slot.span());
                }
                _ => {}
            }
        }
        None
    }

    /// Returns what a dependency's tags say: yes, unless all that are set are false.
    fn by_tags(&mut self, dependency: &Dependency, values: &Live) -> bool {
        let Some(tags) = values.table("tags") else { return true };
        let (mut has_true, mut has_false) = (false, false);
        for tag in &dependency.tags {
            match tags.get(tag) {
                Some(Slot::Item(Item { data: Data::Bool(true), .. })) => has_true = true,
                Some(Slot::Item(Item { data: Data::Bool(false), .. })) => has_false = true,
                Some(slot) => {
                    let message = format!("the tag `{tag}` of `{}` is not a boolean", dependency.name);
                    self.warn(Code::NotBoolean, message, slot.span());
                }
                None => {}
            }
        }
        has_true || !has_false
    }

    /// Imports values into charts, the innermost first.
    fn import_all(&mut self, chart: &mut Chart) -> Result<()> {
        chart.dependencies.iter_mut().try_for_each(|child| self.import_all(child))?;
        if chart.metadata.dependencies.is_empty() {
            return Ok(());
        }
        // The chart's values take in those of its sub-charts, even where nothing is imported.
        let merged =
            coalesce_live(chart, &Table::default(), Nulls::Keep, self.version, &mut Conflicts::default())
                .map_err(|refusal| refusal.located(chart, self.user))?;
        let imported = Live::default();
        for dependency in &mut chart.metadata.dependencies {
            let mut imports = Vec::with_capacity(dependency.import_values.len());
            for written in &dependency.import_values {
                let Some(import) = Import::read(written) else { continue };
                match merged_table(&merged, &dependency.name, &import.child) {
                    Some(table) => import.place(table, &imported, self.version)?,
                    None => {
                        let message =
                            format!("`{}` lacks the mapping `{}` to import", dependency.name, import.child);
                        self.warn(Code::MissingImport, message, written.span);
                    }
                }
                imports.push(import.node());
            }
            dependency.import_values = imports;
        }
        // What the chart says itself ranks above what it imports.
        let values = Live::new(&merged.freeze());
        coalesce_tables(&values, imported.entries(), Nulls::Keep, self.version);
        chart.values = values.freeze();
        Ok(())
    }

    fn warn(&mut self, code: Code, message: String, span: Span) {
        self.warnings.push(Warning::new(code, message).at(self.sources.place(span)));
    }
}

/// Returns true if a chart has a list of dependencies, were it an empty one. Where there is none Helm looks no deeper.
fn declares_dependencies(chart: &Chart) -> bool {
    chart.metadata.declares_dependencies()
}

/// Leaves the charts that are not declared, or not in a version that is, and behind them one for each declared
/// dependency that has a chart, under its alias.
fn choose(chart: &mut Chart) {
    let declared = &mut chart.metadata.dependencies;
    let versions: Vec<_> = declared.iter().map(|one| Constraints::parse(&one.version).ok()).collect();
    let fits = |child: &Chart, at: usize| {
        let is_in = |constraints: &Constraints| {
            Version::parse(&child.metadata.version).is_ok_and(|version| constraints.check(&version))
        };
        child.metadata.name == declared[at].name && versions[at].as_ref().is_some_and(is_in)
    };
    let found: Vec<Option<usize>> =
        (0..declared.len()).map(|at| chart.dependencies.iter().position(|child| fits(child, at))).collect();
    let is_declared: Vec<bool> =
        chart.dependencies.iter().map(|child| (0..declared.len()).any(|at| fits(child, at))).collect();
    let mut left: Vec<Option<Chart>> = chart.dependencies.drain(..).map(Some).collect();
    let undeclared = left.iter_mut().zip(&is_declared).filter(|(_, is_declared)| !**is_declared);
    chart.dependencies.extend(undeclared.filter_map(|(child, _)| child.take()));
    for (at, dependency) in declared.iter_mut().enumerate() {
        if let Some(place) = found[at] {
            let is_needed_again = found[at + 1..].contains(&Some(place));
            let child = if is_needed_again { left[place].clone() } else { left[place].take() };
            chart.dependencies.extend(child.map(|mut child| {
                if !dependency.alias.is_empty() {
                    child.metadata.name.clone_from(&dependency.alias);
                }
                child
            }));
        }
        if !dependency.alias.is_empty() {
            dependency.name.clone_from(&dependency.alias);
        }
    }
}

/// The table at a dotted path below a dependency's section.
fn merged_table(merged: &Live, dependency: &str, child: &str) -> Option<Live> {
    std::iter::once(dependency)
        .chain(child.split('.'))
        .try_fold(merged.clone(), |table, key| table.table(key))
}

/// An entry of `import-values`.
pub(crate) struct Import {
    /// The path of a table below the dependency's section.
    pub(crate) child: String,
    /// The path in the parent where its entries go; `.` for the root.
    pub(crate) parent: String,
}

impl Import {
    /// Reads either form of an entry; Helm passes over any other.
    pub(crate) fn read(node: &Node) -> Option<Self> {
        if node.is_mapping() {
            let field = |key| node.get(key).map_or_else(|| "<nil>".to_owned(), shown);
            return Some(Self { child: field("child"), parent: field("parent") });
        }
        match node.resolved(Dialect::V2) {
            Ok(Resolved::Str | Resolved::Timestamp(_)) => {
                Some(Self { child: format!("exports.{}", node.text()?), parent: ".".to_owned() })
            }
            _ => None,
        }
    }

    /// Puts a table's entries where they are to go, below those that are there.
    fn place(&self, table: Live, imported: &Live, version: HelmVersion) -> Result<()> {
        if self.parent == "." {
            coalesce_tables(imported, table.entries(), Nulls::Keep, version);
            return Ok(());
        }
        let keys: Vec<&str> = self.parent.split('.').collect();
        if keys.len() > MAX_DEPTH {
            let message = format!("import-values: a path of more than {MAX_DEPTH} keys");
            return Err(Error::new(ErrorKind::Limit, message));
        }
        let nested = keys.iter().skip(1).rev().fold(table, |inner, key| {
            let outer = Live::default();
            outer.insert((*key).into(), Slot::Live(inner, Span::NONE));
            outer
        });
        let entry = (keys[0].into(), Slot::Live(nested, Span::NONE));
        coalesce_tables(imported, vec![entry], Nulls::Keep, version);
        Ok(())
    }

    /// The entry as Helm leaves it behind.
    fn node(&self) -> Node {
        Node::mapping(vec![
            Entry::new("child", Node::string(&self.child)),
            Entry::new("parent", Node::string(&self.parent)),
        ])
    }
}

/// A value as Go's `%v` prints it.
fn shown(node: &Node) -> String {
    match node.resolved(Dialect::V2) {
        Ok(Resolved::Null) | Err(_) => "<nil>".to_owned(),
        Ok(Resolved::Bool(value)) => value.to_string(),
        Ok(_) => node.text().unwrap_or_default().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::File;
    use crate::values::coalesce;
    use crate::values::testing::{table_json, user};

    /// The files of a chart whose paths begin with `at`; `dependencies` are lines of a YAML list.
    fn chart_files(at: &str, name: &str, dependencies: &str, values: &str) -> [File; 2] {
        let list =
            if dependencies.is_empty() { String::new() } else { format!("dependencies:\n{dependencies}") };
        let metadata = format!("apiVersion: v2\nname: {name}\nversion: 0.1.0\n{list}");
        [
            File::new(format!("{at}Chart.yaml"), metadata.as_bytes()),
            File::new(format!("{at}values.yaml"), values.as_bytes()),
        ]
    }

    struct Case {
        files: Vec<File>,
        values: &'static str,
    }

    impl Case {
        fn new(dependencies: &str, values: &str) -> Self {
            Self { files: chart_files("", "c", dependencies, values).to_vec(), values: "{}" }
        }

        fn with(mut self, at: &str, dependencies: &str, values: &str) -> Self {
            let name = at.rsplit('/').next().expect("a name");
            let folder = format!("charts/{}/", at.replace('/', "/charts/"));
            self.files.extend(chart_files(&folder, name, dependencies, values));
            self
        }

        fn given(mut self, values: &'static str) -> Self {
            self.values = values;
            self
        }

        fn run(self) -> (Result<Chart, String>, Vec<Warning>) {
            let mut chart = Chart::load(self.files, "c", HelmVersion::V4).expect("a chart");
            let mut warnings = std::mem::take(&mut chart.warnings);
            let done = process_dependencies(&mut chart, &user(self.values), HelmVersion::V4, &mut warnings);
            (done.map(|()| chart).map_err(|error| error.message().to_owned()), warnings)
        }

        #[track_caller]
        fn gives(self, charts: &[&str], wanted: &str) {
            let values = self.values;
            let chart = self.run().0.expect("a chart");
            let mut names = Vec::new();
            list(&chart, "", &mut names);
            assert_eq!(names, charts);
            let coalesced =
                coalesce(&chart, &user(values), HelmVersion::V4, &mut Vec::new()).expect("values");
            assert_eq!(table_json(&coalesced.to_table()), wanted);
        }
    }

    fn list(chart: &Chart, path: &str, names: &mut Vec<String>) {
        for child in &chart.dependencies {
            let path = format!("{path}{}", child.metadata.name);
            list(child, &format!("{path}/"), names);
            names.push(path);
        }
    }

    // The answers are those of `helm template` 4.3.1 for templates that print `.Values`.

    #[test]
    fn conditions_rank_above_tags() {
        Case::new(
            "- {name: a, version: 0.1.0, condition: 'a.e,b.e'}\n\
             - {name: b, version: '>=0', condition: x.w, tags: [t]}\n\
             - {name: d, version: 0.x, tags: [t, u]}\n",
            "a: {e: false}\nx: {w: true}\ntags: {t: false}\n",
        )
        .with("a", "", "{}")
        .with("b", "", "{}")
        .with("d", "", "{}")
        .with("e", "", "{}")
        .gives(
            &["e", "b"],
            r#"{"a":{"e":false},"b":{"global":{}},"e":{"global":{}},"tags":{"t":false},"x":{"w":true}}"#,
        );
        // The chart's own values count too.
        Case::new("- {name: a, version: 0.1.0, condition: a.e}\n", "{}")
            .with("a", "", "e: false\n")
            .gives(&[], "{}");
    }

    #[test]
    fn a_condition_that_is_no_boolean_is_passed_over() {
        let (chart, warnings) = Case::new(
            "- {name: a, version: 0.1.0, condition: 'a.e,b.e'}\n",
            "a: {e: 'false'}\nb: {e: false}\n",
        )
        .with("a", "", "{}")
        .run();
        assert!(chart.expect("a chart").dependencies.is_empty());
        let [warning] = warnings.as_slice() else { panic!("one warning") };
        assert_eq!(
            (warning.code, warning.message.as_str()),
            (Code::NotBoolean, "the condition `a.e` of `a` is not a boolean")
        );
        let place = warning.location.as_ref().map(ToString::to_string);
        assert_eq!(place.as_deref(), Some("c/values.yaml:1:5"));
    }

    #[test]
    fn an_alias_is_a_copy_under_another_name() {
        Case::new(
            "- {name: a, version: 0.1.0, alias: x}\n\
             - {name: a, version: 0.1.0, alias: w, condition: w.e}\n\
             - {name: a, version: 0.1.0}\n",
            "w: {e: false}\nx: {w: 1}\n",
        )
        .with("a", "", "v: 1\n")
        .gives(&["x", "a"], r#"{"a":{"global":{},"v":1},"w":{"e":false},"x":{"global":{},"v":1,"w":1}}"#);
    }

    /// It is as if it were not declared: no condition holds for it.
    #[test]
    fn a_version_that_does_not_fit_is_not_the_one_declared() {
        Case::new(
            "- {name: a, version: 9.x, condition: a.e}\n- {name: a, version: 0.1.0, alias: z, condition: z.e}\n",
            "a: {e: false}\n",
        )
        .with("a", "", "v: 1\n")
        .gives(&["z"], r#"{"a":{"e":false},"z":{"global":{},"v":1}}"#);
        Case::new("- {name: a, version: 9.x}\n", "{}")
            .with("a", "", "v: 1\n")
            .gives(&["a"], r#"{"a":{"global":{},"v":1}}"#);
    }

    fn nested(dependencies: &str, values: &str) -> Case {
        Case::new(dependencies, values)
            .with(
                "m",
                "- {name: inner, version: 0.1.0, condition: inner.e}\n- {name: in2, version: 0.1.0, tags: [t]}\n",
                "inner: {e: false}\ntags: {t: false}\n",
            )
            .with("m/inner", "", "{}")
            .with("m/in2", "", "{}")
    }

    #[test]
    fn charts_in_charts_are_processed() {
        let dependencies = "- {name: m, version: 0.1.0}\n";
        nested(dependencies, "{}")
            .gives(&["m"], r#"{"m":{"global":{},"inner":{"e":false},"tags":{"t":false}}}"#);
        // Conditions are read below the chart's section, tags at the root, where the chart's own rank lowest.
        nested(dependencies, "tags: {t: true}\nm: {inner: {e: true}}\n").gives(
            &["m/inner", "m/in2", "m"],
            r#"{"m":{"global":{},"in2":{"global":{}},"inner":{"e":true,"global":{}},"tags":{"t":false}},"tags":{"t":true}}"#,
        );
        let (refused, _) = nested(dependencies, "in2: 5\n").run();
        assert_eq!(
            refused.map(|_| ()),
            Err("chart dependencies processing failed: type mismatch on in2: %!t(float64=5)".to_owned())
        );
    }

    #[test]
    fn without_a_list_nothing_below_is_processed() {
        let all =
            r#"{"m":{"global":{},"in2":{"global":{}},"inner":{"e":false,"global":{}},"tags":{"t":false}}}"#;
        nested("", "{}").gives(&["m/in2", "m/inner", "m"], all);
        let mut case = nested("", "{}");
        case.files[0] =
            File::new("Chart.yaml", b"apiVersion: v2\nname: c\nversion: 0.1.0\ndependencies: []\n");
        case.gives(&["m"], r#"{"m":{"global":{},"inner":{"e":false},"tags":{"t":false}}}"#);
    }

    #[test]
    fn values_are_imported() {
        let case = Case::new(
            "- {name: a, version: 0.1.0, import-values: \
             [data, {child: c.d, parent: p.q}, {child: nope, parent: x}, {child: v, parent: .}, 5]}\n",
            "own: 1\np: {q: {x: 0}}\n",
        )
        .with(
            "a",
            "",
            "exports: {data: {own: 2, more: 3, z: null}}\nc: {d: {x: 1, z: 2, w: null}}\nv: {w: 1}\n",
        );
        let (chart, warnings) = Case { files: case.files.clone(), values: "{}" }.run();
        let imports = &chart.expect("a chart").metadata.dependencies[0].import_values;
        let sides = imports
            .iter()
            .map(|node| (node.get("child").and_then(Node::text), node.get("parent").and_then(Node::text)));
        assert_eq!(
            sides.collect::<Vec<_>>(),
            [
                (Some("exports.data"), Some(".")),
                (Some("c.d"), Some("p.q")),
                (Some("nope"), Some("x")),
                (Some("v"), Some("."))
            ]
        );
        assert_eq!(warnings.iter().map(|warning| warning.code).collect::<Vec<_>>(), [Code::MissingImport]);
        case.gives(
            &["a"],
            r#"{"a":{"c":{"d":{"x":1,"z":2}},"exports":{"data":{"more":3,"own":2}},"global":{},"v":{"w":1}},"more":3,"own":1,"p":{"q":{"x":0,"z":2}},"w":1}"#,
        );
        Case::new("- {name: a, version: 0.1.0, alias: al, import-values: [t]}\n", "{}")
            .with("a", "", "exports: {t: {x: 1, m: {q: 1}}}\n")
            .given("x: null\nal: {exports: {t: {m: null}}}\n")
            .gives(&["al"], r#"{"al":{"exports":{"t":{"x":1}},"global":{}},"m":{"q":1}}"#);
    }

    /// Helm puts the first chart's own map into the parent, and there merges the second one's into it.
    #[test]
    fn imports_into_one_place_meet_in_the_first_chart_too() {
        Case::new(
            "- {name: a, version: 0.1.0, import-values: [{child: t, parent: p}]}\n\
             - {name: b, version: 0.1.0, import-values: [{child: t, parent: p}]}\n",
            "{}",
        )
        .with("a", "", "t: {x: 1, m: {q: 1}}\n")
        .with("b", "", "t: {x: 2, z: 2, m: {w: 1}}\n")
        .gives(
            &["a", "b"],
            r#"{"a":{"global":{},"t":{"m":{"q":1,"w":1},"x":1,"z":2}},"b":{"global":{},"t":{"m":{"w":1},"x":2,"z":2}},"p":{"m":{"q":1,"w":1},"x":1,"z":2}}"#,
        );
        Case::new(
            "- {name: a, version: 0.1.0, import-values: [t]}\n- {name: b, version: 0.1.0, import-values: [t]}\n",
            "{}",
        )
        .with("a", "", "exports: {t: {x: 1, m: {q: 1}}}\n")
        .with("b", "", "exports: {t: {x: 2, z: 2, m: {w: 1}}}\n")
        .gives(
            &["a", "b"],
            r#"{"a":{"exports":{"t":{"m":{"q":1,"w":1},"x":1}},"global":{}},"b":{"exports":{"t":{"m":{"w":1},"x":2,"z":2}},"global":{}},"m":{"q":1,"w":1},"x":1,"z":2}"#,
        );
    }

    #[test]
    fn imports_pass_from_level_to_level() {
        Case::new("- {name: m, version: 0.1.0, import-values: [t]}\n", "{}")
            .with(
                "m",
                "- {name: i, version: 0.1.0, import-values: [{child: z, parent: exports.t}]}\n",
                "exports: {t: {o: 1}}\n",
            )
            .with("m/i", "", "z: {deep: 1, o: 2}\n")
            .gives(
                &["m/i", "m"],
                r#"{"deep":1,"m":{"exports":{"t":{"deep":1,"o":1}},"global":{},"i":{"global":{},"z":{"deep":1,"o":2}}},"o":1}"#,
            );
    }
}

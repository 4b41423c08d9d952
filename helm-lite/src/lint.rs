//! The linter: what is wrong with a chart, or not as it should be, as `helm lint` says it.
//!
//! In: a chart's folder as far as rules look at it, the chart read from it, and the values of a user. Out: messages in
//! Helm's order and words. A chart that cannot be read is a message, too.

mod addresses;
mod chart_file;
mod deprecations;
mod manifests;
mod names;

use std::collections::{HashMap, HashSet};
use std::fmt;

use diagnostic::Result;

use self::manifests::Files;
use crate::chart::{Chart, Dependency};
use crate::dependencies::process_dependencies;
use crate::options::Options;
use crate::render::render;
use crate::schema::{validate_values, violations};
use crate::sources::Sources;
use crate::values::{self, Data, Table, UserValues};
use crate::version::HelmVersion;

/// The severity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Good to know.
    Info,
    /// Not as it should be.
    Warning,
    /// The chart will not install.
    Error,
}

/// Something that a linter has to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The severity.
    pub severity: Severity,
    /// The file or folder in the chart, or the chart's own.
    pub path: String,
    /// The message.
    pub text: String,
}

/// An entry of a chart's directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// Nothing.
    Nothing,
    /// A folder.
    Folder,
    /// Something else.
    Other,
}

/// A chart's folder. Files are as they stand there, whatever `.helmignore` says.
#[derive(Clone, Debug)]
pub struct Folder<'f> {
    /// Its path, for messages.
    pub path: &'f str,
    /// `Chart.yaml`
    pub chart_file: &'f [u8],
    /// `values.yaml`
    pub values: Option<&'f [u8]>,
    /// `values.schema.json`
    pub schema: Option<&'f [u8]>,
    /// `templates`
    pub templates: Found,
    /// `crds`
    pub crds: Found,
    /// The chart in it.
    pub chart: Result<Chart>,
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Info => "INFO",
            Severity::Warning => "WARNING",
            Severity::Error => "ERROR",
        };
        write!(f, "[{severity}] {}: {}", self.path, self.text)
    }
}

/// Looks at a chart. `options` are those of a rendering; `checks_schemas` is whether values are checked by schemas.
#[must_use]
pub fn lint(
    folder: &Folder<'_>,
    user: &UserValues,
    options: &Options<'_>,
    checks_schemas: bool,
) -> Vec<Message> {
    let mut linter = Linter { folder, user, options, checks_schemas, messages: Vec::new() };
    chart_file::lint(folder.chart_file, &mut linter.messages);
    linter.values();
    linter.templates();
    linter.dependencies();
    linter.crds();
    linter.messages
}

struct Linter<'l> {
    folder: &'l Folder<'l>,
    user: &'l UserValues,
    options: &'l Options<'l>,
    checks_schemas: bool,
    messages: Vec<Message>,
}

impl Linter<'_> {
    fn say(&mut self, severity: Severity, path: &str, text: impl Into<String>) {
        self.messages.push(Message { severity, path: path.to_owned(), text: text.into() });
    }

    fn values(&mut self) {
        const FILE: &str = "values.yaml";
        let Some(data) = self.folder.values else {
            return self.say(Severity::Info, FILE, "file does not exist");
        };
        // Of this file Helm reads one document here, as its third generation did.
        match values::load(data, FILE, HelmVersion::V3, &mut Sources::default(), &mut Vec::new()) {
            Err(error) => {
                let reason = error.message().replace("map[string]interface {}", "common.Values");
                self.say(Severity::Error, FILE, format!("unable to parse YAML: {reason}"));
            }
            Ok(table) if self.checks_schemas => {
                let schema = self.folder.schema.filter(|schema| !schema.is_empty());
                let together = with_overrides(&table, &self.user.table);
                if let Some(text) = schema.and_then(|schema| violations(schema, &together)) {
                    self.say(Severity::Error, FILE, text);
                }
            }
            Ok(_) => {}
        }
    }

    fn templates(&mut self) {
        const FOLDER: &str = "templates/";
        match self.folder.templates {
            Found::Nothing => return self.say(Severity::Warning, FOLDER, "directory does not exist"),
            Found::Other => return self.say(Severity::Error, FOLDER, "not a directory"),
            Found::Folder => {}
        }
        let chart = match &self.folder.chart {
            Ok(chart) => chart,
            Err(error) => return self.say(Severity::Error, FOLDER, error.message()),
        };
        let mut enabled = chart.clone();
        let version = HelmVersion::V4;
        if process_dependencies(&mut enabled, self.user, version, &mut Vec::new()).is_err() {
            return;
        }
        let coalesce = |user: &UserValues| values::coalesce(&enabled, user, version, &mut Vec::new());
        let Ok(coalesced) = coalesce(self.user) else { return };
        // Helm does it twice here, and so a default that a null took away is back.
        let again = UserValues { table: coalesced.to_table(), ..self.user.clone() };
        let Ok(coalesced) = coalesce(&again) else { return };
        let checked = || validate_values(&enabled, &coalesced.to_table(), self.user, &mut Vec::new());
        let rendered = if self.checks_schemas { checked() } else { Ok(()) }
            .and_then(|()| render(&enabled, &coalesced.to_map(), self.user, self.options));
        let rendered = match rendered {
            Ok(rendered) => rendered,
            Err(error) => return self.say(Severity::Error, FOLDER, error.message()),
        };
        let texts: HashMap<&str, &str> =
            rendered.files.iter().map(|file| (file.path.as_str(), file.text.as_str())).collect();
        let mut files = Files { messages: &mut self.messages, cluster: &self.options.kube_version };
        for template in &enabled.templates {
            let path = format!("{}/{}", enabled.metadata.name, template.name);
            let text = texts.get(path.as_str()).copied().unwrap_or_default();
            if !files.template(&template.name, text) {
                return;
            }
        }
    }

    fn dependencies(&mut self) {
        let folder = self.folder;
        let chart = match &folder.chart {
            Ok(chart) => chart,
            Err(error) => {
                return self.say(Severity::Error, "", format!("unable to load chart\n\t{}", error.message()));
            }
        };
        let declared = &chart.metadata.dependencies;
        let mut report = |severity, words: &str, names: Vec<&str>| {
            if !names.is_empty() {
                self.say(severity, folder.path, format!("{words}: {}", names.join(",")));
            }
        };
        let undeclared = chart.dependencies.iter().map(|dependency| dependency.metadata.name.as_str());
        let undeclared = undeclared.filter(|name| !declared.iter().any(|known| known.name == *name));
        report(Severity::Error, "chart metadata is missing these dependencies", undeclared.collect());
        let mut seen = HashSet::new();
        let twice = declared.iter().map(Dependency::local_name).filter(|name| !seen.insert(*name));
        report(Severity::Error, "multiple dependencies with name or alias", twice.collect());
        let missing = declared.iter().map(|dependency| dependency.name.as_str());
        let missing =
            missing.filter(|name| !chart.dependencies.iter().any(|known| known.metadata.name == *name));
        report(Severity::Warning, "chart directory is missing these dependencies", missing.collect());
    }

    fn crds(&mut self) {
        const FOLDER: &str = "crds/";
        match self.folder.crds {
            Found::Nothing => return,
            Found::Other => return self.say(Severity::Error, FOLDER, "not a directory"),
            Found::Folder => {}
        }
        match &self.folder.chart {
            Ok(chart) => {
                let mut files = Files { messages: &mut self.messages, cluster: &self.options.kube_version };
                crds_of(chart, &mut files);
            }
            Err(error) => self.say(Severity::Error, FOLDER, error.message()),
        }
    }
}

/// Returns true if all CRDs of a chart and of those in it could be read.
fn crds_of(chart: &Chart, files: &mut Files<'_>) -> bool {
    chart.files.iter().filter(|file| file.is_crd()).all(|file| files.crds(&file.name, &file.text()))
        && chart.dependencies.iter().all(|dependency| crds_of(dependency, files))
}

/// A chart's values with those of a user over them, whose nulls take values away.
fn with_overrides(values: &Table, user: &Table) -> Table {
    let merged = values::merge_tables(values, user);
    let is_erased = |key: &str| {
        let is_null = user.get(key).is_some_and(|item| matches!(item.data, Data::Null));
        is_null && values.get(key).is_some()
    };
    let kept = merged.entries().iter().filter(|(key, _)| !is_erased(key));
    Table::from_sorted(kept.cloned().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::File;

    const CHART: &str = "apiVersion: v2\nname: c\nversion: 1.0.0\nicon: https://example.com/c.png\n";

    /// Returns what is said of a chart with one template.
    fn said(chart_file: &str, values: &str, schema: Option<&str>, template: &str, user: &str) -> Vec<String> {
        let mut files = vec![
            File::new("Chart.yaml", chart_file.as_bytes()),
            File::new("values.yaml", values.as_bytes()),
            File::new("templates/a.yaml", template.as_bytes()),
        ];
        files.extend(schema.map(|schema| File::new("values.schema.json", schema.as_bytes())));
        let folder = Folder {
            path: "/c",
            chart_file: chart_file.as_bytes(),
            values: Some(values.as_bytes()),
            schema: schema.map(str::as_bytes),
            templates: Found::Folder,
            crds: Found::Nothing,
            chart: Chart::load(files, "c", HelmVersion::V4),
        };
        let mut sources = Sources::default();
        let table = values::load(user.as_bytes(), "user", HelmVersion::V4, &mut sources, &mut Vec::new());
        let user = UserValues { table: table.expect("values"), sources, ..UserValues::default() };
        let options = Options { lint: true, ..Options::default() };
        lint(&folder, &user, &options, true).iter().map(ToString::to_string).collect()
    }

    const POD: &str = "kind: Pod\nmetadata: {name: a}\n";

    /// As `helm lint` says it.
    #[test]
    fn metadata_is_read_strictly() {
        for (chart_file, wanted) in [
            (CHART.to_owned(), Vec::new()),
            (
                format!("{CHART}name: d\n"),
                vec![
                    "[WARNING] Chart.yaml: failed to strictly parse chart metadata file\n\terror converting YAML to JSON: yaml: unmarshal errors:\n  line 5: key \"name\" already set in map",
                ],
            ),
            (
                format!("{CHART}dependencies: []\nmaintainers: [{{name: a, nam: b}}]\n"),
                vec![
                    "[WARNING] Chart.yaml: failed to strictly parse chart metadata file\n\terror unmarshaling JSON: while decoding JSON: json: unknown field \"nam\"",
                ],
            ),
            (
                CHART.replace("1.0.0", "0.0.0-0"),
                vec!["[ERROR] Chart.yaml: version \"0.0.0-0\" is less than or equal to \"0.0.0-0\""],
            ),
        ] {
            assert_eq!(said(&chart_file, "", None, POD, ""), wanted);
        }
    }

    /// As `helm lint` says it: the value that a null takes away is checked in the one place and not in the other.
    #[test]
    fn nulls_count_in_two_ways() {
        let schema = Some("{\"properties\":{\"a\":{\"type\":\"string\"},\"b\":{\"type\":\"string\"}}}");
        assert_eq!(
            said(CHART, "a: null\nb: 1\n", schema, POD, "b: null\n"),
            [
                "[ERROR] values.yaml: - at '/a': got null, want string\n",
                "[ERROR] templates/: values don't meet the specifications of the schema(s) in the following chart(s):\nc:\n- at '/b': got number, want string\n",
            ]
        );
    }

    /// As `helm lint` does: `fail` and `required` do not stop it.
    #[test]
    fn templates_that_give_up_are_looked_at_all_the_same() {
        let template = format!("{{{{ fail \"x\" }}}}{{{{ required \"y\" .Values.y }}}}{POD}");
        assert_eq!(said(CHART, "", None, &template, ""), Vec::<String>::new());
        assert_eq!(
            said(CHART, "", None, "- a\n", ""),
            [
                "[ERROR] templates/a.yaml: unable to parse YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array into Go value of type rules.k8sYamlStruct"
            ]
        );
    }
}

//! Files to a chart: metadata, values, templates, and the charts below `charts/`.
//!
//! In: the files of a chart's folder or archive. Out: the chart with all that it brings along. Refused: what Helm
//! refuses, in its words, and charts within charts without end.

use std::collections::BTreeMap;

use diagnostic::{Error, ErrorKind};
use gostd::quoted;
use gotemplate::semver::Version;
use yamltree::{Dialect, DuplicateKeys, Expansion, JsonOptions, Node, ParseOptions, Resolved, to_json};

use super::shape::{self, Shape};
use super::{Chart, Dependency, File, Lock, Metadata, archive};
use crate::sources::Sources;
use crate::values;
use crate::version::HelmVersion;
use crate::warning::Warning;

/// No chart nests its dependencies deeper.
const MAX_NESTING: usize = 64;

type Result<T> = std::result::Result<T, Error>;

impl Chart {
    /// A chart from the files of its folder, whose paths are relative to it. `name` is how the user would name the
    /// folder; messages put it before a file's path.
    ///
    /// # Errors
    /// In Helm's words, with the place where it is a file's fault.
    pub fn load(files: Vec<File>, name: &str, version: HelmVersion) -> Result<Self> {
        let mut warnings = Vec::new();
        let chart = Reader { version, warnings: &mut warnings }.chart(files, name, 0);
        chart.map(|chart| Self { warnings, ..chart }).map_err(|error| named(error, name))
    }

    /// A chart from an archive.
    ///
    /// # Errors
    /// As [`Chart::load`], and when the archive is none or a hostile one.
    pub fn load_archive(bytes: &[u8], name: &str, version: HelmVersion) -> Result<Self> {
        let files = archive::files(bytes).map_err(|reason| named(Error::invalid(reason), name))?;
        Self::load(files, name, version)
    }
}

/// Says which chart it is about where no place does: Helm does not tell.
fn named(error: Error, name: &str) -> Error {
    if error.location().is_some() {
        return error;
    }
    error.via(format!("in the chart `{name}`"), None)
}

/// The settings for reading a chart and its subcharts.
struct Reader<'w> {
    version: HelmVersion,
    warnings: &'w mut Vec<Warning>,
}

impl Reader<'_> {
    fn chart(&mut self, files: Vec<File>, name: &str, depth: usize) -> Result<Chart> {
        if depth > MAX_NESTING {
            return Err(Error::new(
                ErrorKind::Limit,
                format!("charts are nested more than {MAX_NESTING} deep"),
            ));
        }
        let is_root = depth == 0;
        let mut chart = Chart::default();
        let mut has_metadata = false;
        if let Some(file) = files.iter().find(|file| file.name == "Chart.yaml") {
            chart.metadata = Metadata::read(&yaml(file, name, &mut chart.sources, &shape::CHART)?)?;
            if is_root {
                refuse_generation(&chart.metadata.api_version)?;
            }
            has_metadata = true;
        }
        let mut subcharts: BTreeMap<String, Vec<File>> = BTreeMap::new();
        for file in files {
            match file.name.as_str() {
                "Chart.yaml" => {}
                "Chart.lock" => {
                    let node = yaml(&file, name, &mut chart.sources, &shape::LOCK)?;
                    chart.lock = Some(Lock::read(&node));
                }
                "values.yaml" => {
                    let path = format!("{name}/{}", file.name);
                    chart.values =
                        values::load(&file.data, &path, self.version, &mut chart.sources, self.warnings)
                            .map_err(|error| error.prefix("cannot load values.yaml"))?;
                    chart.values_file = Some(file);
                }
                "values.schema.json" => chart.schema = Some(file.data),
                "requirements.yaml" | "requirements.lock" => {
                    let is_lock = file.name == "requirements.lock";
                    let shape = if is_lock { &shape::LOCK } else { &shape::REQUIREMENTS };
                    let node = yaml(&file, name, &mut chart.sources, shape)?;
                    if file.name == "requirements.yaml" {
                        chart.metadata.add_requirements(&node)?;
                    } else {
                        chart.lock = Some(Lock::read(&node));
                    }
                    if chart.metadata.api_version == "v1" {
                        chart.files.push(file);
                    }
                }
                path if path.starts_with("templates/") => chart.templates.push(file),
                path if path.starts_with("charts/") && !has_extension(path, ".prov") => {
                    let path = path["charts/".len()..].to_owned();
                    let top = path.split('/').next().unwrap_or_default().to_owned();
                    subcharts.entry(top).or_default().push(File { name: path, data: file.data });
                }
                _ => chart.files.push(file),
            }
        }
        if !has_metadata {
            return Err(Error::invalid("Chart.yaml file is missing"));
        }
        chart.metadata.validate()?;
        for (top, files) in subcharts {
            if top.starts_with(['_', '.']) {
                continue;
            }
            let inner = format!("{name}/charts/{top}");
            let subchart = self.subchart(&top, files, &inner, depth + 1).map_err(|error| {
                error.prefix(format_args!("error unpacking subchart {top} in {}", chart.metadata.name))
            })?;
            chart.dependencies.push(subchart);
        }
        Ok(chart)
    }

    /// Returns what one entry of `charts/` holds: an archive, or a folder.
    fn subchart(&mut self, top: &str, files: Vec<File>, name: &str, depth: usize) -> Result<Chart> {
        if has_extension(top, ".tgz") {
            return match files.into_iter().next() {
                Some(file) if file.name == top => {
                    self.chart(archive::files(&file.data).map_err(Error::invalid)?, name, depth)
                }
                file => {
                    let got = file.map(|file| file.name).unwrap_or_default();
                    Err(Error::invalid(format!("expected {top}, got {got}")))
                }
            };
        }
        let inner = |file: File| {
            let (_, name) = file.name.split_once('/')?;
            Some(File { name: name.to_owned(), data: file.data })
        };
        self.chart(files.into_iter().filter_map(inner).collect(), name, depth)
    }
}

/// Helm asks a chart for its generation before it reads it, but not the charts in it.
fn refuse_generation(api_version: &str) -> Result<()> {
    match api_version {
        "v1" | "v2" => Ok(()),
        "v3" => Err(Error::invalid("invalid chart apiVersion")),
        _ => Err(Error::invalid("unsupported chart version")),
    }
}

fn has_extension(path: &str, extension: &str) -> bool {
    path.rsplit('/').next().is_some_and(|name| name.ends_with(extension))
}

/// The first document of a file as sigs.k8s.io/yaml reads it, in the shape that it must have.
fn yaml(file: &File, name: &str, sources: &mut Sources, shape: &Shape) -> Result<Node> {
    let text = file.text();
    let source = sources.add(format!("{name}/{}", file.name), text.clone());
    let options = ParseOptions {
        dialect: Dialect::V2,
        duplicate_keys: DuplicateKeys::KeepLast,
        ..ParseOptions::default()
    };
    let doing = format!("cannot load {}", file.name);
    let refused = |error: yamltree::Error| {
        Error::invalid(format!("{doing}: error converting YAML to JSON: {}", error.go_text()))
            .at(sources.place(error.span()))
    };
    let Some(document) = yamltree::parse_first(&text, source, &options).map_err(refused)? else {
        return Ok(Node::null());
    };
    let mut root = document.root;
    root.expand_aliases(Expansion::Decoded(Dialect::V2))
        .and_then(|()| to_json(&root, JsonOptions::SIGS, &mut String::new()))
        .map_err(refused)?;
    shape::fit(&mut root, shape).map_err(|misfit| {
        Error::invalid(misfit.message)
            .prefix(format_args!("{doing}: error unmarshaling JSON: while decoding JSON"))
            .at(sources.place(misfit.span))
    })?;
    Ok(root)
}

impl Metadata {
    fn read(node: &Node) -> Result<Self> {
        let mut metadata = Self {
            api_version: text(node, "apiVersion"),
            name: sanitized(&text(node, "name")),
            version: text(node, "version"),
            app_version: sanitized(&text(node, "appVersion")),
            kind: text(node, "type"),
            kube_version: sanitized(&text(node, "kubeVersion")),
            deprecated: is_true(node, "deprecated"),
            dependencies: Vec::new(),
            node: node.clone(),
        };
        if metadata.api_version.is_empty() {
            "v1".clone_into(&mut metadata.api_version);
        }
        metadata.add_requirements(node)?;
        Ok(metadata)
    }

    /// Returns true if there is a list of dependencies, if only an empty one.
    #[must_use]
    pub fn declares_dependencies(&self) -> bool {
        !self.dependencies.is_empty() || self.node.get("dependencies").is_some_and(Node::is_sequence)
    }

    /// Takes over the dependencies that a file declares.
    fn add_requirements(&mut self, node: &Node) -> Result<()> {
        if let Some(dependencies) = node.get("dependencies").and_then(Node::items) {
            refuse_nulls(dependencies, "dependencies")?;
            self.dependencies = dependencies.iter().map(Dependency::read).collect();
        }
        Ok(())
    }

    fn validate(&self) -> Result<()> {
        let refuse = |sentence: String| Err(Error::invalid(format!("validation: {sentence}")));
        if self.name.is_empty() {
            return refuse("chart.metadata.name is required".to_owned());
        }
        if self.name == "." || self.name == ".." {
            return refuse(format!("chart.metadata.name {} is not allowed", quoted(self.name.as_bytes())));
        }
        if self.name.contains('/') {
            return refuse(format!("chart.metadata.name {} is invalid", quoted(self.name.as_bytes())));
        }
        if self.version.is_empty() {
            return refuse("chart.metadata.version is required".to_owned());
        }
        if Version::parse(&self.version).is_err() {
            return refuse(format!("chart.metadata.version {} is invalid", quoted(self.version.as_bytes())));
        }
        if !matches!(self.kind.as_str(), "" | "application" | "library") {
            return refuse("chart.metadata.type must be application or library".to_owned());
        }
        refuse_nulls(
            self.node.get("maintainers").and_then(Node::items).map_or(&[], Vec::as_slice),
            "maintainers",
        )?;
        let mut seen = std::collections::HashSet::new();
        for dependency in &self.dependencies {
            if !dependency
                .alias
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
            {
                let name = quoted(dependency.name.as_bytes());
                return refuse(format!("dependency {name} has disallowed characters in the alias"));
            }
            if !seen.insert(dependency.local_name()) {
                let name = quoted(dependency.local_name().as_bytes());
                return refuse(format!("more than one dependency with name or alias {name}"));
            }
        }
        Ok(())
    }
}

fn refuse_nulls(items: &[Node], key: &str) -> Result<()> {
    if items.iter().any(|item| matches!(item.resolved(Dialect::V2), Ok(Resolved::Null))) {
        return Err(Error::invalid(format!("validation: {key} must not contain empty or null nodes")));
    }
    Ok(())
}

impl Dependency {
    pub(super) fn read(node: &Node) -> Self {
        let items = |key| node.get(key).and_then(Node::items).map(Vec::as_slice).unwrap_or_default();
        Self {
            name: sanitized(&text(node, "name")),
            version: sanitized(&text(node, "version")),
            repository: sanitized(&text(node, "repository")),
            condition: sanitized(&text(node, "condition")),
            tags: items("tags").iter().filter_map(Node::text).map(sanitized).collect(),
            alias: text(node, "alias"),
            import_values: items("import-values").to_vec(),
            enabled: is_true(node, "enabled"),
        }
    }

    /// The name that it goes by in its parent.
    #[must_use]
    pub fn local_name(&self) -> &str {
        if self.alias.is_empty() { &self.name } else { &self.alias }
    }
}

fn is_true(node: &Node, key: &str) -> bool {
    node.get(key).is_some_and(|node| matches!(node.resolved(Dialect::V2), Ok(Resolved::Bool(true))))
}

/// A field that is a string, which numbers and booleans are turned into.
pub(crate) fn text(node: &Node, key: &str) -> String {
    let Some(node) = node.get(key) else { return String::new() };
    match node.resolved(Dialect::V2) {
        Ok(Resolved::Null) | Err(_) => String::new(),
        Ok(Resolved::Bool(value)) => value.to_string(),
        Ok(_) => node.text().unwrap_or_default().to_owned(),
    }
}

/// Blanks of all kinds become spaces, and what cannot be printed goes.
pub(crate) fn sanitized(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_whitespace() { ' ' } else { c })
        .filter(|c| *c == ' ' || gostd::unicode::is_print(*c))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(files: &[(&str, &str)]) -> Vec<File> {
        files.iter().map(|(name, text)| File::new(*name, text.as_bytes())).collect()
    }

    fn load(list: &[(&str, &str)]) -> Result<Chart> {
        Chart::load(files(list), "web", HelmVersion::default())
    }

    #[test]
    fn files_go_where_templates_look_for_them() {
        let chart = load(&[
            ("Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0\nappVersion: 3\ndependencies:\n- {name: db, alias: store}\n"),
            ("values.yaml", "a: 1\n"),
            ("values.schema.json", "{}"),
            ("templates/a.yaml", "x"),
            ("README.md", "y"),
            ("charts/db/Chart.yaml", "name: db\nversion: 0.1.0\n"),
            ("charts/db/templates/b.yaml", "z"),
            ("charts/_ignored/x", ""),
        ])
        .expect("a chart");
        assert_eq!((chart.metadata.version.as_str(), chart.metadata.app_version.as_str()), ("1", "3"));
        assert_eq!(chart.metadata.dependencies[0].local_name(), "store");
        assert_eq!(chart.templates, files(&[("templates/a.yaml", "x")]));
        assert_eq!(chart.files, files(&[("README.md", "y")]));
        assert!(chart.values.get("a").is_some() && chart.schema.is_some());
        let [db] = chart.dependencies.as_slice() else { panic!("one dependency") };
        assert_eq!((db.metadata.name.as_str(), db.metadata.api_version.as_str()), ("db", "v1"));
        assert_eq!(db.templates, files(&[("templates/b.yaml", "z")]));
    }

    /// As Helm says it.
    #[test]
    fn what_is_no_chart_is_refused() {
        for (list, message) in [
            (&[("values.yaml", "a: 1\n")][..], "Chart.yaml file is missing"),
            (&[("Chart.yaml", "name: x\n")][..], "validation: chart.metadata.version is required"),
            (&[("Chart.yaml", "version: 1\n")][..], "validation: chart.metadata.name is required"),
            (
                &[("Chart.yaml", "name: x\nversion: 1\n"), ("charts/y/z.txt", "")][..],
                "error unpacking subchart y in x: Chart.yaml file is missing",
            ),
        ] {
            assert_eq!(load(list).expect_err(message).message(), message);
        }
    }
}

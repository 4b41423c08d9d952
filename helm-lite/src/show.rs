//! The content of a chart, as `helm show` prints it.
//!
//! In: a chart. Out: one text for each of its parts. Metadata is printed as Helm understood it and not as it is
//! written; values, the README and CRDs are the bytes of their files.

use yamltree::{Entry, Node, to_sigs_yaml};

use crate::chart::{Chart, Dependency, File, Metadata, sanitized, text};

/// A part of a chart to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The metadata.
    Chart,
    /// `values.yaml`
    Values,
    /// The README.
    Readme,
    /// The files in `crds/`, those of the charts in it after its own.
    Crds,
    /// Everything.
    All,
}

/// The names of a README, in any mix of cases.
const READMES: [&str; 3] = ["readme.md", "readme.txt", "readme"];

/// The bytes that `helm show` prints.
#[must_use]
pub fn show(chart: &Chart, part: Part) -> Vec<u8> {
    let wants = |wanted| part == wanted || part == Part::All;
    let mut out = Vec::new();
    if wants(Part::Chart) {
        push_line(&mut out, metadata(&chart.metadata).as_bytes());
    }
    if wants(Part::Values)
        && let Some(file) = &chart.values_file
    {
        separate(&mut out, part);
        push_line(&mut out, &file.data);
    }
    let is_readme = |file: &&File| READMES.iter().any(|name| name.eq_ignore_ascii_case(&file.name));
    if wants(Part::Readme)
        && let Some(file) = chart.files.iter().find(is_readme)
    {
        separate(&mut out, part);
        push_line(&mut out, &file.data);
    }
    if wants(Part::Crds) {
        push_crds(&mut out, chart);
    }
    out
}

fn push_line(out: &mut Vec<u8>, data: &[u8]) {
    out.extend_from_slice(data);
    out.push(b'\n');
}

fn separate(out: &mut Vec<u8>, part: Part) {
    if part == Part::All {
        out.extend_from_slice(b"---\n");
    }
}

fn push_crds(out: &mut Vec<u8>, chart: &Chart) {
    for file in chart.files.iter().filter(|file| file.is_crd()) {
        if !file.data.starts_with(b"---") {
            out.extend_from_slice(b"---\n");
        }
        push_line(out, &file.data);
    }
    for dependency in &chart.dependencies {
        push_crds(out, dependency);
    }
}

/// The metadata as YAML: what is empty is left out, and what is no string became one.
fn metadata(metadata: &Metadata) -> String {
    let node = &metadata.node;
    let field = |key| sanitized(&text(node, key));
    let mut fields = Fields::default();
    fields.list("annotations", annotations(node));
    fields.text("apiVersion", &metadata.api_version);
    fields.text("appVersion", &metadata.app_version);
    fields.text("condition", &field("condition"));
    fields.list("dependencies", sequence(metadata.dependencies.iter().map(dependency)));
    fields.list("deprecated", metadata.deprecated.then(|| Node::plain("true")));
    fields.text("description", &field("description"));
    fields.text("home", &field("home"));
    fields.text("icon", &field("icon"));
    fields.list("keywords", strings(node, "keywords"));
    fields.text("kubeVersion", &metadata.kube_version);
    fields.list("maintainers", sequence(items(node, "maintainers").iter().map(maintainer)));
    fields.text("name", &metadata.name);
    fields.list("sources", strings(node, "sources"));
    fields.text("tags", &field("tags"));
    fields.text("type", &metadata.kind);
    fields.text("version", &metadata.version);
    let mut yaml = String::new();
    to_sigs_yaml(&fields.mapping(), &mut yaml).expect("strings and lists have a form in YAML");
    yaml
}

/// The fields of a mapping in the order of their names, which they are given in.
#[derive(Default)]
struct Fields(Vec<Entry>);

impl Fields {
    fn text(&mut self, key: &str, value: &str) {
        if !value.is_empty() {
            self.0.push(Entry::new(key, Node::string(value)));
        }
    }

    fn list(&mut self, key: &str, value: Option<Node>) {
        self.0.extend(value.map(|value| Entry::new(key, value)));
    }

    fn mapping(self) -> Node {
        Node::mapping(self.0)
    }
}

fn items<'n>(node: &'n Node, key: &str) -> &'n [Node] {
    node.get(key).and_then(Node::items).map(Vec::as_slice).unwrap_or_default()
}

fn sequence(items: impl Iterator<Item = Node>) -> Option<Node> {
    Some(items.collect::<Vec<_>>()).filter(|items| !items.is_empty()).map(Node::sequence)
}

fn strings(node: &Node, key: &str) -> Option<Node> {
    sequence(items(node, key).iter().map(|item| Node::string(&sanitized(item.text().unwrap_or_default()))))
}

fn annotations(node: &Node) -> Option<Node> {
    let entries = node.get("annotations")?.entries()?;
    let text = |node: &Node| node.text().unwrap_or_default().to_owned();
    let entry = |entry: &Entry| Entry::new(&text(&entry.key), Node::string(&text(&entry.value)));
    let mut entries: Vec<Entry> = entries.iter().map(entry).collect();
    entries.sort_by(|left, right| left.key.text().cmp(&right.key.text()));
    Some(entries).filter(|entries| !entries.is_empty()).map(Node::mapping)
}

fn maintainer(node: &Node) -> Node {
    let mut fields = Fields::default();
    for key in ["email", "name", "url"] {
        fields.text(key, &sanitized(&text(node, key)));
    }
    fields.mapping()
}

/// A dependency always has a name and a repository.
fn dependency(dependency: &Dependency) -> Node {
    let mut fields = Fields::default();
    fields.text("alias", &dependency.alias);
    fields.text("condition", &dependency.condition);
    fields.list("enabled", dependency.enabled.then(|| Node::plain("true")));
    fields.list("import-values", sequence(dependency.import_values.iter().cloned()));
    fields.list("name", Some(Node::string(&dependency.name)));
    fields.list("repository", Some(Node::string(&dependency.repository)));
    fields.list("tags", sequence(dependency.tags.iter().map(|tag| Node::string(tag))));
    fields.text("version", &dependency.version);
    fields.mapping()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::version::HelmVersion;

    fn shown(files: &[(&str, &str)], part: Part) -> String {
        let files = files.iter().map(|(name, text)| File::new(*name, text.as_bytes())).collect();
        let chart = Chart::load(files, "web", HelmVersion::default()).expect("a chart");
        String::from_utf8(show(&chart, part)).expect("text")
    }

    /// As `helm show chart` prints it: a number is a string of its value, and what is empty goes.
    #[test]
    fn metadata_is_shown_as_it_was_understood() {
        let file = "apiVersion: v2\nname: 0x10\nversion: 1.10\nappVersion: 1000000.50\nicon: \"\"\n\
                    keywords: [1e3, 1_000, on, null, 12345678901234567890]\nannotations: {a: 1.0, 2.50: yes, c: null}\n\
                    description: 2024-01-01\ndependencies:\n- {name: db, version: ~1.2, enabled: true, tags: [x], import-values: [data]}\n";
        let wanted = "annotations:\n  \"2.5\": \"true\"\n  a: \"1\"\n  c: \"\"\napiVersion: v2\nappVersion: \"1.0000005e+06\"\n\
                      dependencies:\n- enabled: true\n  import-values:\n  - data\n  name: db\n  repository: \"\"\n  tags:\n  - x\n  version: ~1.2\n\
                      description: \"2024-01-01\"\nkeywords:\n- \"1000\"\n- \"1000\"\n- \"true\"\n- \"\"\n- \"12345678901234567890\"\n\
                      name: \"16\"\nversion: \"1.1\"\n\n";
        assert_eq!(shown(&[("Chart.yaml", file)], Part::Chart), wanted);
    }

    /// As `helm show all` prints it.
    #[test]
    fn parts_that_are_missing_are_left_out() {
        let chart = ("Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n");
        let metadata = "apiVersion: v2\nname: web\nversion: 1.0.0\n\n";
        assert_eq!(shown(&[chart], Part::All), metadata);
        assert_eq!(shown(&[chart, ("values.yaml", "")], Part::All), format!("{metadata}---\n\n"));
        let files = [
            chart,
            ("values.yaml", "a: 1\n"),
            ("ReadMe.MD", "# Web\n"),
            ("crds/a.yaml", "a: 1\n"),
            ("crds/b.yaml", "--- # b\nb: 2\n"),
            ("crds/notes.md", ""),
            ("charts/db/Chart.yaml", "name: db\nversion: 1.0.0\n"),
            ("charts/db/crds/c.yaml", "c: 3\n"),
        ];
        let crds = "---\na: 1\n\n--- # b\nb: 2\n\n---\nc: 3\n\n";
        assert_eq!(shown(&files, Part::Crds), crds);
        assert_eq!(shown(&files, Part::All), format!("{metadata}---\na: 1\n\n---\n# Web\n\n{crds}"));
    }
}

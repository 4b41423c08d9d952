//! The index of a classic chart repository: which charts there are, in which versions, and where they are.
//!
//! In: the text of an `index.yaml`. Out: its charts with their versions, the newest first. Refused: what Helm refuses,
//! in its words; entries that are no charts are passed over as Helm does.

mod choose;
mod digested;

use std::collections::BTreeMap;

use gotemplate::semver::Version;
use yamltree::{Dialect, DuplicateKeys, Expansion, Node, ParseOptions, SourceId};

use crate::chart::text;
pub use choose::{Choice, NoVersion, newest_matching};

/// An index that was read.
#[derive(Clone, Debug, Default)]
pub struct Index {
    charts: BTreeMap<String, Vec<IndexedChart>>,
}

/// One version of a chart in an index.
#[derive(Clone, Debug)]
pub struct IndexedChart {
    /// The version as written.
    pub version: String,
    /// The URLs of its archive, relative or absolute; the first is preferred.
    pub urls: Vec<String>,
    /// The archive's SHA-256 in hexadecimal, with or without `sha256:` before it; empty where it is not told.
    pub digest: String,
    parsed: Version,
}

impl Index {
    /// Reads an index.
    ///
    /// # Errors
    /// In Helm's words, when it is none.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        let root = root(bytes)?;
        if !root.is_mapping() {
            return Err("error unmarshaling JSON: expected a mapping".to_owned());
        }
        let mut charts = BTreeMap::new();
        for entry in root.get("entries").and_then(Node::entries).into_iter().flatten() {
            let Some(name) = entry.key.text() else { continue };
            let versions = entry.value.items().map(Vec::as_slice).unwrap_or_default();
            let mut versions: Vec<_> = versions.iter().filter_map(IndexedChart::read).collect();
            versions.sort_by(|left, right| right.parsed.compare(&left.parsed));
            charts.insert(name.to_owned(), versions);
        }
        if text(&root, "apiVersion").is_empty() {
            return Err("no API version specified".to_owned());
        }
        Ok(Self { charts })
    }

    /// The names of its charts, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.charts.keys().map(String::as_str)
    }

    /// The versions of a chart, the newest first; nothing where it has no such chart.
    #[must_use]
    pub fn versions(&self, chart: &str) -> Option<&[IndexedChart]> {
        self.charts.get(chart).map(Vec::as_slice)
    }
}

impl IndexedChart {
    /// An entry of an index; nothing where it is no chart.
    fn read(node: &Node) -> Option<Self> {
        let name = text(node, "name");
        let is_valid = !matches!(name.as_str(), "" | "." | "..")
            && !name.contains('/')
            && matches!(text(node, "type").as_str(), "" | "application" | "library");
        let version = text(node, "version");
        let parsed = Version::parse(&version).ok().filter(|_| is_valid)?;
        let urls = node.get("urls").and_then(Node::items).map(Vec::as_slice).unwrap_or_default();
        let urls = urls.iter().filter_map(Node::text).map(str::to_owned).collect();
        Some(Self { version, urls, digest: text(node, "digest"), parsed })
    }
}

/// The first document of an index, which sigs.k8s.io/yaml decodes strictly.
fn root(bytes: &[u8]) -> Result<Node, String> {
    if bytes.is_empty() {
        return Err("empty index.yaml file".to_owned());
    }
    let refused = |error: yamltree::Error| format!("error converting YAML to JSON: {}", error.go_text());
    let source = SourceId::MAX;
    let text = yamltree::decode(bytes, source).map_err(refused)?;
    let options = ParseOptions {
        dialect: Dialect::V2,
        duplicate_keys: DuplicateKeys::Refuse,
        ..ParseOptions::default()
    };
    let document = yamltree::parse_first(&text, source, &options).map_err(refused)?;
    let mut root = document.map_or_else(Node::null, |document| document.root);
    root.expand_aliases(Expansion::Decoded(Dialect::V2)).map_err(refused)?;
    Ok(root)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected values: what `helm` 4.3.1 says of the same files, up to where it goes into Go's types.
    #[test]
    fn what_is_no_index_is_refused() {
        for (text, message) in [
            ("", "empty index.yaml file"),
            ("entries: {}\n", "no API version specified"),
            ("- a\n", "error unmarshaling JSON"),
            (
                "apiVersion: v1\nentries: [\n",
                "error converting YAML to JSON: yaml: line 2: did not find expected node content",
            ),
            ("apiVersion: v1\nentries: {a: []}\nentries: {}\n", "key \"entries\" already set in map"),
        ] {
            let error = Index::parse(text.as_bytes()).expect_err(text);
            assert!(error.contains(message), "{text}: {error}");
        }
    }

    #[test]
    fn versions_are_sorted_and_what_is_no_chart_is_passed_over() {
        let index = Index::parse(
            b"apiVersion: v1\nentries:\n  web:\n  - {name: web, version: 1.0.0-rc.1, urls: [a.tgz, b.tgz]}\n  \
              - ~\n  - {name: web, version: nonsense}\n  - {name: ../web, version: 9.0.0}\n  \
              - {name: web, version: 1.0, digest: abc}\n  - {name: web, version: v0.9.0}\n  \
              - {name: web, version: 5.0.0, type: nothing}\n  none:\n",
        )
        .expect("an index");
        let versions: Vec<_> =
            index.versions("web").expect("a chart").iter().map(|chart| chart.version.as_str()).collect();
        assert_eq!(versions, ["1.0", "1.0.0-rc.1", "v0.9.0"]);
        assert_eq!(index.versions("web").expect("a chart")[1].urls, ["a.tgz", "b.tgz"]);
        assert_eq!(index.names().collect::<Vec<_>>(), ["none", "web"]);
        assert!(index.versions("nothing").is_none());
    }

    #[test]
    fn an_index_may_be_json() {
        let index = Index::parse(br#"{"apiVersion":"v1","entries":{"a":[{"name":"a","version":"1.0.0"}]}}"#)
            .expect("an index");
        assert_eq!(index.versions("a").expect("a chart").len(), 1);
    }
}

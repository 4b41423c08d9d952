//! `Chart.lock` and `requirements.lock`: the versions that a chart's dependencies were resolved to.
//!
//! In: the file, or what was resolved. Out: the digest over both sides by which Helm notices that they do not fit any
//! more, and the file's text. The digest is of what Go's `encoding/json` writes of Helm's types.

use sha2::{Digest, Sha256};
use yamltree::{Entry, JsonOptions, Node, push_json_string, to_json, to_sigs_yaml};

use super::Dependency;
use super::load::text;

/// The content of a lock file.
#[derive(Clone, Debug, Default)]
pub struct Lock {
    /// The resolved dependencies; `None` if the file does not list any.
    pub dependencies: Option<Vec<Dependency>>,
    /// The digest over the dependencies as they were declared and as they were resolved.
    pub digest: String,
}

impl Lock {
    /// The lock of dependencies, declared and resolved.
    #[must_use]
    pub fn new(declared: &[Dependency], resolved: Vec<Dependency>) -> Self {
        Self { digest: digest(declared, Some(&resolved)), dependencies: Some(resolved) }
    }

    pub(super) fn read(node: &Node) -> Self {
        let dependencies = node.get("dependencies").and_then(Node::items);
        Self {
            dependencies: dependencies.map(|list| list.iter().map(Dependency::read).collect()),
            digest: text(node, "digest"),
        }
    }

    /// Returns true if it is the lock of these dependencies. Their repositories are in full, without aliases.
    #[must_use]
    pub fn fits(&self, declared: &[Dependency]) -> bool {
        self.digest == digest(declared, self.dependencies.as_deref())
    }

    /// Returns true if Helm 2 made it for these dependencies. Their repositories are as they are written.
    #[must_use]
    pub fn fits_as_of_helm2(&self, declared: &[Dependency]) -> bool {
        let mut json = "{\"dependencies\":".to_owned();
        push_list(&mut json, Some(declared));
        json.push('}');
        self.digest == sha256(&json)
    }

    /// The file's text. `generated` is the time, as Go writes it.
    #[must_use]
    pub fn text(&self, generated: &str) -> String {
        let field = |key, value: &str| Entry::new(key, Node::string(value));
        let item = |dependency: &Dependency| {
            let Dependency { name, repository, version, .. } = dependency;
            let mut entries = vec![field("name", name), field("repository", repository)];
            entries.extend((!version.is_empty()).then(|| field("version", version)));
            Node::mapping(entries)
        };
        let dependencies = self.dependencies.iter().flatten().map(item).collect();
        let root = Node::mapping(vec![
            Entry::new("dependencies", Node::sequence(dependencies)),
            field("digest", &self.digest),
            field("generated", generated),
        ]);
        let mut text = String::new();
        to_sigs_yaml(&root, &mut text).expect("strings have a form in YAML");
        text
    }
}

fn digest(declared: &[Dependency], resolved: Option<&[Dependency]>) -> String {
    let mut json = "[".to_owned();
    push_list(&mut json, Some(declared));
    json.push(',');
    push_list(&mut json, resolved);
    json.push(']');
    sha256(&json)
}

fn sha256(text: &str) -> String {
    use std::fmt::Write as _;
    Sha256::digest(text.as_bytes()).iter().fold("sha256:".to_owned(), |mut digest, byte| {
        let _ = write!(digest, "{byte:02x}");
        digest
    })
}

fn push_list(json: &mut String, dependencies: Option<&[Dependency]>) {
    let Some(dependencies) = dependencies else { return json.push_str("null") };
    push_sequence(json, dependencies, push);
}

/// The fields in the order of Helm's type, without those that it leaves out when they are empty.
fn push(json: &mut String, dependency: &Dependency) {
    let Dependency { name, version, repository, condition, tags, alias, import_values, enabled } = dependency;
    json.push_str("{\"name\":");
    push_json_string(json, name, true);
    push_text(json, "version", version);
    json.push_str(",\"repository\":");
    push_json_string(json, repository, true);
    push_text(json, "condition", condition);
    if !tags.is_empty() {
        json.push_str(",\"tags\":");
        push_sequence(json, tags, |json, tag| push_json_string(json, tag, true));
    }
    if *enabled {
        json.push_str(",\"enabled\":true");
    }
    if !import_values.is_empty() {
        json.push_str(",\"import-values\":");
        let options = JsonOptions { floats: true, ..JsonOptions::SIGS };
        push_sequence(json, import_values, |json, value| {
            if to_json(value, options, json).is_err() {
                // It has no form in JSON, so no chart with it was read.
                json.push_str("null");
            }
        });
    }
    push_text(json, "alias", alias);
    json.push('}');
}

fn push_text(json: &mut String, key: &str, text: &str) {
    if !text.is_empty() {
        json.push(',');
        push_json_string(json, key, true);
        json.push(':');
        push_json_string(json, text, true);
    }
}

fn push_sequence<T>(json: &mut String, items: &[T], mut push: impl FnMut(&mut String, &T)) {
    json.push('[');
    for (at, item) in items.iter().enumerate() {
        json.push_str(if at == 0 { "" } else { "," });
        push(json, item);
    }
    json.push(']');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Chart, File, HelmVersion};

    fn chart(dependencies: &str) -> Chart {
        let text = format!("apiVersion: v2\nname: c\nversion: 0.1.0\ndependencies:\n{dependencies}");
        let files = vec![File::new("Chart.yaml", text.as_bytes())];
        Chart::load(files, "c", HelmVersion::default()).expect("a chart")
    }

    fn resolved(name: &str, repository: &str, version: &str) -> Dependency {
        Dependency {
            name: name.to_owned(),
            repository: repository.to_owned(),
            version: version.to_owned(),
            ..Dependency::default()
        }
    }

    /// The file that `helm dependency update` 4.3.1 writes for such a chart.
    #[test]
    fn the_file_is_helms() {
        let chart = chart(
            "- {name: web, version: 0.x, repository: \"http://127.0.0.1:18801/\"}\n\
             - {name: lib, version: \">=0.1\", repository: \"file://../lib\", condition: a.b, tags: [t], \
             import-values: [x, {child: a, parent: b}], alias: q}\n",
        );
        let lock = Lock::new(
            &chart.metadata.dependencies,
            vec![
                resolved("web", "http://127.0.0.1:18801/", "0.2.0"),
                resolved("lib", "file://../lib", "0.3.0"),
            ],
        );
        let text = lock.text("2026-11-30T12:13:11.486284735Z");
        let want = "dependencies:\n- name: web\n  repository: http://127.0.0.1:18801/\n  version: 0.2.0\n\
                    - name: lib\n  repository: file://../lib\n  version: 0.3.0\n\
                    digest: sha256:b5be1c5fa69bb352d1adef4c6e79921e7fa3b5ffcd2648cb6e12721ca224cbb7\n\
                    generated: \"2026-11-30T12:13:11.486284735Z\"\n";
        assert_eq!(text, want);
        assert!(lock.fits(&chart.metadata.dependencies));
        let mut changed = chart.metadata.dependencies;
        changed[1].condition.clear();
        assert!(!lock.fits(&changed));
    }

    #[test]
    fn a_lock_without_a_list_is_not_one_of_nothing() {
        let none = Lock { dependencies: None, ..Lock::new(&[], Vec::new()) };
        assert!(Lock::new(&[], Vec::new()).fits(&[]) && !none.fits(&[]));
    }
}

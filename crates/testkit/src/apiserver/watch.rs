//! Watches: what has changed, line by line, as seen by somebody who sees only some of the objects.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::cluster::Cluster;
use super::failure::Failure;
use super::metadata;
use super::resource::Resource;
use super::selector::Selector;
use super::store::Change;
use super::view::View;

/// Marks the bookmark at which all that was there has been said.
const END_OF_LIST: &str = "k8s.io/initial-events-end";

/// A watch that somebody has asked for.
#[derive(Debug)]
pub(super) struct Watch {
    pub(super) resource: Arc<Resource>,
    pub(super) version: String,
    /// Empty for all of them.
    pub(super) namespace: String,
    pub(super) selector: Selector,
    pub(super) start: Start,
    /// True if a bookmark says when all that was there has been said.
    pub(super) announces_end_of_list: bool,
    pub(super) bookmarks: bool,
    /// In seconds.
    pub(super) timeout: Option<u64>,
    pub(super) view: View,
}

/// The start of a watch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Start {
    /// All objects first, as if they had just been made.
    WithWhatIs,
    /// Changes after a revision.
    After(u64),
}

/// A watch that has begun.
#[derive(Debug)]
pub(super) struct Viewer {
    watch: Watch,
    /// Up to where everything has been said.
    seen: u64,
}

/// The result of reading changes.
#[derive(Debug)]
pub(super) enum News {
    /// Lines, perhaps none.
    Lines(Vec<Value>),
    /// The last line: what was to come next is forgotten.
    End(Value),
}

impl Watch {
    /// Returns how long it goes on where nobody says: the real server takes half an hour or more.
    pub(super) fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout.filter(|seconds| *seconds > 0).unwrap_or(1800))
    }

    fn sees(&self, key: &str, object: &Value) -> bool {
        (self.namespace.is_empty()
            || key.split_once('/').is_some_and(|(namespace, _)| namespace == self.namespace))
            && self.selector.matches(&self.resource.shown(&self.version, object))
    }

    fn line(&self, kind: &str, object: &Value) -> Value {
        json!({"type": kind, "object": self.view.of_item(self.resource.shown(&self.version, object))})
    }

    /// Returns what a change is to this viewer: an object that no longer matches is gone for them.
    fn event(&self, change: &Change) -> Option<Value> {
        let sees = |object: &Arc<Value>| self.sees(&change.key, object);
        let was_seen = change.before.as_ref().is_some_and(sees);
        match &change.after {
            Some(after) if sees(after) => Some(self.line(if was_seen { "MODIFIED" } else { "ADDED" }, after)),
            _ if was_seen => {
                let before = change.before.as_ref().expect("it was seen");
                Some(self.line("DELETED", &change.last_state(before)))
            }
            _ => None,
        }
    }

    fn bookmark(&self, revision: u64, ends_list: bool) -> Value {
        let mut object = json!({
            "kind": self.resource.kind,
            "apiVersion": self.resource.api_version(&self.version),
            "metadata": {"resourceVersion": revision.to_string()},
        });
        if ends_list {
            object["metadata"]["annotations"] = json!({END_OF_LIST: "true"});
        }
        json!({"type": "BOOKMARK", "object": self.view.of_item(object)})
    }
}

impl Viewer {
    /// Begins a watch, and gives its first lines.
    pub(super) fn begin(watch: Watch, cluster: &Cluster) -> (Self, Vec<Value>) {
        let revision = cluster.store.revision();
        let (seen, lines) = match watch.start {
            Start::After(revision) => (revision, Vec::new()),
            Start::WithWhatIs => {
                let table = cluster.store.table(&watch.resource.table);
                let mut objects: Vec<_> =
                    table.iter().filter(|(key, object)| watch.sees(key, object)).collect();
                objects
                    .sort_by_key(|(_, object)| metadata::text(object, "resourceVersion").parse::<u64>().ok());
                let mut lines: Vec<Value> =
                    objects.iter().map(|(_, object)| watch.line("ADDED", object)).collect();
                if watch.announces_end_of_list {
                    lines.push(watch.bookmark(revision, true));
                }
                (revision, lines)
            }
        };
        (Self { watch, seen }, lines)
    }

    /// Returns what has changed since the last look.
    pub(super) fn look(&mut self, cluster: &Cluster) -> News {
        // Nothing of a revision that is yet to come.
        if self.seen > cluster.store.revision() {
            return News::Lines(Vec::new());
        }
        let Some(changes) = cluster.store.changes_since(self.seen, &self.watch.resource.table) else {
            let status = Failure::expired(self.seen, cluster.store.oldest()).status();
            return News::End(json!({"type": "ERROR", "object": status}));
        };
        self.seen = cluster.store.revision();
        News::Lines(changes.iter().filter_map(|change| self.watch.event(change)).collect())
    }

    /// Returns how far everything has been said, for those who want to know.
    pub(super) fn bookmark(&self) -> Option<Value> {
        self.watch.bookmarks.then(|| self.watch.bookmark(self.seen, false))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::apiserver::store::Store;

    fn labelled(app: &str) -> Value {
        json!({"metadata": {"name": "x", "labels": {"app": app}}})
    }

    /// The cases of `watchCache.go`'s filter: what starts to match is added, what stops is deleted as it last matched.
    #[test]
    fn a_viewer_of_some_objects_sees_them_come_and_go() {
        let mut cluster = Cluster::new(true);
        cluster.store = Store::new();
        let resource = cluster.resource("", "secrets").expect("it is built in");
        let mut viewer = Viewer {
            seen: cluster.store.revision(),
            watch: Watch {
                resource,
                version: "v1".to_owned(),
                namespace: "a".to_owned(),
                selector: Selector::read("app=web", "", &[]).expect("it is one"),
                start: Start::WithWhatIs,
                announces_end_of_list: false,
                bookmarks: true,
                timeout: None,
                view: View::Whole,
            },
        };
        let mut next = |cluster: &Cluster| match viewer.look(cluster) {
            News::Lines(lines) => lines
                .iter()
                .map(|line| {
                    let metadata = &line["object"]["metadata"];
                    format!("{} {} {}", line["type"], metadata["labels"]["app"], metadata["resourceVersion"])
                        .replace('"', "")
                })
                .collect::<Vec<_>>(),
            News::End(line) => vec![line["object"]["code"].to_string()],
        };
        cluster.store.put("secrets", "a/x", labelled("db"));
        assert_eq!(next(&cluster), Vec::<String>::new());
        cluster.store.put("secrets", "a/x", labelled("web"));
        cluster.store.put("secrets", "b/x", labelled("web"));
        assert_eq!(next(&cluster), ["ADDED web 102"]);
        cluster.store.put("secrets", "a/x", labelled("web"));
        cluster.store.put("secrets", "a/x", labelled("db"));
        assert_eq!(next(&cluster), ["MODIFIED web 104", "DELETED web 105"]);
        cluster.store.put("secrets", "a/x", labelled("web"));
        cluster.store.remove("secrets", "a/x");
        assert_eq!(next(&cluster), ["ADDED web 106", "DELETED web 107"]);
        cluster.store.put("secrets", "a/x", labelled("web"));
        cluster.store.compact();
        assert_eq!(next(&cluster), ["410"]);
    }
}

//! A plan as text: JSON for machines, a table for people.

use diagnostic::{Error, Result};
use serde::Serialize;

use super::hook::{OPTIONS, option};
use super::{Action, DeletePolicy, Never, Plan, Reason, Task, name};

/// The phase of what is never applied.
const NEVER: &str = "Never";

const HEADER: [&str; COLUMNS] = ["PHASE", "WAVE", "KIND", "NAMESPACE/NAME", "HOOK", "DELETED", "NOTE"];
const COLUMNS: usize = 7;

/// One line of JSON.
#[derive(Serialize)]
struct Line<'p> {
    phase: &'p str,
    wave: i64,
    group: &'p str,
    kind: &'p str,
    namespace: &'p str,
    name: String,
    hook: bool,
    /// Only said of what is deleted.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    prune: bool,
}

impl Plan<'_> {
    /// A JSON array with a task a line in the order of the sync, and last what is never applied.
    ///
    /// # Errors
    /// None that is known; JSON has all that is in a plan.
    pub fn to_json(&self) -> Result<String> {
        let lines = self.tasks.iter().map(Line::of).chain(self.never.iter().map(Line::of_never));
        let lines = lines.map(|line| serde_json::to_string(&line)).collect::<Result<Vec<_>, _>>();
        let lines = lines.map_err(|error| Error::invalid(format!("the plan cannot be written: {error}")))?;
        Ok(if lines.is_empty() { "[]\n".to_owned() } else { format!("[\n{}\n]\n", lines.join(",\n")) })
    }

    /// A table with a line for each task.
    #[must_use]
    pub fn to_table(&self) -> String {
        let mut rows = vec![HEADER.map(str::to_owned)];
        rows.extend(self.tasks.iter().map(row));
        rows.extend(self.never.iter().map(row_of_never));
        aligned(&rows)
    }
}

impl<'p> Line<'p> {
    fn of(task: &'p Task<'_>) -> Self {
        Self {
            phase: task.phase.as_str(),
            wave: task.wave,
            group: task.group,
            kind: task.kind,
            namespace: task.namespace,
            name: task.name(),
            hook: task.is_hook,
            prune: task.action == Action::Prune,
        }
    }

    fn of_never(never: &'p Never<'_>) -> Self {
        let Never { object, wave, is_hook, .. } = never;
        Self {
            phase: NEVER,
            wave: *wave,
            group: object.group(),
            kind: object.kind(),
            namespace: object.namespace(),
            name: name(object),
            hook: *is_hook,
            prune: false,
        }
    }
}

fn row(task: &Task<'_>) -> [String; COLUMNS] {
    let deleted: Vec<&str> = task.delete_policies().into_iter().map(DeletePolicy::as_str).collect();
    [
        task.phase.to_string(),
        task.wave.to_string(),
        qualified(task.group, task.kind),
        qualified(task.namespace, &task.name()),
        if task.is_hook { "hook" } else { "" }.to_owned(),
        deleted.join(", "),
        note(task),
    ]
}

fn row_of_never(never: &Never<'_>) -> [String; COLUMNS] {
    let object = never.object;
    let why = match never.reason {
        Reason::Skipped => "skipped by annotation",
        Reason::Excluded => "of a kind that Argo CD leaves alone",
        Reason::AtDeletion => "runs when the Application is deleted",
        Reason::NoPhase => "a hook of an unknown phase",
        Reason::Unknown => "a hook that is not known",
    };
    [
        NEVER.to_owned(),
        never.wave.to_string(),
        qualified(object.group(), object.kind()),
        qualified(object.namespace(), &name(object)),
        if never.is_hook { "hook" } else { "" }.to_owned(),
        String::new(),
        why.to_owned(),
    ]
}

fn qualified(before: &str, name: &str) -> String {
    if before.is_empty() { name.to_owned() } else { format!("{before}/{name}") }
}

/// Returns what is special about a task.
fn note(task: &Task<'_>) -> String {
    let mut notes = Vec::new();
    match (task.action, task.object.and_then(|object| option(object, "Prune"))) {
        (Action::Apply, _) => {}
        (Action::CreateNamespace, _) => notes.push("made if it is not there"),
        (Action::Prune, Some("false")) => notes.push("no longer there, but kept"),
        (Action::Prune, Some("confirm")) => notes.push("deleted once that is confirmed"),
        (Action::Prune, _) => notes.push("deleted if pruning is on"),
    }
    if task.is_moved {
        notes.push("moved before what needs it");
    }
    if let Some(object) = task.object {
        notes.extend(object.annotation_list(OPTIONS));
    }
    notes.join(", ")
}

/// Rows with their columns below each other, and without what could move a terminal's cursor.
fn aligned(rows: &[[String; COLUMNS]]) -> String {
    let widths: [usize; COLUMNS] =
        std::array::from_fn(|at| rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0));
    let mut table = String::new();
    for row in rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(widths) {
            let cell: String = cell
                .chars()
                .map(|it| if it.is_control() { char::REPLACEMENT_CHARACTER } else { it })
                .collect();
            line.push_str(&format!("{cell:width$}   "));
        }
        table.push_str(line.trim_end());
        table.push('\n');
    }
    table
}

#[cfg(test)]
mod tests {
    use super::super::testing::objects;
    use super::super::{Options, Plan};

    const TEXT: &str = "apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: batch/v1
kind: Job
metadata:
  generateName: migrate-
  namespace: shop
  annotations: {argocd.argoproj.io/hook: PreSync, helm.sh/hook-delete-policy: hook-succeeded}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: \"a\\e[2J\", annotations: {argocd.argoproj.io/sync-options: 'Replace=true,Force=true'}}
---
apiVersion: v1
kind: Pod
metadata: {name: smoke, annotations: {helm.sh/hook: test}}
";

    #[test]
    fn a_table_says_what_is_special() {
        let (new, old) = (objects(TEXT), objects("kind: Service\nmetadata: {name: old}\n"));
        let plan = Plan::new(&new, &Options { old: &old, ..Options::default() });
        let want = "\
PHASE     WAVE   KIND        NAMESPACE/NAME   HOOK   DELETED         NOTE
PreSync   0      Namespace   shop                                    moved before what needs it
PreSync   0      batch/Job   shop/migrate-*   hook   HookSucceeded
Sync      0      Service     old                                     deleted if pruning is on
Sync      0      ConfigMap   a\u{fffd}[2J                                   Replace=true, Force=true
Never     0      Pod         smoke            hook                   a hook of an unknown phase
";
        assert_eq!(plan.to_table(), want);
    }

    #[test]
    fn json_has_a_line_for_each() {
        let (new, old) = (objects(TEXT), objects("kind: Service\nmetadata: {name: old}\n"));
        let json = Plan::new(&new[1..2], &Options { old: &old, ..Options::default() }).to_json().unwrap();
        assert_eq!(
            json,
            "[\n{\"phase\":\"PreSync\",\"wave\":0,\"group\":\"batch\",\"kind\":\"Job\",\"namespace\":\"shop\",\"name\":\"migrate-*\",\"hook\":true},\n\
             {\"phase\":\"Sync\",\"wave\":0,\"group\":\"\",\"kind\":\"Service\",\"namespace\":\"\",\"name\":\"old\",\"hook\":false,\"prune\":true}\n]\n"
        );
        assert_eq!(Plan::new(&[], &Options::default()).to_json().unwrap(), "[]\n");
    }
}

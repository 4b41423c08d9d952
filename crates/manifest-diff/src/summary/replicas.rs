//! Numbers of replicas that change, of workloads and of autoscalers.

use yamltree::Node;

use super::Difference;
use crate::model::{ReplicaChange, Summary};

const FIELDS: &[&str] = &["replicas", "minReplicas", "maxReplicas", "minReplicaCount", "maxReplicaCount"];

pub(super) fn look(difference: &Difference<'_>, summary: &mut Summary) {
    for change in difference.changes {
        let is_replicas = change.path.last_key().is_some_and(|key| FIELDS.contains(&key));
        let number = |node: Option<&Node>| node.and_then(Node::text).and_then(|text| text.parse().ok());
        let (old, new) = (number(change.old.as_ref()), number(change.new.as_ref()));
        if is_replicas && old != new {
            summary.replicas.push(ReplicaChange {
                target: difference.target.to_owned(),
                object: difference.id.clone(),
                path: change.path.to_string(),
                old,
                new,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::input::ApplyOptions;
    use crate::summary::testing::summary;

    #[test]
    fn numbers_come_change_and_go() {
        let scaled = |replicas: &str| {
            format!("apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: d}}\nspec: {{{replicas}}}\n")
        };
        for (base, head, want) in [
            ("replicas: 2", "replicas: 3", vec![(Some(2), Some(3))]),
            ("", "replicas: 3", vec![(None, Some(3))]),
            ("replicas: 2", "", vec![(Some(2), None)]),
            ("replicas: 2", "replicas: 2.0", vec![]),
        ] {
            let replicas = summary(&scaled(base), &scaled(head), &ApplyOptions::default()).replicas;
            let numbers: Vec<_> = replicas.iter().map(|change| (change.old, change.new)).collect();
            assert_eq!(numbers, want);
        }
    }
}

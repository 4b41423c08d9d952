//! The order of the output.

use std::cmp::Ordering;
use std::collections::HashMap;

use diagnostic::{Error, Result};
use yamltree::Node;

use crate::decode::Object;
use crate::resid::{Gvk, ResId};
use crate::resmap::ResMap;

/// Kinds that come first: what others need to exist.
const ORDER_FIRST: &[&str] = &[
    "Namespace",
    "ResourceQuota",
    "StorageClass",
    "CustomResourceDefinition",
    "ServiceAccount",
    "PodSecurityPolicy",
    "Role",
    "ClusterRole",
    "RoleBinding",
    "ClusterRoleBinding",
    "ConfigMap",
    "Secret",
    "Endpoints",
    "Service",
    "LimitRange",
    "PriorityClass",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "Deployment",
    "StatefulSet",
    "CronJob",
    "PodDisruptionBudget",
];
/// Kinds that come last: what could refuse others.
const ORDER_LAST: &[&str] = &["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"];

/// By what kinds are compared in the default order.
pub(crate) fn gvk_key(gvk: &Gvk) -> (usize, String) {
    (rank(&gvk.kind), gvk_text(gvk))
}

/// A kind's place in the default order.
fn rank(kind: &str) -> usize {
    let first = ORDER_FIRST.iter().position(|known| *known == kind);
    let last = ORDER_LAST.iter().position(|known| *known == kind);
    first.or(last.map(|at| ORDER_FIRST.len() + 1 + at)).unwrap_or(ORDER_FIRST.len())
}

/// The order of the output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SortOrder {
    /// As accumulated.
    Fifo,
    /// By a rank of kinds, then by id. A kind without a rank has rank 0; those that come first have negative ones.
    Legacy { ranks: HashMap<String, i64> },
}

impl SortOrder {
    /// The order where nothing is asked for.
    pub(crate) fn legacy() -> Self {
        Self::ranked(ORDER_FIRST, ORDER_LAST)
    }

    /// The order that `sortOptions` asks for.
    pub(crate) fn from_options(options: &Node) -> Result<Self> {
        let object = Object::new(options, "sortOptions")?;
        let order = object.string("order")?.unwrap_or_default();
        let legacy = object.field("legacySortOptions");
        let lists = legacy.map(|legacy| Object::new(legacy, "legacySortOptions")).transpose()?;
        let span = object.field("order").map_or(object.span(), |node| node.span);
        object.finish()?;
        let texts = |name| -> Result<Vec<String>> {
            let list = lists.as_ref().map_or(Ok(Vec::new()), |lists| lists.strings(name))?;
            Ok(list.into_iter().map(|item| item.text).collect())
        };
        let (first, last) = (texts("orderFirst")?, texts("orderLast")?);
        if let Some(lists) = lists {
            lists.finish()?;
        }
        match (order.as_str(), legacy) {
            ("legacy", None) => Ok(Self::legacy()),
            ("legacy", Some(_)) => Ok(Self::ranked(&first, &last)),
            ("fifo", None) => Ok(Self::Fifo),
            ("fifo", Some(node)) => {
                Err(Error::invalid("`legacySortOptions` is set, but the order is `fifo`").at(node.span))
            }
            (other, _) => {
                Err(Error::invalid(format!("`order` must be `legacy` or `fifo`, not `{other}`")).at(span))
            }
        }
    }

    fn ranked(first: &[impl AsRef<str>], last: &[impl AsRef<str>]) -> Self {
        let mut ranks = HashMap::new();
        for (rank, kind) in (0_i64..).zip(first.iter().rev()) {
            ranks.entry(kind.as_ref().to_owned()).or_insert(-1 - rank);
        }
        for (rank, kind) in (1_i64..).zip(last) {
            ranks.insert(kind.as_ref().to_owned(), rank);
        }
        Self::Legacy { ranks }
    }

    /// Puts the resources in this order.
    pub(crate) fn apply(&self, map: &mut ResMap) {
        let Self::Legacy { ranks } = self else { return };
        let keys: Vec<Key> = map.iter().map(|resource| Key::new(resource.id(), ranks)).collect();
        let mut positions: Vec<usize> = (0..keys.len()).collect();
        positions.sort_by(|a, b| keys[*a].cmp(&keys[*b]));
        map.reorder(&positions);
    }
}

/// By what two resources are compared, made once for each.
#[derive(PartialEq, Eq)]
struct Key {
    rank: i64,
    /// True if the kind is Namespace, and if so whether it is the core one.
    namespace: Option<bool>,
    gvk: String,
    id: String,
}

impl Key {
    fn new(id: &ResId, ranks: &HashMap<String, i64>) -> Self {
        let gvk = &id.gvk;
        Self {
            rank: ranks.get(gvk.kind.as_str()).copied().unwrap_or(0),
            namespace: (gvk.kind == "Namespace").then(|| gvk.group.is_empty()),
            gvk: gvk_text(gvk),
            id: id_text(id),
        }
    }

    fn cmp(&self, other: &Self) -> Ordering {
        // Of two Namespace kinds the core one comes first, though its text would put it last.
        let namespaces = match (self.namespace, other.namespace) {
            (Some(left), Some(right)) => right.cmp(&left),
            _ => Ordering::Equal,
        };
        self.rank
            .cmp(&other.rank)
            .then(namespaces)
            .then_with(|| self.gvk.cmp(&other.gvk))
            .then_with(|| self.id.cmp(&other.id))
    }
}

/// The text by which kinds are ordered: an empty part sorts behind every name.
fn gvk_text(gvk: &Gvk) -> String {
    let or = |text: &str, none: &'static str| if text.is_empty() { none.to_owned() } else { text.to_owned() };
    format!("{}_{}_{}", or(&gvk.group, "~G"), or(&gvk.version, "~V"), or(&gvk.kind, "~K"))
}

/// The text by which resources of one kind are ordered.
fn id_text(id: &ResId) -> String {
    let namespace = if id.namespace.is_empty() { "~X" } else { &id.namespace };
    let name = if id.name.is_empty() { "~N" } else { &id.name };
    format!("{}|{namespace}|{name}", id.gvk)
}

//! Fields that expressions of jq name.
//!
//! In: an object and an expression. Out: the object without what the expression leads to, as jq's `del(…)` has it. An
//! expression that fails on an object, or takes longer than a second on it, changes nothing, as in Argo CD
//! (util/argo/normalizers/diff_normalizer.go). Functions that look out of the object are not there.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use jaq_core::load::{Arena, File, Loader};
use jaq_core::{Compiler, Ctx, Vars, data, unwrap_valr};
use jaq_json::Val;
use serde_json::Value;
use yamltree::{JsonOptions, Kind, Node};

/// Argo CD's limit for one expression and one object.
const TIMEOUT: Duration = Duration::from_secs(1);

/// Expressions go as deep as objects do.
const STACK: usize = 16 << 20;

/// An object has no more fields.
const MAX_PATHS: usize = 100_000;

/// jq functions that are not available.
const ABSENT: [&str; 4] = ["env", "halt", "halt_error", "now"];

/// A way into an object: keys and indexes.
type Path = Vec<Value>;

/// Takes out what an expression leads to.
pub(super) fn delete(node: &mut Node, expression: &str) {
    let mut json = String::new();
    if yamltree::to_json(node, JsonOptions::SIGS, &mut json).is_err() {
        return;
    }
    let Some(mut paths) = paths_in_time(json, expression.to_owned()) else { return };
    // The last first, so that the indexes of the others hold.
    paths.sort_by(|left, right| compare(right, left));
    paths.dedup();
    for path in paths {
        remove(node, &path);
    }
}

/// Returns whether an expression is one.
///
/// # Errors
/// That it is none.
pub(super) fn check(expression: &str) -> Result<(), String> {
    // It must be whole by itself, and not only within what is put around it.
    paths("null", expression, true).map(drop)
}

/// Returns what an expression leads to, on a thread that nobody waits for longer than Argo CD would.
fn paths_in_time(json: String, expression: String) -> Option<Vec<Path>> {
    let (sender, receiver) = mpsc::sync_channel(1);
    let work = move || drop(sender.send(paths(&json, &expression, false).ok()));
    thread::Builder::new().stack_size(STACK).spawn(work).ok()?;
    receiver.recv_timeout(TIMEOUT).ok().flatten()
}

fn paths(json: &str, expression: &str, only_compile: bool) -> Result<Vec<Path>, String> {
    let code = format!("[path({expression})]");
    let definitions = jaq_core::defs().chain(jaq_std::defs()).chain(jaq_json::defs());
    let functions = jaq_core::funs().chain(jaq_std::funs()).chain(jaq_json::funs());
    let definitions = definitions.filter(|definition| !ABSENT.contains(&definition.name));
    let functions = functions.filter(|(name, ..)| !ABSENT.contains(name));
    let arena = Arena::default();
    let refuse = || format!("invalid jq expression `{expression}`");
    let modules = Loader::new(definitions)
        .load(&arena, File { code: code.as_str(), path: () })
        .map_err(|_| refuse())?;
    let filter = Compiler::default().with_funs(functions).compile(modules).map_err(|_| refuse())?;
    if only_compile {
        return Ok(Vec::new());
    }
    let input = jaq_json::read::parse_single(json.as_bytes()).map_err(|error| error.to_string())?;
    let context = Ctx::<data::JustLut<Val>>::new(&filter.lut, Vars::new([]));
    let found = filter.id.run((context, input)).map(unwrap_valr).next().ok_or_else(refuse)?;
    let found = found.map_err(|error| error.to_string())?.to_string();
    let paths: Vec<Path> = serde_json::from_str(&found).map_err(|error| error.to_string())?;
    if paths.len() > MAX_PATHS { Err("it leads to too much".to_owned()) } else { Ok(paths) }
}

/// The order in which jq deletes: numbers before keys, deeper paths after those that lead to them.
fn compare(left: &Path, right: &Path) -> std::cmp::Ordering {
    let rank = |part: &Value| (part.is_string(), part.as_i64().unwrap_or_default());
    let parts = left
        .iter()
        .zip(right)
        .map(|(left, right)| rank(left).cmp(&rank(right)).then_with(|| left.as_str().cmp(&right.as_str())));
    parts.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then).then(left.len().cmp(&right.len()))
}

fn remove(node: &mut Node, path: &[Value]) {
    let Some((last, parents)) = path.split_last() else { return };
    let mut at = node;
    for part in parents {
        let below = match part {
            Value::String(key) => at.get_mut(key),
            part => at
                .items_mut()
                .and_then(|items| index(part, items.len()).and_then(|index| items.get_mut(index))),
        };
        let Some(below) = below else { return };
        at = below;
    }
    match (last, &mut at.kind) {
        (Value::String(key), Kind::Mapping(_)) => {
            at.remove(key);
        }
        (Value::Number(_), Kind::Sequence(items)) => {
            if let Some(index) = index(last, items.len()) {
                items.remove(index);
            }
        }
        _ => {}
    }
}

/// An index of a list; a negative one counts from the end.
fn index(part: &Value, len: usize) -> Option<usize> {
    let (index, len) = (part.as_i64()?, i64::try_from(len).ok()?);
    let index = if index < 0 { index + len } else { index };
    usize::try_from(index).ok().filter(|_| index < len)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEPLOYMENT: &str = r#"{"kind": "Deployment", "metadata": {"annotations": {"a": "1", "b/c": "2"}},
        "spec": {"containers": [{"name": "web", "env": [{"name": "A"}, {"name": "B"}, {"name": "A"}]},
                                {"name": "side"}]}}"#;

    fn deleted(expression: &str) -> String {
        let options = yamltree::ParseOptions::default();
        let mut node = yamltree::parse_first(DEPLOYMENT, 0, &options).unwrap().unwrap().root;
        delete(&mut node, expression);
        let mut json = String::new();
        yamltree::to_json(&node, JsonOptions::SIGS, &mut json).unwrap();
        json
    }

    /// Expected values: what `jq 'del(…)'` makes of it.
    #[test]
    fn what_an_expression_leads_to_goes() {
        let spec = |json: String| json.split_once("\"spec\":").map(|(_, spec)| spec.to_owned()).unwrap();
        for (expression, want) in [
            (
                ".spec.containers[1]",
                r#"{"containers":[{"env":[{"name":"A"},{"name":"B"},{"name":"A"}],"name":"web"}]}}"#,
            ),
            (
                r#".spec.containers[] | select(.name == "web") | .env"#,
                r#"{"containers":[{"name":"web"},{"name":"side"}]}}"#,
            ),
            (
                r#".spec.containers[0].env[] | select(.name == "A")"#,
                r#"{"containers":[{"env":[{"name":"B"}],"name":"web"},{"name":"side"}]}}"#,
            ),
            (
                ".spec.containers[].name, .spec.nothing",
                r#"{"containers":[{"env":[{"name":"A"},{"name":"B"},{"name":"A"}]},{}]}}"#,
            ),
        ] {
            assert_eq!(spec(deleted(expression)), want, "{expression}");
        }
        assert!(deleted(r#".metadata.annotations["b/c"]"#).contains(r#""annotations":{"a":"1"}"#));
    }

    #[test]
    fn what_fails_changes_nothing() {
        let whole = deleted(".nothing");
        for expression in [".kind[0]", "error", "def f: f; f", "env.HOME", "$ENV.HOME", "broken ("] {
            assert_eq!(deleted(expression), whole, "{expression}");
        }
    }

    #[test]
    fn an_expression_is_checked_by_itself() {
        assert!(check(".spec.replicas").is_ok());
        assert!(check(".spec.containers[] | select(.name == \"a\")").is_ok());
        for expression in [".spec[", "nothing_of_jq", "env"] {
            assert!(check(expression).is_err(), "{expression}");
        }
    }
}

//! Letting go of values: in goes what a list or map held, and nothing comes out. Templates can
//! build lists a million levels deep, more than a drop that recurses has stack for.

use super::Value;

pub(super) fn release(mut pending: Vec<Value>) {
    if !pending.iter().any(|value| matches!(value, Value::List(_) | Value::Map(_))) {
        return;
    }
    while let Some(value) = pending.pop() {
        match value {
            Value::List(mut list) => list.give_up(&mut pending),
            Value::Map(mut map) => map.give_up(&mut pending),
            _ => {}
        }
    }
}

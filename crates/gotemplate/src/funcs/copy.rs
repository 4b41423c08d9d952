//! Deep copies: in goes a value, out comes one that shares no list or map with it.

use crate::Context;
use crate::error::CallError;
use crate::value::{Entries, List, Map, Str, Value};

/// Maximum number of values that may be within each other; a map can contain itself.
const DEEPEST: usize = 10_000;

/// A list or map whose copy has begun.
enum Part {
    List { source: List, rest: std::vec::IntoIter<Value>, copied: Vec<Value> },
    Map { source: Map, rest: std::vec::IntoIter<(Str, Value)>, key: Option<Str>, copied: Entries },
}

/// Copies a value without recursion.
pub(super) fn deep_copy(context: &mut Context<'_>, value: &Value) -> Result<Value, CallError> {
    let Some(first) = Part::begin(value) else { return Ok(value.clone()) };
    let mut parts = vec![first];
    loop {
        let Some(part) = parts.last_mut() else { return Ok(Value::Nil) };
        match part.next() {
            Some(value) => match Part::begin(&value) {
                None => part.add(value),
                Some(_) if parts.len() == DEEPEST => {
                    return Err(CallError::limit("value to be copied is nested too deep"));
                }
                Some(inner) => {
                    context.spend(inner.size())?;
                    parts.push(inner);
                }
            },
            None => {
                let Some(copy) = parts.pop().map(Part::finish) else { return Ok(Value::Nil) };
                match parts.last_mut() {
                    Some(outer) => outer.add(copy),
                    None => return Ok(copy),
                }
            }
        }
    }
}

impl Part {
    fn begin(value: &Value) -> Option<Self> {
        match value {
            Value::List(list) => Some(Self::List {
                source: list.clone(),
                rest: list.to_vec().into_iter(),
                copied: Vec::with_capacity(list.len()),
            }),
            Value::Map(map) => Some(Self::Map {
                source: map.clone(),
                rest: map.to_vec().into_iter(),
                key: None,
                copied: Entries::new(),
            }),
            _ => None,
        }
    }

    fn size(&self) -> u64 {
        match self {
            Self::List { rest, .. } => rest.len() as u64,
            Self::Map { rest, .. } => rest.len() as u64,
        }
    }

    fn next(&mut self) -> Option<Value> {
        match self {
            Self::List { rest, .. } => rest.next(),
            Self::Map { rest, key, .. } => {
                let (next, value) = rest.next()?;
                *key = Some(next);
                Some(value)
            }
        }
    }

    fn add(&mut self, value: Value) {
        match self {
            Self::List { copied, .. } => copied.push(value),
            Self::Map { key, copied, .. } => {
                if let Some(key) = key.take() {
                    copied.insert(key, value);
                }
            }
        }
    }

    fn finish(self) -> Value {
        match self {
            Self::List { source, .. } if source.is_nil() => Value::List(List::nil(*source.go_type())),
            Self::List { source, copied, .. } => Value::List(List::typed(*source.go_type(), copied)),
            Self::Map { source, .. } if source.is_nil() => Value::Map(Map::nil(*source.go_type())),
            Self::Map { source, copied, .. } => Value::Map(Map::typed(*source.go_type(), copied)),
        }
    }
}

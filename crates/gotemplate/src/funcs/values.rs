//! Sets of values, for functions that look many values up in many.

use std::collections::HashSet;

use crate::Context;
use crate::error::CallError;
use crate::value::{IntKind, Str, UintKind, Value};

/// Values to be looked up by deep equality: plain ones by their hash, lists and maps one by one.
#[derive(Default)]
pub(super) struct ValueSet {
    plain: HashSet<Plain>,
    others: Vec<Value>,
}

#[derive(PartialEq, Eq, Hash)]
enum Plain {
    Nil,
    Bool(bool),
    Int(IntKind, i64),
    Uint(UintKind, u64),
    Float(u64),
    Str(Str),
    Bytes(Str),
}

impl Plain {
    fn new(value: &Value) -> Option<Self> {
        Some(match value {
            Value::Nil => Self::Nil,
            Value::Bool(truth) => Self::Bool(*truth),
            Value::Int(kind, number) => Self::Int(*kind, *number),
            Value::Uint(kind, number) => Self::Uint(*kind, *number),
            // A zero equals one of the other sign, and what is no number equals nothing.
            Value::Float(number) if !number.is_nan() => Self::Float((number + 0.0).to_bits()),
            Value::Str(text) => Self::Str(text.clone()),
            Value::Bytes(bytes) => Self::Bytes(bytes.clone()),
            _ => return None,
        })
    }
}

impl ValueSet {
    pub(super) fn insert(&mut self, value: &Value) {
        match Plain::new(value) {
            Some(plain) => {
                self.plain.insert(plain);
            }
            None => self.others.push(value.clone()),
        }
    }

    pub(super) fn contains(&self, context: &mut Context<'_>, value: &Value) -> Result<bool, CallError> {
        if let Some(plain) = Plain::new(value) {
            return Ok(self.plain.contains(&plain));
        }
        context.spend(self.others.len() as u64)?;
        Ok(self.others.iter().any(|other| other.deep_equal(value)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_are_equal_and_what_is_no_number_is_not() {
        assert!(Plain::new(&Value::Float(0.0)) == Plain::new(&Value::Float(-0.0)));
        assert!(Plain::new(&Value::Float(f64::NAN)).is_none());
        assert!(Plain::new(&Value::int(1)) != Plain::new(&Value::int64(1)));
    }
}

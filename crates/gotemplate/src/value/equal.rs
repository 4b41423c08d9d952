//! `reflect.DeepEqual`: in go two values, out comes whether their types and contents are the same.
//!
//! Works through a list of pairs still to compare, so that neither depth nor a map that contains
//! itself matters; pairs met before are taken for equal, as Go takes them.

use std::collections::HashSet;
use std::rc::Rc;

use super::{List, Map, Value};

/// Maximum number of pairs of containers that are compared before it pays to remember them.
const UNREMEMBERED: usize = 256;

pub(super) fn deep_equal(first: &Value, second: &Value) -> bool {
    let mut comparison = Comparison { pending: Vec::new(), compared: 0, seen: HashSet::new() };
    if !comparison.pair(first, second) {
        return false;
    }
    while let Some(pair) = comparison.pending.pop() {
        let equal = match pair {
            Pair::Lists(first, second) => comparison.lists(&first, &second),
            Pair::Maps(first, second) => comparison.maps(&first, &second),
        };
        if !equal {
            return false;
        }
    }
    true
}

enum Pair {
    Lists(List, List),
    Maps(Map, Map),
}

struct Comparison {
    pending: Vec<Pair>,
    compared: usize,
    seen: HashSet<(usize, usize)>,
}

impl Comparison {
    /// Compares what is plain and puts off the rest; false only if the values differ for certain.
    fn pair(&mut self, first: &Value, second: &Value) -> bool {
        match (first, second) {
            (Value::Nil, Value::Nil) => true,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Int(kind, a), Value::Int(other, b)) => kind == other && a == b,
            (Value::Uint(kind, a), Value::Uint(other, b)) => kind == other && a == b,
            (Value::Float(a), Value::Float(b)) => a == b,
            (Value::Complex(a, i), Value::Complex(b, j)) => a == b && i == j,
            (Value::Str(a), Value::Str(b)) | (Value::Bytes(a), Value::Bytes(b)) => a == b,
            (Value::List(a), Value::List(b)) => {
                a.go_type() == b.go_type()
                    && a.is_nil() == b.is_nil()
                    && a.len() == b.len()
                    && self.put_off(a.address(), b.address(), || Pair::Lists(a.clone(), b.clone()))
            }
            (Value::Map(a), Value::Map(b)) => {
                a.go_type() == b.go_type()
                    && a.is_nil() == b.is_nil()
                    && a.len() == b.len()
                    && self.put_off(a.address(), b.address(), || Pair::Maps(a.clone(), b.clone()))
            }
            (Value::Object(a), Value::Object(b)) => {
                Rc::ptr_eq(a, b) || (a.go_type() == b.go_type() && a.equals(&**b))
            }
            _ => false,
        }
    }

    fn put_off(&mut self, first: usize, second: usize, pair: impl FnOnce() -> Pair) -> bool {
        if first == second {
            return true;
        }
        self.compared += 1;
        if self.compared <= UNREMEMBERED || self.seen.insert((first, second)) {
            self.pending.push(pair());
        }
        true
    }

    fn lists(&mut self, first: &List, second: &List) -> bool {
        first.items().iter().zip(second.items().iter()).all(|(a, b)| self.pair(a, b))
    }

    fn maps(&mut self, first: &Map, second: &Map) -> bool {
        let (first, second) = (first.entries(), second.entries());
        first.iter().zip(second.iter()).all(|((key, a), (other, b))| key == other && self.pair(a, b))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equality_is_strict_about_types() {
        assert!(Value::int(1).deep_equal(&Value::int(1)));
        assert!(!Value::int(1).deep_equal(&Value::int64(1)));
        assert!(!Value::int(1).deep_equal(&Value::Float(1.0)));
        assert!(!Value::list(vec!["a".into()]).deep_equal(&Value::strings(["a"])));
        assert!(!Value::Float(f64::NAN).deep_equal(&Value::Float(f64::NAN)));
    }

    #[test]
    fn a_map_that_contains_itself_equals_another_such() {
        let knot = || {
            let map = Map::new([("a", Value::Nil)]);
            map.insert("a", Value::Map(map.clone()));
            map
        };
        let (first, second) = (knot(), knot());
        assert!(Value::Map(first.clone()).deep_equal(&Value::Map(second.clone())));
        first.remove("a");
        second.remove("a");
    }

    #[test]
    fn lists_that_double_at_each_level_are_compared_in_linear_time() {
        let tower = || (0..64).fold(Value::list(vec![]), |below, _| Value::list(vec![below.clone(), below]));
        assert!(tower().deep_equal(&tower()));
    }
}

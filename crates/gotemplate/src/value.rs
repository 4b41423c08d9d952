//! The values that templates work on, with the types that Go's programs see.
//!
//! A [`Value`] is what a Go `interface{}` holds: `int` is not `int64`, `[]string` is not
//! `[]interface {}`, a string is bytes. Lists, maps and objects are shared: a clone is the same
//! list, and what one holder writes every holder sees, because `set`, `merge` and `sortAlpha` do so
//! in Go. Cloning is a reference count.
//!
//! Values hold no lock and belong to one thread. A map or list may contain itself; everything
//! here that walks values is bounded or free of recursion, and so has to be what others write.

mod equal;
mod list;
mod map;
mod object;
mod release;
mod text;
mod types;

use std::rc::Rc;

pub use list::List;
pub use map::{Entries, Map};
pub use object::Object;
pub use text::Str;
pub use types::{IntKind, Kind, Type, UintKind};

/// A value of Go's `interface{}`.
#[derive(Clone, Debug, Default)]
pub enum Value {
    /// The untyped nil.
    #[default]
    Nil,
    Bool(bool),
    /// A signed integer, within the bounds of its kind.
    Int(IntKind, i64),
    /// An unsigned integer, within the bounds of its kind.
    Uint(UintKind, u64),
    /// A `float64`.
    Float(f64),
    /// A `complex128`: real part, imaginary part.
    Complex(f64, f64),
    /// A `string`: bytes, mostly UTF-8.
    Str(Str),
    /// A `[]uint8`, which no function writes to.
    Bytes(Str),
    /// Any other slice.
    List(List),
    /// A map with keys of type `string`.
    Map(Map),
    /// A value of a type that is the host's own.
    Object(Rc<dyn Object>),
}

impl Value {
    /// Go's `int`.
    #[must_use]
    pub fn int(number: i64) -> Self {
        Self::Int(IntKind::Int, number)
    }

    /// Go's `int64`.
    #[must_use]
    pub fn int64(number: i64) -> Self {
        Self::Int(IntKind::Int64, number)
    }

    /// A `[]interface {}`.
    #[must_use]
    pub fn list(items: Vec<Self>) -> Self {
        Self::List(List::new(items))
    }

    /// A `[]string`.
    pub fn strings<S: Into<Str>>(items: impl IntoIterator<Item = S>) -> Self {
        Self::List(List::strings(items))
    }

    /// A `map[string]interface {}`.
    pub fn map<K: Into<Str>>(entries: impl IntoIterator<Item = (K, Self)>) -> Self {
        Self::Map(Map::new(entries))
    }

    /// A value of the host's own type.
    pub fn object(object: impl Object) -> Self {
        Self::Object(Rc::new(object))
    }

    /// The Go type, or none for the untyped nil.
    #[must_use]
    pub fn type_of(&self) -> Option<Type> {
        Some(match self {
            Self::Nil => return None,
            Self::Bool(_) => Type::Bool,
            Self::Int(kind, _) => Type::Int(*kind),
            Self::Uint(kind, _) => Type::Uint(*kind),
            Self::Float(_) => Type::Float64,
            Self::Complex(..) => Type::Complex128,
            Self::Str(_) => Type::String,
            Self::Bytes(_) => Type::BYTES,
            Self::List(list) => *list.go_type(),
            Self::Map(map) => *map.go_type(),
            Self::Object(object) => object.go_type(),
        })
    }

    /// The type as `%T` prints it, `<nil>` for the untyped nil.
    #[must_use]
    pub fn type_name(&self) -> String {
        self.type_of().map_or_else(|| "<nil>".to_owned(), |ty| ty.to_string())
    }

    /// The kind as Go's reflection has it, `Invalid` for the untyped nil.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.type_of().map_or(Kind::Invalid, |ty| ty.kind())
    }

    /// Returns true if this is nil of any type: the untyped one, a nil list or map, an object that is a nil pointer.
    #[must_use]
    pub fn is_nil(&self) -> bool {
        match self {
            Self::Nil => true,
            Self::List(list) => list.is_nil(),
            Self::Map(map) => map.is_nil(),
            Self::Object(object) => object.is_nil(),
            _ => false,
        }
    }

    /// Returns what `if` takes it for: whether it is not the zero of its type. Structs are always true.
    #[must_use]
    pub fn is_true(&self) -> bool {
        match self {
            Self::Nil => false,
            Self::Bool(truth) => *truth,
            Self::Int(_, number) => *number != 0,
            Self::Uint(_, number) => *number != 0,
            Self::Float(number) => *number != 0.0,
            Self::Complex(real, imaginary) => *real != 0.0 || *imaginary != 0.0,
            Self::Str(text) | Self::Bytes(text) => !text.is_empty(),
            Self::List(list) => !list.is_empty(),
            Self::Map(map) => !map.is_empty(),
            Self::Object(object) => object.underlying().map_or(!object.is_nil(), |value| value.is_true()),
        }
    }

    /// Go's `reflect.DeepEqual`: equal types all the way down, and equal contents.
    #[must_use]
    pub fn deep_equal(&self, other: &Self) -> bool {
        equal::deep_equal(self, other)
    }

    /// The value behind a named type that the host defined over a plain one (`time.Month` over
    /// `int`), and every other value as it is.
    #[must_use]
    pub fn plain(&self) -> Self {
        match self {
            Self::Object(object) => object.underlying().unwrap_or_else(|| self.clone()),
            _ => self.clone(),
        }
    }

    /// The bytes, if this is a `string`.
    #[must_use]
    pub fn as_str(&self) -> Option<&Str> {
        match self {
            Self::Str(text) => Some(text),
            _ => None,
        }
    }

    /// The number, if this is a signed integer.
    #[must_use]
    pub fn as_int(&self) -> Option<i64> {
        match self {
            Self::Int(_, number) => Some(*number),
            _ => None,
        }
    }

    /// The number, if this is a `float64`.
    #[must_use]
    pub fn as_float(&self) -> Option<f64> {
        match self {
            Self::Float(number) => Some(*number),
            _ => None,
        }
    }

    /// The truth, if this is a `bool`.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(truth) => Some(*truth),
            _ => None,
        }
    }

    /// The slice, if this is one other than `[]uint8`.
    #[must_use]
    pub fn as_list(&self) -> Option<&List> {
        match self {
            Self::List(list) => Some(list),
            _ => None,
        }
    }

    /// The map, if this is one.
    #[must_use]
    pub fn as_map(&self) -> Option<&Map> {
        match self {
            Self::Map(map) => Some(map),
            _ => None,
        }
    }

    /// The object, if this is a `T`.
    #[must_use]
    pub fn as_object<T: Object>(&self) -> Option<&T> {
        match self {
            Self::Object(object) => object.as_any().downcast_ref(),
            _ => None,
        }
    }
}

impl From<bool> for Value {
    fn from(truth: bool) -> Self {
        Self::Bool(truth)
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Self::Float(number)
    }
}

impl From<Str> for Value {
    fn from(text: Str) -> Self {
        Self::Str(text)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Str(text.into())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Str(text.into())
    }
}

impl From<Vec<u8>> for Value {
    fn from(text: Vec<u8>) -> Self {
        Self::Str(text.into())
    }
}

impl From<List> for Value {
    fn from(list: List) -> Self {
        Self::List(list)
    }
}

impl From<Map> for Value {
    fn from(map: Map) -> Self {
        Self::Map(map)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_named_as_go_prints_them() {
        let names = [
            (Value::Nil, "<nil>", "invalid"),
            (Value::int(1), "int", "int"),
            (Value::int64(1), "int64", "int64"),
            (Value::Uint(UintKind::Uint8, 1), "uint8", "uint8"),
            (Value::Float(1.0), "float64", "float64"),
            (Value::Bytes("a".into()), "[]uint8", "slice"),
            (Value::list(vec![]), "[]interface {}", "slice"),
            (Value::strings(["a"]), "[]string", "slice"),
            (Value::map([("a", Value::Nil)]), "map[string]interface {}", "map"),
        ];
        for (value, ty, kind) in names {
            assert_eq!(value.type_name(), ty);
            assert_eq!(value.kind().to_string(), kind);
        }
    }

    #[test]
    fn a_clone_is_the_same_map() {
        let first = Map::new([("a", Value::int(1))]);
        let second = first.clone();
        second.insert("b", Value::int(2));
        assert_eq!(first.len(), 2);
        assert!(first.same(&second));
    }

    #[test]
    fn a_value_is_small() {
        assert!(size_of::<Value>() <= 24);
    }
}

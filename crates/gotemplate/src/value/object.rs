//! Values of the host's own types: what a template can do with a Go struct or named type.

use std::any::Any;
use std::fmt;

use super::{Str, Type, Value};
use crate::function::Function;

/// A value whose type the host defines: a struct, a pointer to one, or a named type over a plain one.
///
/// Methods are [`Function`]s whose first argument is the object itself; their parameter list does
/// not name it.
pub trait Object: Any + fmt::Debug {
    /// The type: its name is what `%T` and error messages print, its kind what `kindOf` prints.
    fn go_type(&self) -> Type;

    /// Itself, for [`Value::as_object`].
    fn as_any(&self) -> &dyn Any;

    /// The exported field `name`.
    fn field(&self, name: &str) -> Option<Value> {
        let _ = name;
        None
    }

    /// The exported method `name`. A method hides a field of its name.
    fn method(&self, name: &str) -> Option<&'static Function> {
        let _ = name;
        None
    }

    /// Returns what its `String` or `Error` method returns, if it has one: printing prints this.
    fn text(&self) -> Option<Str> {
        None
    }

    /// The plain value, for a named type whose kind is not a struct or pointer: indexing, ranging,
    /// comparing and truth work on it.
    fn underlying(&self) -> Option<Value> {
        None
    }

    /// Keys and elements in the order in which `range` walks them, for a map whose keys are no strings: what
    /// [`underlying`](Self::underlying) cannot say.
    fn entries(&self) -> Option<Vec<(Value, Value)>> {
        None
    }

    /// Returns what JSON and YAML are written of in its place, if its type has a say in that.
    fn marshalled(&self) -> Option<Value> {
        None
    }

    /// The fields in their order under the names that they have in JSON, where those or the fields are others than for
    /// printing.
    fn json_fields(&self) -> Option<Vec<(&'static str, Value)>> {
        None
    }

    /// Returns what a function is given in its place, if Go's copy of it is another thing: a struct whose `String` method is
    /// for pointers prints itself only where it is stored.
    fn passed(&self) -> Option<Value> {
        None
    }

    /// The fields in their order, as `%v` prints them for want of a [`text`](Self::text).
    fn fields(&self) -> Vec<(&'static str, Value)> {
        Vec::new()
    }

    /// Returns true if this is a nil pointer.
    fn is_nil(&self) -> bool {
        false
    }

    /// Go's `reflect.DeepEqual` with another object of the same type.
    fn equals(&self, other: &dyn Object) -> bool;
}

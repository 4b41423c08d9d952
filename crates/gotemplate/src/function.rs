//! Functions that templates call, as tables: what a function takes, and how it is called.
//!
//! A family of functions is one file with a `pub const FUNCS: &[Function]`, one line per function:
//!
//! ```
//! use gotemplate::{CallError, Context, Function, Type, Value};
//!
//! pub const FUNCS: &[Function] = &[
//!     Function::new("double", &[Type::String], double),
//!     Function::variadic("list", &[Type::Any], |_, args| Ok(Value::list(args.to_vec()))),
//! ];
//!
//! fn double(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
//!     let text = args[0].as_str().map(|text| text.as_bytes().repeat(2)).unwrap_or_default();
//!     Ok(text.into())
//! }
//! ```
//!
//! Before a function is called its arguments have been checked against the types it names, with
//! Go's messages, so `args` has as many values as it takes and of those types (an argument of type
//! `Any` may be nil, and so may a list or map). A list or map parameter takes named types too.

use crate::context::Context;
use crate::error::CallError;
use crate::value::{Type, Value};

/// A function: takes arguments and returns a value or the error of Go's function.
pub type Call = fn(&mut Context<'_>, &[Value]) -> Result<Value, CallError>;

/// A function or method that templates can call.
#[derive(Clone, Copy, Debug)]
pub struct Function {
    pub(crate) name: &'static str,
    pub(crate) params: &'static [Type],
    pub(crate) variadic: bool,
    pub(crate) form: Form,
    pub(crate) call: Call,
}

/// The form in which a function receives arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// All of them are evaluated first.
    Plain,
    /// `and`: evaluated up to the first that is false.
    And,
    /// `or`: evaluated up to the first that is true.
    Or,
    /// `call`: knows the text of its first argument.
    Call,
    /// `len`: knows one nil from another.
    Length,
}

impl Function {
    /// A function of exactly these parameters.
    #[must_use]
    pub const fn new(name: &'static str, params: &'static [Type], call: Call) -> Self {
        Self { name, params, variadic: false, form: Form::Plain, call }
    }

    /// A function whose last parameter can be given any number of times, also none.
    #[must_use]
    pub const fn variadic(name: &'static str, params: &'static [Type], call: Call) -> Self {
        Self { name, params, variadic: true, form: Form::Plain, call }
    }

    /// The name that templates call it by.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The type of the argument at `index`.
    pub(crate) fn param(&self, index: usize) -> &'static Type {
        let last = self.params.len().saturating_sub(1);
        self.params.get(index.min(last)).unwrap_or(&Type::Any)
    }

    pub(crate) const fn of_form(self, form: Form) -> Self {
        Self { form, ..self }
    }
}

//! `eq ne lt le gt ge`: in go two values or more, out comes a truth, or Go's words about types
//! that cannot be compared.

use std::cmp::Ordering;
use std::rc::Rc;

use crate::context::Context;
use crate::error::CallError;
use crate::fmt::sprintf;
use crate::value::{Kind, Value};

type Compared = Result<bool, CallError>;

pub(super) fn eq(context: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let Some((first, others)) = args.split_first() else { return Ok(Value::Bool(false)) };
    if others.is_empty() {
        return Err("missing argument for comparison".into());
    }
    for other in others {
        if equal(context, first, other)? {
            return Ok(Value::Bool(true));
        }
    }
    Ok(Value::Bool(false))
}

pub(super) fn ne(context: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    equal(context, &args[0], &args[1]).map(|equal| Value::Bool(!equal))
}

pub(super) fn lt(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    less(&args[0], &args[1]).map(Value::Bool)
}

pub(super) fn le(context: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    less_or_equal(context, args).map(Value::Bool)
}

pub(super) fn gt(context: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    less_or_equal(context, args).map(|truth| Value::Bool(!truth))
}

pub(super) fn ge(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    less(&args[0], &args[1]).map(|less| Value::Bool(!less))
}

fn less_or_equal(context: &mut Context<'_>, args: &[Value]) -> Compared {
    Ok(less(&args[0], &args[1])? || equal(context, &args[0], &args[1])?)
}

/// The kinds that can be compared with themselves.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Basic {
    None,
    Bool,
    Complex,
    Int,
    Float,
    String,
    Uint,
}

fn basic(value: &Value) -> Basic {
    match value {
        Value::Bool(_) => Basic::Bool,
        Value::Complex(..) => Basic::Complex,
        Value::Int(..) => Basic::Int,
        Value::Float(_) => Basic::Float,
        Value::Str(_) => Basic::String,
        Value::Uint(..) => Basic::Uint,
        _ => Basic::None,
    }
}

fn incompatible(first: &Value, second: &Value) -> CallError {
    let (first, second) = (first.type_name(), second.type_name());
    CallError::new(format!("incompatible types for comparison: {first} and {second}"))
}

fn equal(context: &Context<'_>, first: &Value, second: &Value) -> Compared {
    Ok(match (&first.plain(), &second.plain()) {
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::Int(_, a), Value::Int(_, b)) => a == b,
        (Value::Uint(_, a), Value::Uint(_, b)) => a == b,
        (Value::Int(_, a), Value::Uint(_, b)) | (Value::Uint(_, b), Value::Int(_, a)) => {
            u64::try_from(*a).is_ok_and(|a| a == *b)
        }
        (Value::Float(a), Value::Float(b)) => a == b,
        (Value::Complex(a, i), Value::Complex(b, j)) => a == b && i == j,
        (Value::Str(a), Value::Str(b)) => a == b,
        (a, b) if basic(a) == Basic::None && basic(b) == Basic::None => return same(context, first, second),
        (Value::Nil, _) | (_, Value::Nil) => false,
        _ => return Err(incompatible(first, second)),
    })
}

/// Equality of what is no number, string or truth.
fn same(context: &Context<'_>, first: &Value, second: &Value) -> Compared {
    let limit = context.options().limits.output;
    let kinds = (first.kind(), second.kind());
    if kinds.0 != kinds.1 && kinds.0 != Kind::Invalid && kinds.1 != Kind::Invalid {
        // The verbs are Go's own, type and value the wrong way round.
        let args = [first.clone(), first.type_name().into(), second.type_name().into(), second.clone()];
        return Err(message(&sprintf(b"non-comparable types %s: %v, %s: %v", &args, limit)?));
    }
    if first.is_nil() || second.is_nil() {
        return Ok(first.is_nil() == second.is_nil());
    }
    if let (Value::Object(a), Value::Object(b)) = (first, second)
        && matches!(kinds.1, Kind::Struct | Kind::Ptr)
    {
        return Ok(
            Rc::ptr_eq(a, b) || kinds.1 == Kind::Struct && a.go_type() == b.go_type() && a.equals(&**b)
        );
    }
    let args = [second.clone(), second.type_name().into()];
    Err(message(&sprintf(b"non-comparable type %s: %v", &args, limit)?))
}

fn message(text: &[u8]) -> CallError {
    CallError::new(String::from_utf8_lossy(text).into_owned())
}

fn less(first: &Value, second: &Value) -> Compared {
    let (a, b) = (first.plain(), second.plain());
    if basic(&a) == Basic::None || basic(&b) == Basic::None {
        return Err("invalid type for comparison".into());
    }
    let ordering = match (&a, &b) {
        (Value::Int(_, a), Value::Int(_, b)) => a.cmp(b),
        (Value::Uint(_, a), Value::Uint(_, b)) => a.cmp(b),
        (Value::Int(_, a), Value::Uint(_, b)) => u64::try_from(*a).map_or(Ordering::Less, |a| a.cmp(b)),
        (Value::Uint(_, a), Value::Int(_, b)) => u64::try_from(*b).map_or(Ordering::Greater, |b| a.cmp(&b)),
        (Value::Float(a), Value::Float(b)) => return Ok(a < b),
        (Value::Str(a), Value::Str(b)) => a.cmp(b),
        (Value::Bool(_), Value::Bool(_)) | (Value::Complex(..), Value::Complex(..)) => {
            return Err("invalid type for comparison".into());
        }
        _ => return Err(incompatible(first, second)),
    };
    Ok(ordering == Ordering::Less)
}

//! Functions over lists. Their results are new lists, but for `sortAlpha`, which sorts a list of
//! strings in place, and for the items, which are shared.
//!
//! Each has a twin with `must` before its name, which in a template does the same: a failure stops it.

use super::args::int;
use super::convert::{made_length, nil_dereference, to_int64, to_strings, to_text, truncated};
use super::values::ValueSet;
use crate::Context;
use crate::error::CallError;
use crate::function::Function;
use crate::value::{Kind, List, Type, UintKind, Value};

const LISTS: Type = Type::Slice(&Type::LIST);

pub(super) const FUNCS: &[Function] = &[
    Function::new("append", &[Type::Any, Type::Any], append),
    Function::new("chunk", &[Type::INT, Type::Any], chunk),
    Function::new("compact", &[Type::Any], compact),
    Function::variadic("concat", &[Type::Any], concat),
    Function::new("first", &[Type::Any], first),
    Function::new("has", &[Type::Any, Type::Any], has),
    Function::new("initial", &[Type::Any], initial),
    Function::new("last", &[Type::Any], last),
    Function::variadic("list", &[Type::Any], list),
    Function::new("mustAppend", &[Type::Any, Type::Any], append),
    Function::new("mustChunk", &[Type::INT, Type::Any], chunk),
    Function::new("mustCompact", &[Type::Any], compact),
    Function::new("mustFirst", &[Type::Any], first),
    Function::new("mustHas", &[Type::Any, Type::Any], has),
    Function::new("mustInitial", &[Type::Any], initial),
    Function::new("mustLast", &[Type::Any], last),
    Function::new("mustPrepend", &[Type::Any, Type::Any], prepend),
    Function::new("mustPush", &[Type::Any, Type::Any], append),
    Function::new("mustRest", &[Type::Any], rest),
    Function::new("mustReverse", &[Type::Any], reverse),
    Function::variadic("mustSlice", &[Type::Any, Type::Any], slice),
    Function::new("mustUniq", &[Type::Any], uniq),
    Function::variadic("mustWithout", &[Type::Any, Type::Any], without),
    Function::new("prepend", &[Type::Any, Type::Any], prepend),
    Function::new("push", &[Type::Any, Type::Any], append),
    Function::new("rest", &[Type::Any], rest),
    Function::new("reverse", &[Type::Any], reverse),
    Function::variadic("slice", &[Type::Any, Type::Any], slice),
    Function::new("sortAlpha", &[Type::Any], sort_alpha),
    Function::variadic("tuple", &[Type::Any], list),
    Function::new("uniq", &[Type::Any], uniq),
    Function::variadic("without", &[Type::Any, Type::Any], without),
];

/// The value as a list, or what Go says of one that is none, after `complaint`.
fn list_of(value: &Value, complaint: &str) -> Result<List, CallError> {
    match value.plain() {
        Value::Nil => Err(nil_dereference()),
        Value::List(list) => Ok(list),
        Value::Bytes(bytes) => {
            let item = |byte: &u8| Value::Uint(UintKind::Uint8, u64::from(*byte));
            Ok(List::typed(Type::BYTES, bytes.iter().map(item).collect()))
        }
        other => Err(format!("{complaint} {}", other.kind()).into()),
    }
}

fn list(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    Ok(Value::list(args.to_vec()))
}

fn append(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let list = list_of(&args[0], "Cannot push on type")?;
    let mut items = Vec::with_capacity(list.len() + 1);
    items.extend_from_slice(&list.items());
    items.push(args[1].clone());
    Ok(Value::list(items))
}

fn prepend(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let list = list_of(&args[0], "Cannot prepend on type")?;
    let mut items = Vec::with_capacity(list.len() + 1);
    items.push(args[1].clone());
    items.extend_from_slice(&list.items());
    Ok(Value::list(items))
}

fn concat(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let mut items = Vec::new();
    for arg in args {
        let list = list_of(arg, "Cannot concat type").map_err(|error| match arg {
            Value::Nil => error,
            _ => CallError::new(format!("{error} as list")),
        })?;
        items.extend_from_slice(&list.items());
    }
    Ok(if items.is_empty() { List::nil(Type::LIST).into() } else { Value::list(items) })
}

/// How many lists there are and how long the last is, Go computes in floating point, which decides
/// what happens with sizes below 1.
fn chunk(context: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let list = list_of(&args[1], "Cannot chunk type")?;
    let items = list.items();
    let size = int(args, 0);
    let length = items.len() as f64;
    let chunks = made_length(truncated(((length - 1.0) / size as f64).floor()).wrapping_add(1))?;
    context.spend(chunks as u64)?;
    let mut out = Vec::with_capacity(chunks.min(items.len() + 1));
    let mut rest = items.as_slice();
    for index in 0..chunks {
        let remainder = truncated((length % size as f64).floor());
        let wanted = if index + 1 == chunks && remainder != 0 { remainder } else { size };
        let (chunk, after) = rest.split_at(made_length(wanted)?.min(rest.len()));
        out.push(Value::list(chunk.to_vec()));
        rest = after;
    }
    Ok(List::typed(LISTS, out).into())
}

fn first(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    Ok(list_of(&args[0], "Cannot find first on type")?.get(0).unwrap_or_default())
}

fn last(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    Ok(list_of(&args[0], "Cannot find last on type")?.items().last().cloned().unwrap_or_default())
}

fn rest(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let list = list_of(&args[0], "Cannot find rest on type")?;
    let items = list.items();
    Ok(items
        .split_first()
        .map_or_else(|| List::nil(Type::LIST).into(), |(_, rest)| Value::list(rest.to_vec())))
}

fn initial(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let list = list_of(&args[0], "Cannot find initial on type")?;
    let items = list.items();
    Ok(items
        .split_last()
        .map_or_else(|| List::nil(Type::LIST).into(), |(_, rest)| Value::list(rest.to_vec())))
}

fn reverse(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let list = list_of(&args[0], "Cannot find reverse on type")?;
    let items = list.items();
    Ok(Value::list(items.iter().rev().cloned().collect()))
}

fn compact(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let list = list_of(&args[0], "Cannot compact on type")?;
    let items = list.items();
    Ok(Value::list(items.iter().filter(|item| item.is_true()).cloned().collect()))
}

fn uniq(context: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let list = list_of(&args[0], "Cannot find uniq on type")?;
    let mut seen = ValueSet::default();
    let mut kept = Vec::new();
    for item in list.items().iter() {
        if !seen.contains(context, item)? {
            seen.insert(item);
            kept.push(item.clone());
        }
    }
    Ok(Value::list(kept))
}

fn without(context: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let list = list_of(&args[0], "Cannot find without on type")?;
    let mut left_out = ValueSet::default();
    args[1..].iter().for_each(|value| left_out.insert(value));
    let mut kept = Vec::new();
    for item in list.items().iter() {
        if !left_out.contains(context, item)? {
            kept.push(item.clone());
        }
    }
    Ok(Value::list(kept))
}

fn has(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    if matches!(args[1], Value::Nil) {
        return Ok(false.into());
    }
    let list = list_of(&args[1], "Cannot find has on type")?;
    let found = list.items().iter().any(|item| item.deep_equal(&args[0]));
    Ok(found.into())
}

fn slice(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let list = list_of(&args[0], "list should be type of slice or array but")?;
    let items = list.items();
    if items.is_empty() {
        return Ok(Value::Nil);
    }
    let bound = |index: usize, default: usize| match args.get(index) {
        Some(value) => usize::try_from(to_int64(value)).unwrap_or(usize::MAX),
        None => default,
    };
    let part = items
        .get(bound(1, 0)..bound(2, items.len()))
        .ok_or("reflect.Value.Slice: slice index out of bounds")?;
    Ok(List::typed(*list.go_type(), part.to_vec()).into())
}

fn sort_alpha(context: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    if args[0].kind() != Kind::Slice {
        return Ok(Value::strings([to_text(context, &args[0])?]));
    }
    let mut strings = to_strings(context, &args[0])?;
    strings.sort_unstable();
    match &args[0] {
        Value::List(list) if *list.go_type() == Type::STRINGS => {
            list.replace(strings.into_iter().map(Value::Str).collect());
            Ok(args[0].clone())
        }
        _ => Ok(Value::strings(strings)),
    }
}

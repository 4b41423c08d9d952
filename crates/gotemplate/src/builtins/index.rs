//! `index slice len`: in go a value and perhaps places in it, out comes the part, or Go's words.

use crate::context::Context;
use crate::error::CallError;
use crate::exec::zero;
use crate::value::{Kind, List, Type, UintKind, Value};

pub(super) fn index(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let Some((item, indexes)) = args.split_first() else { return Ok(Value::Nil) };
    if matches!(item, Value::Nil) {
        return Err("index of untyped nil".into());
    }
    let mut item = item.clone();
    for index in indexes {
        item = part(&item.plain(), &index.plain())?;
    }
    Ok(item)
}

fn part(item: &Value, index: &Value) -> Result<Value, CallError> {
    match item {
        Value::Nil => Err("index of nil pointer".into()),
        Value::Str(bytes) | Value::Bytes(bytes) => {
            let place = place(index, bytes.len())?;
            let what = if matches!(item, Value::Str(_)) { "string" } else { "slice" };
            let byte = bytes.get(place).ok_or_else(|| out_of_range(what))?;
            Ok(Value::Uint(UintKind::Uint8, u64::from(*byte)))
        }
        Value::List(list) => {
            let place = place(index, list.len())?;
            list.get(place).ok_or_else(|| out_of_range("slice"))
        }
        Value::Map(map) => match index {
            Value::Str(key) => Ok(map.get(key).unwrap_or_else(|| zero(&map.go_type().element()))),
            Value::Nil => Err("value is nil; should be of type string".into()),
            _ => Err(CallError::new(format!("value has type {}; should be string", index.type_name()))),
        },
        Value::Object(object) if object.is_nil() => Err("index of nil pointer".into()),
        _ => Err(CallError::new(format!("can't index item of type {}", item.type_name()))),
    }
}

/// Returns what Go's reflection says of an index that is the length itself.
fn out_of_range(what: &str) -> CallError {
    CallError::new(format!("reflect: {what} index out of range"))
}

/// An index that is within the length, or is it: that much Go's own check lets pass.
fn place(index: &Value, length: usize) -> Result<usize, CallError> {
    let number = match index {
        Value::Int(_, number) => *number,
        Value::Uint(_, number) => i64::try_from(*number).unwrap_or(-1),
        Value::Nil => return Err("cannot index slice/array with nil".into()),
        _ => {
            return Err(CallError::new(format!("cannot index slice/array with type {}", index.type_name())));
        }
    };
    let place = usize::try_from(number).ok().filter(|place| *place <= length);
    place.ok_or_else(|| CallError::new(format!("index out of range: {number}")))
}

pub(super) fn slice(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let Some((item, indexes)) = args.split_first() else { return Ok(Value::Nil) };
    let item = item.plain();
    if matches!(item, Value::Nil) {
        return Err("slice of untyped nil".into());
    }
    if indexes.len() > 3 {
        return Err(CallError::new(format!("too many slice indexes: {}", indexes.len())));
    }
    let length = match &item {
        Value::Str(_) if indexes.len() == 3 => return Err("cannot 3-index slice a string".into()),
        Value::Str(bytes) | Value::Bytes(bytes) => bytes.len(),
        Value::List(list) => list.len(),
        _ => return Err(CallError::new(format!("can't slice item of type {}", item.type_name()))),
    };
    let mut places = [0, length, length];
    for (place_of, index) in places.iter_mut().zip(indexes) {
        *place_of = place(index, length)?;
    }
    for pair in places.windows(2).take(indexes.len().max(2) - 1) {
        if pair[0] > pair[1] {
            return Err(CallError::new(format!("invalid slice index: {} > {}", pair[0], pair[1])));
        }
    }
    let range = places[0]..places[1];
    Ok(match &item {
        Value::Str(bytes) => Value::Str(bytes[range].into()),
        Value::Bytes(bytes) => Value::Bytes(bytes[range].into()),
        Value::List(list) => Value::List(List::typed(*list.go_type(), list.items()[range].to_vec())),
        _ => Value::Nil,
    })
}

/// The length. A nil out of an interface has been refused before.
pub(super) fn len(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let length = match &args[0].plain() {
        Value::Nil => return Err("reflect: call of reflect.Value.Type on zero Value".into()),
        Value::Str(bytes) | Value::Bytes(bytes) => bytes.len(),
        Value::List(list) => list.len(),
        Value::Map(map) => map.len(),
        Value::Object(object) if object.is_nil() => return Err("len of nil pointer".into()),
        item => {
            // Go looks through a pointer before it names the type.
            let ty = item.type_of().unwrap_or(Type::Any);
            let named = match ty {
                Type::Pointer(element) if ty.kind() == Kind::Ptr => *element,
                _ => ty,
            };
            return Err(CallError::new(format!("len of type {named}")));
        }
    };
    Ok(Value::int(i64::try_from(length).unwrap_or(i64::MAX)))
}

//! JSON: `toJson` and `fromJson` with errors as Helm has them, which Sprig has not.

use gotemplate::{CallError, Context, Function, Str, Type, Value, json};

use super::yaml::{error_map, list_or_error, map_or_error};

pub(super) const FUNCS: &[Function] = &[
    Function::new("fromJson", &[Type::String], from_json),
    Function::new("fromJsonArray", &[Type::String], from_json_array),
    Function::new("mustToJson", &[Type::Any], must_to_json),
    Function::new("toJson", &[Type::Any], to_json),
];

/// Nothing for what JSON has no value for.
fn to_json(context: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let limit = context.options().limits.output;
    Ok(json::encode(&args[0], json::Style::COMPACT, limit).unwrap_or_default().into())
}

fn must_to_json(context: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let limit = context.options().limits.output;
    Ok(json::encode(&args[0], json::Style::COMPACT, limit)?.into())
}

fn from_json(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    Ok(match decode(args) {
        Ok((value, out_of_range)) => {
            let map = map_or_error(value, "");
            if let (Some(reason), Value::Map(map)) = (out_of_range, &map) {
                map.insert("Error", reason.into());
            }
            map
        }
        Err(reason) => error_map(reason),
    })
}

fn from_json_array(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    Ok(match decode(args) {
        Ok((_, Some(reason))) | Err(reason) => Value::list(vec![reason.into()]),
        Ok((value, None)) => list_or_error(value, ""),
    })
}

/// The value, and what Go says of a number that no float64 is.
fn decode(args: &[Value]) -> Result<(Value, Option<String>), String> {
    let text = args[0].as_str().map(Str::as_bytes).unwrap_or_default();
    let decoded = json::decode(text)?;
    Ok((decoded.value, decoded.out_of_range.map(|number| number.to_string())))
}

//! Conversions that many functions start with: in goes any value, out comes the number or text that
//! Sprig takes it for. What is no number is 0.

use crate::Context;
use crate::error::CallError;
use crate::fmt::print_plain;
use crate::strconv::{parse_float, parse_int};
use crate::time::{Month, Weekday};
use crate::value::{Str, Value};

/// `int64` and, on the machines that Helm runs on, `int`.
pub(super) fn to_int64(value: &Value) -> i64 {
    match value {
        Value::Bool(truth) => i64::from(*truth),
        Value::Int(_, number) => *number,
        Value::Uint(_, number) => number.cast_signed(),
        Value::Float(number) => truncated(*number),
        Value::Str(text) => parse_int(without_zero_fraction(text), 0).unwrap_or(0),
        Value::Object(_) => calendar_number(value).unwrap_or(0),
        _ => 0,
    }
}

/// `float64`.
pub(super) fn to_float64(value: &Value) -> f64 {
    match value {
        Value::Bool(truth) => f64::from(u8::from(*truth)),
        Value::Int(_, number) => *number as f64,
        Value::Uint(_, number) => *number as f64,
        Value::Float(number) => *number,
        Value::Str(text) => parse_float(text).unwrap_or(0.0),
        Value::Object(_) => calendar_number(value).unwrap_or(0) as f64,
        _ => 0.0,
    }
}

/// A number without its fraction, as the machine's own conversion has it: what does not fit is the
/// least integer.
pub(super) fn truncated(number: f64) -> i64 {
    if (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&number) {
        number as i64
    } else {
        i64::MIN
    }
}

/// Months and days of the week count; of other named types only the plain ones are numbers.
fn calendar_number(value: &Value) -> Option<i64> {
    let month = value.as_object::<Month>().map(|month| month.number());
    month.or_else(|| value.as_object::<Weekday>().map(|day| day.number()))
}

/// `1.00` without its fraction, which alone would make it no integer.
fn without_zero_fraction(text: &[u8]) -> &[u8] {
    let zeros = text.iter().rev().take_while(|byte| **byte == b'0').count();
    let rest = &text[..text.len() - zeros];
    match rest {
        [whole @ .., b'.'] if zeros > 0 => whole,
        _ => text,
    }
}

/// `toString`, and what all functions make of values that they need as text.
pub(super) fn to_text(context: &Context<'_>, value: &Value) -> Result<Str, CallError> {
    match value {
        Value::Str(text) | Value::Bytes(text) => Ok(text.clone()),
        _ => {
            let mut out = Vec::new();
            print_plain(&mut out, value, context.options().limits.output)?;
            Ok(out.into())
        }
    }
}

/// `toStrings`: the items of a list as text, nils left out; anything else is a list of itself.
/// A list of strings is not copied.
pub(super) fn to_strings(context: &Context<'_>, value: &Value) -> Result<Vec<Str>, CallError> {
    match value.plain() {
        Value::Nil => Ok(Vec::new()),
        Value::List(list) => list
            .items()
            .iter()
            .filter(|item| !matches!(item, Value::Nil))
            .map(|item| to_text(context, item))
            .collect(),
        Value::Bytes(bytes) => Ok(bytes.iter().map(|byte| byte.to_string().into()).collect()),
        _ => Ok(vec![to_text(context, value)?]),
    }
}

/// Returns what Go says when something is done with nil that nil cannot do.
pub(super) fn nil_dereference() -> CallError {
    CallError::new("runtime error: invalid memory address or nil pointer dereference")
}

/// The count of something to be made, if it is none of which Go cannot make any.
pub(super) fn made_length(count: i64) -> Result<usize, CallError> {
    usize::try_from(count).map_err(|_| CallError::new("runtime error: makeslice: len out of range"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::{IntKind, UintKind};

    #[test]
    fn integers_of_all_kinds_of_values() {
        let cases = [
            (Value::from("017"), 15),
            (Value::from("09"), 0),
            (Value::from("42.9"), 0),
            (Value::from("5.0"), 5),
            (Value::from("5.00"), 5),
            (Value::from(".0"), 0),
            (Value::from("50"), 50),
            (Value::from("1_000"), 1000),
            (Value::from("1e3"), 0),
            (Value::from("99999999999999999999"), 0),
            (Value::from(true), 1),
            (Value::from(-2.9), -2),
            (Value::from(1e20), i64::MIN),
            (Value::from(f64::NAN), i64::MIN),
            (Value::Int(IntKind::Int8, -3), -3),
            (Value::Uint(UintKind::Uint64, u64::MAX), -1),
            (Value::Nil, 0),
            (Value::list(vec![]), 0),
        ];
        for (value, number) in cases {
            assert_eq!(to_int64(&value), number, "{value:?}");
        }
    }

    #[test]
    fn floats_of_all_kinds_of_values() {
        assert_eq!(to_float64(&"1e3".into()), 1000.0);
        assert_eq!(to_float64(&"0x10".into()), 0.0);
        assert_eq!(to_float64(&"x".into()), 0.0);
        assert_eq!(to_float64(&Value::int(7)), 7.0);
        assert_eq!(to_float64(&true.into()), 1.0);
    }
}

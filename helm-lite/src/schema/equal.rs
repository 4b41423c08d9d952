//! Which values are the same to a schema: numbers by what they are, not by how they are written.

use std::collections::HashMap;
use std::fmt::Write as _;

use super::violation::quote;
use crate::json::{Json, NodeId, Value};
use crate::values::{Data, Item};

/// Returns true if a value is that of a schema's `const` or `enum`.
pub(super) fn equals(json: &Json<'_>, node: NodeId, value: &Data) -> bool {
    match (json.value(node), value) {
        (Value::Null, Data::Null) => true,
        (Value::Bool(left), Data::Bool(right)) => left == right,
        (Value::Str(left), Data::Str(right)) => left.as_ref() == right.as_str(),
        (Value::Number(left), Data::Float(right)) => left.parse() == Ok(*right),
        #[expect(clippy::cast_precision_loss, reason = "integers of this size are not enumerated")]
        (Value::Number(left), Data::Int(right)) => left.parse() == Ok(*right as f64),
        (Value::Array(_), Data::List(right)) => {
            let left = json.items(node);
            left.len() == right.len() && left.iter().zip(right.iter()).all(|(l, r)| equals(json, *l, &r.data))
        }
        (Value::Object(_), Data::Table(right)) => {
            let left = json.members(node);
            left.len() == right.len()
                && left.iter().all(|(key, l)| right.get(key).is_some_and(|r| equals(json, *l, &r.data)))
        }
        _ => false,
    }
}

/// A value of `const` or `enum` that is no collection, in a message.
pub(super) fn display(json: &Json<'_>, node: NodeId) -> String {
    match json.value(node) {
        Value::Null => "<nil>".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(text) => (*text).to_owned(),
        Value::Str(text) => quote(text),
        Value::Array(_) | Value::Object(_) => "value".to_owned(),
    }
}

/// The first item that is the same as one before, behind that one.
pub(super) fn duplicates(items: &[Item]) -> Option<(usize, usize)> {
    let mut seen = HashMap::new();
    items.iter().enumerate().find_map(|(index, item)| {
        let mut text = String::new();
        write_canonical(&item.data, &mut text);
        seen.insert(text, index).map(|first| (first, index))
    })
}

/// A text that two values have in common only if they are the same.
fn write_canonical(value: &Data, out: &mut String) {
    let _ = match value {
        Data::Null => write!(out, "n"),
        Data::Bool(value) => write!(out, "{value}"),
        Data::Float(float) => write!(out, "{float}"),
        Data::Int(int) => write!(out, "{int}"),
        Data::Str(text) => write!(out, "{text:?}"),
        Data::Bytes(bytes) => write!(out, "{bytes:?}"),
        Data::List(items) => {
            out.push('[');
            for item in items.iter() {
                write_canonical(&item.data, out);
                out.push(',');
            }
            write!(out, "]")
        }
        Data::Table(table) => {
            out.push('{');
            for (key, item) in table.iter() {
                let _ = write!(out, "{key:?}:");
                write_canonical(&item.data, out);
                out.push(',');
            }
            write!(out, "}}")
        }
    };
}

/// Returns true if a number is a multiple of another, both taken as the decimals that they are written as.
pub(super) fn is_multiple(number: f64, divisor: f64) -> bool {
    let (Some((number_digits, number_places)), Some((divisor_digits, divisor_places))) =
        (decimal(number), decimal(divisor))
    else {
        return (number / divisor).fract() == 0.0;
    };
    let places = number_places.max(divisor_places);
    let scaled = |digits: i128, by: u32| 10_i128.checked_pow(by).and_then(|power| digits.checked_mul(power));
    match (scaled(number_digits, places - number_places), scaled(divisor_digits, places - divisor_places)) {
        (Some(number), Some(divisor)) if divisor != 0 => number % divisor == 0,
        _ => (number / divisor).fract() == 0.0,
    }
}

/// The digits of a number and how many of them are behind the point.
fn decimal(number: f64) -> Option<(i128, u32)> {
    let text = number.to_string();
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let digits = format!("{whole}{fraction}").parse().ok()?;
    Some((digits, u32::try_from(fraction.len()).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn multiples_are_those_of_decimals() {
        assert!(is_multiple(0.3, 0.1));
        assert!(!is_multiple(0.35, 0.1));
        assert!(is_multiple(-4.0, 2.0));
        assert!(is_multiple(1e30, 10.0));
        assert!(!is_multiple(5.0, 2.0));
    }
}

//! Helm's own functions over durations, which Sprig does not have.
//!
//! A duration is given as one, as text with units, or as a number of seconds.

use gostd::quoted;

use super::convert::truncated;
use crate::context::Context;
use crate::error::CallError;
use crate::fmt::format_float;
use crate::function::Function;
use crate::strconv::parse_float;
use crate::time::Duration;
use crate::value::{Type, Value};

pub const FUNCS: &[Function] = &[
    Function::new("durationDays", &[Type::Any], |_, args| Ok((or_zero(&args[0]).hours() / 24.0).into())),
    Function::new("durationHours", &[Type::Any], |_, args| Ok(or_zero(&args[0]).hours().into())),
    Function::new("durationMicroseconds", &[Type::Any], |_, args| {
        Ok(Value::int64(or_zero(&args[0]).0 / 1_000))
    }),
    Function::new("durationMilliseconds", &[Type::Any], |_, args| {
        Ok(Value::int64(or_zero(&args[0]).0 / 1_000_000))
    }),
    Function::new("durationMinutes", &[Type::Any], |_, args| Ok(or_zero(&args[0]).minutes().into())),
    Function::new("durationNanoseconds", &[Type::Any], |_, args| Ok(Value::int64(or_zero(&args[0]).0))),
    Function::new("durationRoundTo", &[Type::Any, Type::Any], |_, args| {
        Ok(to_multiple(args, Duration::round))
    }),
    Function::new("durationSeconds", &[Type::Any], |_, args| Ok(or_zero(&args[0]).seconds().into())),
    Function::new("durationTruncateTo", &[Type::Any, Type::Any], |_, args| {
        Ok(to_multiple(args, Duration::truncate))
    }),
    Function::new("durationWeeks", &[Type::Any], |_, args| {
        Ok((or_zero(&args[0]).hours() / 24.0 / 7.0).into())
    }),
    Function::new("mustToDuration", &[Type::Any], must_to_duration),
];

fn must_to_duration(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    Ok(duration(&args[0])?.into())
}

fn or_zero(value: &Value) -> Duration {
    duration(value).unwrap_or_default()
}

/// Rounds a duration to a multiple. An invalid duration is 0; an invalid multiple has no effect.
fn to_multiple(args: &[Value], adjust: impl Fn(Duration, Duration) -> Duration) -> Value {
    let Ok(value) = duration(&args[0]) else { return Duration(0).into() };
    duration(&args[1]).map_or(value, |multiple| adjust(value, multiple)).into()
}

fn duration(value: &Value) -> Result<Duration, String> {
    if let Some(duration) = value.as_object::<Duration>() {
        return Ok(*duration);
    }
    match value.plain() {
        Value::Nil => Err("invalid duration".to_owned()),
        Value::Str(text) => from_text(&text),
        Value::Int(_, seconds) => from_integer(i128::from(seconds)),
        Value::Uint(_, seconds) => from_integer(i128::from(seconds)),
        Value::Float(seconds) => from_float(seconds),
        _ => Err(format!("unsupported duration type {}", value.type_name())),
    }
}

fn from_text(text: &[u8]) -> Result<Duration, String> {
    let trimmed = super::text::trim_matching(text, char::is_whitespace);
    if trimmed.is_empty() {
        return Err("empty duration".to_owned());
    }
    if let Ok(duration) = Duration::parse(trimmed) {
        return Ok(duration);
    }
    let seconds = parse_float(trimmed).ok_or_else(|| format!("could not parse duration {}", quoted(text)))?;
    from_float(seconds)
}

fn from_integer(seconds: i128) -> Result<Duration, String> {
    // The longest duration in whole seconds.
    const MOST: i128 = (i64::MAX / 1_000_000_000) as i128;
    if (-MOST..=MOST).contains(&seconds) {
        Ok(Duration::from_seconds(seconds as i64))
    } else {
        Err(format!("duration seconds overflow: {seconds}"))
    }
}

fn from_float(seconds: f64) -> Result<Duration, String> {
    const MOST: f64 = i64::MAX as f64;
    let text = || format_float(seconds, b'g', None);
    if !seconds.is_finite() {
        return Err(format!("invalid duration seconds: {}", text()));
    }
    if seconds.abs() > MOST / 1e9 {
        return Err(format!("duration seconds overflow: {}", text()));
    }
    Ok(Duration(truncated(seconds * 1e9)))
}

#[cfg(test)]
mod tests {
    use crate::funcs::testing::{check, check_refusals};

    // What Helm 4.3.1 makes of these.
    const CASES: &[(&str, &str)] = &[
        (
            r#"{{ mustToDuration "1h2m3s" }}|{{ mustToDuration "90" }}|{{ mustToDuration 1.5 }}|{{ mustToDuration " 1e3 " }}|{{ mustToDuration (mustToDuration "1s") }}|{{ typeOf (mustToDuration 1) }}|{{ kindOf (mustToDuration 1) }}|{{ int (mustToDuration "1h") }}"#,
            "1h2m3s|1m30s|1.5s|16m40s|1s|time.Duration|int64|0",
        ),
        (
            r#"{{ durationSeconds "90s" }}|{{ durationMinutes "90s" }}|{{ durationHours 5400 }}|{{ durationDays "36h" }}|{{ durationWeeks "168h" }}|{{ durationMilliseconds 1.5 }}|{{ durationMicroseconds "1ms" }}|{{ durationNanoseconds "x" }}|{{ durationSeconds nil }}"#,
            "90|1.5|1.5|1.5|1|1500|1000|0|0",
        ),
        (
            r#"{{ durationRoundTo "2h13m" "30m" }}|{{ durationRoundTo "2h15m" "30m" }}|{{ durationTruncateTo "2h59m" "1h" }}|{{ durationTruncateTo "2h13m" "x" }}|{{ durationRoundTo "x" "1h" }}|{{ (mustToDuration "1h30m").Round (mustToDuration "1h") }}"#,
            "2h0m0s|2h30m0s|2h0m0s|2h13m0s|0s|2h0m0s",
        ),
    ];
    const REFUSALS: &[(&str, &str)] = &[
        (r#"{{ mustToDuration "" }}"#, "empty duration"),
        (r#"{{ mustToDuration "x" }}"#, r#"could not parse duration "x""#),
        (r#"{{ mustToDuration "1e20" }}"#, "duration seconds overflow: 1e+20"),
        (r#"{{ mustToDuration "nan" }}"#, "invalid duration seconds: NaN"),
        ("{{ mustToDuration nil }}", "invalid duration"),
        ("{{ mustToDuration true }}", "unsupported duration type bool"),
        ("{{ mustToDuration 99999999999 }}", "duration seconds overflow: 99999999999"),
    ];

    #[test]
    fn answers_are_those_of_helm() {
        check(CASES);
    }

    #[test]
    fn refusals_are_in_the_words_of_helm() {
        check_refusals(REFUSALS);
    }
}

//! TOML: `toToml` and `fromToml`, as BurntSushi's library writes and reads it.

mod encode;

use std::fmt::Write as _;

use gotemplate::time::{Time, Zone};
use gotemplate::{CallError, Context, Function, List, Map, Now, Str, Type, Value};

use super::yaml::error_map;
use encode::encode;

pub(super) const FUNCS: &[Function] = &[
    Function::new("fromToml", &[Type::String], from_toml),
    Function::new("mustToToml", &[Type::Any], must_to_toml),
    Function::new("toToml", &[Type::Any], to_toml),
];

/// The text, or what is wrong with the value.
fn to_toml(context: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    if matches!(args[0], Value::Nil) {
        return Err("reflect: call of reflect.Value.Type on zero Value".into());
    }
    Ok(encode(&args[0], context.options().limits.output)
        .map_or_else(|error| error.to_string().into(), Value::from))
}

fn must_to_toml(context: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    if matches!(args[0], Value::Nil) {
        return Err("reflect: call of reflect.Value.Type on zero Value".into());
    }
    Ok(encode(&args[0], context.options().limits.output)?.into())
}

/// The table, or one that says what is wrong with the text.
fn from_toml(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let text = args[0].as_str().map(Str::to_text).unwrap_or_default();
    Ok(match text.parse::<toml::Table>() {
        Ok(table) => Value::Map(map(table)),
        Err(error) => error_map(reason(&text, &error)),
    })
}

fn reason(text: &str, error: &toml::de::Error) -> String {
    let span = error.span().unwrap_or_default();
    let line =
        text.as_bytes()[..span.start.min(text.len())].iter().filter(|byte| **byte == b'\n').count() + 1;
    let mut reason = format!("toml: line {line}");
    match text.get(span) {
        Some(key) if error.message().starts_with("duplicate key") => {
            let _ = write!(reason, " (last key {key:?}): Key '{key}' has already been defined.");
        }
        _ => {
            let _ = write!(reason, ": {}", error.message());
        }
    }
    reason
}

fn map(table: toml::Table) -> Map {
    Map::new(table.into_iter().map(|(key, item)| (key, value(item))))
}

fn value(item: toml::Value) -> Value {
    match item {
        toml::Value::String(text) => text.into(),
        toml::Value::Integer(number) => Value::int64(number),
        toml::Value::Float(number) => Value::Float(number),
        toml::Value::Boolean(truth) => Value::Bool(truth),
        toml::Value::Datetime(time) => Value::object(point(&time)),
        toml::Value::Array(items) => array(items),
        toml::Value::Table(table) => Value::Map(map(table)),
    }
}

/// A list of nothing but tables has a type of its own.
fn array(items: Vec<toml::Value>) -> Value {
    const TABLES: Type = Type::Slice(&Type::MAP);
    let only_tables = !items.is_empty() && items.iter().all(toml::Value::is_table);
    let items = items.into_iter().map(value).collect();
    if only_tables { List::typed(TABLES, items).into() } else { Value::list(items) }
}

const DATE_LOCAL: &str = "date-local";
const TIME_LOCAL: &str = "time-local";
const DATETIME_LOCAL: &str = "datetime-local";

/// The point in time. What is missing of it shows in the name of its zone, which is UTC by another name; a time
/// without a date is one of the year 0.
fn point(written: &toml::value::Datetime) -> Time {
    let (year, month, day) = written
        .date
        .map_or((0, 1, 1), |date| (i64::from(date.year), i64::from(date.month), i64::from(date.day)));
    let clock = written.time.map_or(0, |time| {
        i64::from(time.hour) * 3600 + i64::from(time.minute) * 60 + i64::from(time.second.unwrap_or(0))
    });
    let zone = match (written.offset, written.date, written.time) {
        (Some(toml::value::Offset::Z), ..) => Zone::Utc,
        (Some(toml::value::Offset::Custom { minutes }), ..) => {
            Zone::Fixed("".into(), i32::from(minutes) * 60)
        }
        (None, Some(_), Some(_)) => Zone::Fixed(DATETIME_LOCAL.into(), 0),
        (None, Some(_), None) => Zone::Fixed(DATE_LOCAL.into(), 0),
        (None, None, _) => Zone::Fixed(TIME_LOCAL.into(), 0),
    };
    let offset = if let Zone::Fixed(_, seconds) = zone { i64::from(seconds) } else { 0 };
    let seconds = days(year, month, day) * 86_400 + clock - offset;
    let nanoseconds = written.time.and_then(|time| time.nanosecond).unwrap_or(0);
    Time::unix(Now { seconds, nanoseconds }, zone)
}

/// Days from 1970-01-01 to a date of the Gregorian calendar: years begin in March here, so that leap days end them.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month < 3);
    let month = (month + 9) % 12;
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    365 * year + leap_days + (153 * month + 2) / 5 + day - 1 - 719_468
}

#[cfg(test)]
mod tests {
    use crate::funcs::testing::rendered;

    /// As `toToml` of Helm writes them.
    #[test]
    fn tables_come_after_plain_values() {
        for (template, wanted) in [
            (
                r#"{{ toToml (dict "b" 1 "t" (dict "u" (dict "v" true) "k" 1) "z" 1.0 "y" 1e6 "n" nil) }}"#,
                "b = 1\ny = 1e+06\nz = 1.0\n\n[t]\n  k = 1\n  [t.u]\n    v = true\n",
            ),
            (
                r#"{{ toToml (dict "l" (list 1 "a" 2.5 (dict "q" 1 "r" (list)))) }}"#,
                "l = [1, \"a\", 2.5, {q = 1, r = []}]\n",
            ),
            (
                r#"{{ toToml (dict "a" (list (dict "b" (list (dict "c" 1) (dict "d" 2))))) }}"#,
                "[[a]]\n\n  [[a.b]]\n    c = 1\n\n  [[a.b]]\n    d = 2\n",
            ),
            (r#"{{ toToml (dict "l" (list nil)) }}"#, "toml: cannot encode array with nil element"),
            (r#"{{ toToml (list (dict "a" 1)) }}"#, "toml: top-level values must be Go maps or structs"),
            (r#"{{ toToml (list 1 2) }}"#, "[1, 2]"),
            (r#"{{ toToml (dict "a b" "x\"y\n\x00\x7fé") }}"#, "\"a b\" = \"x\\\"y\\n\\u0000\\u007fé\"\n"),
        ] {
            assert_eq!(rendered(template), wanted, "{template}");
        }
    }

    #[test]
    fn times_keep_what_they_lack() {
        let toml = r"a=1979-05-27T07:32:00Z\nb=1979-05-27\nc=07:32:00\nd=1979-05-27T07:32:00-07:00\ne=1979-05-27T07:32:00";
        assert_eq!(
            rendered(&format!(r#"{{{{ fromToml "{toml}" }}}}"#)),
            "map[a:1979-05-27 07:32:00 +0000 UTC b:1979-05-27 00:00:00 +0000 date-local \
             c:0000-01-01 07:32:00 +0000 time-local d:1979-05-27 07:32:00 -0700 -0700 \
             e:1979-05-27 07:32:00 +0000 datetime-local]"
        );
        assert_eq!(
            rendered(&format!(r#"{{{{ toToml (fromToml "{toml}") }}}}"#)),
            "a = 1979-05-27T07:32:00Z\nb = 1979-05-27\nc = 07:32:00\nd = 1979-05-27T07:32:00-07:00\n\
             e = 1979-05-27T07:32:00\n"
        );
    }

    #[test]
    fn integers_of_toml_stay_integers() {
        let template = r#"{{ fromToml "a = 1\nb = 2.5\n[t]\nx = true" }} {{ typeOf (fromToml "a = 1").a }}"#;
        assert_eq!(rendered(template), "map[a:1 b:2.5 t:map[x:true]] int64");
        assert_eq!(
            rendered(r#"{{ fromToml "a = 1\na = 2" }}"#),
            "map[Error:toml: line 2 (last key \"a\"): Key 'a' has already been defined.]"
        );
    }
}

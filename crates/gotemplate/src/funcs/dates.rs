//! Dates: formatting, parsing and moving points in time. A date may be given as a time or as seconds
//! since 1970; anything else means now.

use super::args::{lossy, text};
use crate::context::{Context, Now};
use crate::error::CallError;
use crate::function::Function;
use crate::strconv::parse_nearest;
use crate::time::{Duration, TIME, Time, Zone};
use crate::value::{IntKind, Type, Value};

const TEXT: Type = Type::String;
const DAY: &[u8] = b"2006-01-02";

pub(super) const FUNCS: &[Function] = &[
    Function::new("ago", &[Type::Any], ago),
    Function::new("date", &[TEXT, Type::Any], |context, args| {
        Ok(in_zone(context, text(args, 0), &args[1], "Local").into())
    }),
    Function::new("dateInZone", &[TEXT, Type::Any, TEXT], date_in_zone),
    Function::new("dateModify", &[TEXT, TIME], date_modify),
    Function::new("date_in_zone", &[TEXT, Type::Any, TEXT], date_in_zone),
    Function::new("date_modify", &[TEXT, TIME], date_modify),
    Function::new("duration", &[Type::Any], duration),
    Function::new("durationRound", &[Type::Any], duration_round),
    Function::new("htmlDate", &[Type::Any], |context, args| {
        Ok(in_zone(context, DAY, &args[0], "Local").into())
    }),
    Function::new("htmlDateInZone", &[Type::Any, TEXT], |context, args| {
        Ok(in_zone(context, DAY, &args[0], &lossy(args, 1)).into())
    }),
    Function::new("mustDateModify", &[TEXT, TIME], must_date_modify),
    Function::new("mustToDate", &[TEXT, TEXT], must_to_date),
    Function::new("must_date_modify", &[TEXT, TIME], must_date_modify),
    Function::new("now", &[], |context, _| Ok(Value::object(now(context)))),
    Function::new("toDate", &[TEXT, TEXT], to_date),
    Function::new("unixEpoch", &[TIME], |_, args| Ok(time(&args[0])?.seconds().to_string().into())),
];

fn local(context: &Context<'_>) -> Zone {
    Zone::local(context.options().zone)
}

fn now(context: &Context<'_>) -> Time {
    Time::unix(context.now(), local(context))
}

fn time(value: &Value) -> Result<&Time, CallError> {
    value.as_object().ok_or_else(|| "no time".into())
}

/// The point in time that a value says.
fn point(context: &Context<'_>, value: &Value) -> Time {
    match value {
        Value::Int(IntKind::Int | IntKind::Int32 | IntKind::Int64, seconds) => {
            Time::unix(Now { seconds: *seconds, nanoseconds: 0 }, local(context))
        }
        _ => value.as_object::<Time>().cloned().unwrap_or_else(|| now(context)),
    }
}

fn in_zone(context: &Context<'_>, layout: &[u8], date: &Value, zone: &str) -> Vec<u8> {
    let zone = Zone::load(zone, context.options().zone).unwrap_or(Zone::Utc);
    point(context, date).in_zone(zone).format(layout)
}

fn date_in_zone(context: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    Ok(in_zone(context, text(args, 0), &args[1], &lossy(args, 2)).into())
}

/// A duration that is none moves nothing.
fn date_modify(context: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    Ok(must_date_modify(context, args).unwrap_or_else(|_| args[1].clone()))
}

fn must_date_modify(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    Ok(Value::object(time(&args[1])?.add(Duration::parse(text(args, 0))?)))
}

/// A text that does not fit the layout is the zero time.
fn to_date(context: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    Ok(must_to_date(context, args).unwrap_or_else(|_| Value::object(Time::zero())))
}

fn must_to_date(context: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    Ok(Value::object(Time::parse(text(args, 0), text(args, 1), local(context))?))
}

fn ago(context: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let since = now(context).since(&point(context, &args[0]));
    Ok(since.round(Duration::from_seconds(1)).to_string().into())
}

/// A number of seconds as a duration.
fn duration(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let seconds = match &args[0] {
        Value::Str(text) => parse_nearest(text),
        Value::Int(IntKind::Int64, seconds) => *seconds,
        _ => 0,
    };
    Ok(Duration::from_seconds(seconds).to_string().into())
}

/// A duration, or how long ago a time is, in the largest unit that it is more than one of.
fn duration_round(context: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    const HOUR: u64 = 3_600_000_000_000;
    const UNITS: [(u64, &str); 6] = [
        (365 * 24 * HOUR, "y"),
        (30 * 24 * HOUR, "mo"),
        (24 * HOUR, "d"),
        (HOUR, "h"),
        (HOUR / 60, "m"),
        (HOUR / 3_600, "s"),
    ];
    let duration = match &args[0] {
        Value::Str(text) => Duration::parse(text).unwrap_or_default(),
        Value::Int(IntKind::Int64, nanoseconds) => Duration(*nanoseconds),
        value => value.as_object::<Time>().map_or(Duration(0), |time| now(context).since(time)),
    };
    let length = duration.0.unsigned_abs();
    let unit = UNITS.iter().find(|(unit, _)| length > *unit);
    Ok(unit.map_or_else(|| "0s".into(), |(unit, name)| format!("{}{name}", length / unit).into()))
}

#[cfg(test)]
mod tests {
    use crate::funcs::testing::{check, check_refusals};

    // What Helm 4.3.1 makes of these.
    const CASES: &[(&str, &str)] = &[
        (
            r#"{{ $t := toDate "2006-01-02 15:04:05" "2021-03-04 05:06:07" }}{{ $t }}|{{ date "Mon 2 Jan 06" $t }}|{{ htmlDate $t }}|{{ dateInZone "15:04 MST" $t "Asia/Kolkata" }}|{{ dateInZone "15:04 MST" $t "Nope/Zone" }}|{{ htmlDateInZone 0 "America/Los_Angeles" }}|{{ unixEpoch $t }}|{{ toJson $t }}"#,
            r#"2021-03-04 05:06:07 +0000 UTC|Thu 4 Mar 21|2021-03-04|10:36 IST|05:06 UTC|1969-12-31|1614834367|"2021-03-04T05:06:07Z""#,
        ),
        (
            r#"{{ date "2006-01-02" 86400 }}|{{ date_in_zone "15:04 MST" (int64 0) "" }}|{{ toDate "2006" "x" }}|{{ (toDate "2006" "x").IsZero }}|{{ dateModify "-1.5h" (toDate "2006" "2020") }}|{{ date_modify "x" (toDate "2006" "2020") }}"#,
            "1970-01-02|00:00 UTC|0001-01-01 00:00:00 +0000 UTC|true|2019-12-31 22:30:00 +0000 UTC|2020-01-01 00:00:00 +0000 UTC",
        ),
        (
            r#"{{ $t := toDate "2006-01-02 15:04:05.9" "2021-01-31 05:06:07.123456789" }}{{ $t.Unix }} {{ $t.UnixMilli }} {{ $t.UnixMicro }} {{ $t.UnixNano }} {{ $t.Year }} {{ $t.Month }} {{ $t.Day }} {{ $t.Weekday }} {{ $t.YearDay }} {{ $t.Hour }} {{ $t.Nanosecond }} {{ $t.IsDST }}"#,
            "1612069567 1612069567123 1612069567123456 1612069567123456789 2021 January 31 Sunday 31 5 123456789 false",
        ),
        (
            r#"{{ $t := toDate "2006-01-02" "2021-01-31" }}{{ $t.AddDate 0 1 0 }}|{{ $t.AddDate -1 0 -31 }}|{{ $t.Add 3600000000000 }}|{{ $t.Sub (toDate "2006-01-02" "2020-01-31") }}|{{ $t.Truncate (mustToDuration "168h") }}|{{ $t.Round (mustToDuration "168h") }}|{{ $t.Compare $t }}"#,
            "2021-03-03 00:00:00 +0000 UTC|2019-12-31 00:00:00 +0000 UTC|2021-01-31 01:00:00 +0000 UTC|8784h0m0s|2021-01-25 00:00:00 +0000 UTC|2021-02-01 00:00:00 +0000 UTC|0",
        ),
        (
            r#"{{ $t := toDate "2006-01-02" "2021-01-31" }}{{ eq $t.Month 1 }}|{{ int $t.Month }}|{{ toJson $t.Weekday }}|{{ printf "%v %s %d" $t.Month $t.Month $t.Month }}|{{ $t.Before (now) }}|{{ kindOf $t.Month }}|{{ ($t.Format "2006") }}"#,
            "true|1|0|January January 1|true|int|2021",
        ),
        (
            r#"{{ duration 3600 }}|{{ duration "3600" }}|{{ duration (int64 3661) }}|{{ duration "99999999999999999999" }}|{{ durationRound "24h" }}|{{ durationRound "25h" }}|{{ durationRound "-25h" }}|{{ durationRound (int64 1500000000) }}|{{ durationRound "9000h" }}|{{ durationRound 5 }}|{{ ago (now) }}"#,
            "0s|1h0m0s|1h1m1s|-1s|24h|1d|1d|1s|1y|0s|0s",
        ),
    ];
    const REFUSALS: &[(&str, &str)] = &[
        (
            r#"{{ mustToDate "2006-01-02" "x" }}"#,
            r#"parsing time "x" as "2006-01-02": cannot parse "x" as "2006""#,
        ),
        (r#"{{ mustDateModify "x" (now) }}"#, r#"time: invalid duration "x""#),
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

//! Times as values of templates, with the methods that the Go type has.

use std::any::Any;

use super::duration::{DURATION, Duration, argument};
use super::instant::Time;
use super::zone::Zone;
use crate::context::Context;
use crate::error::CallError;
use crate::function::Function;
use crate::value::{Object, Str, Type, Value};

/// `time.Time`.
pub(crate) const TIME: Type = Type::Named("time.Time", &Type::Struct);

const LOCATION: Type = Type::Pointer(&Type::Named("time.Location", &Type::Struct));

impl Object for Time {
    fn go_type(&self) -> Type {
        TIME
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn method(&self, name: &str) -> Option<&'static Function> {
        METHODS.iter().find(|function| function.name() == name)
    }

    fn text(&self) -> Option<Str> {
        Some(self.to_string().into())
    }

    fn marshalled(&self) -> Option<Value> {
        Some(self.format(b"2006-01-02T15:04:05.999999999Z07:00").into())
    }

    fn equals(&self, other: &dyn Object) -> bool {
        other
            .as_any()
            .downcast_ref::<Self>()
            .is_some_and(|other| self == other && self.zone.name() == other.zone.name())
    }
}

impl Object for Zone {
    fn go_type(&self) -> Type {
        LOCATION
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn method(&self, name: &str) -> Option<&'static Function> {
        const STRING: Function = Function::new("String", &[], |_, args| {
            let zone = args.first().and_then(Value::as_object::<Zone>);
            Ok(zone.map_or("", Zone::name).into())
        });
        (name == "String").then_some(&STRING)
    }

    fn text(&self) -> Option<Str> {
        Some(self.name().into())
    }

    fn equals(&self, other: &dyn Object) -> bool {
        other.as_any().downcast_ref::<Self>().is_some_and(|other| self.name() == other.name())
    }
}

const METHODS: &[Function] = &[
    Function::new("Add", &[DURATION], |_, args| Ok(Value::object(receiver(args)?.add(argument(args)?)))),
    Function::new("AddDate", &[Type::INT, Type::INT, Type::INT], add_date),
    Function::new("After", &[TIME], |_, args| Ok((receiver(args)?.since(other(args)?).0 > 0).into())),
    Function::new("Before", &[TIME], |_, args| Ok((receiver(args)?.since(other(args)?).0 < 0).into())),
    Function::new("Compare", &[TIME], |_, args| {
        Ok(Value::int(receiver(args)?.since(other(args)?).0.signum()))
    }),
    Function::new("Day", &[], |_, args| Ok(Value::int(receiver(args)?.local().date.day.into()))),
    Function::new("Equal", &[TIME], |_, args| Ok((receiver(args)? == other(args)?).into())),
    Function::new("Format", &[Type::String], format),
    Function::new("Hour", &[], |_, args| Ok(Value::int(receiver(args)?.local().hour.into()))),
    Function::new("In", &[LOCATION], in_location),
    Function::new("IsDST", &[], |_, args| Ok(receiver(args)?.local().offset.daylight_saving.into())),
    Function::new("IsZero", &[], |_, args| Ok(receiver(args)?.is_zero().into())),
    Function::new("Local", &[], |context, args| {
        Ok(Value::object(receiver(args)?.in_zone(Zone::local(context.options().zone))))
    }),
    Function::new("Location", &[], |_, args| Ok(Value::object(receiver(args)?.zone.clone()))),
    Function::new("Minute", &[], |_, args| Ok(Value::int(receiver(args)?.local().minute.into()))),
    Function::new("Month", &[], |_, args| Ok(Value::object(receiver(args)?.month()))),
    Function::new("Nanosecond", &[], |_, args| Ok(Value::int(receiver(args)?.nanoseconds.into()))),
    Function::new("Round", &[DURATION], |_, args| Ok(Value::object(receiver(args)?.round(argument(args)?)))),
    Function::new("Second", &[], |_, args| Ok(Value::int(receiver(args)?.local().second.into()))),
    Function::new("String", &[], |_, args| Ok(receiver(args)?.to_string().into())),
    Function::new("Sub", &[TIME], |_, args| Ok(Value::object(receiver(args)?.since(other(args)?)))),
    Function::new("Truncate", &[DURATION], |_, args| {
        Ok(Value::object(receiver(args)?.truncate(argument(args)?)))
    }),
    Function::new("UTC", &[], |_, args| Ok(Value::object(receiver(args)?.in_zone(Zone::Utc)))),
    Function::new("Unix", &[], |_, args| Ok(Value::int64(receiver(args)?.seconds))),
    Function::new("UnixMicro", &[], |_, args| unix(args, 1_000_000)),
    Function::new("UnixMilli", &[], |_, args| unix(args, 1_000)),
    Function::new("UnixNano", &[], |_, args| Ok(Value::int64(receiver(args)?.unix_nanoseconds()))),
    Function::new("Weekday", &[], |_, args| Ok(Value::object(receiver(args)?.local().weekday))),
    Function::new("Year", &[], |_, args| Ok(Value::int(receiver(args)?.local().date.year))),
    Function::new("YearDay", &[], |_, args| Ok(Value::int(receiver(args)?.local().date.year_day()))),
];

fn time_at(args: &[Value], index: usize) -> Result<&Time, CallError> {
    args.get(index).and_then(Value::as_object).ok_or_else(|| "no time".into())
}

fn receiver(args: &[Value]) -> Result<&Time, CallError> {
    time_at(args, 0)
}

fn other(args: &[Value]) -> Result<&Time, CallError> {
    time_at(args, 1)
}

fn add_date(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let number = |index: usize| args.get(index).and_then(Value::as_int).unwrap_or(0);
    Ok(Value::object(receiver(args)?.add_date(number(1), number(2), number(3))))
}

fn format(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let layout = args.get(1).and_then(Value::as_str).ok_or("no layout")?;
    Ok(receiver(args)?.format(layout).into())
}

fn in_location(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let zone =
        args.get(1).and_then(Value::as_object::<Zone>).ok_or("time: missing Location in call to Time.In")?;
    Ok(Value::object(receiver(args)?.in_zone(zone.clone())))
}

/// Parts of a second since 1970.
fn unix(args: &[Value], parts: i64) -> Result<Value, CallError> {
    let time = receiver(args)?;
    let after = i64::from(time.nanoseconds) * parts / super::NANOSECONDS;
    Ok(Value::int64(time.seconds.wrapping_mul(parts).wrapping_add(after)))
}

impl From<Duration> for Value {
    fn from(duration: Duration) -> Self {
        Self::object(duration)
    }
}

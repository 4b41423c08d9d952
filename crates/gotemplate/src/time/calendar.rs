//! Days as the Gregorian calendar counts them, and the names of months and days of the week.

use std::any::Any;

use crate::context::Context;
use crate::error::CallError;
use crate::function::Function;
use crate::value::{Object, Str, Type, Value};

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const WEEKDAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/// A `time.Month`: January is 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Month(pub(super) u8);

/// A `time.Weekday`: Sunday is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weekday(pub(super) u8);

impl Month {
    /// The number that it is.
    #[must_use]
    pub fn number(self) -> i64 {
        i64::from(self.0)
    }

    /// The English name.
    #[must_use]
    pub fn name(self) -> &'static str {
        MONTHS.get(usize::from(self.0).wrapping_sub(1)).copied().unwrap_or_default()
    }

    /// The month that `text` begins with the name of, by its whole name or its first three letters.
    pub(super) fn find(text: &[u8], whole: bool) -> Option<(Self, usize)> {
        find(&MONTHS, text, whole).map(|(index, length)| (Self(index + 1), length))
    }
}

impl Weekday {
    /// The number that it is.
    #[must_use]
    pub fn number(self) -> i64 {
        i64::from(self.0)
    }

    /// The English name.
    #[must_use]
    pub fn name(self) -> &'static str {
        WEEKDAYS.get(usize::from(self.0)).copied().unwrap_or_default()
    }

    pub(super) fn find(text: &[u8], whole: bool) -> Option<usize> {
        find(&WEEKDAYS, text, whole).map(|(_, length)| length)
    }
}

fn find(names: &[&str], text: &[u8], whole: bool) -> Option<(u8, usize)> {
    names.iter().zip(0u8..).find_map(|(name, index)| {
        let name = if whole { name } else { &name[..3] };
        let begins = text.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name.as_bytes()));
        begins.then_some((index, name.len()))
    })
}

/// A day: its year, month and day of the month.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Date {
    pub(super) year: i64,
    pub(super) month: u8,
    pub(super) day: u8,
}

impl Date {
    /// The day so many days after 1970-01-01.
    pub(super) fn from_days(days: i64) -> Self {
        // Years begin in March here, so that a leap day is the last of one; eras have 400 years.
        let days = days + 719_468;
        let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
        let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
        let day = day - (365 * year + year / 4 - year / 100);
        let month = (5 * day + 2) / 153;
        let day = day - (153 * month + 2) / 5 + 1;
        let month = if month < 10 { month + 3 } else { month - 9 };
        let year = year + era * 400 + i64::from(month <= 2);
        Self { year, month: month as u8, day: day as u8 }
    }

    /// Returns how many days after 1970-01-01 the day is. A month or day that there is not counts on.
    pub(super) fn to_days(year: i64, month: i64, day: i64) -> i64 {
        let year = year + (month - 1).div_euclid(12);
        let month = (month - 1).rem_euclid(12) + 1;
        let year = year - i64::from(month <= 2);
        let (era, year) = (year.div_euclid(400), year.rem_euclid(400));
        let month = (month + 9) % 12;
        let days = year * 365 + year / 4 - year / 100 + (153 * month + 2) / 5;
        era * 146_097 + days + day - 1 - 719_468
    }

    /// Which day of its year it is, from 1.
    pub(super) fn year_day(self) -> i64 {
        let days = Self::to_days(self.year, i64::from(self.month), i64::from(self.day));
        days - Self::to_days(self.year, 1, 1) + 1
    }
}

pub(super) fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

pub(super) fn days_in(month: u8, year: i64) -> u8 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// The day of the week so many days after 1970-01-01.
pub(super) fn weekday(days: i64) -> Weekday {
    Weekday((days + 4).rem_euclid(7) as u8)
}

/// Implements what both named numbers have.
macro_rules! named_number {
    ($ty:ident, $name:literal) => {
        impl Object for $ty {
            fn go_type(&self) -> Type {
                Type::Named($name, &Type::INT)
            }

            fn as_any(&self) -> &dyn Any {
                self
            }

            fn method(&self, name: &str) -> Option<&'static Function> {
                const STRING: Function =
                    Function::new("String", &[], |_: &mut Context<'_>, args: &[Value]| {
                        let name = args.first().and_then(Value::as_object::<$ty>).map(|value| value.name());
                        Ok::<_, CallError>(name.unwrap_or_default().into())
                    });
                (name == "String").then_some(&STRING)
            }

            fn text(&self) -> Option<Str> {
                Some(self.name().into())
            }

            fn underlying(&self) -> Option<Value> {
                Some(Value::int(self.number()))
            }

            fn equals(&self, other: &dyn Object) -> bool {
                other.as_any().downcast_ref() == Some(self)
            }
        }
    };
}

named_number!(Month, "time.Month");
named_number!(Weekday, "time.Weekday");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_dates_are_each_others_inverse() {
        for days in (-1_000_000..1_000_000).step_by(97) {
            let date = Date::from_days(days);
            assert_eq!(Date::to_days(date.year, i64::from(date.month), i64::from(date.day)), days);
        }
        assert_eq!(Date::from_days(0), Date { year: 1970, month: 1, day: 1 });
        assert_eq!(Date::from_days(-719_162), Date { year: 1, month: 1, day: 1 });
        assert_eq!(Date::from_days(11_016), Date { year: 2000, month: 2, day: 29 });
    }

    #[test]
    fn months_that_there_are_not_count_on() {
        assert_eq!(Date::to_days(2020, 14, 1), Date::to_days(2021, 2, 1));
        assert_eq!(Date::to_days(2020, 0, 1), Date::to_days(2019, 12, 1));
        assert_eq!(Date::to_days(2021, 2, 29), Date::to_days(2021, 3, 1));
    }

    #[test]
    fn days_of_the_week() {
        assert_eq!(weekday(0).name(), "Thursday");
        assert_eq!(weekday(-1).name(), "Wednesday");
        assert_eq!(Date { year: 2020, month: 12, day: 31 }.year_day(), 366);
    }
}

//! A point in time, seen from a zone.

use std::fmt;

use super::NANOSECONDS;
use super::calendar::{Date, Month, Weekday, weekday};
use super::duration::Duration;
use super::zone::{Offset, Zone};
use crate::context::Now;

const DAY: i64 = 86_400;

/// Seconds from the beginning of the year 1 to that of 1970.
const YEAR_ONE: i64 = 62_135_596_800;

/// A `time.Time`.
#[derive(Clone, Debug)]
pub struct Time {
    /// Seconds since 1970-01-01 00:00 UTC.
    pub(super) seconds: i64,
    /// Nanoseconds after that.
    pub(super) nanoseconds: u32,
    pub(super) zone: Zone,
}

/// A point in time as a clock and a calendar of its zone show it.
pub(super) struct Local {
    pub(super) date: Date,
    pub(super) weekday: Weekday,
    pub(super) hour: u8,
    pub(super) minute: u8,
    pub(super) second: u8,
    pub(super) offset: Offset,
}

/// The arguments of Go's `time.Date`; out-of-range numbers are normalized.
pub(super) struct Parts {
    pub(super) year: i64,
    pub(super) month: i64,
    pub(super) day: i64,
    pub(super) hour: i64,
    pub(super) minute: i64,
    pub(super) second: i64,
    pub(super) nanosecond: u32,
}

impl Parts {
    /// Seconds since 1970 as if the zone were UTC.
    pub(super) fn seconds(&self) -> i64 {
        let days = Date::to_days(self.year, self.month, self.day);
        days * DAY + self.hour * 3_600 + self.minute * 60 + self.second
    }
}

impl Time {
    /// The zero time: the beginning of the year 1.
    #[must_use]
    pub fn zero() -> Self {
        Self { seconds: -YEAR_ONE, nanoseconds: 0, zone: Zone::Utc }
    }

    /// The point in time so long after 1970.
    #[must_use]
    pub fn unix(now: Now, zone: Zone) -> Self {
        Self { seconds: now.seconds, nanoseconds: now.nanoseconds, zone }
    }

    /// The point in time at which clocks of a zone show this.
    pub(super) fn new(parts: &Parts, zone: Zone) -> Self {
        let shown = parts.seconds();
        let guess = zone.at(shown).seconds;
        // What clocks show may be off by the offset; when that changes, look again.
        let offset = if guess == 0 { 0 } else { zone.at(shown - i64::from(guess)).seconds };
        Self { seconds: shown - i64::from(offset), nanoseconds: parts.nanosecond, zone }
    }

    /// The same point in time, seen from another zone.
    #[must_use]
    pub fn in_zone(&self, zone: Zone) -> Self {
        Self { zone, ..self.clone() }
    }

    /// Seconds since 1970.
    #[must_use]
    pub fn seconds(&self) -> i64 {
        self.seconds
    }

    pub(super) fn is_zero(&self) -> bool {
        self.seconds == -YEAR_ONE && self.nanoseconds == 0
    }

    pub(super) fn local(&self) -> Local {
        let offset = self.zone.at(self.seconds);
        let shown = self.seconds.saturating_add(i64::from(offset.seconds));
        let (days, second) = (shown.div_euclid(DAY), shown.rem_euclid(DAY));
        Local {
            date: Date::from_days(days),
            weekday: weekday(days),
            hour: (second / 3_600) as u8,
            minute: (second / 60 % 60) as u8,
            second: (second % 60) as u8,
            offset,
        }
    }

    /// The point in time so much later.
    #[must_use]
    pub fn add(&self, duration: Duration) -> Self {
        let nanoseconds = i64::from(self.nanoseconds) + duration.0 % NANOSECONDS;
        let seconds = self.seconds.saturating_add(duration.0 / NANOSECONDS);
        Self {
            seconds: seconds.saturating_add(nanoseconds.div_euclid(NANOSECONDS)),
            nanoseconds: nanoseconds.rem_euclid(NANOSECONDS) as u32,
            zone: self.zone.clone(),
        }
    }

    pub(super) fn add_date(&self, years: i64, months: i64, days: i64) -> Self {
        let local = self.local();
        let parts = Parts {
            year: local.date.year.saturating_add(years).clamp(-1_000_000_000, 1_000_000_000),
            month: i64::from(local.date.month).saturating_add(months).clamp(-1_000_000_000, 1_000_000_000),
            day: i64::from(local.date.day).saturating_add(days).clamp(-1_000_000_000, 1_000_000_000),
            hour: i64::from(local.hour),
            minute: i64::from(local.minute),
            second: i64::from(local.second),
            nanosecond: self.nanoseconds,
        };
        Self::new(&parts, self.zone.clone())
    }

    /// Returns how long after another point in time this is, at most the longest duration.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Duration {
        let nanoseconds = self.since_1970() - earlier.since_1970();
        Duration(nanoseconds.clamp(i64::MIN.into(), i64::MAX.into()) as i64)
    }

    fn since_1970(&self) -> i128 {
        i128::from(self.seconds) * i128::from(NANOSECONDS) + i128::from(self.nanoseconds)
    }

    /// Nanoseconds since 1970, wrapped around as Go's product is.
    pub(super) fn unix_nanoseconds(&self) -> i64 {
        self.since_1970() as i64
    }

    /// Returns how long after a multiple of the duration, counted from the year 1.
    fn after_multiple(&self, multiple: Duration) -> Duration {
        let since_year_one = self.since_1970() + i128::from(YEAR_ONE) * i128::from(NANOSECONDS);
        Duration(since_year_one.rem_euclid(i128::from(multiple.0)) as i64)
    }

    pub(super) fn truncate(&self, multiple: Duration) -> Self {
        if multiple.0 <= 0 {
            return self.clone();
        }
        self.add(Duration(-self.after_multiple(multiple).0))
    }

    pub(super) fn round(&self, multiple: Duration) -> Self {
        if multiple.0 <= 0 {
            return self.clone();
        }
        let rest = self.after_multiple(multiple).0;
        let down = rest.unsigned_abs() * 2 < multiple.0.unsigned_abs();
        self.add(Duration(if down { -rest } else { multiple.0 - rest }))
    }

    pub(super) fn month(&self) -> Month {
        Month(self.local().date.month)
    }
}

impl PartialEq for Time {
    /// Returns true if it is the same point in time, from whatever zone.
    fn eq(&self, other: &Self) -> bool {
        (self.seconds, self.nanoseconds) == (other.seconds, other.nanoseconds)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.format(b"2006-01-02 15:04:05.999999999 -0700 MST");
        f.write_str(&String::from_utf8_lossy(&text))
    }
}

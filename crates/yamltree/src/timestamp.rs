//! Timestamps as go-yaml reads them and as Go prints them.
//!
//! In: a plain scalar's text. Out: the moment's parts, which display as RFC 3339. Anything that Go's `time.Parse`
//! refuses under go-yaml's four layouts is a string.

use std::fmt;

/// A date, or a date with a time of day and an offset from UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timestamp {
    year: u16,
    month: u8,
    day: u8,
    hour: u8,
    minute: u8,
    second: u8,
    nanosecond: u32,
    /// Seconds east of UTC.
    offset: i32,
}

impl Timestamp {
    /// Reads `2001-1-2`, `2001-01-02T03:04:05.6Z`, `2001-01-02t03:04:05+07:00` or `2001-01-02 03:04:05`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        if digits != 4 || text.as_bytes().get(4) != Some(&b'-') {
            return None;
        }
        let mut cursor = Cursor { rest: text.as_bytes() };
        let timestamp = cursor.timestamp()?;
        cursor.rest.is_empty().then_some(timestamp)
    }

    /// Returns true if Go's `encoding/json` refuses it: it wants an offset of less than a day.
    #[must_use]
    pub fn is_beyond_json(&self) -> bool {
        self.offset.unsigned_abs() >= 24 * 3600
    }
}

/// `time.RFC3339Nano`: fractions of a second without trailing zeros, `Z` for no offset.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { year, month, day, hour, minute, second, nanosecond, offset } = self;
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")?;
        if *nanosecond != 0 {
            let fraction = format!("{nanosecond:09}");
            write!(f, ".{}", fraction.trim_end_matches('0'))?;
        }
        if *offset == 0 {
            return f.write_str("Z");
        }
        let (sign, minutes) = (if *offset < 0 { '-' } else { '+' }, offset.unsigned_abs() / 60);
        write!(f, "{sign}{:02}:{:02}", minutes / 60, minutes % 60)
    }
}

/// The rest of the text.
struct Cursor<'t> {
    rest: &'t [u8],
}

impl Cursor<'_> {
    fn timestamp(&mut self) -> Option<Timestamp> {
        let year = u16::from(self.digit()?) * 1000
            + u16::from(self.digit()?) * 100
            + u16::from(self.digit()?) * 10
            + u16::from(self.digit()?);
        self.expect(b'-')?;
        let month = self.one_or_two_digits()?;
        self.expect(b'-')?;
        let day = self.one_or_two_digits()?;
        if !(1..=12).contains(&month) || day < 1 || day > days_in(month, year) {
            return None;
        }
        let date = Timestamp { year, month, day, hour: 0, minute: 0, second: 0, nanosecond: 0, offset: 0 };
        match self.rest.first() {
            None => Some(date),
            Some(b'T' | b't') => {
                self.rest = &self.rest[1..];
                let moment = self.time_of_day(date)?;
                Some(Timestamp { offset: self.offset()?, ..moment })
            }
            // Go takes any number of spaces where its layout has one.
            Some(b' ') => {
                while let [b' ', rest @ ..] = self.rest {
                    self.rest = rest;
                }
                self.time_of_day(date)
            }
            Some(_) => None,
        }
    }

    fn time_of_day(&mut self, date: Timestamp) -> Option<Timestamp> {
        let hour = self.one_or_two_digits()?;
        self.expect(b':')?;
        let minute = self.one_or_two_digits()?;
        self.expect(b':')?;
        let second = self.one_or_two_digits()?;
        if hour > 23 || minute > 59 || second > 59 {
            return None;
        }
        Some(Timestamp { hour, minute, second, nanosecond: self.fraction(), ..date })
    }

    /// The digits after a point or a comma; those beyond nanoseconds are dropped.
    fn fraction(&mut self) -> u32 {
        let [b'.' | b',', digits @ ..] = self.rest else { return 0 };
        let count = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if count == 0 {
            return 0;
        }
        self.rest = &digits[count..];
        (0..9).fold(0, |nanos, at| {
            nanos * 10 + digits[..count].get(at).map_or(0, |digit| u32::from(digit - b'0'))
        })
    }

    /// `Z` or `±hh:mm`, in seconds. Go lets 24 hours and 60 minutes pass.
    fn offset(&mut self) -> Option<i32> {
        let (sign, rest) = match self.rest {
            [b'Z', rest @ ..] => {
                self.rest = rest;
                return Some(0);
            }
            [b'+', rest @ ..] => (1, rest),
            [b'-', rest @ ..] => (-1, rest),
            _ => return None,
        };
        self.rest = rest;
        let hours = i32::from(self.digit()?) * 10 + i32::from(self.digit()?);
        self.expect(b':')?;
        let minutes = i32::from(self.digit()?) * 10 + i32::from(self.digit()?);
        (hours <= 24 && minutes <= 60).then_some(sign * (hours * 3600 + minutes * 60))
    }

    fn one_or_two_digits(&mut self) -> Option<u8> {
        let first = self.digit()?;
        Some(match self.digit() {
            Some(second) => first * 10 + second,
            None => first,
        })
    }

    fn digit(&mut self) -> Option<u8> {
        let (&byte, rest) = self.rest.split_first()?;
        if !byte.is_ascii_digit() {
            return None;
        }
        self.rest = rest;
        Some(byte - b'0')
    }

    fn expect(&mut self, wanted: u8) -> Option<()> {
        let (&byte, rest) = self.rest.split_first()?;
        self.rest = rest;
        (byte == wanted).then_some(())
    }
}

fn days_in(month: u8, year: u16) -> u8 {
    match month {
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, wanted: Option<&str>) {
        let shown = Timestamp::parse(text).map(|timestamp| timestamp.to_string());
        assert_eq!(shown.as_deref(), wanted, "{text}");
    }

    #[test]
    fn dates_and_times_of_day() {
        check("2001-01-01", Some("2001-01-01T00:00:00Z"));
        check("2001-1-1", Some("2001-01-01T00:00:00Z"));
        check("0000-1-1", Some("0000-01-01T00:00:00Z"));
        check("2001-12-14T21:59:43.10-05:00", Some("2001-12-14T21:59:43.1-05:00"));
        check("2001-12-14t21:59:43Z", Some("2001-12-14T21:59:43Z"));
        check("2001-12-14 21:59:43", Some("2001-12-14T21:59:43Z"));
        check("2001-12-14   1:2:3.5", Some("2001-12-14T01:02:03.5Z"));
    }

    #[test]
    fn what_go_lets_pass() {
        check("2001-12-14 21:59:43,25", Some("2001-12-14T21:59:43.25Z"));
        check("2001-12-14 21:59:43.1234567891", Some("2001-12-14T21:59:43.123456789Z"));
        check("2001-12-14T1:2:3+05:60", Some("2001-12-14T01:02:03+06:00"));
        check("2001-12-14T1:2:3-00:30", Some("2001-12-14T01:02:03-00:30"));
        check("2001-12-14T1:2:3+00:00", Some("2001-12-14T01:02:03Z"));
        assert!(Timestamp::parse("2001-12-14T1:2:3+24:00").is_some_and(|moment| moment.is_beyond_json()));
    }

    #[test]
    fn what_stays_a_string() {
        for text in [
            "2001",
            "2001-01",
            "2001-01-",
            "2001-13-01",
            "2001-02-29",
            "2001-00-01",
            "2001-01-00",
            "2001-01-011",
            "20010-01-01",
            "2001-01-01T",
            "2001-01-01 ",
            "2001-01-01T00:00:00",
            "2001-01-01 00:00:00Z",
            "2001-01-01T24:00:00Z",
            "2001-01-01 00:00:60",
            "2001-01-01T00:00:00z",
            "2001-01-01T00:00:00.Z",
            "2001-01-01T00:00:00+0500",
            "2001-12-14 21:59:43.10 -5",
        ] {
            check(text, None);
        }
        check("2000-02-29", Some("2000-02-29T00:00:00Z"));
    }
}

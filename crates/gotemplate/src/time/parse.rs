//! Reading: in go a layout and text, out comes the time, or Go's words about where they part.

use super::calendar::{Date, Month, Weekday, days_in, is_leap};
use super::duration::leading_digits;
use super::instant::{Parts, Time};
use super::layout::{Element, OffsetStyle, next};
use super::quote;
use super::zone::Zone;

impl Time {
    /// `time.ParseInLocation`.
    ///
    /// # Errors
    /// Go's words about a text that does not fit the layout.
    pub fn parse(layout: &[u8], text: &[u8], zone: Zone) -> Result<Self, String> {
        let mut reader = Reader { rest: text, fields: Fields::default() };
        let mut rest = layout;
        loop {
            let next = next(rest);
            if reader.skip(next.prefix).is_none() {
                return Err(cannot_parse(text, layout, reader.rest, next.prefix));
            }
            let Some(element) = next.element else { break };
            let before = reader.rest;
            rest = next.rest;
            match reader.read(element, rest) {
                Ok(()) => {}
                Err(Fault::Bad) => return Err(cannot_parse(text, layout, before, next.text)),
                Err(Fault::Range(what)) => {
                    return Err(format!("parsing time {}: {what} out of range", quote(text)));
                }
            }
        }
        if !reader.rest.is_empty() {
            return Err(format!("parsing time {}: extra text: {}", quote(text), quote(reader.rest)));
        }
        reader.fields.time(zone).map_err(|fault| format!("parsing time {}: {fault}", quote(text)))
    }
}

fn cannot_parse(text: &[u8], layout: &[u8], at: &[u8], element: &[u8]) -> String {
    format!(
        "parsing time {} as {}: cannot parse {} as {}",
        quote(text),
        quote(layout),
        quote(at),
        quote(element)
    )
}

/// The error in the text of a layout element.
enum Fault {
    Bad,
    Range(&'static str),
}

/// The parsed fields.
#[derive(Default)]
struct Fields {
    year: i64,
    month: Option<i64>,
    day: Option<i64>,
    year_day: Option<i64>,
    hour: i64,
    minute: i64,
    second: i64,
    nanosecond: u32,
    afternoon: Option<bool>,
    utc: bool,
    offset: Option<i32>,
    abbreviation: String,
}

struct Reader<'a> {
    rest: &'a [u8],
    fields: Fields,
}

impl Reader<'_> {
    /// Takes the text between elements; a space in the layout is any number of spaces.
    fn skip(&mut self, prefix: &[u8]) -> Option<()> {
        let mut prefix = prefix;
        while let Some((first, after)) = prefix.split_first() {
            if *first == b' ' {
                if self.rest.first().is_some_and(|byte| *byte != b' ') {
                    return None;
                }
                prefix = without_spaces(prefix);
                self.rest = without_spaces(self.rest);
            } else {
                self.rest = self.rest.strip_prefix(&[*first])?;
                prefix = after;
            }
        }
        Some(())
    }

    fn read(&mut self, element: Element, layout: &[u8]) -> Result<(), Fault> {
        match element {
            Element::Year => {
                let year = signed_number(self.take(2)?)?;
                self.fields.year = year + if year >= 69 { 1900 } else { 2000 };
            }
            Element::LongYear => {
                self.rest.first().filter(|byte| byte.is_ascii_digit()).ok_or(Fault::Bad)?;
                self.fields.year = signed_number(self.take(4)?)?;
            }
            Element::Month | Element::LongMonth => {
                let (month, length) =
                    Month::find(self.rest, element == Element::LongMonth).ok_or(Fault::Bad)?;
                self.rest = &self.rest[length..];
                self.fields.month = Some(month.number());
            }
            Element::NumberMonth | Element::ZeroMonth => {
                let month = self.number(element == Element::ZeroMonth)?;
                self.fields.month = Some(month);
                within(month, 1..=12, "month")?;
            }
            Element::Weekday | Element::LongWeekday => {
                let length = Weekday::find(self.rest, element == Element::LongWeekday).ok_or(Fault::Bad)?;
                self.rest = &self.rest[length..];
            }
            Element::Day | Element::UnderDay | Element::ZeroDay => {
                if element == Element::UnderDay {
                    self.skip_space();
                }
                self.fields.day = Some(self.number(element == Element::ZeroDay)?);
            }
            Element::UnderYearDay | Element::ZeroYearDay => self.year_day(element == Element::ZeroYearDay)?,
            Element::Hour => {
                self.fields.hour = self.number(false)?;
                within(self.fields.hour, 0..=23, "hour")?;
            }
            Element::Hour12 | Element::ZeroHour12 => {
                self.fields.hour = self.number(element == Element::ZeroHour12)?;
                within(self.fields.hour, 0..=12, "hour")?;
            }
            Element::Minute | Element::ZeroMinute => {
                self.fields.minute = self.number(element == Element::ZeroMinute)?;
                within(self.fields.minute, 0..=59, "minute")?;
            }
            Element::Second | Element::ZeroSecond => {
                self.fields.second = self.number(element == Element::ZeroSecond)?;
                within(self.fields.second, 0..=59, "second")?;
                // A fraction may follow that the layout does not name.
                if !matches!(next(layout).element, Some(Element::Fraction { .. })) {
                    self.fraction();
                }
            }
            Element::UpperPm => self.fields.afternoon = Some(half_of_day(self.take(2)?, b"AM", b"PM")?),
            Element::LowerPm => self.fields.afternoon = Some(half_of_day(self.take(2)?, b"am", b"pm")?),
            Element::Offset(style) => self.offset(style)?,
            Element::Abbreviation => self.abbreviation()?,
            Element::Fraction { trimmed: true, .. } => self.fraction(),
            Element::Fraction { digits, .. } => {
                let text = self.take(digits + 1)?;
                let exact =
                    matches!(text[0], b'.' | b',') && text[1..].iter().take(9).all(u8::is_ascii_digit);
                self.fields.nanosecond =
                    if exact { nanoseconds(&text[1..]) } else { return Err(Fault::Bad) };
            }
        }
        Ok(())
    }

    fn take(&mut self, count: usize) -> Result<&[u8], Fault> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or(Fault::Bad)?;
        self.rest = rest;
        Ok(taken)
    }

    fn skip_space(&mut self) {
        self.rest = self.rest.strip_prefix(b" ").unwrap_or(self.rest);
    }

    /// One or two digits, or two exactly.
    fn number(&mut self, two: bool) -> Result<i64, Fault> {
        self.digits(2, two)
    }

    fn digits(&mut self, most: usize, exactly: bool) -> Result<i64, Fault> {
        let count = self.rest.iter().take(most).take_while(|byte| byte.is_ascii_digit()).count();
        if count == 0 || exactly && count < most {
            return Err(Fault::Bad);
        }
        let number = self.rest[..count].iter().fold(0, |number, digit| number * 10 + i64::from(digit - b'0'));
        self.rest = &self.rest[count..];
        Ok(number)
    }

    fn year_day(&mut self, three: bool) -> Result<(), Fault> {
        if !three {
            self.skip_space();
            self.skip_space();
        }
        self.fields.year_day = Some(self.digits(3, three)?);
        Ok(())
    }

    /// A fraction of a second, if there is one. Digits beyond nanoseconds do not count.
    fn fraction(&mut self) {
        if let [b'.' | b',', digits @ ..] = self.rest
            && digits.first().is_some_and(u8::is_ascii_digit)
        {
            let count = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
            self.fields.nanosecond = nanoseconds(&digits[..count]);
            self.rest = &digits[count..];
        }
    }

    fn offset(&mut self, style: OffsetStyle) -> Result<(), Fault> {
        if style.z
            && let Some(rest) = self.rest.strip_prefix(b"Z")
        {
            self.rest = rest;
            self.fields.utc = true;
            return Ok(());
        }
        let parts = 1 + usize::from(style.minutes) + usize::from(style.seconds);
        let width = if style.colons { 3 } else { 2 };
        // The sign, and parts of two digits with colons in between.
        let text = self.take(parts * width + usize::from(!style.colons))?;
        let mut numbers = [0; 3];
        for (index, number) in numbers.iter_mut().enumerate().take(parts) {
            let start = 1 + index * width;
            if style.colons && index > 0 && text[start - 1] != b':' {
                return Err(Fault::Bad);
            }
            *number = two_digits(&text[start..start + 2]).ok_or(Fault::Bad)?;
        }
        // Some people write 24 hours or 60 minutes.
        let limits =
            [(24, "time zone offset hour"), (60, "time zone offset minute"), (60, "time zone offset second")];
        for (number, (most, what)) in numbers.iter().zip(limits).rev() {
            within(i64::from(*number), 0..=most, what)?;
        }
        let seconds = (numbers[0] * 60 + numbers[1]) * 60 + numbers[2];
        self.fields.offset = Some(match text[0] {
            b'+' => seconds,
            b'-' => -seconds,
            _ => return Err(Fault::Bad),
        });
        Ok(())
    }

    fn abbreviation(&mut self) -> Result<(), Fault> {
        if let Some(rest) = self.rest.strip_prefix(b"UTC") {
            self.rest = rest;
            self.fields.utc = true;
            return Ok(());
        }
        let length = abbreviation_length(self.rest).ok_or(Fault::Bad)?;
        self.fields.abbreviation = String::from_utf8_lossy(self.take(length)?).into_owned();
        Ok(())
    }
}

/// The text after the spaces that it begins with.
fn without_spaces(text: &[u8]) -> &[u8] {
    let spaces = text.iter().take_while(|byte| **byte == b' ').count();
    &text[spaces..]
}

fn within(number: i64, range: std::ops::RangeInclusive<i64>, what: &'static str) -> Result<(), Fault> {
    if range.contains(&number) { Ok(()) } else { Err(Fault::Range(what)) }
}

/// Digits, with a sign before them perhaps.
fn signed_number(text: &[u8]) -> Result<i64, Fault> {
    let (sign, digits) = match text {
        [b'-', digits @ ..] => (-1, digits),
        [b'+', digits @ ..] => (1, digits),
        _ => (1, text),
    };
    match leading_digits(digits) {
        (Some(number), count) if count == digits.len() => Ok(sign * number.cast_signed()),
        _ => Err(Fault::Bad),
    }
}

fn two_digits(text: &[u8]) -> Option<i32> {
    let [tens, ones] = *text else { return None };
    let digit = |byte: u8| byte.is_ascii_digit().then(|| i32::from(byte - b'0'));
    Some(digit(tens)? * 10 + digit(ones)?)
}

fn half_of_day(text: &[u8], first: &[u8], second: &[u8]) -> Result<bool, Fault> {
    if text == second {
        Ok(true)
    } else if text == first {
        Ok(false)
    } else {
        Err(Fault::Bad)
    }
}

/// The digits after a point, as nanoseconds.
fn nanoseconds(digits: &[u8]) -> u32 {
    (0..9).fold(0, |number, place| number * 10 + digits.get(place).map_or(0, |digit| u32::from(digit - b'0')))
}

/// Returns how long the abbreviation of a zone at the beginning of `text` is.
fn abbreviation_length(text: &[u8]) -> Option<usize> {
    if text.len() < 3 {
        return None;
    }
    if text.starts_with(b"ChST") || text.starts_with(b"MeST") {
        return Some(4);
    }
    if let Some(rest) = text.strip_prefix(b"GMT") {
        return Some(3 + signed_hours_length(rest));
    }
    if matches!(text[0], b'+' | b'-') {
        return Some(signed_hours_length(text)).filter(|length| *length > 0);
    }
    let capitals = text.iter().take(6).take_while(|byte| byte.is_ascii_uppercase()).count();
    match capitals {
        5 if text[4] == b'T' => Some(5),
        4 if text[3] == b'T' || text.starts_with(b"WITA") => Some(4),
        3 => Some(3),
        _ => None,
    }
}

/// Returns how long a sign and a number of hours are, 0 if they are none.
fn signed_hours_length(text: &[u8]) -> usize {
    let Some((b'+' | b'-', digits)) = text.split_first() else { return 0 };
    match leading_digits(digits) {
        (Some(0..=23), count) if count > 0 => 1 + count,
        _ => 0,
    }
}

impl Fields {
    fn time(mut self, zone: Zone) -> Result<Time, &'static str> {
        match self.afternoon {
            Some(true) if self.hour < 12 => self.hour += 12,
            Some(false) if self.hour == 12 => self.hour = 0,
            _ => {}
        }
        if let Some(year_day) = self.year_day {
            self.set_year_day(year_day)?;
        }
        let (month, day) = (self.month.unwrap_or(1), self.day.unwrap_or(1));
        if day < 1 || day > i64::from(days_in(month as u8, self.year)) {
            return Err("day out of range");
        }
        let parts = Parts {
            year: self.year,
            month,
            day,
            hour: self.hour,
            minute: self.minute,
            second: self.second,
            nanosecond: self.nanosecond,
        };
        if self.utc {
            return Ok(Time::new(&parts, Zone::Utc));
        }
        let shown = parts.seconds();
        let at_offset = |offset: i32, zone| Time {
            seconds: shown - i64::from(offset),
            nanoseconds: self.nanosecond,
            zone,
        };
        if let Some(offset) = self.offset {
            // The zone itself, if it has that offset then.
            let own = zone.at(shown - i64::from(offset));
            let same_name = self.abbreviation.is_empty() || *own.abbreviation == *self.abbreviation;
            let fixed = || Zone::Fixed(self.abbreviation.as_str().into(), offset);
            return Ok(at_offset(offset, if own.seconds == offset && same_name { zone } else { fixed() }));
        }
        if !self.abbreviation.is_empty() {
            if let Some(offset) = zone.offset_of(&self.abbreviation, shown) {
                return Ok(at_offset(offset, zone));
            }
            let hours = self.abbreviation.strip_prefix("GMT").filter(|hours| !hours.is_empty());
            let offset = hours.map_or(0, |hours| hours.parse::<i32>().unwrap_or(0) * 3_600);
            // An abbreviation that is not known moves nothing.
            return Ok(at_offset(0, Zone::Fixed(self.abbreviation.as_str().into(), offset)));
        }
        Ok(Time::new(&parts, zone))
    }

    /// Sets month and day by the day of the year.
    fn set_year_day(&mut self, year_day: i64) -> Result<(), &'static str> {
        let days = if is_leap(self.year) { 366 } else { 365 };
        if !(1..=days).contains(&year_day) {
            return Err("day-of-year out of range");
        }
        let date = Date::from_days(Date::to_days(self.year, 1, year_day));
        let (month, day) = (i64::from(date.month), i64::from(date.day));
        if self.month.is_some_and(|given| given != month) {
            return Err("day-of-year does not match month");
        }
        if self.day.is_some_and(|given| given != day) {
            return Err("day-of-year does not match day");
        }
        (self.month, self.day) = (Some(month), Some(day));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(layout: &str, text: &str) -> Result<String, String> {
        Time::parse(layout.as_bytes(), text.as_bytes(), Zone::Utc).map(|time| time.to_string())
    }

    // The answers and words are those of `mustToDate` in Helm 4.3.1.
    #[test]
    fn texts_that_do_not_fit_are_refused_in_go_s_words() {
        let cases = [
            ("2006-01-02", "x", "parsing time \"x\" as \"2006-01-02\": cannot parse \"x\" as \"2006\""),
            ("2006-01-02", "2020-13-01", "parsing time \"2020-13-01\": month out of range"),
            ("2006-01-02", "2020-02-30", "parsing time \"2020-02-30\": day out of range"),
            ("2006-01-02", "2020-02-03x", "parsing time \"2020-02-03x\": extra text: \"x\""),
            ("15:04", "25:00", "parsing time \"25:00\": hour out of range"),
            ("3:04PM", "13:00PM", "parsing time \"13:00PM\": hour out of range"),
            ("Jan 2", "Foo 3", "parsing time \"Foo 3\" as \"Jan 2\": cannot parse \"Foo 3\" as \"Jan\""),
            ("15Z07:00", "01", "parsing time \"01\" as \"15Z07:00\": cannot parse \"\" as \"Z07:00\""),
        ];
        for (layout, text, words) in cases {
            assert_eq!(parsed(layout, text).unwrap_err(), words);
        }
    }

    #[test]
    fn zones_are_kept_as_they_are_written() {
        let cases = [
            ("2006 MST", "2020 EST", "2020-01-01 00:00:00 +0000 EST"),
            ("2006 MST", "2020 GMT+3", "2020-01-01 03:00:00 +0300 GMT+3"),
            ("2006 MST", "2020 UTC", "2020-01-01 00:00:00 +0000 UTC"),
            ("2006 -0700", "2020 +0530", "2020-01-01 00:00:00 +0530 +0530"),
            ("2006 -0700", "2020 +0000", "2020-01-01 00:00:00 +0000 UTC"),
            ("2006-01-02T15:04:05Z07:00", "2020-02-03T04:05:06.789Z", "2020-02-03 04:05:06.789 +0000 UTC"),
        ];
        for (layout, text, time) in cases {
            assert_eq!(parsed(layout, text).unwrap(), time);
        }
    }

    #[test]
    fn days_of_the_year_must_match() {
        assert_eq!(parsed("2006 002", "2020 060").unwrap(), "2020-02-29 00:00:00 +0000 UTC");
        assert_eq!(parsed("2006 __2", "2021  60").unwrap(), "2021-03-01 00:00:00 +0000 UTC");
        assert_eq!(
            parsed("2006 002", "2021 366").unwrap_err(),
            "parsing time \"2021 366\": day-of-year out of range"
        );
        let words = "parsing time \"2021 1 060\": day-of-year does not match month";
        assert_eq!(parsed("2006 1 002", "2021 1 060").unwrap_err(), words);
    }
}

//! Writing: in go a time and a layout, out comes text.

use super::instant::{Local, Time};
use super::layout::{Element, OffsetStyle, next};

impl Time {
    /// `Time.Format`.
    #[must_use]
    pub fn format(&self, layout: &[u8]) -> Vec<u8> {
        let local = self.local();
        let mut out = Vec::with_capacity(layout.len() + 10);
        let mut rest = layout;
        loop {
            let next = next(rest);
            out.extend_from_slice(next.prefix);
            let Some(element) = next.element else { return out };
            self.write(&mut out, &local, element);
            rest = next.rest;
        }
    }

    fn write(&self, out: &mut Vec<u8>, local: &Local, element: Element) {
        let date = local.date;
        let hour12 = if local.hour.is_multiple_of(12) { 12 } else { local.hour % 12 };
        let text = match element {
            Element::LongYear if date.year < 0 => format!("-{:04}", -date.year),
            Element::LongYear => format!("{:04}", date.year),
            Element::Year => format!("{:02}", date.year.abs() % 100),
            Element::LongMonth => self.month().name().to_owned(),
            Element::Month => self.month().name()[..3].to_owned(),
            Element::NumberMonth => date.month.to_string(),
            Element::ZeroMonth => format!("{:02}", date.month),
            Element::LongWeekday => local.weekday.name().to_owned(),
            Element::Weekday => local.weekday.name()[..3].to_owned(),
            Element::Day => date.day.to_string(),
            Element::UnderDay => format!("{:2}", date.day),
            Element::ZeroDay => format!("{:02}", date.day),
            Element::UnderYearDay => format!("{:3}", date.year_day()),
            Element::ZeroYearDay => format!("{:03}", date.year_day()),
            Element::Hour => format!("{:02}", local.hour),
            Element::Hour12 => hour12.to_string(),
            Element::ZeroHour12 => format!("{hour12:02}"),
            Element::Minute => local.minute.to_string(),
            Element::ZeroMinute => format!("{:02}", local.minute),
            Element::Second => local.second.to_string(),
            Element::ZeroSecond => format!("{:02}", local.second),
            Element::UpperPm => if local.hour >= 12 { "PM" } else { "AM" }.to_owned(),
            Element::LowerPm => if local.hour >= 12 { "pm" } else { "am" }.to_owned(),
            Element::Abbreviation if local.offset.abbreviation.is_empty() => offset(
                local.offset.seconds,
                OffsetStyle { z: false, colons: false, minutes: true, seconds: false },
            ),
            Element::Abbreviation => local.offset.abbreviation.to_string(),
            Element::Offset(style) => offset(local.offset.seconds, style),
            Element::Fraction { digits, trimmed, separator } => {
                fraction(self.nanoseconds, digits, trimmed, separator)
            }
        };
        out.extend_from_slice(text.as_bytes());
    }
}

fn offset(seconds: i32, style: OffsetStyle) -> String {
    if style.z && seconds == 0 {
        return "Z".to_owned();
    }
    // Seconds alone do not make an offset negative.
    let sign = if seconds / 60 < 0 { '-' } else { '+' };
    let minutes = (seconds / 60).abs();
    let colon = if style.colons { ":" } else { "" };
    let mut text = format!("{sign}{:02}", minutes / 60);
    if style.minutes {
        text.push_str(&format!("{colon}{:02}", minutes % 60));
    }
    if style.seconds {
        text.push_str(&format!("{colon}{:02}", seconds.abs() % 60));
    }
    text
}

fn fraction(nanoseconds: u32, digits: usize, trimmed: bool, separator: u8) -> String {
    let all = format!("{nanoseconds:09}");
    let kept = &all[..digits.min(9)];
    let kept = if trimmed { kept.trim_end_matches('0') } else { kept };
    if trimmed && kept.is_empty() { String::new() } else { format!("{}{kept}", char::from(separator)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::Now;
    use crate::time::Zone;

    fn formatted(layout: &str, seconds: i64, nanoseconds: u32, zone: &str) -> String {
        let zone = Zone::load(zone, "UTC").unwrap();
        let time = Time::unix(Now { seconds, nanoseconds }, zone);
        String::from_utf8(time.format(layout.as_bytes())).unwrap()
    }

    // The answers are those of `dateInZone` in Helm 4.3.1.
    #[test]
    fn elements_are_replaced_and_all_else_stays() {
        let seconds = 1_614_834_367;
        let cases = [
            ("Mon Jan _2 15:04:05 2006", "Thu Mar  4 05:06:07 2021"),
            ("Monday, 02-Jan-06 3:04:05PM pm MST", "Thursday, 04-Mar-21 5:06:07AM am UTC"),
            ("__2 002 1 4 5 -0700 Z07:00 Z", " 63 063 3 6 7 +0000 Z Z"),
            (".000 .999 ,000 é", ".000  ,000 é"),
            ("Janitor Monster", "Janitor Monster"),
        ];
        for (layout, text) in cases {
            assert_eq!(formatted(layout, seconds, 0, "UTC"), text, "{layout}");
        }
        assert_eq!(formatted("05.000000000 .9999", 7, 120_000_000, ""), "07.120000000 .12");
    }

    // `Time.Format` writes the sign before four digits: `-0001` is the year before the year 0.
    #[test]
    fn years_have_four_digits_and_a_sign() {
        assert_eq!(formatted("2006 06", -62_135_596_800, 0, ""), "0001 01");
        assert_eq!(formatted("2006 06", -62_135_596_801, 0, ""), "0000 00");
        assert_eq!(formatted("2006 06", -62_200_000_000, 0, ""), "-0002 02");
    }
}

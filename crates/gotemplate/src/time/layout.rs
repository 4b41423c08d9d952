//! Layouts: in goes one, out come its elements and the text before each.
//!
//! A layout is how Go's reference time, `Mon Jan 2 15:04:05 MST 2006`, would look.

/// Part of a layout that stands for part of a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Element {
    LongMonth,
    Month,
    NumberMonth,
    ZeroMonth,
    LongWeekday,
    Weekday,
    Day,
    UnderDay,
    ZeroDay,
    UnderYearDay,
    ZeroYearDay,
    Hour,
    Hour12,
    ZeroHour12,
    Minute,
    ZeroMinute,
    Second,
    ZeroSecond,
    LongYear,
    Year,
    UpperPm,
    LowerPm,
    /// `MST`.
    Abbreviation,
    Offset(OffsetStyle),
    /// `.000` or `.999`, with a comma perhaps.
    Fraction {
        digits: usize,
        trimmed: bool,
        separator: u8,
    },
}

/// The notation of an offset from UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OffsetStyle {
    /// True if UTC is `Z`.
    pub(super) z: bool,
    pub(super) colons: bool,
    pub(super) minutes: bool,
    pub(super) seconds: bool,
}

/// The next element of a layout.
pub(super) struct Next<'a> {
    /// The text before it, all of the layout if there is no element.
    pub(super) prefix: &'a [u8],
    pub(super) element: Option<Element>,
    /// The element as it is written.
    pub(super) text: &'a [u8],
    pub(super) rest: &'a [u8],
}

pub(super) fn next(layout: &[u8]) -> Next<'_> {
    for start in 0..layout.len() {
        let at = &layout[start..];
        // A year after an underscore is not a day after one.
        let skip = usize::from(at.starts_with(b"_2006"));
        if let Some((element, length)) = element(&at[skip..]) {
            let (prefix, after) = layout.split_at(start + skip);
            let (text, rest) = after.split_at(length);
            return Next { prefix, element: Some(element), text, rest };
        }
    }
    Next { prefix: layout, element: None, text: b"", rest: b"" }
}

/// The fixed elements, longer ones before those that they begin with.
const FIXED: [(&str, Element); 33] = [
    ("January", Element::LongMonth),
    ("Monday", Element::LongWeekday),
    ("MST", Element::Abbreviation),
    ("002", Element::ZeroYearDay),
    ("01", Element::ZeroMonth),
    ("02", Element::ZeroDay),
    ("03", Element::ZeroHour12),
    ("04", Element::ZeroMinute),
    ("05", Element::ZeroSecond),
    ("06", Element::Year),
    ("15", Element::Hour),
    ("1", Element::NumberMonth),
    ("2006", Element::LongYear),
    ("2", Element::Day),
    ("_2", Element::UnderDay),
    ("__2", Element::UnderYearDay),
    ("3", Element::Hour12),
    ("4", Element::Minute),
    ("5", Element::Second),
    ("PM", Element::UpperPm),
    ("pm", Element::LowerPm),
    ("-070000", offset(false, false, true, true)),
    ("-07:00:00", offset(false, true, true, true)),
    ("-0700", offset(false, false, true, false)),
    ("-07:00", offset(false, true, true, false)),
    ("-07", offset(false, false, false, false)),
    ("Z070000", offset(true, false, true, true)),
    ("Z07:00:00", offset(true, true, true, true)),
    ("Z0700", offset(true, false, true, false)),
    ("Z07:00", offset(true, true, true, false)),
    ("Z07", offset(true, false, false, false)),
    // Not where the word goes on, as in `Month` and `Jane`.
    ("Jan", Element::Month),
    ("Mon", Element::Weekday),
];

const fn offset(z: bool, colons: bool, minutes: bool, seconds: bool) -> Element {
    Element::Offset(OffsetStyle { z, colons, minutes, seconds })
}

/// The element that `text` begins with, and its length.
fn element(text: &[u8]) -> Option<(Element, usize)> {
    if matches!(text.first(), Some(b'.' | b',')) {
        return fraction(text);
    }
    let (name, element) = *FIXED.iter().find(|(name, _)| text.starts_with(name.as_bytes()))?;
    let goes_on = text.get(name.len()).is_some_and(u8::is_ascii_lowercase);
    if goes_on && matches!(element, Element::Month | Element::Weekday) {
        None
    } else {
        Some((element, name.len()))
    }
}

/// A separator and only zeros or only nines, with no other digit behind.
fn fraction(text: &[u8]) -> Option<(Element, usize)> {
    let (separator, digits) = text.split_first()?;
    let digit = *digits.first().filter(|digit| matches!(digit, b'0' | b'9'))?;
    let count = digits.iter().take_while(|byte| **byte == digit).count();
    if digits.get(count).is_some_and(u8::is_ascii_digit) {
        return None;
    }
    Some((Element::Fraction { digits: count, trimmed: digit == b'9', separator: *separator }, count + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn elements(layout: &str) -> Vec<String> {
        let mut rest = layout.as_bytes();
        let mut found = Vec::new();
        loop {
            let next = next(rest);
            if next.element.is_none() {
                return found;
            }
            found.push(String::from_utf8_lossy(next.text).into_owned());
            rest = next.rest;
        }
    }

    #[test]
    fn words_that_go_on_are_none() {
        assert_eq!(elements("Janitor Monster Month Monday January"), ["Monday", "January"]);
        assert_eq!(elements("Jan Mon MST"), ["Jan", "Mon", "MST"]);
    }

    #[test]
    fn the_longest_element_counts() {
        assert_eq!(
            elements("2006-01-02T15:04:05.999Z07:00"),
            ["2006", "01", "02", "15", "04", "05", ".999", "Z07:00"]
        );
        assert_eq!(elements("_2006 _2 __2 002 00 0"), ["2006", "_2", "__2", "002"]);
        assert_eq!(elements("-07 -0700 -070000 -07:00:00"), ["-07", "-0700", "-070000", "-07:00:00"]);
        assert_eq!(elements(".000 .0001 ,9 .90"), [".000", "01", ",9"]);
    }
}

//! `calver`: the latest date, by a format in the fields of calver.org: `YYYY.0M.MICRO`, `vYYYY-MM-DD[-N]`.
//!
//! `YYYY` is a year of four digits, `YY` and `0Y` count from 2000; `MM`, `WW` and `DD` have one or two digits and `0M`,
//! `0W` and `0D` exactly two; `MAJOR`, `MINOR`, `MICRO` and `N` are numbers of any length. What is in brackets may be
//! missing, and is above missing where it is there. All else stands for itself, but capitals are kept for fields.
//! Fields are compared as numbers, the first one first, but those of a date by their weight: the year, the month or
//! week, the day. Dates that no calendar has are dropped.

use diagnostic::{Error, Result};
use std::cmp::Ordering;

use goregex::Regex;

use super::number::Whole;
use super::{Candidate, Policy, Words};
use crate::criteria::{Criteria, option};
use crate::filter::Refusal;

/// The fields, longer names before those that they begin with.
const FIELDS: &[(&str, &str, Field)] = &[
    ("YYYY", r"\d{4}", Field::Year),
    ("YY", r"\d{1,3}", Field::ShortYear),
    ("0Y", r"\d{2,3}", Field::ShortYear),
    ("MAJOR", r"\d+", Field::Number),
    ("MINOR", r"\d+", Field::Number),
    ("MICRO", r"\d+", Field::Number),
    ("MM", r"\d{1,2}", Field::Month),
    ("0M", r"\d{2}", Field::Month),
    ("WW", r"\d{1,2}", Field::Week),
    ("0W", r"\d{2}", Field::Week),
    ("DD", r"\d{1,2}", Field::Day),
    ("0D", r"\d{2}", Field::Day),
    ("N", r"\d+", Field::Number),
];

/// A format is read by an expression that grows with it.
const MAX_FORMAT_LEN: usize = 256;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Field {
    Year,
    ShortYear,
    Month,
    Week,
    Day,
    Number,
    /// Tells whether what is in a pair of brackets is there.
    Presence,
}

#[derive(Clone, Debug)]
pub(super) struct Calver {
    format: String,
    /// Matches tags; its groups are the fields.
    expression: std::sync::Arc<Regex>,
    fields: Vec<Field>,
    /// The fields in the order in which they are compared.
    order: Vec<usize>,
}

impl Policy for Calver {
    const NAME: &'static str = "calver";
    const USES: &'static [&'static str] = &[option::CALVER_FORMAT];
    /// The rank of a tag; a missing field is lowest.
    type Rank = Vec<Option<Whole>>;

    fn new(criteria: &Criteria) -> Result<Self> {
        let format = criteria.calver_format.as_deref().ok_or_else(|| {
            Error::invalid("`calver` needs a `calver-format`")
                .hint("such as `YYYY.MM.DD` or `vYYYY.0M[.MICRO]`")
        })?;
        Self::parse(format)
    }

    fn rank(&self, candidate: &Candidate<'_>) -> Result<Self::Rank, Refusal> {
        let value = candidate.value.as_bytes();
        let Some(groups) = self.expression.captures(value) else {
            return candidate.is_no(option::CALVER_FORMAT, &format!("tag of the format `{}`", self.format));
        };
        let text = |group: &Option<std::ops::Range<usize>>| {
            group.clone().and_then(|range| candidate.value.get(range))
        };
        let found: Vec<Option<Whole>> = self
            .fields
            .iter()
            .zip(groups.iter().skip(1))
            .map(|(field, group)| match field {
                Field::Presence => text(group).and_then(|_| Whole::parse("0")),
                _ => text(group).and_then(Whole::parse),
            })
            .collect();
        if !self.is_date(&found) {
            return candidate.is_no("date", "date of the calendar");
        }
        Ok(self.order.iter().map(|&at| found[at].clone()).collect())
    }

    fn compare(&self, first: &Self::Rank, second: &Self::Rank) -> Ordering {
        first.cmp(second)
    }

    fn words(&self) -> Words {
        Words { best: "the latest by the calendar", below: "older than" }
    }
}

impl Calver {
    fn parse(format: &str) -> Result<Self> {
        let refuse = |why: String| {
            let error = Error::invalid(format!("invalid calendar format `{format}`: {why}"));
            error.hint(
                "write it with fields such as `YYYY`, `0M` or `MICRO`, and `[…]` around what may be missing",
            )
        };
        if format.len() > MAX_FORMAT_LEN {
            return Err(refuse(format!("it is longer than {MAX_FORMAT_LEN} bytes")));
        }
        let (mut expression, mut fields, mut open) = ("^".to_owned(), Vec::new(), 0_usize);
        let mut rest = format;
        while let Some(character) = rest.chars().next() {
            let mut taken = character.len_utf8();
            if let Some((name, digits, field)) = FIELDS.iter().find(|(name, ..)| rest.starts_with(name)) {
                taken = name.len();
                expression.push_str(&format!("({digits})"));
                fields.push(*field);
            } else if character == '[' {
                open += 1;
                expression.push('(');
                fields.push(Field::Presence);
            } else if character == ']' {
                open = open.checked_sub(1).ok_or_else(|| refuse("a `]` lacks `[`".to_owned()))?;
                expression.push_str(")?");
            } else if character.is_uppercase() {
                let name: String = rest.chars().take_while(|character| character.is_alphanumeric()).collect();
                return Err(refuse(format!("unknown field `{name}`")));
            } else {
                let literal = goregex::quote_meta(character.to_string().as_bytes());
                expression.push_str(&String::from_utf8_lossy(&literal));
            }
            rest = &rest[taken..];
        }
        if open > 0 {
            return Err(refuse("a `[` is not closed".to_owned()));
        }
        if fields.iter().all(|field| *field == Field::Presence) {
            return Err(refuse("it does not contain any field".to_owned()));
        }
        expression.push('$');
        let expression = Regex::new(&expression).map_err(|error| refuse(error.to_string()))?;
        let order = order(&fields);
        Ok(Self { format: format.to_owned(), expression: expression.into(), fields, order })
    }

    /// Returns true if the fields that are there can be a date.
    fn is_date(&self, found: &[Option<Whole>]) -> bool {
        let field = |wanted: Field| {
            let at = self.fields.iter().position(|field| *field == wanted)?;
            // What is too large for a small number is too large for a date, and not missing.
            found[at].as_ref().map(|number| number.small().unwrap_or(u32::MAX))
        };
        let year = field(Field::Year).or_else(|| field(Field::ShortYear).map(|year| 2000 + year));
        let (month, week, day) = (field(Field::Month), field(Field::Week), field(Field::Day));
        month.is_none_or(|month| (1..=12).contains(&month))
            && week.is_none_or(|week| (1..=53).contains(&week))
            && day.is_none_or(|day| (1..=days(year, month)).contains(&day))
    }
}

/// The fields in the order in which they are compared: as they stand, with those of a date put right among themselves,
/// so that `DD.MM.YYYY` is no trap.
fn order(fields: &[Field]) -> Vec<usize> {
    let is_of_date = |at: &usize| !matches!(fields[*at], Field::Number | Field::Presence);
    let mut by_weight: Vec<usize> = (0..fields.len()).filter(is_of_date).collect();
    by_weight.sort_by_key(|at| fields[*at]);
    let mut by_weight = by_weight.into_iter();
    (0..fields.len()).map(|at| if is_of_date(&at) { by_weight.next().unwrap_or(at) } else { at }).collect()
}

/// Returns how many days a month has, at the most where not all is known.
fn days(year: Option<u32>, month: Option<u32>) -> u32 {
    match month {
        Some(4 | 6 | 9 | 11) => 30,
        Some(2) => {
            let leaps =
                |year: u32| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
            if year.is_none_or(leaps) { 29 } else { 28 }
        }
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tags::Tag;

    fn rank(format: &str, tag: &str) -> Result<Vec<Option<Whole>>, Refusal> {
        let tag = Tag::named(tag);
        let candidate = Candidate { tag: &tag, value: tag.name.as_str().into(), platforms: &[] };
        Calver::parse(format).unwrap().rank(&candidate)
    }

    #[track_caller]
    fn below(format: &str, tags: &[&str]) {
        let ranks: Vec<_> = tags.iter().map(|tag| rank(format, tag).unwrap()).collect();
        assert!(ranks.is_sorted(), "{format} {tags:?}");
    }

    #[test]
    fn fields_are_numbers() {
        below("vYYYY-MM-DD[-N]", &["v2026-1-30", "v2026-01-30-1", "v2026-01-30-22", "v2026-09-01"]);
        below("YY.0M", &["8.04", "22.04", "23.10", "106.01"]);
        below("YYYY.MICRO", &["2024.9", "2024.99999999999999999999", "2024.100000000000000000000"]);
        below("YYYY[.MM[.DD]]", &["2024", "2024.1", "2024.1.1", "2024.02"]);
        below("MAJOR.YY.0W", &["1.24.52", "2.23.01"]);
        below("YYYYMMDD", &["20231231", "20240105"]);
        below("YYYY[-lts]", &["2023", "2023-lts", "2024"]);
    }

    #[test]
    fn the_parts_of_a_date_have_their_weight() {
        below("DD.MM.YYYY[-N]", &["31.12.2023", "01.01.2024", "01.02.2024", "02.02.2024", "02.02.2024-1"]);
        below("MAJOR-DD.YYYY", &["1-31.2024", "2-01.2023"]);
    }

    #[test]
    fn a_field_has_its_width() {
        for (format, tag) in [
            ("YYYY", "24"),
            ("YYYY", "12024"),
            ("0M", "1"),
            ("MM", "001"),
            ("0Y", "6"),
            ("YYYY.MM", "2024-01"),
            ("YYYY.MM", "v2024.01"),
            ("YYYY-N", "2024"),
            ("YYYY", "2024-1"),
        ] {
            assert!(rank(format, tag).is_err(), "{format} {tag}");
        }
    }

    #[test]
    fn dates_that_are_none_are_dropped() {
        let refused = Refusal::dropped("date", "no date of the calendar");
        for tag in ["2023.02.29", "1900.2.29", "2024.4.31", "2024.0.1", "2024.1.0", "2024.13.1"] {
            assert_eq!(rank("YYYY.MM.DD", tag), refused, "{tag}");
        }
        assert!(rank("YYYY.MM.DD", "2000.2.29").is_ok());
        assert!(rank("YY.MM.DD", "23.2.29").is_err());
        assert!(rank("MM.DD", "2.29").is_ok(), "no year says that it does not leap");
        assert!(rank("YYYY.0W", "2024.54").is_err());
        assert!(rank("YYYY.0W", "2024.00").is_err());
    }

    #[test]
    fn what_is_no_format_is_refused() {
        let long = "YYYY.".repeat(60);
        for format in
            ["", "foo", "YYYY.QQ", "YYYY.M", "YYYY[.MM", "YYYY].MM", "[x]", "YYYY-RC", "DATE", &long]
        {
            assert!(Calver::parse(format).is_err(), "{format}");
        }
    }
}

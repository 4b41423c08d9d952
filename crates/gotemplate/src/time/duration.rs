//! Durations: `1h30m`, in nanoseconds.

use std::any::Any;
use std::fmt;

use super::{NANOSECONDS, quote};
use crate::error::CallError;
use crate::function::Function;
use crate::value::{Object, Str, Type, Value};

pub(super) const DURATION: Type = Type::Named("time.Duration", &Type::INT64);

/// A `time.Duration`: nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Duration(pub i64);

/// The names of units, and their nanoseconds.
const UNITS: [(&str, u64); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("\u{b5}s", 1_000),
    ("\u{3bc}s", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60 * 1_000_000_000),
    ("h", 3_600 * 1_000_000_000),
];

impl Duration {
    /// So many seconds, wrapped around as Go's product is.
    #[must_use]
    pub fn from_seconds(seconds: i64) -> Self {
        Self(seconds.wrapping_mul(NANOSECONDS))
    }

    /// Reads a duration: numbers with units, such as `-1.5h` or `1h2m3s`.
    ///
    /// # Errors
    /// Go's words about what is none.
    pub fn parse(text: &[u8]) -> Result<Self, String> {
        let invalid = || format!("time: invalid duration {}", quote(text));
        let (negative, mut rest) = match text {
            [b'-', rest @ ..] => (true, rest),
            [b'+', rest @ ..] => (false, rest),
            _ => (false, text),
        };
        if rest == b"0" {
            return Ok(Self(0));
        }
        if rest.is_empty() {
            return Err(invalid());
        }
        let mut total = 0u64;
        while !rest.is_empty() {
            let part = Part::take(&mut rest).ok_or_else(invalid)?;
            let length = rest.iter().take_while(|byte| **byte != b'.' && !byte.is_ascii_digit()).count();
            let (name, after) = rest.split_at(length);
            if name.is_empty() {
                return Err(format!("time: missing unit in duration {}", quote(text)));
            }
            let unit =
                UNITS.iter().find(|(unit, _)| unit.as_bytes() == name).map(|(_, nanoseconds)| *nanoseconds);
            let unit = unit
                .ok_or_else(|| format!("time: unknown unit {} in duration {}", quote(name), quote(text)))?;
            total = part.times(unit).and_then(|part| total.checked_add(part)).ok_or_else(invalid)?;
            if total > 1 << 63 {
                return Err(invalid());
            }
            rest = after;
        }
        // The least duration has no positive counterpart.
        let nanoseconds = if negative { 0i64.checked_sub_unsigned(total) } else { i64::try_from(total).ok() };
        nanoseconds.map(Self).ok_or_else(invalid)
    }

    /// The nearest multiple of another, of two the one farther from 0.
    #[must_use]
    pub fn round(self, multiple: Self) -> Self {
        if multiple.0 <= 0 {
            return self;
        }
        let rest = (self.0 % multiple.0).abs();
        let up = rest.unsigned_abs() * 2 >= multiple.0.unsigned_abs();
        Self(match (self.0 < 0, up) {
            (true, false) => self.0 + rest,
            (true, true) => self.0.saturating_sub(multiple.0 - rest),
            (false, false) => self.0 - rest,
            (false, true) => self.0.saturating_add(multiple.0 - rest),
        })
    }

    /// The nearest multiple of another towards 0.
    #[must_use]
    pub fn truncate(self, multiple: Self) -> Self {
        if multiple.0 <= 0 { self } else { Self(self.0 - self.0 % multiple.0) }
    }

    /// In seconds.
    #[must_use]
    pub fn seconds(self) -> f64 {
        self.in_units(NANOSECONDS)
    }

    /// In minutes.
    #[must_use]
    pub fn minutes(self) -> f64 {
        self.in_units(60 * NANOSECONDS)
    }

    /// In hours.
    #[must_use]
    pub fn hours(self) -> f64 {
        self.in_units(3_600 * NANOSECONDS)
    }

    fn in_units(self, unit: i64) -> f64 {
        (self.0 / unit) as f64 + (self.0 % unit) as f64 / unit as f64
    }
}

/// A number of a duration: what is before the point, and what is after it over a power of ten.
struct Part {
    whole: u64,
    fraction: u64,
    scale: f64,
}

impl Part {
    fn take(rest: &mut &[u8]) -> Option<Self> {
        let (whole, whole_digits) = leading_digits(rest);
        let whole = whole.filter(|whole| *whole <= 1 << 63)?;
        let mut after = &rest[whole_digits..];
        let mut part = Self { whole, fraction: 0, scale: 1.0 };
        let mut fraction_digits = 0;
        if let Some(fraction) = after.strip_prefix(b".") {
            fraction_digits = part.take_fraction(fraction);
            after = &fraction[fraction_digits..];
        }
        *rest = after;
        (whole_digits + fraction_digits > 0).then_some(part)
    }

    /// Digits that have no place in an integer any more are left out.
    fn take_fraction(&mut self, text: &[u8]) -> usize {
        let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
        for digit in &text[..digits] {
            if self.fraction > i64::MAX.unsigned_abs() / 10 {
                break;
            }
            let next = self.fraction * 10 + u64::from(digit - b'0');
            if next > 1 << 63 {
                break;
            }
            self.fraction = next;
            self.scale *= 10.0;
        }
        digits
    }

    fn times(&self, unit: u64) -> Option<u64> {
        let whole = self.whole.checked_mul(unit).filter(|whole| *whole <= 1 << 63)?;
        let fraction = (self.fraction as f64 * (unit as f64 / self.scale)) as u64;
        whole.checked_add(fraction).filter(|sum| *sum <= 1 << 63)
    }
}

/// The number that the digits at the beginning make, if it is none too large, and how many they are.
pub(super) fn leading_digits(text: &[u8]) -> (Option<u64>, usize) {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let number = text[..digits]
        .iter()
        .try_fold(0u64, |number, digit| number.checked_mul(10)?.checked_add(u64::from(digit - b'0')));
    (number, digits)
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanoseconds = self.0.unsigned_abs();
        if self.0 < 0 {
            f.write_str("-")?;
        }
        match nanoseconds {
            0 => f.write_str("0s"),
            1..1_000 => write!(f, "{nanoseconds}ns"),
            1_000..1_000_000 => write_decimal(f, nanoseconds, 1_000, "\u{b5}s"),
            1_000_000..1_000_000_000 => write_decimal(f, nanoseconds, 1_000_000, "ms"),
            _ => {
                let minutes = nanoseconds / (60 * NANOSECONDS.unsigned_abs());
                if minutes >= 60 {
                    write!(f, "{}h", minutes / 60)?;
                }
                if minutes > 0 {
                    write!(f, "{}m", minutes % 60)?;
                }
                write_decimal(
                    f,
                    nanoseconds % (60 * NANOSECONDS.unsigned_abs()),
                    NANOSECONDS.unsigned_abs(),
                    "s",
                )
            }
        }
    }
}

fn write_decimal(f: &mut fmt::Formatter<'_>, number: u64, unit: u64, name: &str) -> fmt::Result {
    let digits = unit.ilog10() as usize;
    let fraction = format!("{:0digits$}", number % unit);
    let fraction = fraction.trim_end_matches('0');
    let point = if fraction.is_empty() { "" } else { "." };
    write!(f, "{}{point}{fraction}{name}", number / unit)
}

impl Object for Duration {
    fn go_type(&self) -> Type {
        DURATION
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

    fn underlying(&self) -> Option<Value> {
        Some(Value::int64(self.0))
    }

    fn equals(&self, other: &dyn Object) -> bool {
        other.as_any().downcast_ref() == Some(self)
    }
}

const METHODS: &[Function] = &[
    Function::new("Abs", &[], |_, args| Ok(Value::object(Duration(receiver(args).0.saturating_abs())))),
    Function::new("Hours", &[], |_, args| Ok(receiver(args).hours().into())),
    Function::new("Microseconds", &[], |_, args| Ok(Value::int64(receiver(args).0 / 1_000))),
    Function::new("Milliseconds", &[], |_, args| Ok(Value::int64(receiver(args).0 / 1_000_000))),
    Function::new("Minutes", &[], |_, args| Ok(receiver(args).minutes().into())),
    Function::new("Nanoseconds", &[], |_, args| Ok(Value::int64(receiver(args).0))),
    Function::new("Round", &[DURATION], |_, args| Ok(Value::object(receiver(args).round(argument(args)?)))),
    Function::new("Seconds", &[], |_, args| Ok(receiver(args).seconds().into())),
    Function::new("String", &[], |_, args| Ok(receiver(args).to_string().into())),
    Function::new("Truncate", &[DURATION], |_, args| {
        Ok(Value::object(receiver(args).truncate(argument(args)?)))
    }),
];

fn receiver(args: &[Value]) -> Duration {
    args.first().and_then(Value::as_object).copied().unwrap_or_default()
}

/// A duration as the argument of a method, which may be a literal number too.
pub(super) fn argument(args: &[Value]) -> Result<Duration, CallError> {
    let argument = args.get(1).ok_or("no duration")?;
    let duration = argument.as_object::<Duration>().copied();
    duration.or_else(|| argument.as_int().map(Duration)).ok_or_else(|| "no duration".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    // The answers are those of `mustToDuration` in Helm 4.3.1.
    #[test]
    fn durations_are_written_in_the_largest_units() {
        let cases = [
            ("-1.5h", "-1h30m0s"),
            ("1h2m3.5s", "1h2m3.5s"),
            ("1us", "1µs"),
            ("1μs", "1µs"),
            ("1500us", "1.5ms"),
            ("0", "0s"),
            ("+5s", "5s"),
            (".5s", "500ms"),
            ("1.s", "1s"),
            ("90m", "1h30m0s"),
            ("2540400h10m10.000000001s", "2540400h10m10.000000001s"),
        ];
        for (text, written) in cases {
            assert_eq!(Duration::parse(text.as_bytes()).unwrap().to_string(), written, "{text}");
        }
    }

    // The words are those of `mustDateModify` in Helm 4.3.1.
    #[test]
    fn what_is_no_duration_is_refused() {
        let cases = [
            ("x", "time: invalid duration \"x\""),
            ("", "time: invalid duration \"\""),
            ("-.h", "time: invalid duration \"-.h\""),
            ("99999999999h", "time: invalid duration \"99999999999h\""),
            ("1", "time: missing unit in duration \"1\""),
            ("1.5.h", "time: missing unit in duration \"1.5.h\""),
            ("1x", "time: unknown unit \"x\" in duration \"1x\""),
        ];
        for (text, words) in cases {
            assert_eq!(Duration::parse(text.as_bytes()).unwrap_err(), words, "{text}");
        }
        assert_eq!(Duration::parse(b"-9223372036854775808ns"), Ok(Duration(i64::MIN)));
        assert!(Duration::parse(b"9223372036854775808ns").is_err());
    }

    #[test]
    fn rounding_is_away_from_zero() {
        let seconds = Duration::from_seconds;
        assert_eq!(seconds(90).round(seconds(60)), seconds(120));
        assert_eq!(seconds(-90).round(seconds(60)), seconds(-120));
        assert_eq!(seconds(-89).round(seconds(60)), seconds(-60));
        assert_eq!(seconds(-119).truncate(seconds(60)), seconds(-60));
        assert_eq!(Duration(i64::MAX).round(seconds(5_000_000_000)), Duration(i64::MAX));
        assert_eq!(seconds(5).round(Duration(0)), seconds(5));
    }
}

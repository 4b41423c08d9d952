//! The operators on a value (envsubst/funcs.go). Lengths and offsets are counted in bytes.

use gostd::unicode::{to_lower, to_upper};

use glob::{BadPattern, envsubst};

/// A value that is trimmed is no longer: each of its beginnings is matched as a whole.
const MAX_TRIMMED: usize = 8 << 10;

/// Applies an operator to a value.
///
/// # Errors
/// If Flux' controller would panic, or the result is not valid UTF-8.
pub(super) fn apply(operator: &str, value: &str, arguments: &[String]) -> Result<String, String> {
    let argument = |number: usize| arguments.get(number).map(String::as_str);
    Ok(match (operator, argument(0)) {
        ("#", None) => value.len().to_string(),
        (",,", _) => value.chars().map(to_lower).collect(),
        ("^^", _) => value.chars().map(to_upper).collect(),
        (",", _) => first(value, to_lower),
        ("^", _) => first(value, to_upper),
        ("#" | "##" | "%" | "%%", Some(pattern)) => trimmed(operator, value, pattern)?,
        (":", Some(from)) => part(value, from, argument(1))?,
        ("/#", Some(old)) => match argument(1) {
            Some(new) if value.starts_with(old) => value.replacen(old, new, 1),
            _ => value.to_owned(),
        },
        ("/%", Some(old)) => match (argument(1), value.strip_suffix(old)) {
            (Some(new), Some(beginning)) => format!("{beginning}{new}"),
            _ => value.to_owned(),
        },
        ("/", Some(old)) => value.replacen(old, argument(1).unwrap_or_default(), 1),
        ("//", Some(old)) => value.replace(old, argument(1).unwrap_or_default()),
        _ if value.is_empty() => arguments.concat(),
        _ => value.to_owned(),
    })
}

fn first(value: &str, change: impl Fn(char) -> char) -> String {
    let mut rest = value.chars();
    let first = rest.next().map(change);
    first.into_iter().chain(rest).collect()
}

/// A part from a place on, which counts from the end when it is negative. Bounds that are no numbers are passed over.
fn part(value: &str, from: &str, length: Option<&str>) -> Result<String, String> {
    let Ok(from) = from.parse::<i64>() else { return Ok(value.to_owned()) };
    let size = value.len() as i64;
    let from = if from < 0 { (size + from).max(0) } else { from };
    let end = match length.map(str::parse::<i64>) {
        None => size,
        Some(Err(_)) => return Ok(value.to_owned()),
        Some(Ok(length)) => from.wrapping_add(length),
    };
    if end >= size {
        return cut(value, from, size);
    }
    if end < from {
        return Err("takes a part of negative length, at which Flux fails".to_owned());
    }
    cut(value, from, end)
}

fn cut(value: &str, from: i64, end: i64) -> Result<String, String> {
    if from >= end {
        return Ok(String::new());
    }
    let part = usize::try_from(from)
        .ok()
        .zip(usize::try_from(end).ok())
        .and_then(|(from, end)| value.get(from..end));
    part.map(str::to_owned).ok_or_else(|| "cuts a character in two".to_owned())
}

fn trimmed(operator: &str, value: &str, pattern: &str) -> Result<String, String> {
    if value.len() > MAX_TRIMMED {
        return Err(format!("trims a value of more than {MAX_TRIMMED} bytes"));
    }
    let is_longest = operator.len() == 2;
    if operator.starts_with('#') {
        let length = beginning(value.as_bytes(), pattern.as_bytes(), is_longest);
        return value.get(length..).map(str::to_owned).ok_or_else(|| "cuts a character in two".to_owned());
    }
    // Flux turns value and pattern round, so that a class such as `[a-c]` becomes `]c-a[` and matches itself.
    let (value, pattern) = (reversed(value), reversed(pattern));
    let length = beginning(value.as_bytes(), pattern.as_bytes(), is_longest);
    value.get(length..).map(reversed).ok_or_else(|| "cuts a character in two".to_owned())
}

/// Returns how long the beginning is that matches. Both searches go from the whole value to its first byte; that for the shortest
/// keeps the last one found, and a pattern found faulty on the way ends it without any.
fn beginning(value: &[u8], pattern: &[u8], is_longest: bool) -> usize {
    let mut shortest = 0;
    for length in (1..=value.len()).rev() {
        match envsubst::matches(pattern, &value[..length]) {
            Err(BadPattern) => return 0,
            Ok(true) if is_longest => return length,
            Ok(true) => shortest = length,
            Ok(false) => {}
        }
    }
    shortest
}

fn reversed(text: &str) -> String {
    text.chars().rev().collect()
}

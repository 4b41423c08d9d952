//! The formats of strings that schemas ask for, with what the Go library says of a string that has another.

use std::net::Ipv6Addr;

use gostd::quoted;
use gotemplate::time::{Time, Zone};

use super::url::{self, Url};

/// A format by its name.
#[derive(Debug)]
pub(super) struct Format {
    pub(super) name: &'static str,
    pub(super) check: fn(&str) -> Checked,
}

type Checked = Result<(), String>;

const FORMATS: &[Format] = &[
    Format { name: "date", check: date },
    Format { name: "date-time", check: date_time },
    Format { name: "duration", check: duration },
    Format { name: "email", check: email },
    Format { name: "hostname", check: hostname },
    Format { name: "ipv4", check: ipv4 },
    Format { name: "ipv6", check: ipv6 },
    Format { name: "iri", check: uri },
    Format { name: "iri-reference", check: uri_reference },
    Format { name: "json-pointer", check: json_pointer },
    Format { name: "period", check: period },
    Format { name: "regex", check: regex },
    Format { name: "relative-json-pointer", check: relative_json_pointer },
    Format { name: "semver", check: semver },
    Format { name: "time", check: time },
    Format { name: "uri", check: uri },
    Format { name: "uri-reference", check: uri_reference },
    Format { name: "uri-template", check: uri_template },
    Format { name: "uuid", check: uuid },
];

/// The format of a name; what is not known is not asked for.
pub(super) fn find(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name == name)
}

fn refuse(reason: impl Into<String>) -> Checked {
    Err(reason.into())
}

fn ensure(holds: bool, reason: &str) -> Checked {
    if holds { Ok(()) } else { refuse(reason) }
}

/// A character as Go quotes it.
fn character(char: char) -> String {
    let quoted = quoted(char.to_string().as_bytes()).replace("\\\"", "\"").replace('\'', "\\'");
    format!("'{}'", &quoted[1..quoted.len() - 1])
}

/// Returns how many digits a text begins with.
fn leading_digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

fn regex(text: &str) -> Checked {
    goregex::check(text).map_err(|error| error.to_string())
}

fn json_pointer(text: &str) -> Checked {
    if text.is_empty() {
        return Ok(());
    }
    ensure(text.starts_with('/'), "not starting with /")?;
    let is_good = |(at, _): (usize, &str)| text[at + 1..].starts_with(['0', '1']);
    ensure(text.match_indices('~').all(is_good), "~ must be followed by 0 or 1")
}

fn relative_json_pointer(text: &str) -> Checked {
    let digits = leading_digits(text);
    ensure(digits > 0, "must start with non-negative integer")?;
    ensure(digits == 1 || !text.starts_with('0'), "starts with zero")?;
    if &text[digits..] == "#" { Ok(()) } else { json_pointer(&text[digits..]) }
}

fn uuid(text: &str) -> Checked {
    const GROUPS: [usize; 5] = [8, 4, 4, 4, 12];
    let groups: Vec<&str> = text.split('-').collect();
    ensure(groups.len() == GROUPS.len(), "must have 5 elements")?;
    for (index, (group, length)) in groups.iter().zip(GROUPS).enumerate() {
        if group.len() != length {
            return refuse(format!("element {} must be {length} characters long", index + 1));
        }
        if let Some(bad) = group.chars().find(|char| !char.is_ascii_hexdigit()) {
            return refuse(format!("non-hex character {}", character(bad)));
        }
    }
    Ok(())
}

fn duration(text: &str) -> Checked {
    let Some(text) = text.strip_prefix('P') else { return refuse("must start with P") };
    ensure(!text.is_empty(), "nothing after P")?;
    if let Some(weeks) = text.strip_suffix('W') {
        ensure(!weeks.is_empty(), "no number in week")?;
        return ensure(leading_digits(weeks) == weeks.len(), "invalid week");
    }
    for (index, part) in text.split('T').enumerate() {
        ensure(index == 0 || !part.is_empty(), "no time elements")?;
        let Some(units) = ["YMD", "HMS"].get(index) else { return refuse("more than one T") };
        duration_part(part, units)?;
    }
    Ok(())
}

fn duration_part(part: &str, all_units: &str) -> Checked {
    let (mut rest, mut units) = (part, all_units);
    while !rest.is_empty() {
        let digits = leading_digits(rest);
        ensure(digits > 0, "missing number")?;
        let Some(unit) = rest[digits..].chars().next() else { return refuse("missing unit") };
        let Some(at) = units.find(unit) else {
            let unit_text = character(unit);
            return refuse(if all_units.contains(unit) {
                format!("unit {unit_text} out of order")
            } else {
                format!("invalid unit {unit_text}")
            });
        };
        units = &units[at + 1..];
        rest = &rest[digits + unit.len_utf8()..];
    }
    Ok(())
}

fn ipv4(text: &str) -> Checked {
    let groups: Vec<&str> = text.split('.').collect();
    ensure(groups.len() == 4, "expected four decimals")?;
    for group in groups {
        ensure(group.len() == 1 || !group.starts_with('0'), "leading zeros")?;
        let number: i64 = atoi(group)?;
        ensure((0..=255).contains(&number), "decimal must be between 0 and 255")?;
    }
    Ok(())
}

fn atoi(text: &str) -> Result<i64, String> {
    text.parse().map_err(|_| format!("strconv.Atoi: parsing {}: invalid syntax", quoted(text.as_bytes())))
}

fn ipv6(text: &str) -> Checked {
    ensure(text.contains(':'), "missing colon")?;
    ensure(!text.contains('%'), "zone id is not a part of ipv6 address")?;
    let parsed: Result<Ipv6Addr, _> = text.parse();
    parsed.map(|_| ()).map_err(|_| format!("ParseAddr({}): unable to parse IP", quoted(text.as_bytes())))
}

fn hostname(text: &str) -> Checked {
    let text = text.strip_suffix('.').unwrap_or(text);
    ensure(text.len() <= 253, "more than 253 characters long")?;
    for label in text.split('.') {
        ensure((1..=63).contains(&label.len()), "label must be 1 to 63 characters long")?;
        ensure(!label.starts_with('-'), "label starts with hyphen")?;
        ensure(!label.ends_with('-'), "label ends with hyphen")?;
        if let Some(bad) = label.chars().find(|char| !char.is_ascii_alphanumeric() && *char != '-') {
            return refuse(format!("invalid character {}", character(bad)));
        }
    }
    Ok(())
}

fn email(text: &str) -> Checked {
    ensure(text.len() <= 254, "more than 255 characters long")?;
    let Some((local, domain)) = text.rsplit_once('@') else { return refuse("missing @") };
    ensure(local.len() <= 64, "local part more than 64 characters long")?;
    let is_quoted = local.len() > 1 && local.starts_with('"') && local.ends_with('"');
    if is_quoted {
        let inner = &local[1..local.len() - 1];
        let is_good = !inner.contains(['\\', '"']);
        ensure(is_good, "backslash and quote are not allowed within quoted local part")?;
    } else {
        ensure(!local.starts_with('.'), "starts with dot")?;
        ensure(!local.ends_with('.'), "ends with dot")?;
        ensure(!local.contains(".."), "consecutive dots")?;
        let is_good = |char: char| char.is_ascii_alphanumeric() || ".!#$%&'*+-/=?^_`{|}~".contains(char);
        if let Some(bad) = local.chars().find(|char| !is_good(*char)) {
            return refuse(format!("invalid character {}", character(bad)));
        }
    }
    if let Some(address) = domain.strip_prefix('[').and_then(|domain| domain.strip_suffix(']')) {
        return match address.strip_prefix("IPv6:") {
            Some(address) => ipv6(address).map_err(|reason| format!("invalid ipv6 address: {reason}")),
            None => ipv4(address).map_err(|reason| format!("invalid ipv4 address: {reason}")),
        };
    }
    hostname(domain).map_err(|reason| format!("invalid domain: {reason}"))
}

fn date(text: &str) -> Checked {
    Time::parse(b"2006-01-02", text.as_bytes(), Zone::local("UTC")).map(|_| ())
}

fn time(text: &str) -> Checked {
    ensure(text.len() >= 9, "less than 9 characters long")?;
    let colons = (text.as_bytes()[2], text.as_bytes()[5]);
    ensure(colons == (b':', b':') && text.is_char_boundary(8), "missing colon in correct place")?;
    let [hour, minute, second] = numbers(&text[..8], "hour/min/sec")?;
    ensure(hour <= 23 && minute <= 59 && second <= 60, "hour/min/sec out of range")?;
    let mut rest = &text[8..];
    if let Some(fraction) = rest.strip_prefix('.') {
        let digits = leading_digits(fraction);
        ensure(digits > 0, "no digits in second fraction")?;
        rest = &fraction[digits..];
    }
    let offset = if matches!(rest, "z" | "Z") { 0 } else { time_offset(rest)? };
    let utc = (hour * 60 + minute - offset).rem_euclid(24 * 60);
    ensure(second < 60 || utc == 23 * 60 + 59, "invalid leap second")
}

/// The minutes of an offset such as `+01:30`.
fn time_offset(text: &str) -> Result<i64, String> {
    ensure(text.len() == 6, "offset must be 6 characters long")?;
    let sign = match text.as_bytes()[0] {
        b'+' => 1,
        b'-' => -1,
        _ => return Err("offset must begin with plus/minus".to_owned()),
    };
    ensure(text.as_bytes()[3] == b':', "missing colon in offset in correct place")?;
    let [hours, minutes] = numbers(&text[1..], "hour/min in offset")?;
    ensure(hours <= 23 && minutes <= 59, "hour/min in offset out of range")?;
    Ok(sign * (hours * 60 + minutes))
}

fn numbers<const N: usize>(text: &str, what: &str) -> Result<[i64; N], String> {
    let mut numbers = [0; N];
    for (number, part) in numbers.iter_mut().zip(text.split(':')) {
        *number = part.parse().map_err(|_| format!("invalid {what}"))?;
        ensure(*number >= 0, &format!("non-positive {what}"))?;
    }
    Ok(numbers)
}

fn date_time(text: &str) -> Checked {
    ensure(text.len() >= 20, "less than 20 characters long")?;
    ensure(matches!(text.as_bytes()[10], b't' | b'T'), "11th character must be t or T")?;
    date(&text[..10]).map_err(|reason| format!("invalid date element: {reason}"))?;
    time(&text[11..]).map_err(|reason| format!("invalid time element: {reason}"))
}

fn period(text: &str) -> Checked {
    let Some((start, end)) = text.split_once('/') else { return refuse("missing slash") };
    if start.starts_with('P') {
        duration(start).map_err(|reason| format!("invalid start duration: {reason}"))?;
        return date_time(end).map_err(|reason| format!("invalid end date-time: {reason}"));
    }
    date_time(start).map_err(|reason| format!("invalid start date-time: {reason}"))?;
    if end.starts_with('P') {
        return duration(end).map_err(|reason| format!("invalid end duration: {reason}"));
    }
    date_time(end).map_err(|reason| format!("invalid end date-time: {reason}"))
}

fn address(text: &str) -> Result<Url<'_>, String> {
    let (text, fragment) = text.split_once('#').unwrap_or((text, ""));
    let url = url::parse(text)?;
    url::unescape(fragment).map_err(|reason| format!("parse {}: {reason}", quoted(text.as_bytes())))?;
    let host = url.authority.unwrap_or_default().rsplit('@').next().unwrap_or_default();
    if let Some((inside, _)) = host.strip_prefix('[').and_then(|host| host.split_once(']')) {
        ipv6(inside).map_err(|reason| format!("invalid ipv6 address: {reason}"))?;
    }
    Ok(url)
}

fn uri(text: &str) -> Checked {
    ensure(address(text)?.is_absolute(), "relative url")
}

fn uri_reference(text: &str) -> Checked {
    ensure(!text.contains('\\'), "contains \\")?;
    address(text).map(|_| ())
}

fn uri_template(text: &str) -> Checked {
    for segment in address(text)?.path.split('/') {
        let segment = url::unescape(segment).map_err(|reason| format!("percent decode failed: {reason}"))?;
        let mut is_open = false;
        for brace in segment.chars().filter(|char| matches!(char, '{' | '}')) {
            ensure((brace == '{') != is_open, "nested curly braces")?;
            is_open = !is_open;
        }
        ensure(!is_open, "no matching closing brace")?;
    }
    Ok(())
}

fn semver(text: &str) -> Checked {
    let (rest, build) = text.split_once('+').map_or((text, None), |(rest, build)| (rest, Some(build)));
    if let Some(build) = build {
        ensure(!build.is_empty(), "build is empty")?;
        for identifier in build.split('.') {
            ensure(!identifier.is_empty(), "build identifier is empty")?;
            semver_characters(identifier, "build identifier")?;
        }
    }
    let (core, prerelease) = rest.split_once('-').map_or((rest, None), |(core, rest)| (core, Some(rest)));
    for identifier in prerelease.into_iter().flat_map(|prerelease| prerelease.split('.')) {
        ensure(!identifier.is_empty(), "pre-release identifier is empty")?;
        semver_characters(identifier, "pre-release identifier")?;
        let is_number = leading_digits(identifier) == identifier.len();
        let has_zero = is_number && identifier.len() > 1 && identifier.starts_with('0');
        ensure(!has_zero, "pre-release numeric identifier starts with zero")?;
    }
    let numbers: Vec<&str> = core.split('.').collect();
    ensure(numbers.len() == 3, "versionCore must have 3 numbers separated by dot")?;
    for (number, name) in numbers.iter().zip(["major", "minor", "patch"]) {
        ensure(!number.is_empty(), &format!("{name} is empty"))?;
        ensure(number.len() == 1 || !number.starts_with('0'), &format!("{name} starts with zero"))?;
        ensure(leading_digits(number) == number.len(), &format!("{name} contains non-digit"))?;
    }
    Ok(())
}

fn semver_characters(identifier: &str, what: &str) -> Checked {
    match identifier.chars().find(|char| !char.is_ascii_alphanumeric() && *char != '-') {
        Some(bad) => refuse(format!("invalid character {} in {what}", character(bad))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, text: &str) -> Checked {
        (find(name).expect(name).check)(text)
    }

    #[test]
    fn strings_that_have_their_format() {
        for (name, text) in [
            ("date", "2024-02-29"),
            ("date-time", "2024-02-29T23:59:60Z"),
            ("date-time", "2024-02-29t10:00:00.5+01:30"),
            ("duration", "P1Y2M3DT4H5M6S"),
            ("duration", "P4W"),
            ("email", "a.b+c@example.com"),
            ("email", "\"a b\"@[IPv6:::1]"),
            ("hostname", "a-b.example."),
            ("ipv4", "127.0.0.1"),
            ("ipv6", "fe80::1"),
            ("json-pointer", "/a~1b/~0"),
            ("period", "2024-01-01T00:00:00Z/P1D"),
            ("regex", "^a+$"),
            ("relative-json-pointer", "1/a"),
            ("semver", "1.2.3-rc.1+build"),
            ("uri", "https://user@[::1]:80/a?b#c"),
            ("uri", "urn:a:b"),
            ("uri-reference", "../a"),
            ("uri-template", "/a/{b}/c"),
            ("uuid", "2EB8AA08-aa98-11ea-b4aa-73b441d16380"),
        ] {
            assert_eq!(check(name, text), Ok(()), "{name} {text}");
        }
        assert!(find("unknown").is_none());
    }

    /// The reasons are those that `helm template` gives with a schema of draft 7.
    #[test]
    fn strings_that_have_not() {
        for (name, text, reason) in [
            ("email", "x", "missing @"),
            ("hostname", "a_b", "invalid character '_'"),
            ("ipv4", "1.2.3.x", "strconv.Atoi: parsing \"x\": invalid syntax"),
            ("uri", "foo", "relative url"),
            ("time", "25:00:00Z", "hour/min/sec out of range"),
            ("duration", "P1D2Y", "unit 'Y' out of order"),
            ("semver", "1.2", "versionCore must have 3 numbers separated by dot"),
            ("uuid", "x", "must have 5 elements"),
        ] {
            assert_eq!(check(name, text), Err(reason.to_owned()), "{name} {text}");
        }
        assert_eq!(
            check("date", "2024-13-01"),
            Err("parsing time \"2024-13-01\": month out of range".to_owned())
        );
    }

    /// Texts that end or change their width where a format looks.
    #[test]
    fn odd_texts_are_no_trouble() {
        for format in FORMATS {
            for text in [
                "",
                "é",
                "\"",
                "\"@",
                "P",
                "PT",
                "éééééééééééé",
                "12:34:5é",
                "[",
                "https://[",
                "2024-01-0éT00:00:00Z",
                "+01:0é",
            ] {
                let _ = (format.check)(text);
            }
        }
    }
}

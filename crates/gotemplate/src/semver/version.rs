//! One version: reading, writing, comparing.

use std::cmp::Ordering;
use std::fmt;

use gostd::quoted;

use crate::strconv::parse_uint;

/// A version. Versions that differ in their metadata only are equal where they are compared.
#[derive(Clone, Debug)]
pub struct Version {
    pub(super) major: u64,
    pub(super) minor: u64,
    pub(super) patch: u64,
    pub(super) prerelease: String,
    pub(super) metadata: String,
    pub(super) original: String,
}

/// Why a text is no version or constraint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidVersion(pub(super) String);

impl fmt::Display for InvalidVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for InvalidVersion {}

impl InvalidVersion {
    pub(super) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    fn invalid() -> Self {
        Self::new("invalid semantic version")
    }
}

impl Version {
    /// Reads a version, such as `1.2.3-rc.1+build`, or what looks like one: `v1.2`, `01`.
    ///
    /// # Errors
    /// If it does not look like one.
    pub fn parse(text: &str) -> Result<Self, InvalidVersion> {
        let mut rest = text.strip_prefix('v').unwrap_or(text);
        let major = take_digits(&mut rest).ok_or_else(InvalidVersion::invalid)?;
        let minor = take_part(&mut rest, '.', take_digits);
        let patch = minor.and_then(|_| take_part(&mut rest, '.', take_digits));
        let prerelease = take_part(&mut rest, '-', take_identifiers);
        let metadata = take_part(&mut rest, '+', take_identifiers).unwrap_or_default();
        if !rest.is_empty() {
            return Err(InvalidVersion::invalid());
        }
        let version = Self {
            major: number(major)?,
            minor: minor.map_or(Ok(0), number)?,
            patch: patch.map_or(Ok(0), number)?,
            prerelease: prerelease.unwrap_or_default().to_owned(),
            metadata: metadata.to_owned(),
            original: text.to_owned(),
        };
        prerelease.map_or(Ok(()), check_prerelease)?;
        Ok(version)
    }

    /// Reads a version as the specification has it: three numbers, nothing before them.
    ///
    /// # Errors
    /// If it is none.
    pub fn parse_strict(text: &str) -> Result<Self, InvalidVersion> {
        if text.is_empty() {
            return Err(InvalidVersion::new("version string empty"));
        }
        let mut parts = text.splitn(3, '.');
        let (Some(major), Some(minor), Some(rest)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(InvalidVersion::invalid());
        };
        let (rest, metadata) = rest.split_once('+').map_or((rest, None), |(rest, part)| (rest, Some(part)));
        let (patch, prerelease) =
            rest.split_once('-').map_or((rest, None), |(rest, part)| (rest, Some(part)));
        metadata.map_or(Ok(()), check_metadata)?;
        prerelease.map_or(Ok(()), check_prerelease)?;
        for part in [major, minor, patch] {
            if !is_number(part) {
                return Err(InvalidVersion::new("invalid characters in version"));
            }
            if part.len() > 1 && part.starts_with('0') {
                return Err(InvalidVersion::new("version segment starts with 0"));
            }
        }
        Ok(Self {
            major: plain_number(major)?,
            minor: plain_number(minor)?,
            patch: plain_number(patch)?,
            prerelease: prerelease.unwrap_or_default().to_owned(),
            metadata: metadata.unwrap_or_default().to_owned(),
            original: text.to_owned(),
        })
    }

    /// The first number.
    #[must_use]
    pub fn major(&self) -> u64 {
        self.major
    }

    /// The second number.
    #[must_use]
    pub fn minor(&self) -> u64 {
        self.minor
    }

    /// The third number.
    #[must_use]
    pub fn patch(&self) -> u64 {
        self.patch
    }

    /// Returns what follows the hyphen, empty for a release.
    #[must_use]
    pub fn prerelease(&self) -> &str {
        &self.prerelease
    }

    /// Returns what follows the plus sign.
    #[must_use]
    pub fn metadata(&self) -> &str {
        &self.metadata
    }

    /// The text that was read.
    #[must_use]
    pub fn original(&self) -> &str {
        &self.original
    }

    /// The order of precedence; metadata does not count.
    #[must_use]
    pub fn compare(&self, other: &Self) -> Ordering {
        let numbers = |version: &Self| (version.major, version.minor, version.patch);
        numbers(self)
            .cmp(&numbers(other))
            .then_with(|| compare_prereleases(&self.prerelease, &other.prerelease))
    }

    /// The next patch version; of a prerelease, its release.
    pub(super) fn next_patch(&self) -> Option<Self> {
        let step = u64::from(self.prerelease.is_empty());
        Some(self.release(self.major, self.minor, self.patch.checked_add(step)?))
    }

    pub(super) fn next_minor(&self) -> Option<Self> {
        Some(self.release(self.major, self.minor.checked_add(1)?, 0))
    }

    pub(super) fn next_major(&self) -> Option<Self> {
        Some(self.release(self.major.checked_add(1)?, 0, 0))
    }

    fn release(&self, major: u64, minor: u64, patch: u64) -> Self {
        let next =
            Self { major, minor, patch, prerelease: String::new(), metadata: String::new(), ..self.clone() };
        next.rewritten()
    }

    pub(super) fn with_prerelease(&self, prerelease: &str) -> Result<Self, InvalidVersion> {
        if !prerelease.is_empty() {
            check_prerelease(prerelease)?;
        }
        Ok(Self { prerelease: prerelease.to_owned(), ..self.clone() }.rewritten())
    }

    pub(super) fn with_metadata(&self, metadata: &str) -> Result<Self, InvalidVersion> {
        if !metadata.is_empty() {
            check_metadata(metadata)?;
        }
        Ok(Self { metadata: metadata.to_owned(), ..self.clone() }.rewritten())
    }

    /// The same with its own text as the original, which keeps a `v` before it.
    fn rewritten(self) -> Self {
        let prefix = if self.original.starts_with('v') { "v" } else { "" };
        Self { original: format!("{prefix}{self}"), ..self }
    }
}

/// The version without what it may have had before its numbers.
impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)?;
        if !self.prerelease.is_empty() {
            write!(f, "-{}", self.prerelease)?;
        }
        if !self.metadata.is_empty() {
            write!(f, "+{}", self.metadata)?;
        }
        Ok(())
    }
}

fn number(digits: &str) -> Result<u64, InvalidVersion> {
    plain_number(digits).map_err(|error| InvalidVersion(format!("error parsing version segment: {error}")))
}

fn plain_number(digits: &str) -> Result<u64, InvalidVersion> {
    parse_uint(digits.as_bytes(), 10).map_err(|error| {
        InvalidVersion(format!(
            "strconv.ParseUint: parsing {}: {}",
            quoted(digits.as_bytes()),
            error.reason()
        ))
    })
}

/// Takes digits off the beginning of `rest`.
fn take_digits<'a>(rest: &mut &'a str) -> Option<&'a str> {
    take(rest, |byte| byte.is_ascii_digit())
}

/// Takes identifiers with points between them off the beginning of `rest`.
pub(super) fn take_identifiers<'a>(rest: &mut &'a str) -> Option<&'a str> {
    let text = *rest;
    let identifier = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    take(rest, identifier)?;
    while take_part(rest, '.', |rest| take(rest, identifier)).is_some() {}
    Some(&text[..text.len() - rest.len()])
}

pub(super) fn take<'a>(rest: &mut &'a str, fits: impl Fn(u8) -> bool) -> Option<&'a str> {
    let length = rest.bytes().take_while(|byte| fits(*byte)).count();
    let (taken, after) = rest.split_at(length);
    *rest = after;
    (length > 0).then_some(taken)
}

/// Takes what follows a sign off the beginning of `rest`; nothing if it does not follow.
pub(super) fn take_part<'a>(
    rest: &mut &'a str,
    sign: char,
    take: impl Fn(&mut &'a str) -> Option<&'a str>,
) -> Option<&'a str> {
    let mut after = rest.strip_prefix(sign)?;
    let part = take(&mut after)?;
    *rest = after;
    Some(part)
}

fn is_number(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_identifier(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

fn check_prerelease(prerelease: &str) -> Result<(), InvalidVersion> {
    for part in prerelease.split('.') {
        if !is_identifier(part) {
            return Err(InvalidVersion::new("invalid prerelease string"));
        }
        if is_number(part) && part.len() > 1 && part.starts_with('0') {
            return Err(InvalidVersion::new("version segment starts with 0"));
        }
    }
    Ok(())
}

fn check_metadata(metadata: &str) -> Result<(), InvalidVersion> {
    let valid = metadata.split('.').all(is_identifier);
    if valid { Ok(()) } else { Err(InvalidVersion::new("invalid metadata string")) }
}

/// A release comes after its prereleases.
pub(super) fn compare_prereleases(first: &str, second: &str) -> Ordering {
    match (first.is_empty(), second.is_empty()) {
        (true, true) => Ordering::Equal,
        (true, false) => Ordering::Greater,
        (false, true) => Ordering::Less,
        (false, false) => {
            let (mut first, mut second) = (first.split('.'), second.split('.'));
            loop {
                let order = match (first.next(), second.next()) {
                    (None, None) => return Ordering::Equal,
                    (first, second) => compare_identifiers(first, second),
                };
                if order.is_ne() {
                    return order;
                }
            }
        }
    }
}

/// Numbers by value and before words; fewer identifiers before more.
fn compare_identifiers(first: Option<&str>, second: Option<&str>) -> Ordering {
    let (Some(a), Some(b)) = (first, second) else { return first.is_some().cmp(&second.is_some()) };
    let value = |text: &str| parse_uint(text.as_bytes(), 10).ok();
    match (value(a), value(b)) {
        (Some(a), Some(b)) => a.cmp(&b),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => a.cmp(b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // The words are those of `semver` in Helm 4.3.1.
    #[test]
    fn what_is_no_version_is_refused() {
        let cases = [
            ("", "invalid semantic version"),
            ("V1", "invalid semantic version"),
            (" 1", "invalid semantic version"),
            ("1.2.3.4", "invalid semantic version"),
            ("1.2.3-", "invalid semantic version"),
            ("1.2.3-a..b", "invalid semantic version"),
            ("1.2.3-01", "version segment starts with 0"),
            (
                "1.99999999999999999999.1",
                "error parsing version segment: strconv.ParseUint: parsing \"99999999999999999999\": value out of range",
            ),
        ];
        for (text, words) in cases {
            assert_eq!(Version::parse(text).unwrap_err().to_string(), words, "{text}");
        }
    }

    #[test]
    fn what_looks_like_a_version_is_one() {
        let read = |text: &str| Version::parse(text).unwrap().to_string();
        assert_eq!(read("v1"), "1.0.0");
        assert_eq!(read("01.2"), "1.2.0");
        assert_eq!(read("1-rc.1"), "1.0.0-rc.1");
        assert_eq!(read("1.2.3-99999999999999999999+a.b-c"), "1.2.3-99999999999999999999+a.b-c");
    }

    #[test]
    fn a_strict_version_has_three_numbers() {
        assert!(Version::parse_strict("1.2.3-a.1+b").is_ok());
        for (text, words) in [
            ("", "version string empty"),
            ("1.2", "invalid semantic version"),
            ("v1.2.3", "invalid characters in version"),
            ("1.02.3", "version segment starts with 0"),
            ("1.2.3-", "invalid prerelease string"),
            ("1.2.3+", "invalid metadata string"),
        ] {
            assert_eq!(Version::parse_strict(text).unwrap_err().to_string(), words, "{text}");
        }
    }

    #[test]
    fn the_order_is_that_of_the_specification() {
        let ordered = [
            "1.0.0-1",
            "1.0.0-2",
            "1.0.0-10",
            "1.0.0-alpha",
            "1.0.0-alpha.1",
            "1.0.0-alpha.beta",
            "1.0.0-beta",
            "1.0.0-beta.2",
            "1.0.0-beta.11",
            "1.0.0-rc.1",
            "1.0.0",
            "1.0.1",
            "1.2.0",
            "2.0.0",
        ];
        for pair in ordered.windows(2) {
            let [a, b] = [pair[0], pair[1]].map(|text| Version::parse(text).unwrap());
            assert_eq!((a.compare(&b), b.compare(&a)), (Ordering::Less, Ordering::Greater), "{pair:?}");
        }
        let [a, b] = ["1.0.0+a", "1+b"].map(|text| Version::parse(text).unwrap());
        assert_eq!(a.compare(&b), Ordering::Equal);
    }
}

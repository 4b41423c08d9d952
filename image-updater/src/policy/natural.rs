//! The order in which people read texts with numbers in them: `rc10` is above `rc9`. It is no policy but an option of
//! some, and tells where the order of a policy is not the one that people expect.

use std::cmp::Ordering;

use gotemplate::semver::Version;

use super::number::Whole;

/// Compares texts with the numbers in them by value.
pub(super) fn compare(first: &str, second: &str) -> Ordering {
    let (mut first, mut second) = (first, second);
    while !first.is_empty() && !second.is_empty() {
        let (a, b) = (take(&mut first), take(&mut second));
        let order = match (Whole::parse(a), Whole::parse(b)) {
            (Some(a), Some(b)) => a.cmp(&b),
            _ => a.cmp(b),
        };
        if order.is_ne() {
            return order;
        }
    }
    first.cmp(second)
}

/// Compares versions, with the numbers in the words of their pre-releases by value.
pub(super) fn compare_versions(first: &Version, second: &Version) -> Ordering {
    let numbers = |version: &Version| (version.major(), version.minor(), version.patch());
    let is_release = |version: &Version| version.prerelease().is_empty();
    numbers(first).cmp(&numbers(second)).then_with(|| {
        let by_release = is_release(first).cmp(&is_release(second));
        by_release.then_with(|| compare_identifiers(first.prerelease(), second.prerelease()))
    })
}

/// Compares pre-releases, identifier by identifier: numbers are below words, and fewer below more.
fn compare_identifiers(first: &str, second: &str) -> Ordering {
    let (mut first, mut second) = (first.split('.'), second.split('.'));
    loop {
        let (a, b) = match (first.next(), second.next()) {
            (Some(a), Some(b)) => (a, b),
            (a, b) => return a.is_some().cmp(&b.is_some()),
        };
        let order = match (Whole::parse(a), Whole::parse(b)) {
            (Some(a), Some(b)) => a.cmp(&b),
            (a, b) if a.is_some() != b.is_some() => b.is_some().cmp(&a.is_some()),
            _ => compare(a, b),
        };
        if order.is_ne() {
            return order;
        }
    }
}

/// Takes the longest beginning that is all digits, or has none.
fn take<'a>(rest: &mut &'a str) -> &'a str {
    let is_digit = rest.starts_with(|character: char| character.is_ascii_digit());
    let end = rest.bytes().position(|byte| byte.is_ascii_digit() != is_digit).unwrap_or(rest.len());
    let (part, after) = rest.split_at(end);
    *rest = after;
    part
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_texts_count_by_value() {
        assert_eq!(compare("rc10", "rc9"), Ordering::Greater);
        assert_eq!(compare("1.0.9", "1.0.63"), Ordering::Less);
        assert_eq!(compare("a", "a1"), Ordering::Less);
        assert_eq!(compare("a1b", "a01b"), Ordering::Equal);
        assert_eq!(compare("ü1", "ü2"), Ordering::Less);
        assert_eq!(compare("1", "a"), Ordering::Less);
    }

    /// Semver's own order, but that words with numbers in them are read as people read them.
    #[test]
    fn prereleases_are_in_the_order_of_semver_but_for_numbers_in_words() {
        let ascending = [
            "1.0.0-1",
            "1.0.0-2",
            "1.0.0-10",
            "1.0.0-18446744073709551616",
            "1.0.0-alpha",
            "1.0.0-alpha.1",
            "1.0.0-alpha.beta",
            "1.0.0-beta.2",
            "1.0.0-beta.11",
            "1.0.0-rc1",
            "1.0.0-rc9",
            "1.0.0-rc10",
            "1.0.0-rc10.1",
            "1.0.0",
            "1.0.1-rc1",
        ];
        let versions = ascending.map(|text| Version::parse(text).unwrap());
        for pair in versions.windows(2) {
            assert_eq!(compare_versions(&pair[0], &pair[1]), Ordering::Less, "{} {}", pair[0], pair[1]);
            assert_eq!(compare_versions(&pair[1], &pair[0]), Ordering::Greater);
            assert_eq!(compare_versions(&pair[0], &pair[0]), Ordering::Equal);
        }
    }
}

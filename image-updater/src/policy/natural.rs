//! The order in which people read texts with numbers in them: `rc10` is above `rc9`. It is no policy; it tells where
//! the order of a policy is not the one that people expect.

use std::cmp::Ordering;

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
}

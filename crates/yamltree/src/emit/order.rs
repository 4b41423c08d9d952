//! The order in which go-yaml v2 writes a mapping's keys, and a sort that survives it.

use std::cmp::Ordering;

/// Returns how go-yaml v2 orders two keys: letters after anything else, letters by code point, and runs of digits as numbers,
/// so that `b9` comes before `b10`.
///
/// It is not a total order: `2` < `10` < `1a` < `2`. Only [`sort_by_key_order`] may sort by it.
#[must_use]
pub fn compare_keys(left: &str, right: &str) -> Ordering {
    let mut shared = left.bytes().zip(right.bytes()).take_while(|(left, right)| left == right).count();
    while !left.is_char_boundary(shared) || !right.is_char_boundary(shared) {
        shared -= 1;
    }
    let (prefix, left) = left.split_at(shared);
    let right = &right[shared..];
    let (Some(first), Some(second)) = (left.chars().next(), right.chars().next()) else {
        return left.len().cmp(&right.len());
    };
    match (is_letter(first), is_letter(second)) {
        (true, true) => return first.cmp(&second),
        (true, false) => return Ordering::Greater,
        (false, true) => return Ordering::Less,
        (false, false) => {}
    }
    let carried = (first == '0' || second == '0') && ends_in_number_above_zero(prefix);
    number(left, carried).cmp(&number(right, carried)).then(first.cmp(&second))
}

/// Sorts by [`compare_keys`]; keys that it cannot tell apart keep their order.
///
/// A merge sort of our own, because the standard library's sorts may panic where the order is not total.
pub fn sort_by_key_order<T: Clone>(items: &mut [T], key: impl Fn(&T) -> &str) {
    const RUN: usize = 12;
    let after = |left: &T, right: &T| compare_keys(key(left), key(right)) == Ordering::Greater;
    for run in items.chunks_mut(RUN) {
        for end in 1..run.len() {
            let mut at = end;
            while at > 0 && after(&run[at - 1], &run[at]) {
                run.swap(at - 1, at);
                at -= 1;
            }
        }
    }
    let mut merged = Vec::with_capacity(if items.len() > RUN { items.len() } else { 0 });
    let mut width = RUN;
    while width < items.len() {
        for pair in items.chunks_mut(width * 2) {
            let middle = width.min(pair.len());
            let (mut left, mut right) = pair.split_at(middle);
            while let ([first, left_rest @ ..], [second, right_rest @ ..]) = (left, right) {
                if after(first, second) {
                    merged.push(second.clone());
                    right = right_rest;
                } else {
                    merged.push(first.clone());
                    left = left_rest;
                }
            }
            merged.extend_from_slice(left);
            merged.extend_from_slice(right);
            pair.clone_from_slice(&merged);
            merged.clear();
        }
        width *= 2;
    }
}

/// The value of the digits that a text starts with, and how many they are. It wraps around as Go's `int64` does.
fn number(text: &str, carried: bool) -> (i64, usize) {
    let digits = text.chars().take_while(|&char| is_digit(char));
    digits.fold((i64::from(carried), 0), |(value, count), digit| {
        let digit = i64::from(u32::from(digit)) - i64::from(b'0');
        (value.wrapping_mul(10).wrapping_add(digit), count + 1)
    })
}

fn ends_in_number_above_zero(prefix: &str) -> bool {
    prefix.chars().rev().take_while(|&char| is_digit(char)).any(|digit| digit != '0')
}

/// Go's `unicode.IsLetter`, but for the vowel signs of Indic scripts, which the standard library counts as alphabetic.
fn is_letter(char: char) -> bool {
    if char.is_ascii() { char.is_ascii_alphabetic() } else { char.is_alphabetic() && !char.is_numeric() }
}

/// Go's `unicode.IsDigit` for ASCII. Digits of other scripts compare as characters, which is the same for one digit.
fn is_digit(char: char) -> bool {
    char.is_ascii_digit()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted<'k>(keys: &[&'k str]) -> Vec<&'k str> {
        let mut keys = keys.to_vec();
        sort_by_key_order(&mut keys, |key| key);
        keys
    }

    #[track_caller]
    fn in_order(keys: &[&str]) {
        let reversed: Vec<_> = keys.iter().rev().copied().collect();
        assert_eq!(sorted(&reversed), keys);
    }

    #[test]
    fn letters_follow_everything_else() {
        in_order(&[
            "", "#x", "-dash", ".dot", "=", "~", "1", "A", "B", "a", "a-", "a-b", "a.b", "ab", "b", "é",
        ]);
        in_order(&["a1-", "a1b", "ab"]);
    }

    #[test]
    fn digits_compare_as_numbers() {
        in_order(&["b9", "b10", "b11"]);
        in_order(&["1", "01", "2", "10", "20", "100"]);
        in_order(&["a1.2", "a1.10", "a10.1"]);
        in_order(&["x100", "x101"]);
    }

    #[test]
    fn an_order_with_a_cycle_still_ends() {
        assert_eq!(compare_keys("2", "10"), Ordering::Less);
        assert_eq!(compare_keys("10", "1a"), Ordering::Less);
        assert_eq!(compare_keys("1a", "2"), Ordering::Less);
        let keys: Vec<String> =
            (0..500).map(|at| format!("{}{}", at * 7919 % 501, ["", "a", "-"][at % 3])).collect();
        let mut refs: Vec<&str> = keys.iter().map(String::as_str).collect();
        sort_by_key_order(&mut refs, |key| key);
        let mut same = refs.clone();
        same.sort_unstable();
        let mut all: Vec<&str> = keys.iter().map(String::as_str).collect();
        all.sort_unstable();
        assert_eq!(same, all);
    }

    #[test]
    fn a_long_list_is_sorted() {
        let keys: Vec<String> = (0..1000).map(|at| format!("k{}", at * 7919 % 1000)).collect();
        let mut refs: Vec<&str> = keys.iter().map(String::as_str).collect();
        sort_by_key_order(&mut refs, |key| key);
        let wanted: Vec<String> = (0..1000).map(|at| format!("k{at}")).collect();
        assert_eq!(refs, wanted);
    }
}

//! Which of several things are probably one that got another name.
//!
//! In: for what is gone and what is new, the parts of their content as hashes. Out: pairs of those with much in common,
//! each in one pair at most, the best first. Parts that many things have say nothing and are not counted, so that the
//! cost is linear.

use std::collections::HashMap;

/// The number of objects above which a common part identifies none of them.
const COMMON_PART_THRESHOLD: usize = 16;

/// The minimum share of common parts of a pair, in percent.
const MIN_SHARED_PERCENT: usize = 60;

/// The minimum number of common parts of a pair.
const MIN_SHARED_PARTS: usize = 4;

/// Pairs what is gone with what is new, by index.
pub(crate) fn pairs(gone: &[Vec<u64>], new: &[Vec<u64>]) -> Vec<(usize, usize)> {
    let mut holders: HashMap<u64, Vec<usize>> = HashMap::new();
    for (at, parts) in gone.iter().enumerate() {
        for part in parts {
            let of_part = holders.entry(*part).or_default();
            if of_part.last() != Some(&at) && of_part.len() <= COMMON_PART_THRESHOLD {
                of_part.push(at);
            }
        }
    }
    let mut candidates = Vec::new();
    for (added, parts) in new.iter().enumerate() {
        let mut shared: HashMap<usize, usize> = HashMap::new();
        for part in parts {
            let of_part = holders.get(part).filter(|holders| holders.len() <= COMMON_PART_THRESHOLD);
            of_part.into_iter().flatten().for_each(|at| *shared.entry(*at).or_default() += 1);
        }
        for (removed, count) in shared {
            let score = 200 * count / (gone[removed].len() + parts.len()).max(1);
            if score >= MIN_SHARED_PERCENT && count >= MIN_SHARED_PARTS {
                candidates.push((score, removed, added));
            }
        }
    }
    candidates.sort_by_key(|(score, removed, added)| (std::cmp::Reverse(*score), *removed, *added));
    let (mut is_taken, mut is_given) = (vec![false; gone.len()], vec![false; new.len()]);
    let mut pairs = Vec::new();
    for (_, removed, added) in candidates {
        if !is_taken[removed] && !is_given[added] {
            (is_taken[removed], is_given[added]) = (true, true);
            pairs.push((removed, added));
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_alike_are_paired_first() {
        let parts = |numbers: &[u64]| numbers.to_vec();
        let gone = [parts(&[1, 2, 3, 4, 5]), parts(&[1, 2, 3, 4, 6]), parts(&[9])];
        let new = [parts(&[1, 2, 3, 4, 6]), parts(&[1, 2, 3, 4, 7]), parts(&[9])];
        assert_eq!(pairs(&gone, &new), [(1, 0), (0, 1)]);
    }

    #[test]
    fn what_all_have_tells_none() {
        let many = vec![vec![1, 2, 3, 4, 5]; COMMON_PART_THRESHOLD + 2];
        assert_eq!(pairs(&many, &many), []);
        let few = vec![vec![1, 2, 3, 4, 5]; 2];
        assert_eq!(pairs(&few, &few), [(0, 0), (1, 1)]);
    }
}

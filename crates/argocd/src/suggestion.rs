//! Suggests the intended name for a misspelled one.

/// The name most like a given one, if one is like enough; case, dashes and the like do not count.
pub(crate) fn closest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let plain = plain(name);
    candidates
        .map(|candidate| (strsim::damerau_levenshtein(&plain, &self::plain(candidate)), candidate))
        .filter(|(distance, candidate)| *distance * 3 <= candidate.len().max(3))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// A name is no longer than this where anyone could have meant another.
const MAX_NAME: usize = 100;

fn plain(name: &str) -> String {
    name.chars()
        .filter(|character| character.is_alphanumeric())
        .take(MAX_NAME)
        .collect::<String>()
        .to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closest_is_close() {
        let names = ["PreSync", "PostSync", "Sync"];
        for (name, want) in
            [("pre_sync", Some("PreSync")), ("Synk", Some("Sync")), ("other", None), ("", None)]
        {
            assert_eq!(closest(name, names.iter().copied()), want, "{name}");
        }
    }
}

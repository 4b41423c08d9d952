//! Which part of the objects one of several replicas works off: by the hash of their names, or by their labels.
//!
//! In: the name and the labels of an object that says what there is to do. Out: whether it is ours. Replicas with
//! the same number of parts share out all objects, and have none in common. With another number nearly every object
//! moves; what two work off for a moment is pushed once, as a push only goes through onto what was seen.

use diagnostic::{Error, Result};
use std::collections::BTreeMap;
use std::str::FromStr;

use kube::core::{Expression, Selector, SelectorExt as _};
use sha2::{Digest as _, Sha256};

use crate::change::Named;

/// A part of the objects of a cluster.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum Shard {
    /// All of them.
    #[default]
    Whole,
    /// One of several parts, counted from 0 as the pods of a StatefulSet are.
    Part { index: u64, count: u64 },
    /// Those with these labels.
    Labelled(Selector),
}

impl Shard {
    /// Reads a selector as `kubectl` does: `KEY=VALUE`, `!KEY`, `KEY in (A, B)`, with commas between.
    ///
    /// # Errors
    /// If it is none.
    pub(crate) fn labelled(text: &str) -> Result<Self> {
        let mut selector = Selector::default();
        for requirement in requirements(text) {
            selector.extend([expression(requirement.trim()).ok_or_else(|| {
                let error = Error::invalid(format!("invalid label selector `{text}`"));
                error.hint("write `KEY=VALUE`, `KEY!=VALUE`, `KEY in (A,B)`, `KEY` or `!KEY`")
            })?]);
        }
        Ok(Self::Labelled(selector))
    }

    /// Returns true if an object is of this part.
    pub(crate) fn owns(&self, id: &Named, labels: &BTreeMap<String, String>) -> bool {
        match self {
            Self::Whole => true,
            Self::Part { index, count } => hash(id) % count == *index,
            Self::Labelled(selector) => selector.matches(labels),
        }
    }

    /// Returns what tells the name of its Lease from those of other parts.
    pub(crate) fn suffix(&self) -> String {
        match self {
            Self::Whole => String::new(),
            Self::Part { index, count } => format!("-{index}-of-{count}"),
            // What is in labels cannot stand in a name.
            Self::Labelled(selector) => {
                let digest = Sha256::digest(selector.to_string());
                let hex: String = digest[..5].iter().map(|byte| format!("{byte:02x}")).collect();
                format!("-{hex}")
            }
        }
    }
}

impl FromStr for Shard {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let number =
            |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?;
        let part = text.split_once('/').and_then(|(index, count)| Some((number(index)?, number(count)?)));
        match part {
            Some((index, count)) if index < count => Ok(Self::Part { index, count }),
            Some((_, count)) if count > 0 => {
                let error = Error::invalid(format!("invalid shard `{text}`"));
                Err(error.hint(format!("parts are counted from 0: `0/{count}` to `{}/{count}`", count - 1)))
            }
            _ => {
                let error = Error::invalid(format!("invalid shard `{text}`: expected N/M"));
                Err(error.hint("write `0/3`, `1/3` and `2/3` for three replicas"))
            }
        }
    }
}

/// The same on each machine and in each version, as replicas agree by it.
fn hash(id: &Named) -> u64 {
    let digest = Sha256::digest(format!("{}/{}", id.namespace, id.name));
    digest[..8].iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte))
}

/// Splits at commas that are not in parentheses.
fn requirements(text: &str) -> impl Iterator<Item = &str> {
    let mut is_within = false;
    text.split(move |letter| {
        match letter {
            '(' => is_within = true,
            ')' => is_within = false,
            _ => {}
        }
        letter == ',' && !is_within
    })
}

fn expression(text: &str) -> Option<Expression> {
    if let Some(key) = text.strip_prefix('!') {
        return Some(Expression::DoesNotExist(name(key)?));
    }
    if let Some((key, value)) = text.split_once("!=") {
        return Some(Expression::NotEqual(name(key)?, label(value)?));
    }
    if let Some((key, value)) = text.split_once('=') {
        return Some(Expression::Equal(name(key)?, label(value.strip_prefix('=').unwrap_or(value))?));
    }
    let Some((before, values)) = text.strip_suffix(')').and_then(|text| text.split_once('(')) else {
        return Some(Expression::Exists(name(text)?));
    };
    let (key, operator) = before.trim_end().rsplit_once(char::is_whitespace)?;
    let (key, values) = (name(key)?, values.split(',').map(label).collect::<Option<_>>()?);
    match operator {
        "in" => Some(Expression::In(key, values)),
        "notin" => Some(Expression::NotIn(key, values)),
        _ => None,
    }
}

/// The key of a label.
fn name(text: &str) -> Option<String> {
    label(text).filter(|key| !key.is_empty())
}

/// The value of a label, or its key, which may have a slash besides.
fn label(text: &str) -> Option<String> {
    let text = text.trim();
    let is_of_it = |letter: char| letter.is_ascii_alphanumeric() || "-_./".contains(letter);
    text.chars().all(is_of_it).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn named(namespace: &str, name: &str) -> Named {
        Named { namespace: namespace.to_owned(), name: name.to_owned() }
    }

    proptest! {
        #[test]
        fn each_object_is_of_exactly_one_part(
            namespace in "[a-z0-9-]{0,20}",
            name in "[a-z0-9.-]{1,40}",
            count in 1_u64..40,
        ) {
            let id = named(&namespace, &name);
            let owns = |index: &u64| Shard::Part { index: *index, count }.owns(&id, &BTreeMap::new());
            prop_assert_eq!((0..count).filter(owns).count(), 1);
        }

        #[test]
        fn each_object_is_of_one_value_or_of_the_rest(value in proptest::option::of("[a-c]")) {
            let labels = value.map(|value| ("part".to_owned(), value)).into_iter().collect();
            let owns = |text: &&str| Shard::labelled(text).unwrap().owns(&named("a", "b"), &labels);
            let parts = ["part=a", "part in (b, c)", "!part"];
            prop_assert_eq!(parts.iter().filter(|text| owns(text)).count(), 1);
        }
    }

    /// By `printf argocd/web | sha256sum`: another hash would have replicas of two versions share objects out
    /// differently.
    #[test]
    fn the_hash_stays_what_it_is() {
        assert_eq!(hash(&named("argocd", "web")), 0x9966_a689_b8d9_881b);
    }

    #[test]
    fn parts_are_shared_out_evenly() {
        let part = Shard::Part { index: 1, count: 4 };
        let owned = (0..4000)
            .filter(|number| part.owns(&named("argocd", &format!("app-{number}")), &BTreeMap::new()));
        assert!((850..1150).contains(&owned.count()));
    }

    #[test]
    fn parts_are_counted_from_nothing() {
        assert_eq!("2/3".parse::<Shard>().unwrap(), Shard::Part { index: 2, count: 3 });
        for (text, message) in [
            ("3/3", "invalid shard `3/3`"),
            ("0/0", "invalid shard `0/0`: expected N/M"),
            ("1", "invalid shard `1`: expected N/M"),
            ("-1/3", "invalid shard `-1/3`: expected N/M"),
            ("/", "invalid shard `/`: expected N/M"),
        ] {
            assert_eq!(text.parse::<Shard>().unwrap_err().message(), message);
        }
    }

    #[test]
    fn selectors_are_written_as_for_kubectl() {
        for (text, same) in [
            ("sharding.fluxcd.io/key=one", "sharding.fluxcd.io/key=one"),
            ("a==b, c!=d", "a=b,c!=d"),
            ("a in (b, c),!d", "a in (b,c),!d"),
            ("a notin (b),c", "a notin (b),c"),
        ] {
            let Shard::Labelled(selector) = Shard::labelled(text).unwrap() else { panic!("{text}") };
            assert_eq!(selector.to_string(), same);
        }
        for text in ["", "=b", "a b", "a is (b)", "a=b=c", "a,,b", "(b)", "a in (b"] {
            assert!(Shard::labelled(text).is_err(), "{text}");
        }
    }

    #[test]
    fn each_part_has_a_lease_of_its_own() {
        assert_eq!("1/3".parse::<Shard>().unwrap().suffix(), "-1-of-3");
        let (one, other) =
            (Shard::labelled("a=b").unwrap().suffix(), Shard::labelled("a=c").unwrap().suffix());
        assert!(one.len() == 11 && one != other, "{one} {other}");
    }
}

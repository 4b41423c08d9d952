//! The annotation `image-list`: `[ALIAS=]IMAGE[:CONSTRAINT]`, with commas between.
//!
//! Blanks around the parts do not count, and neither do items without content. A constraint may have an `=`, which no
//! alias has before a colon; it cannot have a comma.

use diagnostic::{Error, Result};
use std::collections::HashSet;

use crate::edit::Parts;

/// An item of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Item<'t> {
    pub(super) alias: Option<&'t str>,
    /// The image with what follows its colon.
    pub(super) image: &'t str,
}

/// Reads the list.
///
/// # Errors
/// If it has nothing in it, or an alias that is none or is there twice.
pub(super) fn parse(text: &str) -> Result<Vec<Item<'_>>> {
    let (mut items, mut aliases) = (Vec::new(), HashSet::new());
    for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let item = item(part)?;
        if let Some(alias) = item.alias.filter(|alias| !aliases.insert(*alias)) {
            return Err(Error::invalid(format!("the alias `{alias}` is there twice")));
        }
        items.push(item);
    }
    if items.is_empty() { Err(Error::invalid("the list is empty")) } else { Ok(items) }
}

fn item(part: &str) -> Result<Item<'_>> {
    let (alias, image) = match part.split_once('=') {
        // As in `app:>=1.2`.
        Some((before, _)) if before.contains(':') => (None, part),
        Some((alias, image)) => (Some(alias.trim()).filter(|alias| !alias.is_empty()), image.trim()),
        None => (None, part),
    };
    if image.is_empty() {
        return Err(Error::invalid(format!("`{part}` names no image")));
    }
    if let Some(alias) = alias.filter(|alias| !is_alias(&alias.replace('/', "_"))) {
        let error = Error::invalid(format!("invalid alias `{alias}`"));
        return Err(error.hint("an alias has letters, digits and `-._`, and begins with a letter or digit"));
    }
    Ok(Item { alias, image })
}

/// Returns true if a text may be an alias.
pub(super) fn is_alias(text: &str) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    text.starts_with(|first: char| first.is_ascii_alphanumeric()) && text.bytes().all(is_inner)
}

/// An image and what follows its colon: a constraint on versions, or the tag that is watched.
///
/// # Errors
/// If it has a digest.
pub(super) fn split(image: &str) -> Result<(&str, Option<&str>)> {
    let parts = Parts::split(image);
    if !parts.digest.is_empty() || image.contains('@') {
        return Err(Error::invalid(format!("`{image}` is pinned by digest, and no update changes a digest")));
    }
    Ok((parts.name, Some(parts.tag).filter(|tag| !tag.is_empty())))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Vec<(Option<&str>, &str)> {
        parse(text).unwrap().into_iter().map(|item| (item.alias, item.image)).collect()
    }

    #[test]
    fn aliases_and_constraints_are_told_apart() {
        assert_eq!(read("nginx"), [(None, "nginx")]);
        assert_eq!(read(" a = r.test/x:~1.2 ,, b=y , "), [(Some("a"), "r.test/x:~1.2"), (Some("b"), "y")]);
        assert_eq!(read("a=localhost:5000/x:>=1.2"), [(Some("a"), "localhost:5000/x:>=1.2")]);
        assert_eq!(read("x:>=1.2"), [(None, "x:>=1.2")]);
        assert_eq!(read("=x"), [(None, "x")]);
        assert_eq!(read("a/b=x"), [(Some("a/b"), "x")]);
    }

    #[test]
    fn what_is_no_list_is_refused() {
        for text in ["", " , ", "a=", "a= ,b=x", "a b=x", "-a=x", "a=x,a=y"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_port_is_no_constraint() {
        assert_eq!(split("localhost:5000/app:~1.2").unwrap(), ("localhost:5000/app", Some("~1.2")));
        assert_eq!(split("localhost:5000/app").unwrap(), ("localhost:5000/app", None));
        assert!(split("app@sha256:00").is_err());
        assert!(split("app@").is_err());
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(
            items in prop::collection::vec(
                (
                    prop::option::of("[a-z0-9][a-z0-9._-]{0,8}"),
                    "([a-z]{1,5}(\\.test)?(:[0-9]{2,4})?/)?[a-z]{1,8}",
                    prop::option::of("(~|\\^|>=|<=|=|!=)?[0-9]{1,2}(\\.[0-9x]{1,2}){0,2}( <[0-9])?"),
                ),
                1..6,
            ),
            blanks in "[ \\t]{0,3}",
        ) {
            let mut seen = HashSet::new();
            let items: Vec<_> = items
                .into_iter()
                .filter(|(alias, ..)| alias.as_ref().is_none_or(|alias| seen.insert(alias.clone())))
                .collect();
            prop_assume!(!items.is_empty());
            let written = |(alias, image, constraint): &(Option<String>, String, Option<String>)| {
                let alias = alias.as_ref().map(|alias| format!("{alias}{blanks}={blanks}")).unwrap_or_default();
                let constraint = constraint.as_ref().map(|text| format!(":{text}")).unwrap_or_default();
                format!("{blanks}{alias}{image}{constraint}{blanks}")
            };
            let text = items.iter().map(written).collect::<Vec<_>>().join(",");
            let read = parse(&text).unwrap();
            prop_assert_eq!(read.len(), items.len());
            for (item, (alias, image, constraint)) in read.iter().zip(&items) {
                prop_assert_eq!(item.alias, alias.as_deref());
                prop_assert_eq!(split(item.image).unwrap(), (image.as_str(), constraint.as_deref()));
            }
        }

        #[test]
        fn no_list_is_too_odd_to_read(text in any::<String>()) {
            for item in parse(&text).unwrap_or_default() {
                prop_assert!(!item.image.is_empty() && text.contains(item.image));
            }
        }
    }
}

//! Filters that admit tags before ordering: each is one step and explains why it drops a tag.
//!
//! By name: [`names::Allow`], [`names::Ignore`], [`pattern::Pattern`]. By what the registry says: [`Filters::platforms`]
//! and [`Filters::age`], which are asked late, as each answer costs a request.

mod names;
mod pattern;
mod update_from;

use diagnostic::{Error, Result};
use std::borrow::Cow;

use jiff::Timestamp;
use oci_registry::Platform;

use crate::criteria::{Age, Criteria};
use crate::tags::Tag;

/// Why a tag is no candidate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// It does not count: a rule is against it, for this reason.
    Dropped(&'static str, String),
    /// It cannot be told, as something about a tag is not known.
    Unknown(Gap),
}

/// Something that a decision needs and that is not known.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Gap {
    /// The tag.
    pub tag: String,
    /// The missing data.
    pub lacks: Lack,
}

/// The missing data of a tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lack {
    /// When it was made.
    Created,
    /// Its digest.
    Digest,
    /// The platforms it is made for.
    Platforms,
}

impl Refusal {
    /// Drops a tag by a rule. Rules are named by the option that they come from, if there is one.
    pub(crate) fn dropped<T>(rule: &'static str, reason: impl Into<String>) -> Result<T, Self> {
        Err(Self::Dropped(rule, reason.into()))
    }

    pub(crate) fn unknown(tag: &Tag, lacks: Lack) -> Self {
        Self::Unknown(Gap { tag: tag.name.clone(), lacks })
    }
}

/// The filters of all policies.
#[derive(Debug)]
pub(crate) struct Filters {
    allow: names::Allow,
    ignore: names::Ignore,
    pattern: Option<pattern::Pattern>,
    updatable: update_from::Updatable,
    platforms: Vec<Platform>,
    min_age: Option<Age>,
}

impl Filters {
    pub(crate) fn new(criteria: &Criteria) -> Result<Self> {
        Ok(Self {
            allow: names::Allow::new(criteria.allow_tags.as_deref())?,
            ignore: names::Ignore::new(&criteria.ignore_tags)?,
            pattern: pattern::Pattern::new(criteria.filter_tags.as_deref(), criteria.extract.as_deref())?,
            updatable: update_from::Updatable::new(criteria)?,
            platforms: criteria.platforms.clone(),
            min_age: criteria.min_age.clone(),
        })
    }

    /// Drops a tag by its name, or says what of it is put in order.
    pub(crate) fn names<'t>(&self, tag: &'t str) -> Result<Cow<'t, str>, Refusal> {
        self.allow.check(tag)?;
        self.ignore.check(tag)?;
        self.pattern.as_ref().map_or(Ok(Cow::Borrowed(tag)), |pattern| pattern.value(tag))
    }

    /// Returns what of the current tag is compared with candidates. That it would be dropped does not matter: what runs, runs.
    pub(crate) fn value_of_current<'t>(&self, tag: &'t str) -> Option<Cow<'t, str>> {
        let Some(pattern) = &self.pattern else { return Some(Cow::Borrowed(tag)) };
        pattern.value(tag).ok().or_else(|| (!pattern.extracts()).then_some(Cow::Borrowed(tag)))
    }

    /// Why the current tag stays, where it is none that may be updated.
    ///
    /// # Errors
    /// If there is no current tag to tell by.
    pub(crate) fn why_it_stays(&self, tag: Option<&str>, value: Option<&str>) -> Result<Option<String>> {
        if !self.updatable.is_limited() {
            return Ok(None);
        }
        let tag = tag.ok_or_else(|| {
            let error = Error::invalid("`update-from` requires a current tag");
            error.hint("give the tag that runs, as `current` or with the image")
        })?;
        let updatable = &self.updatable;
        Ok((!updatable.has(tag, value))
            .then(|| format!("the current tag `{tag}` stays, as only {updatable} may be updated")))
    }

    /// Returns true if when a tag was made is asked for.
    pub(crate) fn wants_age(&self) -> bool {
        self.min_age.is_some()
    }

    /// The platforms that are asked for.
    pub(crate) fn wanted_platforms(&self) -> &[Platform] {
        &self.platforms
    }

    pub(crate) fn platforms(&self, tag: &Tag) -> Result<(), Refusal> {
        if self.platforms.is_empty() {
            return Ok(());
        }
        let there = tag.known_platforms().ok_or_else(|| Refusal::unknown(tag, Lack::Platforms))?;
        match self.platforms.iter().find(|wanted| !there.iter().any(|there| there.satisfies(wanted))) {
            Some(missing) => Refusal::dropped("platforms", format!("lacks the platform `{missing}`")),
            None => Ok(()),
        }
    }

    pub(crate) fn age(&self, tag: &Tag, now: Timestamp) -> Result<(), Refusal> {
        let Some(min_age) = &self.min_age else { return Ok(()) };
        let created = tag.created_for(&self.platforms).ok_or_else(|| Refusal::unknown(tag, Lack::Created))?;
        if now.duration_since(created) < min_age.span() {
            return Refusal::dropped("min-age", format!("younger than {min_age}: created {created}"));
        }
        Ok(())
    }

    /// The expression that tags match, where none of these does.
    pub(crate) fn idle_pattern(&self, tags: &[Tag]) -> Option<&str> {
        let pattern = self.pattern.as_ref()?;
        let matches = |tag: &Tag| pattern.value(&tag.name).is_ok();
        (!tags.is_empty() && !tags.iter().any(matches)).then_some(pattern.text())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filters(criteria: &Criteria) -> Filters {
        Filters::new(criteria).unwrap()
    }

    #[test]
    fn all_platforms_must_be_there() {
        let platforms =
            |list: &[&str]| list.iter().map(|text| text.parse().unwrap()).collect::<Vec<Platform>>();
        let filters = filters(&Criteria {
            platforms: platforms(&["linux/amd64", "linux/arm64"]),
            ..Criteria::default()
        });
        let mut tag = Tag::named("a");
        assert_eq!(filters.platforms(&tag), Err(Refusal::unknown(&tag, Lack::Platforms)));
        tag.platforms = Some(platforms(&["linux/amd64"]));
        assert_eq!(
            filters.platforms(&tag),
            Refusal::dropped("platforms", "lacks the platform `linux/arm64`")
        );
        tag.platforms = Some(platforms(&["linux/arm64/v8", "linux/amd64"]));
        assert_eq!(filters.platforms(&tag), Ok(()));
    }

    #[test]
    fn exactly_the_age_is_old_enough() {
        let filters = filters(&Criteria { min_age: Some("1h".parse().unwrap()), ..Criteria::default() });
        let at = |created: &str| {
            let tag = Tag { created: Some(created.parse().unwrap()), ..Tag::named("a") };
            filters.age(&tag, "2024-06-10T12:00:00Z".parse().unwrap()).is_ok()
        };
        assert!(at("2024-06-10T11:00:00Z"));
        assert!(!at("2024-06-10T11:00:00.000000001Z"));
        assert!(!at("2024-07-01T00:00:00Z"), "a time to come is young");
        assert!(!at("9999-01-01T00:00:00Z"));
        assert!(at("-009000-01-01T00:00:00Z"));
    }

    #[test]
    fn the_current_tag_is_compared_though_it_is_filtered_out() {
        let criteria = |extract: Option<&str>| Criteria {
            allow_tags: Some("regexp:^x".to_owned()),
            filter_tags: Some("^rel-(.*)$".to_owned()),
            extract: extract.map(str::to_owned),
            ..Criteria::default()
        };
        assert_eq!(filters(&criteria(Some("$1"))).value_of_current("rel-1.2").as_deref(), Some("1.2"));
        assert_eq!(
            filters(&criteria(Some("$1"))).value_of_current("1.2"),
            None,
            "there is nothing to compare"
        );
        assert_eq!(filters(&criteria(None)).value_of_current("1.2").as_deref(), Some("1.2"));
    }
}

//! The trait of policies, and the ranks that they give to tags.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;

use diagnostic::Result;
use oci_registry::Platform;

use crate::criteria::Criteria;
use crate::filter::Refusal;
use crate::tags::Tag;

/// Puts the tags of an image in order.
pub(crate) trait Policy: Clone + fmt::Debug + Send + Sync + 'static {
    /// The name.
    const NAME: &'static str;
    /// Those of the special criteria that it uses.
    const USES: &'static [&'static str] = &[];
    /// Tells whether it looks at more of a tag than its name.
    const READS_METADATA: bool = false;
    /// Tells whether it looks at no tag but the one that the image is named with.
    const WATCHES: bool = false;
    /// The rank of a tag in the order.
    type Rank;

    /// Reads the criteria.
    fn new(criteria: &Criteria) -> Result<Self>;

    /// Takes in what runs now.
    fn bind(&mut self, _running: &Running<'_>) -> Result<()> {
        Ok(())
    }

    /// Drops a tag by its name before anything else is asked about it.
    fn looks_at(&self, _name: &str) -> Result<(), Refusal> {
        Ok(())
    }

    /// Returns where a tag stands, if anywhere.
    fn rank(&self, candidate: &Candidate<'_>) -> Result<Self::Rank, Refusal>;

    /// Drops what has a place in the order, but may not be chosen. The current tag is not asked about.
    fn admit(&self, _rank: &Self::Rank) -> Result<(), Refusal> {
        Ok(())
    }

    /// The order: the greatest is chosen.
    fn compare(&self, first: &Self::Rank, second: &Self::Rank) -> Ordering;

    /// Which of two tags of one rank is taken, and why the greater one.
    fn prefer(
        &self,
        first: &Ranked<'_, Self::Rank>,
        second: &Ranked<'_, Self::Rank>,
    ) -> (Ordering, &'static str) {
        (first.tag.name.cmp(&second.tag.name), "it is the last in byte order")
    }

    /// Returns how its order is put into words.
    fn words(&self) -> Words;

    /// Returns what may not be meant, looking at the candidates from the best on.
    fn warning(&self, _candidates: &[Ranked<'_, Self::Rank>]) -> Option<String> {
        None
    }
}

/// The words that describe an order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Words {
    /// Describes the chosen tag.
    pub(crate) best: &'static str,
    /// Describes a lower tag, followed by a tag.
    pub(crate) below: &'static str,
}

/// The running version.
#[derive(Clone, Debug, Default)]
pub(crate) struct Running<'q> {
    /// The tag that is named with the image.
    pub(crate) watched: Option<&'q str>,
    /// The tag that runs.
    pub(crate) tag: Option<&'q str>,
    /// The compared part.
    pub(crate) value: Option<Cow<'q, str>>,
}

/// A tag that the filters let through.
#[derive(Clone, Debug)]
pub(crate) struct Candidate<'t> {
    pub(crate) tag: &'t Tag,
    /// The ordered part of its name.
    pub(crate) value: Cow<'t, str>,
    /// The platforms that are asked for.
    pub(crate) platforms: &'t [Platform],
}

impl Candidate<'_> {
    /// Drops it by a rule for not being something.
    pub(crate) fn is_no<T>(&self, rule: &'static str, what: &str) -> Result<T, Refusal> {
        if *self.value == *self.tag.name {
            Refusal::dropped(rule, format!("no {what}"))
        } else {
            Refusal::dropped(rule, format!("its extract `{}` is not a valid {what}", self.value))
        }
    }
}

/// A tag with its place in the order.
#[derive(Clone, Debug)]
pub(crate) struct Ranked<'t, R> {
    pub(crate) tag: &'t Tag,
    pub(crate) value: Cow<'t, str>,
    pub(crate) rank: R,
}

//! `digest`: the digest behind the tag that the image is named with, which moves.

use diagnostic::{Error, Result};
use std::cmp::Ordering;

use super::{Candidate, Policy, Running, Words};
use crate::criteria::Criteria;
use crate::filter::{Lack, Refusal};

#[derive(Clone, Debug, Default)]
pub(super) struct Digest {
    watched: String,
}

impl Policy for Digest {
    const NAME: &'static str = "digest";
    const READS_METADATA: bool = true;
    const WATCHES: bool = true;
    type Rank = ();

    fn new(_criteria: &Criteria) -> Result<Self> {
        Ok(Self::default())
    }

    fn bind(&mut self, running: &Running<'_>) -> Result<()> {
        let watched = running.watched.ok_or_else(|| {
            let error = Error::invalid("`digest` watches a tag, and the image is named without one");
            error.hint("name it with its tag: `IMAGE:TAG`")
        })?;
        watched.clone_into(&mut self.watched);
        Ok(())
    }

    fn looks_at(&self, name: &str) -> Result<(), Refusal> {
        if name == self.watched {
            Ok(())
        } else {
            Refusal::dropped("tag", format!("not the watched tag `{}`", self.watched))
        }
    }

    fn rank(&self, candidate: &Candidate<'_>) -> Result<(), Refusal> {
        match candidate.tag.digest {
            Some(_) => Ok(()),
            None => Err(Refusal::unknown(candidate.tag, Lack::Digest)),
        }
    }

    fn compare(&self, (): &(), (): &()) -> Ordering {
        Ordering::Equal
    }

    fn words(&self) -> Words {
        Words { best: "the watched tag", below: "below" }
    }
}
